"""Interior point of the hinges' dual: its algebra against a naive twin, its models by their certificates."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _naive_erm import dual, primal, violation
from _problems import classes, quietly
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from fast import TopKSVC
from fast.errors import InvalidParameterError
from fast.families.hinges import Hinge
from fast.losses.squared_topk_hinge import SquaredTopKHinge
from fast.models.multiclass_erm import choose_solver, train


# ---- models ---------------------------------------------------------------------------------
def certified(model, X, y, tol, weight=None):
    """The gap anew, from the formulas in extended precision, in which large features lose no digits."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.longdouble)
    W = model.coef_.astype(np.longdouble)
    if model.fit_intercept:
        X, W = np.column_stack([X, np.ones(len(X))]), np.column_stack([W, model.intercept_])
    y = np.searchsorted(model.classes_, y)
    r = model.C * (np.ones(len(y)) if weight is None else weight)
    A = model.dual_coef_.toarray()
    assert violation(A, y, r, model.variant, model.k) <= 1e-12 * r.max()
    P = primal(W, X, y, r, model.variant, model.k, model.gamma)
    D = dual(A.astype(np.longdouble), X, y, r, model.gamma)
    assert model.primal_objective_ * (1.0 + 1e-12) >= P
    assert D - model.dual_objective_ >= -1e-12 * abs(model.dual_objective_)
    assert (P - D) / max(abs(P), abs(D)) <= model.dual_gap_ <= tol


def fit(X, y, tol=1e-6, weight=None, **settings):
    model = TopKSVC(tol=tol, max_iter=200, random_state=0, **{"solver": "interior", **settings})
    quietly(model, X, y, weight)
    certified(model, X, y, tol, weight)
    return model


SCALES = {
    "offset": lambda X, j: X + 1e6,
    "large": lambda X, j: X * 1e8,
    "small": lambda X, j: X * 1e-8,
    "mixed": lambda X, j: np.choose(j % 4, [X, X + 1e6, X * 1e8, X * 1e-8]),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("intercept", [False, True])
def test_offsets_and_scales(scale, intercept):
    X, y = classes(7, n=300, m=4, d=8)
    X = SCALES[scale](X, np.arange(8)[None])
    for variant, k in (("alpha", 1), ("alpha", 2), ("beta", 3)):
        model = fit(X, y, 1e-5, k=k, variant=variant, C=0.5, fit_intercept=intercept, solver="auto")
        if scale == "small" and not intercept:  # one scale for all; who goes on to rounding is free
            loss = Hinge.named(variant, k, 0.0)
            assert choose_solver("auto", X, np.full(300, 0.5), loss, 4) == "active"
        else:
            assert model.solver_ == "interior"


def test_large_columns_that_few_examples_have():
    X, y = load_digits(return_X_y=True)
    kept = np.flatnonzero(y < 5)[:600]
    X, y = X[kept][:, ::2] / 16.0, y[kept]
    X = np.choose(np.arange(32)[None] // 2 % 4, [X, X + 1e6, X * 1e8, X * 1e-8])
    noise = np.random.default_rng(0).random(len(y)) < 0.15
    y[noise] = (y[noise] + 1) % 5
    assert fit(X, y, 1e-4, k=2).n_iter_ <= 40  # 2e-3 was all that steps alone reached


def odd(name):
    X, y = classes(8, n=80, m=4, d=3)
    if name == "two classes":
        return X, (y > 1).astype(int)
    if name == "dependent columns":
        return np.column_stack([X, np.zeros(80), np.ones(80), X[:, :2], 1e8 * X[:, :1]]), y
    if name == "wide":
        return np.random.default_rng(0).standard_normal((30, 70)), np.arange(30) % 4
    if name == "separable":
        return X + 20.0 * np.eye(4, 3)[y], y
    if name == "repeated":
        return np.repeat(X[:20], 4, axis=0), np.repeat(y[:20], 4)
    small = {"one feature": X[:, :1], "zeros": 0.0 * X, "float32": X.astype(np.float32)}
    return small.get(name, sp.csr_array(np.where(np.abs(X) < 1.0, 0.0, X))), y


ODD = ["two classes", "dependent columns", "wide", "separable", "repeated", "one feature", "zeros"]


@pytest.mark.parametrize("name", [*ODD, "float32", "csr"])
def test_odd_data(name):
    X, y = odd(name)
    others = len(np.unique(y)) - 1
    for variant, k in itertools.product(["alpha", "beta"], [1, others]):
        fit(X, y, k=k, variant=variant)
    if others > 2:
        fit(X, y, k=2, fit_intercept=True)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1e3, 1e6])
def test_no_weight_of_the_risk_is_too_large_or_too_small(C):
    X, y = classes(9, n=60, m=4, d=3)
    for variant, k in (("alpha", 1), ("alpha", 2), ("beta", 2)):
        fit(X, y, C=C, k=k, variant=variant)


def test_examples_without_weight_take_no_part():
    X, y = classes(10, n=60, m=4, d=3)
    weight = np.where((np.arange(60) % 3 == 0) | (y == 2), 0.0, 2.0)
    X[weight == 0.0] *= 1e8
    model = fit(X, y, weight=weight, k=2)
    assert not model.dual_coef_.toarray()[weight == 0.0].any()
    smaller = fit(X[weight > 0.0], y[weight > 0.0], weight=weight[weight > 0.0], k=2)
    assert smaller.classes_.tolist() == [0, 1, 3]


def test_smoothing():
    X, y = classes(11, n=80, m=4, d=3)
    for (variant, k), gamma in itertools.product(
        [("alpha", 1), ("alpha", 3), ("beta", 2)], [0.1, 3]
    ):
        settings = {"k": k, "variant": variant, "gamma": gamma, "tol": 1e-6, "random_state": 0}
        model = quietly(TopKSVC(solver="interior", **settings), X, y)
        assert model.dual_gap_ <= 1e-6
        check_certificate(model, X, y)


def test_it_agrees_with_class_lists():
    X, y = classes(12, n=400, m=4, d=3)
    model = fit(X, y, C=1e3, tol=1e-9)
    lists = fit(X, y, C=1e3, tol=1e-3, solver="active")
    assert lists.dual_objective_ <= model.primal_objective_ <= lists.primal_objective_ * (1 + 1e-9)


def test_what_it_cannot_train_is_refused():
    X, y = np.zeros((2001, 2001)), np.arange(2001) % 4
    with pytest.raises(InvalidParameterError, match="4 x 2001 weights"):
        TopKSVC(solver="interior").fit(X, y)
    with pytest.raises(InvalidParameterError, match="which needs simplex"):
        train(X[:9, :2], y[:9], 1.0, 4, SquaredTopKHinge(), solver="interior")


def test_a_warning_names_the_columns_that_float64_has_too_few_digits_for():
    pd = pytest.importorskip("pandas")
    X, y = classes(13, n=60, m=3, d=7)
    X[:, 1:] = 1e14 + 1e8 * X[:, 1:]
    settings = {"C": 10.0, "tol": 1e-12, "random_state": 0}
    with pytest.warns(
        ConvergenceWarning,
        match=r"kept. Centre .* has: 1 (varies|has).*; 5 .* and 1 more, or lower C",
    ):
        TopKSVC(**settings).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="kept. Raise max_iter, or lower C"):
        TopKSVC(**settings, max_iter=3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="kept. Raise max_iter, or centre .* has: 1 "):
        TopKSVC(**settings, max_iter=3, solver="active").fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    with pytest.warns(ConvergenceWarning, match="has: b varies by"):
        TopKSVC(**settings).fit(frame, y)
    with pytest.warns(ConvergenceWarning, match="max_iter, or scale the features, or lower C"):
        TopKSVC(**settings, max_iter=3).fit(X[:, :1], y)
