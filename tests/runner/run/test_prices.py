"""Test what a run costs: a sum where everything is known, and nothing instead of zero where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surface.runner import Cost, SpentTokens, model_prices, total_cost
from tests.surface.store import UsageError

PRICES = model_prices(
    {
        "small": {"input": 0.25, "output": 2},
        "large": {"input": 3, "output": 15},
        "yen": {"input": 1, "output": 1, "currency": "JPY"},
    }
)


def test_all_sides_are_added_up() -> None:
    spent = [SpentTokens("small", 2_000_000, 500_000), SpentTokens("large", 100_000, 10_000)]
    assert total_cost(spent, PRICES) == Cost(1.95, "USD")


@pytest.mark.parametrize(
    "unknown",
    [
        SpentTokens("other", 10, 10),
        SpentTokens("small", None, 10),
        SpentTokens("small", 10, None),
        SpentTokens("yen", 1, 1),
    ],
)
def test_what_is_not_known_is_no_zero(unknown: SpentTokens) -> None:
    assert total_cost([SpentTokens("large", 100, 10), unknown], PRICES) is None


def test_half_a_price_is_no_price() -> None:
    assert total_cost([SpentTokens("small", 10, 10)], model_prices({"small": {"input": 1}})) is None


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (3, r'\[prices\."m"\] takes input and output'),
        ({"inptu": 3}, r"has no key 'inptu'; did you mean input\?"),
        ({"input": "3"}, "input must be a number, 0 or more"),
        ({"output": -1}, "output must be a number, 0 or more"),
        ({"input": float("nan")}, "input must be a number"),
        ({"currency": 3}, "currency must be text, such as USD"),
    ],
)
def test_prices_that_make_no_sense_are_refused_by_name(table: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        model_prices({"m": table})
