"""One printed expression: its signs, read by recursive descent and computed with the names that it is given.

Names are anything with ``names[name]``, ``names.given`` and ``names.with_(...)``, see `printed.Names`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import numpy as np
from scipy import optimize

from verification.errors import InvalidArgumentError

Value = Any
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d+)?)|((?:sum|max|min)_[A-Za-z](?![A-Za-z_0-9])|[A-Za-z]+(?:_(?:[A-Za-z0-9]+|\[[^\]]*\]|\([^)]*\)))?'?)"
    r"|(\|\||_\+|_[ij](?!\w)|\+inf|[-+*/^(){}\[\],<>|]))"
)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


class UnreadableError(InvalidArgumentError):
    """A formula that cannot be computed, or whose sides differ."""


#: Half of the bracket in which a number "such that" is sought.
WIDE = 1e6


@cache
def _tokens(text: str) -> list[tuple[str, str, int]]:
    """(Kind, token, place) of each."""
    tokens, place = [], 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if not found:
            raise UnreadableError(f"formula {text!r}: cannot read {text[place:]!r}")
        kind = "number" if found[1] else "name" if found[2] else "sign"
        tokens.append((kind, found[1] or found[2] or found[3], found.start(found.lastindex or 0)))
        place = found.end()
    return tokens


class Reader:
    """Recursive descent over the signs of one expression."""

    def __init__(self, text: str, names: Any) -> None:
        self.text, self.names, self.at = text, names, 0
        self.tokens = _tokens(text)

    def peek(self, ahead: int = 0) -> str:
        """The next token."""
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        """The next token, which is left behind."""
        token = self.peek()
        if wanted and token != wanted:
            raise UnreadableError(f"formula {self.text!r}: {wanted!r} expected, not {token!r}")
        self.at += 1
        return token

    def whole(self) -> Value:
        """The value of everything."""
        value = self.sum()
        if self.at < len(self.tokens):
            raise UnreadableError(f"formula {self.text!r}: cannot read {self.peek()!r} there")
        return value

    def sum(self) -> Value:
        """Terms between + and -."""
        value = self.term()
        while self.peek() in ("+", "-"):
            value = value + self.term() if self.take() == "+" else value - self.term()
        return value

    def term(self) -> Value:
        """A product, written without a sign."""
        if self.peek() == "-":
            self.take()
            return -self.term()
        value = self.power()
        while self.at < len(self.tokens) and self._starts():
            sign = self.take() if self.peek() in ("/", "*") else ""
            factor = self.power()
            value = (
                value / factor if sign == "/" else value * factor if sign else _times(value, factor)
            )
        return value

    def _starts(self) -> bool:
        kind, token, _ = self.tokens[self.at]
        return (
            kind != "sign"
            or token in ("/", "*", "(", "{", "[", "<")
            or (token in ("|", "||") and not self.bars)
        )

    bars = 0

    def power(self) -> Value:
        """A factor, its power or its positive part."""
        value = self.base()
        while self.peek() in ("^", "_+", "_i", "_j"):
            sign = self.take()
            value = (
                np.maximum(value, 0)
                if sign == "_+"
                else value ** self.base()
                if sign == "^"
                else value
            )
        return value

    def bracket(self) -> list[Value]:
        """What stands in brackets, comma by comma."""
        close = _PAIRS[self.take()]
        bars, self.bars = self.bars, 0
        values = [self.sum()]
        while self.peek() == ",":
            self.take()
            values.append(self.sum())
        self.take(close)
        self.bars = bars
        return values

    def base(self) -> Value:
        """A number, a name, or what stands between brackets or bars."""
        kind, token, _ = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", 0)
        if kind == "number":
            self.take()
            return float(token)
        if token == "+inf":
            self.take()
            return np.inf
        if token in _PAIRS:
            values = self.bracket()
            return values[0] if len(values) == 1 else np.append(*values)
        if token == "<":
            self.take()
            left = self.sum()
            self.take(",")
            right = self.sum()
            self.take(">")
            return _inner(left, right)
        if token in ("||", "|"):
            self.take()
            self.bars += 1
            value = np.asarray(self.sum())
            self.bars -= 1
            self.take(token)
            if token == "||":
                return np.sqrt((value**2).sum())
            return value.sum() if value.dtype == bool else abs(value)
        if kind == "name":
            return self.name(self.take())
        raise UnreadableError(f"formula {self.text!r}: cannot read {token!r} there")

    def name(self, name: str) -> Value:
        """What a name, a function or a sum over an index is."""
        if name in ("log", "sign"):
            value = self.power()
            return np.log(np.maximum(value, 1e-300)) if name == "log" else np.sign(value)
        if name == "e" and self.peek() == "^":
            self.take()
            return np.exp(self.base())
        if name in ("max", "min", "clip") and self.peek() in ("{", "("):
            values = self.bracket()
            if name == "clip":
                return np.clip(*values)
            return reduce(np.fmax if name == "max" else np.fmin, values)
        if name == "sum" and self.peek() == "over":
            return self.sum_over()
        if re.fullmatch(r"(sum|max|min)(_[a-zA-Z])?", name):
            return self.fold(name)
        if name.startswith(("S_", "phi")) and self.peek() == "(":
            size = name.partition("_")[2]
            if isinstance(places := self.names.given.get(size), np.ndarray):  # S_i for all i
                (z,) = self.bracket()
                return np.cumsum(np.sort(z)[::-1])[places - 1]
            k = (
                Reader(size.strip("()"), self.names).whole()
                if size
                else self.names.given.get("k", 1)
            )
            (z,) = self.bracket()
            if name.startswith("phi"):
                return self.names.given["phi"](z, int(k))
            return np.sort(z)[::-1][: int(k)].sum()
        if self.peek() == "(" and f"{name}()" in self.names.given:
            return self.names.given[f"{name}()"](*self.bracket())
        if name == "R" and self.peek() == "^":
            raise UnreadableError("formula: a space is no number")
        return self.names[name]

    def fold(self, name: str) -> Value:
        """Sum, max or min of a term over an index, or over a part of it."""
        what, _, part = name.partition("_")
        value = np.asarray(self.term())
        if part.isupper():
            value = value[self.names[part]]
        fold: Any = {"sum": np.sum, "max": np.max, "min": np.min}[what]
        return fold(value, axis=0) if value.ndim else value

    def sum_over(self) -> Value:
        """``sum over l in P of ...``."""
        self.take("over")
        index = self.take()
        self.take("in")
        members = np.flatnonzero(self.names[self.take()])
        self.take("of")
        start, total, names = self.at, 0.0, self.names
        for member in members:
            self.at = start
            self.names = names.with_(**{f"z_{index}": names["z"][member]})
            total += self.term()
        self.names = names
        return total


def _times(a: Value, b: Value) -> Value:
    """A product: of a number per row and rows, of a matrix and a vector, else entry by entry."""
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return np.asarray(a)[:, None] * b
    rows = np.ndim(a) == 2 and (np.ndim(b) == 1 or (np.ndim(b) == 2 and np.shape(a) != np.shape(b)))
    return a @ b if rows else a * b


def _inner(a: Value, b: Value) -> Value:
    """An inner product, of rows where one is a matrix of rows; <1,x> is a sum."""
    if np.ndim(a) == 0:
        return np.sum(a * np.asarray(b))
    return np.asarray(b) @ a if np.ndim(b) == 2 else np.asarray(a) @ b


def root(f: Callable[[float], Any]) -> float:
    """Where a function of one number changes its sign in [-WIDE, WIDE], for the first time if it is monotone."""
    grid = np.concatenate([-np.geomspace(WIDE, 1e-3, 90), [0.0], np.geomspace(1e-3, WIDE, 90)])

    @cache
    def sign(i: int) -> float:
        value = float(f(grid[i]))
        return 0.0 if abs(value) < 1e-9 else float(np.sign(value))

    last = len(grid) - 1
    if sign(last) == sign(0) != 0.0:  # neither end tells
        last = next((i for i in range(len(grid)) if sign(i) != sign(0)), 0)
        if not last:
            raise UnreadableError("formula: nothing is such that it holds")
    before, at = 0, last if sign(0) else 0
    while at - before > 1:
        middle = (before + at) // 2
        before, at = (middle, at) if sign(middle) == sign(0) else (before, middle)
    if sign(at) == 0.0:
        return float(grid[at])
    return float(optimize.brentq(lambda t: float(f(t)), grid[at - 1], grid[at], xtol=1e-13))


def least(holds: Callable[[float], bool], kind: str) -> Any:
    """The least integer or real number >= 0 at which something holds."""
    if kind == "integer":
        return next(u for u in range(1000) if holds(u))
    if holds(0.0):
        return 0.0
    low, high = 0.0, WIDE
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
