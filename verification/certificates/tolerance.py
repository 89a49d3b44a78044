"""Rounding-error bounds: what a sound float implementation cannot be blamed for.

No literals: every tolerance is eps of the input's precision, times a size factor for the length of
the sums involved, times the sizes of the numbers that enter them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.instances import Instance
from verification.problems import lookup


def precision(instance: Instance) -> float:
    """Unit roundoff eps of the main array's dtype; integers count as float64."""
    dtype = instance[lookup(instance.problem).data].dtype
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else float(np.finfo(float).eps)


def smallest(instance: Instance) -> float:
    """Smallest normal number of the main array's dtype."""
    dtype = instance[lookup(instance.problem).data].dtype
    return float(np.finfo(dtype if dtype.kind == "f" else float).tiny)


def size_factor(d: int) -> float:
    """Growth of the error of sums over d entries (recursive summation: d eps; with a margin)."""
    return 4.0 * (d + 4)


def distance(eps: float, d: int, spread: float, mass: float) -> float:
    """Bound on ||x - x*|| of a projection computed in floats.

    Projections are non-expansive: a threshold that is wrong by eps times the largest entry
    ``spread`` moves x by sqrt(d) times that; scaling to the sum ``mass`` adds eps times it.
    """
    return size_factor(d) * eps * (d**0.5 * spread + mass)


def fw_gap(moved: float, d: int, gradient: float, rho: float, point: float, radius: float) -> float:
    """Bound on the gap max_y <g, x-y> that a move of x by ``moved`` causes.

    To first order: the move times ||g||, and the change (1 + rho d) moved of g times ||x - y||.
    """
    return moved * (gradient + (1 + rho * d) * (point + radius + moved))


def value(eps: float, d: int, weight: float, *terms: Any) -> float:
    """Bound on the error of a weighted loss value whose terms have these sizes."""
    return size_factor(d) * eps * weight * float(sum(terms))
