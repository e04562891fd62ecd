"""Answer the tools of a flow in place of the real back end."""

from __future__ import annotations

from random import Random
from typing import Any, Protocol

from riff_runner.protocol import InProcess
from riff_runner.run.cases.case import CallCase
from riff_store.errors import RiffError


class ToolFailed(RiffError):
    """Report that a tool has no result; the agent is told why."""


class ToolSession(Protocol):
    """Answer the tools of one call."""

    async def result(self, name: str, arguments: Any) -> Any:
        """Return the result of a tool that the flow has; raises `ToolFailed`."""

    async def end(self) -> None:
        """Take note that the call is over."""


class Tools(Protocol):
    """Answer the tools of a run's calls."""

    async def check(self) -> None:
        """Find out whether they can be answered; raises `EndpointRefused` where they cannot."""

    async def begin(self, case: CallCase) -> ToolSession:
        """Begin a call."""

    async def close(self) -> None:
        """Give back what is held."""


class StubbedTools(InProcess):
    """Answer with what the flow file says that a tool returns, picked by the case."""

    async def begin(self, case: CallCase) -> ToolSession:
        """Begin a call."""
        return _StubbedSession(case, case.random("tools"))


class _StubbedSession:
    def __init__(self, case: CallCase, random: Random) -> None:
        self._tools = case.flow.tools
        self._random = random

    async def result(self, name: str, arguments: Any) -> Any:
        returns = self._tools[name].returns
        if not returns:
            raise ToolFailed(f"{name} has no result in the flow file")
        return returns[int(self._random.random() * len(returns))]

    async def end(self) -> None:
        return None
