"""The deformed kernel of SVM2+ without cancellation, and checks of kernel matrices.

Q = (lam I + C Kt Omega)^-1 Kt,   Kt = Kz + 1 + delta I,   Omega = diag(omega)   (Xu et al. 2016, (5))

Printed as a difference, (5) loses all digits where C Kt is large beside lam. Here the own slacks
delta leave first: with theta_i = lam/(lam + delta C omega_i)

Q = Theta Q' Theta + diag(delta/(lam + delta C omega)),   Q' without delta and at cost C omega theta

and Q' comes from a factor Kt = Z Z' where there is a short one: F = Z R^-1 with the triangle R of
[sqrt(cost) Z; sqrt(lam) I], Q' = F F'. Otherwise from the Cholesky factor of
A = lam I + S Kt S, S = sqrt(cost): Q' = S^-1 (I - lam A^-1) S^-1, or S^-1 A^-1 S Kt at small cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dpstrf

from fast._validation import finite_array, number, per_row
from fast.errors import InvalidParameterError
from fast.models._svm_plus import check_matrix
from fast.solvers.rows import is_sparse

EPS = float(np.finfo(float).eps)
ROUNDING = 1e-7  # of the largest entry: kernels are computed with errors of up to sqrt(eps)
HARMLESS = 1e3  # condition number up to which a product ZZ' costs no digits that count
SPREAD = 1e3  # of the costs, beyond which the difference I - lam A^-1 loses digits


def deformed_kernel(
    C: float,
    lam: float,
    *,
    Z: Any = None,
    Kz: Any = None,
    sample_weight: Any = None,
    free_slack: float = 0.0,
) -> np.ndarray:
    """Q = (lam I + C Kt Omega)^-1 Kt with Kt = Kz + 1 + delta I.

    Parameters
    ----------
    C, lam : float
        Weights of the loss (a sum) and of the correcting function; > 0.
    Z : (n, s) array or CSR
        Privileged features of a linear correcting function, Kz = ZZ'; this or ``Kz``.
    Kz : (n, n) array
        Kernel between the privileged features, without the 1.
    sample_weight : (n,) array, optional
        omega.
    free_slack : float
        delta; 0 for no own slacks.

    Returns
    -------
    ndarray (n, n)
        Symmetric. From Z its relative error (largest error over largest entry) is a few eps times
        the condition number of [Z, 1], whatever C/lam is. A kernel matrix is given with rounding
        errors of its own, which count up to C/lam fold where it is singular.

    Raises
    ------
    InvalidParameterError
        Also for a kernel matrix that is not positive semidefinite.
    """
    C, lam = number("C", C, positive=True), number("lam", lam, positive=True)
    delta = number("free_slack", free_slack)
    if (Z is None) == (Kz is None):
        given = "neither" if Z is None else "both"
        raise InvalidParameterError("Z, Kz", given, "one of them", "pass Z, or a kernel as Kz")
    matrix = check_matrix("Z", Z) if Kz is None else check_kernel_matrix("Kz", Kz)
    n = matrix.shape[0]
    omega = np.ones(n) if sample_weight is None else per_row("sample_weight", sample_weight, n)
    return deformed(matrix, Kz is None, C * omega, lam, delta)


def deformed(matrix: Any, linear: bool, cost: np.ndarray, lam: float, delta: float) -> np.ndarray:
    """``deformed_kernel`` of checked arguments; cost = C omega."""
    reduced = cost * (lam / (lam + delta * cost))
    Q = from_features(matrix, reduced, lam) if linear else from_kernel(matrix, reduced, lam)
    return with_own_slacks(Q, cost, lam, delta)


def with_own_slacks(Q: np.ndarray, cost: np.ndarray, lam: float, delta: float) -> np.ndarray:
    """Theta Q' Theta + diag(delta/(lam + delta C omega)), in place."""
    theta = lam / (lam + delta * cost)
    if delta > 0.0:
        Q *= theta
        Q *= theta[:, None]
        Q[np.diag_indices_from(Q)] += delta / (lam + delta * cost)
    return Q


def from_features(Z: Any, cost: np.ndarray, lam: float, Kz: np.ndarray | None = None) -> np.ndarray:
    """Q' of a linear correcting function; from Kz = ZZ', if it is known, where that is as good."""
    n, s = Z.shape
    if is_sparse(Z) and s >= n and Kz is None:
        wide = Z.astype(np.float64)
        Kz = (wide @ wide.T).toarray()
    if Kz is not None:
        top = float((cost * (Kz.diagonal() + 1.0)).sum())
        if is_sparse(Z) or top <= HARMLESS * lam:
            return from_kernel(Kz, cost, lam)
    rows = np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64)
    Zt = np.hstack([rows, np.ones((n, 1))])
    if s + 1 > n:  # rotated, all but n columns are 0
        Zt = np.ascontiguousarray(qr(Zt.T, mode="r", check_finite=False)[0][:n].T)
    return _from_factor(Zt, cost, lam)


def _from_factor(Zt: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    p = Zt.shape[1]
    stack = np.vstack([np.sqrt(cost)[:, None] * Zt, np.sqrt(lam) * np.eye(p)])
    R = qr(stack, mode="r", overwrite_a=True, check_finite=False)[0][:p]
    F = solve_triangular(R, Zt.T, trans=1, check_finite=False, overwrite_b=True)
    return np.asarray(F.T @ F)


def from_kernel(Kz: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    """Q' of a kernel matrix."""
    n = len(Kz)
    Kt = Kz + 1.0
    top = float(Kt.diagonal().max())
    G, pivots, rank, _ = dpstrf(Kt, lower=1, tol=n * EPS * top)
    if 2 * rank <= n:
        factor = np.zeros((n, rank))
        factor[pivots - 1] = np.tril(G[:, :rank])
        return _from_factor(factor, cost, lam)
    del G
    if not float(cost.min()) > 0.0:
        A = Kt * cost
        A[np.diag_indices(n)] += lam
        Q = np.linalg.solve(A, Kt)
        return np.asarray(0.5 * (Q + Q.T))
    root = np.sqrt(cost)
    B = Kt * root * root[:, None]
    A = B.copy()
    A[np.diag_indices(n)] += lam
    L, failed = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
    if failed:  # C/lam beyond what float64 resolves
        return _from_eigenvalues(B, root, lam)
    least, most = float(cost.min()), float(cost.max())
    if least * top < lam or most > SPREAD * least:
        Q, _ = dpotrs(L, B, lower=1)
        Q = 0.5 * (Q + Q.T)
    else:
        inverse, _ = dpotri(L, lower=1, overwrite_c=1)
        Q = np.tril(inverse) + np.tril(inverse, -1).T
        Q *= -lam
        Q[np.diag_indices(n)] += 1.0
    Q /= root
    Q /= root[:, None]
    return np.ascontiguousarray(Q)


def _from_eigenvalues(B: np.ndarray, root: np.ndarray, lam: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(B)
    values = np.maximum(values, 0.0)
    V = vectors / root[:, None]
    return np.asarray((V * (values / (lam + values))) @ V.T)


def check_kernel_matrix(name: str, K: Any, n: int | None = None) -> np.ndarray:
    """A finite, symmetric, positive semidefinite matrix as float64."""
    array = finite_array(name, K, (2,)).astype(np.float64)
    if array.shape[0] != array.shape[1] or (n is not None and len(array) != n):
        expected = "a square matrix" if n is None else f"shape ({n}, {n})"
        raise InvalidParameterError(
            name, f"shape {array.shape}", expected, "pass the kernel between all training examples"
        )
    top = float(np.abs(array).max())
    if float(np.abs(array - array.T).max()) > ROUNDING * top:
        raise InvalidParameterError(
            name, "a matrix that is not symmetric", "K = K'", "use (K + K') / 2"
        )
    check_definite(name, array, top)
    return array


def check_definite(name: str, K: np.ndarray, top: float) -> None:
    """K + ROUNDING top I has a Cholesky factor."""
    if not top > 0.0:
        return
    shifted = K.copy()
    shifted[np.diag_indices_from(shifted)] += ROUNDING * top
    _, failed = dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise InvalidParameterError(
            name,
            "a kernel matrix that is not positive semidefinite",
            "a positive semidefinite kernel",
            "choose another kernel or other parameters of it",
        )
