"""What a multiclass training run is made of: which trainer, from where, how far."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import ENTROPY, HINGE, SMOOTH, blocks, made, objectives
from _problems import classes

from fast.estimators._kernel import kernel_objectives
from fast.families import named
from fast.families.function_api import arguments
from fast.losses import softmax, topk_entropy_alpha, topk_hinge_alpha, truncated_topk_entropy
from fast.models import multiclass_erm
from fast.models.multiclass_erm import choose_solver, train
from fast.solvers.active_set import ActiveSetSolver
from fast.solvers.primal_newton import PrimalNewtonSolver
from fast.solvers.state import TrainingState


@pytest.mark.parametrize(
    ("solver", "loss", "size", "found"),
    [
        ("auto", HINGE, 0.99, "active"), ("auto", HINGE, 1.0, "interior"), ("auto", SMOOTH, 1.0, "active"),
        ("auto", SMOOTH, 0.0139, "newton"), ("auto", SMOOTH, 0.0141, "active"), ("auto", ENTROPY, 1.0, "newton"),
        ("auto", named("sparsemax"), 1.0, "lbfgs"),
        ("sdca", HINGE, 1.0, "sdca"), ("newton", SMOOTH, 1.0, "newton"), ("lbfgs", ENTROPY, 1.0, "lbfgs"),
        ("auto", named("squared_topk_hinge"), 1e-9, "active"),
    ],
)  # fmt: skip
def test_solvers_are_chosen_by_what_the_loss_offers(solver, loss, size, found):
    X, r = np.ones((4, 1)), np.full(4, size)
    assert choose_solver(solver, X, r, loss) == found


@pytest.mark.parametrize(("solver", "loss", "says"), [
    ("newton", HINGE, "needs curvature"), ("active", ENTROPY, "needs lists"), ("adam", HINGE, "'adam' for"),
])  # fmt: skip
def test_other_solvers_are_refused(solver, loss, says):
    with pytest.raises(ValueError, match=says) as caught:
        choose_solver(solver, np.ones((4, 1)), np.ones(4), loss)
    assert "'auto'" in str(caught.value)
    assert "adam" in str(caught.value) or f"'{solver}'," not in str(caught.value).split("one of")[1]


def test_classes_are_counted_where_nobody_says_how_many():
    X, y = classes(n=30, m=3, d=2)
    assert train(X, y, 0.1, loss=HINGE).W.shape == (3, 2)
    assert train(X, y, 0.1, 5, HINGE).W.shape == (5, 2)


def test_small_problems_are_solved_to_rounding_and_large_ones_to_tol(monkeypatch):
    X, y = classes(n=40, m=3, d=2)
    small = train(X, y, 0.1, 3, ENTROPY, tol=1e-2)
    assert small.gap <= 1e-13
    monkeypatch.setattr(multiclass_erm, "POLISHED_SIZE", 239)
    large = train(X, y, 0.1, 3, ENTROPY, tol=1e-2)
    assert small.n_iter > large.n_iter
    monkeypatch.setattr(multiclass_erm, "POLISHED_SIZE", 240)
    assert train(X, y, 0.1, 3, ENTROPY, tol=1e-2).gap <= 1e-13
    monkeypatch.setattr(multiclass_erm, "POLISH_ITERATIONS", 2)
    assert train(X, y, 3.0, 3, HINGE, tol=0.9).n_iter <= 3


def test_only_class_lists_without_a_start_are_given_one(monkeypatch):
    X, y = classes(n=60, m=5, d=4)
    asked = []
    monkeypatch.setattr(
        multiclass_erm, "dual_of_smaller_weights", lambda *given: asked.append(given[3])
    )
    for loss, start, expected in (
        (HINGE, None, [1.0]),
        (ENTROPY, None, []),
        (HINGE, sp.csr_array((60, 5)), []),
    ):
        asked.clear()
        train(X, y, 0.01, 5, loss, start=start, max_iter=2)
        assert asked == expected


def test_weak_regularisation_is_reached_in_steps_of_ten(monkeypatch):
    X, y = classes(n=60, m=5, d=4)
    squares = (X**2).sum(axis=1)
    for C, steps in ((1.0, 0), (29.9 / squares.mean(), 0), (31.0 / squares.mean(), 1), (301.0 / squares.mean(), 2),
                     (1e9, 3)):  # fmt: skip
        asked = []

        def make(name, r, asked=asked):
            asked.append((name, float(r[0])))
            return ActiveSetSolver(X, y, r, 5, HINGE, 0)

        start = multiclass_erm.dual_of_smaller_weights(make, squares, np.full(60, C), 1.0)
        assert [r for _, r in asked] == pytest.approx([C * 10.0**-q for q in range(steps, 0, -1)])
        assert (start is None) == (steps == 0)
        if steps:
            s = start.sum(axis=1)
            assert s.max() <= C * (1 + 1e-12)
            assert s.max() > 0.0
            before = multiclass_erm.dual_objective(X, y, np.full(60, C), start, HINGE)
            assert before == pytest.approx(
                objectives(HINGE, X, y, np.full(60, C), np.zeros((5, 4)), start)[1]
            )


def test_duals_are_rescaled_by_block():
    dual_variables = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 0.0]])
    old, new = np.array([1.0, 2.0, 0.0]), np.array([10.0, 1.0, 5.0])
    expected = [[0.0, 20.0], [0.5, 0.0], [0.0, 0.0]]
    np.testing.assert_array_equal(multiclass_erm.rescaled_dual(dual_variables, old, new), expected)
    found = multiclass_erm.rescaled_dual(sp.csr_array(dual_variables), old, new)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == 2


def test_objectives_from_a_gram_matrix():
    X, y = classes(n=20, m=4, d=3)
    r = np.random.default_rng(0).uniform(0.5, 1.0, 20)
    found = train(X, y, r, 4, SMOOTH, tol=1e-3)
    A = blocks(found.dual_variables, y)
    primal, dual = kernel_objectives(X @ X.T, A, y, r, SMOOTH)
    expected = objectives(SMOOTH, X, y, r, A.T @ X, found.dual_variables)
    assert (primal, dual) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


def test_functions_of_a_loss_ask_for_what_they_need():
    for loss in (ENTROPY, HINGE):
        for operation, names in (("value", []), ("gradient", ["return_complement"])):
            found = arguments(type(loss), operation)
            assert found[5:] == (names if loss is ENTROPY else [])
    given = {
        "value": ["scores", "y", "k", "costs", "sample_weight"],
        "gradient": ["scores", "y", "k", "costs", "sample_weight", "return_complement"],
        "conjugate": ["x", "k", "costs", "complement"],
        "prox": ["v", "k", "t", "costs", "return_complement"],
        "sdca_update": ["q", "y", "k_ii", "C", "k", "costs", "sample_weight", "return_complement"],
    }
    for module, complements, k in (
        (topk_entropy_alpha, True, True), (softmax, True, False), (topk_hinge_alpha, False, True),
        (truncated_topk_entropy, True, True),
    ):  # fmt: skip
        left = {"return_complement", "complement"} if not complements else set()
        left |= set() if k else {"k"}
        for name, names in given.items():
            if hasattr(module, name):
                found = list(inspect.signature(getattr(module, name)).parameters)
                assert found == [n for n in names if n not in left]


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


def hessian(loss, X, y, r, W):
    """Second derivatives of P, from differences of gradients."""

    def slope(v):
        V = v.reshape(W.shape)
        return (V + loss.gradient(X @ V.T, y, sample_weight=r).T @ X).ravel()

    w, steps = W.ravel(), 1e-6 * np.eye(W.size)
    return np.array([(slope(w + h) - slope(w - h)) / 2e-6 for h in steps]), slope(w)


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
