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
from fast.models.multiclass_erm import TopKHinge, train
from fast.solvers import simplex_interior
from fast.solvers.kronecker import Factor, assemble
from fast.solvers.simplex_interior import SimplexInteriorSolver
from fast.solvers.simplex_loop import factor


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


@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize(
    ("variant", "k", "gamma"),
    [("alpha", 1, 0.0), ("alpha", 2, 0.0), ("alpha", 3, 0.2), ("beta", 2, 0.5), ("beta", 3, 0.0)],
)
def test_the_compiled_loop_takes_the_same_steps(variant, k, gamma, C):
    X, y = classes(13, n=50, m=4, d=3)
    loss, r = TopKHinge.named(variant, k, gamma), C * (1.0 + np.arange(50) % 3)
    r[7] = 0.0
    plain, looped = (SimplexInteriorSolver(X, y, r, 4, loss, 0) for _ in range(2))
    plain.primal = 0.0  # nothing is restored
    for _ in range(8):
        plain._advance()
        looped._looped(1, 0.0)
        assert looped.left == pytest.approx(plain.left, rel=1e-7)
        for found, expected in zip(looped.rows.variables(), plain.rows.variables(), strict=True):
            assert found == pytest.approx(expected, rel=1e-6)
        assert pytest.approx(plain.U, rel=1e-6, abs=1e-9) == looped.U
    again = SimplexInteriorSolver(X, y, r, 4, loss, 0)
    again._looped(8, 0.0)
    assert np.array_equal(again.U, looped.U)
    last = again.left
    again._looped(5, last)  # is small enough
    assert again.left == last
    assert np.array_equal(again.U, looped.U)


def test_a_matrix_that_rounding_made_indefinite_is_factorised_nevertheless():
    """And so is, to the same factor, one that is not."""
    rng = np.random.default_rng(0)
    Q, y = np.linalg.qr(rng.standard_normal((30, 3)))[0], np.sort(np.arange(30) % 3)
    pairs = np.ascontiguousarray(np.stack([Q[:, g] * Q[:, h] for g in range(3) for h in range(g + 1)]))
    for curvature, metric in (
        (-rng.random((3, 30)), np.diag([1.0, 2.0, 1e-3])), (np.zeros((3, 30)), np.ones((3, 3)))
    ):  # fmt: skip
        matrix = assemble(metric, lambda low, high, K=curvature: K[:, low:high].T, Q, y, 3)
        H, scale = np.empty((6, 6)), np.empty(6)
        factor(metric, pairs, curvature, H, scale)
        L = np.tril(H) / scale[:, None]
        assert pytest.approx(matrix, abs=1e-12) == L @ L.T
        right = rng.standard_normal((2, 3))
        if curvature.any():
            found = Factor.of(H, scale).solve(right)
            assert found == pytest.approx(Factor(matrix).solve(right), rel=1e-9)


def test_small_problems_go_on_to_rounding_and_end_there(monkeypatch):
    X, y = classes(14, n=60, m=3, d=4)
    for C, k in ((1.0, 1), (1e3, 2)):
        model = TopKSVC(C=C, k=k).fit(X, y)
        assert model.solver_ == "interior"
        assert model.dual_gap_ <= 1e-9
        assert model.n_iter_ <= 10
        check_certificate(model, X, y)
        lists = TopKSVC(C=C, k=k, solver="active", tol=1e-9).fit(X, y)
        assert model.coef_ == pytest.approx(lists.coef_, abs=1e-6 * np.abs(lists.coef_).max())
    short = quietly(TopKSVC(max_iter=1, tol=1e-6), X, y)
    assert short.n_iter_ == 1
    assert short.dual_gap_ > 1e-6
    check_certificate(short, X, y)
    monkeypatch.setattr(simplex_interior, "advance", lambda *args: (args[-8][0].fill(np.nan), 0.0))
    assert TopKSVC().fit(X, y).dual_gap_ <= 1e-9  # step by step, then
    monkeypatch.undo()
    flat = TopKSVC(C=1.0, solver="interior").fit(np.zeros_like(X), y)
    assert not flat.coef_.any()
    assert flat.dual_gap_ <= 1e-12


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
