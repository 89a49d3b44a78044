"""TopKLogisticRegression: certificates against naive twins, weights, starts, probabilities."""

import numpy as np
import pytest
from _certified import check_certificate
from _naive_entropy_erm import (
    check_truncated,
    primal,
    truncated_value,
)
from _problems import classes as problem
from sklearn.linear_model import LogisticRegression

from fast import OneVsAllClassifier, TopKLogisticRegression


def test_softmax_is_multinomial_logistic_regression():
    X, y = problem(3)
    ours = TopKLogisticRegression(C=0.7, tol=1e-12).fit(X, y)
    theirs = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(("offset", "decades"), [(0.0, 8), (1e3, 5)])
def test_two_classes_where_few_examples_outweigh_all_others(offset, decades):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((300, 150)) + offset, np.arange(300) % 2
    weight = 10.0 ** rng.uniform(-decades, decades, 300)
    for model in (TopKLogisticRegression(C=100.0), OneVsAllClassifier(C=100.0, loss="logistic")):
        assert model.fit(X, y, sample_weight=weight).dual_gap_ <= 1e-3


def test_two_classes():
    X, y = problem(4, m=2)
    ours = TopKLogisticRegression(C=1.0, tol=1e-10).fit(X, y)
    check_certificate(ours, X, y)
    # the binary problem in w = w_1 - w_0, where ||W||^2 = ||w||^2/2
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_[1] - ours.coef_[0], theirs.coef_[0], atol=1e-5)
    assert ours.decision_function(X).shape == (len(y),)
    assert ours.predict_proba(X).shape == (len(y), 2)


def test_probabilities_are_refused_for_other_losses():
    X, y = problem(5)
    model = TopKLogisticRegression(k=2).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "k = 2" in str(caught.value.__cause__ or caught.value)
    assert hasattr(TopKLogisticRegression(k=1), "predict_proba")


def test_separable_data_with_a_huge_C_is_certified():
    X, y = problem(9, n=60, m=4, d=30)
    for k in (1, 3):
        model = TopKLogisticRegression(k=k, C=1e8, tol=1e-6, max_iter=400).fit(X, y)
        assert model.dual_gap_ <= 1e-6
        assert model.score(X, y) == 1.0 or k > 1


@pytest.mark.parametrize(("variant", "k"), [("alpha", 1), ("alpha", 2), ("beta", 2)])
@pytest.mark.parametrize(("scale", "C"), [(1e3, 1e8), (1e6, 1e4)])
def test_separable_data_with_a_huge_scale_are_solved(variant, k, scale, C):
    rng = np.random.default_rng(0)  # products in float32 overflow unless directions are scaled
    X, y = scale * rng.standard_normal((32, 60)), np.arange(32) % 4
    model = TopKLogisticRegression(k=k, variant=variant, C=C, tol=1e-9).fit(X, y)
    assert model.dual_gap_ <= 1e-9
    assert model.n_iter_ <= 100  # Newton's, with a Hessian that is right where 1 - s is 1


# ---- truncated ------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [2, 3, 4])
def test_truncated_descends_and_certifies_its_last_convex_step(k):
    X, y = problem(13, n=150, m=6, d=8)
    settings = {"k": k, "C": 2.0, "tol": 1e-8}
    model = TopKLogisticRegression(truncated=True, **settings).fit(X, y)
    softmax = TopKLogisticRegression(k=1, C=2.0, tol=1e-8).fit(X, y)
    r = np.full(len(y), 2.0)
    values = model.truncated_objectives_
    assert len(values) > 2
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    start = primal(softmax.coef_, X, y, r, lambda u: truncated_value(u, k))
    assert values[0] == pytest.approx(start, rel=1e-4)
    assert model.kept_.shape == (len(y), 6)
    assert (model.kept_.sum(axis=1) == 6 - k + 1).all()
    assert model.kept_[np.arange(len(y)), y].all()
    check_truncated(model, X, y)
    assert (model.primal_objective_ - model.dual_objective_) / model.primal_objective_ <= 1e-8


def test_iterations_of_a_truncated_fit_are_counted_through():
    X, y = problem(13, n=150, m=6, d=8)
    model = TopKLogisticRegression(k=3, truncated=True, tol=1e-8).fit(X, y, eval_set=[(X, y)])
    watched = model.evals_result_["eval_0"]["iteration"]
    assert (np.diff(watched) > 0).all()
    assert watched[-1] == model.n_iter_ == model.history_["iteration"][-1]


def test_a_refit_forgets_what_belongs_to_other_parameters():
    X, y = problem(14)
    model = TopKLogisticRegression(k=2, truncated=True).fit(X, y, eval_set=[(X, y)])
    model.set_params(truncated=False, kernel="rbf").fit(X, y)
    for name in ("coef_", "kept_", "truncated_objectives_", "evals_result_"):
        assert not hasattr(model, name)
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "X_fit_")
    check_certificate(model, X, y)


def test_truncated_with_one_guess_is_softmax():
    X, y = problem(14)
    a = TopKLogisticRegression(truncated=True, tol=1e-9).fit(X, y)
    b = TopKLogisticRegression(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-6)
    assert a.kept_.all()
