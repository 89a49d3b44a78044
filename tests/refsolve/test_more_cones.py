"""Semidefinite and power cones: no proof of what is false, and distances that are reached."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from refsolve.cones import power, semidefinite
from refsolve.cones.dyadic import Dyadic
from refsolve.cones.power import Power
from refsolve.cones.semidefinite import Semidefinite, semidefinite_in_integers

WEIGHTS = [(0.5, 0.5), (0.25, 0.75), (0.3, 0.7), (1e-3, 0.999), (0.2, 0.3, 0.5)]


def determinant(M: list[list[Fraction]]) -> Fraction:
    value = Fraction(1)
    while M:
        k = next((i for i, row in enumerate(M) if row[0]), None)
        if k is None:
            return Fraction(0)
        pivot = M[k]
        value *= pivot[0] * (-1) ** k
        M = [[a - row[0] / pivot[0] * b for a, b in zip(row[1:], pivot[1:], strict=True)]
             for i, row in enumerate(M) if i != k]  # fmt: skip
    return value


def semidefinite_by_minors(M: np.ndarray, shift: float = 0.0) -> bool:
    """Whether M + shift I is: every principal minor is >= 0, in rational numbers."""
    exact = [[Fraction(v) + (Fraction(shift) if i == j else 0) for j, v in enumerate(row)]
             for i, row in enumerate(M.tolist())]  # fmt: skip
    return all(
        determinant([[exact[i][j] for j in chosen] for i in chosen]) >= 0
        for size in range(1, len(M) + 1)
        for chosen in combinations(range(len(M)), size)
    )


def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
    """Near the edge: of low rank, of small integers, moved by what solvers leave, badly scaled."""
    R = rng.standard_normal((n, int(rng.integers(1, n + 1))))
    if rng.random() < 0.4:
        R = np.round(2 * R)
    M = R @ R.T
    if rng.random() < 0.3:
        d = np.exp2(rng.integers(-15, 16, n))
        M = M * d[:, None] * d
    M = (M + M.T) / 2
    return M + float(rng.choice((-1, 0, 1))) * 10.0 ** -float(rng.integers(0, 17)) * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_matrices_called_semidefinite_are(n: int) -> None:
    rng, K, seen = np.random.default_rng(n), Semidefinite(n), [0, 0]
    for _ in range(50):
        M, still = drawn(rng, n), np.zeros(K.size)
        s = M[K.places]
        told = K.violation(Dyadic.of(s), still)
        seen[told == 0] += 1
        size, about = float(np.abs(M).max()), float(np.linalg.eigvalsh(M)[0])
        assert told < np.inf
        assert semidefinite_by_minors(M, told), "a distance is at least the distance"
        assert told <= max(-about, 0) * (1 + 1e-10) + 1e-12 * n * n * size
        z = K.into_dual(s)
        assert semidefinite_by_minors(K.matrix(z, dual=True))
        assert K.room(z, still)
        assert np.array_equal(K.into_dual(z), z), "inside is left alone"
    assert min(seen) > 1


def test_every_point_of_the_box_is_meant() -> None:
    rng, K, yes = np.random.default_rng(0), Semidefinite(4), 0
    for _ in range(100):
        R = rng.standard_normal((4, 4))
        s, reach = (R @ R.T)[K.places], 10.0 ** rng.uniform(-4, 0) * rng.random(K.size)
        for holds, dual in (
            (K.violation(Dyadic.of(s), reach) == 0, False),
            (K.room(s, reach), True),
        ):
            yes += holds
            for _ in range(4 if holds else 0):
                corner = s + rng.choice((-1.0, 1.0), K.size) * reach * (1 - 1e-12)
                assert semidefinite_by_minors(K.matrix(corner, dual=dual))
        far = K.violation(Dyadic.of(s), reach)
        if 0 < far < np.inf:
            corner = s + rng.choice((-1.0, 1.0), K.size) * reach
            assert semidefinite_by_minors(K.matrix(corner), far)
    assert 25 < yes < 175


def test_singular_integers_are_decided_exactly() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 4, 5):
        K = Semidefinite(n)
        for _ in range(10):
            R = rng.integers(-3, 4, (n, int(rng.integers(1, n + 1))))
            M = R @ R.T
            assert semidefinite_in_integers(M.tolist())
            s = M[K.places].astype(float)
            still = np.zeros(K.size)
            assert K.violation(Dyadic.of(s), still) == 0
            assert np.array_equal(K.into_dual(s * np.where(K.inwards(True), 1, 2)),
                                  s * np.where(K.inwards(True), 1, 2))  # fmt: skip
            if np.linalg.matrix_rank(R) < n:
                s[K.diagonal[n - 1]] -= 2.0**-40
                worse = M - 0.0
                worse[n - 1, n - 1] -= 2.0**-40
                assert (K.violation(Dyadic.of(s), still) == 0) == semidefinite_by_minors(worse)
    assert not semidefinite_in_integers([[0, 1], [1, 5]])
    assert not semidefinite_in_integers([[1, 2], [2, 1]])


def test_products_of_the_cone_and_its_dual_are_not_negative() -> None:
    rng = np.random.default_rng(2)
    for n in (2, 5):
        K = Semidefinite(n)
        for _ in range(100):
            z = K.into_dual(rng.standard_normal(K.size) * 10.0 ** rng.integers(-6, 4))
            v = rng.integers(-9, 10, n)
            s = np.outer(v, v)[K.places]
            terms = [Fraction(a) * int(b) for a, b in zip(z.tolist(), s.tolist(), strict=True)]
            assert sum(terms, Fraction(0)) >= 0
    for given in WEIGHTS:
        P = Power(given)
        for _ in range(60):
            z = P.into_dual(rng.standard_normal(P.size) * 10.0 ** rng.integers(-6, 4))
            x = np.abs(rng.standard_normal(P.size - 1)) * 10.0 ** rng.integers(-3, 3)
            whole = sum(
                (Fraction(b) * Fraction(c) for b, c in zip(x.tolist(), z.tolist(), strict=False)),
                Fraction(0),
            )
            less = Fraction(mean(P, x)) * abs(Fraction(z[-1]))
            assert whole - less >= -(whole + 1) / 10**40


def mean(P: Power, x: np.ndarray) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        weights = [Decimal(w.numerator) / Decimal(w.denominator) for w in P.weights]
        return math.prod((Decimal(v) ** w for v, w in zip(x.tolist(), weights, strict=True)),
                         start=Decimal(1))  # fmt: skip


@pytest.mark.parametrize("given", WEIGHTS)
def test_power_cones_hold_where_they_say(given: tuple[float, ...]) -> None:
    rng, P, seen = np.random.default_rng(3), Power(given), [0, 0]
    still = np.zeros(P.size)
    assert sum(P.weights) == 1

    def outside(s: np.ndarray) -> float:
        if min(s[:-1]) < 0:
            return float(max(-min(s[:-1]), 0))
        with localcontext() as context:
            context.prec = 60
            return float(abs(Decimal(float(s[-1]))) - mean(P, s[:-1]))

    for _ in range(200):
        s = np.abs(rng.standard_normal(P.size)) * 10.0 ** rng.integers(-5, 5, P.size)
        s[-1] = rng.choice((-1.0, 1.0)) * P._mean(s[:-1], dual=False)
        s[-1] *= 1 + float(rng.choice((-1, 0, 1))) * 10.0 ** -float(rng.integers(1, 17))
        if rng.random() < 0.1:
            s[0] = -s[0]
        told, lack = P.violation(Dyadic.of(s), still), outside(s)
        seen[told == 0] += 1
        assert told > 0 or lack <= 0
        assert told == 0 or lack > 0 or abs(lack) < 1e-40
        assert told <= max(lack, 0) * (1 + 1e-9) + abs(min(s[:-1].min(), 0)) * 2 + abs(s[-1]) * (
            1 + 1e-12 if s[:-1].min() <= 0 else 1e-12
        )
        reach = 0.1 * np.abs(s) * rng.random(P.size)
        s[:-1] *= 1.3
        if P.violation(Dyadic.of(s), reach) == 0:
            corners = s + np.append(-reach[:-1], np.sign(s[-1]) * reach[-1]) * (1 - 1e-12)
            assert outside(corners) <= 0
    assert min(seen) > 20


def test_exact_ties_of_powers() -> None:
    half = Power((0.5, 0.5))
    for s, told in (([4.0, 9.0, 6.0], True), ([4.0, 9.0, -6.0], True), ([0.0, 5.0, 0.0], True),
                    ([4.0, 9.0, np.nextafter(6, 7)], False), ([1e-300, 1e300, 1.0], None)):  # fmt: skip
        got = half.violation(Dyadic.of(np.array(s)), np.zeros(3)) == 0
        exact = Fraction(s[0]) * Fraction(s[1]) >= Fraction(s[2]) ** 2
        assert got == (exact if told is None else told)
    odd = Power((0.3, 0.7))
    assert odd.violation(Dyadic.of(np.ones(3)), np.zeros(3)) == 0, "equal numbers need no logarithm"


def test_ranges_of_entries_follow_from_the_diagonal() -> None:
    rng, K = np.random.default_rng(4), Semidefinite(3)
    for _ in range(50):
        R = rng.standard_normal((3, 3))
        s = (R @ R.T)[K.places]
        lo, hi = np.full(6, -np.inf), np.full(6, np.inf)
        hi[K.diagonal] = s[K.diagonal]
        K.narrow(lo, hi)
        assert np.all((lo <= s) & (s <= hi))
        assert np.all(np.isfinite(lo) & np.isfinite(hi))
    lo, hi = np.full(3, -np.inf), np.array([4.0, 9.0, np.inf])
    Power((0.5, 0.5)).narrow(lo, hi)
    assert lo.tolist() == [0, 0, -9]
    assert hi.tolist() == [4, 9, 9]


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (semidefinite, "_hidden", lambda M: -1e-9 * float(np.trace(np.abs(M)))),
        (semidefinite, "semidefinite_in_integers", lambda M: True),
        (power, "at_least", lambda x, weights, z: min(x) >= 0),
    ],
)
def test_wrong_arithmetic_is_found_out(where, name, wrong, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(where, name, wrong)

    def all_of_them() -> None:
        for n in (2, 3, 5):
            test_matrices_called_semidefinite_are(n)
        for given in WEIGHTS:
            test_power_cones_hold_where_they_say(given)

    with pytest.raises(AssertionError):
        all_of_them()


def test_entries_stand_as_cvxpy_and_clarabel_have_them() -> None:
    K = Semidefinite(3)
    assert list(zip(*(p.tolist() for p in K.places), strict=True)) == [
        (0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)
    ]  # fmt: skip
    assert all(a < b for a, b in pairwise(K.diagonal.tolist()))
