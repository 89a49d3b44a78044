"""SVMPlusClassifier: fitted models judged by certificates recomputed from their attributes."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _problems import privileged as problem
from _problems import quietly
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from fast import SVMPlusClassifier
from fast.errors import CollapseWarning, InvalidParameterError

LOSSES = ("squared_hinge", "hinge")


def product(*parts):
    return list(itertools.product(*parts))


def fit(X, y, Z=None, weight=None, **params):
    ignored = (CollapseWarning,)
    return quietly(SVMPlusClassifier(**params), X, y, Z, sample_weight=weight, ignored=ignored)


def check(model, X, y, Z=None, weight=None):
    return check_certificate(model, X, y, weight, Z=Z, slack=1e-7)


# ---- certificates ---------------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "classes", "d"), product(LOSSES, (2, 4), (3, 90)))
def test_certificates_of_the_ordinary_svm(loss, classes, d):
    X, y, _ = problem(2, d=d, classes=classes)
    for kernel in ("linear", "rbf"):
        model = fit(X, y, loss=loss, kernel=kernel, gamma=0.1, C=2.0)
        check(model, X, y)
        assert model.dual_gap_ <= 1e-6
        assert not hasattr(model, "correction_coef_")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_certificates_of_the_ordinary_svm_of_many_examples(kernel):
    X, y, _ = problem(2, n=520, d=540, classes=3)
    model = fit(X, y, kernel=kernel, gamma=0.001, C=2.0, tol=1e-7)
    assert model.solver_ != "interior_point"
    check(model, X, y)
    assert model.dual_gap_ <= 1e-7
    assert not model.collapsed_.any()


@pytest.mark.parametrize(("loss", "n", "d"), product(LOSSES, (40, 150), (3, 60)))
def test_one_against_the_rest_is_every_binary_problem(loss, n, d):
    X, y, Z = problem(3, n=n, d=d, classes=3)
    params = {"loss": loss, "free_slack": 0.3, "tol": 1e-8, "C": 0.5}
    model = fit(X, y, Z, **params)
    assert model.coef_.shape == (3, d)
    for label, one in zip(model.classes_, check(model, X, y, Z), strict=True):
        alone = fit(X, y == label, Z, **params)
        [other] = check(alone, X, y == label, Z)
        assert max(one.dual, other.dual) <= min(one.primal, other.primal) * (1 + 1e-9)
        assert abs(one.primal - other.primal) <= 1e-7 * one.primal
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_matrices_that_lost_too_many_digits_are_left_for_features(monkeypatch, loss):
    from fast.models import svm_plus_hinge, svm_plus_squared_hinge

    module = svm_plus_hinge if loss == "hinge" else svm_plus_squared_hinge
    inner = module.train_kernel

    def poor(*arguments, **options):
        return inner(*arguments, **(options | {"tol": 0.9, "max_iter": 1}))

    X, y, Z = problem(3, n=30, d=60, classes=3)
    assert fit(X, y, Z, loss=loss).solver_ != "working_set"
    monkeypatch.setattr(module, "train_kernel", poor)
    model = fit(X, y, Z, loss=loss, tol=1e-9, free_slack=0.1)
    check(model, X, y, Z)
    assert model.dual_gap_ <= 1e-9
    assert "working_set" in model.solver_


def test_without_privileged_features_it_is_svc():
    X, y, _ = problem(4)
    model = fit(X, y, loss="hinge", kernel="rbf", C=2.0, tol=1e-9)
    other = SVC(C=2.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_uninformative_features_with_large_own_slacks_change_nothing(loss):
    X, y, Z = problem(5)
    plain = fit(X, y, loss=loss)
    model = fit(X, y, 0.0 * Z, loss=loss, lam=1e-3, free_slack=1e5, tol=1e-9)
    check(model, X, y, 0.0 * Z)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=2e-3, atol=2e-4)


# ---- data in other forms ---------------------------------------------------------------------
@pytest.mark.parametrize(("loss", "n", "delta"), product(LOSSES, (7, 80), (0.0, 0.5)))
def test_sparse_is_dense(loss, n, delta):
    X, y, Z = problem(6, n=n, d=5)
    X, Z = X * (X > 0.2), Z * (np.abs(Z) > 0.4)
    params = {"loss": loss, "free_slack": delta, "tol": 1e-9}
    model = fit(sp.csr_array(X), y, sp.csr_array(Z), **params)
    check(model, sp.csr_array(X), y, sp.csr_array(Z))
    std = Z.std(axis=0)
    twin = fit(X, y, Z / np.where(std > 0, std, 1.0), standardize_z=False, **params)
    np.testing.assert_allclose(model.primal_objective_, twin.primal_objective_, rtol=1e-8)
    np.testing.assert_allclose(
        twin.correction_function(Z / np.where(std > 0, std, 1.0)),
        model.correction_function(sp.csr_array(Z)), atol=1e-4 * (1 + abs(Z).max()),
    )  # fmt: skip
    mixed = fit(sp.csr_matrix(X), y, Z, **params)  # dense Z loses its mean too
    check(mixed, sp.csr_matrix(X), y, Z)
    np.testing.assert_allclose(
        mixed.correction_function(sp.csr_array(Z)), mixed.correction_function(Z), rtol=1e-9
    )
    check(fit(sp.csr_array(X), y, loss=loss), sp.csr_array(X), y)


def test_scales_and_origin_of_privileged_features_do_not_matter():
    X, y, Z = problem(8)
    a = fit(X, y, Z, tol=1e-9)
    b = fit(X, y, 1e4 * Z - 1e5, tol=1e-9)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        a.correction_function(Z), b.correction_function(1e4 * Z - 1e5), rtol=1e-4, atol=1e-5
    )
    raw = fit(X, y, Z, standardize_z=False)
    assert raw.z_scaler_ is None
    check(raw, X, y, Z)


@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_given_as_matrices_functions_and_names(loss):
    X, y, Z = problem(9, n=40, classes=3)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    K, Kz = rbf_kernel(X, gamma=0.4), rbf_kernel(Z, gamma=0.2)
    params = {"loss": loss, "gamma": 0.4, "gamma_z": 0.2, "tol": 1e-7, "free_slack": 0.1}
    named = fit(X, y, Z, kernel="rbf", kernel_z="rbf", **params)
    given = fit(K, y, Kz, kernel="precomputed", kernel_z="precomputed", **params)
    check(given, K, y, Kz)

    def near(a, b):
        return float(np.exp(-0.4 * ((a - b) ** 2).sum()))

    def near_z(a, b):
        return float(np.exp(-0.2 * ((a - b) ** 2).sum()))

    called = fit(X, y, Z, kernel=near, kernel_z=near_z, **params)
    for other in (given, called):
        np.testing.assert_allclose(named.primal_objective_, other.primal_objective_, rtol=1e-6)
    fresh, fresh_z = X[:5] + 0.1, Z[:5] - 0.1
    np.testing.assert_allclose(
        called.decision_function(fresh), given.decision_function(rbf_kernel(fresh, X, gamma=0.4)),
        atol=1e-3,
    )  # fmt: skip
    np.testing.assert_allclose(
        called.correction_function(fresh_z),
        given.correction_function(rbf_kernel(fresh_z, Z, gamma=0.2)), atol=1e-3,
    )  # fmt: skip


def test_widths_of_kernels_count_weights():
    X, y, Z = problem(10, n=50)
    weight = np.random.default_rng(0).integers(0, 3, 50)
    repeat = np.repeat(np.arange(50), weight)
    for gamma in ("scale", "auto"):
        for kernel in ("rbf", "poly", "linear"):
            params = {"kernel": kernel, "kernel_z": "rbf", "gamma": gamma, "gamma_z": gamma,
                      "tol": 1e-9, "free_slack": 0.1, "coef0": 1.0}  # fmt: skip
            a = fit(X, y, Z, weight, **params)
            b = fit(X[repeat], y[repeat], Z[repeat], **params)
            np.testing.assert_allclose(a.primal_objective_, b.primal_objective_, rtol=1e-7)
            assert a.dual_gap_ <= 1e-8
            assert b.dual_gap_ <= 1e-8


# ---- weights ---------------------------------------------------------------------------------


# ---- defined, though odd ---------------------------------------------------------------------
@pytest.mark.parametrize(("loss", "kernel"), product(LOSSES, ("linear", "rbf")))
def test_duplicates_with_contradictory_labels(loss, kernel):
    X, _, Z = problem(12, n=20)
    X, Z, y = np.vstack([X, X]), np.vstack([Z, Z]), np.repeat([0, 1], 20)
    model = fit(X, y, Z, loss=loss, kernel=kernel, gamma=0.3, tol=1e-6)
    [found] = check(model, X, y, Z)
    assert model.dual_gap_ <= 1e-6
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-2)
    assert found.primal <= (40.0 if loss == "hinge" else 20.5) * (1 + 1e-6)  # slack 1 for everybody
    assert model.collapsed_.all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("given", [True, False])
def test_two_examples_constant_features_and_constant_privileged_features(loss, given):
    for X in (np.array([[0.0, 1.0], [1.0, -1.0]]), np.zeros((2, 2)), np.ones((2, 1))):
        Z = np.array([[3.0], [3.0]]) if given else None
        for delta in (0.0, 1.0):
            model = fit(X, ["b", "a"], Z, loss=loss, free_slack=delta)
            check(model, X, ["b", "a"], Z)
            assert model.dual_gap_ <= 1e-3
            assert set(model.predict(X)) <= {"a", "b"}


@pytest.mark.parametrize("size", [-3.0, 1e6, 1e-5])
def test_a_constant_column_of_sparse_privileged_features_is_not_divided_by_rounding(size):
    X, y, Z = problem(14, n=40)
    Z = sp.csr_array(np.column_stack([np.full(40, size), Z[:, 0] / 50.0]))
    for seed in range(8):  # of some weights the sum of squares does not cancel
        weight = np.random.default_rng(seed).choice([0.01, 1.0, 2.0, 100.0], 40)
        model = fit(X, y, Z, weight)
        assert model.z_scaler_.scale_[0] == 1.0
        assert model.z_scaler_.scale_[1] < 1.0


def test_inputs_are_left_alone():
    X, y, Z = problem(13)
    weight = np.ones(len(y))
    before = X.copy(), y.copy(), Z.copy()
    for array in (X, y, Z, weight):
        array.flags.writeable = False
    for kernel in ("linear", "rbf"):
        fit(X, y, Z, weight, kernel=kernel, kernel_z=kernel).predict(X)
        fit(X, y, None, weight, kernel=kernel)
    for a, b in zip(before, (X, y, Z), strict=True):
        np.testing.assert_array_equal(a, b)
    K, Kz = X @ X.T, Z @ Z.T
    kept = K.copy(), Kz.copy()
    fit(K, y, Kz, kernel="precomputed", kernel_z="precomputed")
    np.testing.assert_array_equal(K, kept[0])
    np.testing.assert_array_equal(Kz, kept[1])


# ---- collapse --------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", LOSSES)
def test_collapse_is_seen_and_its_cure_works(loss):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    Z = np.zeros((4, 1))
    with pytest.warns(CollapseWarning, match=r"free_slack > 0.*raise lam.*kernel_z"):
        model = SVMPlusClassifier(loss=loss, free_slack=0.0).fit(X, y, Z)
    check(model, X, y, Z)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)
    assert model.collapsed_.tolist() == [True]
    assert issubclass(CollapseWarning, UserWarning)
    cured = SVMPlusClassifier(loss=loss).fit(X, y, Z)  # no warning
    check(cured, X, y, Z)
    assert abs(cured.coef_[0, 0]) > 0.1
    assert cured.collapsed_.tolist() == [False]
    assert not SVMPlusClassifier(loss=loss).fit(X, y).collapsed_.any()


def test_only_the_classes_that_collapsed_are_named():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((20, 2)), rng.standard_normal((20, 2)), [[9.0, 9.0]] * 9])
    y = np.repeat(["a", "b", "c"], [20, 20, 9])
    with pytest.warns(CollapseWarning, match=r"2 of 3 problems \(class 'a'"):
        model = SVMPlusClassifier(C=100.0, free_slack=0.0).fit(X, y, np.ones((49, 1)))
    assert model.collapsed_.tolist() == [True, True, False]
    check(model, X, y, np.ones((49, 1)))


# ---- history, interruption, progress ---------------------------------------------------------


WAYS = [("linear", True), ("linear", False), ("rbf", True), ("rbf", False)]


@pytest.mark.parametrize(("kernel", "given"), WAYS)
def test_an_interrupt_before_the_first_check_keeps_a_certified_model(monkeypatch, kernel, given):
    def interrupted(*arguments, **more):
        raise KeyboardInterrupt

    for place in ("working_set.minimise", "smo.steps", "alternating_smo.steps"):
        monkeypatch.setattr(f"fast.svm_plus.{place}", interrupted)
    monkeypatch.setattr("fast.solvers.box_interior_point.minimise", interrupted)
    X, y, Z = problem(16, n=50, classes=3)
    Z = Z if given else None
    for loss in LOSSES:
        model = SVMPlusClassifier(loss=loss, kernel=kernel, gamma=0.3)
        with pytest.warns(ConvergenceWarning, match="was interrupted"):
            model.fit(X, y, Z)
        check(model, X, y, Z)
        assert not model.collapsed_.any()


# ---- scikit-learn's other tools --------------------------------------------------------------


def test_refit_forgets():
    X, y, Z = problem(21)
    model = fit(X, y, Z, kernel="rbf", kernel_z="rbf", free_slack=0.1)
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "kernel_coef_")
    with pytest.raises(InvalidParameterError, match=r"fitted without Z.*Fix: fit\(X, y, Z\)"):
        model.correction_function(Z)
    check(model, X, y)
    with pytest.raises(NotFittedError):
        SVMPlusClassifier().correction_function(Z)


def test_decision_by_names_of_kernels_and_pairwise_kernels():
    X, y, Z = problem(22)
    for name, params in (("poly", {"gamma": 0.2, "degree": 2, "coef0": 0.5}),
                         ("rbf", {"gamma": 0.2})):  # fmt: skip
        model = fit(X, y, Z, kernel=name, gamma=0.2, degree=2, coef0=0.5, free_slack=0.1)
        K = pairwise_kernels(X[:7], X, metric=name, **params)
        expected = K @ model.kernel_coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X[:7]), expected, rtol=1e-10)


def test_the_interior_point_method_does_not_go_round_in_circles():
    """Fourteen points on which steps with a corrector return to where they were, every fourth time."""
    X = np.array([[-1012, 308, -99, -65, 895, -338, -363, 515, -579, 1009, -120, -473, 396, -73]])
    X = np.vstack(
        [X, [-914, -789, -415, 2025, -102, -1352, 715, -1532, 331, 1057, 453, 1173, -467, -182]]
    ).T
    y = np.array([1, -1, -1, -1, 1, -1, 1, 1, 1, -1, 1, -1, -1, -1])
    K = 1.6 * np.exp(-0.5e-6 * np.square(X[:, None] - X).sum(axis=2))
    model = SVMPlusClassifier(loss="hinge", C=10.0, kernel="precomputed", tol=1e-6, max_iter=100)
    assert model.fit(K, y).dual_gap_ <= 1e-6
