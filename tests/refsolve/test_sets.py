"""The numpy formulas of each set against its CVXPY constraints and against linear programming."""

import cvxpy as cp
import numpy as np
import pytest
from _draw import SETS, biased, set_params

from refsolve import catalogue, exact

CASES = [(d, k, r) for d in (1, 2, 4, 7) for k in (1, 2, 4, 5) for r in (0.5, 3.0)]


def cases(stem, seed):
    """The set, a generator of numbers, d, k, and the set's parameters."""
    rng = np.random.default_rng(seed)
    for d, k, r in CASES:
        yield catalogue.load(stem), rng, d, k, set_params(stem, k, r, d)


def _rows(rng, d):
    w = rng.normal(size=(6, d))
    w[1] = np.round(w[1])
    w[2] = -abs(w[2])
    w[3] = 0.0
    return w


@pytest.mark.parametrize("stem", SETS)
def test_support_is_the_maximum_over_the_constraints(stem):
    for module, rng, d, k, params in cases(stem, 1):
        if k > d and stem == "simplex":
            continue
        x, w = cp.Variable(d), cp.Parameter(d)
        box = [cp.sum(x) <= 2.0] if stem == "topk_cone" else []
        problem = cp.Problem(cp.Maximize(w @ x), module.constraints(x, **params) + box)
        for row in _rows(rng, d)[:3]:
            w.value = row
            problem.solve(solver="HIGHS")
            bound = {"r": 2.0} if box else {}
            claimed = module.support(row, **{**params, **bound})
            assert claimed == pytest.approx(problem.value, abs=1e-8)


@pytest.mark.parametrize("stem", SETS)
def test_violation_is_zero_exactly_on_the_constraints(stem):
    seen = {True: 0, False: 0}
    for module, rng, d, _, params in cases(stem, 2):
        for x in (*rng.normal(size=(4, d)), *rng.uniform(0, 1, size=(4, d)), np.zeros(d)):
            for point in (x, module.repair(x, **params), 1.5 * module.repair(x, **params)):
                worst = max(
                    float(np.max(c.violation())) for c in module.constraints(cp.Constant(point), **params)
                )  # fmt: skip
                feasible = worst <= 1e-12
                seen[feasible] += 1
                assert (module.violation(point, **params) <= 1e-12) == feasible
    assert min(seen.values()) > 20


@pytest.mark.parametrize("stem", SETS)
def test_halfspaces_describe_the_same_set(stem):
    for module, rng, d, _, params in cases(stem, 3):
        for x in rng.uniform(-0.2, 1, size=(5, d)):
            point = module.repair(x, **params) if x[0] > 0.4 else x
            slacks = [
                (abs(g @ point - float(h)) if equal else g @ point - float(h))
                for g, h, equal in (
                    (np.array(row[0], dtype=float), row[1], row[2])
                    for row in module.halfspaces(d, **params)
                )
            ]
            assert (max(slacks) <= 1e-12) == (module.violation(point, **params) <= 1e-12)


@pytest.mark.parametrize("stem", SETS)
def test_repair_returns_a_feasible_point_and_keeps_feasible_ones(stem):
    for module, rng, d, _, params in cases(stem, 4):
        x = rng.normal(size=(20, d)) * 10.0 ** rng.integers(-3, 4, size=(20, 1))
        once = module.repair(x, **params)
        size = np.maximum(1, abs(once).sum(axis=1))
        assert (module.violation(once, **params) <= 1e-14 * size).all()
        np.testing.assert_allclose(module.repair(once, **params), once, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("stem", SETS)
def test_residual_is_support_minus_inner_product(stem):
    for module, rng, d, _, params in cases(stem, 5):
        w = _rows(rng, d)
        x = module.repair(rng.uniform(-0.5, 1, size=w.shape), **params)
        radius = {"r": x.sum(axis=1) + 1} if stem == "topk_cone" else {}
        gap = module.support(w, **{**params, **radius}) - (w * x).sum(axis=1)
        residual = module.residual(x, w, **{**params, **radius})
        np.testing.assert_allclose(residual, gap, atol=1e-12)
        assert (residual >= 0).all()


@pytest.mark.parametrize("stem", SETS)
def test_nearest_is_near_the_exact_projection(stem):
    for module, rng, d, _, params in cases(stem, 6):
        for rho in (0.0, 0.7, 20.0):
            a = _rows(rng, d) + 0.3
            found = module.nearest(a, **biased(stem, rho), **params)
            for row, x in zip(a, found, strict=True):
                truth = exact.project(stem, row, **biased(stem, rho), **params).array()
                np.testing.assert_allclose(x, truth, atol=1e-12)


def test_cone_support_is_infinite_outside_the_polar():
    cone = catalogue.load("topk_cone")
    assert cone.support(np.array([1.0, -0.5, -3.0]), 2) == np.inf
    assert cone.support(np.array([1.0, -1.0, -3.0]), 2) == 0
    assert cone.residual(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 2) == np.inf
