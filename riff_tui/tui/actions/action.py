"""Describe what a key of the explorer does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from riff_tui.tui.actions.context import KINDS, ActionContext
from riff_tui.views.spec import ScreenKind

Group: TypeAlias = Literal["Move", "Go", "Find", "Mark", "Note", "Look", "Leave"]

Availability: TypeAlias = Callable[[ActionContext], str]
Label: TypeAlias = Callable[[ActionContext], str]


def always(_: ActionContext) -> str:
    """Return no reason against an action."""
    return ""


@dataclass(frozen=True, slots=True)
class Action:
    """Describe something that a key does.

    `title` is what the hint line says, unless `label` finds a better word for the context. `unavailable` returns the
    reason why the action does not apply, an empty text where it does. Actions may share a key where no screen is in
    the `kinds` of both.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    help: str
    group: Group
    unavailable: Availability = always
    label: Label | None = None
    kinds: tuple[ScreenKind, ...] = KINDS

    def label_in(self, context: ActionContext) -> str:
        """Return the word for the hint line."""
        return self.label(context) if self.label else self.title
