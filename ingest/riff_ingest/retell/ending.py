"""Tell how a call of Retell ended, by its reason of disconnection (docs/formats.md, section 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riff_ingest.platforms.call import AGENT_HANGUP, ERROR, HANGUP, TIMEOUT, TRANSFER, VOICEMAIL, CallEnding
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import object_of, text_of

_STOPS = {
    "user_hangup": HANGUP,
    "user_declined": HANGUP,
    "user_requested_dnc": HANGUP,
    "user_requested_callback": HANGUP,
    "agent_hangup": AGENT_HANGUP,
    "manual_stopped": AGENT_HANGUP,
    "call_transfer": TRANSFER,
    "transfer_bridged": TRANSFER,
    "transfer_cancelled": TRANSFER,
    "call_take_over": TRANSFER,
    "voicemail_reached": VOICEMAIL,
    "ivr_reached": VOICEMAIL,
    "inactivity": TIMEOUT,
    "max_duration_reached": TIMEOUT,
}
_NO_CALL = frozenset(
    {
        "dial_busy",
        "dial_failed",
        "dial_no_answer",
        "error_user_not_joined",
        "invalid_destination",
        "marked_as_spam",
        "network_blocked",
        "registered_call_timeout",
    }
)
_BROKEN = frozenset(
    {
        "budget_reached",
        "concurrency_limit_reached",
        "credit_exhausted",
        "no_concurrency_fallback",
        "no_valid_payment",
        "scam_detected",
        "sip_routing_error",
    }
)
_BROKEN_BEGINNINGS = ("error_", "telephony_provider_")
_NOT_ENDED = frozenset({"registered", "ongoing"})
_ONGOING_EVENTS = frozenset({"call_started", "transcript_updated"})


def ending_of(call: Mapping[str, Any], private: PrivateValues) -> CallEnding:
    """Return how a call ended; what is not known of reasons stays as it is."""
    reason = reason_of(call, private)
    if reason in _BROKEN or (reason is not None and reason.startswith(_BROKEN_BEGINNINGS)):
        return CallEnding(ERROR, f"it ended with {reason}")
    if call.get("call_status") == "error":
        return CallEnding(ERROR, f"it ended with {reason}" if reason else "its status is error")
    if reason is None and object_of(call.get("call_analysis")).get("in_voicemail") is True:
        return CallEnding(VOICEMAIL)
    stop = _STOPS.get(reason or "", reason)
    return CallEnding(stop, is_handed_over=stop == TRANSFER)


def refusal(call: Mapping[str, Any], event: Any = None) -> str | None:
    """Return why a record is of no call that was held, or of one that goes on; `None` where it is of one."""
    reason, status = text_of(call.get("disconnection_reason")), text_of(call.get("call_status"))
    if reason in _NO_CALL:
        return f"the call never connected: {reason}"
    if status == "not_connected":
        return f"the call never connected{f': {reason}' if reason else ''}"
    if status in _NOT_ENDED or (status is None and text_of(event) in _ONGOING_EVENTS):
        return "the call had not ended when this was written"
    return None


def reason_of(call: Mapping[str, Any], private: PrivateValues) -> str | None:
    """Return the reason of disconnection as Retell calls it."""
    reason = text_of(call.get("disconnection_reason"))
    return None if reason is None else private.text(reason)
