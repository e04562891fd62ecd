"""Read YAML documents of strangers: an agent's file, a flow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_ingest.lines import BrokenInput, limits, read_whole

if TYPE_CHECKING:
    import yaml

ENDINGS = (".yaml", ".yml", ".yaml.gz", ".yml.gz")


def load_yaml(path: Path) -> dict[str, Any]:
    """Return the document that a file is, plain values only; raise `BrokenInput`.

    Nothing in it is executed, and one that is too large, also by repeating parts of itself, is refused.
    """
    import yaml

    text = read_whole(path, "yaml_mib").decode(errors="replace")
    try:
        value = _plain(_construct(text))
    except yaml.YAMLError as error:
        reason = "has !include, which is not followed" if _includes(error) else "is not YAML"
        raise BrokenInput(f"file {reason}{_place(error)}") from error
    except RecursionError as error:
        raise BrokenInput("file is nested too deeply") from error
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        # The library converts what looks like a number or a date before anybody asks, and trips over odd ones.
        raise BrokenInput("file has a value that cannot be read") from error
    if not isinstance(value, dict):
        raise BrokenInput("file is not a YAML mapping")
    return value


def _construct(text: str) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Read plain values and count them as if each alias were written out."""

        def __init__(self, stream: str) -> None:
            super().__init__(stream)
            self._sizes: dict[int, int] = {}
            self._most = limits().yaml_values

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            is_alias = self.check_event(yaml.AliasEvent)
            node = super().compose_node(parent, index)
            if node is None or id(node) in self._sizes:
                return node
            if is_alias:  # of something that is not complete yet
                raise BrokenInput("file refers to itself")
            self._sizes[id(node)] = self._size(node)
            return node

        def _size(self, node: yaml.Node) -> int:
            size = 1 + sum(self._sizes[id(child)] for child in _children(node))
            if size > self._most or len(self._sizes) > self._most:
                raise BrokenInput(
                    f"file has more than {limits().told('yaml_values')}, once its aliases are written out"
                )
            return size

    return yaml.load(text, Loader)  # a safe loader


def _children(node: yaml.Node) -> list[yaml.Node]:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _key(key: Any) -> str:
    """Return a key as JSON would have it."""
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return key if isinstance(key, str) else str(key)


def _includes(error: Exception) -> bool:
    """Return whether a document is in several files, as those of some programs do."""
    return "'!include'" in str(getattr(error, "problem", ""))


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f": line {mark.line + 1}" if mark is not None else ""
