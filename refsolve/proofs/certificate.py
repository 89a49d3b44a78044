"""What a certificate is, and the roundings that its bounds allow for."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsolve._types import Array, Float, Floats, Real
from refsolve.checking import check_vector


@dataclass(frozen=True)
class Certificate:
    """Bounds on how wrong a candidate is.

    Attributes
    ----------
    gap : float
        Bound on objective(repaired candidate) - optimum, in units of the objective; >= 0.
    violation : float
        Largest violated constraint of the candidate as given.
    distance : float
        Bound on the Euclidean distance of the candidate as given from the solution, or nan where
        the objective is not strongly convex.
    value : float
        Objective at the repaired candidate.
    scale : float
        Natural size of the objective, to judge ``gap`` by.
    complement : float
        Bound on the relative error of the candidate's 1 - s, if it was given, else nan.
    """

    gap: float
    violation: float
    distance: float
    value: float
    scale: float
    complement: float = field(default=np.nan, kw_only=True)

    @property
    def relative_gap(self) -> float:
        """``gap / scale``; 0 if both are 0, inf where nothing is known."""
        if self.scale > 0 and np.isfinite(self.gap):
            return self.gap / self.scale
        return 0.0 if self.gap == 0 else np.inf


def up(bound: Floats) -> float:
    """A bound rounded to float64 without getting smaller."""
    value = float(bound)
    return value * (1 + 2.0**-50) if np.isfinite(value) else value


def norm(v: Array) -> Any:
    """Euclidean norm without underflow of the squares."""
    top = abs(v).max(initial=0)
    return top * np.sqrt(((v / top) ** 2).sum()) if top > 0 else Real(0)


def roundoff(d: int, *norms: Any) -> Any:
    """How far the data would have to move to excuse the rounding of the formulas.

    A gap computed in longdouble is exact for data perturbed by this much, and the solutions here
    depend on their data without expansion: it is added to every distance.
    """
    return (8 + np.log2(d)) * np.finfo(Real).eps * sum(norms)


def candidate(name: str, value: object, size: int) -> Array:
    """A candidate as longdouble; longdouble candidates keep their digits."""
    check_vector(name, value, size=size, largest=np.inf)
    return np.asarray(value, Real)


def number_error(value: Float, low: Floats, high: Floats) -> float:
    """Bound on |value - v| for a v in [low, high]; inf for a value that is no number."""
    given = Real(value)
    return max(0.0, float(given - low), float(high - given)) if np.isfinite(given) else np.inf
