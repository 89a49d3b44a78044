"""Minimises h(x) + alpha/2 (||x||^2 + rho s^2) - <b,x> over a polytope, in longdoubles or in Decimals.

A primal-dual interior point method on the rows that the set declares as `halfspaces`: no formula of any
set or generator beyond these enters, which makes it the twin of all of them. What it returns is a
proposal, and is certified by whoever asked.
"""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from refsolve._types import Array, Float
from refsolve.errors import InvalidParameterError
from refsolve.exact.decimals import decimal_of
from refsolve.formulas import objects
from refsolve.proofs.domain import Domain

STEPS = 240


class Smooth(Protocol):
    """h by its derivatives, entry by entry."""

    def slope(self, x: Array) -> Array:
        """First derivatives."""

    def curvature(self, x: Array) -> Array:
        """Second derivatives."""


def minimise(h: Smooth, domain: Domain, b: Array, alpha: Float | Decimal, rho: int) -> Array:
    """A point near the minimiser, in the numbers of ``b``."""
    if not hasattr(domain.module, "halfspaces"):
        raise InvalidParameterError(
            "set", domain.object_name, "a set that declares halfspaces(d, ...)",
            "declare its rows (g, h, equality), or a generator with formulas of its own",
        )  # fmt: skip
    if b.dtype != object:
        with np.errstate(all="ignore"):
            return _search(h, domain, b, alpha, rho, np.longdouble(2) ** -52)
    precision = decimal.getcontext().prec
    # the quotients of multipliers and slacks need as many digits again
    context = decimal.getcontext().copy()
    context.prec = 2 * precision + 10
    with decimal.localcontext(context):
        found = _search(h, domain, b, alpha, rho, decimal.Decimal((0, (1,), 5 - precision)))
    return objects(+v for v in found.tolist())


def _numbers(values: list[Fraction], like: Array) -> Array:
    if like.dtype != object:
        return np.array([np.longdouble(v.numerator) / v.denominator for v in values], like.dtype)
    return objects(map(decimal_of, values))


def _search(
    h: Smooth, domain: Domain, b: Array, alpha: Float | Decimal, rho: int, least: Float | Decimal
) -> Array:
    d = b.size
    rows = domain.module.halfspaces(d, **domain.params)
    one, zero = _numbers([Fraction(1)], b)[0], _numbers([Fraction(0)], b)[0]
    G = np.array([_numbers(g, b) for g, _, equal in rows if not equal])
    A = np.array([_numbers(g, b) for g, _, equal in rows if equal]).reshape(-1, d)
    right = [[v for _, v, equal in rows if equal is kind] for kind in (False, True)]
    top, fixed = (_numbers([Fraction(v) for v in part], b) for part in right)
    x = _start(domain, d, b)
    y = fixed * zero
    size = one + max(abs(b).max(), abs(h.slope(x)).max()) + alpha * abs(x).max() * d
    slack = top - G @ x  # as it is, where x is inside: there it stays, and h smooth
    slack = np.where(slack > zero, slack, one / 8)
    multipliers = slack * zero + size / 8
    identity = np.array([[one if i == j else zero for j in range(d)] for i in range(d)])
    for _ in range(STEPS):
        gradient = h.slope(x) + alpha * x + (alpha * x.sum() if rho else zero) - b
        dual = gradient + G.T @ multipliers + A.T @ y
        primal, equal = G @ x + slack - top, A @ x - fixed
        mean = (slack * multipliers).sum() / slack.size
        off = max(abs(dual).max() / size, abs(primal).max(), abs(equal).max(initial=zero))
        if mean <= least * size and off <= least * 8:
            return x
        centred = max(mean * min(one / 8, (mean / size) ** (one / 2)), least * size / 8)
        weights = multipliers / slack
        H = identity * h.curvature(x) + alpha * (identity + rho) + G.T @ (weights[:, None] * G)
        rest = (multipliers * primal + centred) / slack - multipliers
        system = np.block(
            [[H, A.T, -(dual + G.T @ rest)[:, None]],
             [A, np.full((len(fixed), len(fixed)), zero, b.dtype), -equal[:, None]]]
        )  # fmt: skip
        try:
            found = eliminate(system)
        except ArithmeticError:
            break
        dx, dy = found[:d], found[d:]
        ds = -primal - G @ dx
        dm = centred / slack - multipliers - weights * ds
        step = min(one, *(_reach(v, dv, one) for v, dv in ((slack, ds), (multipliers, dm))))
        step = _inside(h, x, dx, step)
        x, y = x + step * dx, y + step * dy
        slack, multipliers = slack + step * ds, multipliers + step * dm
    return x  # the certificate will tell


def _start(domain: Domain, d: int, like: Array) -> Array:
    """A feasible point, off zero, at which h is smooth."""
    one = Fraction(1) if like.dtype == object else np.longdouble(1)
    middle = domain.repair(np.full(d, one))
    return _numbers([Fraction(*v.as_integer_ratio()) for v in middle], like)


def _reach(v: Array, dv: Array, one: Any) -> Any:
    """Longest step that keeps v positive, less a little."""
    ratios = [-a / c for a, c in zip(v.tolist(), dv.tolist(), strict=True) if c < 0]
    share = one - one / 256
    return min([one, *(share * r for r in ratios)])


def _inside(h: Smooth, x: Array, dx: Array, step: Float | Decimal) -> Any:
    """The step, shortened until h is smooth at its end."""
    for _ in range(200):
        try:
            at = x + step * dx
            ends = [*h.slope(at).tolist(), *h.curvature(at).tolist()]
            if all(_finite(v) for v in ends):
                return step
        except ArithmeticError:
            pass
        step = step / 2
    raise ArithmeticError("h is not smooth anywhere on the way")


def _finite(v: Float | Decimal) -> bool:
    return bool(v.is_finite() if isinstance(v, decimal.Decimal) else np.isfinite(v))


def eliminate(system: Array) -> Array:
    """Elimination with pivots of an augmented square system; ArithmeticError if it is singular."""
    M = system.copy()
    size = len(M)
    for k in range(size):
        pivot = k + int(np.argmax(abs(M[k:, k])))
        if not abs(M[pivot, k]) > 0:
            raise ArithmeticError("dependent rows")
        M[[k, pivot]] = M[[pivot, k]]
        M[k] = M[k] / M[k, k]
        for i in range(size):
            if i != k and M[i, k] != 0:
                M[i] = M[i] - M[i, k] * M[k]
    return M[:, -1]
