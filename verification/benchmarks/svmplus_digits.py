"""Privileged information on the digits: coarse images to predict from, the full ones in training only.

X (n, 16): means over 2 x 2 pixels; Z (n, 64): the image. A split takes 10 images of each class to
train on and up to 50 others to test. Every method chooses its parameters by the same 5-fold
cross-validation on the training images, whose winner is trained on all of them; each model
separates a class from the rest with linear functions and carries a certificate.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError
from verification.trainers.real_data import Digits, load_digits

TRAIN, TEST, FOLDS = 10, 50, 5
#: Certified relative duality gap asked for, in each class.
TOL = 1e-4
CS = (0.1, 1.0, 10.0, 100.0)
LAMS = (0.1, 10.0, 1000.0)
DELTAS = (1.0, 100.0)
#: SVM-2K: weight of the disagreement over that of the hinges.
SHARES = (0.1, 1.0, 10.0)
#: The method that the others are compared with.
BASE = "SVM"

Settings = dict[str, float]


@dataclass(frozen=True)
class Method:
    """A row of the table: estimator of `fast`, privileged features, settings to choose from, simplest first.

    ``privileged``: "images", "noise", None, or "as X": the full images at prediction too.
    """

    name: str
    grid: tuple[Settings, ...]
    privileged: str | None = "images"
    estimator: str = "SVMPlusClassifier"
    options: Mapping[str, Any] = field(default_factory=dict)


def _grid(**values: Sequence[float]) -> tuple[Settings, ...]:
    return tuple(dict(zip(values, each, strict=True)) for each in product(*values.values()))


_SQUARED: dict[str, Any] = {"loss": "squared_hinge", "free_slack": 0.0}
_PLUS = _grid(C=CS, lam=LAMS[::-1])
_FREE = _grid(C=CS, lam=LAMS[::-1], free_slack=DELTAS[::-1])
_TWO_VIEWS = tuple({"C": C, "C_z": C, "D": share * C} for C, share in product(CS, SHARES))
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(BASE, _grid(C=CS), None, options=_SQUARED),
        Method("SVM-2K", _TWO_VIEWS, estimator="SVM2KClassifier"),
        Method("SVM1+", _PLUS, options=_SQUARED | {"loss": "hinge"}),
        Method("SVM2+", _PLUS, options=_SQUARED),
        Method("SVM2+, free slack", _FREE, options=_SQUARED),
        Method("SVM2+, noise as Z", _PLUS, "noise", options=_SQUARED),
        Method("SVM2+, noise as Z, free slack", _FREE, "noise", options=_SQUARED),
        Method("SVM on the full images", _grid(C=CS), "as X", options=_SQUARED),
    )
}


@dataclass(frozen=True)
class Outcome:
    """One method on one split: test accuracy, certified gap, what was chosen, classes with w = 0."""

    accuracy: float
    gap: float
    chosen: Settings
    collapsed: int


@dataclass(frozen=True)
class Splits:
    """Accuracies by method, one entry per seed, and the largest certified relative gap of all models."""

    seeds: tuple[int, ...]
    accuracies: dict[str, np.ndarray]
    worst_gap: float
    outcomes: dict[str, tuple[Outcome, ...]] = field(repr=False)

    def mean(self, method: str) -> float:
        """Mean accuracy."""
        return float(self.accuracies[method].mean())

    def error(self, method: str) -> float:
        """Standard error of the mean; nan for one split."""
        return _standard_error(self.accuracies[method])

    def ahead(self, method: str, other: str = BASE) -> tuple[float, float]:
        """Mean difference to another method on the same splits, and its standard error."""
        difference = self.accuracies[method] - self.accuracies[other]
        return float(difference.mean()), _standard_error(difference)

    def won(self, method: str, other: str = BASE) -> tuple[int, int]:
        """Splits on which it was better and worse than another."""
        difference = self.accuracies[method] - self.accuracies[other]
        return int((difference > 0).sum()), int((difference < 0).sum())


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def draw(seed: int) -> tuple[Digits, Digits]:
    """A random split: `TRAIN` images of each class, and up to `TEST` others."""
    rng = np.random.default_rng(seed)
    everything = load_digits()
    train, test = [], []
    for digit in np.unique(everything.y):
        rows = rng.permutation(np.flatnonzero(everything.y == digit))
        train.append(rows[:TRAIN])
        test.append(rows[TRAIN : TRAIN + TEST])
    first, second = (
        Digits(*(A[np.concatenate(rows)] for A in everything)) for rows in (train, test)
    )
    return first, second


def view(method: Method, train: Digits, test: Digits, seed: int) -> tuple[Digits, Digits]:
    """The split as the method gets to see it."""
    if method.privileged == "as X":
        return train._replace(X=train.Z), test._replace(X=test.Z)
    if method.privileged == "noise":
        rng = np.random.default_rng([seed, 1])
        return train._replace(Z=rng.standard_normal(train.Z.shape)), test
    return train, test


def fitted(method: Method, train: Digits, seed: int, estimator: Any = None) -> Any:
    """The settings most accurate in cross-validation, fitted; among equals the first of the grid.

    Returns scikit-learn's search, whose ``best_estimator_`` is trained on all of ``train``.
    """
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    import fast
    from fast.errors import CollapseWarning

    def right(model: Any, X: np.ndarray, y: np.ndarray) -> float:
        return float((model.predict(X) == y).sum())

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    grid = [{name: [value] for name, value in each.items()} for each in method.grid]
    model = estimator or getattr(fast, method.estimator)(tol=TOL, **method.options)
    given = {"Z": train.Z} if method.privileged in ("images", "noise") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # the table says how many
        search = GridSearchCV(model, grid, scoring=right, cv=folds, error_score="raise")
        return search.fit(train.X, train.y, **given)


def run_split(seed: int, methods: Iterable[str] = tuple(METHODS)) -> dict[str, Outcome]:
    """Every method on one random split."""
    from verification.certificates import trained

    train, test = draw(seed)
    found = {}
    for method in (METHODS[name] for name in methods):
        mine, others = view(method, train, test, seed)
        search = fitted(method, mine, seed)
        model = search.best_estimator_
        accuracy = float((model.predict(others.X) == others.y).mean())
        given = {"Z": mine.Z} if method.privileged in ("images", "noise") else {}
        gap = float(trained(model, mine.X, mine.y, **given).relative_gap)
        collapsed = int(model.collapsed_.sum())
        found[method.name] = Outcome(accuracy, gap, dict(search.best_params_), collapsed)
    return found


def collect(seeds: Iterable[int], found: Sequence[dict[str, Outcome]]) -> Splits:
    """Results of `run_split` in one."""
    outcomes = {name: tuple(each[name] for each in found) for name in found[0]}
    accuracies = {name: np.array([o.accuracy for o in each]) for name, each in outcomes.items()}
    worst = max(o.gap for each in outcomes.values() for o in each)
    return Splits(tuple(seeds), accuracies, worst, outcomes)


def check_methods(methods: Iterable[str]) -> tuple[str, ...]:
    """The names in the order of the table.

    Raises
    ------
    InvalidArgumentError
        A method that there is not, or none at all.
    """
    asked = set(methods)
    if not asked or asked - set(METHODS):
        unknown = sorted(asked - set(METHODS)) or "empty"
        raise InvalidArgumentError(f"methods is {unknown}; expected some of {', '.join(METHODS)}")
    return tuple(name for name in METHODS if name in asked)


def run_splits(seeds: Iterable[int], methods: Iterable[str] = tuple(METHODS)) -> Splits:
    """Every method on a random split per seed, one after another.

    Parameters
    ----------
    seeds : of the splits, the cross-validation and the noise
    methods : keys of `METHODS`

    Raises
    ------
    InvalidArgumentError
        No seed, or a method that there is not.
    """
    seeds, names = tuple(seeds), check_methods(methods)
    if not seeds:
        raise InvalidArgumentError("seeds is empty; expected at least one")
    return collect(seeds, [run_split(seed, names) for seed in seeds])
