"""Every dump that a store can give: each view as it is, split, and of the places that it has to be asked for."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any

from tests.surface.store import Store
from tests.surface.tui import Request, Row, quote, run, show, sinks_render, views

FEW = 3
"""So many flows, states and calls stand for all of them."""
SPLITS = ("run", "persona", "commit")


def every_dump(store: Store, location: str = "") -> Iterator[tuple[str, Request]]:
    """Each view, with what can be asked of it; `location` is the store as commands name it."""
    runs = show(store, "runs", Request()).rows
    for spec in views():
        for where in wheres(store, spec.name):
            if not spec.sides:
                yield spec.name, Request(where=where, store=location, text=True, trend=True)
        if spec.sides and len(runs) > 1:
            a, b = (f"run:{row.record['run']}" for row in runs[-2:])
            yield spec.name, Request(sides=(a, b), store=location)
        for key in SPLITS if spec.takes_by else ():
            yield spec.name, Request(by=(key,), store=location, trend=True)


def wheres(store: Store, view: str) -> Sequence[str]:
    """The filters with which a view is asked for: none, unless it is about one place or one call."""
    if view == "neighbors":
        return [row.where for row in some(store, "states") if row.record["n"]]
    if view == "conversation":
        return [row.where for row in some(store, "conversations")]
    if view == "failure-matrix":
        return [f"flow={quote(row.record['flow'])}" for row in some(store, "flows")]
    return [""]


def some(store: Store, view: str) -> Sequence[Row]:
    rows = show(store, view, Request()).rows
    return [*rows[:FEW], *rows[max(FEW, len(rows) - FEW) :]]


def as_text(store: Store, view: str, request: Request, form: str = "json") -> str:
    """What the dump prints."""
    out = io.StringIO()
    sinks_render(show(store, view, request), form, out)
    return out.getvalue()


def printed_by(argv: Sequence[str]) -> tuple[int, str]:
    """How a command ends, and what it prints; it runs in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(list(argv[1:]))
    return code, out.getvalue()


def drills(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row["drill"] for row in rows if "drill" in row]
