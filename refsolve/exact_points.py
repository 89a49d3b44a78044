"""Points on which a claim is tried: adversarial ones, corners of constraints, and smaller ones that do as well."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from refsolve import exact_values as ev

#: Fewer points than that say nothing.
FEWEST = 10
#: Kinds of numbers that are drawn; for solvers, of moderate size, those most often where domains are small.
ALL = tuple(range(11))
MODERATE = (0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 7, 8)
Point = dict[str, Any]  # arrays of intervals


@dataclass(frozen=True)
class Leaf:
    """A named number, vector or matrix, and what its values must be."""

    shape: tuple[int, ...] | None = None  # a formula does not say
    variable: bool = False
    parameter: bool = False
    sign: int = 0
    integer: bool = False
    boolean: bool = False

    def admits(self, v: Fraction) -> bool:
        """Whether an entry may be that."""
        whole = v.denominator == 1 or not self.integer
        return v * self.sign >= 0 and whole and (not self.boolean or v <= 1)


@dataclass(frozen=True)
class Rule:
    """Slack <= 0, or == 0."""

    slack: Callable[[Point], Any]
    equal: bool
    names: frozenset[str]

    def holds(self, point: Point) -> bool:
        """Whether it does; UndefinedError where enclosures do not decide."""
        entries = np.ravel(np.asarray(self.slack(point), dtype=object))
        return all(v == 0 if self.equal else v <= 0 for v in entries)


def _drawn(rng: np.random.Generator, leaf: Leaf, kind: int) -> np.ndarray[Any, Any]:
    """Zeros, ones, one entry alone or against all others, ties, alike, shares, random, large, small; as declared."""
    size = math.prod(leaf.shape or ())
    ints, one = rng.integers(-2, 3, size), np.arange(size) == rng.integers(max(size, 1))
    some = rng.integers(0, 2, size)
    made = {
        0: 0 * ints, 1: 0 * ints + 1, 2: one * rng.choice([-1, 1, 2]), 3: ints, 4: (3 * one - 1) * rng.choice([-1, 1]),
        5: [Fraction(int(v), 2) for v in rng.integers(-3, 4, size)], 6: 0 * ints + rng.integers(-2, 3),
        7: [Fraction(int(v), int(rng.choice([1, 2])) * max(int(some.sum()), 1)) for v in some],
        8: [Fraction(int(v), int(w)) for v, w in rng.integers([-9, 1], [10, 5], (size, 2))],
        9: 16 * rng.integers(-4, 5, size), 10: [Fraction(int(v), 64) for v in rng.integers(-9, 10, size)],
    }[kind]  # fmt: skip
    values = [Fraction(v) if isinstance(v, Fraction) else Fraction(int(v)) for v in made]
    if leaf.sign:
        values = [leaf.sign * abs(v) for v in values]
    if leaf.integer:
        values = [Fraction(round(v) % 2 if leaf.boolean else round(v)) for v in values]
    return ev.exact(np.array(values, dtype=object).reshape(leaf.shape or ()))


def _polytope(
    rules: Sequence[Rule], point: Point, names: Sequence[str], rng: np.random.Generator
) -> Iterator[Point]:
    """Two corners of the rules, with the other symbols as they are, and a point between; if they are affine."""
    sizes = [point[n].size for n in names]
    count = sum(sizes)

    def at(x: Sequence[Fraction]) -> Point:
        parts = np.split(ev.exact(np.array(x, dtype=object)), np.cumsum(sizes)[:-1])
        return point | {n: v.reshape(point[n].shape) for n, v in zip(names, parts, strict=True)}

    def slack(rule: Rule, x: Sequence[Fraction]) -> list[Fraction]:
        return [ev.number(v).low for v in np.ravel(np.asarray(rule.slack(at(x)), dtype=object))]

    if not count or not rules:
        return
    zero, e = [Fraction(0)] * count, np.eye(count, dtype=int)
    trial = [Fraction(int(v), 3) for v in rng.integers(-4, 5, count)]
    rows: dict[bool, list[list[float]]] = {True: [], False: []}
    for rule in rules:
        h = slack(rule, zero)
        columns = [
            [a - b for a, b in zip(slack(rule, [Fraction(int(v)) for v in row]), h, strict=True)]
            for row in e
        ]
        predicted = [
            b + sum((c[i] * t for c, t in zip(columns, trial, strict=True)), Fraction(0))
            for i, b in enumerate(h)
        ]
        if predicted == slack(rule, trial):  # others are left to chance
            rows[rule.equal] += [
                [*(float(c[i]) for c in columns), -float(b)] for i, b in enumerate(h)
            ]
    A, E = (np.array(rows[k]).reshape(-1, count + 1) for k in (False, True))
    corners = []
    for _ in range(2):
        found = linprog(
            rng.integers(-3, 4, count), A[:, :-1], A[:, -1], E[:, :-1], E[:, -1], bounds=(-4, 4)
        )
        if found.x is None:
            return
        corners.append([Fraction(float(v)).limit_denominator(1000) for v in found.x])
    share = Fraction(int(rng.integers(1, 4)), 4)
    corners.append([share * a + (1 - share) * b for a, b in zip(*corners, strict=True)])
    yield from map(at, corners)


@dataclass
class Space:
    """The points on which a step is tried."""

    leaves: dict[str, Leaf]
    where: tuple[Rule, ...]
    hints: tuple[tuple[Rule, ...], ...]  # of each side
    fixed: Point
    seed: int

    def allowed(self, point: Point) -> bool:
        """Whether the point is certain to be in the domain."""
        try:
            return all(rule.holds(point) for rule in self.where)
        except ev.UndefinedError:
            return False

    def points(
        self, count: int, kinds: Sequence[int] = ALL, apart: bool = False
    ) -> Iterator[Point]:
        """Points of the domain, as many as can be found up to that, of these kinds of numbers.

        If they are to be apart, no two of them come from the same draw.
        """
        rng = np.random.default_rng(self.seed)
        found, orders = 0, {}
        for number in range(20 * count):
            if number % len(kinds) == 0:
                orders = {n: rng.permutation(kinds) for n in self.leaves}
            drawn = {
                n: _drawn(rng, leaf, int(orders[n][number % len(kinds)]))
                for n, leaf in self.leaves.items()
            } | self.fixed
            near = list(self._near(drawn, rng))
            if apart and rng.integers(2):
                near = [near[i] for i in rng.permutation(len(near))]
            for point in near:
                if self.allowed(point) and self._declared(point):
                    found += 1
                    yield point
                    if found >= count:
                        return
                    if apart:
                        break
            if number >= 2 * count and found < FEWEST // 2:
                return

    def _near(self, drawn: Point, rng: np.random.Generator) -> Iterator[Point]:
        yield drawn
        for rules in (self.where, *((*self.where, *own) for own in self.hints if own)):
            named = frozenset[str]().union(*(r.names for r in rules)) - set(self.fixed)
            data = [r.names for r in rules if all(self.leaves[n].parameter for n in r.names)]
            free = sorted(
                n
                for n in named
                if not self.leaves[n].parameter or any(n in names for names in data)
            )
            try:
                made = list(_polytope(rules, drawn, free, rng))
            except ev.UndefinedError:
                continue
            if made:
                yield made[int(rng.integers(len(made)))]
            if rules is not self.where and made:  # beside the constraints of the two sides
                for n in free[:2]:
                    entries = made[0][n].copy()
                    entries[tuple(rng.integers(s) for s in entries.shape)] += Fraction(
                        int(rng.choice([-1, 1])), 4
                    )
                    yield made[0] | {n: entries}

    def _declared(self, point: Point) -> bool:
        return all(leaf.admits(v.low) for n, leaf in self.leaves.items() for v in point[n].ravel())

    def shrunk(self, point: Point, differs: Callable[[Point], bool], most: int) -> Point:
        """A smaller and rounder point that differs as well."""
        for _ in range(most):
            for simpler in self._simpler(point):
                most -= 1
                if most < 0:
                    return point
                if self.allowed(simpler) and self._declared(simpler) and differs(simpler):
                    point = simpler
                    break
            else:
                return point
        return point

    def _simpler(self, point: Point) -> Iterator[Point]:
        free = [n for n in point if n not in self.fixed]
        whole = [(n, np.full(point[n].shape, v)) for n in free for v in (0, 1)]
        for n, values in whole:
            if _weight({n: ev.exact(values)}) < _weight({n: point[n]}):
                yield point | {n: ev.exact(values)}
        for n in free:
            for at in np.ndindex(point[n].shape):
                v = point[n][at].low
                for new in (0, 1, -1, 2, -2, *(v.limit_denominator(m) for m in (1, 2, 4)), v / 2):
                    made = point[n].copy()
                    made[at] = ev.Interval(Fraction(new))
                    if _weight({n: made}) < _weight({n: point[n]}):
                        yield point | {n: made}
                for other in np.ndindex(point[n].shape):  # keeps sums
                    made = point[n].copy()
                    made[other], made[at] = made[other] + made[at], ev.Interval(0)
                    if other != at and _weight({n: made}) < _weight({n: point[n]}):
                        yield point | {n: made}


def _weight(point: Point) -> tuple[int, Fraction]:
    """How much there is to write, then how large."""
    values = [v.low for array in point.values() for v in array.ravel()]
    digits = sum(
        (v != 0) * (2 + 2 * len(str(v.denominator)) * (v.denominator > 1) + len(str(v.numerator)))
        for v in values
    )
    return digits, sum((abs(v) for v in values), Fraction(0))
