"""Turn what an endpoint did not do into a problem of the side of a call that it plays."""

from __future__ import annotations

from riff_ingest.runner.chat.protocol import ChatError, EndpointGone, RequestWrong
from riff_ingest.runner.protocol import CallProblem, CallRefused, EndpointRefused, Side, Unavailable


def problem_of(side: Side, error: ChatError) -> CallProblem:
    """Return the problem of a call that an error at an endpoint is."""
    if isinstance(error, EndpointGone):
        return EndpointRefused(side, str(error))
    return (CallRefused if isinstance(error, RequestWrong) else Unavailable)(side, str(error))
