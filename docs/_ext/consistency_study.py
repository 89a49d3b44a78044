"""Where consistency pays with linear models: losses for one k on real data and on distributions with known answers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Picture, show
from markup import Html, table
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fast.datasets import load_letter
from verification.benchmarks import protocol
from verification.benchmarks.methods import Loss

TOL, SPLITS, EXAMPLES = 1e-3, 20, 2000
#: A loss for k guesses, and its colour.
LOSSES: dict[str, tuple[Callable[[int], Loss], str]] = {
    "softmax": (lambda k: Loss("entropy"), GREY),
    "top-k entropy": (lambda k: Loss("entropy", k), BLUE),
    "multiclass hinge": (lambda k: Loss("hinge"), GREY),
    "top-k hinge α": (lambda k: Loss("hinge", k), RED),
    "top-k hinge β": (lambda k: Loss("hinge", k, variant="beta"), ORANGE),
    "smooth top-k hinge α": (lambda k: Loss("hinge", k, 1.0), PURPLE),
    "consistent top-k hinge": (lambda k: Loss("hinge", k, variant="consistent"), GREEN),
    "smooth consistent hinge": (lambda k: Loss("hinge", k, 1.0, variant="consistent"), GREEN),
}
Raw = tuple[np.ndarray, np.ndarray]
#: Probabilities of the classes of a group: each below 1/3, so that the top-2 hinge α ties all four.
SHARES = np.array([0.3, 0.3, 0.2, 0.2])
GROUPS = 6


def _letter(rng: np.random.Generator) -> Raw:
    """Some of the 20 000, features in [-1, 1]."""
    parts = [load_letter(subset=name) for name in ("train", "validation", "test")]
    X, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    rows = rng.choice(len(y), EXAMPLES, replace=False)
    return 2.0 * (X[rows] - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0, y[rows]


def _digits(rng: np.random.Generator) -> Raw:
    X, y = load_digits(return_X_y=True)
    rows = rng.choice(len(y), EXAMPLES // 2, replace=False)
    return X[rows] / 16.0, y[rows]


def _labels(group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A class of each group, by its shares."""
    return 4 * group + rng.choice(4, len(group), p=SHARES)


def _features(rng: np.random.Generator) -> Raw:
    """Unit rows around the centre of a group, each class a little aside: deep features of ambiguous classes."""
    fixed = np.random.default_rng(0)
    centres, aside = fixed.standard_normal((GROUPS, 1, 32)), fixed.standard_normal((GROUPS, 4, 32))
    centres = centres + 0.15 * aside
    y = _labels(rng.integers(GROUPS, size=EXAMPLES), rng)
    X = centres.reshape(-1, 32)[y] + 0.8 * rng.standard_normal((len(y), 32))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def _groups(rng: np.random.Generator) -> Raw:
    """One feature for each group: any scores are linear, and the best two guesses are known."""
    group = rng.integers(GROUPS, size=EXAMPLES)
    return np.eye(GROUPS)[group], _labels(group, rng)


def _signs(rng: np.random.Generator) -> Raw:
    """The example of the calibration page: x = 1 or -1, masses of three classes in 21sts."""
    at = rng.choice(6, EXAMPLES, p=np.array([2, 12, 0, 0, 5, 2]) / 21)
    return np.where(at < 3, 1.0, -1.0)[:, None], at % 3


#: Examples, the k that is paid for, and values of C.
DATA: dict[str, tuple[Callable[[np.random.Generator], Raw], int, tuple[float, ...]]] = {
    "Letter": (_letter, 5, (0.1, 1.0, 10.0)),
    "digits": (_digits, 3, (0.1, 1.0, 10.0)),
    "ambiguous features": (_features, 2, (0.1, 1.0, 10.0)),
    "groups": (_groups, 2, (0.01, 0.1, 1.0)),
    "x = 1 or -1": (_signs, 2, (0.01, 0.1, 1.0)),
}


def parts_of(data: str, seed: int) -> protocol.Parts:
    """Training, validation and test part of a split: halves, and quarters."""
    make = DATA[data][0]
    X, y = make(np.random.default_rng(seed))
    train, others = train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)
    first, second = train_test_split(others, test_size=0.5, random_state=seed, stratify=y[others])
    return protocol.Parts(*((np.ascontiguousarray(X[i]), y[i]) for i in (train, first, second)))


def row_of(data: str, name: str, classes: int) -> protocol.Row:
    """A loss for the k of the data, measured for 1 to 5 guesses."""
    return protocol.Row(name, LOSSES[name][0](DATA[data][1]), top=tuple(range(1, min(6, classes))))


def split(data: str, seed: int, names: Any = None) -> dict[str, list[list[float]]]:
    """Per loss, for each number of guesses: test accuracy and C of the certified model that validation prefers."""
    parts = parts_of(data, seed)
    found = {}
    for name in names or LOSSES:
        fits = protocol.fits_along(parts, row_of(data, name, len(np.unique(parts.train[1]))), DATA[data][2], TOL)
        assert max(fit.gap for fit in fits) <= TOL, (data, seed, name)
        found[name] = [
            [round(fit.test[j], 3), fit.C] for j, fit in enumerate(protocol.choose(fits))
        ]
    return found


def lines(known: Iterable[Mapping[str, Any]] = ()) -> Iterator[dict[str, Any]]:
    """A row for each split that is not known."""
    done = {(row["data"], row["seed"]) for row in known}
    for data in DATA:
        for seed in range(SPLITS):
            if (data, seed) not in done:
                yield {"data": data, "seed": seed, "losses": split(data, seed)}


def by_data(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The losses of every split, in their order, for each data set."""
    found: dict[str, dict[int, Any]] = {data: {} for data in DATA}
    for row in rows:
        found[row["data"]][row["seed"]] = row["losses"]
    return {data: [each for _, each in sorted(splits.items())] for data, splits in found.items()}


def accuracies(record: Mapping[str, Any], data: str, name: str, column: int) -> np.ndarray:
    """Test accuracies of the splits, for column + 1 guesses."""
    return np.array([each[name][column][0] for each in record[data]])


def ahead(
    record: Mapping[str, Any], data: str, name: str, column: int, other: str = "softmax"
) -> tuple[float, float]:
    """Points ahead of another loss on the same splits: the mean, and half of its 95 % interval."""
    first, second = (accuracies(record, data, each, column) for each in (name, other))
    error = (first - second).std(ddof=1) / np.sqrt(len(first))
    return float((first - second).mean()), float(stats.t.ppf(0.975, len(first) - 1) * error)


def at_own_k(record: Mapping[str, Any]) -> Picture:
    """Points ahead of the softmax with the guesses that are paid for."""
    figure, panels = plt.subplots(1, len(DATA), figsize=(10.5, 3.3), sharey=True)
    names = [name for name in LOSSES if name != "softmax"]
    for panel, (data, (_, k, _)) in zip(panels, DATA.items(), strict=True):
        panel.axvline(0, color=GREY, linewidth=0.8)
        for at, name in enumerate(names):
            mean, half = ahead(record, data, name, k - 1)
            panel.errorbar(mean, at, xerr=half, fmt="o", color=LOSSES[name][1], capsize=3, ms=4)
        panel.set(title=f"{data}, k = {k}", xlabel=f"{len(record[data])} splits")
        panel.title.set_fontsize(9.5)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    figure.supxlabel("points ahead of the softmax in top-k accuracy", fontsize=9.5)
    return show(
        figure,
        "Every loss for the k of its panel, C by validation. Means over the splits, 95 % intervals of the paired"
        " difference; each panel has a scale of its own.",
    )


def accuracy_tables(record: Mapping[str, Any]) -> Html:
    """Mean test accuracies for 1 to 5 guesses, the best of a column in bold; a table for each data set."""
    parts = []
    for data, (_, k, _) in DATA.items():
        guesses = range(len(record[data][0]["softmax"]))
        means = {name: [accuracies(record, data, name, j).mean() for j in guesses] for name in LOSSES}
        best = np.max(list(means.values()), axis=0)
        rows = [
            (name, *(f"<b>{v:.1f}</b>" if v == top else f"{v:.1f}" for v, top in zip(row, best, strict=True)))
            for name, row in means.items()
        ]  # fmt: skip
        parts.append(table((f"{data}, k = {k}", *(f"top-{j + 1}" for j in guesses)), rows))
    return Html("".join(parts))


def again(record: Mapping[str, Any], data: str, seed: int, names: Any) -> None:
    """Some losses of a split once more: certified, as accurate as recorded."""
    k = DATA[data][1]
    for name, row in split(data, seed, names).items():
        found, known = row[k - 1][0], record[data][seed][name][k - 1][0]
        print(f"{data}, split {seed}, {name}: top-{k} {found:.1f} %")
        assert abs(found - known) < 0.5, (name, found, known)
