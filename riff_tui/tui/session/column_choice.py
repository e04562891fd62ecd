"""Hold which columns a user chose to see in a view, as short words that a session can keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from riff_tui.table import Column, Row, Table
from riff_tui.view_registry import spec_of

INTERVAL = "intervals."
_WIDE = "wide"


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """Hold what was changed of a view's own columns; a column that it does not name is shown as the view says.

    `shown` and `hidden` are keys, `wide` says that nothing is cut to the line.
    """

    shown: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    wide: bool = False

    @staticmethod
    def of(words: Iterable[str]) -> ColumnChoice:
        """Return the choice that `words` wrote, without what makes no sense in it."""
        words = list(words)
        return ColumnChoice(
            frozenset(word[1:] for word in words if word.startswith("+")),
            frozenset(word[1:] for word in words if word.startswith("-")),
            _WIDE in words,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Return the choice as words: `+key` for what is shown, `-key` for what is not, `wide`."""
        changed = [*(f"+{key}" for key in sorted(self.shown)), *(f"-{key}" for key in sorted(self.hidden))]
        return (*changed, *([_WIDE] if self.wide else []))

    def asking(self, usual: Collection[str], wanted: Collection[str], offered: Collection[str]) -> ColumnChoice:
        """Return the choice with these columns `wanted` of those `offered`; the view itself shows the `usual` ones."""
        return replace(
            self,
            shown=self.shown.difference(offered) | {key for key in offered if key in wanted and key not in usual},
            hidden=self.hidden.difference(offered) | {key for key in offered if key not in wanted and key in usual},
        )


AS_IT_IS = ColumnChoice()


def stays(column: Column) -> bool:
    """Return whether a column is always shown: the names by which one knows a row."""
    return column.kind == "name" and column.shown


def with_intervals(columns: Sequence[Column], rows: Iterable[Row]) -> list[Column]:
    """Return the columns, each metric that has an interval in some row followed by a column of it."""
    measured = {key for row in rows for key in (row.record.get("intervals") or ())}
    measured -= {column.key.removeprefix(INTERVAL) for column in columns if column.key.startswith(INTERVAL)}
    found: list[Column] = []
    for column in columns:
        found.append(column)
        if column.key in measured:
            found.append(_interval(column))
    return found


def is_ranked(table: Table) -> bool:
    """Return whether the rows are entries of ranked lists, which say in words what others have columns for."""
    return bool(table.sections and spec_of(table.view).words.ranked)


def offered(table: Table, columns: Iterable[Column]) -> list[Column]:
    """Return the columns that one can show or hide, `columns` being all that there are."""
    return [] if is_ranked(table) else [column for column in columns if not stays(column)]


def _interval(column: Column) -> Column:
    return Column(
        f"{INTERVAL}{column.key}", f"{column.title} 95%", unit=column.unit, decimals=max(column.decimals, 1),
        trim=column.trim, shown=False, path=("intervals", column.key),
        help=f"The 95 % interval of {column.title}.",
    )  # fmt: skip
