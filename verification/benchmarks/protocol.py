"""The papers' protocol on any data: C by validation for every column, then the final model.

P = 1/2 ||W||^2 + C sum L with C = 1/(lambda n), no bias. For each number of guesses C is the value of
the grid with the best validation accuracy in that column, among equals the smallest. The final model sees
training and validation part together at the same lambda, or the training part alone: the papers do not say
which, so both are measured.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from verification.benchmarks import methods
from verification.benchmarks.methods import Loss
from verification.errors import InvalidArgumentError

#: Guesses of the columns of Lapin et al. 2016, Table 3.
TOP = (1, 3, 5, 10)
#: Certified relative duality gap of every model; at 1e-3 an accuracy still moves by 0.2 points.
TOL = 1e-4


@dataclass(frozen=True)
class Row:
    """One method of a table: its loss, and accuracies printed for ``top``, in percent.

    ``points`` is the deviation accepted in every cell; None where nothing is: the truncated losses
    are not convex, so that the result depends on the start.
    """

    name: str
    loss: Loss
    paper: tuple[float, ...] = ()
    points: float | None = 0.5
    top: tuple[int, ...] = TOP


_NAME = re.compile(r"(smooth )?top-(\d+) (SVM|Ent|Ent_tr)(?: (alpha|beta))?")
_SINGLE = {
    "SVM-OVA": Loss("hinge", ova=True),
    "LR-OVA": Loss("entropy", ova=True),
    "SVM-Multi": Loss("hinge"),
    "LR-Multi": Loss("entropy"),
}


def loss_of(name: str) -> Loss:
    """The loss of a row, by its name in the papers' tables.

    Raises
    ------
    InvalidArgumentError
        No such name.
    """
    found = _NAME.fullmatch(name)
    if name in _SINGLE:
        return _SINGLE[name]
    if found is None or int(found[2]) < 1 or ((found[1] or found[4]) and found[3] != "SVM"):
        raise InvalidArgumentError(
            f"method is {name!r}; expected {', '.join(_SINGLE)}, top-3 SVM (alpha, or: top-3 SVM beta), "
            "smooth top-3 SVM, top-3 Ent or top-3 Ent_tr, with any number of guesses"
        )
    k = int(found[2])
    if found[3] == "SVM":
        return Loss("hinge", k, 1.0 if found[1] else 0.0, variant=found[4] or "alpha")
    return Loss("entropy", k, truncated=found[3] == "Ent_tr")


def methods_for(guesses: Sequence[int], classes: int = 3) -> list[str]:
    """The rows of Lapin et al. 2016, Table 3, for these numbers of guesses; of two classes those that differ."""
    more = [k for k in guesses if k > 1]
    names = [
        "SVM-OVA", "LR-OVA", "SVM-Multi", *(f"top-{k} SVM" for k in more), "smooth top-1 SVM",
        *(f"smooth top-{k} SVM" for k in more), "LR-Multi", *(f"top-{k} Ent" for k in more),
        *(f"top-{k} Ent_tr" for k in more),
    ]  # fmt: skip
    return names if classes > 2 else names[2:]


@dataclass(frozen=True)
class Parts:
    """Features, as they go to the trainer, and labels of the three parts."""

    train: tuple[Any, np.ndarray]
    validation: tuple[Any, np.ndarray]
    test: tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Fit:
    """One trained model: its certificate and its accuracies in percent in the row's columns."""

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
    columns = range(len(ordered[0].validation))
    return tuple(max(ordered, key=lambda fit: fit.validation[j]) for j in columns)


def column_accuracies(chosen: Sequence[Fit]) -> tuple[float, ...]:
    """Test accuracy of each column's own model, in percent."""
    return tuple(fit.test[j] for j, fit in enumerate(chosen))


def accuracies(
    scores: np.ndarray, y: np.ndarray, classes: np.ndarray, top: Sequence[int] = TOP
) -> tuple[float, ...]:
    """Top-k accuracy in percent for every k of ``top``; a tie counts against the true class."""
    from fast.metrics import topk_accuracy

    return tuple(100.0 * float(topk_accuracy(y, scores, k, classes=classes)) for k in top)


def joined(first: tuple[Any, np.ndarray], second: tuple[Any, np.ndarray]) -> tuple[Any, np.ndarray]:
    """Two parts as one."""
    from scipy.sparse import csr_array, issparse, vstack

    y = np.concatenate([first[1], second[1]])
    if issparse(first[0]):
        both: Any = (first[0], second[0])
        return csr_array(vstack(both)), y
    return np.concatenate([first[0], second[0]]), y


def run_row(
    parts: Parts,
    row: Row,
    grid: Sequence[float],
    tol: float = TOL,
    step: Callable[[str], None] = lambda text: None,
    further: int = 0,
) -> RowResult:
    """Fit a row along a path of C, then refit what validation chose.

    ``step`` hears of each model. Where the best of a column lies at the end of the grid, the grid goes on
    for at most ``further`` values, each as far from the last as that from the one before.
    """
    fits = _path(parts, row, sorted(grid), tol, step)
    for _ in range(further):
        more = _beyond(sorted(fit.C for fit in fits), choose(fits))
        if not more:
            break
        fits += _path(parts, row, more, tol, step)
    fits.sort(key=lambda fit: fit.C)
    refits = {}
    for fit in dict.fromkeys(choose(fits)):
        refits[fit.C] = refit_model(parts, row, fit.C, tol)
        step(f"{row.name}, C = {fit.C:.3g}, all examples but the test's")
    return RowResult(row, tuple(fits), refits)


def _beyond(grid: Sequence[float], chosen: Sequence[Fit]) -> list[float]:
    """A value before or behind a grid at whose end something was chosen."""
    if len(grid) < 2:
        return []
    ends = {fit.C for fit in chosen}
    more = [grid[0] * grid[0] / grid[1]] if grid[0] in ends else []
    return more + ([grid[-1] * grid[-1] / grid[-2]] if grid[-1] in ends else [])


def _path(
    parts: Parts, row: Row, grid: Sequence[float], tol: float, step: Callable[[str], None]
) -> list[Fit]:
    """A model of the training part per C, each begun at the one before, measured on the other two."""
    X, y = parts.train
    fits: list[Fit] = []
    # a truncated loss is begun at softmax, as the paper does
    for model in methods.along(row.loss, X, y, grid, tol, warm=not row.loss.truncated):
        classes = np.arange(len(model.W))
        measured = [
            accuracies(np.asarray(A @ model.W.T), labels, classes, row.top)
            for A, labels in (parts.test, parts.validation)
        ]
        gap = methods.certified_gap(model, X, y)
        fits.append(Fit(model.C, gap, model.seconds, *measured))
        step(f"{row.name}, C = {model.C:.3g}")
    return fits


def refit_model(parts: Parts, row: Row, C: float, tol: float = TOL) -> Fit:
    """Train on training and validation part together; lambda = 1/(C n) is that of the training part."""
    X, y = joined(parts.train, parts.validation)
    more = C * len(parts.train[1]) / len(y)
    (model,) = methods.along(row.loss, X, y, [more], tol)
    scores = np.asarray(parts.test[0] @ model.W.T)
    test = accuracies(scores, parts.test[1], np.arange(len(model.W)), row.top)
    return Fit(more, methods.certified_gap(model, X, y), model.seconds, test)


def timed_fit(data: tuple[Any, np.ndarray], row: Row, C: float, tol: float) -> tuple[Any, float]:
    """The fitted classifier of a row and the seconds that it took."""
    start = perf_counter()
    model = methods.fit(row.loss, *data, C, tol)
    return model, perf_counter() - start


def compile_trainers(parts: Parts, rows: Sequence[Row]) -> None:
    """Let numba compile what the rows need, so that no clock of theirs counts it."""
    X, y = parts.train
    first = np.concatenate([np.flatnonzero(y == label)[:30] for label in np.unique(y)])
    for row in rows:
        timed_fit((X[first], y[first]), row, 1.0, 1e-3)
