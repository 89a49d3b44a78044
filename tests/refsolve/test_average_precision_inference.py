"""Loss-augmented inference: three exact roads, the linear program, and numpy."""

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
OBJECT = "average_precision"


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


def test_every_rank_is_tried_or_counted_with_the_same_result():
    rng = np.random.default_rng(8)
    for _ in range(150):
        s, y = instance(rng, most=12, tied=False)
        query = Query(s, y)
        (tried, total), (counted, value) = query.greedy(every=True), query.greedy(every=False)
        assert np.array_equal(tried, counted)
        assert float(total) == pytest.approx(float(value), abs=1e-16)
        assert float(total) == pytest.approx(float(exactly.greedy(s, y).value), abs=1e-15)


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
    problem = f"{OBJECT}.{operation}"
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
