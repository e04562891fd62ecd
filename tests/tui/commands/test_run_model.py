"""A model behind an endpoint is run from the command line: what becomes of the calls, and how the command ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer, answer, chat_server, perfect
from tests.support.judge_endpoint import Asked, Reply, error
from tests.support.toy_runs import kept_lines
from tests.surface.runner import read_run
from tests.surface.store import ExitCode
from tests.surface.tui import run

pytest.importorskip("aiohttp")

Captured = pytest.CaptureFixture[str]
FLOW = "apartment_viewing"
KEY = "sk-0123456789abcdefghij"


def quota_later(asked: Asked, before: int) -> Reply:
    """Be perfect for one call, and out of credit after it."""
    spent = error(429, "You exceeded your current quota.", code="insufficient_quota")
    return spent if before >= 20 else answer(asked, perfect(asked))


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as serving:
        yield serving


def made(server: ChatServer, model: str, out: Path, *more: str) -> int:
    arguments = ["run", "--flows", FLOW, "--agent", f"openai:{model}@{server.url}", "--out", str(out)]
    return run([*arguments, "--scenarios", "relocating", "--concurrency", "1", *more])


def test_a_model_that_does_well_reaches_the_goal_with_all_that_is_measured(server: ChatServer, tmp_path: Path) -> None:
    out = tmp_path / "nightly"
    assert made(server, "perfect", out, "--trials", "2") == ExitCode.OK
    for line in kept_lines(out):
        assert (line["completed"], line["stop_reason"], line["final_status"]) == (True, "terminal", "viewing_booked")
        assert (line["agent_model"], line["caller"], line["caller_ok"]) == ("perfect", "scripted", True)
        assert all(turn["latency_ms"] > 0 for turn in line["turns"] if turn["role"] == "agent")
        assert {event["type"] for event in line["events"]} == {
            "state_entered", "state_exited", "turn_complete", "guard_evaluated", "slot_filled",
        }  # fmt: skip
        assert [call["name"] for call in line["tool_calls"]] == ["list_available_units", "create_viewing"]
        assert all("result" in call for call in line["tool_calls"])


@pytest.mark.parametrize("more", [(), ("--no-stream",)])
def test_the_same_seed_makes_the_same_bytes_where_nothing_is_measured(
    server: ChatServer, tmp_path: Path, more: tuple[str, ...]
) -> None:
    for name in ("one", "other"):
        clock = ("--clock", "2026-06-22T02:00:00Z", "--run-id", "same")
        assert made(server, "perfect", tmp_path / name, "--trials", "2", *clock, *more) == ExitCode.OK
    one, other = ((tmp_path / name / f"flow-transcripts-{FLOW}.jsonl").read_bytes() for name in ("one", "other"))
    assert one == other


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("no-key", ExitCode.USAGE, "Incorrect API key provided."),
        ("quota", ExitCode.USAGE, "You exceeded your current quota."),
        ("no-model", ExitCode.USAGE, "The model does not exist."),
        ("wrong", ExitCode.SKIPPED, "every call was errored"),
        ("not-again", ExitCode.SKIPPED, "agent: 503: overloaded"),
    ],
)
def test_the_command_ends_in_the_endpoints_own_words(
    server: ChatServer, tmp_path: Path, capsys: Captured, model: str, code: int, said: str
) -> None:
    out = tmp_path / "nightly"
    assert made(server, model, out, "--trials", "4") == code
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_what_was_complete_when_the_credit_ended_is_kept_and_the_rest_is_made_later(
    server: ChatServer, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "nightly"
    options = ("--trials", "4", "--agent-name", "mine", "--resume")
    with chat_server({"quota-later": quota_later}) as poor:
        assert made(poor, "quota-later", out, *options) == ExitCode.UNEXPECTED
    assert "You exceeded your current quota." in capsys.readouterr().err.splitlines()[-1]
    before = kept_lines(out)
    assert before
    assert all(line["completed"] for line in before)
    assert made(server, "perfect", out, *options) == ExitCode.USAGE
    assert "the agent is another one: its model has changed since this run began" in capsys.readouterr().err
    assert made(server, "perfect", out, *options, "--force") == ExitCode.OK
    after = kept_lines(out)
    assert after[: len(before)] == before
    assert sorted(line.get("trial", 0) for line in after) == [0, 1, 2, 3]


def test_a_key_goes_to_the_endpoint_and_nowhere_else(
    server: ChatServer, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    out = tmp_path / "nightly"
    assert made(server, "perfect", out, "--agent-key-env", "AGENT_KEY") == ExitCode.OK
    assert server.completions[-1].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(path.read_text("utf-8") for path in out.iterdir())
    assert KEY not in "".join(capsys.readouterr())
    described = read_run(out)
    assert described is not None
    assert (described.settings.agent.model, described.settings.agent.base_url) == ("perfect", server.url)


def test_small_models_are_offered_one_tool_to_move(server: ChatServer, tmp_path: Path) -> None:
    made(server, "perfect", tmp_path / "nightly", "--advance", "--max-turns", "1")
    offered = [tool["function"]["name"] for tool in server.completions[-1].body["tools"]]
    assert "advance" in offered
    assert not any(name.startswith("go_") for name in offered)


def test_a_model_may_call_too(server: ChatServer, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "nightly"
    made(server, "perfect", out, "--caller", f"openai:empty@{server.url}", "--json")
    done = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (done["caller_failed"], done["errored"]) == (1, 1)
    [line] = kept_lines(out)
    assert (line["error"], line["caller_ok"]) == ("caller: says nothing", False)
    assert "completed" not in line
