"""How the trace and the turns are made to agree at their ends (R7.4, R8.1 to R8.6)."""

from __future__ import annotations

import pytest

from tests.support.eva_events import (
    agent_ends,
    agent_starts,
    answered,
    asks,
    called,
    caller_ends,
    caller_starts,
    caught,
    context_of,
    greeting,
    heard,
    meant,
    nudged,
    replies,
    told,
    voiced,
    wrote,
)
from tests.surface.ingest import LoggedEntry, PipelineType, Turns, label_interruptions, reconcile

CSO = "[speaker likely cut itself off]"


def test_a_call_that_only_greets_has_its_greeting() -> None:
    """R8.1."""
    assert told(context_of(voiced(0, "Bakery."))) == [("assistant", 0, "Bakery.")]
    assert told(context_of(agent_starts(0), caught(0.5, "Bakery"), agent_ends(1))) == []
    assert told(context_of([])) == []


def test_a_trace_that_is_empty_in_a_model_that_speaks_itself_stays_empty() -> None:
    """Quirk 13."""
    found = context_of(agent_starts(0), agent_ends(1), caller_starts(2), caller_ends(3), pipeline="s2s")
    assert told(found) == []
    assert found.intended_assistant_turns == {0: ""}


def test_a_greeting_that_comes_late_goes_to_the_front() -> None:
    """R8.2."""
    trace = [
        LoggedEntry("transcribed", 1, role="user", content="Rolls"),
        LoggedEntry("intended", 0, role="assistant", content="Bakery."),
        LoggedEntry("intended", 0, role="assistant", content="Hello."),
    ]
    reconcile(trace, Turns(), "cascade")
    assert [(entry.turn_id, entry.content) for entry in trace] == [(0, "Bakery."), (1, "Rolls"), (0, "Hello.")]


@pytest.mark.parametrize(
    ("texts", "content", "type"),
    [
        (Turns(intended_assistant={0: "Bakery."}, transcribed_assistant={0: "Bakery"}), "Bakery.", "intended"),
        (Turns(intended_assistant={0: ""}, transcribed_assistant={0: "Bakery"}), "Bakery", "transcribed"),
        (Turns(), None, "transcribed"),
    ],
)
def test_a_call_in_which_the_caller_seems_to_begin_was_greeted(texts: Turns, content: str | None, type: str) -> None:
    """R8.2 and quirk 14."""
    trace = [LoggedEntry("transcribed", 1, 5, role="user", content="Rolls")]
    reconcile(trace, texts, "cascade")
    assert trace[0].to_dict() == {"role": "assistant", "content": content, "type": type, "turn_id": 0}


def test_a_caller_who_begins_in_turn_0_was_not_greeted() -> None:
    trace = [LoggedEntry("transcribed", 0, role="user", content="Hello?")]
    reconcile(trace, Turns(), "cascade")
    assert len(trace) == 1


def test_without_any_words_that_the_caller_meant_nothing_is_closed() -> None:
    """R8.3."""
    trace = [LoggedEntry("intended", 0, role="assistant", content="Bakery.")]
    reconcile(trace, Turns(intended_assistant={0: "Bakery."}), "cascade")
    assert trace[0].content == "Bakery."


def test_what_the_caller_said_last_is_added_where_nobody_heard_it() -> None:
    """R8.4."""
    found = context_of(greeting(), asks(2, "Rolls"), replies(4, "How many?"), caller_starts(6), meant(6.1, "Four"))
    assert told(found)[-1] == ("user", 2, "Four")
    assert found.transcribed_user_turns[2] == "Four"
    assert "timestamp" not in found.conversation_trace[-1].to_dict()


def test_the_last_words_are_added_again_where_an_earlier_turn_ends_the_trace() -> None:
    """Quirk 18."""
    trace = [
        LoggedEntry("intended", 2, role="user", content="Four"),
        LoggedEntry("transcribed", 1, role="assistant", content="How many?"),
    ]
    reconcile(trace, Turns(intended_user={1: "Rolls", 2: "Four"}, transcribed_user={1: "", 2: ""}), "s2s")
    assert [entry.content for entry in trace if entry.role == "user"] == ["Four", "Four"]


def test_an_agent_who_spoke_last_counts_as_cut_off() -> None:
    """R8.5 and quirk 6: in the trace and in both texts."""
    found = context_of(greeting(), asks(2, "Rolls"), replies(4, "Goodbye!"))
    assert told(found)[-1] == ("assistant", 1, f"Goodbye! {CSO}")
    assert found.intended_assistant_turns[1] == f"Goodbye! {CSO}"
    assert found.transcribed_assistant_turns[1] == f"Goodbye! {CSO}"


def test_an_agent_who_was_not_understood_is_heard_as_it_meant() -> None:
    found = context_of(greeting(), asks(2, "Rolls"), wrote(4, "Goodbye!"), voiced(4.1, "Goodbye!"))
    assert found.transcribed_assistant_turns[1] == f"Goodbye! {CSO}"


@pytest.mark.parametrize("pipeline", ["cascade", "audio_llm"])
def test_an_answer_that_is_missing_at_the_end_of_the_trace_is_added(pipeline: PipelineType) -> None:
    found = context_of(greeting(), asks(2, "Rolls"), voiced(4, "Goodbye!"), pipeline=pipeline)
    assert told(found)[-1] == ("assistant", 1, f"Goodbye! {CSO}")
    assert found.intended_assistant_turns[1] == f"Goodbye! {CSO}"


def test_after_a_tool_the_answer_is_added_only_if_the_turn_has_none() -> None:
    found = context_of(greeting(), asks(2, "Rolls"), called(4, "bake"), answered(5, "bake", {}), voiced(6, "Goodbye!"))
    assert told(found)[-1] == ("assistant", 1, f"Goodbye! {CSO}")
    found = context_of(greeting(), asks(2, "Rolls"), replies(4, "One moment."), called(6, "bake"))
    assert told(found)[-1] == ("tool_call", 1, "bake")
    assert found.intended_assistant_turns[1] == "One moment."


def test_a_nudge_without_a_voice_leaves_no_text_at_all() -> None:
    trace = [LoggedEntry("intended", 1, role="assistant", content="Are you there?")]
    turns = Turns(intended_user={1: "Rolls"}, transcribed_user={1: "Rolls"})
    reconcile(trace, turns, "cascade")
    assert trace[0].content == f"Are you there? {CSO}"
    assert turns.transcribed_assistant == {1: None}


def test_the_turn_of_a_model_that_speaks_itself_keeps_its_empty_text() -> None:
    trace = [LoggedEntry("transcribed", 1, role="assistant", content="Goodbye")]
    turns = Turns(intended_user={1: "Rolls"}, intended_assistant={1: ""}, transcribed_assistant={1: "Goodbye"})
    reconcile(trace, turns, "s2s")
    assert (turns.intended_assistant, turns.transcribed_assistant) == ({1: ""}, {1: f"Goodbye {CSO}"})


def test_a_turn_that_nobody_transcribed_is_heard_as_meant_at_the_end() -> None:
    """R8.6."""
    found = context_of(
        greeting(), caller_starts(2), meant(2.1, "Rolls"), caller_ends(3), heard(3.1, ""), replies(4, "How many?")
    )
    assert found.transcribed_user_turns == {1: "Rolls"}


def test_the_first_message_of_a_turn_that_began_by_interrupting_says_so_once() -> None:
    """R7.4."""
    trace = [
        LoggedEntry("intended", 1, role="assistant", content="Rolls?"),
        LoggedEntry("intended", 1, role="assistant", content="[assistant interrupts] Or cake?"),
        LoggedEntry("transcribed", 2, role="user", content="Four"),
        LoggedEntry("transcribed", 2, role="user", content="[user interrupts] please"),
        LoggedEntry("transcribed", 3, role="user", content="now"),
    ]
    label_interruptions(trace, [1, 7], [2, 3, 7])
    assert [entry.content for entry in trace] == [
        "[assistant interrupts] Rolls?",
        "[assistant interrupts] Or cake?",
        "Four",
        "[user interrupts] please",
        "[user interrupts] now",
    ]


def test_a_caller_left_waiting_after_a_nudge_is_no_agent_turn() -> None:
    found = context_of(greeting(), asks(2, "Rolls"), nudged(9))
    assert found.fallback_turn_ids == {1}
    assert told(found)[-1] == ("user", 1, "Rolls")
