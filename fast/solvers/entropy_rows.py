"""Softmax and top-k entropy losses, row by row, in the form that Newton's method asks for.

For a row of scores f with true class y, over the other classes: U the classes at the cap 1/k,
rho = |U|/k, M the rest (formulas of Lapin et al. 2016, section 3, solved for beta too):

* beta (k = 1: softmax): x_j = (1-rho) e^{f_j}/(e^{f_y} + Z_M) on M, 1/k on U;
* alpha: x_j = s (1-rho) e^{f_j}/Z_M on M, s/k on U, s = sigmoid(v).

The Hessian of a loss in f is diag(t) - t t'/tau + kappa g g' with g the gradient, t = x on M (beta:
with t_y = 1 - s), tau = <1,t>, and kappa = (1-s)/s for alpha, 0 for beta. Every sum below has
positive terms, so that neither s nor 1 - s cancels.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fast._elementary import exp
from fast._numba import REORDER, kernel
from fast._simd import larger, plus, smaller
from fast.kernels.hinges import ALPHA, BETA

from .state import block_length
from .working_set import keep_largest

LOOKED_AT = 4096  # rows that the sum of the Hessians is known from
FEW, TOGETHER = 20, 64  # classes up to which softmax goes class by class, over so many rows
CLIP = 50.0  # a class this far above the k-th one is at the cap, whatever the others are


@kernel
def shifted_rows(f, first, y, kind, dropped, E, heads, largest):
    """E = min(f - shift, CLIP); ``top`` names the k largest others, in order, where k > 1.

    The shift is the k-th largest other score (beta: or the own one if larger). Classes in
    ``dropped`` count as -inf.
    """
    variant, k = kind
    top, shift = heads
    for i in range(E.shape[0]):
        row = E[i]
        own = y[first + i]
        for j in range(row.shape[0]):
            row[j] = f[first + i, j]
        for q in range(dropped.shape[1]):
            row[dropped[first + i, q]] = -np.inf
        mine = row[own]
        if k == 1:
            row[own] = -np.inf
            level = -np.inf
            for j in range(row.shape[0]):
                level = larger(level, row[j])
            row[own] = mine
        else:
            held = keep_largest(row, own, k, largest, top[first + i])
            level = largest[held - 1]
        if variant == BETA:
            level = larger(level, mine)
        shift[first + i] = level
        for j in range(row.shape[0]):
            row[j] = smaller(row[j] - level, CLIP)


@kernel
def finished_rows(f, first, y, r, kind, E, heads, written):
    """From E = exp(...) to losses, gradients and curvature.

    Writes the losses, A_i = r_i g_i, T_i = t (unless T is empty), tau_i, kappa_i/r_i (for products with
    A), and trace(Hessian). ``heads`` is as of `shifted_rows`.
    """
    variant, k = kind
    top, shift = heads
    losses, A, T, tau, kappa, curvature = written
    m = E.shape[1]
    others = m - 1
    for i in range(E.shape[0]):
        at = first + i
        row = E[i]
        own = y[at]
        e_own = row[own]
        row[own] = 0.0
        held = 0 if k == 1 else min(k, others)
        for q in range(held):  # the top ones are added back from the smallest on
            row[top[at, q]] = 0.0
        rest = 0.0
        for j in range(m):
            rest = plus(rest, row[j])
        base = e_own if variant == BETA else 0.0
        u = held
        if held > 0:
            u = min(held, k - 1)
            for q in range(u, held):
                rest += math.exp(smaller(f[at, top[at, q]] - shift[at], CLIP))
            while u > 0:
                entry = math.exp(smaller(f[at, top[at, u - 1]] - shift[at], CLIP))
                if (k - u + 1) * entry > base + rest + entry:
                    break
                rest += entry
                u -= 1
            for q in range(u, held):
                row[top[at, q]] = math.exp(smaller(f[at, top[at, q]] - shift[at], CLIP))
        rho = u / k
        f_own = f[at, own]
        above = 0.0
        for q in range(u):
            above += f[at, top[at, q]] - f_own
        total = base + rest
        if u == 0 and variant == BETA and e_own > 0.0:
            loss = math.log1p(rest / e_own)
            s = rest / total
        else:
            inner = shift[at] - f_own + math.log(total / (1.0 - rho)) if total > 0.0 else 0.0
            loss = rho * math.log(float(k)) + above / k + (1.0 - rho) * inner
            s = rho + (1.0 - rho) * rest / total if total > 0.0 else rho
        scale = (1.0 - rho) / total if total > 0.0 else 0.0
        cap = 1.0 / k
        tau[at] = 1.0 - rho
        kappa[at] = 0.0
        extra = 0.0
        if variant == ALPHA:
            v = loss
            small = math.exp(-abs(v))
            loss = (v if v > 0.0 else 0.0) + math.log1p(small)
            s = (1.0 if v > 0.0 else small) / (1.0 + small)
            complement = (small if v > 0.0 else 1.0) / (1.0 + small)
            scale *= s
            cap *= s
            tau[at] = s * (1.0 - rho)
            extra = 2.0 * s * complement  # bounds (1-s)/s ||g||^2
            if s > 1e-30 and r[at] > 0.0:
                kappa[at] = complement / s / r[at]
        losses[at] = loss
        weight = r[at]
        square = 0.0
        for j in range(m):
            x = row[j] * scale
            square = plus(square, x * x)
            A[at, j] = weight * x
        if len(T):
            for j in range(m):
                T[at, j] = row[j] * scale
            T[at, own] = e_own * scale if variant == BETA else 0.0
        A[at, own] = -weight * s
        for q in range(u):
            A[at, top[at, q]] = weight * cap
        if variant == BETA:  # tau - <t,t>/tau, without cancellation for t_y = tau - moving
            moving = rest * scale
            curvature[at] = moving * (2.0 - moving / tau[at]) - square / tau[at]
        else:
            curvature[at] = extra + (tau[at] - square / tau[at] if tau[at] > 0.0 else 0.0)


@kernel(fastmath=REORDER)
def curved(V, members, y, r, A, T, tau, kappa):
    """V_q <- r_i H_i V_q in place, i = members[q], in the precision of V.

    H 1 = 0, so that V_q is taken relative to its own entry: where t_y is 1 up to rounding, the
    difference of V_y and the mean would cancel.
    """
    kind = V.dtype.type
    zero = kind(0.0)
    for q in range(V.shape[0]):
        i = members[q]
        own = y[i]
        level = V[q, own]
        along = zero
        across = zero
        for j in range(V.shape[1]):
            V[q, j] -= level
        for j in range(V.shape[1]):
            along += T[i, j] * V[q, j]
        if kappa[i] > 0.0:
            for j in range(V.shape[1]):
                across += kind(A[i, j]) * V[q, j]
        along = kind(along / tau[i]) if tau[i] > 0.0 else zero
        across = kind(across * kappa[i])
        weight = kind(r[i])
        total = zero
        V[q, own] = along  # its summand is 0
        for j in range(V.shape[1]):
            V[q, j] = weight * T[i, j] * (V[q, j] - along)
            total += V[q, j]
        V[q, own] = -total if T[i, own] > 0.0 else zero
        if across != 0.0:
            for j in range(V.shape[1]):
                V[q, j] += across * kind(A[i, j])


@kernel
def softmax_rows(f, y, r, E, above, rests, A, T, curvature):
    """`shifted_rows` and `finished_rows` for softmax: class by class, over E.shape[1] examples at a time.

    The loss is max f - f_y, written to ``above``, plus log sum e^{f_j - max f}; 1 less than this sum,
    which is not rounded where f_y is the maximum, is written to ``rests``.
    """
    m, n = f.shape[1], E.shape[1]
    top, rest, square, mine = E[m], E[m + 1], E[m + 2], E[m + 3]
    for first in range(0, f.shape[0], n):
        last = min(n, f.shape[0] - first)
        for i in range(n):
            top[i] = -np.inf
            rest[i] = 0.0
            square[i] = 0.0
        for i in range(n):
            at = first + min(i, last - 1)
            for j in range(m):
                E[j, i] = f[at, j]
        for j in range(m):
            for i in range(n):
                top[i] = larger(top[i], E[j, i])
        for i in range(last):
            above[first + i] = top[i] - E[y[first + i], i]
        for j in range(m):
            for i in range(n):
                E[j, i] = exp(E[j, i] - top[i])
        for i in range(n):
            own = y[first + min(i, last - 1)]
            mine[i] = E[own, i]
            E[own, i] = 0.0
        for j in range(m):
            for i in range(n):
                rest[i] += E[j, i]
                square[i] += E[j, i] * E[j, i]
        for i in range(last):
            rests[first + i] = rest[i] + (mine[i] - 1.0)
        for i in range(n):
            total = mine[i] + rest[i]
            top[i] = 1.0 / total
            rest[i] *= top[i]
            mine[i] *= top[i]
            square[i] = rest[i] * (2.0 - rest[i]) - square[i] * top[i] * top[i]
        for i in range(last):
            at = first + i
            own, weight = y[at], r[at]
            for j in range(m):
                x = E[j, i] * top[i]
                T[at, j] = x
                A[at, j] = weight * x
            T[at, own] = mine[i]
            A[at, own] = -weight * rest[i]
            curvature[at] = square[i]


def _quotient(r: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """r/tau, which multiplies two dual variables of at most tau; 0 where it would overflow."""
    return np.asarray(r / np.where(tau > r / (0.1 * np.finfo(tau.dtype).max), tau, np.inf))


class EntropyRows:
    """Losses, gradients and Hessian products of all examples for one entropy loss."""

    single = True  # scores and gradients may be float32
    curved = True  # what products and sums of Hessians need is kept

    def __init__(self, loss: Any, y: np.ndarray, r: np.ndarray, m: int) -> None:
        n = len(y)
        self.y, self.r, self.m = y, r, m
        self.k = int(loss.k)
        self.variant = BETA if self.k == 1 else loss.variant
        none = np.empty((n, 0), np.int64)
        self.dropped = none if loss.dropped is None else loss.dropped
        self.top = np.empty((n, min(self.k, m - 1) if self.k > 1 else 0), np.int64)
        self.largest = np.empty(max(self.k, 1))
        self.losses, self.shift, self.curvature = np.zeros(n), np.zeros(n), np.zeros(n)
        self.tau, self.kappa = np.ones(n), np.zeros(n)
        self.block = np.empty((block_length(m), m))
        self.A: Any = None
        self.T: Any = None
        self.few = self.k == 1 and m <= FEW and not self.dropped.shape[1]
        self.few_rows = np.empty((m + 4, TOGETHER))

    def evaluate(self, f: np.ndarray, A: np.ndarray) -> float:
        """Sum of r_i L_i; A receives r_i times the gradients in the scores."""
        n = len(self.y)
        if self.T is None:
            self.T = np.empty((n if self.curved or self.few else 0, self.m), np.float32)
        if self.few:
            above, rests = self.shift, self.losses
            softmax_rows(f, self.y, self.r, self.few_rows, above, rests, A, self.T, self.curvature)
            np.log1p(rests, out=rests)
            rests += above
            self.A = A
            return float(self.r @ self.losses)
        kind, heads = (self.variant, self.k), (self.top, self.shift)
        written = self.losses, A, self.T, self.tau, self.kappa, self.curvature
        for first in range(0, n, len(self.block)):
            E = self.block[: min(len(self.block), n - first)]
            shifted_rows(f, first, self.y, kind, self.dropped, E, heads, self.largest)
            np.exp(E, out=E)
            finished_rows(f, first, self.y, self.r, kind, E, heads, written)
        self.A = A
        return float(self.r @ self.losses)

    def members(self, squares: np.ndarray) -> np.ndarray:
        """Examples whose curvature matters: the others add up to less than 1 % of the identity."""
        size = self.r * self.curvature * squares
        return np.flatnonzero(size * len(size) > 0.01)

    def mean_curvature(self) -> float:
        """Average eigenvalue of the Hessians in the scores, over directions <1,v> = 0."""
        return float(self.r @ self.curvature) / (float(self.r.sum()) * (self.m - 1))

    def curvatures(self) -> np.ndarray:
        """The same of every r_i H_i, (n,)."""
        return np.asarray(self.r * np.maximum(self.curvature, 0.0) / (self.m - 1))

    def summed(self) -> np.ndarray | None:
        """About the sum of r_i H_i, (m, m), without what alpha adds along the gradients."""
        some = slice(None, None, 1 + len(self.y) // LOOKED_AT)
        T, r = self.T[some], self.r[some].astype(np.float32)
        scaled = T * _quotient(r, self.tau[some].astype(np.float32))[:, None]
        return (np.diag(r @ T) - scaled.T @ T) * (self.r.sum() / max(float(r.sum()), 1e-300))

    def pairs(self) -> Callable[[np.ndarray], np.ndarray]:
        """What is left of the diagonals of r_i H_i, for some rows; see `fast.solvers.kronecker`."""
        a, b = np.tril_indices(self.m, -1)

        def left(rows: np.ndarray) -> np.ndarray:
            T, A = self.T[rows].astype(np.float64), self.A[rows].astype(np.float64)
            own = _quotient(self.r[rows], self.tau[rows])[:, None]
            found = T[:, a] * T[:, b] * -own
            kappa = self.kappa[rows][:, None]
            return found + kappa * A[:, a] * A[:, b] if kappa.any() else found

        return left

    def curve(self, V: np.ndarray, members: np.ndarray) -> None:
        """V_q <- r_i H_i V_q in place, i = members[q]; at the point last evaluated."""
        curved(V, members, self.y, self.r, self.A, self.T, self.tau, self.kappa)

    def at_zero(self) -> tuple[float, float] | None:
        """(loss, x_j) of any example at f = 0, where both are equal for all; None if they differ."""
        if self.dropped.shape[1]:
            return None
        f, A = np.zeros((1, self.m)), np.empty((1, self.m))
        one = EntropyRows(_Bare(self.k, self.variant), np.zeros(1, np.int64), np.ones(1), self.m)
        value = one.evaluate(f, A)
        return value, float(A[0, 1])


class _Bare:
    """A loss without dropped classes."""

    dropped = None

    def __init__(self, k: int, variant: int) -> None:
        self.k, self.variant = k, variant
