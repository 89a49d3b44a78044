"""What SVM+ on features and on kernel matrices share: formulas in the values f and g at the examples."""

from typing import Any

import numpy as np


class Examples:
    """Labels, costs C omega, their ``total``, and prices; ``nonneg``: keep xi >= 0.

    ``signed``: the slacks are y_i g(z_i), as if the features were y_i (z_i, 1). Then no shift of rho
    makes a model feasible: a multiple of it or own slacks do.

    Own slacks eta_i cost kappa_i/2 eta_i^2, kappa = lam/delta with delta (n,) = ``free_slack``/omega;
    infinite (not ``soft``) without them.
    """

    def price_examples(
        self, y: np.ndarray, cost: np.ndarray, lam: float, delta: Any, nonneg: bool,
        signed: bool = False,
    ) -> None:  # fmt: skip
        """Keep what is given."""
        self.n, self.y, self.positive = len(y), y, y > 0.0
        self.cost, self.lam, self.nonneg, self.signed = cost, lam, nonneg, signed
        self.soft = bool(np.any(delta > 0.0))
        self.kappa: Any = lam / delta if self.soft else np.inf
        self.total, self.own = float(cost.sum()), cost / self.kappa  # own: 0 without own slacks

    @property
    def sign(self) -> Any:
        """Of g in the slacks: y (n,), or 1."""
        return self.y if self.signed else 1.0

    def lowest(self, a: np.ndarray) -> tuple[float, float]:
        """Largest min_i a_i + y_i b over b, and that b."""
        plus, minus = float(a[self.positive].min()), float(a[~self.positive].min())
        return 0.5 * (plus + minus), 0.5 * (minus - plus)

    def balanced(self, alpha: np.ndarray) -> np.ndarray:
        """Multipliers >= 0 with equal sums in both classes."""
        alpha = np.maximum(alpha, 0.0)
        plus, minus = float(alpha[self.positive].sum()), float(alpha[~self.positive].sum())
        if not (plus > 0.0 and minus > 0.0):
            return np.zeros(self.n)
        least = min(plus, minus)
        return alpha * np.where(self.positive, least / plus, least / minus)

    def uniform(self, total: float) -> np.ndarray:
        """Balanced alpha with this sum, the same within each class."""
        plus = int(np.count_nonzero(self.positive))
        return np.where(self.positive, 0.5 * total / plus, 0.5 * total / (self.n - plus))

    def slacks(self, least: np.ndarray, margins: np.ndarray) -> np.ndarray:
        """The cheapest xi (n,) with own slacks: not below ``least``, nor what a margin lacks."""
        xi = np.maximum(least, 1.0 - margins)
        return np.maximum(xi, 0.0) if self.nonneg else xi


class HingeExamples(Examples):
    """SVM1+."""

    def shared(self, beta: np.ndarray) -> np.ndarray:
        """The multipliers of signed slacks >= 0: y'beta = y'cost, by raising those of one class."""
        lacking = float(self.y @ (self.cost - beta))
        side = self.positive if lacking > 0.0 else ~self.positive
        return np.where(side, beta + abs(lacking) * self.cost / self.cost[side].sum(), beta)

    def offsets(self, f: np.ndarray, g: np.ndarray) -> tuple[float, float]:
        """The best b and rho of signed functions f, g (n,) with own slacks >= 0.

        Of P they change sum cost xi + kappa/2 (xi - y (g + rho))^2 with xi >= 0, 1 - y (f + b): convex,
        its best rho known for each b, so that bisection finds b.
        """
        low, high = float((self.y - f).min()), float((self.y - f).max())
        while True:
            b = 0.5 * (low + high)
            least = np.maximum(1.0 - self.y * (f + b), 0.0)
            bend = self.y * (least + self.own) - g  # rho from (or up to) which xi is least
            rho = self._root(bend)
            if not low < b < high:
                return b, rho
            paid = self.kappa * np.maximum(self.y * (bend - rho), 0.0) * (least > 0.0)
            if self.y @ paid > 0.0:
                low = b
            else:
                high = b

    def _root(self, bend: np.ndarray) -> float:
        """The rho with y'cost = sum y kappa (y (bend - rho))_+, whose right side falls in rho."""
        order = np.argsort(bend)
        bend, kappa, positive = bend[order], self.kappa[order], self.positive[order]
        behind = np.cumsum(np.append(0.0, np.where(positive, 0.0, kappa)))
        ahead = np.cumsum(np.append(0.0, np.where(positive, kappa, 0.0)[::-1]))[::-1]
        slope = behind + ahead  # of the left side less the right one, before and after each bend
        first = float(self.y @ self.cost - np.where(positive, kappa, 0.0) @ (bend - bend[0]))
        rise = first + np.cumsum(np.append(0.0, slope[1:-1] * np.diff(bend)))
        j = int(np.searchsorted(rise, 0.0))
        i = max(j - 1, 0)
        return float(bend[i] - rise[i] / slope[j]) if slope[j] > 0.0 else float(bend[i])

    def multiple(self, m: float, q: float, a: float) -> tuple[float, float]:
        """Minimum over t, rho of t^2/2 q + total*rho: rho >= 1 - t m and, if asked, rho >= t a."""
        if not (m > 0.0 and q > 0.0):
            return 0.0, 1.0
        t = self.total * m / q
        if self.nonneg and 1.0 - t * m < t * a:
            t = 1.0 / (m + a)
        return t, max(1.0 - t * m, t * a) if self.nonneg else 1.0 - t * m

    def objective(self, w2: float, v2: float, margins: np.ndarray, slack: np.ndarray) -> float:
        """P from ||w||^2, ||v||^2, the margins and slack = g + rho."""
        xi, own = slack, 0.0
        if self.soft:
            xi = self.slacks(slack - self.own, margins)
            own = 0.5 * float((self.kappa * (xi - slack) ** 2).sum())
        return 0.5 * (w2 + self.lam * v2) + float(self.cost @ xi) + own


class SquaredExamples(Examples):
    """SVM2+; own slacks leave ``theta`` of g_i to pay for, at the price ``reduced`` = C omega theta."""

    theta: np.ndarray
    reduced: np.ndarray

    def shift(
        self, m: float, w2: float, v2: float, rho: float, g: np.ndarray
    ) -> tuple[float, float, float, float]:
        """The tau for which (w, v, rho + tau), scaled to keep margins of at least m, has least P.

        Besides the square, mixed and total of P = 1/2 (square + 2 tau mixed + tau^2 total)/margin^2.
        """
        own = float(self.theta.min())  # of a shift by 1, at least
        total = float(self.reduced.sum()) + self.lam
        square = w2 + float(self.reduced @ (g * g)) + self.lam * (v2 + rho * rho)
        mixed = float(self.reduced @ g) + self.lam * rho
        slope = total * m - mixed * own
        if self.signed:
            short = m <= 0.0 or (self.nonneg and float(g.min()) < 0.0)
            return np.inf if short else 0.0, square, mixed, total
        tau = (square * own - mixed * m) / slope if slope > 0.0 else np.inf
        return max(tau, -float(g.min())) if self.nonneg else tau, square, mixed, total

    def objective(
        self, w2: float, v2: float, rho: float, margins: np.ndarray, g: np.ndarray
    ) -> float:
        """P from ||w||^2, ||v||^2, rho, the margins and g, which includes rho."""
        xi, own = g, 0.0
        if self.soft:
            xi = self.slacks(self.theta * g, margins)
            own = float((self.kappa * (xi - g) ** 2).sum())
        return 0.5 * (w2 + self.lam * (v2 + rho * rho) + float(self.cost @ (xi * xi)) + own)
