"""Certified duality gap of a trained linear model, from its weights and its dual point.

With V = A'X and mass_i = C weight_i the gap of P = 1/2||W||^2 + C sum_i weight_i L_i is

    P(W) − D(A) = 1/2||W − V||^2 + sum_i [mass_i L(z_i) + (mass_i L)*(x_i) − <z_i, x_i>],

a sum of nonnegative terms: no two large numbers are subtracted. Nothing of the trainer is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve import catalogue
from verification.certificates.core import dual_set, set_params
from verification.errors import InvalidArgumentError, NoDualPointError
from verification.verdicts import Judgement, Verdict

Array = np.ndarray[Any, Any]
EPS = float(np.finfo(np.float64).eps)
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class ModelCertificate:
    """What is certain about a trained model.

    Attributes
    ----------
    primal : float
        Upper bound on P(W) = 1/2||W||^2 + C sum_i weight_i L_i.
    dual : float
        ``primal − gap``: a lower bound on the optimum.
    gap : float
        Upper bound on P(W) − min P; includes ``error``.
    error : float
        Part of ``gap`` that only covers rounding in this computation.
    moved : float
        Largest distance by which a dual block was moved to be feasible.
    """

    primal: float
    dual: float
    gap: float
    error: float
    moved: float

    @property
    def relative_gap(self) -> float:
        """``gap / max(|primal|, |dual|)``; 0 if all three are 0."""
        size = max(abs(self.primal), abs(self.dual))
        return self.gap / size if size > 0 else 0.0


def erm(
    coef: Any,
    X: Any,
    y: Any,
    *,
    loss: str,
    C: float = 1.0,
    k: int | None = None,
    gamma: float | None = None,
    dual: Any = None,
    sample_weight: Any = None,
    costs: Any = None,
) -> ModelCertificate:
    """Certify W for min 1/2||W||^2 + C sum_i weight_i L(y_i, W x_i).

    Parameters
    ----------
    coef : (m, d) array
        Weights, one row per class. An intercept is a column of ones in X.
    X : (n, d) array or sparse matrix
    y : (n,) array of int
        Class of each row, 0..m-1.
    loss : str
        A stem with a polyhedral dual set: ``topk_hinge_alpha``, ``smooth_topk_hinge_beta``, ...
    C : float
        1/(lambda n).
    k, gamma : as the loss declares them.
    dual : (n, m) array or sparse matrix, optional
        Blocks a_i with W = A'X, in units of C; they are repaired to feasibility. Smooth losses
        can do without (their gradients are a dual point), hinges cannot.
    sample_weight : (n,) array, optional
        Weights >= 0.
    costs : (m,) or (n, m) array, optional
        Margins c; 1 for j != y unless given.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    NoDualPointError
        For a hinge without ``dual``: W alone does not determine a useful dual point.
    InvalidArgumentError
        If shapes, labels or weights do not fit.
    """
    W = np.asarray(coef, dtype=np.float64)
    labels, weights, A = _check(W, X, y, C, sample_weight, dual)
    module, params, smooth = _loss(loss, k, gamma)
    if A is None and smooth == 0:
        raise NoDualPointError(
            f"dual=None: {loss} is not smooth, so the weights alone give no dual point; pass the "
            "(n, m) array of dual blocks, e.g. the trainer's dual_coef_"
        )
    n, m = X.shape[0], W.shape[0]
    norms = np.sqrt(_squares(X))
    heights = np.sqrt((W * W).sum(axis=1))
    residual = primal = error = moved = 0.0
    V = np.zeros_like(W)
    spread = np.zeros(m)  # sum_i |a_ij| ||x_i||, for the rounding of V
    for rows in _chunks(n):
        mass = C * weights[rows]
        scores = np.asarray(X[rows] @ W.T, dtype=np.float64)
        z = _margins(scores, labels[rows], costs, rows)
        kept = ~np.eye(m, dtype=bool)[labels[rows]]
        if A is None:
            q = module.repair(module.nearest(z / smooth, **params), **params)
        else:
            block = A[rows].toarray() if hasattr(A, "toarray") else A[rows]
            given = -np.asarray(block, dtype=np.float64)[kept].reshape(-1, m - 1)
            unit = np.where(mass > 0, mass, 1.0)[:, None]
            q = module.repair(given / unit, **params) * (mass > 0)[:, None]
            moved = max(moved, float(np.sqrt(((q * mass[:, None] - given) ** 2).sum(1)).max()))
        loss_bound, terms = _terms(module, params, smooth, z, q)
        residual += float(mass @ terms)
        primal += float(mass @ loss_bound)
        blocks = np.zeros((len(q), m))
        blocks[kept] = -(q * mass[:, None]).ravel()
        blocks[~kept] = (q * mass[:, None]).sum(axis=1)
        V += np.asarray(X[rows].T @ blocks).T
        spread += np.abs(blocks).T @ norms[rows]
        # scores are wrong by at most (d + 2) eps ||x|| ||w||, a residual by twice that
        slip = (X.shape[1] + 2) * EPS * norms[rows] * 2 * heights.max()
        error += float(mass @ (2 * slip + 4 * (m + 4) * EPS * (np.abs(z).max(axis=1) + 1)))
    apart = float(np.sqrt(((W - V) ** 2).sum()))
    slip = (n + 2) * EPS * float(np.sqrt((spread**2).sum()))
    error += apart * slip + slip**2 / 2
    summation = (min(n, ROWS_AT_ONCE) + 2) * EPS  # longest sum taken in one go
    error += summation * residual
    gap = residual + apart**2 / 2 + error
    norm = float((W * W).sum()) / 2
    primal += norm + error + summation * primal + (W.size + 2) * EPS * norm
    return ModelCertificate(primal, primal - gap, gap, error, moved)


def trained(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> ModelCertificate:
    """Certify a fitted `fast.TopKSVC` on its training data from ``coef_`` and ``dual_coef_``.

    Parameters
    ----------
    estimator : fitted TopKSVC
    X, y, sample_weight : what it was fitted on.
    """
    from sklearn.utils.class_weight import compute_class_weight  # a second to import

    y = np.asarray(y)
    classes = estimator.classes_
    labels = np.searchsorted(classes, y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    factors = compute_class_weight(
        estimator.class_weight, classes=classes, y=y, sample_weight=weights
    )
    coef = np.asarray(estimator.coef_, dtype=np.float64)
    if estimator.fit_intercept:  # the constant feature is regularised like the others
        coef = np.column_stack([coef, estimator.intercept_])
        ones = np.ones((X.shape[0], 1))
        if hasattr(X, "tocsr"):
            X = sp.hstack([sp.csr_array(X), sp.csr_array(ones)], format="csr")
        else:
            X = np.hstack([X, ones])
    smooth = estimator.gamma > 0
    return erm(
        coef,
        X,
        labels,
        loss=f"{'smooth_' if smooth else ''}topk_hinge_{estimator.variant}",
        C=float(estimator.C),
        k=int(estimator.k),
        gamma=float(estimator.gamma) if smooth else None,
        dual=estimator.dual_coef_,
        sample_weight=weights * factors[labels],
    )


def judge_claims(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Judgement:
    """Whether the gap and the objectives that a fitted `fast.TopKSVC` claims are true.

    The claimed ``dual_gap_`` may exceed the certified one (a weaker claim), not undercut it by
    more than the rounding in both computations; likewise for the objectives.
    """
    found = trained(estimator, X, y, sample_weight)
    size = max(abs(found.primal), abs(found.dual))
    n, m = estimator.dual_coef_.shape
    # both sides sum n m terms of the size of the objective
    slack = found.error + 4 * (n + m) * EPS * size
    claimed = float(estimator.dual_gap_) * size
    problems = []
    if found.gap > claimed + slack:
        problems.append(f"gap {found.gap:.6g}, claimed {claimed:.6g}")
    if found.primal > estimator.primal_objective_ + slack:
        problems.append(f"primal {found.primal!r}, claimed {estimator.primal_objective_!r}")
    if found.dual < estimator.dual_objective_ - slack:
        problems.append(f"dual {found.dual!r}, claimed {estimator.dual_objective_!r}")
    verdict = Verdict.FAIL if problems else Verdict.PASS
    relative = slack / size if size > 0 else 0.0
    return Judgement(verdict, found.relative_gap, relative, message="; ".join(problems))


def _terms(
    module: ModuleType, params: dict[str, Any], smooth: float, z: Array, q: Array
) -> tuple[Array, Array]:
    """Upper bounds on the losses L(z) and on the Fenchel–Young residuals at the dual points q.

    L(z) = min_p support(z − p) + ||p||^2/(2 gamma), so any p bounds it from above; with the same p
    the residual is residual(q, z − p) + ||p − gamma q||^2/(2 gamma).
    """
    if smooth == 0:
        return module.support(z, **params), module.residual(q, z, **params)
    bounds, residuals = [], []
    for p in (smooth * q, smooth * module.nearest(z / smooth, **params)):
        bounds.append(module.support(z - p, **params) + (p * p).sum(axis=1) / (2 * smooth))
        off = ((p - smooth * q) ** 2).sum(axis=1) / (2 * smooth)
        residuals.append(module.residual(q, z - p, **params) + off)
    return np.minimum(*bounds), np.minimum(*residuals)


def _loss(
    loss: str, k: int | None, gamma: float | None
) -> tuple[ModuleType, dict[str, Any], float]:
    """Declaration of the unit dual set, its parameters as floats, and gamma (0 for a hinge)."""
    if loss not in catalogue.stems("losses"):
        known = ", ".join(catalogue.stems("losses"))
        raise InvalidArgumentError(f"loss={loss!r}: expected one of {known}")
    names = catalogue.load(loss).SPEC.names
    for name, value in (("k", k), ("gamma", gamma)):
        if name in names and value is None:
            raise InvalidArgumentError(f"{name}=None: {loss} needs it; pass {name}=...")
    stem, fixed = dual_set(loss)
    exact = set_params(stem, {**({} if k is None else {"k": k}), **fixed, "r": 1})
    params = {name: int(v) if name == "k" else float(v) for name, v in exact.items()}
    return catalogue.load(stem), params, float(gamma or 0.0) if "gamma" in names else 0.0


def _margins(scores: Array, labels: Array, costs: Any, rows: slice) -> Array:
    """Margins z = f_j − f_y + c_j over the other classes, one row per example."""
    n, m = scores.shape
    if costs is None:
        c = np.ones((n, m))
    else:
        given = np.asarray(costs, dtype=np.float64)
        c = np.broadcast_to(given if given.ndim == 1 else given[rows], (n, m))
    z = scores - scores[np.arange(n), labels][:, None] + c
    return z[~np.eye(m, dtype=bool)[labels]].reshape(n, m - 1)


def _chunks(n: int) -> Iterator[slice]:
    for start in range(0, n, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, n))


def _squares(X: Any) -> Array:
    squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X, dtype=np.float64)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _check(
    W: Array, X: Any, y: Any, C: float, sample_weight: Any, dual: Any
) -> tuple[Array, Array, Any]:
    labels = np.asarray(y)
    if W.ndim != 2 or len(W) < 2 or not np.isfinite(W).all():
        raise InvalidArgumentError(
            f"coef of shape {W.shape}: expected finite weights, one row per class (m >= 2); binary "
            "models with one row stand for the rows (-coef/2, coef/2)"
        )
    if getattr(X, "ndim", 0) != 2 or X.shape[1] != W.shape[1]:
        raise InvalidArgumentError(
            f"X of shape {getattr(X, 'shape', None)}: expected (n, {W.shape[1]}) to fit coef"
        )
    n, m = X.shape[0], len(W)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"y of shape {labels.shape} and dtype {labels.dtype}: expected {n} class indices; "
            "map labels with np.searchsorted(classes, y)"
        )
    if n and (labels.min() < 0 or labels.max() >= m):
        raise InvalidArgumentError(f"y: expected class indices 0..{m - 1}, got {labels.max()}")
    if not (np.isfinite(C) and C > 0):
        raise InvalidArgumentError(f"C={C!r}: expected a positive number")
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidArgumentError(f"sample_weight: expected {n} finite numbers >= 0")
    A = dual.tocsr() if hasattr(dual, "tocsr") else dual if dual is None else np.asarray(dual)
    if A is not None:
        entries = A.data if hasattr(A, "tocsr") else A
        if A.shape != (n, m) or not np.isfinite(entries).all():
            raise InvalidArgumentError(
                f"dual of shape {A.shape}: expected finite numbers, ({n}, {m})"
            )
    return labels, weights, A
