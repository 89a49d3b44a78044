"""The Letter rows of Lapin et al. 2016, Table 3, trained and measured in their protocol.

Features scaled to [-1, 1] by the range of the training part, no bias, P = 1/2 ||W||^2 + C sum L with
C = 1/(lambda n). For every column (top-1, 3, 5, 10) C is the power of ten with the best validation
accuracy of that column, among equals the smallest. The paper does not say which examples the final
model sees, so that there are two readings, and both are measured: the training part alone, or
training and validation part together at the same lambda. The top-1 column of the top-10 rows depends
most on the grid: it falls by more than two points from C = 0.03 to C = 0.1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from verification.benchmarks import methods, peers
from verification.benchmarks.methods import Loss
from verification.certificates import trained

TOP = (1, 3, 5, 10)
#: Values of C: powers of ten.
GRID = (0.1, 1.0, 10.0, 100.0)
#: Certified relative duality gap of every model; at 1e-3 an accuracy still moves by 0.2 points.
TOL = 1e-4


@dataclass(frozen=True)
class Row:
    """One method of the table: its loss, and the printed test accuracies in percent for `TOP`.

    ``points`` is the deviation accepted in every cell; None where nothing is: the truncated losses
    are not convex, so that the result depends on the start.
    """

    name: str
    loss: Loss
    paper: tuple[float, float, float, float]
    points: float | None = 0.5


HINGES = (
    Row("SVM-Multi", Loss("hinge"), (76.5, 89.2, 93.1, 97.7), 0.6),
    Row("top-3 SVM", Loss("hinge", 3), (74.0, 91.0, 94.4, 97.8), 0.6),
    Row("top-5 SVM", Loss("hinge", 5), (70.8, 91.5, 95.1, 98.4), 0.6),
    Row("top-10 SVM", Loss("hinge", 10), (61.6, 88.9, 96.0, 99.6), 0.6),
    Row("smooth top-1 SVM", Loss("hinge", 1, 1.0), (76.8, 89.9, 93.6, 97.6), 0.6),
    Row("smooth top-3 SVM", Loss("hinge", 3, 1.0), (74.1, 90.9, 94.5, 97.9), 0.6),
    Row("smooth top-5 SVM", Loss("hinge", 5, 1.0), (70.8, 91.5, 95.2, 98.6), 0.6),
    Row("smooth top-10 SVM", Loss("hinge", 10, 1.0), (61.7, 89.1, 95.9, 99.7), 0.6),
)
#: The whole block of the table.
ROWS = (
    Row("SVM-OVA", Loss("hinge", ova=True), (63.0, 82.0, 88.1, 94.6)),
    Row("LR-OVA", Loss("entropy", ova=True), (68.1, 86.1, 90.6, 96.2)),
    *HINGES,
    Row("LR-Multi", Loss("entropy"), (75.3, 90.3, 94.3, 98.0)),
    Row("top-3 Ent", Loss("entropy", 3), (73.0, 90.8, 94.9, 98.5)),
    Row("top-5 Ent", Loss("entropy", 5), (69.7, 90.9, 95.1, 98.8)),
    Row("top-10 Ent", Loss("entropy", 10), (65.0, 89.7, 96.2, 99.6)),
    Row("top-3 Ent_tr", Loss("entropy", 3, truncated=True), (63.6, 91.1, 95.6, 98.8), None),
    Row("top-5 Ent_tr", Loss("entropy", 5, truncated=True), (50.3, 87.7, 96.1, 99.4), None),
    Row("top-10 Ent_tr", Loss("entropy", 10, truncated=True), (46.5, 80.9, 93.7, 99.6), None),
)
#: The rows of the thorough main job: the hinges, and the two convex entropies that cost least.
MAIN = tuple(row for row in ROWS if row in HINGES or row.name in ("LR-Multi", "top-5 Ent"))
#: Those of the main job: a hinge and an entropy.
SHORT = tuple(row for row in MAIN if row.name in ("smooth top-5 SVM", "top-5 Ent"))


@dataclass(frozen=True)
class Parts:
    """Scaled features and labels of the three parts."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def load_parts() -> Parts:
    """The Letter data, every part scaled to [-1, 1] by the range of the training part."""
    from fast.datasets import load_letter

    raw = {name: load_letter(subset=name) for name in ("train", "validation", "test")}
    low, high = raw["train"][0].min(axis=0), raw["train"][0].max(axis=0)
    scaled = {name: (2.0 * (X - low) / (high - low) - 1.0, y) for name, (X, y) in raw.items()}
    return Parts(scaled["train"], scaled["validation"], scaled["test"])


@dataclass(frozen=True)
class Fit:
    """One trained model: its certificate and its accuracies in percent for `TOP`."""

    C: float
    gap: float
    seconds: float
    test: tuple[float, ...]
    validation: tuple[float, ...] = ()


@dataclass(frozen=True)
class RowResult:
    """A row's models of the training part, and the refits of those that validation chose."""

    row: Row
    fits: tuple[Fit, ...]
    refits: dict[float, Fit]  # by the C of the training part

    @property
    def chosen(self) -> tuple[Fit, ...]:
        """Per column, the model of the training part with the best validation accuracy."""
        return choose(self.fits)

    @property
    def final(self) -> tuple[Fit, ...]:
        """Per column, the refit of the chosen model."""
        return tuple(self.refits[fit.C] for fit in self.chosen)

    @property
    def worst_gap(self) -> float:
        """Largest certified relative duality gap among the models reported."""
        return max(fit.gap for fit in (*self.chosen, *self.final))

    @property
    def seconds(self) -> float:
        """Training time of all models of the row."""
        return sum(fit.seconds for fit in (*self.fits, *self.refits.values()))


def choose(fits: Sequence[Fit]) -> tuple[Fit, ...]:
    """Per column the fit of best validation accuracy; among equals the smallest C."""
    ordered = sorted(fits, key=lambda fit: fit.C)  # max() keeps the first of equals
    return tuple(max(ordered, key=lambda fit: fit.validation[j]) for j in range(len(TOP)))


def column_accuracies(chosen: Sequence[Fit]) -> tuple[float, ...]:
    """Test accuracy of each column's own model, in percent."""
    return tuple(fit.test[j] for j, fit in enumerate(chosen))


def deviations(accuracies: Sequence[float], paper: Sequence[float]) -> tuple[float, ...]:
    """Ours minus the paper's in points, both at the one decimal that the paper prints."""
    return tuple(
        round(round(ours, 1) - printed, 1) for ours, printed in zip(accuracies, paper, strict=True)
    )


def accuracies(scores: np.ndarray, y: np.ndarray, classes: np.ndarray) -> tuple[float, ...]:
    """Top-k accuracy in percent for every k of `TOP`; a tie counts against the true class."""
    from fast.metrics import topk_accuracy

    return tuple(100.0 * float(topk_accuracy(y, scores, k, classes=classes)) for k in TOP)


def fit_model(parts: Parts, row: Row, C: float, tol: float = TOL) -> Fit:
    """Train on the training part, measure on the other two."""
    model, seconds = timed_fit(parts.train, row, C, tol)
    validation, test = (
        accuracies(model.decision_function(X), y, model.classes_)
        for X, y in (parts.validation, parts.test)
    )
    return Fit(C, methods.certified_gap(model, *parts.train), seconds, test, validation)


def refit_model(parts: Parts, row: Row, C: float, tol: float = TOL) -> Fit:
    """Train on training and validation part together; lambda = 1/(C n) is that of the training part."""
    X, y = (np.concatenate(pair) for pair in zip(parts.train, parts.validation, strict=True))
    more = C * len(parts.train[1]) / len(y)
    model, seconds = timed_fit((X, y), row, more, tol)
    test = accuracies(model.decision_function(parts.test[0]), parts.test[1], model.classes_)
    return Fit(more, methods.certified_gap(model, X, y), seconds, test)


def timed_fit(
    data: tuple[np.ndarray, np.ndarray], row: Row, C: float, tol: float
) -> tuple[Any, float]:
    """The fitted classifier of a row and the seconds that it took."""
    start = perf_counter()
    model = methods.fit(row.loss, *data, C, tol)
    return model, perf_counter() - start


def compile_trainers(parts: Parts, rows: Sequence[Row] = ROWS) -> None:
    """Let numba compile what the rows need, so that no clock of theirs counts it."""
    import fast

    fast.warmup()
    few = (parts.train[0][:300], parts.train[1][:300])
    for row in rows:
        timed_fit(few, row, 1.0, 1e-3)


def run_row(
    parts: Parts,
    row: Row,
    grid: Sequence[float] = GRID,
    tol: float = TOL,
    step: Callable[[str], None] = lambda text: None,
) -> RowResult:
    """Fit a row over the grid of C, then refit what validation chose; ``step`` hears of each C done."""
    fits = []
    for C in sorted(grid):
        fits.append(fit_model(parts, row, C, tol))
        step(f"{row.name}, C = {C:.3g}")
    return RowResult(
        row, tuple(fits), {fit.C: refit_model(parts, row, fit.C, tol) for fit in choose(fits)}
    )


@dataclass(frozen=True)
class PeerRow:
    """One model beside LinearSVC(multi_class="crammer_singer") at the same C, without bias."""

    name: str
    C: float
    gap: float
    seconds: float
    test: tuple[float, ...]
    peer_suboptimality: float
    peer_seconds: float
    peer_test: tuple[float, ...]


def against_peer(parts: Parts, results: Sequence[RowResult], tol: float = TOL) -> list[PeerRow]:
    """Of each hinge row's chosen models the one with C nearest 1, beside the peer at the same C.

    The peer is held to the same suboptimality; at large C it would take most of the job's time.
    """
    X, y = parts.train
    found: dict[float, tuple[float, float, tuple[float, ...]]] = {}
    rows = []
    for result in results:
        if result.row not in HINGES:
            continue
        fit = min(result.chosen, key=lambda fit: abs(np.log10(fit.C)))
        if fit.C not in found:
            model, _ = timed_fit(parts.train, HINGES[0], fit.C, tol / 10)
            peer = peers.match(X, y, fit.C, trained(model, X, y).dual, tol)
            start = perf_counter()
            best = peers.crammer_singer(X, y, fit.C, peer.tol)
            seconds = perf_counter() - start
            scores = best.decision_function(parts.test[0])
            found[fit.C] = (
                peer.suboptimality,
                seconds,
                accuracies(scores, parts.test[1], best.classes_),
            )
        rows.append(PeerRow(result.row.name, fit.C, fit.gap, fit.seconds, fit.test, *found[fit.C]))
    return rows
