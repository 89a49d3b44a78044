"""The papers' protocol: scaling by the training range, C by validation per column, smallest first."""

from __future__ import annotations

import numpy as np
import pytest

from verification.benchmarks import letter
from verification.benchmarks.letter import Fit, Row, RowResult
from verification.benchmarks.letter_report import document, passed

ROW = Row("made up", 1, 0.0, (70.0, 80.0, 90.0, 95.0))


def fit(C: float, validation: tuple[float, ...], test: tuple[float, ...], gap: float = 1e-4) -> Fit:
    return Fit(C, gap, 0.1, validation, test)


def test_every_column_takes_its_own_best_and_the_smallest_c_of_equals() -> None:
    result = RowResult(
        ROW,
        (
            fit(10.0, (60, 82, 90, 96), (61, 83, 91, 97)),
            fit(0.1, (65, 80, 90, 94), (66, 81, 92, 95)),
            fit(1.0, (64, 82, 89, 95), (63, 84, 93, 96)),
        ),
    )
    assert [f.C for f in result.chosen] == [0.1, 1.0, 0.1, 10.0]
    assert result.test == (66, 84, 92, 97)
    assert result.deviation == pytest.approx((-4, 4, 2, 2))


def test_test_accuracies_do_not_choose() -> None:
    better_test = fit(1.0, (50, 50, 50, 50), (99, 99, 99, 99))
    better_validation = fit(10.0, (51, 51, 51, 51), (1, 1, 1, 1))
    assert RowResult(ROW, (better_test, better_validation)).test == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("shift", "gap", "good"),
    [
        (0.59, 1e-4, True),
        (-0.59, 1e-4, True),
        (0.61, 1e-4, False),
        (-0.61, 1e-4, False),
        (0, 2e-3, False),
    ],
)
def test_a_row_passes_within_the_points_and_certified(shift: float, gap: float, good: bool) -> None:
    test = (70.0, 80.0 + shift, 90.0, 95.0)
    result = RowResult(ROW, (fit(1.0, test, test, gap),))
    assert passed(result, 1e-3) is good
    assert document([result], 1e-3).ok is good


def test_an_empty_table_is_no_success() -> None:
    assert document([], 1e-3).ok is False


def test_parts_are_scaled_by_the_training_range() -> None:
    parts = letter.load_parts()
    assert [len(y) for _, y in (parts.train, parts.validation, parts.test)] == [10500, 4500, 5000]
    np.testing.assert_array_equal(parts.train[0].min(axis=0), -np.ones(16))
    np.testing.assert_array_equal(parts.train[0].max(axis=0), np.ones(16))


def test_accuracies_count_ties_against_the_true_class() -> None:
    scores = np.zeros((2, 26))
    scores[1, 3] = 1.0
    assert letter.accuracies(scores, np.array([0, 3]), np.arange(26)) == (50.0, 50.0, 50.0, 50.0)


def test_a_fit_is_certified_and_better_than_the_prior() -> None:
    """A small part of the data suffices to see that fit, validation and test belong together."""
    parts = letter.load_parts()
    few = letter.Parts(
        *(tuple(a[:1500] for a in part) for part in (parts.train, parts.validation, parts.test))
    )  # type: ignore[arg-type]
    found = letter.fit_model(few, letter.ROWS[4], 0.1, 1e-3)
    assert found.gap <= 1e-3
    assert found.validation[0] > 40.0
    assert abs(found.validation[0] - found.test[0]) < 10.0
    assert list(found.test) == sorted(found.test)
    refitted = letter.fit_model(few, letter.ROWS[4], 0.1, 1e-3, refit=True)
    # Two certified models of one problem: the objective agrees to the gap, accuracies nearly.
    assert refitted.validation == pytest.approx(found.validation, abs=1.0)
    assert refitted.test != found.test
