"""Reviews of simulations: which judges they are, what they score, and which turns they point at."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import JSON
from tests.surface.ingest import UNREADABLE, Conversation, Spoken, turn_at
from tests.surface.ingest import judges_verdicts as verdicts
from tests.surface.store import JudgedScore

SPOKEN = [Spoken(6, 18, "caller"), Spoken(25, 40, "agent"), Spoken(30, 42, "caller"), Spoken(46, 58, "agent")]


def judged(spoken: list[Spoken] = SPOKEN, **simulation: Any) -> dict[str, JudgedScore]:
    call = Conversation(conversation_id="s-1", flow="retail/no-write", run_id="night", agent_model="m", trial=2)
    found = list(verdicts(simulation, call, spoken, count(7)))
    assert [each.line for each in found] == list(range(7, 7 + len(found)))
    assert {(each.run, each.flow, each.agent, each.trial) for each in found} <= {("night", "retail/no-write", "m", 2)}
    return {f"{each.judge}/{each.aspect}": each for each in found}


def error(source: str | None = "agent", severity: str | None = None, **given: Any) -> dict[str, Any]:
    return {"source": source, "severity": severity, "error_tags": [], "reasoning": "It was rude.", **given}


def review(*errors: Any, **given: Any) -> dict[str, Any]:
    return {"summary": "A review.", "has_errors": bool(errors), "errors": list(errors), "cost": 0.1, **given}


@pytest.mark.parametrize(
    ("severities", "score"),
    [
        ([], 10.0),
        (["minor"], 5.0),
        ([None], 5.0),
        (["major"], 5.0),
        (["minor", "critical"], 0.0),
        (["critical_hindered"], 0.0),
    ],
)
def test_the_gravest_error_of_a_side_is_its_score(severities: list[str | None], score: float) -> None:
    found = judged(review=review(*(error("user", severity) for severity in severities)))
    assert found["tau2-review/user"].score == score
    assert found["tau2-review/agent"].score == 10.0


def test_a_review_names_the_turn_of_the_side_that_erred_and_says_how_gravely() -> None:
    grave = error("agent", "critical", error_tags=["hallucination", "wrong_sequence"], tick_start=31, tick_end=39)
    slight = error("user", "minor", tick_start=31, reasoning="Breaks in.")
    found = judged(review=review(grave, slight), mode="full_duplex")
    agent, user = found["tau2-review/agent"], found["tau2-review/user"]
    assert (agent.evidence, user.evidence) == ([2], [3])
    assert agent.rationale == "A review. · critical, hallucination, wrong_sequence: It was rude."
    assert user.rationale == "A review. · minor: Breaks in."
    assert {agent.prompt_version, user.prompt_version} == {"full full_duplex"}
    assert agent.model is None


def test_in_text_an_error_points_at_a_message() -> None:
    spoken = [Spoken(0, 1, "agent"), Spoken(1, 2, "caller"), Spoken(4, 5, "agent")]
    found = judged(spoken, review=review(error(turn_idx=4), error(turn_idx=2), error(turn_idx=None)))
    assert found["tau2-review/agent"].evidence == [2, 3]  # message 2 says nothing: the turn before it
    assert found["tau2-review/agent"].prompt_version == "full half_duplex"


def test_what_lies_before_the_first_word_is_in_no_turn() -> None:
    assert turn_at(SPOKEN, 5, "caller") is None
    assert [turn_at(SPOKEN, position, "caller") for position in (6, 17, 18, 24)] == [1] * 4
    assert [turn_at(SPOKEN, position, None) for position in (29, 30, 100)] == [2, 3, 4]


@pytest.mark.parametrize(
    "answer",
    [
        review(error("unknown", reasoning="Failed to parse: {"), has_errors=False),
        review(error("user", reasoning="Failed to parse: {", turn_idx=-1), has_errors=False),
        review(summary="", cost=None),
        review("an error"),
        review(errors=3),
        review(error("someone")),
        "fine",
        [],
    ],
)
def test_what_cannot_be_read_is_unscored_and_not_clean(answer: Any) -> None:
    found = judged(review=answer)
    assert [each.score for each in found.values()] == [None, None]
    assert all(each.rationale for each in found.values())


def test_a_review_of_the_caller_alone_is_a_judge_of_its_own() -> None:
    found = judged(user_only_review=review({"severity": "critical", "reasoning": "Made up."}))
    assert [(name, each.score, each.prompt_version) for name, each in found.items()] == [
        ("tau2-user-review/user", 0.0, "user half_duplex")
    ]


@pytest.mark.parametrize(("status", "score"), [("succeeded", 10.0), ("failed", 0.0), ("not_needed", None), (3, None)])
def test_an_authentication_that_was_not_needed_is_unscored(status: Any, score: float | None) -> None:
    found = judged(auth_classification={"status": status, "reasoning": "No account."})["tau2-auth/authentication"]
    assert found.score == score
    assert found.rationale == (UNREADABLE if status == 3 else f"{status.replace('_', ' ')}: No account.")


def test_an_authentication_without_a_word_is_unscored_with_a_reason() -> None:
    found = judged(auth_classification={"status": " "})["tau2-auth/authentication"]
    assert (found.score, found.rationale) == (None, UNREADABLE)


def test_a_hallucination_check_that_contradicts_itself_is_unscored() -> None:
    made_up = {"reasoning": "4471 is made up.", "user_message": "it is 4471"}
    for found, errors, score in ((True, [made_up], 0.0), (False, [], 10.0), (False, [made_up], None), (None, [], None)):
        check = {"hallucination_found": found, "errors": errors, "summary": "One.", "reasoning": "A number."}
        assert judged(hallucination_check=check)["tau2-hallucination/user"].score == score


def test_assertions_score_the_share_that_is_met_and_tell_the_others() -> None:
    met = {"nl_assertion": "It refunds.", "met": True, "justification": "It did."}
    unmet = {"nl_assertion": "It says so.", "met": False, "justification": None}
    found = judged(reward_info={"nl_assertions": [met, unmet]})["tau2-nl/nl_assertions"]
    assert (found.score, found.rationale) == (5.0, "1 of 2 met; not met: It says so.")
    assert judged(reward_info={"nl_assertions": [met]})["tau2-nl/nl_assertions"].score == 10.0
    assert judged(reward_info={"nl_assertions": [met, {"met": None}]})["tau2-nl/nl_assertions"].score is None
    assert not judged(reward_info={"nl_assertions": []})


def test_a_simulation_that_nobody_judged_has_no_verdicts() -> None:
    assert not judged(review=None, user_only_review=None, auth_classification=None, reward_info=None)


PARTS = ("review", "user_only_review", "auth_classification", "hallucination_check", "reward_info", "mode")
FIELDS = ("errors", "summary", "source", "severity", "tick_start", "status", "hallucination_found", "nl_assertions")


@given(st.dictionaries(st.sampled_from(PARTS), JSON | st.dictionaries(st.sampled_from(FIELDS), JSON)))
def test_whatever_stands_in_a_review_is_a_score_on_the_scale_or_unscored_with_a_reason(found: dict[str, Any]) -> None:
    for each in judged(**found).values():
        assert each.score is None or 0 <= each.score <= 10
        assert each.score is not None or each.rationale
