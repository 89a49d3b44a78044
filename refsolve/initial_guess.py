"""Models that multipliers of an SVM stand for, and best values of parts that are missing.

Proposals: `refsolve.proofs.svm_plus` judges them like any other model.
"""

import numpy as np
from numpy.typing import ArrayLike

from refsolve.proofs import svm_plus
from refsolve.proofs.certificate import Array, Real, candidate
from refsolve.proofs.multipliers import Correction, Offset
from refsolve.proofs.space import EPS
from refsolve.proofs.svm_plus import PlusProof, Point

#: Relative error that a deformed kernel in float64 may have.
Q_ERROR = 1e-12


class Problem(svm_plus.Problem):
    """An SVM or SVM+ that proposes models."""

    def best_bias(self, w: Array, xi: Array | None = None) -> Offset:
        """The b whose least margin y f + xi is largest; of the ordinary SVM, a minimiser of the loss."""
        f = self.x.values(w)
        if xi is not None:
            short = 1 - self.y * f - xi
            return (short[self.up].max() - short[~self.up].max()) / 2
        ends = np.sort(self.y - f)  # where a margin is 1

        def slope(k: int) -> Real:
            """Of the loss, to the right of the k-th end."""
            if not self.squared:
                return (self.cost * ((self.y - f) <= ends[k])).sum() - self.cost[self.up].sum()
            return -(self.cost * self.y * np.maximum(0, 1 - self.y * (f + ends[k]))).sum()

        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if slope(middle) >= 0 else (middle + 1, high)
        if not self.squared or low == 0:
            return ends[low]
        left, right = slope(low - 1), slope(low)
        if not right > left:
            return ends[low]
        return ends[low - 1] - left / (right - left) * (ends[low] - ends[low - 1])

    def model_of(self, alpha: Array, beta: Array) -> Point:
        """The model that repaired multipliers stand for, with b and rho the best for it."""
        w = self.x.pull(alpha * self.y)
        b = {"free": None, "none": self.real(0)}.get(self.bias, (alpha * self.y).sum())
        if self.plain:
            return Point(w, self.best_bias(w) if b is None else b)
        g, _ = self.best(alpha + beta)
        return self.with_offsets(w, g, b)

    def with_offsets(self, w: Array, g: Correction, b: Offset | None) -> Point:
        """The best b, unless it is given, and with the hinge the best rho, for w, v and own slacks."""
        rho, xi = g.rho, g.xi
        if not self.squared:
            xi = xi - self.s * rho
            rho = self._signed_rho(xi) if self.signed else self.real(0)
            xi = xi + self.s * rho
        b = self.best_bias(w, xi) if b is None else b
        if not (self.squared or self.signed):
            rho = (1 - self.margins(w, b) - xi).max()
            rho = max(rho, (-xi).max()) if self.nonneg else rho
        return Point(w, b, g.v, rho)

    def _signed_rho(self, xi: Array) -> Offset:
        """Rho in the interval in which y (<v,z> + rho) >= 0; it does not matter where delta > 0."""
        if not self.nonneg:
            return self.real(0)
        high = (self.y * self.cost).sum() < 0
        return xi[~self.up].min() if high else (-xi[self.up]).max()

    def scale_free(self, alpha: Array) -> PlusProof | None:
        """Gap of the best multiples of multipliers and of their model; None if they prove nothing.

        Squared hinge without xi >= 0: relative gap 1 - (S m/q)^2, S = sum alpha, q = <alpha, H alpha>
        for H = K yy' + Q, and m > 0 the mean of the least H alpha of the positives and the negatives.
        """
        alpha, beta = self.repaired(alpha, 0 * alpha)
        u, (g, _) = self.x.pull(alpha * self.y), self.best(alpha)
        margins = self.margins(u, self.real(0)) + g.xi
        plus, minus = margins[self.up].min(), margins[~self.up].min()
        m, b, q = (plus + minus) / 2, (minus - plus) / 2, (alpha * margins).sum()
        if not (m > 0 and q > 0):
            return None
        point = Point(u / m, b / m, g.v / m, g.rho / m)
        return self.prove(point, alpha * (alpha.sum() / q), beta)

    def doubt(self, proof: PlusProof) -> float:
        """How far the same sums in float64 may be from P and D."""
        point, xi, error, gamma = proof.point, proof.xi, proof.error, proof.alpha + proof.beta
        marginal = self.cost * (abs(xi) if self.squared else 1)
        x, z = self.x, self.z
        reach = 1 + x.reach(point.w) + np.abs(point.b) + abs(xi)
        width = self.n + x.width + 8
        if z is not None:
            assert point.v is not None
            reach, width = reach + z.reach(point.v) + np.abs(point.rho), width + z.width
        doubt = 4 * EPS * width * ((gamma + marginal) * reach).sum() + 2 * error
        if z is None:
            return float(doubt)
        few = self.n <= x.width + z.width + 1  # where trainers use kernels
        if z.gram is None and (few or x.gram is not None):
            # v = sum_i (gamma_i - c_i xi_i) z_i/lam is a sum of large terms there
            terms = abs(gamma - self.cost * (xi if self.squared else 1)) * z.norms
            doubt += 4 * EPS * (gamma + marginal).sum() * z.norms.max() * terms.sum() / self.lam
        if self.squared:  # Q, whose entries are at most that, to 1e-12
            largest = np.minimum((z.norms**2 + 1 + self.delta) / self.lam, 1 / self.cost).max()
            doubt += Q_ERROR / 2 * largest * gamma.sum() ** 2
        return float(doubt)

    def part(self, name: str, values: ArrayLike | None) -> Array:
        """The examples' entries of a vector (n,) of all rows; zeros for None."""
        if values is None:
            return np.zeros(len(self.y), self.real)
        return candidate(name, values, self.n)[self.kept].astype(self.real)
