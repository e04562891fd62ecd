"""Turns out of a history, rule by rule (R6.1 to R7.9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riff_ingest.eva import process_history
from tests.support.eva_events import (
    START,
    Happening,
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
    session_ended,
    told,
    voiced,
    wrote,
)
from tests.surface.ingest import GENERIC_ERROR, PipelineType

UI = "[user interrupts]"
AI = "[assistant interrupts]"
CBU = "[likely cut off by user]"
CBA = "[likely cut off by assistant]"
CSO = "[speaker likely cut itself off]"
LI = "[likely interruption]"


def spans(*pairs: tuple[float, float]) -> list[tuple[float, float]]:
    return [(START + start, START + end) for start, end in pairs]


def test_pieces_of_one_utterance_stay_in_its_turn() -> None:
    found = context_of(
        greeting(), caller_starts(2), meant(2.1, "Two rolls and a cake."), heard(2.5, "Two rolls"), caller_ends(4),
        heard(4.2, "and a cake"),
    )  # fmt: skip
    assert found.transcribed_user_turns == {1: "Two rolls and a cake"}
    assert told(found)[1:] == [("user", 1, "Two rolls and a cake")]
    assert found.num_user_turns == 1


def test_text_that_arrives_while_the_caller_speaks_opens_no_turn() -> None:
    """R6.1, step 2."""
    found = context_of(greeting(), caller_starts(2), meant(2.1, "Hello"), voiced(2.2, "Yes"), heard(2.5, "Hello"))
    assert set(found.transcribed_user_turns) == {1}
    assert found.intended_assistant_turns == {0: "Bakery, good morning.", 1: f"Yes {CSO}"}


def test_a_caller_who_barges_in_is_labelled_and_so_is_the_agent() -> None:
    """R6.7 and R6.1."""
    found = context_of(
        greeting(), asks(2, "Rolls"), wrote(4, "How many rolls would it be today"), voiced(4.1, "How many rolls"),
        agent_starts(4.2), caught(4.5, "How many"), caller_starts(5), meant(5.1, "Four."), agent_ends(5.2),
        caller_ends(6), heard(6.1, "Four"),
    )  # fmt: skip
    assert found.user_interrupted_turns == {2}
    assert found.intended_assistant_turns[1] == f"How many rolls {CBU}"
    assert found.transcribed_assistant_turns[1] == f"How many {CBU}"
    assert found.intended_user_turns[2] == f"{UI} Four."
    assert found.transcribed_user_turns[2] == f"{UI} Four"


def test_each_piece_of_a_turn_that_began_by_interrupting_is_labelled() -> None:
    found = context_of(
        greeting(), asks(2, "Rolls"), voiced(4.1, "How many"), agent_starts(4.2), caller_starts(5), meant(5.1, "Four."),
        agent_ends(5.2), caller_ends(6), heard(6.1, "Four"), heard(6.4, "please"),
    )  # fmt: skip
    assert found.transcribed_user_turns[2] == f"{UI} Four {UI} please"


def test_a_label_that_a_piece_took_is_not_left_for_the_next_turn() -> None:
    """R6.1: a piece that joins others takes the label as one that begins a turn does."""
    found = context_of(
        greeting(), asks(2, "Rolls"), agent_starts(4), caller_starts(4.5), meant(4.6, "Four."), caller_ends(5),
        heard(5.1, "Four"), agent_ends(5.2), voiced(5.3, "Four."), asks(6, "Thanks"),
    )  # fmt: skip
    assert found.user_interrupted_turns == {1}, "the agent had no words yet, so the turn did not move on"
    assert found.transcribed_user_turns == {1: f"Rolls {UI} Four", 2: "Thanks"}


def test_an_agent_who_barges_in_is_labelled_and_so_is_the_caller() -> None:
    """R6.8, R6.2, R6.6 and R6.13."""
    found = context_of(
        greeting(), caller_starts(2), meant(2.1, "I would like"), heard(2.5, "I would like"), wrote(2.6, "Rolls?"),
        agent_starts(2.8), voiced(2.9, "Rolls?"), wrote(3, "Rolls, perhaps?"), caught(3.1, "Rolls"), agent_ends(3.5),
        caller_ends(4),
    )  # fmt: skip
    assert found.assistant_interrupted_turns == {1}
    assert found.intended_assistant_turns[1] == f"{AI} Rolls? {CSO}"
    assert found.transcribed_assistant_turns[1] == f"{AI} Rolls {CSO}"
    assert told(found)[1] == ("user", 1, "I would like")


def test_the_callers_text_is_cut_off_by_an_agent_who_writes_after_it_barged_in() -> None:
    found = context_of(
        greeting(), caller_starts(2), meant(2.1, "I would like"), heard(2.5, "I would like"), agent_starts(2.8),
        wrote(2.9, "Rolls?"), voiced(3, "Rolls?"), caller_ends(4),
    )  # fmt: skip
    assert told(found)[1:] == [("user", 1, f"I would like {CBA}"), ("assistant", 1, f"{AI} Rolls? {CSO}")]


def test_text_after_a_barge_in_is_held_in_its_turn_once() -> None:
    """The hold of R6.8: the advance that comes from text is swallowed, the next is not."""
    events = [
        *greeting(), caller_starts(2), meant(2.1, "I would like rolls"), agent_starts(2.8), voiced(2.9, "Rolls?"),
        agent_ends(3.2), caller_ends(4), heard(4.1, "I would like rolls"), voiced(5, "How many?"), heard(6, "Four"),
    ]  # fmt: skip
    found = context_of(events)
    assert found.transcribed_user_turns == {1: "I would like rolls", 2: "Four"}


def test_after_a_tool_a_barge_in_holds_nothing() -> None:
    found = context_of(
        greeting(), caller_starts(2), meant(2.1, "Rolls"), called(2.5, "bake"), agent_starts(2.8), voiced(2.9, "Sure."),
        agent_ends(3.2), caller_ends(4), heard(4.1, "Rolls"),
    )  # fmt: skip
    assert found.transcribed_user_turns == {1: "", 2: "Rolls"}
    assert found.assistant_interrupted_turns == {1}


def test_speech_after_a_tool_is_behind_a_pause() -> None:
    """R6.6."""
    found = context_of(
        greeting(), asks(2, "Rolls"), voiced(4, "One moment."), called(4.5, "bake", n=1), answered(5, "bake", {}),
        voiced(6, "Done."), asks(9, "Thanks"),
    )  # fmt: skip
    assert found.intended_assistant_turns[1] == "One moment. [pause] Done."


def test_a_session_in_which_nothing_was_said_is_undone() -> None:
    """R6.10: the next words are still those of the turn that it had opened."""
    found = context_of(
        greeting(), asks(2, "Rolls"), replies(4, "How many?"), caller_starts(6), caller_ends(6.3), asks(7, "Four.")
    )
    assert found.transcribed_user_turns == {1: "Rolls", 2: "Four."}
    assert found.audio_timestamps_user_turns[2] == spans((6, 6.3), (7, 8))


def test_text_may_take_the_advance_that_an_empty_session_owes() -> None:
    """R6.1, step 1, and R6.7, step 3: an utterance that has its turn opens no other one."""
    found = context_of(
        greeting(), asks(2, "Rolls"), replies(4, "How many?"), caller_starts(6), caller_ends(6.3), heard(6.5, "Four"),
        asks(7, "Four.", recognised="please"),
    )  # fmt: skip
    assert found.transcribed_user_turns == {1: "Rolls", 2: "Four please"}


def test_an_utterance_that_text_gave_its_turn_stays_in_it_though_it_interrupts() -> None:
    """R6.7, step 3, and what a turn that the caller began by interrupting looks like on both sides."""
    found = context_of(
        greeting(), asks(2, "Rolls"), replies(4, "How many?"), caller_starts(6), caller_ends(6.3), heard(6.5, "Four"),
        wrote(6.6, "Four what?"), agent_starts(6.8), voiced(6.85, "Four what?"), caught(6.9, "Four"), caller_starts(7),
        meant(7.1, "Four rolls."), agent_ends(7.2), caller_ends(8), wrote(8.1, "Rolls it is."), agent_starts(8.2),
        voiced(8.3, "Rolls it is."), caught(8.5, "Rolls"),
    )  # fmt: skip
    assert found.user_interrupted_turns == {2}
    assert found.intended_user_turns[2] == f"{UI} Four rolls."
    assert found.intended_assistant_turns[2] == f"Four what? {CBU} {CBU} Rolls it is. {CSO}"
    assert found.transcribed_assistant_turns[2] == f"Four {CBU} {UI} Rolls {CSO}"
    assert told(found)[-2:] == [
        ("user", 2, f"{UI} Four"), ("assistant", 2, f"Four what? {CBU} Rolls it is. {CBU} {CSO}")
    ]  # fmt: skip


def test_the_counter_may_fall_below_what_it_was() -> None:
    """Quirk 2."""
    found = context_of(caller_starts(0), caller_ends(1), caught(1.5, "Hello?"))
    assert found.audio_timestamps_user_turns == {0: spans((0, 1))}
    found = context_of(caller_starts(0), caller_ends(1), heard(2, "Hello"))
    assert found.transcribed_user_turns == {0: "Hello"}
    found = context_of(caller_starts(0), caller_ends(1), agent_starts(1.5), voiced(1.6, "Yes?"))
    assert found.intended_assistant_turns == {-1: "Yes?"}


def test_words_that_come_before_their_audio_wait_for_it_and_are_taken_once() -> None:
    """R6.12."""
    found = context_of(
        greeting(), meant(1.5, "Rolls"), caller_starts(2), meant(2.1, "Rolls"), caller_ends(3), heard(3.1, "Rolls"),
        replies(4, "How many?"), asks(6, "Rolls"),
    )  # fmt: skip
    assert found.intended_user_turns == {1: "Rolls", 2: "Rolls"}


def test_words_before_any_answer_do_not_wait() -> None:
    found = context_of(meant(0, "Hello?"))
    assert found.intended_user_turns == {0: "Hello?"}


def test_later_words_of_the_caller_are_behind_a_label() -> None:
    """R6.11."""
    found = context_of(greeting(), caller_starts(2), meant(2.1, "I want"), meant(2.5, "rolls"), caller_ends(3))
    assert found.intended_user_turns[1] == f"I want {CSO} rolls"


def test_what_is_understood_late_belongs_to_the_turn_of_the_agents_audio() -> None:
    """R6.13: the turn has moved on meanwhile."""
    found = context_of(
        greeting(), asks(2, "Rolls"), voiced(4, "How many?"), agent_starts(4.1), agent_ends(5), caller_starts(6),
        meant(6.1, "Four"), caught(6.2, "How many"), caught(6.3, "of them"), caller_ends(7),
    )  # fmt: skip
    assert found.transcribed_assistant_turns[1] == f"How many {LI} of them"


def test_a_model_that_speaks_itself_shows_what_was_understood_of_it() -> None:
    found = context_of(
        wrote(0, "never shown"), agent_starts(0.2), caught(1, "Bakery"), agent_ends(1.2), asks(2, "Rolls"),
        agent_starts(4), caught(4.5, "How many"), agent_ends(5), pipeline="s2s",
    )  # fmt: skip
    assert told(found) == [("assistant", 0, "Bakery"), ("user", 1, "Rolls"), ("assistant", 1, f"How many {CSO}")]
    assert found.intended_assistant_turns == {0: "", 1: ""}
    assert (found.num_assistant_turns, found.num_user_turns) == (2, 1)
    assert [entry.type for entry in found.conversation_trace] == ["transcribed", "intended", "transcribed"]


def test_a_model_that_hears_itself_shows_what_the_caller_meant() -> None:
    found = context_of(greeting(), asks(2, "Rolls.", recognised="roles"), replies(4, "How many?"), pipeline="audio_llm")
    assert told(found)[1] == ("user", 1, "Rolls.")
    assert found.transcribed_user_turns == {1: "roles"}


def test_an_interrupting_caller_is_labelled_twice_before_a_model_that_hears_itself() -> None:
    """Quirk 3."""
    found = context_of(
        greeting(), asks(2, "Rolls"), voiced(4, "How many"), agent_starts(4.1), caller_starts(4.5), meant(4.6, "Four"),
        agent_ends(4.8), caller_ends(5), pipeline="audio_llm",
    )  # fmt: skip
    assert told(found)[-1] == ("user", 2, f"{UI} {UI} Four")
    assert found.intended_user_turns[2] == f"{UI} Four"


def test_each_further_text_of_an_interrupting_caller_is_labelled_before_a_model_that_hears_itself() -> None:
    found = context_of(
        greeting(), asks(2, "Rolls"), voiced(4, "How many"), agent_starts(4.1), caller_starts(4.5), meant(4.6, "Four"),
        meant(4.7, "please"), agent_ends(4.8), caller_ends(5), pipeline="audio_llm",
    )  # fmt: skip
    assert told(found)[-1] == ("user", 2, f"{UI} {UI} Four {UI} please")
    assert found.intended_user_turns[2] == f"{UI} Four {CSO} please"


def test_the_generic_error_is_always_in_the_trace() -> None:
    found = context_of(greeting(), asks(2, "Rolls"), voiced(4, GENERIC_ERROR), asks(6, "What?"))
    assert ("assistant", 1, GENERIC_ERROR) in told(found)
    assert next(entry for entry in found.conversation_trace if entry.content == GENERIC_ERROR).timestamp is None


def test_a_nudge_stays_though_it_was_never_spoken() -> None:
    """R6.3 and R7.2; only the agent's next text is one."""
    found = context_of(greeting(), nudged(3), wrote(3.1, "Are you there?"), wrote(3.2, "Unspoken."), asks(5, "Yes"))
    assert found.fallback_turn_ids == {0}
    assert [text for role, _, text in told(found) if role == "assistant"] == ["Bakery, good morning. Are you there?"]


def test_tools_are_told_with_repeats_and_in_lower_case() -> None:
    """R6.4 and R7.5."""
    found = context_of(
        greeting(), asks(2, "Rolls"), called(4, "Bake", n=1), answered(4.5, "Bake", {"ok": True}), called(5, "Bake"),
        answered(5.5, "Bake", None),
    )  # fmt: skip
    assert found.tool_called == ["bake", "bake"]
    assert found.tool_params == [
        {"tool_name": "Bake", "tool_parameters": {"n": 1}},
        {"tool_name": "Bake", "tool_parameters": {}},
    ]
    assert found.tool_responses == [{"tool_name": "Bake", "tool_response": {"ok": True}}]
    assert [entry.to_dict() for entry in found.conversation_trace[2:4]] == [
        {
            "tool_name": "Bake",
            "parameters": {"n": 1},
            "timestamp": (START + 4) * 1000,
            "type": "tool_call",
            "turn_id": 1,
        },
        {
            "tool_name": "Bake",
            "tool_response": {"ok": True},
            "timestamp": START * 1000 + 4500,
            "type": "tool_response",
            "turn_id": 1,
        },
    ]


def test_a_tool_keeps_what_was_said_around_it_apart() -> None:
    """R7.3."""
    found = context_of(
        greeting(), asks(2, "Rolls"), wrote(4, "One moment."), voiced(4.1, "One moment."), called(4.5, "bake"),
        wrote(5, "Done."), voiced(5.1, "Done."), wrote(5.2, "Anything else?"), voiced(5.3, "Anything else?"),
    )  # fmt: skip
    assert told(found)[2:] == [
        ("assistant", 1, "One moment."), ("tool_call", 1, "bake"), ("assistant", 1, f"Done. Anything else? {CSO}")
    ]  # fmt: skip


def test_audio_without_an_end_lasts_until_the_session_ends() -> None:
    """R7.1."""
    assert context_of(caller_starts(1), session_ended(9), voiced(11, "x")).audio_timestamps_user_turns == {
        0: spans((1, 9))
    }
    assert context_of(caller_starts(1), voiced(11, "x")).audio_timestamps_user_turns == {0: spans((1, 11))}


def test_the_sides_have_the_same_turns_in_all_that_is_known_of_them() -> None:
    """R7.7."""
    found = context_of(greeting(), asks(2, "Rolls"), replies(4, "How many?"), caller_starts(6), meant(6.1, "Four"))
    assert set(found.intended_user_turns) == set(found.transcribed_user_turns) == set(found.audio_timestamps_user_turns)
    assert set(found.intended_assistant_turns) == set(found.audio_timestamps_assistant_turns) == {0, 1}


def test_latency_is_from_the_callers_last_sound_to_the_agents_first() -> None:
    """R7.9."""
    found = context_of(greeting(), asks(2, "Rolls"), replies(4.25, "How many?"), agent_starts(7), agent_ends(8))
    assert found.latency_assistant_turns == {1: 1.25}


def test_what_cannot_be_used_is_counted_and_left_out() -> None:
    events: list[Happening | str] = [
        *greeting(),
        {**heard(2, ""), "data": {}},
        {**called(3, "x"), "data": {"parameters": {}}},
        {**called(3, "x"), "data": {"tool": "x"}},
        {**caller_starts(4), "data": {"user": "neighbour", "audio_timestamp": 1}},
        {**voiced(5, ""), "data": None},
        {**meant(5, ""), "data": {"data": 5}},
        "what?",
        {"source": "audit_log"},
    ]
    found = process_history(events)
    assert len(found.warnings) == 5
    assert told(found) == [("assistant", 0, "Bakery, good morning.")]


KINDS = st.sampled_from(
    [
        lambda at: caller_starts(at),
        lambda at: caller_ends(at),
        lambda at: agent_starts(at),
        lambda at: agent_ends(at),
        lambda at: heard(at, "rolls please"),
        lambda at: meant(at, "Rolls, please."),
        lambda at: caught(at, "how many"),
        lambda at: wrote(at, "How many rolls may it be?"),
        lambda at: voiced(at, "How many rolls may it be?"),
        lambda at: called(at, "bake"),
        lambda at: answered(at, "bake", {"status": "success"}),
        lambda at: nudged(at),
        lambda at: session_ended(at),
    ]
)


@pytest.mark.parametrize("pipeline", ["cascade", "audio_llm", "s2s"])
@given(kinds=st.lists(KINDS, max_size=40))
def test_whatever_happens_the_turns_of_a_side_agree(pipeline: PipelineType, kinds: list[object]) -> None:
    events = [kind(at) for at, kind in enumerate(kinds)]  # type: ignore[operator]
    found = context_of(events, pipeline=pipeline)
    assert set(found.intended_user_turns) == set(found.transcribed_user_turns) == set(found.audio_timestamps_user_turns)
    assert set(found.intended_assistant_turns) == set(found.audio_timestamps_assistant_turns)
    assert found.num_tool_calls == len(found.tool_params) == len(found.tool_called)
    turns = {entry.turn_id for entry in found.conversation_trace}
    assert turns <= set(range(-len(kinds), len(kinds) + 1))
    assert found.to_dict() == context_of(events, pipeline=pipeline).to_dict()
