"""Textbook coding of factors, for what checks the linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def contrasts(frame: Any, names: Sequence[str]) -> tuple[Any, dict[tuple[str, str], Any]]:
    """Columns of sum-to-zero coding, and for each level the combination of coefficients that is its effect."""
    columns, places = [np.ones(len(frame))], {}
    for name in names:
        levels = sorted(frame[name].unique())
        for level in levels[:-1]:
            places[name, level] = len(columns)
            columns.append((frame[name] == level).to_numpy(float) - (frame[name] == levels[-1]).to_numpy(float))
    effects = {}
    for name in names:
        levels = sorted(frame[name].unique())
        for level in levels:
            vector = np.zeros(len(columns))
            if level == levels[-1]:
                vector[[places[name, other] for other in levels[:-1]]] = -1
            else:
                vector[places[name, level]] = 1
            effects[name, level] = vector
    return np.column_stack(columns), effects
