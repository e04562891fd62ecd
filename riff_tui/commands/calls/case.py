"""Make a scenario of a stored call: the `case` command."""

from __future__ import annotations

from typing import Annotated

from riff_tui.commands.options import (
    CallOption,
    JsonOption,
    OutputOption,
    StoreOption,
    flag,
    option,
    print_json,
    printed,
    settings_for,
)
from riff_tui.shapes import TEXT, or_null

EXAMPLES = (
    "riff-tui case --where 'run=nightly-2026-06-22 conversation=c-000029' -o cases/stuck.toml",
    "riff-tui case --where 'conversation=c-000029' --until 8 --name early -o cases/early.toml",
    "riff-tui case --where 'conversation=c-000029' --flows my_flow.toml",
)

RedactOption = Annotated[bool, flag("--redact/--no-redact", "Replace what points at the caller with made-up values.")]


JSON = printed({"flow": TEXT, "file": or_null(TEXT), "case": or_null(TEXT)})
"""`case` is the text of the file, unless it is written into one."""


def case(
    where: CallOption = "",
    output: OutputOption = None,
    until: Annotated[int | None, option("--until", "TURN", "Keep what was said up to this turn.", min=1)] = None,
    name: Annotated[str | None, option("--name", "N", "What the scenario is called; else as the call.")] = None,
    flows: Annotated[str | None, option("--flows", "FILE", "The file of its flow, if that is not built in.")] = None,
    redact: RedactOption = True,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Make a scenario of a stored call, to be run again.

    The file has what the caller knew and said, and where the agent was; `riff-tui run --scenarios FILE` plays it.
    """
    from riff_runner.run.cases.case_file import case_text
    from riff_store.database import open_store
    from riff_tui.cases import case_where
    from riff_tui.errors import UsageError
    from riff_tui.output.files import names_file, write_output
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    if name is not None and not name.strip():
        raise UsageError("--name needs a name; leave it out to call the scenario as the call")
    with open_store(store_location(settings_for(store))) as opened, opened.snapshot():
        made = case_where(opened, where, until=until, name=name, redact=redact, flow_file=flows)
    text = case_text(made)
    written = names_file(output)
    if written or not json:
        write_output(output, lambda file: file.write(text))
    if json:
        print_json({"flow": made.flow, "file": str(output) if written else None, "case": None if written else text})
    if names_file(output):
        say(f"Next: {_next(str(output), made.flow, flows)}")


def _next(path: str, flow: str, flow_file: str | None) -> str:
    import shlex

    from riff_runner.simulate.flow_file import flow_names

    named = shlex.quote(flow_file) if flow_file else "" if flow in flow_names() else "FLOW_FILE"
    flows = f" --flows {named}" if named else ""
    return f"riff-tui run --scenarios {shlex.quote(path)}{flows} --agent AGENT --out DIR"
