"""Be a model in one call: keep the chat, ask for answers, and run the tools that they call."""

from __future__ import annotations

import json
from typing import Any

from riff_ingest.runner.agent_call import AgentCall
from riff_ingest.runner.agents.offered import Offers, spelled_name
from riff_ingest.runner.agents.prompt import system_message
from riff_ingest.runner.agents.tool_use import ToolUse
from riff_ingest.runner.chat.problems import problem_of
from riff_ingest.runner.chat.protocol import Chat, ChatError, ChatReply, ChatToolCall, ContextFull, Message
from riff_ingest.runner.protocol import AgentReply, AgentStopped, StopReason

SILENCE = "(The caller says nothing.)"


class ModelSession:
    """Let a model answer one call; the state that it is in decides what it is told and which tools it has."""

    def __init__(self, call: AgentCall, chat: Chat, offers: Offers) -> None:
        self._call = call
        self._chat = chat
        self._offers = offers
        self._seed = call.case.seed + call.case.trial
        self._messages: list[Message] = []
        self._enter()

    async def greet(self) -> AgentReply | None:
        """Let the caller begin."""
        return None

    async def reply(self, text: str) -> AgentReply:
        """Answer what the caller said, with as many requests as the tools take.

        What is said beside calls of tools is spoken. In a state in which the flow ends there is one more answer, for
        the closing words.
        """
        self._hear(text)
        words: list[str] = []
        rounds = 0
        while True:
            is_last = self._call.flow.outcome_of(self._call.machine.state) is not None
            answer = await self._answer(again=not words)
            if answer.text:
                words.append(answer.text)
            if not answer.tool_calls:
                break
            rounds += 1
            if rounds > self._call.limits.tool_rounds:
                self._call.note("tool_loop", f"more than {rounds - 1} requests for tools in one turn")
                raise AgentStopped("loop")
            used = await self._use_tools(answer)
            if used.has_hung_up:
                return AgentReply(" ".join(words), ends=True, status=used.status)
            if is_last:
                break
        return AgentReply(" ".join(words))

    async def end(self, reason: StopReason) -> str | None:
        """Report nothing beyond what the model said when it hung up."""
        return None

    def _enter(self) -> None:
        """Tell the model of the state that the call is in."""
        flow, machine = self._call.flow, self._call.machine
        state = flow.states[machine.state]
        self._state = state.name
        self._offered = self._offers.of(flow, state)
        self._system: Message = {"role": "system", "content": system_message(flow, state, machine.heard)}

    def _hear(self, text: str) -> None:
        """Add the caller's words to the chat, to the last ones where nobody answered, for roles have to alternate."""
        words = text.strip() or SILENCE
        last = self._messages[-1] if self._messages else None
        if last is not None and last["role"] == "user":
            self._messages[-1] = {"role": "user", "content": f"{last['content']}\n{words}"}
        else:
            self._messages.append({"role": "user", "content": words})

    async def _answer(self, *, again: bool) -> ChatReply:
        """Return the next answer of the model and add it to the chat; `again` asks twice where it is empty."""
        answer = await self._asked()
        if answer.is_empty and again:
            answer = await self._asked()
        if answer.text:
            self._call.speaks(ago=0.0 if answer.ttft_ms is None else (answer.ms - answer.ttft_ms) / 1000)
        if not answer.is_empty:
            message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
            if answer.tool_calls:
                message["tool_calls"] = [_sendable(made) for made in answer.tool_calls]
            self._messages.append(message)
        return answer

    async def _asked(self) -> ChatReply:
        call = self._call
        try:
            answer = await self._chat.complete(
                [self._system, *self._messages],
                self._offered.spelled,
                seed=self._seed,
                on_retry=call.retried,
                on_wait=call.waits,
                waiting=call.waiting,
            )
        except ContextFull as error:
            call.note("context", str(error))
            raise AgentStopped("context", str(error)) from error
        except ChatError as error:
            raise problem_of("agent", error) from error
        call.requested(answer.details)
        for note in answer.notes:
            call.note(note.kind, note.message)
        return answer

    async def _use_tools(self, answer: ChatReply) -> ToolUse:
        """Run the tools of an answer in order; each one gets its message, or the next request would be refused."""
        use = ToolUse(self._call, self._state, self._offered.tools)
        for made in answer.tool_calls:
            result = await use.result(made)
            content = json.dumps(result, ensure_ascii=False, default=str)
            self._messages.append({"role": "tool", "tool_call_id": made.id, "content": content})
        if self._call.machine.state != self._state or use.has_moved:
            self._enter()
        return use


def _sendable(made: ChatToolCall) -> dict[str, Any]:
    """Return a call as it stands in the chat: servers read its arguments anew and refuse chats in which they cannot."""
    try:
        is_object = isinstance(json.loads(made.arguments_text), dict)
    except (ValueError, RecursionError):
        is_object = False
    function = {"name": spelled_name(made.name), "arguments": made.arguments_text if is_object else "{}"}
    return {"id": made.id, "type": "function", "function": function}
