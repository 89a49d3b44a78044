"""What the linear trainers of SVM+ are given, and whether the model that they return has collapsed."""

from dataclasses import replace

import _naive_svm_plus as naive
import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InvalidParameterError
from fast.solvers.rows import expanded
from fast.solvers.state import TrainingRun
from fast.svm_plus import hinge, problem
from fast.svm_plus.data import Bound, Model
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.squared_hinge import SquaredHingeData
from fast.svm_plus.working_set import WorkingSetState


def test_what_trainers_are_given(rng):
    X, y, Z = naive.instance(rng, 8, 3, 2)
    weight = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 0.5, 1.0, 3.0])
    y[[0, 2]] = 1.0, -1.0
    given = problem.check_input(X, y, Z, 2, 3, weight, 0, 1e-3)
    kept = np.flatnonzero(weight)
    np.testing.assert_array_equal(given.kept, kept)
    for found, whole in ((given.X, X), (given.y, y), (given.Z, Z), (given.omega, weight)):
        np.testing.assert_array_equal(found, whole[kept])
    assert (given.C, given.lam, given.free_slack, given.tol, given.n) == (2.0, 3.0, 0.0, 1e-3, 8)
    np.testing.assert_array_equal(expanded(np.ones(6), given.kept, 8), weight > 0.0)
    plain = problem.check_input(X, y, Z, 2, 3, None, 1.0, 0.0)
    np.testing.assert_array_equal(plain.omega, np.ones(8))
    np.testing.assert_array_equal(plain.kept, np.arange(8))
    assert plain.X is X
    for form, kind in ((int, np.float64), (bool, np.float64), (np.float32, np.float32)):
        found = problem.check_matrix("Z", sp.csr_array(np.eye(3).astype(form)))
        assert found.dtype == kind
        np.testing.assert_array_equal(found.toarray(), np.eye(3))
    for bad in (np.nan, np.inf, -1.1e100, 1.1e100):
        matrix = np.eye(3)
        matrix[1, 2] = bad
        for made in (matrix, sp.csr_array(matrix)):
            with pytest.raises(InvalidParameterError, match="Z"):
                problem.check_matrix("Z", made)
    for labels, says in (([1.0, -1.0], "2,"), ([1.0, -1.0, 1.5], "1.5"), ([1.0, -1.0, 0.0], "0")):
        with pytest.raises(InvalidParameterError, match=says):
            problem.check_labels(labels, 3)
    for labels, says in (
        ([1.0, 1.0], r"only label \+1"),
        ([-1.0], "only label -1"),
        ([], "no rows"),
    ):
        with pytest.raises(InvalidParameterError, match=says):
            problem.check_two_classes(np.array(labels), True)


@pytest.mark.parametrize("kind", [HingeData, SquaredHingeData])
def test_a_model_is_collapsed_where_the_hulls_meet(kind):
    """w = 0 if it is as good; a small w of far hulls is none, and one that P cannot see is found again."""
    y = np.resize([1.0, -1.0], 8)
    Z = np.random.default_rng(0).standard_normal((8, 2))

    def at(X, alpha, model):
        data = kind(X, y, Z, np.ones(8), 1.0, 1.0, False, 0.0)
        bound = data.bound(alpha, np.zeros(8))
        return problem.settled(data, model(data), bound, 1e-3)

    far, same = 3.0 * y[:, None], np.repeat([1.0, 2.0, 4.0, 5.0], 2)[:, None]
    model, collapsed = at(same, np.ones(8), lambda data: data.constant())
    assert collapsed
    assert not model.w.any()

    def nearly(data):
        found = data.constant()
        return Model(found.w + 1e-9, found.b, found.v, found.rho, found.primal * (1 + 1e-9))

    model, collapsed = at(same, np.ones(8), nearly)
    assert collapsed
    assert not model.w.any()

    def better(gap):
        return lambda data: Model(np.ones(1), 0.0, np.zeros(2), 0.0, data.constant().primal - gap)

    model, collapsed = at(same, np.ones(8), better(1.0))  # the bound of the hinge is the optimum
    assert collapsed == (kind is HingeData)
    assert model.w.any()
    model, collapsed = at(far, np.ones(8), better(0.0))
    assert not collapsed
    assert model.w.any()
    model, collapsed = at(far, 1e-9 * np.ones(8), lambda data: data.constant())
    assert collapsed == (not model.w.any())


def test_what_is_better_is_kept():
    state = WorkingSetState(started=0.0)
    model, bound = Model(np.ones(1), 0.0, np.ones(1), 0.0, 2.0), Bound(np.ones(1), np.ones(1), 1.0)
    state.take(model, bound)
    state.take(None, None)
    for other in (2.0, 3.0, np.inf, np.nan):
        state.take(replace(model, primal=other), replace(bound, dual=3.0 - other))
        assert (state.model, state.bound) == (model, bound)
        assert (state.primal, state.dual) == (2.0, 1.0)
    state.take(replace(model, primal=1.5), replace(bound, dual=1.25))
    assert (state.primal, state.dual) == (state.model.primal, state.bound.dual) == (1.5, 1.25)


def test_a_factor_of_moments_beyond_float64_is_as_near_as_rounding_allows(rng):
    y, Z = np.resize([1.0, -1.0], 8), np.ones((8, 3))  # of rank 1 beside lam
    data = SquaredHingeData(rng.standard_normal((8, 2)), y, Z, np.ones(8), 1e30, 1.0, False, 0.0)
    M = np.full((4, 4), 8e30)
    L = np.tril(data.L)
    assert np.isfinite(L).all()
    np.testing.assert_allclose(L @ L.T, M, rtol=1e-9)


@pytest.mark.parametrize("case", ["good", "rough", "no rounds left", "no own slacks", "stopped"])
def test_own_slacks_become_features_where_rounding_ended_the_rounds(case, monkeypatch):
    y, Z = np.resize([1.0, -1.0], 8), np.arange(16.0).reshape(8, 2)
    delta = 0.0 if case == "no own slacks" else 0.5
    data = HingeData(np.arange(8.0)[:, None], y, Z, np.ones(8), 1.0, 1.0, True, delta)
    state = WorkingSetState(started=0.0)
    state.n_iter, state.primal, state.dual = 5, 2.0, 1.0 if case != "good" else 2.0
    run, other, asked = TrainingRun(None), TrainingRun(None), []
    run.stopped = case == "stopped"
    monkeypatch.setattr(hinge.working_set, "train", lambda *_: (state, run))
    monkeypatch.setattr(hinge, "own_as_features", lambda *given: asked.append(given) or other)
    found = hinge.solve(data, 1e-3, 5 if case == "no rounds left" else 12, None)
    assert found == (state, other if case == "rough" else run)
    assert asked == ([(data, state, 1e-3, 7)] if case == "rough" else [])
