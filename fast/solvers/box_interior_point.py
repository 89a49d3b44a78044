"""Mehrotra's predictor-corrector for duals of SVMs: quadratic, in a box, with few equations.

min 1/2 a'Ha - <gain, a>   subject to   0 <= a <= u, A a = 0

The ordinary SVM, both losses, is `OneView`: H = K . yy' + diag(ridge), gain 1, A = y', and u = inf for
the squared hinge (whose ridge is 1/C). K is given as a matrix, or as X with K = XX': then the systems
are d x d. Nothing here is a certificate: whoever calls computes that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrs

from fast.solvers.ridge import cholesky
from fast.solvers.rows import dense, is_sparse
from fast.solvers.state import TrainingRun

STALLED = 4  # rounds without a smaller gap after which rounding rules
HOPELESS = 200  # rounds that do not halve the gap all together: it does beyond tol, too
BOUNDARY = 0.995  # part of the way to the boundary that a step may take
SLOW = 0.9  # a step that leaves more of a z and s t than this share is centred
SHORTEST = 1e-10
TINY = 1e-300


class MatrixGram:
    """K itself."""

    held: Any = None  # rows that a solver keeps

    def __init__(self, K: np.ndarray) -> None:
        self.K, self.n = K, len(K)
        self.diagonal = K.diagonal()

    def product(self, c: np.ndarray) -> np.ndarray:
        """K c."""
        return np.asarray(self.K @ c)

    def whole(self) -> "MatrixGram":
        """Itself: rows of kernels have to be computed."""
        return self

    def rows(
        self, which: np.ndarray, dtype: Any, columns: np.ndarray | None = None, out: Any = None
    ) -> np.ndarray:
        """K_ij for i in ``which`` and all j, or those in ``columns``; written to ``out``, if given."""
        found = self.K[which] if columns is None else self.K[np.ix_(which, columns)]
        if out is None:
            return found.astype(dtype, copy=False)
        out[:] = found
        return np.asarray(out)

    def solver(self, E: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (K + diag(E))^-1 r."""
        return self._solver(E)[0]

    def _solver(self, E: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        M = self.K.copy()
        M[np.diag_indices(self.n)] += E
        L = cholesky(M.T)
        return lambda r: np.asarray(dpotrs(L, r, lower=1)[0]), L

    def parallel(self, E: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        """`solver`, and the lower triangle of K - K (K + diag(E))^-1 K."""
        solve, L = self._solver(E)
        V = dtrsm(1.0, L, self.K.T, lower=1)
        return solve, dsyrk(-1.0, V, beta=1.0, c=self.K.T, trans=1, lower=1)


class FactorGram:
    """K = XX' by X (n, d), dense float64 or CSR."""

    def __init__(self, X: Any) -> None:
        self.X, self.n = X, X.shape[0]
        squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        self.diagonal = np.asarray(squares).ravel()

    def product(self, c: np.ndarray) -> np.ndarray:
        """K c."""
        return np.asarray(self.X @ (self.X.T @ c))

    def solver(self, E: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (K + diag(E))^-1 r, by (I + X' E^-1 X)^-1."""
        return self._solver(1.0 / E)[0]

    def _solver(self, T: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        X = self.X
        M = cross(X, T, X)
        M[np.diag_indices(X.shape[1])] += 1.0
        L = cholesky(M.T)

        def solve(r: np.ndarray) -> np.ndarray:
            first = T * r
            return np.asarray(first - T * (X @ dpotrs(L, X.T @ first, lower=1)[0]))

        return solve, L

    def parallel(self, E: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        """`solver`, and the lower triangle of K - K (K + diag(E))^-1 K = X (I + X' E^-1 X)^-1 X'."""
        solve, L = self._solver(1.0 / E)
        return solve, dsyrk(1.0, dtrsm(1.0, L, dense(self.X).T, lower=1), trans=1, lower=1)


def cross(X: Any, T: np.ndarray, Z: Any) -> np.ndarray:
    """X' diag(T) Z of dense or CSR matrices."""
    return dense((X.T @ sp.diags_array(T) if is_sparse(X) else X.T * T) @ Z)


def balanced(a: np.ndarray, y: np.ndarray, target: Any = 0.0) -> np.ndarray:
    """Multipliers >= 0 with <a, y/|y|> = target, or as near: the class that is too heavy scaled down."""
    plus, minus = a[y > 0.0].sum(), a[y < 0.0].sum()
    if not (plus >= 0.0 and minus >= 0.0):
        return np.zeros(len(a))
    up, down = max(min(plus, minus + target), 0.0), max(min(minus, plus - target), 0.0)
    return np.asarray(a * np.where(y > 0.0, up / (plus or 1.0), down / (minus or 1.0)))


class OneView:
    """The ordinary SVM of labels y, bounds ``upper`` > 0 and ``ridge`` >= 0.

    What a program has: ``gain`` and ``upper`` (N,), the ``equations`` A (q, N), whose multipliers are
    the model's offsets, and their ``rank``: where it is less than q, those that are felt least are solved.
    """

    def __init__(
        self, gram: MatrixGram | FactorGram, y: np.ndarray, upper: np.ndarray, ridge: np.ndarray
    ) -> None:
        self.gram, self.y, self.upper, self.ridge = gram, y, upper, ridge
        self.gain, self.equations, self.rank = np.ones(len(y)), y[None], 1

    def product(self, a: np.ndarray) -> np.ndarray:
        """H a."""
        return np.asarray(self.y * self.gram.product(a * self.y) + self.ridge * a)

    def solver(self, E: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (H + diag(E))^-1 r."""
        inverse = self.gram.solver(self.ridge + E)
        return lambda r: self.y * inverse(self.y * r)

    def start(self) -> np.ndarray:
        """Balanced multipliers in the middle of the box, or smaller where it is wide."""
        scale = 1.0 / max(float((self.gram.diagonal + self.ridge).mean()), TINY)
        return balanced(np.minimum(0.5 * self.upper, scale), self.y)


class Box(OneView):
    """min 1/2 a'Ha - <gain, a> in a box, 0 <= a <= u, without equations; H is a matrix."""

    def __init__(self, H: np.ndarray, gain: np.ndarray, upper: np.ndarray) -> None:
        super().__init__(MatrixGram(H), np.ones(len(gain)), upper, np.zeros(len(gain)))
        self.gain, self.equations, self.rank = gain, np.empty((0, len(gain))), 0

    def start(self) -> np.ndarray:
        """The middle of the box, or less where it is wide."""
        return np.minimum(0.5 * self.upper, 1.0 / max(float(self.gram.diagonal.mean()), TINY))

    def solved(self, goal: float) -> np.ndarray:
        """A point whose gap <u, max(s, 0)> - <a, s>, s = gain - Ha, is at most ``goal``, or as rounding allows."""
        best, smallest, idle = np.zeros(len(self.gain)), np.inf, 0

        def look(a: np.ndarray, b: np.ndarray) -> bool:
            nonlocal best, smallest, idle
            point = np.minimum(a, self.upper)
            slope = self.gain - self.product(point)
            gap = float(self.upper @ np.maximum(slope, 0.0) - point @ slope)
            idle = 0 if gap < 0.5 * smallest else idle + 1
            if gap < smallest:
                best, smallest = point, gap
            return smallest <= goal or idle > STALLED * STALLED

        minimise(self, look, HOPELESS)
        return best


def follow(
    program: Any,
    state: Any,
    take: Callable[[np.ndarray, np.ndarray], None],
    *,
    goal: float,
    tol: float,
    max_iter: int,
    report: Callable[[Any], bool] | None,
) -> TrainingRun:
    """Minimise until the ``state``, into which ``take(a, b)`` certifies points, has a gap of ``goal``.

    Less will do where rounding rules: ``tol``.
    """
    idle, since, level, run = 0, 0, np.inf, TrainingRun(report)

    def look(a: np.ndarray, b: np.ndarray) -> bool:
        nonlocal idle, level, since
        before = state.gap if state.n_iter else np.inf
        with np.errstate(all="ignore"):  # points that run off to infinity lose to the best so far
            take(a, b)
        state.done = state.gap <= goal or state.n_iter >= max_iter
        stop = run.ask(state)
        idle = 0 if state.gap < 0.5 * before else idle + 1
        level, since = (state.gap, 0) if state.gap < 0.5 * level else (level, since + 1)
        ruled = idle >= STALLED if state.gap <= tol else since >= HOPELESS
        return stop or state.done or ruled

    with run:
        minimise(program, look, max_iter)
    if not state.history:
        take(np.zeros(len(program.gain)), np.zeros(len(program.equations)))
    return run


def minimise(program: Any, look: Callable[[np.ndarray, np.ndarray], bool], max_iter: int) -> None:
    """Interior points a, each shown to ``look(a, b)`` with the offsets b (q,); true stops."""
    point = _Point(program)
    for _ in range(max_iter):
        if look(point.a, point.b):
            return
        with np.errstate(all="ignore"):  # rounding rules: what is not finite is not taken
            if not point.advance():
                return


class _Point:
    """An interior point: a, its distance s to the box, multipliers z and t of both, and b (q,)."""

    def __init__(self, program: Any) -> None:
        self.program, upper = program, program.upper
        self.bounded = np.isfinite(upper)
        self.pairs = len(upper) + int(np.count_nonzero(self.bounded))
        self.a, self.b = program.start(), np.zeros(len(program.equations))
        self.s = np.where(self.bounded, upper - self.a, 1.0)
        slope = self.slope()
        size = 0.1 * (float(np.abs(slope).max()) + 1.0)
        self.z = np.maximum(slope, 0.0) + size
        self.t = np.where(self.bounded, np.maximum(-slope, 0.0) + size, 0.0)

    def slope(self) -> np.ndarray:
        """H a - gain."""
        return self.program.product(self.a) - self.program.gain

    def sums(self, a: np.ndarray) -> np.ndarray:
        """A a."""
        return np.array([float(row @ a) for row in self.program.equations])

    def advance(self) -> bool:
        """One step; False if there is none."""
        a, s, z, t = self.a, self.s, self.z, self.t
        A = self.program.equations
        self.dual, self.rest = self.slope() + self.b @ A - z + t, self.sums(a)
        mu = float(a @ z + s @ t) / self.pairs
        try:
            self.inverse = self.program.solver(z / a + t / s)
        except np.linalg.LinAlgError:  # rounding rules
            return False
        self.q = np.array([self.inverse(row) for row in A])
        felt = np.array([float(row @ q) for row, q in zip(A, self.q, strict=True)])
        self.kept = np.sort(np.argsort(felt)[: self.program.rank])
        da, db, dz, dt = self.direction(-a * z, -s * t)
        step = self.longest(da, dz, dt)
        after = self.product(step, da, dz, dt)
        target = mu * min(max(after / max(mu, TINY), 0.0), 1.0) ** 3
        c2 = np.where(self.bounded, target - s * t + da * dt, 0.0)
        da, db, dz, dt = self.direction(target - a * z - da * dz, c2)
        step = min(1.0, BOUNDARY * self.longest(da, dz, dt))
        if not self.product(step, da, dz, dt) < SLOW * mu:
            # the corrector was made for a step of length 1, and shorter ones may go round in circles
            c2 = np.where(self.bounded, 0.5 * mu - s * t, 0.0)
            da, db, dz, dt = self.direction(0.5 * mu - a * z, c2)
            step = min(1.0, BOUNDARY * self.longest(da, dz, dt))
        finite = np.isfinite(da).all() and np.isfinite(dz).all() and np.isfinite(db).all()
        if not (finite and step > SHORTEST):
            return False
        self.a = np.maximum(a + step * da, TINY)
        self.s = np.where(self.bounded, np.maximum(s - step * da, TINY), 1.0)
        self.z = np.maximum(z + step * dz, TINY)
        self.t = np.where(self.bounded, np.maximum(t + step * dt, TINY), 0.0)
        self.b = self.b + step * db
        return True

    def product(self, step: float, da: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """Mean of a z and s t after a step."""
        pairs = (self.a + step * da) @ (self.z + step * dz)
        pairs += (self.s - step * da) @ (self.t + step * dt)
        return float(pairs) / self.pairs

    def direction(
        self, c1: np.ndarray, c2: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Newton's step for a z = (a z) + c1, s t = (s t) + c2 and the linear equations."""
        p = self.inverse(-self.dual + c1 / self.a - c2 / self.s)
        S, kept = np.array([self.sums(q) for q in self.q]).reshape(2 * (len(self.q),)).T, self.kept
        rest = self.rest + self.sums(p)
        db = np.zeros(len(rest))
        db[kept] = _eliminated(S[np.ix_(kept, kept)], rest[kept])
        da = p - db @ self.q
        return da, db, (c1 - self.z * da) / self.a, (c2 + self.t * da) / self.s

    def longest(self, da: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """Longest step, at most a bit over 1, that keeps everything >= 0."""
        longest = 1.0 / BOUNDARY
        pairs = (self.a, da), (self.z, dz), (self.s, np.where(self.bounded, -da, 0.0)), (self.t, dt)
        for value, change in pairs:
            steps = np.full(len(value), np.inf)
            np.divide(value, -change, out=steps, where=change < 0.0)
            longest = min(longest, float(steps.min()))
        return longest


def _eliminated(S: np.ndarray, r: np.ndarray) -> np.ndarray:
    """S^-1 r of a positive definite S of few rows, which rounding may have made singular."""
    for i in range(len(r)):
        for j in range(i + 1, len(r)):
            part = S[j, i] / (S[i, i] or TINY)
            S[j] -= part * S[i]
            r[j] -= part * r[i]
    for i in reversed(range(len(r))):
        r[i] = (r[i] - S[i, i + 1 :] @ r[i + 1 :]) / (S[i, i] or TINY)
    return r
