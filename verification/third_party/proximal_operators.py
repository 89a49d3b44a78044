"""Projections of NumPy packages: POT, proxmin and PyProximal."""

from typing import Any

import numpy as np


def pot_proj_simplex(a: Any, r: float = 1.0) -> Any:
    """One vector."""
    from ot.utils import proj_simplex

    with np.errstate(divide="ignore", invalid="ignore"):  # the answer says it
        return proj_simplex(a, r)


def pot_smooth_simplex(a: Any, r: Any = 1.0) -> Any:
    """One vector, or rows with a radius each."""
    from ot.smooth import projection_simplex

    with np.errstate(divide="ignore", invalid="ignore"):  # the answer says it
        return projection_simplex(a, r, axis=None if np.ndim(a) == 1 else 1)


def proxmin_unity_plus(a: Any) -> Any:
    """One vector, which is overwritten; the sum is 1, the step has no meaning."""
    from proxmin.operators import prox_unity_plus

    with np.errstate(divide="ignore", invalid="ignore"):  # the answer says it
        return prox_unity_plus(a.copy(), 1.0)


def pyproximal_box(a: Any, r: float = 1.0) -> Any:
    """One vector; the step has no meaning for an indicator."""
    from pyproximal import Box

    return Box(0.0, r).prox(a, 1.0)


def pyproximal_hyperplane_box(a: Any, b: Any, low: Any, high: Any, capacity: float) -> Any:
    """One vector, with the default tolerance of 1e-5 and 100 iterations."""
    from pyproximal.projection import HyperPlaneBoxProj

    return HyperPlaneBoxProj(b, capacity, low, high)(a)


def pyproximal_l1_ball(a: Any, r: float = 1.0) -> Any:
    """One vector, with the default tolerance of 1e-5 and 100 iterations."""
    from pyproximal import L1Ball

    return L1Ball(len(a), r).prox(a, 1.0)


def pyproximal_simplex(a: Any, r: float = 1.0) -> Any:
    """One vector, with the default tolerance of 1e-8 and 100 iterations."""
    from pyproximal import Simplex

    return Simplex(len(a), r).prox(a, 1.0)
