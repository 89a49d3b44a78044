"""Latent AP-SVM: bags ranked by the score of their best candidate, J(w) = 1/2||w||^2 + C L(s), not convex.

X (n, d) has the candidates, bags (n,) the bag 0, ..., B - 1 of each, y (B,) the bags' labels. A convex
step fixes the candidate of each positive bag. w is (d,); what may be returned besides: the last step as
chosen (B,), rankings (m, B), candidates (m, B), rows of X by which each cut scores the bags, and weights
(m,); and objectives, J at the start and after each step.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.certificates.ranking_model import latent_erm
from verification.models import Params, _ap_duals, _ap_families, _descent, _shrink
from verification.models._ap_duals import ANY
from verification.models.ap_svm import MOST


def _rows(params: Params) -> list[np.ndarray]:
    """Rows of X of each bag."""
    order = np.argsort(params["bags"], kind="stable")
    return np.split(order, np.cumsum(np.bincount(params["bags"]))[:-1])


def _scores(params: Params, w: np.ndarray) -> np.ndarray:
    return params["X"].astype(np.longdouble) @ np.asarray(w, dtype=np.longdouble)


def _certificate(
    params: Params, w: np.ndarray, rankings: Any, weights: Any, places: np.ndarray
) -> ModelCertificate:
    rows = _rows(params)
    blocks = [params["X"][r] for r in rows]
    inside = np.zeros(places.shape, dtype=np.int64)
    for i, r in enumerate(rows):
        inside[:, i] = np.argmax(places[:, i][:, None] == r[None, :], axis=1)
    return latent_erm(
        w, blocks, params["y"], C=params["C"], rankings=rankings, weights=weights, candidates=inside
    )


def _fast(params: Params, tol: float, **given: Any) -> dict[str, Any]:
    from fast.models import latent_ap_svm

    data = (params[name] for name in ("X", "bags", "y", "C"))
    found = latent_ap_svm.train(*data, tol=tol, max_iter=MOST, **given)
    parts = {name: getattr(found, name) for name in ("w", *TASK.extras)}
    return parts | {"objectives": np.asarray(found.objectives)}


class LatentApSvm(_descent.DescentTask):
    """The task; see the module."""

    parts = {"primal": ("w",)}
    extras = ("chosen", "rankings", "candidates", "weights", "objectives")
    families = {
        name: _ap_families.forever(_ap_families.bags_of(draw))
        for name, draw in _ap_families.PLAIN.items()
    } | {
        "one candidate each": _ap_families.forever(_ap_families.single_bags),
        "scattered bags": _ap_families.forever(_ap_families.scattered),
    }

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), the last step, and any number of objectives."""
        B = len(params["y"])
        cuts = {"rankings": (ANY, B), "candidates": (ANY, B), "weights": (ANY,)}
        return {"w": (params["X"].shape[1],), "chosen": (B,), **cuts, "objectives": (ANY,)}

    def valid(self, params: Params) -> bool:
        """Whether every bag has a candidate, and both kinds of bags occur."""
        X, bags, y = params["X"], params["bags"], params["y"]
        if bags.shape != (len(X),) or len(y) == 0:
            return False
        named = np.array_equal(np.unique(bags), np.arange(len(y)))
        return named and _ap_families.sound(X, len(bags), params["C"]) and _ap_families.two_kinds(y)

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer bags, fewer candidates, fewer columns; then round numbers."""
        X, bags, y = params["X"], params["bags"], params["y"]
        for kept in _shrink.subsets(len(y)):
            rows = np.isin(bags, kept)
            new = np.searchsorted(kept, bags[rows])
            yield {**params, "X": X[rows], "bags": new, "y": y[kept]}
        yield from _shrink.fewer(params, {"X": (0,), "bags": (0,)}, {"X": (1,)})
        yield from _ap_families.rescaled(params)
        yield from _shrink.defaults(params, {"C": 1.0})
        yield from _shrink.rounder(params, "C", "X")

    def defect(self, params: Params, given: Mapping[str, np.ndarray]) -> str:
        """Rankings that are none, and rows of other bags."""
        bags, B = params["bags"], len(params["y"])
        for name in ("chosen", "candidates"):
            rows = np.atleast_2d(given[name]) if name in given else np.zeros((0, B))
            inside = (rows == np.round(rows)) & (rows >= 0) & (rows < len(bags))
            if not inside.all() or (bags[rows.astype(np.int64)] != np.arange(B)).any():
                return f"{name} has an entry that is no row of its bag"
        if "candidates" in given and "rankings" in given:
            if len(given["candidates"]) != len(given["rankings"]):
                return (
                    f"{len(given['rankings'])} rankings with {len(given['candidates'])} candidates"
                )
            if "chosen" in given:
                used = (params["y"] > 0) & (given["rankings"] > 0)
                if (used & (given["candidates"] != given["chosen"])).any():
                    return "a cut scores a positive bag by another row than the step has chosen"
        return _ap_duals.rankings_defect(given, _ap_duals.by_query(params["y"], None))

    def objective(self, params: Params, w: np.ndarray) -> ModelCertificate:
        """J(w): every bag by its best candidate."""
        none = np.zeros((0, len(params["y"])), dtype=np.int64)
        return _certificate(params, w, none, np.zeros(0), none)

    def last_step(self, params: Params, given: Mapping[str, Any]) -> ModelCertificate | None:
        """The step that was returned."""
        if any(name not in given for name in ("w", "chosen", "rankings", "candidates", "weights")):
            return None
        chosen, candidates = (_ap_duals.whole(given[name]) for name in ("chosen", "candidates"))
        # positive bags without inversions may name any row; the step's has the same effect
        places = np.where(params["y"] > 0, chosen, candidates)
        rankings, weights = _ap_duals.whole(given["rankings"]), given["weights"]
        if (
            len(rankings) == 0
        ):  # no cut says which rows are fixed: the right ranking's, of no weight
            B = len(params["y"])
            rankings, weights = np.zeros((1, B), dtype=np.int64), np.zeros(1)
            places = np.where(params["y"] > 0, chosen, [r[0] for r in _rows(params)])[None]
        return _certificate(params, given["w"], rankings, weights, places)

    def unambiguous(self, params: Params, w: np.ndarray) -> bool:
        """Whether each positive bag has one best candidate, up to rounding and to equal rows."""
        scores, sizes = _scores(params, w), np.abs(params["X"]) @ np.abs(w)
        for rows, label in zip(_rows(params), params["y"], strict=True):
            best = rows[int(np.argmax(scores[rows]))]
            near = scores[best] - scores[rows] <= 4 * (len(w) + 2) * EPS * (
                sizes[best] + sizes[rows]
            )
            if label > 0 and (params["X"][rows[near]] != params["X"][best]).any():
                return False
        return True

    def own_step(self, params: Params, w: np.ndarray) -> _descent.Step:
        """By `fast`: one step that begins at w."""
        found = _fast(params, self.sharp, start=w, max_rounds=1)
        return _descent.Step(found["w"], self.certify(params, {**found, "w": w}, None))

    def train(
        self, X: np.ndarray, bags: np.ndarray, y: np.ndarray, C: float, tol: float = 1e-6
    ) -> dict[str, Any]:
        """The training function of `fast`."""
        return _fast({"X": X, "bags": bags, "y": y, "C": C}, tol)


TASK = LatentApSvm()
