"""The papers' protocol on any data: C by validation for every column, then the final model.

P = 1/2 ||W||^2 + C sum L with C = 1/(lambda n), no bias. For each number of guesses C is the value of
the grid with the best validation accuracy in that column, among equals the smallest. The final model sees
training and validation part together at the same lambda, or the training part alone: the papers do not say
which, so both are measured.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from verification.benchmarks import methods
from verification.benchmarks.methods import Loss
from verification.errors import InvalidArgumentError

#: Guesses of the columns of Lapin et al. 2016, Table 3.
TOP = (1, 3, 5, 10)
#: Certified relative duality gap of every model; at 1e-3 an accuracy still moves by 0.2 points.
TOL = 1e-4


#: Features, as they go to the trainer, and labels.
Pair = tuple[Any, np.ndarray]


class Model(NamedTuple):
    """A trained model: its certified gap, and scores for rows of features."""

    C: float
    gap: float
    seconds: float
    scores: Callable[[Any], np.ndarray]
    lam: float | None = None


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

    @property
    def columns(self) -> tuple[str, ...]:
        """What is measured."""
        return tuple(f"Top-{k}" for k in self.top)

    def models(
        self,
        data: Pair,
        grid: Sequence[float],
        tol: float,
        Z: object = None,
        lam: float | None = None,
    ) -> Iterator[Model]:
        """A model per C, each begun at the one before; a truncated loss is begun at softmax, as in the paper."""
        X, y = data
        for model in methods.along(self.loss, X, y, grid, tol, warm=not self.loss.truncated):
            gap = methods.certified_gap(model, X, y)
            yield Model(model.C, gap, model.seconds, partial(_linear, model.W))

    def measure(self, scores: np.ndarray, y: np.ndarray) -> tuple[float, ...]:
        """In percent, a number per column."""
        return accuracies(scores, y, np.arange(scores.shape[1]), self.top)


def _linear(W: np.ndarray, X: object) -> np.ndarray:
    return np.asarray(X @ W.T)


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


def methods_for(guesses: Sequence[int]) -> list[str]:
    """The rows of Lapin et al. 2016, Table 3, for these numbers of guesses."""
    more = [k for k in guesses if k > 1]
    return [
        "SVM-OVA", "LR-OVA", "SVM-Multi", *(f"top-{k} SVM" for k in more), "smooth top-1 SVM",
        *(f"smooth top-{k} SVM" for k in more), "LR-Multi", *(f"top-{k} Ent" for k in more),
        *(f"top-{k} Ent_tr" for k in more),
    ]  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """Features and labels of the three parts; ``Z``: what only training has, of the first two."""

    train: Pair
    validation: Pair
    test: Pair
    Z: tuple[Any, Any] | None = None

    @property
    def pairs(self) -> tuple[Pair, Pair, Pair]:
        """All three."""
        return self.train, self.validation, self.test


@dataclass(frozen=True)
class Fit:
    """One trained model: its certificate and its accuracies in percent in the row's columns."""

    C: float
    gap: float
    seconds: float
    test: tuple[float, ...]
    validation: tuple[float, ...] = ()
    lam: float | None = None

    @property
    def key(self) -> Any:
        """What tells it from the others of its row: C, or C and lambda."""
        return self.C if self.lam is None else (self.C, self.lam)


@dataclass(frozen=True)
class RowResult:
    """A row's models of the training part, and the refits of those that validation chose."""

    row: Row
    fits: tuple[Fit, ...]
    refits: dict[Any, Fit]  # by the key of the model of the training part

    @property
    def chosen(self) -> tuple[Fit, ...]:
        """Per column, the model of the training part with the best validation accuracy."""
        return choose(self.fits)

    @property
    def final(self) -> tuple[Fit, ...]:
        """Per column, the refit of the chosen model."""
        return tuple(self.refits[fit.key] for fit in self.chosen)

    @property
    def worst_gap(self) -> float:
        """Largest certified relative duality gap among the models reported."""
        return max(fit.gap for fit in (*self.chosen, *self.final))

    @property
    def seconds(self) -> float:
        """Training time of all models of the row."""
        return sum(fit.seconds for fit in (*self.fits, *self.refits.values()))

    @property
    def line(self) -> str:
        """What is measured on the test part, to be said as soon as it is known."""
        cells = " ".join(f"{value:5.1f}" for value in column_accuracies(self.final))
        return f"{cells}   gap {self.worst_gap:.1e}"


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


def joined(first: Pair, second: Pair) -> Pair:
    """Two parts as one."""
    return _stacked(first[0], second[0]), np.concatenate([first[1], second[1]])


def _stacked(first: object, second: object) -> Any:
    from scipy.sparse import csr_array, issparse, vstack

    both: Any = (first, second)
    return csr_array(vstack(both)) if issparse(first) else np.concatenate(both)


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
    fits = fits_along(parts, row, sorted(grid), tol, step)
    for _ in range(further):
        more = _beyond(sorted(fit.C for fit in fits), choose(fits))
        if not more:
            break
        fits += fits_along(parts, row, more, tol, step)
    fits.sort(key=lambda fit: fit.C)
    refits = {}
    for fit in dict.fromkeys(choose(fits)):
        refits[fit.key] = refit_model(parts, row, fit, tol)
        step(f"{row.name}, C = {fit.C:.3g}, all examples but the test's")
    return RowResult(row, tuple(fits), refits)


def _beyond(grid: Sequence[float], chosen: Sequence[Fit]) -> list[float]:
    """A value before or behind a grid at whose end something was chosen."""
    if len(grid) < 2:
        return []
    ends = {fit.C for fit in chosen}
    more = [grid[0] * grid[0] / grid[1]] if grid[0] in ends else []
    return more + ([grid[-1] * grid[-1] / grid[-2]] if grid[-1] in ends else [])


def fits_along(
    parts: Parts,
    row: Row,
    grid: Sequence[float],
    tol: float,
    step: Callable[[str], None] = lambda text: None,
) -> list[Fit]:
    """Models of the training part along C, measured on the other two."""
    fits: list[Fit] = []
    for model in row.models(parts.train, grid, tol, None if parts.Z is None else parts.Z[0]):
        test, validation = (
            row.measure(model.scores(X), y) for X, y in (parts.test, parts.validation)
        )
        fits.append(Fit(model.C, model.gap, model.seconds, test, validation, model.lam))
        step(f"{row.name}, C = {model.C:.3g}")
    return fits


def refit_model(parts: Parts, row: Row, chosen: Fit, tol: float = TOL) -> Fit:
    """Train on training and validation part together; lambda = 1/(C n) is that of the training part."""
    both = joined(parts.train, parts.validation)
    more = chosen.C * len(parts.train[1]) / len(both[1])
    (model,) = row.models(both, [more], tol, parts.Z and _stacked(*parts.Z), chosen.lam)
    test = row.measure(model.scores(parts.test[0]), parts.test[1])
    return Fit(more, model.gap, model.seconds, test, lam=chosen.lam)


def compile_trainers(parts: Parts, rows: Sequence[Row]) -> None:
    """Let numba compile what the rows need, so that no clock of theirs counts it."""
    X, y = parts.train
    first = np.concatenate([np.flatnonzero(y == label)[:30] for label in np.unique(y)])
    Z = None if parts.Z is None else parts.Z[0][first]
    for row in rows:
        for _ in row.models((X[first], y[first]), [1.0], 1e-3, Z):
            pass
