"""AP-SVM-APPX: the AP loss of the difficult examples, the easy ones as constraints; problem (10).

min 1/2||w||^2 + C L(X_d w) with y_i (<x_i, w> + b) >= 1 for the easy examples, b free. w is (d,), b a
number that may be left out; the dual is rankings (m, n) and weights (m,) as in `ap_svm`, with zeros
for easy examples, and mu (n,) >= 0 with sum_i mu_i y_i = 0. y is 0 or 1, of one kind if need be.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.certificates.ranking_model import dual_point, ranking_erm
from verification.errors import InvalidArgumentError, NoDualPointError
from verification.models import ModelTask, Params, Side, Violation, _ap_duals, _ap_families, _shrink
from verification.models._ap_duals import ANY
from verification.models.ap_svm import MOST

ROWS = {"X": (0,), "y": (0,), "easy": (0,)}


def signs(params: Params) -> np.ndarray:
    """-1 and 1."""
    return np.where(params["y"] > 0, 1, -1)


def _queries(params: Params) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = np.flatnonzero(~params["easy"])
    positives = params["y"][rows] > 0
    return [(rows, positives)] if positives.any() and not positives.all() else []


def _bias(params: Params, w: np.ndarray) -> float:
    """The middle of the interval that the easy examples leave; its end if it has one only."""
    easy, y = params["easy"], signs(params)
    scores = params["X"] @ w
    low = max((1 - scores)[easy & (y > 0)], default=-np.inf)
    high = min((-1 - scores)[easy & (y < 0)], default=np.inf)
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low) or np.isinf(high):
        return float(high if np.isinf(low) else low)
    return float((low + high) / 2)


def _given(params: Params, dual: Mapping[str, Any]) -> dict[str, Any]:
    parts = {"weights": dual["weights"], "easy_weights": dual["mu"]}
    return TASK.given(params) | parts | {"rankings": _ap_duals.whole(dual["rankings"])}


def _missed(params: Params, w: np.ndarray, b: float | None) -> float:
    """The largest shortfall of an easy example's margin, with this b or the best one."""
    easy = params["easy"]
    if not easy.any():
        return 0.0
    real = np.longdouble
    bias = _bias(params, w) if b is None else b
    scores = params["X"][easy].astype(real) @ np.asarray(w, dtype=real) + real(bias)
    return float(np.maximum(1 - signs(params)[easy] * scores, 0).max())


class ApSvmAppx(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("w", "b"), "dual": ("rankings", "weights", "mu")}
    modulus = 1.0
    no_dual = "w alone does not say which rankings and constraints carry weight"
    families = {
        name: _ap_families.forever(draw)
        for name, draw in {
            **{name: _ap_families.with_easy(draw) for name, draw in _ap_families.PLAIN.items()},
            "nearly inseparable": _ap_families.narrow,
            "all easy": _ap_families.all_easy,
            "none easy": _ap_families.none_easy,
        }.items()
    }

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Of w (d,), b (), rankings (m, n) and weights (m,) for any m, mu (n,)."""
        n, d = params["X"].shape
        return {"w": (d,), "b": (), "rankings": (ANY, n), "weights": (ANY,), "mu": (n,)}

    def valid(self, params: Params) -> bool:
        """Whether a plane keeps the easy examples at margin 1."""
        X, y, easy = params["X"], params["y"], params["easy"]
        if not _ap_families.sound(X, len(y), params["C"]) or easy.shape != y.shape or len(y) == 0:
            return False
        binary = easy.dtype == np.bool_ and bool(np.isin(y, (0, 1)).all())
        return binary and _ap_families.separates(X[easy], signs(params)[easy])

    def simpler(self, params: Params) -> Iterator[Params]:
        """No easy examples; fewer rows and columns; then round numbers."""
        yield {**params, "easy": np.zeros(len(params["y"]), dtype=bool)}
        yield from _shrink.fewer(params, ROWS, {"X": (1,)})
        yield from _ap_families.rescaled(params)
        yield from _shrink.defaults(params, {"C": 1.0})
        yield from _shrink.rounder(params, "C", "X")

    def defect(self, params: Params, given: Mapping[str, np.ndarray]) -> str:
        """Rankings that are none."""
        return _ap_duals.rankings_defect(given, _queries(params))

    def complete(self, params: Params, primal: dict[str, Any]) -> dict[str, Any]:
        """The b that is best for w."""
        return primal | {"b": np.asarray(_bias(params, primal["w"]))} if "w" in primal else primal

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of w, scaled up to be feasible, and of the dual; of the dual alone if its w is feasible."""
        given = _given(params, self.required(dual))
        if primal is not None:
            return ranking_erm(primal["w"], **given)
        try:
            return ranking_erm(None, **given)
        except InvalidArgumentError as error:
            raise NoDualPointError("the w of this dual point violates the constraints") from error

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """Lower bound on D."""
        return dual_point(**_given(params, dual)).bound()

    def rounding(self, params: Params, primal: Side, dual: Side) -> float:
        """What doubles may cost, and making w feasible where it misses margins by no more than allowed."""
        if primal is None:
            return 0.0
        proof = self.certify(params, primal, self.nothing(params) if dual is None else dual)
        w = np.asarray(primal["w"], dtype=np.longdouble)
        # no more than that is allowed, twice where rounding adds to it: a huge w has huge rounding errors
        missed = min(_missed(params, primal["w"], None), 2 * params["tol"])
        # w/(1 - missed): the quadratic grows by that factor twice, L at most as its scores do
        factor = 1 / (1 - missed)
        repair = (factor**2 - 1) * float((w * w).sum()) / 2 + (factor - 1) * abs(proof.primal)
        return proof.doubt + repair

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Margins of the easy examples in units of 1, weights in units of C, mu in its own."""
        found: dict[str, Violation] = {}
        X, easy = params["X"], params["easy"]
        if primal is not None and easy.any():
            b = float(primal["b"])
            sizes = np.abs(X[easy]) @ np.abs(primal["w"]) + abs(b)
            rounding = 4 * (X.shape[1] + 2) * EPS * (1 + float(sizes.max()))
            # of a margin that is missed by 1 no multiple of w is feasible
            rounding = min(rounding, (1 - params["tol"]) / 2)
            missed = _missed(params, primal["w"], b)
            found["y_i (<x_i,w> + b) >= 1 for the easy examples"] = Violation(missed, 1.0, rounding)
        if dual is not None:
            found |= _ap_duals.weights_violations(dual["weights"], params["C"])
            mu = np.asarray(dual["mu"], dtype=np.longdouble)
            total = float(np.abs(mu).sum())
            rounding = 4 * (len(mu) + 2) * EPS * total
            unbalanced = abs(float((mu * signs(params) * easy).sum()))
            found |= {
                "mu >= 0": Violation(float(np.maximum(-mu, 0).max()), total, rounding),
                "sum_i mu_i y_i = 0": Violation(unbalanced, total, rounding),
                "mu_i = 0 for difficult examples": Violation(
                    float(np.abs(mu[~easy]).max(initial=0.0)), total, rounding
                ),
            }
        return found

    def train(
        self, X: np.ndarray, y: np.ndarray, easy: np.ndarray, C: float, tol: float = 1e-6
    ) -> dict[str, Any]:
        """The training function of `fast`."""
        from fast.models import ap_svm_appx

        found = ap_svm_appx.train(X, y, C, easy, tol=tol, max_iter=MOST)
        primal = {"w": found.w, "b": np.asarray(found.b)}
        return primal | {"rankings": found.rankings, "weights": found.weights, "mu": found.mu}


TASK = ApSvmAppx()
