"""FISTA beside a naive twin, and SDCA for the entropies: the two methods that the papers compare."""

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import HINGE, made, objectives, run
from _problems import classes

from fast import TopKLogisticRegression, TopKSVC
from fast.errors import InvalidParameterError
from fast.families import named
from fast.models.multiclass_erm import choose_solver, train
from fast.solvers.fista import FistaSolver

SMOOTH = {
    "softmax": {}, "sparsemax": {}, "topk_entropy_alpha": {"k": 2}, "topk_entropy_beta": {"k": 2},
    "smooth_topk_hinge_alpha": {"k": 2, "gamma": 0.7}, "smooth_topk_hinge_beta": {"k": 2, "gamma": 0.7},
}  # fmt: skip


def naive(X, y, r, m, L, steps):
    """P of softmax at Y_1, Y_2, ... and the number of restarts, from the formulas."""

    def at(W):
        f = X @ W.T
        p = np.exp(f - np.logaddexp.reduce(f, axis=1)[:, None])
        loss = -np.log(p[np.arange(len(y)), y])
        p[np.arange(len(y)), y] -= 1.0
        return 0.5 * (W * W).sum() + r @ loss, W + (r[:, None] * p).T @ X

    W = Y = np.zeros((m, X.shape[1]))
    t, values, restarts = 1.0, [], 0
    for _ in range(steps):
        P, G = at(Y)
        values.append(P)
        while at(Y - G / L)[0] > P - (G * G).sum() / (2.0 * L):
            L *= 2.0
        new = Y - G / L
        if (G * (new - W)).sum() > 0.0:
            t, restarts = 1.0, restarts + 1
        following = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        Y = new + (t - 1.0) / following * (new - W)
        W, t = new, following
    return np.array(values), restarts


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_steps_are_those_of_the_formulas(form):
    trainer, X, y, r = made(FistaSolver, named("softmax"), n=30, form=form, C=3.0)
    L, steps = trainer._first_bound(), 60
    trainer._first_bound = lambda: L
    seen = []
    trainer._at = lambda W, inner=trainer._at: seen.append(W.copy()) or inner(W)
    run(trainer, tol=0.0, most=steps)
    found = [objectives(named("softmax"), X, y, r, W, np.zeros((30, 4)))[0] for W in seen]
    expected, restarts = naive(X, y, r, 4, L, steps)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert restarts >= 1
    curvature = np.linalg.eigvalsh(X.T @ (r[:, None] * X))[-1]
    assert pytest.approx(1.0 + curvature * 0.75 / 4, rel=0.1) == L


def test_weights_to_begin_with_and_threads():
    X, y = classes(n=1000, m=5, d=8)
    loss = named("softmax")
    first = train(X, y, 1.0, 5, loss, tol=1e-5, solver="fista")
    again = train(X, y, 1.0, 5, loss, tol=1e-5, solver="fista", weights=first.W)
    warm = train(X, y, 1.0, 5, loss, tol=1e-5, solver="fista", start=first.dual_variables)
    assert again.n_iter == 1 < warm.n_iter + 1 < first.n_iter
    two = train(X, y, 1.0, 5, loss, tol=1e-5, solver="fista", n_jobs=2)
    np.testing.assert_array_equal(first.W, two.W)


def test_it_is_a_baseline_that_is_asked_for_by_name():
    X, y = classes()
    for object_name, given in SMOOTH.items():
        for size in (1e-6, 1.0, 1e6):
            assert (
                choose_solver("auto", X, np.full(len(y), size), named(object_name, **given), 5)
                != "fista"
            )
    with pytest.raises(
        InvalidParameterError, match="'fista' for topk_hinge_alpha, which needs gradients"
    ):
        train(X, y, 0.1, 5, HINGE, solver="fista")
    with pytest.raises(InvalidParameterError, match="needs gradients"):
        TopKSVC(solver="fista").fit(X, y)


def test_the_truncated_entropy_has_no_dual_to_ascend():
    X, y = classes(3, n=300, m=6, d=16)
    with pytest.raises(InvalidParameterError, match="'sdca' with truncated=True"):
        TopKLogisticRegression(k=2, truncated=True, solver="sdca").fit(X, y)
    given = {"k": 2, "truncated": True, "C": 0.1, "tol": 1e-6, "max_iter": 3000}
    model = TopKLogisticRegression(solver="fista", **given).fit(X, y)
    other = TopKLogisticRegression(**given).fit(X, y)
    assert model.truncated_objectives_[-1] == pytest.approx(
        other.truncated_objectives_[-1], rel=1e-4
    )
