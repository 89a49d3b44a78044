"""What the trainers of AP-SVM are made of, each part against its definition; nothing is trained here."""

from fractions import Fraction

import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.models import ap_svm, ap_svm_appx
from fast.models.latent_ap_svm import Bags
from fast.ranking import in_numpy
from fast.ranking.labels import mask_of
from fast.ranking.queries import Queries


def test_a_reference_is_a_ranking_too(rng):
    """Where rounding puts the best ranking below it, its own cut is taken: 0, at its own loss."""
    y, scores = np.arange(20) % 3 == 1, rng.integers(-4, 5, 20) / 2.0
    queries = Queries(y)
    far = np.where(y, -1e15, 1e15) + scores
    reference = queries.coefficients(queries.predicted(far))
    oracle = ap_svm.RankingOracle(queries, "numpy", reference)
    cut = oracle(far)
    assert (
        cut.value
        == cut.offset
        == oracle.least
        == pytest.approx(queries.delta(queries.predicted(far)))
    )
    assert not cut.coefficients.any()
    oracle.least = 3.0
    assert oracle(scores)[:2] == (3.0, 3.0)
    assert not oracle(scores).coefficients.any()


# ---- inference in NumPy ---------------------------------------------------------------------
def test_slopes_and_sums_in_numpy_are_exact(rng):
    """Nearly tied: the signs of rational arithmetic, and the last of several best ranks."""
    for i in range(150):
        n, p, j = int(rng.integers(1, 30)), int(rng.integers(1, 8)), int(rng.integers(1, 9))
        k = np.arange(1, p + 1)
        t = [0.0, 0.7, -3.1][i % 3]
        s = 0.5 * n * k / ((j + k) * (j + k - 1.0)) + t
        s = np.sort(s + rng.integers(-1, 2, p) * np.spacing(s))[::-1]
        h = [
            Fraction(n * int(v), 2 * (j + int(v)) * (j + int(v) - 1))
            - Fraction(float(x))
            + Fraction(t)
            for v, x in zip(k, s, strict=True)
        ]
        found = in_numpy._rises(k, np.full(p, j), s, np.full(p, t), n)
        assert found.tolist() == [x > 0 for x in h]
        for low in range(1, p + 2):
            for high in range(low, p + 2):
                leads = {r: sum(h[r - 1 : high - 1]) for r in range(low, high + 1)}
                best = max(leads, key=lambda r: (leads[r], r))
                assert in_numpy._place(j, low, high, s, t, n) == best
                lead = in_numpy._lead(j, low, high, s, t, n)
                assert abs(lead - leads[low]) <= Fraction(high - low + 1, 10**59)
    assert in_numpy._lead(1, 1, 1, np.ones(3), 0.5, 4) == 0


@pytest.mark.parametrize("name", [None, "y", "labels"])
def test_labels_are_a_vector_of_the_right_length(name):
    more = {} if name is None else {"name": name}
    for labels, n in (([[1, 0]], None), ([[1, 0]], 1), ([1, 0, 1], 2), ([1], 0), (1, None)):
        with pytest.raises(InvalidParameterError, match=f"{name or 'y'}: shape"):
            mask_of(labels, n, **more)
    for labels in ([1, 0, 0], [1, -1, -1], [1.0, 0.0, 0.0], [True, False, False]):
        for dtype in (None, np.float32, np.int8):
            for read in (False, True):
                if dtype is not None or not isinstance(labels[0], bool):
                    given = np.array(labels, dtype)
                    found = mask_of(given, 3, compiled=read)
                    np.testing.assert_array_equal(found, [True, False, False])


# ---- easy examples --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("margins", "fraction", "wanted"),
    [
        ([2.0, 1.0, 0.999, 5.0, -3.0], 1.0, [0, 1, 3]),
        ([2.0, 1.0, 0.999, 5.0, -3.0], 0.5, [0, 3]),
        ([2.0, 1.0, 0.999, 5.0, -3.0], 0.49, [3]),
        ([2.0, 3.0, 3.0, 3.0], 0.5, [1, 2]),
        ([2.0], 0.5, [0]),
        ([2.0], 0.4999, []),
        ([2.0], 0.0, []),
        ([0.5], 1.0, []),
    ],
)
def test_easy_are_the_largest_margins(margins, fraction, wanted):
    mask = ap_svm_appx.easiest(np.array(margins), fraction)
    np.testing.assert_array_equal(np.flatnonzero(mask), wanted)


# ---- bags -----------------------------------------------------------------------------------
ROWS = np.array([2, 0, 1, 1, 2, 0, 3, 2, 1, 3])


@pytest.mark.parametrize(
    ("bags", "n_bags", "n_rows", "says"),
    [
        (ROWS.astype(float), 4, 10, "dtype float64"),
        (ROWS[:, None], 4, 10, r"shape \(10, 1\)"),
        (ROWS, 5, 10, "1 bags without a row, 0 rows"),
        (ROWS, 3, 10, "0 bags without a row, 2 rows"),
        (ROWS - 1, 4, 10, "1 bags without a row, 2 rows"),
        (ROWS, 4, 11, "10 bags of rows"),
        (ROWS, 4, 9, "10 bags of rows"),
    ],
)
def test_bags_that_do_not_fit_are_refused(bags, n_bags, n_rows, says):
    with pytest.raises(InvalidParameterError, match=says):
        Bags(bags, n_bags, n_rows)
