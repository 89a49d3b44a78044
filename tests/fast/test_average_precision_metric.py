"""Average precision against all orders of the ties, in rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from _naive_average_precision import tied_orders
from sklearn.metrics import average_precision_score

from fast import errors
from fast.metrics import average_precision


def test_all_orders_of_ties(rng):
    for _ in range(60):
        n = int(rng.integers(1, 7))
        y = rng.integers(0, 2, n)
        y[rng.integers(n)] = 1
        scores = rng.integers(0, 3, n) / rng.choice([1, 3])
        orders = tied_orders(scores, y)
        assert average_precision(y, scores) == pytest.approx(float(min(orders)), rel=1e-14)
        assert average_precision(y, scores, ties="optimistic") == pytest.approx(
            float(max(orders)), rel=1e-14
        )
        mean = sum(orders, Fraction(0)) / len(orders)
        assert average_precision(y, scores, ties="expected") == pytest.approx(
            float(mean), rel=1e-14
        )


def test_huge_tie_is_the_closed_form():
    n, p = 200_000, 3
    y = np.arange(n) < p
    ranks = np.arange(1, n + 1)
    # The r-th place holds a positive with probability p/n.
    expected = np.sum((1 + (ranks - 1) * (p - 1) / (n - 1)) / ranks) / n
    assert average_precision(y, np.zeros(n), ties="expected") == pytest.approx(expected, rel=1e-12)
    worst = np.mean(np.arange(1, p + 1) / (n - p + np.arange(1, p + 1)))
    assert average_precision(y, np.zeros(n)) == pytest.approx(worst, rel=1e-14)
    assert average_precision(y, np.zeros(n), ties="optimistic") == 1.0


def test_scikit_learn_agrees_without_ties_and_can_exceed_every_order_with_them(rng):
    y, scores = rng.integers(0, 2, 50), rng.permutation(50) / 7
    for ties in ("pessimistic", "optimistic", "expected"):
        assert average_precision(y, scores, ties=ties) == pytest.approx(
            average_precision_score(y, scores)
        )
    y, scores = [0, 1, 1], [2, 1, 1]
    assert average_precision_score(y, scores) == pytest.approx(2 / 3)
    for ties in ("pessimistic", "optimistic", "expected"):
        assert average_precision(y, scores, ties=ties) == pytest.approx(7 / 12)


def test_labels_dtypes_and_only_positives():
    scores = np.array([3, 1, 2], dtype=np.float32)
    for y in ([1, -1, 1], [True, False, True], np.array([1.0, 0.0, 1.0])):
        assert 0 < average_precision(y, scores) <= 1
    assert average_precision([1, 1], [0.5, 0.1]) == 1.0
    assert average_precision([1, 1], [0.5, 0.5], ties="expected") == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], [1.0, 2.0]), "y_true: no positive"),
        (([0, 1], [1.0, np.nan]), r"scores\[1\] = nan"),
        (([0, 1], [1.0, np.inf]), r"scores\[1\] = inf"),
        (([0, 1], [[1.0, 2.0]]), "a vector"),
        (([0, 1, 1], [1.0, 2.0]), r"y_true: shape \(3,\)"),
        (([0, 2], [1.0, 2.0]), r"y_true\[1\] = 2"),
        ((["a", "b"], [1.0, 2.0]), "dtype <U1"),
        (([], []), "at least one entry"),
        (([0, 1], [1.0, 2.0], "sklearn"), "ties: 'sklearn'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        average_precision(*arguments)
