"""Values of CVXPY expressions and of formulas in rational arithmetic; exp, log and roots as enclosures.

A number is an `Interval` of fractions that holds the true value, one point wherever the arithmetic is
rational. A float of the problem stands for the simplest fraction that rounds to it: 0.1 is 1/10.
"""

from __future__ import annotations

import ast
import decimal
import functools
import itertools
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.errors import InvalidParameterError

#: Digits of exp, log and roots.
DIGITS = 60
#: exp of more than that has more digits than anybody compares.
MOST_EXPONENT = 2000
#: Denominators that a float is tried with, before the shortest decimal that rounds to it.
SIMPLE = 1000


class UndefinedError(ArithmeticError):
    """There is no value at this point, or none that is worth its digits."""


def _binary(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation with a number; with an array it is numpy's, entry by entry."""

    @functools.wraps(method)
    def operation(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim:
            return NotImplemented
        return method(self, other)

    return operation


class Interval:
    """Numbers between two fractions, both included."""

    __slots__ = ("high", "low")

    def __init__(self, low: Fraction | int, high: Fraction | int | None = None) -> None:
        self.low = Fraction(low)
        self.high = self.low if high is None else Fraction(high)

    @property
    def exact(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    @_binary
    def __add__(self, other: Any) -> Interval:
        b = number(other)
        return Interval(self.low + b.low, self.high + b.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __pos__(self) -> Interval:
        return self

    @_binary
    def __sub__(self, other: Any) -> Interval:
        return self + -number(other)

    @_binary
    def __rsub__(self, other: Any) -> Interval:
        return number(other) - self

    @_binary
    def __mul__(self, other: Any) -> Interval:
        b = number(other)
        if self.exact and b.exact:
            return Interval(self.low * b.low)
        ends = [x * y for x in (self.low, self.high) for y in (b.low, b.high)]
        return Interval(min(ends), max(ends))

    __radd__, __rmul__ = __add__, __mul__

    @_binary
    def __truediv__(self, other: Any) -> Interval:
        b = number(other)
        if b.low <= 0 <= b.high:
            raise UndefinedError("a division by zero")
        return self * Interval(1 / b.high, 1 / b.low)

    @_binary
    def __rtruediv__(self, other: Any) -> Interval:
        return number(other) / self

    @_binary
    def __pow__(self, exponent: Any) -> Interval:
        p = number(exponent)
        if not p.exact or p.low.denominator > 1:
            if self.low == self.high == 0 < p.low:
                return Interval(0)
            return self.sqrt() if p.exact and p.low == Fraction(1, 2) else (p * self.log()).exp()
        n = int(p.low)
        if n < 0:
            return 1 / self**-n
        ends = sorted((self.low**n, self.high**n))
        low = 0 if n and n % 2 == 0 and self.low < 0 < self.high else ends[0]
        return Interval(low, ends[1])

    @_binary
    def __rpow__(self, base: Any) -> Interval:
        return number(base) ** self

    def __abs__(self) -> Interval:
        return largest(self, -self)

    def exp(self) -> Interval:
        """Its exponential."""
        if self.low == self.high == 0:
            return Interval(1)
        if max(abs(self.low), abs(self.high)) > MOST_EXPONENT:
            raise UndefinedError("exp of a large number")
        return self._rounded(Decimal.exp)

    def log(self) -> Interval:
        """Natural logarithm."""
        if self.low <= 0:
            raise UndefinedError("a logarithm of what is not positive")
        return Interval(0) if self.low == self.high == 1 else self._rounded(Decimal.ln)

    def sqrt(self) -> Interval:
        """Square root."""
        if self.low < 0:
            raise UndefinedError("a root of what is negative")
        roots = [Fraction(math.isqrt(v.numerator), math.isqrt(v.denominator)) for v in self.ends]
        if all(r * r == v for r, v in zip(roots, self.ends, strict=True)):
            return Interval(*roots)
        return self._rounded(Decimal.sqrt, nonnegative=True)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Its least and its largest number."""
        return self.low, self.high

    def _rounded(
        self, function: Callable[[Decimal], Decimal], nonnegative: bool = False
    ) -> Interval:
        """An increasing function, correctly rounded by `decimal`, one unit outwards."""
        found = []
        for value, rounding in zip(
            self.ends, (decimal.ROUND_FLOOR, decimal.ROUND_CEILING), strict=True
        ):
            with decimal.localcontext(decimal.Context(prec=DIGITS, rounding=rounding)):
                given = Decimal(value.numerator) / Decimal(value.denominator)
            with decimal.localcontext(decimal.Context(prec=DIGITS)) as context:
                image = function(max(given, Decimal(0)) if nonnegative else given)
                down = rounding == decimal.ROUND_FLOOR
                image = context.next_minus(image) if down else context.next_plus(image)
            found.append(Fraction(max(image, Decimal(0)) if nonnegative else image))
        return Interval(*found)

    def _before(self, other: Any, also_equal: bool) -> bool:
        b = number(other)
        if self.high < b.low or (also_equal and self.high == b.low):
            return True
        if self.low > b.high or (not also_equal and self.low == b.high):
            return False
        raise UndefinedError("two numbers that are too near to be compared")

    def __lt__(self, other: Any) -> bool:
        return self._before(other, False)

    def __le__(self, other: Any) -> bool:
        return self._before(other, True)

    def __gt__(self, other: Any) -> bool:
        return not self._before(other, True)

    def __ge__(self, other: Any) -> bool:
        return not self._before(other, False)

    def __eq__(self, other: object) -> bool:
        b = number(other)
        if self.exact and b.exact:
            return self.low == b.low
        if self.high < b.low or b.high < self.low:
            return False
        raise UndefinedError("two numbers that are too near to be compared")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self != 0

    @property
    def middle(self) -> float:
        """A float for display; there is no conversion, which numpy would take for the value."""
        return float((self.low + self.high) / 2)

    def __repr__(self) -> str:
        return str(self.low) if self.exact else f"{self.middle:.12g}"


def number(value: Any) -> Interval:
    """A number of any kind as an interval of one point; floats by the fraction that they stand for."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return number(value[()])
    if isinstance(value, Fraction | int | np.integer | np.bool_):
        return Interval(Fraction(int(value)) if not isinstance(value, Fraction) else value)
    if isinstance(value, float | np.floating) and math.isfinite(value):
        near = Fraction(float(value)).limit_denominator(SIMPLE)
        return Interval(near if float(near) == float(value) else Fraction(repr(float(value))))
    raise InvalidParameterError(
        "value", value, "a finite real number", "compare real numbers, without nan and infinity"
    )


def exact(values: Any) -> np.ndarray[Any, Any]:
    """An array of intervals."""
    dense = values.toarray() if hasattr(values, "toarray") else values
    given = np.asarray(dense)
    made = np.empty(given.shape, dtype=object)
    for at in np.ndindex(given.shape):
        made[at] = number(given[at])
    return made


def largest(*numbers: Any) -> Interval:
    """The largest of some numbers."""
    given = [number(v) for v in numbers]
    return Interval(max(v.low for v in given), max(v.high for v in given))


def _elementwise(function: Callable[..., Interval]) -> Callable[..., Any]:
    return np.frompyfunc(function, 1, 1)


def maximum(*arrays: Any) -> Any:
    """Entry by entry the largest."""
    return functools.reduce(np.frompyfunc(largest, 2, 1), arrays)


def minimum(*arrays: Any) -> Any:
    """Entry by entry the least."""
    return -maximum(*(-np.asarray(a, dtype=object) for a in arrays))


def _entries(x: Any) -> list[Interval]:
    return [number(v) for v in np.ravel(np.asarray(x, dtype=object))]


def sum_largest(x: Any, k: Any) -> Interval:
    """Sum of the k largest entries, which increases with each of them; of a fraction of the next, too."""
    share = number(k).low
    whole, entries = int(share), _entries(x)
    sums = []
    for end in (0, 1):
        order = [*sorted((v.ends[end] for v in entries), reverse=True), Fraction(0)]
        rest = (share - whole) * order[min(whole, len(entries))]
        sums.append(sum(order[:whole], Fraction(0)) + rest)
    return Interval(*sums)


def sum_squares(x: Any, y: Any = 1) -> Interval:
    """Sum of the squares, divided by y."""
    return sum((v**2 for v in _entries(x)), Interval(0)) / number(y)


def norm(x: Any, p: Any = 2) -> Interval:
    """Norm with p = 1, 2 or infinity."""
    if p == 2:
        return sum_squares(x).sqrt()
    sizes = [abs(v) for v in _entries(x)]
    return largest(*sizes) if p in ("inf", math.inf) else sum(sizes, Interval(0))


def _total(x: Any) -> Interval:
    return sum(_entries(x), Interval(0))


def _log_sum_exp(x: Any) -> Interval:
    return _total([v.exp() for v in _entries(x)]).log()


def _entropy(x: Any) -> Interval:
    v = number(x)
    return Interval(0) if v.exact and v.low == 0 else -(v * v.log())


def _relative_entropy(x: Any, y: Any) -> Interval:
    v = number(x)
    return Interval(0) if v.exact and v.low == 0 else v * (v / y).log()


_entr = _elementwise(_entropy)
_exp, _log = _elementwise(lambda v: number(v).exp()), _elementwise(lambda v: number(v).log())
_logistic = _elementwise(lambda v: (1 + number(v).exp()).log())

#: What a formula may call, with CVXPY's names.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _total, "max": lambda *x: largest(*itertools.chain(*map(_entries, x))),
    "min": lambda *x: -largest(*(-v for v in itertools.chain(*map(_entries, x)))),
    "maximum": maximum, "minimum": minimum, "abs": np.abs,
    "pos": lambda x: maximum(x, Interval(0)), "square": lambda x: x**2, "sum_squares": sum_squares,
    "quad_over_lin": sum_squares, "sum_largest": sum_largest, "norm": norm,
    "norm1": lambda x: norm(x, 1), "norm_inf": lambda x: norm(x, math.inf), "exp": _exp, "log": _log,
    "sqrt": _elementwise(lambda v: number(v).sqrt()), "entr": _entr, "logistic": _logistic,
    "log_sum_exp": _log_sum_exp, "rel_entr": np.frompyfunc(_relative_entropy, 2, 1),
    "dot": lambda x, y: _total(np.asarray(x) * np.asarray(y)),
}  # fmt: skip


# ---- formulas


def parsed(text: str, argument: str) -> ast.expr:
    """A formula as Python reads it, ``^`` for powers; only names, numbers, + - * / @ and FUNCTIONS."""
    try:
        tree = ast.parse(text.replace("^", "**").strip(), mode="eval").body
    except SyntaxError as error:
        raise InvalidParameterError(
            argument, text, "a formula such as 'sum(x^2)/2 - y*x[0]'", f"{error.msg}"
        ) from None
    for node in ast.walk(tree):
        plain = isinstance(
            node, ast.BinOp | ast.UnaryOp | ast.Name | ast.Load | ast.Subscript | ast.Slice | ast.Compare
            | ast.operator | ast.unaryop | ast.cmpop | ast.Tuple
        )  # fmt: skip
        plain |= isinstance(node, ast.Constant) and isinstance(node.value, int | float)
        plain |= isinstance(node, ast.Attribute) and node.attr == "T"
        if isinstance(node, ast.Call):
            plain = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        if not plain:
            raise InvalidParameterError(
                argument, text, f"names, numbers, + - * / ^ @ and {', '.join(FUNCTIONS)}",
                f"write {ast.unparse(node)!r} with these, or give a Python function",
            )  # fmt: skip
    return tree


def names_in(tree: ast.expr) -> set[str]:
    """Symbols of a formula."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called}


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a**b, ast.MatMult: lambda a, b: a @ b,
}  # fmt: skip


def _key(node: ast.expr) -> Any:
    """An index: numbers, slices of numbers, or several of these."""
    if isinstance(node, ast.Tuple):
        return tuple(map(_key, node.elts))
    if isinstance(node, ast.Slice):
        return slice(*(n and ast.literal_eval(n) for n in (node.lower, node.upper, node.step)))
    return ast.literal_eval(node)


def formula_value(tree: ast.expr, point: Mapping[str, Any]) -> Any:
    """A parsed formula at a point, an interval or an array of them."""
    match tree:
        case ast.Constant():
            return number(tree.value)
        case ast.Name():
            value = point[tree.id]
            return value[()] if not value.ndim else value
        case ast.UnaryOp():
            inner = formula_value(tree.operand, point)
            return -inner if isinstance(tree.op, ast.USub) else inner
        case ast.BinOp():
            a, b = (formula_value(side, point) for side in (tree.left, tree.right))
            return _OPERATORS[type(tree.op)](a, b)
        case ast.Call():
            given = [formula_value(a, point) for a in tree.args]
            return FUNCTIONS[tree.func.id](*given)  # type: ignore[attr-defined]
        case ast.Attribute():
            return np.asarray(formula_value(tree.value, point)).T
        case ast.Subscript():
            return formula_value(tree.value, point)[_key(tree.slice)]
    raise UndefinedError(f"no value: {ast.unparse(tree)}")


# ---- CVXPY


def _over(reduce: Callable[[Any], Any]) -> Callable[[Any, list[Any]], Any]:
    """An atom that may go along an axis."""

    def value(e: Any, args: list[Any]) -> Any:
        axis = getattr(e, "axis", None)
        x = np.asarray(args[0], dtype=object)
        if axis is None:
            return np.asarray(reduce(x), dtype=object).reshape(e.shape)
        rows = np.moveaxis(x, axis, -1) if not isinstance(axis, tuple) else None
        if rows is None:
            raise UndefinedError("an atom over two axes")
        found = np.empty(rows.shape[:-1], dtype=object)
        for at in np.ndindex(found.shape):
            found[at] = reduce(rows[at])
        return found.reshape(e.shape)

    return value


def _product(e: Any, args: list[Any]) -> Any:
    a, b = args
    return a * b if not a.ndim or not b.ndim else a @ b


def _form(e: Any, args: list[Any]) -> Any:
    x = args[0].ravel()
    return x @ args[1] @ x


#: By the name of CVXPY's class.
_ATOMS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "AddExpression": lambda e, a: functools.reduce(np.add, a), "NegExpression": lambda e, a: -a[0],
    "MulExpression": _product, "multiply": lambda e, a: a[0] * a[1], "DivExpression": lambda e, a: a[0] / a[1],
    "Power": lambda e, a: a[0] ** number(e.p.value), "PowerApprox": lambda e, a: a[0] ** number(e.p.value),
    "power": lambda e, a: a[0] ** number(e.p.value), "Sum": _over(_total), "max": _over(FUNCTIONS["max"]),
    "min": _over(FUNCTIONS["min"]), "maximum": lambda e, a: maximum(*a), "minimum": lambda e, a: minimum(*a),
    "abs": lambda e, a: np.abs(a[0]), "quad_over_lin": lambda e, a: _over(sum_squares)(e, a) / a[1],
    "Promote": lambda e, a: np.full(e.shape, a[0][()]),
    "QuadForm": _form, "norm1": _over(FUNCTIONS["norm1"]), "norm_inf": _over(FUNCTIONS["norm_inf"]),
    "sum_largest": lambda e, a: sum_largest(a[0], getattr(e.k, "value", e.k)),
    "exp": lambda e, a: _exp(a[0]), "log": lambda e, a: _log(a[0]), "entr": lambda e, a: _entr(a[0]),
    "logistic": lambda e, a: _logistic(a[0]), "log_sum_exp": _over(_log_sum_exp),
    "rel_entr": lambda e, a: FUNCTIONS["rel_entr"](*a),
    "kl_div": lambda e, a: FUNCTIONS["rel_entr"](*a) - a[0] + a[1],
}  # fmt: skip

#: Atoms whose entries are entries of their arguments, or 0.
_MOVERS = frozenset((
    "transpose", "reshape", "vec", "hstack", "vstack", "concatenate", "index", "special_index", "diag_vec",
    "diag_mat", "upper_tri", "broadcast_to", "wrap", "psd_wrap", "nonneg_wrap", "symmetric_wrap",
))  # fmt: skip


def _moved(e: Any, args: list[Any]) -> Any:
    """Where CVXPY puts the entries: its arithmetic is in floats, so that it is given their numbers."""
    entries = [ev for a in args for ev in a.ravel()]
    ends = np.cumsum([a.size for a in args])
    numbers = [
        np.arange(end - a.size + 1.0, end + 1.0).reshape(a.shape)
        for a, end in zip(args, ends, strict=True)
    ]
    placed = np.asarray(e.numeric(numbers)).reshape(e.shape)
    found = np.empty(e.shape, dtype=object)
    for at in np.ndindex(e.shape):
        found[at] = entries[int(placed[at]) - 1] if placed[at] else Interval(0)
    return found


def expression_value(e: Any, point: Mapping[str, Any]) -> Any:
    """A CVXPY expression at a point, as an array of intervals.

    Raises
    ------
    InvalidParameterError
        An atom that has no exact value here.
    UndefinedError
        No value at this point.
    """
    if not e.args:
        return exact(e.value) if e.is_constant() and not e.parameters() else point[e.name()]
    args = [np.asarray(expression_value(each, point), dtype=object) for each in e.args]
    kind = type(e).__name__
    if kind in ("Pnorm", "PnormApprox") and float(getattr(e.p, "value", e.p)) == 2:
        return np.asarray(_over(norm)(e, args), dtype=object)
    if kind in _ATOMS:
        return np.asarray(_ATOMS[kind](e, args), dtype=object)
    if kind.lower() in _MOVERS:
        return _moved(e, args)
    raise InvalidParameterError(
        "before or after", kind, f"the atoms {', '.join(sorted(_ATOMS))} and those that move entries",
        "write it with these, or as a formula",
    )  # fmt: skip
