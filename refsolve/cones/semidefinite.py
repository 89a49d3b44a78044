"""Positive semidefinite matrices: what is certain of their eigenvalues.

A floating-point Cholesky factorisation of M - cI that goes through proves M positive definite, c being
what rounding can hide (Rump, "Verification of positive definiteness", BIT 2006, Theorem 2.3). Matrices
known up to a radius R are lowered by the largest row sum of R more (Jansson, Chaykin & Keil, SIAM J.
Numer. Anal. 2007, section 4). Singular ones of small order are decided in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from refsolve._lazy import clarabel
from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic

#: Largest order that is factorised in integers.
EXACT = 24
_EPS = float(np.finfo(float).eps)
#: More than what underflows in any entry.
_TINY = 1e-290
#: A diagonal entry below this share of the largest is not scaled to 1.
_LEAST = 2.0**-60


def _scale(M: Array) -> Array:
    """Powers of two d that bring the diagonal of d M d near 1: nothing is rounded."""
    diagonal = np.diag(M)
    floor = max(float(diagonal.max(initial=0.0)) * _LEAST, _TINY)
    return np.exp2(-np.round(np.log2(np.maximum(diagonal, floor)) / 2))


def _hidden(M: Array) -> float:
    """More than rounding can hide in a Cholesky factorisation: twice (n + 4) u trace(M), u = 2^-53."""
    return (len(M) + 4) * _EPS * float(np.abs(np.diag(M)).sum()) + _TINY


def positive(M: Array, radius: Array) -> bool:
    """Whether every symmetric matrix within ``radius``, entry by entry, of ``M`` is certainly definite.

    Rows that are exactly zero, with radius 0, are left out.
    """
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(radius))):
        return False
    used = np.any((M != 0) | (radius != 0), axis=0)
    if not used.any():
        return True
    M, radius = M[np.ix_(used, used)], radius[np.ix_(used, used)]
    if np.any(np.diag(M) <= 0):
        return False
    d = _scale(M)
    M, radius = M * d[:, None] * d, radius * d[:, None] * d
    lower = float(radius.sum(axis=1).max()) * (1 + 4 * len(M) * _EPS) + _hidden(M)
    try:
        np.linalg.cholesky(M - lower * np.eye(len(M)))
    except np.linalg.LinAlgError:
        return False
    return True


def semidefinite_in_integers(M: list[list[int]]) -> bool:
    """Whether a symmetric matrix of integers is positive semidefinite (Bareiss, diagonal pivots)."""
    M, previous = [list(row) for row in M], 1
    while M:
        diagonal = [row[i] for i, row in enumerate(M)]
        if min(diagonal) < 0:
            return False
        k = max(range(len(M)), key=diagonal.__getitem__)
        pivot = M[k][k]
        if pivot == 0:
            return not any(any(row) for row in M)
        others = [i for i in range(len(M)) if i != k]
        M = [[(pivot * M[i][j] - M[i][k] * M[k][j]) // previous for j in others] for i in others]
        previous = pivot
    return True


@dataclass(frozen=True)
class Semidefinite:
    """Symmetric positive semidefinite matrices, as the upper triangle, columns first.

    Attributes
    ----------
    order : int

    Notes
    -----
    Slacks are the entries s_ij, i <= j, themselves. <z, s> is the sum of their products, so that the
    multipliers are those of the matrix with z_ii on the diagonal and z_ij / 2 beside it, and the dual
    cone is where that is positive semidefinite. Clarabel wants sqrt(2) s_ij: `scale`.
    """

    order: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.order * (self.order + 1) // 2

    @cached_property
    def places(self) -> tuple[Array, Array]:
        """Row and column of each entry, rows first within a column."""
        column, row = np.tril_indices(self.order)
        return row, column

    @cached_property
    def diagonal(self) -> Array:
        """Which rows are on the diagonal."""
        row, column = self.places
        return np.flatnonzero(row == column)

    @property
    def scale(self) -> Array:
        """What Clarabel's rows are multiplied by."""
        scale = np.full(self.size, np.sqrt(2.0))
        scale[self.diagonal] = 1.0
        return scale

    def clarabel(self) -> list[Any]:
        """The cone of Clarabel, for rows multiplied by `scale`."""
        return [clarabel.PSDTriangleConeT(self.order)]

    def inwards(self, dual: bool) -> Array:
        """The identity, in either cone."""
        step = np.zeros(self.size)
        step[self.diagonal] = 1.0
        return step

    def matrix(self, entries: Array, *, dual: bool = False) -> Array:
        """The symmetric matrix of slacks or of multipliers."""
        row, column = self.places
        M = np.zeros((self.order, self.order), dtype=np.asarray(entries).dtype)
        M[row, column] = M[column, row] = entries
        if dual:
            M = M / 2
            M[np.diag_indices(self.order)] *= 2
        return M

    def violation(self, s: Dyadic, reach: Array) -> float:
        """At least how far, in the spectral norm, points within ``reach`` of ``s`` are outside; 0: none is."""
        above = s.above()
        if not (np.all(np.isfinite(above)) and np.all(np.isfinite(reach))):
            return float("inf")
        M = self.matrix(above)
        # floats may be a unit in the last place above the numbers
        radius = self.matrix(np.nextafter(reach + (above - s.below()), np.inf))
        radius[self.matrix(above == 0) & (self.matrix(reach) == 0)] = 0.0
        if positive(M, radius):
            return 0.0
        exact = not np.any(reach) and self.order <= EXACT
        if exact and semidefinite_in_integers(self.matrix(s.numbers).tolist()):
            return 0.0
        least = float(np.linalg.eigvalsh(M)[0])
        lack = max(-least, 0.0) * (1 + 1e-12) + float(radius.sum(axis=1).max())
        for wider in (1.5, 4.0, 32.0, 1e3, 1e6):
            shift = lack * (1 + 1e-12) + wider * _hidden(M + lack * np.eye(self.order))
            raised = M + shift * np.eye(self.order)
            if positive(raised, radius + np.diag(_EPS * np.abs(np.diag(raised)))):
                return shift
        return float("inf")

    def into_dual(self, z: Array) -> Array:
        """Multipliers with a diagonal raised by what a proof lacks; nan where there is none."""
        Z = self.matrix(z, dual=True)
        nothing = np.zeros_like(Z)
        if not np.all(np.isfinite(Z)):
            return np.full(self.size, np.nan)
        if self._in_dual(z, Z):
            return np.array(z, dtype=float)
        choices = []
        for d in (np.ones(self.order), _scale(Z)):
            form = Z * d[:, None] * d
            lack = max(-float(np.linalg.eigvalsh(form)[0]), 0.0) * (1 + 1e-12)
            for wider in (1.5, 4.0, 32.0, 1e3):
                shift = lack + wider * _hidden(form + lack * np.eye(self.order))
                raised = z.astype(float)
                raised[self.diagonal] = np.nextafter(z[self.diagonal] + shift / d**2, np.inf)
                if positive(self.matrix(raised, dual=True), nothing):
                    choices.append((float((shift / d**2).sum()), raised))
                    break
        if not choices:
            return np.full(self.size, np.nan)
        # as little on the whole as needed, and no more than a little of it on small entries
        return choices[-1][1] if choices[-1][0] <= 4 * choices[0][0] else choices[0][1]

    def _in_dual(self, z: Array, Z: Array) -> bool:
        if positive(Z, np.zeros_like(Z)):
            return True
        if self.order > EXACT:
            return False
        numbers = self.matrix(Dyadic.of(z).numbers)
        doubled = numbers + np.diag(np.diag(numbers))  # 2 Z
        return semidefinite_in_integers(doubled.tolist())

    def room(self, z: Array, eta: Array) -> bool:
        """Whether all multipliers within ``eta`` of ``z`` are certainly in the dual cone."""
        if not np.any(eta):
            return self._in_dual(z, self.matrix(z, dual=True))
        return positive(self.matrix(z, dual=True), self.matrix(np.asarray(eta), dual=True))

    def freedom(self, z: Array) -> float:
        """The least eigenvalue, about."""
        Z = self.matrix(z.astype(float), dual=True)
        return max(float(np.linalg.eigvalsh(Z)[0]), 0.0) if np.all(np.isfinite(Z)) else 0.0

    def slope(self, s: Array) -> Array:
        """Of the least eigenvalue, about."""
        M = self.matrix(s)
        if not np.all(np.isfinite(M)):
            return self.inwards(False)
        row, column = self.places
        v = np.linalg.eigh(M)[1][:, 0]
        return np.where(row == column, 1.0, 2.0) * v[row] * v[column]

    def narrow(self, lo: Array, hi: Array) -> None:
        """Ranges of the slacks, in place: the diagonal is >= 0, |s_ij| <= sqrt(s_ii s_jj)."""
        lo[self.diagonal] = np.maximum(lo[self.diagonal], 0.0)
        with np.errstate(over="ignore"):
            root = np.sqrt(np.maximum(hi[self.diagonal], 0.0)) * (1 + 4 * _EPS) + 1e-150
            row, column = self.places
            far = np.nextafter(root[row] * root[column], np.inf) * (1 + 4 * _EPS)
        beside = row != column
        hi[beside] = np.minimum(hi[beside], far[beside])
        lo[beside] = np.maximum(lo[beside], -far[beside])
