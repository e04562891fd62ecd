"""Read the rules of a gate: flags go before `$RIFF_TUI_GATE_MAX_DROP`, that before `[gate]` of the settings file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from riff_tui import settings
from riff_tui.errors import UsageError
from riff_tui.gate import tolerances
from riff_tui.gate.rules import MIN_N
from riff_tui.gate.tolerances import Tolerance

VARIABLE = "RIFF_TUI_GATE_MAX_DROP"
_KEYS = ("max_drop", "min_n")


@dataclass(frozen=True, slots=True)
class Rules:
    """Hold what is checked with its tolerance, the calls that a check takes, and whether the gate is strict."""

    tolerances: tuple[Tolerance, ...]
    min_n: int = MIN_N
    strict: bool = False


def configured(
    max_drop: Sequence[str],
    min_n: int | None = None,
    *,
    strict: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Rules:
    """Return the rules of this run; `max_drop` and `min_n` are the flags. Raise `UsageError` for nonsense."""
    environ = os.environ if environ is None else environ
    table = settings.gate(environ)
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise UsageError(f"{_file(environ)}: [gate] has no key {unknown[0]!r}; known are {', '.join(_KEYS)}")
    listed = [part.strip() for part in environ.get(VARIABLE, "").split(",") if part.strip()]
    return Rules(
        tolerances.merged(
            _from_file(table.get("max_drop", {}), environ),
            [tolerances.read(text, f"${VARIABLE}") for text in listed],
            [tolerances.read(text) for text in max_drop],
        ),
        _least(table.get("min_n", MIN_N), environ) if min_n is None else min_n,
        strict,
    )


def _from_file(table: Any, environ: Mapping[str, str]) -> Iterator[Tolerance]:
    if not isinstance(table, dict):
        raise UsageError(f"{_file(environ)}: gate.max_drop must be a table, such as [gate.max_drop]")
    for name, amount in table.items():
        if isinstance(amount, bool) or not isinstance(amount, str | int | float):
            raise UsageError(f"{_file(environ)}: gate.max_drop.{name} must be a number, or text such as '5%'")
        yield tolerances.allow(name, amount, f"{_file(environ)}: gate.max_drop")


def _least(value: Any, environ: Mapping[str, str]) -> int:
    if type(value) is not int or value < 1:
        raise UsageError(f"{_file(environ)}: gate.min_n must be a whole number from 1")
    return value


def _file(environ: Mapping[str, str]) -> str:
    return f"settings file {settings.config_file(environ)}"
