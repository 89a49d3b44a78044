"""Multipliers of SVM and SVM+: the dual's domain, its value, and the correcting function they stand for.

The formulas are those of `refsolve.proofs.svm_plus`. With gamma = alpha + beta the correcting part sees
<gamma, Q gamma>; for any g, with r = sum gamma_i zt_i - Mg, that is at most 2 sum gamma_i xi_i(g) - <g,Mg>
+ ||r||^2/lam: no inverse has to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.space import EXACT, Space, balanced, cholesky_solver

Offset = Real | float


class Correction(NamedTuple):
    """A correcting function: v, rho, the own h, and the slacks xi of all of them."""

    v: Array
    rho: Offset
    h: Array
    xi: Array

    def less(self, other: Correction, t: Offset = 1.0) -> Correction:
        """Self less t times the other."""
        rho, xi = self.rho - t * other.rho, self.xi - t * other.xi
        return Correction(self.v - t * other.v, rho, self.h - t * other.h, xi)


class Multipliers:
    """The data of one SVM or SVM+ and what is known of its multipliers; arrays are of the examples.

    Parameters
    ----------
    x : Space
    y : (n,) array of -1 and 1
    cost : (n,) array
        c_i > 0.
    z : Space, optional
        Privileged data; without them it is the ordinary SVM.
    lam : float
        Weight of the correcting function.
    delta : float or (n,) array
        How cheap own slacks are; 0 for none.
    squared, nonneg, signed : bool
        The loss; whether xi >= 0 is kept; whether s = y.
    bias : {"free", "penalised", "none"}
    """

    def __init__(
        self,
        x: Space,
        y: Array,
        cost: Array,
        z: Space | None = None,
        *,
        lam: float = 1.0,
        delta: float | Array = 0.0,
        squared: bool = False,
        nonneg: bool = False,
        signed: bool = False,
        bias: str = "free",
    ) -> None:
        self.x, self.z, self.plain = x, z, z is None
        self.n, self.kept = x.total, x.kept
        self.real, self.eps = x.real, x.eps
        self.y: Array = y.astype(self.real)
        self.up = self.y > 0
        self.cost: Array = cost.astype(self.real)
        self.lam: Any = self.real(lam)
        self.delta: Array = np.zeros_like(self.y) + (0 if self.plain else delta)
        self.soft = bool(self.delta.any())
        self.squared, self.signed, self.bias = squared, signed, bias
        self.nonneg = nonneg and not self.plain
        self.s: Array = self.y if signed else np.ones_like(self.y)

    # ---- multipliers

    def repaired(
        self, alpha: Array, beta: Array, balance: bool | None = None
    ) -> tuple[Array, Array]:
        """Multipliers in the dual's domain; ``balance``: <alpha,y> = 0, as a free b asks for."""
        balance = self.bias == "free" if balance is None else balance
        alpha = np.maximum(alpha, 0)
        beta = np.maximum(beta, 0) if self.nonneg else 0 * beta
        if self.plain and not self.squared:
            alpha = np.minimum(alpha, self.cost)
        alpha = balanced(alpha, self.up) if balance else alpha
        if self.squared or self.plain:
            return alpha, beta
        if self.signed:
            return alpha, self._shared(alpha, beta)
        total, mass = self.cost.sum(), alpha.sum()
        if self.nonneg and mass <= total:
            rest = beta if beta.any() else self.cost
            return alpha, rest * ((total - mass) / rest.sum())
        if not mass > 0:
            alpha = balanced(np.ones_like(alpha), self.up) if balance else np.ones_like(alpha)
        return alpha * (total / alpha.sum()), 0 * beta

    def _shared(self, alpha: Array, beta: Array) -> Array:
        """The beta of signed correcting functions: sum y_i (alpha_i + beta_i - c_i) = 0."""
        mass = [beta[side].sum() for side in (self.up, ~self.up)]
        ahead = mass[0] - mass[1] - (self.y * (self.cost - alpha)).sum()
        heavy = 0 if ahead > 0 else 1
        beta = beta.copy()
        if mass[heavy] >= abs(ahead):
            side, target, own = (self.up, ~self.up)[heavy], mass[heavy] - abs(ahead), mass[heavy]
        else:
            side, own = (~self.up, self.up)[heavy], mass[1 - heavy]
            target = own + abs(ahead)
        rest = beta[side] if own > 0 else self.cost[side]
        beta[side] = rest * (target / rest.sum())
        return beta

    def violation(self, alpha: Array, beta: Array) -> float:
        """Largest violation of the dual's constraints."""
        found = [-alpha.min(), -beta.min(), 0.0]
        if self.bias == "free":
            found.append(abs((alpha * self.y).sum()))
        if self.plain and not self.squared:
            found.append((alpha - self.cost).max())
        if not (self.plain or self.squared):
            found.append(abs((self.s * (alpha + beta - self.cost)).sum()))
        return float(max(found))

    def lower(self, alpha: Array, beta: Array) -> Real:
        """D of repaired multipliers."""
        bias = (alpha * self.y).sum() ** 2 if self.bias == "penalised" else 0
        half = self.x.square(self.x.pull(alpha * self.y)) + bias
        if self.plain:
            half += (alpha * alpha / self.cost).sum() if self.squared else 0
            return alpha.sum() - half / 2
        gamma = alpha + beta
        g, r = self.best(gamma)
        size = self.lam * self._size(g)
        if self.squared:
            size = ((2 * gamma - self.cost * g.xi) * g.xi).sum() - size + self._size(r) / self.lam
        return alpha.sum() - (half + size) / 2

    # ---- the correcting part

    def _size(self, g: Correction) -> Real:
        """||g||^2, with rho for the squared hinge only."""
        assert self.z is not None
        rho = g.rho**2 if self.squared else 0
        return self.z.square(g.v) + rho + (g.h * g.h).sum()

    def at(self, v: Array, rho: Offset, h: Array | float = 0.0) -> Correction:
        """A correcting function with its slacks."""
        assert self.z is not None
        own = np.zeros_like(self.y) + h
        return Correction(
            v, rho, own, self.s * (self.z.values(v) + rho) + np.sqrt(self.delta) * own
        )

    def best(self, gamma: Array) -> tuple[Correction, Correction]:
        """(g0, r): about the g* of the multipliers, and r = sum gamma_i zt_i - M g0."""
        assert self.z is not None
        z, lam, delta, s = self.z, self.lam, self.delta, self.s
        root = np.sqrt(delta)
        if not self.squared:
            e = (gamma - self.cost) / lam
            g = self.at(z.pull(s * e), self.real(0), root * e)
            return g, Correction(0 * g.v, self.real(0), 0 * g.h, 0 * g.h)
        theta, step = lam / (lam + delta * self.cost), self._step
        v, rho = step(s * theta * gamma, None, 0)
        for _ in range(3):
            left = theta * (gamma - self.cost * s * (z.values(v) + rho))
            dv, drho = step(s * left, v, rho)
            v, rho = v + dv, rho + drho
        free = s * (z.values(v) + rho)
        point = self.at(v, rho, root * theta * (gamma - self.cost * free) / lam)
        pull = gamma - self.cost * point.xi
        r = z.pull(s * pull) - lam * v, (s * pull).sum() - lam * rho, root * pull - lam * point.h
        return point, Correction(*r, 0 * point.h)

    @cached_property
    def _step(self) -> Callable[[Array, Array | None, Offset], tuple[Array, Any]]:
        """(a, v, rho) -> about M^-1 (sum a_i (z_i, 1) - lam (v, rho)), by Cholesky."""
        assert self.z is not None
        z, lam = self.z, self.lam
        cost = self.cost * (lam / (lam + self.delta * self.cost))
        if z.gram is None:
            rows = np.column_stack([z.dense(), np.ones(len(cost), self.real)])
            short = self.real if rows.shape[1] <= EXACT else float  # its residual is checked anyway
            solve = cholesky_solver(
                (rows * cost[:, None]).astype(short).T @ rows.astype(short), lam
            )

            def by_rows(a: Array, v: Array | None, rho: Offset) -> tuple[Array, Any]:
                right = rows.T @ a
                x = solve(right if v is None else right - lam * np.append(v, rho))
                return x[:-1], x[-1]

            return by_rows
        root = np.sqrt(cost)
        solve = cholesky_solver(root[:, None] * (z.gram + 1) * root, lam)

        def by_gram(a: Array, v: Array | None, rho: Offset) -> tuple[Array, Any]:
            right = a if v is None else a - lam * v[z.kept]
            k = root * solve(right / root)
            return z.pull(k), k.sum() + (0 if v is None else v.sum() - rho)

        return by_gram
