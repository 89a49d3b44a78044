"""The kernels of inference, each alone against its definition, on small instances full of ties.

Every method has the same answer as the others, so most of what is wrong in one kernel only makes it slower,
or is put right by the next: here nothing comes after it. Quick without the compiler, too.
"""

from fractions import Fraction

import numpy as np
import pytest
from _naive_average_precision import check, counted, instance, optima, slopes

from fast.ranking import compiled, inference, kernels, many, split
from fast.ranking.queries import Queries

COMPILED = ("divide_and_conquer", "greedy", "search", "select", "all")


# ---- whole methods --------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*COMPILED, "numpy"])
@pytest.mark.parametrize(("p", "n"), [(3, 200), (70, 130), (40, 20)])
def test_a_method_where_the_slopes_are_in_order(method, p, n, rng):
    """Then c_k = #{j: h_k(j) > 0}, at any size; with few negatives above many positives."""
    infer, seen = inference.method(method), 0
    for i in range(60):
        scores, y = instance(rng, p, n, kind=i % 3)
        counts = slopes(scores, y).sum(axis=1)
        if (np.diff(counts) < 0).any():
            continue
        coefficients = np.zeros(len(y))
        found = infer(scores, y, p, coefficients, 1.0)
        check(found, coefficients, scores, y, counts)
        if (seen := seen + 1) == 3:
            return
    assert seen


@pytest.mark.parametrize("shape", ["few", "many", "none", "missed", "tied", "close"])
def test_a_floor_from_a_sample_changes_nothing(shape, rng, monkeypatch):
    monkeypatch.setattr(compiled, "_SAMPLED", 1 << 9)
    floors, given = [], split.floor_from

    def noted(*arguments):
        floors.append(given(*arguments))
        return floors[-1]

    monkeypatch.setattr(split, "floor_from", noted)
    p, n = 9, 1600
    y = rng.permutation(np.arange(p + n) < p)
    scores = rng.standard_normal(p + n) + np.where(y, 6.0, 0.0)
    if shape == "many":
        scores[y] -= 6.0
    elif shape == "none":
        scores[y] += 1e5
    elif shape == "missed":  # the sample sees every 16th score, and thinks that all are as high
        scores[~y & (np.arange(p + n) % 16 == 0)] += 4.0
    elif shape == "tied":
        scores = np.round(scores)
    elif shape == "close":
        scores[y] += 3.0
    counts, wanted = [], []
    for method in ("numpy", "divide_and_conquer"):
        coefficients = np.zeros(p + n)
        counts.append(inference.method(method)(scores, y, p, coefficients, 1.0).counts)
        wanted.append(coefficients)
    np.testing.assert_array_equal(*counts)
    np.testing.assert_allclose(wanted[1], wanted[0], rtol=1e-15)
    assert len(floors) > (shape == "missed")
    assert (floors[-1][0] > -np.inf) == (shape in ("few", "none", "close", "tied"))


@pytest.mark.parametrize("method", ["divide_and_conquer", "select"])
@pytest.mark.parametrize("shapes", [[(3, 509), (2, 3), (4, 509), (2, 700)], [(4, 509), (2, 550)]])
def test_queries_that_are_not_short_go_one_by_one(method, shapes, rng):
    assert many.SHORT == 512
    parts = [instance(rng, *shape, kind=1) for shape in shapes]
    groups = np.repeat(np.arange(len(parts)), [len(y) for _, y in parts])
    scores, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    found, wanted = (Queries(y, groups).infer(scores, m) for m in (method, "numpy"))
    assert found.active == wanted.active
    np.testing.assert_allclose(found.coefficients, wanted.coefficients, rtol=1e-15)
    assert (found.value, found.delta) == pytest.approx((wanted.value, wanted.delta), rel=1e-14)


# ---- ranks ----------------------------------------------------------------------------------
def near_ties(rng, p, size, j, t):
    """Scores that make every h_k(j) vanish, or the sum of two neighbours, up to some units of rounding."""
    k = np.arange(1, p + 1)
    s = 0.5 * size * k / ((j + k) * (j + k - 1.0)) + t
    if p > 1:
        i = int(rng.integers(p - 1))
        shift = rng.choice([0.0, 0.5, 0.3]) * (s[i] - s[i + 1])
        s[i : i + 2] += -shift, shift
    return np.sort(s + rng.integers(-1, 2, p) * np.spacing(s))[::-1].copy()


def exactly(j, low, high, size, s, t):
    """Largest maximiser of delta_j over low..high in rational arithmetic."""
    best, lead, top = high, Fraction(0), Fraction(0)
    for i in range(high - 1, low - 1, -1):
        gain = Fraction(size * i, 2 * (j + i) * (j + i - 1))
        lead += gain - Fraction(float(s[i - 1])) + Fraction(t)
        if lead > top:
            best, top = i, lead
    return best


def test_a_lead_that_is_rounding_is_none():
    """Far behind first, then ahead by less than the sums are off by: behind, in truth."""
    s = np.array([5.24595577841713, 4.487377554916203])
    assert kernels.try_all(1, 20.0, s, 0.7) == exactly(1, 1, 3, 20, s, 0.7)


def test_the_rank_of_one_negative(rng):
    """Among all ranks, between two, where neighbours nearly tie and where they do not."""
    for i in range(400):
        p, size, j = (int(v) for v in rng.integers(1, [12, [40, 10**6][i % 5 > 2], 12]))
        t = [0.0, -0.1, 0.7][i % 3]
        if i % 2:
            s = near_ties(rng, p, size, 1 + j % 2, t)
            j = 1 + j % 2
        else:
            s = np.sort(rng.standard_normal(p))[::-1] * 10.0 ** rng.integers(-3, 2)
        whole = exactly(j, 1, p + 1, size, s, t)
        assert kernels.place(j, 1, p + 1, float(size), s, t) == whole
        assert kernels.scan(j, 1, p + 1, float(size), s, t) == whole
        assert kernels.try_all(j, float(size), s, t) == whole
        low = int(rng.integers(1, p + 2))
        high = int(rng.integers(low, p + 2))
        part = exactly(j, low, high, size, s, t)
        assert kernels.scan(j, low, high, float(size), s, t) == part
        assert kernels.place(j, low, high, float(size), s, t) == part
        high = min(high, j + 1)
        if low <= high:
            rising = [k for k in range(low, high) if exactly(j, k, k + 1, size, s, t) == k]
            first = kernels.first_rising(j, low, high, float(size), s, t)
            assert first == min([*rising, high])


def test_counts_by_walking_dividing_and_sharing(rng):
    stack, outcomes = np.empty((kernels.STACK, 4), dtype=np.int64), set()
    for i in range(40):
        p, n = [(3, 220), (7, 30), (30, 8), (2, 130), (6, 70)][i % 5]
        scores, y = instance(rng, p, n, kind=(i // 5) % 4)
        s, t = np.sort(scores[y])[::-1].copy(), np.sort(scores[~y])
        steep = slopes(scores, y).sum(axis=1)
        found = np.zeros(p, dtype=np.int64)
        in_order = kernels.walk(s, t, float(n), found)
        assert in_order == bool((np.diff(steep) >= 0).all())
        outcomes.add(in_order)
        if in_order:
            np.testing.assert_array_equal(found, steep)
        wanted = counted(optima(scores, y), p) if p * n <= 240 else None
        for method in range(5):
            counts = np.full(p, -7)
            kernels.run(method, s, t, n, counts, stack, np.empty((3, 0)))
            wanted = counts.copy() if wanted is None else wanted
            np.testing.assert_array_equal(counts, wanted)
        if in_order:
            np.testing.assert_array_equal(counts, steep)
        outside = int(rng.integers(0, n - max(wanted) + 1))  # which need not be shown
        for method in range(5):
            kernels.run(method, s, t[outside:].copy(), n, counts, stack, np.empty((3, 0)))
            np.testing.assert_array_equal(counts, wanted)
    assert outcomes == {True, False}
