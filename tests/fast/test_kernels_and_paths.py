"""Gram matrices, watched data sets and regularisation paths, for both estimators."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from _naive_entropy_erm import loss_value as entropy_value
from _naive_erm import loss_value as hinge_value
from _naive_erm import margins
from _problems import classes
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from fast import TopKLogisticRegression, TopKSVC, regularization_path
from fast.errors import InvalidParameterError
from fast.metrics import topk_accuracy
from fast.path import PAPER_GRID

problem = partial(classes, n=90)
MODELS = [
    TopKSVC(),
    TopKSVC(k=3, variant="beta"),
    TopKSVC(k=2, gamma=0.5),
    TopKSVC(k=2, gamma=0.5, solver="newton"),
    TopKLogisticRegression(),
    TopKLogisticRegression(k=3),
]


def dense(A):
    return A.toarray() if hasattr(A, "toarray") else A


def objective(model, K, y):
    """P of W = sum_i a_i phi(x_i)', by the definition of the loss."""
    A = dense(model.dual_coef_)
    f = K @ A
    if isinstance(model, TopKSVC):
        losses = [
            hinge_value(margins(row, c), model.variant, model.k, model.gamma)
            for row, c in zip(f, y, strict=True)
        ]
    else:
        losses = [
            entropy_value(np.delete(row - row[c], c), model.variant, model.k)
            for row, c in zip(f, y, strict=True)
        ]
    return 0.5 * float((A * f).sum()) + model.C * float(np.sum(losses))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_linear_gram_matrix_gives_the_linear_model(model, intercept):
    X, y = problem(1)
    model = clone(model).set_params(tol=1e-8, C=0.3, fit_intercept=intercept)
    K = X @ X.T
    linear = model.fit(X, y).decision_function(X)
    primal, dual = model.primal_objective_, model.dual_objective_
    for kernel, data in (("precomputed", K), ("polynomial", X)):
        params = None if kernel == "precomputed" else {"degree": 1, "gamma": 1.0, "coef0": 0.0}
        model.set_params(kernel=kernel, kernel_params=params).fit(data, y)
        assert model.dual_gap_ <= 1e-8
        assert model.dual_objective_ <= primal * (1 + 1e-12)
        assert dual <= model.primal_objective_ * (1 + 1e-12)
        again = objective(model, K + 1.0 if intercept else K, y)
        assert model.primal_objective_ == pytest.approx(again, rel=1e-9)
        np.testing.assert_allclose(model.decision_function(data), linear, atol=2e-3)


def test_an_rbf_kernel_is_that_of_libsvm():
    X, y = problem(2, m=2)
    ours = TopKSVC(C=0.5, kernel="rbf", kernel_params={"gamma": 0.3}, tol=1e-9).fit(X, y)
    K = rbf_kernel(X, gamma=0.3)
    # binary problem in w = w_1 - w_0: twice C; without the bias, hence a fixed point comparison
    signs = np.where(y == 1, 1.0, -1.0)
    alpha = dense(ours.dual_coef_)[:, 1] * signs * 2.0
    f = K @ (alpha * signs)
    P = 0.5 * alpha * signs @ f + 1.0 * np.maximum(0.0, 1.0 - signs * f).sum()
    D = alpha.sum() - 0.5 * (alpha * signs) @ f
    assert (alpha >= -1e-12).all()
    assert (alpha <= 1.0 + 1e-12).all()
    assert (P - D) / P <= 1e-8
    theirs = SVC(C=1.0, gamma=0.3).fit(X, y)
    assert abs(ours.score(X, y) - theirs.score(X, y)) <= 0.05


def test_kernels_in_scikit_learn(tmp_path):
    X, y = problem(3)
    model = TopKSVC(kernel="rbf", kernel_params={"gamma": 0.2}, fit_intercept=True)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    K = rbf_kernel(X, gamma=0.2)
    precomputed = GridSearchCV(
        TopKSVC(kernel="precomputed", fit_intercept=True), {"C": [0.1, 1.0]}, cv=3
    )
    # folds cut rows and columns; entries of K differ in the last bit, and so may an example at the border
    found = precomputed.fit(K, y).best_score_
    assert found == pytest.approx(search.best_score_, abs=1.0 / len(y))
    assert not hasattr(again, "coef_")

    def wave(a, b):
        return float(np.cos(a[0] - b[0]))

    assert TopKSVC(kernel=wave).fit(X, y).dual_gap_ <= 1e-3


@pytest.mark.parametrize(
    ("kernel", "params", "data", "argument"),
    [
        ("sigmoid", {"gamma": 5.0, "coef0": -3.0}, "X", "kernel"),
        ("rbf", {"degree": "x", "gammma": 1.0}, "X", "kernel_params"),
        ("precomputed", {"gamma": 1.0}, "K", "kernel_params"),
        ("precomputed", None, "X", "X"),
        ("precomputed", None, "skew", "X"),
        ("precomputed", None, "negative", "kernel"),
        ("precomputed", None, "indefinite", "kernel"),
        ("precomputed", None, "zeros", "kernel"),
        ("poly", [2], "X", "kernel_params"),
    ],
)
def test_bad_kernels(kernel, params, data, argument):
    X, y = problem(4)
    K = X @ X.T
    given = {
        "X": X,
        "K": K,
        "skew": K + np.triu(np.ones_like(K), 1),
        "negative": -K,
        "zeros": 0.0 * K,
        "indefinite": K - 5.0 * np.eye(len(K)) * (np.arange(len(K)) == 3),
    }
    for estimator in (TopKSVC, TopKLogisticRegression):
        if kernel == "rbf":
            params = {"gammma": 1.0}
        with pytest.raises((InvalidParameterError, ValueError)) as caught:
            estimator(kernel=kernel, kernel_params=params).fit(given[data], y)
        assert isinstance(caught.value, InvalidParameterError)
        assert caught.value.argument == argument


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("model", [*MODELS, TopKLogisticRegression(k=2, truncated=True)], ids=repr)
def test_watched_data_sets(model, kernel):
    X, y = problem(5, n=150)
    labels = np.array(["a", "b", "c", "d", "e"])[y]
    train, held = slice(0, 100), slice(100, 150)
    model = clone(model).set_params(tol=1e-7, kernel=kernel, fit_intercept=True, random_state=0)
    plain = model.fit(X[train], labels[train]).decision_function(X[held])
    watched = {"train": (X[train], labels[train]), "held": (X[held], labels[held])}
    model.fit(X[train], labels[train], eval_set=watched)
    np.testing.assert_array_equal(model.decision_function(X[held]), plain)
    assert list(model.evals_result_) == ["train", "held"]
    for name, (data, target) in watched.items():
        found = model.evals_result_[name]
        lengths = {len(found[key]) for key in ("iteration", "loss", "accuracy", "topk_accuracy")}
        assert len(lengths) == 1
        assert lengths.pop() >= 1
        f = model.decision_function(data)
        assert found["accuracy"][-1] == pytest.approx(model.score(data, target))
        top = topk_accuracy(target, f, model.k, classes=model.classes_)
        assert found["topk_accuracy"][-1] == pytest.approx(top, abs=0.011)
    if kernel == "linear" and not getattr(model, "truncated", False):
        square = 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum()
        risk = model.C * 100 * model.evals_result_["train"]["loss"][-1]
        assert square + risk == pytest.approx(model.primal_objective_, rel=1e-8)
    model.fit(X[train], labels[train], eval_set=[(X[held], labels[held])])
    assert list(model.evals_result_) == ["eval_0"]


@pytest.mark.parametrize("bad", ["unknown", "shape", "pair", "single", "nan"])
def test_bad_watched_data(bad):
    X, y = problem(6)
    broken = X.copy()
    broken[0, 0] = np.nan
    given = {
        "unknown": [(X, y + 9)],
        "shape": [(X[:, :2], y)],
        "pair": [X],
        "single": (X, y),
        "nan": [(broken, y)],
    }[bad]
    with pytest.raises(ValueError, match=r"eval_set|features|NaN"):
        TopKSVC().fit(X, y, eval_set=given)


@pytest.mark.parametrize("model", [*MODELS, TopKLogisticRegression(k=2, truncated=True)], ids=repr)
def test_a_path_is_single_fits_found_sooner(model):
    X, y = problem(7, n=200, d=6)
    model = clone(model).set_params(tol=1e-6, C=77.0)
    path = regularization_path(model, X, y, Cs=[1.0, 0.01, 0.1])
    assert model.C == 77.0
    assert not hasattr(model, "classes_")
    np.testing.assert_array_equal(path.Cs, [0.01, 0.1, 1.0])
    assert len(path) == len(path.seconds) == 3
    for C, found in zip(path.Cs, path, strict=True):
        assert found.C == C
        assert found.dual_gap_ <= 1e-6
        assert not found.warm_start
        if not getattr(model, "truncated", False):
            alone = pickle.loads(pickle.dumps(model)).set_params(C=C).fit(X, y)
            assert found.dual_objective_ <= alone.primal_objective_ * (1 + 1e-12)
            assert alone.dual_objective_ <= found.primal_objective_ * (1 + 1e-12)
    best = path.best(X, y, k=1)
    assert best.score(X, y) == max(each.score(X, y) for each in path)


def test_bad_paths():
    X, y = problem(8)
    for Cs in ([], [0.0], [1.0, -1.0], ["1"], 1.0, None):
        with pytest.raises(InvalidParameterError) as caught:
            regularization_path(TopKSVC(), X, y, Cs=Cs)
        assert caught.value.argument == "Cs"
    assert len(PAPER_GRID) == 9
    for other in (LogisticRegression(), TopKSVC):
        with pytest.raises(InvalidParameterError, match=r"^estimator: "):
            regularization_path(other, X, y)


@pytest.mark.parametrize("estimator", [TopKSVC, TopKLogisticRegression])
def test_kernel_fits_count_all_their_iterations(estimator):
    X, y = problem(9, n=240)
    model = estimator(kernel="rbf", k=2, C=10.0, tol=1e-6).fit(X, y, eval_set=[(X, y)])
    watched = model.evals_result_["eval_0"]["iteration"]
    assert (np.diff(watched) > 0).all()
    assert watched[-1] == model.n_iter_ == model.history_["iteration"][-1]
    for max_iter in (1, 2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert model.set_params(max_iter=max_iter).fit(X, y).n_iter_ <= max_iter


def test_an_interrupt_of_a_second_kernel_run_keeps_the_first(monkeypatch):
    from fast.estimators import multiclass as _multiclass
    from fast.solvers import entropy_rows

    X, y = problem(9, n=240)
    runs, calls, rows, train = [], [], entropy_rows.finished_rows, _multiclass.train

    def counted(*args, **kwargs):
        runs.append(train(*args, **kwargs))
        return runs[-1]

    def interrupted(*args):
        if len(runs) == 1:  # first the objectives of the first run and the loss at W = 0
            calls.append(None)
            if len(calls) == 3:
                raise KeyboardInterrupt
        return rows(*args)

    monkeypatch.setattr(_multiclass, "train", counted)
    model = TopKLogisticRegression(kernel="rbf", k=2, variant="beta", C=100.0, tol=1e-3)
    model.fit(X, y)
    assert len(runs) > 1
    runs.clear()
    monkeypatch.setattr(entropy_rows, "finished_rows", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.dual_gap_ < 0.1
    assert model.primal_objective_ == pytest.approx(objective(model, rbf_kernel(X), y), rel=1e-9)


def test_a_kernel_that_overflows_is_refused_without_a_warning():
    with pytest.raises(InvalidParameterError, match=r"^kernel: .*infinite"):
        TopKSVC(kernel="poly").fit([[2.4e51], [-2.4e51]], [0, 1])
