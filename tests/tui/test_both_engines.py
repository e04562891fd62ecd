"""Whatever keeps a store, a file or a server: every view of it is the same to the last byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support import (
    edited_store,
    hostile_store,
    judged_store,
    people_store,
    random_stores,
    spoken_calls,
    tiny_store,
)
from tests.support.coded_store import coded
from tests.support.golden import printed
from tests.support.postgresql_server import Server
from tests.surface.ingest import ingest
from tests.surface.store import PAGE, RiffError, Store, Writer, copy_store, examine, open_store, score_pages
from tests.surface.tui import EXPORT_COLUMNS as COLUMNS
from tests.surface.tui import Options, Request, batch_of, show, views
from tests.surface.tui import csv_write_batches as write_batches

Both: TypeAlias = tuple[Store, Store]
VIEWS = tuple(view.name for view in views())


def _read(folder: Path) -> Path:
    tiny = tiny_store.build(folder / "made")
    return edited_store.record(coded(tiny, folder), edited_store.edits())


def _judged(folder: Path) -> Path:
    with people_store.with_notes(people_store.store_of_calls(folder)) as store:
        return Path(store.location)


def _of_prompts(folder: Path) -> Path:
    with judged_store.built(folder, list(judged_store.calls()), list(judged_store.verdicts())) as store:
        return Path(store.location)


def _spoken(folder: Path) -> Path:
    with spoken_calls.made(folder / "spoken.db") as store:
        return Path(store.location)


def _by_chance(folder: Path) -> Path:
    with random_stores.world(5, 40).store(folder / "chance.db") as store:
        return Path(store.location)


STORES: Mapping[str, Callable[[Path], Path]] = {
    "read": _read,
    "judged": _judged,
    "of prompts": _of_prompts,
    "spoken": _spoken,
    "hostile": lambda folder: hostile_store.build(folder, hostile_store.WORDS[::4]),
    "by chance": _by_chance,
}
DEEP = (
    Request(by=("persona",)),
    Request(where="persona:u | -errored=true", sort="-latency_p95", limit=5),
    Request(where="correctness<8 | state:e stall>0"),
    Request(where="humanness<6 | noted=true | failure:stall | conversation:'%'", sort="persona"),
)
ABOUT = ("flows", "judges", "agreement", "disputes", "alignment", "conversations", "conversation")


@pytest.fixture(scope="module", params=STORES)
def both(
    request: pytest.FixtureRequest, postgresql: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """A store in a file, and its copy on a server."""
    path = STORES[request.param](tmp_path_factory.mktemp("both"))
    address = postgresql.store()
    with open_store(path) as source, open_store(address, write=True, create=True) as target:
        copy_store(source, target)
    with open_store(path) as source, open_store(address) as copy:
        yield source, copy


def test_every_view_is_the_same(both: Both, request: pytest.FixtureRequest) -> None:
    in_file, on_server = both
    kind = request.node.callspec.params["both"]
    for view in VIEWS if kind in ("read", "hostile", "by chance") else ABOUT:
        for asked in (Request(), *(DEEP if kind == "by chance" else ())):
            assert told(on_server, view, asked) == told(in_file, view, asked), (view, asked)


@pytest.mark.parametrize("size", [PAGE, 3])
def test_an_export_is_the_same(both: Both, size: int) -> None:
    exports = [StringIO(), StringIO()]
    for store, out in zip(both, exports, strict=True):
        write_batches(COLUMNS, map(batch_of, score_pages(store, size=size)), out, Options())
    assert exports[0].getvalue() == exports[1].getvalue()
    assert exports[0].getvalue().count("\n") > 1


def test_sides_are_compared_alike(both: Both) -> None:
    runs = [name for (name,) in both[0].execute_sql("SELECT name FROM run ORDER BY name")]
    for view in ("compare", "failures", "failure-shifts"):
        request = Request(sides=(runs[0], runs[-1]))
        assert told(both[1], view, request) == told(both[0], view, request)


def test_the_doctor_finds_nothing_wrong(both: Both) -> None:
    for store in both:
        assert examine(store).wrong == []


def test_a_copy_of_the_copy_is_the_store_again(both: Both, tmp_path: Path) -> None:
    with open_store(tmp_path / "back.db", write=True, create=True) as target:
        copied = copy_store(both[1], target)
        assert copied == copy_store(both[0], target, replace=True)
        for view in ABOUT:
            assert told(target, view, Request()) == told(both[0], view, Request())


def test_what_is_ingested_is_the_same(postgresql: Server, tmp_path: Path) -> None:
    paths = tiny_store.write(tmp_path)
    grown = paths[0].read_text("utf-8")
    stores = (str(tmp_path / "file.db"), postgresql.store())
    for text in (grown[: grown.index("\n") + 1], grown):
        paths[0].write_text(text, "utf-8")
        for place in stores:
            with open_store(place, write=True, create=True) as store:
                ingest(paths, Writer(store))
    with open_store(stores[0]) as in_file, open_store(stores[1]) as on_server:
        assert examine(on_server).counts == examine(in_file).counts
        assert examine(on_server).wrong == []
        for view in ABOUT:
            assert told(on_server, view, Request()) == told(in_file, view, Request())


def told(store: Store, view: str, request: Request) -> str:
    """What a view prints, or why it prints nothing."""
    try:
        table = show(store, view, request)
    except RiffError as error:
        return str(error)
    return printed(table, "json") + printed(table, "text")
