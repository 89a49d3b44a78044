"""The metric of the proximal bundle: curvature of the ranking hinge, and what it is worth."""

import numpy as np
import pytest
import scipy.sparse as sp
from _naive_ap_svm import bounds, close
from scipy.optimize import brentq

from fast.models import ap_svm
from fast.ranking import smoothed
from fast.ranking.curvature import pairs
from fast.ranking.losses import AVERAGE_PRECISION, NDCG
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


def naive_gradient(scores, y, width, loss):
    """L_w' (n,) from every M_kj, blocks pooled until their c ascend; and the size of the largest block."""
    above, below = np.flatnonzero(y), np.flatnonzero(~y)
    P, N, above = len(above), len(below), above[np.argsort(-scores[above])]
    s, t = scores[above], scores[below]

    def rise(k, j):  # g_k(j): what the j-th negative above adds, of NDCG linear between whole j
        if loss is AVERAGE_PRECISION:
            return (j / (k + j) - (j - 1.0) / (k + j - 1.0)) / P
        r = np.arange(1, P + N + 3)
        drops = 1.0 / np.log2(r + 1.0) - 1.0 / np.log2(r + 2.0)
        return np.interp(k + j - 1.0, r, drops) / (1.0 / np.log2(np.arange(2, P + 2))).sum()

    def inverted(x):
        return np.clip(0.5 + (t - x) / (2.0 * width), 0.0, 1.0)

    def solved(block):
        places = np.array(block) + 1.0

        def x(c):
            return s[block].mean() - P * N / 2.0 * rise(places, max(c, 0.5) + 0.5).mean()

        def excess(c):
            return inverted(x(c)).sum() - c

        c = 0.0 if excess(0.0) <= 0.0 else N if excess(N) >= 0.0 else brentq(excess, 0, N, xtol=1e-13)
        return block, c, inverted(x(c))

    blocks = []
    for k in range(P):
        blocks.append(solved([k]))
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            blocks[-2:] = [solved(blocks[-2][0] + blocks[-1][0])]
    found = np.zeros(P + N)
    for block, c, M in blocks:
        found[above[block]] = -2.0 / (P * N) * c
        found[below] += 2.0 / (P * N) * len(block) * M
    return found, max(len(block) for block, _, _ in blocks)


@pytest.mark.parametrize("loss", [AVERAGE_PRECISION, NDCG])
@pytest.mark.parametrize(
    ("separation", "spread", "width"), [(2.0, 1.0, 0.1), (-1.0, 5.0, 0.4), (4.0, 1.0, 3.0)]
)
def test_hessian_is_the_derivative_of_the_naive_gradient(loss, separation, spread, width):
    rng = np.random.default_rng(3)
    y = rng.permutation(24) < 8
    scores = spread * rng.standard_normal(24) + separation * y
    H = smoothed.hessian(np.eye(24), Queries(y, loss=loss), scores, width)
    assert naive_gradient(scores, y, width, loss)[1] > 1  # some are pooled
    step, wanted = 1e-6, np.empty((24, 24))
    for i, h in enumerate(step * np.eye(24)):
        low, high = (naive_gradient(scores + sign * h, y, width, loss)[0] for sign in (-1, 1))
        wanted[:, i] = (high - low) / (2.0 * step)
    assert abs(H - wanted).max() <= 1e-5 * abs(wanted).max()  # c are bisected to 1e-6
    assert np.linalg.eigvalsh(H).min() >= -1e-15


@pytest.mark.parametrize("loss", [AVERAGE_PRECISION, NDCG])
def test_narrow_windows_hold_the_most_violated_ranking(loss):
    rng = np.random.default_rng(0)
    for separation in (0.0, 1.0, 3.0):
        y = rng.permutation(500) < 60
        scores, queries = 3.0 * rng.standard_normal(500) + separation * y, Queries(y, loss=loss)
        found = smoothed.windows(queries, scores, 1e-7)
        counts = np.repeat(found.inverted, np.diff(found.start))
        exact = np.sort(queries.inversions(queries.infer(scores).coefficients)[y])
        assert (np.diff(counts) >= 0.0).all()
        assert abs(counts - exact).max() <= 1.0  # phi' is continuous here, and has steps there


def test_hessian_of_sparse_rows_in_chunks_and_of_every_second_block(monkeypatch):
    X, y = one_hot(n=800, positives=200, positions=10)
    w = np.random.default_rng(0).standard_normal(30)
    given = Queries(y), X @ w, 0.5
    H = smoothed.hessian(X, *given)
    monkeypatch.setattr(smoothed, "CHUNK", 30 * 7)
    np.testing.assert_allclose(smoothed.hessian(sp.csr_array(X), *given), H, atol=1e-13)
    np.testing.assert_allclose(smoothed.hessian(X.astype(np.float32), *given), H, atol=1e-13)
    found = smoothed.windows(*given)
    monkeypatch.setattr(smoothed, "MOST", 30 * (np.count_nonzero(found.high > found.low) // 2))
    thinned = smoothed.hessian(X, *given)
    assert 0.0 < abs(thinned - H).max() <= 0.5 * abs(H).max()
    assert np.trace(thinned) == pytest.approx(np.trace(H), rel=0.2)
    assert smoothed.hessian(X, Queries(y), 1e4 * y, 0.5) is None


CALLS = [  # separation, positives, C, tol, most calls; how many there were with a sample of pairs for a metric
    (1.0, 767, 10.0, 1e-3, 15),  # 9
    (1.5, 767, 10.0, 1e-3, 25),  # 16
    (1.5, 767, 10.0, 1e-6, 100),  # 110
    (1.0, 200, 1000.0, 1e-6, 140),  # 169
    (1.0, 767, 1000.0, 1e-3, 60),  # 67
    (1.0, 767, 1000.0, 1e-6, 160),  # 229
    (1.0, 30, 1000.0, 1e-6, 140),  # more than 450 without a metric for so few positives
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
