"""Small exact cases that a change of one operator or constant showed to be missing elsewhere."""

from fractions import Fraction

import numpy as np
import pytest

from fast import TopKSVC, _rows
from fast._largest import largest
from fast.errors import InvalidParameterError
from fast.losses import (
    multilabel_entropy,
    topk_hinge_alpha,
    topk_hinge_beta,
)
from fast.ranking import exact
from fast.sets import simplex
from fast.solvers.constrained_risk import EasyProblem
from fast.solvers.plain_svm import hinge_offset


def numbers(rng, count):
    """Pairs whose sums and products round."""
    scale = 10.0 ** rng.integers(-12, 13, (count, 2))
    return rng.standard_normal((count, 2)) * scale


def test_sums_and_products_of_two_words_are_exact(rng):
    for a, b in numbers(rng, 200):
        total, error = exact.two_sum(a, b)
        assert (total, Fraction(total) + Fraction(error)) == (a + b, Fraction(a) + Fraction(b))
        total, error = exact.two_product(a, b)
        assert (total, Fraction(total) + Fraction(error)) == (a * b, Fraction(a) * Fraction(b))


def test_sums_of_pairs_keep_both_words(rng):
    for a, b in numbers(rng, 200):
        a_low, b_low = a * 3e-17, b * 2e-17
        high, low = exact.add_pairs(a, a_low, b, b_low)
        wanted = sum(map(Fraction, (a, a_low, b, b_low)))
        size = max(abs(a), abs(b))
        assert abs(Fraction(high) + Fraction(low) - wanted) <= Fraction(size) * Fraction(2) ** -100


@pytest.mark.parametrize("loss", [topk_hinge_alpha, topk_hinge_beta])
def test_a_hinge_on_its_kink_has_the_subgradient_zero(loss):
    scores = np.array([[0.0, 0.0, -2.0, -9.0], [3.0, 2.0, 2.0, 2.0]])  # margins 1, -1, -8; 0, 0, 0
    found = loss.gradient(scores, [0, 0], k=2)
    expected = [[-0.5, 0.5, 0.0, 0.0]] if loss is topk_hinge_beta else [[0.0] * 4]
    np.testing.assert_array_equal(found, [*expected, [0.0] * 4])


def test_the_offset_is_in_the_middle_of_the_best(rng):
    for i in range(60):
        n = int(rng.integers(2, 9))
        y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
        f, cost = rng.standard_normal(n), rng.uniform(0.5, 2.0, n)
        if i % 2:  # equal weights: as many on both sides, a flat piece
            y, cost = np.where(np.arange(n) % 2, -1.0, 1.0), np.ones(n)
        grid = np.sort(y - f)
        values = np.array([cost @ np.maximum(1.0 - y * (f + b), 0.0) for b in grid])
        best = grid[values <= values.min() + 1e-12]
        middle = 0.5 * (best[0] + best[-1])
        assert hinge_offset(f, y, cost) == pytest.approx(middle, abs=1e-12)


def test_rows_of_other_types_are_read_in_pieces(rng, monkeypatch):
    a = rng.standard_normal((9, 4)).astype(np.float32)
    whole = simplex.project(a.astype(np.float64))
    for chunk in (1, 8, 11):
        monkeypatch.setattr(_rows, "CHUNK", chunk)
        np.testing.assert_array_equal(simplex.project(a), whole.astype(np.float32))
        found = topk_hinge_alpha.value(a, np.zeros(9, int), k=2)
        np.testing.assert_allclose(
            found, topk_hinge_alpha.value(a.astype(float), np.zeros(9, int), k=2), rtol=1e-6
        )
    for bad in (np.nan, np.inf):
        with pytest.raises(InvalidParameterError, match="scores"):
            topk_hinge_alpha.value(np.array([[0.0, bad, 1.0]]), [0], k=2)
    a[7, 1] = np.nan
    with pytest.raises(InvalidParameterError, match="scores"):
        topk_hinge_alpha.value(a, np.zeros(9, int), k=2)


@pytest.mark.parametrize("alpha", [1.01, 2.0, 30.0, 1e6])
def test_entropy_steps_keep_masses_far_below_their_label(alpha):
    """Three labels whose scores are almost equal: to first order x_l = (z_l - mean)/(alpha + 3)."""
    z, y = (
        np.array([3 * 2.0**-32, -(2.0**-32), -(2.0**-31), -900.0]),
        np.array([True, True, True, False]),
    )
    block = multilabel_entropy.sdca_update(z, y, alpha)
    np.testing.assert_allclose(-block[:3], z[:3] / (alpha + 3.0), rtol=1e-8)


def test_a_point_is_repaired_as_far_as_it_must_be(rng):
    class Margins:
        def __init__(self, A):
            self.A = A

        def of(self, w):
            return self.A @ w, None

    for _ in range(30):
        feasible = rng.standard_normal(3)
        A = rng.standard_normal((6, 3))
        A[A @ feasible < 0] *= -1.0
        feasible = feasible / (A @ feasible).min()
        problem = object.__new__(EasyProblem)
        problem.margins, problem.feasible = Margins(A), feasible
        for w in (rng.standard_normal(3), 0.7 * feasible, 3.0 * feasible):
            found = problem.repaired(w)
            least = float((A @ w).min())
            assert float((A @ found).min()) == pytest.approx(max(least, 1.0), rel=1e-12)
            if least >= 0.5:
                np.testing.assert_allclose(found, w / min(least, 1.0))


@pytest.mark.parametrize("shape", [(12,), (40, 12), (3, 700)])
@pytest.mark.parametrize("values", [2, 5, 1000])
def test_of_equal_numbers_the_first_are_the_largest(shape, values):
    """On every processor, so that predictions do not depend on it."""
    v = np.random.default_rng(values).integers(values, size=shape) / 8.0
    order = np.argsort(-v, axis=-1, kind="stable")
    for count in (1, 2, 7, 12):
        np.testing.assert_array_equal(largest(v, count), order[..., :count])


def test_the_best_of_equal_scores_is_what_is_predicted():
    model = TopKSVC().fit(np.eye(3), [0, 1, 2])
    model.coef_ = np.zeros((3, 3))
    np.testing.assert_array_equal(
        model.predict_topk(np.eye(3), k=1)[:, 0], model.predict(np.eye(3))
    )
    np.testing.assert_array_equal(model.predict_topk(np.eye(3), k=2), [[0, 1]] * 3)
