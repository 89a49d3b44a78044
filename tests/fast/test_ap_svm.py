"""APSVM as its users meet it; every fit is judged by certificates recomputed from its attributes."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
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
from sklearn.callback import ProgressBar

from fast import APSVM
from fast.errors import InvalidParameterError
from fast.estimators._threshold import best_threshold

METHODS = ["divide_and_conquer", "greedy", "search", "select", "all", "numpy"]
SOLVERS = ["bundle", "cutting_plane"]


def fit(X, y, groups=None, **params):
    return quietly(APSVM(**{"C": 3.0, "tol": 1e-4, **params}), X, y, groups=groups)


# ---- certificates ---------------------------------------------------------------------------
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_what_a_fit_claims_follows_from_its_attributes(C, solver):
    X, y = problem(1)
    model = fit(X, y, C=C, solver=solver)
    assert model.dual_gap_ <= 1e-4
    assert model.solver_ == solver
    check_certificate(model, X, y)
    assert model.history_["gap"][-1] == model.dual_gap_


@pytest.mark.parametrize("method", METHODS)
def test_every_inference_trains_the_same_model(method):
    X, y = problem(2)
    X = np.rint(2 * X)  # tied scores
    model, default = fit(X, y, method=method, tol=1e-6), fit(X, y, tol=1e-6)
    check_certificate(model, X, y)
    assert_same_optimum(model, default, 1e-6)


def test_no_other_weights_have_a_smaller_objective():
    X, y = problem(3, n=25, d=3)
    model = fit(X, y, tol=1e-6)
    rng = np.random.default_rng(3)
    w = model.coef_[0]
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(30):
            other = w + size * rng.standard_normal(3)
            value = 0.5 * other @ other + model.C * mean_hinge(X @ other, y)
            assert value >= model.dual_objective_ * (1 - 1e-12)


def test_zero_weights_are_the_first_entry_of_the_history():
    X, y = problem(4)
    history = fit(X, y).history_
    assert set(history) >= {"iteration", "time", "primal", "dual", "gap", "oracle_calls", "active"}
    assert history["iteration"][0] == 0
    assert history["primal"][0] == pytest.approx(3.0 * mean_hinge(np.zeros(len(y)), y), rel=1e-12)
    assert (np.diff(history["primal"]) <= 0.0).all()
    assert (np.diff(history["oracle_calls"]) >= 0).all()


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


def test_weights_that_are_refused_or_change_nothing():
    X, y, groups = grouped(5)
    some = groups == groups[0]
    plain = fit(X, y, groups)
    for query_weight in (np.full(len(y), 7.0), [2] * len(y)):
        model = APSVM(C=3.0, tol=1e-4).fit(X, y, groups=groups, query_weight=query_weight)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
    alone = APSVM(C=3.0, tol=1e-4).fit(X, y, query_weight=np.full(len(y), 0.1))
    np.testing.assert_array_equal(alone.coef_, fit(X, y).coef_)
    first = 1.0 + (np.arange(len(y)) == 0)
    for bad, said in [
        (first, r"2 and 1 in one query.*same weight"),
        (np.where(some, -1.0, 1.0), "least -1"),
        (np.where(some, np.nan, 1.0), "least nan"),
        (np.zeros(len(y)), "least 0, largest 0"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((len(y), 1)), "shape"),
        (["a"] * len(y), "number"),
    ]:
        with pytest.raises(InvalidParameterError, match=said) as caught:
            APSVM().fit(X, y, groups=groups, query_weight=bad)
        assert caught.value.argument == "query_weight"


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
def test_labels_of_any_kind():
    X, y = problem(7)
    by_bool = fit(X, y)
    assert by_bool.classes_.tolist() == [False, True]
    for labels in (np.where(y, 1, -1), np.where(y, 2.0, 1.0), np.where(y, "yes", "no")):
        for given in (labels, labels.astype(object), labels.tolist())[
            :: 1 + (labels.dtype.kind != "U")
        ]:
            model = fit(X, given)
            np.testing.assert_array_equal(model.coef_, by_bool.coef_)
            assert (
                model.predict(X).tolist()
                == np.where(by_bool.predict(X), *labels[[np.argmax(y), np.argmin(y)]]).tolist()
            )
            assert model.score(X, given) == by_bool.score(X, y)
    swapped = fit(X, np.where(y, "a", "b"))  # the second class in sorted order is positive
    assert swapped.classes_[1] == "b"
    check_certificate(swapped, X, np.where(y, "a", "b"))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_array])
def test_sparse_features(kind):
    X, y = problem(8)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    model, dense = fit(kind(X), y, tol=1e-6), fit(X, y, tol=1e-6)
    check_certificate(model, X, y)
    assert_same_optimum(model, dense, 1e-6)
    np.testing.assert_allclose(model.decision_function(kind(X)), model.decision_function(X))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_is_certified_in_double(sparse, solver):
    X, y = problem(9)
    X = X.astype(np.float32)
    model = fit(sp.csr_array(X) if sparse else X, y, tol=1e-7, solver=solver)
    assert model.coef_.dtype == np.float64
    assert model.dual_gap_ <= 1e-7
    check_certificate(model, X.astype(float), y)


@pytest.mark.parametrize("fraction", [0.0, 1.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_does_not_overflow(solver, fraction):
    X, y = problem(9, n=30, shift=3.0)
    X = (1e8 * X).astype(np.float32)
    model = fit(X, y, C=1e60, solver=solver, max_iter=3, easy_fraction=fraction)
    assert np.isfinite(model.coef_).all()
    assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)


def test_pandas():
    pd = pytest.importorskip("pandas")
    X, y = problem(10)
    names = [f"f{i}" for i in range(X.shape[1])]
    frame, labels = pd.DataFrame(X, columns=names), pd.Series(np.where(y, "rel", "not"))
    labels = labels.map({"rel": "yes", "not": "no"})
    groups = pd.Series(np.where(np.arange(len(y)) % 2, "a", "b"))
    model = fit(frame, labels, groups)
    assert model.feature_names_in_.tolist() == names
    check_certificate(model, X, labels.to_numpy(), groups=groups.to_numpy())
    assert set(model.predict(frame)) <= {"yes", "no"}
    assert model.score(frame, labels, groups) <= 1.0
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(frame.rename(columns={"f0": "g0"}))
    with pytest.warns(UserWarning, match="valid feature names"):
        model.decision_function(X)


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


@pytest.mark.parametrize("power", [-60, -20, -6, 6, 20, 60])
def test_feature_scales(power):
    """Certificates stay true, and nothing but a ConvergenceWarning is said, at any scale."""
    X, y = problem(13, n=30)
    model = fit(X * 10.0**power, y, max_iter=30)
    assert np.isfinite(model.coef_).all()
    assert 0.0 <= model.dual_gap_ <= 1.0 + 1e-6
    if abs(power) <= 20:
        check_certificate(model, X * 10.0**power, y)


# ---- warm start -----------------------------------------------------------------------------
def test_warm_starts_along_a_path_of_C():
    X, y = problem(15, n=300, d=20, part=0.1)
    warm = APSVM(warm_start=True, tol=1e-4)
    saved = 0
    for C in (10.0, 11.0, 12.0, 13.0):
        warm.set_params(C=C).fit(X, y)
        cold = fit(X, y, C=C)
        check_certificate(warm, X, y)
        assert_same_optimum(warm, cold, 1e-3)
        saved += cold.n_oracle_calls_ - warm.n_oracle_calls_
    assert saved > 0
    before = warm.n_oracle_calls_
    assert warm.fit(X, y).n_oracle_calls_ <= min(3, before)


@pytest.mark.parametrize("change", ["features", "labels", "rows", "groups", "dtype", "names"])
def test_warm_start_stays_certified_when_the_problem_changes(change):
    X, y = problem(16)
    groups = None
    model = APSVM(C=3.0, warm_start=True, tol=1e-4).fit(X, y)
    if change == "features":
        X = np.random.default_rng(0).standard_normal((len(y), 9))
    elif change == "labels":
        y = np.roll(y, 1)
    elif change == "rows":
        X, y = X[:-10], y[:-10]
    elif change == "groups":
        groups = np.arange(len(y)) % 2
    elif change == "dtype":
        X = X.astype(np.float32)
    else:
        y = np.where(y, "a", "b")  # the other class is positive
    model.fit(X, y, groups=groups)
    assert model.dual_gap_ <= 1e-4
    check_certificate(model, X.astype(float), y, groups=groups)


# ---- stopping -------------------------------------------------------------------------------
@pytest.mark.parametrize("params", [{"ramp": True}, {"warm_start": True}, {"easy_fraction": 0.5}])
def test_progress_bars_of_other_fits(params, capsys):
    X, y = problem(22)
    model = APSVM(C=3.0, verbose=1, **params)
    model.set_callbacks(ProgressBar())
    for _ in range(2):  # a warm start may have no iteration
        model.fit(X, y)
    captured = capsys.readouterr()
    assert "APSVM" in captured.out
    assert "gap" in captured.err


# ---- habits of an estimator -----------------------------------------------------------------
def test_a_failed_refit_keeps_the_model():
    X, y = problem(24)
    model = fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(InvalidParameterError, match=r"^C: "):
        model.set_params(C=-1.0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)
