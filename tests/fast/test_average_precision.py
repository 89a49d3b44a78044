"""Loss-augmented inference against all rankings in rational arithmetic, and its methods among
each other."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from _naive_average_precision import brute_force, gains, greedy, objective, split
from hypothesis import given, settings
from hypothesis import strategies as st

from fast import errors
from fast.losses import average_precision as ap
from fast.metrics import average_precision
from fast.ranking.exact import scan_exactly
from fast.ranking.inference import METHODS
from fast.ranking.kernels import STACK, divide, rises, scan, walk


def drawn(rng, p, n):
    """Scores, with ties of scores in half the cases and with ties of rankings in many."""
    y = rng.permutation(np.arange(p + n) < p)
    kind = rng.integers(5)
    if kind == 0:
        return rng.standard_normal(p + n) + y, y
    if kind == 1:
        return 0.3 * rng.standard_normal(p + n) + rng.choice([0.3, 1, 3]) * y, y
    if kind == 2:
        return rng.integers(-2, 3, p + n) / rng.choice([1, 2, 4]), y
    if kind == 3:  # spread as a trained model's: counts tie in pools
        return (rng.standard_normal(p + n) + 3 * y) * max(n / p, 1), y
    return rng.integers(-3, 4, p + n) * n / 12, y


def inversions(found, y):
    """Positives below each negative, from the coefficients."""
    p, n = np.count_nonzero(y), np.count_nonzero(~y)
    below = found.coefficients[~y] * (p * n / 2)
    np.testing.assert_allclose(below, np.rint(below), atol=1e-9)
    return np.rint(below).astype(int)


def check(found, scores, y):
    """What holds for every ranking found: types, conjugate counts, value, sum, bounds."""
    p, n = np.count_nonzero(y), np.count_nonzero(~y)
    assert type(found.value) is float
    assert found.counts.dtype == np.int64
    assert found.counts.shape == (p,)
    assert found.coefficients.dtype == np.float64
    below = inversions(found, y)
    np.testing.assert_array_equal(
        np.sort(below)[::-1], [np.sum(found.counts >= j) for j in range(1, n + 1)]
    )
    np.testing.assert_allclose(found.coefficients[y], -2 * found.counts / (p * n), rtol=1e-15)
    values = np.asarray(scores, dtype=np.float64)
    terms = 1 + np.sum(np.abs(found.coefficients * values))
    again = found.delta + found.coefficients @ values
    assert found.value == pytest.approx(again, abs=1e-14 * terms)
    # Higher scores stand higher; of equal ones the first.
    for side, numbers in ((y, found.counts), (~y, -below)):
        order = np.argsort(-values[side], kind="stable")
        assert (np.diff(numbers[order]) >= 0).all()


def test_all_rankings_in_rational_arithmetic(rng):
    for _ in range(250):
        scores, y = drawn(rng, int(rng.integers(1, 5)), int(rng.integers(1, 6)))
        value, counts = brute_force(scores, y)
        assert greedy(scores, y)[:2] == (value, counts)
        for method in METHODS:
            found = ap.loss_augmented_inference(scores, y, method)
            assert tuple(sorted(found.counts)) == counts, (scores, y, method)
            assert found.value == pytest.approx(float(value), abs=1e-14)
            check(found, scores, y)


def test_greedy_in_rational_arithmetic_and_the_gap_of_each_negative(rng):
    for _ in range(40):
        scores, y = drawn(rng, int(rng.integers(1, 13)), int(rng.integers(1, 25)))
        value, counts, optima = greedy(scores, y)
        table = gains(scores, y)
        for method in METHODS:
            found = ap.loss_augmented_inference(scores, y, method)
            assert tuple(sorted(found.counts)) == counts
            assert found.value == pytest.approx(float(value), abs=1e-13)
            ranks = np.sort(np.count_nonzero(y) + 1 - inversions(found, y))
            assert ranks.tolist() == optima
            chosen = (row[i - 1] for row, i in zip(table, ranks, strict=True))
            assert sum(max(row) for row in table) - sum(chosen) == 0


def of_counts(scores, y, counts):
    """The objective of the ranking with these numbers of negatives above the positives, exactly."""
    above = sorted(int(c) for c in counts)
    high = sorted((Fraction(float(v)) for v in scores[y]), reverse=True)
    low = sorted((Fraction(float(v)) for v in scores[~y]), reverse=True)
    below = [sum(c > j for c in above) for j in range(len(low))]
    loss = sum(Fraction(c, k + c) for k, c in enumerate(above, 1)) / len(high)
    moved = sum(b * v for b, v in zip(below, low, strict=True))
    moved -= sum(c * v for c, v in zip(above, high, strict=True))
    return loss + 2 * moved / (len(high) * len(low))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_any_scores(data):
    size = data.draw(st.integers(2, 12))
    y = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    y[0], y[1] = True, False
    number = st.one_of(
        st.floats(-1e300, 1e300), st.sampled_from([0.0, -0.0, 1.0, 0.5, 5e-324, 1e300, -1e300])
    )
    scores = np.array(data.draw(st.lists(number, min_size=size, max_size=size)))
    value, counts, _ = greedy(scores, y)
    assert of_counts(scores, y, counts) == value
    terms = sum(abs(Fraction(float(v))) for v in scores) + 1
    for method in METHODS:
        found = ap.loss_augmented_inference(scores, y, method)
        # a lead of 1e-38 is lost beside a term of 1: another ranking may be as good up to rounding
        lost = value - of_counts(scores, y, found.counts)
        assert 0 <= lost <= Fraction(1, 10**15) * terms
        assert abs(Fraction(found.value) - value) <= Fraction(1, 10**14) * terms


@pytest.mark.parametrize(
    ("p", "n"), [(60, 400), (400, 60), (150, 150), (1, 500), (500, 1), (1, 1), (40, 700)]
)
def test_methods_agree_on_larger_instances(p, n):
    rng = np.random.default_rng(p + n)
    for _ in range(12):
        scores, y = drawn(rng, p, n)
        first, *others = (ap.loss_augmented_inference(scores, y, m) for m in METHODS)
        check(first, scores, y)
        for found in others:
            np.testing.assert_array_equal(found.counts, first.counts)
            np.testing.assert_allclose(found.coefficients, first.coefficients, rtol=1e-15)
            assert found.value == pytest.approx(first.value, rel=1e-12, abs=1e-14)
            assert found.delta == pytest.approx(first.delta, rel=1e-14)


def test_methods_agree_where_neighbours_gain_the_same():
    """Scores that make each h_k(j) of one negative vanish up to rounding: sums tie nearly."""
    for p, n, j in ((6, 9, 2), (20, 30, 5), (30, 12, 4), (9, 40, 20)):
        k = np.arange(1, p + 1)
        scores = 0.5 * n * k / ((j + k) * (j + k - 1.0))
        y = np.arange(p + n) < p
        tail = np.zeros(n)
        for digits in (np.float64, np.float32):
            values = np.concatenate((scores, tail)).astype(digits)
            counts = greedy(values, y)[1]
            for method in METHODS:
                found = ap.loss_augmented_inference(values, y, method)
                assert tuple(sorted(found.counts)) == counts, (p, n, j, method)


def test_sign_of_a_slope_is_exact(rng):
    outcomes = set()
    for _ in range(3000):
        top = int(rng.choice([3, 40, 5_000_000]))
        k, j = (int(v) for v in rng.integers(1, top, 2))
        size = int(rng.integers(1, top))
        t = float(rng.choice([0.0, -1.5, 1e-3, 0.1, 1e5]))
        tie = Fraction(size * k, 2 * (j + k) * (j + k - 1))
        s = float(tie + Fraction(t))
        for _ in range(int(rng.integers(3))):
            s = float(np.nextafter(s, rng.choice([-np.inf, np.inf])))
        exact = Fraction(s) - Fraction(t) < tie
        outcomes.add((exact, Fraction(s) - Fraction(t) == tie))
        assert rises(k, j, float(size), s, t) == exact
    assert outcomes == {(True, False), (False, False), (False, True)}


def test_near_ties_of_sums_are_decided_by_more_digits(rng):
    # N = 12, j = 1: scores (3, 2, 1.5) tie all four ranks; now they miss that by some units.
    tie = np.array([3.0, 2.0, 1.5])
    seen = set()
    for _ in range(200):
        s = tie + rng.integers(-2, 3, 3) * 2.0**-51
        sums = [
            sum(Fraction(a) - Fraction(b) for a, b in zip(tie[i:], s[i:], strict=True))
            for i in range(4)
        ]
        best = max(range(4), key=lambda i: (sums[i], i)) + 1
        seen.add(best)
        assert scan(1, 1, 4, 12.0, s, 0.0) == best
        assert scan_exactly(1, 1, 4, 12.0, s, 0.0) == best
    assert seen == {1, 2, 3, 4}


@pytest.mark.parametrize("method", METHODS)
def test_all_scores_equal(method):
    p, n = 60, 3000
    y = np.random.default_rng(3).permutation(np.arange(p + n) < p)
    found = ap.loss_augmented_inference(np.full(p + n, 0.1), y, method)
    # The worst order: all negatives first.
    assert (found.counts == n).all()
    worst = pytest.approx(1 - average_precision(y, np.zeros(p + n)), rel=1e-14)
    assert found.value == worst
    assert found.delta == worst
    check(found, np.full(p + n, 0.1), y)


@pytest.mark.parametrize("method", METHODS)
def test_a_tie_that_ranks_divide_keeps_the_input_order(method, rng):
    p, n = 30, 4000
    y = rng.permutation(np.arange(p + n) < p)
    scores = np.where(y, np.repeat([0.5, 2.0], (p + n) // 2), rng.integers(0, 2, p + n))
    found = ap.loss_augmented_inference(scores, y, method)
    assert len(np.unique(found.counts)) > 5
    check(found, scores, y)


@pytest.mark.parametrize("far", [1e200, -1e200])
def test_one_score_far_from_all_others(far, rng):
    """The grid of the packed sort then holds all others in one point."""
    y = rng.permutation(np.arange(3300) < 300)
    scores = rng.standard_normal(3300)
    scores[rng.integers(3300)] = far
    first = ap.loss_augmented_inference(scores, y, "numpy")
    for method in METHODS:
        found = ap.loss_augmented_inference(scores, y, method)
        np.testing.assert_array_equal(found.counts, first.counts)
        np.testing.assert_array_equal(found.coefficients, first.coefficients)
        assert found.value == pytest.approx(first.value, rel=1e-13)


@pytest.mark.parametrize("method", ["divide_and_conquer", "all", "numpy"])
def test_the_largest_scores_do_not_overflow(method):
    p, n = 20_000, 20_000  # P N 2e300 is beyond float64
    y = np.arange(p + n) < p
    found = ap.loss_augmented_inference(np.where(y, -1e300, 1e300), y, method)
    assert (found.counts == n).all()
    assert found.value == pytest.approx(4e300, rel=1e-12)


def test_a_separated_problem_has_no_loss_and_no_inversion():
    y = np.arange(50) < 10
    for method in METHODS:
        found = ap.loss_augmented_inference(np.where(y, 100.0, 0.0), y, method)
        assert found.value == found.delta == 0.0
        assert not found.counts.any()
        assert not found.coefficients.any()
        assert not np.signbit(found.coefficients).any()


def test_the_value_bounds_the_loss_of_the_worst_order_and_is_convex(rng):
    for _ in range(30):
        scores, y = drawn(rng, 8, 15)
        found = ap.loss_augmented_inference(scores, y)
        assert ap.value(scores, y) == found.value
        assert found.value >= 1 - average_precision(y, scores) - 1e-14
        other = scores + rng.standard_normal(len(scores))
        bound = found.delta + found.coefficients @ other
        assert ap.value(other, y) >= bound - 1e-12


def test_an_offset_changes_nothing(rng):
    y = rng.permutation(np.arange(330) < 30)
    scores = np.round(rng.standard_normal(330) * 64) / 64
    for method in METHODS:
        near = ap.loss_augmented_inference(scores, y, method)
        far = ap.loss_augmented_inference(scores + 2.0**40, y, method)
        np.testing.assert_array_equal(near.coefficients, far.coefficients)
        assert far.value == pytest.approx(near.value, rel=1e-13)


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


def test_single_precision_is_computed_in_double(rng):
    scores, y = rng.standard_normal(400).astype(np.float32), np.arange(400) < 40
    for method in METHODS:
        found = ap.loss_augmented_inference(scores, y, method)
        assert found.value == ap.loss_augmented_inference(scores.astype(float), y, method).value


@pytest.mark.parametrize("shape", ["few", "many", "none", "missed", "tied"])
def test_negatives_left_out_of_the_sort_are_proved_inactive(shape, rng):
    p, n = 50, 40_000
    y = rng.permutation(np.arange(p + n) < p)
    scores = rng.standard_normal(p + n) + 8.0 * y
    if shape == "many":
        scores[y] -= 8.0
    elif shape == "none":
        scores[y] += 1e6
    elif shape == "missed":  # the sample sees every 39th score, and nothing of these
        hidden = ~y & (np.arange(p + n) % (len(y) // 1024) != 0)
        scores[hidden] += 7.0
    elif shape == "tied":
        scores = np.round(scores)
    first = ap.loss_augmented_inference(scores, y, "search")
    found = ap.loss_augmented_inference(scores, y)
    np.testing.assert_array_equal(found.counts, first.counts)
    np.testing.assert_array_equal(found.coefficients, first.coefficients)
    assert found.value == pytest.approx(first.value, rel=1e-12)
    assert found.counts.any() == (shape != "none")


def test_counts_in_order_are_those_of_divide_and_conquer(rng):
    outcomes = set()
    for _ in range(300):
        p, n = (int(v) for v in rng.choice([1, 2, 7, 40, 300], 2))
        scores, y = drawn(rng, p, n)
        s, t = np.sort(scores[y])[::-1].copy(), np.sort(scores[~y])
        walked, divided = np.zeros((2, p), dtype=np.int64)
        in_order = walk(s, t, float(n), walked)
        divide(s, t, float(n), divided, np.empty((STACK, 4), dtype=np.int64))
        outcomes.add(in_order)
        if in_order:
            np.testing.assert_array_equal(walked, np.cumsum(divided))
    assert outcomes == {True, False}


def test_the_value_is_right_to_rounding_of_its_terms(rng):
    for _ in range(25):
        scores, y = drawn(rng, 40, 150)
        scores = scores * 10.0 ** rng.uniform(-4, 4) + rng.choice([0, 1e9])
        for method in ("divide_and_conquer", "select", "numpy"):
            found = ap.loss_augmented_inference(scores, y, method)
            positives, negatives = split(scores, y)
            value = objective(sorted(map(int, found.counts)), positives, negatives)
            spread = np.sum(np.abs(found.coefficients * (scores - float(positives[20]))))
            assert abs(Fraction(found.value) - value) <= 2e-15 * (found.delta + spread)


def test_ten_million_negatives(rng):
    n = 10_000_001
    y = np.zeros(n, dtype=bool)
    y[[5, 77, 9_999_999]] = True
    scores = rng.random(n, dtype=np.float32)
    scores[77] = 0.5
    found = ap.loss_augmented_inference(scores, y)
    # Three positives: the counts follow from the order statistics, by bisection on exact signs.
    t = np.sort(scores[~y].astype(float))[::-1]
    s = np.sort(scores[y].astype(float))[::-1]
    expected = []
    for k in (1, 2, 3):
        low, high = 0, n - 3
        while low < high:
            c = (low + high) // 2
            if c < 2 or rises(k, c + 1, float(n - 3), s[k - 1], t[c]):
                low = c + 1
            else:
                high = c
        expected.append(low)
    assert sorted(found.counts) == expected
    assert np.count_nonzero(found.coefficients) == expected[-1] + 3


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
