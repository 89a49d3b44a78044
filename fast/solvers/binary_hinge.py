"""Dual coordinate ascent for the hinge of two classes on CSR rows: one row of weights w.

P(w) = 1/2 ||w||^2 + sum_i r_i max(0, c - s_i <w, x_i>), s_i = 1 where y_i is 1, else -1
D(x) = c sum_i x_i - 1/2 ||sum_i s_i x_i x_i||^2, 0 <= x_i <= r_i

One-vs-all hinges of two classes have the rows -w and w, and twice these objectives. The multiclass hinge of
two classes is this problem, too: at its optimum W = (-w/2, w/2), so that with 2 r_i for r_i its P(W) =
1/4 ||w||^2 + sum_i r_i max(0, 1 - s_i <w, x_i>) is half of P(w), and so is its D, at x_i/2.

Passes in random order leave out examples at a bound whose slope there is beyond those of the pass before
(Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008). The Fenchel-Young gaps seen in a pass foretell the
certificate, which takes all scores, and brings back whom it finds missing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._numba import kernel
from fast._simd import larger, prefetch, smaller
from fast.families import named
from fast.kernels.signed import BOX

from .active_set import ActiveSetSolver
from .class_newton import WIDEST
from .one_vs_rest_bounds import bounds_of_sums, sums
from .one_vs_rest_proximal import SignedProximal
from .rounding import bounded_norms
from .rows import blocks_of, is_sparse
from .sparse_rows import parts
from .state import TrainingState

LINE = 16  # indices, or twice the numbers, of a line of the cache
HOPE = 1.9  # gaps seen in a pass, summed, times the gap after it
NONZERO, ROW = 3.5, 40.0  # nanoseconds of a visit
LONGEST, GROWTH, MOST = 10, 2, 320  # passes between certificates: first, how they grow, and last
STEEP = 1e300  # of a row of zeros


@kernel
def row_squares(rows, out):
    """Squared norms of rows."""
    data, _, indptr = rows
    for i in range(out.shape[0]):
        total = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[t]) * np.float64(data[t])
        out[i] = total


@kernel
def shuffle(order, numbers):
    """Put len(numbers) entries in random order, by as many random numbers in [0, 1)."""
    count = numbers.shape[0]
    for p in range(count - 1):
        q = p + int(numbers[p] * (count - p))
        order[p], order[q] = order[q], order[p]


@kernel
def ascend(rows, signs, r, inverse, cost, order, count, bounds, x, w):
    """Exact updates of order[:count]; returns (examples kept, sum of their gaps before their updates).

    Left out, and moved behind those kept, are examples at 0 with a slope below bounds[0], and at r_i with one
    above bounds[1]; then the least and the largest slopes of the others that can move are written there.
    """
    data, indices, indptr = rows
    gap, low, high = 0.0, 0.0, 0.0
    p = 0
    while p < count:
        i = order[p]
        begin, end = indptr[i], indptr[i + 1]
        if p + 1 < count:
            after = order[p + 1]
            for t in range(indptr[after], indptr[after + 1], LINE):
                prefetch(data, t)
                prefetch(data, t + LINE // 2)
                prefetch(indices, t)
        f, g = 0.0, 0.0
        t = begin
        if (end - begin) % 2:
            f = data[t] * w[indices[t]]
            t += 1
        while t < end:
            f += data[t] * w[indices[t]]
            g += data[t + 1] * w[indices[t + 1]]
            t += 2
        slope = cost - signs[i] * (f + g)
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
            change *= signs[i]
            for t in range(begin, end):
                w[indices[t]] += change * data[t]
        p += 1
    bounds[0] = low if low < 0.0 else -np.inf
    bounds[1] = high if high > 0.0 else np.inf
    return count, gap


def fits(X: Any, m: int, loss: Any) -> bool:
    """Whether a one-vs-all or a top-k hinge on these rows is this problem, and not one of few features."""
    if m != 2 or not is_sparse(X) or X.shape[1] <= WIDEST or loss.smooth:
        return False
    if loss.per_class:
        return loss.variant == BOX
    return "lists" in loss.capabilities and not any(loss.structure(1)[2:])


class BinaryHinge:
    """The problem in one row of weights; ``part``: objectives and masses of who asks, by its own."""

    part, patient = 1.0, True
    race: Any = None
    successor: Any = None
    bounds: tuple[float, float] | None = None  # P and D of what is returned, rounded outwards

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, cost: float, seed: int) -> None:
        self.X, self.own, self.r = X, (y == 1)[:, None], r
        self.loss, self.cost = named("ova_hinge"), float(cost)
        self.signs = np.where(y == 1, 1.0, -1.0)
        data, indices, indptr = parts(X, X.dtype)
        self.rows = data, indices.view(np.uint32), indptr
        squares = np.empty(len(r))
        row_squares(self.rows, squares)
        self.norms = bounded_norms(squares, X.shape[1])
        self.inverse = np.minimum(1.0 / np.where(squares > 0.0, squares, 1.0 / STEEP), STEEP)
        self.visit = ROW + NONZERO * X.nnz / len(r)
        self.x, self.w = np.zeros(len(r)), np.zeros(X.shape[1])
        self.rng = np.random.default_rng(seed)
        self.order = np.flatnonzero(r > 0.0)
        self.count, self.slopes = len(self.order), np.array([-np.inf, np.inf])

    def _whole(self) -> np.ndarray:
        """W of who asks, (2, d)."""
        raise NotImplementedError

    @property
    def W(self) -> np.ndarray:
        """Weights (2, d)."""
        return self._whole()

    def _start(self, x: np.ndarray) -> None:
        """Begin at dual variables."""
        self.x = np.clip(x, 0.0, self.r)
        self.w = np.asarray((self.signs * self.x) @ self.X, dtype=np.float64)

    def _pass(self) -> float:
        """Exact updates of those who are not left out; their gaps before them, summed."""
        shuffle(self.order, self.rng.random(self.count))
        self.count, gap = ascend(
            self.rows, self.signs, self.r, self.inverse, self.cost, self.order, self.count,
            self.slopes, self.x, self.w,
        )  # fmt: skip
        return gap

    def _signed(self) -> np.ndarray:
        return self.signs * self.x

    def _dual(self) -> float:
        return self.cost * float(self.x.sum()) - 0.5 * float(self.w @ self.w)

    def _certified(self) -> tuple[tuple[float, float], float]:
        """Bounds on P at w and on D at x, and P - D without rounding.

        Then w becomes the sum of x anew, and who is needed comes back.
        """
        scores: list[Any] = []
        given = self.X, self.w[None], self._signed()[:, None], self.own, self.r, self.loss, None
        with np.errstate(all="ignore"):
            found = sums(*given, seen=scores.append, norms=self.norms)
            bounds = bounds_of_sums(self.w[None], len(self.r), found, len(self.r))
        slope = self.cost - self.signs * scores[0][:, 0]
        plain = 0.5 * float(self.w @ self.w) + float(self.r @ np.maximum(slope, 0.0))
        self.w = np.ascontiguousarray(found[2][0])
        away = self.order[self.count :]
        empty, slope = self.x[away] <= 0.0, slope[away]
        back = np.where(empty, slope >= self.slopes[0], slope <= self.slopes[1])
        self.order[self.count :] = away[np.argsort(~back, kind="stable")]
        self.count += int(np.count_nonzero(back))
        return bounds, plain - self._dual()

    def _successor(self) -> Any:
        """Who goes on where passes take too long."""
        raise NotImplementedError

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Passes and certificates until state.gap <= tol, or max_iter, or the callback stops."""
        if self.successor is not None:
            return self.successor.run(state, tol, max_iter, report)
        longest, hope = LONGEST, HOPE
        for iteration in range(state.n_iter + 1, max_iter + 1):
            total, visits = np.inf, len(self.r)
            for _ in range(longest):
                visits += self.count
                total = self._pass()
                if total <= hope * tol * (total + self._dual()):
                    break
            W = self._whole()
            (P, D), plain = self._certified()
            state.record(iteration, self.part * P, self.part * D, W)
            self.bounds = (state.primal, state.dual) if state.gap <= tol else None
            if self.bounds is None and plain <= tol * D:  # claims have more digits than these bounds
                state.W, D = W, self._dual()
                state.claim(self.part * (D + plain), self.part * D)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return None
            if self.race is not None and self.race.lost_at(visits * self.visit, state.gap, tol):
                return None
            if longest >= MOST:  # features are too much alike
                self.successor = self._successor()
                return self.successor.run(state, tol, max_iter, report)
            longest *= GROWTH
            hope = min(HOPE, 0.9 * total / max(plain, total))
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

    def _whole(self) -> np.ndarray:
        return np.stack([-self.w, self.w])

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

    def _whole(self) -> np.ndarray:
        half = 0.5 * self.w
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
