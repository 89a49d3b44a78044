"""The entropic problem in sixty digits: slow, plain, and proved by its optimality conditions.

Minimise alpha/2 ||x||^2 + sigma/2 s^2 - <b,x> + <x,log x> + (1-s) log(1-s) over a top-k simplex.
alpha = sigma = 0 is the loss, sigma = 0 its prox, sigma = alpha the SDCA update.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext

DIGITS = 60
ONE, ZERO = Decimal(1), Decimal(0)


def log_root(z, alpha):
    """Log X with alpha X + log X = z, by Newton from the right."""
    if alpha == 0:
        return z
    value = min(z, (2 * (1 + abs(z) + abs(alpha.ln())) / alpha).ln())  # both lie above the root
    for _ in range(500):
        x = value.exp()
        step = (alpha * x + value - z) / (alpha * x + 1)
        value -= step
        if abs(step) <= (1 + abs(value)) * Decimal(10) ** (8 - DIGITS):
            return value
    raise AssertionError("Newton did not settle")


@dataclass(frozen=True)
class Solution:
    """The minimiser x, y = 1 - s, and the multipliers mu of the caps."""

    x: list
    y: Decimal
    mu: list

    @property
    def s(self):
        return sum(self.x)


def _at(t, b, alpha, sigma, k, beta):
    free = [log_root(v - t, alpha).exp() for v in b]
    if beta:
        cap = ONE / k
    else:  # try every number of capped entries; the smallest valid one
        ordered = sorted(free, reverse=True)
        for u in range(k):
            cap = sum(ordered[u:]) / (k - u)
            if ordered[u] <= cap:
                break
    mu = [
        max(v - t - alpha * cap - cap.ln(), ZERO) if f > cap else ZERO
        for v, f in zip(b, free, strict=True)
    ]
    x = [min(f, cap) for f in free]
    shift = ZERO if beta else sum(mu) / k
    y = log_root(sigma - t - shift, sigma).exp()
    return Solution(x, y, mu)


def solve(b, alpha, sigma, k, *, beta):
    """The minimiser, by bisection and secants on the multiplier t, checked against the conditions."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = DIGITS, 10**9, -(10**9)
        b, alpha, sigma = (
            [Decimal(float(v)) for v in b],
            Decimal(float(alpha)),
            Decimal(float(sigma)),
        )

        def excess(t):
            found = _at(t, b, alpha, sigma, k, beta)
            free = [x for x in found.x if not beta or x < ONE / k]
            left = k - (len(found.x) - len(free))  # the caps fill their part of 1 exactly
            return ONE if left <= 0 else ((sum(free) + found.y) * k / left).ln()

        low = high = max(b)
        step = ONE
        while excess(low) <= 0:
            low, step = low - step, step * 4
        step = ONE
        while excess(high) > 0:
            high, step = high + step, step * 4
        at_low, at_high, side = excess(low), excess(high), 0
        for turn in range(1000):
            middle = (low + high) / 2
            if high - low <= Decimal(10) ** (8 - DIGITS) * max(ONE, abs(low)):
                break
            if turn % 3 and at_low != at_high:
                secant = low + (high - low) * at_low / (at_low - at_high)
                middle = secant if low < secant < high else middle
            value = excess(middle)
            if value > 0:
                low, at_low = middle, value
                at_high, side = (at_high / 2, 1) if side == 1 else (at_high, 1)
            else:
                high, at_high = middle, value
                at_low, side = (at_low / 2, -1) if side == -1 else (at_low, -1)
        found = _at((low + high) / 2, b, alpha, sigma, k, beta)
        _check(found, b, alpha, sigma, k, beta)
        return found


def _check(found, b, alpha, sigma, k, beta):
    """Feasibility, signs, complementarity and stationarity to forty digits."""
    tiny = Decimal(10) ** -40
    cap = ONE / k if beta else found.s / k
    size = 1 + max(abs(v) for v in b) + alpha
    assert abs(found.s + found.y - 1) <= tiny * size
    shift = ZERO if beta else sum(found.mu) / k
    for v, x, mu in zip(b, found.x, found.mu, strict=True):
        assert 0 <= x <= cap * (1 + tiny * size)
        assert mu >= 0
        assert mu == 0 or abs(x - cap) <= tiny * size
        gradient = alpha * x - v + x.ln() + sigma * found.s - found.y.ln()
        assert abs(gradient + mu - shift) <= tiny * size


def value(z, found):
    """<z,x> - <x,log x> - y log y: the loss, if ``found`` solves alpha = sigma = 0."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = DIGITS, 10**9, -(10**9)
        entropy = sum(x * x.ln() for x in found.x) + found.y * found.y.ln()
        return sum(Decimal(float(v)) * x for v, x in zip(z, found.x, strict=True)) - entropy


def log(y):
    """Log y in sixty digits."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = DIGITS, 10**9, -(10**9)
        return y.ln()
