"""Have rows of a long list read that are not at hand, each page once however often it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from riff_tui.table import Row
from riff_tui.tui.data.paged_rows import PAGE, PagedRows

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen


class PageLoader:
    """Reads pages for a screen."""

    def __init__(self, screen: ExplorerScreen) -> None:
        self._screen = screen
        self._wanted: set[tuple[int, int]] = set()

    def __call__(self, rows: Sequence[Row], index: int, then: Callable[[], None]) -> None:
        """Have the page read that a row is on, and go on when it is."""
        page = index // PAGE
        if isinstance(rows, PagedRows) and (id(rows), page) not in self._wanted:
            self._wanted.add((id(rows), page))
            self._screen.run_worker(self._fetch(rows, page, then), group="pages", exit_on_error=False)

    async def _fetch(self, rows: PagedRows, page: int, then: Callable[[], None]) -> None:
        try:
            await self._screen.explorer.worker.ask(lambda: rows.load(page))
        except Exception as error:  # said; the rows stay blank and are asked for again when they are drawn
            self._screen.fail(error)
        else:
            then()
        finally:
            self._wanted.discard((id(rows), page))
