"""Newton's method for logistic losses of two classes: one row of weights for each of q independent problems.

P(w) = 1/2 ||w||^2 + sum_i r_i log(1 + e^{-s_i <w, x_i>}), s_i = 1 where y_i is the row's class, else -1.
With a_i = r_i s_i / (1 + e^{s_i f_i}) the gradient is w - X'a, a is dual feasible, and P(w) - D(a) is half
the gradient's square: every point in float64 is a certificate.

Softmax of two classes is this problem: at its optimum w_1 = -w_0 = v/2, so that its P(W) =
1/4 ||v||^2 + sum_i r_i log(1 + e^{-s_i <v, x_i>}) is half of P(v) with 2 r_i for r_i, and so is its D.

A step d solves (I + X'TX) d = -gradient, T the losses' curvatures: exactly where that is cheap, else by conjugate
gradients in float32. They are preconditioned by the Hessian's diagonal at the start or, as soon as products have
cost as much as a factor, by Cholesky's of the Hessian that some rows make, drawn by their curvatures t_i. Passes are
float32 until the gap seems small enough; the certificate is float64. Lengths of steps come from the scores alone.

The dual point b = a - TXd, brought into [0, r_i], predicts the next one: with e = -gradient - (I + X'TX) d, what
conjugate gradients leave, w + d - X'b = -e and P(w + d) - D(b) = 1/2 ||e||^2 + sum_i r_i KL(b_i/r_i, p_i), p_i =
1/(1 + e^{s_i f_i}) at w + d. The divergences, about (b_i - r_i p_i)^2 / (2 t_i), are of fourth order in d: this gap is
near the suboptimality of w + d, half the gradient's square many times it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk, ssyrk

from fast._elementary import exp, log
from fast._numba import REORDER, kernel
from fast._simd import choose, larger, plus, smaller
from fast.families import named

from .kronecker import Factor
from .one_vs_rest_bounds import claims, logistic_claims
from .primal_newton import CERTIFY_EVERY, SINGLE_GAP
from .rounding import bounded_norms, row_norms
from .rows import FUSE, as_rows, blocks_of, is_sparse
from .state import TrainingState

SMALL = 300_000  # n q d from which on float32 matters
LEAST, ROWS = 1000, 6  # rows of a Hessian: at least, by features
FACTOR = 0.4  # a multiplication of a factor costs so much of one of a product
AT_ONCE, MOST = 12.0, 200.0  # products that a factor costs: made before any, and none is made
WEIGHTS = 1 << 26  # numbers of all factors
EVEN, MOST_EXACT = 1e4, 1e10  # masses; multiplications where they are wider
EXACT = 2e6  # multiplications of a Hessian from all rows that is no matter
CG_STEPS, FORCING, LEFT = 100, 0.03, 1e-12  # squares of what is left, at most and at least
DEAR, MATTERS = 50, 10.0  # entries of a row from which on changes of curvature are looked at; what they count
TIGHT = 1e-9  # from here on gaps are those of predicted dual points
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


@kernel(fastmath=REORDER)
def row_squares(X, squares):
    """Write ||x_i||^2."""
    for i in range(squares.shape[0]):
        total = 0.0
        for t in range(X.shape[1]):
            x = float(X[i, t])
            total += x * x
        squares[i] = total


@kernel(fastmath=FUSE)
def sparse_curvature(data, indices, indptr, T, v, scores, image):
    """Add X'TXv to the image, and write Xv; X is CSR, and read once."""
    first = np.uint64(0)  # numba asks of a signed place whether it counts from the end
    for i in range(scores.shape[0]):
        end = np.uint64(indptr[i + 1])
        a = b = c = d = v.dtype.type(0)
        t = first
        while t + np.uint64(4) <= end:
            a += data[t] * v[np.uint64(indices[t])]
            b += data[t + np.uint64(1)] * v[np.uint64(indices[t + np.uint64(1)])]
            c += data[t + np.uint64(2)] * v[np.uint64(indices[t + np.uint64(2)])]
            d += data[t + np.uint64(3)] * v[np.uint64(indices[t + np.uint64(3)])]
            t += np.uint64(4)
        while t < end:
            a += data[t] * v[np.uint64(indices[t])]
            t += np.uint64(1)
        scores[i] = (a + b) + (c + d)
        pull = scores[i] * T[i]
        for k in range(first, end):
            image[np.uint64(indices[k])] += data[k] * pull
        first = end


def with_data(X: Any, data: np.ndarray) -> Any:
    """CSR of other numbers in the same places."""
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


@kernel(fastmath=FUSE)
def advance(todo, some, V, image, rho, D, scores, residual, left):
    """A step of conjugate gradients along ``some`` for rows ``todo``: V are their scores, ``image`` their X'TX.

    A row without curvature is left as solved.
    """
    for k in range(todo.shape[0]):
        j, bend, total = todo[k], 0.0, 0.0
        for t in range(some.shape[1]):
            image[k, t] += some[k, t]
            bend += some[k, t] * image[k, t]
        step = some.dtype.type(rho[j] / bend if bend > 0.0 else 0.0)
        for t in range(some.shape[1]):
            D[j, t] += step * some[k, t]
            residual[j, t] -= step * image[k, t]
            total += residual[j, t] * residual[j, t]
        for i in range(V.shape[1]):
            scores[j, i] += step * V[k, i]
        left[j] = total if bend > 0.0 else -1.0


@kernel
def scaled_rows(X, t, out):
    """Write sqrt(t_i) x_i."""
    for i in range(out.shape[0]):
        root = out.dtype.type(np.sqrt(t[i]))
        for j in range(out.shape[1]):
            out[i, j] = root * X[i, j]


@kernel
def logistic_divergences(y, classes, B, A, T, r, rest):
    """Bring masses B into the domain; write their divergences from A, about (b - a)^2 / 2t, row by row."""
    for j in range(B.shape[0]):
        total = 0.0
        for i in range(B.shape[1]):
            s = choose(y[i] == classes[j], 1.0, -1.0)
            b = smaller(larger(s * B[j, i], 0.0), r[i])
            B[j, i] = s * b
            off = b - s * A[j, i]
            total = plus(total, off * off / larger(T[j, i], 1e-30))
        rest[j] = 0.5 * total


class BinaryLogistic:
    """q problems over the same rows X (n, d): row j of W separates ``classes[j]`` from the rest."""

    def __init__(self, X: Any, y: np.ndarray, classes: np.ndarray, r: np.ndarray, seed: int) -> None:
        used = np.flatnonzero(r > 0.0)
        self.used, self.n = used, len(r)
        if len(used) < len(r):
            X, y, r = X[used], y[used], r[used]
        self.y, self.classes, self.r = y, classes, r
        n, d = X.shape
        values = X.data if is_sparse(X) else X
        if is_sparse(X):
            self.norms = row_norms(X)
        else:
            squares = np.empty(n)
            row_squares(as_rows(X)[0], squares)
            self.norms = bounded_norms(squares, d)
        size = float(self.norms.max())
        fits = max(size, 1.0) ** 2 * float(r.max()) * n < 1e25
        # directions of rough Hessians do not serve where few examples outweigh all others
        self.even = float(r.max()) <= EVEN * float(r.min())
        self.single = fits and self.even and n * len(classes) * d > SMALL
        self.X64 = X.astype(np.float64, copy=False)
        self.X32 = self.X64
        if self.single:
            short = values.astype(np.float32, copy=False)
            self.X32 = with_data(X, short) if is_sparse(X) else short
        self.W = np.zeros((len(classes), d))
        self.best = self.W  # weights whose dual point is the best
        self.rng: Any = seed  # of a generator, which small problems do without
        self.factors: dict[int, Factor] = {}
        self.fits = fits
        self.diagonal: Any = None  # of the Hessians at the start,
        self.moved = False  # or of each step's
        self.spent = np.full(len(classes), 0.0)  # products since the last factor
        self.held: Any = None  # a of the best dual point, with its weights
        self.exact = not is_sparse(X) and float(n) * d * d <= (EXACT if self.even else MOST_EXACT)
        self.rows = n if self.exact else min(max(LEAST, ROWS * d), n)
        #: Products that a factor takes as long as.
        self.dear = FACTOR * (0.5 * self.rows * d * d + d**3 / 6.0) / (2.0 * n * d)
        costly = self.even and self.dear > MOST
        if is_sparse(X) or d > n or costly or len(classes) * d * d > WEIGHTS:
            self.rows, self.exact = 0, False
        if self.dear <= AT_ONCE:
            self.spent[:] = np.inf

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

    def _curvature(self, X: Any, T: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D X' and X'T_jX d_j."""
        if not is_sparse(X) or len(D) > 1:
            V = self._forward(X, D)
            return V, self._backward(X, V * T)
        V, image = np.empty_like(T), np.zeros_like(D)
        sparse_curvature(X.data, X.indices, X.indptr, T[0], D[0], V[0], image[0])
        return V, image

    def _evaluate(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A and T at scores, and the sums of the losses."""
        A, T, losses = np.empty_like(F), np.empty_like(F), np.empty(len(F))
        logistic_rows(self.y, self.classes, F, self.r, A, T, losses)
        return A, T, losses

    def _at(self, W: np.ndarray, X: Any) -> tuple[np.ndarray, ...]:
        """Scores, A, T, P and its gradient, row by row, in the precision of X."""
        F = self._forward(X, W) if W.any() else np.zeros((len(W), X.shape[0]), X.dtype)
        A, T, losses = self._evaluate(F)
        return F, A, T, *self._completed(W, X, A, losses)

    def _completed(self, W: np.ndarray, X: Any, A: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return losses + 0.5 * np.einsum("jt,jt->j", W, W), W - self._backward(X, A)

    # -- steps --------------------------------------------------------------------------------
    def claims(self, tol: float, B: Any = None) -> tuple[float, float] | None:
        """P here and D at B, or at a of W, rounded outwards, if they show ``tol``; then the point is kept."""
        own, loss = self.y[:, None] == self.classes, named("ova_logistic")
        P, D, A = logistic_claims(self.X64, self.W, own, self.r, loss, self.y, B, self.norms)
        if not tol * P >= P - D:
            return None
        a = np.zeros((len(self.W), self.n))
        a[:, self.used] = A.T
        self.best, self.held = self.W, (self.W, a)
        return P, D

    def run(self, tol: float, limit: int, first: int, certified: Callable, claimed: Callable) -> None:
        """Steps until ``certified(iteration, P, gap)`` says so, or a number of them.

        What float32 calls good enough is first ``claimed(iteration, P, D)``.
        """
        double = not self.single
        X = self.X64 if double else self.X32
        q, iteration = len(self.W), first
        F, A, T, primal, gradient = self._at(self.W, X)
        patience, smallest = PATIENCE, np.inf
        rest, before = np.full(q, np.inf), np.ones(q)
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
                F, A, T, primal, gradient = self._at(self.W, self.X64)
                gaps = 0.5 * np.einsum("jt,jt->j", gradient, gradient)
                double, X, patience, smallest = True, self.X64, PATIENCE, np.inf
            if double or asked:
                exact = (primal, gradient) if double else self._at(self.W, self.X64)[3:]
                if certified(iteration, exact[0], 0.5 * np.einsum("jt,jt->j", exact[1], exact[1])):
                    return
            if iteration >= limit or not patience:
                return
            live = np.flatnonzero(gaps > SHARP * tol * scale / q)
            live = live[gaps[live] > 0.0]
            if not len(live):
                return
            divergences = rest[live] * (gaps[live] / before[live]) ** 2
            goal = np.maximum(0.5 * tol * scale / q, divergences)
            D, G, left = self._direction(live, F, A, T, -gradient[live], goal)
            G = G if G.dtype == F.dtype else self._forward(X, D)
            start = np.einsum("jt,jt->j", gradient[live], D)
            W = self.W.copy()
            W[live] += D
            at: Any = slice(None) if len(live) == q else live  # which copies nothing
            ahead, A1, T1, losses, B, rest = self._predicted(at, F, A, T, G)
            slope = np.einsum("jt,jt->j", W[at], D) - np.einsum("ji,ji->j", A1[at], G)
            before = gaps
            gone = float(left.sum() + rest[at].sum() + (gaps.sum() - gaps[at].sum()))
            if (np.abs(slope) > FLAT * np.abs(start)).any():
                t = self._length(at, F[at], G, D, start)[:, None]
                W, ahead = self.W.copy(), F.copy()
                W[at] += t * D
                ahead[at] += t.astype(F.dtype) * G
                A1, T1, losses = self._evaluate(ahead)
            elif gone <= tol * scale and tol >= TIGHT:
                self.W = W
                bounds = self.claims(tol, B)
                if bounds is not None:
                    claimed(iteration + 1, *bounds)
                    return
            self.W, F, A, T = W, ahead, A1, T1
            primal, gradient = self._completed(W, X, A, losses)
            now = float(np.einsum("jt,jt->", gradient, gradient))
            patience = PATIENCE if now < 0.9 * smallest else patience - 1
            smallest = min(smallest, now)
            iteration += 1

    def _predicted(
        self, live: Any, F: np.ndarray, A: np.ndarray, T: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Scores F + G; A, T and losses there; the predicted dual point B, and its divergences."""
        ahead, B, rest = F.copy(), A.copy(), np.empty(len(F))
        ahead[live] += G
        B[live] -= T[live] * G
        A1, T1, losses = self._evaluate(ahead)
        logistic_divergences(self.y, self.classes, B, A1, T1, self.r, rest)
        return ahead, A1, T1, losses, B, rest

    def _length(self, live: Any, F: np.ndarray, G: np.ndarray, D: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Lengths of steps D of the live rows: Newton's method for each, within a bracket."""
        square, along = np.einsum("jt,jt->j", D, D), np.einsum("jt,jt->j", self.W[live], D)
        t = np.ones(len(F))
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

    def _metric(self, live: np.ndarray, T: np.ndarray) -> Callable:
        """An approximate inverse of I + X'T_jX for each row j of some of the live ones."""
        X = self.X32
        if self.rows and (self.exact or (self.spent[live] >= self.dear).any()):
            first = None if self.W.any() else self._factor(T[live[0]])  # all curvatures are r_i/4
            for j in live.tolist():
                if self.exact or j not in self.factors or self.spent[j] >= self.dear:
                    self.factors[j] = first or self._factor(T[j])
                    self.spent[j] = 0.0
        if not self.factors:
            if self.diagonal is None or self.moved:
                squares = with_data(X, X.data * X.data) if is_sparse(X) else X * X
                self.diagonal = 1.0 + self._backward(squares, T.astype(X.dtype, copy=False))
            diagonal = self.diagonal[live]
            return lambda which, v: v / diagonal[which]
        factors = [self.factors[j] for j in live.tolist()]
        if all(factor is factors[0] for factor in factors):
            return lambda which, v: factors[0].solve(v).astype(v.dtype, copy=False)

        def solve(which: np.ndarray, v: np.ndarray) -> np.ndarray:
            pairs = zip(which.tolist(), v, strict=True)
            return np.stack([factors[j].solve(row) for j, row in pairs]).astype(v.dtype, copy=False)

        return solve

    def _factor(self, t: np.ndarray) -> Factor:
        """Cholesky's of I + X'TX, or of what some of the rows say of it, drawn by their curvatures t."""
        n, d = self.X64.shape
        if self.rows < n:
            ends = np.cumsum(t, dtype=np.float64)
            self.rng = np.random.default_rng(self.rng)
            marks = (np.arange(self.rows) + self.rng.random(self.rows)) * (ends[-1] / self.rows)
            rows = self.X32[np.minimum(np.searchsorted(ends, marks), n - 1)]
            weight = ends[-1] / self.rows
        else:
            X = self.X64 if self.exact else self.X32
            rows, weight = np.empty(X.shape, X.dtype), 1.0
            scaled_rows(as_rows(X)[0], t, rows)
        rough = self.fits and not self.exact
        rows = rows.astype(np.float32 if rough else np.float64, copy=False)
        H = (ssyrk if rough else dsyrk)(weight, rows.T, lower=1).T.astype(np.float64)
        # the triangle that is not written stays 0, and is not read
        H[np.diag_indices(d)] = 1.0 + H.diagonal() * (1.0 + (LOST if rough else 0.0))
        return Factor(H)

    def _direction(
        self, live: np.ndarray, F: np.ndarray, A: np.ndarray, T: np.ndarray, right: np.ndarray,
        aim: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Solve (I + X'T_jX) d_j = right_j by conjugate gradients, all together, until each is solved.

        Returns D, its scores, and half the square of what is left of the right sides.
        """
        X = self.X32
        metric = self._metric(live, T)
        if self.exact:
            D = metric(np.arange(len(live)), right)
            return D, self._forward(X, D), np.zeros(len(live))
        weights = np.ascontiguousarray(T[live], X.dtype)
        norms = np.linalg.norm(right, axis=1)
        size = norms[:, None].astype(X.dtype)
        residual = (right / norms[:, None]).astype(X.dtype)
        D, scores = np.zeros_like(residual), np.zeros_like(weights)
        gaps = 0.5 * norms * norms
        target = np.clip(aim / gaps, LEFT, FORCING)
        todo, left = np.arange(len(live)), np.ones(len(live))
        at: Any = slice(None)  # all of them, without a copy
        z = metric(todo, residual)
        search, rho = z.copy(), np.einsum("jt,jt->j", residual, z)
        dear = (X.nnz if is_sparse(X) else X.size) >= DEAR * len(self.y)
        for turn in range(1, CG_STEPS + 1):
            some = search[at]
            V, image = self._curvature(X, weights[at], some)
            advance(todo, some, V, image, rho, D, scores, residual, left)
            self.spent[live[at]] += 1.0
            going = left[at] > target[at]
            if not going.all():
                todo = at = todo[going]
            elif dear and turn % 3 == 0 and (left <= FORCING).all():
                rest = self._predicted(live, F, A, T, scores * size)[-1][live]
                if (MATTERS * rest > gaps * left).all():  # changes of curvature matter more
                    break
            if not len(todo):
                break
            rest = residual[at]
            z = metric(todo, rest)
            new = np.einsum("jt,jt->j", rest, z)
            search[at] = z + (new / rho[at])[:, None].astype(X.dtype) * search[at]
            rho[at] = new
        else:  # a better factor is needed
            self.exact = 0 < self.rows == len(self.y)
            self.rows, self.moved = min(4 * self.rows, len(self.y)), True
            self.spent[live] = np.inf
        return D.astype(np.float64) * norms[:, None], scores * size, gaps * np.abs(left)

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

    def __init__(self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int) -> None:
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
    logistic_divergences(y, one, F.copy(), F, F, r, t.copy())
    scaled_rows(np.frombuffer(bytes(16)).reshape(2, 1), F[0], np.empty((2, 1)))
    logistic_claims(np.ones((2, 1)), np.ones((1, 1)), y[:, None] == 1, r, named("ova_logistic"), y)
