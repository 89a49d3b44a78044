"""LIBSVM on the deformed kernel: the right recipe passes, wrong ones are caught, the bounds are bounds."""

import cvxpy as cp
import numpy as np
import pytest

from verification.trainers import libsvm_recipes as recipes

SMALL = [i for i in range(60) if len(recipes.draw(0, i).y) <= 12]


@pytest.fixture(scope="module")
def rows():
    return {row.recipe: row for row in recipes.run(recipes.Effort(24, recipes.STEPS))}


def test_the_right_recipe_passes_and_wrong_ones_are_caught_where_they_matter(rows):
    assert list(rows) == [recipes.RIGHT, *recipes.WRONG]
    for name, row in rows.items():
        assert row.ok, (name, row.objection)
        assert row.instances == 24
        assert row.caught >= recipes.SHARE * row.matters
        assert (row.matters > 0) == (name not in (recipes.RIGHT, *recipes.HARMLESS)), name
    assert rows[recipes.RIGHT].close >= 20
    assert rows[recipes.HARMLESS[0]].close >= 20
    assert all(row.record.reached for row in rows.values())


def test_a_wrong_recipe_in_the_place_of_the_right_one_is_named():
    for wrong in (recipes.box_c, recipes.without_labels):
        (row,) = recipes.run(recipes.Effort(12, recipes.STEPS), recipe=wrong, wrong={})
        assert not row.record.reached
        assert "gap" in row.objection


def test_a_judge_who_sees_nothing_is_found_out():
    judged = recipes.run(recipes.Effort(12, recipes.STEPS), gap=lambda truth, alpha: 0.0)
    assert judged[0].ok
    blind = {row.recipe: row.objection for row in judged[1:] if not row.ok}
    assert {"box C", "K + Q"} <= set(blind)
    assert blind["box C"].startswith("caught on 0 of ")


def test_what_matters_nowhere_was_not_tried():
    same = {"the same once more": recipes.right}
    _, row = recipes.run(recipes.Effort(4, recipes.STEPS), wrong=same)
    assert row.objection == "caught on 0 of 0 where it matters"


def test_instances_are_what_is_promised():
    drawn = [recipes.draw(0, i) for i in range(400)]
    sizes = np.array([len(data.y) for data in drawn])
    assert sizes.min() <= 5
    assert 280 <= sizes.max() <= recipes.LARGEST
    ratios = np.log10([data.C / data.lam for data in drawn])
    assert ratios.max() - ratios.min() > 9.8
    weighted = [np.ptp(data.weight) > 0 for data in drawn]
    assert 0.4 < np.mean(weighted) < 0.6
    for data in drawn[:48]:
        assert {-1.0, 1.0} == set(data.y)
        for gram in (data.K, data.Kz):
            assert np.linalg.eigvalsh(gram).min() >= -1e-9 * gram.max()
    again = recipes.draw(0, 7)
    assert all(np.array_equal(a, b) for a, b in zip(again, drawn[7], strict=True))
    assert len({data.K.tobytes() for data in drawn}) == 400


# -- the bounds -------------------------------------------------------------------------------


def optimum(H, y, box):
    """Largest <1, a> - 1/2 <a, H a> within the box, by CVXPY."""
    a = cp.Variable(len(y), nonneg=True)
    factor = np.linalg.cholesky(H + 1e-12 * np.trace(H) * np.eye(len(y))).T
    objective = cp.sum(a) - cp.sum_squares(factor @ a) / 2
    problem = cp.Problem(cp.Maximize(objective), [y @ a == 0, a <= box])
    return problem.solve(solver="CLARABEL"), a.value


@pytest.mark.parametrize("index", SMALL[:8])
def test_the_bound_of_a_box_is_one_and_is_attained(index):
    data = recipes.draw(0, index)
    made = recipes.box_c(data)
    H = made.matrix * np.outer(data.y, data.y)
    value, alpha = optimum(H, data.y, made.box)
    assert recipes.above_box(made, data.y, alpha) == pytest.approx(value, rel=1e-5)
    rng = np.random.default_rng(index)
    for _ in range(20):
        other = np.clip(alpha * rng.uniform(0.5, 1.5, len(alpha)), 0, made.box)
        assert recipes.above_box(made, data.y, other) >= value * (1 - 1e-6)


def test_what_libsvm_returns_is_within_its_own_bound():
    """Also where float32 decides: a kernel in units that it can hardly tell apart."""
    rounding = []
    for index in range(48):
        data = recipes.draw(1, index)
        if len(data.y) > 40:
            continue
        answer = recipes.by_libsvm(recipes.right(data), data.y, recipes.STEPS)
        if answer.stopped:
            assert recipes.Truth(data).gap(answer.alpha) <= answer.bound
            rounding.append(answer.bound - 4 * recipes.EPSILON)
    assert len(rounding) >= 15
    assert max(rounding) > 10 * recipes.EPSILON


@pytest.mark.parametrize("index", SMALL[:6])
def test_the_gap_is_that_of_the_multipliers_as_they_are(index):
    data = recipes.draw(0, index)
    truth, made = recipes.Truth(data), recipes.right(data)
    _, alpha = optimum(truth.H, data.y, made.box)
    assert truth.gap(alpha) <= 1e-4
    assert truth.loss(alpha) == pytest.approx(0, abs=1e-4)
    half = alpha / 2  # D(a/2) = D(a) 3/4 at the optimum: a scale-free certificate would pass it
    assert truth.gap(half) == pytest.approx(0.25, abs=1e-3)
    assert truth.loss(half) == pytest.approx(0.25, abs=1e-3)
    assert truth.gap(np.zeros(len(alpha))) == np.inf
