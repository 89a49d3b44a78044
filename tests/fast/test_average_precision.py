"""Loss-augmented inference against all rankings in rational arithmetic, and its methods among
each other."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from _naive_average_precision import instance, objective, split

from fast import errors
from fast.losses import average_precision as ap
from fast.metrics import average_precision
from fast.ranking.losses import METHODS


def larger(rng):
    """Instances beyond those that all rankings are tried on, by name: scores and labels."""

    def mixed(p, n):
        return rng.permutation(np.arange(p + n) < p)

    for p, n in ((60, 400), (400, 60), (150, 150), (1, 500), (500, 1), (1, 1), (40, 700)):
        y = mixed(p, n)
        yield f"normal {p} {n}", rng.standard_normal(p + n) + y, y
        yield f"pools {p} {n}", (rng.standard_normal(p + n) + 3 * y) * max(n / p, 1), y
        yield f"ties {p} {n}", rng.integers(-3, 4, p + n) * n / 12, y
    for p, n, j in ((6, 9, 2), (20, 30, 5), (30, 12, 4), (9, 40, 20)):  # sums tie nearly
        k = np.arange(1, p + 1)
        scores = np.append(0.5 * n * k / ((j + k) * (j + k - 1.0)), np.zeros(n))
        yield f"neighbours {p} {n}", scores, np.arange(p + n) < p
    y = mixed(60, 3000)
    yield "equal", np.full(3060, 0.1), y
    yield "separated", np.where(y, 100.0, 0.0), y
    y = mixed(30, 4000)
    two = np.where(y, np.repeat([0.5, 2.0], 2015), rng.integers(0, 2, 4030))
    yield "ranks divide ties", two, y
    for far in (1e200, -1e200):  # the grid of the packed sort holds all others in one point
        scores = rng.standard_normal(4030)
        scores[rng.integers(4030)] = far
        yield f"far {far}", scores, y


LARGER = {name: (scores, y) for name, scores, y in larger(np.random.default_rng(3))}


@pytest.mark.parametrize("name", LARGER)
def test_methods_agree_on_larger_instances(name):
    """tests/verification/test_ap_exactness.py has all rankings of small ones, in rational arithmetic."""
    scores, y = LARGER[name]
    p, n = np.count_nonzero(y), np.count_nonzero(~y)
    first = ap.loss_augmented_inference(scores, y, "numpy")
    for method in METHODS:
        found = ap.loss_augmented_inference(scores, y, method)
        np.testing.assert_array_equal(found.counts, first.counts)
        np.testing.assert_allclose(found.coefficients, first.coefficients, rtol=1e-15)
        assert found.value == pytest.approx(first.value, rel=1e-12, abs=1e-14)
        assert found.delta == pytest.approx(first.delta, rel=1e-14)
    assert found.value >= 1 - average_precision(y, scores) - 1e-14
    assert not np.signbit(found.coefficients[found.coefficients == 0.0]).any()
    below = np.rint(found.coefficients[~y] * (p * n / 2))
    wanted = np.count_nonzero(found.counts[:, None] >= np.arange(1, n + 1), axis=0)
    np.testing.assert_array_equal(np.sort(below)[::-1], wanted)
    for side, numbers in ((y, found.counts), (~y, -below)):  # higher stands higher; then the first
        order = np.argsort(-scores[side], kind="stable")
        assert (np.diff(numbers[order]) >= 0).all()
    if not name.startswith("far"):
        terms = 1 + np.sum(np.abs(found.coefficients * scores))
        again = found.delta + found.coefficients @ scores
        assert found.value == pytest.approx(again, abs=1e-14 * terms)
    if name == "equal":  # the worst order: all negatives first
        assert (found.counts == n).all()
        assert found.value == pytest.approx(1 - average_precision(y, np.zeros(p + n)), rel=1e-14)
    if name == "separated":
        assert found.value == found.delta == 0.0
        assert not found.coefficients.any()
    if name in ("equal", "ranks divide ties"):  # an offset changes nothing
        far = ap.loss_augmented_inference(np.round(64 * scores) / 64 + 2.0**40, y)
        near = ap.loss_augmented_inference(np.round(64 * scores) / 64, y)
        np.testing.assert_array_equal(near.coefficients, far.coefficients)


def test_the_value_is_right_to_rounding_of_its_terms(rng):
    for _ in range(25):
        scores, y = instance(rng, 40, 150)
        scores = scores * 10.0 ** rng.uniform(-4, 4) + rng.choice([0, 1e9])
        for method in ("divide_and_conquer", "select", "numpy"):
            found = ap.loss_augmented_inference(scores, y, method)
            positives, negatives = split(scores, y)
            value = objective(sorted(map(int, found.counts)), positives, negatives)
            spread = np.sum(np.abs(found.coefficients * (scores - float(positives[20]))))
            assert abs(Fraction(found.value) - value) <= 2e-15 * (found.delta + spread)


@pytest.mark.parametrize("method", ["divide_and_conquer", "all", "numpy"])
def test_the_largest_scores_do_not_overflow(method):
    p, n = 20_000, 20_000  # P N 2e300 is beyond float64
    y = np.arange(p + n) < p
    found = ap.loss_augmented_inference(np.where(y, -1e300, 1e300), y, method)
    assert (found.counts == n).all()
    assert found.value == pytest.approx(4e300, rel=1e-12)


def test_labels_dtypes_strides_and_purity(rng):
    scores, y = rng.integers(-3, 4, 60), rng.permutation(np.arange(60) < 20)
    first = ap.loss_augmented_inference(scores.astype(float), y)
    wide = np.zeros(120, dtype=np.float32)
    wide[::2] = scores
    variants = [scores, scores.tolist(), scores.astype(np.float32), wide[::2], scores.astype(">f8")]
    labels = [y, y.astype(int), np.where(y, 1, -1), y.astype(float), y.tolist(), y.astype(np.uint8)]
    for given_scores, given_y in zip([*variants, scores], labels, strict=True):
        for array in (given_scores, given_y):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        found = ap.loss_augmented_inference(given_scores, given_y)
        assert found.value == first.value
        np.testing.assert_array_equal(found.counts, first.counts)
        np.testing.assert_array_equal(found.coefficients, first.coefficients)


def test_numpy_alone_compiles_nothing():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from fast.losses.average_precision import loss_augmented_inference as infer\n"
        "print(infer([0.0, 1.0, 2.0], [1, 0, 0], 'numpy').counts)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[2]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "scores: shape.*at least one entry"),
        (([1.0, 2.0], [1, 1]), "y: 2 positives among 2"),
        (([1.0, 2.0], [0, 0]), "y: 0 positives among 2"),
        (([1.0, 2.0], [False, False]), "y: 0 positives"),
        (([1.0, 2.0], [1, 2]), r"y\[1\] = 2"),
        (([1.0, 2.0], [1, -2]), r"y\[1\] = -2"),
        (([1.0, 2.0], [1.0, 0.5]), r"y\[1\] = 0.5"),
        (([1.0, 2.0], [1.0, np.nan]), r"y\[1\] = nan"),
        (([1.0, 2.0, 3.0], [1, 0, -1]), "y: both 0 and -1"),
        (([1.0, 2.0], ["a", "b"]), "y: dtype"),
        (([1.0, 2.0], [1, 0, 0]), r"y: shape \(3,\)"),
        (([1.0, 2.0], [[1, 0]]), r"y: shape \(1, 2\)"),
        (([[1.0, 2.0]], [1, 0]), "scores: shape.*a vector"),
        (([1.0, 2j], [1, 0]), "scores: list with dtype complex"),
        (([1.0, 2.0], [1, 0], "fast"), "method: 'fast'.*divide_and_conquer"),
        (([1.0, 2.0], [1, 0], ["search"]), "method: "),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        ap.loss_augmented_inference(*arguments)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2e300])
@pytest.mark.parametrize("n", [3, 100, 20_000])
def test_scores_that_are_not_finite(method, bad, n):
    y = np.arange(n) < max(n // 100, 1)
    for place in (0, 1, n - 1):
        scores = np.where(y, 50.0, np.linspace(0, 1, n))
        scores[place] = bad
        with pytest.raises(errors.InvalidParameterError, match=rf"scores\[{place}\] = "):
            ap.loss_augmented_inference(scores, y, method)
