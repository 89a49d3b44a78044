"""What the oracle's certificates of trained models have in common, from what `refsolve.proofs` proves."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from refsolve.canonicalize import Answer
from refsolve.proofs.certificate import Array, Certificate, up
from refsolve.proofs.model import Proof


@dataclass(frozen=True)
class ModelCertificate(Certificate):
    """Certificate of a trained model.

    Attributes
    ----------
    gap : float
        P - D at the repaired points, summed from nonnegative terms; inf if no repair is known.
    violation : float
        Largest violation of the constraints by the points as given.
    distance : float
        Bound on the distance of the weights as given from the optimal ones, sqrt(2 gap) by the
        strong convexity of P (and what a repair moved them).
    value, primal, dual : float
        P twice, and D.
    scale : float
        max(|P|, |D|).
    residuals : ndarray
        What each example (or each cut) adds to the gap.
    drift : float
        What the model misses of the one that the multipliers stand for.
    """

    primal: float
    dual: float
    residuals: Array
    drift: float

    @classmethod
    def of(
        cls,
        proof: Proof,
        violation: float,
        residuals: Array | None = None,
        moved: float = 0.0,
        **more: Any,
    ) -> Self:
        """What a proof certifies; ``residuals`` if they are not its own, ``more`` of a subclass."""
        gap, primal, dual = up(proof.gap), float(proof.primal), float(proof.dual)
        return cls(
            gap=gap,
            violation=violation,
            distance=float(np.sqrt(2 * gap)) + moved,
            value=primal,
            scale=max(abs(primal), abs(dual)),
            primal=primal,
            dual=dual,
            residuals=(proof.residuals if residuals is None else residuals).astype(float),
            drift=float(proof.drift),
            **more,
        )

    def answer(self, operation: str, w: Array, multipliers: Array) -> Answer:
        """The answer to a primal, or to a dual, that is certified by this."""
        if operation == "primal":
            return Answer(w, self.primal, multipliers, self)
        return Answer(multipliers, self.dual, w, self)
