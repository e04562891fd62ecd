"""Let a model behind an endpoint answer calls: the flow's machine runs here, and the model moves it with tools."""

from __future__ import annotations

from riff_ingest.endpoint import Endpoint
from riff_ingest.runner.agent_call import AgentCall
from riff_ingest.runner.agents.model_session import ModelSession
from riff_ingest.runner.agents.offered import Offers
from riff_ingest.runner.chat import ChatClient, ChatError, RetryPolicy
from riff_ingest.runner.chat.problems import problem_of


class ModelAgent:
    """Answer calls with the model of an endpoint.

    `timeout` is how many seconds one answer of the model may take, `stream` asks for it word by word, which tells when
    the first word was there, and `advance` offers one tool for all ways out of a state, which small models take better.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        name: str | None = None,
        timeout: float = 60.0,
        stream: bool = True,
        advance: bool = False,
        retries: RetryPolicy | None = None,
    ) -> None:
        """Raise `UsageError` for an address that is none, and where the HTTP client is missing."""
        self._name = name or endpoint.model
        self._chat = ChatClient(endpoint, timeout=timeout, stream=stream, retries=retries)
        self._offers = Offers(advance=advance)

    @property
    def name(self) -> str:
        """Return the name given, else the model's."""
        return self._name

    async def check(self) -> str | None:
        """Ask the endpoint for its models; returns a hint where it lists others, raises `EndpointRefused`."""
        try:
            return await self._chat.check()
        except ChatError as error:
            raise problem_of("agent", error) from error

    async def begin(self, call: AgentCall) -> ModelSession:
        """Begin a call in the flow's first state."""
        return ModelSession(call, self._chat, self._offers)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()
