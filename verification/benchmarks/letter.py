"""The Letter rows of Lapin et al. 2016, Table 3, trained and measured in their protocol.

Features scaled to [-1, 1] by the range of the training part, no bias, P = 1/2 ||W||^2 + C sum L.
For every column (top-1, 3, 5, 10) C is the one with the best validation accuracy of that column;
among equals the smallest, which regularises most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from verification.benchmarks import peers
from verification.certificates import trained

TOP = (1, 3, 5, 10)
#: Values of C: powers of ten.
GRID = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class Row:
    """One method of the table: its loss, and the printed test accuracies in percent for `TOP`."""

    name: str
    k: int
    gamma: float
    paper: tuple[float, float, float, float]


ROWS = (
    Row("SVM-Multi", 1, 0.0, (76.5, 89.2, 93.1, 97.7)),
    Row("top-3 SVM", 3, 0.0, (74.0, 91.0, 94.4, 97.8)),
    Row("top-5 SVM", 5, 0.0, (70.8, 91.5, 95.1, 98.4)),
    Row("top-10 SVM", 10, 0.0, (61.6, 88.9, 96.0, 99.6)),
    Row("smooth top-1 SVM", 1, 1.0, (76.8, 89.9, 93.6, 97.6)),
    Row("smooth top-3 SVM", 3, 1.0, (74.1, 90.9, 94.5, 97.9)),
    Row("smooth top-5 SVM", 5, 1.0, (70.8, 91.5, 95.2, 98.6)),
    Row("smooth top-10 SVM", 10, 1.0, (61.7, 89.1, 95.9, 99.7)),
)


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
    validation: tuple[float, ...]
    test: tuple[float, ...]


@dataclass(frozen=True)
class RowResult:
    """All fits of a row, and per column the one that validation chose."""

    row: Row
    fits: tuple[Fit, ...]
    chosen: tuple[Fit, ...] = field(init=False)

    def __post_init__(self) -> None:
        # max() keeps the first of equals, and the fits come in ascending C.
        ordered = sorted(self.fits, key=lambda f: f.C)
        chosen = tuple(max(ordered, key=lambda f, j=j: f.validation[j]) for j in range(len(TOP)))  # type: ignore[misc]
        object.__setattr__(self, "chosen", chosen)

    @property
    def test(self) -> tuple[float, ...]:
        """Test accuracy of each column's chosen model, in percent."""
        return tuple(fit.test[j] for j, fit in enumerate(self.chosen))

    @property
    def deviation(self) -> tuple[float, ...]:
        """Ours minus the paper's, in points."""
        return tuple(ours - paper for ours, paper in zip(self.test, self.row.paper, strict=True))

    @property
    def worst_gap(self) -> float:
        """Largest certified relative duality gap among the chosen models."""
        return max(fit.gap for fit in self.chosen)

    @property
    def seconds(self) -> float:
        """Training time of all fits of the row."""
        return sum(fit.seconds for fit in self.fits)


def accuracies(scores: np.ndarray, y: np.ndarray, classes: np.ndarray) -> tuple[float, ...]:
    """Top-k accuracy in percent for every k of `TOP`; a tie counts against the true class."""
    from fast.metrics import topk_accuracy

    return tuple(100.0 * float(topk_accuracy(y, scores, k, classes=classes)) for k in TOP)


def fit_model(parts: Parts, row: Row, C: float, tol: float, refit: bool = False) -> Fit:
    """Train one model on the training part and measure it on the other two.

    With ``refit`` the test accuracies come from a second model with the same C, trained on
    training and validation part together; the validation accuracies never do.
    """
    model, seconds = timed_fit(parts.train, row, C, tol)
    validation = accuracies(
        model.decision_function(parts.validation[0]), parts.validation[1], model.classes_
    )
    gap = certified_gap(model, parts.train)
    if refit:
        X = np.vstack([parts.train[0], parts.validation[0]])
        both = (X, np.concatenate([parts.train[1], parts.validation[1]]))
        model, more = timed_fit(both, row, C, tol)
        seconds, gap = seconds + more, max(gap, certified_gap(model, both))
    test = accuracies(model.decision_function(parts.test[0]), parts.test[1], model.classes_)
    return Fit(C, gap, seconds, validation, test)


def certified_gap(model: Any, data: tuple[np.ndarray, np.ndarray]) -> float:
    """Relative duality gap from the model's weights and dual, by formulas the trainer has no part in."""
    return trained(model, *data).relative_gap


def timed_fit(
    data: tuple[np.ndarray, np.ndarray], row: Row, C: float, tol: float
) -> tuple[Any, float]:
    """A fitted `fast.TopKSVC` and the seconds that it took."""
    from fast import TopKSVC

    model = TopKSVC(k=row.k, gamma=row.gamma, C=C, tol=tol, random_state=0)
    start = perf_counter()
    model.fit(*data)
    return model, perf_counter() - start


def run_row(
    parts: Parts,
    row: Row,
    grid: Sequence[float],
    tol: float = 1e-3,
    refit: bool = False,
    step: Callable[[str], None] = lambda text: None,
) -> RowResult:
    """Fit a row over the grid of C; ``step`` is told of each finished fit."""
    fits = []
    for C in sorted(grid):
        fits.append(fit_model(parts, row, C, tol, refit))
        step(f"{row.name}, C = {C:.3g}")
    return RowResult(row, tuple(fits))


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

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)


def against_peer(parts: Parts, results: Sequence[RowResult], tol: float) -> list[PeerRow]:
    """Each row's top-1 model beside the peer at the same C, held to the same suboptimality."""
    X, y = parts.train
    found: dict[float, tuple[float, float, tuple[float, ...]]] = {}
    rows = []
    for result in results:
        fit = result.chosen[0]
        if fit.C not in found:
            model, _ = timed_fit(parts.train, ROWS[0], fit.C, tol / 10)
            peer = peers.match(X, y, fit.C, float(model.dual_objective_), tol)
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
