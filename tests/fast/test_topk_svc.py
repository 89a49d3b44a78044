"""TopKSVC as its users meet it: weights, odd data, warm starts, interruptions, predictions."""

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _problems import assert_same_optimum, quietly
from _problems import classes as problem

from fast import TopKSVC
from fast.errors import InvalidParameterError

SOLVERS = [("active", 0.0), ("active", 0.5), ("newton", 0.5), ("sdca", 0.0), ("sdca", 0.5)]
SOLVERS += [("fista", 0.5)]


def fit(X, y, sample_weight=None, **params):
    return quietly(TopKSVC(**{"random_state": 0, "C": 0.1, **params}), X, y, sample_weight)


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
        model = fit(X, y, k=m - 1, variant=variant, gamma=gamma, tol=1e-7)
        assert model.dual_gap_ <= 1e-7
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
