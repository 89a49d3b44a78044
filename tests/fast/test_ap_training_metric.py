"""The metric of the proximal bundle: curvature of the ranking hinge, and what it is worth."""

import numpy as np
import pytest
from _naive_ap_svm import bounds, close

from fast.models import ap_svm
from fast.ranking.curvature import pairs
from fast.ranking.queries import Queries
from fast.solvers import cuts, proximal_bundle


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


def second_difference(queries, scores, h):
    """L(s + h) - 2 L(s) + L(s - h)."""
    low, middle, high = (queries.infer(scores + t * h).value for t in (-1.0, 0.0, 1.0))
    return low + high - 2.0 * middle


def test_weights_are_the_second_difference_of_the_loss():
    rng = np.random.default_rng(0)
    y = rng.permutation(6000) < 300
    scores, queries = rng.standard_normal(6000) + 0.5 * y, Queries(y)
    coefficients = queries.infer(scores).coefficients
    i, j, weight = pairs(queries, scores, coefficients, 1500, 0.1)
    assert 0 < np.count_nonzero(y[i] != y[j]) < len(i)
    for h in (0.1 * y, 0.1 * y * (rng.random(6000) < 0.5), 0.1 * ~y * rng.standard_normal(6000)):
        wanted = second_difference(queries, scores, h)
        assert weight @ (h[i] - h[j]) ** 2 == pytest.approx(wanted, rel=0.2)
    assert len(weight) == 1500
    assert pairs(queries, 1e3 * y, queries.infer(1e3 * y).coefficients, 50) is None
    assert pairs(queries, scores, coefficients, 2000) is None  # of 300 positives
    assert pairs(Queries([1, 0, 1, 0], [0, 0, 1, 1]), np.ones(4), np.zeros(4), 5) is None


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
