"""Find an object of Python by the module, or the file, and the name that a user gave."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from riff_ingest.runner.flows.flow_problem import near_or_all
from riff_store.errors import UsageError


def import_object(module: str, attribute: str) -> Any:
    """Return what a module of the search path or of the working directory, or a file, calls by this name.

    Raises `UsageError` where there is none, or where the module cannot be imported.
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
    """Import a file as Python runs one: what lies beside it can be imported by it."""
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
