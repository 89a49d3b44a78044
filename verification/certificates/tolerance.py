"""Rounding-error bounds: what a sound float implementation cannot be blamed for.

No literals: every tolerance is eps of the input's precision, times a size factor for the length of
the sums involved, times the sizes of the numbers that enter them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.proofs.rationals import exact
from verification.instances.instance import Instance
from verification.problems.problem import lookup
from verification.verdicts import accuracy_contract

LARGEST = float(np.finfo(float).max)
_FLUSHED: ContextVar[bool] = ContextVar("flushed", default=False)


@contextmanager
def flushed() -> Iterator[None]:
    """Judge as if numbers below the smallest normal one were zero."""
    token = _FLUSHED.set(True)
    try:
        yield
    finally:
        _FLUSHED.reset(token)


def _floats(instance: Instance) -> "np.finfo[Any]":
    """The floats of the main array; integers count as float64."""
    dtype = instance[lookup(instance.problem).data].dtype
    return np.finfo(dtype if dtype.kind == "f" else float)


def precision(instance: Instance) -> float:
    """Unit roundoff eps of the main array's dtype."""
    return float(_floats(instance).eps)


def smallest(instance: Instance) -> float:
    """Smallest normal number of the main array's dtype."""
    return float(_floats(instance).tiny)


def quantum(instance: Instance) -> float:
    """Least positive number of the main array's dtype: below `smallest` all numbers are multiples of it."""
    own = _floats(instance)
    return float(own.tiny if _FLUSHED.get() else own.smallest_subnormal)


def underflow(instance: Instance, d: int, *units: Fraction | float) -> Fraction:
    """What products and quotients below `smallest` lose, beside what eps of them is.

    fl(a op b) = (a op b)(1 + delta) + e with |e| <= quantum/2, and e = 0 for sums and differences. As
    many operations as `size_factor` counts, each in numbers of one of these units.
    """
    return exact(size_factor(d)) * exact(quantum(instance)) * sum(map(exact, units))


def size_factor(d: int) -> float:
    """Growth of the error of sums over d entries (recursive summation: d eps; with a margin)."""
    return 4.0 * (d + 4)


def slack(instance: Instance, d: int) -> float:
    """How many times the rounding bound of a sum of d terms is allowed: more than 1 for a promise beyond.

    A promised accuracy takes the place of ``size_factor(d) * eps``; floats of the input's precision
    excuse what they always do.
    """
    promised = accuracy_contract.current()
    own = size_factor(d) * precision(instance)
    return 1.0 if promised is None else max(1.0, promised / own)


def relative(instance: Instance, d: int) -> float:
    """Rounding of a sum of d terms relative to them, or the accuracy promised."""
    return slack(instance, d) * size_factor(d) * precision(instance)


def coarse(instance: Instance, d: int, allowed: float, params: Mapping[str, Any]) -> bool:
    """Whether the distance that rounding of the scores excuses is no small part of the set.

    A cone has points of any size, and textbook arithmetic makes the small ones from large scores.
    """
    r = float(params.get("r", np.inf))
    return slack(instance, d) == 1 and allowed > precision(instance) ** 0.5 * r


def named(instance: Instance, d: int) -> str:
    """The bound in the words of a message."""
    promised = accuracy_contract.current()
    if promised is None or slack(instance, d) == 1.0:
        return "the rounding-error bound"
    return f"the bound at the declared tolerance {promised:g},"


def distance(eps: float, d: int, spread: float, mass: float) -> float:
    """Bound on ||x - x*|| of a projection computed in floats.

    Projections are non-expansive: a threshold that is wrong by eps times the largest entry
    ``spread`` moves x by sqrt(d) times that; scaling to the sum ``mass`` adds eps times it.
    """
    return size_factor(d) * eps * (d**0.5 * spread + mass)


def fw_gap(
    moved: float, d: int, gradient: float, rho: float, point: float, radius: float
) -> Fraction:
    """Bound on the gap max_y <g, x-y> that a move of x by ``moved`` causes.

    To first order: the move times ||g||, and the change (1 + rho d) moved of g times ||x - y||. Exact:
    such products may be no floats.
    """
    step, slope, at, reach, bias = (
        exact(min(v, LARGEST)) for v in (moved, gradient, point, radius, rho)
    )
    return step * (slope + (1 + bias * d) * (at + reach + step))


def scores(instance: Instance, d: int, spread: float, reach: float) -> Fraction:
    """Bound on the gap <g, x-y> at a feasible x that is right for scores which are off by eps of their size.

    It is at most |<e, x-y>| for an error e of the scores and thresholds, whose size is ``spread``; ``reach`` bounds
    the sums of x and y.
    """
    size, sums = exact(min(spread, LARGEST)), exact(min(reach, LARGEST))
    return exact(relative(instance, d)) * size * sums


def value(eps: float, d: int, weight: float, *terms: Any) -> float:
    """Bound on the error of a weighted loss value whose terms have these sizes."""
    return size_factor(d) * eps * weight * float(sum(terms))
