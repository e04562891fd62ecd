"""Have transcripts scored for how human the agent sounded: the `judge` command."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from riff_tui.commands.options import (
    WRITTEN_DIRECTORY,
    JsonOption,
    NextStoreOption,
    apply_limits,
    argument,
    flag,
    next_ingest,
    option,
    print_json,
    printed,
    time_of,
)
from riff_tui.errors import JudgeStopped, UsageError, writing
from riff_tui.shapes import COUNT, FLAG, TEXT, by_name

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from riff_runner.judge.conversations import FoundConversations
    from riff_runner.judge.protocol import Usage
    from riff_runner.judge.session import JudgingPlan, RunEnd, RunProgress, Session
    from riff_runner.judge.settings import JudgeSettings, Prices

EXAMPLES = (
    "riff-tui judge runs/nightly-2026-06-22 --judge gemini --out runs",
    "riff-tui judge runs --judge gemini --out runs --dry-run",
    "riff-tui judge runs --judge codex --out scores --limit 200 --retry-unscored",
)
REASONS = 5


ConcurrencyOption = Annotated[int | None, option("--concurrency", "N", "Calls to ask about at once.", min=1, max=256)]


_PASSED_OVER = ("scored_before", "unscored_before", "unrecorded", "beyond_limit")
_ASKED = ("due", "scored", "unscored", "not_asked", *_PASSED_OVER)
JSON = printed({"judge": TEXT, "out": TEXT, "dry_run": FLAG, **dict.fromkeys(_ASKED, COUNT), "reasons": by_name(COUNT)})


def judge(
    paths: Annotated[list[Path], argument("PATH...", "Transcripts, or directories to walk.")],
    name: Annotated[str, option("--judge", "NAME", "A judge of the settings file, or gemini, dashscope, openai.")],
    out: Annotated[Path, option("--out", "DIR", "Where RUN/humanness-NAME.jsonl go.", click_type=WRITTEN_DIRECTORY)],
    judged_at: Annotated[str | None, option("--judged-at", "TIME", "The time that scores carry; else now.")] = None,
    limit: Annotated[int | None, option("--limit", "N", "At most so many calls, spread evenly.", min=1)] = None,
    concurrency: ConcurrencyOption = None,
    retry_unscored: Annotated[bool, flag("--retry-unscored", "Ask again if there was no score.")] = False,
    dry_run: Annotated[bool, flag("--dry-run", "Only print how many calls and tokens it would be.")] = False,
    json: JsonOption = False,
    store: NextStoreOption = None,
) -> None:
    """Have a judge score how human the agent sounds.

    Humanness scores are written as files to ingest. What has a score already is not asked, or paid for, again. The
    transcript goes to the judge and nowhere else.
    """  # fmt: skip
    from riff_tui.output.streams import say

    plan, ended = judge_calls(
        paths, name, out, judged_at, limit, concurrency, retry_unscored=retry_unscored, dry_run=dry_run
    )
    if json:
        progress = ended.progress if ended else None
        done, scored = (progress.done, progress.scored) if progress else (0, 0)
        print_json(
            {
                "judge": name,
                "out": str(out),
                "dry_run": dry_run,
                "due": len(plan.due),
                "scored": scored,
                "unscored": done - scored,
                "not_asked": len(plan.due) - done,
                **{key: getattr(plan, key) for key in _PASSED_OVER},
                "reasons": dict(ended.unscored) if ended else {},
            }
        )
    if not dry_run:
        say(f"Next: {next_ingest(out, store)}")


def judge_calls(
    paths: list[Path],
    name: str,
    out: Path,
    judged_at: str | None = None,
    limit: int | None = None,
    concurrency: int | None = None,
    *,
    retry_unscored: bool = False,
    dry_run: bool = False,
) -> tuple[JudgingPlan, RunEnd | None]:
    """Have calls judged; print and return what came of it; raises what ends a run of a judge early."""
    from riff_runner.judge.conversations import find_conversations
    from riff_runner.judge.ledger import Ledger
    from riff_runner.judge.session import Session
    from riff_tui.output.streams import say
    from riff_tui.signals import end_by

    apply_limits()
    config = configured(name)
    if judged_at is not None:
        time_of("--judged-at", judged_at)
    with writing(str(out)):
        if out.exists() and not out.is_dir():
            raise UsageError(f"--out: {out} is not a directory")
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise UsageError(f"{missing}: there is no such file or directory")
    found = find_conversations(paths)
    if not found.files:
        raise UsageError(f"{paths[0]}: no transcripts were found there; they are known as flow-transcripts-*.jsonl")
    file = f"humanness-{_name(name)}.jsonl"
    session = Session(config, found, Ledger(name, lambda run: out / _name(run) / file), judged_at)
    with _naming_judge(name):
        if dry_run:
            plan = session.plan(limit=limit, retry_unscored=retry_unscored)
            for line in report_plan(plan, found, config, session.estimate(plan)):
                say(line)
            return plan, None
        with writing(str(out)), session.ledger:
            session.ledger.hold(session.runs())
            plan = session.plan(limit=limit, retry_unscored=retry_unscored)
            ended = _run(session, plan, concurrency) if plan.due else None
    if ended is not None and ended.error is not None:
        raise _stopped(name, ended)
    for line in report(plan, found, config.prices, ended):
        say(line)
    if ended is not None and ended.signal is not None:
        end_by(ended.signal)
    return plan, ended


def configured(name: str) -> JudgeSettings:
    """Return the settings of a judge; raises `UsageError` if there are none, or none that make sense."""
    from riff_runner.judge.settings import judge_settings
    from riff_tui import settings

    if not name.strip() or name.startswith("("):
        raise UsageError("--judge needs the name of a judge, such as gemini")
    tables, base = settings.judges()
    with _naming_judge(name):
        return judge_settings(name, tables, base)


def _name(identifier: str) -> str:
    """Return the name itself where it is fit for a file, so that scores stay with the transcripts of their run."""
    import re

    from riff_tui.text.safe_text import file_name

    return identifier if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", identifier) else file_name(identifier)


def _run(session: Session, plan: JudgingPlan, concurrency: int | None) -> RunEnd:
    import os

    from riff_tui.output.progress import terminal_progress
    from riff_tui.output.streams import say
    from riff_tui.text.numbers import counted

    with terminal_progress() as line:

        def show(run: RunProgress) -> None:
            if line is not None:
                line.judging(run.done, run.total, spent_text(run.spent, session.config.prices))

        def stopped(run: RunProgress) -> None:
            if line is not None:
                line.clear()
            if run.under_way:
                say(f"Stopping; {counted(run.under_way, 'answer')} still on the way. Ctrl-C again drops them.")

        return session.run(plan, os.environ, at_once=concurrency, report=show, stopped=stopped)


def report_plan(plan: JudgingPlan, found: FoundConversations, config: JudgeSettings, tokens: int) -> Iterator[str]:
    """Yield what a run would do, a line each."""
    from riff_tui.text.numbers import counted

    about = f"about {tokens} tokens to read"
    price = config.prices.input
    if price is not None:
        about += f", which cost about {tokens * price / 1_000_000:.2f} {config.prices.currency} without the answers"
    yield f"{counted(len(plan.due), 'call')} to judge: {about}."
    yield from _passed_over(plan, found)


def report(plan: JudgingPlan, found: FoundConversations, prices: Prices, ended: RunEnd | None) -> Iterator[str]:
    """Yield what came of a run, a line each."""
    progress = ended.progress if ended else None
    parts = [f"{progress.scored if progress else 0} judged"]
    if progress and progress.done > progress.scored:
        parts.append(f"{progress.done - progress.scored} unscored")
    if progress and progress.done < progress.total:
        parts.append(f"{progress.total - progress.done} not asked")
    yield f"{', '.join(parts)}."
    if ended and ended.unscored:
        yield f"Unscored: {_reasons(ended.unscored)}. --retry-unscored asks again."
    yield from _passed_over(plan, found)
    if progress and progress.spent != type(progress.spent)():
        yield f"Spent: {spent_text(progress.spent, prices)}."


def spent_text(usage: Usage, prices: Prices) -> str:
    """Return the tokens that were used, and what they cost where prices are known."""
    tokens = f"{_short(usage.input)} tokens in, {_short(usage.output)} out"
    cost = prices.cost(usage)
    return tokens if cost is None else f"{tokens}, {cost:.4f} {prices.currency}"


def _passed_over(plan: JudgingPlan, found: FoundConversations) -> Iterator[str]:
    before = {
        "had a score already": plan.scored_before,
        "were unscored before (--retry-unscored)": plan.unscored_before,
    }
    before |= {"are not recorded": plan.unrecorded, "are left for later (--limit)": plan.beyond_limit}
    if any(before.values()):
        yield f"Not asked: {', '.join(f'{count} {why}' for why, count in before.items() if count)}."
    unfit = {
        "errored": found.errored,
        "without a word of the agent": found.without_text,
        "that cannot be read": found.unreadable,
    }
    if any(unfit.values()):
        yield f"Left out: {', '.join(f'{count} {why}' for why, count in unfit.items() if count)}."


def _reasons(unscored: Counter[str]) -> str:
    from riff_tui.text.numbers import counted

    ranked = sorted(unscored.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{count} × {reason}" for reason, count in ranked[:REASONS]]
    return ", ".join([*shown, counted(len(ranked) - REASONS, "other reason")] if len(ranked) > REASONS else shown)


def _stopped(name: str, ended: RunEnd) -> Exception:
    """Return the error that ends a run of which the rest cannot be judged."""
    from riff_runner.judge.protocol import Refused
    from riff_tui.text.numbers import counted

    if not isinstance(ended.error, Refused):
        assert ended.error is not None
        return ended.error
    left = counted(ended.progress.total - ended.progress.done, "call")
    kept = f"{counted(ended.progress.scored, 'score')} kept, {left} left"
    again = "run it again with --retry-unscored" if ended.unscored else "run the same command again"
    return JudgeStopped(f"judge {name}: {ended.error}; {kept}: fix it and {again}")


@contextmanager
def _naming_judge(name: str) -> Iterator[None]:
    """Name the judge in an error of its settings."""
    from riff_runner.judge.protocol import Misconfigured

    try:
        yield
    except Misconfigured as error:
        raise UsageError(f"judge {name}: {error}") from error


def _short(count: int) -> str:
    return str(count) if count < 10_000 else f"{count / 1000:.0f}k" if count < 10_000_000 else f"{count / 1e6:.1f}M"
