"""Certificates of trained models as the kit shows them, and of risks with checked arguments.

The formulas are those of `refsolve.proofs.erm`; nothing of the trainer is used.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import catalogue
from refsolve.proofs import families
from refsolve.proofs.certificate import Array
from refsolve.proofs.erm import Problem
from refsolve.proofs.loss import Loss
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import Sparse
from verification.errors import InvalidArgumentError, NoDualPointError


def dense(rows: Any) -> Any:
    """Rows or multipliers as an array, whatever they came in."""
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def kernel_matrix(X: Any, kernel: Any, params: Mapping[str, Any]) -> Array:
    """Kernel matrix of the examples, by scikit-learn."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return np.asarray(dense(X), dtype=np.float64)
    from sklearn.metrics.pairwise import pairwise_kernels  # a second to import

    return np.asarray(pairwise_kernels(X.astype(np.float64), metric=kernel, **params))


def overclaimed(
    found: ModelCertificate, gap: float, primal: float, dual: float, slack: float
) -> list[str]:
    """Claims that are better than what is certified, by more than ``slack``, or not comparable (nan)."""
    problems = []
    if not found.gap <= gap + slack:
        problems.append(f"gap {found.gap:.6g}, claimed {gap:.6g}")
    if not found.primal <= primal + slack:
        problems.append(f"primal {found.primal!r}, claimed {float(primal)!r}")
    if not found.dual >= dual - slack:
        problems.append(f"dual {found.dual!r}, claimed {float(dual)!r}")
    return problems


def check_weight(sample_weight: ArrayLike | None, n: int) -> Array:
    """Weights (n,), ones by default."""
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    if weight.shape != (n,) or not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InvalidArgumentError(f"sample_weight: expected {n} finite numbers >= 0")
    return weight


def erm(
    coef: ArrayLike,
    X: Array | Sparse | None = None,
    y: ArrayLike = (),
    *,
    loss: str,
    C: float = 1.0,
    k: int | None = None,
    gamma: float | None = None,
    beta: ArrayLike | None = None,
    dual: Array | Sparse | None = None,
    sample_weight: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    K: Array | None = None,
    kept: ArrayLike | None = None,
) -> ModelCertificate:
    """Certify W for min 1/2||W||^2 + C sum_i weight_i L(y_i, W x_i).

    Parameters
    ----------
    coef : (m, d) array
        Weights, one row per class. An intercept is a column of ones in X. With ``K`` the expansion
        B (n, m) of W = sum_i b_i phi(x_i).
    X : (n, d) array or sparse matrix
        Not with ``K``.
    y : (n,) array of int, or (n, m) of 0 and 1
        Class of each row, 0..m-1; for multilabel losses the row's labels.
    loss : str
        A convex loss of `refsolve`: ``topk_hinge_alpha``, ``softmax``, ``ova_hinge``, ...
    C : float
        1/(lambda n).
    k, gamma, beta : as the loss declares them.
    dual : (n, m) array or sparse matrix, optional
        Blocks a_i with W = A'X, in units of C; they are repaired to feasibility. Smooth losses
        can do without (their gradients are a dual point), hinges cannot.
    sample_weight : (n,) array, optional
        Weights >= 0.
    costs : (m,) or (n, m) array, optional
        Margins c; the loss's default unless given.
    K : (n, n) array, optional
        Gram matrix instead of X.
    kept : (n, m) array of bool, optional
        Softmax on these classes only (the true one among them), as in a convex step of the
        truncated loss.

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
    data: Any = np.asarray(K) if K is not None else X
    W = np.asarray(coef, dtype=np.float64)
    W = W.T if K is not None and W.ndim == 2 else W  # (m, d), or (m, n) with a Gram matrix
    module, params = _loss(loss, k, gamma, beta)
    family = families.of(module)
    multilabel = family.name == "multilabel"
    labels, weights, A = _check(W, data, y, C, sample_weight, dual, multilabel)
    n, m = data.shape[0], len(W)
    inside = None if kept is None else np.asarray(kept, dtype=bool)
    if inside is not None and (loss != "softmax" or inside.shape != (n, m)):
        raise InvalidArgumentError(
            f"kept of shape {inside.shape} with loss={loss!r}: expected ({n}, {m}) and 'softmax', of "
            "which the truncated loss is made"
        )

    def at(rows: slice) -> tuple[Loss, Array]:
        one = Loss(loss, params, family.size(m), labels[rows])
        return one, _costs(one, costs, rows, labels[rows])

    if dual is None and not at(slice(0, 1))[0].modulus > 0:
        raise NoDualPointError(
            f"dual=None: {loss} is not smooth, so the weights alone give no dual point; pass the "
            "(n, m) array of dual blocks, e.g. the trainer's dual_coef_"
        )
    problem = Problem(at, labels, C * weights, m, X, None if K is None else np.asarray(K), inside)
    return ModelCertificate.of(problem.prove(W, A))


def _costs(one: Loss, costs: ArrayLike | None, rows: slice, labels: Array) -> Array:
    """Margins over the coordinates of z."""
    n = len(labels)
    if costs is None:
        default = one.family.default_costs(one.default_cost, labels, one.d)
        return np.broadcast_to(default, (n, one.d))
    given = np.asarray(costs, dtype=np.float64)
    c = np.broadcast_to(given if given.ndim == 1 else given[rows], (n, one.m))
    return families.others(c, labels) if one.family.name == "multiclass" else c


def _loss(
    loss: str, k: int | None, gamma: float | None, beta: ArrayLike | None
) -> tuple[Any, dict[str, Any]]:
    """Declaration of a loss, and its parameters."""
    known = [s for s in catalogue.object_names("losses") if hasattr(catalogue.load(s), "dual_set")]
    if loss not in known:
        raise InvalidArgumentError(f"loss={loss!r}: expected one of {', '.join(known)}")
    module = catalogue.load(loss)
    params: dict[str, Any] = {}
    for name, value in (("k", k), ("gamma", gamma)):
        if name in module.SPEC.names:
            if value is None:
                raise InvalidArgumentError(f"{name}=None: {loss} needs it; pass {name}=...")
            params[name] = int(value) if name == "k" else float(value)
    if beta is not None and "beta" in module.SPEC.names:
        params["beta"] = beta
    return module, params


def _check(
    W: Array, X: Any, y: Any, C: float, sample_weight: Any, dual: Any, multilabel: bool
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
    if multilabel:
        if labels.shape != (n, m) or not np.isin(labels, (0, 1)).all():
            raise InvalidArgumentError(
                f"y of shape {labels.shape}: expected an ({n}, {m}) array of 0 and 1"
            )
        labels = labels.astype(np.int8)
    elif labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"y of shape {labels.shape} and dtype {labels.dtype}: expected {n} class indices; "
            "map labels with np.searchsorted(classes, y)"
        )
    elif n and (labels.min() < 0 or labels.max() >= m):
        raise InvalidArgumentError(f"y: expected class indices 0..{m - 1}, got {labels.max()}")
    if not (np.isfinite(C) and C > 0):
        raise InvalidArgumentError(f"C={C!r}: expected a positive number")
    weights = check_weight(sample_weight, n)
    A = dual.tocsr() if hasattr(dual, "tocsr") else dual if dual is None else np.asarray(dual)
    if A is not None:
        entries = A.data if hasattr(A, "tocsr") else A
        if A.shape != (n, m) or not np.isfinite(entries).all():
            raise InvalidArgumentError(
                f"dual of shape {A.shape}: expected finite numbers, ({n}, {m})"
            )
    return labels, weights, A
