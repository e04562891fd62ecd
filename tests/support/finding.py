"""One who presses the keys of an explorer, and reads the prompt and the lists over the place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.fake_catalog import FakeCatalog
from tests.support.fake_names import FakeNames
from tests.support.walker import Walker, running
from tests.surface.explorer import START, Backend, Explorer, Menu, Stack


class Finding(Walker):
    """A walker that reads the prompt and the lists over the place."""

    @property
    def verdict(self) -> str:
        return "".join(text for text, _ in self.controls.prompt.foot.lines[0]).strip()

    @property
    def typed(self) -> str:
        return self.controls.prompt.field.value

    @property
    def picker(self) -> Menu:
        assert self.controls.menu.is_open
        return self.controls.menu

    @property
    def offered(self) -> list[str]:
        picker = self.picker
        return [picker.list.texts[found.index] for found in picker.list._found]

    async def type(self, text: str) -> None:
        await self.press(*(KEYS.get(character, character) for character in text))


KEYS = {":": "colon", "=": "equals_sign", " ": "space", ">": "greater_than_sign", "|": "vertical_line", "·": "·"}


@asynccontextmanager
async def finding(
    start: Stack = START, *, catalog: FakeCatalog | None = None, names: FakeNames | None = None
) -> AsyncIterator[Finding]:
    catalog = catalog or FakeCatalog()
    app = Explorer(Backend(catalog.show, lambda: "3 min ago", names=names or FakeNames()), start=start)
    async with running(app, (100, 30)) as pilot:
        at = Finding(app, pilot, catalog)
        await at.settle()
        yield at
