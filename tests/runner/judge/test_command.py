"""A command-line model is a real program: it answers, fails, hangs, floods, and never leaves anything behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from tests.surface.ingest import Turn
from tests.surface.runner import (
    CallToJudge,
    CommandJudge,
    ConversationName,
    JudgePrompt,
    JudgingOutcome,
    Misconfigured,
    Question,
    Refused,
    Retry,
    Rubric,
    judge_settings,
    without_secrets,
)
from tests.surface.runner import RetryRetryPolicy as RetryPolicy

NAME = ConversationName("run-1", "c-1")
CALL = CallToJudge(NAME, [Turn("agent", "Good morning. ключ $HOME `id`"), Turn("caller", "Hello; rm -rf.")])
GOOD = """print('{"score": 6, "evidence": [2], "reason": "Polite."}')"""


def outcome_of(program: str, *, timeout: float = 120.0, tries: int = 1) -> JudgingOutcome:
    judge = CommandJudge([sys.executable, "-c", program])
    return asyncio.run(Retry(judge, Rubric(), RetryPolicy(timeout, tries, pause=0.01)).outcome(CALL))


def test_the_prompt_comes_on_stdin_and_the_verdict_goes_to_stdout() -> None:
    outcome = outcome_of(f"""
import json, sys
prompt = sys.stdin.read()
assert prompt.startswith("Judge how human") and "<<<EVIDENCE " in prompt and "$HOME `id`" in prompt
sys.stderr.write("thinking\\n" * 100_000)
{GOOD}
""")
    assert outcome.verdict is not None
    assert (outcome.verdict.score, outcome.verdict.evidence) == (6.0, (2,))


def test_a_program_may_answer_without_reading() -> None:
    assert outcome_of(f"import os; os.close(0); {GOOD}").verdict is not None


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(3)", "the command ended with exit code 3"),
        ("import sys; sys.exit('not logged in\\n\\n')", "the command ended with exit code 1: not logged in"),
        ("import os; os.kill(os.getpid(), 9)", "the command ended with signal 9"),
        ("import sys; sys.stdout.write('x' * 2_000_000)", "the command printed too much"),
        ("while True: print('x' * 60_000)", "the command printed too much"),
    ],
)
def test_a_program_that_fails_leaves_the_call_unscored(program: str, reason: str) -> None:
    outcome = outcome_of(program)
    assert outcome.verdict is None
    assert not outcome.answered
    assert outcome.unscored == reason


@pytest.mark.parametrize(("program", "reason"), [("", "is empty"), ("print('nine')", "is not JSON")])
def test_an_answer_that_is_no_verdict_leaves_the_call_unscored(program: str, reason: str) -> None:
    outcome = outcome_of(program)
    assert outcome.answered
    assert reason in str(outcome.unscored)


def test_a_program_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    flag = tmp_path / "failed"
    program = f"import os, pathlib\nflag = pathlib.Path({str(flag)!r})\n"
    program += f"if not flag.exists(): flag.touch(); raise SystemExit(1)\n{GOOD}"
    assert outcome_of(program, tries=2).verdict is not None


def test_a_program_that_hangs_ends_with_all_that_it_started(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = f"""
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(told)!r}).write_text(str(child.pid))
time.sleep(600)
"""
    for timeout in (2.0, 10.0, 50.0):
        assert outcome_of(program, timeout=timeout).unscored == "no answer in time"
        if told.exists() and told.read_text():
            break
    child = int(told.read_text())
    deadline = time.monotonic() + 120
    while _is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_alive(child)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_shell_sees_the_arguments(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    judge = CommandJudge([sys.executable, "-c", GOOD, f"; touch {trap}", f"$(touch {trap})"])
    outcome = asyncio.run(Retry(judge, Rubric(), RetryPolicy(120.0, 1)).outcome(CALL))
    assert outcome.verdict is not None
    assert not trap.exists()


def test_a_program_that_is_not_there_stops_the_run() -> None:
    judge = CommandJudge(["no-such-program-anywhere"])
    with pytest.raises(Refused, match="no-such-program-anywhere cannot be run: No such file"):
        asyncio.run(Retry(judge, Rubric(), RetryPolicy(120.0, 5)).outcome(CALL))


def test_what_a_program_complains_of_holds_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    outcome = outcome_of("import os, sys; sys.exit('bad key ' + os.environ['SOME_API_KEY'])")
    assert "bad key $SOME_API_KEY" in str(outcome.unscored)
    assert without_secrets("a b", {"X_TOKEN": "a", "HOME": "a b"}) == "a b"
    assert without_secrets("it is hunter22", {"DB_PASSWORD": "hunter22"}) == "it is $DB_PASSWORD"


def test_the_program_has_a_process_group_of_its_own() -> None:
    outcome = outcome_of(f"import os; assert os.getpgrp() == os.getpid() != {os.getpgrp()}; {GOOD}")
    assert outcome.verdict is not None


def test_a_program_sees_all_of_the_environment_or_what_was_named() -> None:
    told = "import os; print(','.join(name for name in ('MODE', 'OTHER_KEY') if name in os.environ))"
    environ = {**os.environ, "MODE": "1", "OTHER_KEY": "s3cret"}
    table = {"kind": "command", "argv": [sys.executable, "-c", told], "environment": ["MODE"]}
    judge = judge_settings("mine", {"mine": table}, Path()).judge(environ)
    question = Question(NAME, JudgePrompt("rubric", "call"))
    assert asyncio.run(judge.ask(question)).text == "MODE\n"
    with pytest.raises(Misconfigured, match="environment: there is no variable 'MODE' in the environment"):
        judge_settings("mine", {"mine": table}, Path()).judge({})
