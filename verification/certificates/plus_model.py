"""Certified duality gap of an SVM+, from its model (w, b, v, rho) and its multipliers (alpha, beta).

With u = sum alpha_i y_i x_i, gamma = alpha + beta, c_i = C weight_i, f = Xw + b and slacks
xi_i = <v,z_i> + rho + eta_i (own slacks eta_i = sqrt(delta) h_i cost lam/2 h_i^2),

    P - D = sum alpha_i (y_i f_i - 1 + xi_i) + sum beta_i xi_i + 1/2||w - u||^2 + correction,
    squared hinge:  1/2 ||g - g*||_M^2 for g = (v, rho, h), M = lam I + sum c_i zt_i zt_i',
    hinge:          lam/2 ||(v,h) - (v,h)*||^2, for sum (gamma_i - c_i) = 0,
    no Z:           sum (c_i xi_i - alpha_i)^2/(2 c_i), or sum (c_i - alpha_i) xi_i with alpha <= c,

all nonnegative. g* = M^-1 sum gamma_i zt_i is never trusted: an approximation g0 that misses its
equation by r is off by at most <g - g0, r> and ||r||^2/(2 lam). Before that the point is made
feasible: rho is raised by what a constraint lacks and by what rounding may hide (own slacks are
raised one by one), and the multipliers are clipped, balanced and given the sum they need. Nothing
of the trainer is used. Rows of weight zero do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from verification.certificates.model import EPS, EXTENDED, ModelCertificate
from verification.certificates.plus_space import EXACT, Space, cholesky_solver
from verification.errors import InvalidArgumentError

Array = np.ndarray[Any, Any]
LOSSES = ("hinge", "squared_hinge")
#: Relative error that a deformed kernel in float64 may have.
Q_ERROR = 1e-12


@dataclass(frozen=True)
class PlusCertificate(ModelCertificate):
    """A `ModelCertificate`; ``moved`` is by how much the model and the multipliers were repaired.

    Attributes
    ----------
    doubt : float
        How far the same sums in float64 may be from ``primal`` and ``dual``.
    """

    doubt: float = 0.0


class Point(NamedTuple):
    """v (rows) or its coefficients (Gram matrix), rho, own h, and the slacks xi of all of them."""

    v: Array
    rho: Any
    h: Array
    xi: Array


class Problem:
    """The data of one binary SVM+, in extended precision where that is affordable.

    Parameters
    ----------
    y : (n,) array of -1 and 1
    loss : {"hinge", "squared_hinge"}
    C, lam : float
        Weights of the loss (a sum, without 1/n) and of the correcting function.
    X, Z : (n, d), (n, s) arrays or sparse matrices, or Gram matrices ``K``, ``Kz`` (n, n)
        Neither Z nor Kz: the ordinary SVM.
    sample_weight : (n,) array, optional
    nonneg_slack : bool, optional
        By default that of the loss: for the hinge only.
    free_slack : float
        delta.
    blur : float
        Relative error of the entries of Gram matrices that were computed anew.
    """

    def __init__(
        self,
        y: Any,
        *,
        loss: str,
        C: float,
        lam: float = 1.0,
        X: Any = None,
        K: Any = None,
        Z: Any = None,
        Kz: Any = None,
        sample_weight: Any = None,
        nonneg_slack: bool | None = None,
        free_slack: float = 0.0,
        blur: float = 0.0,
    ) -> None:
        labels = np.asarray(y, dtype=float)
        if loss not in LOSSES:
            raise InvalidArgumentError(f"loss={loss!r}: expected one of {', '.join(LOSSES)}")
        for name, value in (("C", C), ("lam", lam)):
            if not (np.isfinite(value) and value > 0):
                raise InvalidArgumentError(f"{name}={value!r}: expected a positive number")
        if not (np.isfinite(free_slack) and free_slack >= 0):
            raise InvalidArgumentError(f"free_slack={free_slack!r}: expected a number >= 0")
        if labels.ndim != 1 or not np.isin(labels, (-1, 1)).all():
            raise InvalidArgumentError("y: expected a vector of labels -1 and 1")
        self.n = len(labels)
        weight = np.ones(self.n) if sample_weight is None else np.asarray(sample_weight, float)
        if weight.shape != (self.n,) or not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise InvalidArgumentError(f"sample_weight: expected {self.n} finite numbers >= 0")
        self.kept = np.flatnonzero(weight > 0)
        self.y = labels[self.kept]
        self.up = self.y > 0
        if not 0 < self.up.sum() < len(self.y):
            raise InvalidArgumentError("y: both classes need an example of positive weight")
        sizes = [a.shape[0] * a.shape[1] for a in (X, K, Z, Kz) if a is not None]
        self.real: Any = np.longdouble if sum(sizes) <= EXTENDED / 10 else np.float64
        self.eps = float(np.finfo(self.real).eps)
        self.y = self.y.astype(self.real)
        self.x = Space.of("X", X, "K", K, self.n, self.kept, self.real, blur)
        self.plain = Z is None and Kz is None
        self.z = None
        if not self.plain:
            self.z = Space.of("Z", Z, "Kz", Kz, self.n, self.kept, self.real, blur)
        self.squared = loss == "squared_hinge"
        self.lam: Any = self.real(lam)
        self.cost: Array = np.multiply(weight[self.kept], self.real(C), dtype=self.real)
        self.delta = self.real(0 if self.plain else free_slack)
        self.nonneg = (not self.squared) if nonneg_slack is None else bool(nonneg_slack)

    def part(self, name: str, values: Any) -> Array:
        """The kept entries of a vector (n,); zeros for None."""
        given = np.zeros(self.n) if values is None else np.asarray(values)
        if given.shape != (self.n,) or not np.isfinite(given).all():
            raise InvalidArgumentError(
                f"{name} of shape {given.shape}: expected {self.n} finite numbers"
            )
        return given[self.kept].astype(self.real)

    # ---- multipliers

    def repaired(self, alpha: Array, beta: Array, balance: bool = True) -> tuple[Array, Array]:
        """Multipliers in the dual's domain; ``balance``: <alpha,y> = 0, as a free b asks for."""
        alpha = np.maximum(alpha, 0)
        beta = np.maximum(beta, 0) if self.nonneg and not self.plain else 0 * beta
        if self.plain and not self.squared:
            alpha = np.minimum(alpha, self.cost)
        alpha = self._balanced(alpha) if balance else alpha
        if self.squared or self.plain:
            return alpha, beta
        total, mass = self.cost.sum(), alpha.sum()
        if self.nonneg and mass <= total:
            rest = beta if beta.any() else self.cost
            return alpha, rest * ((total - mass) / rest.sum())
        if not mass > 0:
            alpha = self._balanced(np.ones_like(alpha)) if balance else np.ones_like(alpha)
        return alpha * (total / alpha.sum()), 0 * beta

    def _balanced(self, alpha: Array) -> Array:
        """The heavier class scaled down to the sum of the other."""
        alpha = alpha.copy()
        sums = [alpha[side].sum() for side in (self.up, ~self.up)]
        for side, total in zip((self.up, ~self.up), sums, strict=True):
            if total > 0:
                alpha[side] *= min(sums) / total
        return alpha

    # ---- the correcting part

    def best(self, gamma: Array) -> tuple[Point, Point]:
        """(g0, r): about the g* of the multipliers, and r = sum gamma_i zt_i - M g0."""
        assert self.z is not None
        z, lam, delta = self.z, self.lam, self.delta
        root = np.sqrt(delta)
        if not self.squared:
            e = (gamma - self.cost) / lam
            v, h = z.pull(e), root * e
            return self._point(v, self.real(0), h), Point(0 * v, self.real(0), 0 * h, 0 * h)
        theta = lam / (lam + delta * self.cost)
        step = self._newton(self.cost * theta)
        v, rho = step(theta * gamma)
        for _ in range(3):
            left = theta * gamma - self.cost * theta * (z.values(v) + rho)
            dv, drho = step(left, v, rho)
            v, rho = v + dv, rho + drho
        g = z.values(v) + rho
        h = root * theta * (gamma - self.cost * g) / lam
        point = self._point(v, rho, h)
        pull = gamma - self.cost * point.xi
        r_v, r_rho = z.pull(pull) - lam * v, pull.sum() - lam * rho
        return point, Point(r_v, r_rho, root * pull - lam * h, 0 * h)

    def _point(self, v: Array, rho: Any, h: Array) -> Point:
        assert self.z is not None
        return Point(v, rho, h, self.z.values(v) + rho + np.sqrt(self.delta) * h)

    def _newton(self, cost: Array) -> Any:
        """(a, v, rho) -> about M^-1 (sum a_i zt_i - lam (v, rho)), by Cholesky."""
        assert self.z is not None
        z, lam = self.z, self.lam
        if z.gram is None:
            rows = np.column_stack([z.dense(), np.ones(len(cost), self.real)])
            short = self.real if rows.shape[1] <= EXACT else float  # its residual is checked anyway
            solve = cholesky_solver(
                (rows * cost[:, None]).astype(short).T @ rows.astype(short), lam
            )

            def by_rows(a: Array, v: Any = None, rho: Any = 0) -> tuple[Array, Any]:
                right = rows.T @ a
                right = right if v is None else right - lam * np.append(v, rho)
                x = solve(right)
                return x[:-1], x[-1]

            return by_rows
        root = np.sqrt(cost)
        solve = cholesky_solver(root[:, None] * (z.gram + 1) * root, lam)

        def by_gram(a: Array, v: Any = None, rho: Any = 0) -> tuple[Array, Any]:
            right = a if v is None else a - lam * v[z.kept]
            k = root * solve(right / root)
            return z.pull(k), k.sum() + (0 if v is None else v.sum() - rho)

        return by_gram

    # ---- certificates

    def certificate(
        self,
        w: Any,
        b: float,
        alpha: Any,
        *,
        v: Any = None,
        rho: float = 0.0,
        beta: Any = None,
    ) -> PlusCertificate:
        """Gap of a model and of multipliers, both repaired.

        Parameters
        ----------
        w : (d,) array, or coefficients (n,) with ``K``
        b : float
        alpha, beta : (n,) arrays
            Multipliers of the margins (times no labels) and of xi >= 0.
        v, rho : (s,) array, or coefficients (n,) with ``Kz``, and float
        """
        w, b = self.x.vector("w", w), self.real(b)
        given = self.part("alpha", alpha), self.part("beta", beta)
        alpha, beta = self.repaired(*given)
        moved = max(float(abs(alpha - given[0]).max()), 0.0)
        f = self.x.values(w) + b
        slip_f = self.x.slip(w) + 2 * self.eps * abs(b)
        reach_f = self.x.reach(w) + abs(b)
        need = 1 - self.y * f
        if self.plain:
            point, lifted, slip_g, reach_g = None, 0.0, 0 * f, 0 * f
            xi = np.maximum(need, 0) + slip_f
        else:
            v, rho = self.z_vector(v), self.real(rho)
            assert self.z is not None
            slip_g = self.z.slip(v) + 2 * self.eps * abs(rho)
            reach_g = self.z.reach(v) + abs(rho)
            point, lifted = self._feasible(v, rho, need, slip_f + slip_g)
            xi = point.xi
        slip = slip_f + slip_g + 4 * self.eps * (1 + abs(f) + abs(xi))
        gamma = alpha + beta
        u = self.x.pull(alpha * self.y)
        away = self.x.square(w - u)
        off_u = self.x.square_slip(w - u) + 2 * self.x.pull_slip(alpha) * np.sqrt(away)
        off_u += self.x.pull_slip(alpha) ** 2
        margins, slacks = (alpha * np.maximum(0, xi - need)).sum(), (beta * np.maximum(0, xi)).sum()
        residual = margins + slacks + away / 2
        error = (gamma * slip).sum() + off_u / 2
        error += (self.n + 4) * self.eps * abs(b) * alpha.sum()  # <alpha, y> is 0 up to rounding
        drift, slip_drift = self._drift(point, alpha, gamma, xi)
        residual += drift
        error += slip_drift
        loss = (self.cost * (xi * xi / 2 if self.squared else xi)).sum()
        primal = self.x.square(w) / 2 + loss
        if point is not None:
            assert self.z is not None
            primal += self.lam / 2 * (self.z.square(point.v) + (point.h**2).sum())
            primal += self.lam / 2 * point.rho**2 if self.squared else 0
            error += self.lam / 2 * self.z.square_slip(point.v)
        marginal = self.cost * (abs(xi) if self.squared else 1)
        error += (marginal * slip).sum() + self.x.square_slip(w) / 2
        size = abs(primal) + (marginal * abs(xi)).sum() + residual  # P < 0 without xi >= 0
        error += 4 * (self.n + 4) * self.eps * size
        width = self.n + self.x.width + (0 if self.z is None else self.z.width) + 8
        mass = ((gamma + marginal) * (1 + reach_f + reach_g + abs(xi))).sum()
        doubt = 4 * EPS * width * mass + 2 * error
        if self.z is not None and self.z.gram is None:
            few = self.n <= self.x.width + self.z.width + 1  # where trainers use kernels
            if few or self.x.gram is not None:
                # v = sum_i (gamma_i - c_i xi_i) z_i/lam is a sum of large terms there
                terms = abs(gamma - self.cost * (xi if self.squared else 1)) * self.z.norms
                reach = self.z.norms.max() * terms.sum() / self.lam
                doubt += 4 * EPS * (gamma + marginal).sum() * reach
        gap, upper = float(residual + error), float(primal + error)
        upper, gap = upper + EPS * abs(upper), gap + 2 * EPS * gap  # rounded to floats
        if self.z is not None and self.squared:  # Q, whose entries are at most that, to 1e-12
            largest = np.minimum((self.z.norms**2 + 1 + self.delta) / self.lam, 1 / self.cost).max()
            doubt += Q_ERROR / 2 * largest * gamma.sum() ** 2
        terms = {
            "sum alpha_i (y_i f_i - 1 + xi_i)": float(margins),
            "sum beta_i xi_i": float(slacks),
            "1/2 ||w - sum alpha_i y_i x_i||^2": float(away / 2),
            "correcting part" if point is not None else "loss": float(drift),
            "rounding": float(error),
        }
        moved = max(moved, float(lifted))
        return PlusCertificate(upper, upper - gap, gap, float(error), moved, terms, float(doubt))

    def z_vector(self, v: Any) -> Array:
        """Checked v (s,), or coefficients (n,)."""
        assert self.z is not None
        if v is None:
            raise InvalidArgumentError("v=None: the correcting function is needed; pass v and rho")
        return self.z.vector("v", v)

    def _feasible(self, v: Array, rho: Any, need: Array, slip: Array) -> tuple[Point, Any]:
        """A point with xi >= need (and 0, if kept), more by ``slip``, and by how much rho was raised."""
        assert self.z is not None
        least = np.maximum(need, 0) if self.nonneg else need
        g = self.z.values(v) + rho
        if self.delta == 0:
            lacking = (least - g).max()
            lift = max(self.real(0), lacking + slip.max()) if lacking > -slip.max() else 0
            return Point(v, rho + lift, 0 * g, g + lift), lift
        stiff = self.lam / self.delta
        xi = stiff * g / (self.cost + stiff) if self.squared else g - self.cost / stiff
        xi = np.maximum(xi, least + slip)
        return Point(v, rho, (xi - g) / np.sqrt(self.delta), xi), 0

    def _drift(self, point: Point | None, alpha: Array, gamma: Array, xi: Array) -> tuple[Any, Any]:
        """The correcting part of P - D, and what rounding may hide of it."""
        if point is None:
            if self.squared:
                terms = (self.cost * xi - alpha) ** 2 / (2 * self.cost)
            else:
                terms = (self.cost - alpha) * xi
            return terms.sum(), 8 * self.eps * (terms + alpha * xi).sum()
        assert self.z is not None
        z, best, r = self.z, *self.best(gamma)
        dv, dh, drho = point.v - best.v, point.h - best.h, point.rho - best.rho
        length = z.square(dv) + (dh * dh).sum() + (drho**2 if self.squared else 0)
        drift = self.lam / 2 * length
        pulled = gamma + self.cost * (abs(best.xi) if self.squared else 1)
        # what the sums in r, or in (v, h)* of the hinge, may miss
        off = z.pull_slip(pulled) + 4 * self.eps * np.sqrt(self.delta) * np.sqrt((pulled**2).sum())
        off += (self.n + 4) * self.eps * pulled.sum()
        error = np.sqrt(length) * off + off**2 / (2 * self.lam)
        error += self.lam / 2 * z.square_slip(dv)
        if not self.squared:
            return drift, error + (self.n + 4) * self.eps * abs(point.rho) * pulled.sum()
        apart = xi - best.xi
        slip = z.slip(point.v) + z.slip(best.v) + 4 * self.eps * (abs(xi) + abs(best.xi))
        error += (self.cost * (abs(apart) * slip + slip * slip / 2)).sum()
        missed = z.square(r.v) + r.rho**2 + (r.h**2).sum()
        error += np.sqrt(missed) * off / self.lam
        along = z.inner(dv, r.v) + drho * r.rho + (dh * r.h).sum()
        drift += (self.cost * apart * apart).sum() / 2
        return max(self.real(0), drift - along + missed / (2 * self.lam)), error

    def of_multipliers(self, alpha: Any) -> PlusCertificate:
        """Certificate of multipliers alone, at the best multiples of them and of their model.

        Squared hinge without xi >= 0: relative gap 1 - (S m/q)^2, S = sum alpha, q = <alpha, H alpha>
        for H = K yy' + Q, and m the mean of the least H alpha of the positives and the negatives. A
        gap of infinity if m <= 0: multipliers that prove nothing.
        """
        if not self.squared or self.nonneg or self.plain:
            raise InvalidArgumentError(
                "of_multipliers: expected the squared hinge with Z or Kz, without nonneg_slack"
            )
        a, _ = self.repaired(self.part("alpha", alpha), self.part("beta", None))
        u, (g, _) = self.x.pull(a * self.y), self.best(a)
        f = self.y * self.x.values(u)
        margins = f + g.xi
        plus, minus = margins[self.up].min(), margins[~self.up].min()
        m, b, q, total = (plus + minus) / 2, (minus - plus) / 2, (a * margins).sum(), a.sum()
        if not (m > 0 and q > 0):
            return PlusCertificate(np.inf, 0.0, np.inf, 0.0, 0.0)
        full = np.zeros(self.n)
        full[self.kept] = a * (total / q)
        return self.certificate(u / m, b / m, full, v=g.v / m, rho=g.rho / m)
