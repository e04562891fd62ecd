from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import SEGMENTS, Contract, StateContract, segment_by_name, segment_of


@pytest.mark.parametrize(
    ("state", "segment"),
    [
        ("greet_caller", "opening"),
        ("intro", "opening"),
        ("triage", "routing"),
        ("detect_intent", "routing"),
        ("main_menu", "routing"),
        ("routing", "routing"),
        ("verify_identity", "verify"),
        ("authenticate", "verify"),
        ("invalid_verification_code", "verify"),
        ("identification", "verify"),
        ("collect_details", "collect"),
        ("listen_owner", "collect"),
        ("ask_name", "collect"),
        ("GatherSymptoms", "collect"),
        ("confirm", "confirm"),
        ("summarize", "confirm"),
        ("book_viewing", "action"),
        ("creating_ticket", "action"),
        ("payment", "action"),
        ("status_query", "action"),
        ("goodbye", "closing"),
        ("closing", "closing"),
        ("wrap-up", "closing"),
        ("free_text", "other"),
        ("", "other"),
        ("日本語", "other"),
    ],
)
def test_a_state_without_a_described_segment_goes_by_the_words_of_its_name(state: str, segment: str) -> None:
    assert segment_by_name(state) == segment


@pytest.mark.parametrize("state", ["task", "unbook", "mask_card", "display", "mispay"])
def test_a_rule_matches_the_beginning_of_a_word_only(state: str) -> None:
    assert segment_by_name(state) == "other"


@pytest.mark.parametrize(
    ("state", "segment"),
    [("confirm_booking", "confirm"), ("collect_and_verify", "verify"), ("close_menu", "routing")],
)
def test_of_two_rules_the_earlier_one_counts_wherever_its_word_stands(state: str, segment: str) -> None:
    assert segment_by_name(state) == segment


def test_the_contract_goes_before_the_event_and_the_event_before_the_name() -> None:
    contract = Contract(states={"ask_name": StateContract(segment="identity"), "greet": StateContract()})
    assert segment_of("ask_name", contract, "from the event") == "identity"
    assert segment_of("greet", contract, "from the event") == "from the event"
    assert segment_of("greet", contract, None) == "opening"
    assert segment_of("unknown", contract) == "other"
    assert segment_of("greet", None, "") == "opening"


@given(st.text())
def test_every_name_has_one_of_the_known_segments(state: str) -> None:
    assert segment_by_name(state) in SEGMENTS
