"""Recall at k: 1/2||w||^2 + C max(0, max over sets T of k samples of 1 - |T and pos|/P + 2 (sum_T s - sum_pos s)).

s = Xw, w is (d,); sets (m, n) are 0/1 rows with k ones, weights (m,) >= 0 of them with sum at most C:
w = -2 sum_t weights_t X'(set_t - y). y is 0 or 1, of both kinds, and 1 <= k < n.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refsolve.models import recall_at_k as declared
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.models import ModelTask, Params, Side, Violation, _ap_families, _shrink
from verification.models.ap_svm import MOST


def with_k(draw: _ap_families.Draw) -> _ap_families.Draw:
    """The number of positives as k, or any."""

    def drawn(rng: _ap_families.Rng, largest: int) -> Params:
        given = draw(rng, largest)
        y = given["y"]
        return given | {"k": int(y.sum() if rng.random() < 0.5 else rng.integers(1, len(y)))}

    return drawn


class RecallAtK(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w",), "dual": ("sets", "weights")}
    modulus = 1.0
    no_dual = "w alone does not say what the sets that tie weigh"
    families = {n: _ap_families.forever(with_k(draw)) for n, draw in _ap_families.PLAIN.items()}

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), sets (m, n), weights (m,)."""
        n, d = params["X"].shape
        return {"w": (d,), "sets": (None, n), "weights": (None,)}

    def valid(self, params: Params) -> bool:
        """Whether the data fit together."""
        y = params["y"]
        known = bool(np.isin(y, (0, 1)).all()) and len(np.unique(y)) == 2
        known = known and 1 <= params["k"] < len(y)
        return known and _ap_families.sound(params["X"], len(y), params["C"])

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer rows and columns; then round numbers."""
        yield from _shrink.fewer(params, {"X": (0,), "y": (0,)}, {"X": (1,)})
        yield from _ap_families.rescaled(params)
        yield from _shrink.defaults(params, {"k": 1, "C": 1.0})
        yield from _shrink.rounder(params, "C", "X")

    def defect(self, params: Params, given: Mapping[str, np.ndarray]) -> str:
        """Sets that are none of k samples, or not as many as there are weights."""
        if "sets" not in given:
            return ""
        sets = np.asarray(given["sets"])
        if len(sets) != len(given["weights"]):
            return f"{len(sets)} sets for {len(given['weights'])} weights"
        sound = np.isin(sets, (0, 1)).all() and (sets.sum(axis=1) == params["k"]).all()
        return "" if sound else f"sets that are not rows of 0 and 1 with k = {params['k']} ones"

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of w and weighted sets; of these alone with the w they stand for."""
        given = {**self.given(params), **self.required(dual), **(primal or {})}
        given["sets"] = np.asarray(given["sets"]) > 0
        return declared.certificate(**given)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Of the signs and of the sum, in units of C."""
        if dual is None:
            return {}
        weights, C = np.asarray(dual["weights"], np.longdouble), params["C"]
        over = max(0.0, float(weights.sum() / C - 1))
        return {
            "weights >= 0": Violation(max(0.0, float(-weights.min(initial=0) / C)), 1.0, 0.0),
            "sum of the weights <= C": Violation(over, 1.0, 4 * (len(weights) + 2) * EPS),
        }

    def train(
        self, X: np.ndarray, y: np.ndarray, C: float, k: int, tol: float = 1e-6
    ) -> dict[str, Any]:
        """The training function of `fast`."""
        from fast.models import recall_at_k

        found = recall_at_k.train(X, y, C, k, tol=tol, max_iter=MOST)
        return {"w": found.w, "sets": found.sets.astype(int), "weights": found.weights}


TASK = RecallAtK()
