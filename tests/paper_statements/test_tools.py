"""The claims' own tools against naive twins: linear programs, vertices, projections, search."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from verification.paper_statements import _cone, _erm, _gap, _rational, _topk
from verification.paper_statements.lapin_2015 import lemma_5, search

F = Fraction


@pytest.mark.parametrize("seed", range(60))
def test_linear_programs_agree_with_scipy(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 13))
    a = [_rational.draw_vector(rng, n) for _ in range(m)]
    b = [abs(v) for v in _rational.draw_vector(rng, m)]
    c = _rational.draw_vector(rng, n)
    found = _rational.maximise(c, a, b)
    twin = linprog(
        -np.array(c, float),
        A_ub=np.array(a, float),
        b_ub=np.array(b, float),
        bounds=[(None, None)] * n,
    )
    if found.value is None:
        assert twin.status == 3
        assert _rational.dot(c, found.x) > 0
        assert all(_rational.dot(row, found.x) <= 0 for row in a)
    else:
        assert float(found.value) == pytest.approx(-twin.fun, abs=1e-9)
        assert all(_rational.dot(row, found.x) <= rhs for row, rhs in zip(a, b, strict=True))


def test_singular_systems_have_no_solution():
    assert _rational.solve([[F(1), F(2)], [F(2), F(4)]], [F(1), F(2)]) is None
    assert _rational.solve([[F(0), F(2)], [F(1), F(1)]], [F(1), F(2)]) == [F(3, 2), F(1, 2)]


def test_vertices_of_a_square():
    a = [[F(1), F(0)], [F(-1), F(0)], [F(0), F(1)], [F(0), F(-1)], [F(1), F(1)]]
    found = _rational.vertices(a, [F(1), F(1), F(1), F(1), F(1)])
    assert found == {(-1, -1), (-1, 1), (1, -1), (0, 1), (1, 0)}


def test_a_conjugate_by_hand():
    # phi(x) = max{0, x + 1}: phi*(v) = -v on [0, 1]
    pieces, offsets = [[F(0)], [F(1)]], [F(0), F(1)]
    assert _topk.conjugate(pieces, offsets, [F(1, 3)]) == F(-1, 3)
    assert _topk.conjugate(pieces, offsets, [F(4, 3)]) is None
    assert _topk.conjugate(pieces, offsets, [F(-1, 3)]) is None


def _grid(d, cap):
    return ([F(v, 2) for v in values] for values in product(range(cap), repeat=d))


@pytest.mark.parametrize("seed", range(40))
def test_the_optimality_test_accepts_one_point_only(seed):
    """The projection passes; a grid of other feasible points fails, and is never better."""
    rng = np.random.default_rng(seed)
    given = _cone.draw_target(rng)
    a, k, rho = given["a"][:3], min(given["k"], len(given["a"][:3])), given["rho"]
    r = F(int(rng.integers(1, 9)), 2)

    def objective(x):
        return sum((v - w) ** 2 for v, w in zip(x, a, strict=True)) + rho * sum(x) ** 2

    for radius in (r, None):
        if radius is None:
            best = _cone.project_cone(a, k, rho)
        else:
            best = _cone.project_simplex(a, k, rho, radius)
        for x in _grid(len(a), 4):
            s = sum(x)
            if any(k * v > s for v in x) or (radius is not None and s > radius):
                assert not _cone.is_projection(x, a, k, rho, radius)
                continue
            assert objective(x) >= objective(best)
            assert _cone.is_projection(x, a, k, rho, radius) == (x == best)


def test_the_optimality_test_rejects_what_other_parameters_give():
    a, k, r = [F(2), F(1), F(0)], 2, F(3, 4)
    right = _cone.project_simplex(a, k, F(1), r)
    assert not _cone.is_projection(right, a, k, F(9), r)
    assert not _cone.is_projection(right, a, k, F(1), None)
    assert not _cone.is_projection(right, a, 1, F(1), r)
    assert not _cone.is_projection([v / 2 for v in right], a, k, F(1), r)


@pytest.mark.parametrize("seed", range(20))
def test_knapsack_solutions_are_feasible_and_of_clipped_form(seed):
    rng = np.random.default_rng(seed)
    given = _cone.draw_target(rng)
    a, k, r = given["a"], given["k"], F(int(rng.integers(1, 9)), 2)
    x, t = lemma_5.knapsack(a, k, r)
    assert sum(x) == r
    assert x == [min(max(F(0), v - t), r / k) for v in a]


def test_the_search_runs_on_floats_and_fractions():
    a, k = [F(3), F(1), F(1, 2), F(-1)], 2
    exact = search.search(a, k, F(1))
    rough = search.search([float(v) for v in a], k, 1.0)
    assert exact is not None
    assert rough == pytest.approx([float(v) for v in exact])
    assert search.search([F(-1), F(-2)], 1, F(0)) is None


def test_partitions_at_zero_overlap():
    sets = _cone.partition([F(0), F(0)], 1)
    assert sets.upper == sets.lower == (0, 1)
    assert sets.middle == ()
    sets = _cone.partition([F(2), F(1), F(1), F(0)], 2)
    assert (sets.upper, sets.middle, sets.lower) == ((0,), (1, 2), (3,))


@pytest.mark.parametrize("seed", range(10))
def test_the_lower_bound_lies_below_random_models(seed):
    rng = np.random.default_rng(seed)
    problem = _erm.draw_problem(rng)
    k, m = problem.k, problem.m

    def pieces(m, k, y):
        return _topk.pieces_alpha(m, k)

    def loss(z, k):
        return _topk.hinge_alpha([*z, F(0)], k)

    multipliers = [_erm.draw_block(rng, pieces(m, k, 0), F(1)) for _ in problem.labels]
    bound = _gap.lower_bound(problem, multipliers, pieces, F(0))
    assert bound is not None
    for _ in range(20):
        w = [_rational.draw_vector(rng, problem.examples.shape[1], spread=1) for _ in range(m)]
        assert _erm.primal(problem, np.array(w), loss) >= bound
    outside = [[F(1)] * m for _ in problem.labels]
    assert _gap.lower_bound(problem, outside, pieces, F(0)) is None


def test_columns_and_blocks_are_inverse():
    a = _erm.column([F(1, 2), F(1, 4)], 1)
    assert a.tolist() == [F(-1, 2), F(3, 4), F(-1, 4)]
    assert _erm.block(a, 1).tolist() == [F(1, 2), F(1, 4)]
