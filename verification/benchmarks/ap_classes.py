"""Each class against the rest: the data, the protocol and the models behind `refsolve reproduce ap`.

Paper: Mohapatra, Jawahar and Kumar 2014, Table 1 on PASCAL VOC 2011, whose images are not shipped.
Here a class of Letter or digits is to be ranked before all others. C is chosen per class and method by
the AP on a validation part, among equals the smallest; the model is that of the training part, and its
AP on the test part is printed. All objectives are 1/2 ||w||^2 + C times a loss of order one (the mean
over examples for hinge and logistic), so that one grid serves all. A constant feature stands for the
bias; it is regularised, and AP-SVMs, to which it means nothing, end with weight 0 there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verification.benchmarks.ap_methods import METHODS, NAMES, Method, Model
from verification.benchmarks.ap_training import average_precision
from verification.benchmarks.letter import load_parts
from verification.benchmarks.protocol import Parts
from verification.errors import InvalidArgumentError

#: C are powers of ten from 0 up to these. On digits, which are nearly separable, more is slow and worse.
HIGHEST = {"letter": 6, "digits": 5}
#: The method that the others are compared with.
BASE = "AP-SVM"
#: Certified relative gap of every model.
TOL = 1e-4


def load_digits() -> Parts:
    """scikit-learn's digits divided by 16, split 50 : 25 : 25 with every class in proportion."""
    from sklearn.datasets import load_digits as load
    from sklearn.model_selection import train_test_split

    X, y = load(return_X_y=True)
    rows = np.arange(len(y))
    train, rest = train_test_split(rows, train_size=0.5, random_state=0, stratify=y)
    validation, test = train_test_split(rest, train_size=0.5, random_state=0, stratify=y[rest])
    parts = ((X[part] / 16.0, y[part]) for part in (train, validation, test))
    return Parts(*parts)


DATASETS: dict[str, Callable[[], Parts]] = {"letter": load_parts, "digits": load_digits}


def names(dataset: str) -> list[str]:
    """Names of the classes in the order of their labels."""
    return [chr(ord("A") + j) for j in range(26)] if dataset == "letter" else list("0123456789")


@dataclass(frozen=True)
class Fit:
    """One method on one class at one C; the gap is recomputed for the chosen fit only."""

    method: str
    C: float
    validation: float
    test: float
    calls: int | None
    seconds: float
    gap: float | None = None


@dataclass(frozen=True)
class ClassResult:
    """Every fit of one class in the order of the methods, and the chosen one of each method."""

    dataset: str
    name: str
    positives: int
    n: int
    fits: tuple[Fit, ...]
    chosen: dict[str, Fit]

    @property
    def worst_gap(self) -> float:
        """Largest recomputed gap among the models reported."""
        return max(fit.gap for fit in self.chosen.values() if fit.gap is not None)

    @property
    def line(self) -> str:
        """Test AP of each method, to be said as soon as it is known."""
        return "  ".join(f"{name} {100 * fit.test:.1f}" for name, fit in self.chosen.items())

    @property
    def at_edge(self) -> list[str]:
        """Methods whose C was chosen at an end of the grid."""
        Cs = [fit.C for fit in self.fits]
        return [m for m, fit in self.chosen.items() if fit.C in (min(Cs), max(Cs))]


def choose(fits: Sequence[Fit]) -> Fit:
    """Best validation AP; among equals the smallest C."""
    return max(sorted(fits, key=lambda fit: fit.C), key=lambda fit: fit.validation)


def select(dataset: Sequence[str] | None, classes: str) -> list[tuple[str, int]]:
    """Data sets and labels that were asked for; ``classes`` are names with commas, "" for all.

    Raises
    ------
    InvalidArgumentError
        A data set or a class that there is not.
    """
    unknown = sorted(set(dataset or ()) - set(DATASETS))
    if unknown:
        raise InvalidArgumentError(f"dataset is {unknown}; expected one of {', '.join(DATASETS)}")
    among = [name for name in DATASETS if not dataset or name in dataset]
    wanted = [name.strip().upper() for name in classes.split(",") if classes]
    there = {name: (data, label) for data in among for label, name in enumerate(names(data))}
    if missing := [name for name in wanted if name not in there]:
        raise InvalidArgumentError(f"classes is {missing}; expected one of {', '.join(there)}")
    return [place for name, place in there.items() if not wanted or name in wanted]


def data_of(dataset: str, label: int) -> Parts:
    """What is trained on: the constant feature appended, labels 1 for the class and 0 for the rest."""
    pairs = DATASETS[dataset]().pairs
    return Parts(
        *((np.column_stack([X, np.ones(len(X))]), (y == label).astype(np.int64)) for X, y in pairs)
    )


def run_class(
    dataset: str,
    label: int,
    methods: Sequence[str] = NAMES,
    grid: Sequence[float] = (),
    tol: float = TOL,
) -> ClassResult:
    """All methods over the grid on one class, and the certificate of what validation chose.

    Without a grid it is that of the data set.
    """
    grid = grid or [10.0**power for power in range(HIGHEST[dataset] + 1)]
    mine = data_of(dataset, label)
    X, y = mine.train
    fits, chosen = [], {}
    for method in (m for m in METHODS if m.name in methods):
        tried: dict[float, tuple[Fit, Model]] = {}
        for C in sorted(grid):
            model = method.fit(X, y, C, tol)
            validation, test = (
                average_precision(labels, features @ model.w)
                for features, labels in (mine.validation, mine.test)
            )
            fit = Fit(method.name, C, validation, test, model.calls, model.seconds)
            tried[C] = (fit, model)
            fits.append(fit)
        best = choose([fit for fit, _ in tried.values()])
        chosen[method.name] = replace(best, gap=tried[best.C][1].gap())
    return ClassResult(dataset, names(dataset)[label], int(y.sum()), len(y), tuple(fits), chosen)


def compile_trainers(methods: Sequence[Method] = METHODS) -> None:
    """Let numba compile what the methods need, so that no clock of theirs counts it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(60) > 0.8).astype(np.int64)
    for method in methods:
        method.fit(X, y, 10.0, 1e-2)
