"""Give actions keys of the user's own, and make actions of the user's own commands, as the settings file names them.

What makes no sense there is reported in a sentence, and the rest applies.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from subprocess import DEVNULL, Popen
from typing import Any, NamedTuple

from riff_tui.catalog import Request
from riff_tui.errors import describe, meant
from riff_tui.filters import Filter
from riff_tui.text.safe_text import cell_width, one_line, padded
from riff_tui.tui.actions.action import NAMED_KEYS, Action, Controls
from riff_tui.tui.actions.registry import BY_ID
from riff_tui.tui.navigation.location import fixed_value, name_term
from riff_tui.tui.navigation.stacks import link_to
from riff_tui.tui.terminal.textual_internals import run_in_foreground
from riff_tui.view_registry import views

# What terminals and multiplexers own is none of these.
_CHORD = re.compile(r"ctrl\+[defgklnoprtuvwxy]|alt\+[!-~]|f([1-9]|1[0-2])")
_VIEW = "view:"
LISTED = "riff-tui ui --keys lists them"


def with_own(keys: Mapping[str, object], commands: Sequence[object]) -> tuple[Mapping[str, Action], list[str]]:
    """Return all actions by id with the keys and the commands of a settings file, and what of these makes no sense."""
    complaints: list[str] = []
    if not keys and not commands:
        return BY_ID, complaints
    ids = {name_of(each): each.id for each in BY_ID.values()} | {id: id for id in BY_ID}
    wanted: dict[str, tuple[str, str]] = {}
    for name, value in keys.items():
        setting = one_line(f"keys.{name}")
        id = ids.get(name) or ids.get(_view(name))
        key = key_of(value)
        if id is None:
            complaints.append(f"{setting}: no action has this name; {_near(name, ids)}{LISTED}")
        elif key is None:
            complaints.append(f"{setting}: {_quoted(value)} is not a key that can be given to an action")
        elif id in wanted:
            complaints.append(f"{setting}: {name_of(BY_ID[id])} has the key {wanted[id][0]!r} already")
        elif rival := _rival(BY_ID[id], key, wanted):
            complaints.append(f"{setting}: {key} is the key of {name_of(rival)} already")
        else:
            wanted[id] = key, setting
    own: list[Action] = []
    for number, value in enumerate(commands, 1):
        setting = f"commands {number}"
        try:
            command = _command(value)
        except _Senseless as error:
            complaints.append(f"{setting}: {error}")
            continue
        found = _action(number, command)
        if command.key and (rival := _rival(found, command.key, wanted, own)):
            complaints.append(f"{setting}: {command.key} is the key of {name_of(rival)} already")
        else:
            found = found._replace(keys=(command.key,) if command.key else ())
        own.append(found)
    taken = {id: BY_ID[id]._replace(keys=(key,) if key else ()) for id, (key, _) in wanted.items()}
    changed = {each.id: _with_keys(each, taken, own, complaints) for each in BY_ID.values()}
    return {**changed, **{each.id: each for each in own}}, complaints


def _near(name: str, ids: Iterable[str]) -> str:
    hint = meant(name, ids)
    return f"{hint} " if hint.endswith("?") else ""


def name_of(action: Action) -> str:
    """Return what the settings file calls an action: a view by its name, a command by its title."""
    return action.title if action.group == "Own" else action.id.removeprefix(_VIEW)


def _view(name: str) -> str:
    """Return the name of a view that is called so, an empty text if none is."""
    return next((spec.name for spec in views() if name in (spec.name, *spec.aliases)), "")


def key_of(value: object) -> str | None:
    """Return a key as people read it, an empty text for none, `None` for what is none that can be bound."""
    if not isinstance(value, str):
        return None
    if len(value) <= 1:
        return value if not value or (value.isprintable() and cell_width(value) == 1 and value != " ") else None
    lowered = value.lower()
    named = {word.lower(): name for name, textual in NAMED_KEYS.items() for word in (name, textual)}
    chord = value if lowered.startswith("alt+") else lowered
    return named.get(lowered) or (chord if _CHORD.fullmatch(chord) else None)


def listing(actions: Mapping[str, Action]) -> list[str]:
    """Return a line for each action: what the settings file calls it, its keys, its title and what it does."""
    rows = [(name_of(each), " ".join(each.keys), each.title, each.help) for each in actions.values()]
    widths = [max(cell_width(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*map(padded, row, widths), row[-1]]) for row in rows]


def _rival(each: Action, key: str, wanted: Mapping[str, tuple[str, str]], own: Sequence[Action] = ()) -> Action | None:
    """Return the action that was given the same key on one of the same screens."""
    given = [BY_ID[id] for id, (other, _) in wanted.items() if other == key]
    given += [other for other in own if key in other.keys]
    return next((other for other in given if key and set(other.kinds) & set(each.kinds)), None)


def _with_keys(each: Action, taken: Mapping[str, Action], own: Sequence[Action], complaints: list[str]) -> Action:
    """Return an action with its own key if it was given one, without those that went to others.

    Keys with a name, such as Enter and the arrows, stay beside one's own.
    """
    givers = [other for other in (*taken.values(), *own) if other.id != each.id and set(other.kinds) & set(each.kinds)]
    gone = {key: other for other in givers for key in other.keys}
    if each.id in taken:
        named = [key for key in each.keys if key in NAMED_KEYS and not (len(key) == 1 and key.isascii())]
        kept = dict.fromkeys((*taken[each.id].keys, *(named if taken[each.id].keys else ())))
        return each._replace(keys=tuple(key for key in kept if key not in gone))
    left = tuple(key for key in each.keys if key not in gone)
    for key in each.keys:
        if key in gone:
            rest = f"has {' '.join(left)}" if left else "has no key"
            complaints.append(f"{key} is the key of {name_of(gone[key])} now; {name_of(each)} {rest}")
    return each._replace(keys=left)


def _quoted(value: object) -> str:
    return one_line(repr(value))


# Commands

_NAMES = ("run", "flow", "agent", "persona", "scenario", "segment", "state", "conversation", "trial")
"""The placeholders whose values are names that rows and places have."""
_OTHERS = ("turn", "link", "store", "flow_file")
PLACEHOLDERS = (*_NAMES, *_OTHERS)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_FIELDS = ("key", "title", "run", "on", "background", "directory")
_CODE = re.compile(r"-\w*c")


class _Senseless(Exception):
    """Report what makes no sense of a command, in the middle of a sentence."""


class Command(NamedTuple):
    """Describe a program that a key runs: `run` are its arguments, in which placeholders represent values.

    `on` names a view, or one of the placeholders, whose value has to be known. A program in the `background` is not
    waited for. It runs in the `directory`, else in that of the explorer.
    """

    title: str
    run: tuple[str, ...]
    key: str = ""
    on: str = ""
    background: bool = False
    directory: str = ""

    @property
    def placeholders(self) -> Iterator[str]:
        """Yield the placeholders in the arguments."""
        return (name for argument in self.run for name in _PLACEHOLDER.findall(argument))


def _command(value: object) -> Command:
    """Return the command that a table of the settings file describes."""
    if not isinstance(value, dict):
        raise _Senseless("it is not a table, such as [[commands]] with title and run")
    unknown = [key for key in value if key not in _FIELDS]
    if unknown:
        raise _Senseless(f"unknown key {_quoted(unknown[0])}; {meant(unknown[0], _FIELDS)}")
    title, run, key = value.get("title"), value.get("run"), key_of(value.get("key", ""))
    if not isinstance(title, str) or not title.strip():
        raise _Senseless('it needs a title, such as title = "edit the flow"')
    if not isinstance(run, list) or not run or not all(isinstance(each, str) and "\0" not in each for each in run):
        raise _Senseless('run must be a list of texts, such as run = ["code", "{flow_file}"]')
    if key is None:
        raise _Senseless(f"{_quoted(value['key'])} is not a key that can be given to an action")
    on, directory, background = value.get("on", ""), value.get("directory", ""), value.get("background", False)
    if type(background) is not bool or not isinstance(directory, str) or not isinstance(on, str):
        raise _Senseless("on and directory are texts, background is true or false")
    on = _view(on) or ("conversation" if on == "call" else on)
    if on and on not in _NAMES and not _view(on):
        raise _Senseless(f"on = {_quoted(on)} is neither a view nor one of {', '.join(_NAMES)}")
    found = Command(title, tuple(run), key, on, background, directory)
    if strange := [name for name in found.placeholders if name not in PLACEHOLDERS]:
        raise _Senseless(f"{{{strange[0]}}} has no meaning; {meant(strange[0], PLACEHOLDERS)}")
    if _PLACEHOLDER.search(run[0]):
        raise _Senseless("the program itself cannot be a placeholder")
    # A value inside of what a shell reads could be more than a value.
    if any(_CODE.fullmatch(before) and _PLACEHOLDER.search(after) for before, after in pairwise(run)):
        raise _Senseless('a value cannot be part of code after -c; write "$1" there, and the placeholder behind it')
    return found


def _action(number: int, command: Command) -> Action:
    def run(controls: Controls) -> None:
        controls.host.run(partial(_run, controls, command), "command")

    words = one_line(" ".join(command.run))
    return Action(
        f"command:{number}",
        (),
        one_line(command.title),
        f"Run {words}{' in the background' if command.background else ''}.",
        run,
        lambda controls: _reason_against(command, controls),
        group="Own",
    )


def _reason_against(command: Command, controls: Controls) -> str:
    table = controls.shown
    if table is None:
        return "nothing is read yet"
    known = values(controls)
    is_view = command.on in (controls.here.view, table.view)
    if command.on and not is_view and command.on not in known:
        return f"it is about {command.on}, and there is none here"
    missing = [name for name in command.placeholders if name not in known and name != "flow_file"]
    if "flow_file" in command.placeholders and "flow" not in known:
        missing.append("flow")
    return f"no {missing[0]} is known here; put the cursor on a row that has one" if missing else ""


def values(controls: Controls) -> Mapping[str, str]:
    """Return the raw values of the placeholders that are known where the cursor is, but for those to be asked for."""
    table, row, here = controls.shown, controls.host.body.row, controls.host.location
    record = row.record if row is not None else {}
    about = [Filter(row.where).predicate] if row is not None and row.where else []
    call: Mapping[str, Any] = table.extras.get("call", {}) if table is not None else {}
    found: dict[str, str] = {}
    for name in _NAMES:
        said = [record.get(name), *(fixed_value(each, name) for each in about), call.get(name)]
        names = (each for each in said if (isinstance(each, str) and each != "") or type(each) is int)
        value = next(names, fixed_value(here.where.predicate, name))
        if value is not None:
            found[name] = str(value)
    if controls.is_call and table is not None:
        before = [each.record for each in table.rows[: here.index + 1]]
        turns = sum(each.get("kind") == "turn" for each in before)
        states = [str(each["state"]) for each in before if each.get("kind") == "state" and each.get("state")]
        found |= {"turn": str(turns)} if turns else {}
        found |= {"state": states[-1]} if states else {}
    found["link"] = link_to(controls.host.history.stack, controls.backend.store, table)
    if controls.backend.place:
        found["store"] = controls.backend.place
    return found


def arguments(command: Command, known: Mapping[str, str]) -> list[str]:
    """Return the arguments with values instead of placeholders: each stays inside of its argument.

    Raises `_Senseless` if one could be taken for an option.
    """
    found: list[str] = []
    for argument in command.run:
        filled = _PLACEHOLDER.sub(lambda match: one_line(known[match[1]]), argument)
        first = _PLACEHOLDER.match(argument)
        if first and filled[:1] in ("-", "+") and "--" not in command.run[: len(found)]:
            raise _Senseless(f'{first[1]} is {filled!r}, which could be an option; put "--" before it in run')
        found.append(filled)
    return found


async def _run(controls: Controls, command: Command) -> None:
    """Run a program, in the foreground or beside the explorer, and report in a sentence what went wrong."""
    host, known = controls.host, dict(values(controls))
    try:
        if "flow_file" in command.placeholders:
            known["flow_file"] = await _flow_file(controls, known["flow"])
        argv = arguments(command, known)
        directory = os.path.expanduser(command.directory) or None
        if shutil.which(argv[0]) is None and os.sep not in argv[0]:
            raise _Senseless(f"no program is called {argv[0]}")
        if command.background:
            _begin(controls, command.title, argv, directory)
            return
        code = run_in_foreground(controls.table.app, argv, directory)
    except _Senseless as error:
        host.say(f"{command.title}: {error}", "warn")
    except OSError as error:
        host.say(f"{command.title}: {command.run[0]} cannot be run: {(error.strerror or str(error)).lower()}", "warn")
    except Exception as error:  # the store did not have the place of the flow's file
        host.say(f"{command.title}: {describe(error)[1]}", "warn")
    else:
        said = ended(code)
        host.say(f"{command.title}: {command.run[0]} {said}" if said else "", "warn" if said else None)


async def _flow_file(controls: Controls, flow: str) -> str:
    """Return the file of a flow, as the history of edits has it."""
    show = controls.host.show_view
    where = Filter.of(name_term("flow", flow)).text
    edits = await controls.host.worker.ask(lambda: show("edits", Request(where=where)))
    path = next((row.record.get("path") for row in edits.rows if row.record.get("path")), None)
    if not isinstance(path, str):
        raise _Senseless(f"the file of {flow} is not known: riff-tui edits reads it from git")
    return path


def _begin(controls: Controls, title: str, argv: Sequence[str], directory: str | None) -> None:
    """Run a program beside the explorer, which outlives it; report if it fails while the explorer runs."""
    host, app = controls.host, controls.table.app
    process = Popen(argv, cwd=directory, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)

    def wait() -> None:
        said = ended(process.wait())
        if said and app.is_running:
            # The explorer may end just then.
            with contextlib.suppress(RuntimeError):
                app.call_from_thread(host.say, f"{title}: {argv[0]} {said}", "warn")

    threading.Thread(target=wait, name="riff-tui-command", daemon=True).start()
    host.say(f"{title}: {argv[0]} was started")


def ended(code: int) -> str:
    """Return how a program ended, an empty text if all was well."""
    if code < 0:
        return f"was ended by signal {-code}"
    return f"ended with exit code {code}" if code else ""
