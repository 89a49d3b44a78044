"""Loss-augmented inference: three exact roads, the linear program, and numpy."""

import itertools
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from _draw import certified
from _ranked import instance, objective

import refsolve
from refsolve._ranking_scores import Query
from refsolve.errors import InvalidParameterError
from refsolve.exact import average_precision as exactly
from refsolve.losses import average_precision as ap

INFERENCE = "average_precision.loss_augmented_inference"
STEM = "average_precision"


def test_all_orders_all_interleavings_and_the_greedy_sums_agree_exactly():
    rng = np.random.default_rng(0)
    for _ in range(150):
        s, y = instance(rng, most=3)
        listed, greedy = exactly.enumerate_rankings(s, y), exactly.greedy(s, y)
        everything = exactly.permute(s, y)
        assert (
            everything.value == listed.value == greedy.value == objective(s, y, greedy.inversions)
        )
        assert greedy.inversions == listed.inversions
        assert sum(greedy.inversions) == sum(everything.inversions)
        assert set(listed.maximisers) <= set(everything.maximisers)
        assert greedy.value >= 0


def test_what_the_proof_of_the_greedy_algorithm_uses_holds_exactly():
    rng = np.random.default_rng(1)
    for _ in range(150):
        s, y = instance(rng, most=7)
        h = exactly.gains(s, y)
        P, N = int(y.sum()), int(y.size - y.sum())
        for before, after in itertools.pairwise(h):  # f_k is concave: its increments fall in j
            assert all(a < b for a, b in zip(after, before, strict=True))
        ranks = []
        for j, column in enumerate(h, 1):
            delta = exactly.sums(column)
            top = min(P, j)
            steps = [delta[i + 1] - delta[i] for i in range(top)]  # on 1..min(P, j)+1
            assert all(a >= b for a, b in itertools.pairwise(steps))
            best = max(delta)
            ranks.append([i for i, d in enumerate(delta, 1) if d == best])
            assert 1 <= ranks[-1][0] <= P + 1
        # no maximiser of a negative stands above one of its predecessor
        assert all(low[-1] <= high[0] for low, high in itertools.pairwise(ranks))
        assert len(ranks) == N


def test_the_range_of_concavity_is_not_longer():
    """With equal scores delta_j is concave on 1..j+1, and not on 1..j+2."""
    P, j = 6, 3
    delta = exactly.sums(exactly.gains([0] * P + [0] * j, [1] * P + [0] * j)[j - 1])
    steps = [delta[i + 1] - delta[i] for i in range(P)]
    assert all(a >= b for a, b in itertools.pairwise(steps[:j]))
    assert steps[j] > steps[j - 1]


def test_the_count_form_is_separable_and_concave_but_its_order_matters():
    """L = max over c_1 <= .. <= c_P of sum f_k(c_k); each f_k by itself may want another order."""
    rng = np.random.default_rng(13)
    for _ in range(60):
        s, y = instance(rng, most=3)
        above = sorted((Fraction(v) for v in s[y == 1]), reverse=True)
        below = sorted((Fraction(v) for v in s[y == 0]), reverse=True)
        P, N = len(above), len(below)
        f = [
            [
                Fraction(c, P * (k + c)) - Fraction(2, P * N) * (c * above[k - 1] - sum(below[:c]))
                for c in range(N + 1)
            ]
            for k in range(1, P + 1)
        ]
        for row, gains in zip(f, zip(*exactly.gains(s, y), strict=True), strict=True):
            assert [b - a for a, b in itertools.pairwise(row)] == list(gains)
        counts = itertools.combinations_with_replacement(range(N + 1), P)
        assert exactly.permute(s, y).value == max(
            sum(row[c] for row, c in zip(f, each, strict=True)) for each in counts
        )
    # h_1 = 1/20 > 0 > h_2 = -1/30: apart they give c = (1, 0), which is no ranking
    fifth = Fraction(1, 5)
    (column,) = exactly.gains([fifth, fifth, Fraction(0)], [1, 1, 0])
    assert column == [Fraction(1, 20), Fraction(-1, 30)]
    assert exactly.permute([fifth, fifth, Fraction(0)], [1, 1, 0]).value == Fraction(1, 60)


@pytest.mark.parametrize(
    ("scores", "y", "value", "inversions"),
    [
        ([10.0, 0.0], [1, 0], 0, (0, 0)),  # M1: delta(1) = -19.5, the argmax is P + 1 = 2
        ([0.0, 1.0, -100.0], [1, 0, 0], Fraction(3, 2), (1, 1, 0)),  # M3, M4: opt = (1, 2)
        ([1.0, 1.0], [1, 0], Fraction(1, 2), (1, 1)),
        ([0.25, 0.0], [1, 0], 0, (0, 0)),  # a tie of both rankings: the fewest inversions
    ],
)
def test_small_instances_by_hand(scores, y, value, inversions):
    assert exactly.permute(scores, y).value == value
    assert exactly.permute(scores, y).inversions == inversions
    found = ap.most_violated(scores, y)
    assert found.value == value
    assert tuple(found.inversions) == inversions
    result = certified(INFERENCE, scores=scores, y=y)
    assert result.x == pytest.approx(ap.coefficients(y, inversions), abs=0)


def test_the_oracle_and_numpy_find_the_exact_value_with_the_fewest_inversions():
    rng = np.random.default_rng(2)
    for _ in range(60):
        s, y = instance(rng)
        kept = s.copy(), y.copy()
        truth = exactly.greedy(s, y)
        result = certified(INFERENCE, scores=s, y=y)
        value = certified("average_precision.value", scores=s, y=y)
        found = ap.most_violated(s, y)
        assert result.value == pytest.approx(float(truth.value), abs=1e-14)
        assert value.value == result.value
        assert np.array_equal(value.dual, result.x)
        assert found.value == pytest.approx(float(truth.value), abs=1e-15)
        assert objective(s, y, found.inversions) == pytest.approx(truth.value, abs=1e-15)
        assert found.delta == pytest.approx(ap.delta(y, found.inversions), abs=1e-15)
        for inversions in (found.inversions, ap.from_coefficients(y, result.x)):
            assert inversions.sum() == sum(truth.inversions)
        # the dual is feasible, and its bound is the value
        u, h = result.dual, Query(s, y).gains()
        assert (u >= 0).all()
        assert (u[0] >= h[0] - 1e-15).all()
        assert (u[1:] >= u[:-1] + h[1:] - 1e-15).all()
        assert u[-1].sum() == pytest.approx(float(truth.value), abs=1e-8)
        assert np.array_equal(s, kept[0])
        assert np.array_equal(y, kept[1])


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e5, 1e9, 1e150])
def test_scores_of_any_size_are_certified(scale):
    rng = np.random.default_rng(3)
    for _ in range(4):
        s, y = instance(rng, tied=False)
        s = s / abs(s).max() * scale
        truth = float(exactly.greedy(s, y).value)
        result = certified(INFERENCE, scores=s, y=y)
        error = truth - result.value
        size = result.certificate.scale
        assert -1e-15 * size <= error <= result.certificate.gap + 1e-15 * size
        assert ap.most_violated(s, y).value == pytest.approx(truth, abs=1e-15 * size)


def test_the_linear_program_is_integral():
    """The declared constraints have a totally unimodular matrix, and the vertices (0, .., 1, ..)."""
    P = 3
    rows = np.array([[-1, 0, 0], [1, -1, 0], [0, 1, -1], [0, 0, 1]])  # 0 <= x_1 <= x_2 <= x_3 <= 1
    x = cp.Variable((P, 1))
    stated = np.zeros((0, P))
    for each in ap.constraints(x):  # the matrix as declared, one unit vector at a time
        columns = []
        for unit in np.vstack([np.eye(P), np.zeros(P)]):
            x.value = unit[:, None]
            columns.append((each.args[0].value - each.args[1].value).ravel())
        stated = np.vstack([stated, (np.array(columns[:P]) - columns[P]).T])
    assert np.array_equal(stated, rows)
    for size in (1, 2, 3):
        for i in itertools.combinations(range(4), size):
            for j in itertools.combinations(range(P), size):
                assert round(np.linalg.det(rows[np.ix_(i, j)])) in (-1, 0, 1)
    vertices = {
        tuple(np.linalg.solve(rows[list(i)], np.array([0, 0, 0, 1])[list(i)]).round(12) + 0.0)
        for i in itertools.combinations(range(4), P)
    }
    assert vertices == {(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)}


def test_every_rank_is_tried_or_counted_with_the_same_result():
    rng = np.random.default_rng(8)
    for _ in range(150):
        s, y = instance(rng, most=12, tied=False)
        query = Query(s, y)
        (tried, total), (counted, value) = query.greedy(every=True), query.greedy(every=False)
        assert np.array_equal(tried, counted)
        assert float(total) == pytest.approx(float(value), abs=1e-16)
        assert float(total) == pytest.approx(float(exactly.greedy(s, y).value), abs=1e-15)


def test_the_loss_bounds_the_worst_order_of_ties_and_is_convex():
    rng = np.random.default_rng(10)
    for _ in range(60):
        s, y = instance(rng, most=6)
        here = ap.most_violated(s, y)
        assert here.value >= ap.delta(y, ap.ranking_from_scores(s, y)) - 1e-15
        a = ap.coefficients(y, here.inversions)
        other = s + rng.normal(size=s.size)
        assert ap.most_violated(other, y).value >= here.value + a @ (other - s) - 1e-13


def test_the_expression_in_a_variable_is_the_loss_and_its_minimum_is_the_model():
    rng = np.random.default_rng(11)
    for P, N in ((1, 1), (2, 3), (4, 2)):
        y = rng.permutation(np.r_[np.ones(P, int), np.zeros(N, int)])
        z = cp.Variable(y.size)
        loss = ap.value(z, y)
        assert loss.is_convex()
        for _ in range(5):
            z.value = rng.normal(size=y.size)
            truth = float(exactly.enumerate_rankings(z.value, y).value)
            assert loss.value == pytest.approx(truth, abs=1e-12)
        start = rng.normal(size=y.size)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(z - start) / 2 + loss))
        problem.solve(solver="CLARABEL")
        rankings = ap.all_rankings(y)
        A = np.array([ap.coefficients(y, row) for row in rankings])
        b = np.array([ap.delta(y, row) for row in rankings])
        listed = cp.Problem(cp.Minimize(cp.sum_squares(z - start) / 2 + cp.max(A @ z + b)))
        listed.solve(solver="CLARABEL")
        assert problem.value == pytest.approx(listed.value, abs=1e-7)


@pytest.mark.parametrize("operation", ["value", "loss_augmented_inference"])
def test_bad_arguments_are_refused_by_name(operation):
    problem = f"{STEM}.{operation}"
    good = {"scores": [0.5, 0.25, 0.0], "y": [1, 0, 1]}
    bad = {
        "scores": [[], [1.0, 2.0], [np.nan, 0, 1], [1e200, 0, 1], [[1.0, 2.0, 3.0]], "abc", None],
        "y": [[1, 1, 1], [0, 0, 0], [1, 0], [1, 0, 3], 1, None, [1, 0, np.nan]],
    }
    for name, values in bad.items():
        for value in values:
            with pytest.raises(InvalidParameterError) as wrong:
                refsolve.solve(problem, **{**good, name: value})
            assert wrong.value.argument in (name, "y" if name == "scores" else name)
    for name in ("k", "costs", "sample_weight", "groups"):
        with pytest.raises(InvalidParameterError, match=f"{name} = "):
            refsolve.solve(problem, **good, **{name: 1})
    with pytest.raises(InvalidParameterError, match="pairs"):
        refsolve.solve(problem, scores=np.zeros(1001), y=[1] * 500 + [0] * 501)


def test_exact_inference_takes_fractions():
    third = Fraction(1, 3)
    found = exactly.permute([third, 2 * third, Fraction(0)], [1, 0, 1])
    assert found.value == exactly.greedy([third, 2 * third, Fraction(0)], [1, 0, 1]).value
    assert (found.value - found.delta) % third == 0
    assert exactly.array(found).tolist() == list(found.inversions)
