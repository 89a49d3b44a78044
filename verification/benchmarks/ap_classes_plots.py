"""Pictures of `refsolve reproduce ap`: test AP per class, and the ranks of the negatives in a training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verification.benchmarks.ap_calls import interleaving_ranks, ranking_calls
from verification.benchmarks.ap_classes import BASE, ClassResult, data_of, names
from verification.benchmarks.plots import legend, pyplot, save

#: Methods drawn: colour and marker.
SHOWN = {
    "binary SVM": ("#d55e00", "s"),
    "balanced SVM": ("#cc79a7", "v"),
    "AP-SVM": ("#0072b2", "o"),
    "APPX 50 %": ("#56b4e9", "^"),
    "logistic regression": ("#222222", "x"),
    "ramp": ("#009e73", "D"),
}


@dataclass(frozen=True)
class Ranks:
    """Interleaving ranks of the negatives in every oracle call of a training, (calls, N), ascending."""

    title: str
    P: int
    ranks: np.ndarray


def ranks_of(results: Sequence[ClassResult], tol: float) -> list[Ranks]:
    """Trainings at the chosen C of the first data set's best and median class by test AP."""
    mine = [r for r in results if r.dataset == results[0].dataset and BASE in r.chosen]
    ordered = sorted(mine, key=lambda r: -r.chosen[BASE].test)
    found = []
    for r in {r.name: r for r in (ordered[:1] + ordered[len(ordered) // 2 :][:1])}.values():
        X, y = data_of(r.dataset, names(r.dataset).index(r.name)).train
        C = r.chosen[BASE].C
        ranks = interleaving_ranks(ranking_calls(X, y, C, tol), y)
        found.append(
            Ranks(f"{r.dataset} {r.name}, P = {r.positives}, C = {C:g}", r.positives, ranks)
        )
    return found


def write(folder: Path, results: Sequence[ClassResult], ranks: Sequence[Ranks]) -> list[Path]:
    """All pictures in both formats; the folder is made if need be."""
    plt = pyplot()
    written = []
    by_data: dict[str, list[ClassResult]] = {}
    for result in results:
        by_data.setdefault(result.dataset, []).append(result)
    if by_data:
        written += save(plt, classes(plt, by_data), folder, "ap_classes")
    if ranks:
        written += save(plt, heat_maps(plt, ranks), folder, "ap_ranks")
    return written


def classes(plt: Any, by_data: Mapping[str, Sequence[ClassResult]]) -> Any:
    """Test AP of each method, one column per class, by falling AP of the AP-SVM."""
    sizes = [len(found) + 2 for found in by_data.values()]
    figure, panels = plt.subplots(
        1,
        len(by_data),
        figsize=(2.2 + 0.33 * sum(sizes), 4.4),
        width_ratios=sizes,
        squeeze=False,
        layout="constrained",
    )
    for panel, (dataset, found) in zip(panels[0], by_data.items(), strict=True):
        first = BASE if BASE in found[0].chosen else next(iter(found[0].chosen))
        ordered = sorted(found, key=lambda r: -r.chosen[first].test)
        for name, (colour, marker) in SHOWN.items():
            if name not in ordered[0].chosen:
                continue
            panel.plot(
                [r.chosen[name].test for r in ordered],
                marker,
                color=colour,
                markersize=6,
                markerfacecolor="none",
                markeredgewidth=1.6,
                label=name,
            )
        panel.set_xticks(range(len(ordered)), [r.name for r in ordered])
        panel.set_xlim(-0.7, len(ordered) - 0.3)
        panel.set_title(f"{dataset}: each class against the rest", fontsize=10)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("test AP")
    legend(figure, panels[0][0], len(panels[0][0].get_legend_handles_labels()[1]))
    return figure


def heat_maps(plt: Any, ranks: Sequence[Ranks]) -> Any:
    """One panel per training: a row per oracle call, the negatives from the highest score on."""
    figure, panels = plt.subplots(
        1, len(ranks), figsize=(1.0 + 5.4 * len(ranks), 4.6), squeeze=False, layout="constrained"
    )
    for panel, one in zip(panels[0], ranks, strict=True):
        calls, N = one.ranks.shape
        share = one.ranks / (one.P + 1)
        image = panel.imshow(
            share,
            aspect="auto",
            interpolation="nearest",
            cmap="turbo",
            vmin=0.0,
            vmax=1.0,
            extent=(0, N, calls + 0.5, 0.5),
            rasterized=True,
        )
        edge = np.sum(one.ranks <= one.P, axis=1)  # from here on below every positive
        panel.stairs(
            edge, np.arange(calls + 1) + 0.5, orientation="horizontal", color="white", linewidth=1.2
        )
        panel.set_xlim(0, N)
        panel.yaxis.get_major_locator().set_params(integer=True)
        panel.set_title(one.title, fontsize=10)
        panel.set_xlabel("negatives, by falling score")
    panels[0][0].set_ylabel("most violated ranking of the training")
    bar = figure.colorbar(image, ax=list(panels[0]), pad=0.01)
    bar.set_label("interleaving rank / (P + 1)")
    figure.suptitle("right of the white line: negatives below every positive", fontsize=9)
    return figure
