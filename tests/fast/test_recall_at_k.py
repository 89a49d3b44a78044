"""Recall at k: its loss by all sets, its certificate by the formulas, and what other k than P do to it."""

import _problems
import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _naive_recall_at_k import cut, loss, sets
from _naive_top_push import mapped

from fast import RecallAtK
from fast.models import recall_at_k


def test_the_most_violated_set_is_that_of_all_sets(rng):
    for _ in range(300):
        n = int(rng.integers(2, 9))
        y = np.zeros(n, bool)
        y[rng.permutation(n)[: int(rng.integers(1, n))]] = True
        k, s = int(rng.integers(1, n)), np.round(2 * rng.standard_normal(n)) / 4  # ties
        oracle = recall_at_k.SetOracle(y, k)
        found = oracle(s)
        every = [offset + c @ s for offset, c in (cut(T, y) for T in sets(n, k))]
        best = max([0.0, *every])
        assert found.value == pytest.approx(best, abs=1e-12)
        assert loss(s, y, k) == pytest.approx(best, abs=1e-12)
        assert found.value == pytest.approx(found.offset + found.coefficients @ s, abs=1e-12)
        if found.value > 0.0:
            members = oracle.members(found.coefficients)
            assert members.sum() == k
            for mine, naive in zip(oracle.cut(members), cut(members, y), strict=True):
                np.testing.assert_array_equal(mine, naive)
            np.testing.assert_array_equal(oracle.cut(members)[1], found.coefficients)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize(("k", "C"), [(None, 0.02), (None, 1.0), (2, 0.02)])
def test_classes_are_ranked_as_by_the_rows_that_are_not_built(form, k, C):
    X, y = _problems.classes(5, n=40, m=4, d=3)
    rows, own = mapped(form(X), y, 4)
    model = RecallAtK(k=k, C=C, tol=1e-6, warm_start=True).fit(form(X), y)
    assert model.dual_gap_ <= 1e-6
    assert model.sets_.shape[1:] == (40, 4)
    check_certificate(model, form(X), y)
    naive = recall_at_k.train(rows, own, C, 40 * (k or 1), tol=1e-8)
    assert model.primal_objective_ == pytest.approx(naive.primal, rel=2e-6)
    best = np.argsort(-model.decision_function(form(X)), axis=1)
    np.testing.assert_array_equal(model.predict_topk(form(X), 4), best)
    cold = model.n_iter_
    assert model.fit(form(X), y).n_iter_ <= cold
    check_certificate(model, form(X), y)


def test_for_as_many_as_there_are_positives_the_loss_bounds_what_is_missed(rng):
    """Not so for other k: a constant added to all scores changes the loss, but not the ranking."""
    y = np.arange(9) < 4
    for _ in range(100):
        s = rng.standard_normal(9)
        missed = 1 - y[np.argsort(-s)[:4]].mean()
        assert loss(s, y, 4) >= missed - 1e-12
        assert loss(s + 7.0, y, 4) == pytest.approx(loss(s, y, 4))
    worst = np.where(y, 1.0, 2.0)  # every negative first
    assert loss(worst, y, 2) == 1.0 + 2 * (2 * 2.0 - 4 * 1.0)
    assert loss(worst + 7.0, y, 2) == 0.0
    assert loss(worst - 17.0, y, 6) == 0.0


@pytest.mark.parametrize(
    ("d", "tol", "solver"), [(30, 1e-6, "cutting_plane"), (30, 1e-3, "bundle"), (5, 1e-6, "bundle")]
)
def test_auto_takes_cutting_planes_to_fine_tolerances_where_features_are_many(rng, d, tol, solver):
    X, y = rng.standard_normal((20, d)), np.arange(20) < 5
    model = RecallAtK(tol=tol).fit(X, y)
    assert (model.solver_, model.dual_gap_ <= tol) == (solver, True)
    check_certificate(model, X, y)
