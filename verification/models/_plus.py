"""What SVM and SVM+ share as problems to verify: their data, sides, certificates and witnesses.

The certificates are those of `verification.certificates.plus_model`: formulas only, nothing of a
trainer. With Gram matrices the weights w and v are coefficients (n,) on the examples. alpha is not
unique and never compared.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from refsolve.initial_guess import Problem
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.certificates import plus_bounds, plus_model
from verification.certificates.plus_bounds import Whole
from verification.certificates.plus_model import vector
from verification.errors import InvalidArgumentError, NoDualPointError
from verification.models import ModelTask, Params, Side, Violation, _shrink

Array = np.ndarray[Any, Any]
#: Tolerance that a witness is asked for, and the part of the instance's that is good enough.
SHARP, ENOUGH = 1e-10, 0.1
ROWS = {"X": (0,), "y": (0,), "Z": (0,), "sample_weight": (0,), "K": (0, 1), "Kz": (0, 1)}
#: Sizes, relative to the largest entries, that a Gram matrix may be indefinite by: rounding.
INDEFINITE = 16


class Completed(dict[str, Any]):
    """Parts of a model of which some were found by the judge; ``floor``: none are better than that."""

    floor: float = -np.inf


def valid(params: Params) -> bool:
    """Whether the data fit together and both classes have an example of positive weight."""
    y = params["y"]
    if y.ndim != 1 or not np.isin(y, (-1.0, 1.0)).all():
        return False
    n, weight = len(y), params["sample_weight"]
    if weight is not None and (weight.shape != (n,) or not (weight >= 0).all()):
        return False
    live = y if weight is None else y[weight > 0]
    if len(np.unique(live)) < 2:
        return False
    spaces = [("X", "K")] + ([("Z", "Kz")] if "Z" in params else [])
    for rows, gram in spaces:
        if (params[rows] is None) == (params[gram] is None):
            return False
        if not _fits(params[rows], params[gram], n):
            return False
    positive = [params[name] for name in ("C", "lam", "tol", "CA", "CB") if name in params]
    least = [params[name] for name in ("free_slack", "D", "eps") if name in params]
    return all(value > 0 for value in positive) and all(value >= 0 for value in least)


def _fits(rows: Any, gram: Any, n: int) -> bool:
    if rows is not None:
        return bool(rows.shape[:1] == (n,) and rows.shape[1] > 0 and np.isfinite(rows).all())
    if gram.shape != (n, n) or not np.array_equal(gram, gram.T):
        return False
    size = float(np.abs(gram).max(initial=0.0))
    return bool(np.linalg.eigvalsh(gram).min() >= -INDEFINITE * n * EPS * size)


def simpler(params: Params, plain: Mapping[str, Any], numbers: tuple[str, ...]) -> Iterator[Params]:
    """Fewer rows and columns, then plain arguments, then round numbers."""
    rows = {name: axes for name, axes in ROWS.items() if name in params}
    for smaller in _shrink.fewer(params, rows, {"X": (1,)}):
        yield smaller
    for smaller in _shrink.fewer(params, {}, {"Z": (1,)}):
        yield smaller
    yield from _shrink.defaults(params, plain)
    yield from _shrink.rounder(params, *numbers, "X", "Z", "sample_weight")
    for name in ("K", "Kz"):
        gram = params.get(name)
        if gram is not None:  # symmetric as a whole
            yield from ({**params, name: simple} for simple in (0 * gram, np.eye(len(gram))))
            yield from ({**params, name: np.round(gram * 2.0**bits) / 2.0**bits} for bits in GRIDS)


#: Bits behind the point that entries of Gram matrices are rounded to.
GRIDS = (0, 1, 2, 4)


class SvmTask(ModelTask):
    """SVM or SVM+; ``object`` names it, ``loss`` is None where it is an argument of the problem.

    ``plain`` says that there is no privileged information, ``simplest`` what arguments are tried for
    simplicity, ``numbers`` which of them are rounded.
    """

    object_name: ClassVar[str]
    loss: ClassVar[str | None] = None
    plain: ClassVar[bool] = False
    simplest: ClassVar[dict[str, Any]]
    numbers: ClassVar[tuple[str, ...]]

    def valid(self, params: Params) -> bool:
        """Whether the data fit together."""
        return valid(params)

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer rows and columns, then plain arguments, then round numbers."""
        return simpler(params, self.simplest, self.numbers)

    def problem(self, params: Params) -> Problem:
        """The data of the certificates."""
        return plus_model.problem(**{"loss": self.loss, **self.given(params)})

    def shapes(self, params: Params) -> dict[str, tuple[int, ...]]:
        """Shape of every unknown."""
        n = len(params["y"])
        w = (n,) if params["X"] is None else (params["X"].shape[1],)
        found: dict[str, tuple[int, ...]] = {"w": w, "b": (), "alpha": (n,)}
        if self.plain:
            return found
        v = (n,) if params["Z"] is None else (params["Z"].shape[1],)
        return found | {"v": v, "rho": (), "beta": (n,)}

    # ---- certificates

    def whole(self, found: Problem, primal: Mapping[str, Any]) -> Whole:
        """The model of a primal answer."""
        parts = () if self.plain else (primal["v"], float(primal["rho"]))
        return Whole(primal["w"], float(primal["b"]), *parts)

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of a model and multipliers; of one side alone with what it stands for."""
        found = self.problem(params)
        alpha, beta = (None, None) if dual is None else (dual["alpha"], dual.get("beta"))
        if dual is None:
            assert primal is not None
            model = self.whole(found, primal)
            alpha, beta = multipliers_of(found, model)
            return plus_bounds.certificate(found, model, alpha, beta)
        if primal is not None:
            return plus_bounds.certificate(found, self.whole(found, primal), alpha, beta)
        model = plus_bounds.of_multipliers(found, alpha, beta)
        return plus_bounds.certificate(found, model, alpha, beta)

    def upper(self, params: Params, primal: Mapping[str, Any]) -> float:
        """P of a model; of one that was completed, what no completion can be below."""
        if isinstance(primal, Completed):
            return primal.floor
        found = self.problem(params)
        return plus_bounds.upper(found, self.whole(found, primal)).high

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """D of multipliers, repaired to feasibility."""
        return plus_bounds.lower(self.problem(params), dual["alpha"], dual.get("beta")).low

    def complete(self, params: Params, primal: Mapping[str, Any]) -> dict[str, Any]:
        """The best values of what is missing beside w, or (w, b); unchanged if that is not what is."""
        found = self.problem(params)
        try:
            model = plus_bounds.whole(found, *(primal.get(n) for n in ("w", "b", "v", "rho")))
        except InvalidArgumentError:
            return dict(primal)
        parts = Completed(w=np.asarray(model.w), b=np.float64(model.b))
        if not self.plain:
            parts |= {"v": np.asarray(model.v, float), "rho": np.float64(model.rho)}
        parts.floor = model.floor
        if self.plain:  # the bias is exact
            parts.floor = plus_bounds.upper(found, model).low
        return parts

    def complete_dual(self, params: Params, dual: Mapping[str, Any]) -> dict[str, Any]:
        """Beta, where there is none: zeros unless xi >= 0 is kept."""
        if self.plain:
            return dict(dual)
        if "alpha" in dual and "beta" not in dual and not params["nonneg_slack"]:
            return {"alpha": dual["alpha"], "beta": np.zeros(len(params["y"]))}
        return dict(dual)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Constraints of both sides; what is within tol is repaired, and its cost is in the gap."""
        found: dict[str, Violation] = {}
        data = self.problem(params)
        n, weight = len(params["y"]), params["sample_weight"]
        cost = params["C"] * (np.ones(n) if weight is None else weight)
        if dual is not None:
            both = [np.asarray(dual[n], float) for n in ("alpha", "beta") if n in dual]
            size = max(float(np.abs(value).max()) for value in both)
            for name in ("alpha", "beta"):
                if dual.get(name) is not None:
                    value = np.asarray(dual[name], float)
                    found[f"{name} >= 0"] = Violation(
                        float(max(0.0, -value.min())), size, n * EPS * size
                    )
            alpha = np.asarray(dual["alpha"], float)
            mass = float(np.abs(alpha).sum())
            off = abs(float(alpha[params["y"] > 0].sum() - alpha[params["y"] < 0].sum()))
            found["sum alpha_i y_i = 0"] = Violation(off, mass, n * EPS * mass)
            if data.plain and not data.squared:
                excess = float(max(0.0, (alpha - cost).max()))
                found["alpha_i <= C w_i"] = Violation(excess, float(cost.max()), EPS * cost.max())
            if not (data.plain or data.squared):
                total, mixed = float(cost.sum()), alpha
                if data.nonneg:
                    mixed = alpha + np.asarray(dual["beta"], float)
                size = total + float(np.abs(mixed).sum())
                live = mixed if weight is None else mixed[weight > 0]
                off = abs(float(live.sum()) - total)
                found["sum (alpha_i + beta_i - C w_i) = 0"] = Violation(off, size, n * EPS * size)
        own = isinstance(primal, Completed)  # v and rho are the judge's, and no fault of the answer
        if primal is not None and not (own or data.plain) and not data.soft:
            found |= self._short(data, self.whole(data, primal))
        return found

    def _short(self, data: Problem, model: Whole) -> dict[str, Violation]:
        assert data.z is not None
        assert model.v is not None
        w, v = vector(data.x, "w", model.w), vector(data.z, "v", model.v)
        f, g = data.x.values(w) + model.b, data.z.values(v) + model.rho
        reach = data.x.reach(w) + abs(model.b) + data.z.reach(v) + abs(model.rho)
        size = float((1 + abs(f) + abs(g)).max())
        slip = 4 * EPS * (data.x.width + data.z.width + 4) * float((1 + reach).max())
        short = float(max(0, (1 - data.y * f - g).max()))
        found = {"y_i f_i >= 1 - xi_i": Violation(short, size, slip)}
        if data.nonneg:
            found["xi_i >= 0"] = Violation(float(max(0, -g.min())), size, slip)
        return found

    # ---- solutions

    def fitted(self, **params: Any) -> dict[str, Any]:
        """A model and multipliers by `fast.SVMPlusClassifier`."""
        from sklearn.exceptions import ConvergenceWarning

        import fast
        from fast.errors import CollapseWarning

        given = {"loss": self.loss, "free_slack": 0.0, **params}
        y, weight = given.pop("y"), given.pop("sample_weight", None)
        X, K, Z, Kz = (given.pop(name, None) for name in ("X", "K", "Z", "Kz"))
        kernels: dict[str, Any] = {
            "kernel": "linear" if K is None else "precomputed",
            "kernel_z": "linear" if Kz is None else "precomputed",
        }
        model = fast.SVMPlusClassifier(standardize_z=False, max_iter=5000, **kernels, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says how far
            model.fit(X if K is None else K, y, Z if Kz is None else Kz, sample_weight=weight)
        w = model.coef_[0] if K is None else model.kernel_coef_[0]
        found = {"w": w, "b": float(model.intercept_[0]), "alpha": np.abs(model.dual_coef_[0])}
        if self.plain:
            return found
        v = model.correction_coef_[0] if Kz is None else model.correction_kernel_coef_[0]
        return found | {
            "v": v,
            "rho": float(model.correction_intercept_[0]),
            "beta": model.slack_dual_coef_[0],
        }

    def witness(self, params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
        """From `fast`, and where its certificate is too wide also from the oracle: the better one."""
        own = {name: value for name, value in params.items() if name != "tol"}
        found = [self.split(self.fitted(**own, tol=SHARP))]
        if self.certify(params, *found[0]).relative_gap > ENOUGH * params["tol"]:
            oracle = self._oracle(own)
            found += [] if oracle is None else [oracle]
        return min(found, key=lambda pair: self.certify(params, *pair).relative_gap)

    def split(self, found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parts of the primal, and of the dual."""
        sides = ("w", "b", "v", "rho"), ("alpha", "beta")
        primal, dual = ({n: np.asarray(found[n]) for n in side if n in found} for side in sides)
        return primal, dual

    def _oracle(self, own: Params) -> tuple[dict[str, Any], dict[str, Any]] | None:
        import refsolve
        from refsolve.errors import RefsolveError

        asked = {name: value for name, value in own.items() if value is not None}
        try:
            proof: Any = refsolve.solve(f"{self.object_name}.primal", **asked).certificate
        except (RefsolveError, np.linalg.LinAlgError):  # singular by rounding: nobody's answer
            return None
        if self.plain:
            return self.split({"w": proof.w, "b": proof.b, "alpha": proof.alpha})
        model = proof.model
        parts = {"w": model.w, "b": model.b, "v": model.v, "rho": model.rho}
        return self.split(parts | {"alpha": proof.alpha, "beta": proof.beta})


class PlusTask(SvmTask):
    """SVM+ with one of the losses."""

    parts = {"primal": ("w", "b", "v", "rho"), "dual": ("alpha", "beta")}
    numbers = ("C", "lam", "free_slack")

    def train(
        self,
        X: Array | None,
        y: Array,
        Z: Array | None,
        C: float,
        lam: float,
        sample_weight: Array | None = None,
        nonneg_slack: bool | None = None,
        free_slack: float = 0.0,
        K: Array | None = None,
        Kz: Array | None = None,
        tol: float = 1e-6,
    ) -> dict[str, Any]:
        """`fast.SVMPlusClassifier` with this loss."""
        kept = self.defaults["nonneg_slack"] if nonneg_slack is None else nonneg_slack
        return self.fitted(
            X=X, y=y, Z=Z, C=C, lam=lam, sample_weight=sample_weight, nonneg_slack=kept,
            free_slack=free_slack, K=K, Kz=Kz, tol=tol,
        )  # fmt: skip


def simplest(nonneg: bool) -> dict[str, Any]:
    """The simplest arguments of an SVM+."""
    return {"C": 1.0, "lam": 1.0, "sample_weight": None, "nonneg_slack": nonneg, "free_slack": 0.0}


def multipliers_of(problem: Problem, model: Whole) -> tuple[Array, Array]:
    """Multipliers that a model stands for, as far as it does: the slopes of the loss, or none."""
    if not (problem.plain and problem.squared):
        raise NoDualPointError(
            "dual=None: a model determines its multipliers for the squared hinge without Z only"
        )
    f = problem.x.values(vector(problem.x, "w", model.w)) + problem.real(model.b)
    full = np.zeros(problem.n)
    full[problem.kept] = problem.cost * np.maximum(0, 1 - problem.y * f)
    return full, np.zeros(problem.n)
