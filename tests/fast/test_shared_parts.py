"""States, bounds on rounding and descents: each part of what trainers share against a naive twin."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from fast.solvers import (
    rounding,
    state,
    structured,
)  # fmt: skip
from fast.solvers.score_problem import ScoreProblem

FORMS = [np.asarray, sp.csr_array]
EPS = 2.0**-52


# ---- state ----------------------------------------------------------------------------------------


def test_gaps_are_relative_to_the_larger_objective():
    cases = [
        (2.0, 1.0, 0.5),
        (1.0, 2.0, 0.0),
        (1.0, -4.0, 1.25),
        (0.0, 0.0, 0.0),
        (-1.0, -2.0, 0.5),
    ]
    for primal, dual, gap in cases:
        assert state.certified_gap(primal, dual) == gap
    assert [state.block_length(m) for m in (0, 1, 2, 1000, 2048, 5000)] == [
        131072,
        131072,
        65536,
        131,
        64,
        64,
    ]


# ---- rounding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "claimed", "tol", "found"),
    [
        ((1.0, 0.99), (1.0, 0.99), 1e-2, True),
        ((1.00009, 0.99), (1.0, 0.99), 0.011, True),  # off by less than a hundredth of tol
        ((1.0002, 0.99), (1.0, 0.99), 0.011, False),
        ((1.00005, 0.99), (1.0, 0.99), 0.01, False),  # a tol that the claim keeps is missed
        ((1.52, 0.99), (1.49, 0.99), 0.9, False),
        ((1.00005, 0.98), (1.0, 0.98005), 0.01, True),  # missed by both
        ((-0.99, -1.0), (-0.99, -1.0), 1e-2, True),
        ((1.0, 1.0), (0.5, 1.0), 1e-9, True),
        ((1.0, 0.5), (1.0, 0.5), 0.5, True),
    ],
)
def test_rounding_that_hides_nothing(bounds, claimed, tol, found):
    assert rounding.enough(*bounds, claimed, tol) is found


def test_bounds_are_confirmed_by_finer_arithmetic_as_far_as_needed():
    asked = []

    def bounds(real):
        asked.append(real)
        with np.errstate(all="raise"):
            pass
        assert np.geterr()["over"] == "ignore"
        return {"rough": (1.2, 0.5), "fine": (1.1, 0.4), "best": (1.0, 0.99)}[real]

    levels = ["rough", "fine", "best", "never"]
    assert rounding.confirmed(levels, bounds, (1.0, 0.99), 1e-2) == (1.0, 0.99)
    assert asked == levels[:3]
    assert rounding.confirmed(levels[:2], bounds, (1.0, 0.99), 1e-2) == (1.1, 0.5)


def test_bounds_as_float64_are_the_nearest_on_their_side():
    third = np.longdouble(1) / 3
    for x in (third, -third, np.longdouble(0.5)):
        up, down = rounding.up(x), rounding.down(x)
        assert down <= x <= up
        assert (type(up), type(down)) == (float, float)
        wide = np.finfo(np.longdouble).eps < EPS
        assert up == (down if x == 0.5 or not wide else np.nextafter(down, np.inf))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("real", [np.float64, np.longdouble])
def test_rows_bound_what_rounding_does(rng, form, real):
    """Against sums of fractions; the bounds are those of the docstring, not many times larger."""
    X = rng.standard_normal((5, 7)) * 10.0 ** rng.integers(-3, 4, 7) * (rng.random((5, 7)) < 0.8)
    if form is sp.csr_array and real is np.longdouble:
        pytest.skip("scipy multiplies in float64")
    rows = rounding.Rows(form(X), real)
    p, a = rng.standard_normal(7).astype(real), rng.standard_normal(5).astype(real)
    eps = float(np.finfo(real).eps)
    frac = [[Fraction(float(v)) for v in row] for row in X]
    P = [Fraction(float(v)) for v in p]
    exact = [sum(x * q for x, q in zip(row, P, strict=True)) for row in frac]
    sizes = [float(sum(abs(x * q) for x, q in zip(row, P, strict=True))) for row in frac]
    norms = [float(sum(x * x for x in row)) ** 0.5 for row in frac]
    found, slip, reach = rows.values(p), rows.slip(p), rows.reach(p)
    for i in range(5):
        high = float(found[i])
        value = Fraction(high) + Fraction(float(found[i] - high))
        assert abs(float(value - exact[i])) <= slip[i]
        assert sizes[i] <= reach[i] <= norms[i] * float(np.sqrt((p * p).sum())) * (1 + 1e-14)
        assert slip[i] == pytest.approx(11 * eps * float(reach[i]), rel=1e-14)
        assert norms[i] * (1 + 7 * EPS) <= rows.norms[i] <= norms[i] * (1 + 15 * EPS)  # 11 +- 3.75
    both = rows.values(np.array([p, 2 * p]))
    np.testing.assert_allclose(
        both.astype(float), np.column_stack([found, 2 * found]).astype(float)
    )
    np.testing.assert_allclose(
        rows.pull(a).astype(float), (a @ X).astype(float), rtol=1e-13, atol=1e-13
    )
    square, off = rows.square(p)
    assert square == (p * p).sum()
    assert off == pytest.approx(11 * eps * float(square), rel=1e-14)
    size = abs(a) + 1
    length = np.sqrt(((a @ X) ** 2).sum()) * (1 + 11 * eps)
    expected = (length + 2 * 13 * eps * (size * norms).sum()) ** 2
    assert float(rows.pulled_square(a, size)) == pytest.approx(float(expected), rel=6e-15)
    off = rows.pulled_square(a, size * 1e12 / (eps / EPS)) - length**2  # large enough to see
    most = 2 * 13 * EPS * (size * 1e12 * norms).sum()
    assert float(off) == pytest.approx(float((length + most) ** 2 - length**2), rel=1e-9)


def test_row_norms_of_integers_and_zeros():
    X = np.array([[3, 4], [0, 0]])
    for given in (X, X.astype(np.float32), sp.csr_array(X)):
        norms = rounding.row_norms(given)
        assert norms.dtype == np.float64
        np.testing.assert_allclose(norms, [5.0, 1e-145], rtol=1e-14)
        assert norms[0] > 5.0


@pytest.mark.parametrize("real", [np.float64, np.longdouble])
def test_gram_matrices_bound_what_rounding_does(rng, real):
    A = rng.standard_normal((6, 3))
    K = A @ A.T
    gram, eps = rounding.Gram(K, real), float(np.finfo(real).eps)
    p = rng.standard_normal(6).astype(real)
    values, reach = gram.values(p), gram.reach(p)
    np.testing.assert_allclose(values.astype(float), (K @ p).astype(float), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(reach.astype(float), (abs(K) @ abs(p)).astype(float), rtol=1e-14)
    np.testing.assert_allclose(
        gram.slip(p).astype(float), (10 * eps * reach).astype(float), rtol=1e-14
    )
    np.testing.assert_allclose(gram.norms, np.sqrt(K.diagonal()))
    assert gram.values(p) is values
    assert gram.values(p.copy()) is not values
    assert gram.pull(p) is p
    terms = (abs(p) * (abs(K) @ abs(p))).sum()
    square, off = gram.square(p)
    assert float(square) == pytest.approx(float(p @ K @ p), rel=1e-12)
    assert float(off) == pytest.approx(float(20 * eps * terms), rel=1e-13)
    size = 1e12 * (EPS / eps) * (abs(p) + 1)  # large enough to see
    miss = 14 * eps * size
    expected = square + off + (miss * (abs(K) @ (2 * abs(p) + miss))).sum()
    assert float(gram.pulled_square(p, size)) == pytest.approx(float(expected), rel=1e-13)
    less = rounding.Gram(np.diag([-1.0, 4.0]), real)
    assert less.square(np.array([1.0, 0.0], real))[0] == 0.0
    np.testing.assert_array_equal(less.norms, [0.0, 2.0])


# ---- descents -------------------------------------------------------------------------------------


def test_small_weights_are_left_out_if_the_bound_allows_it():
    """Offsets and orthogonal gradients chosen so that D is known."""
    problem = ScoreProblem(np.eye(3), lambda s: None, 1.0)
    problem.state.W = np.zeros(3)
    weights, offsets, rows, dual = structured.without_negligible(problem, 1.0)
    assert (len(weights), len(offsets), rows.shape, dual) == (0, 0, (0, 3), 0.0)
    for offset, a in ((1.0, [1.0, 0, 0]), (0.9, [0, 1.0, 0]), (0.5, [0, 0, 1e-3])):
        problem.cuts.add(offset, np.array(a), np.array(a))

    def left(lam, primal):
        problem.weights = np.array(lam)
        weights, offsets, rows, dual = structured.without_negligible(problem, primal)
        A = rows.toarray()
        assert weights.sum() == pytest.approx(1.0)
        assert dual == pytest.approx(
            weights @ offsets - 0.5 * ((weights @ A) ** 2).sum(), rel=1e-14
        )
        return [int(np.flatnonzero(row)[0]) for row in A], dual

    assert left([0.6, 0.4 - 1e-7, 1e-7], 0.71)[0] == [0, 1]
    assert left([0.6, 0.4 - 1e-10, 1e-10], 0.71)[0] == [0, 1]
    at = naive = left([0.6, 0.4, 0.0], 0.71)[1]
    assert naive == pytest.approx(0.96 - 0.26)
    # leaving out the smallest costs more than a hundredth of the gap: it stays
    problem.cuts.add(1e4, np.array([0, 0, 200.0]), np.array([0, 0, 200.0]))
    assert left([0.6, 0.4 - 1e-7, 0.0, 1e-7], at + 1.01e-3)[0] == [0, 1, 2]
    assert left([0.6, 0.4 - 1e-7, 0.0, 1e-7], at + 1.0)[0] == [0, 1]
    # one cut alone may be a better bound than all of them
    assert left([0.0, 1e-300, 0.0, 0.0], 1.0) == ([0], 0.5)
    assert left([0.0, 0.0, 0.0, 0.0], 1.0) == ([0], 0.5)
    assert left([0.0, 1e-7, 1.0 - 1e-7, 0.0], 1.0)[0] == [0]


def test_arithmetics_that_are_worth_trying():
    both, single, wide = [np.float64, np.longdouble], [np.float64], [np.longdouble]
    for products, times, expected in (
        (100_000, 1, wide), (50_000, 2, wide), (100_001, 1, both), (50_001, 2, both), (3, 10**9, both),
        (100_000_000, 1, both), (100_000_001, 1, single), (100_000_001, 0, wide),
    ):  # fmt: skip
        assert rounding.precisions(products, times) == expected
    assert rounding.precisions(100_000) == wide
