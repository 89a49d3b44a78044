"""Rankings in count form, against orders of the samples that are listed and counted one by one."""

import itertools

import numpy as np
import pytest

from refsolve.errors import InvalidParameterError
from refsolve.losses import average_precision as ap
from verification.selftest.certificates.rankings import Orders

LABELS = [y for n in (2, 3, 4, 5) for y in itertools.product((0, 1), repeat=n) if 0 < sum(y) < n]
LABELS_OF_FOUR = [y for y in LABELS if len(y) == 4]


@pytest.mark.parametrize("y", LABELS, ids=str)
def test_exactly_the_orders_are_rankings(y):
    listed = {tuple(row) for row in ap.all_rankings(y).tolist()}
    assert listed == {order.inversions for order in Orders(y).all}
    assert ap.all_rankings(y)[0].sum() == 0
    P, N = sum(y), len(y) - sum(y)
    for vector in itertools.product(*(range((N if label else P) + 1) for label in y)):
        assert ap.is_ranking(y, vector) == (vector in listed)


@pytest.mark.parametrize("y", LABELS_OF_FOUR, ids=str)
def test_matrices_and_the_joint_feature_map_are_those_of_the_paper(y):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(len(y), 3))
    positive = np.flatnonzero(y)
    negative = np.flatnonzero(np.array(y) == 0)
    perfect = np.zeros((len(y), len(y)))
    perfect[np.ix_(positive, negative)] = 1
    perfect[np.ix_(negative, positive)] = -1
    rankings = ap.all_rankings(y)
    assert np.array_equal(ap.ranking_matrix(y, rankings[0]), perfect)

    def psi(R):
        pairs = [R[i, j] * (X[i] - X[j]) for i in positive for j in negative]
        return np.sum(pairs, axis=0) / (positive.size * negative.size)

    for row in rankings:
        R = ap.ranking_matrix(y, row)
        assert (R == -R.T).all()
        for i, j, k in itertools.permutations(range(len(y)), 3):  # a weak order
            assert not (R[i, j] >= 0 and R[j, k] >= 0 and R[i, k] < 0)
        assert np.array_equal(ap.inversions_from_matrix(y, R), row)
        assert ap.joint_feature_map(X, y, row) == pytest.approx(psi(R), abs=1e-14)
        a = ap.coefficients(y, row)
        assert X.T @ a == pytest.approx(psi(R) - psi(perfect), abs=1e-14)
        assert a.sum() == pytest.approx(0, abs=1e-15)
        assert np.array_equal(ap.from_coefficients(y, a), row)
        assert np.array_equal(ap.repair(y, row), row)


def test_the_feature_map_needs_more_than_the_counts_of_the_positives():
    """Section 3.2 says otherwise: one negative above the positive, but which one?"""
    X, y = np.array([[0.0], [1.0], [3.0]]), [1, 0, 0]
    first, second = [1, 1, 0], [1, 0, 1]
    assert ap.delta(y, first) == ap.delta(y, second)
    apart = ap.joint_feature_map(X, y, first) - ap.joint_feature_map(X, y, second)
    assert apart == pytest.approx(X[1] - X[2], abs=1e-15)


def test_matrices_that_rank_nothing_are_refused():
    y = [1, 0, 1, 0]
    R = ap.ranking_matrix(y, [1, 2, 1, 0])
    cycle = np.zeros((4, 4))  # 0 above 1 above 2 above 3 above 0
    cycle[0, 1] = cycle[1, 2] = cycle[2, 3] = cycle[3, 0] = 1
    cycle -= cycle.T
    for wrong in (np.zeros((4, 4)), np.abs(R), 2 * R, cycle):
        with pytest.raises(InvalidParameterError, match=r"R = "):
            ap.inversions_from_matrix(y, wrong)


def test_prediction_sorts_and_ties_take_the_worst_or_the_best_order():
    rng = np.random.default_rng(5)
    for y in LABELS_OF_FOUR:
        s = rng.integers(-1, 2, size=4)
        values = {
            inversions: -float(ap.coefficients(y, inversions) @ s)
            for inversions in map(tuple, ap.all_rankings(y).tolist())
        }
        best = [r for r, value in values.items() if value <= min(values.values()) + 1e-12]
        precisions = [
            1 - r.delta
            for order, r in zip(itertools.permutations(range(4)), Orders(y).all, strict=True)
            if all(s[i] >= s[j] for i, j in itertools.pairwise(order))
        ]
        for ties, wanted in (("pessimistic", min(precisions)), ("optimistic", max(precisions))):
            found = ap.ranking_from_scores(s, y, ties=ties)
            assert tuple(found.tolist()) in best
            assert ap.average_precision(y, found) == pytest.approx(float(wanted), abs=1e-15)


def test_repair_makes_a_ranking_of_anything():
    rng = np.random.default_rng(6)
    for _ in range(200):
        y = np.array(LABELS[rng.integers(len(LABELS))])
        given = rng.normal(size=y.size) * 10 ** rng.uniform(-1, 3)
        kept = given.copy()
        fixed = ap.repair(y, given)
        assert ap.is_ranking(y, fixed)
        assert ap.is_ranking(y, ap.from_coefficients(y, given))
        assert np.array_equal(given, kept)
        positive = y == 1
        rounded = np.clip(np.rint(given[positive]), 0, (~positive).sum())
        assert np.array_equal(fixed[positive], rounded)


def test_violation_is_the_distance_from_integers_and_from_the_partition():
    y = [1, 1, 0, 0]
    assert ap.violation(y, [1, 2, 2, 1]) == 0
    assert ap.violation(y, [1, 2, 2.25, 1]) == 0.25
    assert ap.violation(y, [1, 2, 1, 1]) == 1
    assert ap.violation(y, [1, 5, 2, 1]) == 3
    assert ap.violation(y, [2, 2, 1, 2]) == 1
    assert not ap.is_ranking(y, [1, 2, 0, 0])


def test_queries_are_ranked_each_for_itself():
    y = np.array([1, 0, 1, 0, 0])
    groups = np.array(["b", "a", "a", "b", "b"])
    a, b = ap.queries(y, groups)
    assert a.tolist() == [1, 2]
    assert b.tolist() == [0, 3, 4]
    assert ap.is_ranking(y, [2, 1, 1, 1, 1], groups)
    assert not ap.is_ranking(y, [2, 1, 1, 1, 1])
    assert not ap.is_ranking(y, [2, 1, 0, 1, 1], groups)
    assert [rows.tolist() for rows in ap.queries(y)] == [[0, 1, 2, 3, 4]]


def test_labels_may_be_signs_booleans_or_bits():
    for y in ([1, 0, 1], [1, -1, 1], [True, False, True], [1.0, -1.0, 1.0]):
        assert ap.delta(y, [0, 1, 1]) == pytest.approx(1 / 6, abs=1e-16)
