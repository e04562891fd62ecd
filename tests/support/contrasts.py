"""Textbook coding of factors, for what checks the linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats


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


def clustered(frame: Any, names: Sequence[str]) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """Effects by dense least squares, and half the width of their intervals, robust to clusters by call (CR1)."""
    columns, effects = contrasts(frame, names)
    y, (n, width), groups = frame["y"].to_numpy(), columns.shape, frame["call"].nunique()
    bread = np.linalg.inv(columns.T @ columns)
    solution = bread @ columns.T @ y
    left, meat = y - columns @ solution, np.zeros((width, width))
    for call in frame["call"].unique():
        rows = (frame["call"] == call).to_numpy()
        score = columns[rows].T @ left[rows]
        meat += np.outer(score, score)
    covariance = groups / (groups - 1) * (n - 1) / (n - width) * bread @ meat @ bread
    t = float(stats.t.ppf(0.975, groups - 1))
    return (
        {level: float(vector @ solution) for level, vector in effects.items()},
        {level: t * float(np.sqrt(vector @ covariance @ vector)) for level, vector in effects.items()},
    )
