"""Ranges of the variables that follow from the constraints, by interval arithmetic rounded outwards.

Rows hand ranges from variable to variable; cones tie the slacks of a block together; a level that
the objective need not exceed bounds what it charges for. Ranges are only ever narrowed by what is
certain, so that stopping early is no error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve._types import Array
from refsolve.cones.program import ConeProgram

#: Share of the terms' absolute sum by which every sum is widened: thousands of roundings of n terms.
_WIDER = 4.0 * np.finfo(float).eps
_TINY = 1e-300


class Ranges:
    """Intervals [lo, hi] of the variables of a program.

    Parameters
    ----------
    program : ConeProgram
    box : pair of (n,) arrays, optional
        What is declared of the variables beforehand.
    """

    def __init__(self, program: ConeProgram, box: tuple[Array, Array] | None = None) -> None:
        self.program = program
        n, m = len(program.q), len(program.b)
        self.lo, self.hi = np.full(n, -np.inf), np.full(n, np.inf)
        if box is not None:
            self.lo, self.hi = (np.array(side, dtype=float) for side in box)
        self.slack_lo, self.slack_hi = np.full(m, -np.inf), np.full(m, np.inf)
        entries = program.A.tocsr().tocoo()
        self.row, self.column, self.data = entries.row, entries.col, entries.data
        self.count = np.bincount(self.row, minlength=m)
        self.empty = False

    def narrow(
        self, rounds: int = 40, level: float = np.inf, curvature: Array | None = None
    ) -> None:
        """Hand ranges on, ``rounds`` times at most.

        Parameters
        ----------
        rounds : int
        level : float
            Points whose objective is above it need not be kept.
        curvature : (n,) array, optional
            d >= 0 with P - diag(d) positive semidefinite (only then is ``level`` used).
        """
        for _ in range(rounds):
            before = np.concatenate((self.lo, self.hi, self.slack_lo, self.slack_hi))
            self._cones()
            self._rows()
            if np.isfinite(level) and curvature is not None and np.all(curvature >= 0):
                self._level(level, curvature)
            if np.any(self.lo > self.hi) or np.any(self.slack_lo > self.slack_hi):
                self.empty = True
                return
            after = np.concatenate((self.lo, self.hi, self.slack_lo, self.slack_hi))
            known = np.isfinite(before)
            gained = np.subtract(after, before, where=known, out=np.zeros_like(after))
            if np.array_equal(known, np.isfinite(after)) and np.all(
                np.abs(gained[known]) <= 1e-3 * np.abs(before[known])
            ):
                return

    def charge(self, z: Array, most: float) -> None:
        """Narrow by multipliers: slacks s >= 0 of rows with z >= 0 are worth keeping where z's <= most."""
        rows = slice(self.program.zero, self.program.zero + self.program.nonneg)
        with np.errstate(all="ignore"):
            high = np.where(z[rows] > 0, _wide(most / z[rows]), np.inf)
        self.slack_hi[rows] = np.minimum(self.slack_hi[rows], high)
        self.narrow(rounds=4)

    def _rows(self) -> None:
        """Ax + s = b: each entry of a row is what the others leave.

        Lower ends of the terms give upper ends of slacks and of each term; with every sign turned
        upper ends give lower ones.
        """
        ends = _times(self.data, self.lo[self.column], self.hi[self.column])
        m = len(self.program.b)
        # of a + s + terms = b every part is b less the rest; the slack is one more term
        for sign, part in ((1.0, ends[0]), (-1.0, -ends[1])):
            known, b = np.isfinite(part), sign * self.program.b
            finite = np.where(known, part, 0.0)
            unknown = np.bincount(self.row, ~known, minlength=m)
            total = np.bincount(self.row, finite, minlength=m)
            size = np.bincount(self.row, np.abs(finite), minlength=m)
            error = _WIDER * (self.count + 8) * (size + np.abs(b)) + _TINY
            high = np.where(unknown == 0, b - total + error, np.inf)
            if sign > 0:
                slack = self.slack_lo
                self.slack_hi = np.minimum(self.slack_hi, high)
            else:
                slack = -self.slack_hi
                self.slack_lo = np.maximum(self.slack_lo, -high)
            top = b[self.row] - slack[self.row] - (total[self.row] - finite)
            top += (error + _WIDER * np.abs(np.where(np.isfinite(slack), slack, 0.0)))[self.row]
            certain = unknown[self.row] == ~known
            self._divide(sign * np.where(certain, top, np.inf), upper=sign > 0)

    def _divide(self, end: Array, *, upper: bool) -> None:
        """A_ij x_j <= end (or >=): a bound of x_j on the side that the sign says."""
        with np.errstate(over="ignore", invalid="ignore"):
            value = end / self.data
        finite = np.isfinite(value)
        value = np.where(finite, value, 0.0)
        wider = 2 * np.finfo(float).eps * np.abs(value) + _TINY
        is_top = (self.data > 0) == upper
        top = np.where(is_top & finite, value + wider, np.inf)
        bottom = np.where(~is_top & finite, value - wider, -np.inf)
        np.minimum.at(self.hi, self.column, top)
        np.maximum.at(self.lo, self.column, bottom)

    def _cones(self) -> None:
        """What the slacks of a block know of each other."""
        program, lo, hi = self.program, self.slack_lo, self.slack_hi
        lo[: program.zero] = np.maximum(lo[: program.zero], 0.0)
        hi[: program.zero] = np.minimum(hi[: program.zero], 0.0)
        nonneg = slice(program.zero, program.zero + program.nonneg)
        lo[nonneg] = np.maximum(lo[nonneg], 0.0)
        if program.soc:
            tails, cone = program.tails
            heads = program.heads
            near = np.maximum(np.maximum(lo[tails], -hi[tails]), 0.0)
            np.maximum.at(lo, heads[cone], near)
            with np.errstate(over="ignore"):
                norm = np.sqrt(np.bincount(cone, near * near, minlength=len(heads)))
            norm = norm * (1 - _WIDER * np.array(program.soc))
            lo[heads] = np.maximum(lo[heads], np.where(np.isfinite(norm), norm, 0.0))
            hi[tails] = np.minimum(hi[tails], hi[heads][cone])
            lo[tails] = np.maximum(lo[tails], -hi[heads][cone])
        x = program.exponential
        y, z = x + 1, x + 2
        # y e^(x/y) <= z, y, z >= 0; e^t >= 1 + t makes x + y <= z
        lo[y], lo[z] = np.maximum(lo[y], 0.0), np.maximum(lo[z], 0.0)
        with np.errstate(invalid="ignore"):
            hi[x] = np.minimum(hi[x], _wide(hi[z] - lo[y]))
            hi[y] = np.minimum(hi[y], _wide(hi[z] - lo[x]))
            lo[z] = np.maximum(lo[z], -_wide(-lo[x] - lo[y]))
        # y >= a > 0, z <= b: x <= y log(b/y), which is concave in y; y e^(x/y) <= z is convex in it
        with np.errstate(all="ignore"):
            best = np.clip(hi[z] / np.e, lo[y], hi[y])
            most = best * np.log(hi[z] / best)
            most = most + 1e-13 * (np.abs(most) + lo[y] + hi[z]) + _TINY
            known = (lo[y] > 0) & (hi[z] > 0) & np.isfinite(most)
            hi[x] = np.where(known, np.minimum(hi[x], most), hi[x])
            best = np.clip(lo[x], lo[y], hi[y])
            share = lo[x] / best
            least = best * np.exp(share) * (1 - 1e-14 * (8 + np.abs(share))) - _TINY
            known = (lo[y] > 0) & np.isfinite(least)
            lo[z] = np.where(known, np.maximum(lo[z], least), lo[z])

        for block, rows in program.more:
            block.narrow(lo[rows], hi[rows])

    def _level(self, level: float, curvature: Array) -> None:
        """What q'x + 1/2 sum d_i x_i^2 <= level says of each term: it bounds what each term may be."""
        q, lo, hi = self.program.q, self.lo, self.hi
        least_lo, _ = _times(q, lo, hi)
        with np.errstate(all="ignore"):
            bowl = -(q / curvature) * q / 2  # in this order, or q * q underflows
        bowl = np.where((curvature > 0) & np.isfinite(bowl), bowl * (1 + 1e-15) - _TINY, -np.inf)
        least = np.maximum(least_lo, bowl)
        used = (q != 0) | (curvature > 0)
        unknown = used & ~np.isfinite(least)
        total = float(np.sum(np.where(used & ~unknown, least, 0.0)))
        size = float(np.sum(np.abs(np.where(used & ~unknown, least, 0.0)))) + abs(level)
        error = _WIDER * (len(q) + 8) * size + _TINY
        chosen = used & ((unknown.sum() - unknown) == 0)
        with np.errstate(all="ignore"):
            rest = level - total + np.where(unknown, 0.0, np.where(used, least, 0.0)) + error
            # x^2 + 2 (q/d) x <= 2 rest / d
            half, room = q / curvature, 2 * (rest / curvature)
            root = np.hypot(half, np.sqrt(np.maximum(room, 0.0)))
            wider = 1e-14 * (np.abs(half) + root) + _TINY
            bowl_known = (curvature > 0) & np.isfinite(half) & np.isfinite(room)
            bottom = np.where(bowl_known, -half - root - wider, -np.inf)
            top = np.where(bowl_known, -half + root + wider, np.inf)
            flat = curvature <= 0
            top = np.where(flat & (q > 0), _wide(rest / q), top)
            bottom = np.where(flat & (q < 0), -_wide(-(rest / q)), bottom)
        self.lo = np.where(chosen, np.maximum(lo, bottom), lo)
        self.hi = np.where(chosen, np.minimum(hi, top), hi)


def _wide(value: Array) -> Array:
    """A little more than rounded numbers; what is no number says nothing."""
    wide = value + 1e-15 * np.abs(value) + _TINY
    return np.where(np.isnan(wide), np.inf, np.where(np.isfinite(value), wide, value))


def _times(data: Any, lo: Array, hi: Array) -> tuple[Array, Array]:
    """Ends of data * [lo, hi], rounded outwards; 0 * inf is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        one, other = data * lo, data * hi
    one = np.where(data == 0, 0.0, one)
    other = np.where(data == 0, 0.0, other)
    bottom, top = np.minimum(one, other), np.maximum(one, other)
    return np.nextafter(bottom, -np.inf), np.nextafter(top, np.inf)
