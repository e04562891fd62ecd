"""Style sheets of Textual that are parsed once for all applications of a process, as each of them parses the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from textual.css import stylesheet


def parse_once(patch: pytest.MonkeyPatch) -> None:
    """Keep what is parsed with the same variables; Textual does so in one application, as nothing changes it later."""
    rules: dict[tuple[Any, ...], list[Any]] = {}
    tokens: dict[frozenset[tuple[str, str]], dict[str, Any]] = {}
    module: Any = stylesheet
    parse, tokenize_values = module.parse, module.tokenize_values

    def parsed(scope: str, css: str, read_from: Any, variable_tokens: dict[str, Any], **options: Any) -> Iterator[Any]:
        # The tokens of the same variables are the same object, and kept.
        key = (scope, css, read_from, id(variable_tokens), *options.items())
        if key not in rules:
            rules[key] = list(parse(scope, css, read_from, variable_tokens=variable_tokens, **options))
        return iter(rules[key])

    def tokenized(values: dict[str, str]) -> dict[str, Any]:
        key = frozenset(values.items())
        if key not in tokens:
            tokens[key] = tokenize_values(values)
        return tokens[key]

    patch.setattr(stylesheet, "parse", parsed)
    patch.setattr(stylesheet, "tokenize_values", tokenized)
