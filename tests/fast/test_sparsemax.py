"""The sparsemax loss of `fast` against the definition: the projection of all scores on the simplex."""

import numpy as np
import pytest

from fast.losses import sparsemax


def probabilities(f):
    """The simplex projection by trying every number of positive entries."""
    u = np.sort(f)[::-1]
    t = (np.cumsum(u) - 1) / np.arange(1, u.size + 1)
    return np.maximum(f - t.max(), 0)


def naive_value(f, y, costs=0.0):
    """Martins and Astudillo 2016, equation (13), in the scores less that of the truth."""
    f = f - f[y] + costs
    p = probabilities(f)
    return f @ p - p @ p / 2 + 0.5


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_value_and_gradient_are_those_of_all_scores(scale, rng):
    for _ in range(100):
        m = int(rng.integers(2, 12))
        f, y = rng.standard_normal(m) * scale, int(rng.integers(m))
        costs = rng.uniform(0, 2, m)
        costs[y] = 0.0
        value = sparsemax.value(f, y, costs=costs)
        np.testing.assert_allclose(
            value, naive_value(f, y, costs), rtol=0, atol=1e-13 * (1 + scale)
        )
        expected = probabilities(f - f[y] + costs) - np.eye(m)[y]
        found = sparsemax.gradient(f, y, costs=costs)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * (1 + scale))


def test_prox_and_update_solve_their_equations(rng):
    for _ in range(100):
        m, y, t = int(rng.integers(2, 9)), 0, 10.0 ** rng.uniform(-2, 2)
        v = rng.standard_normal(m - 1)
        u = sparsemax.prox(v, t=t)
        g = sparsemax.gradient(np.r_[0.0, u], y)[1:]
        np.testing.assert_allclose(u + t * g, v, rtol=0, atol=1e-12 * (1 + t))
        q, k_ii, box = rng.standard_normal(m), rng.uniform(0.1, 5), 10.0 ** rng.uniform(-2, 2)
        a = sparsemax.sdca_update(q, y, k_ii, C=box)
        np.testing.assert_allclose(
            a, -box * sparsemax.gradient(q + k_ii * a, y), rtol=0, atol=1e-11 * (1 + box)
        )
