"""Turn notes into records for spreadsheets and other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.table import Column

if TYPE_CHECKING:
    from riff_store.answers.calls import Call
    from riff_store.facts import Annotation

COLUMNS = (
    Column("id", "Id", kind="text"),
    Column("run", "Run", kind="name"),
    Column("flow", "Flow", kind="name"),
    Column("agent", "Agent", kind="name"),
    Column("conversation", "Conversation", kind="name"),
    Column("trial", "Trial", kind="count"),
    Column("turn", "Turn", kind="count"),
    Column("state", "State", kind="name"),
    Column("verdict", "Verdict", kind="text"),
    Column("code", "Code", kind="text"),
    Column("note", "Note", kind="text"),
    Column("labels", "Labels", kind="object"),
    Column("author", "Author", kind="text"),
    Column("at", "At (UTC)", kind="text"),
    Column("supersedes", "Supersedes", kind="text"),
    Column("deleted", "Deleted", kind="flag"),
    Column("editor", "Editor", kind="text"),
)


def records(lines: Iterable[Annotation], calls: Mapping[str, Call]) -> Iterator[dict[str, Any]]:
    """Yield a record for each line; `calls`, by the id of a line, have the names that it leaves open."""
    from riff_ingest.annotation_lines import time_text

    for line in lines:
        call = calls.get(line.id)
        yield {
            "id": line.id,
            "run": call.run if call else line.run,
            "flow": call.flow if call else line.flow,
            "agent": call.agent if call else line.agent,
            "conversation": line.conversation,
            "trial": call.trial if call else line.trial,
            "turn": line.turn,
            "state": line.state,
            "verdict": line.verdict,
            "code": line.code,
            "note": line.note,
            "labels": line.labels or None,
            "author": line.author,
            "at": time_text(line.at),
            "supersedes": line.supersedes,
            "deleted": line.deleted or None,
            "editor": line.editor,
        }


def embedeval_records(lines: Sequence[Annotation], calls: Mapping[str, Call]) -> Iterator[dict[str, Any]]:
    """Yield an annotation of embedeval for each call and author with a verdict, of lines that count.

    It has the code that its author gave the call first, and all the author's remarks on it.
    """
    from riff_ingest.annotation_lines import time_text

    by_author: dict[tuple[int, str], list[Annotation]] = {}
    for line in lines:
        by_author.setdefault((calls[line.id].id, line.author), []).append(line)
    for own in by_author.values():
        given = next((line for line in own if line.verdict is not None), None)
        if given is not None:
            yield {
                "id": given.id,
                "traceId": given.conversation,
                "annotator": given.author,
                "timestamp": time_text(given.at),
                "label": given.verdict,
                "failureCategory": next((line.code for line in own if line.code), None),
                "notes": "\n".join(line.note for line in own if line.note),
                "duration": None,
                "source": "manual",
            }


def taxonomy_of(found: Sequence[Mapping[str, Any]], most_examples: int = 3) -> dict[str, Any]:
    """Return embedeval's table of failure categories for its annotations, those with the most calls first.

    A category is described by the first remark that stands with it.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in found:
        if record["failureCategory"]:
            groups.setdefault(record["failureCategory"], []).append(record)
    passed = sum(record["label"] == "pass" for record in found)
    categories = [
        {
            "id": code,
            "name": code,
            "description": next((record["notes"] for record in group if record["notes"]), ""),
            "count": len(group),
            "examples": [record["traceId"] for record in group[:most_examples]],
        }
        for code, group in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
    ]
    return {
        "version": 1,
        "lastUpdated": max((record["timestamp"] for record in found if record["timestamp"]), default=None),
        "annotator": ", ".join(sorted({record["annotator"] for record in found})),
        "categories": categories,
        "stats": {
            "totalAnnotated": len(found),
            "totalPassed": passed,
            "totalFailed": len(found) - passed,
            "passRate": passed / len(found) if found else None,
        },
    }
