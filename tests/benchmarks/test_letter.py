"""The papers' protocol: scaling by the training range, C by validation per column, smallest first."""

from __future__ import annotations

import numpy as np
import pytest

from verification.benchmarks import letter
from verification.benchmarks.letter import (
    Fit,
    Row,
    RowResult,
    choose,
    column_accuracies,
    deviations,
)
from verification.benchmarks.letter_report import accuracy_tables, document, passed, peer_table
from verification.benchmarks.methods import Loss

ROW = Row("made up", Loss("hinge"), (70.0, 80.0, 90.0, 95.0), 0.6)


def fit(C: float, validation: tuple[float, ...], test: tuple[float, ...], gap: float = 1e-5) -> Fit:
    return Fit(C, gap, 0.1, test, validation)


def refitted(*fits: Fit, gap: float = 1e-5) -> RowResult:
    """A result whose refits are a tenth of a point better than the models of the training part."""
    return RowResult(
        ROW,
        fits,
        {f.C: Fit(0.7 * f.C, gap, 0.1, tuple(t + 0.1 for t in f.test)) for f in choose(fits)},
    )


def test_every_column_takes_its_own_best_and_the_smallest_c_of_equals() -> None:
    result = refitted(
        fit(10.0, (60, 82, 90, 96), (61, 83, 91, 97)),
        fit(0.1, (65, 80, 90, 94), (66, 81, 92, 95)),
        fit(1.0, (64, 82, 89, 95), (63, 84, 93, 96)),
    )
    assert [f.C for f in result.chosen] == [0.1, 1.0, 0.1, 10.0]
    assert column_accuracies(result.chosen) == (66, 84, 92, 97)
    assert column_accuracies(result.final) == (66.1, 84.1, 92.1, 97.1)


def test_test_accuracies_do_not_choose() -> None:
    better_test = fit(1.0, (50, 50, 50, 50), (99, 99, 99, 99))
    better_validation = fit(10.0, (51, 51, 51, 51), (1, 1, 1, 1))
    assert {f.C for f in choose([better_test, better_validation])} == {10.0}


def test_deviations_are_taken_at_the_printed_decimal() -> None:
    assert deviations((77.14, 77.16, 76.5, 75.96), (76.5, 76.5, 76.5, 76.5)) == (
        0.6,
        0.7,
        0.0,
        -0.5,
    )


@pytest.mark.parametrize(
    ("shift", "gap", "good"),
    [
        (0.6, 1e-5, True),
        (-0.6, 1e-5, True),
        (0.7, 1e-5, False),
        (-0.7, 1e-5, False),
        (0.0, 2e-4, False),
    ],
)
def test_a_row_passes_within_the_points_and_certified(shift: float, gap: float, good: bool) -> None:
    test = (69.9, 79.9 + shift, 89.9, 94.9)
    for result in (refitted(fit(1.0, test, test, gap)), refitted(fit(1.0, test, test), gap=gap)):
        assert passed(result, 1e-4) is good
        assert document([result], 1e-4).ok is good


def test_the_grid_is_printed_and_a_choice_at_its_edge_flagged() -> None:
    best_inside = [fit(C, (v,) * 4, (v,) * 4) for C, v in ((0.1, 60), (1.0, 70), (10.0, 50))]
    inside, edge = (accuracy_tables([refitted(*f)], 1e-4) for f in (best_inside, best_inside[1:]))
    assert "C tried: 0.1, 1, 10;" in str(inside[1])
    assert "1*" not in str(inside[1])
    assert "1*, 1*, 1*, 1*" in str(edge[1])
    assert "0.7*, 0.7*" in str(edge[0])  # the refit's C, flagged by the choice behind it


@pytest.mark.parametrize(("suboptimality", "mark"), [(9e-5, False), (2e-4, True)])
def test_a_peer_that_did_not_get_there_is_marked(suboptimality: float, mark: bool) -> None:
    row = letter.PeerRow("made up", 1.0, 1e-5, 0.1, (1.0,), suboptimality, 7.0, (1.0,))
    assert ("> 7" in str(peer_table([row]).rows)) is mark


def test_an_empty_table_is_no_success() -> None:
    assert document([], 1e-4).ok is False


def test_parts_are_scaled_by_the_training_range() -> None:
    parts = letter.load_parts()
    assert [len(y) for _, y in (parts.train, parts.validation, parts.test)] == [10500, 4500, 5000]
    np.testing.assert_array_equal(parts.train[0].min(axis=0), -np.ones(16))
    np.testing.assert_array_equal(parts.train[0].max(axis=0), np.ones(16))


def test_accuracies_count_ties_against_the_true_class() -> None:
    scores = np.zeros((2, 26))
    scores[1, 3] = 1.0
    assert letter.accuracies(scores, np.array([0, 3]), np.arange(26)) == (50.0, 50.0, 50.0, 50.0)


def test_a_fit_is_certified_and_better_than_chance() -> None:
    """A small part of the data suffices to see that fit, validation and test belong together."""
    parts = letter.load_parts()
    few = letter.Parts(
        *(tuple(a[:1500] for a in part) for part in (parts.train, parts.validation, parts.test))  # type: ignore[arg-type]
    )
    row = letter.HINGES[4]
    result = letter.run_row(few, row, grid=(0.1, 0.01))
    assert [f.C for f in result.fits] == [0.01, 0.1]
    assert result.worst_gap <= letter.TOL
    best = result.chosen[0]
    assert best.validation[0] > 40.0
    assert abs(best.validation[0] - best.test[0]) < 10.0
    assert list(best.test) == sorted(best.test)
    again = result.refits[best.C]
    assert again.C == best.C / 2  # twice the examples at the same lambda = 1/(C n)
    assert again.test != best.test


def test_the_gap_reported_is_computed_anew() -> None:
    """A model that claims to be optimal and is not gets the gap that it has."""
    parts = letter.load_parts()
    few = (parts.train[0][:500], parts.train[1][:500])
    model, _ = letter.timed_fit(few, letter.HINGES[0], 1.0, 1e-4)
    honest = letter.certified_gap(model, few)
    model.dual_gap_ = 0.0
    model.coef_ = 1.5 * model.coef_
    assert letter.certified_gap(model, few) > 100 * honest
