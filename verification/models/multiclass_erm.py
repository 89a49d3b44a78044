"""Regularised multiclass risk: 1/2||W||^2 + C sum_i w_i L(y_i, W x_i), every convex loss.

W is (m, d), one row per class; A is (n, m), one row per example, in units of C, with W = A'X. With a
Gram matrix K instead of X, "W" is the expansion B (n, m) of W = sum_i b_i phi(x_i). C = 1/(lambda n).
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.certificates.model import erm
from verification.models import ModelTask, Params, Side, Violation, _erm_families, _shrink
from verification.models._erm_families import FAMILIES, estimator, parameters
from verification.models._erm_families import MULTILABEL as MULTILABEL
from verification.models._erm_families import trained as trained

#: Tolerance of the witness; problems of the size that is drawn are solved to rounding.
SHARP = 1e-10
ROWS = {"X": (0,), "y": (0,), "K": (0, 1), "sample_weight": (0,)}


def classes(params: Params) -> int:
    """Number of classes m."""
    y = params["y"]
    return int(y.shape[1] if y.ndim == 2 else y.max() + 1)


def _given(params: Params) -> dict[str, Any]:
    names = ("X", "y", "loss", "C", "k", "gamma", "beta", "sample_weight", "costs", "K")
    return {name: params[name] for name in names}


def _any_loss(
    loss: str, own: Params, y: np.ndarray, C: float, weight: np.ndarray | None,
    X: np.ndarray | None, K: np.ndarray | None, tol: float,
) -> dict[str, Any]:  # fmt: skip
    """What no estimator trains: by the algorithms themselves, a kernel by a root of its matrix."""
    from fast.families import named
    from fast.models import multiclass_erm

    X = X if K is None else root(K)
    r = C * (np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64))
    rows, labels = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)
    for solver in ("auto", "sdca"):  # quasi-Newton steps end early where the data are separable
        found = multiclass_erm.train(
            rows, labels, r, loss=named(loss, **own), tol=tol, max_iter=10_000, solver=solver
        )
        if found.gap <= tol:
            break
    dual_variables = (
        found.dual_variables.toarray()
        if hasattr(found.dual_variables, "toarray")
        else found.dual_variables
    )
    A = -np.asarray(dual_variables)
    A[np.arange(len(y)), labels] -= A.sum(axis=1)
    return {"W": found.W if K is None else A, "A": A}


def root(K: np.ndarray) -> np.ndarray:
    """Rows whose Gram matrix is K."""
    values, vectors = np.linalg.eigh(K)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


class MulticlassErm(ModelTask):
    """The task; see the module."""

    parts = {"primal": ("W",), "dual": ("A",)}
    families = FAMILIES
    modulus = 1.0

    def shapes(self, params: Params) -> dict[str, tuple[int, ...]]:
        """W (m, d), or B (n, m) with a Gram matrix; A (n, m)."""
        n, m = len(params["y"]), classes(params)
        W = (n, m) if params["X"] is None else (m, params["X"].shape[1])
        return {"W": W, "A": (n, m)}

    def valid(self, params: Params) -> bool:
        """Whether the data fit together: every class has an example, k <= m - 1 for alpha losses, ..."""
        return _erm_families.valid(params)

    def finalize(self, params: Params, rng: np.random.Generator) -> Params:
        """Give a loss that was fixed the parameters that it has, and only those."""
        return _erm_families.finalize(params, rng)

    def simpler(self, params: Params) -> Iterator[Params]:
        """Fewer rows, classes and columns; then plain arguments; then round numbers."""
        per_class = {"costs": (params["costs"].ndim - 1,)} if params["costs"] is not None else {}
        rows = dict(ROWS)
        if params["costs"] is not None and params["costs"].ndim == 2:
            rows["costs"] = (0,)
        if params["y"].ndim == 1:
            for smaller in _shrink.fewer_classes(params, rows, per_class):
                yield _erm_families.fitting(smaller)
        for smaller in _shrink.fewer(params, rows, {"X": (1,)}):
            if smaller["y"].ndim == 1 and params["costs"] is None:
                smaller["y"] = _shrink.relabelled(smaller["y"])
            smaller = _erm_families.fitting(smaller)
            yield smaller
            if params["k"] is not None and params["k"] > 1:
                yield {**smaller, "k": params["k"] - 1}
        yield from _shrink.smaller_k(params)
        yield from _shrink.defaults(
            params, {"C": 1.0, "gamma": 1.0, "beta": None, "sample_weight": None}
        )
        yield from _shrink.defaults(params, {"costs": None})
        yield from _shrink.rounder(params, "C", "gamma", "X", "sample_weight", "costs", "K")

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Gap of W and A; W alone for smooth losses; A alone with W = A'X."""
        if primal is None:
            assert dual is not None
            A = np.asarray(dual["A"], dtype=np.float64)
            coef = A if params["X"] is None else A.T @ params["X"]
        else:
            coef = primal["W"]
        return erm(coef, dual=None if dual is None else dual["A"], **_given(params))

    def rounding(self, params: Params, primal: Side, dual: Side) -> float:
        """What rounding W and A to doubles may cost: the error of the same sums in double precision."""
        proof = self.certify(params, primal, self.nothing(params) if dual is None else dual)
        return proof.doubt + sum(self.shapes(params)["A"]) * EPS * abs(proof.primal)

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """Constraints of the dual blocks, in units of their mass C w_i."""
        if dual is None:
            return {}
        from refsolve import catalogue
        from refsolve.proofs import families
        from refsolve.proofs.loss import Loss

        A = np.asarray(dual["A"], dtype=np.longdouble)
        y, m = params["y"], classes(params)
        weight = params["sample_weight"]
        mass = params["C"] * (np.ones(len(y)) if weight is None else weight)
        live = mass > 0
        family = families.of(catalogue.load(params["loss"]))
        loss = Loss(params["loss"], parameters(params), family.size(m), y[live])
        x = family.coordinates(A, y)[live] / mass[live, None]
        eps = 8 * (m + 4) * EPS * (1 + float(np.abs(A[live] / mass[live, None]).max(initial=0.0)))
        found = {}
        if family.name == "multiclass":
            found["a_ij <= 0 for the classes j that are not y_i"] = np.maximum(-x, 0).max(axis=1)
            found["sum over the classes of a_i = 0"] = family.unbalance(A)[live] / mass[live]
        if live.any():
            name = f"x_i = -a_i/(C w_i) over the other classes in {loss.domain.object_name}{parameters(params)}"
            found[name] = loss.violation(x)
        found["a_i = 0 where the weight is 0"] = (
            np.abs(A[~live]).max(axis=1, initial=0) / params["C"]
        )
        return {n: Violation(float(np.max(v, initial=0.0)), 1.0, eps) for n, v in found.items()}

    def mistakes(self, params: Params) -> Iterator[tuple[str, Params]]:
        """Problems that trainers solve in the place of this one."""
        n, C, k = len(params["y"]), params["C"], params["k"]
        for text, other in (
            ("C/n in the place of C: the mean of the losses was taken, or C for lambda n", C / n),
            ("C n in the place of C: is it divided by n twice?", C * n),
            ("2 C: ||W||^2 was taken for 1/2 ||W||^2, or C for 2 C", 2 * C),
            ("C/2: ||W||^2 was taken for 1/2 ||W||^2", C / 2),
            ("1/C in the place of C: the regulariser has the factor", 1 / C),
            ("1/(C n): lambda in the place of C", 1 / (C * n)),
        ):
            yield f"it is optimal for {text}", {**params, "C": other}
        if k is not None:
            for step in (-1, 1):
                yield f"it is optimal for k = {k + step}", {**params, "k": k + step}
        if params["sample_weight"] is not None:
            yield "it is optimal without sample_weight", {**params, "sample_weight": None}
        if params["costs"] is not None:
            yield "it is optimal without costs", {**params, "costs": None}
        for loss in _erm_families.RELATIVES.get(params["loss"], ()):
            changed = _erm_families.finalize({**params, "loss": loss}, np.random.default_rng(0))
            yield f"it is optimal for the loss {loss}", changed
        if params["X"] is not None:
            X = params["X"]
            yield (
                "it is optimal for data of mean 0: the columns were centred",
                {**params, "X": X - X.mean(axis=0)},
            )

    def train(
        self,
        y: np.ndarray,
        C: float,
        loss: str,
        X: np.ndarray | None = None,
        k: int | None = None,
        gamma: float | None = None,
        beta: np.ndarray | None = None,
        sample_weight: np.ndarray | None = None,
        K: np.ndarray | None = None,
        tol: float = 1e-6,
    ) -> dict[str, Any]:
        """The estimators of `fast`, or its trainer of any loss."""
        from sklearn.exceptions import ConvergenceWarning

        import fast

        if loss not in trained():
            raise ValueError(f"loss={loss!r}: fast trains {', '.join(trained())}")
        own = {n: v for n, v in {"k": k, "gamma": gamma, "beta": beta}.items() if v is not None}
        known = estimator(loss, own)
        if known is None:
            return _any_loss(loss, own, y, C, sample_weight, X, K, tol)
        model = getattr(fast, known[0])(C=C, tol=tol, max_iter=10_000, random_state=0, **known[1])
        data = X
        if K is not None and "kernel" in model.get_params():
            data = K
            model.set_params(kernel="precomputed")
        elif K is not None:
            data = root(K)
        with warnings.catch_warnings():
            # the certificate says whether tol was reached
            warnings.simplefilter("ignore", ConvergenceWarning)
            A = model.fit(data, y, sample_weight=sample_weight).dual_coef_
        A = A.toarray() if hasattr(A, "toarray") else np.asarray(A)
        return {"W": A if K is not None else model.coef_, "A": A}

    def witness(self, params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
        """From `fast`, and from the oracle for costs, which it does not train with."""
        if params["costs"] is None and params["loss"] in trained():
            own = {n: v for n, v in params.items() if n not in ("costs", "tol")}
            found = self.train(**own, tol=SHARP)
            return {"W": found["W"]}, {"A": found["A"]}
        import refsolve

        asked = {n: v for n, v in _given(params).items() if v is not None}
        result = refsolve.solve("multiclass_erm.primal", **asked)
        return {"W": result.x}, {"A": np.asarray(result.dual)}


TASK = MulticlassErm()
