"""The benchmark of the entropy losses: honest gaps, targets as agreed; no test here asserts a time."""

import dataclasses
import importlib

import numpy as np
import pytest

from verification.benchmarks import entropy_rows
from verification.benchmarks.training import DATASETS, ENTROPIES, HINGES, Case, measure
from verification.benchmarks.training_report import entropies as document

CASE = Case(ENTROPIES, "letter", 1.0, 0.1, 1e-7, 0.3, 1e-7, 3.0, 0.2, 1e-6, 2.0)
TIMING = entropy_rows.Timing("softmax", 1000, None, 0.01, 2.0, 0.1, 8.0, 1e4)


@pytest.mark.parametrize(
    ("change", "softmax", "topk_entropy"),
    [
        ({}, True, True),
        ({"peer_ratio": 1.9}, False, True),
        ({"first_gap": 2e-6}, False, True),
        ({"second_ratio": 3.1}, True, False),
        ({"second_gap": 2e-5}, True, False),
        ({"dataset": "digits", "peer_ratio": 1.0}, True, True),
        ({"dataset": "digits", "peer_ratio": 0.9}, False, True),
    ],
)
def test_a_case_is_reached_fast_and_certified(
    change: dict, softmax: bool, topk_entropy: bool
) -> None:
    case = dataclasses.replace(CASE, **change)
    assert case.first_reached is softmax
    assert case.second_reached is topk_entropy
    assert document([case], [], strict=True).ok is (softmax and topk_entropy)
    assert document([case], [], strict=False).ok is None


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        ({}, True),
        ({"exp_ratio": 5.1}, False),
        ({"oracle_ratio": 49.0}, False),
        ({"prox_exp_ratio": 13.0}, False),
    ],
)
def test_rows_are_reached_if_all_three_targets_are(change: dict, reached: bool) -> None:
    timing = dataclasses.replace(TIMING, **change)
    assert timing.reached is reached
    found = document([CASE], [timing], strict=True)
    assert found.ok is reached
    assert found.data["rows"][0]["reached"] is reached


def test_every_data_set_has_its_targets() -> None:
    for loss in (HINGES.first, HINGES.second, ENTROPIES.first, ENTROPIES.second):
        assert set(loss.factors) == set(DATASETS)


def test_measure_holds_both_sides_to_the_same_accuracy() -> None:
    case = measure(ENTROPIES, "digits", 0.1, repeats=1)
    assert case.first_gap <= ENTROPIES.first.gap
    assert case.second_gap <= ENTROPIES.second.gap
    assert 0.0 < case.peer_suboptimality <= ENTROPIES.first.gap
    assert min(case.peer_ratio, case.second_ratio) > 0.0


@pytest.mark.parametrize(("stem", "k"), entropy_rows.LOSSES.items())
def test_rows_are_measured(stem: str, k: int | None) -> None:
    timing = entropy_rows.measure(stem, k, repeats=1, rows=8, m=12)
    assert min(timing.exp_ratio, timing.prox_exp_ratio, timing.oracle_ratio) > 0.0


@pytest.mark.parametrize(("stem", "k"), entropy_rows.LOSSES.items())
def test_clarabel_solves_the_same_prox(stem: str, k: int | None, rng: np.random.Generator) -> None:
    problem, v, x = entropy_rows.prox_problem(stem, 30, k)
    v.value = 3.0 * rng.standard_normal(30)
    problem.solve(solver="CLARABEL")
    extra = {} if k is None else {"k": k}
    ours = importlib.import_module(f"fast.losses.{stem}").prox(v.value, **extra)
    # 1-strongly convex: as near as the solver's own tolerance of 1e-8 on the objective
    np.testing.assert_allclose(v.value - x.value, ours, atol=np.sqrt(2e-8 * 10))
