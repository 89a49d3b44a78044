"""What a multiclass model may claim: bounds on P and D at its attributes that no rounding undercuts.

Scores in error by s_i change a hinge by at most 2 s_i and leave one of 0 at 0 where the margin is
wider; an entropy L, whose gradient has at most min(1, L) of mass, to at most L/(1 - 2 s_i). Masses
that are delta_i from the dual's domain cost at most delta_i times the gradient there.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.families.hinges import Hinge
from fast.losses.consistent_topk_hinge import ConsistentTopKHinge
from fast.losses.ordered_weighted_hinge import OrderedWeightedHinge
from fast.solvers.certified_rows import entropy_masses, hinge_bounds, hinge_masses
from fast.solvers.rounding import EPS, confirmed, down, precisions, row_norms, up
from fast.solvers.rows import dense, is_sparse
from fast.solvers.sparse_rows import block_scores, parts, pull_rows

AT_ONCE, LEAST = 4096, 64  # rows
SCORES = 1 << 19  # of so many rows, of many classes fewer
EVALUATED = 64  # relative error of an entropy in float64, in units of eps, besides the classes'


def claims(
    X: Any, K: Any, W: np.ndarray, dual_variables: Any, y: np.ndarray, r: np.ndarray, loss: Any,
    claimed: tuple[float, float], tol: float,
) -> tuple[float, float]:  # fmt: skip
    """(P, D), bounds on the objectives at W and at the dual variables.

    Parameters
    ----------
    X : (n, d) array or CSR, or None with K
    K : (n, n) array, or None
        Kernel matrix; W is then A' (m, n), the model sum_i a_i phi(x_i)'.
    W : (m, d) array
    dual_variables : (n, m) array or CSR
        On the other classes; what is at y_i does not count.
    y, r : (n,) arrays
        Class numbers, and C times the weights.
    loss : fast.families.Loss
    claimed : (float, float)
        P and D in float64: arithmetic in which they are confirmed suffices.
    tol : float
    """
    n, d = (X if K is None else K).shape

    def bounds(real: Any) -> tuple[float, float]:
        return _Level(X, K, W, dual_variables, y, r, loss, real).bounds()

    return confirmed(precisions(n * d * len(W)), bounds, claimed, tol)


def objectives(
    X: Any, W: np.ndarray, dual_variables: Any, y: np.ndarray, r: np.ndarray, loss: Any
) -> tuple[float, float]:
    """`claims` in float64."""
    with np.errstate(all="ignore"):
        return _Level(X, None, W, dual_variables, y, r, loss, np.float64).bounds()


def sums_of_weights(
    block: Any, W: np.ndarray, C: float, kept: Any = None, seen: Any = None
) -> tuple:
    """What `bounds_of_weights` needs of a block of examples whose weights are C w.

    The dual variables are the gradients in W's scores, and go, rounded, to these rows of ``kept``.
    ``seen(f)`` is called with the scores.
    """
    dual_variables = None if kept is None else kept[block.rows]
    level = _Level(block.X, None, W, dual_variables, block.y, C * block.w, block.loss, np.float64)
    level.given, level.seen, level.rows = False, seen, max(level.n, 1)
    level.summed = level.rows
    with np.errstate(all="ignore"):
        return level.sums()


def sums_of_masses(
    X: Any,
    W: np.ndarray,
    dual_variables: Any,
    y: np.ndarray,
    r: np.ndarray,
    loss: Any,
    seen: Any = None,
) -> tuple:
    """The same of a group of examples with their dual variables; ``seen`` comes to parts of them, in order."""
    level = _Level(X, None, W, dual_variables, y, r, loss, np.float64)
    level.seen = seen
    with np.errstate(all="ignore"):
        return level.sums()


def bounds_of_weights(W: np.ndarray, n: int, loss: Any, sums: list[Any]) -> tuple[float, float]:
    """(P, D): bounds in float64 at W and at the dual variables, from the sums over all blocks of n examples."""
    none = np.empty((0, W.shape[1]))
    level = _Level(none, None, W, none, np.empty(0, int), np.empty(0), loss, np.float64)
    level.n, level.depth = n, 2 * n + 8
    return level.bounds_of(*sums)


class _Level:
    """The model in one arithmetic."""

    given = True  # the masses; else they are written
    seen: Any = None  # whom scores are shown to

    def __init__(
        self, X: Any, K: Any, W: np.ndarray, dual_variables: Any, y: np.ndarray, r: np.ndarray, loss: Any,
        real: Any,
    ) -> None:  # fmt: skip
        self.real, self.eps = real, float(np.finfo(real).eps)
        self.gram = K is not None
        self.X = K if self.gram else X
        self.n, self.d = self.X.shape
        self.terms = int(np.diff(self.X.indptr).max(initial=0)) if is_sparse(self.X) else self.d
        self.W = W.astype(real, copy=False)
        self.dual_variables, self.y, self.r, self.loss = dual_variables, y, r, loss
        self.m, self.hinge = len(W), isinstance(loss, Hinge)
        ordered = isinstance(loss, OrderedWeightedHinge)
        self.weights = loss.weights(self.m - 1).astype(real) if ordered else None
        self.consistent = isinstance(loss, ConsistentTopKHinge)
        self.compiled = real is np.float64
        self.rows = max(min(AT_ONCE, SCORES // self.m), min(AT_ONCE, LEAST))
        self.summed = self.rows if self.compiled else max(LEAST, int(np.sqrt(self.n)))  # in a row
        chunks = (self.n / self.rows + 1) * (self.rows / self.summed + 1)
        self.listed = self.compiled and self.hinge and is_sparse(self.X)  # by kernels, row by row
        summed = self.n if self.listed else min(self.summed, self.n)
        self.depth = summed + chunks + 8  # additions that a term goes through
        if self.gram:
            self.norms = np.sqrt(np.maximum(np.asarray(K.diagonal(), dtype=np.float64), 0.0))
        else:
            self.norms = row_norms(X)

    def bounds(self) -> tuple[float, float]:
        """Upper bound on P, lower bound on D."""
        return self.bounds_of(*self.sums())

    def sums(self) -> tuple[Any, Any, Any, Any, Any]:
        """Over the examples: losses, what dual variables gain and cost, A'X, rounding in it, W'KW."""
        real, n = self.real, self.n
        losses, totals = real(0), np.zeros(4, dtype=real)
        V = np.zeros((self.d, self.m), dtype=real).T  # with a kernel the dual's own A'
        spread = np.zeros(self.m, dtype=real)
        squares = np.zeros(2, dtype=real)  # with a kernel: ||W||^2 and its terms' sizes
        lengths = np.sqrt(np.einsum("jt,jt->j", self.W, self.W))
        widest = np.maximum(self.W.max(axis=0), -self.W.min(axis=0))
        weights = np.ascontiguousarray(self.W.T) if self.listed else self.W.T  # no copy if sparse
        for start in range(0, n, self.rows):
            rows = slice(start, min(start + self.rows, n))
            part = self._cut(self.X, rows).astype(real, copy=False)
            if self.listed:
                f = np.empty((part.shape[0], self.m))
                block_scores(parts(part), weights, 0, f)
            else:
                f = np.asarray(part @ weights, dtype=real)
            if self.seen is not None:
                self.seen(f)
            if self.gram:
                terms = abs(part) @ abs(self.W).T
                reach = terms.max(axis=1)
                own = self.W[:, rows].T
                squares[0] += (own * f).sum()
                squares[1] += (abs(own) * terms).sum()
            else:
                reach = np.minimum(self.norms[rows] * lengths.max(), abs(part) @ widest)
            values, x = (None, None) if self.given else self._written(f, rows)
            losses += self._losses(f, rows, reach, values)
            del f
            if self.compiled:
                blocks, sums = self._compiled_blocks(rows, spread, x)
            else:
                blocks, sums = self._blocks(rows, spread)
            totals = totals + np.asarray(sums, dtype=real)
            if self.gram:
                V[:, rows] = (blocks.toarray() if is_sparse(blocks) else blocks).T
            elif self.listed:
                pull_rows(parts(part), parts(sp.csr_array(blocks)), V.T, np.empty(self.m))
            else:
                for first in range(0, part.shape[0], self.summed):
                    pulled = self._pulled(part, blocks, slice(first, first + self.summed))
                    V = np.add(V, pulled, out=V) if start + first else pulled
        return losses, totals, V, spread, squares

    def bounds_of(
        self, losses: Any, totals: Any, V: Any, spread: Any, squares: Any
    ) -> tuple[float, float]:
        """`bounds` from sums."""
        width = (self.n + self.d + self.m + 16) * self.eps
        gains, sizes, moved, rough = totals
        square, off, size = self._squares(V, spread, squares)
        gradient = 2 * size * (moved * (1 + width))  # of 1/2 ||V||^2 where masses move
        rough += gradient + 2 * moved * moved
        primal = up(((square + off) / 2 + losses) * (1 + width))
        dual = gains - size * size / 2 - rough - width * (sizes + size * size)
        return primal, down(dual)

    def _pulled(self, part: Any, blocks: Any, rows: slice) -> Any:
        """Sum of a_i x_i over some rows, (m, d)."""
        if part.shape[0] > self.summed:
            part, blocks = part[rows], blocks[rows]
        if is_sparse(blocks):
            pulled = blocks.T @ part
            return pulled.toarray() if is_sparse(pulled) else pulled
        return np.asarray(part.T @ blocks, dtype=self.real).T

    def _squares(self, V: Any, spread: Any, squares: Any) -> tuple[Any, Any, Any]:
        """||W||^2, its rounding, and an upper bound on the length of V."""
        eps, n, d = self.eps, self.n, self.d
        if not self.gram:
            square = np.einsum("jt,jt->j", self.W, self.W).sum()
            length = np.sqrt(np.einsum("jt,jt->j", V, V).sum()) * (1 + (d + self.m + 4) * eps)
            return (
                square,
                square * (d + self.m + 4) * eps,
                length + self.depth * eps * np.sqrt((spread * spread).sum()),
            )
        found, off = max(squares[0], self.real(0)), 4 * (n + 8) * eps * squares[1]
        if np.array_equal(V, self.W):
            return found, off, np.sqrt(found + off)
        K = np.asarray(self.X, dtype=self.real)
        own = max((V * (V @ K)).sum(), self.real(0))
        own += 4 * (n + 8) * eps * (abs(V) * (abs(V) @ abs(K))).sum()
        return found, off, np.sqrt(own)

    # ---- losses

    def _written(self, f: np.ndarray, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """The losses of an entropy, and its gradients, which become the dual variables."""
        y, A = self.y[rows], np.empty_like(f)
        held = self._at(rows).rows(y, self.r[rows], self.m)
        held.curved = False
        held.evaluate(f, A)
        A[np.arange(len(y)), y] = 0.0
        if self.dual_variables is not None:
            self.dual_variables[rows] = A
            np.copyto(A, self.dual_variables[rows])  # as they are rounded
        return np.asarray(held.losses), A

    def _losses(self, f: Any, rows: slice, reach: Any, values: Any = None) -> Any:
        """Upper bound on sum_i r_i L_i for scores whose terms' absolute values sum to ``reach``."""
        y, m = self.y[rows], self.m
        slip = (self.terms + 8) * self.eps * reach
        loss, one, mass = self.loss, self._at(rows), self.r[rows].astype(self.real)
        if not self.hinge:
            widest = reach if self.compiled else abs(f).max(axis=1)  # which takes longer
            slip = slip + 6 * EPS * widest  # the scores are rounded to float64
            if values is None:
                values = np.asarray(one.values(np.ascontiguousarray(f, dtype=np.float64), y))
            values = values.astype(self.real) * (1 + (m + EVALUATED) * EPS)
            change = 2 * slip
            if self.weights is not None:
                change += 4 * EPS * (1 + abs(f).max(axis=1))  # of the margins
                return (mass * (values + change * self.weights.sum())).sum()
            if self.consistent:  # from probabilities that maximise it up to their rounding
                size = 1 + loss.parameters(m - 1)[1] + abs(f).max(axis=1)
                return (mass * (values + change + (m + EVALUATED) * EPS * size)).sum()
            steep = np.where(change < 0.5, values / (1 - np.minimum(change, 0.5)), np.inf)
            return (mass * np.minimum(steep, values + change)).sum()
        k, gamma = loss.k, self.real(loss.gamma)
        if self.compiled:
            f = np.ascontiguousarray(f)
            p = self._gradients(one, f, y) if gamma > 0 else np.empty((0, m))
            kind = loss.variant, k, float(gamma)
            work = np.empty((3, m))
            return hinge_bounds(f, rows.start, self.y, self.r, slip, p, kind, self.eps, work)
        own = f[np.arange(len(f)), y]
        z = f - own[:, None] + 1
        paid = self.real(0)
        if gamma > 0:
            p = self._gradients(one, f, y).astype(self.real)
            z, paid = z - gamma * p, gamma / 2 * (p * p).sum(axis=1)
            slip = slip + self.eps * gamma * p.max(axis=1)
        z = z + (2 * slip + 4 * self.eps * (1 + abs(f).max(axis=1)))[:, None]
        z[np.arange(len(f)), y] = -np.inf
        top = -np.partition(-z, k - 1, axis=1)[:, :k] if k < m else z
        top = top if loss.variant == 0 else np.maximum(top, 0)
        sums = top.sum(axis=1) / k + (k + 4) * self.eps * abs(top).max(axis=1)
        return (mass * (np.maximum(sums, 0) + paid)).sum()

    def _cut(self, matrix: Any, rows: slice) -> Any:
        """Rows of a matrix, without the price of slicing one in CSR where there is one slice."""
        return matrix if self.n <= self.rows else matrix[rows]

    def _at(self, rows: slice) -> Any:
        """The loss of some rows."""
        dropped = getattr(self.loss, "dropped", None)
        return self.loss if dropped is None else replace(self.loss, dropped=dropped[rows])

    def _gradients(self, one: Any, f: Any, y: np.ndarray) -> np.ndarray:
        """About the maximisers of the smooth hinges; any p gives a bound."""
        short = np.ascontiguousarray(f, dtype=np.float64)
        A = np.empty_like(short)
        one.rows(y, np.ones(len(y)), self.m).evaluate(short, A)
        A[np.arange(len(A)), y] = 0.0
        return np.where(np.isfinite(A), A, 0.0)

    # ---- dual variables: blocks a_i, and sums of gains, sizes, mass moved times norms, what that costs

    def _compiled_blocks(self, rows: slice, spread: np.ndarray, x: Any) -> tuple[Any, Any]:
        """In float64; ``spread[j]`` grows by sum_i |a_ij| norms_i. ``x``: dual variables to overwrite, if any."""
        if self.weights is not None or self.consistent:
            return self._blocks(rows, spread)
        part, loss = self._cut(self.dual_variables, rows) if x is None else x, self.loss
        args = rows.start, self.y, self.r, self.norms
        if not self.hinge:
            full = self._kept(part, rows)
            full = full if x is not None else np.array(full, dtype=np.float64, order="C")
            return full, entropy_masses(full, *args, loss.variant, int(loss.k), self.eps, spread)
        x = part if is_sparse(part) else sp.csr_array(part)
        n, m = x.shape
        given = x.data, x.indices.astype(np.int64), x.indptr.astype(np.int64)
        size = len(x.data) + n
        found = np.empty(size), np.empty(size, np.int64), np.empty(n + 1, np.int64)
        kind = loss.variant, loss.k, float(loss.gamma)
        sums = hinge_masses(given, *args, kind, found, spread)
        last = found[2][-1]
        return sp.csr_array((found[0][:last], found[1][:last], found[2]), shape=(n, m)), sums

    def _blocks(self, rows: slice, spread: Any) -> tuple[Any, Any]:
        """The same in any arithmetic."""
        x, delta = self._dual_variables(rows)
        mass, norms = self.r[rows].astype(self.real), self.norms[rows]
        gain = self._gains(x, mass)
        blocks = -x
        blocks[np.arange(len(x)), self.y[rows]] = x.sum(axis=1)
        spread += (abs(blocks) * norms[:, None]).sum(axis=0)
        rough = (delta * (1 + self._steepness(x, mass))).sum()
        return blocks, (gain.sum(), abs(gain).sum() + x.sum(), (delta * norms).sum(), rough)

    def _kept(self, part: Any, rows: slice) -> np.ndarray:
        """Some dual variables, without those on classes that their examples' losses have dropped."""
        full = dense(part)
        dropped = getattr(self.loss, "dropped", None)
        if dropped is not None and dropped.shape[1]:
            full = full.copy()
            np.put_along_axis(full, dropped[rows], 0.0, axis=1)
        return full

    def _dual_variables(self, rows: slice) -> tuple[Any, Any]:
        """Masses >= 0 on the other classes, and their distances (l1) from the dual's domain."""
        x = np.array(self._kept(self._cut(self.dual_variables, rows), rows), dtype=self.real)
        x[np.arange(len(x)), self.y[rows]] = 0
        delta = np.maximum(-x, 0).sum(axis=1)
        x = np.maximum(x, 0)
        r = self.r[rows].astype(self.real)
        x *= (r > 0)[:, None]
        if self.weights is not None:  # scaled, the point is in the domain
            sums = np.cumsum(-np.sort(-x, axis=1)[:, :-1], axis=1)
            most = np.cumsum(self.weights) * r[:, None] * (1 - 4 * self.m * self.eps)
            share = np.divide(most, sums, out=np.ones_like(sums), where=sums > most)
            return x, delta + (1 - share.min(axis=1)) * x.sum(axis=1)
        s, k = x.sum(axis=1), 1 if self.consistent else self.loss.k
        if k == 1:
            return x, delta + np.maximum(s - r, 0)
        top = x.max(axis=1)
        if self.loss.variant == 0:
            delta += 2 * k * k * np.maximum(top - s / k, 0)
        else:
            delta += np.maximum(x - (r / k)[:, None], 0).sum(axis=1)
        return x, delta + np.maximum(s - r, 0)

    def _gains(self, x: Any, mass: Any) -> Any:
        """Minus the conjugates."""
        s = x.sum(axis=1)
        safe = np.where(mass > 0, mass, 1)
        if self.weights is not None:
            return s
        if self.hinge:
            return s - self.real(self.loss.gamma) / 2 * (x * x).sum(axis=1) / safe
        q = x / safe[:, None]
        if self.consistent:  # of (q, 1 - s), in the place of the entry at y, all but the k largest
            k, gamma = self.loss.parameters(self.m - 1)
            s = np.minimum(q.sum(axis=1), 1)
            square = s * (2 - s) - (q * q).sum(axis=1)
            return mass * (_below(q, 1 - s, k) + self.real(gamma) / 2 * square)
        s = np.minimum(q.sum(axis=1), 1)  # of s near 0, log(1 - s) keeps no digit
        slope = -np.log1p(-np.where(s < 1, s, 0))  # what rounding in s costs
        rest = (1 - s) * slope - (self.m + 4) * self.eps * s * slope
        return mass * (rest - _x_log_x(q).sum(axis=1))

    def _steepness(self, x: Any, mass: Any) -> Any:
        """Of the conjugates where dual variables may move."""
        safe = np.where(mass > 0, mass, 1)
        if self.weights is not None:
            return np.zeros(len(x))
        if self.hinge:
            return self.real(self.loss.gamma) * x.max(axis=1) / safe
        if self.consistent:
            return np.full(len(x), self.real(2 * self.loss.parameters(self.m - 1)[1]))
        return np.full(len(x), self.real(750))  # log of the smallest float64


def _below(q: Any, rest: Any, k: int) -> Any:
    """Sums of all but the k largest entries of rows with one more each, where an entry is 0."""
    return np.sort(np.column_stack([q, rest]), axis=1)[:, : q.shape[1] + 1 - k].sum(axis=1)


def _x_log_x(x: Any) -> Any:
    """Which scipy has in float64 only."""
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0)
