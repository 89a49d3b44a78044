"""Quasi-Newton steps in the primal with a homotopy in C, for any loss with a gradient.

P(W) = 1/2||W||^2 + C R(W), R = sum_i w_i L_i, C w_i = r_i. A pass evaluates R and its gradient in blocks
of rows; nothing of n times m numbers is kept. Steps are those of L-BFGS, whose first matrix is
I + C' (curvature in the scores) (x) X'wX in the eigenbasis of X'wX. C' grows from where the
regulariser rules to C as soon as the gap allows: pairs are kept as differences of W and of R's gradient,
so that they hold for every C'.

Passes go through float32 where the loss's rows allow it. The certificate is float64, and that of
`fast.solvers.primal_newton`: with A made of the gradients in the scores, P(W) - D(A) is half the
squared gradient of P.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .multiclass_claims import claims_of_weights
from .pairs import Pairs
from .primal_newton import SINGLE_GAP
from .rows import is_sparse
from .state import TrainingState

AT_ONCE = 1 << 20  # scores of a block of rows
WIDEST = 4096  # features up to which X'wX is decomposed
SMALL = 1_000_000  # n m d from which on float32 matters
MANY, SAVED = 100, 200.0  # features from which on steps win, products that their basis may cost
FEW = 64  # classes up to which their mean Hessian is
POWERS = 3  # products for the largest eigenvalue
WEAK = 1.0  # C ||X'wX|| / m up to which the Hessian is close to the identity
FLOOR = 0.1  # part of the mean below which no eigenvalue of that is believed
START, RAISE, READY = 4.0, 4.0, 0.3  # C' ||X'wX|| / m at first, its growth, the gap that allows it
SAMPLE = 500  # rows that the first steps are measured on
EXACT = 0.1  # of the slope that may be left there
USUAL = 0.67, 1.5  # lengths that say that 1 will do
PATIENCE = 4  # passes without halving the gap, after which the pairs are forgotten
CERTIFY_EVERY = 20  # float32 steps between two certificates


class _Point(NamedTuple):
    """R and its gradient (m, d); the mean Hessian in the scores: one number, and (m, m) or None."""

    risk: float
    slopes: np.ndarray
    bend: float
    bends: Any


class QuasiNewtonSolver:
    """Trains one smooth model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "gradients"

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.m, self.loss = X, y, m, loss
        n, d = X.shape
        self.C = float(r.max())
        self.w = r / self.C
        size = float(max(X.max(), -X.min(), 1.0))
        fits = size * size * self.C * n < 1e25
        self.curved = "curvature" in loss.capabilities and getattr(loss, "dropped", None) is None
        large = fits and n * m * d > SMALL
        self.single = self.curved and large and self._rows(slice(0, 1)).single
        # of many classes a pass costs so much that a block of rows may be rounded each time
        self.X32 = X.astype(np.float32, copy=False) if self.single and m <= FEW else X
        self.W = np.zeros((m, d))
        self.best: Any = (
            None  # W of the best dual, whose blocks are made when asked for; None: A = 0
        )
        self.finished: Any = None  # masses of the best dual, and the bounds claimed of both
        self.reached = 0  # steps that led to W
        self.sample = np.sort(np.random.default_rng(seed).permutation(n)[:SAMPLE])
        self.pairs = Pairs(m * d)

    @staticmethod
    def pays(X: Any, m: int) -> bool:
        """Whether the eigenbasis costs less than the products that Newton's method takes longer."""
        n, d = X.shape
        pairs = d / (2.0 * m) + 25.0 * d * d / (n * m)  # of matrix products
        return not is_sparse(X) and d >= MANY and d <= 2 * n and pairs <= SAVED

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual: masses of the other classes (n, m)."""
        masses = dual.toarray() if is_sparse(dual) else dual
        blocks = np.negative(masses)
        blocks[np.arange(len(self.y)), self.y] = masses.sum(axis=1)
        self.W = self._transposed(self.X, blocks)

    def start_at(self, W: np.ndarray) -> None:
        """Begin at given weights (m, d)."""
        self.W = np.array(W, dtype=np.float64)

    # -- passes -------------------------------------------------------------------------------
    @staticmethod
    def _transposed(rows: Any, A: np.ndarray) -> np.ndarray:
        return np.asarray((rows.T @ A).T if is_sparse(rows) else A.T @ rows, dtype=np.float64)

    def _rows(self, part: Any) -> Any:
        return self.loss.rows(self.y[part], self.w[part], self.m)

    def _blocks(self) -> list[slice]:
        size, n = max(1, AT_ONCE // self.m), len(self.y)
        return [slice(first, min(n, first + size)) for first in range(0, n, size)]

    def _block(self, part: Any, double: bool) -> Any:
        """Some rows of X."""
        single = self.single and not double
        rows = (self.X32 if single else self.X)[part]
        return rows.astype(np.float32 if single else np.float64, copy=False)

    def _scores(self, part: Any, W: np.ndarray, double: bool) -> tuple[Any, np.ndarray]:
        """Some rows of X and their scores; W (d, m) as the products want it."""
        rows = self._block(part, double)
        return rows, np.ascontiguousarray(rows @ W)

    def _slopes(self, f: np.ndarray, part: Any) -> np.ndarray:
        """w_i times the gradients in the scores."""
        if not self.curved:
            found = self.loss.gradient(f, self.y[part], sample_weight=self.w[part])
            return np.asarray(found)
        A = np.empty_like(f)
        self._rows(part).evaluate(f, A)
        return A

    def _at(self, W: np.ndarray, double: bool) -> _Point:
        """One pass."""
        Wt = np.ascontiguousarray(W.T if double or not self.single else W.T.astype(np.float32))
        risk, bend, slopes = 0.0, 0.0, np.zeros_like(W)
        bends: Any = 0.0 if self.m <= FEW else None
        for part in self._blocks():
            rows, f = self._scores(part, Wt, double)
            if self.curved:
                held, A = self._rows(part), np.empty_like(f)
                risk += held.evaluate(f, A)
                bend += float(held.curvatures().sum())
                more = None if bends is None else held.summed()
                bends = None if more is None else bends + more
            else:
                y, w = self.y[part], self.w[part]
                risk += float(np.sum(self.loss.value(f, y, sample_weight=w)))
                A = self._slopes(f, part)
            slopes += self._transposed(rows, A)
        total = float(self.w.sum())
        if not self.curved:
            return _Point(risk, slopes, (1.0 - 1.0 / self.m) / self.m, None)
        return _Point(risk, slopes, bend / total, None if bends is None else bends / total)

    def _at_zero(self) -> _Point:
        """The same at W = 0, where all examples of a class are alike: without products with W."""
        n, m, total = len(self.y), self.m, float(self.w.sum())
        mass = np.bincount(self.y, self.w, m)
        sums = sp.csr_array((self.w, (self.y, np.arange(n))), shape=(m, n)) @ self.X
        sums = sums.toarray() if is_sparse(sums) else sums
        rows, A = self.loss.rows(np.arange(m), mass, m), np.empty((m, m))
        risk = rows.evaluate(np.zeros((m, m)), A)
        A /= np.where(mass > 0.0, mass, 1.0)[:, None]
        bend, bends = float(rows.curvatures().sum()), rows.summed() if m <= FEW else None
        return _Point(
            risk, np.asarray(A.T @ sums), bend / total, None if bends is None else bends / total
        )

    # -- the first matrix ---------------------------------------------------------------------
    def _largest(self) -> float:
        """About the largest eigenvalue of X'wX."""
        v = np.random.default_rng(0).standard_normal(self.X.shape[1]).astype(self.X32.dtype)
        size = float(np.linalg.norm(v))
        for _ in range(POWERS):
            v /= size
            with np.errstate(over="ignore", invalid="ignore"):  # then the data are not weak
                v = self.X32.T @ (self.w.astype(v.dtype) * (self.X32 @ v))
                size = float(np.linalg.norm(v))
            if not 0.0 < size < np.inf:
                break
        return size

    def _decompose(self) -> None:
        """X'wX = Q diag(sizes) Q'; its diagonal alone where that costs too much, or is close to it."""
        n, d = self.X.shape
        self.Q: Any = None
        top = self._largest()
        if is_sparse(self.X) or d > min(WIDEST, 2 * n) or self.C * top <= WEAK * self.m:
            squares = self.X.multiply(self.X) if is_sparse(self.X) else self.X * self.X
            self.sizes = np.asarray(self.w @ squares, dtype=np.float64)
            return
        gram = np.zeros((d, d))
        for part in self._blocks():
            rows = self._block(part, False)
            rows = rows * np.sqrt(self.w[part]).astype(rows.dtype)[:, None]
            gram += rows.T @ rows
        self.sizes, self.Q = np.linalg.eigh(gram)
        self.sizes = np.maximum(self.sizes, 0.0)

    def _solved(self, V: np.ndarray, C: float, point: _Point) -> np.ndarray:
        """The first matrix's inverse times V (m, d)."""
        inside = V if self.Q is None else V @ self.Q
        if point.bends is None:
            inside = inside / (1.0 + C * point.bend * self.sizes)
        else:
            bends, U = np.linalg.eigh(point.bends)
            bends = np.maximum(bends, FLOOR * bends.mean())
            inside = U @ ((U.T @ inside) / (1.0 + C * bends[:, None] * self.sizes))
        return inside if self.Q is None else inside @ self.Q.T

    def _length(self, z: np.ndarray, C: float, slope: float) -> float:
        """About the best length of a step, from some of the rows and the slope of all."""
        rows, part = self.X[self.sample].astype(np.float64, copy=False), self.sample
        f, moved = np.ascontiguousarray(rows @ self.W.T), np.ascontiguousarray(rows @ z.T)
        scale = C * float(self.w.sum()) / max(float(self.w[part].sum()), 1e-300)
        square = float(np.vdot(z, z))

        def bent(t: float) -> float:
            return t * square - scale * float(np.vdot(self._slopes(f - t * moved, part), moved))

        start = bent(0.0) + slope
        (low, below), (high, above), t = (0.0, -slope), (np.inf, np.inf), 1.0
        for _ in range(8):
            left = bent(t) - start
            if abs(left) <= EXACT * slope:
                break
            if left < 0.0:
                steep = max((left - below) / (t - low), 1e-300)
                low, below, ahead = t, left, t - left / steep
            else:
                high, above, ahead = t, left, np.inf
            if high < np.inf:  # the secant, inside
                ahead = low - below * (high - low) / (above - below)
                t = min(max(ahead, 0.9 * low + 0.1 * high), 0.1 * low + 0.9 * high)
            else:
                t = min(max(ahead, 1.5 * t), 4.0 * t)
        return t

    # -- steps --------------------------------------------------------------------------------
    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or the callback stops."""
        if state.n_iter >= max_iter:
            return
        self._decompose()
        double, zero = not self.single, self.curved and not self.W.any()
        point = self._at_zero() if zero else self._at(self.W, double)
        iteration, usual, failed = state.n_iter + 1, 0, False
        C = self._first_size(point)
        best, patience = np.inf, PATIENCE
        while True:
            self.reached = iteration
            C, raised, primal, gradient, gap = self._raised(C, point)
            arrived = C == self.C and gap <= max(tol, 0.0 if double else SINGLE_GAP) * primal
            if double or arrived or iteration % CERTIFY_EVERY == 0 or iteration >= max_iter:
                if not double:
                    if arrived and self._finished(state, iteration, tol, report):
                        return
                    double = arrived
                    exact = self._at(self.W, True)
                    point = exact if double else point
                else:
                    exact = point
                if self._certified(state, iteration, exact, tol, max_iter, report):
                    return
                C, _, primal, gradient, gap = self._raised(C, point)
            patience = PATIENCE if raised or gap <= 0.5 * best else patience - 1
            if raised or gap <= 0.5 * best:
                best = gap
            if patience == 0:
                self.pairs.forget()
                best, patience = gap, PATIENCE
            z = self.pairs.direction(gradient, C, partial(self._solved, C=C, point=point))
            slope = float(np.vdot(gradient, z))
            t = self._length(z, C, slope) if usual < 2 else 1.0
            usual += USUAL[0] <= t <= USUAL[1]
            found = self._search(z, t, C, point, primal, slope, double)
            if found is None:
                if double and (failed or not self.pairs.order):
                    return
                failed, double = double, True
                self.pairs.forget()
                point = self._at(self.W, True)
                continue
            W, following, failed = *found, False
            step, change = W - self.W, following.slopes - point.slopes
            if np.vdot(step, step) + C * np.vdot(step, change) > 0.0:
                self.pairs.add(step, change)
            self.W, point = W, following
            iteration += 1

    def _first_size(self, point: _Point) -> float:
        """C' to begin with: from where on the gap allows, and from W = 0 the smallest that is asked."""
        least = min(self.C, START * self.m / max(float(self.sizes.max()), 1e-300))
        size = self.C
        while size > least and not self._measured(size, point)[0]:
            size = max(size / RAISE, least)
        return size

    def _measured(self, C: float, point: _Point) -> tuple[bool, float, np.ndarray, float]:
        """Whether the gap at C allows a larger one; P, its gradient and gap."""
        gradient = C * point.slopes
        gradient += self.W
        primal = 0.5 * float(np.vdot(self.W, self.W)) + C * point.risk
        gap = 0.5 * float(np.vdot(gradient, gradient))
        return gap <= READY * primal, primal, gradient, gap

    def _raised(self, C: float, point: _Point) -> tuple[float, bool, float, np.ndarray, float]:
        """C', raised as far as the gap allows; whether it was; P, its gradient and gap there."""
        raised = False
        ready, primal, gradient, gap = self._measured(C, point)
        while ready and C < self.C:
            C, raised = min(RAISE * C, self.C), True
            ready, primal, gradient, gap = self._measured(C, point)
        return C, raised, primal, gradient, gap

    def _search(
        self, z: np.ndarray, t: float, C: float, point: _Point, primal: float, slope: float,
        double: bool,
    ) -> tuple[np.ndarray, _Point] | None:  # fmt: skip
        """Armijo's rule for P(W - t z); or a slope that falls while P, up to rounding, does not rise."""
        noise = (1e-15 if double else 1e-6) * abs(primal)
        for _ in range(30):
            W = self.W - t * z
            with np.errstate(over="ignore", invalid="ignore"):  # then the step is too long
                found = self._at(W, double)
                value = 0.5 * float(np.vdot(W, W)) + C * found.risk
                left = abs(float(np.vdot(W + C * found.slopes, z)))
            lower = value <= primal - 1e-4 * t * slope
            if lower or (left <= 0.8 * slope and value <= primal + noise):
                return W, found
            t *= 0.5
        return None

    # -- certificates -------------------------------------------------------------------------
    def _finished(self, state: TrainingState, iteration: int, tol: float, report: Callable) -> bool:
        """Claim the point that float32 calls good enough: P, D and the masses from one pass."""
        if tol < SINGLE_GAP:
            return False
        kind = np.float32 if self.loss.k == 1 else np.float64  # of k > 1 rounding leaves the caps
        P, D, masses = claims_of_weights(self.X, self.W, self.y, self.C * self.w, self.loss, kind)
        if not tol * P >= P - D:
            return False
        bounds = (P, D) if state.primal > P else None  # else another W is kept
        self.best, self.finished = self.W, (masses, bounds)
        state.record(iteration, P, max(D, state.dual), self.W)
        state.done = True
        report(state)
        return True

    @property
    def bounds(self) -> tuple[float, float] | None:
        """P and D as claimed of weights and masses, if they are known."""
        return None if self.finished is None else self.finished[1]

    def _certified(
        self, state: TrainingState, iteration: int, exact: _Point, tol: float, max_iter: int,
        report: Callable,
    ) -> bool:  # fmt: skip
        """Take in a point evaluated in float64; whether the run is over."""
        primal = 0.5 * float(np.vdot(self.W, self.W)) + self.C * exact.risk
        gradient = self.W + self.C * exact.slopes
        dual = primal - 0.5 * float(np.vdot(gradient, gradient))
        if dual > state.dual:
            self.best = self.W
        state.record(iteration, primal, max(dual, state.dual), self.W)
        state.done = state.gap <= tol
        return bool(report(state)) or state.done or state.n_iter >= max_iter

    def settle(self, state: TrainingState) -> None:
        """Certify the point reached, after an interruption."""
        if self.reached > state.n_iter:
            exact = self._at(self.W, True)
            self._certified(state, self.reached, exact, 0.0, self.reached, lambda state: True)

    def masses(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m); CSR if most of it is 0."""
        if self.finished is not None:
            return self.finished[0]
        x = np.zeros((len(self.y), self.m))
        if self.best is not None:
            for part in self._blocks():
                x[part] = self._slopes(self._scores(part, self.best.T, True)[1], part)
        x *= self.C
        x[np.arange(len(self.y)), self.y] = 0.0
        return x if self.single else sp.csr_array(x)
