"""List what a controller may ask of the screen that it serves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from riff_tui.table import Severity
    from riff_tui.tui.data.backend import ShowView
    from riff_tui.tui.data.loader import LoadedView
    from riff_tui.tui.data.query_worker import QueryWorker, Work
    from riff_tui.tui.data.session import SessionFile
    from riff_tui.tui.navigation.history import History
    from riff_tui.tui.navigation.location import Location
    from riff_tui.tui.widgets.line_table import LineTable
    from riff_tui.tui.widgets.transcript import Transcript


class Host(Protocol):
    """Offer the location that is shown, the way to another one, and work that keeps no key waiting."""

    last_error: Exception | None
    """The error that `fail` reported last."""
    notice: str
    """Raw text to say once the next location is shown."""
    worker: QueryWorker
    """The thread that queries the store."""
    session: SessionFile
    """What lasts from one session to the next."""
    show_view: ShowView
    """Query the store for a view; call it on the worker."""
    loaded: LoadedView | None
    """The tables that are shown, `None` before the first ones have come."""

    @property
    def history(self) -> History:
        """Return the way to the location that is shown, with its cursor where it is."""

    @property
    def location(self) -> Location:
        """Return the location that is shown, with its cursor where it is."""

    @property
    def is_typing(self) -> bool:
        """Return whether a prompt or another dialog has the keys."""

    @property
    def body(self) -> LineTable | Transcript:
        """Return the widget that the cursor is in."""

    def visit(self, history: History, *, again: bool = False, other: bool = False, remark: str = "") -> None:
        """Go to a location once its tables are loaded; until then this one stays, and its keys work.

        Cached tables are shown unless they are to be loaded `again`; in `other` data none is left. `remark` is raw text
        to show there.
        """

    def show(self, history: History, loaded: LoadedView) -> None:
        """Show a location that was loaded."""

    def resume_loading(self) -> None:
        """Go on where one is, after going elsewhere was given up or failed."""

    def renew(self, loaded: LoadedView, *, changed: bool = True) -> None:
        """Show newer tables of the same location, and move nothing; `changed` data make cached tables stale."""

    def update_lines(self) -> None:
        """Bring the top line and the bottom line up to date."""

    def say(self, text: str, severity: Severity | None = None) -> None:
        """Show something in the bottom line until the next key; `text` is raw."""

    def fail(self, error: Exception) -> None:
        """Report what went wrong, and keep the error for people who want to know more."""

    def run(self, work: Work, group: str, *, exclusive: bool = False) -> Worker[Any]:
        """Do some work in the background; an `exclusive` one cancels the others of its group."""

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> Timer:
        """Call back once, so many seconds later."""

    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Call back once the present message is handled."""
