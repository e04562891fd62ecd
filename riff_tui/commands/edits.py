"""Read who changed the flows, and when, from the history of their files: the `edits` command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riff_tui.commands.options import (
    JsonOption,
    StoreOption,
    flag,
    option,
    print_json,
    printed,
    settings_for,
    store_to_write,
)
from riff_tui.shapes import COUNT, FLAG, TEXT, TIME, list_of, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from riff_ingest.edits import EditHistory
    from riff_store.facts import EditsResult

EXAMPLES = (
    "riff-tui edits --repo . --flows 'flows/{flow}.*'",
    "riff-tui edits --repo ../agent --flows 'flows/{flow}/**' --flows 'prompts/{flow}.md'",
    "riff-tui edits --repo . --flows '**/{flow}.flow.json' --rebuild",
)
LISTED_FLOWS = 20


_OF_FLOW = record(
    {
        "flow": TEXT,
        **dict.fromkeys(("edits", "added", "gone"), COUNT),
        **dict.fromkeys(("first", "last"), TIME),
        "has_calls": FLAG,
    }
)
JSON = printed({"flows": list_of(_OF_FLOW), "shallow": FLAG, "partial": FLAG, "undated": COUNT})


def edits(
    repo: Annotated[Path, option("--repo", "DIR", "The git repository with the flow files.")],
    flows: Annotated[
        list[str],
        option(
            "--flows",
            "PATTERN",
            "Where they are, from DIR down: {flow} is the flow's name, * any letters, ** any directories; repeatable.",
        ),
    ],
    rebuild: Annotated[bool, flag("--rebuild", "First forget all edits in the store.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Read from git who changed which flow when.

    That shows which edit moved its quality; run it again for new commits.
    """
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    history, results = run(store_location(settings_for(store)), repo, flows, rebuild=rebuild)
    for line in report(history, results, repo, flows):
        say(line)
    if json:
        print_json(
            {
                "flows": [_record(result) for result in results],
                "shallow": history.is_shallow,
                "partial": history.is_partial,
                "undated": history.undated,
            }
        )


def _record(result: EditsResult) -> dict[str, Any]:
    from riff_tui.text.numbers import utc

    counts = {key: getattr(result, key) for key in ("edits", "added", "gone")}
    return {
        "flow": result.flow,
        **counts,
        "first": utc(result.first),
        "last": utc(result.last),
        "has_calls": result.has_calls,
    }


def run(
    location: str, repo: Path, patterns: Sequence[str], *, rebuild: bool = False
) -> tuple[EditHistory, list[EditsResult]]:
    """Read the edits of a repository into the store at a location, made if it is missing and there are any."""
    from riff_store.write.writer import Writer

    history = _read(repo, patterns)
    if not history.edits:
        return history, []
    with store_to_write(location, create=True) as opened:
        writer = Writer(opened)
        with writer.batch():
            return history, writer.put_edits(history.repository, history.edits, history.commits, rebuild=rebuild)


def report(history: EditHistory, results: Sequence[EditsResult], repo: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Yield what was read: a line for each flow unless there are many, then warnings, the sum last."""
    from riff_tui.text.numbers import counted

    if len(results) <= LISTED_FLOWS:
        widest = max((len(result.flow) for result in results), default=0)
        yield from (_line(result, widest) for result in results)
    if not results:
        named = ", ".join(patterns)
        yield f"No file in the history of {repo} matches {named}; patterns count from there, and {{flow}} is one name."
    if history.is_shallow:
        yield "This is a shallow clone: edits older than it are not known (git fetch --unshallow brings them)."
    if history.is_partial:
        yield "This is a partial clone: a file that was renamed and changed in one commit is not followed."
    if beside := sum(not edit.merged for found in history.edits.values() for edit in found):
        yield f"{counted(beside, 'edit')} on other branches than the one checked out: only runs of those contain them."
    if history.undated:
        yield f"{counted(history.undated, 'commit')} without a usable time left out."
    if results:
        yield _sum(results)


def _line(result: EditsResult, widest: int) -> str:
    from riff_tui.text.numbers import counted, utc

    changes = [f"{result.added} new"] if result.added else []
    changes += [f"{result.gone} gone"] if result.gone else []
    edits = counted(result.edits, "edit") + (f" ({', '.join(changes)})" if changes else "")
    span = f"{utc(result.first)[:10]} to {utc(result.last)[:10]}"
    return f"{result.flow:{widest}}  {edits}, {span}{'' if result.has_calls else ', no calls yet'}"


def _sum(results: Sequence[EditsResult]) -> str:
    from riff_tui.text.numbers import counted

    edits = f"{counted(sum(r.edits for r in results), 'edit')} of {counted(len(results), 'flow')}"
    added, gone = sum(result.added for result in results), sum(result.gone for result in results)
    parts = [f"{edits}: {added} new" if added else f"{edits}: nothing new"]
    parts += [f"{gone} gone from the history"] if gone else []
    uncalled = sum(not result.has_calls for result in results)
    if uncalled:
        one = uncalled == 1
        parts.append(f"{counted(uncalled, 'flow')} without calls {'is' if one else 'are'} kept until some come")
    return f"{', '.join(parts)}."


def _read(repo: Path, patterns: Sequence[str]) -> EditHistory:
    from riff_ingest.edits import BadPattern, NoHistory, read_edits
    from riff_tui.errors import UsageError
    from riff_tui.output.progress import terminal_progress

    try:
        with terminal_progress() as progress:
            return read_edits(repo, patterns, progress.telling if progress else None)
    except BadPattern as error:
        raise UsageError(f"--flows: {error}") from error
    except NoHistory as error:
        raise UsageError(f"--repo: {error}") from error
