"""The passes before and after the ranks are known: sorting, selecting, collecting, writing; as definitions say."""

import numpy as np
import pytest
from _naive_average_precision import counted, instance, optima, sizes

from fast.losses import average_precision, ndcg
from fast.ranking import inference, packed, select, split, write

# ---- sorting and selecting ------------------------------------------------------------------


def test_active_negatives_come_first(rng):
    for i in range(40):
        p, n = sizes(rng, 6, 40)
        scores, y = instance(rng, p, n, kind=i % 4)
        s, values = np.sort(scores[y])[::-1].copy(), scores[~y].copy()
        count = select.select(values, s)
        assert count == sum(o <= p for o in optima(scores, y))
        down = np.sort(scores[~y])[::-1]
        np.testing.assert_array_equal(np.sort(values)[::-1], down)
        np.testing.assert_array_equal(np.sort(values[:count])[::-1], down[:count])


def test_quickselect(rng):
    for i in range(60):
        n = int(rng.integers(1, 50))
        given = rng.integers(0, [5, 1000][i % 2], n).astype(float)
        low = int(rng.integers(n))
        high = int(rng.integers(low + 1, n + 1))
        k = int(rng.integers(low, high))
        values = given.copy()
        select._partition(values, low, high, k)
        np.testing.assert_array_equal(values[:low], given[:low])
        np.testing.assert_array_equal(values[high:], given[high:])
        down = np.sort(given[low:high])[::-1]
        np.testing.assert_array_equal(np.sort(values[low:high])[::-1], down)
        assert values[k] == down[k - low]
        assert (values[low:k] >= values[k]).all()
        assert (values[k:high] <= values[k]).all()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 150])
def test_scores_and_places_in_one_number(n, rng):
    keys, order, ranked = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for scores in (
        rng.standard_normal(n),
        rng.integers(0, 4, n).astype(float),
        np.full(n, 0.25),
        np.where(np.arange(n) == n // 2, 1e15, np.arange(n) % 7),  # most share a point of the grid
    ):
        assert packed.pack(scores, keys)
        grid, width = keys >> packed.BITS, np.ptp(scores)
        scale = 2.0 ** (62 - packed.BITS) / width if width else 0.0
        np.testing.assert_array_equal(grid, ((scores - scores.min()) * scale).astype(np.int64))
        np.testing.assert_array_equal(
            keys & (2**packed.BITS - 1), 2**packed.BITS - 1 - np.arange(n)
        )
        keys.sort()
        assert packed._unpack(keys, scores, order, ranked)
        np.testing.assert_array_equal(ranked, np.sort(scores))
        np.testing.assert_array_equal(order, np.argsort(-scores, kind="stable")[::-1])


def test_a_grid_that_is_far_too_coarse_is_given_up(rng):
    n = 200
    scores = np.arange(n, dtype=float)
    scores[0] = 1e25
    keys, order, ranked = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for up in (True, False):  # later samples come first on one point
        scores[1:] = np.arange(1, n) if up else np.arange(n, 1, -1)
        assert packed.pack(scores, keys)
        keys.sort()
        assert packed._unpack(keys, scores, order, ranked) != up
    y = np.arange(n) % 9 == 4
    scores[1:] = np.arange(1, n)
    coefficients = np.zeros(n)
    found = inference.method("search")(scores, y, int(y.sum()), coefficients, 1.0)
    again = np.zeros(n)
    wanted = inference.method("numpy")(scores, y, int(y.sum()), again, 1.0)
    np.testing.assert_array_equal(found.counts, wanted.counts)
    np.testing.assert_allclose(coefficients, again, rtol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 300, (1 << packed.SHORT_BITS) - 1])
def test_integers_sorted_by_half_of_their_bits_keep_their_places(n, rng):
    for scores in (rng.normal(size=n), rng.integers(0, 3, n).astype(float)):
        keys, order, ranked = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
        assert packed.pack(scores, keys)
        packed.sort_shortened(keys)
        assert packed._unpack(keys, scores, order, ranked)
        np.testing.assert_array_equal(order, np.lexsort((-np.arange(n), scores)))
        np.testing.assert_array_equal(ranked, scores[order])


def test_scores_too_near_for_half_of_the_bits_are_sorted_by_all(rng):
    """One score far from the others: these are a few points of the short grid, and of the long one not."""
    scores = np.append(rng.normal(size=3000), 1e7)
    y = (np.arange(3001) % 10 == 0).astype(int)
    keys, order, ranked = np.empty(3001, np.int64), np.empty(3001, np.int64), np.empty(3001)
    packed.pack(scores, keys)
    packed.sort_shortened(keys)
    assert not packed._unpack(keys, scores, order, ranked)
    for loss in average_precision, ndcg:
        found = loss.loss_augmented_inference(scores, y)
        wanted = loss.loss_augmented_inference(scores, y, method="greedy")
        np.testing.assert_array_equal(found.counts, wanted.counts)



# ---- one pass over the scores ---------------------------------------------------------------


def test_a_floor_is_the_first_that_should_do(rng):
    """With c negatives above it h_P(c + 1) <= 0, where c is what the sample says less three deviations."""
    seen = set()
    for _ in range(60):
        m, p = int(rng.integers(2, 60)), int(rng.integers(1, 30))
        sample, size = np.sort(np.round(rng.standard_normal(m), 1)), m * int(rng.integers(1, 20))
        least, wanted = float(np.round(rng.uniform(-1.0, 12.0), 1)), int(rng.integers(0, 6))
        floor, kept = split.floor_from(sample, least, p, size, wanted)
        for r in range(wanted, m // 2):
            c = max(0.0, (r - 3.0 * r**0.5) / m * size)
            h = 0.5 * size * p - (least - sample[m - 1 - r]) * (c + p) * (c + p + 1)
            if h <= 0.0:
                assert (floor, kept) == (sample[m - 1 - r], r)
                seen.add(r > wanted)
                break
        else:
            assert (floor, kept) == (-np.inf, m)
            seen.add(None)
    assert seen == {True, False, None}
    assert split.floor_from(np.array([-1.0, 0.0]), 0.5, 1, 2, 0) == (0.0, 0)  # h_P(1) = 0


def test_what_lies_below_a_floor_is_proved_inactive(rng):
    seen = set()
    for i in range(60):
        p, n = sizes(rng, 5, 20)
        scores, y = instance(rng, p, n, kind=i % 4)
        s, down = np.sort(scores[y])[::-1].copy(), np.sort(scores[~y])[::-1]
        active = counted(optima(scores, y), p)[-1]
        for count in range(n + 1):
            if count == n or down[count] < ([np.inf, *down][count]):
                floor = down[count] if count < n else -np.inf
                proved = split.certified(count, floor, s, n)
                assert proved == (active <= count)
                seen.add(proved)
    assert seen == {True, False}


# ---- from counts to coefficients ------------------------------------------------------------
def written(rng, p, n, values, hidden=0):
    """Coefficients of negatives for counts drawn at random, and those by definition."""
    near = values[:n].astype(float)
    order = np.argsort(-near, kind="stable")
    t = np.sort(near)[hidden:].copy()
    counts = np.sort(rng.integers(0, len(t) + 1, p))
    counts[: p // 4] = 0
    places = rng.permutation(n)
    coefficients = np.zeros(n)
    write.write_negatives(
        near, places, t, counts, 0.5, np.empty((3, p), np.int64), np.empty((2, p + 1)),
        np.empty(write.BUCKETS * p + 1, np.int32), coefficients,
    )  # fmt: skip
    below = np.array([np.sum(counts >= j) for j in range(1, n + 1)])
    wanted = np.zeros(n)
    wanted[places[order]] = 0.5 * below
    return coefficients, wanted


@pytest.mark.parametrize("kind", ["spread", "tied", "clustered", "equal"])
def test_negatives_find_their_ranks_again(kind, rng):
    for i in range(40):
        p, n = int(rng.integers(1, 12)), int(rng.integers(1, 60))
        if kind == "clustered":  # more bounds in one bucket than are looked for one by one
            p, n = 50, 120
        values = {
            "spread": rng.standard_normal(n),
            "tied": rng.integers(0, 1 + n // 4, n),
            "clustered": np.where(np.arange(n) == 3, 1e3, rng.random(n)),
            "equal": np.full(n, 0.3),
        }[kind]
        values = np.round(values, 2) if kind == "clustered" and i % 2 else values
        hidden = int(rng.integers(0, n // 2 + 1)) if i % 3 == 0 else 0
        np.testing.assert_array_equal(*written(rng, p, n, values, hidden))


def test_sums_of_blocks_have_a_second_word():
    """2^71 comes and goes; what is left is one for each of the negatives, but for those of one block."""
    n, big = 1024, 2.0**70
    s, t = np.array([2.0 * big, 0.0]), np.append(np.ones(n - 1), big)
    value, loss = write.totals(s, t, n, np.array([1, n]), np.empty(n), np.empty((3, 0)))
    assert loss == pytest.approx(0.5 * (1 / 2 + n / (n + 2)), rel=1e-15)
    assert abs(value - loss - (n - 1) / n) <= 64 / n
