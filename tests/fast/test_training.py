"""Certificates of the trainers, recomputed by naive formulas."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _naive_erm import argmax, dual, hinge_value, margins, smooth_value, with_sum
from _problems import classes, quietly

from fast import TopKSVC
from fast.families import named
from fast.models.multiclass_erm import TopKHinge, dual_objective
from fast.solvers import active_set, blocked_sdca
from fast.solvers.blocked_sdca import BlockedSDCASolver
from fast.solvers.state import TrainingState
from refsolve import exact

problem = partial(classes, n=60, m=6, spread=1.2)


def fit(X, y, sample_weight=None, **params):
    """A fit that may end with a ConvergenceWarning (SDCA often does), and with no other."""
    return quietly(TopKSVC(**{"random_state": 0, **params}), X, y, sample_weight=sample_weight)


@pytest.mark.parametrize(("k", "gamma"), [(1, 0.0), (7, 0.0), (1, 5.0)])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_lists_that_are_too_short_grow(variant, k, gamma, monkeypatch):
    """Many classes, tied margins and no room: lists of the active-set trainer overflow."""
    monkeypatch.setattr(active_set, "ROOM", 0)
    grown, make = [], active_set.ActiveSetSolver._make_lists

    def record(solver, capacity):
        grown.append(capacity)
        make(solver, capacity)

    monkeypatch.setattr(active_set.ActiveSetSolver, "_make_lists", record)
    rng = np.random.default_rng(6)
    y = np.repeat(np.arange(50), 2)
    X = rng.integers(-1, 2, (100, 3)).astype(float)
    model = fit(X, y, variant=variant, k=k, gamma=gamma, C=0.01, tol=1e-6, solver="active")
    assert model.dual_gap_ <= 1e-6
    assert grown[-1] > grown[0]  # made once, then again
    check_certificate(model, X, y)
    if gamma:  # and the trainer without lists agrees
        full = fit(X, y, variant=variant, k=k, gamma=gamma, C=0.01, tol=1e-6, solver="newton")
        assert full.dual_objective_ <= model.primal_objective_ * (1 + 1e-12)
        assert model.dual_objective_ <= full.primal_objective_ * (1 + 1e-12)


# ---- SDCA as the papers state it ------------------------------------------------------------
def naive_update(q, y, K, r, variant, k, gamma):
    """argmax of the dual over one block: biased projection, its sum s found by golden sections."""
    den = K + gamma / r
    b = (np.delete(q, y) - q[y] + 1.0) / den
    rho = K / den

    def point(s):
        return with_sum(b, s, s / k if variant == "alpha" else r / k) if s > 0 else 0.0 * b

    def gain(s):
        x = point(s)
        return -float((x - b) @ (x - b)) - rho * s * s

    return point(argmax(gain, 0.0, min(r, len(b) * r / k), steps=45))


@pytest.mark.parametrize("rows", ["few features", "more", "sparse"])
@pytest.mark.parametrize(("variant", "k", "gamma"), [("alpha", 2, 0.0), ("beta", 2, 0.4)])
def test_blocked_sdca_is_sequential_sdca(variant, k, gamma, rows, monkeypatch):
    X, y = problem(4, n=70, m=4, d=6)  # more than one block
    sparse = rows == "sparse"
    if rows == "more":
        monkeypatch.setattr(blocked_sdca, "FEW", 5)
    X[5] = X[6]
    r = np.random.default_rng(0).uniform(0.1, 1.0, len(y))
    r[7] = 0.0
    solver = BlockedSDCASolver(
        sp.csr_array(X) if sparse else X, y, r, 4, TopKHinge.named(variant, k, gamma), seed=11
    )
    order = np.random.default_rng(11)
    W, A = np.zeros((4, 6)), np.zeros((len(y), 4))
    for _ in range(2):
        solver.epoch()
        for i in order.permutation(len(y)):
            if r[i] == 0.0:
                continue
            K = X[i] @ X[i]
            x = naive_update(W @ X[i] - K * A[i], y[i], K, r[i], variant, k, gamma)
            new = np.insert(-x, y[i], x.sum())
            W += np.outer(new - A[i], X[i])
            A[i] = new
        mine = -solver.dual_variables().toarray()
        mine[np.arange(len(y)), y] = -mine.sum(axis=1)
        np.testing.assert_allclose(mine, A, atol=3e-6)  # golden sections: sqrt(eps)
        np.testing.assert_allclose(solver.W, W, atol=2e-5)
    # exact block maximisation never lowers the dual
    P, value = solver.check()
    assert value == pytest.approx(dual(A, X, y, r, gamma), rel=1e-6)
    assert value <= P * (1 + 1e-12)


def test_the_naive_losses_agree_with_their_definition():
    """The twins are tested too: gamma -> 0, and the maximum over a grid of feasible points."""
    rng = np.random.default_rng(5)
    for variant in ("alpha", "beta"):
        for k in (1, 2, 3):
            z = rng.standard_normal(3)
            smooth = smooth_value(z, variant, k, 1e-9)
            assert smooth == pytest.approx(hinge_value(z, variant, k), abs=1e-6)
            grid = np.array(list(itertools.product(np.linspace(0, 1, 25), repeat=3)))
            s = grid.sum(axis=1)
            cap = (s if variant == "alpha" else 1.0) / k
            feasible = grid[(s <= 1 + 1e-12) & (grid.max(axis=1) <= cap + 1e-12)]
            values = feasible @ z - 0.5 * 0.6 * (feasible**2).sum(axis=1)
            best = smooth_value(z, variant, k, 0.6)
            assert values.max() <= best + 1e-12
            # the maximiser is the exact projection of z/gamma
            p = exact.project(f"topk_simplex_{variant}", z / 0.6, k=k, r=1.0).array()
            assert best == pytest.approx(z @ p - 0.3 * p @ p, rel=1e-13)
    assert margins(np.array([1.0, 2.0, 4.0]), 1).tolist() == [0.0, 3.0]


def test_a_face_is_solved_where_all_others_stay():
    """The best dual of some examples: nobody else changes, and among those no block can gain any more."""
    X, y = classes(3, n=1000, m=4, d=6, spread=0.7)
    r = np.where(np.arange(1000) % 9, 0.3, 0.0)
    solver = active_set.ActiveSetSolver(X, y, r, 4, TopKHinge.named("alpha", 1, 0.0), 0)
    solver.start_cold()
    state = TrainingState()
    state.record(0, np.inf, 0.0, solver.W)
    solver.run(state, 1e-9, 2, lambda state: False)
    face, before = solver._face(-np.inf), solver.dual_variables().toarray()
    some = face[: len(face) // 2]
    solver._solve_face(some, 1e-9)
    after = solver.dual_variables().toarray()
    others = np.delete(np.arange(1000), some)
    np.testing.assert_array_equal(after[others], before[others])
    assert after.min() >= 0.0
    assert (after.sum(axis=1) <= r * (1.0 + 1e-15)).all()
    own = sp.csr_array(after)

    def dual(x):
        return dual_objective(X, y, r, x, named("multiclass_hinge"))

    assert dual(own) > dual(sp.csr_array(before))
    gap, f = 0.0, X @ solver.W.T
    for i in some:
        z = 1.0 + f[i] - f[i, y[i]]
        z[y[i]] = 0.0
        gap += r[i] * max(z.max(), 0.0) - after[i] @ z
    assert gap <= 1e-4 * dual(own)


def test_a_face_that_gains_nothing_leaves_all_as_it_was(monkeypatch):
    X, y = classes(3, n=1000, m=4, d=6, spread=0.7)
    faces = []
    solve = active_set.ActiveSetSolver._solve_face

    def counted(self, at, goal):
        faces.append(len(at))
        monkeypatch.setattr(self, "_take_face", lambda at, x: self.lists[1].fill(0.0))
        solve(self, at, goal)

    monkeypatch.setattr(active_set.ActiveSetSolver, "_solve_face", counted)
    monkeypatch.setattr(
        active_set.ActiveSetSolver, "_face_cost", lambda self, count, tol: 1.0 if self.faces > 0 else np.inf
    )
    model = TopKSVC(C=10.0, tol=1e-6, solver="active").fit(X, y)
    assert faces
    assert model.dual_gap_ <= 1e-6


def test_a_valley_that_leaves_the_face_does_not_stop_progress():
    """Three free examples in two dimensions: the face Newton step is long, and all of its cuts lose."""
    rows = [(1163, 1814), (1088, 1774), (1152, 1776), (512, 2615)]
    rows += [(969, 2568), (407, -949), (1117, 1794), (399, -977)]
    y = np.array([1, 1, 1, 0, 0, 0, 1, 0])
    model = TopKSVC(C=500.0, tol=1e-6, max_iter=1000, random_state=0).fit(np.array(rows) / 256, y)
    assert model.dual_gap_ <= 1e-6
