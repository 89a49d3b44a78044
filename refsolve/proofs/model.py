"""What is proved about a trained model: P - D as nonnegative terms, and what rounding may hide in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np

from refsolve.proofs.certificate import Array, Certificate, Real
from refsolve.proofs.space import EPS, EPS_OF_REAL

#: Below this the product with EPS is 0.
TINY = float(np.finfo(float).tiny)


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
        if np.isnan(gap):
            gap = np.inf
        if np.isfinite(gap):
            low = float(
                self.primal - self.gap - self.error
            )  # from P as computed, not as rounded up
            return Bounds(high, low - 2 * EPS * abs(low) - TINY, gap)
        low = float(self.dual - self.error)
        low -= EPS * abs(low)
        return Bounds(high, low if np.isfinite(low) and not np.isfinite(high) else -np.inf, gap)

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


@dataclass(frozen=True)
class ModelCertificate(Certificate):
    """Certificate of a trained model: what is certain about it, whoever trained it.

    Attributes
    ----------
    gap : float
        Upper bound on P - min P at the repaired model, summed from nonnegative terms; includes
        ``error``. inf if no repair is known.
    violation : float
        Largest violation of the constraints by the points as given.
    distance : float
        Bound on the distance of the weights as given from the optimal ones, sqrt(2 gap) by the
        strong convexity of P (and what a repair moved them).
    value, dual_value : float
        P and D as computed.
    scale : float
        max(|P|, |D|).
    primal : float
        Upper bound on P.
    dual : float
        Lower bound on the optimum, ``primal - gap`` less the rounding in it.
    error : float
        Part of ``gap`` that only covers rounding in this computation.
    doubt : float
        How far the same sums in float64 may be from ``primal`` and ``dual``.
    moved : float
        Largest distance by which the model or the multipliers were moved to be feasible.
    residuals : ndarray
        What each example (or each cut) adds to the gap.
    drift : float
        What the model misses of the one that the multipliers stand for.
    terms : mapping
        The nonnegative terms whose sum is ``gap``.
    """

    primal: float
    dual: float
    dual_value: float
    error: float
    doubt: float
    moved: float
    residuals: Array = field(repr=False, compare=False)
    drift: float
    terms: Mapping[str, float] = field(hash=False, compare=False)

    @property
    def named(self) -> dict[str, Any]:
        """The points that are certified, by their symbols."""
        inherited = {f.name for f in fields(ModelCertificate)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in inherited}

    @classmethod
    def of(
        cls,
        proof: Proof,
        violation: float = 0.0,
        residuals: Array | None = None,
        shift: float = 0.0,
        doubt: float | None = None,
        **more: Any,
    ) -> Self:
        """What a proof certifies, rounded outwards.

        ``residuals`` and ``doubt`` if they are not its own, ``shift`` by how far the weights were
        moved, ``more`` of a subclass.
        """
        primal, dual, gap = proof.bounds()
        error = float(proof.error)
        return cls(
            gap=gap,
            violation=violation,
            distance=float(np.sqrt(2 * gap)) + shift,
            value=float(proof.primal),
            scale=max(abs(primal), abs(dual)),
            primal=primal,
            dual=dual,
            dual_value=float(proof.dual),
            error=error,
            doubt=error * (EPS / EPS_OF_REAL) if doubt is None else doubt,
            moved=proof.moved,
            residuals=(proof.residuals if residuals is None else residuals).astype(float),
            drift=float(proof.drift),
            terms={name: float(term) for name, term in proof.terms.items()} | {"rounding": error},
            **more,
        )
