"""Printed formulas, executed: what `Spec.formulas` says is read as mathematics and computed.

A formula is an expression, perhaps several that are equal, followed by what its names mean: ``A = B, x = ...``,
``t such that s = r``, ``u the least integer >= 0 with ...``. Products need no sign, sums over an index reach to
the next + or -, ``x_j`` is the vector x, ``x_N`` its part. Nothing is known here of any object by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy import optimize

from verification.declarations.reader import WIDE, Reader, UnreadableError, least, root

Value = Any
_SPLIT = re.compile(r"(?:[,;]| with) +")
#: By how much the sides of an equation may differ: minima are found to that.
EQUAL = 1e-6


def clauses(text: str) -> list[str]:
    """The parts of a formula, split at commas, semicolons and "with" outside of brackets."""
    text = " ".join(text.split())
    found, depth, start, i = [], 0, 0, 0
    while i < len(text):
        inner = text[i] == "<" and re.match(r"<[^<>= ][^<>=]*?,[^<>=]*?>", text[i:])
        if inner:
            i += inner.end()
            continue
        depth += (text[i] in "({[") - (text[i] in ")}]")
        split = _SPLIT.match(text, i)
        least = re.search(r"\bleast \w+( >= 0)?$", text[start:i])
        if depth == 0 and split and not (least and text[i] == " "):
            found.append(text[start:i])
            start = i = split.end()
            continue
        i += 1
    return [part for part in (*found, text[start:]) if part]


class Names:
    """What the names of a formula stand for: numbers that are given, and definitions that are read."""

    def __init__(
        self, given: Mapping[str, Value], defined: Mapping[str, str] | None = None
    ) -> None:
        self.given = dict(given)
        self.defined = dict(defined or {})
        self._read: dict[str, Value] = {}
        self._of: dict[str, Value] = {}  # the numbers that these were read with

    def with_(self, **given: Value) -> Names:
        """The same with other numbers."""
        return Names(self.given | given, {n: d for n, d in self.defined.items() if n not in given})

    def known(self, name: str) -> bool:
        """Whether the name means something."""
        return name in self.given or name in self.defined

    def __getitem__(self, name: str) -> Value:
        if name in self.given:
            return self.given[name]
        if name in self.defined:
            of = self._of
            if len(of) != len(self.given) or any(of.get(n) is not v for n, v in self.given.items()):
                self._read, self._of = {}, dict(self.given)
            if name not in self._read:
                self._read[name] = self._defined(name, self.defined[name])
            return self._read[name]
        base, _, index = name.partition("_")
        if index in ("j", "i", "l", "k") and self.known(base):
            return self[base]
        if index.startswith("["):
            ordered = np.sort(np.asarray(self[base], dtype=float))[::-1]
            at = np.asarray(number(index[1:-1], self)).astype(int) - 1
            return np.where(at < len(ordered), ordered[np.minimum(at, len(ordered) - 1)], -np.inf)
        if index and self.known(index):
            return self[base][self[index]]
        if name == "s" and self.known("x"):
            return np.sum(self["x"])
        if len(name) > 1 and all(self.known(letter) for letter in name):  # PN
            return reduce(lambda a, b: a * b, (self[letter] for letter in name))
        raise UnreadableError(f"formula: {name!r} means nothing; known: {sorted(self.given)}")

    def _defined(self, name: str, text: str) -> Value:
        if found := re.fullmatch(r"such that (.*)", text):
            equation = found[1]
            return root(lambda t: difference(equation, self.with_(**{name: t})))
        if found := re.fullmatch(r"least (integer|real) >= 0 with (.*)", text):
            kind, wanted = found[1], found[2].split(" and ")
            return least(lambda v: all(true(c, self.with_(**{name: v})) for c in wanted), kind)
        if found := re.fullmatch(r"(all but )?the (.*) largest", text):
            order = np.argsort(-np.asarray(self["z"]), kind="stable")
            top = np.isin(np.arange(len(order)), order[: int(number(found[2], self))])
            return ~top if found[1] else top
        if found := re.fullmatch(r"the root of (.*)", text):
            return _roots(found[1], self, name)
        if found := re.fullmatch(r"(.*) at the k largest z_j", text):
            order = np.argsort(-np.asarray(self["z"]), kind="stable")
            top = np.isin(np.arange(len(order)), order[: self["k"]])
            return np.where(top, number(found[1], self), 0.0)
        if found := re.fullmatch(r"the falling regression on (.*) in the order of a", text):
            places = np.asarray(number(found[1], self), dtype=float)
            v = optimize.isotonic_regression(places, increasing=False).x
            return v[np.argsort(np.argsort(-np.asarray(self["a"]), kind="stable"))]
        if text == "all but U":
            return ~self["U"]
        if text.startswith("argmin "):
            return argmin(text.removeprefix("argmin "), self, name)
        if text.startswith("the projection of z on the set times gamma"):
            scaled = self.with_(a=np.asarray(self["z"]) / self["gamma"])
            return self["gamma"] * argmin("||x - a||^2", scaled, "x")
        return number(text, self)


def read(
    text: str, given: Mapping[str, Value], more: Sequence[str] = ()
) -> tuple[list[str], Names]:
    """The equal expressions that a formula starts with, and the names that it and ``more`` define.

    Of definitions of the same name the formula's own counts.
    """
    defined: dict[str, str] = {}
    for each in (*more, text):
        defined |= dict(filter(None, map(_definition, clauses(each)[each is text :])))
    first = clauses(text)[0]
    own = _definition(first)
    if own and own[0] not in given:
        defined |= dict([own])
    return first.split(" = "), Names(given, defined)


def _definition(clause: str) -> tuple[str, str] | None:
    clause = clause.removeprefix("with ")
    if " where " in clause:  # said of a case, not of a name
        return None
    if found := re.fullmatch(r"(\w+)(?:_j)? (the root of .*|such that .*)", clause):
        return _bare(found[1]), found[2]
    if found := re.fullmatch(r"(\w+) the (least .*)", clause):
        return found[1], found[2]
    if found := re.fullmatch(
        r"(\w) ((?:all but )?the .* largest|the projection .*|all but U)", clause
    ):
        return found[1], found[2]
    found = re.fullmatch(r"([A-Za-z]+(?:_[A-Za-z]+)?) = (.*?)(?: at j != y)?", clause)
    return (_bare(found[1]), found[2]) if found else None


def _bare(name: str) -> str:
    return name.removesuffix("_j").removesuffix("_i")


# ------------------------------------------------------------------------------ expressions


def number(text: str, names: Names) -> Value:
    """The value of an expression."""
    if found := re.fullmatch(r"(.*) if (.*) else (.*)", text.replace(", else", " else")):
        return number(found[1] if true(found[2], names) else found[3], names)
    if " = " in text and " if " not in text:
        values = [number(each, names) for each in text.split(" = ")]
        if np.max(abs(np.subtract(values[1:], values[0]))) > EQUAL * (
            1 + np.max(np.abs(values[0]))
        ):
            raise UnreadableError(f"formula {text!r}: the sides are {values}")
        return values[0]
    if found := re.fullmatch(r"min over (\w) >= 0 of (.*)", text):
        return _minimum(found[2], names, found[1], least=0.0)
    if found := re.fullmatch(r"min over (\w+) >= 0 of (.*)", text):
        return _smooth_minimum(found[2], names, found[1])
    if found := re.fullmatch(r"min over (\w) of (.*)|min_([tp]) (.*)", text):
        return _minimum(found[2] or found[4], names, found[1] or found[3])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return Reader(text, names).whole()


# ------------------------------------------------------------------------------- conditions


def conditions(text: str) -> Iterator[tuple[str, str, str]]:
    """(left, relation, right) of ``{x >= 0, s <= r}`` and of chains ``0 <= x <= 1``."""
    for part in clauses(text.strip().strip("{}")):
        pieces = re.split(r" (<=|>=|=|>) ", part)
        yield from zip(pieces[:-2:2], pieces[1:-1:2], pieces[2::2], strict=True)


def true(text: str, names: Names, slack: float = 1e-9) -> bool:
    """Whether a condition, or all of a set's, holds."""
    return all(found <= slack for found in excess(text, names))


def excess(text: str, names: Names) -> list[float]:
    """By how much each condition is missed."""
    found = []
    for left, relation, right in conditions(text):
        difference = np.asarray(number(left, names), dtype=float) - number(right, names)
        difference = {"<=": difference, ">=": -difference, ">": -difference, "=": abs(difference)}[
            relation
        ]
        found.append(float(np.max(difference, initial=-np.inf)))
    return found


def equations(text: str, names: Names) -> Iterator[float]:
    """Differences of the two sides of clauses that define no name, as ``1 - s = e^{-L}``."""
    for clause in clauses(text):
        clause = clause.removesuffix(" is returned by itself")
        if " = " in clause and _definition(clause) is None and "argmin" not in clause:
            yield float(np.max(abs(np.asarray(difference(clause, names)))))


def difference(equation: str, names: Names) -> Value:
    """Left side less right side."""
    left, _, right = equation.partition(" = ")
    return number(left, names) - number(right, names)


def part(text: str, name: str) -> tuple[str, str]:
    """Two expressions of a block: ``a_j = E at j != y, a_y = F``, ``a = E on N, F on P``; F is E if there is one."""
    body = rf"\b{name}(?:_j)? = " if name else "^"
    found = re.search(
        body
        + rf"([^,;]*?)(?: at j != y| on N)?, (?:{name or 'a'}_y = )?([^,;=]*?)(?: at y| on P)?(?=[,;]|$)",
        text,
    )
    if found and (" at y" in found[0] or " on P" in found[0] or f"{name}_y =" in found[0]):
        return found[1], found[2]
    found = re.search(rf"\b{name}(?:_j)? = ([^,;]*?)(?: over the others)?(?=[,;]|$)", text)
    assert found is not None, (name, text)
    return found[1], found[1]


# ------------------------------------------------------------------------- roots and minima


def _roots(equation: str, names: Names, name: str) -> Value:
    """The roots in (0, 1) of an increasing function, entry by entry."""
    found = []
    b = np.asarray(names["b"])
    for entry in b:
        here = names.with_(b=entry)

        def f(x: float, here: Names = here) -> float:
            return float(difference(equation, here.with_(**{name: x})))

        found.append(optimize.brentq(f, 1e-15, 1 - 1e-15, xtol=1e-15))
    return np.array(found)


def _smooth_minimum(text: str, names: Names, name: str) -> float:
    """Over vectors >= 0, of a smooth convex function."""
    start = np.full(np.shape(names["z"]), 0.1)

    def f(v: Value) -> float:
        return float(number(text, names.with_(**{name: v})))

    found = optimize.minimize(f, start, bounds=[(0, None)] * start.size, tol=1e-14)
    return float(found.fun)


def _minimum(text: str, names: Names, name: str, least: float = -np.inf) -> float:
    """Over a number >= ``least``; over a vector whose minimiser is named, the least of it and of points nearby."""

    def f(v: Value) -> float:
        return float(number(text, names.with_(**{name: v})))

    if names.known(name):
        at = np.asarray(names[name])
        rng = np.random.default_rng(0)
        near = [
            at,
            *(at + rng.normal(size=at.shape) * h for h in (1e-3, 1e-2, 0.1, 1.0) for _ in range(8)),
        ]
        return min(map(f, near))
    grid = np.concatenate([-np.geomspace(WIDE, 1e-3, 100), [0.0], np.geomspace(1e-3, WIDE, 100)])
    grid = grid[grid >= least]
    best = int(np.argmin([f(t) for t in grid]))
    ends = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    found = optimize.minimize_scalar(f, bounds=ends, method="bounded", options={"xatol": 1e-12})
    return min(float(found.fun), f(grid[best]))


def argmin(text: str, names: Names, name: str) -> Value:
    """The minimiser of a convex function over a printed set (``names.given["set"]`` unless one is given)."""
    objective, _, where = text.partition(" over ")
    scale = number("omega C", names) if "scaled by omega C" in where else 1.0
    wanted = where if where.startswith("{") else names.given.get("set", "")
    wanted = wanted.partition("+ conjugate")[0]
    if "conjugate" in objective:
        objective = objective.replace("conjugate", names.given["conjugate"])
    d = names.given["d"]
    plain = names.with_(**{name: np.zeros(d)})
    if name == "p":
        plain = names.with_(p=np.zeros(d))

    def at(v: Value) -> Names:
        found = plain.with_(**{name: v})
        found.given.pop("s", None)
        return found

    def part(left: str, right: str) -> Callable[[Value], Value]:
        return lambda v: np.atleast_1d(
            np.asarray(number(left, at(v / scale)) - number(right, at(v / scale)), dtype=float)
        )

    rules: list[dict[str, Any]] = [
        {
            "type": "eq" if relation == "=" else "ineq",
            "fun": part(*((right, left) if relation == "<=" else (left, right))),
        }
        for left, relation, right in conditions(wanted)
    ]

    def f(v: Value) -> float:
        return float(number(objective, at(v)))

    best, least = np.zeros(d), np.inf
    for start in (
        np.full(d, scale * names.given.get("start", 0.4) / d),
        *names.given.get("near", ()),
    ):
        found: Any = optimize.minimize(  # type: ignore[call-overload]
            f, start, constraints=rules, method="SLSQP", options={"ftol": 1e-15, "maxiter": 60}
        )
        for v in (found.x, start):
            missed = max(
                (
                    float(np.max(abs(r["fun"](v)) if r["type"] == "eq" else -r["fun"](v)))
                    for r in rules
                ),
                default=0.0,
            )
            if missed <= 1e-7 * scale and f(v) < least:
                best, least = v, f(v)
    return best
