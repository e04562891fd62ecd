"""Dumps of a few calls that three judges scored, one of them by two prompts: what is pasted and piped of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.golden import assert_golden, printed
from tests.support.judged_store import built, calls, verdicts
from tests.support.postgresql_server import Server
from tests.surface.store import Store, open_store
from tests.surface.tui import LISTED, NO_DISPUTES, NO_JUDGES, NO_REPEATS, FilterError, Request, Table, show

FORMATS = [("markdown", "md"), ("json", "json"), ("text", "txt")]
CASES = {
    "agreement": ("agreement", Request()),
    "agreement-of-a-judge": ("agreement", Request(where="judge=gemini n>4")),
    "disputes": ("disputes", Request()),
    "disputes-of-two": ("disputes", Request(where="judge=gemini | judge=codex#aaaaaa", limit=2)),
    "judges": ("judges", Request()),
    "conversation": ("conversation", Request(where="c-0")),
    "conversation-with-text": ("conversation", Request(where="c-0", text=True, redact=True)),
    "repeats": ("repeats", Request()),
    "repeats-by-scenario": ("repeats", Request(by=("scenario",))),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with built(tmp_path_factory.mktemp("judged"), list(calls()), list(verdicts())) as opened:
        yield opened


@pytest.fixture(scope="module")
def on_server(store: Store, postgresql: Server) -> Iterator[Store]:
    with open_store(postgresql.copy_of(Path(store.location))) as opened:
        yield opened


def record(table: Table, number: int, *keys: str) -> dict[str, Any]:
    return {key: table.rows[number].record[key] for key in keys}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("format", "suffix"), FORMATS)
def test_dumps_are_what_they_were(store: Store, case: str, format: str, suffix: str) -> None:
    view, request = CASES[case]
    text = printed(show(store, view, request), format)
    folder = Path(str(store.location)).parent
    assert_golden(text.replace(str(folder), "FOLDER"), f"dumps/judged/{case}.{suffix}")


@pytest.mark.parametrize("case", CASES)
def test_dumps_from_a_server_are_the_same(on_server: Store, store: Store, case: str) -> None:
    view, request = CASES[case]
    for format, suffix in FORMATS:
        text = printed(show(on_server, view, request), format)
        assert_golden(text.replace(str(Path(store.location).parent), "FOLDER"), f"dumps/judged/{case}.{suffix}")


def test_a_pair_can_be_checked_with_a_pencil(store: Store) -> None:
    pairs = show(store, "agreement", Request(where='first="codex#aaaaaa" second="codex#bbbbbb"'))
    # Of c-0 to c-4 in whole points 2 4 6 8 10 and 1 5 6 9 10; c-5 was errored.
    expected = 1 - 5 * 3 / sum((a - b) ** 2 for a in (2, 4, 6, 8, 10) for b in (1, 5, 6, 9, 10))
    assert record(pairs, 0, "n", "exact", "spearman") == {"n": 5, "exact": 0.4, "spearman": 1.0}
    assert pairs.rows[0].record["kappa"] == pytest.approx(expected)
    assert pairs.rows[0].record["mean_difference"] == pytest.approx((1 - 0.1 + 0 - 1 - 0.5) / 5)


def test_the_way_goes_from_a_judge_to_its_pairs_to_their_disputes_to_the_call(store: Store) -> None:
    judge = next(row for row in show(store, "judges", Request()).rows if row.record["judge"] == "gemini")
    pairs = show(store, "agreement", Request(where=judge.where)).rows
    assert len(pairs) == 4
    assert all("gemini" in (row.record["first"], row.record["second"]) for row in pairs)
    pair = next(row for row in pairs if row.record["first"] == "codex#aaaaaa")
    found = show(store, "disputes", Request(where=pair.where))
    assert record(found, 0, "conversation", "spread", "highest", "lowest") == {
        "conversation": "c-0", "spread": 5.0, "highest": "gemini", "lowest": "codex#aaaaaa",
    }  # fmt: skip
    assert found.rows[0].record["scores"] == {"codex#aaaaaa": 2.0, "gemini": 7.0}
    call = show(store, "conversation", Request(where=found.rows[0].where, text=True))
    assert any("Tuesday" in note for note in call.notes)


def test_beside_correctness_the_way_leads_to_the_calls_that_differ(store: Store) -> None:
    pair = show(store, "agreement", Request(where="first=gemini second=correctness")).rows[0]
    found = show(store, "conversations", Request(where=pair.where)).rows
    # Human and not correct: c-0 and c-4; correct and not human: none.
    assert [row.record["conversation"] for row in found] == ["c-0", "c-4"]
    assert pair.record["exact"] == pytest.approx((5 - len(found)) / 5)


def test_of_many_disputes_the_widest_are_listed_and_the_rest_is_counted(tmp_path: Path) -> None:
    count = LISTED + 5
    scores = [
        {"run_id": "night", "conversation_id": f"c-{number}", "judge": judge, "score": score}
        for number in range(count)
        for judge, score in (("a", 0), ("b", number / 10))
    ]
    made = [{**call, "errored": False} for call in calls(count)]
    with built(tmp_path, made, scores) as store:
        table = show(store, "disputes", Request())
        assert table.counts == (LISTED, count - 1, count - 1)
        assert table.limit == LISTED
        assert "Not listed: 1 call to which all judges gave the same score." in table.notes
        assert table.rows[0].record["spread"] == 5.4
        every = show(store, "disputes", Request(limit=1000))
        assert (len(every.rows), every.counts.hidden) == (count - 1, 0)
        few = show(store, "disputes", Request(where="spread<1", sort="spread", limit=2))
        assert [row.record["spread"] for row in few.rows] == [0.1, 0.2]
        assert few.counts == (2, 9, count - 1)
        assert show(store, "disputes", Request(where="scores.b>5")).rows[-1].record["spread"] == 5.1
        assert show(store, "disputes", Request(where="highest=b lowest=a", limit=0)).counts == (0, count - 1, count - 1)
        assert len(show(store, "disputes", Request(where="scenario=new")).rows) == 3


def test_where_there_is_nothing_to_show_the_next_step_is_said(tmp_path: Path) -> None:
    with built(tmp_path, list(calls(1)), []) as store:
        assert show(store, "agreement", Request()).notes == [NO_JUDGES]
        assert show(store, "disputes", Request()).notes == [NO_DISPUTES]
        repeats = show(store, "repeats", Request()).notes
        assert list(repeats) == [NO_REPEATS, "Left out: 1 group with fewer than two trials."]


def test_judges_cannot_be_tied_to_what_chooses_rows(store: Store) -> None:
    for view in ("agreement", "disputes"):
        with pytest.raises(FilterError, match="judge chooses among judges"):
            show(store, view, Request(where="judge=codex | flow=viewing"))


def test_each_prompt_of_a_judge_stays_apart_in_every_view(store: Store) -> None:
    versions = {"codex#aaaaaa", "codex#bbbbbb"}
    for view, key in (("flows", "humanness"), ("timeline", "quality"), ("disputes", "scores")):
        assert versions <= set(show(store, view, Request()).rows[0].record[key])
    cells = show(store, "flow-table", Request()).rows[0].record["cells"]
    assert versions <= {cell["judge"] for cell in cells}
    judged = show(store, "conversation", Request(where="c-0")).extras["aspects"]["judged"]
    assert versions <= {verdict["judge"] for verdict in judged}
    assert versions <= {row.record["judge"] for row in show(store, "judges", Request()).rows}
