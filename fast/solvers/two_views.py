"""SVM-2K: two SVMs on two views of the same examples, tied by what their disagreement costs.

P = 1/2||w_A||^2 + 1/2||w_B||^2 + sum_i (c_Ai h(y_i f_Ai) + c_Bi h(y_i f_Bi) + d_i max(0, |f_Ai - f_Bi| - eps))
D = sum_i (alpha_Ai + alpha_Bi - eps |beta_i|) - 1/2 <g_A, K g_A> - 1/2 <g_B, Kz g_B>
    g_A = alpha_A y - beta, g_B = alpha_B y + beta, 0 <= alpha_V <= c_V, |beta| <= d, 1'g_A = 1'g_B = 0

with h(m) = max(0, 1 - m). In the box are (alpha_A, alpha_B, beta_+, beta_-), in the systems only g_A and
g_B: with S = G diag(E)^-1 G', (g_A, g_B) = G x, a step takes the inverse of blkdiag(K, Kz) + S^-1. S has
blocks (s_A + t, -t; -t, s_B + t) of one example each, and t >> s where two views are held together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrs

from fast.solvers.box_interior_point import TINY, FactorGram, MatrixGram, balanced, cross
from fast.solvers.plain_svm import PlainState, lowest
from fast.solvers.ridge import cholesky

Gram = MatrixGram | FactorGram
Scores = tuple[np.ndarray, np.ndarray, Any]
Solver = Callable[[np.ndarray, np.ndarray, np.ndarray], Scores]
CALM = 1e8  # ratio of what holds multipliers up to which a step needs no second look
LOOKS = 3  # at most, beyond that
EXACT = 1e-11  # residual, beside what was asked for, that is left as it is


class TwoViews:
    """The dual as a program of `fast.solvers.box_interior_point`.

    Parameters
    ----------
    x, z : MatrixGram or FactorGram
    y : (n,) array of -1, 1
        Both there.
    bounds : (3, n) array
        c_A, c_B > 0 and d; d = 0 everywhere, or nowhere.
    free : float
        eps.
    """

    def __init__(self, x: Gram, z: Gram, y: np.ndarray, bounds: np.ndarray, free: float) -> None:
        widths = [gram.X.shape[1] for gram in (x, z) if isinstance(gram, FactorGram)]
        if isinstance(z, FactorGram) and len(widths) == 2 and 2 * sum(widths) > len(y):
            z = MatrixGram(z.product(np.eye(len(y))))  # systems of features lose digits
        self.x, self.z, self.y, self.bounds, self.free = x, z, y, bounds, free
        parts, none = 4 if bounds[2].any() else 2, 0.0 * y
        self.upper = bounds[[0, 1, 2, 2][:parts]].ravel()
        self.gain = np.repeat([1.0, 1.0, -free, -free][:parts], len(y))
        # of b_A, b_B and both together; where the views are tied, these are felt least
        rows = np.array([[y, none, -y * y, y * y], [none, y, y * y, -y * y], [y, y, none, none]])
        self.equations, self.rank = rows[:, :parts].reshape(3, -1), 2

    def pulls(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """g_A and g_B."""
        own_A, own_B, *tie = a.reshape(-1, len(self.y))
        beta = tie[0] - tie[1] if tie else 0.0
        return own_A * self.y - beta, own_B * self.y + beta

    def back(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """What scores of the views do to the multipliers: the transpose of `pulls`."""
        found = [f * self.y, g * self.y, g - f, f - g]
        return np.concatenate(found[: len(self.gain) // len(f)])

    def product(self, a: np.ndarray) -> np.ndarray:
        """H a."""
        g_A, g_B = self.pulls(a)
        return self.back(self.x.product(g_A), self.z.product(g_B))

    def start(self) -> np.ndarray:
        """Balanced multipliers in the middle of the box, or smaller where it is wide."""
        scales = [1.0 / max(float(gram.diagonal.mean()), TINY) for gram in (self.x, self.z)]
        scales.append(min(scales))
        a = [np.minimum(0.5 * c, scale) for c, scale in zip(self.bounds, scales, strict=True)]
        own = [balanced(each, self.y) for each in a[:2]]
        return np.concatenate([*own, a[2], a[2]])[: len(self.gain)]

    def solver(self, E: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (H + diag(E))^-1 r."""
        y, n, T = self.y, len(self.y), 1.0 / E
        s_A, s_B, *tie = T.reshape(-1, n)
        t = sum(tie, 0.0 * y)
        det = s_A * s_B + t * (s_A + s_B)
        if isinstance(self.x, FactorGram) and isinstance(self.z, FactorGram):
            scores = _joint(self.x, self.z, s_A, s_B, t)
        else:
            scores = _in_turn(self.x, self.z, s_A, s_B, t)

        def solve(r: np.ndarray) -> np.ndarray:
            u, w, *tie = (T * r).reshape(-1, n)
            f, g, pulls = scores(y * u, y * w, tie[0] - tie[1] if tie else 0.0 * y)
            x = T * (r - self.back(f, g))
            if pulls is None:
                return x
            # T multiplies the rounding of f and g: the nearest x in that norm that has these pulls
            off_A, off_B = np.subtract(pulls, self.pulls(x))
            both = t * (pulls[0] + pulls[1] - y * (x[:n] + x[n : 2 * n]))
            return x + T * self.back((s_B * off_A + both) / det, (s_A * off_B + both) / det)

        if float(T.max()) * float(E.max()) < CALM:
            return solve

        def refined(r: np.ndarray) -> np.ndarray:
            x = solve(r)
            for _ in range(LOOKS):
                rest = r - E * x - self.product(x)
                if abs(rest).max() <= EXACT * abs(r).max():
                    break
                x = x + solve(rest)
            return np.asarray(x)

        return refined


def _joint(x: FactorGram, z: FactorGram, s_A: np.ndarray, s_B: np.ndarray, t: np.ndarray) -> Solver:
    """(u, w, v) -> scores of the step, from (u - v, w + v) = G E^-1 r, in features."""
    d, tie = x.X.shape[1], -cross(x.X, t, z.X)
    M = np.block([[cross(x.X, s_A + t, x.X), tie], [tie.T, cross(z.X, s_B + t, z.X)]])
    M[np.diag_indices_from(M)] += 1.0
    L = cholesky(M.T)

    def scores(u: np.ndarray, w: np.ndarray, v: np.ndarray) -> Scores:
        q = dpotrs(L, np.concatenate([x.X.T @ (u - v), z.X.T @ (w + v)]), lower=1)[0]
        return x.X @ q[:d], z.X @ q[d:], None

    return scores


def _in_turn(x: Gram, z: Gram, s_A: np.ndarray, s_B: np.ndarray, t: np.ndarray) -> Solver:
    """The same with a kernel matrix, and the step's g_A and g_B: first A leaves, or B if it has features.

    With e = (s_B + t)/det S, rho = t/(s_B + t) and K : e = K - K (K + e)^-1 K what is left of B is
    Kz + 1/(s_B + t) + rho (K : e) rho: no difference of numbers that are large where t is.
    """
    if isinstance(z, FactorGram):
        other = _in_turn(z, x, s_B, s_A, t)

        def swapped(u: np.ndarray, w: np.ndarray, v: np.ndarray) -> Scores:
            g, f, pulls = other(w, u, -v)
            return f, g, pulls[::-1]

        return swapped
    det = s_A * s_B + t * (s_A + s_B)
    own, rho = 1.0 / (s_B + t), t / (s_B + t)
    inverse, left = x.parallel((s_B + t) / det)
    left *= rho
    left *= rho[:, None]
    left += z.K.T
    left[np.diag_indices(z.n)] += own
    L = cholesky(left)

    def scores(u: np.ndarray, w: np.ndarray, v: np.ndarray) -> Scores:
        first = (s_B * (u - v) + t * (u + w)) / det
        g_B = dpotrs(L, own * (w + v) + rho * x.product(inverse(first)), lower=1)[0]
        g_A = inverse(first - t / det * g_B)
        return x.product(g_A), z.product(g_B), np.array([g_A, g_B])

    return scores


def repaired(alpha: np.ndarray, y: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Feasible (alpha_A, alpha_B, beta), (3, n): clipped, and what is too heavy scaled down."""
    A, B = np.clip(alpha[:2], 0.0, bounds[:2])
    beta = np.clip(alpha[2], -bounds[2], bounds[2])
    up = y > 0.0
    least, most = max(-A[~up].sum(), -B[up].sum()), min(A[up].sum(), B[~up].sum())
    beta = np.copysign(balanced(abs(beta), beta, np.clip(beta.sum(), least, most)), beta)
    total = beta.sum()
    return np.array([balanced(A, y, total), balanced(B, y, -total), beta])


@dataclass
class TwoViewState(PlainState):
    """Best coefficients (2, n), both offsets b and multipliers (3, n) so far; W is coef of A."""

    def take(self, program: TwoViews, a: np.ndarray, b: np.ndarray) -> None:
        """Certify a point: D at the nearest feasible multipliers, P at their w with good offsets."""
        own_A, own_B, *tie = a.reshape(-1, len(program.y))
        beta = tie[0] - tie[1] if tie else 0.0 * own_A
        alpha = repaired(np.array([own_A, own_B, beta]), program.y, program.bounds)
        coef = np.array([alpha[0] * program.y - alpha[2], alpha[1] * program.y + alpha[2]])
        f, g = program.x.product(coef[0]), program.z.product(coef[1])
        half = 0.5 * (max(float(coef[0] @ f), 0.0) + max(float(coef[1] @ g), 0.0))
        gain = float(alpha[:2].sum()) - program.free * float(abs(alpha[2]).sum())
        if self.alpha is None or gain - half > self.bound:
            self.alpha, self.bound = alpha, gain - half
        offsets = float(b[0] + b[2]), float(b[1] + b[2])
        loss = losses(program, f + offsets[0], g + offsets[1])
        if not half + loss < self.primal:
            offsets, loss = settled(program, f, g, offsets)
        if self.coef is None or half + loss < self.primal:
            self.coef, self.b = coef, offsets
        self.record(self.n_iter + 1, half + loss, self.bound, self.coef[0])


def losses(program: TwoViews, f: np.ndarray, g: np.ndarray) -> float:
    """All that scores with their offsets cost."""
    y, (c_A, c_B, d) = program.y, program.bounds
    hinges = c_A @ np.maximum(1.0 - y * f, 0.0) + c_B @ np.maximum(1.0 - y * g, 0.0)
    return float(hinges + d @ np.maximum(abs(f - g) - program.free, 0.0))


def settled(
    program: TwoViews, f: np.ndarray, g: np.ndarray, offsets: tuple[float, float]
) -> tuple[tuple[float, float], float]:
    """Offsets that are best one by one, then together, from some on, and what they cost."""
    y, (c_A, c_B, d) = program.y, program.bounds
    if not np.isfinite(offsets).all():
        offsets = 0.0, 0.0
    b, rho = offsets
    least = losses(program, f + b, g + rho)
    ups = [float(c[y > 0.0].sum()) for c in (c_A, c_B)]

    def alone(kinks: np.ndarray, cost: np.ndarray, up: float, apart: np.ndarray) -> float:
        ends = [kinks, apart - program.free, apart + program.free]
        return lowest(np.concatenate(ends), np.concatenate([cost, d, d]), -up - float(d.sum()))

    b = alone(y - f, c_A, ups[0], g + rho - f)
    rho = alone(y - g, c_B, ups[1], f + b - g)
    kinks = np.concatenate([y - f - b, y - g - rho])
    both = lowest(kinks, np.concatenate([c_A, c_B]), -sum(ups))
    found = b + both, rho + both
    value = losses(program, f + found[0], g + found[1])
    return (found, value) if value < least else (offsets, least)
