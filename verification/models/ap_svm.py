"""AP-SVM: 1/2||w||^2 + C L(Xw), L the mean over queries of max_R Delta(R) + <c_R, s>; problem (3).

w is (d,); the dual is rankings (m, n), any number of them, each the inversions of every example
(for a positive the negatives above it, for a negative the positives below it), with weights (m,) >= 0
whose sum is at most C; w = -X' sum_t weights_t c_t. y is 0 or 1, groups names each example's query.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from verification.certificates.ranking_model import ranking_erm
from verification.models import ModelTask, Params, Side, Violation, _ap_duals, _ap_families, _shrink
from verification.models._ap_duals import ANY

MOST = 5000
ROWS = {"X": (0,), "y": (0,), "groups": (0,)}


class ApSvm(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w",), "dual": ("rankings", "weights")}
    modulus = 1.0
    no_dual = "w alone does not say which rankings carry weight"
    families = {
        name: _ap_families.forever(draw)
        for name, draw in (
            {"random": _ap_families.random, "queries": _ap_families.queries} | _ap_families.PLAIN
        ).items()
    }

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), rankings (m, n) and weights (m,) for any m."""
        n, d = params["X"].shape
        return {"w": (d,), "rankings": (ANY, n), "weights": (ANY,)}

    def valid(self, params: Params) -> bool:
        """Whether every query has a positive and a negative."""
        X, y = params["X"], params["y"]
        sound = _ap_families.sound(X, len(y), params["C"])
        return sound and _ap_families.two_kinds(y, params["groups"])

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer rows and columns; one query; then round numbers."""
        yield from _shrink.defaults(params, {"groups": None})
        yield from _shrink.fewer(params, ROWS, {"X": (1,)})
        yield from _ap_families.rescaled(params)
        yield from _shrink.defaults(params, {"C": 1.0})
        yield from _shrink.rounder(params, "C", "X")

    def defect(self, params: Params, given: Mapping[str, np.ndarray]) -> str:
        """Rankings that are none."""
        return _ap_duals.rankings_defect(given, _ap_duals.by_query(params["y"], params["groups"]))

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of w and of the weighted rankings; of the latter alone with the w they stand for."""
        given = {**self.required(dual), **self.given(params)}
        given["rankings"] = _ap_duals.whole(given["rankings"])
        return ranking_erm(None if primal is None else primal["w"], **given)

    def rounding(self, params: Params, primal: Side, dual: Side) -> float:
        """What rounding to doubles may cost; of a dual side alone, at w = 0."""
        return super().rounding(params, primal or {"w": np.zeros(params["X"].shape[1])}, dual)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Of the weights."""
        return {} if dual is None else _ap_duals.weights_violations(dual["weights"], params["C"])

    def train(
        self,
        X: np.ndarray,
        y: np.ndarray,
        C: float,
        groups: np.ndarray | None = None,
        tol: float = 1e-6,
    ) -> dict[str, Any]:
        """The training function of `fast`."""
        from fast.models import ap_svm
        from fast.ranking.queries import Queries

        found = ap_svm.train(X, Queries(y, groups), C, tol=tol, max_iter=MOST)
        return {"w": found.w, "rankings": found.rankings, "weights": found.weights}


TASK = ApSvm()
