"""Pictures of the circle: Table 2 as intervals over many draws, and the two predicted rings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verification.benchmarks import circle
from verification.benchmarks.circle_best import Best
from verification.benchmarks.circle_report import figure_match
from verification.benchmarks.circle_runs import Remade, Summary
from verification.benchmarks.plots import COLOURS, legend, pyplot, save

SHADES = ("#222222", "#888888", "#b8860b", "#8a6fb0")
#: The models of Figure 4 and the column that each was chosen for.
SHOWN = {"smooth top-1 SVM": 0, "top-2 Ent_tr": 1}


def figure_models(remade: Sequence[Remade]) -> dict[str, np.ndarray]:
    """The weights behind Figure 4 by title: the C nearest to its accuracies, else the chosen one."""
    found = {}
    for r in remade:
        if r.method.name not in SHOWN:
            continue
        chosen = r.choice.C[SHOWN[r.method.name]]
        trial = figure_match(r) or next(t for t in r.trials if chosen == t.C)
        W = r.weights[r.trials.index(trial)]
        one, two = trial.test
        title = f"{r.method.name}, C = $2^{{{round(np.log2(trial.C))}}}$"
        found[f"{title}: top-1 {one:.1f} %, top-2 {two:.1f} %"] = W
    return found


def write(
    folder: Path,
    summaries: Mapping[str, Sequence[Summary]],
    best: Sequence[Best],
    remade: Sequence[Remade],
    rings: Mapping[str, np.ndarray],
) -> list[Path]:
    """Both pictures in both formats; the folder is made if need be."""
    plt = pyplot()
    written = save(plt, intervals(plt, summaries, best, remade), folder, "circle_table2")
    if rings:
        written += save(plt, ring_panels(plt, rings), folder, "circle_rings")
    return written


def intervals(
    plt: Any,
    summaries: Mapping[str, Sequence[Summary]],
    best: Sequence[Best],
    remade: Sequence[Remade],
) -> Any:
    """Median and 5-95 % range per method, the printed accuracy, and ours on the authors' own draw."""
    methods = next(iter(summaries.values()))
    figure, axes = plt.subplots(
        1, 2, figsize=(11, 1.6 + 0.5 * len(methods)), sharey=True, layout="constrained"
    )
    rows = np.arange(len(methods))[::-1]
    for column, axis in enumerate(axes):
        for number, (reading, found) in enumerate(summaries.items()):
            colour, shift = SHADES[number % len(SHADES)], 0.17 * (number - (len(summaries) - 1) / 2)
            low, mid, high = np.array([s.quantiles[column] for s in found]).T
            axis.hlines(rows - shift, low, high, color=colour, linewidth=3, alpha=0.6)
            axis.plot(
                mid,
                rows - shift,
                "o",
                color=colour,
                markersize=5,
                label=f"{reading}: median, 5-95 %",
            )
            top = next(b for b in best if b.reading == reading)
            axis.axvline(100 * float(top.linear[column]), color=colour, linewidth=1, linestyle="--")
            axis.axvline(100 * float(top.bayes[column]), color=colour, linewidth=1, linestyle=":")
        axis.plot(
            [s.method.paper[column] for s in methods],
            rows,
            "x",
            color="#d00000",
            markersize=9,
            markeredgewidth=2,
            label="printed in Table 2",
        )
        if remade:
            axis.plot(
                [r.choice.test[column] for r in remade],
                rows,
                "D",
                markerfacecolor="none",
                color="#0072b2",
                markersize=7,
                label="ours on the authors' draw",
            )
        axis.set_title(f"top-{column + 1} accuracy in percent")
        axis.grid(axis="x", alpha=0.3)
        axis.set_ylim(-0.7, len(methods) - 0.3)
    axes[0].set_yticks(rows, [s.method.name for s in methods])
    legend(figure, axes[0], 4)
    figure.suptitle("dashed: best linear classifier without bias; dotted: Bayes", fontsize=9)
    return figure


def ring_panels(plt: Any, rings: Mapping[str, np.ndarray]) -> Any:
    """One panel per model: training points by class inside the circle, both guesses outside."""
    n = circle.SIZES[0]
    X, y = circle.authors_draw()
    figure, axes = plt.subplots(
        1, len(rings), figsize=(5.2 * len(rings), 5.6), layout="constrained", squeeze=False
    )
    for axis, (title, W) in zip(axes[0], rings.items(), strict=True):
        turn = np.linspace(0, 2 * np.pi, 721)
        axis.plot(np.cos(turn), np.sin(turn), color="black", linewidth=1.5)
        for j, colour in enumerate(COLOURS):
            mine = X[:n][y[:n] == j] * (0.92 - 0.1 * j)
            axis.plot(*mine.T, ".", color=colour, markersize=5, label=f"class {j + 1}")
        for guess, radius in ((1, 1.1), (2, 1.26)):
            for start, end, j in circle.regions(
                W, lambda s, axis, g=guess: np.argsort(s, axis)[:, -g]
            ):
                part = 2 * np.pi * np.linspace(start, end, 200) / circle.AROUND
                axis.plot(
                    radius * np.cos(part),
                    radius * np.sin(part),
                    color=COLOURS[j],
                    linewidth=8,
                    solid_capstyle="butt",
                )
        for edge in circle.EDGES[:-1]:
            end = 2 * np.pi * edge / circle.AROUND
            axis.plot(
                [0.66 * np.cos(end), np.cos(end)],
                [0.66 * np.sin(end), np.sin(end)],
                color="#999999",
                linewidth=0.8,
            )
        axis.set_title(title, fontsize=10)
        axis.set_aspect("equal")
        axis.axis("off")
    legend(figure, axes[0][0], 3)
    figure.suptitle(
        "training points inside; first guess on the inner ring, second on the outer", fontsize=10
    )
    return figure
