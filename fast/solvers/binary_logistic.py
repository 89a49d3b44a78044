"""Newton's method for logistic losses of two classes: one row of weights for each of q independent problems.

P(w) = 1/2 ||w||^2 + sum_i r_i log(1 + e^{-s_i <w, x_i>}), s_i = 1 where y_i is the row's class, else -1.
With a_i = r_i s_i / (1 + e^{s_i f_i}) the gradient is w - X'a, a is dual feasible, and P(w) - D(a) is half
the gradient's square: every point in float64 is a certificate.

Softmax of two classes is this problem: at its optimum w_1 = -w_0 = v/2, so that its P(W) =
1/4 ||v||^2 + sum_i r_i log(1 + e^{-s_i <v, x_i>}) is half of P(v) with 2 r_i for r_i, and so is its D.

Where features are few, the Hessian I + X'TX is factorised, from some of the rows where there are many, drawn
by their curvatures t_i; steps are then those of L-BFGS with this first matrix. Elsewhere a step is a solution
by conjugate gradients in float32, preconditioned by the diagonal. Passes are float32 until the gap seems
small enough; the certificate is float64. Lengths of steps come from the scores alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk, ssyrk

from fast._elementary import exp, log
from fast._numba import REORDER, kernel
from fast._simd import choose, larger, plus
from fast.families import named

from .kronecker import Factor
from .one_vs_rest_bounds import claims, logistic_claims
from .primal_newton import CERTIFY_EVERY, SINGLE_GAP
from .rows import blocks_of, is_sparse
from .state import TrainingState

SMALL = 1_000_000  # n q d from which on float32 matters
LEAST, ROWS, SHARE = (
    4000,
    6,
    24.0,
)  # rows of a Hessian: at least, by features, and passes that it may cost
MOST = 40  # rows by features, of which more make no step shorter
EXACT = 3e7  # multiplications of a Hessian from all rows that is no matter
DEAR = 60.0  # products that a factorised Hessian may cost
FRESH, EVERY = 4, 5  # first iterations with a Hessian of their own, and how often afterwards
MEMORY = 6
CG_STEPS, FORCING = 100, 0.03
FLAT, TRIES = 0.1, 12  # part of the slope that a line search leaves, and its looks
SHARP = 0.1  # part of its share of the tolerance that a row leaves
PATIENCE = 20  # steps without progress
LOST = 2.0**-22  # of its diagonal that the Hessian loses in float32


@kernel
def logistic_rows(y, classes, F, r, A, T, losses):
    """Write a_ji = r_i s x, T_ji = r_i x (1 - x), x = 1/(1 + e^{s f}), and the sums of r_i log(1 + e^{-s f})."""
    for j in range(F.shape[0]):
        total = 0.0
        for i in range(F.shape[1]):
            s = choose(y[i] == classes[j], 1.0, -1.0)
            z = -s * F[j, i]
            e = exp(-abs(z))
            one = 1.0 + e
            share = r[i] / one
            A[j, i] = s * (share * choose(z > 0.0, 1.0, e))
            T[j, i] = share * (e / one)
            loss = larger(z, 0.0) + (log(one) + (e - (one - 1.0)) / one)
            total = plus(total, r[i] * loss)
        losses[j] = total


@kernel(fastmath=REORDER)
def logistic_slopes(y, classes, F, G, t, r, slopes, bends):
    """Write the derivatives of the losses' sums at F + t G, by t, and the second ones."""
    for j in range(F.shape[0]):
        slope = 0.0
        bend = 0.0
        for i in range(F.shape[1]):
            s = choose(y[i] == classes[j], 1.0, -1.0)
            g = G[j, i]
            z = -s * (F[j, i] + t[j] * g)
            e = exp(-abs(z))
            one = 1.0 + e
            share = r[i] / one
            slope -= s * (share * choose(z > 0.0, 1.0, e)) * g
            bend += share * (e / one) * g * g
        slopes[j] = slope
        bends[j] = bend


def with_data(X: Any, data: np.ndarray) -> Any:
    """CSR of other numbers in the same places."""
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


class BinaryLogistic:
    """q problems over the same rows X (n, d): row j of W separates ``classes[j]`` from the rest."""

    def __init__(
        self, X: Any, y: np.ndarray, classes: np.ndarray, r: np.ndarray, seed: int
    ) -> None:
        used = np.flatnonzero(r > 0.0)
        self.used, self.n = used, len(r)
        if len(used) < len(r):
            X, y, r = X[used], y[used], r[used]
        self.y, self.classes, self.r = y, classes, r
        n, d = X.shape
        values = X.data if is_sparse(X) else X
        size = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
        fits = max(size, 1.0) ** 2 * float(r.max()) * n < 1e25
        self.single = fits and n * len(classes) * d > SMALL
        self.X64 = X.astype(np.float64, copy=False)
        self.X32 = self.X64
        if self.single:
            short = values.astype(np.float32, copy=False)
            self.X32 = with_data(X, short) if is_sparse(X) else short
        self.W = np.zeros((len(classes), d))
        self.best = self.W  # weights whose dual point is the best
        self.rng = np.random.default_rng(seed)
        self.factors: dict[int, Factor] = {}
        self.pairs: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        self.squares: Any = None
        self.held: Any = None  # a of the best dual point, with its weights
        self.rows = self._rows()

    def _rows(self) -> int:
        """Rows that a Hessian is formed from; 0: none is."""
        (n, d), q = self.X64.shape, len(self.classes)
        if is_sparse(self.X64) or d > n:
            return 0
        if float(n) * d * d <= EXACT:
            return n
        rows = int(min(max(LEAST, ROWS * d, min(SHARE * n / d, MOST * d)), n))
        cost = (0.5 * rows * d * d + d**3 / 6.0) / (2.0 * n * d)
        return rows if cost <= DEAR and q * d * d <= 1 << 26 else 0

    # -- products -----------------------------------------------------------------------------
    @staticmethod
    def _forward(X: Any, W: np.ndarray) -> np.ndarray:
        """W X', (q, n)."""
        W = W.astype(X.dtype, copy=False)
        if len(W) == 1:
            return np.asarray(X @ W[0])[None]
        return np.ascontiguousarray((X @ W.T).T) if is_sparse(X) else W @ X.T

    @staticmethod
    def _backward(X: Any, A: np.ndarray) -> np.ndarray:
        """A X, (q, d)."""
        if len(A) == 1:
            return np.asarray(X.T @ A[0] if is_sparse(X) else A[0] @ X)[None]
        return np.ascontiguousarray((X.T @ A.T).T) if is_sparse(X) else A @ X

    def _evaluate(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A and T at scores, and the sums of the losses."""
        A, T, losses = np.empty_like(F), np.empty_like(F), np.empty(len(F))
        logistic_rows(self.y, self.classes, F, self.r, A, T, losses)
        return A, T, losses

    def _at(self, W: np.ndarray, X: Any) -> tuple[np.ndarray, ...]:
        """Scores, T, P and its gradient, row by row, in the precision of X."""
        F = self._forward(X, W) if W.any() else np.zeros((len(W), X.shape[0]), X.dtype)
        return F, *self._completed(W, X, F)

    def _completed(self, W: np.ndarray, X: Any, F: np.ndarray) -> tuple[np.ndarray, ...]:
        A, T, losses = self._evaluate(F)
        gradient = W - self._backward(X, A)
        return T, losses + 0.5 * np.einsum("jt,jt->j", W, W), gradient

    # -- steps --------------------------------------------------------------------------------
    def claims(self, tol: float) -> tuple[float, float] | None:
        """P and D here, rounded outwards, if they show ``tol``; then a is kept."""
        own, loss = self.y[:, None] == self.classes, named("ova_logistic")
        P, D, A = logistic_claims(self.X64, self.W, own, self.r, loss, self.y)
        if not tol * P >= P - D:
            return None
        a = np.zeros((len(self.W), self.n))
        a[:, self.used] = A.T
        self.best, self.held = self.W, (self.W, a)
        return P, D

    def run(
        self, tol: float, limit: int, first: int, certified: Callable, claimed: Callable
    ) -> None:
        """Steps until ``certified(iteration, P, gap)`` says so, or a number of them.

        What float32 calls good enough is first ``claimed(iteration, P, D)``.
        """
        double = not self.single
        X = self.X64 if double else self.X32
        q, iteration = len(self.W), first
        F, T, primal, gradient = self._at(self.W, X)
        patience, smallest = PATIENCE, np.inf
        while True:
            gaps = 0.5 * np.einsum("jt,jt->j", gradient, gradient)
            scale = float(np.abs(primal).sum())
            aim = max(tol, 0.0 if double else SINGLE_GAP) * scale
            arrived = float(gaps.sum()) <= aim
            last = not patience or iteration >= limit
            asked = (iteration - first) % CERTIFY_EVERY == CERTIFY_EVERY - 1
            if not double and arrived and tol >= SINGLE_GAP:
                bounds = self.claims(tol)
                if bounds is not None:
                    claimed(iteration, *bounds)
                    return
            if not double and (arrived or last):
                F, T, primal, gradient = self._at(self.W, self.X64)
                gaps = 0.5 * np.einsum("jt,jt->j", gradient, gradient)
                double, X, patience, smallest = True, self.X64, PATIENCE, np.inf
            if double or asked:
                exact = (primal, gradient) if double else self._at(self.W, self.X64)[2:]
                if certified(iteration, exact[0], 0.5 * np.einsum("jt,jt->j", exact[1], exact[1])):
                    return
            if iteration >= limit or not patience:
                return
            live = np.flatnonzero(gaps > SHARP * tol * scale / q)
            live = live[gaps[live] > 0.0]
            if not len(live):
                return
            D = self._direction(live, T, gradient, tol * scale / q, iteration - first)
            G = self._forward(X, D)
            t = self._length(live, F, G, D, gradient)
            W, F = self.W.copy(), F.copy()
            W[live] += t[:, None] * D
            F[live] += t[:, None].astype(F.dtype) * G
            before, self.W = gradient, W
            T, primal, gradient = self._completed(W, X, F)
            self._remember(live, t[:, None] * D, gradient - before)
            now = float(np.einsum("jt,jt->", gradient, gradient))
            patience = PATIENCE if now < 0.9 * smallest else patience - 1
            smallest = min(smallest, now)
            iteration += 1

    def _length(
        self, live: np.ndarray, F: np.ndarray, G: np.ndarray, D: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """Lengths of steps D of the live rows: Newton's method for each, within a bracket."""
        start = np.einsum("jt,jt->j", gradient[live], D)
        square, along = np.einsum("jt,jt->j", D, D), np.einsum("jt,jt->j", self.W[live], D)
        F = F if len(live) == len(F) else F[live]
        t = np.ones(len(live))
        low, high = np.zeros_like(t), np.full_like(t, np.inf)
        slopes, bends = np.empty_like(t), np.empty_like(t)
        for _ in range(TRIES):
            logistic_slopes(self.y, self.classes[live], F, G, t, self.r, slopes, bends)
            slope = along + t * square + slopes
            todo = (np.abs(slope) > FLAT * np.abs(start)) & (start < 0.0)
            if not todo.any():
                break
            low, high = np.where(slope < 0.0, t, low), np.where(slope > 0.0, t, high)
            ahead = t - slope / np.maximum(bends + square, 1e-300)
            middle = np.where(np.isfinite(high), 0.5 * (low + np.minimum(high, 1e300)), 2.0 * t)
            inside = (ahead > low) & (ahead < np.minimum(high, 4.0 * t))
            t = np.where(todo, np.where(inside, ahead, middle), t)
        return np.where(start < 0.0, t, 0.0)

    def _direction(
        self, live: np.ndarray, T: np.ndarray, gradient: np.ndarray, aim: float, step: int
    ) -> np.ndarray:
        """Directions of descent of the live rows."""
        if not self.rows:
            return self._by_conjugate_gradients(live, T, -gradient[live], aim)
        exact = self.rows >= len(self.y)
        D = np.empty((len(live), gradient.shape[1]))
        for place, j in enumerate(live.tolist()):
            if exact or j not in self.factors or step < FRESH or step % EVERY == 0:
                self.factors[j] = self._factor(T[j])
            D[place] = self._two_loops(j, -gradient[j])
        return D

    def _factor(self, t: np.ndarray) -> Factor:
        """Cholesky's of I + X'TX, or of what some of the rows say of it."""
        n, d = self.X64.shape
        rough = float(self.rows) * d * d > EXACT and self.single
        X = self.X32 if rough else self.X64
        if self.rows < n:
            ends = np.cumsum(t, dtype=np.float64)
            marks = (np.arange(self.rows) + self.rng.random(self.rows)) * (ends[-1] / self.rows)
            drawn = np.minimum(np.searchsorted(ends, marks), n - 1)
            which, counts = np.unique(drawn, return_counts=True)
            rows = X[which] * np.sqrt(counts * (ends[-1] / self.rows))[:, None].astype(X.dtype)
        else:
            rows = X * np.sqrt(t)[:, None].astype(X.dtype)
        H = (ssyrk if rows.dtype == np.float32 else dsyrk)(1.0, rows.T, lower=1).astype(np.float64)
        H = np.tril(H) + np.tril(H, -1).T
        diagonal = H.diagonal()
        H[np.diag_indices(d)] = 1.0 + diagonal * (1.0 + (LOST if rough else 0.0))
        return Factor(H)

    def _two_loops(self, j: int, v: np.ndarray) -> np.ndarray:
        """The inverse Hessian of L-BFGS times v."""
        pairs, solve = self.pairs.get(j, []), self.factors[j].solve
        v, weights = v.astype(np.float64), []
        for s, u in reversed(pairs):
            weights.append(np.dot(s, v) / np.dot(s, u))
            v = v - weights[-1] * u
        z = solve(v)
        for (s, u), weight in zip(pairs, reversed(weights), strict=True):
            z += (weight - np.dot(u, z) / np.dot(s, u)) * s
        return z

    def _remember(self, live: np.ndarray, steps: np.ndarray, changes: np.ndarray) -> None:
        """Pairs for L-BFGS, where a Hessian is not exact."""
        if not 0 < self.rows < len(self.y):
            return
        for place, j in enumerate(live.tolist()):
            s, u = steps[place], changes[j].astype(np.float64)
            if np.dot(s, u) > 0.0:
                self.pairs[j] = [*self.pairs.get(j, [])[1 - MEMORY :], (s, u)]

    def _by_conjugate_gradients(
        self, live: np.ndarray, T: np.ndarray, right: np.ndarray, aim: float
    ) -> np.ndarray:
        """Solve (I + X'T_jX) d_j = right_j roughly, all together, until each is solved."""
        X = self.X32
        if self.squares is None:
            self.squares = with_data(X, X.data * X.data) if is_sparse(X) else X * X
        norms = np.linalg.norm(right, axis=1)
        T = np.ascontiguousarray(T[live], X.dtype)
        diagonal = 1.0 + self._backward(self.squares, T)
        residual = (right / norms[:, None]).astype(X.dtype)
        D = np.zeros_like(residual)
        gaps = 0.5 * norms * norms
        target = np.maximum(np.minimum(FORCING, gaps / (1.0 + gaps)), 0.5 * aim / gaps)
        target = np.maximum(target, 1e-8)
        z = residual / diagonal
        search, rho = z.copy(), np.einsum("jt,jt->j", residual, z)
        todo = np.arange(len(live))
        for _ in range(CG_STEPS):
            some = search[todo]
            V = self._forward(X, some)
            V *= T[todo]
            image = self._backward(X, V)
            image += some
            bend = np.einsum("jt,jt->j", some, image)
            length = np.where(bend > 0.0, rho[todo] / np.where(bend > 0.0, bend, 1.0), 0.0)
            length = length[:, None].astype(X.dtype)
            D[todo] += length * some
            residual[todo] -= length * image
            left = np.einsum("jt,jt->j", residual[todo], residual[todo])
            keep = (left > target[todo]) & (bend > 0.0)
            todo = todo[keep]
            if not len(todo):
                break
            z = residual[todo] / diagonal[todo]
            new = np.einsum("jt,jt->j", residual[todo], z)
            search[todo] = z + (new / rho[todo])[:, None].astype(X.dtype) * search[todo]
            rho[todo] = new
        return D.astype(np.float64) * norms[:, None]

    def dual_variables(self) -> np.ndarray:
        """Dual variables a of the best dual point, (q, n)."""
        if self.held is None or self.held[0] is not self.best:
            out = np.zeros((len(self.W), self.n))
            out[:, self.used] = self._evaluate(self._forward(self.X64, self.best))[0]
            self.held = self.best, out
        return self.held[1]


class _Adapted:
    """What the two problems below share: steps of `BinaryLogistic`, reported as of theirs."""

    core: BinaryLogistic
    part: float  # its P and D of the core's
    bounds: tuple[float, float] | None = None  # P and D of what is returned, rounded outwards

    def _whole(self, W: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @property
    def W(self) -> np.ndarray:
        """Weights (m, d)."""
        return self._whole(self.core.W)

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Newton steps until state.gap <= tol, or max_iter, or the callback stops."""
        if state.n_iter >= max_iter:
            return

        def certified(iteration: int, primal: np.ndarray, gaps: np.ndarray) -> bool:
            P, gap = self.part * float(primal.sum()), self.part * float(gaps.sum())
            if P - gap > state.dual:
                self.core.best = self.core.W
            state.record(iteration, P, max(P - gap, state.dual), self.W)
            state.done = state.gap <= tol
            return bool(report(state)) or state.done

        def claimed(iteration: int, P: float, D: float) -> None:
            P, D = self.part * P, self.part * D
            self.bounds = (P, D) if state.primal > P else None  # else another W is kept
            state.record(iteration, P, max(D, state.dual), self.W)
            state.done = True
            report(state)

        self.core.run(tol, max_iter, state.n_iter + 1, certified, claimed)


class TwoClassNewtonSolver(_Adapted):
    """Softmax of two classes; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "logistic"
    part, patient = 0.5, True
    tol, claimed = 0.0, (0.0, 0.0)  # asked for, and reached

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r = X, y, 2.0 * r
        self.core = BinaryLogistic(X, y, np.ones(1, y.dtype), self.r, seed)

    def _whole(self, W: np.ndarray) -> np.ndarray:
        half = 0.5 * W
        return np.concatenate([-half, half])

    def start_cold(self) -> None:
        """W = 0."""

    def start_at(self, W: np.ndarray) -> None:
        """Begin at given weights (2, d)."""
        self.core.W = np.array(W[1:] - W[:1], dtype=np.float64)

    def start_warm(self, dual: Any) -> None:
        """W = X'A of a feasible dual."""
        A = blocks_of(dual, self.y)[:, 1]
        self.core.W = np.asarray(2.0 * (A @ self.X), dtype=np.float64)[None]

    resume = start_warm

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Newton steps until state.gap <= tol, or max_iter, or the callback stops."""
        super().run(state, tol, max_iter, report)
        self.tol, self.claimed = tol, (state.primal / self.part, state.dual / self.part)

    def bounds_at(self, W: np.ndarray) -> tuple[float, float]:
        """P at W and D at the dual variables, rounded outwards: half of those of one row."""
        if self.bounds is not None:
            return self.bounds
        a, own = self.core.dual_variables().T, self.y[:, None] == 1
        given = self.X, W[1:] - W[:1], a, own, self.r, named("ova_logistic"), self.y
        P, D = claims(*given, self.claimed, self.tol)
        return 0.5 * P, 0.5 * D

    def dual_variables(self) -> Any:
        """The dual: mass of each example on the other class, (n, 2)."""
        x = np.zeros((len(self.y), 2))
        x[np.arange(len(self.y)), 1 - self.y] = 0.5 * np.abs(self.core.dual_variables()[0])
        return x


class OneVsAllNewtonSolver(_Adapted):
    """One-vs-all logistic losses; of two classes one row and its negative."""

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        m = own.shape[1]
        self.mirrored = m == 2
        self.part = 2.0 if self.mirrored else 1.0
        classes = np.arange(1 if self.mirrored else 0, m, dtype=y.dtype)
        self.core = BinaryLogistic(X, y, classes, r, seed)

    def _whole(self, W: np.ndarray) -> np.ndarray:
        return np.concatenate([-W, W]) if self.mirrored else W

    def start_at(self, W: np.ndarray | None, A: np.ndarray | None) -> None:
        """Begin at weights."""
        if W is not None:
            self.core.W = np.array(W[1:] if self.mirrored else W, dtype=np.float64)

    def dual_variables(self) -> np.ndarray:
        """A of the best dual point, (n, m)."""
        found = self.core.dual_variables().T
        return np.hstack([-found, found]) if self.mirrored else np.ascontiguousarray(found)


def _warmup() -> None:
    """Compile the loops of float32, which small problems do not take."""
    y, one = np.zeros(2, np.int64), np.ones(1, np.int64)
    F, r, t = np.zeros((1, 2), np.float32), np.ones(2), np.zeros(1)
    logistic_rows(y, one, F, r, F.copy(), F.copy(), t.copy())
    logistic_slopes(y, one, F, F, t, r, t.copy(), t.copy())
    logistic_claims(np.ones((2, 1)), np.ones((1, 1)), y[:, None] == 1, r, named("ova_logistic"), y)
