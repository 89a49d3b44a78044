"""The SVM+ benchmark and its experiments: fair data, honest gaps, targets as agreed; no test asserts a time."""

import dataclasses
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fast.models import svm_plus_hinge, svm_plus_squared_hinge
from verification.benchmarks import (
    svmplus_data,
    svmplus_digits,
    svmplus_paper,
    svmplus_paper_report,
    svmplus_plots,
    svmplus_precision,
    svmplus_training,
)
from verification.benchmarks.svmplus_digits import BASE, Outcome
from verification.benchmarks.svmplus_precision import Error
from verification.benchmarks.svmplus_report import document
from verification.benchmarks.svmplus_training import Timing
from verification.errors import InvalidArgumentError

TIMING = Timing("linear", "LIBSVM", 1e-3, 1.0, 51.0, 9e-7, 1e-4, 50.0)
ERROR = Error(6, 1e-16, 1e-15, 1.0)


# ---------------------------------------------------------------------------------------- digits


def test_the_coarse_images_are_means_of_four_pixels() -> None:
    X, Z, y = svmplus_digits.load()
    assert (X.shape, Z.shape, y.shape) == ((1797, 16), (1797, 64), (1797,))
    images = Z.reshape(-1, 8, 8)
    np.testing.assert_allclose(X[:, 6], images[:, 2:4, 4:6].mean(axis=(1, 2)))


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
def test_every_method_learns_and_is_certified(tmp_path: Path) -> None:
    found = svmplus_digits.run_splits([0])
    assert set(found.accuracies) == set(svmplus_digits.METHODS)
    assert all(values.shape == (1,) for values in found.accuracies.values())
    assert min(found.mean(name) for name in found.accuracies) > 0.5
    assert 0 <= found.worst_gap <= svmplus_digits.TOL
    again = svmplus_digits.run_splits([0], ["SVM2+", BASE])
    assert list(again.accuracies) == [BASE, "SVM2+"]
    assert again.mean("SVM2+") == found.mean("SVM2+")
    shown = svmplus_paper_report.document([], found)
    assert shown.ok
    assert len(shown.blocks) == 2
    written = svmplus_plots.write(tmp_path / "new", found)
    assert [path.stat().st_size > 1000 for path in written] == [True, True]


def test_cross_validation_takes_the_best_and_among_equals_the_first() -> None:
    train, _ = svmplus_digits.draw(0)
    right = {"a": 0, "b": 1, "c": 1}

    def train_fake(part: svmplus_digits.Part, name: str) -> svmplus_digits.Fitted:
        truth = {x.tobytes(): y for x, y in zip(train.X, train.y, strict=True)}
        guess = lambda X: np.array([truth[x.tobytes()] + 1 - right[name] for x in X])  # noqa: E731
        return svmplus_digits.Fitted(guess, lambda: 0.0, 0)

    grid = tuple({"name": name} for name in right)
    method = svmplus_digits.Method("fake", train_fake, grid=grid)  # type: ignore[arg-type]
    assert svmplus_digits.choose(method, train, 0) == {"name": "b"}


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
    assert svmplus_paper_report.document([], splits).ok is False
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
    monkeypatch.setattr(svmplus_training, "WIDTHS", (30, 20))
    timings = [
        svmplus_training.against_libsvm(80, 1, 1e-3, 50.0),
        svmplus_training.against_clarabel(90, 1),
        svmplus_training.against_linear_svc(100, 1),
        svmplus_training.against_kernels(1.0, 1, n=60),
        svmplus_training.against_one_by_one(40, 4, 1, timed=2),
    ]
    for t in timings:
        assert 0 <= t.gap <= svmplus_training.GAP
        assert t.seconds > 0
        assert t.ratio > 0
    assert [t.peer_gap is None for t in timings] == [False, False, True, False, False]
    assert all(t.peer_gap < 0.02 for t in timings if t.peer_gap is not None)
    assert [t.target for t in timings] == [50, 100, 1, 2, 20]


def test_all_cases_are_there() -> None:
    assert len(svmplus_training.cases(1, ("linear", "kernel", "classes"))) == 10
    assert list(svmplus_training.cases(1, ("kernel",))) == ["RBF, C = 1", "RBF, C = 100"]


def test_the_deformed_gap_knows_bad_multipliers() -> None:
    X, Z, y = svmplus_data.linear(60)
    K, Q = X @ X.T, svmplus_training.printed_deformed(Z @ Z.T, 1.0, 1.0)
    best = svm_plus_squared_hinge.train(X, y, Z, 1.0, 1.0, tol=1e-9).alpha
    assert svmplus_data.deformed_gap(K, Q, y, best) < 1e-8
    assert svmplus_data.deformed_gap(K, Q, y, 3.0 * best) < 1e-8
    worse = np.where(np.arange(60) == best.argmax(), 2 * best, best)
    assert svmplus_data.deformed_gap(K, Q, y, worse) > 1e-6
    assert svmplus_data.deformed_gap(K, Q, y, np.zeros(60)) == np.inf


def test_classes_share_their_privileged_features() -> None:
    X, Z, label = svmplus_data.classes(20, 4, 30, 200)
    assert (X.shape, Z.shape) == ((20, 30), (20, 200))
    assert all(np.ptp(Z[label == c], axis=0).max() == 0 for c in range(4))
    assert (svmplus_data.one_against_rest(label) > 0).sum(axis=0).tolist() == 4 * [5]


@pytest.mark.parametrize(
    ("changed", "reached"),
    [({}, True), ({"ratio": 49.0}, False), ({"gap": 2e-6}, False), ({"peer_gap": 1.0}, True)],
)
def test_a_target_is_met_by_certified_and_fast_runs(changed: dict, reached: bool) -> None:
    timing = dataclasses.replace(TIMING, **changed)
    assert timing.reached is reached
    shown = document([timing], [ERROR], strict=True)
    assert (shown.ok, shown.data["all_reached"]) == (reached, reached)
    assert document([timing], [ERROR], strict=False).ok is None


# -------------------------------------------------------------------------------------- precision


def test_the_deformed_kernel_meets_fractions_everywhere() -> None:
    errors = svmplus_precision.measure((-16, 0, 10))
    assert all(e.reached for e in errors)
    assert errors[-1].printed > 1.0  # as printed all digits are lost
    assert dataclasses.replace(ERROR, kernel=1e-11).reached is False


def test_elimination_is_exact() -> None:
    Kz, ratio = np.array([[2.0, 1.0], [1.0, 1.0]]), 3.0
    Q = svmplus_precision.exact(Kz, ratio)  # (I + 3 Kt)^-1 Kt, Kt = [[3, 2], [2, 2]]
    right = np.array([[9, 2], [2, 8]]) / float(Fraction(34))
    np.testing.assert_allclose(Q, right, rtol=1e-15)


# ------------------------------------------------------------------------------------- the paper


def test_the_general_solver_and_ours_certify_one_another() -> None:
    X, Z, label = svmplus_data.classes(24, 3, 10, 8)
    y, C, lam = svmplus_data.one_against_rest(label)[:, 0], 0.5, 2.0
    K, Kz = X @ X.T, Z @ Z.T
    ours = svm_plus_hinge.train_kernel(K, y, C, lam, Kz=Kz, tol=1e-8)
    P = svmplus_paper.hinge_primal(K, Kz, y, C, lam, ours)
    np.testing.assert_allclose(P, ours.primal, rtol=1e-6)
    alpha, beta = svmplus_paper.general_solver(K, Kz, y, C, lam)
    low = svmplus_paper.hinge_dual(K, Kz, y, C, lam, alpha, beta)
    assert 0 <= P - low <= 1e-3 * P
    own = svmplus_paper.hinge_dual(K, Kz, y, C, lam, ours.alpha, ours.beta)
    assert 0 <= P - own + 1e-12 <= 1e-6 * P
    assert P - svmplus_paper.hinge_dual(K, Kz, y, C, lam, 0.3 * alpha, beta) > 1e-3 * P


def test_the_ratios_name_their_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svmplus_paper, "WIDTHS", (20, 15))
    speed = svmplus_paper.measure(48, 4)
    assert speed.ok
    assert speed.headline == speed.general / speed.libsvm
    assert speed.honest == speed.hinge / speed.libsvm
    shown = svmplus_paper_report.document([speed], None)
    assert shown.ok
    assert len(shown.blocks) == 2
    bad = dataclasses.replace(speed, hinge_gap=1e-3)
    assert svmplus_paper_report.document([bad], None).ok is False
