"""The two losses of SVM+ with kernels: duals, feasible models and their objectives.

f(x) = sum_i coef_i k(x_i, x) + b,   g(z) = sum_i sign_i c_i kz(z_i, z) + rho

P and D are those of the linear trainers with ||w||^2 = coef'K coef, ||v||^2 = c'Kz c.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast.svm_plus.correction import Correction
from fast.svm_plus.data import Bound
from fast.svm_plus.formulas import Examples, HingeExamples, SquaredExamples
from fast.svm_plus.kernel_newton import KernelQP

ROUNDING = 1e-13  # of K a, beside sum |a| max K


@dataclass
class KernelModel:
    """coef (n,), b, c (n,), rho, sign g at the training examples (n,), and P at this feasible point."""

    coef: np.ndarray
    b: float
    c: np.ndarray
    rho: float
    g: np.ndarray
    primal: float
    square: float  # ||w||^2


class KernelLoss(Examples):
    """What both losses share.

    Parameters
    ----------
    K : (n, n) array
    y : (n,) array of -1, 1
    correction : Correction
    nonneg : bool
        Keep xi >= 0.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, correction: Correction, nonneg: bool) -> None:
        prices = correction.cost, correction.lam, correction.delta
        self.price_examples(y, *prices, nonneg, correction.signed)
        self.K, self.correction = K, correction

    def qp(self) -> KernelQP:
        """The dual."""
        raise NotImplementedError

    def hard_margin(self) -> KernelQP | None:
        """The dual without slacks, where its solution may be the optimum."""
        return None

    def look(self, alpha: np.ndarray, beta: np.ndarray) -> tuple[Bound, KernelModel]:
        """The multipliers made feasible, D there, and the best feasible point they lead to."""
        raise NotImplementedError

    def own_slack(self, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """What own slacks add to theta g, for the hinge to g: xi (n,) is the sum. 0 without them."""
        raise NotImplementedError

    def of_functions(
        self, coef: np.ndarray, c: np.ndarray, rho: float, own: np.ndarray
    ) -> KernelModel:
        """The best feasible point that these coefficients and own slacks lead to."""
        raise NotImplementedError

    def bare(self, model: KernelModel) -> KernelModel:
        """The best feasible point with w = 0 and this correcting function."""
        raise NotImplementedError


class SquaredHinge(SquaredExamples, KernelLoss):
    """SVM2+."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.theta, self.reduced = self.correction.theta, self.correction.reduced

    def qp(self) -> KernelQP:
        """Dual (4), with the multipliers of xi >= 0 if asked."""
        h = np.ones(self.n)
        if self.nonneg:
            h = np.append(h, np.zeros(self.n))
        return KernelQP(self.K, self.correction.Q, self.y, h, None)

    def look(self, alpha: np.ndarray, beta: np.ndarray) -> tuple[Bound, KernelModel]:
        """D at the best multiple of the multipliers, and the point that belongs to it."""
        alpha, beta = self.balanced(alpha), np.maximum(beta, 0.0)
        a, gamma = alpha * self.y, alpha + beta
        f, g = self.K @ a, self.correction.deformed_product(gamma)
        total, square = float(alpha.sum()), max(float(a @ f), 0.0) + float(gamma @ g)
        t = total / square if square > 0.0 else 0.0
        bound = Bound(t * alpha, t * beta, 0.5 * total * t)
        gamma = t * gamma
        if not self.correction.known:
            return bound, self._from_deformed(t * a, t * f, gamma, t * g)
        g = t * g
        own = gamma / (self.cost + self.kappa)  # 0 without own slacks
        c = (self.theta * gamma - self.reduced * ((g - own) / self.theta)) / self.lam
        return bound, self.feasible(t * a, t * f, c, float((self.sign * c).sum()), own)

    def own_slack(self, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """What own slacks add to theta g, for the hinge to g: xi (n,) is the sum. 0 without them."""
        return (alpha + beta) / (self.cost + self.kappa)

    def of_functions(
        self, coef: np.ndarray, c: np.ndarray, rho: float, own: np.ndarray
    ) -> KernelModel:
        """The best feasible point that these coefficients and own slacks lead to."""
        return self.feasible(coef, self.K @ coef, c, rho, own)

    def bare(self, model: KernelModel) -> KernelModel:
        """The best feasible point with w = 0 and this correcting function."""
        if not self.correction.known:
            return model
        zero = np.zeros(self.n)
        return self.feasible(zero, zero, model.c, model.rho, zero)

    def _from_deformed(
        self, a: np.ndarray, f: np.ndarray, gamma: np.ndarray, g: np.ndarray
    ) -> KernelModel:
        """P = 1/2 ||w||^2 + 1/2 gamma'Q gamma, scaled to margins (and slacks) that are feasible."""
        w2, rest, zero = max(float(a @ f), 0.0), float(gamma @ g), np.zeros(self.n)
        m, b = self.lowest(self.y * f + g)
        if not m > 0.0 or (self.nonneg and float(g.min()) < 0.0):
            return self.nothing()
        P = 0.5 * (w2 + rest) / (m * m)
        return KernelModel(a / m, b / m, zero, 0.0, g / m, P, w2 / (m * m))

    def feasible(
        self, a: np.ndarray, f: np.ndarray, c: np.ndarray, rho: float, own: np.ndarray
    ) -> KernelModel:
        """The best of what scaling and a shift of rho make of f = K a + b and g = Kz c + sign rho."""
        free = self.correction.product(c)
        g = free + self.sign * rho
        w2, v2 = max(float(a @ f), 0.0), max(float(c @ free), 0.0)
        t, tau = self._rescaled(w2, v2, rho, f, g)
        if self.signed and t * ROUNDING * float(np.abs(a).sum() * self.K.diagonal().max()) > 1.0:
            t = np.inf  # margins that are rounding
        candidates = [(0.0, 1.0 / float(self.theta.min()), 0.0)]
        if self.signed:
            candidates = [(0.0, 0.0, 0.0)] if self.soft else []
        if np.isfinite(t):
            candidates.append((t, t * (rho + tau), 0.0))
        if self.soft:
            candidates.append((1.0, rho, 1.0))
        best: KernelModel | None = None
        for s, offset, part in candidates:
            shifted = s * free + self.sign * offset
            _, b = self.lowest(s * self.y * f + self.theta * shifted + part * own)
            P = self.objective(s * s * w2, s * s * v2, offset, self.y * (s * f + b), shifted)
            if best is None or best.primal > P:
                best = KernelModel(s * a, b, s * c, offset, shifted, P, s * s * w2)
        return self.nothing() if best is None else best

    def nothing(self) -> KernelModel:
        """No feasible point."""
        zero = np.zeros(self.n)
        return KernelModel(zero, 0.0, zero, 0.0, zero, np.inf, 0.0)

    def _rescaled(
        self, w2: float, v2: float, rho: float, f: np.ndarray, g: np.ndarray
    ) -> tuple[float, float]:
        """Smallest P over t (w, v, rho + tau) with all margins kept: t and tau."""
        m, _ = self.lowest(self.y * f + self.theta * g)
        tau, *_ = self.shift(m, w2, v2, rho, g)
        if not np.isfinite(tau):
            return np.inf, np.inf
        margin, _ = self.lowest(self.y * f + self.theta * (g + tau))
        return (1.0 / margin, tau) if margin > 0.0 else (np.inf, np.inf)


class Hinge(HingeExamples, KernelLoss):
    """SVM1+."""

    def qp(self) -> KernelQP:
        """Dual (2), or that without multipliers of xi >= 0."""
        if self.signed:  # y'beta = y'cost; the costs pull
            R = self.correction.centred
            pull, total = R @ self.cost, float(self.y @ self.cost)
            return KernelQP(self.K, R, self.y, np.append(1.0 + pull, pull), total, self.y)
        h = 1.0 + self.own
        if self.nonneg:
            h = np.append(h, self.own)
        return KernelQP(self.K, self.correction.centred, self.y, h, self.total)

    def hard_margin(self) -> KernelQP | None:
        """The dual without slacks, if xi >= 0 is asked: beta = cost - alpha is left out of it."""
        if not self.nonneg:
            return None
        return KernelQP(self.K, np.zeros_like(self.K), self.y, np.ones(self.n), None)

    def look(self, alpha: np.ndarray, beta: np.ndarray) -> tuple[Bound, KernelModel]:
        """D at the multipliers made feasible, and the point that belongs to them."""
        alpha = self.balanced(alpha)
        beta = np.maximum(beta, 0.0) if self.nonneg else np.zeros(self.n)
        sum_ = float(alpha.sum() + beta.sum())
        if not sum_ > 0.0:
            alpha, sum_ = self.uniform(self.total), self.total
        if self.signed:
            alpha, beta = self._bounded(alpha, beta)
        else:
            alpha, beta = alpha * (self.total / sum_), beta * (self.total / sum_)
        a, rest = alpha * self.y, alpha + beta - self.cost
        f = self.K @ a
        w2 = max(float(a @ f), 0.0)
        square = w2 + self.correction.centred_square(rest)
        bound = Bound(alpha, beta, float(alpha.sum()) - 0.5 * square)
        if self.nonneg:
            bound = max(bound, self._without_slack(alpha, w2), key=lambda found: found.dual)
        return bound, self.feasible(a, f, rest / self.lam, rest / self.kappa)

    def _bounded(self, alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers of signed slacks, no larger than optimal ones can be: K a would be rounding.

        There sum(alpha) and sum (alpha + beta - cost)^2/kappa are at most 2 P, at most that of own slacks alone.
        """
        most = 2.0 * self.objective(0.0, 0.0, np.zeros(self.n), np.zeros(self.n))
        alpha = alpha * min(1.0, most / max(float(alpha.sum()), most))
        beta = self.shared(beta)
        if float(((alpha + beta - self.cost) ** 2 / self.kappa).sum()) > most:
            beta = self.cost
        return alpha, beta

    def _without_slack(self, alpha: np.ndarray, w2: float) -> Bound:
        """D at the best multiple of alpha whose beta = cost - alpha: no noise of the correction.

        That is the optimum where the classes can be separated, and small beside the costs.
        """
        total = float(alpha.sum())
        if not w2 > 0.0:
            return Bound(np.zeros(self.n), self.cost, 0.0)
        t = min(total / w2, float((self.cost[alpha > 0.0] / alpha[alpha > 0.0]).min()))
        alpha = np.minimum(t * alpha, self.cost)
        return Bound(alpha, self.cost - alpha, t * total - 0.5 * t * t * w2)

    def own_slack(self, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """What own slacks add to theta g, for the hinge to g: xi (n,) is the sum. 0 without them."""
        return (alpha + beta - self.cost) / self.kappa

    def of_functions(
        self, coef: np.ndarray, c: np.ndarray, rho: float, own: np.ndarray
    ) -> KernelModel:
        """The best feasible point that these coefficients and own slacks lead to."""
        g = self.correction.product(c)  # the sum of c need not be 0
        mean = float(self.cost @ (self.sign * g)) / self.total
        square = max(float(c @ g), 0.0)
        return self._best(coef, self.K @ coef, c, own, self.sign * g - mean, mean, square)

    def bare(self, model: KernelModel) -> KernelModel:
        """The best feasible point with w = 0 and this correcting function."""
        zero = np.zeros(self.n)
        return self.feasible(zero, zero, model.c, zero)

    def feasible(self, a: np.ndarray, f: np.ndarray, c: np.ndarray, own: np.ndarray) -> KernelModel:
        """The best multiple of (a, c) with its best b and rho."""
        best = self._best(a, f, c, own, *self.correction.centred_function(c))
        if self.nonneg:  # as for the linear trainers: noise in c costs C sum(omega) times it
            zero = np.zeros(self.n)
            plain = self._best(a, f, zero, zero, zero, 0.0, 0.0)
            best = min(best, plain, key=lambda found: found.primal)
        return best

    def _best(
        self, a: np.ndarray, f: np.ndarray, c: np.ndarray, own: np.ndarray, g: np.ndarray,
        mean: float, v2: float,
    ) -> KernelModel:  # fmt: skip
        """The same for g = Kz c - mean and v2 = c'Kz c."""
        if self.signed:
            return self._with_own(a, f, c, g, mean, v2)
        w2, (least, _) = max(float(a @ f), 0.0), self.lowest(self.y * f + g)
        candidates = [
            (0.0, 1.0, 0.0),
            (*self.multiple(least, w2 + self.lam * v2, -float(g.min())), 0.0),
        ]
        if self.soft:
            m, _ = self.lowest(self.y * f + g + own)
            candidates.append((1.0, 1.0 - m, 1.0))
        best: KernelModel | None = None
        for t, rho, part in candidates:
            slack = t * g + rho
            _, b = self.lowest(t * self.y * f + slack + part * own)
            P = self.objective(t * t * w2, t * t * v2, self.y * (t * f + b), slack)
            if best is None or best.primal > P:
                best = KernelModel(t * a, b, t * c, rho - t * mean, slack, P, t * t * w2)
        assert best is not None
        return best

    def _with_own(
        self, a: np.ndarray, f: np.ndarray, c: np.ndarray, g: np.ndarray, mean: float, v2: float
    ) -> KernelModel:
        """Signed functions with their best b, rho and own slacks, or own slacks alone."""
        w2, zero = max(float(a @ f), 0.0), np.zeros(self.n)
        none = self.objective(0.0, 0.0, zero, zero)
        b, rho = self.offsets(f, g)
        slack = self.y * (g + rho)
        P = self.objective(w2, v2, self.y * (f + b), slack)
        if none < P:
            return KernelModel(zero, 0.0, zero, 0.0, zero, none, 0.0)
        return KernelModel(a, b, c, rho - mean, slack, P, w2)
