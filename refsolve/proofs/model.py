"""What is proved about a trained model: P - D as nonnegative terms, and what rounding may hide in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.space import EPS


class Bounds(NamedTuple):
    """Numbers rounded outwards to float64: ``primal`` from above, ``dual`` from below, ``gap`` from above."""

    primal: float
    dual: float
    gap: float


@dataclass(frozen=True)
class Proof:
    """The sums of a duality gap at a repaired model and repaired multipliers.

    Attributes
    ----------
    primal, dual : float
        P of the model and D of the multipliers, as computed.
    residuals : ndarray
        What each example (or cut) adds to the gap, >= 0.
    drift : float
        What the model misses of the one that the multipliers stand for, >= 0.
    terms : mapping
        The nonnegative terms by name; their sum is that of the residuals and the drift.
    error : float
        What rounding may hide in any of the sums.
    moved : float
        By how much the model or the multipliers were moved to be feasible.
    """

    primal: Real
    dual: Real
    residuals: Array
    drift: Real
    terms: Mapping[str, float]
    error: Real
    moved: float = 0.0

    @property
    def gap(self) -> Real:
        """Bound on P - D, rounding included."""
        return self.residuals.sum() + self.drift + self.error

    def bounds(self) -> Bounds:
        """P, D and the gap as floats that are no better than they are."""
        high, gap = float(self.primal + self.error), float(self.gap)
        high, gap = high + EPS * abs(high), gap + 2 * EPS * gap
        if not np.isfinite(gap):
            return Bounds(high, -np.inf if np.isfinite(high) else 0.0, gap)
        return Bounds(high, high - gap - float(self.error), gap)

    def times(self, t: float) -> Proof:
        """The same with all objectives times t > 0."""
        return replace(
            self,
            primal=t * self.primal,
            dual=t * self.dual,
            residuals=t * self.residuals,
            drift=t * self.drift,
            terms={name: float(t * term) for name, term in self.terms.items()},
            error=t * self.error,
        )
