"""A set with vectors for parameters: what is refused, and what proves that it is empty."""

import numpy as np
import pytest

import refsolve
from fast import sets
from refsolve import catalogue, certificates, exact
from refsolve.errors import InfeasibleError, InvalidParameterError
from refsolve.spec import Symbol

GIVEN = {"a": [0.5, -1.0, 2.0], "b": [1.0, -2.0, 0.0], "low": -1.0, "high": [1.0, np.inf, 1.0]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"b": [1.0, 2.0]}, r"b = \[1.0, 2.0\]: expected .* shape \(3,\)"),
        ({"b": [1.0, np.inf, 0.0]}, "first at flat index 1"),
        ({"b": [1.0, 1e-80, 0.0]}, "0 or of magnitude"),
        ({"b": np.ma.masked_greater([1.0, 2.0, 0.0], 1)}, "masked"),
        ({"low": np.ma.masked_greater([1.0, 2.0, 0.0], 1)}, "masked"),
        ({"low": [0.0, np.nan, -np.inf]}, "first at flat index 1"),
        ({"low": "none"}, "low"),
        ({"low": 2.0}, "low <= high"),
        ({"low": np.inf, "high": np.inf}, "low < inf"),
        ({"capacity": [1.0, 2.0]}, "one plain number"),
    ],
)
def test_a_vector_that_does_not_fit_is_named(wrong, message):
    with pytest.raises(InvalidParameterError, match=message):
        refsolve.solve("knapsack.projection", **{**GIVEN, "capacity": 1.0, **wrong})


@pytest.mark.parametrize(("capacity", "sign"), [(3.0000000000000004, 1.0), (-1e9, -1.0)])
def test_an_empty_set_is_proven_empty(capacity, sign):
    given = {**GIVEN, "high": 1.0, "capacity": capacity}
    with pytest.raises(InfeasibleError, match=r"between -3.0 and 3.0: the set is empty") as caught:
        refsolve.solve("knapsack.projection", **given)
    t = caught.value.farkas["capacity"]
    assert t == sign
    assert t * capacity > abs(t * np.array(GIVEN["b"])).sum()  # max <t b,x> with |x| <= 1
    x = refsolve.solve("knapsack.projection", **{**given, "capacity": 3.0}).x
    np.testing.assert_allclose(x, [1, -1, 1], atol=1e-9)


@pytest.mark.parametrize(
    "bounds",
    [
        {"low": -1.0, "high": 1.0},
        {"low": [-1.0, -np.inf, 0.0], "high": [np.inf, 1.0, np.inf]},
        {"low": 0.5, "high": 0.5},
    ],
)
def test_a_capacity_that_need_not_be_used_up(bounds):
    """Far above, at and below what a takes between the bounds, and at the least that they allow."""
    module, a, b = catalogue.load("knapsack_at_most"), np.array([0.5, -1.0, 2.0]), [1.0, -2.0, 0.0]
    low, high = (np.broadcast_to(v, 3) for v in bounds.values())
    ends = [
        v * (bottom if v > 0 else top) for v, bottom, top in zip(b, low, high, strict=True) if v
    ]
    least, spent = sum(ends), float(b @ np.clip(a, low, high))
    capacities = {1e150, spent + 1.0, spent, max(least, spent - 1.0), least}
    for capacity in (c for c in capacities if c > -np.inf):
        given = {"a": a, "b": b, **bounds, "capacity": capacity}
        found = refsolve.solve("knapsack_at_most.projection", **given)
        assert found.status == "certified"
        x = exact.project("knapsack_at_most", **given).array()
        equal = capacity <= spent and exact.project("knapsack", **given).array()
        np.testing.assert_array_equal(x, equal if capacity <= spent else np.clip(a, low, high))
        np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-6)
        np.testing.assert_allclose(sets.knapsack_at_most.project(**given), x, rtol=0, atol=1e-14)
        w = a - x
        rest = {"b": np.array(b), "low": low, "high": high, "capacity": capacity}
        assert module.residual(x, w, **rest) < 1e-14
        t = refsolve.internals("knapsack_at_most.projection", **given)["lambda"]
        assert t == 0 or (t > 0 and capacity < spent)
        if capacity < spent:
            p = refsolve.problem("knapsack_at_most.projection", **given)
            p.solve(solver="CLARABEL")
            assert p.duals["<b,x> <= capacity"] > 0
    if least > -np.inf:
        for below in (least - 1e-12, -1e9):
            with pytest.raises(InfeasibleError, match="and inf: the set is empty") as caught:
                refsolve.solve("knapsack_at_most.projection", **{**given, "capacity": below})
            assert caught.value.farkas == {"capacity": -1.0}


def test_a_support_function_has_no_negative_multiplier():
    module, rng = catalogue.load("knapsack_at_most"), np.random.default_rng(8)
    b, free = np.array([1.0, -2.0, 0.5]), (np.full(3, -np.inf), np.full(3, np.inf))
    assert module.support(2 * b, b, *free, 0.5) == 1.0
    assert module.support(-2 * b, b, *free, 0.5) == np.inf
    assert catalogue.load("knapsack").support(-2 * b, b, *free, 0.5) == -1.0
    assert module.support(np.array([0.0, 0.0, 1.0]), b, *free, 0.5) == np.inf
    low, high = -np.ones(3), np.array([1.0, 2.0, np.inf])
    met = set()
    for _ in range(200):
        w, capacity = np.round(rng.normal(size=3), 1), float(rng.integers(-5, 9))
        t = np.array([0.0, *(v for v in w / b if v > 0)])[:, None]
        with np.errstate(invalid="ignore"):
            ends = np.where(w - t * b == 0, 0, (w - t * b) * np.where(w > t * b, high, low))
        best = (t[:, 0] * capacity + ends.sum(axis=1)).min()
        assert module.support(w, b, low, high, capacity) == pytest.approx(best, abs=1e-12)
        x = module.nearest(rng.normal(size=3), b, low, high, capacity)
        gap = module.residual(x, w, b, low, high, capacity)
        assert gap == np.inf if best == np.inf else gap == pytest.approx(best - w @ x, abs=1e-12)
        met.add((best == np.inf, best == ends.sum(axis=1)[0]))
    assert met >= {(False, True), (False, False)}


def test_a_set_without_bounds_has_certificates_and_an_infinite_support_function():
    module, rng = catalogue.load("knapsack"), np.random.default_rng(5)
    b, ends = np.array([1.0, -2.0, 0.5, 4.0]), (np.full(4, -np.inf), np.full(4, np.inf))
    assert module.support(3 * b, b, *ends, 0.5) == 1.5
    assert module.support(rng.normal(size=4), b, *ends, 0.5) == np.inf
    a = rng.normal(size=4)
    x = a - (b @ a - 0.5) / (b @ b) * b
    given = {"b": b, "low": -np.inf, "high": np.inf, "capacity": 0.5}
    assert certificates.projection("knapsack", x, a, **given).distance < 1e-14
    for off in (1e-3, 1.0):
        step = off * np.linalg.svd(b[None])[2][1]  # feasible, and wrong
        proof = certificates.projection("knapsack", x + step, a, **given)
        assert off <= proof.distance <= 1.001 * off
        assert off**2 / 2 <= proof.gap <= 0.501 * off**2


def test_vectors_are_drawn_in_their_range_unless_a_symbol_says_how():
    rng = np.random.default_rng(1)
    symbol = Symbol("width", "", low=0, unit="x", shape="vector")
    drawn = np.array([symbol.draw(rng, 6, 2.0, {}) for _ in range(50)])
    assert drawn.shape == (50, 6)
    assert drawn.min() >= 0
    assert np.unique(drawn).size > 20
    assert symbol.check(2, 3).tolist() == [2.0] * 3
    with pytest.raises(InvalidParameterError, match=r"width = -0.5: .*for each entry, 0 <= width"):
        symbol.check([1.0, -0.5], 2)
