"""TopKLogisticRegression: certificates against naive twins, weights, starts, probabilities."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _naive_entropy_erm import (
    check_truncated,
    loss_value,
    primal,
    truncated_value,
)
from _problems import classes as problem
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fast import TopKLogisticRegression
from fast.errors import InvalidParameterError
from fast.models.multiclass_erm import TopKEntropy

VARIANTS = [("alpha", 1), ("alpha", 2), ("alpha", 4), ("beta", 2), ("beta", 4)]


@pytest.mark.parametrize(("variant", "k"), VARIANTS)
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e3])
@pytest.mark.parametrize("tol", [1e-2, 1e-10])
def test_certificates(variant, k, C, tol):
    X, y = problem(1, n=120)
    X = np.hstack([X, X**2, X**3])  # too large to be solved to rounding whatever tol is
    X = np.hstack([X] * 4) / 4.0
    model = TopKLogisticRegression(k=k, variant=variant, C=C, tol=tol, max_iter=500).fit(X, y)
    assert model.dual_gap_ <= tol
    check_certificate(model, X, y)


@pytest.mark.parametrize(("variant", "k"), VARIANTS)
def test_the_optimum_is_that_of_a_general_minimiser(variant, k):
    X, y = problem(2, n=30, m=5, d=2)
    model = TopKLogisticRegression(k=k, variant=variant, C=0.5, tol=1e-9).fit(X, y)
    r = np.full(len(y), 0.5)

    def risk(w):
        return primal(w.reshape(5, 2), X, y, r, lambda u: loss_value(u, variant, k))

    found = minimize(risk, np.zeros(10), method="BFGS", jac="3-point", options={"gtol": 1e-7})
    assert model.dual_objective_ <= found.fun + 1e-9
    assert model.primal_objective_ <= found.fun + 1e-9


def test_softmax_is_multinomial_logistic_regression():
    X, y = problem(3)
    ours = TopKLogisticRegression(C=0.7, tol=1e-12).fit(X, y)
    theirs = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)


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


@pytest.mark.parametrize(("variant", "k"), [("alpha", 1), ("alpha", 3), ("beta", 3)])
@pytest.mark.parametrize("form", ["csr", "float32", "strided"])
def test_forms_of_the_features(variant, k, form):
    X, y = problem(6)
    X[np.abs(X) < 0.4] = 0.0
    X = X.astype(np.float32).astype(float)
    given = {
        "csr": sp.csr_array(X),
        "float32": X.astype("f"),
        "strided": np.repeat(X, 2, 1)[:, ::2],
    }
    before = X.copy()
    settings = {"k": k, "variant": variant, "C": 0.3, "tol": 1e-9, "fit_intercept": True}
    model = TopKLogisticRegression(**settings).fit(given[form], y)
    plain = TopKLogisticRegression(**settings).fit(X, y)
    check_certificate(model, X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(("variant", "k"), VARIANTS)
def test_weights_repeat_and_remove(variant, k):
    X, y = problem(7)
    weight = np.random.default_rng(7).integers(0, 4, len(y)).astype(float)
    settings = {"k": k, "variant": variant, "C": 0.2, "tol": 1e-10}
    weighted = TopKLogisticRegression(**settings).fit(X, y, weight)
    repeat = np.repeat(np.arange(len(y)), weight.astype(int))
    repeated = TopKLogisticRegression(**settings).fit(X[repeat], y[repeat])
    check_certificate(weighted, X, y, weight)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert not weighted.dual_coef_[weight == 0].any()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("variant", "k"), [("alpha", 1), ("alpha", 3), ("beta", 3)])
def test_scales_of_the_features(scale, variant, k):
    X, y = problem(8)
    settings = {"k": k, "variant": variant, "tol": 1e-6}
    model = TopKLogisticRegression(C=0.3 / scale**2, **settings).fit(X * scale, y)
    check_certificate(model, X * scale, y)
    assert model.dual_gap_ <= 1e-6
    plain = TopKLogisticRegression(C=0.3, **settings).fit(X, y)
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, atol=2e-3)


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


@pytest.mark.parametrize("lead", [0.0, 10.0, 30.0])
@pytest.mark.parametrize(("variant", "k"), VARIANTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_hessian_where_the_own_class_leads(lead, variant, k, dtype):
    rng = np.random.default_rng(3)
    n, m = 7, 6
    f, y, r = rng.standard_normal((n, m)), np.arange(n) % m, rng.uniform(0.5, 2.0, n)
    f[np.arange(n), y] += lead
    rows = TopKEntropy.named(variant, k).rows(y, r, m)
    A, V = np.empty((n, m)), rng.standard_normal((n, m))
    step = 1e-5
    rows.evaluate(f + step * V, A)
    ahead = A.copy()
    rows.evaluate(f - step * V, A)
    expected = (ahead - A) / (2.0 * step)
    rows.evaluate(f, A)
    product = V.astype(dtype)
    rows.curve(product, np.arange(n))
    scale = abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(product / scale, expected / scale, atol=1e-5)


def test_warm_starts_begin_at_the_last_weights():
    X, y = problem(12, n=500, m=6, d=10)
    cold = TopKLogisticRegression(C=2.0, tol=1e-8).fit(X, y)
    model = TopKLogisticRegression(C=1.9, tol=1e-8, warm_start=True).fit(X, y)
    model.set_params(C=2.0).fit(X, y)
    check_certificate(model, X, y)
    assert model.n_iter_ < cold.n_iter_
    again = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < again
    model.fit(X[:, :7], y)  # other features: as if cold
    check_certificate(model, X[:, :7], y)


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


@pytest.mark.parametrize("max_iter", [1, 2, 3, 9])
@pytest.mark.parametrize("k", [1, 3])
def test_truncated_keeps_to_max_iter(max_iter, k):
    X, y = problem(13, n=400, m=6, d=20)
    model = TopKLogisticRegression(k=k, truncated=True, C=5.0, tol=1e-9, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        model.fit(X, y)
    assert model.n_iter_ == max_iter
    check_truncated(model, X, y)


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


def test_truncated_has_no_variants():
    X, y = problem(14)
    with pytest.raises(InvalidParameterError, match=r"^variant: 'beta' with truncated=True"):
        TopKLogisticRegression(truncated=True, variant="beta", k=2).fit(X, y)


def test_truncated_with_one_guess_is_softmax():
    X, y = problem(14)
    a = TopKLogisticRegression(truncated=True, tol=1e-9).fit(X, y)
    b = TopKLogisticRegression(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-6)
    assert a.kept_.all()


def test_no_warning_on_ordinary_data():
    X, y = problem(17)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in (1, 2, 4):
            for variant in ("alpha", "beta"):
                TopKLogisticRegression(k=k, variant=variant).fit(X, y)
