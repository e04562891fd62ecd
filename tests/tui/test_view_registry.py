"""A view of another distribution that is wrong is said by its name and stops nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from tests.surface.explorer import Location, below, descend
from tests.surface.store import open_store
from tests.surface.tui import RUNS_SPEC as RUNS
from tests.surface.tui import (
    ExitCode,
    Request,
    Row,
    Screen,
    Table,
    ViewFailed,
    ViewQuery,
    ViewSpec,
    show,
    view_registry,
)

HELP = ("Who called.", "", "")
Register = Callable[[ViewSpec], None]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Let a view be one of another distribution."""

    def registering(spec: ViewSpec) -> None:
        monkeypatch.setattr(EntryPoint, "load", lambda point: spec)
        point = EntryPoint("callers", "callers:SPEC", view_registry.GROUP)
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == point.group else [])
        forget()

    def forget() -> None:
        for cached in (view_registry.find, view_registry.views, view_registry._added):
            cached.cache_clear()

    yield registering
    forget()


def fails(query: ViewQuery) -> Table:
    raise KeyError("the words of a caller")


def asks_nothing_that_is_there(query: ViewQuery) -> Table:
    raise ModuleNotFoundError("no_such_module")


def answers_nothing(query: ViewQuery) -> Any:
    return None


@pytest.mark.parametrize(
    ("spec", "failure"),
    [
        (ViewSpec(name="who", title="", help=HELP, show=fails), "KeyError"),
        (ViewSpec(name="who", title="", help=HELP, show=asks_nothing_that_is_there), "ModuleNotFoundError"),
        (ViewSpec(name="who", title="", help=HELP, show=answers_nothing), "AttributeError"),
        (ViewSpec(name="who", title="", help=HELP), "TypeError"),
    ],
)
def test_a_view_that_fails_is_named_with_its_plug_in(
    tiny: Path, register: Register, spec: ViewSpec, failure: str
) -> None:
    register(spec)
    with open_store(tiny) as store, pytest.raises(ViewFailed) as raised:
        show(store, "who", Request())
    expected = f"the view who (callers:SPEC) failed with {failure}; run it again with --debug to see where"
    assert (str(raised.value), raised.value.code) == (expected, ExitCode.UNEXPECTED)


def test_only_a_view_of_another_distribution_has_an_origin(register: Register) -> None:
    spec = ViewSpec(name="who", title="", help=HELP)
    register(spec)
    assert view_registry.origin_of(spec) == "callers:SPEC"
    assert view_registry.origin_of(RUNS) == ""


def test_nothing_lies_below_where_no_view_is_called_so(register: Register) -> None:
    register(ViewSpec(name="who", title="", help=HELP, screen=Screen(below="no-such-view")))
    row = Row("a", record={"flow": "a"}, where="flow=a")
    table = Table("who", "", (), (row,))
    assert below(table, row) == ""
    assert descend(Location("who"), table, row) is None


@pytest.mark.parametrize("name", ["flow_table", "\x1b[2Jwho", "Who"])
def test_a_view_with_a_name_that_is_not_plain_is_left_out(
    register: Register, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    register(ViewSpec(name=name, title="", help=HELP))
    assert name not in [spec.name for spec in view_registry.views()]
    said = capsys.readouterr().err
    assert said.startswith("view plug-in callers (callers:SPEC) is left out: the name ")
    assert "\x1b" not in said
