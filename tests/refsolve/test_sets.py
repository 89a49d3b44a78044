"""The numpy formulas of each set against its CVXPY constraints and against linear programming."""

import numpy as np
import pytest
from _draw import SETS, biased, set_params

from refsolve import catalogue, exact

CASES = [(d, k, r) for d in (1, 2, 4, 7) for k in (1, 2, 4, 5) for r in (0.5, 3.0)]


def cases(object_name, seed):
    """The set, a generator of numbers, d, k, and the set's parameters."""
    rng = np.random.default_rng(seed)
    for d, k, r in CASES:
        yield catalogue.load(object_name), rng, d, k, set_params(object_name, k, r, d)


def _rows(rng, d):
    w = rng.normal(size=(6, d))
    w[1] = np.round(w[1])
    w[2] = -abs(w[2])
    w[3] = 0.0
    return w


@pytest.mark.parametrize("object_name", SETS)
def test_repair_returns_a_feasible_point_and_keeps_feasible_ones(object_name):
    for module, rng, d, _, params in cases(object_name, 4):
        x = rng.normal(size=(20, d)) * 10.0 ** rng.integers(-3, 4, size=(20, 1))
        once = module.repair(x, **params)
        size = np.maximum(1, abs(once).sum(axis=1))
        assert (module.violation(once, **params) <= 1e-14 * size).all()
        np.testing.assert_allclose(module.repair(once, **params), once, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("object_name", SETS)
def test_nearest_is_near_the_exact_projection(object_name):
    for module, rng, d, _, params in cases(object_name, 6):
        for rho in (0.0, 0.7, 20.0):
            a = _rows(rng, d) + 0.3
            found = module.nearest(a, **biased(object_name, rho), **params)
            for row, x in zip(a, found, strict=True):
                truth = exact.project(
                    object_name, row, **biased(object_name, rho), **params
                ).array()
                np.testing.assert_allclose(x, truth, atol=1e-12)


def test_cone_support_is_infinite_outside_the_polar():
    cone = catalogue.load("topk_cone")
    assert cone.support(np.array([1.0, -0.5, -3.0]), 2) == np.inf
    assert cone.support(np.array([1.0, -1.0, -3.0]), 2) == 0
    assert cone.residual(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 2) == np.inf
