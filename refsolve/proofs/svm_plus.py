"""Duality gap of SVM and SVM+, from a model (w, b, v, rho) and its multipliers (alpha, beta).

With u = sum alpha_i y_i x_i, gamma = alpha + beta, costs c_i = C weight_i, f = <w,x> + b and slacks
xi_i = s_i (<v,z_i> + rho) + eta_i (own slacks eta_i = sqrt(delta_i) h_i cost lam/2 h_i^2; s_i is 1, or y_i
for signed correcting functions), zt_i = s_i (z_i, 1) and h_i,

    P - D = sum alpha_i (y_i f_i - 1 + xi_i) + sum beta_i xi_i + 1/2||w - u||^2 + correction,
    squared hinge:  1/2 ||g - g*||_M^2 for g = (v, rho, h), M = lam I + sum c_i zt_i zt_i',
    hinge:          lam/2 ||(v,h) - (v,h)*||^2, for sum s_i (gamma_i - c_i) = 0,
    no Z:           sum (c_i xi_i - alpha_i)^2/(2 c_i), or sum (c_i - alpha_i) xi_i with alpha <= c,

all nonnegative, and 1/2 (b - sum alpha_i y_i)^2 where b is penalised. g* = M^-1 sum gamma_i zt_i is never
trusted: for a g0 that misses its equation by r, the squared norm is at most that of M at g - g0 and, in
lam I, at g - g0 - r/lam. Before that the model is made feasible: rho is raised by what a constraint lacks
and by what rounding may hide (own slacks one by one; signed ones by scaling all), and the multipliers are
clipped, balanced and given the sum they need. Rows of weight zero do not exist.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import Proof
from refsolve.proofs.multipliers import Correction, Multipliers, Offset
from refsolve.proofs.space import EPS


class Point(NamedTuple):
    """A model, w and b and, with privileged data, v and rho."""

    w: Array
    b: Offset
    v: Array | None = None
    rho: Offset = 0.0


@dataclass(frozen=True)
class PlusProof(Proof):
    """A `Proof` with the repaired model and multipliers of the examples.

    Attributes
    ----------
    point : Point
    xi : ndarray of shape (n,)
    alpha, beta : ndarray of shape (n,)
    """

    point: Point = field(kw_only=True, repr=False)
    xi: Array = field(kw_only=True, repr=False)
    alpha: Array = field(kw_only=True, repr=False)
    beta: Array = field(kw_only=True, repr=False)


class Problem(Multipliers):
    """An SVM or SVM+: its models, and the gaps between them and multipliers."""

    # ---- models

    def margins(self, w: Array, b: Offset) -> Array:
        """y_i (<w,x_i> + b)."""
        return self.y * (self.x.values(w) + b)

    def needs(self, w: Array, b: Offset) -> tuple[Array, Array]:
        """What the slacks have to reach, 1 - y f (and 0, if kept), and what rounding may hide of it."""
        need = 1 - self.margins(w, b)
        need = np.maximum(need, 0) if self.nonneg else need
        return need, self.x.slip(w) + 2 * self.eps * np.abs(b)

    def short(self, w: Array, b: Offset, xi: Array) -> float:
        """Largest violation of the primal's constraints."""
        return float(max(0, (self.needs(w, b)[0] - xi).max()))

    def feasible(self, point: Point) -> tuple[Correction, Real]:
        """The correction raised to xi >= need, more by rounding, and by how much rho was raised."""
        assert self.z is not None
        assert point.v is not None
        least, slip = self.needs(point.w, point.b)
        slip = slip + self.z.slip(point.v) + 2 * self.eps * np.abs(point.rho)
        g = self.at(point.v, point.rho).xi
        if self.soft:
            stiff = self.lam / self.delta
            xi = stiff * g / (self.cost + stiff) if self.squared else g - self.cost / stiff
            xi = np.maximum(xi, least + slip)
            own = (xi - g) / np.sqrt(self.delta)
            return self.at(point.v, point.rho, own)._replace(xi=xi), self.real(0)
        if self.signed:  # raising rho would lower half of them; `repairs` has scaled them
            return self.at(point.v, point.rho), self.real(0)
        lacking = (least - g).max()
        lift = max(self.real(0), lacking + slip.max() if lacking > -slip.max() else 0)
        return Correction(point.v, point.rho + lift, 0 * g, g + lift), lift

    def repairs(self, point: Point) -> Iterator[Point]:
        """The model itself, whose rho can be raised unless it is signed, and a feasible multiple of it."""
        if not self.signed or self.soft:
            yield point
        if self.plain or self.soft:
            return
        assert point.v is not None
        xi = self.at(point.v, point.rho).xi
        raised = self.real(0)
        if self.nonneg and not self.signed:
            raised = max(raised, -xi.min())
        least = (self.margins(point.w, point.b) + xi + raised).min()
        if self.signed:  # rho cannot raise them: what is below 0 by rounding counts as 0
            least = least - (self.needs(point.w, point.b)[1] + self.z_slip(point)).max()
            rounding = EPS * max(1, abs(xi).max())
            if least <= 0 or (self.nonneg and xi.min() < -rounding):
                return
        if self.signed or 0 < least < 1:
            t = 1 / min(least, self.real(1))
            yield Point(point.w * t, point.b * t, point.v * t, (point.rho + raised) * t)

    def z_slip(self, point: Point) -> Array:
        """Rounding in the slacks."""
        assert self.z is not None
        assert point.v is not None
        return self.z.slip(point.v) + 2 * self.eps * np.abs(point.rho)

    def prove(self, point: Point, alpha: Array, beta: Array) -> PlusProof:
        """Gap of a model and of multipliers; of the repairs of the model the one that costs least."""
        proofs = [self.gap_of(repair, alpha, beta) for repair in self.repairs(point)]
        if proofs:
            return min(proofs, key=lambda proof: proof.gap)
        assert point.v is not None
        alpha, beta = self.repaired(alpha, beta)
        none, xi = np.full(len(self.y), np.inf), self.at(point.v, point.rho).xi
        inf, dual = self.real(np.inf), self.lower(alpha, beta)
        error = self.gap_of(point, alpha, beta).error  # of D, too
        return PlusProof(
            inf, dual, none, inf, {"no feasible model": np.inf}, error, np.inf,
            point=point, xi=xi, alpha=alpha, beta=beta,
        )  # fmt: skip

    def gap_of(self, point: Point, alpha: Array, beta: Array) -> PlusProof:
        """Gap of a model whose rho (or own slacks) are raised, and of multipliers, which are repaired."""
        given, (w, b) = alpha, (point.w, point.b)
        alpha, beta = self.repaired(alpha, beta)
        x, eps, gamma = self.x, self.eps, alpha + beta
        need, slip = 1 - self.margins(w, b), self.needs(w, b)[1]
        lifted, g = self.real(0), None
        if self.plain:
            xi = np.maximum(need, 0) + slip
        else:
            g, lifted = self.feasible(point)
            xi, slip, point = g.xi, slip + self.z_slip(point), point._replace(rho=g.rho)
        slip = slip + 4 * eps * (1 + abs(need - 1) + abs(xi))
        away = w - x.pull(alpha * self.y)
        square = x.square(away)
        margins, slacks = alpha * np.maximum(0, xi - need), beta * np.maximum(0, xi)
        error = (gamma * slip).sum() + x.apart_slip(away, alpha) / 2
        error += (self.n + 4) * eps * np.abs(b) * alpha.sum()  # <alpha, y> is 0 up to rounding
        if g is None:
            residuals = margins + self._losses(alpha, xi)
            drift = square / 2
            error += 8 * eps * (residuals + alpha * xi).sum()
        else:
            residuals, (drift, hidden) = margins + slacks, self._drift(g, gamma)
            drift, error = drift + square / 2, error + hidden
            assert self.z is not None
            error += self.lam / 2 * self.z.square_slip(g.v)
        if self.bias == "penalised":
            apart = abs(b - (alpha * self.y).sum())
            hidden = (self.n + 4) * eps * alpha.sum()
            drift, error = drift + apart**2 / 2, error + apart * hidden + hidden**2 / 2
        marginal = self.cost * (abs(xi) if self.squared else 1)
        error += (marginal * slip).sum() + x.square_slip(w) / 2
        primal, dual = self.objective(w, b, xi, g), self.lower(alpha, beta)
        total = residuals.sum() + drift
        # P < 0 without xi >= 0
        error += 4 * (self.n + 4) * eps * (abs(primal) + (marginal * abs(xi)).sum() + total)
        if x.gram is not None or (self.z is not None and self.z.gram is not None):
            # equal but for a Gram matrix that is positive semidefinite up to rounding only
            drift += max(x.real(0), primal - dual - total - error)
        terms = {
            "sum alpha_i (y_i f_i - 1 + xi_i)": float(margins.sum()),
            "sum beta_i xi_i": float(slacks.sum()),
            "1/2 ||w - sum alpha_i y_i x_i||^2": float(square / 2),
            "loss" if g is None else "correcting part": float(
                total - margins.sum() - slacks.sum() - square / 2
            ),
        }
        return PlusProof(
            primal, dual, residuals, drift, terms, error,
            max(float(abs(alpha - given).max()), float(lifted)),
            point=point, xi=xi, alpha=alpha, beta=beta,
        )  # fmt: skip

    def objective(self, w: Array, b: Offset, xi: Array, g: Correction | None = None) -> Real:
        """P at slacks that are feasible."""
        loss = (self.cost * (xi * xi / 2 if self.squared else xi)).sum()
        bias = b * b / 2 if self.bias == "penalised" else 0
        return (
            self.x.square(w) / 2 + bias + loss + (0 if g is None else self.lam / 2 * self._size(g))
        )

    def _losses(self, alpha: Array, xi: Array) -> Array:
        """Loss and its conjugate less their product."""
        if self.squared:
            return (self.cost * xi - alpha) ** 2 / (2 * self.cost)
        return (self.cost - alpha) * xi

    def _drift(self, point: Correction, gamma: Array) -> tuple[Real, Real]:
        """The correcting part of P - D, and what rounding may hide of it."""
        assert self.z is not None
        z, eps, (best, r) = self.z, self.eps, self.best(gamma)
        t = 1 / self.lam
        away = point.less(best)
        length = self._size(away)
        pulled = gamma + self.cost * (abs(best.xi) if self.squared else 1)
        # what the sums in r, or in (v, h)* of the hinge, may miss
        off = z.pull_slip(pulled) + 4 * eps * np.sqrt((self.delta * pulled**2).sum())
        off += (self.n + 4) * eps * pulled.sum()
        error = np.sqrt(length) * off + off**2 * t / 2 + self.lam / 2 * z.square_slip(away.v)
        if not self.squared:
            return self.lam / 2 * length, error + (self.n + 4) * eps * np.abs(
                point.rho
            ) * pulled.sum()
        apart = point.xi - best.xi
        slip = z.slip(point.v) + z.slip(best.v) + 4 * eps * (abs(point.xi) + abs(best.xi))
        error += (self.cost * (abs(apart) * slip + slip * slip / 2)).sum()
        error += np.sqrt(self._size(r)) * off * t
        missed = away.less(r, t)
        whole = self.lam / 2 * self._size(missed)
        error += self.lam / 2 * z.square_slip(missed.v)
        return (self.cost * apart * apart).sum() / 2 + whole, error
