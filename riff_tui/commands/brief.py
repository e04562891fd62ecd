"""Print a night in so many tokens: the `brief` command."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

import click

from riff_tui.commands import completion
from riff_tui.commands.options import StoreOption, WhereOption, flag, option, printed, settings_for
from riff_tui.shapes import COUNT, COUNTS, FLAG, NUMBER, TEXT, TIME, Shape, list_of, numbers, or_null, record

EXAMPLES = (
    "riff-tui brief",
    "riff-tui brief --where 'flow=dental_clinic' --budget 600 --format json",
    "riff-tui brief --since nightly-2026-06-19 --fail-on worse",
    "riff-tui brief --skill",
)
_ARGV = list_of(TEXT)
_INTERVAL = list_of(or_null(NUMBER))


def _told(members: Mapping[str, Shape], sometimes: Collection[str] = ()) -> Shape:
    return record({"text": TEXT, **members, "argv": _ARGV}, ("argv", *sometimes))


_DIFFERENCE = record(
    {
        **dict.fromkeys(("flow", "aspect", "verdict"), TEXT),
        "judge": or_null(TEXT),
        **numbers(("a", "b", "effect", "low", "high", "p_adjusted")),
    }
)
_VERDICT = {
    **dict.fromkeys(("a", "b"), TEXT),
    "is_worse": FLAG,
    "solves_more": {"enum": ["A", "B", None]},
    **dict.fromkeys(("worse", "better", "differs"), COUNT),
    "rows": list_of(_DIFFERENCE),
}
_FIRST = {
    **dict.fromkeys(("flow", "state"), TEXT),
    **dict.fromkeys(("failed", "n"), COUNT),
    **numbers(("success", "success_at_most")),
}
_CAUSE = record(
    {
        "flow": TEXT,
        "state": TEXT,
        "detail": or_null(TEXT),
        **dict.fromkeys(("rank", "n", "of"), COUNT),
        "kind": TEXT,
        "kinds": COUNTS,
        "share": or_null(NUMBER),
        "interval": _INTERVAL,
        "who": COUNTS,
        "stands_out": list_of(record({"dimension": TEXT, "name": TEXT, "n": COUNT, "share_all": or_null(NUMBER)})),
        "drill": record({"view": TEXT, "where": TEXT, "argv": _ARGV}),
        "argv": _ARGV,
    },
    ("drill",),
)
_EDIT = {
    **dict.fromkeys(("flow", "commit"), TEXT),
    "time": or_null(TIME),
    "verdict": or_null(TEXT),
    **numbers(("success_change", "p_adjusted")),
    "together": COUNT,
}
_SHARES = {**dict.fromkeys(("calls", "errored", "known"), COUNT), **numbers(("errored_share", "unmeasured_share"))}
_SAID = record({"text": TEXT, "cause": COUNT, "said": list_of(TEXT)})
_PARTS: Mapping[str, Shape] = {
    "verdict": _told(_VERDICT, _VERDICT),
    "first": _told({**_FIRST, "first": {"type": "null"}}, (*_FIRST, "first")),
    "causes": list_of(_CAUSE),
    "changed": list_of(_told(_EDIT, _EDIT)),
    "shares": _told(_SHARES),
    "next": list_of(_told({})),
    "words": record({"data": TEXT, "said": list_of(_SAID)}),
}
_ASKED = {**dict.fromkeys(("command", "filter"), TEXT), "budget": COUNT}
JSON = printed({**_ASKED, **_PARTS, "left_out": or_null(TEXT)}, (*_ASKED, *_PARTS))


SinceOption = Annotated[
    str, option("--since", "RUN", "The run that the latest one is compared with; else the one before.", completion.runs)
]
_FORMATS = click.Choice(("text", "markdown", "json"))
FormatOption = Annotated[
    str, option("--format", None, "JSON has the commands as lists of arguments.", click_type=_FORMATS)
]


def brief(
    where: WhereOption = "",
    since: SinceOption = "previous",
    budget: Annotated[
        int, option("--budget", "N", "At most so many tokens, of four bytes each; what has no room is named.", min=1)
    ] = 1500,
    format: FormatOption = "text",
    words: Annotated[
        bool, flag("--words", "Add what was said around each cause, redacted, in a block that is marked as data.")
    ] = False,
    fail_on: Annotated[
        str | None,
        option(
            "--fail-on",
            None,
            "Exit 3 where the latest run is worse beyond chance.",
            click_type=click.Choice(("worse",)),
        ),
    ] = None,
    skill: Annotated[
        bool, flag("--skill", "Print what an agent has to know to read all this, and nothing of a store.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Print a night in few tokens, for scripts and agents.

    Each thing comes with its command, in this order: the verdict against the run before, what to fix first, three
    causes with a call that proves each, what was changed, how much errored or is not measured, and what to run next. No
    word that anybody said is in it unless --words asks.
    """
    from importlib import resources

    from riff_tui.brief import Night
    from riff_tui.brief import brief as briefed
    from riff_tui.commands.reading import reading
    from riff_tui.errors import GateFailed
    from riff_tui.output.files import write_output
    from riff_tui.settings import store_location

    if skill:
        page = resources.files("riff_tui").joinpath("agents.md").read_text("utf-8")  # docs/agents.md
        write_output(None, lambda file: file.write(page))
        return
    settings = settings_for(store)
    with reading(store_location(settings)) as opened:
        found = briefed(opened, Night(where, since, words, store or ""))
        text = found.told(format, budget)
    write_output(None, lambda file: file.write(text))
    if fail_on is not None and found.is_worse:
        raise GateFailed("the latest run is worse beyond chance, as --fail-on worse asks")
