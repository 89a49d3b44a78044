"""The measurements behind "Which loss should I use?": two data sets, a dozen losses, C by validation."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Picture, show
from markup import Html, table
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

from verification.benchmarks import letter, protocol
from verification.benchmarks.methods import Loss

TOL = 1e-3
LOSSES = {
    "softmax": Loss("entropy"),
    "top-2 entropy": Loss("entropy", 2),
    "top-3 entropy": Loss("entropy", 3),
    "top-5 entropy": Loss("entropy", 5),
    "top-10 entropy": Loss("entropy", 10),
    "truncated, k = 3": Loss("entropy", 3, truncated=True),
    "truncated, k = 5": Loss("entropy", 5, truncated=True),
    "multiclass hinge": Loss("hinge"),
    "smooth hinge": Loss("hinge", 1, 1.0),
    "top-2 hinge": Loss("hinge", 2),
    "top-3 hinge": Loss("hinge", 3),
    "top-5 hinge": Loss("hinge", 5),
    "top-10 hinge": Loss("hinge", 10),
    "one-vs-all logistic": Loss("entropy", ova=True),
    "one-vs-all hinge": Loss("hinge", ova=True),
}
#: Per data set: numbers of guesses, values of C, and the losses that are left out.
STUDIES = {
    "Letter": ((1, 3, 5, 10), (0.1, 1.0, 10.0), ("top-2 entropy", "truncated, k = 3", "top-2 hinge")),
    "overlaid digits": (
        (1, 2, 3, 4, 5),
        (1.0, 10.0, 100.0),
        ("top-5 entropy", "top-10 entropy", "truncated, k = 5", "top-5 hinge", "top-10 hinge",
         "one-vs-all hinge"),
    ),
}  # fmt: skip
Cells = list[list[float]]

#: Strong and faint digit of each class; None: any.
KINDS = [(0, 1), (0, 2), (0, 3), (0, 5), (7, 1), (7, 4), (7, 6), (2, None), (4, None), (6, None)]


def overlays() -> list[tuple[np.ndarray, np.ndarray]]:
    """Images (n, 14, 14) and labels of the three parts, which share no digit."""
    digits = load_digits()
    images = zoom(digits.images / 16, (1, 1.75, 1.75), order=1)
    rng = np.random.default_rng(0)
    parts = []
    for pool, n in zip(
        np.split(rng.permutation(len(images)), [1000, 1300]), (4000, 2000, 4000), strict=True
    ):
        y, X = rng.integers(10, size=n), np.empty((n, 14, 14))
        by_digit = {d: pool[digits.target[pool] == d] for d in range(10)} | {None: pool}
        for i, label in enumerate(y):
            strong, faint = KINDS[label]
            moved = np.roll(
                images[rng.choice(by_digit[faint])], rng.integers(-1, 2, size=2), (0, 1)
            )
            X[i] = images[rng.choice(by_digit[strong])] + 0.4 * moved
        parts.append((X, y))
    return parts


def parts_of(data: str) -> protocol.Parts:
    """Training, validation and test part."""
    if data == "Letter":
        return letter.load_parts()
    raw = overlays()
    center = raw[0][0].mean(axis=0)
    size = np.sqrt(np.mean(np.sum((raw[0][0] - center) ** 2, axis=(1, 2))))
    return protocol.Parts(*(((X - center).reshape(len(X), -1) / size, y) for X, y in raw))


def tried(
    parts: protocol.Parts, data: str, name: str, grid: Sequence[float]
) -> Sequence[protocol.Fit]:
    """Models of the training part over the grid, each for itself: certified gaps, CPU seconds and accuracies."""
    row = protocol.Row(name, LOSSES[name], top=STUDIES[data][0])
    fits = [fit for C in grid for fit in protocol.fits_along(parts, row, [C], TOL)]
    assert max(fit.gap for fit in fits) <= TOL, name
    return fits


def measure() -> dict[str, Any]:
    """Per data set, loss and k: test accuracy, seconds and C of the model that validation prefers."""
    results: dict[str, Any] = {}
    for data, (_, grid, without) in STUDIES.items():
        parts = parts_of(data)
        names = [name for name in LOSSES if name not in without]
        protocol.compile_trainers(parts, [protocol.Row(name, LOSSES[name]) for name in names])
        results[data] = {
            name: [
                [round(fit.test[j], 3), round(fit.seconds, 3), fit.C]
                for j, fit in enumerate(protocol.choose(tried(parts, data, name, grid)))
            ]
            for name in names
        }
    return results


def again(record: Mapping[str, Any], data: str, names: Sequence[str], column: int) -> None:
    """Train the models of a column once more: certified by formulas, as accurate as recorded."""
    parts = parts_of(data)
    for name in names:
        accuracy, _, C = record[data][name][column]
        (fit,) = tried(parts, data, name, [C])
        found = fit.test[column]
        print(f"{data}, {name}, C = {C:g}: {found:.1f} %, gap {fit.gap:.0e}")
        assert abs(found - accuracy) < 0.1, (data, name, found, accuracy)


def lead(results: Mapping[str, Cells], name: str, column: int) -> float:
    """Points ahead of the softmax."""
    return results[name][column][0] - results["softmax"][column][0]


def accuracy_table(record: Mapping[str, Any], data: str) -> Html:
    """Test accuracies, the best of a column in bold, and the mean seconds of a row."""
    results, guesses = record[data], STUDIES[data][0]
    best = np.max([[cell[0] for cell in row] for row in results.values()], axis=0)
    rows = []
    for name, row in results.items():
        cells = [
            f"<b>{a:.1f}</b>" if a == top else f"{a:.1f}"
            for (a, _, _), top in zip(row, best, strict=True)
        ]
        rows.append((name, *cells, f"{np.mean([seconds for _, seconds, _ in row]):.2f}"))
    return table(("test accuracy, %", *(f"top-{k}" for k in guesses), "CPU s"), rows)


_STYLES = {
    "multiclass hinge": (GREY, "-"),
    "top-2 entropy": (BLUE, "-"),
    "top-2 hinge": (BLUE, "--"),
    "top-3 entropy": (GREEN, "-"),
    "top-3 hinge": (GREEN, "--"),
    "top-5 entropy": (BLUE, "-"),
    "top-5 hinge": (BLUE, "--"),
    "top-10 entropy": (PURPLE, "-"),
    "top-10 hinge": (PURPLE, "--"),
    "truncated, k = 3": (RED, ":"),
    "truncated, k = 5": (RED, ":"),
    "one-vs-all logistic": (ORANGE, "-."),
}


def against_guesses(record: Mapping[str, Any]) -> Picture:
    """Points above the softmax for each k, both data sets."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.1))
    for panel, (data, (guesses, _, _)) in zip(panels, STUDIES.items(), strict=True):
        results = record[data]
        panel.axhline(0, color=GREY, linewidth=0.8)
        for name, (colour, style) in _STYLES.items():
            if name in results:
                points = [lead(results, name, j) for j in range(len(guesses))]
                panel.plot(
                    guesses, points, style, marker="o", markersize=3.5, color=colour, label=name
                )
        panel.set(title=data, xlabel="number of guesses $k$", xticks=guesses, ylim=(-9, 3))
        panel.legend(fontsize=8, loc="lower right")
    panels[0].set_ylabel("points above the softmax")
    return show(
        figure,
        "Test accuracy minus that of the softmax. Left: every top-k loss wins from about its "
        "own k on, or a little before, and pays for it at k = 1 (some lines begin far below "
        "the picture). Right: where the linear model is good enough, there is little to win.",
    )


def against_time(record: Mapping[str, Any]) -> Picture:
    """Test accuracy on Letter against the seconds of the training, for one guess and five."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.1))
    for panel, column, k in ((panels[0], 0, 1), (panels[1], 2, 5)):
        cells = sorted((row[column][:2], name) for name, row in record["Letter"].items())
        lowest, highest = cells[0][0][0], cells[-1][0][0]
        space = (highest - lowest) / 14  # between two names at the right
        height = lowest - 2 * space
        for (accuracy, seconds), name in cells:
            height = max(accuracy - 2 * space, height + space)
            kinds = (("trunc", RED), ("one", ORANGE), ("hinge", GREEN), ("", BLUE))
            colour = next(c for part, c in kinds if part in name)
            panel.plot(seconds, accuracy, "o", color=colour, markersize=5)
            panel.annotate(
                name,
                (seconds, accuracy),
                xytext=(1.03, height),
                textcoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5},
            )
        panel.set(xscale="log", xlabel="CPU seconds, one thread", title=f"Letter, top-{k}")
        panel.minorticks_off()
        low, high = panel.get_xlim()
        ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5) if low < t < high]
        panel.set_xticks(ticks, [f"{t:g}" for t in ticks])
    panels[0].set_ylabel("test accuracy in %")
    return show(
        figure,
        "Blue: entropies, green: hinges, orange: one-vs-all, red: truncated. Training time "
        "of the model that validation chose for that k. Up and to the left is better.",
    )


def images() -> Picture:
    """One overlaid image of each class."""
    X, y = overlays()[0]
    figure, panels = plt.subplots(1, 10, figsize=(9.6, 1.35))
    for label, panel in enumerate(panels):
        panel.imshow(X[np.flatnonzero(y == label)[0]], cmap="gray_r")
        panel.set_title(str(label), fontsize=9)
        panel.set_axis_off()
    return show(
        figure,
        "One image of each class. Classes 0 to 3 differ in the faint digit only, so do 4 to "
        "6; in 7 to 9 the faint digit means nothing.",
    )
