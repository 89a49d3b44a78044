"""Pictures of the inference benchmark: cost over N and over P, both axes logarithmic."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verification.benchmarks.ap_inference import Curve
from verification.benchmarks.plots import legend, pyplot, save

#: Colour, line and marker by method; told apart without colours too.
STYLES: dict[str, dict[str, Any]] = {
    "greedy": {"color": "#d55e00", "marker": "s"},
    "numpy": {"color": "#e69f00", "marker": "v"},
    "search": {"color": "#56b4e9", "marker": "^"},
    "select": {"color": "#009e73", "marker": "D"},
    "all": {"color": "#cc79a7", "marker": "P"},
    "divide_and_conquer": {"color": "#0072b2", "marker": "o", "linewidth": 2.2},
    "numpy.sort": {"color": "#222222", "linestyle": "--", "marker": ""},
}


def name(method: str) -> str:
    """A method as the legend calls it."""
    return "numpy.sort of the negatives" if method == "numpy.sort" else method.replace("_", " ")


def write(folder: Path, curves: Sequence[Curve]) -> list[Path]:
    """The picture in both formats; the folder is made if need be."""
    plt = pyplot()
    return save(plt, growth(plt, curves), folder, "ap_inference")


def growth(plt: Any, curves: Sequence[Curve]) -> Any:
    """One row of panels per axis that grows, one column per regime of the scores."""
    axes_of = list(dict.fromkeys((c.over, c.fixed) for c in curves))
    regimes = list(dict.fromkeys(c.regime for c in curves))
    figure, panels = plt.subplots(
        len(axes_of),
        len(regimes),
        figsize=(5.2 * len(regimes), 3.9 * len(axes_of)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for row, (over, fixed) in zip(panels, axes_of, strict=True):
        for panel, regime in zip(row, regimes, strict=True):
            mine = [c for c in curves if (c.over, c.fixed, c.regime) == (over, fixed, regime)]
            for c in mine:
                style = {"markersize": 4.5, "linewidth": 1.5, **STYLES[c.method]}
                panel.loglog(c.sizes, 1e3 * np.array(c.seconds), label=name(c.method), **style)
            other = "P" if over == "N" else "N"
            size = f"{fixed:,}".replace(",", " ")
            panel.set_title(f"{regime} scores, {other} = {size}", fontsize=10)
            panel.set_xlabel(f"{'negatives' if over == 'N' else 'positives'} {over}")
            panel.grid(alpha=0.3)
        row[0].set_ylabel("milliseconds of a call")
    legend(figure, panels[0][0], 4)
    return figure
