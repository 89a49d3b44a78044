"""Rational numbers that count what is done with them: complexity as operations, not as time."""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any


class Counted:
    """A fraction whose sums, products, quotients and comparisons are counted in a shared tally."""

    __slots__ = ("tally", "value")

    def __init__(self, value: Any, tally: list[int]) -> None:
        self.value, self.tally = Fraction(value), tally


def _counting(operation: Callable, swapped: bool, compares: bool) -> Callable:
    def counted(self: Counted, other: Any) -> Any:
        self.tally[0] += 1
        pair = self.value, other.value if isinstance(other, Counted) else other
        found = operation(*(pair[::-1] if swapped else pair))
        return found if compares else Counted(found, self.tally)

    return counted


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Counted, f"__{_name}__", _counting(getattr(operator, _name), False, False))
    setattr(Counted, f"__r{_name}__", _counting(getattr(operator, _name), True, False))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Counted, f"__{_name}__", _counting(getattr(operator, _name), False, True))


def counted(run: Callable[..., Any], a: list[Fraction], *rest: Any) -> tuple[Any, int]:
    """What ``run(a, *rest)`` returns, as fractions, and how many operations on numbers it took."""
    tally = [0]
    found = run([Counted(v, tally) for v in a], *rest)
    return [v.value if isinstance(v, Counted) else Fraction(v) for v in found or []], tally[0]
