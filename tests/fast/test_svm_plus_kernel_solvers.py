"""SMO, alternating SMO, Newton on the active set and interior point, each by itself; bad input."""

import itertools
from typing import Any

import _naive_svm_plus as naive
import cvxpy as cp
import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.models.svm_plus_hinge import train_kernel as train_hinge
from fast.models.svm_plus_squared_hinge import train_kernel
from fast.svm_plus import correction as corrections
from fast.svm_plus import factored, smo, working_set
from fast.svm_plus import kernel_trainer as trainer
from fast.svm_plus.correction import Correction
from fast.svm_plus.data import Model
from fast.svm_plus.formulas import SquaredExamples
from fast.svm_plus.kernel_losses import Hinge, SquaredHinge
from fast.svm_plus.kernel_newton import interior_point


def problem(
    rng: np.random.Generator, n: int, rank: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """H >= 0 of this rank (1 in its range, so that margins exist) and labels."""
    A = rng.standard_normal((n, n if rank is None else rank - 1))
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return (A @ A.T) * y * y[:, None] / n + 0.1, y


def dual(H: np.ndarray, y: np.ndarray) -> float:
    """Max 1'alpha - 1/2 alpha'H alpha by a general solver."""
    alpha = cp.Variable(len(y))
    objective = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, cp.psd_wrap(H))
    program = cp.Problem(cp.Maximize(objective), [alpha >= 0, y @ alpha == 0])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(program.value)


@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("n", [2, 3, 17, 150])
def test_smo_against_a_general_solver(n: int, rank: int | None) -> None:
    rng = np.random.default_rng(n)
    H, y = problem(rng, n, rank)
    before = H.copy()
    found = smo.solve(H, y, 1e-7, max_iter=20_000 * n)
    alpha, g = found.alpha, H @ found.alpha
    assert found.gap <= 1e-7
    assert alpha.min() >= 0.0
    assert abs(alpha @ y) <= 1e-12 * alpha.sum()
    D = alpha.sum() - 0.5 * alpha @ g
    m = 0.5 * (g[y > 0].min() + g[y < 0].min())
    P = 0.5 * (alpha @ g) / m**2
    assert found.gap == pytest.approx(1.0 - D / P, abs=1e-12)
    assert D <= dual(H, y) * (1.0 + 1e-7) <= P * (1.0 + 2e-7)
    assert np.array_equal(H, before)


def test_report_stops_and_interruption_keeps_the_best() -> None:
    rng = np.random.default_rng(4)
    X, Z = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    y = np.where(X[:, 0] + rng.standard_normal(30) > 0, 1.0, -1.0)
    Y = np.stack([y, -y], axis=1)
    for train in (train_kernel, train_hinge):
        found = train(X @ X.T, Y, 50.0, 0.1, Z=Z, tol=0.0, report=lambda state: True)
        assert len(found) == 1
        assert found[0].stopped
        assert not found[0].interrupted

        def interrupt(state: Any) -> bool:
            raise KeyboardInterrupt

        result = train(X @ X.T, y, 50.0, 0.1, Z=Z, tol=0.0, report=interrupt)
        assert result.interrupted
        assert result.dual <= result.primal < np.inf
        assert train(X @ X.T, y, 50.0, 0.1, Z=Z, tol=0.0, max_iter=1).n_iter == 1


def test_inputs_stay_and_float32_is_taken() -> None:
    rng = np.random.default_rng(5)
    X, Z = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K, weight = (X @ X.T).astype(np.float32), np.ones(20)
    Q = np.eye(20)
    given = [K, y, Z, weight, Q]
    copies = [array.copy() for array in given]
    single = train_kernel(K, y, 1.0, 1.0, Z=Z, sample_weight=weight, tol=1e-6)
    train_kernel(K, y, 1.0, 1.0, Q=Q)
    train_hinge(K, y, 1.0, 1.0, Z=Z)
    train_kernel(K, y, 1.0, 1.0, Kz=K, free_slack=1.0)
    for array, copy in zip(given, copies, strict=True):
        assert np.array_equal(array, copy)
    wanted = train_kernel(K.astype(np.float64), y, 1.0, 1.0, Z=Z, tol=1e-6)
    assert single.primal == pytest.approx(wanted.primal, rel=1e-6)


GOOD: dict[str, Any] = {
    "K": np.eye(4), "y": [1.0, -1.0, 1.0, -1.0], "C": 1.0, "lam": 1.0, "Z": np.ones((4, 1)),
}  # fmt: skip
INDEFINITE = np.eye(4) - 0.9 * (np.ones((4, 4)) - np.eye(4))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"K": np.eye(3)}, r"K: shape \(3, 3\)"),
        ({"K": np.triu(np.ones((4, 4)))}, "not symmetric"),
        ({"K": INDEFINITE}, "K: .*positive semidefinite"),
        ({"K": np.full((4, 4), np.inf)}, "inf"),
        ({"Z": None, "Kz": INDEFINITE}, "Kz: .*positive semidefinite"),
        ({"Z": None}, "neither"),
        ({"Kz": np.eye(4)}, "both"),
        ({"Z": np.ones((3, 1))}, "Z: 3 rows"),
        ({"y": [1.0, 1.0, 1.0, 1.0]}, "only label"),
        ({"y": [1.0, 0.0, 1.0, -1.0]}, "label 0"),
        ({"y": np.array([[1.0, 1.0], [-1, 1], [1, 1], [-1, 1]])}, "only label"),
        ({"sample_weight": [1.0, 0.0, 1.0, 0.0]}, "positive weight"),
        ({"C": 0.0}, "C: 0"),
        ({"lam": 0.0}, "lam: 0"),
        ({"free_slack": -1.0}, "free_slack"),
    ],
)
@pytest.mark.parametrize("train", [train_kernel, train_hinge])
def test_bad_input_is_named(train: Any, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidParameterError, match=says):
        train(**{**GOOD, **changed})


def test_a_deformed_kernel_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"Q: .*does not solve"):
        train_kernel(**GOOD, Q=np.eye(4))
    with pytest.raises(InvalidParameterError, match=r"Q: .*positive semidefinite"):
        train_kernel(**{**GOOD, "Z": None}, Q=INDEFINITE)


def test_kernels_known_to_be_definite_are_not_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    X, Z = rng.standard_normal((25, 3)), rng.standard_normal((25, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K, Kz = X @ X.T, np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    wanted = [train(K, y, 3.0, 1.0, Kz=Kz, tol=1e-8) for train in (train_kernel, train_hinge)]

    def refuse(name: str, K: np.ndarray) -> bool:
        raise AssertionError(name)

    monkeypatch.setattr("fast.svm_plus.kernel_trainer.check_definite", refuse)
    for train, known in zip((train_kernel, train_hinge), wanted, strict=True):
        found = train(K, y, 3.0, 1.0, Kz=Kz, tol=1e-8, check_definite=False)
        assert found.gap <= 1e-8
        assert found.primal == pytest.approx(known.primal, rel=1e-7)
        with pytest.raises(AssertionError, match="K"):
            train(K, y, 3.0, 1.0, Kz=Kz)


def test_newton_finds_b_beside_a_centred_kernel() -> None:
    """R is singular along the costs: rho's multiplier is 1e13 times as loose as that of b."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    Z = X[:, :4] + rng.standard_normal((40, 4))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0.0, 1.0, -1.0)
    K, Kz = (np.exp(-((A[:, None] - A) ** 2).sum(-1) / A.shape[1]) for A in (X, Z))
    found = train_hinge(K, y, 10.0, 1.0, Kz=Kz, tol=1e-9)
    assert found.solver == "newton"  # the interior point method need not come to its help
    assert found.gap <= 1e-9


C, LAM = 1.5, 0.7


LOSSES = list(itertools.product((Hinge, SquaredHinge), (True, False), (0.0, 0.4), ("Z", "Kz")))


@pytest.mark.parametrize(("kind", "nonneg", "delta", "space"), LOSSES)
def test_multipliers_lead_to_bounds_and_feasible_models_on_kernels(kind, nonneg, delta, space, rng):
    X, y, Z = naive.instance(rng, 10, 3, 2)
    omega = rng.uniform(0.3, 2.0, 10)
    matrix = Z if space == "Z" else Z @ Z.T
    loss = kind(X @ X.T, y, Correction(matrix, space == "Z", C * omega, LAM, delta / omega), nonneg)
    squared = kind is SquaredHinge
    best = naive.solve(X, y, Z, C, LAM, squared=squared, nonneg=nonneg, delta=delta, weight=omega)[
        0
    ]
    qp = loss.qp()
    for i in range(12):
        alpha, beta = rng.exponential(size=(2, 10)) * (rng.random((2, 10)) < 0.7)
        alpha[:3] += 0.1
        beta = beta if nonneg else 0.0 * beta
        bound, seen = loss.look(alpha, beta)
        coef, c = rng.standard_normal((2, 10))
        if i % 2:
            coef = np.linalg.lstsq(X @ X.T, 3.0 * y, rcond=None)[0]
        own = loss.own_slack(bound.alpha, bound.beta)
        other = loss.of_functions(coef, 0.1 * c, 0.3, own)
        for model in (seen, other, loss.bare(seen)):
            plain = Model(X.T @ model.coef, model.b, Z.T @ model.c, model.rho, model.primal)
            P, D, violated = naive.judged(
                squared, plain, bound, (X, y, Z, omega), C, LAM, nonneg, delta
            )
            assert violated <= 1e-9
            assert model.primal == pytest.approx(P, rel=1e-9)
            assert bound.dual == pytest.approx(D, rel=1e-9, abs=1e-12)
            assert D <= best * (1 + 1e-7) <= P * (1 + 2e-7)
            assert model.square == pytest.approx(plain.w @ plain.w, rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(model.g, Z @ plain.v + plain.rho, atol=1e-9)
        if squared:
            t = bound.alpha.sum() / loss.balanced(alpha).sum()
            np.testing.assert_allclose(bound.beta, t * beta, rtol=1e-9)
        gamma = bound.alpha + bound.beta
        rest = gamma - C * omega
        price = omega * LAM / delta if delta else np.inf
        wanted = gamma / (C * omega + price) if squared else rest / price
        np.testing.assert_allclose(own, wanted if delta else np.zeros(10), atol=1e-12)
        u = np.append(bound.alpha, bound.beta) if nonneg else bound.alpha
        value = qp.h @ u - 0.5 * u @ qp.product(u)
        if not squared:
            value -= 0.5 * (C * omega) @ loss.correction.centred @ (C * omega)
        assert value == pytest.approx(bound.dual, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(qp.F.T @ u, qp.c, atol=1e-9)


def examples(kind, rng, delta=0.0, nonneg=True, n=7):
    data, y = kind(), np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    data.price_examples(y, rng.uniform(0.5, 2.0, n), LAM, delta, nonneg)
    if kind is SquaredExamples:
        data.theta = LAM / (LAM + delta * data.cost)
        data.reduced = data.cost * data.theta
    return data


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_best_shift_of_a_squared_hinge_model(nonneg, rng):
    """P of (w, v, rho + tau)/(m + own tau), without own slacks and where all have the same ones."""
    w2, v2, rho = 2.0, 1.5, -0.2
    for delta, _ in itertools.product((0.0, 0.5), range(10)):
        data = examples(SquaredExamples, rng, delta, nonneg)
        data.cost[:] = 1.3
        data.theta[:] = LAM / (LAM + delta * 1.3)
        data.reduced = data.cost * data.theta
        own = float(data.theta[0])
        g, m = rng.standard_normal(7), float(rng.uniform(0.2, 2.0))
        tau, square, mixed, total = data.shift(m, w2, v2, rho, g)

        def value(x, g=g, m=m, data=data, own=own):
            P = w2 + data.reduced @ (g + x) ** 2 + LAM * (v2 + (rho + x) ** 2)
            return 0.5 * P / (m + own * x) ** 2

        again = 0.5 * (square + tau * (2.0 * mixed + tau * total)) / (m + own * tau) ** 2
        assert again == pytest.approx(value(tau), rel=1e-12)
        lowest = -float(g.min()) if nonneg else -m / own + 1e-6
        for x in (*np.linspace(tau - 1.0, tau + 1.0, 41), lowest):
            if x >= lowest - 1e-15 and m + own * x > 0.0:
                assert value(tau) <= value(x) * (1 + 1e-12)
        assert not nonneg or (g + tau).min() >= -1e-15
    data = examples(SquaredExamples, rng, 0.5, nonneg)  # different ones: all count as the least
    g, m, own = 0.1 * rng.standard_normal(7), 0.9, float(data.theta.min())
    tau, square, mixed, total = data.shift(m, w2, v2, rho, g)
    if tau > -float(g.min()):
        for x in np.linspace(tau - 0.5, tau + 0.5, 41):
            values = [
                (square + 2.0 * t * mixed + t * t * total) / (m + own * t) ** 2 for t in (tau, x)
            ]
            assert m + own * x <= 0.0 or values[0] <= values[1] * (1 + 1e-12)


def spd(rng, n, rank):
    A = rng.standard_normal((n, rank))
    return A @ A.T / rank


def signs(rng, n):
    return np.where(rng.permutation(n) % 3 == 0, 1.0, -1.0)


def plain(M, y, a):
    """One step on signed multipliers: the steepest rises, the partner that gains most falls."""
    v, n = y - M @ a, len(y)
    rises = (y > 0.0) | (a < 0.0)
    up = max(np.flatnonzero(rises), key=lambda t: v[t])
    falls = [t for t in range(n) if (y[t] < 0.0 or a[t] > 0.0) and v[t] < v[up]]

    def bend(t):
        return max(M[up, up] + M[t, t] - 2.0 * M[up, t], 1e-12 * M.diagonal().max())

    down = max(falls, key=lambda t: (v[up] - v[t]) ** 2 / bend(t))
    step = (v[up] - v[down]) / bend(down)
    step = min(step, -a[up] if y[up] < 0.0 else np.inf, a[down] if y[down] > 0.0 else np.inf)
    after = a.copy()
    after[up] += step
    after[down] -= step
    return np.where(np.abs(after) <= 1e-15, 0.0, after)


@pytest.mark.parametrize("n", [5, 9, 70, 140])
def test_steps_of_smo_one_by_one(n, rng):
    for i in range(6 if n > 9 else 20):
        K, Q, y = spd(rng, n, n + 2), spd(rng, n, 3) + 0.1, signs(rng, n)
        M, ready, work = np.full((n, n), np.nan), np.zeros(n, np.bool_), np.empty((4, n))
        full = K + Q * y * y[:, None]
        a = rng.random(n) * (rng.random(n) < 0.5) * y * (i % 3 > 0)
        v = y - full @ a
        state = [x.copy() for x in (M, ready, y, a, v)]
        after = plain(full, y, a)
        assert smo.steps(K, Q, M, ready, y, a, v, 0.0, 1, work) == 1
        np.testing.assert_array_equal(a == 0.0, after == 0.0)
        np.testing.assert_allclose(a, after, rtol=1e-9, atol=1e-13)
        taken = sum(smo.steps(K, Q, M, ready, y, a, v, 0.0, 1, work) for _ in range(11))
        assert smo.steps(K, Q, *state, 0.0, 12, work) == 1 + taken
        for one, twelve in zip((M, ready, y, a, v), state, strict=True):
            np.testing.assert_array_equal(one, twelve)
        np.testing.assert_allclose(v, y - full @ a, atol=1e-9)
        np.testing.assert_allclose(M[ready], full[ready], rtol=1e-13)
        assert np.isnan(M[~ready]).all()


def methods(rng, tol, nonneg=True, known=True, max_iter=100):
    X, y, Z = naive.instance(rng, 14, 3, 2)
    correction = Correction(Z if known else None, known, np.ones(14), LAM, 0.0)
    if not known:
        correction.take(Correction(Z, True, np.ones(14), LAM, 0.0).Q)
    loss = SquaredHinge(X @ X.T, y, correction, nonneg)
    return trainer.Methods(loss, trainer.KernelState(started=0.0), tol, max_iter, None)


@pytest.mark.parametrize(("near", "cheap"), [(True, 1), (True, 1000), (False, 1), (False, 1000)])
def test_a_large_problem_may_end_in_rounding(near, cheap, rng, monkeypatch):
    """Newton has ended, above tol: with more multipliers than are cheap a gap of 1e-3 will do."""
    turn = methods(rng, 0.0, nonneg=False)
    u = interior_point(turn.loss.qp(), 1e-7 if near else 0.5)
    monkeypatch.setattr(trainer, "CHEAP", cheap)
    monkeypatch.setattr(trainer.kernel_newton, "newton", lambda *_: True)
    budgets = []

    def path(budget, tol):
        budgets.append((budget, tol))
        return u, turn.nothing

    path.rough, path.solver = 0.0, "smo"
    turn.active_set(path)
    assert turn.state.gap > 0.0
    assert (turn.state.gap <= 1e-3) == near
    assert turn.over == (near and cheap == 1)
    assert budgets == [(140, 0.0)]
    monkeypatch.setattr(trainer.kernel_newton, "newton", lambda *_: False)
    budgets.clear()
    turn.active_set(path)
    assert [budget for budget, _ in budgets] == [140, 280, 560, 1120]


@pytest.mark.parametrize("case", ["good enough", "not yet", "interrupted"])
def test_polish_where_it_is_needed(case, rng, monkeypatch):
    X, y, Z = naive.instance(rng, 14, 3, 2)
    loss = SquaredHinge(X @ X.T, y, Correction(Z, True, np.ones(14), LAM, 0.0), False)
    train, asked, polished = working_set.train, [], []

    def rough(data, tol, max_iter):
        asked.append((tol, max_iter))
        state, run = train(data, 1e-2 if case != "good enough" else tol, 1)
        run.interrupted = case == "interrupted"
        return state, run

    monkeypatch.setattr(factored.working_set, "train", rough)
    monkeypatch.setattr(factored, "polish", lambda data, state, tol: polished.append(tol))
    tol = 1e-12 if case != "good enough" else 1e-1
    assert factored.train(loss, tol, 7)[1] == (case == "interrupted")
    assert asked == [(pytest.approx(0.1 * tol), 7)]
    assert polished == ([pytest.approx(0.1 * tol)] if case == "not yet" else [])


@pytest.mark.parametrize("short", [False, True])
def test_a_rough_kernel_is_only_taken_where_it_is_good_and_pays(short, rng, monkeypatch):
    monkeypatch.setattr(corrections, "WORTH", 20)
    Z = rng.standard_normal((20, 3))
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))

    def rough(K, cost, lam, linear=False, delta=0.0):
        space = Correction(K, linear, cost, lam, delta, short)
        return space, space.rough()

    cost = rng.uniform(5.0, 20.0, 20)
    space, found = rough(K, cost, 1.0, delta=0.3)
    if short:
        assert found is None
        return
    Q, error = found
    exact = np.linalg.solve(
        np.eye(20) + (K + 1.0 + 0.3 * np.eye(20)) * cost, K + 1.0 + 0.3 * np.eye(20)
    )
    assert error == pytest.approx(6e-8 * (1.0 + space.summed.max() * 2.0 * 20), rel=1e-9)
    away = np.abs(Q - exact).max() / np.abs(exact).max()
    assert 1e-10 < away <= error
    x = rng.standard_normal(20)
    np.testing.assert_allclose(space.deformed_product(x), exact @ x, atol=1e-10)
    np.testing.assert_allclose(space.Q, exact, atol=1e-10)
    assert space.rough() is None  # the exact one is there
    taken = Correction(K, False, cost, 1.0, 0.3, short)
    taken.take(exact)
    assert taken.rough() is None
    assert rough(K[:19, :19], cost[:19], 1.0)[1] is None  # spares no time
    assert rough(K, np.full(20, 0.49), 1.0)[1] is None  # Q' is not near S^-2
    assert rough(K, np.full(20, 0.51), 1.0)[1] is not None
    assert rough(K, np.where(np.arange(20) < 9, 1.0, 1001.0), 1.0)[1] is None
    assert rough(K, np.where(np.arange(20) < 9, 1.0, 999.0), 1.0)[1] is not None
    assert rough(K, np.full(20, 1e5), 1.0)[1] is None  # error 0.24
    assert rough(K, np.full(20, 3e4), 1.0)[1] is not None
    assert rough(Z, cost, 1.0, linear=True)[1] is None


def test_the_certificate_by_definition(rng):
    for _ in range(30):
        n = 7
        H, y = spd(rng, n, 9) + 0.3, signs(rng, n)
        alpha = rng.random(n) * 10.0 ** rng.integers(-2, 3)
        alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
        M, g = H * y * y[:, None], H @ alpha
        found = smo.certificate(y, alpha * y, y - M @ (alpha * y))
        S, q, m = alpha.sum(), alpha @ g, 0.5 * (g[y > 0].min() + g[y < 0].min())
        assert (found.margin, found.square) == pytest.approx((m, q), rel=1e-9)
        assert found.dual == pytest.approx(0.5 * S**2 / q, rel=1e-9)
        assert found.scale == pytest.approx(S / q, rel=1e-9)
        if m > 0.0:
            assert found.primal == pytest.approx(0.5 * q / m**2, rel=1e-9)
            assert found.gap == pytest.approx(1.0 - found.dual / found.primal, rel=1e-7, abs=1e-12)
        else:
            assert (found.primal, found.gap) == (np.inf, np.inf)
        result = smo.solve(H, y, 1.0, max_iter=0, start=alpha)
        np.testing.assert_allclose(result.alpha, alpha * S / q, rtol=1e-9)
    none = smo.certificate(y, 0.0 * y, y)
    assert (none.gap, none.dual, none.primal, none.scale) == (np.inf, 0.0, np.inf, 1.0)
