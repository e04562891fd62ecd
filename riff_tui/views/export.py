"""Make tidy records of single scores, to be joined and plotted elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate
from riff_tui.table import Column
from riff_tui.views.parts import cells
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.answers.calls import Score

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
    Column("judge", "Judge", kind="name", help="Who scored it; (computed) is no judge, human: a person."),
    Column("value", "Value", help="The score in the aspect's own unit."),
    Column("judged_at", "Judged (UTC)", kind="time", help="When the verdict was given."),
    Column("model", "Model", kind="text", help="The model behind the judge."),
    Column("prompt_hash", "Prompt", kind="text", help="The hash of the judge's prompt, whole."),
    Column("prompt_version", "Version", kind="text", help="What the prompt calls its own version."),
    Column("edit_commit", "Edit", kind="text", help="The flow's last edit that the run contains."),
    Column("edit_time", "Edited (UTC)", kind="time", help="When that edit was made."),
    Column("edit_author", "Edited by", kind="text", help="Who made it."),
    Column("edit_subject", "Edit's subject", kind="text", help="The first line of its message."),
    Column("edit_basis", "Edit's basis", kind="text", help="What tells that the run contains it: commit or time."),
)


def record(score: Score) -> dict[str, Any]:
    """Return one score as a record with the keys of the columns."""
    edit, basis = score.edit or (None, None)
    return {
        "run": score.run,
        "commit": score.commit,
        "started_at": cells.moment(score.started_at),
        "conversation": score.conversation,
        "flow": score.flow,
        "agent": score.agent,
        "persona": score.persona,
        "trial": score.trial,
        "errored": score.errored,
        "aspect": score.aspect,
        "judge": score.judge,
        "value": score.value,
        "judged_at": cells.moment(score.judged_at),
        "model": score.model,
        "prompt_hash": score.prompt_hash,
        "prompt_version": score.prompt_version,
        "edit_commit": edit.commit if edit else None,
        "edit_time": cells.moment(edit.time) if edit else None,
        "edit_author": edit.author if edit else None,
        "edit_subject": edit.subject if edit else None,
        "edit_basis": basis,
    }


def records(scores: Iterable[Score], wanted: Predicate | None) -> Iterator[dict[str, Any]]:
    """Yield the records of such scores; a judge is found by its name with any model and version of its prompt too."""
    is_such = compile_predicate(wanted, ()) if wanted is not None else None
    for score in scores:
        found = record(score)
        if is_such is None or is_such({**found, "judge": [score.judge, score.judge_name]}):
            yield found


SPEC = ViewSpec(
    name="export",
    title="Export",
    help=(
        "Tidy records of single scores, to be joined and plotted elsewhere.",
        "A record is one score of one call.",
        "Errored calls are among them and say so.",
    ),
    listed=False,
    command="riff-tui export",
    columns=COLUMNS,
)
