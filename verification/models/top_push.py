"""TopPush: 1/2||w||^2 + C sum_i max(0, 1 + max_j <x_j, w> - <x_i, w>)^2, positives i, negatives j.

w is (d,), multipliers (n,) >= 0: alpha of the positives and beta of the negatives, with equal sums,
w = sum_i alpha_i x_i - sum_j beta_j x_j. y is 0 or 1, of both kinds.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from refsolve.models import top_push as declared
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.models import ModelTask, Params, Side, Violation, _ap_families, _shrink
from verification.models.ap_svm import MOST

ROWS = {"X": (0,), "y": (0,)}


class TopPush(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w",), "dual": ("multipliers",)}
    modulus = 1.0
    no_dual = "w alone does not say what the negatives of the largest score weigh"
    families = {name: _ap_families.forever(draw) for name, draw in _ap_families.PLAIN.items()}

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), multipliers (n,)."""
        n, d = params["X"].shape
        return {"w": (d,), "multipliers": (n,)}

    def valid(self, params: Params) -> bool:
        """Whether the data fit together."""
        y = params["y"]
        known = bool(np.isin(y, (0, 1)).all()) and len(np.unique(y)) == 2
        return known and _ap_families.sound(params["X"], len(y), params["C"])

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer rows and columns; then round numbers."""
        yield from _shrink.fewer(params, ROWS, {"X": (1,)})
        yield from _ap_families.rescaled(params)
        yield from _shrink.defaults(params, {"C": 1.0})
        yield from _shrink.rounder(params, "C", "X")

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of w and the multipliers; of multipliers alone with the w they stand for."""
        given = {**self.given(params), **self.required(dual), **(primal or {})}
        return declared.certificate(**given)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Of the signs and of the balance, in units of the sum."""
        if dual is None:
            return {}
        a, up = np.asarray(dual["multipliers"], np.longdouble), params["y"] > 0
        size = float(abs(a).sum()) or 1.0
        off = abs(float(a[up].sum() - a[~up].sum())) / size
        return {
            "multipliers >= 0": Violation(max(0.0, float(-a.min())) / size, 1.0, 0.0),
            "sum_i alpha_i = sum_j beta_j": Violation(off, 1.0, 4 * (len(a) + 2) * EPS),
        }

    def train(self, X: np.ndarray, y: np.ndarray, C: float, tol: float = 1e-6) -> dict[str, Any]:
        """The training function of `fast`."""
        from fast.models import top_push

        found = top_push.train(X, y, C, tol=tol, max_iter=MOST)
        return {"w": found.w, "multipliers": found.multipliers}


TASK = TopPush()
