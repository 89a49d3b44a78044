"""Draws of the circle in the paper's protocol: 200 + 200 points, C by validation, per column.

C runs over the powers of two from 2^-18 to 2^18; each column takes the C of best validation accuracy,
among equals the smallest. The accuracy of the chosen model is then computed exactly under the
distribution, which 200 000 test points only estimate (with a standard error of up to 0.11 points).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from verification.benchmarks import circle
from verification.benchmarks.methods import Fitted, certified_gap, path
from verification.benchmarks.protocol import Row, loss_of

GRID = tuple(2.0**e for e in range(-18, 19))
TOL = 1e-3
#: What majorise-minimise is held to: it also ends when a step gains less than this share.
TRUNCATED_TOL = 1e-9
#: Scores closer than this share of the largest weight are equal.
TIE = 1e-6


#: The rows of Table 2, with the printed test accuracies (top-1, top-2) in percent.
METHODS = tuple(
    Row(name, loss_of(name), printed, top=(1, 2))
    for name, printed in {
        "SVM-OVA": (54.3, 85.8),
        "LR-OVA": (54.7, 81.7),
        "SVM-Multi": (58.9, 89.3),
        "LR-Multi": (54.7, 81.7),
        "smooth top-1 SVM": (65.7, 83.9),
        "top-2 SVM": (54.4, 87.1),
        "smooth top-2 SVM": (54.5, 87.0),
        "top-2 Ent": (54.6, 87.6),
        "top-2 Ent_tr": (58.4, 96.1),
    }.items()
)

Pair = tuple[float, float]
Part = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Choice:
    """The models that validation chose for the two columns, and their accuracies in percent."""

    method: str
    C: Pair
    validation: Pair
    test: Pair
    gap: float
    zero: bool
    weights: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Trial:
    """Accuracies in percent of the model of one C."""

    C: float
    validation: Pair
    test: Pair


def sampled(W: np.ndarray, X: np.ndarray, y: np.ndarray, tie: float = TIE) -> Pair:
    """Top-1 and top-2 accuracy on examples, in percent; scores within ``tie`` max|W| are equal."""
    scores = X @ W.T
    own = scores[np.arange(len(y)), y] - tie * np.abs(W).max()
    ahead = (scores >= own[:, None]).sum(axis=1) - 1
    return 100.0 * float(np.mean(ahead < 1)), 100.0 * float(np.mean(ahead < 2))


def exact(W: np.ndarray, joint: circle.Joint) -> Pair:
    """Top-1 and top-2 accuracy under the distribution, in percent."""
    one, two = circle.accuracy(W, joint, TIE * float(np.abs(W).max()))
    return 100.0 * one, 100.0 * two


def fitted(method: Row, X: np.ndarray, y: np.ndarray, grid: Sequence[float]) -> list[Fitted]:
    """The method's models over the grid of C."""
    return path(method.loss, X, y, grid, TRUNCATED_TOL if method.loss.truncated else TOL)


def weights(model: Fitted) -> np.ndarray:
    """W, or zeros where zero is optimal: what is left of it then is rounding."""
    return np.zeros_like(model.W) if model.is_zero else model.W


def choose(
    method: Row, models: Sequence[Fitted], trials: Sequence[Trial], X: np.ndarray, y: np.ndarray
) -> Choice:
    """Per column the model of best validation accuracy; the first of equals.

    ``X``, ``y`` are the training points: the gaps of the chosen models are computed anew.
    """
    one, two = (
        max(range(len(trials)), key=lambda i: trials[i].validation[column]) for column in (0, 1)
    )
    return Choice(
        method.name,
        (trials[one].C, trials[two].C),
        (trials[one].validation[0], trials[two].validation[1]),
        (trials[one].test[0], trials[two].test[1]),
        max(certified_gap(models[i], X, y) for i in {one, two}),
        all(model.is_zero for model in models),
        (weights(models[one]), weights(models[two])),
    )


def tuned(
    method: Row,
    grid: Sequence[float],
    train: Part,
    held: Part,
    test: Callable[[np.ndarray], Pair],
) -> tuple[list[Fitted], list[Trial], Choice]:
    """Models of a method over the grid, their accuracies, ``test`` by weights, and what validation chose."""
    models = fitted(method, *train, grid)
    trials = [Trial(m.C, sampled(weights(m), *held), test(weights(m))) for m in models]
    return models, trials, choose(method, models, trials, *train)


def run_draw(
    reading: str, seed: int, methods: Sequence[Row] = METHODS, grid: Sequence[float] = GRID
) -> list[Choice]:
    """One draw of 200 + 200 points; every method tuned and measured exactly."""
    joint = circle.READINGS[reading]
    n, held = circle.SIZES[:2]
    X, y = circle.draw(joint, n + held, seed)
    parts = (X[:n], y[:n]), (X[n:], y[n:])
    return [tuned(method, grid, *parts, lambda W: exact(W, joint))[2] for method in methods]


@dataclass(frozen=True)
class Remade:
    """A method on the authors' own draw: the choice, and every C tried.

    ``spread``: where the chosen top-1 model gives two classes the same weights, the (lowest, highest)
    test accuracy per column when every weight moves by a billionth; rounding decides as freely.
    """

    method: Row
    choice: Choice
    trials: tuple[Trial, ...]
    weights: tuple[np.ndarray, ...]
    spread: tuple[Pair, Pair] | None = None


def run_authors_draw(
    methods: Sequence[Row] = METHODS, grid: Sequence[float] = GRID
) -> list[Remade]:
    """The draw of the authors' script with its own 200 000 test points."""
    n, held = circle.SIZES[:2]
    X, y = circle.authors_draw()
    (train, part, test) = ((X[a:b], y[a:b]) for a, b in pairwise((0, n, n + held, len(y))))
    found = []
    for method in methods:
        models, trials, choice = tuned(method, grid, train, part, lambda W: sampled(W, *test))
        W = choice.weights[0]
        spread = shaken(W, *test) if has_equal_rows(W) else None
        found.append(Remade(method, choice, tuple(trials), tuple(m.W for m in models), spread))
    return found


def shaken(W: np.ndarray, X: np.ndarray, y: np.ndarray, times: int = 50) -> tuple[Pair, Pair]:
    """Lowest and highest accuracies, per column, of W with every entry moved by about 1e-9."""
    rng = np.random.default_rng(0)
    size = 1e-9 * np.abs(W).max()
    found = [sampled(W + size * rng.standard_normal(W.shape), X, y, 0.0) for _ in range(times)]
    low, high = np.min(found, axis=0), np.max(found, axis=0)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


@dataclass(frozen=True)
class Summary:
    """Many draws of one method: (5 %, median, 95 %) per column over the draws that have a classifier.

    ``zero`` counts draws in which W = 0 is optimal at every C; ``tied`` those of the others in which a
    chosen model gives two classes the same weights, so that they cannot be told apart.
    """

    method: Row
    quantiles: tuple[tuple[float, float, float], tuple[float, float, float]]
    draws: int
    zero: int
    tied: int
    worst_gap: float

    def outside(self, column: int) -> bool:
        """Whether the printed accuracy lies outside the 5-95 % range."""
        low, _, high = self.quantiles[column]
        return not low <= self.method.paper[column] <= high


def summarise(method: Row, choices: Sequence[Choice]) -> Summary:
    """Quantiles of one method over draws."""
    kept = [c for c in choices if not c.zero]
    columns = np.array([c.test for c in kept]).reshape(-1, 2)
    low, mid, high = (
        np.quantile(columns, [0.05, 0.5, 0.95], axis=0) if kept else np.full((3, 2), np.nan)
    )
    tied = sum(any(has_equal_rows(W) for W in c.weights) for c in kept)
    gap = max((c.gap for c in choices), default=float("inf"))
    one, two = ((float(low[j]), float(mid[j]), float(high[j])) for j in (0, 1))
    return Summary(method, (one, two), len(choices), len(choices) - len(kept), tied, gap)


def has_equal_rows(W: np.ndarray) -> bool:
    """Whether two classes have the same weights up to `TIE`."""
    apart = [np.abs(W[i] - W[j]).max() for i in range(len(W)) for j in range(i)]
    return min(apart) <= TIE * np.abs(W).max()


def summarise_all(
    draws: Sequence[Sequence[Choice]], methods: Sequence[Row] = METHODS
) -> list[Summary]:
    """One summary per method, in their order."""
    return [
        summarise(method, [c for found in draws for c in found if c.method == method.name])
        for method in methods
    ]


def compile_trainers(methods: Sequence[Row] = METHODS) -> None:
    """Let numba compile what the methods need, into the cache that other processes read."""
    X, y = circle.draw(circle.READINGS["segments"], 60, 0)
    for method in methods:
        fitted(method, X, y, (1.0,))
