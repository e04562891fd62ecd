"""Read from an option who answers calls, who makes them, and who gives the results of tools, and make these parts."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from riff_runner.run.flows.flow import near_or_all
from riff_store.errors import UsageError

if TYPE_CHECKING:
    from riff_runner.chat.endpoint import Endpoint
    from riff_runner.processes.process import Program
    from riff_runner.protocol import Agent, Caller, Side
    from riff_runner.run.tools import Tools


TargetKind: TypeAlias = Literal["openai", "command", "python", "scripted", "frozen", "stubbed"]

_FORMS: Mapping[str, str] = {
    "openai": "openai:MODEL@URL, such as openai:gpt-5-mini@https://host/v1",
    "command": "command:CMD, such as 'command:./my_agent.sh --fast'",
    "python": "python:MODULE:NAME, such as python:my_agent:reply",
    "scripted": "scripted",
    "frozen": "frozen",
    "stubbed": "stubbed",
}
_KINDS: Mapping[str, tuple[TargetKind, ...]] = {
    "agent": ("openai", "command", "python"),
    "caller": ("scripted", "frozen", "openai", "command"),
    "tools": ("stubbed", "command"),
}
_AT_ADDRESS = re.compile(r"(?P<model>.*)@(?P<url>https?://.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """Describe who plays a part in calls; `command` is an argv, `module` and `attribute` name an object of Python."""

    kind: TargetKind
    model: str | None = None
    url: str | None = None
    command: tuple[str, ...] = ()
    module: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class PartOptions:
    """Describe what else is known of a part: its name, the variable that its key is in, and what a program may see.

    `env` names variables of `environ` that a program gets besides those that every program gets. A turn of the part
    may take `turn_timeout_s`; `stream` is whether a model is asked to answer word by word,
    `advance` whether it has one tool for all ways out of a state.
    """

    name: str | None = None
    key_env: str | None = None
    env: tuple[str, ...] = ()
    turn_timeout_s: float = 60.0
    stream: bool = True
    advance: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)


def make_agent(target: Target, options: PartOptions) -> Agent:
    """Return the agent that a target names; raises `UsageError`."""
    if target.kind == "command":
        from riff_runner.run.agents.command import CommandAgent

        return CommandAgent(_program(target, options, "agent"), options.name)
    if target.kind == "openai":
        from riff_runner.run.agents.model import ModelAgent

        endpoint = _endpoint(target, options, "agent")
        return ModelAgent(
            endpoint,
            name=options.name,
            timeout=options.turn_timeout_s,
            stream=options.stream,
            advance=options.advance,
        )
    from riff_runner.run.agents.python import as_agent

    assert target.module is not None
    assert target.attribute is not None
    return as_agent(import_object(target.module, target.attribute), options.name)


def make_caller(target: Target, options: PartOptions) -> Caller:
    """Return the caller that a target names; raises `UsageError`."""
    if target.kind == "command":
        from riff_runner.run.callers.command import CommandCaller

        return CommandCaller(_program(target, options, "caller"), options.turn_timeout_s)
    if target.kind == "openai":
        from riff_runner.run.callers.model import ModelCaller

        return ModelCaller.at(_endpoint(target, options, "caller"), timeout=options.turn_timeout_s)
    if target.kind == "frozen":
        from riff_runner.run.callers.frozen import FrozenCaller

        return FrozenCaller()
    from riff_runner.run.callers.scripted import ScriptedCaller

    return ScriptedCaller()


def make_tools(target: Target, options: PartOptions) -> Tools:
    """Return what answers tools as a target says; raises `UsageError`."""
    if target.kind == "command":
        from riff_runner.run.agents.command import CommandTools

        return CommandTools(_program(target, options, "tools"), options.turn_timeout_s)
    from riff_runner.run.tools import StubbedTools

    return StubbedTools()


def _endpoint(target: Target, options: PartOptions, part: str) -> Endpoint:
    from riff_runner.chat.endpoint import Endpoint

    assert target.url is not None
    assert target.model is not None
    key = options.environ.get(options.key_env, "").strip() if options.key_env else None
    if options.key_env and not key:
        raise UsageError(
            f"--{part}-key-env: there is no key in ${options.key_env}", "set the variable to the key of the endpoint"
        )
    return Endpoint(target.url, target.model, key, options.key_env)


def _program(target: Target, options: PartOptions, part: str) -> Program:
    from riff_runner.processes.child_process import environment_of
    from riff_runner.processes.process import Program

    return Program(target.command, environment_of(options.env, options.environ, option=f"--{part}-env"))


def parse_target(text: str, part: Side) -> Target:
    """Return what the option of a part names, such as `--agent`; raises `UsageError`."""
    word, colon, rest = text.strip().partition(":")
    kind = next((known for known in _KINDS[part] if known == word), None)
    if kind is None or bool(colon) != (":" in _FORMS[kind]):
        forms = "; ".join(_FORMS[known] for known in _KINDS[part])
        # of what has a colon only the first word is shown, for the rest may contain a key
        raise UsageError(f"--{part}: {word!r} is an unknown form of target", f"give one of {forms}")
    if kind == "openai":
        return _at_endpoint(rest, part)
    if kind == "command":
        return _by_command(rest, part)
    if kind == "python":
        module, _, attribute = (word.strip() for word in rest.rpartition(":"))
        if not module or not attribute.replace(".", "_").isidentifier():
            what = "it takes a module, or a file that ends in .py, and the name of an object in it"
            raise _wrong(part, "python", what)
        return Target("python", module=module, attribute=attribute)
    return Target(kind)


def _at_endpoint(rest: str, part: str) -> Target:
    found = _AT_ADDRESS.fullmatch(rest)
    model = found["model"].strip() if found else ""
    if found is None or not model:
        raise _wrong(part, "openai", "it takes a model and the address of an endpoint, with @ between them")
    url = found["url"].strip()
    try:
        address = urlsplit(url)
        known = bool(address.hostname) and address.port != 0 and not re.search(r"\s", url)
    except ValueError:
        known = False
    if not known:
        raise _wrong(part, "openai", "what follows @ is not the address of an endpoint")
    if address.username is not None or address.password is not None or address.query or address.fragment:
        raise UsageError(
            f"--{part}: an address may not contain a name, password, query or fragment",
            f"a key comes from a variable of the environment, which --{part}-key-env names",
        )
    return Target("openai", model=model, url=url.rstrip("/"))


def _by_command(rest: str, part: str) -> Target:
    try:
        argv = tuple(shlex.split(rest))
    except ValueError as error:
        raise _wrong(part, "command", f"the command cannot be taken apart ({str(error).lower()})") from None
    if not argv or not argv[0] or any("\0" in word for word in argv):
        raise _wrong(part, "command", "there is no command")
    return Target("command", command=argv)


def _wrong(part: str, kind: str, what: str) -> UsageError:
    return UsageError(f"--{part} {kind}: {what}", f"write {_FORMS[kind]}")


def import_object(module: str, attribute: str) -> Any:
    """Return what a module of the search path or of the working directory, or a file, calls by this name.

    Raises `UsageError` if there is none, or where the module cannot be imported.
    """
    found: Any = _from_file(Path(module)) if module.endswith(".py") else _from_path(module)
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            known = [known for known in vars(found) if not known.startswith("_")]
            raise UsageError(f"{module} has no {attribute!r}", near_or_all(attribute, known)) from None
    return found


def _from_path(module: str) -> ModuleType:
    _search(str(Path.cwd()))
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.split(".")[: len(error.name.split("."))] == error.name.split("."):
            hint = "it is looked for in the working directory and where Python looks; a file is named by its path"
            raise UsageError(f"there is no module {error.name!r}", hint) from None
        raise _failed(module, error) from error
    except (Exception, SystemExit) as error:
        raise _failed(module, error) from error


def _from_file(path: Path) -> ModuleType:
    """Import a file as Python runs one: what is beside it can be imported by it."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}", "give the path of a Python file, or the name of a module")
    _search(str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(f"agent_in_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _failed(str(path), error) from error
    return module


def _search(directory: str) -> None:
    if directory not in sys.path:
        sys.path.insert(0, directory)


def _failed(module: str, error: BaseException) -> UsageError:
    return UsageError(f"{module} cannot be imported: {type(error).__name__}: {error}")
