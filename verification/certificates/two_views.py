"""Certified duality gap of an SVM-2K, from both views' models and the multipliers (alpha_A, alpha_B, beta).

With g_A = alpha_A y - beta, g_B = alpha_B y + beta of sum 0, m_V = 1 - y f_V, t = f_A - f_B,

    P - D = sum_V sum_i ((C_V w_i - alpha_Vi) max(0, m_Vi) + alpha_Vi max(0, -m_Vi))
          + sum_i ((D w_i - |beta_i|) max(0, |t_i| - eps) + |beta_i| (max(0, eps - |t_i|) + |t_i| -+ t_i))
          + 1/2 ||w_A - X'g_A||^2 + 1/2 ||w_B - Z'g_B||^2,

all nonnegative. Multipliers are clipped and balanced before; nothing of a solver is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.certificates.model import EPS, EXTENDED
from verification.certificates.plus_model import PlusCertificate
from verification.certificates.plus_space import Space

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class View:
    """One view's rows, and its function (w, offset)."""

    space: Space
    w: Array
    offset: Any

    @property
    def scores(self) -> Array:
        """Values of the view's function (n,)."""
        return self.space.values(self.w) + self.offset

    def slip(self, scores: Array) -> Array:
        """Rounding in the scores."""
        return self.space.slip(self.w) + 4 * self.space.eps * (1 + abs(self.offset) + abs(scores))

    @property
    def reach(self) -> Array:
        """Sizes of what is added up in the scores."""
        return self.space.reach(self.w) + abs(self.offset)


class Problem:
    """The data of an SVM-2K; rows of weight zero leave.

    Parameters
    ----------
    y : (n,) array of -1 and 1
    CA, CB, D : float
        Weights of the sums of both hinges and of the disagreement.
    eps : float
        Disagreement that is free.
    X, Z : (n, d), (n, s) arrays, or Gram matrices ``K``, ``Kz`` (n, n)
    sample_weight : (n,) array, optional
    """

    def __init__(
        self,
        y: Array,
        *,
        CA: float,
        CB: float,
        D: float,
        eps: float = 0.0,
        X: Any = None,
        K: Any = None,
        Z: Any = None,
        Kz: Any = None,
        sample_weight: Any = None,
    ) -> None:
        n = len(y)
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
        self.n, self.kept = n, np.flatnonzero(weight > 0)
        sizes = sum(a.size for a in (X, K, Z, Kz) if a is not None)
        self.real: Any = np.longdouble if sizes <= EXTENDED / 10 else np.float64
        self.eps = float(np.finfo(self.real).eps)
        self.y: Array = np.asarray(y, float)[self.kept].astype(self.real)
        prices = np.array([CA, CB, D], dtype=self.real)
        self.bounds: Array = np.outer(prices, weight[self.kept])
        self.free = self.real(eps)
        self.x = Space.of("X", X, "K", K, n, self.kept, self.real, 0.0)
        self.z = Space.of("Z", Z, "Kz", Kz, n, self.kept, self.real, 0.0)

    def repaired(self, alpha: Any) -> Array:
        """Multipliers (3, n) of the examples within their bounds, with the sums of g 0."""
        given: Array = np.asarray(alpha)[:, self.kept].astype(self.real)
        a, b = (np.clip(given[i], 0, self.bounds[i]) for i in (0, 1))
        beta = np.clip(given[2], -self.bounds[2], self.bounds[2])
        up = self.y > 0
        low = max(-a[~up].sum(), -b[up].sum())
        high = min(a[up].sum(), b[~up].sum())
        plus, minus = beta[beta > 0].sum(), -beta[beta < 0].sum()
        if plus - minus > high:
            beta[beta > 0] *= (minus + high) / plus
        elif plus - minus < low:
            beta[beta < 0] *= (plus - low) / minus
        total = beta.sum()
        return np.array([self._towards(a, total), self._towards(b, -total), beta])

    def _towards(self, alpha: Array, target: Any) -> Array:
        """The class that is too heavy scaled down until <alpha,y> is the target."""
        up = self.y > 0
        plus, minus = alpha[up].sum(), alpha[~up].sum()
        alpha = alpha.copy()
        if plus - minus > target and plus > 0:
            alpha[up] *= np.maximum(0, minus + target) / plus
        elif minus > 0:
            alpha[~up] *= np.maximum(0, plus - target) / minus
        return alpha

    def pulls(self, alpha: Array) -> tuple[Array, Array]:
        """w_A and w_B of repaired multipliers."""
        a, b, beta = alpha
        return self.x.pull(a * self.y - beta), self.z.pull(b * self.y + beta)

    def model_of(self, alpha: Array) -> tuple[Array, float, Array, float]:
        """The model of repaired multipliers, with offsets that are good for each view alone."""
        found: list[Any] = []
        pulls = self.pulls(alpha)
        for space, w, bound in zip((self.x, self.z), pulls, self.bounds[:2], strict=True):
            values = space.values(w)
            ends = self.y - values
            losses = [(bound * np.maximum(0, self.y * (ends - end))).sum() for end in ends]
            found += [w, float(ends[int(np.argmin(losses))])]
        return found[0], found[1], found[2], found[3]

    def certificate(self, w: Any, b: Any, v: Any, rho: Any, alpha: Any) -> PlusCertificate:
        """Gap of a model of both views and of multipliers (3, n), which are repaired."""
        views = (
            View(self.x, self.x.vector("w", w), self.real(b)),
            View(self.z, self.z.vector("v", v), self.real(rho)),
        )
        given = np.asarray(alpha)[:, self.kept]
        alpha = self.repaired(alpha)
        f = [view.scores for view in views]
        slips = [view.slip(scores) for view, scores in zip(views, f, strict=True)]
        residual, primal, error, mass = (self.real(0) for _ in range(4))
        terms: dict[str, float] = {}
        for i, name in enumerate("AB"):
            m = 1 - self.y * f[i]
            up, down = np.maximum(0, m), np.maximum(0, -m)
            part = ((self.bounds[i] - alpha[i]) * up + alpha[i] * down).sum()
            terms[f"hinges of the view {name}"] = float(part)
            residual, primal = residual + part, primal + (self.bounds[i] * up).sum()
        t = f[0] - f[1]
        over, under = np.maximum(0, abs(t) - self.free), np.maximum(0, self.free - abs(t))
        size = abs(alpha[2])
        against = np.where(alpha[2] * t < 0, 2 * abs(t), 0)
        part = ((self.bounds[2] - size) * over + size * (under + against)).sum()
        terms["disagreement"] = float(part)
        residual, primal = residual + part, primal + (self.bounds[2] * over).sum()
        prices = self.bounds[:2] + self.bounds[2]  # what an error of a score may cost
        for i, (view, u) in enumerate(zip(views, self.pulls(alpha), strict=True)):
            space = view.space
            away = space.square(view.w - u)
            terms[f"1/2 ||w - w(alpha)||^2 of the view {'AB'[i]}"] = float(away / 2)
            residual, primal = residual + away / 2, primal + space.square(view.w) / 2
            off = space.pull_slip(alpha[i] + size)
            error += 2 * (prices[i] * slips[i]).sum() + space.square_slip(view.w) / 2
            error += space.square_slip(view.w - u) / 2 + off * np.sqrt(away) + off * off / 2
            error += (self.n + 4) * self.eps * abs(view.offset) * (alpha[i] + size).sum()
            mass += (prices[i] * (1 + abs(f[i]) + view.reach)).sum()
        error += 8 * (self.n + 4) * self.eps * (abs(primal) + residual)
        terms["rounding"] = float(error)
        width = self.n + self.x.width + self.z.width + 8
        doubt = float(4 * EPS * width * mass + 2 * error)
        gap, high = float(residual + error), float(primal + error)
        high, gap = high + EPS * abs(high), gap + 2 * EPS * gap  # rounded to floats
        moved = float(abs(alpha - given).max())
        return PlusCertificate(high, high - gap, gap, float(error), moved, terms, doubt)
