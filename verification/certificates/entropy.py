"""The entropic twin of the projection: its solution to 60 digits, believed only with certificates.

Gradients, proxes and dual updates of the entropy losses all ask for the minimiser x of

    F(x) = h(x) + alpha/2 (||x||^2 + rho <1,x>^2) - <b,x>  over the dual set with r = 1,

    h(x) = <x, log x> + (1-s) log(1-s)          "entropy", s = <1,x>, caps s/k (alpha) or 1/k (beta)
    h(x) = sum x_i log x_i + (1-x_i) log(1-x_i)  "binary_entropy" on the box
    h(p) = <p, log p>                            "simplex_entropy", on the probability simplex

(there alpha/2 ||p - t||^2 with a target t). `backward_error` says for which perturbation of b a
point solves the conditions of optimality exactly: log x_i and log(1-s) move by at most twice a
perturbation of b, because the multiplier theta moves by at most once (it grows with every b_i, and
by no more than a common shift of all). `gap` bounds F(x) - min F at any x from formulas alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from verification.certificates.decimals import (
    ONE,
    ZERO,
    decimal_of,
    digits,
    divergence,
    dot,
    entropic,
    log1p,
    root,
    sigmoid,
    softplus,
    total,
)

#: A solution counts if it solves a problem this near, relative to the numbers in it.
CERTAIN = Decimal("1e-40")


class UncertainError(Exception):
    """No solution that certifies itself is at hand: the verdict is oracle uncertain."""


@dataclass(frozen=True)
class EntropyCore:
    """One such problem, all numbers exact.

    Attributes
    ----------
    generator : "entropy", "binary_entropy" or "simplex_entropy".
    stem : dual set; params: its parameters, with r = 1.
    b, target : points (the target of the simplex only).
    alpha : curvature; rho : weight of <1,x>^2 in units of alpha, 0 or 1.
    spread : size of the floats from which b is computed.
    """

    generator: str
    stem: str
    params: tuple[tuple[str, Any], ...]
    b: tuple[Fraction, ...]
    alpha: Fraction
    rho: int
    spread: float
    target: tuple[Fraction, ...] = ()

    @property
    def k(self) -> int:
        """Number of guesses, 1 if the set has none."""
        return int(dict(self.params).get("k", 1))

    @property
    def shared(self) -> bool:
        """Whether the caps are shares s/k of the sum (alpha), not of the radius (beta)."""
        return self.stem == "topk_simplex_alpha"


@dataclass(frozen=True)
class Solution:
    """A minimiser with its multipliers.

    Attributes
    ----------
    x : entries of x (of p on the simplex).
    complement : (1 - s,), or 1 - x_i for every entry of a box; empty on the simplex.
    theta : multiplier of the sum; mu: multipliers of the caps.
    error : backward error relative to the numbers in the problem.
    size : size of these numbers, for rounding-error bounds.
    """

    x: tuple[Decimal, ...]
    complement: tuple[Decimal, ...]
    theta: Decimal
    mu: tuple[Decimal, ...]
    error: Decimal
    size: float


def precision(core: EntropyCore) -> Any:
    """Context for a problem's numbers."""
    return digits(*core.b, core.alpha)


def solve(core: EntropyCore) -> Solution:
    """Minimiser to about 60 digits; UncertainError if it does not certify itself."""
    with precision(core):
        b = [decimal_of(v) for v in core.b]
        alpha = decimal_of(core.alpha)
        try:
            if core.generator == "binary_entropy":
                found = _box(b, alpha)
            elif core.generator == "simplex_entropy":
                found = _simplex(b, alpha, [decimal_of(v) for v in core.target])
            else:
                found = _others(core, b, alpha)
        except ArithmeticError as failure:
            raise UncertainError(f"no solution in decimal arithmetic: {failure}") from failure
        x, complement, theta, mu = found
        size = ONE + decimal_of(core.spread) + abs(theta) + alpha * max(x)
        error = backward_error(core, x, complement, theta, mu) / size
        own = gap(core, x, complement, x, complement) / size
        if error > CERTAIN or own > CERTAIN:
            raise UncertainError(
                f"the solution in decimal arithmetic has backward error {error:.2e} and gap {own:.2e}"
            )
        return Solution(tuple(x), tuple(complement), theta, tuple(mu), error, float(size))


Found = tuple[list[Decimal], list[Decimal], Decimal, list[Decimal]]


def _box(b: list[Decimal], alpha: Decimal) -> Found:
    """Every entry by itself: its logit l solves alpha sigmoid(l) + l = b_i."""
    logits = []
    for bi in b:

        def excess(at: Decimal, bi: Decimal = bi) -> tuple[Decimal, Decimal]:
            x = sigmoid(at)
            return at + alpha * x - bi, ONE + alpha * x * sigmoid(-at)

        logits.append(bi if alpha == 0 else root(excess, bi, increasing=True))
    x = [sigmoid(at) for at in logits]
    return x, [sigmoid(-at) for at in logits], ZERO, [ZERO] * len(b)


def _simplex(b: list[Decimal], alpha: Decimal, target: list[Decimal]) -> Found:
    """p_i = X(b_i + alpha t_i - theta) with sum 1, X the root of alpha X + log X."""
    points = [bi + alpha * ti for bi, ti in zip(b, target, strict=True)]

    def log_sum(theta: Decimal) -> tuple[Decimal, Decimal]:
        x = [entropic(point - theta, alpha) for point in points]
        slope = -total(xi / (ONE + alpha * xi) for xi in x)
        return total(x).ln(), slope / total(x)

    theta = root(log_sum, max(points))
    return [entropic(point - theta, alpha) for point in points], [], theta, [ZERO] * len(b)


def _others(core: EntropyCore, b: list[Decimal], alpha: Decimal) -> Found:
    """x_i = min{X(b_i - theta), cap} and 1 - s, whose sum must be 1; theta by a search."""
    order = sorted(b, reverse=True)
    k, bias = core.k, alpha * core.rho

    def point(theta: Decimal) -> tuple[Decimal, int, Decimal, Decimal, Decimal, list[Decimal]]:
        """Cap c, the number u of entries at it, its slope, sum p of their mu, 1 - s, and X."""
        x = [entropic(bi - theta, alpha) for bi in order]
        if core.shared:
            tails = list(itertools.accumulate(reversed(x)))[::-1]  # summed from the small end
            u = next(u for u in range(k) if u == k - 1 or x[u] * (k - u) <= tails[u])
            cap = tails[u] / (k - u)
            slope = -total(xi / (ONE + alpha * xi) for xi in x[u:]) / (k - u)
        else:
            cap, slope = ONE / k, ZERO
            u = sum(xi > cap for xi in x)
        above = [bi - theta - alpha * cap - cap.ln() for bi in order[:u]]
        p = total(above)
        y = entropic(bias - theta - (p / k if core.shared else 0), bias)
        return cap, u, slope, p, y, x

    def log_sum(theta: Decimal) -> tuple[Decimal, Decimal]:
        cap, u, slope, _, y, x = point(theta)
        free = y + total(x[u:])
        moved = -ONE  # derivative of the argument of 1 - s
        change = -total(xi / (ONE + alpha * xi) for xi in x[u:])
        if core.shared:
            free += u * cap
            change += u * slope
            moved += (u + u * slope * (alpha + ONE / cap)) / k
        elif u < k:  # what the caps leave, however little, is compared with what it is for
            free *= Decimal(k) / (k - u)
            change *= Decimal(k) / (k - u)
        else:
            return ONE, ZERO
        weight = ONE if core.shared else Decimal(k) / (k - u)
        change += weight * moved * y / (ONE + bias * y)
        return free.ln(), change / free

    theta = root(log_sum, max(order[0], ZERO))
    cap, _, _, _, y, _ = point(theta)
    x = [min(entropic(bi - theta, alpha), cap) for bi in b]
    reach = theta + alpha * cap + cap.ln()
    mu = [max(bi - reach, ZERO) for bi in b]
    return x, [y], theta, mu


def backward_error(
    core: EntropyCore,
    x: Sequence[Decimal],
    complement: Sequence[Decimal],
    theta: Decimal,
    mu: Sequence[Decimal],
) -> Decimal:
    """Largest violation of the conditions of optimality, as a change of b or relative one of x.

    alpha x_i + log x_i + mu_i = b_i - theta, mu_i >= 0 and mu_i = 0 below the cap, with
    theta = alpha rho s - log(1-s), less (1/k) sum mu where the caps are shares of s.
    """
    alpha, b = decimal_of(core.alpha), [decimal_of(v) for v in core.b]
    if min([*x, *complement]) <= 0 or min(mu) < 0:
        return Decimal("Infinity")
    s = total(x)
    if core.generator == "binary_entropy":
        return max(
            max(abs(xi + yi - 1), abs(alpha * xi + xi.ln() - yi.ln() - bi))
            for xi, yi, bi in zip(x, complement, b, strict=True)
        )
    if core.generator == "simplex_entropy":
        shifted = [bi + alpha * decimal_of(t) for bi, t in zip(b, core.target, strict=True)]
        off = (abs(alpha * xi + xi.ln() + theta - bi) for xi, bi in zip(x, shifted, strict=True))
        return max(abs(s - 1), *off)
    (y,) = complement
    k, sum_mu = core.k, total(mu)
    share = sum_mu / k if core.shared else ZERO
    cap = s / k if core.shared else ONE / k
    errors = [abs(s + y - 1), abs(alpha * core.rho * s - y.ln() - share - theta)]
    full = [mi > CERTAIN for mi in mu]
    for xi, bi, mi, at_cap in zip(x, b, mu, full, strict=True):
        errors.append(abs(alpha * xi + xi.ln() + mi + theta - bi))
        errors.append(abs(xi / cap - 1) if at_cap else max(xi / cap - 1, ZERO))
    # the caps leave (k - u) cap to the others, which may be far less than the rounding of s
    free = total(xi for xi, at_cap in zip(x, full, strict=True) if not at_cap)
    left = (k - sum(full)) * cap
    if any(full):
        free += ZERO if core.shared else y
        errors.append(abs(free / left - 1) if left > 0 else Decimal("Infinity"))
    return max(errors)


def _gradient(core: EntropyCore, p: Sequence[Decimal], rest: Sequence[Decimal]) -> list[Decimal]:
    """Gradient of F at p > 0 with 1 - s given apart; up to the constant of the simplex."""
    alpha = decimal_of(core.alpha)
    if core.generator == "binary_entropy":
        logs = [pi.ln() - yi.ln() for pi, yi in zip(p, rest, strict=True)]
        return [
            at + alpha * pi - decimal_of(bi) for at, pi, bi in zip(logs, p, core.b, strict=True)
        ]
    if core.generator == "simplex_entropy":
        return [
            pi.ln() + 1 + alpha * (pi - decimal_of(ti)) - decimal_of(bi)
            for pi, ti, bi in zip(p, core.target, core.b, strict=True)
        ]
    common = alpha * core.rho * total(p) - rest[0].ln()
    return [
        pi.ln() + common + alpha * pi - decimal_of(bi) for pi, bi in zip(p, core.b, strict=True)
    ]


def slope(core: EntropyCore, p: Sequence[Decimal], rest: Sequence[Decimal]) -> Decimal:
    """Largest entry of the gradient at p: what a step out of the face of the solution costs."""
    g = _gradient(core, p, rest)
    # on the simplex a constant costs nothing
    return max(g) - min(g) if core.generator == "simplex_entropy" else max(abs(v) for v in g)


def bregman(
    core: EntropyCore,
    x: Sequence[Decimal],
    complement: Sequence[Decimal],
    p: Sequence[Decimal],
    rest: Sequence[Decimal],
) -> Decimal:
    """F(x) - F(p) - <grad F(p), x - p>, a sum of nonnegative terms."""
    alpha = decimal_of(core.alpha)
    found = total(divergence(xi, pi) for xi, pi in zip([*x, *complement], [*p, *rest], strict=True))
    step = [xi - pi for xi, pi in zip(x, p, strict=True)]
    return found + alpha / 2 * (dot(step, step) + core.rho * total(step) ** 2)


def gap(
    core: EntropyCore,
    x: Sequence[Decimal],
    complement: Sequence[Decimal],
    p: Sequence[Decimal],
    rest: Sequence[Decimal],
) -> Decimal:
    """Bound on F(x) - min F for a feasible x, from any p > 0 (and 1 - s there, ``rest`` > 0).

    bregman(x, p) + <g,x> + support(-g) with g = grad F(p), both parts nonnegative.
    """
    g = _gradient(core, p, rest)
    return bregman(core, x, complement, p, rest) + dot(g, x) + support(core, [-v for v in g])


def support(core: EntropyCore, w: Sequence[Decimal]) -> Decimal:
    """Support function of the dual set, as the set declares it."""
    array = np.empty(len(w), dtype=object)
    array[:] = list(w)
    return Decimal(catalogue.load(core.stem).support(array, **dict(core.params)))


def value(core: EntropyCore, found: Solution) -> Decimal:
    """The loss at b, i.e. -min F with alpha = 0, without cancellation.

    theta + (1/k) sum mu with theta = -log(1-s) (less that sum, where the caps are shares).
    """
    with precision(core):
        if core.generator == "binary_entropy":
            return total(softplus(decimal_of(v)) for v in core.b)
        if core.generator == "simplex_entropy":
            b, t = ([decimal_of(v) for v in w] for w in (core.b, core.target))
            if ONE in t:  # one class: log(1 + sum of the others), however small
                i = t.index(ONE)
                return log1p(total((v - b[i]).exp() for j, v in enumerate(b) if j != i))
            top = max(b)
            return total((v - top).exp() for v in b).ln() + top - dot(t, b)
        s = total(found.x)
        if s < Decimal("0.5"):
            share = ZERO if core.shared else total(found.mu) / core.k
            return -log1p(-s) + share
        return found.theta + total(found.mu) / core.k


def floats(values: Sequence[Decimal]) -> np.ndarray:
    """Nearest floats."""
    return np.array([float(v) for v in values])
