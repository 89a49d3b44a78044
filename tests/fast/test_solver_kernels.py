"""The kernels below the trainers, each alone and on a few numbers: a fit would hide what they do wrong.

A trainer certifies its model whatever its kernels answer; a wrong list, step or curvature only makes it slower.
"""

import numpy as np
import pytest

from fast.families import named
from fast.kernels.hinges import ALPHA, BETA
from fast.models.multiclass_erm import TopKEntropy
from fast.solvers.entropy_rows import FEW, EntropyRows
from fast.solvers.smooth_rows import SmoothRows

M = 6


def scores_of(rng):
    """Rows from level to steep, and the labels."""
    f = rng.standard_normal((9, M)) * np.array([0.1, 1, 1, 3, 3, 10, 30, 60, 200])[:, None]
    return f, np.arange(9) % M, rng.uniform(0.3, 2.0, 9)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_entropy_rows_are_the_loss_its_gradient_and_its_hessian(variant, k):
    loss = TopKEntropy.named(variant, k)
    f, y, r = scores_of(np.random.default_rng(k))
    rows = EntropyRows(loss, y, r, M)
    rows.block = rows.block[:4].copy()  # three blocks
    A = np.empty((9, M))
    total = rows.evaluate(f, A)
    single = named(f"topk_entropy_{variant}", k=k)
    losses = single.values(f, y)
    np.testing.assert_allclose(rows.losses, losses, rtol=1e-13, atol=1e-300)
    assert total == pytest.approx(float(r @ losses), rel=1e-13)
    np.testing.assert_allclose(A, single.gradient(f, y, sample_weight=r), rtol=1e-11, atol=1e-14)
    hessians = np.empty((9, M, M))
    for j in range(M):
        V = np.zeros((9, M))
        V[:, j] = 1.0
        rows.curve(V, np.arange(9))
        hessians[:, :, j] = V
    h = 1e-6
    for j in range(M):
        up, down = f.copy(), f.copy()
        up[:, j] += h
        down[:, j] -= h
        ends = [single.gradient(g, y, sample_weight=r)[:6] for g in (up, down)]
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(hessians[:6, :, j], slope, rtol=1e-4, atol=1e-7)
    trace = np.trace(hessians, axis1=1, axis2=2) / r
    bound = rows.curvature
    assert (trace <= bound * (1 + 1e-6) + 1e-12).all()
    if rows.variant == BETA:
        np.testing.assert_allclose(bound[:6], trace[:6], rtol=1e-4)  # the products are in float32
    else:
        x = A / r[:, None]
        s = -x[np.arange(9), y]
        kappa = (1 - s) / np.where(s > 0, s, 1)
        loose = 2 * s * (1 - s) - kappa * (x**2).sum(axis=1)
        np.testing.assert_allclose(bound[:6], (trace + loose)[:6], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 64, 150])
def test_softmax_class_by_class_is_softmax_row_by_row(n, dtype):
    rng = np.random.default_rng(n)
    f = 10.0 ** rng.uniform(-9.0, 3.5, (n, 1)) * rng.standard_normal((n, FEW))
    f[::7] = 0.0
    f, y, r = f.astype(dtype), rng.integers(0, FEW, n), rng.uniform(0.0, 2.0, n)
    y[1::5] = f[1::5].argmax(axis=1)
    found = []
    for few in (True, False):
        rows, A = EntropyRows(named("softmax"), y, r, FEW), np.empty_like(f)
        assert rows.few
        rows.few = few
        found.append((rows.evaluate(f, A), A, rows.T, rows.losses, rows.curvature))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-14)
    for one, other in zip(found[0][1:3], found[1][1:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=4 * np.finfo(one.dtype).eps, atol=1e-300)
    np.testing.assert_allclose(found[0][3], found[1][3], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(found[0][4], found[1][4], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_dropped_classes_count_for_nothing(variant, k):
    f, y, r = scores_of(np.random.default_rng(9))
    rng = np.random.default_rng(10)
    dropped = np.array([rng.choice(np.delete(np.arange(M), c), 2, replace=False) for c in y])

    class Loss:
        pass

    loss = Loss()
    loss.k, loss.variant, loss.dropped = k, ALPHA if variant == "alpha" else BETA, dropped
    rows = EntropyRows(loss, y, r, M)
    rows.block = rows.block[:4].copy()
    A = np.empty((9, M))
    rows.evaluate(f, A)
    single = named(f"topk_entropy_{variant}", k=k)
    for i in range(9):
        left = np.delete(np.arange(M), dropped[i])
        own = [int(np.flatnonzero(left == y[i])[0])]
        assert rows.losses[i] == pytest.approx(single.value(f[i, left], own[0]), rel=1e-12)
        expected = np.zeros(M)
        expected[left] = single.gradient(f[i, left], own[0], sample_weight=r[i : i + 1])
        np.testing.assert_allclose(A[i], expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_smooth_rows_are_the_loss_its_gradient_and_its_hessian(variant, k):
    loss = named(f"smooth_topk_hinge_{variant}", k=k, gamma=0.7)
    rng = np.random.default_rng(k)
    f, y, r = 0.8 * rng.standard_normal((12, M)), np.arange(12) % M, rng.uniform(0.3, 2.0, 12)
    rows = SmoothRows(loss, y, r, M)
    A = np.empty((12, M))
    total = rows.evaluate(f, A)
    assert total == pytest.approx(float(r @ loss.values(f, y)), rel=1e-13)
    np.testing.assert_allclose(A, loss.gradient(f, y, sample_weight=r), rtol=1e-12, atol=1e-14)
    h = 1e-7  # the gradient is piecewise linear
    for j in range(M):
        V = np.zeros((12, M))
        V[:, j] = 1.0
        rows.curve(V, np.arange(12))
        up, down = f.copy(), f.copy()
        up[:, j] += h
        down[:, j] -= h
        ends = [loss.gradient(g, y, sample_weight=r) for g in (up, down)]
        np.testing.assert_allclose(V, (ends[0] - ends[1]) / (2 * h), rtol=0, atol=1e-6)
    assert rows.mean_curvature() > 0.0
