"""What a multiclass model may claim: bounds on P and D at its attributes that no rounding undercuts.

Scores in error by s_i change a hinge by at most 2 s_i and leave one of 0 at 0 where the margin is
wider; an entropy L, whose gradient has at most min(1, L) of mass, to at most L/(1 - 2 s_i). Masses
that are delta_i from the dual's domain cost at most delta_i times the gradient there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fast.models._losses import TopKHinge
from fast.solvers.rounding import EPS, Rows, down, enough, precisions, up
from fast.solvers.rows import is_sparse

AT_ONCE = 4096  # rows
EVALUATED = 64  # relative error of an entropy in float64, in units of eps, besides the classes'


def claims(
    X: Any, K: Any, W: np.ndarray, masses: Any, y: np.ndarray, r: np.ndarray, loss: Any,
    claimed: tuple[float, float], tol: float,
) -> tuple[float, float]:  # fmt: skip
    """(P, D), bounds on the objectives at W and at the masses.

    Parameters
    ----------
    X : (n, d) array or CSR, or None with K
    K : (n, n) array, or None
        Kernel matrix; W is then A' (m, n), the model sum_i a_i phi(x_i)'.
    W : (m, d) array
    masses : (n, m) array or CSR
        On the other classes; what is at y_i does not count.
    y, r : (n,) arrays
        Class numbers, and C times the weights.
    loss : fast.models._losses.Loss
    claimed : (float, float)
        P and D in float64: arithmetic in which they are confirmed suffices.
    tol : float
    """
    n, d = (X if K is None else K).shape
    found: tuple[float, float] | None = None
    for real in precisions(n * d * len(W)):
        with np.errstate(all="ignore"):
            primal, dual = _Level(X, K, W, masses, y, r, loss, real).bounds()
        if found is not None:
            primal, dual = min(primal, found[0]), max(dual, found[1])
        found = primal, dual
        if enough(primal, dual, primal - dual - max(claimed[0] - claimed[1], 0.0), tol):
            break
    assert found is not None
    return found


class _Level:
    """The model in one arithmetic."""

    def __init__(
        self, X: Any, K: Any, W: np.ndarray, masses: Any, y: np.ndarray, r: np.ndarray, loss: Any,
        real: Any,
    ) -> None:  # fmt: skip
        self.real, self.eps = real, float(np.finfo(real).eps)
        self.gram = K is not None
        self.X = K if self.gram else X
        self.n, self.d = self.X.shape
        self.W, self.masses, self.y, self.r, self.loss = W.astype(real), masses, y, r, loss
        self.m, self.hinge = len(W), isinstance(loss, TopKHinge)
        if self.gram:
            self.norms = np.sqrt(np.maximum(np.asarray(K.diagonal(), dtype=np.float64), 0.0))
        else:
            self.norms = Rows(X, np.float64).norms

    def bounds(self) -> tuple[float, float]:
        """Upper bound on P, lower bound on D."""
        real, eps, n = self.real, self.eps, self.n
        width = (n + self.d + self.m + 16) * eps
        losses, gains, sizes = real(0), real(0), real(0)
        V = np.zeros((self.m, self.d), dtype=real)  # with a kernel the dual's own A'
        spread, moved, rough = np.zeros(self.m, dtype=real), real(0), real(0)
        squares = [real(0), real(0)]  # with a kernel: ||W||^2 and its terms' sizes
        lengths = np.sqrt((self.W * self.W).sum(axis=1))
        for start in range(0, n, AT_ONCE):
            rows = slice(start, min(start + AT_ONCE, n))
            part = self.X[rows]
            part = part.astype(real) if is_sparse(part) else np.asarray(part, dtype=real)
            mass = self.r[rows].astype(real)
            f = np.asarray(part @ self.W.T, dtype=real)
            if self.gram:
                reach = (abs(part) @ abs(self.W).T).max(axis=1)
                own = self.W[:, rows].T
                squares[0] += (own * f).sum()
                squares[1] += (abs(own) * (abs(part) @ abs(self.W).T)).sum()
            else:
                reach = self.norms[rows] * lengths.max()
            slip = (self.d + 8) * eps * reach
            losses += (mass * self._losses(f, rows, slip)).sum()
            x, delta = self._masses(rows)
            gain = self._gains(x, rows, mass)
            gains, sizes = gains + gain.sum(), sizes + abs(gain).sum() + x.sum()
            moved += (delta * self.norms[rows]).sum()
            blocks = -x
            blocks[np.arange(len(x)), self.y[rows]] = x.sum(axis=1)
            spread += (abs(blocks) * self.norms[rows][:, None]).sum(axis=0)
            if self.gram:
                V[:, rows] = blocks.T
            else:
                V += np.asarray(part.T @ blocks, dtype=real).T
            rough += (delta * (1 + self._steepness(x, rows, mass))).sum()
        square, off, size = self._squares(V, spread, squares)
        gradient = 2 * size * (moved * (1 + width))  # of 1/2 ||V||^2 where masses move
        rough += gradient + 2 * moved * moved
        primal = up(((square + off) / 2 + losses) * (1 + width))
        dual = gains - size * size / 2 - rough - width * (sizes + size * size)
        return primal, down(dual)

    def _squares(self, V: Any, spread: Any, squares: list[Any]) -> tuple[Any, Any, Any]:
        """||W||^2, its rounding, and an upper bound on the length of V."""
        eps, n, d = self.eps, self.n, self.d
        if not self.gram:
            square = (self.W * self.W).sum()
            length = np.sqrt((V * V).sum()) * (1 + (d + 4) * eps)
            return (
                square,
                square * (d * self.m + 4) * eps,
                length + (n + 8) * eps * np.sqrt((spread * spread).sum()),
            )
        K = np.asarray(self.X, dtype=self.real)
        own = max((V * (V @ K)).sum(), self.real(0))
        own += 4 * (n + 8) * eps * (abs(V) * (abs(V) @ abs(K))).sum()
        return max(squares[0], self.real(0)), 4 * (n + 8) * eps * squares[1], np.sqrt(own)

    # ---- losses

    def _losses(self, f: Any, rows: slice, slip: Any) -> Any:
        """Upper bounds on the losses of scores that are wrong by up to ``slip``."""
        y, m = self.y[rows], self.m
        loss, one = self.loss, self._at(rows)
        if not self.hinge:
            slip = slip + 4 * EPS * abs(f).max(axis=1)  # the scores are rounded to float64
            values = np.asarray(one.values(np.ascontiguousarray(f, dtype=np.float64), y))
            values = values.astype(self.real) * (1 + (m + EVALUATED) * EPS)
            change = 2 * slip
            steep = np.where(change < 0.5, values / (1 - np.minimum(change, 0.5)), np.inf)
            return np.minimum(steep, values + change)
        k, gamma = loss.k, self.real(loss.gamma)
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
        return np.maximum(top.sum(axis=1) / k + (k + 4) * self.eps * abs(top).max(axis=1), 0) + paid

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

    # ---- masses

    def _masses(self, rows: slice) -> tuple[Any, Any]:
        """Masses >= 0 on the other classes, and their distances (l1) from the dual's domain."""
        part = self.masses[rows]
        x = np.array(part.toarray() if is_sparse(part) else part, dtype=self.real)
        x[np.arange(len(x)), self.y[rows]] = 0
        delta = np.maximum(-x, 0).sum(axis=1)
        x = np.maximum(x, 0)
        r, k = self.r[rows].astype(self.real), self.loss.k
        x *= (r > 0)[:, None]
        s, top = x.sum(axis=1), x.max(axis=1)
        if self.loss.variant == 0 and k > 1:
            delta += 2 * k * k * np.maximum(top - s / k, 0)
        elif k > 1:
            delta += np.maximum(x - (r / k)[:, None], 0).sum(axis=1)
        return x, delta + np.maximum(s - r, 0)

    def _gains(self, x: Any, rows: slice, mass: Any) -> Any:
        """Minus the conjugates."""
        s = x.sum(axis=1)
        safe = np.where(mass > 0, mass, 1)
        if self.hinge:
            return s - self.real(self.loss.gamma) / 2 * (x * x).sum(axis=1) / safe
        q = x / safe[:, None]
        s = np.minimum(q.sum(axis=1), 1)  # of s near 0, log(1 - s) keeps no digit
        rest = np.where(s < 1, (1 - s) * np.log1p(-np.where(s < 1, s, 0)), 0)
        return -mass * (_x_log_x(q).sum(axis=1) + rest)

    def _steepness(self, x: Any, rows: slice, mass: Any) -> Any:
        """Of the conjugates where masses may move."""
        safe = np.where(mass > 0, mass, 1)
        if self.hinge:
            return self.real(self.loss.gamma) * x.max(axis=1) / safe
        return np.full(len(x), self.real(750))  # log of the smallest float64


def _x_log_x(x: Any) -> Any:
    """Which scipy has in float64 only."""
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0)
