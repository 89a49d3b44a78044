"""Picture of the digits experiment: mean accuracy of every method with its standard error."""

from pathlib import Path
from typing import Any

import numpy as np

from verification.benchmarks.plots import COLOURS, pyplot, save
from verification.benchmarks.svmplus_digits import BASE, Splits


def write(folder: Path, splits: Splits) -> list[Path]:
    """The picture in both formats; the folder is made if need be."""
    plt = pyplot()
    return save(plt, draw(plt, splits), folder, "svmplus_digits")


def draw(plt: Any, splits: Splits) -> Any:
    """Left: accuracies; right: differences to the SVM on the same splits; bars are standard errors."""
    names = list(splits.accuracies)
    figure, panels = plt.subplots(
        1, 2, figsize=(10.0, 0.9 + 0.42 * len(names)), sharey=True, layout="constrained"
    )
    rows = np.arange(len(names))[::-1]
    marks = {"fmt": "o", "capsize": 3, "markersize": 5}
    for row, name in zip(rows, names, strict=True):
        colour = COLOURS[0] if "noise" not in name else COLOURS[1]
        mine = 100 * splits.accuracies[name]
        jitter = row + 0.18 + 0.0 * mine
        panels[0].plot(mine, jitter, ".", color=colour, alpha=0.25, markersize=4)
        panels[0].errorbar(mine.mean(), row, xerr=_bar(splits.error(name)), color=colour, **marks)
        if BASE in names and name != BASE:
            mean, error = splits.ahead(name)
            panels[1].errorbar(100 * mean, row, xerr=_bar(error), color=colour, **marks)
    panels[0].set_yticks(rows, names)
    panels[0].set_xlabel(f"test accuracy in percent, {len(splits.seeds)} splits")
    panels[1].set_xlabel(f"points ahead of {BASE}, same splits")
    panels[1].axvline(0.0, color="#222222", linewidth=0.8)
    for panel in panels:
        panel.grid(axis="x", alpha=0.3)
    return figure


def _bar(error: float) -> float:
    """Percent; nothing where one split has no error."""
    return 100 * error if np.isfinite(error) else 0.0
