"""Widgets that look the same with and without focus, so that nothing is sent again when it goes elsewhere."""

from __future__ import annotations

from textual import events
from textual.widget import Widget


class QuietFocus(Widget):
    """Takes note of focus and repaints nothing."""

    def _on_focus(self, event: events.Focus) -> None:
        event.prevent_default()
        self.set_reactive(Widget.has_focus, True)

    def _on_blur(self, event: events.Blur) -> None:
        event.prevent_default()
        self.set_reactive(Widget.has_focus, False)
