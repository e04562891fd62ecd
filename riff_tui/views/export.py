"""Make tidy records of single scores, to be joined and plotted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import compress, islice
from typing import TYPE_CHECKING, Any

from riff_store.filters.matching import compile_predicate
from riff_store.filters.predicates import Predicate
from riff_tui.table import Batch, Column
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.queries.last_edits import LastEdit
    from riff_store.queries.scores import ScorePage, Scores

COLUMNS = (
    Column("run", "Run", kind="name", help="The evaluation run that the call came from."),
    Column("commit", "Commit", kind="text", help="The commit that was evaluated."),
    Column("started_at", "Started (UTC)", kind="time", help="When the call started."),
    Column("conversation", "Conversation", kind="name", help="The call; ids may come back in other flows and trials."),
    Column("flow", "Flow", kind="name", help="The dialogue that the agent has to lead the caller through."),
    Column("agent", "Agent", kind="name", help="The model that led the call."),
    Column("persona", "Persona", kind="name", help="Who the simulated caller was."),
    Column("trial", "Trial", kind="count", help="Which repeat of the same call it is, from 0."),
    Column("errored", "Errored", kind="flag", help="Whether the call is an errored one, not counted in averages."),
    Column("aspect", "Aspect", kind="name", help="What was scored; `code.` and a code where a person gave one."),
    Column("judge", "Judge", kind="name", help="Who scored it; (computed) is not a judge, human: a person."),
    Column("value", "Value", help="The score in the aspect's own unit."),
    Column("judged_at", "Judged (UTC)", kind="time", help="When the verdict was given."),
    Column("model", "Model", kind="text", help="The model behind the judge."),
    Column("prompt_hash", "Prompt", kind="text", help="The hash of the judge's prompt, whole."),
    Column("prompt_version", "Version", kind="text", help="What the prompt calls its own version."),
    Column("edit_commit", "Edit", kind="text", help="The flow's last edit that the run contains."),
    Column("edit_time", "Edited (UTC)", kind="time", help="When that edit was made."),
    Column("edit_author", "Edited by", kind="text", said=True, help="Who made it."),
    Column("edit_subject", "Edit's subject", kind="text", said=True, help="The first line of its message."),
    Column(
        "edit_basis",
        "Edit's basis",
        kind="text",
        help="How it is known that the run contains it: by commit or by time.",
    ),
)


_OF_EDIT = ("edit_commit", "edit_time", "edit_author", "edit_subject", "edit_basis")


def batch_of(page: ScorePage, wanted: Predicate | None = None) -> Batch:
    """Return such scores of a page, times as microseconds.

    A judge is found by its name with any model and version of its prompt too.
    """
    from riff_store.queries.scores import ScoredCall

    calls = {name: [getattr(call, name) for call in page.calls] for name in ScoredCall._fields}
    counts, edits = calls.pop("scores"), calls.pop("edit")
    scores: dict[str, Sequence[Any]] = page.scores._asdict()
    if wanted is not None:
        chosen = _chosen(page.scores, wanted)
        remaining = iter(chosen)
        counts = [sum(islice(remaining, count)) for count in counts]
        scores = {name: list(compress(values, chosen)) for name, values in scores.items()}
    del scores["judge_name"]
    calls |= zip(_OF_EDIT, map(list, zip(*map(_edited, edits), strict=True)), strict=True)
    return Batch(counts, calls, scores)


def _edited(last: LastEdit | None) -> tuple[Any, ...]:
    if last is None:
        return (None,) * len(_OF_EDIT)
    edit, basis = last
    return edit.commit, edit.time, edit.author, edit.subject, basis


def _chosen(scores: Scores, wanted: Predicate) -> list[bool]:
    holds = compile_predicate(wanted, ())

    @cache
    def is_such(aspect: str, judge: str, judge_name: str, *of_verdict: str | None) -> bool:
        model, prompt_hash, prompt_version = of_verdict
        told = {"model": model, "prompt_hash": prompt_hash, "prompt_version": prompt_version}
        return holds({"aspect": aspect, "judge": [judge, judge_name], **told})

    by_judge = scores.aspect, scores.judge, scores.judge_name
    return list(map(is_such, *by_judge, scores.model, scores.prompt_hash, scores.prompt_version))


SPEC = ViewSpec(
    name="export",
    title="Export",
    help=(
        "Tidy records of single scores, to be joined and plotted elsewhere.",
        "A record is one score of one call.",
        "Errored calls are among them, and marked.",
    ),
    listed=False,
    command="riff-tui export",
    columns=COLUMNS,
)
