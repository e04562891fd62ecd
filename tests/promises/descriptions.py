"""Read the promises from the files beside this module, one for each page of rules."""

from __future__ import annotations

from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent.parent


class Break(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A function or a constant, and how to change it so that the promise does not hold.

    `code` is its dotted name: the module, then the name in it. Either `replaces` is a fragment that stands in it once
    and `with` takes its place, or `drops` is one that goes, or `returns` becomes all that the function does.
    `tests` are those of the promise that have to fail; empty for all of them.
    """

    code: str
    replaces: str = ""
    replacement: str = msgspec.field(default="", name="with")
    drops: str = ""
    returns: str = ""
    tests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a break of none or of several kinds."""
        if sum(map(bool, (self.replaces, self.drops, self.returns))) != 1:
            raise ValueError(f"{self.code} is broken by one of replaces, drops and returns")


class Promise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence that holds, the tests that show it, and the breaks that they have to notice."""

    id: str
    says: str
    tests: tuple[str, ...]
    breaks: tuple[Break, ...] = ()
    why_no_break: str = ""

    def tests_of(self, broken: Break) -> tuple[str, ...]:
        """Return the tests of which one has to fail under a break."""
        return broken.tests or self.tests


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The promises of one kind, and what users might expect beside them and is not promised."""

    order: int
    title: str
    promises: tuple[Promise, ...]
    not_promised: tuple[str, ...] = ()


def pages() -> list[Page]:
    """Return all promises by page, the pages in their order."""
    found = [msgspec.toml.decode(path.read_bytes(), type=Page) for path in sorted(Path(__file__).parent.glob("*.toml"))]
    return sorted(found, key=lambda page: page.order)


def promises() -> list[Promise]:
    """Return all promises in the order of the page."""
    return [promise for page in pages() for promise in page.promises]
