"""Hard constraints and the ordinary SVM: each part against a naive twin."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fast.models import binary_svm
from fast.solvers import (
    box_interior_point,
    constrained_risk,
    plain_svm,
    ridge,
)
from fast.solvers.box_interior_point import FactorGram, MatrixGram, OneView
from fast.solvers.hard_margin import Margins
from fast.solvers.score_problem import ScoreCut

FORMS = [np.asarray, sp.csr_array]


# ---- hard constraints -----------------------------------------------------------------------------


def easy(rng, n=60):
    """A problem of two kinds of examples: those of the loss, and those that must be on their side."""
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    far = rng.standard_normal((n, 3)) + 3.5 * signs[:, None] * [1.0, 0.0, 0.0]
    X = rng.standard_normal((20, 3))
    y = np.where(np.arange(20) % 2, 1.0, -1.0)

    def oracle(scores):
        on = y * scores < 1.0
        return ScoreCut(
            float(np.maximum(1 - y * scores, 0).mean()), float(on.mean()), -y * on / 20, 1
        )

    return constrained_risk.EasyProblem(X, oracle, 3.0, Margins(far, signs)), far, signs, X


def test_points_of_an_easy_problem_are_feasible_and_its_bound_is_the_formula(rng):
    problem, far, signs, X = easy(rng)
    problem.begin(None)
    w = problem.state.w
    for rho in (0.0, 0.5):
        centre = rng.standard_normal(3)
        problem.cuts.idle[:] = 7
        w = problem.proximal_point(centre, rho, 1e-10)
        assert set(problem.cuts.idle) <= {-1, 7}
        assert problem.margins.of(w)[0].min() >= 1.0 - 1e-12

        def value(v, rho=rho, centre=centre):
            return problem.model(v) + 0.5 * rho * (v - centre) @ (v - centre)

        for _ in range(60):  # no other feasible point is better
            other = problem.repaired(w + 10.0 ** rng.uniform(-4, 0) * rng.standard_normal(3))
            assert problem.margins.of(other)[0].min() >= 1.0 - 1e-12
            assert value(w) <= value(other) + 1e-7
        problem.at(w)
    assert problem.mu.min() >= 0.0
    assert problem.mu @ signs == pytest.approx(0.0, abs=1e-9 * problem.mu.sum())
    A, b = problem.cuts.coefficients(), problem.cuts.b
    lam = np.concatenate([problem.weights, np.zeros(problem.cuts.m - len(problem.weights))])
    pull = 3.0 * lam @ A.toarray() @ X - (problem.mu * signs) @ far
    dual = 3.0 * lam @ b + problem.mu.sum() - 0.5 * pull @ pull
    assert problem.dual_of(3.0 * lam, b, A) == pytest.approx(dual, rel=1e-12)
    assert problem.state.dual == pytest.approx(dual, rel=1e-9)
    assert problem.state.dual <= problem.state.primal


def test_constraints_that_do_not_bind_are_forgotten_once_there_are_many(rng, monkeypatch):
    monkeypatch.setattr(constrained_risk, "CROWDED", 4)
    problem, _far, signs, _ = easy(rng)
    problem.members = np.arange(6)
    problem.rows = problem.margins.rows(problem.members)
    problem.last_mu = np.array([0.0, 1.0, 0.0, 0.0, 1e-12, 0.0])
    problem.mu[:] = 0.0
    problem.mu[[2, 3]] = 3.0, 1e-12
    margins = np.full(len(signs), 5.0)
    margins[[0, 5]] = 1.0, 1.5  # the nearest: as many as half of what is many
    problem._collect(margins, np.array([9, 11]))
    np.testing.assert_array_equal(problem.members, [0, 1, 2, 5, 9, 11])
    np.testing.assert_array_equal(problem.rows, problem.margins.rows(problem.members))
    problem.members, problem.rows = problem.members[:4], problem.rows[:4]
    problem._collect(margins, np.array([7]))  # four are not many
    np.testing.assert_array_equal(problem.members, [0, 1, 2, 5, 7])


def test_balanced_multipliers_of_constraints():
    signs = np.array([1.0, 1.0, -1.0])
    balanced = constrained_risk.balanced
    np.testing.assert_allclose(balanced(np.array([1.0, 3.0, 2.0]), signs), [0.5, 1.5, 2.0])
    np.testing.assert_array_equal(balanced(np.array([0.0, 0.0, 2.0]), signs), [0.0, 0.0, 0.0])


def test_a_point_far_from_feasible_moves_towards_one(rng):
    problem, _, _, _ = easy(rng)
    tried = 0
    while tried < 9:
        w = 3.0 * rng.standard_normal(3)
        here, _ = problem.margins.of(w)
        if here.min() >= 0.5:
            continue
        tried += 1
        there, _ = problem.margins.of(2.0 * problem.feasible)
        part = max((1.0 - a) / (b - a) for a, b in zip(here, there, strict=True) if a < 1.0)
        between = (1.0 - part) * w + part * 2.0 * problem.feasible
        found = problem.repaired(w)
        np.testing.assert_allclose(found, between / min(problem.margins.of(between)[0].min(), 1.0))
        assert problem.margins.of(found)[0].min() >= 1.0 - 1e-12


# ---- the ordinary SVM -----------------------------------------------------------------------------


def svm(rng, n=9, d=3):
    X = rng.standard_normal((n, d))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return X, y, rng.uniform(0.3, 2.0, n)


@pytest.mark.parametrize("form", FORMS)
def test_both_gram_matrices_solve_and_multiply(rng, form):
    X, _, _ = svm(rng)
    E, r = rng.uniform(0.1, 2.0, 9), rng.standard_normal(9)
    for gram in (MatrixGram(X @ X.T), FactorGram(form(X))):
        assert gram.n == 9
        np.testing.assert_allclose(gram.diagonal, (X**2).sum(axis=1))
        np.testing.assert_allclose(gram.product(r), X @ X.T @ r, atol=1e-13)
        expected = np.linalg.solve(X @ X.T + np.diag(E), r)
        np.testing.assert_allclose(gram.solver(E)(r), expected, rtol=1e-11, atol=1e-12)


def test_singular_systems_get_the_smallest_ridge_that_works(rng):
    A = rng.standard_normal((6, 2))
    K = 1e4 * A @ A.T
    K -= 3e-7 * np.trace(K) / 6 * np.eye(6)
    L = np.tril(ridge.cholesky(K.copy()))
    added = L @ L.T - K
    mean = np.trace(K) / 6
    np.testing.assert_allclose(
        added, 1e-6 * mean * np.eye(6), atol=1e-14 * mean
    )  # 1e-16, 1e-14, ...


@pytest.mark.parametrize("squared", [False, True])
def test_an_interior_point_follows_its_equations(rng, squared):
    X, y, cost = svm(rng)
    ridge, upper = (1.0 / cost, np.full(9, np.inf)) if squared else (np.zeros(9), cost)
    point = box_interior_point._Point(OneView(FactorGram(X), y, upper, ridge))
    H = (X @ X.T) * np.outer(y, y) + np.diag(ridge)
    np.testing.assert_allclose(point.slope(), H @ point.a - 1.0, atol=1e-13)
    assert point.a @ y == pytest.approx(0.0, abs=1e-13)
    assert ((point.a > 0) & (point.a < upper)).all()
    start = max(0.5 * upper.max() if not squared else 0.0, 9.0 / np.trace(H))
    assert point.a.max() <= start * (1 + 1e-14)
    assert point.pairs == (9 if squared else 18)
    size = 0.1 * (np.abs(H @ point.a - 1.0).max() + 1.0)
    np.testing.assert_allclose(point.z, np.maximum(H @ point.a - 1.0, 0.0) + size)
    gaps = []
    for _ in range(12):
        gaps.append(float(point.a @ point.z + point.s @ point.t) / point.pairs)
        slope = point.slope() + point.b * y - point.z + point.t
        if not point.advance() or gaps[-1] < 1e-11:
            break
        np.testing.assert_allclose(
            point.slope() + point.b * y - point.z + point.t, 0.0, atol=np.abs(slope).max() + 1e-9
        )
        if not squared:
            np.testing.assert_allclose(point.a + point.s, upper, rtol=1e-9)
    assert gaps[-1] < 1e-9
    assert len(gaps) <= 12


def naive_take(K, y, cost, squared, a):
    """D at the multipliers made feasible, and P at their w with its best b of many."""
    a = plain_svm.balanced(a if squared else np.minimum(a, cost), y)
    f = K @ (a * y)
    w2 = (a * y) @ f
    square = w2 + (a @ (a / cost) if squared else 0.0)
    scale = a.sum() / square if squared and square else 1.0
    dual = scale * a.sum() - 0.5 * scale**2 * square
    loss = lambda b: np.maximum(1 - y * (f + b), 0.0)  # noqa: E731
    value = lambda b: 0.5 * w2 + (0.5 * cost @ loss(b) ** 2 if squared else cost @ loss(b))  # noqa: E731
    grid = np.sort(y - f)
    if squared:  # the best of each piece is where its slope is 0
        for low, high in itertools.pairwise(np.concatenate([[grid[0] - 1], grid, [grid[-1] + 1]])):
            on = 1 - y * (f + 0.5 * (low + high)) > 0
            b = (cost * y * (1 - y * f))[on].sum() / max(cost[on].sum(), 1e-300)
            grid = np.append(grid, np.clip(b, low, high))
    return a * scale, dual, min(map(value, grid))


@pytest.mark.parametrize("squared", [False, True])
def test_multipliers_are_certified_by_the_formulas(rng, squared):
    X, y, cost = svm(rng)
    K, found = X @ X.T, plain_svm.PlainState()
    best, bound = np.inf, -np.inf
    for i in range(12):
        a = 3.0 * rng.random(9) * (rng.random(9) < 0.8)
        multipliers, dual, primal = naive_take(K, y, cost, squared, a)
        plain_svm.take(found, MatrixGram(K), y, cost, squared, a, 0.3)
        best, bound = min(best, primal), max(bound, dual)
        assert found.primal == pytest.approx(best, rel=1e-12)
        assert found.bound == found.dual == pytest.approx(bound, rel=1e-12)
        if bound == dual:
            np.testing.assert_allclose(found.alpha, multipliers, rtol=1e-12)
        f = K @ found.coef
        loss = np.maximum(1 - y * (f + found.b), 0.0)
        value = 0.5 * cost @ loss**2 if squared else cost @ loss
        assert 0.5 * found.coef @ f + value == pytest.approx(best, rel=1e-12)
        assert found.n_iter == i + 1
    plain_svm.take(found, MatrixGram(K), y, cost, squared, np.zeros(9), 0.0)
    assert found.primal == pytest.approx(min(best, naive_take(K, y, cost, squared, np.zeros(9))[2]))


@pytest.mark.parametrize("squared", [False, True])
def test_the_svm_ends_where_it_should(rng, squared):
    X, y, cost = svm(rng, 30)
    mean = np.array([5.0, -3.0, 1.0])
    train = lambda **given: plain_svm.train(FactorGram(X), y, cost, squared, mean=mean, **given)  # noqa: E731
    found = train(tol=1e-3)
    assert found.gap <= 1e-13  # small problems go on to rounding
    f = (X + mean) @ found.w + found.b
    loss = np.maximum(1 - y * f, 0.0)
    value = 0.5 * cost @ loss**2 if squared else cost @ loss
    assert found.primal == pytest.approx(0.5 * found.w @ found.w + value, rel=1e-12)
    np.testing.assert_allclose(found.w, X.T @ found.coef)
    three = train(max_iter=3)
    assert (three.n_iter, len(three.history), three.stopped) == (3, 3, False)
    seen = []
    stopped = train(
        report=lambda state: seen.append((state.model.primal, state.model.b)) or len(seen) == 2
    )
    assert (stopped.n_iter, stopped.stopped, stopped.interrupted) == (2, True, False)
    assert seen[-1] == (stopped.primal, stopped.b)
    plain_svm_small = plain_svm.SMALL
    try:
        plain_svm.SMALL = 0.0  # as if it were large
        rough = train(tol=1e-3)
        assert len(rough.history) < len(found.history)
        assert 1e-15 < rough.gap <= 1e-6
        assert rough.history[-2]["gap"] > 1e-6
        assert train(tol=1e-9).history[-2]["gap"] > 1e-9
    finally:
        plain_svm.SMALL = plain_svm_small


class Counted(np.ndarray):
    """Scores that count how often an offset is added."""

    added = 0

    def __add__(self, other):
        Counted.added += 1
        return np.asarray(self) + other


def test_the_best_offset_of_the_squared_hinge_takes_few_steps(rng):
    for i in range(40):
        n = int(rng.integers(2, 30))
        y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
        y[:2] = -1.0, 1.0
        f, cost = rng.standard_normal(n) * 10.0 ** rng.uniform(-2, 2), rng.uniform(0.5, 2.0, n)
        Counted.added = 0
        b = plain_svm.squared_offset(
            f.view(Counted), y, cost, float(rng.standard_normal() * 10.0 ** (i % 4))
        )
        assert Counted.added <= 12
        loss = np.maximum(1 - y * (f + b), 0.0)
        assert abs(cost @ (y * loss)) <= 1e-12 * cost.sum() * (1 + np.abs(f).max()) * n


def test_rounds_without_progress_are_counted(rng, monkeypatch):
    X, y, cost = svm(rng)
    a, asked = plain_svm.balanced(0.1 * cost, y), []

    def stands_still(program, look, max_iter):
        while len(asked) < 300 and not (asked and asked[-1]):
            asked.append(look(a, np.zeros(1)))

    monkeypatch.setattr(box_interior_point, "minimise", stands_still)
    for tol, most, rounds in (
        (2.0, 99, 5),
        (0.0, 20, 20),
        (0.0, 300, 201),
        (0.0, 3, 3),
        (2.0, 1, 1),
    ):
        asked.clear()
        found = plain_svm.train(FactorGram(X), y, cost, False, tol=tol, max_iter=most)
        assert (len(asked), found.n_iter) == (rounds, rounds)


def test_the_best_offsets_of_all_examples_on_one_side():
    y, cost = np.ones(3), np.ones(3)
    f = np.array([0.0, 1.0, 5.0])
    b = plain_svm.hinge_offset(f, y, cost)
    assert np.maximum(1 - y * (f + b), 0.0).sum() == 0.0
    b = plain_svm.squared_offset(f, y, cost, -50.0)
    assert np.maximum(1 - y * (f + b), 0.0).sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("bias", [False, True])
def test_the_binary_svm_is_the_formula(rng, bias):
    X, y = rng.standard_normal((30, 3)), rng.random(30) < 0.4
    signs, C = np.where(y, 1.0, -1.0), 4.0
    for form in FORMS:
        found = binary_svm.train(form(X), y, C, bias=bias, tol=1e-7)
        loss = np.maximum(1 - signs * (X @ found.w + found.b), 0.0)
        square = found.w @ found.w + found.b**2
        assert found.primal == pytest.approx(0.5 * square + C * loss.mean(), rel=1e-12)
        assert (found.b != 0.0) == bias
        pull = (found.alpha * signs) @ np.column_stack([X, np.full(30, float(bias))])
        assert found.dual == pytest.approx(found.alpha.sum() - 0.5 * pull @ pull, rel=1e-9)
        assert found.alpha.min() >= 0.0
        assert found.alpha.max() <= C / 30
        assert found.gap <= 1e-7
    free = binary_svm.free(X, signs, C, 1e-6)
    loss = np.maximum(1 - signs * (X @ free.w + free.b), 0.0)
    assert free.primal == pytest.approx(
        0.5 * (free.w @ free.w + free.b**2) + C * loss.mean(), rel=1e-12
    )
    pull = (free.alpha * signs) @ np.column_stack([X, np.ones(30)])
    assert free.dual == pytest.approx(free.alpha.sum() - 0.5 * pull @ pull, rel=1e-12)
    assert free.gap == (free.primal - free.dual) / free.primal
    worse, better = (free, found) if found.gap < free.gap else (found, free)
    assert binary_svm.better(better, worse).gap == better.gap
    chosen = binary_svm.better(worse, better)
    assert (chosen.gap, chosen.n_iter, chosen.n_oracle) == (
        better.gap,
        worse.n_iter + 1,
        worse.n_oracle,
    )
    assert chosen.history[:-1] == worse.history
    last = chosen.history[-1]
    assert (last["iteration"], last["primal"], last["gap"]) == (
        worse.n_iter + 1,
        better.primal,
        better.gap,
    )
