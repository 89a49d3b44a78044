"""Recall at k as declared: all sets as cuts, its certificate at any points, and what it refuses."""

import itertools

import numpy as np
import pytest
from _draw import certified

from refsolve import fenchel
from refsolve.models import recall_at_k


def _data(seed, n=7, d=2, P=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < P)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y.astype(int)


def _objective(w, X, y, C, k):
    s, P = X @ w, y.sum()
    values = [
        1 - y[list(T)].sum() / P + 2 * (s[list(T)].sum() - s[y == 1].sum())
        for T in itertools.combinations(range(len(y)), k)
    ]
    return w @ w / 2 + C * max(0, *values)


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_all_sets_and_cutting_planes_have_the_optimum_of_the_declaration(k, C, monkeypatch):
    X, y = _data(k)
    given = {"X": X, "y": y, "C": C, "k": k}
    model = recall_at_k.declaration(**given)
    best = model.primal(fenchel.primal(model).solve())
    for few in (recall_at_k.FEW, 0):
        monkeypatch.setattr(recall_at_k, "FEW", few)
        for side in ("primal", "dual"):
            found = certified(f"recall_at_k.{side}", **given)
            assert found.value == pytest.approx(best, rel=1e-6, abs=1e-9)
            proof = found.certificate
            assert _objective(proof.w, X, y, C, k) == pytest.approx(found.certificate.primal)


def test_the_certificate_of_any_points_is_what_lies_between_them():
    rng = np.random.default_rng(2)
    for _ in range(30):
        X, y = _data(int(rng.integers(1000)))
        k, C = int(rng.integers(1, 7)), 10.0 ** rng.uniform(-1, 1)
        every = [np.isin(range(7), T) for T in itertools.combinations(range(7), k)]
        sets = np.array(every)[rng.integers(0, len(every), 4)]
        w, weights = rng.normal(size=2), rng.normal(size=4)
        proof = recall_at_k.certificate(X, y, C=C, k=k, sets=sets, weights=weights, w=w)
        lam = proof.weights
        assert lam.min() >= 0
        assert lam.sum() <= C * (1 + 1e-15)
        v = -2 * X.T @ (lam @ (sets.astype(float) - y))
        D = lam @ (1 - (sets * y).sum(axis=1) / 3) - v @ v / 2
        P = _objective(w, X, y, C, k)
        assert (proof.primal, proof.dual) == pytest.approx((P, D), rel=1e-11)
        assert proof.gap * (1 + 1e-12) >= P - D
        assert proof.gap == pytest.approx(P - D, rel=1e-9)
        assert min(proof.residuals.min(), proof.drift) >= 0
        over = max(0.0, -weights.min(), np.maximum(weights, 0).sum() - C)
        assert proof.violation == pytest.approx(over)
