"""Bad input ends in an error that names the argument, ours with the fix; never in a crash."""

import _bad_input as bad
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fast import TopKSVC
from fast.errors import FastError, InvalidParameterError

RNG = np.random.default_rng(0)
Y = np.arange(12) % 4
X = RNG.standard_normal((12, 3)) + Y[:, None]


def test_newton_needs_a_smooth_loss():
    with pytest.raises(InvalidParameterError, match=r"^solver: .*gamma = 0.*Fix: set gamma > 0"):
        TopKSVC(solver="newton").fit(X, Y)


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        *bad.data(X, Y),
        (X[0, 0], Y, "2D array"),
        (X[:1], Y[:1], "y: one class|1 sample"),
        (X, np.where(Y == 2, np.nan, Y), "^y: nan in row 2; expected a label for every row"),
    ],
)
@pytest.mark.parametrize("solver", ["active", "sdca"])
def test_data(data, labels, message, solver):
    bad.refused_data(TopKSVC(solver=solver), message, data, labels)


@pytest.mark.parametrize(("weight", "message"), bad.weights(Y))
def test_sample_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        TopKSVC().fit(X, Y, sample_weight=weight)


def test_classes_that_all_weigh_nothing():
    with pytest.raises(InvalidParameterError, match=r"^sample_weight: all zero.*Fix: "):
        TopKSVC(class_weight=dict.fromkeys(range(4), 0.0)).fit(X, Y)


def test_objects_that_are_numbers_are_accepted():
    a = TopKSVC(random_state=0).fit(X.astype(object), Y)
    np.testing.assert_array_equal(a.coef_, TopKSVC(random_state=0).fit(X, Y).coef_)


def test_a_failed_refit_keeps_the_message_clear():
    model = TopKSVC(warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"^k: 2.*<= 1"):
        model.set_params(k=2).fit(X, Y > 1)
    model.set_params(k=1).fit(X, Y > 1)
    assert model.coef_.shape == (2, 3)


@settings(max_examples=150)
@given(
    k=st.one_of(st.integers(-1, 5), bad.ANY_NUMBER),
    C=bad.ANY_NUMBER,
    gamma=bad.ANY_NUMBER,
    tol=bad.ANY_NUMBER,
    variant=st.sampled_from(["alpha", "beta", "delta", None]),
    solver=st.sampled_from(["auto", "active", "sdca", "newton", "x"]),
)
@example(k=1, C=1.0, gamma=1e200, tol=1e-3, variant="alpha", solver="newton")
@example(k=2, C=1e60, gamma=1e-200, tol=1e-9, variant="beta", solver="newton")
@example(k=2, C=1e-60, gamma=1e200, tol=1e-9, variant="beta", solver="active")
@example(k=2, C=1e-60, gamma=0.5, tol=1e-200, variant="alpha", solver="newton")
@example(k=3, C=1e60, gamma=0.0, tol=1e-3, variant="alpha", solver="active")
def test_fuzzed_parameters(k, C, gamma, tol, variant, solver):
    """Either an error of ours, or a model whose claims are consistent."""
    model = TopKSVC(
        k=k, C=C, gamma=gamma, tol=tol, variant=variant, solver=solver, max_iter=5, random_state=0
    )
    error = bad.calm_fit(model, X, Y)
    if error is not None:
        assert isinstance(error, FastError)
        assert error.argument in ("k", "C", "gamma", "tol", "variant", "solver")
        assert "Fix: " in str(error)
        return
    bad.assert_consistent(model)


LABELS = bad.labels(
    st.integers(-2, 2), [0.0, 1.0, -3.0, 0.5], ["", "a", "b"], ["a", "b", "c", None, 1], bad.FLAGS
)


@settings(max_examples=300)
@given(
    X=bad.MATRIX,
    y=LABELS,
    weight=bad.WEIGHTS,
    sparse=st.booleans(),
    solver=st.sampled_from(["active", "sdca"]),
)
def test_fuzzed_data(X, y, weight, sparse, solver):
    if sparse and X.ndim == 2:
        X = sp.csr_array(X)
    model = TopKSVC(solver=solver, max_iter=3, random_state=0)
    error = bad.calm_fit(model, X, y, weight)
    if error is not None:
        assert str(error)
        return
    assert model.coef_.shape == (len(np.unique(y)), X.shape[1])
    bad.assert_consistent(model)
    assert model.predict(X).shape == (X.shape[0],)
