"""Multiple precision with the standard library: sums, exp and log to 60 digits and more.

`decimal` rounds exp and ln correctly and has exponents beyond 10^17, so that 1 - s = 1e-4000 is a
number like any other. Every function works in the precision of the context that is active; `digits`
opens one that leaves 60 digits after the largest number in sight.
"""

import decimal
import functools
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

#: Digits behind the point that every result has to spare.
DIGITS = 60
#: Digits of the first approximation of a root.
ROUGH = 20
ZERO, ONE = Decimal(0), Decimal(1)
Number = TypeVar("Number", float, Decimal)
#: Width of the first step from an approximation in floats, relative.
NEAR = Decimal("1e-14")
#: A solution counts if it solves a problem this near, relative to the numbers in it.
CERTAIN = Decimal("1e-40")


def digits(*sizes: Any, base: int = DIGITS) -> AbstractContextManager[decimal.Context]:
    """A context in which numbers of these sizes keep ``base`` digits behind the point."""
    largest = max((abs(s) for s in sizes), default=0)
    before = max(0, math.ceil(math.log10(largest))) if largest > 1 else 0
    return decimal.localcontext(
        decimal.Context(
            prec=base + before,
            rounding=decimal.ROUND_HALF_EVEN,
            Emin=decimal.MIN_EMIN,
            Emax=decimal.MAX_EMAX,
            traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
        )
    )


def decimal_of(value: Fraction | Decimal | float | int) -> Decimal:
    """A number in the precision of the context."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return +Decimal(value)


def rational(value: Decimal) -> Fraction:
    """The number as a Fraction; 0 for what is far below every float (its digits would be legion)."""
    return Fraction(value) if abs(value) > Decimal("1e-1000") else Fraction(0)


def total(values: Iterable[Decimal]) -> Decimal:
    """Sum, a Decimal even if there is nothing to add."""
    return sum(values, ZERO)


def dot(v: Iterable[Decimal], w: Iterable[Decimal]) -> Decimal:
    """Inner product."""
    return sum((a * b for a, b in zip(v, w, strict=True)), ZERO)


def log1p(x: Decimal) -> Decimal:
    """log(1 + x) to full relative accuracy for x > -1."""
    if abs(x) > Decimal("1e-5"):
        return (ONE + x).ln()
    term, found, power = x, ZERO, 1
    while term and abs(term) > abs(found) * ulp():
        found += term / power
        term *= -x
        power += 1
    return found


def softplus(z: Decimal) -> Decimal:
    """log(1 + e^z), without overflow and to full relative accuracy."""
    return z + log1p((-z).exp()) if z > 0 else log1p(z.exp())


def exp(value: Number) -> Number:
    """e^x."""
    return math.exp(value) if isinstance(value, float) else value.exp()


def logistic(z: Number) -> tuple[Number, Number]:
    """1/(1 + e^-z) and 1/(1 + e^z), each to full relative accuracy."""
    power = exp(-abs(z))
    large, small = 1 / (1 + power), power / (1 + power)
    return (large, small) if z > 0 else (small, large)


def entropy(x: Decimal) -> Decimal:
    """X log x, 0 at 0."""
    return x * x.ln() if x else ZERO


def divergence(x: Decimal, p: Decimal) -> Decimal:
    """X log(x/p) - x + p >= 0, for x >= 0 and p > 0."""
    if x == p:
        return ZERO
    return x * (x / p).ln() - x + p if x else p


def lambert_w_exp(t: Decimal) -> Decimal:
    """W(e^t), the root w of w + log w = t, by fourth-order steps (Fritsch, Shafer, Crowley 1973); kept."""
    return _lambert_w_exp(t, decimal.getcontext().prec)


@functools.lru_cache(maxsize=2**12)
def _lambert_w_exp(t: Decimal, precision: int) -> Decimal:
    if -600 < t < Decimal("1e150"):
        u = Decimal(math.log(_lambert(float(t))))
    else:
        u = t.ln() if t > 0 else t
    while True:  # u is log w: exp costs a seventh of a logarithm
        w = u.exp()
        r = t - w - u
        one = ONE + w
        a = 2 * one * (one + 2 * r / 3)
        step = r / one * (a - r) / (a - 2 * r)
        if abs(step) ** 4 <= ulp():  # of this order is the next error
            return w + w * step
        u += r / one


def _lambert(t: float) -> float:
    """W(e^t) in floats, to start from; t > -600."""
    w = t - math.log(t) if t > 1 else math.exp(t) / (1 + math.exp(t))
    for _ in range(3):
        r = t - w - math.log(w)
        q = 2 * (1 + w) * (1 + w + 2 * r / 3)
        w *= 1 + r / (1 + w) * (q - r) / (q - 2 * r)
    return w


def entropic(w: Number, alpha: Number) -> Number:
    """The root x of alpha x + log x = w."""
    if isinstance(w, float) or isinstance(alpha, float):
        return _lambert(w + math.log(alpha)) / alpha if alpha else math.exp(w)
    return lambert_w_exp(w + log(alpha)) / alpha if alpha else w.exp()


def entropic_step(x: Decimal, alpha: Decimal, step: Decimal) -> Decimal:
    """The root for w + step, from that for w, to first order."""
    return x + step * x / (1 + alpha * x)


def log(value: Number) -> Number:
    """Log x, kept: conditions, gradients and gaps at one point ask for the same ones."""
    if isinstance(value, float):
        return math.log(value)
    return _log(value, decimal.getcontext().prec)


@functools.lru_cache(maxsize=2**15)
def _log(value: Decimal, precision: int) -> Decimal:
    return value.ln()


def ulp() -> Decimal:
    """Unit roundoff of the context."""
    return Decimal((0, (1,), 1 - decimal.getcontext().prec))


#: A function and its slope, in the numbers that the first argument makes.
Equation = Callable[[Callable[[Any], Any]], Callable[[Any], tuple[Any, Any]]]


def root(equation: Equation, start: Decimal, increasing: bool = False) -> tuple[Decimal, Decimal]:
    """Zero of a strictly monotone function that comes with its slope, by guarded Newton steps.

    First in floats, or in a few digits where those overflow, then in the digits of the context: a point
    that is near, and the last step from it, whose square is below all digits or zero. The bracket is found by
    doubling; its middle is taken where Newton leaves it or does not halve the last step.
    """
    precision, last = decimal.getcontext().prec, None
    try:
        rough = Decimal(sum(_search(equation(float), float(start), 1.0, increasing)))
        with digits(base=precision - ROUGH):
            value, slope = equation(decimal_of)(rough)
            last = -value / slope
        if abs(last) <= max(ONE, abs(rough)) * NEAR:
            rough += last
        else:
            last = None
    except (ArithmeticError, ValueError):
        with digits(base=min(ROUGH, precision)):
            rough = sum(_search(equation(decimal_of), start, ONE, increasing), ZERO)
    width = max(ONE, abs(rough)) * NEAR
    return _search(equation(decimal_of), rough, width, increasing, last)


def _search(
    f: Callable[[Number], tuple[Number, Number]],
    start: Number,
    width: Number,
    increasing: bool,
    last: Number | None = None,
) -> tuple[Number, Number]:
    """The root as a point and a step; ``last``: the step that led to the start."""
    unit: Any = math.ulp(1.0) if isinstance(start, float) else ulp()
    low: Any = None
    high: Any = None
    x: Any = start
    before: Any = None
    for _ in range(500):
        value, slope = f(x)
        if value == 0:
            return x, x * 0
        if (value > 0) is increasing:
            high = x
        else:
            low = x
        step = -value / slope if slope else None
        # a step below the last digits; what is left is the rounding of f
        if step is not None and abs(step) <= 8 * unit * max(1, abs(x)):
            return x, step
        # Newton's next step is about step^2 times step/last^2, the curvature that these two show
        if step and last and abs(step) ** 3 <= last**2 * unit * max(1, abs(x)):
            return x, step
        at = x
        if low is None or high is None:  # a Newton step, or a doubled one if it is too short
            reach = -width if low is None else width
            if step is not None and (step > 0) is (reach > 0) and abs(step) < 64 * width:
                x += step
                width *= 2
            else:
                x, width = x + reach, 2 * width
        elif (
            step is None
            or not low < x + step < high
            or (before is not None and 2 * abs(step) > abs(before))
        ):
            before = high - low
            x = low + (high - low) / 2
        else:
            before = step
            x += step
        last = step if step is not None and x == at + step else None  # taken, not bisected
        if low is not None and high is not None and high - low <= unit * max(1, abs(low)):
            return x, x * 0
    raise ArithmeticError("no root was found")
