"""Queries: the mean over groups, its cuts, and what is refused."""

import numpy as np
import pytest

from fast import errors
from fast.losses import average_precision as ap
from fast.ranking.losses import METHODS
from fast.ranking.queries import Queries


def problem(rng, sizes):
    """Labels and shuffled groups; each group has both labels."""
    groups = rng.permutation(np.repeat(np.arange(len(sizes)) * 3 - 5, sizes))
    y = rng.random(len(groups)) < 0.3
    for g in np.unique(groups):
        members = np.flatnonzero(groups == g)
        y[members[0]], y[members[-1]] = True, False
    return y, groups


def by_hand(scores, y, groups, method):
    """Mean of the groups' losses, their rankings, and the coefficients of the mean."""
    names = np.unique(groups)
    coefficients, inversions = np.zeros(len(y)), np.zeros(len(y), dtype=int)
    value = delta = active = 0
    for g in names:
        own = groups == g
        one = ap.loss_augmented_inference(scores[own], y[own], method)
        value += one.value / len(names)
        delta += one.delta / len(names)
        coefficients[own] = one.coefficients / len(names)
        p, n = np.sum(y & own), np.sum(~y & own)
        inversions[own] = np.rint(np.abs(one.coefficients) * p * n / 2)
        active += np.count_nonzero(one.coefficients[~y[own]])
    return value, delta, coefficients, active, inversions


@pytest.mark.parametrize("method", METHODS)
def test_mean_over_groups_in_any_order(method, rng):
    for sizes in ([2, 7, 30, 3], [50, 400], [2] * 9):
        y, groups = problem(rng, sizes)
        scores = np.round(rng.standard_normal(len(y)) * 4) / 4 + 0.5 * y
        queries = Queries(y, groups)
        assert (queries.n, queries.n_queries) == (len(y), len(sizes))
        np.testing.assert_array_equal(queries.positives, y)
        cut = queries.infer(scores, method)
        value, delta, coefficients, active, inversions = by_hand(scores, y, groups, method)
        assert cut.value == pytest.approx(value, rel=1e-13)
        assert cut.delta == pytest.approx(delta, rel=1e-13)
        assert cut.active == active
        np.testing.assert_allclose(cut.coefficients, coefficients, rtol=1e-14)
        np.testing.assert_array_equal(queries.inversions(cut.coefficients), inversions)
        assert queries.delta(inversions) == pytest.approx(delta, rel=1e-13)


def test_without_groups_it_is_the_loss_of_all_samples(rng):
    y, scores = rng.random(200) < 0.2, rng.standard_normal(200).astype(np.float32)
    one = ap.loss_augmented_inference(scores, y)
    for queries in (Queries(y), Queries(np.where(y, 1, -1)), Queries(y, ["a"] * 200)):
        cut = queries.infer(scores)
        assert cut.value == one.value
        assert cut.active == one.counts.max()
        np.testing.assert_array_equal(cut.coefficients, one.coefficients)
        assert queries.delta(queries.inversions(cut.coefficients)) == pytest.approx(cut.delta)


def test_groups_by_name_and_many_small_groups(rng):
    y, groups = problem(rng, rng.integers(2, 40, 300))
    scores = rng.standard_normal(len(y))
    cut = Queries(y, groups).infer(scores)
    named = Queries(y, [f"query {g}" for g in groups]).infer(scores)
    assert named.value == pytest.approx(cut.value, rel=1e-14)
    np.testing.assert_array_equal(named.coefficients, cut.coefficients)
    assert cut.value == pytest.approx(by_hand(scores, y, groups, "numpy")[0], rel=1e-13)


def test_a_cut_is_a_lower_bound_everywhere(rng):
    y, groups = problem(rng, [5, 9, 20])
    queries = Queries(y, groups)
    for _ in range(30):
        a, b = rng.standard_normal((2, len(y))) * rng.choice([0.1, 1, 10])
        cut = queries.infer(a)
        assert cut.value == pytest.approx(cut.delta + cut.coefficients @ a, abs=1e-12)
        assert queries.infer(b).value >= cut.delta + cut.coefficients @ b - 1e-12


def test_labels_are_copied_and_inputs_kept():
    y, groups = np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1])
    scores = np.array([0.0, 1.0, 2.0, 3.0])
    queries = Queries(y, groups)
    before = queries.infer(scores)
    y[:] = 0
    groups[:] = 0
    after = queries.infer(scores)
    np.testing.assert_array_equal(before.coefficients, after.coefficients)
    np.testing.assert_array_equal(scores, [0.0, 1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        queries.positives[0] = False


@pytest.mark.parametrize(
    ("y", "groups", "message"),
    [
        ([1, 1], None, "y: 2 positives among 2"),
        ([0, 0, 1, 0], [3, 3, 4, 4], r"groups: 1 without a positive \(3\)"),
        ([1, 0, 1, 1], ["a", "a", "b", "b"], r"groups: 1 without a negative \(b\)"),
        (
            np.zeros(14),
            np.repeat(np.arange(7), 2),
            r"7 without a positive \(0, 1, 2, 3, 4, \.\.\.\)",
        ),
        ([1, 0], [1], r"groups: shape \(1,\)"),
        ([1, 0], [0.5, 0.5], "groups: dtype float64"),
        ([], None, "y: no samples"),
        ([], [], "y: no samples"),
    ],
)
def test_what_has_no_loss_is_refused(y, groups, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        Queries(y, groups)
