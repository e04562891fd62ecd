"""Hold what one session of the explorer leaves for the next on the same store, and encode it as JSON.

The form is read with care: a file may be damaged, of another version, or written by somebody else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import Any, TypeVar

import msgspec

from riff_tui.filters import Filter, FilterError, parse
from riff_tui.text.safe_text import one_line
from riff_tui.tui.navigation.location import SIDE_BY_SIDE, Location, Stack
from riff_tui.view_registry import find

FORM = 1
MOST_FILTERS = 50
MOST_MARKS = 2_000
MOST_PLACES = 32
LONGEST = 4_000
BY_VIEW = frozenset({"sorts", "columns", "marks"})

T = TypeVar("T")
StatePart = tuple[str, str]
"""A thing that lasts: the name of its field, and the view that it belongs to, empty where it belongs to none."""


class Unreadable(Exception):
    """Tell that a file makes no sense; the message says why, in the middle of a sentence."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Hold what lasts of one store.

    `stack` is the location one was at, below those above it, and empty where there is none to go back
    to. `sorts` (a column, `-` before it for downwards), `columns` (keys) and `marks` (ids of rows) go
    by view. `filters` are those that were applied, the latest last. `theme` is the one that was chosen.
    """

    stack: Stack = ()
    sorts: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    theme: str | None = None


NOTHING = SessionState()


class _Form(msgspec.Struct):
    form: int


class _Document(msgspec.Struct):
    form: int
    store: str
    kept: SessionState


def encoded(lasting: SessionState, store: str) -> bytes:
    """Return the file's bytes; `store` tells a reader which store it belongs to."""
    document = _Document(FORM, one_line(store), _bounded(lasting))
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=_plain), indent=1)


def decoded(raw: bytes) -> SessionState:
    """Return what a file holds; raise `Unreadable` where that makes no sense."""
    try:
        form = msgspec.json.decode(raw, type=_Form).form
        if form != FORM:
            raise Unreadable(f"it has the form of {'a newer' if form > FORM else 'an older'} riff-tui")
        found = msgspec.json.decode(raw, type=_Document, dec_hook=_filter).kept
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is damaged") from error
    return replace(_bounded(found), stack=found.stack if _sound(found.stack) else ())


def with_filter(filters: tuple[str, ...], expression: str) -> tuple[str, ...]:
    """Return the filters with one more at the end, each of them once."""
    return (*(each for each in filters if each != expression), expression)[-MOST_FILTERS:]


def overlaid(base: SessionState, mine: SessionState, parts: Collection[StatePart]) -> SessionState:
    """Return what is in the file with these parts of mine instead; filters of both stay."""
    found = base
    for name, view in parts:
        value: Any = getattr(mine, name)
        if name in BY_VIEW:
            value = with_view(getattr(found, name), view, value.get(view))
        elif name == "filters":
            value = reduce(with_filter, value, base.filters)
        found = replace(found, **{name: value})
    return found


def with_view(values: Mapping[str, T], view: str, value: T | None) -> dict[str, T]:
    """Return the values by view with another one for one of them, or none."""
    others = {key: found for key, found in values.items() if key != view}
    return others if value is None else {**others, view: value}


def _plain(value: object) -> str:
    if not isinstance(value, Filter):
        raise NotImplementedError
    return value.text


def _filter(kind: type, value: object) -> Filter:
    if kind is not Filter or not isinstance(value, str):
        raise ValueError("a filter is a text")
    return Filter(value)


def _bounded(lasting: SessionState) -> SessionState:
    """Return the state with no more of anything than a session could want."""
    return SessionState(
        stack=lasting.stack[:MOST_PLACES],
        sorts={view: key for view, key in lasting.sorts.items() if len(view) + len(key) <= LONGEST},
        columns={view: keys[:MOST_MARKS] for view, keys in lasting.columns.items()},
        marks={view: ids[-MOST_MARKS:] for view, ids in lasting.marks.items() if ids},
        filters=tuple(each for each in lasting.filters if len(each) <= LONGEST and _is_filter(each))[-MOST_FILTERS:],
        theme=lasting.theme,
    )


def _sound(stack: Stack) -> bool:
    return all(_sound_place(place) for place in stack)


def _sound_place(place: Location) -> bool:
    # Two rows side by side are rows of a view.
    paired = place.view == SIDE_BY_SIDE and len(place.pair) == 2
    spec = find(place.of if paired else place.view)
    if spec is None or not spec.listed or paired != bool(place.pair):
        return False
    aspected = not place.aspect or (spec.aspects and not paired)
    values = [*(getattr(place, each.name) for each in fields(Location)), *place.pair, *place.sides]
    texts = [value.text if isinstance(value, Filter) else value for value in values]
    short = all(len(text) <= LONGEST for text in texts if isinstance(text, str))
    filters = (place.scope.text, place.filter.text, *place.pair)
    sided = len(place.sides) == (2 if spec.sides and not paired else 0)
    return short and sided and aspected and place.index >= 0 and all(_is_filter(each) for each in filters)


def _is_filter(expression: str) -> bool:
    try:
        parse(expression)
    except FilterError:
        return False
    return True
