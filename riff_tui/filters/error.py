"""Say what is wrong with a filter, and where."""

from __future__ import annotations

from riff_store.errors import UsageError


class FilterError(UsageError):
    """Refuse a filter that makes no sense; `position` is the offset of the culprit in the expression."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    def __str__(self) -> str:
        return f"filter, character {self.position + 1}: {self.message}"
