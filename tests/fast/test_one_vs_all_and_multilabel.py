"""One-vs-all and multilabel estimators beside independent certificates, scikit-learn and other losses."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import classes, quietly
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.svm import LinearSVC

from fast import (
    MultilabelClassifier,
    OneVsAllClassifier,
    TopKLogisticRegression,
    TopKSVC,
    regularization_path,
)
from fast.estimators.multilabel import best_threshold
from fast.solvers.class_grams import solved, weighted_grams
from fast.solvers.one_vs_rest_ascent import product_pass
from verification.certificates.fitted import judge_claims
from verification.verdicts.verdict import Verdict

RNG = np.random.default_rng(0)
X, Y = classes(0, n=60, m=4, d=5)
LABELS = (X @ RNG.standard_normal((5, 6)) + RNG.standard_normal((60, 6))) > 0.7
BOTH = (OneVsAllClassifier, MultilabelClassifier)


def labels_of(make):
    """Labels that an estimator is made for."""
    return Y if make is OneVsAllClassifier else LABELS


def fitted(make, loss, features=X, y=None, weight=None, **params):
    """A model that may warn."""
    model = make(loss, random_state=0, **{"gamma": 0.5, "tol": 1e-6} | params)
    return quietly(model, features, labels_of(make) if y is None else y, weight)


@pytest.mark.parametrize("C", [0.05, 3.0])
def test_one_vs_all_is_one_problem_for_each_class(C):
    hinge, logistic = (
        fitted(OneVsAllClassifier, loss, C=C, tol=1e-9) for loss in ("hinge", "logistic")
    )
    for j in range(4):
        svc = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-8, max_iter=10**6)
        np.testing.assert_allclose(hinge.coef_[j], svc.fit(X, j == Y).coef_[0], atol=1e-4)
        model = LogisticRegression(C=C, fit_intercept=False, solver="newton-cholesky", tol=1e-9)
        np.testing.assert_allclose(logistic.coef_[j], model.fit(X, j == Y).coef_[0], atol=1e-5)
    p = logistic.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(logistic.classes_[p.argmax(axis=1)], logistic.predict(X))
    assert not hasattr(hinge, "predict_proba")


def test_with_one_right_label_they_are_the_multiclass_losses():
    one = np.eye(4, dtype=np.int64)[Y]
    for loss, other in (
        ("hinge", TopKSVC(C=0.3, tol=1e-9)),
        ("entropy", TopKLogisticRegression(C=0.3, tol=1e-9)),
    ):
        W = other.fit(X, Y).coef_
        for y in (one, sp.csr_array(one), Y):
            model = fitted(MultilabelClassifier, loss, y=y, C=0.3, tol=1e-9)
            np.testing.assert_allclose(model.coef_, W, atol=1e-4)
        assert not model.multilabel_
        np.testing.assert_array_equal(model.predict(X), (X @ model.coef_.T).argmax(axis=1))


def test_features_beyond_matrices_and_heavy_weights():
    """Coordinate ascent alone raises the weights in steps; inner problems where it gets slow."""
    wide, y = classes(1, n=80, m=3, d=450)
    model = OneVsAllClassifier(C=1.0, tol=1e-6, solver="proximal").fit(wide, y)
    assert judge_claims(model, wide, y).verdict is Verdict.PASS
    assert model.dual_gap_ <= 1e-6
    for solver, C in (("sdca", 50.0), ("proximal", 200.0), ("proximal", 50.0)):
        model = fitted(MultilabelClassifier, "hinge", C=C, tol=1e-4, solver=solver)
        assert judge_claims(model, X, LABELS).verdict is Verdict.PASS
        assert model.dual_gap_ <= 1e-4


def test_a_pass_over_products_of_rows_is_exact():
    rows, r = RNG.standard_normal((20, 7)) + 1.0, RNG.uniform(0.0, 1.0, 20)
    rows[3] = 0.0
    signs, order = RNG.choice([-1.0, 1.0], 20), RNG.permutation(20)
    K, x, f = rows @ rows.T, np.zeros(20), np.zeros(20)
    naive = np.zeros(20)
    for _ in range(3):
        before = naive.copy()
        for i in order:
            slope = 0.7 - signs[i] * rows[i] @ (rows.T @ (signs * naive))
            step = slope / K[i, i] if i != 3 else np.inf
            naive[i] = np.clip(naive[i] + step, 0.0, r[i])
        assert product_pass(K, signs, r, 0.7, order, x, f) == np.count_nonzero(naive != before)
        np.testing.assert_allclose(x, naive, atol=1e-12)
        np.testing.assert_allclose(f, K @ (signs * x), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_wide_rows_far_from_the_origin_are_trained_by_their_products(dtype):
    """Coordinate ascent creeps there, and the interior point method ends it; n_jobs changes no bit."""
    wide, y = classes(1, n=40, m=3, d=900)
    weight = RNG.choice([0.0, 1.0, 2.0], 40)
    for away, C in ((0.0, 1e-3), (0.0, 10.0), (30.0, 10.0)):
        data = (wide + away).astype(dtype)
        model, again = (
            OneVsAllClassifier(C=C, tol=1e-6, n_jobs=n_jobs).fit(data, y, weight) for n_jobs in (1, 2)
        )
        assert model.solver_ == "sdca"
        assert model.coef_.tobytes() == again.coef_.tobytes()
        assert model.dual_gap_ <= 1e-6
        assert judge_claims(model, data, y, weight).verdict is Verdict.PASS
        assert not np.asarray(model.dual_coef_[weight == 0.0].sum()).any()
        rival = OneVsAllClassifier(C=C, tol=1e-6, solver="proximal").fit(data, y, weight)
        gap = model.primal_objective_ - rival.primal_objective_
        assert abs(gap) <= 1e-6 * rival.primal_objective_
        warm = model.set_params(warm_start=True, C=1.1 * C).fit(data, y, weight)
        assert warm.dual_gap_ <= 1e-6


@pytest.mark.parametrize("make", BOTH)
def test_paths_warm_starts_and_sets_to_watch(make):
    y = labels_of(make)
    for loss in make.object_names:
        path = regularization_path(make(loss, tol=1e-4), X, y, [1.0, 0.01, 0.1], eval_set=[(X, y)])
        assert [model.C for model in path] == [0.01, 0.1, 1.0]
        for model in path:
            assert judge_claims(model, X, y).verdict is Verdict.PASS
            assert model.dual_gap_ <= 1e-4
        assert path.best(X, y).score(X, y) == max(model.score(X, y) for model in path)
        seen, f = model.evals_result_["eval_0"], X @ model.coef_.T
        if make is MultilabelClassifier:
            some = y.any(axis=1)
            last = label_ranking_average_precision_score(y[some], f[some])
            assert seen["average_precision"][-1] == pytest.approx(last, abs=0.02)
        else:
            assert seen["accuracy"][-1] == pytest.approx(model.score(X, y), abs=0.02)
        again = make(loss, tol=1e-4, warm_start=True).fit(X, y)
        before = again.n_iter_
        assert again.fit(X, y).n_iter_ <= before


def test_the_threshold_is_the_best_one():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        f, own, weight = rng.integers(0, 5, (7, 3)) / 2, rng.random((7, 3)) < 0.5, rng.random(7)
        found = best_threshold(f, own, weight)
        wrong = [
            weight @ ((f > t) != own).sum(axis=1) for t in (found, *np.arange(-0.75, 3.0, 0.5))
        ]
        assert wrong[0] == pytest.approx(min(wrong))
    model = fitted(MultilabelClassifier, "hinge")
    np.testing.assert_array_equal(model.predict(X), (X @ model.coef_.T - model.threshold_) > 0)


def test_matrices_of_all_classes():
    rows, T = RNG.standard_normal((50, 4)), RNG.random((50, 6))
    for few in (T, T * (RNG.random(T.shape) < 0.1)):
        for wanted in (np.arange(6), np.array([4, 1])):
            naive = [np.eye(4) + rows.T @ np.diag(few[:, j]) @ rows for j in wanted]
            np.testing.assert_allclose(weighted_grams(rows, few, wanted), naive, atol=1e-12)


def test_features_of_1e13_leave_a_step():
    """Beside their squares the regulariser's I is lost: exactly singular, then."""
    H, r = np.full((1, 2, 2), 1e20) + np.eye(2), np.array([[1.0], [-2.0]])
    assert np.linalg.matrix_rank(H[0]) == 1
    step = solved(H, r)
    assert np.isfinite(step).all()
    assert np.vdot(step, r) > 0.0
    for seed in (1, 15, 17):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(5, 40), rng.integers(1, 6)
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(4, 8)
        X[:, 0] *= 1e6
        y = np.r_[0, 1, 2, rng.integers(0, 3, n - 3)]
        model = quietly(OneVsAllClassifier(C=1e3, fit_intercept=True), X, y)
        assert judge_claims(model, X, y).ok
        assert model.primal_objective_ <= 1e3 * 3 * n * (1 + 1e-12)  # that of no weights
