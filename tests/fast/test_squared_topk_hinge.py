"""The squared top-k hinge of `fast` against half the square of the hinge, and against its conditions."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fast.losses import squared_topk_hinge as squared
from fast.models import multiclass_erm
from verification.certificates.model import erm


def naive_value(z, k):
    """The best of all means of k entries, squared."""
    best = max(np.mean(chosen) for chosen in itertools.combinations(z, k))
    return max(best, 0.0) ** 2 / 2


def test_value_is_half_the_square_of_the_hinge(rng):
    for _ in range(150):
        m = int(rng.integers(2, 9))
        k, y = int(rng.integers(1, m)), int(rng.integers(m))
        f = np.round(rng.standard_normal(m), int(rng.integers(0, 4)))
        z = np.delete(f, y) - f[y] + 1.0
        np.testing.assert_allclose(squared.value(f, y, k=k), naive_value(z, k), rtol=1e-14)
        x = -np.delete(-squared.gradient(f, y, k=k), y)
        # Fenchel and Young with equality at a point of the cone
        assert x.min() >= 0
        assert x.max() <= x.sum() / k * (1 + 1e-14)
        loss = squared.value(f, y, k=k)
        np.testing.assert_allclose(x @ z - x.sum() ** 2 / 2, loss, rtol=1e-13, atol=1e-15)


def test_prox_and_update_satisfy_fenchel_and_young_with_equality(rng):
    for _ in range(150):
        m, y, t = int(rng.integers(2, 9)), 0, 10.0 ** rng.uniform(-2, 2)
        k = int(rng.integers(1, m))
        v = rng.standard_normal(m - 1)
        u = squared.prox(v, t=t, k=k)
        x, z = (v - u) / t, u + 1.0
        gap = squared.value(np.r_[0.0, u], y, k=k) + x.sum() ** 2 / 2 - x @ z
        assert abs(gap) <= 1e-10 * (1 + 1 / t)
        q, k_ii, box = rng.standard_normal(m), rng.uniform(0.1, 5), 10.0 ** rng.uniform(-2, 2)
        a = squared.sdca_update(q, y, k_ii, C=box, k=k)
        f, x = q + k_ii * a, -a[1:] / box
        gap = squared.value(f, y, k=k) + x.sum() ** 2 / 2 - x @ (f[1:] - f[0] + 1.0)
        assert abs(gap) <= 1e-10 * (1 + box)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_digits_are_trained_to_a_gap_that_the_trusted_core_confirms(k, C):
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    loss = squared.SquaredTopKHinge(k=k)
    found = multiclass_erm.train(X / 16, y, C, 10, loss, tol=1e-6)
    assert found.solver == "active"
    assert found.gap <= 1e-6
    A = -found.masses.toarray()
    A[np.arange(len(y)), y] -= A.sum(axis=1)
    proof = erm(found.W, X / 16, y, loss="squared_topk_hinge", C=C, k=k, dual=A)
    assert proof.relative_gap <= 1e-6
    reference = multiclass_erm.train(X / 16, y, C, 10, loss, tol=0.1, solver="sdca")
    assert reference.dual <= found.primal * (1 + 1e-12)
    assert found.dual <= reference.primal * (1 + 1e-12)
