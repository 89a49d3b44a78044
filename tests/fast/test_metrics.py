"""Top-k accuracy against a count, one row at a time."""

import numpy as np
import pytest

from fast import errors
from fast.metrics import topk_accuracy


def naive(y, scores, k):
    right = 0
    for own, row in zip(y, scores, strict=True):
        ahead = sum(1 for j, f in enumerate(row) if j != own and f >= row[own])
        right += ahead < k
    return right / len(y)


def test_against_counting_with_ties(rng):
    for _ in range(30):
        m = int(rng.integers(1, 7))
        scores = np.round(rng.standard_normal((9, m)))
        y = rng.integers(0, m, 9)
        for k in range(1, m + 1):
            assert topk_accuracy(y, scores, k) == pytest.approx(naive(y, scores, k))


def test_constant_scores_are_wrong_below_k_equal_m():
    scores = np.zeros((4, 3))
    assert [topk_accuracy([0, 1, 2, 0], scores, k) for k in (1, 2, 3)] == [0.0, 0.0, 1.0]


def test_labels_are_matched_to_columns_in_any_order():
    scores = np.array([[3, 2, 1], [1, 2, 3]], dtype=np.float32)
    assert topk_accuracy(["c", "a"], scores, 1, classes=["c", "a", "b"]) == 0.5
    assert topk_accuracy(["c", "a"], scores, 2, classes=["c", "a", "b"]) == 1.0
    assert topk_accuracy([30, 10], scores, 1, classes=np.array([30, 20, 10])) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [[1.0, np.nan]], 1), r"scores\[0, 1\] = nan"),
        (([0], [1.0, 2.0], 1), "a matrix"),
        (([0], [[1.0, 2.0]], 3), "k: 3.*number of classes"),
        (([0], [[1.0, 2.0]], 0), "k: 0"),
        (([2], [[1.0, 2.0]], 1), "y_true: class 2"),
        (([0, 1], [[1.0, 2.0]], 1), "y_true: shape"),
        ((["a"], [[1.0, 2.0]], 1, ["b", "c"]), "'a'.*is not in classes"),
        ((["a"], [[1.0, 2.0]], 1, ["a", "a"]), "repeated labels"),
        ((["a"], [[1.0, 2.0]], 1, ["a"]), "classes: shape"),
        (([], np.empty((0, 2)), 1), "at least one row"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        topk_accuracy(*arguments)
