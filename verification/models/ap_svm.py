"""AP-SVM: 1/2||w||^2 + C L(Xw), L the mean over queries of max_R Delta(R) + <c_R, s>; problem (3).

w is (d,); the dual is rankings (m, n), any number of them, each the inversions of every example
(for a positive the negatives above it, for a negative the positives below it), with weights (m,) >= 0
whose sum is at most C; w = -X' sum_t weights_t c_t. y is 0 or 1, groups names each example's query.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.ranking_model import EPS_OF_REAL
from refsolve.proofs.space import EPS
from verification.certificates.ranking_model import dual_value, ranking_erm
from verification.errors import NoDualPointError
from verification.models import ModelTask, Params, Side, Violation, _ap_duals, _ap_families, _shrink
from verification.models._ap_duals import ANY

SHARP, MOST = 1e-9, 5000
ROWS = {"X": (0,), "y": (0,), "groups": (0,)}


def _data(params: Params) -> dict[str, Any]:
    return {name: params[name] for name in ("X", "y", "C", "groups")}


def _dual(params: Params, dual: Side) -> dict[str, Any]:
    if dual is None:
        return {"rankings": np.zeros((0, len(params["y"])), dtype=np.int64), "weights": np.zeros(0)}
    return {"rankings": _ap_duals.whole(dual["rankings"]), "weights": dual["weights"]}


class ApSvm(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w",), "dual": ("rankings", "weights")}
    modulus = 1.0
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
        if dual is None:
            raise NoDualPointError("w alone does not say which rankings carry weight")
        w = (
            primal["w"]
            if primal is not None
            else dual_value(**_data(params), **_dual(params, dual))[1]
        )
        return ranking_erm(w, **_data(params), **_dual(params, dual))

    def upper(self, params: Params, primal: Mapping[str, Any]) -> float:
        """Upper bound on P(w)."""
        return ranking_erm(primal["w"], **_data(params), **_dual(params, None)).primal

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """Lower bound on D."""
        return dual_value(**_data(params), **_dual(params, dual))[0]

    def rounding(self, params: Params, primal: Side, dual: Side) -> float:
        """What rounding w and the weights to doubles may cost: the error of the same sums in doubles."""
        w = np.zeros(params["X"].shape[1]) if primal is None else primal["w"]
        proof = ranking_erm(w, **_data(params), **_dual(params, dual))
        return proof.error * EPS / EPS_OF_REAL

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

    def witness(self, params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
        """From `fast`."""
        found = self.train(**_data(params), tol=SHARP)
        return {"w": found.pop("w")}, found


TASK = ApSvm()
