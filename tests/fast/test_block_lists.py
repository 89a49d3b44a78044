"""Hinges on rows that are read in groups: the same optimum, whatever fits in memory."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import HINGE, Cut, blocks, objectives
from _problems import classes

from fast import TopKSVC
from fast.data import rows
from fast.datasets import make_gaussian_mixture
from fast.families import named
from fast.models.multiclass_erm import train
from fast.solvers import block_lists
from fast.solvers.active_set import ActiveSetSolver

ENDS = (0, 1, 1, 40, 300)


def problem(m=12, C=1.0):
    """Examples in the order of their classes, some without weight."""
    X, y = make_gaussian_mixture(400, m, 10, random_state=0)
    order = np.argsort(y, kind="stable")
    r = C * np.random.default_rng(0).uniform(0.0, 2.0, 400).round(1)
    r[[5, 77]] = 0.0
    return np.ascontiguousarray(X[order]), y[order], r


def longer(loss, X, y, r, dual_variables):
    """D of the masses in extended precision."""
    V, x = (
        X.T @ blocks(dual_variables, y).astype(np.longdouble),
        dual_variables.toarray().astype(np.longdouble),
    )
    price = (x**2).sum(axis=1)[r > 0.0] / r[r > 0.0]
    return x.sum() - loss.gamma / 2 * price.sum() - (V**2).sum() / 2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "object_name", ["topk_hinge_alpha", "topk_hinge_beta", "smooth_topk_hinge_alpha"]
)
def test_the_optimum_is_that_of_the_whole(object_name, form, monkeypatch):
    X, y, r = problem()
    monkeypatch.setattr(block_lists, "CHUNK", 7)
    for k in (1, 3):
        loss = named(object_name, k=k)
        whole = train(X, y, r, 12, loss, tol=1e-3)
        for lists, at_hand in ((3000, 1 << 30), (1 << 30, 200_000 // k)):
            monkeypatch.setattr(block_lists, "LISTS", lists)
            monkeypatch.setattr(block_lists, "AT_HAND", at_hand)
            found = train(Cut(form(X), ENDS), y, r, 12, loss, tol=1e-3, solver="active")
            assert found.gap <= 1e-3
            primal, dual = objectives(loss, X, y, r, found.W, found.dual_variables)
            assert (found.primal, found.dual) == (
                pytest.approx(primal, rel=1e-12),
                pytest.approx(dual),
            )
            bounds = found.bounds
            assert bounds == (pytest.approx(primal, rel=1e-9), pytest.approx(dual, rel=1e-9))
            assert bounds[0] >= primal * (1 - 1e-14)
            assert bounds[1] <= longer(loss, X, y, r, found.dual_variables)
            assert max(entry["dual"] for entry in found.history) <= whole.primal
            assert whole.dual <= found.primal
        assert (found.dual_variables.toarray()[r == 0.0] == 0.0).all()


def test_a_hinge_on_rows_that_are_read_is_trained_by_lists(monkeypatch):
    monkeypatch.setattr(block_lists, "block_length", lambda m: 7)
    X, y, r = problem()
    assert train(Cut(X, ENDS), y, r, 12, HINGE).solver == "active"
    whole, held = train(X, y, r, 12, HINGE), train(rows(X), y, r, 12, HINGE)
    np.testing.assert_array_equal(whole.W, held.W)
    one, three = (train(Cut(X, ENDS), y, r, 12, HINGE, n_jobs=n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.W, three.W)


def test_single_precision_and_steps_of_ten_in_the_weights():
    X, y, r = problem(C=1000.0)
    found = train(Cut(X.astype(np.float32), ENDS), y, r, 12, HINGE, tol=1e-3)
    primal, dual = objectives(HINGE, X.astype(np.float32), y, r, found.W, found.dual_variables)
    assert found.gap <= 1e-3
    assert (found.primal, found.dual) == (pytest.approx(primal, rel=1e-6), pytest.approx(dual))


def test_sweeps_of_a_check_that_found_nobody_near_move_the_weights_too(monkeypatch):
    monkeypatch.setattr(block_lists, "NEGLIGIBLE", 1e9)
    monkeypatch.setattr(block_lists, "AT_HAND", 20_000)
    X, y, r = problem()
    trainer = block_lists.BlockListSolver(Cut(X, ENDS), y, r, 12, HINGE, 0)
    trainer.start_cold()
    trainer.check(1.0, 0.0)
    before = trainer.W.copy()
    trainer._at_hand(0.0)
    assert (before != trainer.W).any()
    np.testing.assert_allclose(trainer.W, blocks(trainer.dual_variables(), y).T @ X, atol=1e-12)


def test_files_are_there_as_long_as_the_solver(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(block_lists, "LISTS", 0)
    X, y, r = problem()
    seen = []
    report = lambda state: seen.append(len(list(tmp_path.glob("*/*.npz"))))  # noqa: E731
    train(Cut(X, ENDS), y, r, 12, HINGE, tol=1e-4, report=report)
    assert set(seen) == {len(ENDS) + 1}
    assert list(tmp_path.iterdir()) == []


class Interrupted(Cut):
    """Ctrl-C while a group is read, once."""

    def __init__(self, X, after):
        super().__init__(X, ENDS)
        self.left = after

    def read(self, rows):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().read(rows)


@pytest.mark.parametrize("lists", [0, 1 << 30])
def test_an_interrupt_leaves_the_best_certified_model(lists, monkeypatch):
    monkeypatch.setattr(block_lists, "LISTS", lists)
    monkeypatch.setattr(block_lists, "AT_HAND", 100_000)
    X, y, r = problem()
    best = train(X, y, r, 12, HINGE, tol=1e-9)
    gaps = []
    for after in (7, 14, 19, 26, 38, 57):
        found = train(Interrupted(X, after), y, r, 12, HINGE, tol=1e-9)
        primal, dual = objectives(HINGE, X, y, r, found.W, found.dual_variables)
        assert found.interrupted
        assert (found.primal, found.dual) == (pytest.approx(primal), pytest.approx(dual, abs=1e-9))
        assert found.dual <= best.primal * (1 + 1e-12)
        gaps.append(found.gap)
    assert gaps[0] == 1.0 > gaps[-1]


def test_one_group_with_room_for_all_takes_the_steps_of_the_solver_in_memory(monkeypatch):
    monkeypatch.setattr(block_lists, "NEGLIGIBLE", 0.0)
    monkeypatch.setattr(block_lists, "READ", 0.0)
    X, y = classes(n=60, m=5, d=4)
    found = []
    for solver, given in ((ActiveSetSolver, X), (block_lists.BlockListSolver, Cut(X, ()))):
        trainer = solver(given, y, np.ones(60), 5, HINGE, 0)
        trainer.start_cold()
        found.append((trainer.dual_variables().toarray(), trainer.losses, trainer.gaps))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_estimator_claims_what_rows_in_memory_would_bear_out(monkeypatch):
    X, y, r = problem()
    of = functools.partial(TopKSVC, k=2, fit_intercept=True, random_state=0)
    found = of(tol=1e-3).fit(Cut(X, ENDS), y, sample_weight=r)
    whole = of(tol=1e-6).fit(X, y, sample_weight=r)
    assert found.dual_gap_ <= 1e-3
    assert found.dual_objective_ <= whole.primal_objective_
    assert whole.dual_objective_ <= found.primal_objective_
    monkeypatch.setattr(block_lists, "LISTS", 0)
    filed = of(tol=1e-3).fit(Cut(X, ENDS), y, sample_weight=r)
    assert not hasattr(filed, "dual_coef_")
    assert filed.dual_gap_ <= 1e-3
    filed.set_params(warm_start=True).fit(Cut(X, ENDS), y, sample_weight=r)
    assert filed.fit(Cut(X, ENDS), y, sample_weight=r).n_iter_ <= 2
    W = found.dual_coef_.T @ np.c_[X, np.ones(400)]
    np.testing.assert_allclose(W, np.c_[found.coef_, found.intercept_], atol=1e-9)
