"""APSVM as its users meet it; every fit is judged by certificates recomputed from its attributes."""

from itertools import pairwise

import numpy as np
import pytest
from _certified import check_certificate
from _estimators import outliers
from _naive_ap_svm import (
    average_precision,
    cut,
    hinge,
    mean_hinge,
    queries,
    ramp,
)
from _problems import assert_same_optimum, quietly
from _problems import relevant as problem

from fast import APSVM
from fast.estimators._threshold import best_threshold

SOLVERS = ["bundle", "cutting_plane"]


def fit(X, y, groups=None, **params):
    return quietly(APSVM(**{"C": 3.0, "tol": 1e-4, **params}), X, y, groups=groups)


# ---- queries --------------------------------------------------------------------------------
def grouped(seed=0, sizes=(9, 20, 14, 7)):
    rng = np.random.default_rng(seed)
    names = np.array(["pear", "apple", "fig", "Zebra"])[: len(sizes)]
    groups = np.repeat(names, sizes)
    y = np.concatenate([np.arange(s) < 2 + s // 5 for s in sizes])
    order = rng.permutation(len(y))  # not contiguous
    y, groups = y[order], groups[order]
    X = rng.standard_normal((len(y), 4)) + 0.5 * y[:, None]
    return X, y, groups


@pytest.mark.parametrize("solver", SOLVERS)
def test_queries_are_averaged(solver):
    X, y, groups = grouped()
    model = fit(X, y, groups, solver=solver)
    assert model.dual_gap_ <= 1e-4
    check_certificate(model, X, y, groups=groups)
    s = model.decision_function(X)
    each = [average_precision(s[q], y[q]) for q in queries(y, groups)]
    assert model.score(X, y, groups) == pytest.approx(np.mean(each), rel=1e-12)
    assert model.score(X, y) == pytest.approx(average_precision(s, y), rel=1e-12)
    assert 1.0 - np.mean(each) <= mean_hinge(s, y, groups) + 1e-12


@pytest.mark.parametrize("params", [{}, {"solver": "cutting_plane"}, {"ramp": True}], ids=repr)
@pytest.mark.parametrize(
    "sizes", [(40, 40, 30), (600, 40, 30)]
)  # long queries are ranked one by one
def test_weights_of_queries(params, sizes):
    rng = np.random.default_rng(7)
    groups, y = np.repeat(np.arange(3), sizes), rng.random(sum(sizes)) < 0.3
    X, order = rng.standard_normal((len(y), 4)) + 0.5 * y[:, None], rng.permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    share = np.array([1.0, 0.0, 2.5])
    model = APSVM(C=3.0, tol=1e-6, **params).fit(
        X, y, groups=groups, query_weight=4 * share[groups]
    )
    s, parts = X @ model.coef_[0], [groups == q for q in range(3)]
    share /= share.sum()
    loss = ramp if "ramp" in params else hinge
    value = sum(p * loss(s[q], y[q]) for p, q in zip(share, parts, strict=True))
    P = 0.5 * model.coef_[0] @ model.coef_[0] + 3.0 * value
    if "ramp" in params:
        assert model.objectives_[-1] == pytest.approx(P)
        return
    assert model.primal_objective_ == pytest.approx(P)
    total, v = 0.0, np.zeros(len(y))
    for weight, ranking in zip(model.dual_coef_, model.rankings_, strict=True):
        for p, q in zip(share, parts, strict=True):
            offset, a = cut(ranking[q], y[q])
            total, v[q] = total + weight * p * offset, v[q] + weight * p * a
    assert model.dual_objective_ == pytest.approx(total - 0.5 * np.sum((X.T @ v) ** 2))
    rows = [np.flatnonzero(groups == q) for q in (0, 0, 2, 2, 2, 2, 2)]
    names, rows = np.repeat(np.arange(7), [len(r) for r in rows]), np.concatenate(rows)
    copied = fit(X[rows], y[rows], names, tol=1e-6)
    assert_same_optimum(model, copied, 1e-5)


def test_a_shift_of_a_query_changes_nothing_but_the_threshold():
    """Each query is ranked by itself: a feature that only tells queries apart gets no weight."""
    X, y, groups = grouped(1)
    constant = (groups == "fig").astype(float)[:, None]
    model = fit(np.hstack([X, 10 * constant]), y, groups, tol=1e-6)
    assert abs(model.coef_[0, -1]) <= 1e-9
    assert_same_optimum(model, fit(X, y, groups, tol=1e-6), 1e-6)


def test_one_query_is_none_and_repeated_queries_count_once_each():
    X, y, groups = grouped(2)
    assert_same_optimum(fit(X, y, np.full(len(y), 7)), fit(X, y), 1e-3)
    twice = np.concatenate([groups, [f"{g} again" for g in groups]])
    double = fit(np.vstack([X, X]), np.concatenate([y, y]), twice)
    assert_same_optimum(double, fit(X, y, groups), 1e-3)
    assert_same_optimum(fit(X, y, groups.astype(object)), fit(X, y, groups), 1e-3)


# ---- the threshold of predict ---------------------------------------------------------------
def naive_threshold(s, y):
    """Best accuracy over all cuts; the widest gap, then the lowest."""
    values = np.unique(s)
    beyond = 0.5 * (values[-1] - values[0]) or 1.0
    cuts = [(0.0, values[0] - beyond), (0.0, values[-1] + beyond)]
    cuts += [(b - a, a + 0.5 * (b - a)) for a, b in pairwise(values)]
    right = [np.sum((s > t) == y) for _, t in cuts]
    best = [c for c, r in zip(cuts, right, strict=True) if r == max(right)]
    return min(best, key=lambda c: (-c[0], c[1]))[1], max(right)


def test_threshold_is_the_most_accurate_in_the_widest_gap():
    rng = np.random.default_rng(5)
    for trial in range(500):
        n = int(rng.integers(2, 12))
        s = rng.integers(-3, 4, n) / 2.0 if trial % 2 else rng.standard_normal(n)
        y = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
        t = best_threshold(s, y)
        expected, right = naive_threshold(s, y)
        assert t == expected
        assert np.sum((s > t) == y) == right


def test_threshold_between_neighbouring_floats():
    for low in (1.0, np.nextafter(1.0, 2.0), -1.0, 0.0, 5e-324, 1e308):
        s = np.array([low, np.nextafter(low, np.inf)])
        y = np.array([False, True])
        t = best_threshold(s, y)
        np.testing.assert_array_equal(s > t, y)
        np.testing.assert_array_equal(s - t > 0.0, y)  # as decision_function computes it


@pytest.mark.parametrize("s", [[1e17] * 3, [1 + 2**-51, 1 + 3 * 2**-52, 1 + 3 * 2**-52], [0.0] * 3])
@pytest.mark.parametrize("y", [[True, False, True], [False, True, False]])
def test_a_threshold_beyond_all_scores_is_beyond_them_in_floating_point_too(s, y):
    s, y = np.array(s), np.array(y)
    predicted = s > best_threshold(s, y)
    best = max(np.mean((s > t) == y) for t in [-np.inf, *s])
    assert np.mean(predicted == y) == best


def test_predict_uses_the_threshold():
    X, y = problem(6)
    model = fit(X, y)
    s = X @ model.coef_[0]
    assert model.intercept_.shape == (1,)
    assert -model.intercept_[0] == naive_threshold(s, y)[0]
    np.testing.assert_allclose(model.decision_function(X), s + model.intercept_, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0.0)
    assert model.score(X, y) == average_precision(s, y)


# ---- data of any kind -----------------------------------------------------------------------


@pytest.mark.parametrize("positives", [1, 29])
def test_one_positive_or_one_negative(positives):
    X, y = problem(11, n=30)
    y = np.arange(30) < positives
    model = fit(X, y)
    assert model.dual_gap_ <= 1e-4
    check_certificate(model, X, y)


def test_two_examples_and_zero_features():
    y = np.array([False, True])
    model = fit(np.array([[1.0], [3.0]]), y, C=1.0, tol=1e-9)
    check_certificate(model, np.array([[1.0], [3.0]]), y)
    # L = max(0, 1/2 - 2 * 2 w): w = 1/8 reaches 0, as C = 1 is worth it
    assert model.coef_[0, 0] == pytest.approx(0.125, rel=1e-6)
    assert model.predict([[1.0], [3.0]]).tolist() == [False, True]
    X, y = problem(12)
    model = fit(np.zeros_like(X), y)
    assert not model.coef_.any()
    assert model.dual_gap_ <= 1e-4
    check_certificate(model, np.zeros_like(X), y)
    assert model.score(np.zeros_like(X), y) == average_precision(np.zeros(len(y)), y)


# ---- ramp -----------------------------------------------------------------------------------
def test_the_ramp_bounds_the_loss_and_is_below_the_hinge():
    X, y = outliers(3)
    model, hinge = fit(X, y, C=20.0, ramp=True), fit(X, y, C=20.0)
    s = X @ model.coef_[0]
    assert 1.0 - average_precision(s, y) <= ramp(s, y) + 1e-12 <= 1.0 + 2e-12
    for attribute in ("objectives_", "n_rounds_", "reference_ranking_"):
        assert not hasattr(hinge, attribute)
    w = hinge.coef_[0]
    assert 0.5 * w @ w + 20.0 * ramp(X @ w, y) <= hinge.primal_objective_ * (1 + 1e-12)


def test_it_settles_no_higher_than_where_it_began():
    X, y = outliers(4)
    model = APSVM(C=20.0, tol=1e-4, ramp=True).fit(X, y)
    first = model.objectives_.copy()
    assert model.n_rounds_ >= 2
    assert first[-1] < first[0]
    model.set_params(ramp=False).fit(X, y)
    check_certificate(model, X, y)
    assert not hasattr(model, "objectives_")
