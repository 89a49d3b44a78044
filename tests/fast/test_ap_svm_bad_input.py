"""Bad input to APSVM ends in an error that names the argument and the fix; never in a crash."""

import _bad_input as bad
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fast import APSVM
from fast.errors import FastError, InvalidParameterError

RNG = np.random.default_rng(0)
Y = np.arange(12) % 3 == 0
X = RNG.standard_normal((12, 3)) + Y[:, None]
G = np.repeat([5, 3], 6)


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        *bad.data(X, Y),
        (X, np.arange(12) % 3, r"^y: 3 classes.*Only binary classification.*y == label"),
        (X, np.where(Y, np.nan, 0.0), "^y: nan in row 0; expected a label for every row"),
        (X, np.where(Y, "a", None), "label|y: "),
    ],
)
def test_data(data, labels, message):
    bad.refused_data(APSVM(), message, data, labels)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (G[:-1], r"^groups: shape \(11,\).*Fix: "),
        (G[:, None], r"^groups: shape \(12, 1\)"),
        (3, r"^groups: shape \(\)"),
        (np.where(Y, 7, 8), r"^groups: .*without a positive \(8\).*Fix: drop"),
        (np.where(np.arange(12) == 3, "odd", "rest"), r"^groups: .*without a negative \(odd\)"),
        (np.arange(12), r"^groups: 8 without a positive \(1, 2, 4, 5, 7, \.\.\.\)"),
        (np.where(Y, None, "a"), r"^groups: a missing label"),
        (np.array([bad.NAN, *"ab" * 5, "a"], dtype=object), r"^groups: a missing label"),
        (np.array([1, "a"] * 6, dtype=object), r"^groups: labels of several types.*Fix: convert"),
        (G + 0.5, r"^groups: dtype float64"),
    ],
)
def test_groups(groups, message):
    with pytest.raises(InvalidParameterError, match=message):
        APSVM().fit(X, Y, groups=groups)


def test_missing_groups_of_pandas():
    pd = pytest.importorskip("pandas")
    for groups in (pd.Series(["a", None] * 6), pd.Series([1, None] * 6, dtype="Int64")):
        with pytest.raises(InvalidParameterError, match=r"^groups: a missing label"):
            APSVM().fit(X, Y, groups=groups)


def test_score_says_what_is_wrong():
    model = APSVM().fit(X, Y)
    for labels, groups, message in (
        (Y[:-1], None, r"^y: 11 labels for 12 rows"),
        (np.where(Y, "a", "b"), None, r"^y: label .*Fix: "),
        (np.zeros(12, bool), None, r"^y: no example of class .*True.*Fix: "),
        (Y, G[:-1], r"^groups: shape"),
        (Y, np.where(Y, 7, 8), r"^groups: no example of class .*True.* in query .*8"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            model.score(X, labels, groups)
    with pytest.raises(InvalidParameterError, match=r"^sample_weight: given"):
        model.score(X, Y, sample_weight=np.ones(12))
    with pytest.raises(ValueError, match="3 features"):
        model.score(X[:, :2], Y)
    assert model.score(X, np.ones(12, bool)) == 1.0  # nothing to rank below them


@settings(max_examples=100)
@given(
    C=bad.ANY_NUMBER,
    tol=bad.ANY_NUMBER,
    fraction=st.just(0.0) | bad.ANY_NUMBER,
    ramp=st.booleans(),
    solver=st.sampled_from(["auto", "bundle", "cutting_plane", "x"]),
    groups=st.sampled_from([None, G, G[::-1]]),
)
def test_fuzzed_parameters(C, tol, fraction, ramp, solver, groups):
    """Either an error of ours, or a model whose claims are consistent."""
    model = APSVM(C=C, tol=tol, easy_fraction=fraction, ramp=ramp, solver=solver, max_iter=5)
    error = bad.calm_fit(model, X, Y, groups=groups)
    if error is not None:
        assert isinstance(error, FastError)
        assert error.argument in ("C", "tol", "easy_fraction", "solver", "easy_mask")
        assert "Fix: " in str(error)
        return
    bad.assert_consistent(model)


LABELS = bad.labels(st.integers(0, 1), [0.0, 1.0, 0.5], ["", "a"], ["a", "b", None, 1], bad.FLAGS)


@settings(max_examples=200)
@given(
    X=bad.MATRIX,
    y=LABELS,
    groups=st.none()
    | hnp.arrays(np.int64, bad.ROWS | st.integers(0, 6), elements=st.integers(0, 1)),
    sparse=st.booleans(),
)
def test_fuzzed_data(X, y, groups, sparse):
    if sparse and X.ndim == 2:
        X = sp.csr_array(X)
    model = APSVM(max_iter=3)
    error = bad.calm_fit(model, X, y, groups=groups)
    if error is not None:
        assert str(error)
        return
    assert model.coef_.shape == (1, X.shape[1])
    bad.assert_consistent(model)
    assert model.predict(X).shape == (X.shape[0],)
