"""The papers' protocol: scaling by the training range, C by validation per column, smallest first."""

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from verification.benchmarks import letter, protocol
from verification.benchmarks.letter import accuracy_tables, deviations, document, passed
from verification.benchmarks.methods import Loss, certified_gap
from verification.benchmarks.methods import fit as fit_loss
from verification.benchmarks.protocol import Fit, Row, RowResult, choose, column_accuracies

ROW = Row("made up", Loss("hinge"), (70.0, 80.0, 90.0, 95.0), 0.6)


def fit(C: float, validation: tuple[float, ...], test: tuple[float, ...], gap: float = 1e-5) -> Fit:
    return Fit(C, gap, 0.1, test, validation)


def few(size: int) -> protocol.Parts:
    """The first examples of every part."""
    parts = letter.load_parts()
    return protocol.Parts(
        *(tuple(a[:size] for a in part) for part in (parts.train, parts.validation, parts.test))  # type: ignore[arg-type]
    )


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
    ours = (77.14, 77.16, 76.5, 75.96)
    assert deviations(ours, (76.5,) * 4) == (0.6, 0.7, 0.0, -0.5)


@pytest.mark.parametrize(
    ("shift", "gap", "good"),
    [
        (0.6, 1e-5, True),
        (-0.6, 1e-5, True),
        (0.7, 1e-5, False),
        (-0.7, 1e-5, False),
        (0, 2e-4, False),
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
    assert all("top-1" in found.columns for found in (*inside, *edge))


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
    assert protocol.accuracies(scores, np.array([0, 3]), np.arange(26)) == (50.0, 50.0, 50.0, 50.0)


def test_a_fit_is_certified_and_better_than_chance() -> None:
    """A small part of the data suffices to see that fit, validation and test belong together."""
    row = letter.HINGES[4]
    result = protocol.run_row(few(1500), row, grid=(0.1, 0.01))
    assert [f.C for f in result.fits] == [0.01, 0.1]
    assert result.worst_gap <= protocol.TOL
    best = result.chosen[0]
    assert best.validation[0] > 40.0
    assert abs(best.validation[0] - best.test[0]) < 10.0
    assert list(best.test) == sorted(best.test)
    again = result.refits[best.C]
    assert again.C == best.C / 2  # twice the examples at the same lambda = 1/(C n)
    assert again.test != best.test


def test_rows_that_depend_on_the_start_are_not_judged_by_the_paper() -> None:
    row = dataclasses.replace(ROW, points=None)
    away = fit(1.0, (50.0,) * 4, (1.0,) * 4)
    assert passed(dataclasses.replace(refitted(away), row=row), 1e-4)
    assert not passed(dataclasses.replace(refitted(away, gap=1e-3), row=row), 1e-4)
    assert not passed(refitted(away), 1e-4)


def test_the_whole_block_is_there() -> None:
    assert len({row.name for row in letter.ROWS}) == len(letter.ROWS) == 17
    assert set(letter.HINGES) < set(letter.MAIN) < set(letter.ROWS)
    assert {row in letter.HINGES for row in letter.SHORT} == {True, False}
    assert not any(row.loss.truncated or row.loss.ova for row in letter.MAIN)
    assert {row.name for row in letter.ROWS if row.points is None} == {
        row.name for row in letter.ROWS if row.loss.truncated
    }


@pytest.mark.parametrize("name", ["SVM-OVA", "LR-OVA", "LR-Multi", "top-3 Ent", "top-3 Ent_tr"])
def test_every_kind_of_row_is_trained_and_certified(name: str) -> None:
    row = next(row for row in letter.ROWS if row.name == name)
    result = protocol.run_row(few(800), row, grid=(1.0,), tol=1e-3)
    assert result.worst_gap <= 1e-3
    assert result.chosen[1].test[1] > 50.0


def naive_risk(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, k: int) -> float:
    total = 0.0
    for x, own in zip(X, y, strict=True):
        others = sorted(w @ x - W[own] @ x for j, w in enumerate(W) if j != own)
        total += np.log1p(np.exp(others[: len(others) - k + 1]).sum())
    return 0.5 * np.sum(W**2) + C * total


@pytest.mark.parametrize("k", [1, 3])
def test_truncated_risk_and_its_descent(rng: np.random.Generator, k: int) -> None:
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 6, 40)
    W = rng.standard_normal((6, 3))
    value, gradient = letter.truncated_risk(W, X, y, 0.5, k)
    assert value == pytest.approx(naive_risk(W, X, y, 0.5, k), rel=1e-12)
    direction = rng.standard_normal(W.shape)
    slope = (
        naive_risk(W + 1e-6 * direction, X, y, 0.5, k)
        - naive_risk(W - 1e-6 * direction, X, y, 0.5, k)
    ) / 2e-6
    assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-6)
    path = [W, *itertools.islice(letter.descend(W, X, y, 0.5, k), 20)]
    values = [letter.truncated_risk(V, X, y, 0.5, k)[0] for V in path]
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


def test_starts_are_followed_and_shown() -> None:
    row = next(row for row in letter.ROWS if row.name == "top-5 Ent_tr")
    found = letter.follow(few(400), row, 1.0, steps=(3, 10))
    names = [stop["point"] for stop in found]
    assert names[1:3] == ["3 gradient steps", "10 gradient steps"]
    start, three, ten, ours, _, printed = (stop["risk"] for stop in found)
    assert start > three > ten > ours
    assert printed is None
    result = dataclasses.replace(refitted(fit(1.0, (50.0,) * 4, (50.0,) * 4)), row=row)
    shown = document([result], 1e-4, found)
    assert "Truncated entropy" in shown.blocks[-1].title  # type: ignore[union-attr]
    assert shown.data["starts"][0]["point"].startswith("softmax")


def test_the_gap_reported_is_computed_anew() -> None:
    """A model that claims to be optimal and is not gets the gap that it has."""
    parts = letter.load_parts()
    few = (parts.train[0][:500], parts.train[1][:500])
    model = fit_loss(letter.HINGES[0].loss, *few, 1.0, 1e-4)
    honest = certified_gap(model, *few)
    model.dual_gap_ = 0.0
    model.coef_ = 1.5 * model.coef_
    assert certified_gap(model, *few) > 100 * honest


def test_the_recorded_longer_table_is_within_six_tenths_of_the_printed_one() -> None:
    file = Path(__file__).parents[2] / "docs" / "records" / "letter_table_7.json"
    record, rows = json.loads(file.read_text(encoding="utf-8"))["rows"], letter.longer()
    assert list(record) == [row.name for row in rows]
    assert len(rows) == 37
    assert max(row["gap"] for row in record.values()) <= protocol.TOL
    cells = [
        abs(d)
        for row in rows
        if row.points
        for d in deviations(record[row.name]["ours"], row.paper)
    ]
    assert len(cells) == 320
    assert max(cells) <= 0.6
