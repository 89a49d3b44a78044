"""Solutions of underdetermined equations that are proven to exist near a computed point.

For C with rows of full rank and D = diag(weights), C y = rho has the solution

    y = D^2 C' (C D^2 C')^-1 rho,   |y_i| <= D_i ||S rho|| / sqrt(lam),   lam I <= S C D^2 C' S,

S a diagonal that brings the rows of C D to a length of about 1. D and S are powers of two, so that
nothing but S C D^2 C' S itself is rounded; `least_eigenvalue` bounds lam by a factorisation in floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from refsolve._types import Array
from refsolve.cones.enclosure import EPS, TINY, Enclosed, above, norm

#: Systems that are solved as dense ones, and how many numbers a sparse one may have.
DENSE, LARGEST_DENSE, MOST = 300, 6000, 20_000_000
#: Of more equations than are solved as dense ones, unknowns in no more than these are tried alone first.
FEW = 4


class Unproven(Exception):
    """No solution could be proven to exist; the message says why."""


def power_of_two(values: Array) -> Array:
    """Powers of two near positive numbers, 0 where a number is 0."""
    with np.errstate(all="ignore"):
        powers = np.exp2(np.clip(np.round(np.log2(values)), -400, 400))
    return np.where(values > 0, powers, 0.0)


def least_eigenvalue(matrix: Any, error: float = 0.0, factor: Factor | None = None) -> float:
    """A number that no eigenvalue of a symmetric matrix is below; 0 or less where none is found.

    Parameters
    ----------
    matrix : (p, p) sparse or dense matrix
        Its diagonal about 1.
    error : float
        By how much (spectral norm) ``matrix`` may differ from what is meant.
    factor : Factor, optional
        Of ``matrix``, where it is known.
    """
    factor = factor or Factor.of(matrix)
    if factor is None:
        return 0.0
    guess = factor.smallest()
    for share in (0.5, 0.1, 1e-2):
        shift = share * guess
        if shift <= error:
            break
        size = matrix.shape[0]
        moved = matrix - shift * (np.eye(size) if not sp.issparse(matrix) else sp.eye_array(size))
        shifted = Factor.of(moved, diagonal=abs(shift))
        if shifted is not None and shifted.error + error < shift:
            return float((shift - shifted.error - error) * (1 - 4 * EPS))
    return 0.0


def by_diagonal(matrix: Any) -> Any:
    """Factors of a sparse symmetric matrix, pivots on its diagonal, which keeps them sparse, or None."""
    pivots: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    try:
        return splu(sp.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", **pivots)
    except (RuntimeError, MemoryError):
        return None


def envelope(matrix: Any) -> float:
    """About how many numbers factors of a sparse symmetric matrix have at most: rows times bandwidth.

    In the order of Cuthill and McKee, few dense rows set apart.
    """
    pattern = sp.csr_array(matrix)
    size, degree = pattern.shape[0], np.diff(pattern.indptr)
    thin = np.flatnonzero(degree <= 10 + 2 * np.sqrt(size))
    pattern = pattern[thin][:, thin]
    order = reverse_cuthill_mckee(sp.csr_matrix(pattern), symmetric_mode=True)
    place = np.argsort(order)
    entries = pattern.tocoo()
    width = np.abs(place[entries.row] - place[entries.col]).max(initial=0)
    return float(size) * float(width + size - len(thin))


class Factor:
    """A factorisation of a symmetric matrix, and how far it may be from being positive semidefinite.

    Attributes
    ----------
    error : float
        The matrix plus ``error`` times the identity is certain to be positive semidefinite. Dense: a
        Cholesky factorisation went through (Rump, BIT 2006, Theorem 2.3). Sparse: an LU
        factorisation by the diagonal, D = diag(U) > 0, k entries at most in a row of L: the matrix is
        LDL' + L(U - DL') + E with |E| <= gamma_k |L||U| (Higham 2002, Theorem 9.3).
    """

    def __init__(self, solve: Any, size: int, error: float) -> None:
        self.solve, self.size, self.error = solve, size, error

    @classmethod
    def of(cls, matrix: Any, diagonal: float = 0.0) -> Factor | None:
        """None if there is none; ``diagonal``: what was subtracted from it, for its rounding."""
        size, given = matrix.shape[0], matrix
        if not sp.issparse(matrix):
            hidden = 2 * (size + 4) * EPS * (float(np.abs(np.diag(matrix)).sum()) + diagonal) + TINY
            try:
                lower = np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                return None
            return cls(lambda v: cho_solve((lower, True), v, check_finite=False), size, hidden)
        found = by_diagonal(given)
        if found is None:
            return None
        L, U = sp.csr_array(found.L), sp.csr_array(found.U)
        pivots = U.diagonal()
        if not (np.array_equal(found.perm_r, found.perm_c) and np.all(pivots > 0)):
            return None
        apart = abs(U - sp.csr_array(L.T.multiply(pivots[:, None])))
        terms = int(np.diff(L.indptr).max(initial=0)) + 8
        ones = np.ones(size)
        rough = (abs(U) @ ones) * (2 * terms * EPS) + above(apart @ ones, size)
        rows = above(abs(L) @ rough, 3 * size)
        return cls(found.solve, size, float(rows.max(initial=0.0)) + EPS * diagonal + TINY)

    def smallest(self) -> float:
        """About the smallest eigenvalue, by inverse iteration."""
        vector = np.cos(np.arange(1.0, self.size + 1.0) ** 2)
        size = 1.0
        for _ in range(12):
            with np.errstate(all="ignore"):
                vector = self.solve(vector / np.linalg.norm(vector))
                size = float(np.linalg.norm(vector))
            if not 0 < size < np.inf:
                return 0.0
        return 1.0 / size


class System:
    """Equations C y = rho with weights on the unknowns.

    Parameters
    ----------
    C : (p, N) sparse matrix
    weights : (N,) array
        How far an unknown may move, about; those of weight 0 stay.

    Raises
    ------
    Unproven
        The equations are dependent (or nearly), or too many.
    """

    def __init__(self, C: Any, weights: Array) -> None:
        self.D = power_of_two(weights)
        G = sp.csr_array(C) @ sp.diags_array(self.D)
        G.eliminate_zeros()
        p = G.shape[0]
        with np.errstate(all="ignore"):
            length = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
        if not np.all((length > 1e-140) & (length < 1e140)):
            raise Unproven("an equation has no unknown that may move")
        self.S = 1.0 / power_of_two(length)
        self.G = sp.csr_array(sp.diags_array(self.S) @ G)
        M = square(self.G)
        ones = np.ones(p)
        terms = int(np.diff(self.G.indptr).max(initial=0)) + 8
        rough = above(abs(self.G) @ (abs(self.G.T) @ ones), p + self.G.shape[1])
        error = float(rough.max(initial=0.0)) * terms * EPS
        factor = Factor.of(M)
        if factor is None:
            raise Unproven("the equations are dependent")
        self.factor = factor
        self.least = least_eigenvalue(M, error, factor)
        if not self.least > 0:
            raise Unproven("the equations are too nearly dependent to be certain of a solution")

    def step(self, rho: Array) -> Array:
        """About the solution of least size, in the weights."""
        with np.errstate(all="ignore"):
            return np.asarray(self.D * (self.G.T @ self.factor.solve(self.S * rho)))

    def reach(self, rho: Enclosed) -> Array:
        """How far at most, entry by entry, some exact solution is from 0."""
        with np.errstate(all="ignore"):
            size = norm(np.nextafter(self.S * rho.size(), np.inf))
            share = size / np.sqrt(self.least) * (1 + 8 * EPS)
            return np.nextafter(self.D * share, np.inf) * (self.D > 0) if size else 0 * self.D


def system_of(C: Any, weights: Array) -> System:
    """Equations whose unknowns move as far as they may, or less unevenly where rounding forbids that."""
    refused, weights = Unproven(""), np.maximum(weights, 0.0)
    many = np.diff(sp.csc_array(C).indptr) > FEW
    few = [np.where(many, 0.0, weights)] if C.shape[0] > DENSE and many.any() else []
    for given in (*few, weights):
        for power in (1.0, 0.5, 0.25):
            try:
                return System(C, given**power)
            except Unproven as error:
                refused = error
    raise refused


def square(G: Any) -> Any:
    """G G', dense where that is cheaper."""
    p, N = G.shape
    rows = np.diff(sp.csc_array(G).indptr).astype(float)
    filled = float(rows @ rows)
    if p > DENSE and min(filled, p * p) <= (0.05 if p <= 2000 else 0.15) * p * p:
        if filled > MOST:
            raise Unproven(f"{p} equations with {filled:.0f} products are more than are tried")
        return sp.csc_array(G @ G.T)
    if p > LARGEST_DENSE:
        raise Unproven(f"{p} equations that hang together are more than are tried")
    if p * N <= 3e7 and filled > 0.01 * p * p * N:
        dense = G.toarray()
        return dense @ dense.T
    return (G @ G.T).toarray()
