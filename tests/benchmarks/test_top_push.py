"""The rival of TopPush is its authors' recipe, well done; no test asserts a time."""

import numpy as np
import pytest

from fast.models.top_push import train
from verification.benchmarks import top_push


def test_the_projection_is_the_root_by_bisection(rng):
    for _ in range(300):
        P, N = rng.integers(1, 9, 2)
        a, b = np.round(3 * rng.standard_normal(P)), 3 * rng.standard_normal(N)
        x = np.empty(P + N)
        top_push.project(a, b, x)
        low, high = min(a.min(), -b.max()) - 1, max(a.max(), -b.min()) + 1
        for _ in range(100):
            t = (low + high) / 2
            falls = np.maximum(a - t, 0).sum() - np.maximum(b + t, 0).sum()
            low, high = (t, high) if falls > 0 else (low, t)
        np.testing.assert_allclose(x[:P], np.maximum(a - low, 0), atol=1e-12)
        np.testing.assert_allclose(x[P:], np.maximum(b + low, 0), atol=1e-12)


def test_rows_say_what_both_reached(monkeypatch):
    monkeypatch.setattr(top_push, "REPEATS", 1)
    regime = (300, 5, 2, 4.0)
    X, y = top_push.data(*regime)
    full, short = (top_push.measure(regime, 0.1, most) for most in (top_push.MOST, 3))
    assert full.reached
    assert full["recipe_gap"] <= top_push.GAP < short["recipe_gap"]
    assert full["recipe_steps"] > 3 == short["recipe_steps"]
    best = train(X, y, 0.1, tol=1e-9)
    primal = top_push.nesterov(X[y], X[~y], 0.1, top_push.GAP, top_push.MOST)[1]
    assert primal == pytest.approx(best.primal, rel=2e-6)
    scores = X @ best.w
    assert full["at_top"] == pytest.approx((scores[y] > scores[~y].max()).mean())
