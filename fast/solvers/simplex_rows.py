"""Newton steps on the masses of examples, between the walls of their simplex.

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

from fast._numba import kernel
from fast.kernels.hinges import ALPHA

AWAY = 1e-150  # mass of a class that does not count
FAR, NEAR = 10.0, 0.1  # products may be so many times tau, corrections so many times tau


@kernel
def packed_curvature(e, g, first, second, r, low, high, out, at):
    """Find r B'M^-1 B of the examples low, ..., high - 1: columns ``at``, ... of ``out``.

    Off the diagonal it is e first' + g second', and its rows sum to 0. What is left of the diagonal
    row after row, (m (m - 1)/2, examples).
    """
    for a in range(e.shape[0]):
        for b in range(a):
            row = out[a * (a - 1) // 2 + b]
            for i in range(high - low):
                j = low + i
                row[at + i] = r[j] * (e[a, j] * first[b, j] + g[a, j] * second[b, j])


class Step(NamedTuple):
    """Changes of all variables; without caps t and mu have none."""

    x: np.ndarray
    nu: np.ndarray
    s0: np.ndarray
    lam: np.ndarray
    t: Any = None
    mu: Any = None


class SimplexRows:
    """Masses, rooms and multipliers of examples with labels ``y``.

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
        self.places, self.own = self.others * n + np.arange(n), (y, np.arange(n))  # in scores
        q = 1 if self.merged else m - 1
        self.products = q * (2 if self.caps else 1) + 1
        shape = q, n
        # about the central point of tau = 1 at W = 0
        self.x = np.full(shape, 0.5 / max(q, k) if self.caps else 1.0 / (q + 1.0))
        if dropped is not None:
            self.x[(dropped.T[:, None] == self.others).any(axis=0)] = AWAY
        self.s0 = 1.0 - self.x.sum(axis=0)
        self.t, self.mu = np.ones(shape), np.zeros(shape)
        if self.caps:
            self.t = -self.flat(self.x) if self.kappa else 1.0 / k - self.x
            self.mu = 1.0 / self.t
        self.nu = self.slopes() + self.flat(self.mu)
        self.lam = np.maximum(1.0 / self.s0, (1.0 / self.x - self.nu).max(axis=0))
        self.nu = self.nu + self.lam
        if dropped is not None:
            self.lam = 1.0 / self.s0
            self.nu = 1.0 / self.x

    def slopes(self) -> np.ndarray:
        """phi'(x)."""
        if self.entropy:
            return np.asarray(np.log(self.x / self.s0) - self.cost)
        return self.gamma * self.x - self.cost

    # ---- between all classes and the others

    def margins(self, f: np.ndarray) -> np.ndarray:
        """f_j - f_y of scores f (m, n)."""
        z = f.take(self.places)
        z = z.mean(axis=0, keepdims=True) if self.merged else z
        return np.asarray(z - f[self.own])

    def blocks(self, x: np.ndarray) -> np.ndarray:
        """Rows of the dual, (m, n): radius times masses, minus at the others, their sum at y."""
        out = np.empty((self.m, x.shape[1]))
        x = x * self.r
        out.put(
            self.places, np.broadcast_to(x / (1 - self.m), self.others.shape) if self.merged else -x
        )
        out[self.own] = x.sum(axis=0)
        return out

    def flat(self, v: np.ndarray) -> np.ndarray:
        """A v."""
        return v - self.kappa * v.sum(axis=0) if self.kappa else v

    # ---- the matrix

    def centre(self) -> None:
        """M^-1 = diag(g) + alpha ee' + beta (eg' + ge') - delta gg', without cancellation."""
        self.theta = theta = (self.nu + self.entropy) / self.x + self.gamma
        self.b = b2 = (self.lam + self.entropy) / self.s0
        rest = 1.0
        if self.caps:
            c = self.mu / self.t
            self.g = 1.0 / (theta + c)
            part = self.g * c
            if self.kappa:
                self.e = self.kappa * part
                # 1 - <1,e>, which is small where k masses are at their caps
                full = c > theta
                rest = (self.k - full.sum(axis=0)) / self.k
                rest += self.kappa * (self.g * np.where(full, theta, -c)).sum(axis=0)
                b2 = b2 + self.kappa**2 * (part * theta).sum(axis=0)
        else:
            self.g = 1.0 / theta
        total = self.g.sum(axis=0)
        scale = 1.0 / (rest * rest + total * b2)
        self.alpha, self.beta, self.delta = total * scale, rest * scale, b2 * scale
        # B'M^-1 B is the same with e_y = -1 and g_y = 0
        e, g = np.zeros((2, self.m, len(self.r)))
        e[self.own] = -1.0
        if self.merged:
            e.put(self.places, 1.0 / (self.m - 1))
        else:
            g.put(self.places, self.g)
            if self.kappa:
                e.put(self.places, self.e)
        self.curved = e, g, self.alpha * e + self.beta * g, self.beta * e - self.delta * g

    def curvature(self, low: int, high: int, out: np.ndarray, at: int) -> None:
        """Weighted B'M^-1 B of some examples: see `packed_curvature`."""
        packed_curvature(*self.curved, self.r, low, high, out, at)

    def root(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Triangles T with T'T = M of some examples, (n, q, q), and T'^-1 B, (n, q, m).

        M is the sum of squares of rows whose lengths differ by up to 1e12: a QR factorisation of them,
        the longest first, keeps what M itself would lose.
        """
        q = len(self.x)
        unit, ones = np.eye(q), np.ones((1, q))
        walls, weights = [unit, ones], [self.theta[:, chosen].T]
        weights.append(self.b[chosen, None])
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

    def solve(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return dx = M^-1 v, <1,dx> and A dx."""
        g = self.g
        along = (g * v).sum(axis=0)
        if not self.kappa:
            dx = g * (v - self.delta * along)
            return dx, self.beta * along, dx
        across = (self.e * v).sum(axis=0)
        ds = self.alpha * across + self.beta * along
        near = g * (v + (self.beta * across - self.delta * along))
        return near + self.e * ds, ds, near - self.kappa * self.theta * g * ds

    # ---- steps

    def pull(self, f: np.ndarray, target: float, second: Step | None) -> np.ndarray:
        """Right side v of a step to products ``target``, less products ``second``, as long as f stays."""
        v = self.margins(f) - self.slopes()
        if second is not None:
            v += (target - second.x) / self.x - (target - second.s0) / self.s0
            if self.caps:
                v -= self.flat((target - second.t) / self.t)
        return v

    def step(self, v: np.ndarray, target: float, second: Step | None) -> Step:
        """Changes of all variables for M dx = v."""
        dx, ds, flat = self.solve(v)

        def partner(u: np.ndarray, w: np.ndarray, du: np.ndarray, less: Any) -> np.ndarray:
            return (target - less - w * du) / u - w

        less = second or (0.0,) * 6
        dnu = partner(self.x, self.nu, dx, less[0])
        dlam = partner(self.s0, self.lam, -ds, less[2])
        if not self.caps:
            return Step(dx, dnu, -ds, dlam)
        return Step(dx, dnu, -ds, dlam, -flat, partner(self.t, self.mu, -flat, less[4]))

    def variables(self) -> Step:
        """In the order of a step."""
        both = (self.t, self.mu) if self.caps else ()
        return Step(self.x, self.nu, self.s0, self.lam, *both)

    def longest(self, step: Step) -> float:
        """The part of a step at which the first variable is 0."""
        pairs = zip(self.variables(), step, strict=True)
        steepest = min(float((d / v).min()) for v, d in pairs if v is not None)
        return -1.0 / steepest if steepest < 0.0 else np.inf

    def after(self, step: Step | None, length: float) -> list[np.ndarray]:
        """Products x nu, s0 lam and t mu after a part of a step."""
        moved = list(self.variables())
        if step is not None:
            changes = step[: 6 if self.caps else 4]
            moved = [v + length * d for v, d in zip(moved, changes, strict=False)]
        return [moved[i] * moved[i + 1] for i in range(0, 6 if self.caps else 4, 2)]

    def total(self, step: Step | None, length: float) -> float:
        """Sum of radius times products after a part of a step."""
        return sum(float((p @ self.r).sum()) for p in self.after(step, length))

    def second_order(self, step: Step, tau: float) -> Step:
        """Products of the changes, which the first-order step leaves."""
        found = [np.clip(step[i] * step[i + 1], -FAR * tau, FAR * tau) for i in (0, 2)]
        t = np.clip(step.t * step.mu, -FAR * tau, FAR * tau) if self.caps else None
        return Step(found[0], found[0], found[1], found[1], t, t)

    def centred(self, step: Step, length: float, target: float, second: Step) -> Step:
        """``second``, and what brings far products at the end of a step nearer to the target."""
        found = []
        for product, less in zip(self.after(step, length), second[::2], strict=False):
            lift = np.clip(product, NEAR * target, FAR * target) - product
            found.append(less - np.maximum(lift, -FAR * target))
        t = found[2] if self.caps else None
        return Step(found[0], found[0], found[1], found[1], t, t)

    def advance(self, step: Step, length: float) -> None:
        """Take a part of a step; the largest of x and s0 absorbs the rounding of their sum."""
        for v, d in zip(self.variables(), step, strict=True):
            if v is not None:
                v += length * d
        self._tidy()

    def relative(self, step: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
        """Largest part of a room that `solve` takes."""
        dx, ds, flat = step
        share = max(float((-dx / self.x).max()), float((ds / self.s0).max()))
        return max(share, float((flat / self.t).max())) if self.caps else share

    def shift(self, step: tuple[np.ndarray, np.ndarray, np.ndarray], length: float) -> None:
        """Move the masses alone."""
        self.x += length * step[0]
        self.s0 -= length * step[1]
        if self.caps:
            self.t -= length * step[2]
        self._tidy()

    def _tidy(self) -> None:
        """Let masses and rooms agree: of two that have a sum the larger absorbs its rounding."""
        x, all_rows = self.x, np.arange(len(self.r))
        if not self.caps:
            off = (1.0 - self.s0) - x.sum(axis=0)
            best = x.argmax(axis=0)
            top = x[best, all_rows]
            heavy = top > self.s0
            x[best, all_rows] = np.where(heavy, top + off, top)
            self.s0 = np.where(heavy, self.s0, self.s0 + off)
            return
        s = np.where(self.s0 < 0.5, 1.0 - self.s0, x.sum(axis=0))
        self.s0 = np.where(self.s0 < 0.5, self.s0, 1.0 - s)
        cap = self.kappa * s if self.kappa else 1.0 / self.k
        full = x > self.t
        self.x, self.t = np.where(full, cap - self.t, x), np.where(full, self.t, cap - x)
        room = np.minimum(self.x, self.t)
        best = room.argmax(axis=0)
        off = s - self.x.sum(axis=0)
        off = np.where(FAR * abs(off) < room[best, all_rows], off, 0.0)
        self.x[best, all_rows] += off
        self.t[best, all_rows] -= off

    def masses(self) -> np.ndarray:
        """A point of the simplex for sure, as one of `blocks`."""
        x, s = self.x, self.x.sum(axis=0)
        if self.kappa:  # towards equal masses, as far as the largest is above s/k
            top = x.max(axis=0)
            over = np.maximum(top - self.kappa * s, 0.0)
            x = x + over / np.where(over > 0.0, top - s / len(x), 1.0) * (s / len(x) - x)
        elif self.caps:
            x = np.minimum(x, 1.0 / self.k)
            s = x.sum(axis=0)
        x = np.where(x > AWAY, x, 0.0)
        return self.blocks(x * np.minimum(1.0, (1.0 - 4e-16 * self.m) / s))
