"""Measure the share of the agent's tool calls that were well formed (10.5)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, part, rate

NAME = "tool_call_validity"
_KINDS_OF_VALUES = (
    "rebooking_type",
    "fare_class",
    "meal_type",
    "credit_reason",
    "voucher_reason",
    "refund_type",
    "seat_preference",
    "cancellation_reason",
    "confirmation_number_format",
    "flight_number_format",
    "date_format",
    "journey_id_format",
    "passenger_id_format",
    "airport_code_format",
    "bag_count",
)
INVALID = (
    "tool_not_found",
    "function_not_found",
    "execution_error",
    "invalid_parameter",
    *(f"invalid_{kind}" for kind in _KINDS_OF_VALUES),
)
"""Types of errors that count; those of other domains than the airline's do not (quirk 10)."""


def tool_call_validity(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return the share of responses of tools that complain neither of the call nor of its parameters (10.5)."""
    total = len(context.tool_responses)
    parts = {"num_tool_calls": part(NAME, "num_tool_calls", float(total))}
    if not total:
        return MetricScore(NAME, 1.0, 1.0, {"total_tool_calls": 0}, sub_metrics=parts)
    errors = _errors(context)
    valid = total - len(errors)
    counts = Counter(error["error_type"] for error in errors)
    parts |= {f"{kind}_rate": rate(NAME, f"{kind}_rate", counts[kind] / total) for kind in INVALID}
    value = round(valid / total, 4)
    details = {
        "total_tool_calls": total,
        "valid_tool_calls": valid,
        "invalid_tool_calls": len(errors),
        "errors": errors,
    }
    return MetricScore(NAME, value, value, details, sub_metrics=parts)


def _errors(context: MetricContext) -> list[dict[str, Any]]:
    found = []
    for index, answered in enumerate(context.tool_responses):
        response = answered.get("tool_response")
        if not isinstance(response, dict):
            continue
        kind = response.get("error_type")
        if isinstance(kind, str) and kind in INVALID:
            # A response need not belong to the call at its place, but EVA takes it for granted.
            given = context.tool_params[index] if index < len(context.tool_params) else {}
            found.append(
                {
                    "tool_name": answered.get("tool_name"),
                    "error_type": kind,
                    "message": response.get("message"),
                    "parameters": given.get("tool_parameters"),
                }
            )
    return found
