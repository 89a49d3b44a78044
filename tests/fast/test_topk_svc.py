"""TopKSVC as its users meet it: weights, odd data, warm starts, interruptions, predictions."""

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _problems import assert_same_optimum, quietly
from _problems import classes as problem
from sklearn.base import clone

from fast import TopKSVC
from fast.errors import InvalidParameterError

SOLVERS = [("active", 0.0), ("active", 0.5), ("newton", 0.5), ("sdca", 0.0), ("sdca", 0.5)]
SOLVERS += [("fista", 0.5)]
CERTIFIED = 1e-7


def fit(X, y, sample_weight=None, **params):
    return quietly(TopKSVC(**{"random_state": 0, "C": 0.1, **params}), X, y, sample_weight)


# ---- weights --------------------------------------------------------------------------------
@pytest.mark.parametrize(("solver", "gamma"), SOLVERS[:4])
def test_weights_repeat_and_remove(solver, gamma):
    X, y = problem(1)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    params = {"k": 2, "gamma": gamma, "solver": solver, "C": 0.02, "tol": 1e-6, "max_iter": 4000}
    weighted = fit(X, y, weight, **params)
    repeat = np.repeat(np.arange(len(y)), weight.astype(int))
    repeated = fit(X[repeat], y[repeat], **params)
    check_certificate(weighted, X, y, weight)
    check_certificate(repeated, X[repeat], y[repeat])
    assert_same_optimum(weighted, repeated, 1e-5)
    assert not weighted.dual_coef_.toarray()[weight == 0].any()


def test_a_class_of_zero_weight_is_still_a_class():
    X, y = problem(2)
    weight = np.where(y == 3, 0.0, 1.0)
    for class_weight in (None, "balanced", {0: 2.0}):
        model = fit(X, y, weight, k=2, tol=CERTIFIED, class_weight=class_weight)
        assert model.classes_.tolist() == [0, 1, 2, 3, 4]
        check_certificate(model, X, y, weight)


def test_class_weight_is_a_weight_of_the_examples():
    X, y = problem(3)
    y[y == 4] = np.where(np.arange((y == 4).sum()) < 3, 4, 0)
    given = {0: 0.5, 1: 0.0, 2: 3.0}
    for class_weight in (given, "balanced"):
        model = fit(X, y, class_weight=class_weight, tol=CERTIFIED, k=2)
        check_certificate(model, X, y)
        factor = (
            np.array([given.get(c, 1.0) for c in y])
            if class_weight is given
            else len(y) / (5 * np.bincount(y)[y])
        )
        assert_same_optimum(model, fit(X, y, factor, tol=CERTIFIED, k=2), 1e-5)


def test_weights_scale_like_C():
    X, y = problem(4)
    a = fit(X, y, np.full(len(y), 8.0), C=0.05, k=2, tol=CERTIFIED)
    b = fit(X, y, C=0.4, k=2, tol=CERTIFIED)
    assert_same_optimum(a, b, 1e-5)


# ---- odd data -------------------------------------------------------------------------------
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("solver", "gamma"), SOLVERS)
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_zero_and_duplicated_rows(solver, gamma, variant, sparse):
    X, y = problem(5, n=30)
    X[::5] = 0.0
    X[1:20:5] = X[2:21:5]  # the same point with different labels
    y[27], X[27] = y[28], X[28]
    given = sp.csr_array(X) if sparse else X
    tol = 1e-2 if solver == "sdca" else CERTIFIED
    for k in (1, 3, 4):
        model = fit(given, y, k=k, variant=variant, gamma=gamma, solver=solver, tol=tol)
        assert model.dual_gap_ <= tol
        check_certificate(model, X, y)
        x = model.dual_coef_.toarray()[::5]
        own = x[np.arange(len(x)), y[::5]]  # a zero row has all margins 1
        if gamma == 0.0:
            np.testing.assert_allclose(own, 0.1, rtol=1e-12)


def test_nothing_but_zero_rows():
    y = np.arange(6) % 3
    for gamma, loss in ((0.0, 1.0), (0.5, 1.0 - 0.5 / 4)):
        model = fit(np.zeros((6, 2)), y, k=2, gamma=gamma, C=1.0)
        assert model.primal_objective_ == pytest.approx(6 * loss, rel=1e-14)
        assert model.dual_gap_ <= 1e-15
        assert not model.coef_.any()


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@pytest.mark.parametrize("m", [2, 3, 6])
def test_the_largest_k(m, gamma):
    X, y = problem(6, n=36, m=m)
    for variant in ("alpha", "beta"):
        model = fit(X, y, k=m - 1, variant=variant, gamma=gamma, tol=CERTIFIED)
        assert model.dual_gap_ <= CERTIFIED
        check_certificate(model, X, y)
        with pytest.raises(InvalidParameterError, match=rf"^k: {m}.*<= {m - 1}.*{m} classes"):
            TopKSVC(k=m, variant=variant).fit(X, y)


def test_two_classes_are_the_binary_svm():
    """W_1 = -W_0 = w/2 gives P = ||w||^2/4 + C sum hinge(y w x): LinearSVC with 2 C."""
    from sklearn.svm import LinearSVC

    X, y = problem(7, n=60, m=2)
    model = fit(X, y, tol=1e-10, C=0.3)
    peer = LinearSVC(
        loss="hinge", C=0.6, fit_intercept=False, tol=1e-10, max_iter=10**6, random_state=0
    ).fit(X, y)
    w = peer.coef_[0]
    hinge = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * (X @ w)).sum()
    value = 0.25 * w @ w + 0.3 * hinge
    assert model.dual_objective_ <= value * (1 + 1e-12)
    assert value <= model.primal_objective_ * (1 + 1e-6)
    scores = model.decision_function(X)
    assert scores.shape == (60,)
    np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))


@pytest.mark.parametrize(("solver", "gamma"), SOLVERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_feature_scales(solver, gamma, dtype):
    """Certificates stay true (and nothing but a ConvergenceWarning is said) at any scale."""
    X, y = problem(8, n=30)
    wide = 300 if dtype is np.float64 else 30
    for power in (-wide, -160, -155, -25, -6, 6, 15, 18, 30):
        with np.errstate(under="ignore"):
            scaled = (X * 10.0**power).astype(dtype)
        model = fit(scaled, y, k=2, gamma=gamma, solver=solver, C=1.0, max_iter=30)
        assert np.isfinite(model.coef_).all()
        assert model.dual_gap_ <= 1.0
        assert power > 0 or model.dual_gap_ <= 1e-3
        if abs(power) <= 25:
            check_certificate(model, scaled, y)
        else:  # squares of W may underflow in the naive sums, not these bounds
            assert model.primal_objective_ <= 30 * (1 + 1e-12)
            assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-12)


@pytest.mark.parametrize(("solver", "gamma"), SOLVERS)
def test_mixed_feature_scales(solver, gamma):
    X, y = problem(9, n=40)
    X *= [1e-8, 1.0, 1e3, 0.0]
    model = fit(X, y, k=2, gamma=gamma, solver=solver, max_iter=200)
    check_certificate(model, X, y)


@pytest.mark.parametrize(("solver", "gamma"), SOLVERS[:3])
def test_a_wide_range_of_C(solver, gamma):
    X, y = problem(10, n=40, d=3)
    last = 0.0
    for C in (1e-3, 1e-1, 10.0, 1e3):
        model = fit(X, y, k=2, gamma=gamma, solver=solver, C=C, tol=1e-3, max_iter=3000)
        assert model.dual_gap_ <= 1e-3
        check_certificate(model, X, y)
        assert model.primal_objective_ >= last  # P* grows with C
        last = model.dual_objective_


def test_labels_of_any_kind_and_order():
    X, y = problem(11)
    names = np.array(["pear", "apple", "Zebra", "fig", "äpfel"])
    rank = np.argsort(np.argsort(names))
    by_name = fit(X, names[y], k=2)
    by_rank = fit(X, rank[y], k=2)
    assert by_name.classes_.tolist() == sorted(names)
    np.testing.assert_array_equal(by_name.coef_, by_rank.coef_)
    assert set(by_name.predict(X)) <= set(names)
    shifted = fit(X, 10 * rank[y] - 7, k=2)
    np.testing.assert_array_equal(shifted.predict(X), 10 * by_rank.predict(X) - 7)
    as_objects = fit(X, names[y].astype(object), k=2)
    np.testing.assert_array_equal(as_objects.coef_, by_name.coef_)


def test_a_few_hundred_tiny_problems():
    """Rounding-level certificates once left nothing to do, and the trainer divided by zero."""
    rng = np.random.default_rng(12)
    for trial in range(300):
        m = int(rng.integers(2, 6))
        n, d = int(rng.integers(m, 14)), int(rng.integers(1, 5))
        y = np.r_[np.arange(m), rng.integers(0, m, n - m)]
        X = rng.integers(-2, 3, (n, d)) if trial % 2 else rng.standard_normal((n, d))
        X = X * 10.0 ** rng.integers(-3, 4)
        gamma = float(rng.choice([0.0, 0.3, 5.0]))
        model = fit(
            X,
            y,
            np.r_[1.0, rng.choice([0.0, 1.0, 0.3], n - 1)],
            k=int(rng.integers(1, m)),
            gamma=gamma,
            C=10.0 ** rng.integers(-3, 4),
            variant=str(rng.choice(["alpha", "beta"])),
            solver=str(rng.choice(["active", "sdca", "newton"][: 3 if gamma else 2])),
            tol=float(rng.choice([1e-3, 1e-9, 1e-17])),
            max_iter=120,
        )
        assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)
        assert 0.0 <= model.dual_gap_ <= 1.0


# ---- warm start -----------------------------------------------------------------------------
@pytest.mark.parametrize(("solver", "gamma"), SOLVERS[:3])
def test_warm_starts_along_a_path_of_C(solver, gamma):
    X, y = problem(13, n=400, m=8, d=10)
    params = {"k": 2, "gamma": gamma, "solver": solver, "tol": 1e-5}
    warm = TopKSVC(random_state=0, warm_start=True, **params)
    warm_iterations = cold_iterations = 0
    for C in (0.01, 0.0105, 0.011, 0.0115):
        warm.set_params(C=C).fit(X, y)
        assert warm.dual_gap_ <= 1e-5
        check_certificate(warm, X, y) if gamma == 0.0 else None
        warm_iterations += warm.n_iter_
        cold = fit(X, y, C=C, **params)
        cold_iterations += cold.n_iter_
        assert_same_optimum(warm, cold, 1e-5)
    assert warm_iterations < cold_iterations


def test_refitting_the_same_problem_ends_at_once():
    X, y = problem(14, n=300, m=6, d=12)
    model = TopKSVC(C=0.01, warm_start=True, random_state=0, tol=1e-5).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= 2 < first


@pytest.mark.parametrize(
    "change",
    [{"k": 3}, {"variant": "beta"}, "labels", "rows", "class names", {"warm_start": False}],
)
def test_warm_start_falls_back_when_the_dual_does_not_fit(change):
    X, y = problem(15)
    model = TopKSVC(k=2, C=0.1, warm_start=True, random_state=0, tol=1e-6).fit(X, y)
    if isinstance(change, dict):
        model.set_params(**change)
    elif change == "labels":
        y = np.roll(y, 1)
    elif change == "rows":
        X, y = X[:-10], y[:-10]
    else:
        y = y + 1
    model.fit(X, y)
    check_certificate(model, X, y)
    cold = clone(model).fit(X, y)
    np.testing.assert_array_equal(cold.coef_, model.coef_)
    assert cold.n_iter_ == model.n_iter_


@pytest.mark.parametrize(("solver", "gamma"), SOLVERS)
@pytest.mark.parametrize("change", ["features", "gamma", "weights", "intercept", "zero rows", "C"])
def test_warm_start_stays_certified_when_the_problem_changes(change, solver, gamma):
    X, y = problem(16, n=40)
    rng = np.random.default_rng(0)
    params = {"k": 2, "variant": "beta", "solver": solver, "gamma": gamma, "tol": 1e-2}
    model = TopKSVC(warm_start=True, random_state=0, max_iter=3000, C=0.02, **params)
    old = rng.choice([0.0, 1.0], len(y))
    model.fit(X, y, old)
    weight = None
    if change == "features":
        X = rng.standard_normal((len(y), 7))
    elif change == "gamma":
        model.set_params(gamma=2.0)
    elif change == "weights":
        weight = rng.choice([0.0, 0.5, 3.0], len(y))
    elif change == "intercept":
        model.set_params(fit_intercept=True)
    elif change == "zero rows":
        X = np.where(rng.random((len(y), 1)) < 0.4, 0.0, X)
    else:
        model.set_params(C=1e-5)
    model.fit(X, y, weight)
    assert model.dual_gap_ <= 1e-2
    check_certificate(model, X, y, weight)


# ---- habits of an estimator -----------------------------------------------------------------
@pytest.mark.parametrize(("solver", "gamma"), SOLVERS)
def test_the_same_seed_gives_the_same_bits(solver, gamma):
    X, y = problem(23)
    params = {"k": 2, "gamma": gamma, "solver": solver, "tol": 1e-2}
    a, b = fit(X, y, **params), fit(X, y, **params)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.dual_coef_.toarray(), b.dual_coef_.toarray())
    c = fit(X, y, **{**params, "random_state": np.random.RandomState(0)})
    np.testing.assert_array_equal(a.coef_, c.coef_)
    assert_same_optimum(a, fit(X, y, **{**params, "random_state": 1}), 1e-2)


def test_memory_mapped_and_read_only_features(tmp_path):
    X, y = problem(25)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    a, b = fit(mapped, y, k=2), fit(X, y, k=2)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.predict(mapped), b.predict(X))


def test_integers_and_strided_views():
    X, y = problem(26)
    X = np.rint(3 * X)
    a = fit(X, y)
    np.testing.assert_array_equal(fit(X.astype(np.int32), y).coef_, a.coef_)
    twice = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
    np.testing.assert_array_equal(fit(twice[::2, ::2], y).coef_, a.coef_)
    np.testing.assert_array_equal(fit(X.tolist(), y.tolist()).coef_, a.coef_)


def test_predict_topk():
    X, y = problem(28)
    names = np.array(list("badce"))
    model = fit(X, names[y], k=3, fit_intercept=True)
    scores = model.decision_function(X)
    for k in range(1, 6):
        best = model.predict_topk(X, k)
        assert best.shape == (len(y), k)
        order = np.argsort(-scores, axis=1)[:, :k]
        np.testing.assert_array_equal(best, model.classes_[order])
    np.testing.assert_array_equal(model.predict_topk(X), model.predict_topk(X, 3))
    np.testing.assert_array_equal(model.predict_topk(X, 1)[:, 0], model.predict(X))
    np.testing.assert_array_equal(model.predict_topk(sp.csr_array(X)), model.predict_topk(X))
    for wrong in (0, 6, -1, 1.5, "2", True):
        with pytest.raises(InvalidParameterError, match=r"^k: "):
            model.predict_topk(X, wrong)
    with pytest.raises(ValueError, match="features"):
        model.predict_topk(X[:, :2])
    two = fit(X, y > 2)
    assert two.predict_topk(X, 2).shape == (len(y), 2)
    np.testing.assert_array_equal(two.predict_topk(X, 1)[:, 0], two.predict(X))
