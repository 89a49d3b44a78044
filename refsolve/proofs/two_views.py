"""Duality gap of an SVM-2K, from both views' models and the multipliers (alpha_A, alpha_B, beta).

With g_A = alpha_A y - beta, g_B = alpha_B y + beta of sum 0, m_V = 1 - y f_V, t = f_A - f_B,

    P - D = sum_V sum_i ((C_V w_i - alpha_Vi) max(0, m_Vi) + alpha_Vi max(0, -m_Vi))
          + sum_i ((D w_i - |beta_i|) max(0, |t_i| - eps) + |beta_i| (max(0, eps - |t_i|) + |t_i| -+ t_i))
          + 1/2 ||w_A - X'g_A||^2 + 1/2 ||w_B - Z'g_B||^2,

all nonnegative. Multipliers are clipped and balanced before; nothing of a solver is used.
"""

from dataclasses import dataclass, field

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import Proof
from refsolve.proofs.space import Space, halves, scaled
from refsolve.proofs.svm_plus import Point


@dataclass(frozen=True)
class TwoViewProof(Proof):
    """A `Proof` with the model and the repaired multipliers (3, n) of the examples."""

    point: Point = field(kw_only=True, repr=False)
    alpha: Array = field(kw_only=True, repr=False)


class Problem:
    """The data of an SVM-2K; arrays are of the examples.

    Parameters
    ----------
    x, z : Space
        The views A and B.
    y : (n,) array of -1 and 1
    bounds : (3, n) array
        C_A w_i, C_B w_i and D w_i.
    free : float
        Disagreement that is free, eps of the formulas.
    """

    def __init__(self, x: Space, z: Space, y: Array, bounds: Array, free: float = 0.0) -> None:
        self.x, self.z, self.n = x, z, x.total
        self.real = x.real
        self.y: Array = y.astype(self.real)
        self.up = self.y > 0
        self.bounds: Array = bounds.astype(self.real)
        self.free: Real = self.real(free)

    def repaired(self, alpha: Array) -> Array:
        """Multipliers (3, n) within their bounds, with the sums of g_A and g_B 0."""
        a, b = np.clip(alpha[:2], 0, self.bounds[:2])
        beta = np.clip(alpha[2], -self.bounds[2], self.bounds[2])
        (a_up, a_down), (b_up, b_down) = halves(a, self.up), halves(b, self.up)
        plus, minus = beta[beta > 0].sum(), -beta[beta < 0].sum()
        total = np.clip(plus - minus, max(-a_down, -b_up), min(a_up, b_down))
        if plus - minus > total:
            beta[beta > 0] *= (minus + total) / plus
        elif plus - minus < total:
            beta[beta < 0] *= (plus - total) / minus
        total = beta.sum()
        return np.array([self._towards(a, total), self._towards(b, -total), beta])

    def _towards(self, alpha: Array, target: Real) -> Array:
        """The class that is too heavy scaled down until <alpha,y> is the target."""
        plus, minus = halves(alpha, self.up)
        return scaled(alpha, self.up, np.maximum(0, minus + target), np.maximum(0, plus - target))

    def violation(self, alpha: Array) -> float:
        """Largest violation of the dual's constraints."""
        a, b, beta = alpha
        found = [0.0, -a.min(), -b.min(), (abs(alpha) - self.bounds).max()]
        found += [abs((a * self.y - beta).sum()), abs((b * self.y + beta).sum())]
        return float(max(found))

    def pulls(self, alpha: Array) -> tuple[Array, Array]:
        """w_A and w_B of repaired multipliers."""
        a, b, beta = alpha
        return self.x.pull(a * self.y - beta), self.z.pull(b * self.y + beta)

    def lower(self, alpha: Array) -> Real:
        """D of repaired multipliers."""
        w, v = self.pulls(alpha)
        linear = (alpha[0] + alpha[1] - self.free * abs(alpha[2])).sum()
        return linear - (self.x.square(w) + self.z.square(v)) / 2

    def losses(self, f: Array, g: Array) -> Array:
        """What the bounds multiply, (3, n), at the scores of both views."""
        short = abs(f - g) - self.free
        return np.maximum(0, np.array([1 - self.y * f, 1 - self.y * g, short]))

    def objective(self, point: Point) -> Real:
        """P."""
        assert point.v is not None
        f, g = self.x.values(point.w) + point.b, self.z.values(point.v) + point.rho
        half = (self.x.square(point.w) + self.z.square(point.v)) / 2
        return half + (self.bounds * self.losses(f, g)).sum()

    def prove(self, point: Point, alpha: Array) -> TwoViewProof:
        """Gap of a model of both views and of multipliers (3, n), which are repaired."""
        assert point.v is not None
        given, alpha = alpha, self.repaired(alpha)
        eps, size = self.x.eps, abs(alpha[2])
        views = ((self.x, point.w, point.b), (self.z, point.v, point.rho))
        f = [space.values(w) + b for space, w, b in views]
        losses = self.losses(*f)
        down = np.maximum(0, self.y * np.array(f) - 1)
        hinges = (self.bounds - alpha)[:2] * losses[:2] + alpha[:2] * down
        # D max(0, |t| - eps) - beta t + eps |beta|, without its cancellation
        t = f[0] - f[1]
        against = np.where(alpha[2] * t < 0, 2 * abs(t), 0) + np.maximum(0, self.free - abs(t))
        apart = (self.bounds[2] - size) * losses[2] + size * against
        residuals = hinges.sum(axis=0) + apart
        drift, error = self.real(0), self.real(0)
        terms = {
            "hinges of the view A": float(hinges[0].sum()),
            "hinges of the view B": float(hinges[1].sum()),
            "disagreement": float(apart.sum()),
        }
        prices = self.bounds[:2] + self.bounds[2]  # what an error of a score may cost
        for i, ((space, w, b), u) in enumerate(zip(views, self.pulls(alpha), strict=True)):
            away = space.square(w - u) / 2
            terms[f"1/2 ||w - w(alpha)||^2 of the view {'AB'[i]}"] = float(away)
            drift += away
            slip = space.slip(w) + 4 * eps * (1 + np.abs(b) + abs(f[i]))
            error += 2 * (prices[i] * slip).sum() + space.square_slip(w) / 2
            error += space.apart_slip(w - u, alpha[i] + size) / 2
            error += (self.n + 4) * eps * np.abs(b) * (alpha[i] + size).sum()
        primal = self.objective(point)
        error += 8 * (self.n + 4) * eps * (abs(primal) + residuals.sum() + drift)
        return TwoViewProof(
            primal, self.lower(alpha), residuals, drift, terms, error,
            float(abs(alpha - given).max()),
            point=point, alpha=alpha,
        )  # fmt: skip
