"""Agreement, disputes, repeats and what a judge said of a call, with the keys that scripts rely on."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.support.view_answers import DOCUMENT, detail, measure
from tests.surface.explorer import reasons
from tests.surface.store import UNIT, CallDetail, Dispute, Disputes, Measure, PairAgreement, RepeatCell, Verdict
from tests.surface.tui import (
    AGAINST_CORRECTNESS,
    FORMATS,
    Redactor,
    Table,
    agreement,
    conversation,
    disputes,
    left_out,
    parse,
    repeats,
    side_by_side,
)
from tests.surface.tui import sinks_render as render


def pair(first: str = "codex", second: str | None = "gemini", **given: Any) -> PairAgreement:
    shown = (first, second) if second else (first,)
    settings: dict[str, Any] = {
        "aspect": "humanness", "shown": shown, "n": 9, "exact": measure(0.5, 9, rate=True), "kappa": 0.5,
        "kappa_unweighted": 0.25, "spearman": 0.75, "difference": measure(-1.5, 9),
    }  # fmt: skip
    return PairAgreement(first=first, second=second, **(settings | given))


def cell(**given: Any) -> RepeatCell:
    settings: dict[str, Any] = {
        "keys": {"flow": "dental", "agent": "qwen"}, "groups": 6, "trials": 14, "excluded": 0, "unmeasured": 0,
        "single": 0, "nameless": 0, "runs": 1, "k": 2, "pass_one": Measure(6, UNIT * 3, 2.5),
        "pass_k": measure(0.25, 6),
        "pass_all": {1: 0.5, 2: 0.25}, "pass_any": {1: 0.5, 2: 0.75}, "flaky": measure(0.5, 6, rate=True),
        "always_passed": measure(0.25, 6, rate=True), "always_failed": measure(0.25, 6, rate=True),
        "spread": measure(4.0, 6),
    }  # fmt: skip
    return RepeatCell(**(settings | given))


def marks(table: Table, row: int = 0) -> dict[str, str]:
    return {title: why for _, title, why in reasons(table, table.rows[row])}


# agreement


def test_a_pair_is_a_row_that_leads_to_what_the_two_dispute() -> None:
    row = agreement([pair()]).rows[0]
    assert {key: row.record[key] for key in ("first", "second", "n", "exact", "kappa", "spearman")} == {
        "first": "codex", "second": "gemini", "n": 9, "exact": 0.5, "kappa": 0.5, "spearman": 0.75,
    }  # fmt: skip
    assert (row.record["mean_difference"], row.record["kappa_unweighted"], row.record["scale"]) == (
        -1.5,
        0.25,
        "points",
    )
    assert set(row.record["intervals"]) == {"exact", "mean_difference"}
    assert row.where == "judge=codex | judge=gemini"
    assert not row.thin


def test_beside_correctness_a_row_leads_to_the_calls_that_are_told_differently() -> None:
    table = agreement([pair(second=None, difference=Measure(0, 0))])
    row = table.rows[0]
    assert (row.record["second"], row.record["mean_difference"], row.record["scale"]) == (
        "correctness",
        None,
        "pass/fail",
    )
    assert row.where == (
        "errored=false (humanness.codex>=5 correctness<10 | humanness.codex<5 correctness=10)"
    )  # fmt: skip
    parse(row.where)
    assert AGAINST_CORRECTNESS in table.notes
    assert AGAINST_CORRECTNESS not in agreement([pair()]).notes


@pytest.mark.parametrize(("kappa", "mark"), [(None, None), (-0.1, "bad"), (0.19, "bad"), (0.39, "warn"), (0.4, None)])
def test_little_agreement_of_judges_is_marked_and_says_why(kappa: float | None, mark: str | None) -> None:
    table = agreement([pair(kappa=kappa), pair(second=None, kappa=kappa)])
    assert table.rows[0].severity.get("kappa") == mark
    assert ("more than by chance" in marks(table).get("kappa", "")) is (mark is not None)
    assert not table.rows[1].severity


def test_a_pair_with_few_calls_is_thin() -> None:
    assert agreement([pair(n=4)]).rows[0].thin


def test_names_that_need_quotes_can_be_followed() -> None:
    row = agreement([pair("a b", 'c"|(d', shown=("a b", 'c"|(d'))]).rows[0]
    assert row.where == 'judge="a b" | judge="c\\"|(d"'
    parse(row.where)
    beside = agreement([pair("a.b (c)", None, shown=("a.b (c)",))]).rows[0]
    assert 'humanness."a.b (c)">=5' in beside.where
    parse(beside.where)


def test_another_aspect_than_humanness_is_followed_by_its_judge_alone() -> None:
    row = agreement([pair("codex (tone)", None, aspect="tone", shown=("codex",))]).rows[0]
    assert row.where == "judge=codex"


# disputes


def test_a_dispute_is_a_row_with_every_judges_score() -> None:
    first = Dispute(
        "r", "c1", "dental", "qwen", "humanness", {"b": 9.0, "a": 9.0, "z": 2.0, "m": 2.0}, None, 7.0, "a", "m"
    )
    second = Dispute("r", "c2", "dental", "qwen", "humanness", {"a": 5.0, "x": 4.0}, 10.0, 1.0, "a", "x")
    table = disputes(Disputes([first, second], 2, 1))
    record = table.rows[0].record
    assert record["scores"] == {"a": 9.0, "b": 9.0, "m": 2.0, "x": None, "z": 2.0}
    assert (record["spread"], record["highest"], record["lowest"], record["correctness"]) == (7.0, "a", "m", None)
    assert table.rows[0].where == "run=r conversation=c1"
    column = table.column("scores.x")
    assert column is not None
    assert [column.value(row.record) for row in table.rows] == [None, 4.0]
    assert "Not listed: 1 call to which all judges gave the same score." in table.notes


def test_one_call_may_be_disputed_on_several_aspects() -> None:
    both = [
        Dispute("r", "c1", "f", "a", aspect, {"x": 1.0, "y": 2.0}, None, 1.0, "y", "x")
        for aspect in ("humanness", "tone")
    ]
    assert len({row.id for row in disputes(Disputes(both, 2, 0)).rows}) == 2


# repeats


def test_thin_repeats_beside_each_other_say_of_what_there_are_few() -> None:
    thin = [cell(groups=2), cell(groups=9, keys={"flow": "weather", "agent": "qwen"})]
    table = repeats(thin)
    notes = side_by_side(table, *table.rows).notes
    assert notes[-1] == "Thin: fewer than 5 groups behind a, marked ~."
    assert left_out(table) == ["Thin: 1 row has fewer than 5 groups, marked ~."]


def test_repeats_have_the_keys_of_the_data_interface() -> None:
    record = repeats([cell()]).rows[0].record
    expected = {
        "flow": "dental", "agent": "qwen", "groups": 6, "trials": 14, "pass1": 0.5, "pass_k": 0.25, "k": 2,
        "flaky": 0.5, "always_passed": 0.25, "always_failed": 0.25, "spread": 4.0,
        "pass_all": {"1": 0.5, "2": 0.25}, "pass_any": {"1": 0.5, "2": 0.75},
    }  # fmt: skip
    assert {key: record[key] for key in expected} == expected
    assert all(0 <= low <= high <= 1 for low, high in record["intervals"].values())


def test_flaky_rows_are_marked_and_few_groups_are_thin() -> None:
    table = repeats([cell(), cell(groups=4, flaky=measure(0.2, 4, rate=True)), cell(flaky=measure(0.1, rate=True))])
    assert [row.severity.get("flaky") for row in table.rows] == ["bad", "warn", None]
    assert [row.thin for row in table.rows] == [False, True, False]
    assert marks(table) == {"flaky": "25% or more of the groups"}


def test_what_repeats_nothing_is_counted_and_not_shown() -> None:
    lonely = cell(groups=0, trials=0, single=3, unmeasured=1, pass_all={}, pass_any={})
    table = repeats([cell(nameless=1, runs=2, k=5, pass_k=measure(0.1, 4)), lonely], by=("scenario",))
    assert len(table.rows) == 1
    said = " ".join(table.notes)
    assert "Left out: 3 groups with fewer than two trials." in said
    assert "Not measured: 1 call has no correctness." in said
    assert "1 group names neither scenario nor persona" in said
    assert "2 groups with fewer than 5 trials are in no pass^k." in said
    assert "--by run parts the runs" in said
    assert "several runs" not in " ".join(repeats([cell()]).notes)


# what a judge said


HOW = "gpt; prompt ab12 version 3; turns 2 at 2.4 s, 1 at 0.0 s, 1 at 0.0 s, 99"
REASON = "Asks ann@example.com for her card \x1b[2Jtwice | [bold]"


def verdicts() -> list[Verdict]:
    return [
        Verdict("humanness", "codex", 4.5, 1_000_000, "gpt", REASON, "ab12", "3", [2, 1, 1, 99]),
        Verdict("humanness", "gemini", None, None, None, None),
        Verdict("humanness", "qwen", 7.0, None, None, None, None, "2", [1]),
    ]


def judged(document: Mapping[str, object] = DOCUMENT) -> CallDetail:
    return replace(detail(document), verdicts=verdicts())


def test_a_judge_is_told_to_the_version_of_its_prompt_with_its_reasons_and_turns() -> None:
    table = conversation(judged())
    assert table.extras["aspects"]["judged"][0] == {
        "aspect": "humanness", "judge": "codex", "score": 4.5, "judged_at": "1970-01-01T00:00:01Z", "model": "gpt",
        "prompt_hash": "ab12", "prompt_version": "3", "evidence": [2, 1, 1, 99], "rationale": REASON,
    }  # fmt: skip
    assert "Judged: codex humanness 4.5 · gemini humanness unscored · qwen humanness 7.0" in table.notes
    assert f"codex on humanness 4.5 ({HOW}): {REASON}" in table.notes
    assert "qwen on humanness 7.0 (prompt version 2; turn 1 at 0.0 s)" in table.notes
    assert not any(note.startswith("gemini on") for note in table.notes)
    turns = [row.record["detail"] for row in table.rows if row.record["kind"] == "turn"]
    assert turns == ["named by codex, qwen", "named by codex"]


def test_a_judge_that_is_called_after_what_it_judges_is_named_once() -> None:
    told = replace(detail(DOCUMENT), verdicts=[Verdict("tact", "tact", 4.5, None, None, "Curt.", None)])
    assert {"Judged: tact 4.5", "tact 4.5: Curt."} <= set(conversation(told).notes)


def test_without_text_reasons_stay_out_and_with_it_they_are_redacted() -> None:
    held = json.dumps([dict(conversation(judged(), text=False).extras)])
    assert "card" not in held
    silent = conversation(judged(), text=False)
    assert f"codex on humanness 4.5 ({HOW})" in silent.notes
    redacted = conversation(judged(), redact=Redactor())
    assert "ann@example.com" not in json.dumps([list(redacted.notes), dict(redacted.extras)])
    assert any("[email 1] for her card" in note for note in redacted.notes)


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_no_reason_acts_in_any_format(format: str) -> None:
    out = io.StringIO()
    render(conversation(judged()), format, out)
    assert "\x1b" not in out.getvalue()


def test_turns_are_not_counted_where_no_transcript_was_kept() -> None:
    table = conversation(judged({"events": [{"type": "turn_complete", "t": 1.0}]}))
    assert [row.record["detail"] for row in table.rows] == [None]


def test_the_rows_of_an_agent_are_drawn_together_over_their_groups() -> None:
    one = cell(keys={"flow": "viewing", "agent": "model-a"}, groups=1, trials=2, pass_all={1: 1.0, 2: 1.0})
    two = cell(keys={"flow": "dental", "agent": "model-a"}, groups=3, trials=9, pass_all={1: 0.6, 2: 0.2, 3: 0.0})
    table = repeats([one, two])
    overall = {"agent": "model-a", "groups": 4, "trials": 11}
    assert table.extras["overall"] == [overall | {"pass_all": {"1": pytest.approx(0.7), "2": pytest.approx(0.4)}}]
    assert table.notes[0] == "model-a, all its rows: pass^1 70%, pass^2 40% (mean over 4 groups)."
    assert repeats([one]).extras["overall"] == []
