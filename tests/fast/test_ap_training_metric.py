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


def one_hot(n=3186, positions=60, levels=4, positives=767, separation=1.0, seed=0):
    """Letters at ``positions`` as levels - 1 columns each; the first positions tell the class best."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n, bool)
    y[rng.permutation(n)[:positives]] = True
    odds = rng.standard_normal((2, positions, levels))
    odds *= (separation / (1.0 + np.arange(positions) / 8.0))[:, None]
    letter = (odds[y.astype(int)] + rng.gumbel(size=(n, positions, levels))).argmax(axis=2)
    return (letter[:, :, None] == np.arange(levels - 1)).reshape(n, -1).astype(float), y


def curvatures(queries, scores, h, most, width):
    """h'L''h by pairs, that part of it between positives and negatives, and by a second difference."""
    i, j, weight = pairs(queries, scores, queries.infer(scores).coefficients, most, width)
    low, middle, high = (queries.infer(scores + t * h).value for t in (-1.0, 0.0, 1.0))
    terms, mixed = weight * (h[i] - h[j]) ** 2, queries.positives[i] != queries.positives[j]
    return terms.sum(), terms[mixed].sum(), low + high - 2.0 * middle


def test_weights_are_the_second_difference_of_the_loss():
    rng = np.random.default_rng(0)
    y = rng.permutation(6000) < 300
    scores, queries = rng.standard_normal(6000) + 0.5 * y, Queries(y)
    h = 0.1 * y  # neighbours move together
    found, mixed, wanted = curvatures(queries, scores, h, 1500, 0.1)
    assert found == mixed == pytest.approx(wanted, rel=0.1)
    for h in (0.1 * y * (rng.random(6000) < 0.5), 0.1 * ~y * rng.standard_normal(6000)):
        found, _, wanted = curvatures(queries, scores, h, 1500, 0.1)
        assert 0.9 * wanted <= found <= 2.2 * wanted
    coefficients = queries.infer(scores).coefficients
    assert len(pairs(queries, scores, coefficients, 50)[2]) == 50
    assert pairs(queries, scores, coefficients, 6000) is not None
    assert pairs(queries, scores, coefficients, 6001) is None  # of 300 positives
    assert pairs(queries, 1e3 * y, queries.infer(1e3 * y).coefficients, 50) is None
    assert pairs(Queries([1, 0, 1, 0], [0, 0, 1, 1]), np.ones(4), np.zeros(4), 5) is None


def test_most_curvature_of_one_hot_features_is_of_examples_that_pass_their_like():
    X, y = one_hot(separation=1.5)
    queries = Queries(y)
    w = ap_svm.train(X, queries, 10.0, tol=1e-3).w
    v = np.random.default_rng(1).standard_normal(X.shape[1])
    h = X @ (v * (0.02 * np.linalg.norm(w) / np.linalg.norm(v)))
    found, mixed, wanted = curvatures(queries, X @ w, h, 3000, float(h.std()))
    assert 0.6 * wanted <= found <= 1.7 * wanted
    assert mixed <= 0.3 * wanted


CALLS = [  # separation, positives, C, tol, most calls; how many there were with pairs of both classes alone
    (1.0, 767, 10.0, 1e-3, 15),  # 9
    (1.5, 767, 10.0, 1e-3, 25),  # 16
    (1.5, 767, 10.0, 1e-6, 160),  # 246
    (1.0, 200, 1000.0, 1e-6, 300),  # 695
    (1.0, 767, 1000.0, 1e-3, 110),  # 153
    (1.0, 767, 1000.0, 1e-6, 450),  # 1040
    (1.0, 150, 1000.0, 1e-6, 260),  # more than 450 without a metric for so few positives
]


@pytest.mark.parametrize(("separation", "positives", "C", "tol", "most"), CALLS)
def test_calls_on_one_hot_features(separation, positives, C, tol, most):
    X, y = one_hot(separation=separation, positives=positives)
    result = ap_svm.train(X, Queries(y), C, tol=tol)
    close(result, *bounds(result, X, y, C), tol)
    assert result.n_oracle <= most


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
