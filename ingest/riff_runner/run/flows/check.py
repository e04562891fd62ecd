"""Check flow files before any call is made: misspelt keys and names, states that lead nowhere or that none reach."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from riff_ingest.lenient_json import as_text, load_document, object_of
from riff_ingest.lines import BrokenInput, read_whole
from riff_ingest.sources.flow_files.config import FlowConfig, NoFlow
from riff_ingest.sources.flow_files.flow import FlowFile, flow_of, form_of
from riff_ingest.sources.flow_files.forms import ALIKE, UnknownKey, nearest, without_unknown
from riff_runner.run.flows.flow import FlowProblem
from riff_runner.run.flows.flow_files import native_flow

Level: TypeAlias = Literal["error", "note"]
FindingKind: TypeAlias = Literal[
    "unknown-key",
    "unknown-state",
    "no-way-out",
    "slot-not-filled",
    "terminal-not-reached",
    "tool-not-declared",
    "left-out",
    "cannot-run",
    "unreadable",
    "not-reached",
    "no-success",
    "remark",
]
_MEANT = re.compile(r"did you mean (.+)\?$")
_ASTRAY = re.compile(r"'([^']+)', which is not an? (?:known )?\w+|there is no node '([^']+)'")
_STUCK = re.compile(r"^\w+\.(.+): nothing leads out of it")
_NAME = r"(?:\"[^\"]*\"|'[^']*'|[\w-]+)"
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?$")
_ENTRY = re.compile(rf"\s*({_DOTTED})\s*=")


@dataclass(frozen=True, slots=True)
class Finding:
    """Keep what is wrong with a flow file, or odd: `name` is what is meant, `near` the right name that is most like it.

    `line` is where it is, counted from 1, `None` if nothing shows.
    """

    level: Level
    kind: FindingKind
    message: str
    name: str | None = None
    near: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """Describe what was found in a file; `flow` and `form` are `None` if it describes none."""

    path: str
    flow: str | None = None
    form: str | None = None
    findings: Sequence[Finding] = ()

    def count(self, level: Level) -> int:
        """Return how many findings are of a level."""
        return sum(finding.level == level for finding in self.findings)


def check_flow_file(path: Path) -> CheckedFile:
    """Return what is wrong with the flow that a file describes; raises nothing on its content."""
    try:
        document = load_document(path)
        file = flow_of(document, path)
        lines = _Lines(as_text(read_whole(path), Counter()))
    except NoFlow as none:
        return CheckedFile(str(path), findings=[Finding("note", "remark", f"it has no flow: {none.reason}")])
    except BrokenInput as problem:
        return CheckedFile(str(path), findings=[Finding("error", "unreadable", problem.reason)])
    findings = sorted(_Check(document, file, path, lines).findings(), key=lambda each: (each.level, each.line or 0))
    return CheckedFile(str(path), file.described.flow, form_of(document) or "parts of a contract", findings)


class _Lines:
    """Find the lines of a file with its keys and names."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    @cached_property
    def _entries(self) -> dict[tuple[str, ...], int]:
        """Return the line of each key of a TOML file, by the tables that it is in."""
        found: dict[tuple[str, ...], int] = {}
        counts: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, line in enumerate(self._lines, 1):
            if (header := _TABLE.match(line)) is not None:
                table = _names(header[2])
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, str(counts[table]))
                found.setdefault(table, number)
            elif (entry := _ENTRY.match(line)) is not None:
                found.setdefault((*table, *_names(entry[1])), number)
        return found

    def of_keys(self, keys: Sequence[UnknownKey]) -> list[int | None]:
        """Return the line of each key, `None` if it is in several and nothing shows which."""
        found: list[int | None] = []
        for key in keys:
            name = str(key.place[-1])
            same = [each for each in keys if each.place[-1] == name]
            places = self._all(rf"""(?<![\w-])["']?{re.escape(name)}["']?\s*[:=]""")
            exact = self._entries.get(tuple(map(str, key.place)))
            if exact is not None and any(number == exact for number in places):
                found.append(exact)
            else:
                found.append(places[same.index(key)] if len(places) == len(same) else None)
        return found

    def of_name(self, name: str, below: str | None = None) -> int | None:
        """Return the first line that has a name as a text or a key, after that of the key `below` where it has one."""
        begun = self._all(rf"""(?<![\w-])["']?{re.escape(below)}["']?\s*[:=]""") if below else []
        quoted = self._all(rf"""(["']){re.escape(name)}\1""") or self._all(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        later = [number for number in quoted if not begun or number >= begun[0]]
        return next(iter(later or quoted), None)

    def of_state(self, name: str) -> int | None:
        """Return the line on which a state is described, else the first that names it."""
        for place in (("states", name), ("simulate", "states", name)):
            if (number := self._entries.get(place)) is not None:
                return number
        keys = self._all(rf"""^\s*["']?{re.escape(name)}["']?\s*[:=]""")
        return keys[0] if keys else self.of_name(name)

    def _all(self, pattern: str) -> list[int]:
        sought = re.compile(pattern)
        return [number for number, line in enumerate(self._lines, 1) for _ in sought.finditer(line)]


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


@dataclass
class _Graph:
    """Keep the states of a flow and what leads where; what was misspelt is changed into what was meant as it is found.

    `declared` are the states that the file describes, `mishaps` those in which the simulator lets calls get stuck.
    """

    initial: str
    edges: list[tuple[str, str]]
    declared: set[str]
    ends: set[str]
    mishaps: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)

    @property
    def sources(self) -> set[str]:
        return {source for source, _ in self.edges}

    @property
    def targets(self) -> set[str]:
        return {target for _, target in self.edges}

    def states(self) -> list[str]:
        """Return every state, in the order of the edges."""
        return list(dict.fromkeys([*(end for edge in self.edges for end in edge), *sorted(self.declared)]))

    def rename(self, old: str, new: str) -> None:
        """Let edges lead to and from another state."""
        self.edges = [(new if source == old else source, new if to == old else to) for source, to in self.edges]

    def reached(self, begun: str) -> set[str]:
        """Return the states that a call can come to from one."""
        waiting, found = [begun], {begun}
        while waiting:
            here = waiting.pop()
            nexts = {target for source, target in self.edges if source == here} - found
            found |= nexts
            waiting += nexts
        return found

    def circles(self, ends: set[str]) -> Iterator[str]:
        """Yield a state of each circle, or one that leads to itself alone, that no edge leads out of."""
        leading, before = set(ends), -1
        while before != len(leading):
            before = len(leading)
            leading |= {source for source, target in self.edges if target in leading}
        reached = {name: self.reached(name) for name in self.states() if name not in leading}
        seen: set[str] = set()
        for name, here in reached.items():
            if name not in seen and all(name in reached[other] for other in here):
                seen |= here
                yield name


class _Check:
    def __init__(self, document: dict[str, Any], file: FlowFile, path: Path, lines: _Lines) -> None:
        self._file = file
        self._lines = lines
        self._path = path
        # What follows from a misspelt key is not a finding of its own.
        self._meant = without_unknown(document, file.form, [])
        self._mended = flow_of(self._meant, path) if file.unknown else file

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong with the file, and then what is odd."""
        closed = self._file.config is None or bool(self._mended.config and not self._is_of_platform())
        for key, line in zip(self._file.unknown, self._lines.of_keys(self._file.unknown), strict=True):
            level: Level = "error" if closed or "riff" in key.place else "note"
            yield Finding(level, "unknown-key", str(key), str(key.place[-1]), key.near, line)
        graph = self._graph()
        config = self._mended.config
        for skipped in self._mended.left_out:
            found = self._left_out(skipped.reason.removesuffix("; it is left out").removesuffix(" and is left out"))
            graph.fixed |= {name for name in (found.name, found.near) if name}
            yield found
        if graph.edges or config is not None:
            yield from self._terminals(graph)
        for remark in self._mended.remarks:
            if not any(remark.partition(": ")[0].endswith(f".{name}") for name in graph.fixed):
                yield Finding("note", "remark", remark)
        if graph.edges:
            if config is None:
                yield from self._unknown_states(graph)
            if not self._is_of_platform():
                yield from self._dead_ends(graph, config)
                yield from self._unreached(graph)
        yield from self._slots(config)
        yield from self._tools(config)
        if config is None and graph.edges and not self._mended.left_out:
            yield from self._refusal(graph)

    def _left_out(self, reason: str) -> Finding:
        """Return what a reader left out, with the name that it names and the state that was meant."""
        if (stuck := _STUCK.search(reason)) is not None:
            return Finding("error", "no-way-out", reason, stuck[1], None, self._lines.of_name(stuck[1]))
        if (astray := _ASTRAY.search(reason)) is None:
            return Finding("error", "left-out", reason)
        name = astray[1] or astray[2]
        told = _MEANT.search(reason)
        near = told[1] if told else nearest(name, [state.name for state in self._mended.described.states])
        return Finding(
            "error",
            "unknown-state",
            reason if told else f"{reason}{_meant(near)}",
            name,
            near,
            self._lines.of_name(name),
        )

    def _is_of_platform(self) -> bool:
        config = self._mended.config
        return config is not None and self._mended.form.is_open and "data" not in _node_keys(self._meant)

    def _graph(self) -> _Graph:
        file, contract = self._mended, self._mended.contract
        edges = list(file.described.edges)
        terminals = contract.successes() | contract.escalations()
        if file.config is not None:
            ends = {name for name, node in file.config.nodes.items() if node.ends or node.end is not None}
            return _Graph(file.config.initial, edges, set(file.config.nodes), ends | terminals)
        scripts = object_of(self._meant.get("simulate"))
        initial = scripts.get("initial")
        begun = initial if isinstance(initial, str) and initial else edges[0][0] if edges else ""
        told = object_of(scripts.get("states"))
        mishaps = {where for script in told.values() if isinstance(where := object_of(script).get("mishap_to"), str)}
        ends = {*terminals, *(contract.final_statuses or ())}
        return _Graph(begun, edges, {*contract.states, *told}, ends, mishaps)

    def _terminals(self, graph: _Graph) -> Iterator[Finding]:
        """Yield the terminals that no edge leads to; where one was misspelt, its state is one all the same."""
        contract = self._mended.contract
        for part in ("success_terminals", "escalation_terminals"):
            for name in getattr(contract, part) or ():
                if name in graph.targets or name == graph.initial or name in graph.fixed:
                    continue
                near = nearest(name, graph.targets - graph.sources - graph.ends)
                graph.ends |= {near} if near else set()
                graph.fixed.add(name)
                line = self._lines.of_name(name, part) if self._file.config is None else self._lines.of_state(name)
                yield Finding(
                    "error",
                    "terminal-not-reached",
                    f"{part}: no edge leads to {name!r}{_meant(near)}",
                    name,
                    near,
                    line,
                )

    def _unknown_states(self, graph: _Graph) -> Iterator[Finding]:
        """Yield the names in edges that no state has: what ends there is misspelt, or a state that is not described."""
        if not graph.declared:
            return
        known = graph.declared | graph.ends
        for name in dict.fromkeys(end for edge in graph.edges for end in edge):
            is_source, is_target = name in graph.sources, name in graph.targets
            if name in known or (is_source and is_target):
                continue
            near = nearest(name, known - {name}, ALIKE if is_source else 0.6)
            if is_source and near is None:
                continue
            graph.fixed.add(name)
            if near is not None:
                graph.rename(name, near)
            yield Finding(
                "error",
                "unknown-state",
                f"edges: {name!r} is not a state{_meant(near)}",
                name,
                near,
                self._lines.of_name(name, "edges"),
            )

    def _dead_ends(self, graph: _Graph, config: FlowConfig | None) -> Iterator[Finding]:
        contract = self._mended.contract
        if config is None and not (contract.success_terminals or contract.escalation_terminals):
            return  # every state that leads nowhere is an end
        for name in graph.states():
            if name in graph.sources or name in graph.ends or name in graph.fixed:
                continue
            if config is not None and config.nodes[name].ends:
                continue
            near = nearest(name, graph.sources - {name}, ALIKE) if name not in graph.targets else None
            graph.fixed.add(name)
            yield Finding(
                "note" if name in graph.mishaps else "error",
                "no-way-out",
                f"{name}: nothing leads out of it, and it does not end the call{_meant(near)}",
                name,
                near,
                self._lines.of_state(name),
            )
        for name in graph.circles(graph.targets - graph.sources | graph.ends | graph.fixed):
            message = f"{name}: what leads out of it comes back to it, and to no end of the call"
            yield Finding("error", "no-way-out", message, name, None, self._lines.of_state(name))

    def _unreached(self, graph: _Graph) -> Iterator[Finding]:
        reached = graph.reached(graph.initial)
        for name in graph.states():
            if name not in reached and name not in graph.fixed:
                message = f"{name}: no edges lead to it from {graph.initial}"
                yield Finding("note", "not-reached", message, name, None, self._lines.of_state(name))
        if not self._mended.contract.defines_success():
            yield Finding("note", "no-success", "it names no success, so calls that come to an end have reached a goal")

    def _slots(self, config: FlowConfig | None) -> Iterator[Finding]:
        """Yield the slots that the flow requires and no state asks for, where any state asks for some."""
        contract = self._mended.contract
        filled = {slot for state in contract.states.values() for slot in state.required_slots}
        if config is not None:
            functions = [*config.global_functions, *(each for node in config.nodes.values() for each in node.functions)]
            if any(not each.by_choice and each.parameters is None for each in functions):
                return  # code that is not here may fill anything
            filled |= {slot for each in functions for slot in object_of((each.parameters or {}).get("properties"))}
        if not filled:
            return
        for part in ("required_slots", "completion_slots"):
            for slot in getattr(contract, part) or ():
                if slot not in filled:
                    near = nearest(slot, filled)
                    message = f"{part}: no state fills {slot!r}{_meant(near)}"
                    yield Finding("error", "slot-not-filled", message, slot, near, self._lines.of_name(slot, part))

    def _tools(self, config: FlowConfig | None) -> Iterator[Finding]:
        """Yield the tools that something names and nothing declares, where any tool is declared."""
        contract = self._mended.contract
        of_states = {tool for state in contract.states.values() for tool in state.tools}
        if config is None:
            declared = set(object_of(object_of(self._meant.get("simulate")).get("tools")))
            at_large = declared | of_states
            declared = declared or of_states
        else:
            functions = [*config.global_functions, *(each for node in config.nodes.values() for each in node.functions)]
            declared = at_large = {each.name for each in functions}
        if not at_large:
            return
        named = [("tool", tool, declared) for tool in sorted(of_states)]
        for part in ("required_tools", "changing_tools", "reading_tools"):
            named += [(part, tool, at_large) for tool in getattr(contract, part) or ()]
        told: set[str] = set()
        for part, tool, known in named:
            if tool not in known and tool not in told:
                told.add(tool)
                near = nearest(tool, known)
                message = f"{part}: no tool is declared as {tool!r}{_meant(near)}"
                line = self._lines.of_name(tool, part.removesuffix("_tools") if part[0] in "cr" else part)
                yield Finding("error", "tool-not-declared", message, tool, near, line)

    def _refusal(self, graph: _Graph) -> Iterator[Finding]:
        """Yield why a run would refuse the file if nothing else that was found shows it."""
        edges = [list(edge) for edge in graph.edges]
        meant = {**self._meant, "edges": edges}
        try:
            native_flow(meant, flow_of(meant, self._path))
        except FlowProblem as problem:
            if not any(name in str(problem) for name in graph.fixed):
                near = _MEANT.search(str(problem))
                yield Finding("error", "cannot-run", str(problem), near=near[1] if near else None)


def _meant(near: str | None) -> str:
    return f"; did you mean {near}?" if near else ""


def _node_keys(document: Mapping[str, Any]) -> Collection[str]:
    nodes: Any = document.get("nodes")
    entries: Iterable[Any] = nodes if isinstance(nodes, list) else ()
    return {key for node in entries if isinstance(node, dict) for key in node}
