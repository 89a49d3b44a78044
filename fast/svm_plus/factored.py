"""SVM+ on kernel matrices by the linear trainers, on features K = XX', Kz = ZZ': the last resort.

Coefficients that are read off the multipliers, c = (alpha + beta - C omega)/lam, carry the rounding of C
omega, C/lam times the size of c. On features v itself is solved for, and c = Z (Z'Z)^-1 v is small.
"""

import numpy as np

from fast.solvers.rows import is_sparse
from fast.svm_plus import working_set
from fast.svm_plus.correction import Correction
from fast.svm_plus.data import Bound, SVMPlusData
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.kernel_losses import KernelLoss, KernelModel, SquaredHinge
from fast.svm_plus.squared_hinge import SquaredHingeData

EPS = float(np.finfo(float).eps)
FAINT = 1e-5  # part of the largest multiplier that is left of one that should be 0
WRONG = 1e-9  # a row that is violated by more becomes active
ROUNDS, LARGEST = 8, 600  # of Newton's method, and unknowns in one of its systems
PART = 0.1  # of the gap that is asked for: the way back to coefficients rounds as well


def train(
    loss: KernelLoss, tol: float, max_iter: int
) -> tuple[list[tuple[Bound, KernelModel]], bool]:
    """Bounds with models on the kernel matrices, and whether it was interrupted."""
    X, back_x = factor_of_matrix(loss.K)
    Z, back_z = factor_of(loss.correction, loss.n)
    data = data_of(loss, X, Z)
    state, run = working_set.train(data, PART * tol, max_iter)
    if not run.interrupted and state.gap > PART * tol:
        polish(data, state, PART * tol)
    alpha, beta = state.bound.alpha, state.bound.beta
    bound, model = loss.look(alpha, beta)
    v, eta = np.split(state.model.v, [Z.shape[1]])
    if not len(eta):
        own = loss.own_slack(alpha, beta)
    else:
        own = np.sqrt(loss.correction.delta) * eta
    c = loss.sign * (back_z @ v)
    other = loss.of_functions(back_x @ state.model.w, c, state.model.rho, own)
    return [(bound, model), (bound, other)], run.interrupted


def data_of(loss: KernelLoss, X: np.ndarray, Z: np.ndarray) -> SVMPlusData:
    """The linear problem; the costs C omega as weights.

    For the hinge own slacks are n more features sqrt(delta_i) e_i: their price is a part of
    lam/2 ||v||^2. A tiny price kappa = lam/delta in their place stops the interior point early.
    """
    cost, lam, delta = loss.correction.cost, loss.correction.lam, loss.correction.delta
    if isinstance(loss, SquaredHinge):
        return SquaredHingeData(X, loss.y, Z, cost, 1.0, lam, loss.nonneg, delta, loss.signed)
    if loss.signed:
        return HingeData(X, loss.y, Z, cost, 1.0, lam, loss.nonneg, delta, True)
    if loss.soft:
        Z = np.hstack([Z, np.sqrt(delta) * np.eye(loss.n)])
    return HingeData(X, loss.y, Z, cost, 1.0, lam, loss.nonneg, 0.0)


def polish(data: SVMPlusData, state: working_set.WorkingSetState, tol: float) -> None:
    """Newton's method on the active rows, once the interior point has ended in rounding.

    u = A'mu, F'mu = c and Au + Fv = h as one system: that in mu alone has AA', the square of A's condition.
    """
    if data.soft:
        return
    every, n = np.arange(data.n), data.n
    margin, slack = data.margin_rows(every), data.slack_rows(every)
    A, mu = np.hstack([margin, slack]), state.bound.alpha
    F = np.ones((n, len(data.c)))
    F[:, 0] = data.y
    h = data.h1
    if data.nonneg:
        A = np.vstack([A, np.hstack([np.zeros_like(margin), slack])])
        F = np.vstack([F, np.ones_like(F)])
        F[n:, 0] = 0.0
        h, mu = np.concatenate([h, data.h2]), np.concatenate([mu, state.bound.beta])
    active = mu > FAINT * mu.max()
    p, q = A.shape[1], F.shape[1]
    for _ in range(ROUNDS):
        rows = np.hstack([A[active], F[active]])
        size = p + q + len(rows)
        if size > LARGEST:
            return
        M = np.zeros((size, size))
        M[:p, :p] = np.eye(p)
        M[p + q :, : p + q] = rows
        M[:p, p + q :] = -rows[:, :p].T
        M[p : p + q, p + q :] = rows[:, p:].T
        right = np.concatenate([np.zeros(p), data.c, h[active]])
        x = np.linalg.lstsq(M, right, rcond=EPS)[0]  # active rows may depend on each other
        u, free = x[:p], x[p : p + q]
        mu = np.zeros(len(h))
        mu[active] = x[p + q :]
        beta = np.maximum(mu[n:], 0.0) if data.nonneg else np.zeros(n)
        state.take(data.view(u, free).model, data.bound(np.maximum(mu[:n], 0.0), beta))
        following = (active & (mu > 0.0)) | (A @ u + F @ free - h < -WRONG)
        if state.gap <= tol or np.array_equal(following, active):
            return
        active = following


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
