"""What the trainers of AP-SVM are made of, each part against its definition; nothing is trained here."""

from fractions import Fraction

import _naive_ap_svm as naive
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from fast.errors import InvalidParameterError
from fast.models import ap_ramp, ap_svm, ap_svm_appx, latent_ap_svm
from fast.models.latent_ap_svm import BagOracle, Bags, Steps
from fast.ranking import in_numpy
from fast.ranking.labels import mask_of
from fast.ranking.queries import Queries

GROUPS = np.repeat([0, 1, 2], [6, 5, 9])


def problem(rng, grouped=False):
    """Labels, groups or None, and scores with ties, of 20 samples."""
    y = np.arange(20) % 3 == 1
    groups = rng.permutation(GROUPS) if grouped else None
    if grouped:  # both labels in every query
        for g in range(3):
            members = np.flatnonzero(groups == g)
            y[members[0]], y[members[1]] = True, False
    return y, groups, rng.integers(-4, 5, 20) / 2.0


# ---- queries and oracles --------------------------------------------------------------------
@pytest.mark.parametrize("grouped", [False, True])
def test_predicted_rankings_by_counting_pairs(grouped, rng):
    for _ in range(10):
        y, groups, scores = problem(rng, grouped)
        queries = Queries(y, groups)
        wanted = np.zeros(20, int)
        for q in naive.queries(y, groups):
            for i in q:
                for j in q:
                    if y[i] and not y[j] and scores[j] > scores[i]:
                        wanted[i] += 1
                        wanted[j] += 1
        found = queries.predicted(scores)
        np.testing.assert_array_equal(found, wanted)
        offset, a = naive.cut(found, y, groups)
        np.testing.assert_allclose(queries.coefficients(found), a, rtol=1e-14)
        np.testing.assert_array_equal(queries.inversions(a), found)
        assert queries.delta(found) == pytest.approx(offset, rel=1e-13)


@pytest.mark.parametrize("grouped", [False, True])
def test_cuts_less_a_reference(grouped, rng):
    for _ in range(10):
        y, groups, scores = problem(rng, grouped)
        queries = Queries(y, groups)
        least = queries.predicted(rng.standard_normal(20))
        reference = queries.coefficients(least)
        plain = ap_svm.RankingOracle(queries, "numpy")
        oracle = ap_svm.RankingOracle(queries, "numpy", reference)
        one, other = plain(scores), oracle(scores)
        assert plain.least == 0.0
        assert oracle.least == pytest.approx(naive.cut(least, y, groups)[0], rel=1e-13)
        assert one.value == pytest.approx(naive.mean_hinge(scores, y, groups), abs=1e-12)
        assert other.value == pytest.approx(one.value - reference @ scores, abs=1e-12)
        assert other.active == one.active
        for cut, shift, inversions in ((one, 0.0, plain), (other, reference, oracle)):
            found = inversions.inversions(cut.coefficients)
            offset, a = naive.cut(found, y, groups)
            assert cut.offset == pytest.approx(offset, rel=1e-13)
            np.testing.assert_allclose(cut.coefficients, a - shift, atol=1e-15)
            assert cut.value == pytest.approx(cut.offset + cut.coefficients @ scores, abs=1e-12)
        cuts = ap_svm.known_cuts(queries, reference, None)
        assert len(cuts) == 1
        assert cuts[0][0] == 0.0
        np.testing.assert_array_equal(cuts[0][1], -reference)
        np.testing.assert_array_equal(ap_svm.known_cuts(queries, None, scores)[0][1], np.zeros(20))
        H = naive.mean_hinge(scores, y, groups) - naive.ramp(scores, y, groups)
        w = np.array([0.3, -2.0])
        found = ap_ramp.objective(w, scores, queries, 2.5, "numpy")
        assert found == pytest.approx(0.5 * w @ w + 2.5 * (one.value - H), rel=1e-10)


def test_a_reference_is_a_ranking_too(rng):
    """Where rounding puts the best ranking below it, its own cut is taken: 0, at its own loss."""
    y, _, scores = problem(rng)
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


def test_the_ramp_begins_at_the_best_multiple_of_logistic_regression(rng):
    for C in (0.3, 40.0):
        y, _, _ = problem(rng)
        X, signs = rng.standard_normal((20, 2)) + 0.5 * y[:, None], np.where(y, 1.0, -1.0)
        queries = Queries(y)

        def logistic(w, X=X, signs=signs, C=C):
            return 0.5 * w @ w + C * np.logaddexp(0.0, -signs * (X @ w)).mean()

        best = minimize(logistic, np.zeros(2), options={"gtol": 1e-8}).x
        multiples = 2.0 ** np.arange(-4, 5)
        values = [0.5 * t * t * best @ best + C * naive.ramp(t * (X @ best), y) for t in multiples]
        found = ap_ramp.logistic_start(X, queries, C, "numpy")
        near = [0.5 * t * t * best @ best for t in multiples]
        own = ap_ramp.objective(found, X @ found, queries, C, "numpy")
        assert own <= min(values) + 0.05 * (1.0 + min(near))
        ratio = float(found @ best / (best @ best))
        assert np.abs(ratio / multiples - 1.0).min() <= 0.05
        np.testing.assert_allclose(found, ratio * best, atol=0.05 * ratio * np.abs(best).max())
        given = ap_ramp.train(X, queries, C, start=found, method="numpy")
        free = ap_ramp.train(X, queries, C, method="numpy")
        assert free.n_oracle == given.n_oracle + 9
        np.testing.assert_array_equal(free.w, given.w)


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


def test_the_offset_of_easy_examples(rng):
    X = np.array([[2.0], [3.0], [-1.0], [0.5]])
    w = np.array([2.0])  # scores 4, 6, -2, 1
    assert ap_svm_appx.bias_of(X[:0], np.zeros(0), w) == 0.0
    assert ap_svm_appx.bias_of(X[:3], np.array([1.0, 1.0, -1.0]), w) == pytest.approx(-1.0)
    assert ap_svm_appx.bias_of(X[[0, 1]], np.ones(2), w) == 0.0
    assert ap_svm_appx.bias_of(X[[0, 2]], np.ones(2), w) == 3.0
    assert ap_svm_appx.bias_of(X[[0, 3]], -np.ones(2), w) == -5.0
    assert ap_svm_appx.bias_of(X[[2]], -np.ones(1), w) == 0.0


def test_the_parts_of_easy_and_difficult_examples(rng):
    y, _, scores = problem(rng)
    X, easy = rng.standard_normal((20, 2)) + 9.0 * y[:, None], np.arange(20) < 6
    parts = ap_svm_appx.Parts(X, y, easy, 2.0, "numpy")
    np.testing.assert_array_equal(parts.hard, np.arange(6, 20))
    np.testing.assert_array_equal(parts.bound, np.arange(6))
    np.testing.assert_array_equal(parts.signs, np.where(y, 1.0, -1.0))
    cut = ap_svm.RankingOracle(Queries(y[6:]), "numpy")(scores[6:])
    full = parts.inversions(cut.coefficients)
    assert full.dtype == np.int32
    assert not full[:6].any()
    assert naive.is_ranking(full[6:], y[6:])
    assert not parts.mu().any()
    one = ap_svm_appx.Parts(X, y, y, 2.0, "numpy")  # the difficult ones have one class
    assert one.queries is None
    assert not one.inversions(np.ones(len(one.hard))).any()
    assert not one.mu().any()
    nothing = ap_svm_appx.no_ranking(scores)
    assert (nothing.value, nothing.offset, nothing.active) == (0.0, 0.0, 0)
    assert not nothing.coefficients.any()
    for mask in (y.astype(int), y[:5], y[:, None]):
        with pytest.raises(InvalidParameterError, match="easy"):
            ap_svm_appx.checked_mask(mask, y)


# ---- bags -----------------------------------------------------------------------------------
ROWS = np.array([2, 0, 1, 1, 2, 0, 3, 2, 1, 3])


def test_bags_by_definition(rng):
    grouped, X = Bags(ROWS, 4, 10), rng.standard_normal((10, 3))
    X[:, 0] = np.round(X[:, 0])
    for form in (np.asarray, sp.csr_array):
        means = grouped.means(form(X))
        assert sp.issparse(means) == (form is sp.csr_array)
        dense = means.toarray() if sp.issparse(means) else means
        wanted = [X[b == ROWS].mean(axis=0) for b in range(4)]
        np.testing.assert_allclose(dense, wanted, rtol=1e-14, atol=1e-15)
    for scores in (X[:, 0], X[:, 1], np.zeros(10)):
        best = [max(np.flatnonzero(b == ROWS), key=lambda r: (scores[r], -r)) for b in range(4)]
        np.testing.assert_array_equal(grouped.best(scores), best)


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


def test_cuts_of_bags_are_cuts_of_their_rows(rng):
    y = np.array([True, False, True, False])
    X, w = rng.standard_normal((10, 3)), rng.standard_normal(3)
    grouped, queries, scores = Bags(ROWS, 4, 10), Queries(y), X @ w
    steps = Steps(X, grouped, queries, 2.0, "numpy", None, {})
    best = grouped.best(scores)
    found = steps.objective(w)
    assert found == pytest.approx(0.5 * w @ w + 2.0 * naive.hinge(scores[best], y), rel=1e-12)
    chosen = steps.state_of(w)
    np.testing.assert_array_equal(chosen, np.where(y, best, -1))
    chosen = np.where(y, [1, -1, 4, -1], -1)
    oracle = BagOracle(queries, "numpy", grouped, chosen)
    rows = np.where(y, chosen, best)
    np.testing.assert_array_equal(oracle.rows(scores), rows)
    cut = oracle(scores)
    assert cut.value == pytest.approx(naive.hinge(scores[rows], y), rel=1e-12)
    assert cut.value == pytest.approx(cut.offset + cut.coefficients @ scores, abs=1e-13)
    inversions, spoken = oracle.ranking(cut.coefficients)
    assert naive.is_ranking(inversions, y)
    np.testing.assert_allclose(
        cut.coefficients[spoken], naive.coefficients(inversions, y), rtol=1e-14
    )
    np.testing.assert_array_equal(ROWS[spoken], np.arange(4))
    np.testing.assert_array_equal(spoken[y], chosen[y])
    assert cut.active == np.count_nonzero(inversions[~y])
    nothing = steps.known(chosen, None)
    assert len(nothing) == 1
    assert nothing[0][0] == 0.0
    assert not nothing[0][1].any()

    class Last:
        rankings, candidates = inversions[None], np.where(y, best, spoken)[None]

    (_, _), (offset, coefficients) = steps.known(chosen, Last)
    assert offset == pytest.approx(cut.offset, rel=1e-13)
    np.testing.assert_allclose(coefficients, cut.coefficients, rtol=1e-13)
    assert latent_ap_svm.ROUGH == 1e-2
