"""Conversations of ElevenLabs: one with a workflow, one without, one that was handed over, and a simulation."""

from __future__ import annotations

from typing import Any

AGENT = {"agent_id": "ag1"}
NUMBERS = ("+15550100001", "+15550100002")


def item(role: str, message: str | None, t: int, node: str | None = None, **more: Any) -> dict[str, Any]:
    metadata = None if role == "user" else AGENT | ({"workflow_node_id": node} if node else {})
    return {"role": role, "message": message, "time_in_call_secs": t, "agent_metadata": metadata, **more}


def waited(seconds: float, *, flat: bool = False) -> dict[str, Any]:
    """The latency of an answer; older webhooks have it one level higher."""
    told = {"convai_ttf_audio_since_silence": {"elapsed_time": seconds}}
    return {"conversation_turn_metrics": told if flat else {"metrics": told}}


def plant_desk() -> dict[str, Any]:
    """A call that goes through a node without a word, and whose tool fails there."""
    routed = {"type": "workflow", "request_id": "w1", "tool_name": "notify_condition_1_met"}
    asked = {"request_id": "t1", "tool_name": "stock", "params_as_json": '{"plant":"fern"}'}
    failed = {"request_id": "t1", "tool_name": "stock", "is_error": True, "error_type": "timeout",
              "raw_error_message": "no answer in 20 s", "result_value": ""}  # fmt: skip
    steps = [
        {"type": "edge", "edge_id": "e1", "target_node_id": "n_stock", "step_latency_secs": 0.1},
        {
            "type": "nested_tools",
            "node_id": "n_stock",
            "is_successful": False,
            "requests": [asked],
            "results": [failed],
        },
        {"type": "edge", "edge_id": "e2", "target_node_id": "n_sorry", "step_latency_secs": 0.1},
    ]
    went = routed | {"is_error": False, "result_value": "", "result": {"steps": steps}}
    end = {"type": "system", "request_id": "z", "tool_name": "end_call"}
    ended = end | {"is_error": False, "result_value": "{}", "result": {"result_type": "end_call_success"}}
    return {
        **AGENT,
        "agent_name": "Plant desk",
        "conversation_id": "c-77",
        "status": "done",
        "version_id": "agtvrsn_7xq00001",
        "metadata": {
            "start_time_unix_secs": 1768300000,
            "call_duration_secs": 24,
            "termination_reason": "end_call tool was called.",
            "error": None,
            "phone_call": {
                "type": "twilio",
                "direction": "inbound",
                "agent_number": NUMBERS[0],
                "external_number": NUMBERS[1],
                "call_sid": "CA1",
                "stream_sid": "MZ1",
                "phone_number_id": "p",
            },
        },
        "transcript": [
            item("agent", "Plant desk.", 0, "n_hello", **waited(0.2)),
            item("user", f"Two ferns. I am at {NUMBERS[1]}.", 2, tool_calls=None),
            item("agent", None, 5, "n_hello", tool_calls=[routed | {"params_as_json": "{}"}]),
            item("agent", None, 5, "n_hello", tool_results=[went]),
            item(
                "agent",
                "I cannot see ...",
                9,
                "n_sorry",
                original_message="I cannot see the stock today.",
                interrupted=True,
                **waited(3.1, flat=True),
            ),
            item("user", "...", 12),
            item("user", "Fine.", 14),
            item(
                "agent",
                "Goodbye.",
                15,
                "n_sorry",
                **waited(1.0),
                tool_calls=[end | {"params_as_json": "{}"}],
                tool_results=[ended],
            ),
        ],
        "analysis": {
            "call_successful": "unknown",
            "transcript_summary": "No stock.",
            "evaluation_criteria_results": {
                "kind": {"criteria_id": "kind", "result": "success", "rationale": "Calm."},
                "sold": {
                    "criteria_id": "sold",
                    "result": "failure",
                    "rationale": "Nothing.",
                    "scoring_mode": "numeric_uniform",
                    "score": 1,
                    "max_score": 4,
                },
            },
            "data_collection_results": {
                "plant": {"data_collection_id": "plant", "value": "fern", "rationale": "said"},
                "day": {"data_collection_id": "day", "value": None, "rationale": "not said"},
            },
        },
    }


def workflow() -> dict[str, Any]:
    """The agent of that call, whose nodes lead on and back."""
    nodes = {
        "s": {"type": "start", "edge_order": ["e0"]},
        "n_hello": {"type": "override_agent", "label": "Hello"},
        "n_stock": {"type": "tool", "tools": []},
        "n_end": {"type": "end"},
    }
    edges = {
        "e0": {"source": "s", "target": "n_hello", "forward_condition": {"type": "unconditional"}},
        "e1": {
            "source": "n_hello",
            "target": "n_stock",
            "forward_condition": {"type": "llm", "condition": "names a plant"},
            "backward_condition": {"type": "result", "successful": False},
        },
        "e2": {"source": "n_stock", "target": "n_end", "forward_condition": {"type": "result", "successful": True}},
    }
    return {"name": "Plant desk", "workflow": {"nodes": nodes, "edges": edges}}


def plain(name: str = "c-1", **more: Any) -> dict[str, Any]:
    """A call of an agent without a workflow."""
    return {
        **AGENT,
        "conversation_id": name,
        "status": "done",
        "metadata": {"start_time_unix_secs": 1768300000, "call_duration_secs": 9, "error": None,
                     "termination_reason": "Client disconnected: 1005"},
        "transcript": [item("agent", "Hello.", 0), item("user", "A table?", 2),
                       item("agent", "Yes.", 4, **waited(1.5))],
        "analysis": None,
        **more,
    }  # fmt: skip


def hook(call: dict[str, Any], sent: int = 1768300100) -> dict[str, Any]:
    return {"type": "post_call_transcription", "event_timestamp": sent, "data": call}


def audio(name: str = "c-1") -> dict[str, Any]:
    return {"type": "post_call_audio", "event_timestamp": 1768300100,
            "data": {**AGENT, "conversation_id": name, "full_audio": "UklGRg" * 20}}  # fmt: skip


def never_came_about(name: str = "c-9") -> dict[str, Any]:
    body = {"From": NUMBERS[0], "To": NUMBERS[1]}
    return {"type": "call_initiation_failure", "event_timestamp": 1768300100,
            "data": {**AGENT, "conversation_id": name, "failure_reason": "busy",
                     "metadata": {"type": "twilio", "body": body}}}  # fmt: skip


def simulated() -> dict[str, Any]:
    words = [item("agent", "Hello.", 0), item("user", "A table?", 0), item("agent", "Done.", 0)]
    return {
        "simulated_conversation": words,
        "analysis": {"call_successful": "success", "transcript_summary": "Booked."},
    }


def invocation() -> dict[str, Any]:
    """An invocation of a test that ran twice, of one of a single answer, and of one that had not ended."""
    run = {"agent_responses": simulated()["simulated_conversation"], "test_id": "t", "test_name": "A table",
           "status": "passed", "created_at": 1768300000,
           "condition_result": {"result": "success", "rationale": {"summary": "It booked.", "messages": ["At once."]}},
           "metadata": {"ran_by_user_email": "ann@example.org"}}  # fmt: skip
    return {
        "id": "inv-1",
        **AGENT,
        "test_runs": [
            run | {"test_run_id": "r-1"},
            run | {"test_run_id": "r-2", "condition_result": {"result": "failure"}},
            run | {"test_run_id": "r-3", "test_info": {"type": "llm"}},
            run | {"test_run_id": "r-4", "status": "pending"},
        ],
    }
