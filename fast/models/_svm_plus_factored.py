"""SVM+ on kernel matrices by the linear trainers, on features K = XX', Kz = ZZ': the last resort.

Coefficients that are read off the multipliers, c = (alpha + beta - C omega)/lam, carry the rounding of C
omega, C/lam times the size of c. On features v itself is solved for, and c = Z (Z'Z)^-1 v is small.
"""

from __future__ import annotations

import numpy as np

from fast.models._svm_plus_correction import Correction
from fast.models._svm_plus_kernel_losses import KernelLoss, KernelModel, SquaredHinge
from fast.solvers import working_set
from fast.solvers.rows import is_sparse
from fast.solvers.svm_plus_data import Bound, SVMPlusData

EPS = float(np.finfo(float).eps)
PART = 0.1  # of the gap that is asked for: the way back to coefficients rounds as well


def train(
    loss: KernelLoss, tol: float, max_iter: int
) -> tuple[list[tuple[Bound, KernelModel]], bool]:
    """Bounds with models on the kernel matrices, and whether it was interrupted."""
    X, back_x = factor_of_matrix(loss.K)
    Z, back_z = factor_of(loss.correction, loss.n)
    data = data_of(loss, X, Z)
    state, interrupted, _ = working_set.train(data, PART * tol, max_iter)
    alpha, beta = state.bound.alpha, state.bound.beta
    bound, model = loss.look(alpha, beta)
    v, eta = np.split(state.model.v, [Z.shape[1]])
    if not len(eta):
        own = loss.own_slack(alpha, beta)
    else:
        own = np.sqrt(loss.correction.delta) * eta
    other = loss.of_functions(back_x @ state.model.w, back_z @ v, state.model.rho, own)
    return [(bound, model), (bound, other)], interrupted


def data_of(loss: KernelLoss, X: np.ndarray, Z: np.ndarray) -> SVMPlusData:
    """The linear problem; the costs C omega as weights.

    For the hinge own slacks are n more features sqrt(delta) e_i: lam/(2 delta) ||eta||^2 as a part of
    lam/2 ||v||^2. A tiny price kappa = lam/delta in their place stops the interior point early.
    """
    from fast.models.svm_plus_hinge import HingeData
    from fast.models.svm_plus_squared_hinge import SquaredHingeData

    cost, lam, delta = loss.correction.cost, loss.correction.lam, loss.correction.delta
    if isinstance(loss, SquaredHinge):
        return SquaredHingeData(X, loss.y, Z, cost, 1.0, lam, loss.nonneg, delta)
    if delta > 0.0:
        Z = np.hstack([Z, np.sqrt(delta) * np.eye(loss.n)])
    return HingeData(X, loss.y, Z, cost, 1.0, lam, loss.nonneg, 0.0)


def factor_of_matrix(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X with K = XX' up to rounding, and B with B'X = I: the coefficients of w are B w."""
    values, vectors = np.linalg.eigh(K)
    kept = values > len(K) * EPS * max(float(values[-1]), 0.0)
    return _scaled(vectors[:, kept], np.sqrt(values[kept]))


def factor_of(correction: Correction, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The same for the correcting space, whichever way it is given."""
    rows = np.arange(n) if correction.group is None else correction.group
    if correction.Kz is not None:
        return factor_of_matrix(correction.Kz[np.ix_(rows, rows)])
    Z = correction.Z.toarray() if is_sparse(correction.Z) else correction.Z
    U, values, _ = np.linalg.svd(np.asarray(Z, float)[rows], full_matrices=False)
    kept = values > n * EPS * float(values[0])
    return _scaled(U[:, kept], values[kept])


def _scaled(U: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(size):  # a kernel of nothing
        return np.zeros((len(U), 1)), np.zeros((len(U), 1))
    return U * size, U / size
