"""Training, projections, values and proxes: both sides at the same accuracy, and the rival solves the problem."""

import importlib

import numpy as np
import pytest

from verification.benchmarks import operations
from verification.benchmarks.training import DATASETS, SUITES, measure


def test_every_data_set_has_its_targets() -> None:
    for suite in SUITES.values():
        for loss in (suite.first, suite.second):
            assert set(loss.factors) == set(DATASETS)


def test_both_sides_are_held_to_the_same_accuracy() -> None:
    first, second = measure("entropy", "digits", 0.1, repeats=1)
    own, other = SUITES["entropy"][:2]
    assert (first["against"], second["against"]) == ("sklearn lbfgs", "softmax")
    assert first["gap"] <= own.gap
    assert second["gap"] <= other.gap
    assert 0.0 < first["peer_gap"] <= own.gap
    assert first.least == {"ratio": 1.0}
    assert min(first["ratio"], second["ratio"]) > 0.0


def test_the_grid_has_every_set_size_and_k() -> None:
    cases = list(operations.grid())
    assert len(cases) == len(set(cases)) == 3 * 4 * 3 + 4
    assert {name for name, _, _ in cases} == set(operations.SETS)


def test_a_small_projection_is_timed() -> None:
    found = operations.projection("simplex", 10, None, repeats=1, rows=50)
    assert min(found.figures.values()) > 0.0
    assert found.most == {}  # below m = 100 the oracle's target alone holds


@pytest.mark.parametrize(("name", "k"), operations.LOSSES.items())
def test_rows_are_timed_and_clarabel_solves_the_same_prox(
    name: str, k: int | None, rng: np.random.Generator
) -> None:
    found = operations.value_and_prox(name, k, repeats=1, rows=8, m=12)
    assert min(found.figures.values()) > 0.0
    assert len(found.least) + len(found.most) == 3
    problem, v, x = operations.prox_problem(name, 30, k)
    v.value = 3.0 * rng.standard_normal(30)
    problem.solve(solver="CLARABEL")
    extra = {} if k is None else {"k": k}
    ours = importlib.import_module(f"fast.losses.{name}").prox(v.value, **extra)
    # 1-strongly convex: as near as the solver's own tolerance of 1e-8 on the objective
    np.testing.assert_allclose(v.value - x.value, ours, atol=np.sqrt(2e-8 * 10))
