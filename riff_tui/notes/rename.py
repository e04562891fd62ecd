"""Give a code another name, or merge it into one that is in use, by lines that supersede those with the old one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_store.facts import Annotation


def renamed(lines: Iterable[Annotation], old: str, new: str, *, editor: str) -> list[Annotation]:
    """Return a line with the new code for every standing one with the old; `editor` is who renames.

    Author and time stay those of the line: what somebody said last about a call is still what was said last, and the
    order in which calls were read stays. Where its author changes a line meanwhile, that change wins.
    """
    import msgspec

    from riff_store.annotations import new_id, standing

    return [
        msgspec.structs.replace(
            line, id=new_id(), code=new, supersedes=line.id, editor=None if editor == line.author else editor
        )
        for line in standing(lines)
        if line.code == old != new
    ]
