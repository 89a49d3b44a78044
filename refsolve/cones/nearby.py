"""Exact solutions of linear systems whose existence is proven near a computed one.

Unknowns that are in one equation alone, with a power of two, are eliminated first: they are found
without rounding once the others are. For what is left: with R about the inverse of a square B and
||I - RB|| < 1 the system Bx = t has one solution, and it is within ||R (t - Bx0)|| / (1 - ||I - RB||)
of any x0 (in the maximum norm). That is computed in floats with bounds on rounding, but the residual
t - Bx0, which is exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product, up

#: Largest dense system.
LARGEST = 2500
#: Coefficients whose reciprocal is a float.
_SMALLEST, _GREATEST = 2.0**-1000, 2.0**1000
#: More than any product that underflows.
_TINY = 1e-300


class Unproven(Exception):
    """No solution could be proven to exist; the message says why."""


class Equations:
    """Systems ``system @ y = target`` with one matrix.

    Parameters
    ----------
    system : (p, m) sparse matrix
    weight : (m,) array
        How welcome it is that an unknown moves, > 0; in the dense part the others stay at 0.
    needed : (p,) array, optional
        What each equation asks for, roughly: only unknowns of a thousand times that weight are
        eliminated.
    whole : pair of a (p, M) sparse matrix and a Dyadic (p,), optional
        Equations of which these are a part, and their constants. One that is a combination of others
        there, exactly, need not be looked at.

    Raises
    ------
    Unproven
        The equations are dependent, too many, or too badly scaled.
    """

    def __init__(
        self,
        system: Any,
        weight: Array,
        needed: Array | None = None,
        whole: tuple[Any, Dyadic] | None = None,
    ) -> None:
        self.rows = sp.csr_array(system)
        p, self.unknowns = self.rows.shape
        self.pairs = _own_unknowns(self.rows, weight, np.zeros(p) if needed is None else needed)
        owned = np.array([column for _, column in self.pairs], dtype=int)
        solved = np.array([row for row, _ in self.pairs], dtype=int)
        self.rest = np.setdiff1d(np.arange(p), solved)
        others = np.setdiff1d(np.arange(self.unknowns), owned)
        self.chosen = others[:0]
        if len(self.rest) == 0:
            return
        try:
            self._factorise(others, weight)
        except Unproven:
            if whole is None or len(self.rest) > LARGEST:
                raise
            kept = _independent(self.rows[self.rest], whole, self.rest)
            if len(kept) == len(self.rest):
                raise
            self.rest = self.rest[kept]
            self._factorise(others, weight)

    def _factorise(self, others: Array, weight: Array) -> None:
        """A square part of what is left, with its inverse."""
        p = len(self.rest)
        if p > LARGEST:
            raise Unproven(f"{p} unknown residuals are more than the {LARGEST} that are tried")
        if len(others) < p:
            raise Unproven(f"{p} equations have only {len(others)} unknowns with room to move")
        dense = self.rows[self.rest][:, others]
        order = _columns(dense, weight[others], p)
        self.chosen, B = others[order], dense[:, order].toarray()
        scale = 1.0 / np.maximum(np.abs(B).max(axis=1), _SMALLEST)
        self.scale = np.exp2(np.round(np.log2(scale)))  # powers of two: no rounding
        B = B * self.scale[:, None]
        try:
            self.inverse = np.linalg.inv(B)
        except np.linalg.LinAlgError:
            raise Unproven("the equations are dependent") from None
        self.above = 1 + 4 * (p + 4) * np.finfo(float).eps
        with np.errstate(all="ignore"):
            size = np.abs(self.inverse) @ np.abs(B) + np.eye(p)
            error = np.abs(np.eye(p) - self.inverse @ B) + (self.above - 1) * size
            self.contraction = float(error.sum(axis=1).max()) * self.above
        if not self.contraction < 0.5:
            raise Unproven("the equations are too nearly dependent to be certain of a solution")
        self.square = sp.csr_array(dense[:, order])

    def near(self, target: Dyadic) -> tuple[Dyadic, Array]:
        """A point x and eta >= 0 so that ``system @ y = target`` for some y with |y - x| <= eta."""
        numbers = np.zeros(self.unknowns, dtype=object)
        eta = np.zeros(self.unknowns)
        x = Dyadic(numbers, 0)
        if len(self.rest):
            part, reach = self._dense(target[self.rest])
            numbers[self.chosen], eta[self.chosen] = part.numbers, reach
            x = Dyadic(numbers, part.bits)
        if self.pairs:
            x, eta = self._substituted(target, x, eta)
        if not np.all(np.isfinite(eta)):
            raise Unproven("the equations are too badly scaled")
        return x, eta

    def _dense(self, target: Dyadic) -> tuple[Dyadic, float]:
        powers, x = Dyadic.of(self.scale), Dyadic.of(np.zeros(len(self.rest)))
        for _ in range(3):  # each step gains about sixteen digits, the residual being exact
            with np.errstate(all="ignore"):
                step = self.inverse @ (powers * (target - product(self.square, x))).above()
            if not np.all(np.isfinite(step)):
                raise Unproven("the equations are too badly scaled")
            x = x + Dyadic.of(step)
        left = powers * (target - product(self.square, x))
        bound = np.maximum(left.above(), (-left).above())
        with np.errstate(all="ignore"):
            reach = float((np.abs(self.inverse) @ bound).max()) * self.above
        reach += _TINY * bool(bound.any())
        return x, reach / (1 - self.contraction) * (1 + 1e-14)

    def _substituted(self, target: Dyadic, x: Dyadic, eta: Array) -> tuple[Dyadic, Array]:
        """Unknowns of their own, the last eliminated first."""
        found = {j: x.fraction(j) for j in self.chosen.tolist()}
        for row, column in reversed(self.pairs):
            span = slice(self.rows.indptr[row], self.rows.indptr[row + 1])
            left, reach, own = target.fraction(row), 0.0, 1.0
            columns, data = self.rows.indices[span].tolist(), self.rows.data[span].tolist()
            for j, a in zip(columns, data, strict=True):
                if j == column:
                    own = a
                elif j in found:
                    left -= Fraction(a) * found[j]
                    reach += abs(a) * float(eta[j])
            found[column] = left / Fraction(own)
            if reach:
                size = 1 + 4 * (len(data) + 4) * np.finfo(float).eps
                eta[column] = (reach * size + _TINY) / abs(own) * (1 + 1e-15) + _TINY
        bits = max(value.denominator.bit_length() - 1 for value in found.values())
        numbers = np.zeros(self.unknowns, dtype=object)
        for j, value in found.items():  # denominators are powers of two
            numbers[j] = value.numerator << (bits - (value.denominator.bit_length() - 1))
        return Dyadic(numbers, bits), eta


def _independent(rows: Any, whole: tuple[Any, Dyadic], at: Array) -> Array:
    """Rows of which the others are combinations, in the whole system and exactly; all if unsure."""
    from scipy.linalg import qr

    everything = np.arange(len(at))
    matrix, constants = sp.csr_array(whole[0])[at], whole[1][at]
    R, order = qr(matrix.toarray().T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > 1e-11 * size.max(initial=0.0)))
    if rank == len(at):
        return everything
    keep, drop = np.sort(order[:rank]), np.sort(order[rank:])
    mixed = np.linalg.lstsq(matrix[keep].toarray().T, matrix[drop].toarray().T, rcond=None)[0]
    few = np.round(mixed * 2.0**12) / 2.0**12
    columns = sp.csr_array(matrix[keep].T)
    for j, row in enumerate(drop.tolist()):
        share = Dyadic.of(few[:, j])
        rest = product(columns, share) - Dyadic.of(matrix[[row]].toarray().ravel())
        if not rest.zero.all() or (share * constants[keep]).total() != constants.fraction(row):
            return everything
    return keep


def rounded(values: Dyadic) -> Array:
    """Floats of about the size."""
    return np.array([up(values.fraction(i)) for i in range(len(values))])


def _columns(system: Any, weight: Array, p: int) -> Array:
    """Columns that make a well-conditioned square of size p, heavy ones first (a proposal)."""
    _, order = qr(system.toarray() * weight, mode="r", pivoting=True)
    return np.sort(order[:p])


def _own_unknowns(rows: Any, weight: Array, needed: Array) -> list[tuple[int, int]]:
    """Pairs (equation, unknown) in the order of elimination, coefficients powers of two."""
    columns = rows.tocsc()
    mantissa, _ = np.frexp(np.abs(columns.data))
    size = np.abs(columns.data)
    exact = (mantissa == 0.5) & (size >= _SMALLEST) & (size <= _GREATEST)
    left = np.diff(columns.indptr)
    active = np.ones(rows.shape[0], dtype=bool)
    queue = np.flatnonzero(left == 1).tolist()
    queue.sort(key=lambda j: weight[j])  # heavy ones are taken from the end
    pairs: list[tuple[int, int]] = []
    while queue:
        j = queue.pop()
        span = slice(columns.indptr[j], columns.indptr[j + 1])
        alive = np.flatnonzero(active[columns.indices[span]])
        if len(alive) != 1:
            continue
        at = columns.indptr[j] + int(alive[0])
        i = int(columns.indices[at])
        if not exact[at] or not weight[j] > 1e3 * needed[i] / size[at]:
            continue
        pairs.append((i, j))
        active[i] = False
        for k in rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tolist():
            left[k] -= 1
            if left[k] == 1 and k != j:
                queue.append(k)
    return pairs
