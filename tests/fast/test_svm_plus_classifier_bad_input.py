"""Bad input to SVMPlusClassifier ends in an error that names the argument and the fix."""

import _bad_input as bad
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fast import SVMPlusClassifier
from fast.errors import FastError, InvalidParameterError, InvalidTypeError

RNG = np.random.default_rng(0)
Y = np.arange(12) % 3
X = RNG.standard_normal((12, 3)) + Y[:, None]
Z = RNG.standard_normal((12, 2))
SPOT = np.arange(24).reshape(12, 2) == 7
INDEFINITE = np.outer(np.arange(12.0), np.ones(12)) + np.outer(np.ones(12), np.arange(12.0))
OK = np.eye(12)


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        *bad.data(X, Y),
        (X[:1], Y[:1], r"^y: one class.*Fix: "),
        (X, np.array([1, "a", None] * 4, dtype=object), "labels of several types|y"),
    ],
)
def test_data(data, labels, message):
    rows = data.shape[0] if hasattr(data, "shape") else len(data)
    bad.refused_data(SVMPlusClassifier(), message, data, labels, Z[:rows])


@pytest.mark.parametrize(
    ("privileged", "kind", "message"),
    [
        (Z[:-1], InvalidParameterError, r"^Z: 11 rows; expected 12 rows.*Fix: "),
        (Z[:, 0], InvalidParameterError, r"^Z: shape \(12,\).*reshape\(-1, 1\)"),
        (Z.tolist(), InvalidTypeError, r"^Z: a list.*np\.asarray\(Z\)"),
        (tuple(Z), InvalidTypeError, r"^Z: a tuple.*np\.asarray\(Z\)"),
        (Z[:, :0], ValueError, "0 feature"),
        (Z[None], ValueError, "dim 3"),
        (np.where(SPOT, bad.NAN, Z), ValueError, "Z contains NaN"),
        (np.where(SPOT, bad.INF, Z), ValueError, "Z contains infinity"),
        (sp.csr_array(np.where(SPOT, bad.NAN, Z)), ValueError, "Z contains NaN"),
        (bad.HUGE * Z, InvalidParameterError, r"^Z: .*rescale Z"),
        (sp.csr_array(bad.HUGE * Z), InvalidParameterError, r"^Z: .*rescale Z"),
        (Z.astype(complex), ValueError, "Complex data not supported"),
        (np.array([["a", "b"]] * 12, dtype=object), ValueError, "could not convert string"),
        ("Z", ValueError, "could not convert string"),
        (3.0, ValueError, "2D array"),
    ],
)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_privileged_features(privileged, kind, message, loss):
    model = SVMPlusClassifier(loss=loss)
    with pytest.raises(kind, match=message):
        model.fit(X, Y, privileged)
    assert not hasattr(model, "coef_")


def test_privileged_features_of_another_length_at_prediction():
    model = SVMPlusClassifier(free_slack=1.0).fit(X, Y, Z)
    with pytest.raises(InvalidParameterError, match=r"^Z: 1 columns; expected 2, as in fit"):
        model.correction_function(Z[:, :1])
    with pytest.raises(InvalidTypeError, match=r"^Z: a list"):
        model.correction_function(Z.tolist())
    assert model.correction_function(Z[:5]).shape == (5, 3)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


def test_objects_that_are_numbers_are_accepted():
    a = SVMPlusClassifier(free_slack=1.0).fit(X.astype(object), Y, Z.astype(object))
    b = SVMPlusClassifier(free_slack=1.0).fit(X, Y, Z)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    c = SVMPlusClassifier(free_slack=1.0).fit(X, Y, (Z > 0).astype(int))
    assert c.correction_coef_.shape == (3, 2)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("given", [True, False])
def test_kernels_that_are_not_positive_semidefinite(loss, given):
    z = Z if given else None
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*not positive semidefinite.*Fix"):
        SVMPlusClassifier(loss=loss, kernel="precomputed").fit(INDEFINITE, Y, z)
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*not positive semidefinite.*Fix"):
        SVMPlusClassifier(loss=loss, kernel=lambda a, b: -float(a @ b)).fit(X, Y, z)
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*not symmetric"):
        SVMPlusClassifier(loss=loss, kernel="precomputed").fit(OK + np.eye(12, k=1), Y, z)
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*nan"):
        SVMPlusClassifier(loss=loss, kernel=lambda a, b: bad.NAN).fit(X, Y, z)
    with pytest.raises(InvalidParameterError, match=r"^X: .*kernel of shape \(12, 3\)"):
        SVMPlusClassifier(loss=loss, kernel="precomputed").fit(X, Y, z)


def test_kernels_in_single_precision_may_be_indefinite_by_rounding():
    Y = np.arange(60) % 2
    K = np.random.default_rng(0).standard_normal((60, 2)) @ np.ones((2, 60)) * 1e3
    K = (K @ K.T).astype(np.float32)
    K[0, 1] = K[1, 0] = K[0, 1] + 3e-6 * abs(K).max()
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*Fix: compute it in float64"):
        SVMPlusClassifier(kernel="precomputed").fit(K, Y)
    with pytest.raises(InvalidParameterError, match=r"^kernel_z: .*Fix: compute it in float64"):
        SVMPlusClassifier(kernel_z="precomputed").fit(K[:, :1], Y, K)
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*Fix: choose another kernel"):
        SVMPlusClassifier(kernel="precomputed").fit(K.astype(float), Y)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_privileged_kernels_that_are_not_positive_semidefinite(loss):
    def fit(z, kernel_z="precomputed"):
        SVMPlusClassifier(loss=loss, kernel_z=kernel_z).fit(X, Y, z)

    with pytest.raises(InvalidParameterError, match=r"^kernel_z: .*not positive semidefinite"):
        fit(INDEFINITE)
    with pytest.raises(InvalidParameterError, match=r"^kernel_z: .*not positive semidefinite"):
        fit(Z, lambda a, b: -float(a @ b))
    with pytest.raises(InvalidParameterError, match=r"^kernel_z: .*nan or infinite"):
        fit(Z, lambda a, b: bad.INF)
    with pytest.raises(InvalidParameterError, match=r"^kernel_z: .*not symmetric"):
        fit(OK + np.eye(12, k=1))
    with pytest.raises(InvalidParameterError, match=r"^Z: .*kernel of shape \(12, 2\)"):
        fit(Z)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        *bad.weights(Y),
        (np.where(Y == 1, 0.0, 1.0), r"^sample_weight: all zero in class 1.*Fix: "),
    ],
)
def test_sample_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        SVMPlusClassifier().fit(X, Y, Z, sample_weight=weight)


def test_a_failed_refit_says_why():
    model = SVMPlusClassifier(free_slack=1.0).fit(X, Y, Z)
    with pytest.raises(InvalidParameterError, match=r"^lam: -1"):
        model.set_params(lam=-1.0).fit(X, Y, Z)
    model.set_params(lam=1.0).fit(X, Y > 1, Z)
    assert model.coef_.shape == (1, 3)


@settings(max_examples=120)
@given(
    C=bad.ANY_NUMBER,
    lam=bad.ANY_NUMBER,
    free_slack=st.sampled_from([0.0, 0.0, 1e-9, 1.0, 1e9, 1e60]) | bad.ANY_NUMBER,
    loss=st.sampled_from(["squared_hinge", "hinge"]),
    nonneg=st.sampled_from([None, True, False]),
    kernel=st.sampled_from(["linear", "rbf"]),
    kernel_z=st.sampled_from(["linear", "rbf"]),
    standardize=st.booleans(),
)
@example(1e60, 1e-60, 0.0, "squared_hinge", True, "linear", "linear", True)
@example(1e-60, 1e60, 1e60, "hinge", None, "linear", "linear", True)
@example(1e6, 1e-9, 1e-9, "hinge", None, "rbf", "rbf", False)
def test_fuzzed_parameters(C, lam, free_slack, loss, nonneg, kernel, kernel_z, standardize):
    """Either an error of ours, or a model whose claims are consistent."""
    model = SVMPlusClassifier(
        C=C, lam=lam, free_slack=free_slack, loss=loss, nonneg_slack=nonneg, kernel=kernel,
        kernel_z=kernel_z, standardize_z=standardize, max_iter=20,
    )  # fmt: skip
    for z in (Z, None):
        error = bad.calm_fit(model, X, Y, z)
        if error is not None:
            assert isinstance(error, FastError), error
            assert error.argument in ("C", "lam", "free_slack"), error
        else:
            bad.assert_consistent(model)


LABELS = bad.labels(
    st.integers(-2, 2), [0.0, 1.0, -3.0, 0.5], ["", "a", "b"], ["a", "b", "c", None, 1],
    lengths=st.tuples(bad.ROWS),
)  # fmt: skip


@settings(max_examples=200)
@given(
    X=bad.MATRIX,
    y=LABELS,
    Z=st.none() | bad.MATRIX,
    weight=bad.WEIGHTS,
    sparse=st.booleans(),
    loss=st.sampled_from(["squared_hinge", "hinge"]),
    kernel=st.sampled_from(["linear", "rbf", "poly"]),
)
def test_fuzzed_data(X, y, Z, weight, sparse, loss, kernel):
    if sparse:
        X = sp.csr_array(X) if X.ndim == 2 else X
        Z = sp.csr_array(Z) if Z is not None and Z.ndim == 2 else Z
    model = SVMPlusClassifier(loss=loss, kernel=kernel, max_iter=30)
    error = bad.calm_fit(model, X, y, Z, sample_weight=weight)
    if error is not None:
        assert str(error)
        assert not isinstance(error, np.linalg.LinAlgError)
        return
    bad.assert_consistent(model)
    assert model.predict(X).shape == (X.shape[0],)
    if Z is not None:
        assert np.isfinite(model.correction_function(Z)).all()


@pytest.mark.parametrize("name", ["X", "Z"])
def test_infinity_beside_numbers_whose_sum_overflows_is_named_without_a_warning(name):
    wrong = np.full((6, 6), 2e307)
    wrong[0, 0] = -bad.INF
    data = {"X": np.eye(6), "y": [0, 1] * 3, "Z": np.eye(6)} | {name: wrong}
    with pytest.raises(ValueError, match="infinity"):
        SVMPlusClassifier().fit(**data)
