"""Check flow files: the `flows` command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riff_tui.commands.options import JsonOption, apply_limits, argument, print_json, printed
from riff_tui.shapes import COUNT, TEXT, list_of, or_null, record

if TYPE_CHECKING:
    from riff_runner.run.flows.check import CheckedFile

EXAMPLES = ("riff-tui flows check flows/*.toml",)
FilesArgument = Annotated[list[Path], argument("FILE...", "Flow files, in any form that is read.")]
_COUNTED = {"errors": COUNT, "notes": COUNT}
_NAMES = dict.fromkeys(("name", "near"), or_null(TEXT))
_FINDING = record({**dict.fromkeys(("level", "kind", "message"), TEXT), **_NAMES, "line": or_null(COUNT)})
_FILE = record({"file": TEXT, "flow": or_null(TEXT), "form": or_null(TEXT), **_COUNTED, "findings": list_of(_FINDING)})
JSON = {"check": printed({**_COUNTED, "files": list_of(_FILE)})}


def flows() -> None:
    """Look at flow files before any call is made."""


def check(files: FilesArgument, json: JsonOption = False) -> None:
    """Report what is wrong with flow files, with the line and the name that was meant.

    Errors are keys that nobody reads, edges to no state, states without a way out, terminals that no edge reaches,
    slots that nothing fills and tools that are nowhere declared; exit 2. What is odd and can be run all the same is a
    note.
    """
    from riff_runner.run.flows.check import check_flow_file
    from riff_tui.errors import UsageError, writing
    from riff_tui.output.streams import standard_output
    from riff_tui.text.numbers import counted
    from riff_tui.text.safe_text import one_line

    apply_limits()
    if missing := next((path for path in files if not path.is_file()), None):
        if missing.is_dir():
            raise UsageError(f"{missing}: is a directory", f"name its flow files, such as {missing}/*.toml")
        raise UsageError(f"{missing}: there is no such file", "name flow files")
    checked = [check_flow_file(path) for path in files]
    if json:
        print_json(_members(checked))
    else:
        with writing("stdout"):
            standard_output().stream.writelines(f"{one_line(line)}\n" for file in checked for line in _told(file))
    if errors := sum(file.count("error") for file in checked):
        wrong = sum(bool(file.count("error")) for file in checked)
        raise UsageError(f"{counted(errors, 'error')} in {counted(wrong, 'flow file')}", "fix what is listed above")


def _told(file: CheckedFile) -> list[str]:
    if not file.findings:
        return [f"{file.path}: ok, the flow {file.flow}"]
    return [
        f"{file.path}{'' if finding.line is None else f':{finding.line}'}: {finding.level}: {finding.message}"
        for finding in file.findings
    ]


def _members(checked: list[CheckedFile]) -> dict[str, Any]:
    from dataclasses import asdict

    files = [
        {
            "file": file.path,
            "flow": file.flow,
            "form": file.form,
            "errors": file.count("error"),
            "notes": file.count("note"),
            "findings": [asdict(finding) for finding in file.findings],
        }
        for file in checked
    ]
    return {
        "errors": sum(file.count("error") for file in checked),
        "notes": sum(file.count("note") for file in checked),
        "files": files,
    }


PARTS: Mapping[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "check": (check, ("riff-tui flows check flows/*.toml", "riff-tui flows check --json flow.toml agent.json")),
}
