"""The entropy of (x, 1 - s), s = <1,x>, on a top-k simplex of radius 1: softmax and top-k entropies.

h(x) = <x, log x> + (1-s) log(1-s). Minimisers of alpha/2 ||x||^2 + sigma/2 s^2 - <b,x> + h(x) are one
root of one monotone function; prox (sigma = 0) and SDCA update (sigma = alpha) are two cases, alpha =
sigma = 0 is the loss. With the signs of the function on both sides of the root, 1 - s is enclosed
however small it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve._types import Float, Floats
from refsolve.errors import InvalidParameterError
from refsolve.exact.decimals import (
    CERTAIN,
    ONE,
    ZERO,
    decimal_of,
    entropic,
    entropic_step,
    log,
    log1p,
    root,
    total,
)
from refsolve.generators import Array, Decimals, Point
from refsolve.generators import logarithms as lg
from refsolve.generators.entropic import Entropic
from refsolve.generators.roots import bracket, log_root, sum_root
from refsolve.proofs.curved import Curved, Found, Solution
from refsolve.proofs.domain import Domain


def _caps(domain: Domain) -> tuple[int, bool]:
    """k, and whether the caps are shares s/k of the sum, not 1/k of the radius."""
    caps = getattr(domain.module, "caps", None)
    if caps is None:
        raise InvalidParameterError(
            "dual_set", domain.object_name, "a set that declares caps, like topk_simplex_alpha",
            "derive the generator from refsolve.generators.separable.Separable for this set",
        )  # fmt: skip
    return int(domain.params.get("k", 1)), caps == "sum"


@dataclass(frozen=True)
class Entropy(Entropic):
    """<x, log x> + (1-s) log(1-s)."""

    complement = "sum"

    def rest(self, x: Array) -> Array:
        """1 - s."""
        return np.asarray(np.maximum(1 - x.sum(axis=-1), 0))[..., None]

    def maximum(self, domain: Domain, z: Array, target: Floats = 0) -> Point:
        """In closed form."""
        k, shared = _caps(domain)
        return _maximum_shared(z, k) if shared else _maximum_boxed(z, k)

    def propose(
        self, domain: Domain, b: Array, beta: Float, coupled: bool, target: Floats = 0
    ) -> tuple[Array, Any]:
        """The one root."""
        return self._root(domain, b, beta, coupled).point()

    def rest_bounds(self, domain: Domain, b: Array, beta: Float, coupled: bool) -> tuple[Any, Any]:
        """Bounds on log(1 - s) at the minimiser."""
        return self._root(domain, b, beta, coupled).complement()

    def _root(self, domain: Domain, b: Array, beta: Float, coupled: bool) -> TopK:
        k, shared = _caps(domain)
        sigma = beta if coupled else np.longdouble(0)
        return TopK(b, np.longdouble(beta), sigma, k, not shared)

    # ---- in decimals

    def complements(self, x: Decimals) -> list[Decimal]:
        """1 - s."""
        return [max(ONE - total(x), ZERO)]

    def exact_rest(self, x: Sequence[Fraction]) -> list[Fraction]:
        """1 - s."""
        return [max(1 - sum(x, Fraction(0)), Fraction(0))]

    def slopes(self, p: Decimals, rest: Decimals) -> list[Decimal]:
        """Log x_i - log(1-s)."""
        own = log(rest[0])
        return [log(pi) - own for pi in p]

    def moves(self, core: Curved, found: Solution, by: Decimal) -> list[Decimal]:
        """As for every entropy; a cap is a mean of the entries below it."""
        moves = super().moves(core, found, by)
        k, shared = _caps(core.domain)
        capped = [mi > CERTAIN for mi in found.mu]
        if shared and any(capped):
            free = [v for v, full in zip(moves, capped, strict=True) if not full]
            mean = total(free) / (k - sum(capped))
            moves = [mean if full else v for v, full in zip(moves, capped, strict=True)]
        return moves

    def solve(self, core: Curved, b: list[Decimal], alpha: Decimal) -> Found:
        """x_i = min{X(b_i - theta), cap} and 1 - s, whose sum must be 1; theta by a search."""
        order = sorted(b, reverse=True)
        k, shared = _caps(core.domain)

        def log_sum(number: Any) -> Any:
            scale, bias = number(alpha), number(alpha) * core.rho
            point = _point(number, order, scale, bias, k, shared)

            def at(theta: Any) -> tuple[Any, Any]:
                cap, u, slope, y, x = point(theta)
                free = y + sum(x[u:])
                moved = -1  # derivative of the argument of 1 - s
                change = -sum(xi / (1 + scale * xi) for xi in x[u:])
                if shared:
                    free += u * cap
                    change += u * slope
                    moved += (u + u * slope * (scale + 1 / cap)) / k
                elif u < k:  # what the caps leave, however little, is compared with what it is for
                    free *= number(k) / (k - u)
                    change *= number(k) / (k - u)
                else:
                    return number(1), number(0)
                weight = 1 if shared else number(k) / (k - u)
                change += weight * moved * y / (1 + bias * y)
                return log(free), change / free

            return at

        theta, step = root(log_sum, max(order[0], ZERO))
        point = _point(decimal_of, order, alpha, alpha * core.rho, k, shared)
        cap, _, _, y, sorted_x = point(theta, step)
        theta += step
        found = dict(zip(order, sorted_x, strict=True))
        x = [min(found[bi], cap) for bi in b]
        reach = theta + alpha * cap + cap.ln()
        mu = [max(bi - reach, ZERO) for bi in b]
        return x, [y], theta, mu

    def conditions(self, core: Curved, found: Found) -> Decimal:
        """Alpha x_i + log x_i + mu_i = b_i - theta, mu_i >= 0 and mu_i = 0 below the cap, with
        theta = alpha rho s - log(1-s), less (1/k) sum mu where the caps are shares of s.
        """
        x, (y,), theta, mu = found
        alpha, b = decimal_of(core.alpha), [decimal_of(v) for v in core.b]
        k, shared = _caps(core.domain)
        s, sum_mu = total(x), total(mu)
        share = sum_mu / k if shared else ZERO
        cap = s / k if shared else ONE / k
        errors = [abs(s + y - 1), abs(alpha * core.rho * s - log(y) - share - theta)]
        full = [mi > CERTAIN for mi in mu]
        for xi, bi, mi, at_cap in zip(x, b, mu, full, strict=True):
            errors.append(abs(alpha * xi + log(xi) + mi + theta - bi))
            errors.append(abs(xi / cap - 1) if at_cap else max(xi / cap - 1, ZERO))
        # the caps leave (k - u) cap to the others, which may be far less than the rounding of s
        free = total(xi for xi, at_cap in zip(x, full, strict=True) if not at_cap)
        left = (k - sum(full)) * cap
        if any(full):
            free += ZERO if shared else y
            errors.append(abs(free / left - 1) if left > 0 else Decimal("Infinity"))
        return max(errors)

    def loss(self, core: Curved, found: Solution) -> Decimal:
        """Theta + (1/k) sum mu with theta = -log(1-s), less that sum where the caps are shares."""
        k, shared = _caps(core.domain)
        s = total(found.x)
        if s < Decimal("0.5"):
            share = ZERO if shared else total(found.mu) / k
            return -log1p(-s) + share
        return found.theta + total(found.mu) / k


def _point(
    number: Any, scores: list[Decimal], alpha: Any, bias: Any, k: int, shared: bool
) -> Callable[..., tuple[Any, int, Any, Any, list[Any]]]:
    """For sorted scores: theta -> cap c, the number u of entries at it, its slope, 1 - s, and X.

    After a step from there X is taken to first order.
    """
    order = [number(bi) for bi in scores]
    distinct, one = dict.fromkeys(order), number(1)

    def point(theta: Any, step: Any = None) -> tuple[Any, int, Any, Any, list[Any]]:
        roots = {bi: entropic(bi - theta, alpha) for bi in distinct}
        if step is not None:
            roots = {bi: entropic_step(x, alpha, -step) for bi, x in roots.items()}
            theta += step
        x = [roots[bi] for bi in order]
        cap, slope = one / k, one * 0
        if shared:
            tails = list(itertools.accumulate(reversed(x)))[::-1]  # summed from the small end
            u = next(u for u in range(k) if u == k - 1 or x[u] * (k - u) <= tails[u])
            cap = tails[u] / (k - u)
            slope = -sum(xi / (1 + alpha * xi) for xi in x[u:]) / (k - u)
        else:
            u = sum(xi > cap for xi in x)
        reach = theta + alpha * cap + log(cap)
        p = sum((bi - reach for bi in order[:u]), one * 0)
        y = entropic(bias - theta - (p / k if shared else 0), bias)
        return cap, u, slope, y, x

    return point


def _maximum_shared(z: Array, k: int) -> Point:
    """x_i <= s/k: v = log sum e^(z - mu) + <1,mu>/k for the logit of s, loss log(1 + e^v)."""
    level = lg.cap_level(z, k, -np.inf)
    mu = np.maximum(z - level, 0)
    shift = mu.sum(axis=-1, keepdims=True) / k
    cut = np.minimum(z, level)
    v = lg.logsumexp(cut) + shift
    loss = lg.softplus(v)
    logs = cut + shift - loss
    x = lg.exp(logs)
    # the caps from the other entries, so that they equal s/k to the last digit
    capped = mu > 0
    left = np.maximum(k - capped.sum(axis=-1, keepdims=True), 1)
    cap = np.where(capped, 0, x).sum(axis=-1, keepdims=True) / left
    return Point(np.where(capped, cap, x), logs, lg.exp(-loss), -loss, mu, loss[..., 0])


def _maximum_boxed(z: Array, k: int) -> Point:
    """x_i <= 1/k: loss log(1 + sum e^(z - mu)) + <1,mu>/k, and log(1 - s) = -t, its first part."""
    level = lg.cap_level(z, k, 0.0)
    mu = np.maximum(z - level, 0)
    cut = np.minimum(z, level)
    t = lg.softplus(lg.logsumexp(cut))
    logs = cut - t
    x = np.where(mu > 0, 1 / z.dtype.type(k), lg.exp(logs))
    return Point(x, logs, lg.exp(-t), -t, mu, t[..., 0] + mu.sum(axis=-1) / k)


class TopK:
    """The entropy of (x, 1 - s) on a top-k simplex, r = 1; b is one vector.

    alpha variant: log c = level of the caps, mu_i = (b_i - t - alpha c - log c)_+, and
    sigma y + log y = sigma - t - <1,mu>/k; beta: c = 1/k and sigma y + log y = sigma - t. In both
    x_i = min(X(b_i - t), c) and y = 1 - s fixes t.
    """

    def __init__(self, b: Array, alpha: Float, sigma: Float, k: int, beta: bool) -> None:
        self.real: Any = b.dtype.type
        self.b: Array = b
        self.alpha, self.sigma = self.real(alpha), self.real(sigma)
        self.k, self.beta = k, beta
        self.size = abs(b).max() + np.log(self.real(b.size + 1)) + k
        self.size += abs(np.log(self.alpha)) if alpha > 0 else 0
        start, first = b.max() - self.alpha / b.size, 1 / 16
        rough = b.astype(float)
        if b.dtype != float and 1e-200 < self.alpha < 1e200 and abs(rough).max() < 1e200:
            near = TopK(rough, float(alpha), float(sigma), k, beta)  # a tenth of the work
            start, first = self.real(near.low + (near.high - near.low) / 2), 2.0**-50
        self.low: Any
        self.high: Any
        self.low, self.high = bracket(self._excess, start, self.size, first)

    def _at(self, t: Float) -> tuple[Array, Any, Any]:
        """Log x, sigma s - log(1-s), and log y for a multiplier t."""
        free = log_root(self.b - t, self.alpha)
        k = self.real(self.k)
        level = -np.log(k) if self.beta else lg.cap_level(free, self.k, -np.inf)[0]
        tau = t
        if not self.beta:
            with np.errstate(over="ignore"):
                cap = self.alpha * np.exp(level) if self.alpha > 0 else 0
            capped = np.where(free > level, self.b - t - cap - level, 0)
            tau = tau + np.maximum(capped, 0).sum() / k
        if self._small(tau):
            log_y = np.log1p(-sum_root(tau, self.sigma))
        else:
            log_y = log_root(self.sigma - tau, self.sigma)
        return np.minimum(free, level), tau, log_y

    def _small(self, tau: Float) -> Any:
        """Whether s <= 1/2, where 1 - y would lose the digits of s."""
        return tau <= self.sigma / 2 + np.log(self.real(2))

    def _excess(self, t: Float) -> Any:
        """A number with the sign of <1,x> + y - 1, which decreases in t."""
        logs, tau, log_y = self._at(t)
        if self._small(tau):
            if tau <= 0:
                return self.real(np.inf)
            return lg.logsumexp(logs)[0] - np.log(sum_root(tau, self.sigma))
        if not self.beta:
            return np.logaddexp(lg.logsumexp(logs)[0], log_y)
        # u caps of 1/k: what is left for the rest is (k - u)/k, without the cancellation of 1 - u/k
        capped = logs >= -np.log(self.real(self.k))
        left = self.k - int(capped.sum())
        if left <= 0:
            return self.real(np.inf)
        rest = np.logaddexp(lg.logsumexp(logs[~capped])[0], log_y)
        return rest - np.log(left / self.real(self.k))

    def point(self) -> tuple[Array, Any]:
        """The minimiser x and 1 - s, scaled to sum to 1."""
        logs, tau, log_y = self._at(self.low + (self.high - self.low) / 2)
        x, y = lg.exp(logs), lg.exp(log_y)
        capped = logs >= logs.max()
        left = self.k - int(capped.sum())
        share = np.where(capped, 0, x).sum() / left if left > 0 else np.longdouble(0)
        if not self.beta and abs(share - x.max()) <= 1e-12 * share:  # s/k to the last digit
            x = np.where(capped, share, x)
        if self._small(tau):
            return x, 1 - x.sum()
        if self.beta:
            return x, y
        total = x.sum() + y
        return x / total, y / total

    def complement(self) -> tuple[Any, Any]:
        """Bounds on log(1 - s), the bracket being widened by the rounding of the function."""
        noise = 32 * np.finfo(np.longdouble).eps * (self.size + abs(self.low))
        low, high = self._at(self.high + noise)[2], self._at(self.low - noise)[2]
        # sigma - tau loses digits of sigma only while s > 1/2, when tau is as large
        return low - noise, high + noise
