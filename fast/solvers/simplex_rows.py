"""Newton steps on the dual variables of examples, between the walls of their simplex.

With masses x >= 0 on the q other classes as parts of the radius, s = <1,x>, the central path is

    x nu = t mu = s0 lam = tau,   nu = phi'(x) - z + lam + A mu,   A = I - kappa 11'

z the margins f_j - f_y, phi' = gamma x - 1 for hinges and log x - log s0 for entropies, s0 = 1 - s the
room that is left, and t the room below the caps, which only k > 1 has: -Ax with kappa = 1/k (alpha) or
1/k - x with kappa = 0 (beta). A step has M dx = v,

    M = diag(theta + c) - kappa (1c' + c1') + (b + kappa^2 <1,c>) 11'

with c = mu/t and theta = gamma + nu/x, b = lam/s0, for entropies (nu + 1)/x and (lam + 1)/s0. Arrays
are (classes, examples). For alpha with k = q all masses of an example are equal: it has one other
class, whose score is the mean.
"""

from typing import Any, NamedTuple

import numpy as np

from fast.kernels.hinges import ALPHA

from . import simplex_steps as steps

AWAY = 1e-150  # mass of a class that does not count
LONGEST = 512  # examples of a piece


class Step(NamedTuple):
    """Changes of all variables; without caps t and mu have no rows."""

    x: np.ndarray
    nu: np.ndarray
    s0: np.ndarray
    lam: np.ndarray
    t: np.ndarray
    mu: np.ndarray


class Aims(NamedTuple):
    """Products x nu, s0 lam and t mu that a step is to lead to, less those of changes."""

    x: np.ndarray
    s0: np.ndarray
    t: np.ndarray


class SimplexRows:
    """Masses, rooms and multipliers of examples with labels ``y``, best in order.

    ``loss`` is (variant, k, gamma), ``entropy`` 1 for one; classes in ``dropped`` (n, q) do not count.
    """

    def __init__(
        self, y: np.ndarray, r: np.ndarray, m: int, loss: tuple[int, int, float], entropy: int = 0,
        dropped: Any = None,
    ) -> None:  # fmt: skip
        variant, k, gamma = loss
        self.y, self.r, self.m, self.k, self.entropy = y, r, m, k, entropy
        self.merged = variant == ALPHA and k == m - 1 > 1
        self.gamma = gamma / k if self.merged else gamma
        self.cost = (np.log(k) if self.merged else 0.0) if entropy else 1.0
        self.caps = k > 1 and not self.merged
        self.kappa = 1.0 / k if variant == ALPHA and self.caps else 0.0
        n, others = len(r), np.arange(m - 1)[:, None]
        self.others = others + (others >= y)  # (m - 1, n)
        cuts = np.flatnonzero(np.diff(y, prepend=-1, append=-1))
        self.pieces = np.array(
            [
                (y[low], at, min(at + LONGEST, high))
                for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
                for at in range(low, high, LONGEST)
            ],
            np.uint64,  # signed indices may be negative, and loops over them are no SIMD
        ).reshape(-1, 3)
        self.kind = float(k), self.kappa, float(self.gamma), float(entropy), self.merged
        q = 1 if self.merged else m - 1
        self.products = q * (2 if self.caps else 1) + 1
        shape = q, n
        # about the central point of tau = 1 at W = 0
        self.x = np.full(shape, 0.5 / max(q, k) if self.caps else 1.0 / (q + 1.0))
        if dropped is not None:
            self.x[(dropped.T[:, None] == self.others).any(axis=0)] = AWAY
        self.s0 = 1.0 - self.x.sum(axis=0)
        self.t, self.mu = np.empty((2, q if self.caps else 0, n))
        pressed: Any = 0.0
        if self.caps:
            self.t[:] = -self.flat(self.x) if self.kappa else 1.0 / k - self.x
            self.mu[:] = 1.0 / self.t
            pressed = self.flat(self.mu)
        nu = self.slopes() + pressed
        self.lam = np.maximum(1.0 / self.s0, (1.0 / self.x - nu).max(axis=0))
        self.nu = nu + self.lam
        if dropped is not None:
            self.lam = 1.0 / self.s0
            self.nu = 1.0 / self.x
        caps = self.t.shape
        self.matrix = np.empty(shape), np.empty(caps), np.empty(shape), np.empty((4, n))
        self.sums, self.v, self.moved = np.empty((3, n)), np.empty(shape), np.empty(shape)
        self.fixed = Aims(np.zeros(shape), np.zeros(n), np.zeros(caps))
        self.aims = [Aims(*[np.empty_like(v) for v in self.fixed]) for _ in range(2)]
        self.steps = [Step(*[np.empty_like(v) for v in self.variables()]) for _ in range(2)]

    def slopes(self) -> np.ndarray:
        """phi'(x)."""
        if self.entropy:
            return np.asarray(np.log(self.x / self.s0) - self.cost)
        return self.gamma * self.x - self.cost

    def variables(self) -> Step:
        """In the order of a step."""
        return Step(self.x, self.nu, self.s0, self.lam, self.t, self.mu)

    def blocks(self, x: np.ndarray) -> np.ndarray:
        """Rows of the dual, (m, n): radius times dual variables, minus at the others, their sum at y."""
        out = np.empty((self.m, x.shape[1]))
        steps.blocks(self.pieces, self.r, x, self.merged, out)
        return out

    def flat(self, v: np.ndarray) -> np.ndarray:
        """A v."""
        return v - self.kappa * v.sum(axis=0) if self.kappa else v

    # ---- the matrix

    def centre(self) -> None:
        """Find what `pull` and `step` need of the present point."""
        steps.centre(self.pieces, tuple(self.variables()), self.kind, self.matrix)
        self.slope = self.slopes()

    def curvature(self, first: int, last: int) -> np.ndarray:
        """Weighted B'M^-1 B of examples first:last, what is left of the diagonals row after row."""
        out = np.empty((self.m * (self.m - 1) // 2, last - first))
        steps.curvature(self.pieces, self.r, self.kind, self.matrix, np.uint64(first), out)
        return out.T

    def root(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Triangles T with T'T = M of some examples, (n, q, q), and T'^-1 B, (n, q, m).

        M is the sum of squares of rows whose lengths differ by up to 1e12: a QR factorisation of them,
        the longest first, keeps what M itself would lose.
        """
        q = len(self.x)
        unit, ones = np.eye(q), np.ones((1, q))
        slope = (self.lam[chosen] + self.entropy) / self.s0[chosen]
        walls, weights = [unit, ones], [self.matrix[0][:, chosen].T, slope[:, None]]
        if self.caps:
            walls.append(unit - self.kappa)
            weights.append((self.mu / self.t)[:, chosen].T)
        F = np.sqrt(np.concatenate(weights, axis=1))[:, :, None] * np.concatenate(walls)
        order = np.argsort(-np.abs(F).max(axis=2), axis=1)
        sorted_rows = np.take_along_axis(F, order[:, :, None], axis=1)
        T = np.asarray(np.linalg.qr(sorted_rows, mode="r"))
        unit = np.eye(self.m)
        B = unit[self.others[:, chosen].T]
        B = B.mean(axis=1, keepdims=True) if self.merged else B
        B -= unit[self.y[chosen], None]
        return T, np.linalg.solve(T.transpose(0, 2, 1), B)

    # ---- steps

    def pull(self, f: np.ndarray, aims: Aims) -> np.ndarray:
        """Rows of the dual after a step as long as the scores f stay."""
        out = np.empty((self.m, len(self.r)))
        steps.pull(
            self.pieces, f, self.r, tuple(self.variables()), self.slope, tuple(aims), self.kind, self.matrix,
            self.sums, self.v, self.moved, out,
        )  # fmt: skip
        return out

    def step(self, df: np.ndarray, aims: Aims, at: int = 0) -> tuple[Step, float]:
        """Changes of all variables after `pull`, and the part of them at which the first is 0."""
        change = self.steps[at]
        most = steps.step(
            self.pieces, df, self.v, tuple(self.variables()), tuple(aims), self.kind, self.matrix, self.sums,
            tuple(change),
        )  # fmt: skip
        return change, 1.0 / most if most > 0.0 else np.inf

    def moves(self, df: np.ndarray) -> Step:
        """Changes of dual variables and rooms for the margins of df alone."""
        self.v[:] = 0.0
        return self.step(df, self.fixed)[0]

    def total(self, change: Step | None, length: float) -> float:
        """Sum of radius times products after a part of a step."""
        now = self.variables()
        change = now if change is None else change
        fours = ((*now[i : i + 2], *change[i : i + 2]) for i in (0, 2, 4))
        return float(
            sum(steps.products(*map(np.atleast_2d, four), length, self.r) for four in fours)
        )

    def second_order(self, change: Step, target: float, tau: float) -> Aims:
        """``target`` less the products of the changes, which the first-order step leaves."""
        for i, aim in enumerate(self.aims[0]):
            steps.aim_at(target, tau, *map(np.atleast_2d, (*change[2 * i : 2 * i + 2], aim)))
        return self.aims[0]

    def even(self, target: float) -> Aims:
        """``target`` for every product."""
        for aim in self.aims[0]:
            aim[:] = target
        return self.aims[0]

    def centred(self, change: Step, length: float, target: float, aims: Aims) -> Aims:
        """``aims``, and what brings far products at the end of a step nearer to the target."""
        now, out = self.variables(), self.aims[aims is self.aims[0]]
        for i, (aim, found) in enumerate(zip(aims, out, strict=True)):
            four = *now[2 * i : 2 * i + 2], *change[2 * i : 2 * i + 2]
            steps.aim_nearer(target, length, *map(np.atleast_2d, (*four, aim, found)))
        return out

    def advance(self, change: Step, length: float) -> None:
        """Take a part of a step; of two that have a sum the larger absorbs its rounding."""
        for v, d in zip(self.variables(), change, strict=True):
            steps.advance(length, np.atleast_2d(v), np.atleast_2d(d))
        steps.tidy(self.pieces, tuple(self.variables()), self.kind, self.sums)

    def relative(self, change: Step) -> float:
        """Largest part of a room that is taken."""
        pairs = ((self.x, change.x), (self.s0, change.s0), (self.t, change.t))
        return max(float((-d / v).max(initial=0.0)) for v, d in pairs)

    def shift(self, change: Step, length: float) -> None:
        """Move the dual variables alone."""
        still = [np.zeros_like(v) for v in (self.nu, self.lam, self.mu)]
        self.advance(Step(change.x, still[0], change.s0, still[1], change.t, still[2]), length)

    def dual_variables(self) -> np.ndarray:
        """A point of the simplex for sure, as one of `blocks`."""
        x, s = self.x, self.x.sum(axis=0)
        if self.kappa:  # towards equal dual variables, as far as the largest is above s/k
            top = x.max(axis=0)
            over = np.maximum(top - self.kappa * s, 0.0)
            x = x + over / np.where(over > 0.0, top - s / len(x), 1.0) * (s / len(x) - x)
        elif self.caps:
            x = np.minimum(x, 1.0 / self.k)
            s = x.sum(axis=0)
        x = np.where(x > AWAY, x, 0.0)
        return self.blocks(x * np.minimum(1.0, (1.0 - 4e-16 * self.m) / s))
