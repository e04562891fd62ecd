"""Compute what the tokens of a run cost, where prices are known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from riff_runner.judge.protocol import Usage
from riff_runner.judge.settings import Prices
from riff_store.errors import UsageError, meant

_KEYS = ("input", "output", "currency")


class Cost(NamedTuple):
    """Describe an amount of money."""

    amount: float
    currency: str


class SpentTokens(NamedTuple):
    """Describe what a model took; `None` if its endpoint did not report it."""

    model: str
    input: int | None
    output: int | None


def model_prices(tables: Mapping[str, Any]) -> dict[str, Prices]:
    """Return prices by model from the tables `[prices."MODEL"]` of the settings file; raises `UsageError`."""
    return {model: _prices(model, table) for model, table in tables.items()}


def total_cost(spent: Iterable[SpentTokens], prices: Mapping[str, Prices]) -> Cost | None:
    """Return what all that was spent costs; `None` if a price or a count is not known, or currencies differ."""
    amount, currencies = 0.0, set()
    for tokens in spent:
        known = prices.get(tokens.model)
        if known is None or tokens.input is None or tokens.output is None:
            return None
        cost = known.cost(Usage(tokens.input, tokens.output))
        if cost is None:
            return None
        amount += cost
        currencies.add(known.currency)
    return Cost(amount, currencies.pop()) if len(currencies) == 1 else None


def _prices(model: str, table: Any) -> Prices:
    place = f'settings file: [prices."{model}"]'
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} takes input and output, of a million tokens each, and currency")
    if unknown := [key for key in table if key not in _KEYS]:
        raise UsageError(f"{place} has no key {unknown[0]!r}", meant(unknown[0], _KEYS))
    for key in ("input", "output"):
        value = table.get(key)
        if value is not None and (type(value) not in (int, float) or not math.isfinite(value) or value < 0):
            raise UsageError(f"{place}: {key} must be a number, 0 or more")
    currency = table.get("currency", "USD")
    if not isinstance(currency, str) or not currency:
        raise UsageError(f"{place}: currency must be text, such as USD")
    return Prices(table.get("input"), table.get("output"), currency)
