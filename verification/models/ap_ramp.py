"""AP-SVM with the structured ramp: J(w) = 1/2||w||^2 + C mean (L(s) - H(s)), not convex.

H(s) = max_R <c_R, s> belongs to the ranking that the scores predict; a convex step fixes it at a
reference. w is (d,); what may be returned besides: the last step as reference (n,), rankings (m, n) and
weights (m,), all inversions as in `ap_svm`, and objectives, J at the start and after each step.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.certificates.ranking_model import ranking_erm
from verification.models import Params, _ap_duals, _descent, ap_svm
from verification.models._ap_duals import ANY
from verification.models.ap_svm import MOST


def _scores(params: Params, w: np.ndarray) -> np.ndarray:
    return params["X"].astype(np.longdouble) @ np.asarray(w, dtype=np.longdouble)


def _fast(params: Params, tol: float, **given: Any) -> dict[str, Any]:
    from fast.models import ap_ramp
    from fast.ranking.queries import Queries

    queries = Queries(params["y"], params["groups"])
    found = ap_ramp.train(params["X"], queries, params["C"], tol=tol, max_iter=MOST, **given)
    parts = {name: getattr(found, name) for name in ("w", *TASK.extras)}
    return parts | {"objectives": np.asarray(found.objectives)}


class ApRamp(_descent.DescentTask):
    """The task; see the module."""

    parts = {"primal": ("w",)}
    extras = ("reference", "rankings", "weights", "objectives")
    families = ap_svm.TASK.families

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), the last step, and any number of objectives."""
        n = len(params["y"])
        step = {"reference": (n,), "rankings": (ANY, n), "weights": (ANY,)}
        return {"w": (params["X"].shape[1],), **step, "objectives": (ANY,)}

    def valid(self, params: Params) -> bool:
        """Whether every query has a positive and a negative."""
        return ap_svm.TASK.valid(params)

    def simpler(self, params: Params) -> Iterator[Params]:
        """As of an AP-SVM."""
        return ap_svm.TASK.simpler(params)

    def defect(self, params: Params, given: Mapping[str, np.ndarray]) -> str:
        """Rankings that are none, the reference among them."""
        queries = _ap_duals.by_query(params["y"], params["groups"])
        if "reference" in given:
            one = {"rankings": given["reference"][None], "weights": np.ones(1)}
            if message := _ap_duals.rankings_defect(one, queries):
                return message.replace("rankings[0]", "reference")
        return _ap_duals.rankings_defect(given, queries)

    def predicted(self, params: Params, w: np.ndarray) -> np.ndarray:
        """Inversions (n,) of the ranking by score; ties count for the positives."""
        scores, inversions = _scores(params, w), np.zeros(len(params["y"]), dtype=np.int64)
        for rows, positives in _ap_duals.by_query(params["y"], params["groups"]):
            s = scores[rows]
            above = s[~positives][None, :] > s[positives][:, None]
            inversions[rows[positives]] = above.sum(axis=1)
            inversions[rows[~positives]] = above.sum(axis=0)
        return inversions

    def unambiguous(self, params: Params, w: np.ndarray) -> bool:
        """Whether no positive ties with a negative of its query, up to rounding."""
        scores = _scores(params, w)
        sizes = np.abs(params["X"]) @ np.abs(w)
        for rows, positives in _ap_duals.by_query(params["y"], params["groups"]):
            up, down = rows[positives], rows[~positives]
            apart = np.abs(scores[up][:, None] - scores[down][None, :])
            near = 4 * (len(w) + 2) * EPS * (sizes[up][:, None] + sizes[down][None, :])
            if (apart <= near).any():
                return False
        return True

    def objective(self, params: Params, w: np.ndarray) -> ModelCertificate:
        """J(w): the P of w's own reference."""
        return ranking_erm(
            w,
            **self.given(params),
            rankings=np.zeros((0, len(params["y"])), dtype=np.int64),
            weights=np.zeros(0),
            reference=self.predicted(params, w),
        )

    def last_step(self, params: Params, given: Mapping[str, Any]) -> ModelCertificate | None:
        """The step that was returned."""
        if any(name not in given for name in ("w", "reference", "rankings", "weights")):
            return None
        return ranking_erm(
            given["w"],
            **self.given(params),
            rankings=_ap_duals.whole(given["rankings"]),
            weights=given["weights"],
            reference=_ap_duals.whole(given["reference"]),
        )

    def own_step(self, params: Params, w: np.ndarray) -> _descent.Step:
        """By `fast`: one step that begins at w."""
        found = _fast(params, self.sharp, start=w, max_rounds=1)
        return _descent.Step(found["w"], self.certify(params, {**found, "w": w}, None))

    def train(
        self,
        X: np.ndarray,
        y: np.ndarray,
        C: float,
        groups: np.ndarray | None = None,
        tol: float = 1e-6,
    ) -> dict[str, Any]:
        """The training function of `fast`."""
        return _fast({"X": X, "y": y, "C": C, "groups": groups}, tol)


TASK = ApRamp()
