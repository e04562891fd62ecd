"""Tell how a call of Vapi ended, by the beginning of its reason (docs/formats.md, section 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riff_ingest.platforms.call import AGENT_HANGUP, ERROR, HANGUP, TIMEOUT, TRANSFER, CallEnding
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import text_of

_BROKEN = (
    "assistant-join-timed-out",
    "assistant-not-",
    "assistant-request-",
    "call-start-error",
    "call.in-progress.error-",
    "call.ringing.error",
    "call.start.",
    "database-error",
    "phone-call-provider-closed-websocket",
    "pipeline-error-",
    "pipeline-no-available-",
    "unknown-error",
    "worker-shutdown",
)
_NO_CALL = (
    "call-deleted",
    "call.ringing.sip-inbound-caller-hungup",
    "customer-busy",
    "customer-did-not-answer",
    "customer-did-not-give-microphone-permission",
    "manually-canceled",
    "scheduled-call-deleted",
    "sip-outbound-",
    "twilio-",
    "voicemail",
    "vonage-failed",
    "vonage-rejected",
)
_STOPS = (
    ("customer-ended-call", HANGUP),
    ("call.in-progress.sip-completed-call", HANGUP),
    ("call.in-progress.twilio-completed-call", HANGUP),
    ("vonage-completed", HANGUP),
    ("vonage-disconnected", HANGUP),
    ("assistant-ended-call", AGENT_HANGUP),
    ("assistant-said-end-call-phrase", AGENT_HANGUP),
    ("assistant-forwarded-call", TRANSFER),
    ("call.ending.hook-executed-transfer", TRANSFER),
    ("call.ringing.hook-executed-transfer", TRANSFER),
    ("silence-timed-out", TIMEOUT),
    ("exceeded-max-duration", TIMEOUT),
)
_DURING_A_TRANSFER = (
    "call.forwarding.",
    "customer-ended-call-after-warm-transfer",
    "customer-ended-call-before-warm-transfer",
    "customer-ended-call-during-transfer",
)
_NOT_ENDED = frozenset({"scheduled", "queued", "ringing", "in-progress", "forwarding"})


def ending_of(call: Mapping[str, Any], private: PrivateValues) -> CallEnding:
    """Return how a call ended; what is not known of reasons stays as it is."""
    reason = reason_of(call, private)
    if reason is None:
        return CallEnding(None)
    if reason.startswith(_BROKEN):
        return CallEnding(ERROR, f"it ended with {reason}")
    stop = next((stop for beginning, stop in _STOPS if reason.startswith(beginning)), reason)
    return CallEnding(stop, is_handed_over=stop == TRANSFER or reason.startswith(_DURING_A_TRANSFER))


def refusal(call: Mapping[str, Any]) -> str | None:
    """Return why a record is of no call that was held, or of one that goes on; `None` where it is of one."""
    reason = text_of(call.get("endedReason"))
    if reason is not None:
        return f"the call never came about: {reason}" if reason.startswith(_NO_CALL) else None
    if text_of(call.get("status")) in _NOT_ENDED:
        return "the call had not ended when this was written"
    return None


def reason_of(call: Mapping[str, Any], private: PrivateValues) -> str | None:
    """Return the reason for the end as Vapi calls it."""
    reason = text_of(call.get("endedReason"))
    return None if reason is None else private.text(reason)
