"""Which conversation of which run a directory holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.ingest import Identity, configuration, expected_steps, identity_of

NAMED = "2026-06-22_02-00-00.000000_mind-2"


@pytest.mark.parametrize(
    ("directory", "stored", "identity"),
    [
        ("/o/run/records/1.1.2", None, Identity("run", "1.1.2", "1.1.2", None)),
        ("/o/run/records/1.1.2/trial_3", None, Identity("run", "1.1.2/trial_3", "1.1.2", 3)),
        ("/o/run/records/1.1.2/trial_3", "1.1.2/trial_3", Identity("run", "1.1.2/trial_3", "1.1.2", 3)),
        ("/o/run/records/1.1.2_trial_0", "1.1.2", Identity("run", "1.1.2_trial_0", "1.1.2", 0)),
        ("/o/run/records/odd", "1.1.2/trial_1", Identity("run", "odd", "1.1.2", 1)),
        ("/o/run/records/1.1.2", "../../x", Identity("run", "1.1.2", "../../x", None)),
        ("/o/run/records/1.1.2", "x_trial_" + "9" * 5000, Identity("run", "1.1.2", "x_trial_" + "9" * 5000, None)),
        ("/o/run/records/x/record", None, Identity("run", "x/record", "x/record", None)),
        ("/kept/1.1.2", None, Identity("kept", "1.1.2", "1.1.2", None)),
        ("/kept/1.1.2/trial_0", None, Identity("kept", "1.1.2/trial_0", "1.1.2", 0)),
        ("/trial_0", None, Identity("(root)", "trial_0", "trial_0", None)),
        (f"/o/{NAMED}/records/1", None, Identity(NAMED, "1", "1", None, "mind-2")),
        ("/o/r\udcff/records/1\udcfe", None, Identity("r\\xff", "1\\xfe", "1\\xfe", None)),
    ],
)
def test_a_place_and_a_result_name_a_conversation(directory: str, stored: str | None, identity: Identity) -> None:
    result = None if stored is None else {"record_id": stored}
    assert identity_of(Path(directory), result, configuration({})) == identity


def test_a_run_that_was_renamed_keeps_its_own_name_as_a_label() -> None:
    found = identity_of(Path("/o/best/records/1"), None, configuration({"run_id": "first"}))
    assert (found.run, found.run_label) == ("best", "first")
    assert identity_of(Path("/o/first/records/1"), None, configuration({"run_id": "first"})).run_label is None


def test_expected_steps_are_called_or_not_and_match_or_not() -> None:
    called = [
        {"tool_name": "Get_Seat", "tool_parameters": {"row": 1}},
        {"tool_name": "Get_Seat", "tool_parameters": {"row": 2}},
    ]
    trace = [
        {"tool_name": "get_seat", "parameters": {"row": 2}},
        {"tool": "get_seat", "arguments": {"row": 9}},
        {"name": "get_seat"},
        {"tool_name": "book", "args": {}},
        "pay",
        {"role": "assistant", "content": "Hello"},
        {"tool_name": "get_seat", "tool_response": {}},
        None,
    ]
    steps = expected_steps(trace, called, {"get_seat": "read", "book": "write"}) or []
    assert [(step.name, step.called, step.matched, step.changes) for step in steps] == [
        ("Get_Seat", True, True, False),
        ("Get_Seat", True, False, False),
        ("Get_Seat", True, None, False),
        ("book", False, False, True),
        ("pay", False, None, None),
    ]
    assert [step.arguments for step in steps] == [{"row": 2}, {"row": 9}, None, {}, None]
    assert expected_steps(None, called, {}) is None
