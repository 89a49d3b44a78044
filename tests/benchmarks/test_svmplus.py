"""The SVM+ benchmark and its experiments: fair data, honest gaps, targets as agreed; no test asserts a time."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from fast.models import svm_plus_hinge
from verification.benchmarks import (
    svmplus_data,
    svmplus_digits,
    svmplus_paper,
    svmplus_report,
    svmplus_training,
)
from verification.benchmarks.svmplus_digits import BASE, Outcome
from verification.errors import InvalidArgumentError

# ---------------------------------------------------------------------------------------- digits


def test_splits_are_disjoint_balanced_and_repeat() -> None:
    train, test = svmplus_digits.draw(3)
    assert np.bincount(train.y).tolist() == 10 * [10]
    assert np.bincount(test.y).tolist() == 10 * [50]
    rows = {z.tobytes() for z in train.Z}
    assert not any(z.tobytes() in rows for z in test.Z)
    np.testing.assert_array_equal(svmplus_digits.draw(3)[0].X, train.X)
    assert (svmplus_digits.draw(4)[0].X != train.X).any()


def test_noise_replaces_z_and_only_z() -> None:
    train, test = svmplus_digits.draw(0)
    noisy = svmplus_digits.METHODS["SVM2+, noise as Z"]
    mine, others = svmplus_digits.view(noisy, train, test, 0)
    assert mine.X is train.X
    assert others is test
    assert abs(np.corrcoef(mine.Z.ravel(), train.Z.ravel())[0, 1]) < 0.05
    full = svmplus_digits.METHODS["SVM on the full images"]
    assert svmplus_digits.view(full, train, test, 0)[1].X is test.Z


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One setting a method, two folds."""
    monkeypatch.setattr(svmplus_digits, "FOLDS", 2)
    for name, method in svmplus_digits.METHODS.items():
        monkeypatch.setitem(
            svmplus_digits.METHODS, name, dataclasses.replace(method, grid=method.grid[4:5] or method.grid[1:2])
        )  # fmt: skip


@pytest.mark.usefixtures("short")
def test_every_method_learns_and_is_certified() -> None:
    found = svmplus_digits.run_splits([0])
    assert set(found.accuracies) == set(svmplus_digits.METHODS)
    assert all(values.shape == (1,) for values in found.accuracies.values())
    assert min(found.mean(name) for name in found.accuracies) > 0.5
    assert 0 <= found.worst_gap <= svmplus_digits.TOL
    again = svmplus_digits.run_splits([0], ["SVM2+", BASE])
    assert list(again.accuracies) == [BASE, "SVM2+"]
    assert again.mean("SVM2+") == found.mean("SVM2+")
    shown = svmplus_report.made([], found)
    assert shown.ok
    assert len(shown.blocks) == 2


class Guess(ClassifierMixin, BaseEstimator):
    """Right unless its name is a."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def fit(self, X: np.ndarray, y: np.ndarray, Z: np.ndarray | None = None) -> "Guess":
        assert Z is not None
        assert len(Z) == len(X)  # the folds take rows of Z, too
        everything = svmplus_digits.load_digits()
        self.truth_ = {x.tobytes(): y for x, y in zip(everything.X, everything.y, strict=True)}
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.truth_[x.tobytes()] + (self.name == "a") for x in X])


def test_cross_validation_takes_the_best_and_among_equals_the_first() -> None:
    train, _ = svmplus_digits.draw(0)
    grid = tuple({"name": name} for name in "abc")
    method = svmplus_digits.Method("fake", grid)  # type: ignore[arg-type]
    assert svmplus_digits.fitted(method, train, 0, Guess()).best_params_ == {"name": "b"}


def test_summaries_are_of_the_same_splits() -> None:
    def outcome(accuracy: float, gap: float = 0.0) -> Outcome:
        return Outcome(accuracy, gap, {"C": 1.0}, 0)

    found = [
        {BASE: outcome(0.5), "SVM2+": outcome(0.75)},
        {BASE: outcome(0.75, 1e-3), "SVM2+": outcome(0.5)},
        {BASE: outcome(0.5), "SVM2+": outcome(1.0)},
    ]
    splits = svmplus_digits.collect(range(3), found)
    mean, error = splits.ahead("SVM2+")
    np.testing.assert_allclose([mean, error], [1 / 6, np.std([0.25, -0.25, 0.5], ddof=1) / 3**0.5])
    assert splits.won("SVM2+") == (2, 1)
    assert splits.worst_gap == 1e-3
    assert svmplus_report.made([], splits).ok is False
    assert np.isnan(svmplus_digits.collect([0], found[:1]).error(BASE))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [(([],), "seeds"), (([0], ["SVM3+"]), r"SVM3\+"), (([0], []), "empty")],
)
def test_nothing_to_run_is_refused(arguments: tuple, match: str) -> None:
    with pytest.raises(InvalidArgumentError, match=match):
        svmplus_digits.run_splits(*arguments)


# --------------------------------------------------------------------------------------- training


def test_every_comparison_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "WIDTHS": (30, 20), "LIBSVM_SIZES": (80,), "CLARABEL_SIZE": 90, "LINEAR_SVC_SIZE": 100,
        "KERNEL_SIZE": 60, "KERNEL_CS": (1.0,), "SHAPES": ((40, 4),), "TIMED": 2,
    }.items():  # fmt: skip
        monkeypatch.setattr(svmplus_training, name, value)
    cases = svmplus_training.cases(1, ("linear", "kernel", "classes"))
    found = [case() for case in cases.values()]
    for record in found:
        assert 0 <= record["gap"] <= svmplus_training.GAP
        assert min(record["seconds"], record["ratio"]) > 0
    gaps = [record["peer_gap"] for record in found]
    assert [gap is None for gap in gaps] == [False, False, False, True, False, False]
    assert all(gap < 0.02 for gap in gaps if gap is not None)
    assert [record.least.get("ratio") for record in found] == [None, 50, 100, 1, 2, 20]


def test_classes_share_their_privileged_features() -> None:
    X, Z, label = svmplus_data.classes(20, 4, 30, 200)
    assert (X.shape, Z.shape) == ((20, 30), (20, 200))
    assert all(np.ptp(Z[label == c], axis=0).max() == 0 for c in range(4))
    assert (svmplus_data.one_against_rest(label) > 0).sum(axis=0).tolist() == 4 * [5]


# ------------------------------------------------------------------------------------- the paper


def test_the_general_solver_and_ours_certify_one_another() -> None:
    X, Z, label = svmplus_data.classes(24, 3, 10, 8)
    y, C, lam = svmplus_data.one_against_rest(label)[:, 0], 0.5, 2.0
    K, Kz = X @ X.T, Z @ Z.T
    ours = svm_plus_hinge.train_kernel(K, y, C, lam, Kz=Kz, tol=1e-8)
    gap = partial(svmplus_paper.hinge_gap, K, Kz, y, C, lam, ours)
    alpha, beta = svmplus_paper.general_solver(K, Kz, y, C, lam)
    assert 0 <= gap((alpha, beta)) <= 1e-3
    assert 0 <= gap((ours.alpha, ours.beta)) <= 1e-6
    assert gap((0.3 * alpha, beta)) > 1e-3


def test_the_ratios_name_their_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (svmplus_training, svmplus_paper):
        monkeypatch.setattr(module, "WIDTHS", (20, 15))
    found = svmplus_paper.measure(48, 4)
    seconds = [record["seconds"] for record in found]
    told = svmplus_paper.ratios(found)
    assert told["Clarabel, SVM1+ / LIBSVM, SVM2+"] == seconds[0] / seconds[2]
    assert told["ours, SVM1+ / LIBSVM, SVM2+"] == seconds[1] / seconds[2]
    shown = svmplus_report.made([found], None)
    assert shown.ok
    assert len(shown.blocks) == 2
    figures = found[1].figures | {"gap": 1e-3}
    bad = [found[0], dataclasses.replace(found[1], figures=figures), *found[2:]]
    assert svmplus_report.made([bad], None).ok is False
