"""The codes as a table: what a row says and where it leads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.coded_store import coded, noted
from tests.support.golden import assert_golden, printed
from tests.support.hostile import HOSTILE, LIVE
from tests.surface.store import UNIT, Annotation, Code, Codes, Example, Measure, open_store
from tests.surface.tui import Request, codes, show

CODE = Code(
    code='say "when"', n=6, errored=0, failed_calls=5, share=Measure(10, 5 * UNIT, 5.0, rate=True),
    states={"a": 5, "b": 4, "c": 3, "d": 2, None: 1}, agents={"thrifty": 6}, flows={"viewing": 6},
    authors={"ann": 4, "bob": 2}, first_at=0, last_at=60_000_000, example=Example("night-1", "c 7"),
)  # fmt: skip
ANSWER = Codes([CODE], read=14, failed=10, uncoded=0, errored=0, since_new=8)


def test_a_row_leads_to_the_calls_of_its_code() -> None:
    (row,) = codes(ANSWER).rows
    assert row.where == r'code="say \"when\""'
    assert row.record["example"] == 'run=night-1 conversation="c 7"'
    assert row.record["states"] == {"a": 5, "b": 4, "c": 3, "d": 2, "·": 1}
    assert (row.record["share"], row.record["first_given"]) == (0.5, "1970-01-01T00:00:00Z")
    low, high = row.record["intervals"]["share"]
    assert 0 < low < 0.5 < high < 1


def test_cells_name_those_that_count_most() -> None:
    (row,) = codes(ANSWER).rows
    assert (row.display["states"], row.display["agents"]) == ("a 5, b 4, c 3, 2 more", "thrifty")
    (row,) = codes(replace(ANSWER, codes=[replace(CODE, states={"a": 5, "b": 4, "c": 3, "d": 2})])).rows
    assert row.display["states"] == "a 5, b 4, c 3, d 2"


def test_notes_say_what_was_read_and_whether_it_is_enough() -> None:
    assert codes(ANSWER).notes[:2] == [
        "People read 14 of these calls and failed 10 (71%).",
        "No new code in the last 8 of 14 read calls.",
    ]
    told = codes(replace(ANSWER, uncoded=1, errored=2, since_new=0)).notes
    assert "Of those failed, 1 has no code: --where 'verdict=fail code=· errored=false'." in told
    assert "The call that was read last brought a new code." in told
    assert "Left out: 2 errored calls with a code, which are no failure of the flow." in told


@pytest.fixture(scope="module")
def store(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coded(tiny, tmp_path_factory.mktemp("coded"))


@pytest.mark.parametrize(("format", "suffix"), [("markdown", "md"), ("json", "json"), ("text", "txt")])
def test_dumps_are_what_they_were(store: Path, format: str, suffix: str) -> None:
    with open_store(store) as opened:
        assert_golden(printed(show(opened, "codes", Request()), format), f"dumps/codes.{suffix}")


def test_calls_show_what_people_say_where_they_say_anything(store: Path, tiny: Path) -> None:
    def columns(path: Path, where: str) -> list[str]:
        with open_store(path) as opened:
            table = show(opened, "conversations", Request(where=where))
            return [column.key for column in table.columns if column.shown and column.key in ("verdict", "codes")]

    assert columns(store, "flow=viewing") == ["verdict", "codes"]
    assert columns(store, "flow=weather") == columns(tiny, "flow=viewing") == []
    with open_store(store) as opened:
        rows = list(show(opened, "conversations", Request(where="verdict=fail", sort="codes")).rows)
        assert len(show(opened, "conversations", Request(where="codes:asks")).rows) == 3
    assert [(row.record["verdict"], row.record["codes"], row.severity.get("verdict")) for row in rows] == [
        ("fail", ["asks twice"], "bad"),
        ("split", ["asks twice"], "warn"),
        ("fail", ["asks twice", "slow | loud"], "bad"),
        ("fail", ["backend"], None),
        ("fail", [], "bad"),
    ]


@pytest.mark.parametrize(("request_", "shown"), [(Request(), None), (Request(text=True, redact=True), ["[email 2]"])])
def test_who_wrote_on_a_call_is_told_as_far_as_words_are(store: Path, request_: Request, shown: object) -> None:
    with open_store(store) as opened:
        table = show(opened, "conversation", request_._replace(where="run=run-1 conversation=c-0000"))
    assert table.extras["call"]["noted_by"] == shown


def test_a_filter_of_codes_chooses_rows_whose_shares_stay(store: Path) -> None:
    with open_store(store) as opened:
        every = {row.record["code"]: row.record for row in show(opened, "codes", Request()).rows}
        (row,) = show(opened, "codes", Request(where="code:loud run=run-1")).rows
    assert row.record == every["slow | loud"]


def test_without_a_code_it_says_how_one_is_given(tiny: Path) -> None:
    with open_store(tiny) as opened:
        (note,) = show(opened, "codes", Request()).notes
    assert note.startswith("No call here has a code: in the explorer s ")


def test_a_code_leads_to_its_calls_and_acts_on_nothing_whatever_it_says(tiny: Path, tmp_path: Path) -> None:
    words = [text for text in HOSTILE.values() if text.strip()]
    notes = [Annotation(f"n-{at}", "c-0001", text, code=text, state=text, at=at) for at, text in enumerate(words)]
    store = noted(tiny, tmp_path, notes)
    with open_store(store) as opened:
        table = show(opened, "codes", Request())
        calls = [list(show(opened, "conversations", Request(where=row.where)).rows) for row in table.rows]
    assert len(calls) == len(set(words))
    assert {tuple(row.record["conversation"] for row in rows) for rows in calls} == {("c-0001",)}
    for format in ("text", "markdown", "csv", "json"):
        assert not LIVE.search(printed(table, format))
