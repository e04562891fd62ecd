"""Every figure once more: plain Python over the lines of transcripts, written from docs/metrics.md alone.

It shares no code with what it checks, keeps everything in lists and takes no shortcut, so that it can be read
beside the page. Rows are dictionaries with the keys of the JSON dumps.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from statistics import median
from typing import Any, TypeAlias

from tests.support.blame_oracle import is_bad, success
from tests.support.failure_oracle import blame

Call: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]
MOST_KNOWN = 10_000

ASPECTS = ("correctness", "completion", "errors", "latency_p95", "latency_mean", "turn_count")
METRICS = (
    "progress", "stall", "slow", "lost", "escalation", "revisit", "dwell_turns", "latency_p95", "guard_error",
    "slot_fill_rate",
)  # fmt: skip


def _once(of: Callable[[Call], list[Row]]) -> Callable[[Call], list[Row]]:
    """Work out once what is asked of a call again and again; whoever gets it leaves it as it is."""
    known: dict[int, tuple[Call, list[Row]]] = {}

    @wraps(of)
    def found(call: Call) -> list[Row]:
        if id(call) not in known:
            if len(known) == MOST_KNOWN:
                known.clear()
            known[id(call)] = call, of(call)  # the call is kept, so that no other one comes to have its id
        return known[id(call)][1]

    return found


# 1. events


@_once
def visits(call: Call) -> list[Row]:
    """Return what happened between entering a state and leaving it, in order."""
    found: list[Row] = []
    is_open = False
    for event in call["events"]:
        match event["type"]:
            case "state_entered":
                if is_open:
                    found[-1]["to"] = event["state"]
                found.append({"state": event["state"], "to": None, "latencies": [], "turns": 0, "guard_errors": 0})
                is_open = True
            case "state_exited" if is_open and found[-1]["state"] == event["state"]:
                found[-1]["to"] = event["to_state"]
                is_open = False
            case "turn_complete" if found:
                found[-1]["turns"] += 1
                found[-1]["latencies"].append(event["latency_ms"] / 1000)
            case "guard_evaluated" if is_open and event.get("error") not in (None, False, 0, ""):
                found[-1]["guard_errors"] += 1
    return found


def filled(call: Call) -> set[tuple[str, str | None]]:
    """Slots and the states that filled them: the one that is named, if it had begun, else the one that is open."""
    found, begun, is_open = set(), [], False
    for event in call["events"]:
        if event["type"] == "state_entered":
            begun.append(event["state"])
            is_open = True
        elif event["type"] == "state_exited" and is_open and event["state"] == begun[-1]:
            is_open = False
        elif event["type"] == "slot_filled" and event["value"] is not None:
            state = event.get("state")
            if state is None and is_open:
                state = begun[-1]
            found.add((event["slot"], state if state in begun else None))
    return found


def success_terminals(call: Call) -> set[str]:
    return set((call.get("contract") or {}).get("success_terminals") or ())


def escalation_terminals(call: Call) -> set[str]:
    named = (call.get("contract") or {}).get("escalation_terminals")
    return {"escalated", "escalate"} if named is None else set(named)


def touched(call: Call) -> set[str | None]:
    """The states that a call came to or was sent to, and the one that it says it ended in."""
    return {name for visit in visits(call) for name in (visit["state"], visit["to"])} | {call.get("final_state")}


def was_served(call: Call) -> bool | None:
    if success_terminals(call) & touched(call):
        return True
    if call.get("completed") is not None:
        return bool(call["completed"])
    contract = call.get("contract") or {}
    if contract.get("success_terminals") or contract.get("escalation_terminals") or went_to_a_human(call):
        return False
    return None


def went_to_a_human(call: Call) -> bool:
    return bool(escalation_terminals(call) & touched(call))


# 2. and 3. states and segments


@_once
def state_rows(call: Call) -> list[Row]:
    described = (call.get("contract") or {}).get("states") or {}
    escalations, outcomes = escalation_terminals(call), escalation_terminals(call) | success_terminals(call)
    seen = [*visits(call)]
    if seen and seen[-1]["state"] not in outcomes and call.get("final_state") in escalations:
        sent = {visit["to"] for visit in seen} | {visit["state"] for visit in seen}
        if call["final_state"] not in sent:
            seen.append({**seen[-1], "to": call["final_state"], "latencies": [], "turns": 0, "guard_errors": 0,
                         "repeats": True})  # fmt: skip
    working = [visit for visit in seen if visit["state"] not in outcomes]
    served, human = was_served(call), went_to_a_human(call)
    stalled = served is False and not human
    lost = stalled or (human and not success_terminals(call) & touched(call))
    rows = []
    for state in dict.fromkeys(visit["state"] for visit in working):
        own = [visit for visit in working if visit["state"] == state]
        entries = len([visit for visit in own if not visit.get("repeats")])
        left_to = [visit["to"] for visit in own if visit["to"] is not None]
        required = set(described.get(state, {}).get("required_slots", ()))
        is_last = working[-1]["state"] == state
        rows.append(
            {
                "state": state,
                "segment": described.get(state, {}).get("segment"),
                "position": [visit["state"] for visit in seen].index(state),
                "progress": any(target != state and target not in escalations for target in left_to),
                "stall": None if served is None else is_last and stalled,
                # Only a failed call is lost somewhere.
                "lost": None if served is None or success(call) is None else is_last and lost and not success(call),
                "escalation": any(target in escalations for target in left_to),
                "revisit": entries - 1,
                "dwell_turns": sum(visit["turns"] for visit in own) / entries,
                "latency_p95": percentile95([latency for visit in own for latency in visit["latencies"]]),
                "slow": mean([latency > 4 for visit in own for latency in visit["latencies"]]),
                "guard_error": sum(visit["guard_errors"] for visit in own),
                "slot_fill_rate": len([slot for slot in required if (slot, state) in filled(call)]) / len(required)
                if required
                else None,
                "to_states": Counter(left_to),
            }
        )
    return rows


def percentile95(values: Sequence[float]) -> float | None:
    if not values:
        return None
    ranked = sorted(values)
    place = 0.95 * (len(ranked) - 1)
    below, above = ranked[math.floor(place)], ranked[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))


def mean(values: Iterable[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return sum(measured) / len(measured) if measured else None


def counted(calls: Iterable[Call]) -> list[Call]:
    return [call for call in calls if not call.get("errored") and call.get("caller_ok") is not False]


def pooled(rows: Sequence[Row]) -> Row:
    return {
        "n": len(rows),
        **{metric: mean(row[metric] for row in rows) for metric in METRICS},
        "lost": total(row["lost"] for row in rows),
    }


def total(values: Iterable[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return sum(measured) if measured else None


def worst_first(row: Row) -> tuple[Any, ...]:
    return -row["stall"], row["progress"], -row["escalation"], -row["n"]


def name_of(call: Call, key: str) -> str:
    return str(call[{"agent": "agent_model", "run": "run_id"}.get(key, key)])


def states(calls: Iterable[Call], by: tuple[str, ...] = ()) -> list[Row]:
    cells = defaultdict(list)
    for call in counted(calls):
        for row in state_rows(call):
            cells[call["flow"], row["state"], *(name_of(call, key) for key in by)].append(row)
    found = [
        dict(zip(("flow", "state", *by), names, strict=True))
        | pooled(rows)
        | {"segment": rows[0]["segment"], "to_states": dict(sum((row["to_states"] for row in rows), Counter()))}
        for names, rows in cells.items()
    ]
    return sorted(found, key=lambda row: (worst_first(row), *(row[key] for key in ("flow", "state", *by))))


def segments(calls: Iterable[Call], by: tuple[str, ...] = ()) -> list[Row]:
    cells: dict[tuple[str, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for call in counted(calls):
        for row in state_rows(call):
            cells[call["flow"], row["segment"], *(name_of(call, key) for key in by)][row["state"]].append(row)
    found = []
    for names, members in cells.items():
        worst = min(
            ({"state": state, **pooled(rows)} for state, rows in members.items()),
            key=lambda row: (worst_first(row), row["state"]),
        )
        found.append(
            dict(zip(("flow", "segment", *by), names, strict=True))
            | pooled([row for rows in members.values() for row in rows])
            | {"worst_state": worst["state"], "worst_stall": worst["stall"], "worst_n": worst["n"]}
        )
    return sorted(found, key=lambda row: (worst_first(row), *(row[key] for key in ("flow", "segment", *by))))


# 4. and 5. calls and operability


def aspects(call: Call) -> Row:
    contract = call.get("contract")
    named = contract or {}
    wanted = {*(named.get("required_slots") or ()), *(named.get("completion_slots") or ())}
    kept = {slot for slot, value in call.get("slots", {}).items() if value is not None}
    kept |= {slot for slot, _ in filled(call)}
    wrong = wrong_slots(call)
    wanted |= wrong & {
        slot for state in (named.get("states") or {}).values() for slot in state.get("required_slots", ())
    }
    kept -= wrong
    share = len(wanted & kept) / len(wanted) if wanted else 1
    allowed = not named.get("final_statuses") or call.get("final_status") in named["final_statuses"]
    reached = not success_terminals(call) or bool(success_terminals(call) & touched(call))
    stop = call.get("stop_reason")
    met = call.get("errors", [])
    own = met if isinstance(met, int) else sum(error.get("kind") != "retried" for error in met)
    failures = own + (stop in ("unsafe", "max_turns", "loop"))
    turns = [event["latency_ms"] / 1000 for event in call["events"] if event["type"] == "turn_complete"]
    said = call.get("completed") is not None or stop is not None
    return {
        "correctness": None if contract is None else 10 * reached * share * allowed * deeds(call),
        "completion": 10 * bool(call.get("completed") and stop == "terminal") if said else None,
        "errors": max(0, 10 - 2.5 * failures),
        "latency_p95": percentile95(turns),
        "latency_mean": mean(turns),
        "turn_count": len(turns),
    }


def deeds(call: Call) -> float:
    """The share of the states with a tool that were left forward, and of the flow's tools, whose tools were called."""
    contract, ends = call.get("contract") or {}, escalation_terminals(call)
    done = {tool["name"] for tool in call.get("tool_calls", []) if tool.get("by") != "caller" and not is_bad(tool)}
    asked = [[tool] for tool in contract.get("required_tools") or ()]
    for state, described in (contract.get("states") or {}).items():
        tools = described.get("tool") or []
        left_to = {visit["to"] for visit in visits(call) if visit["state"] == state} - {None, state} - ends
        if tools and left_to:
            asked.append([tools] if isinstance(tools, str) else tools)
    return len([tools for tools in asked if done >= set(tools)]) / len(asked) if asked else 1


def wrong_slots(call: Call) -> set[str]:
    """Slots that have at the end another value than the caller had to say, but for case and blanks."""
    held = {
        event["slot"]: event["value"]
        for event in call["events"]
        if event["type"] == "slot_filled" and event["value"] is not None
    } | {slot: value for slot, value in call.get("slots", {}).items() if value is not None}
    facts = call.get("facts") or {}
    return {slot for slot in facts.keys() & held.keys() if plain(facts[slot]) != plain(held[slot])}


def plain(value: Any) -> str:
    return "".join(str(value).casefold().split())


def operability(cell: Row) -> float | None:
    uncapped = blend(cell)
    incomplete = cell["completion"] is not None and cell["completion"] < 10
    cap = 4 if (cell["correctness"] or 0) < 10 else 6 if incomplete else 10
    return None if uncapped is None else float(min(uncapped, cap))


def blend(cell: Row) -> float | None:
    if cell["correctness"] is None:
        return None
    judged = [score for score in cell["humanness"].values() if score is not None]
    slow = cell["latency_p95"]
    parts = (
        (0.35, cell["correctness"]),
        (0.20, cell["completion"]),
        (0.15, cell["errors"]),
        (0.10, None if slow is None else min(10, max(0, 10 * (1 - slow / 15)))),
        (0.20, median(judged) if judged else None),
    )
    measured = [(weight, score) for weight, score in parts if score is not None]
    return float(sum(weight * score for weight, score in measured) / sum(weight for weight, _ in measured))


def flows(calls: Iterable[Call], scores: Iterable[Row], by: tuple[str, ...] = ("flow", "agent")) -> list[Row]:
    verdicts = {(score["run_id"], score["conversation_id"], score["judge"]): score["score"] for score in scores}
    judges = sorted({judge for _, _, judge in verdicts})
    cells = defaultdict(list)
    for call in calls:
        cells[tuple(name_of(call, key) for key in by)].append(call)
    found = []
    for names, members in cells.items():
        row: Row = dict(zip(by, names, strict=True))
        good = counted(members)
        scored = [aspects(call) for call in good]
        row |= {"n": len(good), "excluded": len(members) - len(good)}
        row |= {aspect: mean(call[aspect] for call in scored) for aspect in ASPECTS}
        row["humanness"] = {
            judge: mean(verdicts.get((call["run_id"], call["conversation_id"], judge)) for call in good)
            for judge in judges
        }
        row["operability"], row["blend"] = operability(row), blend(row)
        lost = [[state["lost"] for state in state_rows(call) if state["lost"] is not None] for call in good]
        row["lost"] = total(any(states) for states in lost if states)
        row["success_rate"] = mean(success(call) for call in good)
        row["failed"] = total(not success(call) for call in good if success(call) is not None)
        clumsy = [call for call in members if call.get("caller_ok") is False]
        row["caller_failed"] = len(clumsy)
        row["success_overall"] = mean(success(call) for call in good + clumsy)
        row["quality"] = mean(quality(call, verdicts, judges) for call in good)
        found.append(row)
    return sorted(
        found,
        key=lambda row: (
            row["n"] < 5,
            *last_if_missing(row["operability"]),
            *last_if_missing(row["blend"]),
            *(row[key] for key in by),
        ),
    )


def quality(call: Call, verdicts: Mapping[tuple[str, str, str], float | None], judges: Iterable[str]) -> float | None:
    """Operability of one call: its own aspects, and what its judges gave it."""
    scores = {judge: verdicts.get((call["run_id"], call["conversation_id"], judge)) for judge in judges}
    return operability({**aspects(call), "humanness": scores})


def last_if_missing(value: float | None) -> tuple[bool, float]:
    return value is None, round(value or 0.0, 9)


# 6. to 8. worklist, neighbours, intervals


def worklist(calls: Sequence[Call], scores: Sequence[Row]) -> dict[str, list[tuple[str, str, int]]]:
    """The places of each list and their failed calls, most of them first; thin places come last."""
    blamed: dict[str, Counter[tuple[str, str]]] = {"segment": Counter(), "state": Counter()}
    for call in calls:
        place = blame(call)
        if place is not None and place.kind != "none":
            segment = next(row["segment"] for row in state_rows(call) if row["state"] == place.state)
            blamed["segment"][call["flow"], segment] += 1
            blamed["state"][call["flow"], place.state] += 1

    def ranked(rows: list[Row], key: str) -> list[tuple[str, str, int]]:
        rows = sorted(
            rows, key=lambda row: (row["n"] < 5, -row["failed"], -row["failed"] / row["n"], row["flow"], row[key])
        )
        return [(row["flow"], row[key], row["failed"]) for row in rows]

    def with_blames(rows: list[Row], key: str) -> list[Row]:
        return [row | {"failed": blamed[key][row["flow"], row[key]]} for row in rows]

    return {
        "flows": ranked([row for row in flows(calls, scores) if row["failed"]], "agent"),
        "segments": ranked([row for row in with_blames(segments(calls), "segment") if row["failed"]], "segment"),
        "states": ranked(
            [
                row
                for row in with_blames(states(calls), "state")
                if row["failed"] or row["dwell_turns"] > 3 or (row["slow"] or 0) >= 0.2
            ],
            "state",
        ),
    }


def steps(calls: Iterable[Call], flow: str) -> Counter[tuple[str, str]]:
    """Count how often calls of a flow went from one state to another."""
    return Counter(
        {
            (row["state"], target): count
            for row in states(calls)
            if row["flow"] == flow
            for target, count in row["to_states"].items()
        }
    )


def ways(calls: Iterable[Call], flow: str, state: str) -> tuple[int, int, Counter[str]]:
    """Count how often calls of a flow came to a state, how many began there, and how those stopped that ended there."""
    came = began = 0
    stopped: Counter[str] = Counter()
    for call in (call for call in counted(calls) if call["flow"] == flow):
        seen = visits(call)
        came += sum(visit["state"] == state for visit in seen)
        began += bool(seen) and seen[0]["state"] == state
        handed_over = call.get("final_state") in escalation_terminals(call)
        if seen and seen[-1]["state"] == state and seen[-1]["to"] is None and not handed_over:
            stopped[call["stop_reason"]] += 1
    return came, began, stopped


def blast(calls: Iterable[Call], flow: str, state: str) -> dict[str, Row]:
    """What is behind a state: the share of calls that had been there, and those that there would have been more."""
    own = [call for call in counted(calls) if call["flow"] == flow]
    before: dict[str, list[bool]] = defaultdict(list)
    forward: dict[str, int] = Counter()
    left = lost = 0
    for call in own:
        escalations = escalation_terminals(call)
        order = first_visits(call)
        here = next((row for row in state_rows(call) if row["state"] == state), None)
        left += bool(here and here["progress"])
        lost += bool(here and here["lost"])
        for name in order:
            if name != state and name not in escalations:
                is_behind = here is not None and order.index(name) > order.index(state)
                before[name].append(is_behind)
                forward[name] += bool(is_behind and here and here["progress"])
    return {
        name: {"through": mean(there), "reached": forward[name] / left, "starved": lost * forward[name] / left}
        for name, there in before.items()
        if any(there) and left
    }


def first_visits(call: Call) -> list[str]:
    """The states in the order in which the call first came to them, also terminals that it was sent to or ended in."""
    outcomes = success_terminals(call) | escalation_terminals(call)
    found = []
    for visit in visits(call):
        found.append(visit["state"])
        if visit["to"] in outcomes:
            found.append(visit["to"])
    if found and call.get("final_state") in outcomes:
        found.append(call["final_state"])
    return list(dict.fromkeys(found))


def funnel(calls: Iterable[Call]) -> dict[tuple[str, str], Row]:
    """How many calls came to each state and outcome of a flow and at which visit, where they went, who failed there."""
    own = counted(calls)
    found: dict[tuple[str, str], Row] = {}

    def row(call: Call, state: str) -> Row:
        return found.setdefault((call["flow"], state), {"places": [], "failed": 0, "next": Counter()})

    for call in own:
        for state in state_rows(call):
            row(call, state["state"])["places"].append(state["position"])
            row(call, state["state"])["next"].update(state["to_states"])
        for outcome, place in outcome_places(call).items():
            row(call, outcome)["places"].append(place)
        blamed = blame(call)
        if blamed is not None and blamed.state != "(none found)":
            row(call, blamed.state)["failed"] += 1
    of_flow = Counter(call["flow"] for call in own)
    return {
        (flow, state): {
            "reached": len(each["places"]),
            "share": len(each["places"]) / of_flow[flow],
            "failed": each["failed"],
            "position": mean(each["places"]),
            "next": dict(each["next"]),
        }
        for (flow, state), each in found.items()
    }


def blamed_nowhere(calls: Iterable[Call], flow: str) -> int:
    """How many failed calls of a flow are blamed on no state."""
    places = [blame(call) for call in counted(calls) if call["flow"] == flow]
    return sum(place is not None and place.state == "(none found)" for place in places)


def outcome_places(call: Call) -> dict[str, int]:
    """After how many visits a call first came to each terminal, was sent there, or ended there."""
    outcomes, seen = success_terminals(call) | escalation_terminals(call), visits(call)
    found: dict[str, int] = {}
    for place, visit in enumerate(seen):
        for name, at in ((visit["state"], place), (visit["to"], place + 1)):
            if name in outcomes:
                found.setdefault(name, at)
    if seen and call.get("final_state") in outcomes:
        found.setdefault(call["final_state"], len(seen))
    return found


# 21. coverage


def outcomes(call: Call) -> set[str]:
    """The terminals that a call came to, was sent to, or shows that it ended in."""
    ends = success_terminals(call) | escalation_terminals(call)
    return {name for name in ends if call["events"] and name in touched(call)}


def items(call: Call) -> Iterable[tuple[str, str]]:
    """What a call touched of its flow, states and terminals alike called `name`."""
    for row in state_rows(call):
        yield "name", row["state"]
        yield from (("edge", f"{row['state']} > {to}") for to in row["to_states"])
    yield from (("name", outcome) for outcome in outcomes(call))
    yield from (("slot", slot) for slot, _ in filled(call))
    yield from (("slot", slot) for slot, value in (call.get("slots") or {}).items() if value is not None)
    for event in call["events"]:
        if event["type"] == "guard_evaluated":
            erred = event.get("error") not in (None, False, 0, "")
            went = "error" if erred else "passed" if event.get("result") else "failed"
            yield "guard", f"{went} {event['guard']}"
    for tool in call.get("tool_calls") or ():
        yield "tool", tool["name"] if tool.get("by", "agent") == "agent" else f"user:{tool['name']}"


def coverage(calls: Sequence[Call], files: Iterable[Row] = ()) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """How many calls touched each item, were served and failed: of what files declare, and else of what was touched."""
    found: dict[tuple[str, str, str], list[int]] = {}
    ends = {(call["flow"], name) for call in calls for name in outcomes(call)}
    described: dict[str, set[tuple[str, str]]] = {file["flow"]: set(declared(file)) for file in files}
    ends |= {(flow, name) for flow, of in described.items() for kind, name in of if kind == "terminal"}
    for flow, of in described.items():
        found |= {(flow, kind, name): [0, 0, 0] for kind, name in of}
    for call in counted(calls):
        flow, well = call["flow"], success(call)
        kinds = {kind for kind, _ in described.get(flow, ())} - {"guard"}
        for kind, name in set(items(call)):
            if kind == "name":
                kind = "terminal" if (flow, name) in ends else "state"
            if kind not in kinds or (kind, name) in described[flow]:
                row = found.setdefault((flow, kind, name), [0, 0, 0])
                row[0] += 1
                row[1] += well is True
                row[2] += well is False
    return {names: (row[0], row[1], row[2]) for names, row in found.items()}


def declared(file: Row) -> Iterable[tuple[str, str]]:
    """What a native flow file declares."""
    ends = {*file["success_terminals"], *file["escalation_terminals"]}
    states, scripts = file["states"], file["simulate"]["states"]
    for name in {*states, *scripts, *ends, *(end for edge in file["edges"] for end in edge)}:
        yield "terminal" if name in ends else "state", name
    yield from (("edge", " > ".join(edge)) for edge in file["edges"])
    for slots in (
        file.get("required_slots"),
        file.get("completion_slots"),
        *(s.get("required_slots") for s in states.values()),
    ):
        yield from (("slot", slot) for slot in slots or ())
    yield from (("tool", tool) for tool in file.get("required_tools") or ())
    for part in (*states.values(), *scripts.values()):
        yield from [("tool", part["tool"])] if part.get("tool") else []
        yield from (("guard", f"{went} {part['guard']}") for went in ("passed", "failed") if part.get("guard"))


def wilson(share: float, n: int) -> tuple[float, float]:
    z = 1.959963984540054
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def picked(row: Mapping[str, Any], keys: Iterable[str]) -> Row:
    return {key: row[key] for key in keys}


def route_of(call: Call) -> tuple[str, ...]:
    """The states and outcomes in the order in which the call first came to them."""
    return tuple(first_visits(call))


def steps_of(call: Call) -> set[tuple[str, str]]:
    """The steps that a call took from its working states."""
    return {(row["state"], target) for row in state_rows(call) for target in row["to_states"]}


def routes(calls: Iterable[Call], declared: Mapping[str, set[tuple[str, str]]]) -> dict[tuple[str, Any], Row]:
    """How many calls of a flow took each route, how they ended, and how many left the steps that are declared."""
    found: dict[tuple[str, Any], list[Call]] = defaultdict(list)
    for call in counted(calls):
        found[call["flow"], route_of(call) or None].append(call)
    of_flow = Counter(call["flow"] for call in counted(calls))
    rows = {}
    for (flow, route), own in found.items():
        ends = [success(call) for call in own]
        steps = declared.get(flow)
        rows[flow, route] = {
            "n": len(own),
            "share": len(own) / of_flow[flow],
            "success_rate": mean(ends),
            "failed": ends.count(False),
            "off": None if steps is None else sum(not steps_of(call) <= steps for call in own),
        }
    return rows


def suspicions(calls: Iterable[Call], flow: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Of each step: failed calls that took it against all failed ones and all that took it, and the chance of that."""
    known = [call for call in counted(calls) if call["flow"] == flow and success(call) is not None]
    failed = [call for call in known if not success(call)]
    found = {}
    for step in {step for call in known for step in steps_of(call)} if failed else ():
        took = [call for call in known if step in steps_of(call)]
        both = len([call for call in failed if step in steps_of(call)])
        found[step] = both / math.sqrt(len(failed) * len(took)), _fisher(both, len(took), len(failed), len(known))
    return found


def _fisher(both: int, took: int, failed: int, known: int) -> float:
    """The chance of a table as unlikely as this one or more so, its margins given."""
    ways = math.comb(known, failed)
    chances = [math.comb(took, at) * math.comb(known - took, failed - at) / ways for at in range(min(took, failed) + 1)
               if failed - at <= known - took]  # fmt: skip
    seen = math.comb(took, both) * math.comb(known - took, failed - both) / ways
    return min(1.0, sum(chance for chance in chances if chance <= seen * (1 + 1e-7)))
