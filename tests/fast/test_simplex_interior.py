"""Interior point of the hinges' dual where class lists would do, too; badly scaled features: `test_conditioning`."""

import itertools

import numpy as np
import pytest
from _certified import check_certificate
from _problems import classes, quietly
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from test_conditioning import judged

from fast import TopKSVC
from fast.errors import InvalidParameterError
from fast.losses.squared_topk_hinge import SquaredTopKHinge
from fast.models.multiclass_erm import train


def fit(X, y, tol=1e-6, **settings):
    model = TopKSVC(tol=tol, max_iter=200, random_state=0, **{"solver": "interior", **settings})
    assert judged(quietly(model, X, y), X, y) <= tol
    return model


def test_large_columns_that_few_examples_have():
    X, y = load_digits(return_X_y=True)
    kept = np.flatnonzero(y < 5)[:600]
    X, y = X[kept][:, ::2] / 16.0, y[kept]
    X = np.choose(np.arange(32)[None] // 2 % 4, [X, X + 1e6, X * 1e8, X * 1e-8])
    noise = np.random.default_rng(0).random(len(y)) < 0.15
    y[noise] = (y[noise] + 1) % 5
    assert fit(X, y, 1e-4, k=2).n_iter_ <= 40  # 2e-3 was all that steps alone reached


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
