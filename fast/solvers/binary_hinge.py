"""Dual coordinate ascent for the hinge of two classes: one row of weights w.

P(w) = 1/2 ||w||^2 + sum_i r_i max(0, c - s_i <w, x_i>), s_i = 1 where y_i is 1, else -1
D(x) = c sum_i x_i - 1/2 ||sum_i s_i x_i x_i||^2, 0 <= x_i <= r_i

One-vs-all hinges of two classes have the rows -w and w, and twice these objectives. The multiclass hinge of
two classes is this problem, too: at its optimum W = (-w/2, w/2), so that with 2 r_i for r_i its P(W) =
1/4 ||w||^2 + sum_i r_i max(0, 1 - s_i <w, x_i>) is half of P(w), and so is its D, at x_i/2.

Passes in random order leave out examples at a bound whose slope there is beyond those of the pass before
(Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008). The Fenchel-Young gaps seen in a pass foretell the
certificate, which takes all scores, and brings back whom it finds missing. Its weights are a w, a the best factor:
margins that all are a bit too small cost much where C is large.

A certificate sums w = sum_i s_i x_i x_i anew, and takes the slopes c - s_i <w, x_i> there; passes hold the change
of w since only, as iterative refinement does. So they may read dense rows in float32, which halves their time,
and rounding is that of the last digits of the change. Dense examples that passes would need too long for are left to
the interior point method: those of them that were not left out, by the matrix of their products.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._numba import kernel
from fast._simd import larger, plus, prefetch, smaller
from fast.families import named
from fast.kernels.signed import BOX

from .active_set import ActiveSetSolver, Race
from .box_interior_point import Box
from .class_newton import WIDEST
from .one_vs_rest_bounds import bounds_of_sums, sums
from .one_vs_rest_proximal import SignedProximal
from .rounding import bounded_norms
from .rows import FUSE, as_rows, blocks_of, is_sparse
from .sparse_rows import parts
from .state import TrainingState

LINE = 16  # indices, or twice the numbers, of a line of the cache
HOPE, BRIGHT = 1.9, 100.0  # gaps seen in a pass, summed, times the gap after it; and at most
NONZERO, ROW, NUMBER = 3.5, 40.0, 0.05  # nanoseconds of a visit, and of a byte of a dense one
PRODUCT, FACTOR, LOOK = 0.02, 0.25, 3e5  # of a product of features, of a cube of examples, and besides
FACE, FACES = 4000, 8  # examples at once, and how often, for the interior point method
SHRINK = 0.5  # part of the gap that a face leaves if the next one follows at once
EARLY, LONG, PLAIN = 2, 1 << 28, 1e15  # passes, and sizes of data and of numbers, before float32
CHUNK = 1 << 16  # numbers at once of rows that become float64
SHARP = 0.1  # part of the gap that the interior point method leaves
LONGEST, GROWTH, MOST = 10, 2, 320  # passes between certificates: first, how they grow, and last
STEEP = 1e300  # of a row of zeros


@kernel(forceinline=True, fastmath=FUSE)
def _dot(x, w):
    f = w.dtype.type(0.0)
    for t in range(w.shape[0]):
        f += x[t] * w[t]
    return f


@kernel(forceinline=True)
def _square(dense, data, indptr, i):
    total = 0.0
    if dense.ndim == 1:
        for t in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[t]) * np.float64(data[t])
    else:
        for t in range(dense.shape[1]):
            x = np.float64(dense[i, t])
            total = plus(total, x * x)
    return total


@kernel
def row_squares(rows, out):
    """Squared norms of rows."""
    dense, data, _, indptr = rows
    for i in range(out.shape[0]):
        out[i] = _square(dense, data, indptr, i)


@kernel(forceinline=True)
def _product(dense, data, indices, indptr, i, after, w):
    """<x_i, w>; of CSR the row ``after`` is fetched meanwhile."""
    f, g = 0.0, 0.0
    if dense.ndim == 1:
        for t in range(indptr[after], indptr[after + 1], LINE):
            prefetch(data, t)
            prefetch(data, t + LINE // 2)
            prefetch(indices, t)
        t, end = indptr[i], indptr[i + 1]
        if (end - t) % 2:
            f = data[t] * w[indices[t]]
            t += 1
        while t < end:
            f += data[t] * w[indices[t]]
            g += data[t + 1] * w[indices[t + 1]]
            t += 2
    else:
        f = np.float64(_dot(dense[i], w))
    return f + g


@kernel(forceinline=True, fastmath=FUSE)
def _add(dense, data, indices, indptr, i, change, w):
    if dense.ndim == 1:
        for t in range(indptr[i], indptr[i + 1]):
            w[indices[t]] += change * data[t]
    else:
        factor = w.dtype.type(change)
        for t in range(dense.shape[1]):
            w[t] += factor * dense[i, t]


@kernel
def shuffle(order, numbers):
    """Put len(numbers) entries in random order, by as many random numbers in [0, 1)."""
    count = numbers.shape[0]
    for p in range(count - 1):
        q = p + int(numbers[p] * (count - p))
        order[p], order[q] = order[q], order[p]


@kernel
def ascend(rows, signs, r, inverse, costs, order, count, bounds, x, w):
    """Exact updates of order[:count]; returns (examples kept, sum of their gaps before their updates).

    The slope of x_i is costs_i - s_i <w, x_i>, and w takes what changes.

    Left out, and moved behind those kept, are examples at 0 with a slope below bounds[0], and at r_i with one
    above bounds[1]; then the least and the largest slopes of the others that can move are written there.
    """
    dense, data, indices, indptr = rows
    gap, low, high = 0.0, 0.0, 0.0
    p = 0
    while p < count:
        i = order[p]
        after = order[p + 1 if p + 1 < count else p]
        slope = costs[i] - signs[i] * _product(dense, data, indices, indptr, i, after, w)
        gap += r[i] * larger(slope, 0.0) - x[i] * slope
        free = slope
        if x[i] <= 0.0 or x[i] >= r[i]:
            empty = x[i] <= 0.0
            if slope < bounds[0] if empty else slope > bounds[1]:
                count -= 1
                order[p], order[count] = order[count], i
                continue
            free = larger(slope, 0.0) if empty else smaller(slope, 0.0)
        low, high = smaller(low, free), larger(high, free)
        change = smaller(larger(x[i] + free * inverse[i], 0.0), r[i]) - x[i]
        if change != 0.0:
            x[i] = x[i] + change
            _add(dense, data, indices, indptr, i, change * signs[i], w)
        p += 1
    bounds[0] = low if low < 0.0 else -np.inf
    bounds[1] = high if high > 0.0 else np.inf
    return count, gap


def fits(X: Any, m: int, loss: Any) -> bool:
    """Whether a one-vs-all or a top-k hinge on these rows is this problem, and not one of few features."""
    known = is_sparse(X) or isinstance(X, np.ndarray)
    if m != 2 or not known or X.shape[1] <= WIDEST or loss.smooth:
        return False
    if loss.per_class:
        return loss.variant == BOX
    return "lists" in loss.capabilities and not any(loss.structure(1)[2:])


def best_factor(u: np.ndarray, r: np.ndarray, cost: float, square: float) -> float:
    """The a of the smallest a^2/2 square + sum_i r_i max(0, cost - a u_i): its slope jumps where a u_i = cost."""
    if not square > 0.0:
        return 1.0
    with np.errstate(all="ignore"):
        ends = np.where(u > 0.0, cost / u, np.inf)
        at = np.argsort(ends, kind="stable")
        ends, pulls = ends[at], (r * u)[at]
        rest = np.append(np.cumsum(pulls[::-1])[::-1], 0.0)  # of those from each end on
        reached = ends * square >= rest[1:]
        if not reached.any():  # numbers that are none
            return 1.0
        first = int(np.argmax(reached))
        begin = ends[first - 1] if first else 0.0
        a = max(begin, min(rest[first] / square, ends[first]))
    return float(a) if 0.0 < a < np.inf else 1.0


class BinaryHinge:
    """The problem in one row of weights; ``part``: objectives and masses of who asks, by its own."""

    part, patient = 1.0, True
    race: Any = None
    successor: Any = None
    bounds: tuple[float, float] | None = None  # P and D of what is returned, rounded outwards

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, cost: float, seed: int) -> None:
        self.X, self.own, self.r, self.sparse = X, (y == 1)[:, None], r, is_sparse(X)
        self.loss, self.cost = named("ova_hinge"), float(cost)
        self.signs = np.where(y == 1, 1.0, -1.0)
        if self.sparse:
            data, indices, indptr = parts(X, X.dtype)
            self.rows: Any = np.empty(0, X.dtype), data, indices.view(np.uint32), indptr
        else:
            self.rows = as_rows(X)
        squares = np.empty(len(r))
        row_squares(self.rows, squares)
        self.norms = bounded_norms(squares, X.shape[1])
        self.inverse = np.minimum(1.0 / np.where(squares > 0.0, squares, 1.0 / STEEP), STEEP)
        self.even = not self.sparse and all(
            sizes.min(where=sizes > 0.0, initial=1.0) > 1.0 / PLAIN and sizes.max(initial=1.0) < PLAIN
            for sizes in (squares, r)
        )
        self.x, self.w = np.zeros(len(r)), np.zeros(X.shape[1])  # w: at the last certificate
        self.costs, self.dual = np.full(len(r), self.cost), 0.0  # slopes and D there
        self.kept = self.x.copy()
        self._read(self.rows, X.dtype if self.even else np.float64)
        self.rng = np.random.default_rng(seed)
        self.order = np.flatnonzero(r > 0.0)
        self.count, self.slopes, self.taken = len(self.order), np.array([-np.inf, np.inf]), 0
        self.faces = 0 if self.sparse else FACES

    def _read(self, rows: Any, dtype: Any) -> None:
        """Take the rows that passes read, and the numbers in which they hold the change of w."""
        self.rows, self.change = rows, np.zeros(len(self.w), dtype)
        if self.sparse:
            self.visit = ROW + NONZERO * self.X.nnz / len(self.r)
        else:
            self.visit = ROW + NUMBER * rows[0].itemsize * len(self.w)

    def _whole(self, factor: float = 1.0) -> np.ndarray:
        """W of who asks, (2, d), of so many times w."""
        raise NotImplementedError

    @property
    def W(self) -> np.ndarray:
        """Weights (2, d)."""
        return self._whole()

    def _start(self, x: np.ndarray) -> None:
        """Begin at dual variables."""
        self.x = np.clip(x, 0.0, self.r)
        self._summed()

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Rows in float64."""
        n, size = self.X.shape[0], self.X.shape[0]
        if not self.sparse and self.X.dtype != np.float64:
            size = max(1, CHUNK // self.X.shape[1])
        for first in range(0, n, size):
            part = slice(first, first + size)
            yield part, self.X if size >= n else self.X[part].astype(np.float64)

    def _pull(self) -> np.ndarray:
        """Sum of s_i x_i x_i."""
        a = self._signed()
        found = [np.asarray(a[part] @ rows, np.float64) for part, rows in self._blocks()]
        return np.add.reduce(found) if len(found) > 1 else found[0]

    def _scores(self, w: np.ndarray) -> np.ndarray:
        return np.concatenate([np.asarray(rows @ w, np.float64) for _, rows in self._blocks()])

    def _pass(self) -> float:
        """Exact updates of those who are not left out; their gaps before them, summed."""
        self.taken += 1
        shuffle(self.order, self.rng.random(self.count))
        self.count, gap = ascend(
            self.rows, self.signs, self.r, self.inverse, self.costs, self.order, self.count,
            self.slopes, self.x, self.change,
        )  # fmt: skip
        return gap

    def _signed(self) -> np.ndarray:
        return self.signs * self.x

    def _dual(self) -> float:
        w = self.w + self.change
        return self.cost * float(self.x.sum()) - 0.5 * float(w @ w)

    def _narrowed(self) -> None:
        """Let passes read float32."""
        if self.even and self.X.dtype == np.float64 and self.X.size <= LONG:
            change = self.change
            self._read(as_rows(self.X.astype(np.float32)), np.float32)
            self.change[:] = change

    def _summed(self) -> np.ndarray:
        """Sum w and all scores anew; back to the last x, and float64, where D fell, which is rounding."""
        w = self._pull()
        dual = self.cost * float(self.x.sum()) - 0.5 * float(w @ w)
        if dual < self.dual:
            self.x, w, dual, self.even = self.kept.copy(), self.w, self.dual, False
            self._read(self.rows if self.sparse else as_rows(self.X), np.float64)
        self.change[:] = 0.0
        self.w, self.dual, self.kept = w, dual, self.x.copy()
        f = self._scores(w)
        self.costs = self.cost - self.signs * f
        return f

    def _certified(self) -> tuple[tuple[float, float], float, float]:
        """Bounds on P at a multiple of w and on D at x, P - D without rounding, and the multiple.

        Then who is needed comes back.
        """
        f, square = self._summed(), float(self.w @ self.w)
        factor = best_factor(self.signs * f, self.r, self.cost, square)
        W, n = factor * self.w[None], len(self.r)
        given = W, self._signed()[:, None], self.own, self.r, self.loss, None
        with np.errstate(all="ignore"):
            products = factor * f[:, None], self.w[None]
            found = sums(self.X, *given, norms=self.norms, products=products)
            bounds = bounds_of_sums(W, n, found, n)
        slope = self.cost - factor * self.signs * f
        plain = 0.5 * factor * factor * square + float(self.r @ np.maximum(slope, 0.0))
        away = self.order[self.count :]
        empty, slope = self.x[away] <= 0.0, self.costs[away]
        back = np.where(empty, slope >= self.slopes[0], slope <= self.slopes[1])
        self.order[self.count :] = away[np.argsort(~back, kind="stable")]
        self.count += int(np.count_nonzero(back))
        return bounds, plain - self.dual, factor

    def _successor(self) -> Any:
        """Who goes on where passes take too long."""
        raise NotImplementedError

    def _face(self) -> float:
        """Nanoseconds of `_solve_face`."""
        each = PRODUCT * self.count * self.X.shape[1] + FACTOR * self.count**2
        return LOOK + self.count * each if self.faces and self.count <= FACE else np.inf

    def _solve_face(self, goal: float) -> None:
        """The best point where all but order[:count] are as they are, up to a gap of ``goal``."""
        at = np.sort(self.order[: self.count])
        rows = self.X[at].astype(np.float64) * self.signs[at, None]
        H = rows @ rows.T
        self.x[at] = Box(H, self.costs[at] + H @ self.x[at], self.r[at]).solved(goal)
        self.faces -= 1
        self._summed()

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Passes and certificates until state.gap <= tol, or max_iter, or the callback stops."""
        if self.successor is not None:
            return self.successor.run(state, tol, max_iter, report)
        longest, hope, mine, solved, before = LONGEST, HOPE, Race(), False, np.inf
        for iteration in range(state.n_iter + 1, max_iter + 1):
            total, visits = np.inf, len(self.r)
            for _ in range(0 if solved else longest):
                if self.taken == EARLY:
                    self._narrowed()
                visits += self.count
                total = self._pass()
                if total <= hope * tol * (total + self._dual()):
                    break
            (P, D), plain, factor = self._certified()
            W = self._whole(factor)
            state.record(iteration, self.part * P, self.part * D, W)
            self.bounds = (state.primal, state.dual) if state.gap <= tol else None
            if self.bounds is None and plain <= tol * D:  # claims have more digits than these bounds
                state.W, D = W, self.dual
                state.claim(self.part * (D + plain), self.part * D)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return None
            if self.race is not None and self.race.lost_at(visits * self.visit, state.gap, tol):
                return None
            mine.rival = self._face()
            again = solved and plain <= SHRINK * before and mine.rival < np.inf
            solved, before = again or mine.lost_at(visits * self.visit, state.gap, tol), plain
            if solved:
                self._solve_face(SHARP * tol * self.dual)
                longest, mine = LONGEST // GROWTH, Race()
            elif longest >= MOST and mine.rival == np.inf:  # features are too much alike
                self.successor = self._successor()
                return self.successor.run(state, tol, max_iter, report)
            longest = min(GROWTH * longest, MOST)
            if total < np.inf:
                hope = min(BRIGHT, 0.9 * total / max(plain, total / BRIGHT))
        return None


class OneVsAllHinge(BinaryHinge):
    """One-vs-all of two classes; see `fast.solvers.one_vs_rest_training.train`."""

    part = 2.0

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        super().__init__(X, y, r, loss.cost, seed)
        self.given = X, y, own, r, loss, seed

    def _successor(self) -> Any:
        found = SignedProximal(*self.given)
        found.start_at(None, self.dual_variables())
        return found

    def _whole(self, factor: float = 1.0) -> np.ndarray:
        w = factor * self.w
        return np.stack([-w, w])

    def start_at(self, W: np.ndarray | None, A: np.ndarray | None) -> None:
        """Begin at a dual point."""
        if A is not None:
            self._start(np.abs(A[:, 1]))

    def dual_variables(self) -> np.ndarray:
        """A of the dual point, (n, 2)."""
        if self.successor is not None:
            return np.asarray(self.successor.dual_variables())
        a = self._signed()
        return np.stack([-a, a], axis=1)


class TwoClassHinge(BinaryHinge):
    """The multiclass hinge of two classes; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "lists"
    part, fits = 0.5, staticmethod(fits)

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        super().__init__(X, y, 2.0 * r, 1.0, seed)
        self.given = X, y, r, m, loss, seed

    def _successor(self) -> Any:
        found = ActiveSetSolver(*self.given)
        found.race = self.race
        found.resume(self.dual_variables())
        return found

    def _whole(self, factor: float = 1.0) -> np.ndarray:
        half = 0.5 * factor * self.w
        return np.stack([-half, half])

    def start_cold(self) -> None:
        """W = 0, and no dual mass."""

    def start_warm(self, dual: Any) -> None:
        """Begin at a feasible dual: masses on the other class, (n, 2)."""
        self._start(2.0 * np.abs(blocks_of(dual, np.asarray(self.own[:, 0], int))[:, 1]))

    resume = start_warm

    def dual_variables(self) -> sp.csr_array:
        """The dual: mass of each example on the other class, (n, 2)."""
        if self.successor is not None:
            return self.successor.dual_variables()
        n, others = len(self.x), 1 - self.own[:, 0].astype(np.int32)
        out = sp.csr_array((0.5 * self.x, others, np.arange(n + 1)), shape=(n, 2))
        out.eliminate_zeros()
        return out
