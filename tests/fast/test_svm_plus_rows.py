"""The linear trainers of SVM+ in pieces: interior point, models and bounds, working sets."""

import itertools

import _naive_svm_plus as naive
import numpy as np
import pytest
import scipy.sparse as sp
from _naive_svm_plus import judged

from fast.svm_plus import interior_point_qp as interior
from fast.svm_plus import working_set
from fast.svm_plus.data import Bound, Model
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.interior_point_qp import Rows, minimise
from fast.svm_plus.squared_hinge import SquaredHingeData
from fast.svm_plus.working_set import WorkingSetState

C, LAM = 1.5, 0.7


# ---- interior point -------------------------------------------------------------------------
def program(rng, own, paired, free, half=6, p=4):
    m = 2 * half if paired else half
    F = np.ones((m, free))
    F[:, 0] = np.resize([1.0, -1.0, -1.0], m)
    k = rng.uniform(0.5, 3.0, half) if own else None
    A = rng.standard_normal((m, p))
    if not own and free == 1:
        A[:, 0] += 3.0
    return Rows(A, F, rng.random(m) + 0.5, np.array([0.0, 4.0])[:free], k, paired)


def own_slack(rows):
    """E as a matrix: what the own slacks of the multipliers are."""
    m = len(rows.h)
    if rows.k is None:
        return np.zeros((m, m))
    times = m // len(rows.k)
    return np.tile(np.diag(1.0 / rows.k), (times, times))


PROGRAMS = [
    (own, paired, free)
    for own, paired, free in itertools.product((False, True), (False, True), (1, 2))
    if own or not paired
]


@pytest.mark.parametrize(("own", "paired", "free"), PROGRAMS)
def test_directions_solve_newtons_system(own, paired, free, rng):
    """A du + F dv + (E + S/M) dmu = r, du - A'dmu = -dual_u, -F'dmu = -dual_v, in both spaces."""
    rows = program(rng, own, paired, free)
    E, m = own_slack(rows), len(rows.h)
    s, mu = rng.uniform(0.1, 2.0, (2, m))
    np.testing.assert_allclose(rows.own(mu), E @ mu)
    for system in (interior._Primal(rows), interior._Gram(rows, rows.A @ rows.A.T)):
        small = isinstance(system, interior._Gram)
        assert system.factor(s, mu)
        r, dual_v = rng.standard_normal(m), rng.standard_normal(free)
        dual_u = np.zeros(4) if small else rng.standard_normal(4)
        du, dv, dmu = system.solve(r, dual_u, dual_v)
        du = rows.A.T @ dmu if small else du
        np.testing.assert_allclose(rows.A @ du + rows.F @ dv + (E + np.diag(s / mu)) @ dmu, r)
        np.testing.assert_allclose(du - rows.A.T @ dmu, -dual_u, atol=1e-12)
        np.testing.assert_allclose(rows.F.T @ dmu, dual_v, atol=1e-12)
        u, v = rng.standard_normal(4), rng.standard_normal(free)
        u = rows.A.T @ mu if small else u
        np.testing.assert_allclose(system.product(u, v, mu), rows.A @ u + rows.F @ v)
        found = system.residuals(u, v, mu)
        np.testing.assert_allclose(found[1], rows.c - rows.F.T @ mu)
        away = u - rows.A.T @ mu
        np.testing.assert_allclose(found[0], away[: len(found[0])])
        size = np.linalg.norm(away)
        wanted = size * (size + np.linalg.norm(rows.A.T @ mu))
        assert system.loss(away) == pytest.approx(0.0 if small else wanted)
        np.testing.assert_allclose(system.solution(u, mu), u)
    primal = interior._Primal(rows)
    primal.weights(s, mu)
    np.testing.assert_allclose((E + np.diag(s / mu)) @ primal.apply(r), r)


@pytest.mark.parametrize(("own", "paired", "free"), PROGRAMS)
def test_it_starts_where_the_violations_are_least_in_squares(own, paired, free, rng):
    rows = program(rng, own, paired, free)
    for price in (0.3, 5.0):
        system = interior._Primal(rows)
        system.price = price
        u, v, mu, s = system.start()
        G, unit = np.hstack([rows.A, rows.F]), np.diag([1.0] * 4 + [0.0] * free)
        x = np.linalg.solve(
            unit + price * G.T @ G, price * G.T @ rows.h - np.append(np.zeros(4), rows.c)
        )
        np.testing.assert_allclose(np.append(u, v), x)
        rest = G @ x - rows.h
        wanted = system.shifted(rest, -price * rest)
        np.testing.assert_allclose(s, wanted[0])
        np.testing.assert_allclose(mu, wanted[1])
        if not own:
            small = interior._Gram(rows, rows.A @ rows.A.T)
            small.price = price
            _, v_small, mu_small, s_small = small.start()
            np.testing.assert_allclose(v_small, v)
            np.testing.assert_allclose(mu_small, mu)
            np.testing.assert_allclose(s_small, s)


def test_a_point_is_pushed_into_the_orthant():
    system = interior._Primal(Rows(np.ones((2, 1)), np.ones((2, 1)), np.ones(2), np.zeros(1)))
    system.price = 3.0
    s, mu = system.shifted(np.array([-2.0, 4.0]), np.array([1.0, 5.0]))  # by 3, then 1 and 7
    product = 1.0 * 1.0 + 7.0 * 5.0
    np.testing.assert_allclose(s, np.array([1.0, 7.0]) + 0.5 * product / 6.0)
    np.testing.assert_allclose(mu, np.array([1.0, 5.0]) + 0.5 * product / 8.0)
    s, mu = system.shifted(np.array([1.0, 2.0]), np.array([-2.0, 0.0]))
    np.testing.assert_allclose(mu, np.array([1.0, 3.0]) + 0.5 * (1.0 + 6.0) / 3.0)
    for half in (np.zeros(2), np.array([1.0, 2.0])):  # nothing to go by
        s, mu = system.shifted(np.zeros(2), half)
        product = float((3.0 + half).sum())
        np.testing.assert_allclose(s, 1.0 + 0.5 * product / product)
        np.testing.assert_allclose(mu, half + 3.0 + 0.25 * product)
        s, mu = system.shifted(half, np.zeros(2))
        product = 3.0 * float((1.0 + half).sum())
        np.testing.assert_allclose(s, 1.0 + half + 0.5 * product / 6.0)
        np.testing.assert_allclose(mu, 3.0 + 0.5 * product / float((1.0 + half).sum()))
    s, mu = system.shifted(np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(s, np.full(2, 1.0 + 0.5 * 6.0 / 6.0))
    np.testing.assert_allclose(mu, np.full(2, 3.0 + 0.5 * 6.0 / 2.0))
    s, mu = system.shifted(np.array([0.0, 1.0]), np.array([2.0, 0.0]))  # complementary already
    np.testing.assert_allclose(s, [1e-3, 1.001])
    np.testing.assert_allclose(mu, [2.001, 1e-3])


def test_how_far_a_step_may_go():
    x = np.array([1.0, 2.0, 3.0])
    assert interior._longest(x, np.array([1.0, 0.0, 2.0])) == 1.0
    assert interior._longest(x, np.array([1.0, -4.0, -3.0])) == 0.5
    assert interior._longest(x, np.array([1.0, -1.5, -3.0])) == 1.0
    assert interior._longest(x, np.array([1.0, -1.5, -1.0]), 2.0) == pytest.approx(4.0 / 3.0)
    assert interior._longest(x, np.array([-0.4, 0.0, 0.0]), 2.0) == 2.0


def test_the_size_of_a_multiplier():
    rows = Rows(np.ones((4, 1)), np.ones((4, 2)), np.ones(4), np.array([0.0, -8.0]))
    assert interior._price(0.25, rows) == 4.0
    assert interior._price(2.0, rows) == 2.0
    assert interior._price(0.0, rows) == 2.0
    rows.c = np.zeros(2)
    assert interior._price(0.0, rows) == 1.0
    assert interior._price(2.0, rows) == 0.5
    A = np.array([[3.0, 0.0], [0.0, 1.0]])  # mean of the squared norms is 5
    plain = Rows(A, np.ones((2, 1)), np.ones(2), np.zeros(1))
    assert interior._Primal(plain).price == pytest.approx(0.2)
    assert interior._Gram(plain, A @ A.T).price == pytest.approx(0.2)


@pytest.mark.parametrize(("own", "paired", "free"), PROGRAMS)
def test_mehrotras_method_needs_few_steps(own, paired, free):
    """Without its corrector, its centring or its last part of the way it needs many more."""
    taken = []
    for seed in range(6):
        rows = program(np.random.default_rng(seed), own, paired, free, half=20)
        for gram in (None, rows.A @ rows.A.T):
            found = minimise(rows, 1e-9, gram)
            assert found.done
            taken.append(found.n_steps)
            price = minimise(rows, 1e-9, gram, price=1.0)
            taken.append(price.n_steps)
    assert 4 <= min(taken) <= max(taken) <= 12
    assert np.mean(taken) <= 9.0


def test_a_factor_gets_a_ridge_where_rounding_needs_one(rng):
    A = rng.standard_normal((6, 2))
    good = A @ A.T + np.eye(6)
    L, failed = interior._cholesky(np.asfortranarray(good))
    assert not failed
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, good, rtol=1e-12, atol=1e-12)
    near = np.asfortranarray(A @ A.T - 1e-13 * np.eye(6))
    L, failed = interior._cholesky(near)
    assert not failed
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, near, atol=1e-9)
    assert interior._cholesky(np.asfortranarray(np.diag([1.0, -1.0])))[1]


# ---- models and bounds ----------------------------------------------------------------------
KINDS = list(itertools.product((HingeData, SquaredHingeData), (True, False), (0.0, 0.4)))
SHAPES = [(11, 3, 2, "dense"), (9, 4, 12, "dense"), (9, 3, 2, "csr")]


def linear(kind, nonneg, delta, shape, rng):
    n, d, s, form = shape
    X, y, Z = naive.instance(rng, n, d, s)
    omega = rng.uniform(0.3, 2.0, n)
    made = sp.csr_array if form == "csr" else np.asarray
    return kind(made(X), y, made(Z), omega, C, LAM, nonneg, delta / omega), X, y, Z, omega


@pytest.mark.parametrize(("kind", "nonneg", "delta"), KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_point_becomes_a_feasible_model_and_any_multipliers_a_bound(
    kind, nonneg, delta, shape, rng
):
    data, X, y, Z, omega = given = linear(kind, nonneg, delta, shape, rng)
    given, squared = given[1:], kind is SquaredHingeData
    n, d, p = data.n, data.d, data.p_slack
    assert data.size == d + p + len(data.c)
    trivial, lower = data.trivial()
    everything = np.arange(n)
    A = np.hstack([data.margin_rows(everything), data.slack_rows(everything)])
    best = naive.solve(X, y, Z, C, LAM, squared=squared, nonneg=nonneg, delta=delta, weight=omega)[
        0
    ]
    for i in range(12):
        u, free = rng.standard_normal(d + p), rng.standard_normal(len(data.c))
        if i % 3 == 0:  # a point that margins can be made of
            u = np.append(np.linalg.lstsq(X - X.mean(axis=0), y, rcond=None)[0] * 3.0, 0.1 * u[d:])
        view = data.view(u, free)
        rho = free[1] if len(free) > 1 else 0.0
        g = A[:, d:] @ u[d:] + rho
        np.testing.assert_allclose(view.violation, data.h1 - A[:, :d] @ u[:d] - y * free[0] - g)
        if nonneg:
            np.testing.assert_allclose(view.violation_slack, data.h2 - g)
        else:
            assert view.violation_slack is None
        alpha, beta = rng.exponential(size=(2, n)) * (rng.random((2, n)) < 0.7)
        alpha[:3] += 0.1
        bound = data.bound(alpha, beta if nonneg else 0.0 * beta)
        for model in (view.model, data.certified(view.model), trivial):
            P, D, violated = judged(squared, model, bound, given, C, LAM, nonneg, delta)
            assert violated <= 1e-9
            size = 1e-9 * (1.0 + abs(P))
            assert model.primal >= P - size  # a multiple is not asked for its own slacks
            assert delta or model.primal <= P + size
            assert bound.dual == pytest.approx(D, rel=1e-9, abs=1e-12)
            assert D - 1e2 * size <= best <= P + 1e2 * size
        again = data.certified(view.model)
        assert again.primal <= view.model.primal + size
        assert view.model.primal <= trivial.primal + size
        if delta:
            w, v, (b, rho) = rng.standard_normal(d), rng.standard_normal(Z.shape[1]), free[[0, -1]]
            raw = Model(w, b, 0.1 * v, rho, np.inf)
            P, *_ = judged(squared, raw, bound, given, C, LAM, nonneg, delta)
            assert data.certified(raw).primal <= P + 1e-9 * abs(P)
        if squared:  # no other multiple is better
            for t in (0.9, 1.1):
                other = Bound(t * bound.alpha, t * bound.beta, 0.0)
                _, D, _ = judged(squared, trivial, other, given, C, LAM, nonneg, delta)
                assert bound.dual > D
    assert data.bound(np.zeros(n), np.zeros(n)).dual <= lower.dual + 1e-12
    P, D, _ = judged(squared, trivial, lower, given, C, LAM, nonneg, delta)
    assert trivial.primal == pytest.approx(P, rel=1e-9)
    assert lower.dual == pytest.approx(D, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("kind", "nonneg", "delta"), KINDS)
def test_the_rows_of_all_examples_are_the_problem(kind, nonneg, delta, rng):
    """Solved on every row at once, model and bound meet."""
    for shape in SHAPES:
        data, *given = linear(kind, nonneg, delta, shape, rng)
        squared = kind is SquaredHingeData
        state = WorkingSetState(started=0.0)
        state.take(*data.trivial())
        state.first = np.arange(data.n)
        state.second = state.first if nonneg else state.first[:0]
        violation, slack = working_set.solve_and_look(data, state, 1e-12)
        assert state.rows == len(state.first) + len(state.second)
        if not delta:
            assert violation.max() <= 1e-7
            assert slack is None or slack.max() <= 1e-7
        assert state.primal - state.dual <= 1e-8 * abs(state.primal)
        found = judged(squared, state.model, state.bound, given, C, LAM, nonneg, delta)
        assert found[2] <= 1e-9
        assert found[:2] == pytest.approx((state.primal, state.dual), rel=1e-9)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_a_multiple_of_a_squared_hinge_model_keeps_its_margins_tight(nonneg, delta, rng):
    y, omega = np.resize([1.0, -1.0, 1.0], 11), rng.uniform(0.3, 2.0, 11)
    X, Z = rng.standard_normal((11, 3)) + 3.0 * y[:, None], rng.standard_normal((11, 2))
    data = SquaredHingeData(X, y, Z, omega, C, LAM, nonneg, delta)
    theta = LAM / (LAM + delta * C * omega)
    seen = 0
    for _ in range(20):
        w, v, rho = rng.random(3), 0.2 * rng.standard_normal(2), rng.standard_normal()
        found = data._rescaled(w, v, rho, X @ w, Z @ v + rho)
        g = Z @ found.v + found.rho
        margins = y * (X @ found.w + found.b) + theta * g
        assert found.primal <= data.constant().primal
        reduced = C * omega * theta
        P = found.w @ found.w + reduced @ g**2 + LAM * (found.v @ found.v + found.rho**2)
        assert found.primal == pytest.approx(0.5 * P, rel=1e-9)
        if found.w.any():
            seen += 1
            assert margins[y > 0].min() == pytest.approx(1.0, rel=1e-9)
            assert margins[y < 0].min() == pytest.approx(1.0, rel=1e-9)
    assert seen


def test_a_guess_of_the_mean_multiplier(rng):
    data = linear(SquaredHingeData, False, 0.0, SHAPES[0], rng)[0]
    assert data.price(2.0, 8.0, 4) == pytest.approx(2.0)
    assert data.price(2.0, 0.0, 4) is None
    assert linear(HingeData, False, 0.0, SHAPES[0], rng)[0].price(2.0, 8.0, 4) is None


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_bound_without_a_correcting_function(shape, rng):
    """The best multiple of alpha with 0 <= alpha <= C omega, beta what is left."""
    data, X, y, _, omega = linear(HingeData, True, 0.0, shape, rng)
    for scale in (1e-2, 0.3, 10.0):
        alpha = data.balanced(scale * rng.random(data.n))
        found = data._plain_bound(alpha)
        assert found.alpha.min() >= 0.0
        assert found.alpha @ y == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(found.alpha + found.beta, C * omega, rtol=1e-12)
        kept = data.balanced(np.minimum(alpha, C * omega))
        multiples = np.linspace(0.0, 1.0, 101) * (C * omega / np.maximum(kept, 1e-300)).min()
        w = X.T @ (kept * y)
        values = multiples * kept.sum() - 0.5 * multiples**2 * (w @ w)
        assert values.max() <= found.dual + 1e-12
        w = X.T @ (found.alpha * y)
        assert found.dual == pytest.approx(found.alpha.sum() - 0.5 * w @ w, rel=1e-9)
    assert data._plain_bound(np.zeros(data.n)).dual == -np.inf


# ---- working sets ---------------------------------------------------------------------------
def test_rows_to_begin_with(rng):
    def drawn(n, nonneg, delta):
        data = linear(HingeData, nonneg, delta, (n, 3, 2, "dense"), rng)[0]
        return data, *working_set.initial(data, np.random.default_rng(1))

    most = 8 * (3 + 2 + 2)
    for nonneg in (True, False):
        data, first, second = drawn(most, nonneg, 0.0)
        np.testing.assert_array_equal(first, np.arange(most))
        np.testing.assert_array_equal(second, np.arange(most if nonneg else 0))
        for delta in (0.0, 0.5):
            data, first, second = drawn(4 * most, nonneg, delta)
            assert len(first) == 42
            assert np.count_nonzero(data.positive[first]) == 21
            assert (np.diff(first) > 0).all()
            if not nonneg:
                assert not len(second)
            elif delta:
                np.testing.assert_array_equal(first, second)
            else:
                assert len(set(second)) == 21


def test_the_rows_that_are_violated_most_join():
    violation = np.array([3.0, 1e-14, 5.0, 4.0, -1.0, 9.0, 2.0])
    for count, wanted in (
        (1, {2}),
        (2, {2, 3}),
        (3, {0, 2, 3}),
        (4, {0, 2, 3, 6}),
        (9, {0, 2, 3, 6}),
    ):
        assert set(working_set.worst(violation, np.array([5]), count)) == wanted
    assert violation[5] == 9.0


@pytest.mark.parametrize(
    ("nonneg", "delta"), [(True, 0.0), (True, 0.5), (False, 0.0), (False, 0.5)]
)
def test_rows_join_as_the_loss_has_them(nonneg, delta, rng):
    data = linear(HingeData, nonneg, delta, (300, 3, 2, "dense"), rng)[0]
    state = WorkingSetState(started=0.0)
    state.first, state.second = working_set.initial(data, np.random.default_rng(1))
    before = state.first, state.second
    violated = rng.standard_normal(300), rng.standard_normal(300) if nonneg else None
    rows = len(before[0]) + len(before[1])
    count = max(7, int((1.5 if delta else 0.25) * rows))
    added = working_set.add_rows(data, state, violated)
    for old, new in zip(before, (state.first, state.second), strict=True):
        np.testing.assert_array_equal(new[: len(old)], old)
        assert len(set(new)) == len(new)
    assert added == len(state.first) + len(state.second) - rows
    first = np.maximum(*violated) if nonneg and delta else violated[0]
    fresh = working_set.worst(first, before[0], count)
    assert set(state.first[len(before[0]) :]) == set(fresh)
    if nonneg and delta:
        np.testing.assert_array_equal(state.first, state.second)
    elif nonneg:
        fresh = working_set.worst(violated[1], before[1], count)
        assert set(state.second[len(before[1]) :]) == set(fresh)
    else:
        assert not len(state.second)
