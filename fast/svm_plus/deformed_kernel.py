"""The deformed kernel of SVM2+ without cancellation, and checks of kernel matrices.

Q = (lam I + C Kt Omega)^-1 Kt,   Kt = Kz + 1 + diag(delta),   Omega = diag(omega)   (Xu et al. 2016, (5))

Printed as a difference, (5) loses all digits where C Kt is large beside lam. Here the own slacks
delta_i = free_slack/omega_i leave first: with theta_i = lam/(lam + delta_i C omega_i)

Q = Theta Q' Theta + diag(delta/(lam + delta C omega)),   Q' without delta and at cost C omega theta

and Q' comes from a factor Kt = Z Z' where there is a short one: F = Z R^-1 with the triangle R of
[sqrt(cost) Z; sqrt(lam) I], Q' = F F'. Otherwise from the Cholesky factor of
A = lam I + S Kt S, S = sqrt(cost): Q' = S^-1 (I - lam A^-1) S^-1, or S^-1 A^-1 S Kt at small cost.
"""

from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dpstrf, spotri

from fast._numba import kernel
from fast._validation import number, per_row, raise_bad_entry, real_array
from fast.errors import InvalidParameterError
from fast.solvers.rows import is_sparse
from fast.svm_plus.problem import check_matrix

EPS = float(np.finfo(float).eps)
ROUNDING = 1e-7  # of the largest entry: kernels are computed with errors of up to sqrt(eps)
LARGEST = 1e150
TILE = 64
HARMLESS = 4e3  # condition number up to which a product ZZ' costs no digits that count
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
    """Q = (lam I + C Kt Omega)^-1 Kt with Kt = Kz + 1 + free_slack Omega^-1.

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
        0 for no own slacks; an example of weight zero has none.

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
    price = number("free_slack", free_slack)
    if (Z is None) == (Kz is None):
        given = "neither" if Z is None else "both"
        raise InvalidParameterError("Z, Kz", given, "one of them", "pass Z, or a kernel as Kz")
    matrix = check_matrix("Z", Z) if Kz is None else check_kernel_matrix("Kz", Kz)
    short = Kz is None or not check_definite("Kz", matrix)
    n = matrix.shape[0]
    omega = np.ones(n) if sample_weight is None else per_row("sample_weight", sample_weight, n)
    cost, delta = C * omega, np.divide(price, omega, out=np.zeros(n), where=omega > 0.0)
    reduced = cost * (lam / (lam + delta * cost))
    if Kz is None:
        Q = from_features(matrix, reduced, lam)
    else:
        Q = from_kernel(matrix, reduced, lam, short)
    return with_own_slacks(Q, cost, lam, delta)


def with_own_slacks(Q: np.ndarray, cost: np.ndarray, lam: float, delta: Any) -> np.ndarray:
    """Theta Q' Theta + diag(delta/(lam + delta C omega)), in place."""
    theta = lam / (lam + delta * cost)
    if np.any(delta > 0.0):
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


def from_kernel(Kz: np.ndarray, cost: np.ndarray, lam: float, short: bool = True) -> np.ndarray:
    """Q' of a kernel matrix; ``short``: a factor with few columns may exist."""
    n = len(Kz)
    Kt = Kz + 1.0
    top = float(Kt.diagonal().max())
    if short:
        G, pivots, rank, _ = dpstrf(Kt.T, lower=1, tol=n * EPS * top)
        if 2 * rank <= n:
            factor = np.zeros((n, rank))
            factor[pivots - 1] = np.tril(G[:, :rank])
            return _from_factor(factor, cost, lam)
        del G
    least, most = float(cost.min()), float(cost.max())
    if not least > 0.0:
        A = Kt * cost
        A[np.diag_indices(n)] += lam
        Q = np.linalg.solve(A, Kt)
        return np.asarray(0.5 * (Q + Q.T))
    if least * top < lam or most > SPREAD * least:
        root = np.sqrt(cost)
        B = Kt * root * root[:, None]
        A = B.copy()
        A[np.diag_indices(n)] += lam
        L, _ = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        Q, _ = dpotrs(L, B.T, lower=1, overwrite_b=1)
        Q = 0.5 * (Q + Q.T)
        Q /= root
        Q /= root[:, None]
        return np.ascontiguousarray(Q)
    inverse = Inverse(Kz, cost, lam)
    if inverse.failed:
        root = inverse.root
        return _from_eigenvalues((Kz + 1.0) * root * root[:, None], root, lam)
    return inverse.matrix()


class Inverse:
    """Q' = S^-1 (I - lam A^-1) S^-1 by the Cholesky factor L of A = lam I + S Kt S."""

    def __init__(self, Kz: np.ndarray, cost: np.ndarray, lam: float) -> None:
        self.lam, self.root = lam, np.sqrt(cost)
        A = Kz + 1.0
        A *= self.root
        A *= self.root[:, None]
        self.trace = float(A.trace())
        A[np.diag_indices_from(A)] += lam
        self.L, self.failed = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)

    def matrix(self) -> np.ndarray:
        """Q' (n, n)."""
        inverse, _ = dpotri(self.L, lower=1)
        from_inverse(inverse.T, self.root, self.lam)
        return np.asarray(inverse.T)

    def rough(self) -> np.ndarray:
        """Q' in float32: wrong by up to 6e-8 times the condition number of A, in half the time."""
        inverse, _ = spotri(self.L.astype(np.float32), lower=1, overwrite_c=1)
        from_inverse(inverse.T, self.root, self.lam)
        return np.asarray(inverse.T)

    def product(self, gamma: np.ndarray) -> np.ndarray:
        """Q' gamma."""
        x = gamma / self.root
        return np.asarray((x - self.lam * dpotrs(self.L, x, lower=1)[0]) / self.root)


@kernel
def from_inverse(Q: np.ndarray, root: np.ndarray, lam: float) -> None:
    """Make of A^-1 in the upper triangle of Q all of S^-1 (I - lam A^-1) S^-1."""
    n = len(Q)
    for start in range(0, n, TILE):
        end = min(start + TILE, n)
        for across in range(start, n, TILE):
            for i in range(start, end):
                for j in range(max(across, i), min(across + TILE, n)):
                    value = 1.0 - lam * Q[i, j] if i == j else -lam * Q[i, j]
                    value /= root[i] * root[j]
                    Q[i, j] = value
                    Q[j, i] = value


@kernel
def extremes(K: np.ndarray) -> tuple[float, float, float]:
    """Largest |K_ij|, largest |K_ij - K_ji| and the sum of all |K_ij| (finite if all are)."""
    n = len(K)
    top, skew, total = 0.0, 0.0, 0.0
    for start in range(0, n, TILE):
        end = min(start + TILE, n)
        for across in range(start, n, TILE):
            for i in range(start, end):
                for j in range(max(across, i), min(across + TILE, n)):
                    a, b = K[i, j], K[j, i]
                    top = max(top, abs(a), abs(b))
                    skew = max(skew, abs(a - b))
                    total += abs(a) + abs(b)
    return top, skew, total


def _from_eigenvalues(B: np.ndarray, root: np.ndarray, lam: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(B)
    values = np.maximum(values, 0.0)
    V = vectors / root[:, None]
    return np.asarray((V * (values / (lam + values))) @ V.T)


def check_kernel_matrix(name: str, K: Any, n: int | None = None) -> np.ndarray:
    """A finite, symmetric matrix as float64."""
    array = real_array(name, K, (2,))
    if array.shape[0] != array.shape[1] or (n is not None and len(array) != n):
        expected = "a square matrix" if n is None else f"shape ({n}, {n})"
        raise InvalidParameterError(
            name, f"shape {array.shape}", expected, "pass the kernel between all training examples"
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    top, skew, total = extremes(array)
    if not (np.isfinite(total) and top <= LARGEST):
        raise_bad_entry(name, array, limit=LARGEST)
    if skew > ROUNDING * top:
        raise InvalidParameterError(
            name, "a matrix that is not symmetric", "K = K'", "use (K + K') / 2"
        )
    return array


def check_definite(name: str, K: np.ndarray) -> bool:
    """K, or at least K + ROUNDING max|K| I, has a Cholesky factor; whether K has no short one."""
    n, top = len(K), float(K.diagonal().max())
    L, failed = dpotrf(K.T, lower=1, clean=0)
    if not failed and float(L.diagonal().min()) ** 2 > n * EPS * top:
        return True
    check_shifted(name, K)
    return False


def check_shifted(name: str, K: np.ndarray) -> None:
    """K + ROUNDING max|K| I has a Cholesky factor."""
    top = float(max(K.max(), -K.min()))
    if top > 0.0:
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


def _warmup() -> None:
    """Compile the kernels of this module."""
    Q = np.eye(2)
    from_inverse(Q, np.ones(2), 0.5)
    from_inverse(Q.astype(np.float32), np.ones(2), 0.5)
    extremes(Q)


def check_correction(Kz: Any, Z: Any, Q: Any, n: int, squared: bool) -> tuple[Any, bool]:
    """Kz or Z, and whether it is Z."""
    if Kz is not None and Z is not None:
        raise InvalidParameterError("Z, Kz", "both", "one of them", "pass Z, or a kernel as Kz")
    if Z is not None:
        Z = check_matrix("Z", Z)
        if Z.shape[0] != n:
            raise InvalidParameterError(
                "Z", f"{Z.shape[0]} rows", f"{n} rows, as many as K", "pass one row of Z per row"
            )
        return Z, True
    if Kz is not None:
        return check_kernel_matrix("Kz", Kz, n), False
    if Q is None or not squared:
        raise InvalidParameterError(
            "Z, Kz", "neither", "one of them", "pass Z, or a kernel on privileged features as Kz"
        )
    return None, False
