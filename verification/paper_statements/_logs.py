"""Exact numbers q + sum of c log r (all rational): what expected losses of softmax type are.

For scores log w with rational w, a log-loss is such a number. With q = 0 its sign is that of a
product of rational powers minus 1, decided in integers. With q and logarithms both present it is
never 0 (e^q is transcendental), and decimals decide, with a margin or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from math import lcm

from verification.paper_statements._rational import Numbers

DIGITS = 60
#: Values this small are not told from 0 by decimals of that many digits.
MARGIN = Decimal(10) ** -40


def decimal(value: Fraction) -> Decimal:
    """The number, rounded to the digits of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


@dataclass(frozen=True)
class Log:
    """rational + sum of coefficient * log(base) over the bases."""

    rational: Fraction = Fraction(0)
    logs: dict[Fraction, Fraction] = field(default_factory=dict)

    def __add__(self, other: Log | Fraction | int) -> Log:
        if not isinstance(other, Log):
            return Log(self.rational + other, self.logs)
        logs = dict(self.logs)
        for base, c in other.logs.items():
            logs[base] = logs.get(base, Fraction(0)) + c
        return Log(self.rational + other.rational, {b: c for b, c in logs.items() if c})

    __radd__ = __add__

    def __mul__(self, t: Fraction | int) -> Log:
        return Log(t * self.rational, {b: t * c for b, c in self.logs.items() if t})

    __rmul__ = __mul__

    def __neg__(self) -> Log:
        return self * -1

    def __sub__(self, other: Log | Fraction | int) -> Log:
        return self + (-other)

    def __rsub__(self, other: Fraction | int) -> Log:
        return -self + other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Log, Fraction, int)) and (self - other).sign() == 0

    def __lt__(self, other: Log | Fraction | int) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: Log | Fraction | int) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: Log | Fraction | int) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: Log | Fraction | int) -> bool:
        return (self - other).sign() >= 0

    def __hash__(self) -> int:
        raise TypeError("equal numbers can be written in several ways")

    def __repr__(self) -> str:
        terms = [f"{c} log({b})" for b, c in self.logs.items()]
        return " + ".join([str(self.rational)] * bool(self.rational or not terms) + terms)

    def _product(self) -> Fraction:
        """exp(N times the logarithms), N the common denominator of their coefficients."""
        common = lcm(*(c.denominator for c in self.logs.values()))
        powers = (base ** int(c * common) for base, c in self.logs.items())
        result = Fraction(1)
        for power in powers:
            result *= power
        return result

    def sign(self) -> int:
        """-1, 0 or 1, exactly."""
        if self.rational == 0:
            product = self._product()
            return (product > 1) - (product < 1)
        value = self.decimal()
        if abs(value) > MARGIN:
            return 1 if value > 0 else -1
        if self._product() == 1:  # the logarithms cancel
            return 1 if self.rational > 0 else -1
        raise ArithmeticError(f"the sign of {self} is not decided by {DIGITS} digits")

    def decimal(self) -> Decimal:
        """The value to about 60 digits."""
        with localcontext() as context:
            context.prec = DIGITS
            terms = (decimal(c) * decimal(base).ln() for base, c in self.logs.items())
            return sum(terms, decimal(self.rational))


def log(r: Fraction | int) -> Log:
    """Log of a positive rational number."""
    return Log(Fraction(0), {Fraction(r): Fraction(1)})


def entropy_term(x: Fraction) -> Log:
    """X log x, 0 at 0."""
    return x * log(x) if x else Log()


def binary(x: Numbers) -> Log:
    """<x,log x> + (1-s) log(1-s), the conjugate of the softmax loss."""
    total = Log()
    for v in [*x, 1 - sum(x, Fraction(0))]:
        total = total + entropy_term(v)
    return total
