"""The parts of the multiclass trainers, each against a naive twin; what they do together: `test_solver_paths`."""

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import ENTROPY, HINGE, SMOOTH, blocks, in_groups, made, objectives, run

from fast.families import named
from fast.solvers import active_face_newton
from fast.solvers.active_face_newton import FaceNewton
from fast.solvers.active_set import ActiveSetSolver
from fast.solvers.blocked_sdca import BlockedSDCASolver
from fast.solvers.primal_newton import PrimalNewtonSolver
from fast.solvers.quasi_newton import QuasiNewtonSolver
from fast.solvers.state import TrainingState

SOLVERS = [
    (ActiveSetSolver, HINGE), (ActiveSetSolver, SMOOTH), (ActiveSetSolver, named("squared_topk_hinge", k=2)),
    (in_groups, HINGE), (in_groups, SMOOTH), (in_groups, named("squared_topk_hinge", k=2)),
    (PrimalNewtonSolver, SMOOTH), (PrimalNewtonSolver, ENTROPY), (QuasiNewtonSolver, ENTROPY),
    (QuasiNewtonSolver, named("sparsemax")), (BlockedSDCASolver, HINGE), (BlockedSDCASolver, ENTROPY),
]  # fmt: skip


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("solver", "loss"), SOLVERS, ids=lambda v: getattr(v, "__name__", str(v))[:20]
)
def test_what_a_trainer_says_is_so_and_it_ends_where_it_should(solver, loss, form):
    trainer, X, y, r = made(solver, loss, form=form, C=0.3)
    tol = 1e-2 if solver is BlockedSDCASolver else 1e-6
    state = run(trainer, tol)
    primal, dual = objectives(loss, X, y, r, state.W, trainer.dual_variables())
    assert state.primal == pytest.approx(primal, rel=1e-12)
    assert state.dual == pytest.approx(dual, rel=1e-9)
    assert state.done
    assert state.history[-2]["gap"] > tol >= state.gap
    most = 2
    trainer = made(solver, loss, form=form, C=0.3)[0]
    seen = []
    state = run(trainer, 0.0, most, report=lambda state: seen.append(state.n_iter))
    assert (state.n_iter, seen[-1], len(seen)) == (most, most, most)
    primal, dual = objectives(loss, X, y, r, state.W, trainer.dual_variables())
    assert state.primal == pytest.approx(primal, rel=1e-12)
    assert state.dual == pytest.approx(dual, rel=1e-9)
    seen.clear()
    state = run(made(solver, loss, form=form)[0], 0.0, 9, report=lambda state: state.n_iter == 1)
    assert (state.n_iter, state.done) == (1, False)
    trainer = made(solver, loss, form=form, C=0.3)[0]
    dual_variables = trainer.dual_variables()
    assert dual_variables.shape == (24, 4)
    assert abs(dual_variables).sum() == 0.0


@pytest.mark.parametrize("rows", [6, 23])
def test_blocks_of_rows_are_all_of_them(rows, monkeypatch):
    """24 rows: the last block is whole, or a single row."""
    monkeypatch.setattr("fast.solvers.passes.LEAST", 1)
    for solver, loss, size in (
        (QuasiNewtonSolver, ENTROPY, ("passes.AT_ONCE", 4 * rows)),
        (BlockedSDCASolver, HINGE, ("blocked_sdca.block_length", lambda m: rows)),
        (ActiveSetSolver, HINGE, ("active_set.block_length", lambda m: rows)),
        (in_groups, HINGE, ("block_lists.block_length", lambda m: rows)),
    ):
        monkeypatch.setattr(f"fast.solvers.{size[0]}", size[1])
        trainer, X, y, r = made(solver, loss, C=0.3)
        state = run(trainer, 0.0, 3)
        primal, dual = objectives(loss, X, y, r, state.W, trainer.dual_variables())
        assert (state.primal, state.dual) == (pytest.approx(primal), pytest.approx(dual))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("solver", "loss"), SOLVERS, ids=lambda v: getattr(v, "__name__", str(v))[:20]
)
def test_a_trainer_begins_with_the_weights_of_a_dual(solver, loss, form):
    rng = np.random.default_rng(1)
    trainer, X, y, r = made(solver, loss, form=form)
    first = loss.gradient(rng.standard_normal((24, 4)), y, sample_weight=r)
    first[np.arange(24), y] = 0.0
    given = (
        first
        if form is np.asarray and solver not in (ActiveSetSolver, in_groups)
        else sp.csr_array(first)
    )
    trainer.start_warm(given)
    np.testing.assert_allclose(trainer.W, blocks(first, y).T @ X, atol=1e-12)
    if solver in (ActiveSetSolver, in_groups, BlockedSDCASolver):
        found = trainer.dual_variables()  # dense for an entropy
        assert sp.issparse(found) != loss.complements
        np.testing.assert_allclose(sp.csr_array(found).toarray(), first, atol=1e-15)
    state = TrainingState()
    state.record(0, np.inf, -np.inf, trainer.W)
    trainer.run(state, 1e-1, 40, lambda state: False)
    assert state.gap <= 1e-1


# ---- class lists ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "m", "keep", "room"),
    [
        (HINGE, 40, 6, 16), (HINGE, 5, 4, 4), (HINGE, 12, 6, 11), (named("multiclass_hinge"), 40, 5, 14),
        (SMOOTH, 40, 18, 39), (SMOOTH, 10, 9, 9),
    ],
)  # fmt: skip
def test_lists_have_room_for_what_is_kept(loss, m, keep, room, monkeypatch):
    trainer = made(ActiveSetSolver, loss, n=50, m=m)[0]
    assert (trainer.keep, trainer.lists[0].shape) == (keep, (50, room))
    if loss is SMOOTH:
        monkeypatch.setattr("fast.solvers.active_set.ROOM", 50 * (m - 1))
        assert made(ActiveSetSolver, loss, n=50, m=m)[0].lists[0].shape == (50, m - 1)
        monkeypatch.setattr("fast.solvers.active_set.ROOM", 50 * (m - 1) - 1)
        assert made(ActiveSetSolver, loss, n=50, m=m)[0].lists[0].shape == (
            50,
            min(m - 1, 2 * keep + 4),
        )


def test_lists_begin_with_the_nearest_class_means():
    for form in (np.asarray, sp.csr_array):
        trainer, X, y, _ = made(ActiveSetSolver, HINGE, n=60, m=12, form=form)
        trainer.start_cold()
        means = np.array([X[y == c].mean(axis=0) for c in range(12)])
        index, value, count = trainer.lists
        assert value.max() == 0.0
        for i in np.flatnonzero(trainer.r > 0.0):
            distances = ((X[i] - means) ** 2).sum(axis=1)
            distances[y[i]] = np.inf
            nearest = np.argsort(distances)
            listed = list(index[i, : count[i]])
            assert listed == list(nearest[: len(listed)])
            assert len(listed) >= 2
        assert trainer.keep == 6


@pytest.mark.parametrize(
    ("loss", "m", "before", "after"),
    [
        (HINGE, 40, (6, 3), (12, 20)), (HINGE, 40, (2, 1), (8, 16)), (HINGE, 40, (30, 20), (39, 39)),
        (HINGE, 40, (39, 39), (39, 39)), (HINGE, 100, (20, 19), (40, 48)), (HINGE, 100, (9, 9), (9, 9)),
        (SMOOTH, 40, (5, 20), (39, 39)), (SMOOTH, 100, (5, 20), (99, 99)),
    ],
)  # fmt: skip
def test_lists_that_are_too_short_get_longer(loss, m, before, after):
    trainer, _X, _y, _ = made(ActiveSetSolver, loss, n=m + 5, m=m)
    (index, value, count), (trainer.keep, room) = trainer.lists, before
    trainer.lists = np.zeros((m + 5, room), np.int32), np.zeros((m + 5, room)), count
    trainer._refresh(np.zeros((m, 3)), None, np.full(m + 5, 100.0))  # every class is a tie
    assert (trainer.keep, trainer.lists[0].shape[1]) == after
    index, value, count = trainer.lists
    assert all(len(set(row[:c])) == c for row, c in zip(index, count, strict=True))
    if (
        before[0] <= before[1] and loss is HINGE
    ):  # all that is looked at carries mass: others may belong
        value[:, : before[0]] = 1e-3
        trainer._refresh(np.zeros((m, 3)), None, np.full(m + 5, 100.0))
        expected = min(m - 1, max(2 * before[0], 8))
        assert trainer.keep == expected
        assert trainer.lists[0].shape[1] == min(m - 1, max(2 * before[1], expected + 8))


def test_costs_of_work_are_those_that_were_measured():
    """Nanoseconds per list entry and per check, from counts: the same data give the same path."""
    for form, entry, score in ((np.asarray, 0.3 * 3, 0.03 * 3), (sp.csr_array, 1.2 * 3, 0.6 * 3)):
        trainer = made(ActiveSetSolver, HINGE, form=form)[0]
        assert trainer.entry_cost == pytest.approx(15.0 + entry)
        assert trainer.check_cost == pytest.approx(24 * (30.0 + 4 * (1.5 + score)))


def test_space_of_newton_steps_is_kept_as_long_as_it_fits():
    newton = FaceNewton(3, 2)
    newton._reserve(8, 5)
    first = newton._arrays
    assert [a.shape for a in first] == [(10, 5)] * 5
    assert newton._kinds.shape == (10, 5)
    newton._reserve(10, 5)
    assert newton._arrays is first
    newton._reserve(11, 5)
    assert newton._arrays[0].shape == (13, 5)
    newton._reserve(4, 6)
    assert newton._arrays[0].shape == (5, 6)
    assert newton._kinds.shape == (5, 6)


def test_a_newton_step_is_taken_if_it_gains_and_made_shorter_if_not(monkeypatch):
    trainer, _X, y, r = made(ActiveSetSolver, named("multiclass_hinge"), n=30, m=4)
    newton, examples = FaceNewton(4, 3), np.flatnonzero(r > 0)
    problem = trainer.rows, y, r, trainer.squares, trainer.loss, trainer.lists, trainer.mass
    given = problem, trainer.W
    assert newton.step(*given, examples, trainer.work, 1e9) == (0.0, 0.0)  # no block has a face
    state = TrainingState()
    trainer.start_cold()
    trainer.run(state, 1e-9, 2, lambda state: False)
    W, asked = trainer.W.copy(), []

    def refused(*given):
        asked.append(given[7])
        given[10][:] = 0.0
        return -1.0

    with monkeypatch.context() as patch:
        patch.setattr(active_face_newton, "try_step", refused)
        for proximal in (0.4, 1.0, 1.0):
            gain, visited = newton.step(*given, examples, trainer.work, 1e9)
            assert (gain, newton.proximal) == (0.0, pytest.approx(proximal))
            assert visited > 0
            np.testing.assert_array_equal(trainer.W, W)
    assert asked[:4] == [1.0, 0.5, 0.25, 0.1]
    assert len(asked) == 15
    before = trainer.dual_objective(0.5 * float((W**2).sum()))
    gain, _ = newton.step(*given, examples, trainer.work, 1e9)
    after = trainer.dual_objective(0.5 * float((trainer.W**2).sum()))
    assert gain == pytest.approx(after - before, rel=1e-9)
    newton.proximal, counted = 1e-7, []
    monkeypatch.setattr(active_face_newton, "try_step", lambda *given: counted.append(given) or 1e9)
    newton.step(*given, examples, trainer.work, 1e9)
    assert (newton.proximal, len(counted)) == (1e-7, 1)
    for budget, steps in ((0.0, 5), (1e9, 100)):
        _, visited = newton.step(*given, examples, trainer.work, budget)
        members, saturated = np.empty(30, np.int64), np.empty(30, np.bool_)
        q, dimension = active_face_newton.find_faces(
            examples, r, trainer.squares, trainer.loss, trainer.lists, trainer.mass, members,
            np.zeros((30, trainer.lists[0].shape[1]), np.int8), saturated,
        )  # fmt: skip
        assert visited / (dimension + 2 * q) in {2.0 * done + 3.0 for done in range(steps + 1)}


def test_smooth_lists_reach_as_far_as_the_gains_say(monkeypatch):
    trainer, _X, _y, r = made(ActiveSetSolver, SMOOTH, n=60, m=5, C=3.0)
    asked, check = [], trainer.check
    state = TrainingState()
    state.record(0, float(r.sum()), 0.0, trainer.W)
    monkeypatch.setattr(
        trainer,
        "check",
        lambda gap, least: asked.append((gap, state.absolute_gap)) or check(gap, least),
    )
    trainer.start_cold()
    trainer.run(state, 1e-6, 60, lambda state: False)
    assert all(gap <= known for gap, known in asked)
    assert any(gap < 0.9 * known for gap, known in asked)


# ---- Newton in the primal -------------------------------------------------------------------------


def hessian(loss, X, y, r, W):
    """Second derivatives of P, from differences of gradients."""

    def slope(v):
        V = v.reshape(W.shape)
        return (V + loss.gradient(X @ V.T, y, sample_weight=r).T @ X).ravel()

    w, steps = W.ravel(), 1e-6 * np.eye(W.size)
    return np.array([(slope(w + h) - slope(w - h)) / 2e-6 for h in steps]), slope(w)


@pytest.mark.parametrize("loss", [ENTROPY, named("softmax"), SMOOTH], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_direction_solves_newtons_system(loss, form):
    for fine in (False, True):
        trainer, X, y, r = made(PrimalNewtonSolver, loss, n=30, form=form)
        trainer.W = 0.1 * np.random.default_rng(2).standard_normal((4, 3))
        primal, A = trainer._at(trainer.W, True)
        H, slope = hessian(loss, X, y, r, trainer.W)
        gradient = trainer.W + trainer._transposed(trainer.X64, A)
        np.testing.assert_allclose(gradient.ravel(), slope, atol=1e-6)
        trainer.fine = fine
        tol = 0.02
        found = trainer._direction(gradient, primal, 1e-12, False)
        rest = H @ found.ravel() + slope
        aim = np.sqrt(min(0.01, max(1e-8, slope @ slope / (1 + slope @ slope))))
        assert np.linalg.norm(rest) <= (aim + tol) * np.linalg.norm(slope)
        assert found.dtype == np.float64
        loose = trainer._direction(gradient, primal, 2.0 * slope @ slope / primal, False)
        assert np.linalg.norm(H @ loose.ravel() + slope) <= (1 + tol) * np.linalg.norm(slope)
        assert np.linalg.norm(loose - found) > 0.0 or form is np.asarray
        zero = trainer._direction(0.0 * gradient, primal, 1e-6, False)
        np.testing.assert_array_equal(zero, 0.0)
    members = trainer.rows.members(trainer.squares)
    assert len(members) > 9
    assert 2 not in members  # whose weight is 0


def test_the_preconditioner_is_a_mean_of_the_hessian():
    trainer, X, _, r = made(PrimalNewtonSolver, ENTROPY, n=30)
    for weights in (r, np.full(30, 0.7)):
        trainer.r, trainer.gram = weights, None
        for c in (0.3, 2.0):  # the second from the Gram matrix of the first
            L = np.tril(trainer._factor(c)[0]).astype(float)
            expected = np.eye(3) + c * (X.T * weights) @ X
            np.testing.assert_allclose(L @ L.T, expected, rtol=1e-5, atol=1e-5)
    for n, m, d, form, there in ((40, 2, 8, np.asarray, 1), (40, 2, 9, np.asarray, 0), (7, 2, 8, np.asarray, 0),
                                 (8, 2, 8, np.asarray, 1), (40, 2, 8, sp.csr_array, 0)):  # fmt: skip
        trainer = made(PrimalNewtonSolver, named("softmax"), n=n, m=m, d=d, form=form)[0]
        assert (trainer._factor(1.0) is not None) == bool(there)


@pytest.mark.parametrize(
    ("scale", "C", "gamma", "single"),
    [(1.0, 1.0, 0, True), (1.1e12, 1.0, 0, False), (1e11, 1.0, 0, True), (1e11, 1e3, 0, False),
     (-1.1e12, 1.0, 0, False), (1.0, 1e26, 0, False), (1e-9, 1.1e24, 0, False), (1e-9, 1e22, 0, True),
     (1.0, 1.0, 1e-25, False), (1.0, 1.0, 1e-10, True)],
)  # fmt: skip
def test_single_precision_is_used_where_nothing_overflows(scale, C, gamma, single):
    X, y = np.zeros((10, 2)), np.arange(10) % 3
    X[0, 0] = scale
    loss = named("smooth_topk_hinge_alpha", gamma=gamma) if gamma else ENTROPY
    trainer = PrimalNewtonSolver(X, y, np.full(10, C), 3, loss, 0)
    assert trainer.X32.dtype == (np.float32 if single else np.float64)
    assert trainer.single == (single and not gamma)
    assert trainer.X64.dtype == np.float64


@pytest.mark.parametrize(
    "loss", [ENTROPY, named("softmax"), named("topk_entropy_alpha", k=2)], ids=str
)
def test_the_first_step_is_newtons_from_zero(loss):
    """All examples look alike there; the Hessian is that of a uniform distribution."""
    trainer, X, y, r = made(PrimalNewtonSolver, loss, n=30, C=0.01)
    state = TrainingState()
    state.record(0, np.inf, -np.inf, trainer.W)
    assert trainer._first_step(state, 7)
    H, slope = hessian(loss, X, y, r, np.zeros((4, 3)))
    expected = -np.linalg.solve(H, slope).reshape(4, 3)
    near = loss.k == 1  # else their Hessian is larger than x (I - 11'/m)
    if near:
        np.testing.assert_allclose(trainer.W, expected, rtol=1e-4, atol=1e-6)
    assert (expected * trainer.W).sum() > 0
    assert state.primal == pytest.approx(r.sum() * loss.at_zero(4))
    assert state.absolute_gap == pytest.approx(0.5 * slope @ slope, rel=1e-8)
    assert (state.n_iter, trainer.started, trainer.stepped) == (7, True, True)
    primal, dual = objectives(loss, X, y, r, np.zeros((4, 3)), trainer.dual_variables())
    assert (state.primal, state.dual) == (pytest.approx(primal), pytest.approx(dual))
    strong, X, y, r = made(PrimalNewtonSolver, loss, n=30, C=30.0)  # there A = 0 is the better dual
    state = TrainingState()
    state.record(0, np.inf, 0.0, strong.W)
    assert strong._first_step(state, 1)
    assert state.dual == abs(strong.dual_variables()).sum() == 0.0
    state, wide = TrainingState(), None
    state.record(0, np.inf, -np.inf, trainer.W)
    wide, X, y, r = made(PrimalNewtonSolver, loss, n=30, d=40, C=0.01)  # no preconditioner there
    assert wide._first_step(state, 8)
    assert not wide.stepped
    H, slope = hessian(loss, X, y, r, np.zeros((4, 40)))
    if near:
        length = slope @ slope / (slope @ H @ slope)
        np.testing.assert_allclose(wide.W.ravel(), -length * slope, rtol=1e-5, atol=1e-9)


def test_a_search_halves_the_step_until_it_pays():
    trainer, X, y, r = made(PrimalNewtonSolver, named("softmax"), n=30)
    W = trainer.W.copy()
    primal, A = trainer._at(W, True)
    gradient = W + trainer._transposed(trainer.X64, A)
    curved = hessian(named("softmax"), X, y, r, W)[0]
    g = gradient.ravel()
    best = g @ g / (g @ curved @ g)
    for factor in (1.0, 6.0, 40.0):
        trainer.W = W.copy()
        value, _ = trainer._search(-factor * best * gradient, gradient, primal, True, 0.0)
        length = np.linalg.norm(trainer.W) / np.linalg.norm(factor * best * gradient)
        assert np.log2(length) == pytest.approx(round(np.log2(length)), abs=1e-9)
        assert value == pytest.approx(trainer._at(trainer.W, True)[0])
        slope = -factor * best * (g @ g)
        assert value <= primal + 1e-4 * length * slope
        if length < 1.0:
            longer = trainer._at(W - 2 * length * factor * best * gradient, True)[0]
            assert longer > primal + 2e-4 * length * slope
    assert length < 1.0
    trainer.W = W
    assert trainer._search(gradient, -gradient, primal, True, 0.0) is None
    assert trainer._search(gradient, -gradient, primal, True, np.inf) is not None


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-9])
def test_newton_in_single_precision_takes_few_steps(tol):
    for C, most in ((0.003, 5), (3.0, 10), (300.0, 12)):
        trainer, _X, _y, r = made(PrimalNewtonSolver, named("softmax"), n=200, m=4, d=5, C=C)
        state = run(trainer, tol, 100, primal=float(r.sum()) * np.log(4.0))
        assert state.gap <= tol
        assert state.n_iter <= most
        assert len(state.history) <= (most + 1 if tol < 1e-6 else 4)
        if tol > 1e-3 and C > 1:  # most points are seen in single precision only
            assert state.n_iter > len(state.history) - 1
