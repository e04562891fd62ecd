"""Test, bound and correct, as pure functions of numbers.

numpy takes a tenth of a second to load, so it is imported inside the functions that need it and nothing that
merely prints or opens a screen waits for it. No answer depends on the order of the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]
    Keys: TypeAlias = NDArray[np.int64]
    Codes: TypeAlias = NDArray[np.signedinteger[Any]]
    Sample: TypeAlias = Sequence[float] | NDArray[np.float64]
    Number = TypeVar("Number", bound=np.number[Any])


def different(values: NDArray[Number]) -> NDArray[Number]:
    """Return the values that there are, in order.

    Where numpy counts them it sorts, which takes a fiftieth of what hashing a million takes, and loads nothing more.
    """
    import numpy as np

    found: NDArray[Number] = np.unique(values, return_counts=True)[0]
    return found
