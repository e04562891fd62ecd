"""What is pressed: keys of all views, what is below their rows, the way down to a call, every kind of filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.scale.questions import filters
from benchmarks.scale.stores import Sized
from riff_tui.tui.actions.registry import action
from riff_tui.view_registry import spec_of, views

ENTER = "\r"
FIRST = "flows"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to wait for: `keys`, pressed where the keys of `way` lead to from the first screen.

    A step that `stays` shows other rows of the same place, any other one a place of another name.
    """

    name: str
    keys: str
    way: tuple[str, ...] = ()
    stays: bool = False


def steps(sized: Sized) -> Iterator[Step]:
    """Every step, from what the registries hold."""
    shown = [spec for spec in views() if spec.screen.help and spec.name != FIRST]
    for spec in shown:
        if spec.screen.kind == "list":
            yield Step(spec.name, spec.screen.key)
            if spec.screen.below:
                yield Step(f"{spec.name}, Enter", ENTER, (spec.screen.key,))
    yield from (Step(f"{FIRST}{', Enter' * down}", ENTER, (ENTER,) * (down - 1)) for down in (1, 2, 3, 4))
    states, listed, runs = (spec_of(name).screen.key for name in ("states", "conversations", "runs"))
    yield from (
        Step(f"states, {spec.name}", spec.screen.key, (states,)) for spec in shown if spec.screen.kind == "state"
    )
    yield Step("since the last run", key_of("since_last_run"))
    yield Step("runs, two compared", key_of("compare"), (runs, key_of("mark"), key_of("down")))
    yield Step("flows, by agent", key_of("fold"), stays=True)
    yield Step("conversations, the last one", key_of("last"), (listed,), stays=True)
    yield Step("conversations, sorted", key_of("sort"), (listed, key_of("right") * 6), stays=True)
    for narrowed in filters(sized.last_run, f"{sized.since:%Y-%m-%dT%H:%M:%SZ}", 0):
        for view in narrowed.views:
            way = () if view == FIRST else (spec_of(view).screen.key,)
            yield Step(f"{view}, `{narrowed.words}` ({narrowed.kind})", ENTER, (*way, f"/{narrowed.words}"))


def key_of(id: str) -> str:
    """Return the first key of an action."""
    return action(id).keys[0]
