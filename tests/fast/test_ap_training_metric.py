"""The metric of the proximal bundle: curvature of the ranking hinge, and what it is worth."""

import numpy as np
import pytest
from _naive_ap_svm import bounds, close

from fast.models import ap_svm
from fast.models.ap_svm import RankingOracle
from fast.ranking.curvature import pairs
from fast.ranking.queries import Queries
from fast.solvers import cuts, proximal_bundle
from fast.solvers.cuts import Cuts
from fast.solvers.metric import Metric
from fast.solvers.score_problem import ScoreProblem


def steep(n=1500, d=100):
    """Nonnegative features of a power-law spectrum, a noisy linear label for one in five."""
    rng = np.random.default_rng(0)
    scale = 1.0 / np.arange(1, d + 1)
    X = np.maximum(
        rng.standard_normal((n, d)) * scale @ np.linalg.qr(rng.normal(size=(d, d)))[0], 0
    )
    f = X @ rng.standard_normal(d)
    f += 0.7 * f.std() * rng.standard_normal(n)
    return X, f > np.quantile(f, 0.8)


def test_weights_are_the_second_difference_of_the_loss():
    rng = np.random.default_rng(0)
    y = rng.permutation(6000) < 300
    scores, queries = rng.standard_normal(6000) + 0.5 * y, Queries(y)
    i, j, weight = pairs(queries, scores, queries.infer(scores).coefficients, 1000)
    assert y[i].all()
    assert not y[j].any()
    for h in (0.1 * y, 0.1 * y * (rng.random(6000) < 0.5)):
        L = [queries.infer(scores + t * h).value for t in (-1.0, 0.0, 1.0)]
        wanted = L[0] + L[2] - 2 * L[1]
        assert weight @ (h[i] - h[j]) ** 2 == pytest.approx(wanted, rel=0.1)
    few = pairs(queries, scores, queries.infer(scores).coefficients, 50)[2]
    np.testing.assert_allclose(few, weight.sum() / 50, rtol=1e-12)
    assert pairs(queries, 1e3 * y, queries.infer(1e3 * y).coefficients, 50) is None
    assert pairs(Queries([1, 0, 1, 0], [0, 0, 1, 1]), np.ones(4), np.zeros(4), 50) is None


@pytest.mark.parametrize("k", [5, 30])
def test_the_metric_is_the_matrix_of_the_pairs(k):
    rng = np.random.default_rng(1)
    D, weight = rng.standard_normal((k, 12)), rng.uniform(0.1, 2.0, k)
    metric, B = Metric(D, weight), D.T @ (weight[:, None] * D)
    np.testing.assert_allclose(metric.V * metric.size @ metric.V.T, B, atol=1e-10)
    assert metric.directions == pytest.approx(np.trace(B) ** 2 / np.trace(B @ B))
    store = Cuts(20, 12)
    for t in range(6):
        store.add(0.0, rng.standard_normal(20), rng.standard_normal(12))
        if t == 4:
            store.keep(np.array([0, 2, 3]))
        np.testing.assert_allclose(metric.of(store), store.G @ metric.V, atol=1e-12)
        if t == 2:
            metric.seen.clear()


@pytest.mark.parametrize("rho", [0.01, 1.0, 100.0])
def test_the_point_in_the_metric_minimises_the_model(rho):
    X, y = steep(300, 12)
    problem = ScoreProblem(X, RankingOracle(Queries(y), "numpy"), 50.0)
    problem.begin(None)
    rng = np.random.default_rng(2)
    for _ in range(6):
        problem.at(rng.standard_normal(12))
    centre = rng.standard_normal(12)
    problem.at(centre)
    metric = problem.curved(centre)
    B = metric.V * metric.size @ metric.V.T

    def value(w):
        return problem.model(w) + 0.5 * rho * (w - centre) @ B @ (w - centre)

    w = problem.in_metric(centre, rho, 1e-9, metric)
    for size in (1e-5, 1e-2, 1.0):
        for _ in range(50):
            assert value(w + size * rng.standard_normal(12)) >= value(w) - 1e-8


def test_it_spares_calls_where_the_loss_is_smooth(monkeypatch):
    X, y = steep()
    monkeypatch.setattr(cuts, "ROUNDED", (1, 1 << 20))  # it outlives the copy in float32
    found = []
    for gap in (-1.0, 0.5):  # never, as it is
        monkeypatch.setattr(proximal_bundle, "SMOOTH_GAP", gap)
        result = ap_svm.train(X, Queries(y), 1e4, tol=1e-6)
        close(result, *bounds(result, X, y, 1e4), 1e-6)
        found.append(result.n_oracle)
    assert found[1] <= 0.8 * found[0]


def test_a_metric_that_does_not_pay_goes(monkeypatch):
    monkeypatch.setattr(proximal_bundle, "STEEP", 1.0)
    X, y = steep()
    problem = ScoreProblem(X, RankingOracle(Queries(y), "numpy"), 1e3)
    problem.begin(None)
    problem.at(X.T @ (y - y.mean()))
    trial, state = proximal_bundle.Trial(problem), problem.state
    state.dual = 0.9 * state.primal
    assert trial.begin(state.w, 5.0) == 1.0
    assert trial.metric is not None
    for n_iter, dual, over in ((12, 0.98, False), (20, 0.98, False), (24, 0.985, True)):
        state.n_iter, state.dual = n_iter, dual * state.primal
        assert trial.judged(3.0) == (5.0 if over else 3.0)
        assert trial.over is over
    assert trial.begin(state.w, 7.0) == 7.0
    assert trial.metric is None
