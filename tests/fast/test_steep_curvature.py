"""Proxes and dual steps of entropies where the curvature dwarfs the scores."""

import numpy as np
import pytest

from fast.families import named
from fast.losses import ova_logistic, softmax, topk_entropy_alpha, topk_entropy_beta
from fast.models.multiclass_erm import train
from fast.solvers import quasi_newton
from verification import Instance, certificates
from verification.verdicts.verdict import Candidate

TOPK = {"topk_entropy_alpha": topk_entropy_alpha, "topk_entropy_beta": topk_entropy_beta}
VECTORS = [[0.3, -0.2, 1.1, 0.0], [1e15, 1e-15, 1.0, 0.5], [-1e15, 1e15, 1e15, 2.0], [0.0] * 4]


@pytest.mark.parametrize("t", [1e13, 1e99, 1e150])
@pytest.mark.parametrize("object_name", TOPK)
def test_topk_entropies(object_name, t):
    """The bracket of the multiplier must not grow with the curvature, nor may 1 - s decide alone."""
    for vector in VECTORS:
        main = np.array(vector)
        for k in (1, 2):
            prox = Instance.of(f"{object_name}.prox", v=main, k=k, t=t, costs=None)
            answer = TOPK[object_name].prox(main, k=k, t=t)
            assert certificates.judge(prox, Candidate(answer)).ok, (vector, k)
            params = {"q": main, "y": 3, "k_ii": t, "C": 1.0, "k": k}
            update = Instance.of(
                f"{object_name}.sdca_update", **params, costs=None, sample_weight=None
            )
            answer = TOPK[object_name].sdca_update(**params)
            assert certificates.judge(update, Candidate(answer)).ok, (vector, k)


@pytest.mark.parametrize("t", [1e13, 1e99, 1e150])
def test_softmax(t):
    for vector in VECTORS:
        main = np.array(vector)
        instance = Instance.of("softmax.prox", v=main, t=t, costs=None)
        assert certificates.judge(instance, Candidate(softmax.prox(main, t=t))).ok


@pytest.mark.parametrize("t", [1e3, 1e40, 1e100])
def test_a_tiny_probability_is_a_difference_not_an_exponential(t):
    """e^v has an error of |v| roundings: 345 at v = log 1e-150."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        v = rng.normal(size=3)
        instance = Instance.of("ova_logistic.prox", v=v, t=t, costs=None)
        judgement = certificates.judge(instance, Candidate(ova_logistic.prox(v, t=t)))
        assert judgement.ok, judgement
        assert judgement.distance <= 0.1 * judgement.distance_tolerance


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "interior"])
def test_training_where_masses_underflow_and_steps_overflow(solver):
    """Features of 1e4 to 1e8, weights of 1e-6 to 1e6: what is claimed of the result holds, and nothing is raised."""
    for seed in (71, 94, 118, 163):
        rng = np.random.default_rng(seed)
        n, d, m = (100, 1, 3) if seed % 4 == 3 else (60, 2, 3)
        X, y = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(4, 8, d), rng.integers(0, m, n)
        y[:m], w = range(m), 10.0 ** rng.uniform(-6, 6, n)
        start = 10.0 ** rng.uniform(-12, 0) * rng.standard_normal((m, d))
        loss, options = named("topk_entropy_alpha", k=2), {"solver": solver, "max_iter": 300}
        found = train(X, y, w, m, loss, weights=start, tol=1e-3, **options)
        judged = certificates.erm(
            found.W, X, y, loss="topk_entropy_alpha", k=2, C=1.0, sample_weight=w
        )
        assert 0.0 <= found.dual <= float(judged.primal)
        assert float(judged.primal - judged.error) <= found.primal * (1.0 + 1e-9)


def test_steps_that_rounding_undoes_do_not_shrink_to_zero(monkeypatch):
    """They were divided by, after some 650 of them; of many classes and rows lengths are measured for ever."""
    monkeypatch.setattr(quasi_newton, "FEW", 0)
    monkeypatch.setattr(quasi_newton, "CHEAP", 0)
    rng = np.random.default_rng(163)
    X = rng.standard_normal((100, 1)) * 10.0 ** rng.uniform(4, 8, 1)
    rng.integers(0, 3, 100)
    y = (X @ rng.standard_normal((1, 3)) + 0 * rng.standard_normal((100, 3))).argmax(axis=1)
    w, loss = rng.uniform(0, 1e6, 100), named("smooth_topk_hinge_alpha", k=1, gamma=1.0)
    start = 10.0 ** rng.uniform(-12, 6) * rng.standard_normal((3, 1))
    found = train(X, y, w, 3, loss, weights=start, solver="lbfgs", tol=1e-9, max_iter=800)
    assert 0.0 <= found.dual <= found.primal < np.inf
