"""Privileged information on the digits: coarse images to predict from, the full ones in training only.

X (n, 16): means over 2 x 2 pixels; Z (n, 64): the image. A split takes 10 images of each class to
train on and up to 50 others to test. Every method chooses its parameters by the same 5-fold
cross-validation on the training images, whose winner is trained on all of them; each model
separates a class from the rest with linear functions and carries a certificate.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from verification.errors import InvalidArgumentError

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


class Part(NamedTuple):
    """X (n, 16), Z (n, 64) and the digits y (n,)."""

    X: np.ndarray
    Z: np.ndarray
    y: np.ndarray

    def take(self, rows: np.ndarray) -> Part:
        """Some of the rows."""
        return Part(self.X[rows], self.Z[rows], self.y[rows])


class Fitted(NamedTuple):
    """Predictions for rows of X, the largest certified relative gap, classes with w = 0."""

    predict: Callable[[np.ndarray], np.ndarray]
    gap: Callable[[], float]
    collapsed: int


@dataclass(frozen=True)
class Method:
    """A row of the table: how to train, the privileged features, and the grid, simplest first."""

    name: str
    train: Callable[..., Fitted]
    privileged: str = "images"  # or "noise", or "as X": the full images at prediction too
    grid: tuple[Settings, ...] = ()


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


def train_plus(
    part: Part, *, loss: str = "squared_hinge", privileged: bool = True, **settings: Any
) -> Fitted:
    """SVM2+, or SVM1+ with the hinge; without privileged features the squared hinge alone."""
    from fast import SVMPlusClassifier

    model = SVMPlusClassifier(loss=loss, tol=TOL, **{"free_slack": 0.0} | settings)
    return _fitted(model, part, part.Z if privileged else None)


def train_two_views(part: Part, C: float, share: float) -> Fitted:
    """SVM-2K; the view X predicts."""
    from fast import SVM2KClassifier

    return _fitted(SVM2KClassifier(C, C, share * C, tol=TOL), part, part.Z)


def _fitted(model: Any, part: Part, Z: Any) -> Fitted:
    from fast.errors import CollapseWarning
    from verification.certificates import trained

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # the table says how many
        model.fit(part.X, part.y, Z)
    given = {} if Z is None else {"Z": Z}
    gap = partial(trained, model, part.X, part.y, **given)
    return Fitted(model.predict, lambda: float(gap().relative_gap), int(model.collapsed_.sum()))


def _grid(**values: Sequence[float]) -> tuple[Settings, ...]:
    return tuple(dict(zip(values, each, strict=True)) for each in product(*values.values()))


_svm = partial(train_plus, privileged=False)
_PLUS = _grid(C=CS, lam=LAMS[::-1])
_FREE = _grid(C=CS, lam=LAMS[::-1], free_slack=DELTAS[::-1])
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(BASE, _svm, grid=_grid(C=CS)),
        Method("SVM-2K", train_two_views, grid=_grid(C=CS, share=SHARES)),
        Method("SVM1+", partial(train_plus, loss="hinge"), grid=_PLUS),
        Method("SVM2+", train_plus, grid=_PLUS),
        Method("SVM2+, free slack", train_plus, grid=_FREE),
        Method("SVM2+, noise as Z", train_plus, "noise", _PLUS),
        Method("SVM2+, noise as Z, free slack", train_plus, "noise", _FREE),
        Method("SVM on the full images", _svm, "as X", _grid(C=CS)),
    )
}


@lru_cache(maxsize=1)
def load() -> Part:
    """All of scikit-learn's digits, pixels from 0 to 1."""
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    Z = images / 16.0
    return Part(Z.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(Z), 16), Z, y)


def draw(seed: int) -> tuple[Part, Part]:
    """A random split: `TRAIN` images of each class, and up to `TEST` others."""
    rng = np.random.default_rng(seed)
    everything = load()
    train, test = [], []
    for digit in np.unique(everything.y):
        rows = rng.permutation(np.flatnonzero(everything.y == digit))
        train.append(rows[:TRAIN])
        test.append(rows[TRAIN : TRAIN + TEST])
    return everything.take(np.concatenate(train)), everything.take(np.concatenate(test))


def view(method: Method, train: Part, test: Part, seed: int) -> tuple[Part, Part]:
    """The split as the method gets to see it."""
    if method.privileged == "as X":
        return train._replace(X=train.Z), test._replace(X=test.Z)
    if method.privileged == "noise":
        rng = np.random.default_rng([seed, 1])
        return train._replace(Z=rng.standard_normal(train.Z.shape)), test
    return train, test


def choose(method: Method, train: Part, seed: int) -> Settings:
    """The settings most accurate in cross-validation; among equals the first of the grid."""
    from sklearn.model_selection import StratifiedKFold

    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(train.X, train.y))

    def right(settings: Settings) -> int:
        total = 0
        for kept, left in folds:
            model = method.train(train.take(kept), **settings)
            total += int((model.predict(train.X[left]) == train.y[left]).sum())
        return total

    return max(method.grid, key=right)


def run_split(seed: int, methods: Iterable[str] = tuple(METHODS)) -> dict[str, Outcome]:
    """Every method on one random split."""
    train, test = draw(seed)
    found = {}
    for method in (METHODS[name] for name in methods):
        mine, others = view(method, train, test, seed)
        chosen = choose(method, mine, seed)
        model = method.train(mine, **chosen)
        accuracy = float((model.predict(others.X) == others.y).mean())
        found[method.name] = Outcome(accuracy, model.gap(), chosen, model.collapsed)
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
    if unknown := sorted(asked - set(METHODS)):
        raise InvalidArgumentError(f"methods is {unknown}; expected some of {', '.join(METHODS)}")
    if not asked:
        raise InvalidArgumentError(f"methods is empty; expected some of {', '.join(METHODS)}")
    return tuple(name for name in METHODS if name in asked)


def run_splits(seeds: Iterable[int], methods: Iterable[str] = tuple(METHODS)) -> Splits:
    """Every method on a random split per seed, one after another.

    Parameters
    ----------
    seeds : of the splits, the cross-validation and the noise
    methods : keys of `METHODS`

    Returns
    -------
    Splits

    Raises
    ------
    InvalidArgumentError
        No seed, or a method that there is not.
    """
    seeds, names = tuple(seeds), check_methods(methods)
    if not seeds:
        raise InvalidArgumentError("seeds is empty; expected at least one")
    return collect(seeds, [run_split(seed, names) for seed in seeds])
