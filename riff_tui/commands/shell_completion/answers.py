"""Find what completes a command line: commands, options, views, and names that the store knows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from riff_tui.commands.shell_completion.words import TypedLine, replies, split_line

CommandOf: TypeAlias = Callable[[str], Any]
"""Return the application, with the options of the command of that name."""


def answer(shell: str, arguments: Sequence[str], commands: Sequence[str], command_of: CommandOf) -> None:
    """Print a line for each word that completes what was typed; whatever goes wrong, print nothing."""
    try:
        line = _typed(shell, arguments)
        found = replies(shell, line, list(dict.fromkeys(_candidates(line, commands, command_of))))
        sys.stdout.write("".join(f"{each}\n" for each in found))
        sys.stdout.flush()
    except Exception:  # a shell that completes shows errors amid what is typed
        return


def _typed(shell: str, arguments: Sequence[str]) -> TypedLine:
    if shell == "bash":
        line = split_line(arguments[0] if arguments else "")
        return line._replace(words=line.words[1:])
    *before, last = arguments or ("",)
    split = split_line(last)
    return TypedLine([split_line(word).current for word in before], split.current, split.quote)


def _candidates(line: TypedLine, commands: Sequence[str], command_of: CommandOf) -> Iterator[str]:
    name = next((word for word in line.words if word in commands), "")
    if not name:
        yield from _options(command_of("")) if line.current.startswith("-") else commands
        return
    command = command_of(name).commands[name]
    for word in line.words:
        command = getattr(command, "commands", {}).get(word, command)
    option, _, value = line.current.partition("=")
    asked = _parameter(command, option) if value or "=" in line.current else None
    if asked is not None:
        yield from (f"{option}={each}" for each in _values(asked, value, line.words, name))
        return
    asked = _parameter(command, line.words[-1])
    if asked is not None and not asked.is_flag:
        yield from _values(asked, line.current, line.words, name)
    elif line.current.startswith("-"):
        yield from _options(command)
    else:
        yield from getattr(command, "commands", ())
        yield from _operands(name, line)


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from (
            each for each in parameter.opts if each.startswith("--") and not getattr(parameter, "hidden", False)
        )
    yield "--help"


def _parameter(command: Any, word: str) -> Any:
    return next((each for each in command.params if word.startswith("-") and word in each.opts), None)


def _operands(name: str, line: TypedLine) -> Iterator[str]:
    if name in ("dump", "serve", "ui") and not any(word in _views() for word in line.words):
        yield from _views()
    elif name == "compare":
        yield from ("previous", "latest", *_names("run", line.words))
        yield from (f"agent:{agent}" for agent in _names("agent", line.words))
    elif name == "notes" and "rename" in line.words:
        yield from _names("code", line.words)


def _values(parameter: Any, value: str, words: Sequence[str], command: str) -> Iterator[str]:
    """Yield what an option can be given; nothing where that is a file."""
    from riff_tui.views.spec import BY

    if parameter.name == "where":
        yield from _terms(value, words)
    elif parameter.name == "by":
        head = value[: value.rfind(",") + 1]
        yield from (f"{head}{key}" for key in BY)
    elif parameter.name == "sort":
        view = _view(words)
        keys = [column.key for column in view.columns if column.kind != "object"] if view else []
        yield from (f"{sign}{key}" for sign in ("", "-") for key in keys)
    elif parameter.name == "aspect":
        from riff_store.metrics import COMPUTED, POOLED

        yield from (*COMPUTED, *POOLED, "humanness")
    elif parameter.name == "max_drop":
        from riff_tui.gate.rules import CHECKED

        yield from (f"{aspect}=" for aspect in CHECKED)
    elif parameter.name in ("baseline", "candidate", "run"):
        yield from _names("run", words)
    elif parameter.name == "code":
        yield from _names("code", words)
    elif command in ("run", "simulate"):
        from riff_tui.commands.shell_completion.run_values import values_of

        yield from values_of(parameter.name, value, words)
    else:
        yield from (str(getattr(each, "value", each)) for each in getattr(parameter.type, "choices", ()))


def _terms(value: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the filter with its last term completed: a field, or a name of a field."""
    from riff_store.vocabulary import FIELDS
    from riff_tui.filters import completion, quote

    want = completion.wanted(value, len(value))
    if want is None:
        return
    if not want.field:
        view = _view(words)
        known = completion.fields(want, view.row_fields if view else ())
        head = value[: want.start]
        for each in known:
            field = each.rstrip(":")
            numeric = field in FIELDS and FIELDS[field].kind == "number"
            yield f"{head}{field}{'>' if numeric else '='}"
        return
    at = value.index(want.operator, want.start) + len(want.operator)
    yield from (f"{value[:at]}{quote(name)}" for name in _names(want.field, words))


def _view(words: Sequence[str]) -> Any:
    from riff_tui.view_registry import resolve

    named = next((word for word in words if word in _views()), None)
    return resolve(named) if named else None


def _views() -> Collection[str]:
    from riff_tui.view_registry import views

    return [name for spec in views() if not spec.sides for name in (spec.name, *spec.aliases)]


def _names(field: str, words: Sequence[str]) -> list[str]:
    """Return the names of a field in the store that the line is about; none where there is no such store."""
    from riff_store.database import open_store
    from riff_store.location import is_on_server
    from riff_store.queries.contents import known_names
    from riff_tui.settings import load, store_location

    given = [after for word, after in pairwise(words) if word == "--store"]
    given += [word.removeprefix("--store=") for word in words if word.startswith("--store=")]
    location = store_location(load(store=os.path.expanduser(given[-1]) if given else None))
    if is_on_server(location):
        return []
    with open_store(location) as store:
        return known_names(store, field)
