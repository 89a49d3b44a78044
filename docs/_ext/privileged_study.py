"""The measurements behind "Does privileged information help?": four kinds of feature, and digits."""

import warnings
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from figures import BLUE, GREEN, GREY, ORANGE, Picture, show
from markup import Html, table

import fast
from fast.errors import CollapseWarning
from verification.benchmarks import svmplus_digits

KINDS: dict[str, Callable[..., np.ndarray]] = {
    "needed slack": lambda x, y, signal, rng: np.maximum(0, 1 - y * x[:, 0]),
    "signal": lambda x, y, signal, rng: signal,
    "distance": lambda x, y, signal, rng: np.abs(signal),
    "noise": lambda x, y, signal, rng: rng.normal(size=len(y)),
}
NAMES = ("SVM", "SVM2+", "SVM2+, free slack")
METHODS = [name for name in svmplus_digits.METHODS if name != "SVM-2K"]
SEEDS, SPLITS, GRID, LAMS = range(8), range(4), (0.01, 0.1, 1.0, 10.0), (0.1, 10.0)


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels, and the signal of which a label is the sign."""
    x = rng.normal(size=(n, 10))
    signal = x[:, 0] + rng.normal(size=n)
    return x, np.where(signal > 0, 1, -1), signal


def compared(kind: str, seed: int, n: int = 50) -> list[list[float]]:
    """Per model of `NAMES`, chosen by validation: test accuracy, and whether it collapsed."""
    rng = np.random.default_rng(seed)
    X, y, signal = draw(n, rng)
    validation, test = draw(500, rng)[:2], draw(3000, rng)[:2]
    Z = KINDS[kind](X, y, signal, rng)[:, None]
    train, found = fast.SVMPlusClassifier, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # counted
        for models in (
            [train(C=C).fit(X, y) for C in GRID],
            [train(C=C, lam=lam, free_slack=0.0).fit(X, y, Z) for C in GRID for lam in LAMS],
            [
                train(C=C, lam=lam, free_slack=delta).fit(X, y, Z)
                for C in GRID for lam in LAMS for delta in LAMS
            ],
        ):  # fmt: skip
            assert max(model.dual_gap_ for model in models) <= 1e-3
            best = max(models, key=lambda model: model.score(*validation))
            found.append([round(best.score(*test), 5), int(best.collapsed_.any())])
    return found


def measure() -> dict[str, Any]:
    """Both studies."""
    kinds = {kind: [compared(kind, seed) for seed in SEEDS] for kind in KINDS}
    splits = svmplus_digits.run_splits(SPLITS, methods=METHODS)
    assert splits.worst_gap <= 2e-4
    digits = {
        name: [100 * x for x in (splits.mean(name), splits.error(name), *splits.ahead(name))]
        for name in METHODS
    }
    accuracies = {name: splits.accuracies[name].tolist() for name in METHODS}
    return {"kinds": kinds, "digits": digits, "accuracies": accuracies}


def means(record: dict[str, Any]) -> dict[str, np.ndarray]:
    """Mean test accuracy in percent of the three models, per kind."""
    return {
        kind: 100 * np.array(runs)[:, :, 0].mean(axis=0) for kind, runs in record["kinds"].items()
    }


def kinds_figure(record: dict[str, Any]) -> Picture:
    """Points ahead of the SVM by kind of feature, without and with slacks of their own."""
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    ahead = {kind: mean[1:] - mean[0] for kind, mean in means(record).items()}
    place = np.arange(len(ahead))
    for j, (name, colour) in enumerate(zip(NAMES[1:], (BLUE, ORANGE), strict=True)):
        axes.bar(
            place + 0.3 * (j - 0.5), [a[j] for a in ahead.values()], 0.3, color=colour, label=name
        )
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(place, list(ahead))
    axes.set(ylabel="points ahead of the SVM")
    axes.legend(fontsize=9)
    return show(
        figure,
        "What a privileged feature is worth by what it knows: how hard an example is, which class "
        "it has, how far from the boundary it is, nothing. Means of eight draws of 50 examples.",
    )


def kinds_table(record: dict[str, Any]) -> Html:
    """Test accuracies, and how often SVM2+ gave w = 0."""
    rows = [
        (kind, *(f"{value:.1f}" for value in mean),
         f"{sum(run[1][1] for run in record['kinds'][kind])} of {len(record['kinds'][kind])}")
        for kind, mean in means(record).items()
    ]  # fmt: skip
    return table(("test accuracy, %", *NAMES, "SVM2+ collapsed"), rows)


def digits_figure(record: dict[str, Any]) -> Picture:
    """Test accuracy of each method on coarse digits."""
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    rows = record["digits"]
    colours = [GREY, GREEN, BLUE, BLUE, ORANGE, ORANGE, GREY]
    place = np.arange(len(rows))
    axes.barh(
        place, [r[0] for r in rows.values()], xerr=[r[1] for r in rows.values()], color=colours
    )
    axes.set_yticks(place, list(rows))
    axes.invert_yaxis()
    axes.set(xlabel="test accuracy, %", xlim=(60, 95))
    return show(
        figure,
        "Four random splits, with standard errors. The last bar is what the full images are"
        " worth where they may be used for predicting.",
    )


def digits_table(record: dict[str, Any]) -> Html:
    """The same in numbers."""
    rows = [
        (name, f"{mean:.1f} ± {error:.1f}", f"{ahead:+.1f} ± {spread:.1f}")
        for name, (mean, error, ahead, spread) in record["digits"].items()
    ]
    return table(("method", "test accuracy, %", "against SVM"), rows)


def again(record: dict[str, Any], seed: int = 0) -> None:
    """One draw, and the SVM and SVM2+ of one split, once more: as recorded."""
    for kind in KINDS:
        found = compared(kind, seed)
        assert np.allclose(found, record["kinds"][kind][seed], atol=0.01), (kind, found)
    names = (svmplus_digits.BASE, "SVM2+")
    for name, outcome in svmplus_digits.run_split(seed, names).items():
        print(f"split {seed}, {name}: {100 * outcome.accuracy:.1f} %, gap {outcome.gap:.0e}")
        assert outcome.gap <= 2e-4
        assert abs(outcome.accuracy - record["accuracies"][name][seed]) < 0.005
