"""Load the flows that a run is to be made of: built-in ones by name, others from their files (docs/runner.md)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from riff_ingest.lenient_json import load_document
from riff_ingest.lines import BrokenInput, digest
from riff_ingest.sources.flow_files.flow import flow_of
from riff_runner import simulate
from riff_runner.run.flows.flow import FlowProblem, RunnableFlow
from riff_runner.run.flows.native_flow import native_flow
from riff_runner.run.flows.pipecat_flow import pipecat_flow
from riff_runner.simulate.flow_file import flow_names
from riff_store.errors import UsageError

BUILT_IN = "built-in"
_ENDINGS = (".toml", ".json", ".yaml", ".yml", ".gz")


def load_flows(values: Sequence[str]) -> list[RunnableFlow]:
    """Return the flows of these names and paths, each once; raise `UsageError` as `load_flow` does."""
    found: dict[str, RunnableFlow] = {}
    for value in values:
        flow = load_flow(value)
        other = found.setdefault(flow.name, flow)
        if other.digest != flow.digest:
            raise UsageError(
                f"two flows are called {flow.name!r}: {other.source} and {flow.source}; give one of them another name"
                " (the key flow in its file)"
            )
    return list(found.values())


def load_flow(name_or_path: str) -> RunnableFlow:
    """Return the built-in flow of a name, or the flow in a file, ready to be run.

    Raises `UsageError` where there is none, and where its file cannot be run: with the file, the place and what to do.
    """
    if name_or_path in flow_names():
        with resources.as_file(resources.files(simulate).joinpath("flows", f"{name_or_path}.toml")) as path:
            return _read(path, BUILT_IN)
    path = Path(name_or_path)
    if path.is_file():
        return _read(path, name_or_path)
    raise UsageError(_unknown(name_or_path, path))


def _read(path: Path, source: str) -> RunnableFlow:
    try:
        document = load_document(path)
        file = flow_of(document, path)
        flow = native_flow(document, file) if file.config is None else pipecat_flow(file, file.config)
        sha256, _ = digest(path)
    except (BrokenInput, FlowProblem) as problem:
        raise UsageError(f"{path}: {problem}") from problem
    return replace(flow, source=source, digest=sha256)


def _unknown(value: str, path: Path) -> str:
    if path.is_dir():
        return f"{value} is a directory; name the flow files in it"
    if "/" in value or value.endswith(_ENDINGS):
        return f"there is no flow file {value}; give the path of one, or the name of a built-in flow"
    near = difflib.get_close_matches(value, flow_names(), n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"no built-in flow {value!r}; {meant}there are {', '.join(flow_names())}; or give the path of a flow file"
