"""Numbers of an instance as named leaves of a CVXPY problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve._lazy import cp


def parameter(name: str, value: Any, low: float | None = None) -> Any:
    """A parameter with its value, declared >= 0 where ``low``, the least value that it may take, is."""
    sign = low is not None and low >= 0
    return cp.Parameter(np.shape(value), name=name, nonneg=sign, value=value)


def constant(name: str, value: Any) -> Any:
    """An array of the data by its name; a sparse one stays sparse."""
    value = value if hasattr(value, "tocsr") else np.asarray(value, dtype=float)
    return cp.Constant(value, name=name)
