"""Pictures that follow from a declaration alone: one line per page."""

from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from figures import BLUE, GREY, INK, ORANGE, Picture, show

import fast
import refsolve


def losses(*object_names: str, caption: str = "", **parameters: Any) -> Picture:
    """Values of losses and their slopes, along the score of the right class; four others stay.

    Parameters that a loss does not declare are left out for it.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.4))
    at = np.linspace(-3.0, 5.0, 321)
    scores = np.column_stack([at, *(np.full(len(at), s) for s in (2.0, 0.5, 0.0, -1.0))])
    y = np.zeros(len(at), dtype=np.int64)
    styles = ("-", "--", ":", "-.")
    for i, object_name in enumerate(object_names):
        spec = refsolve.catalogue.load(object_name).SPEC
        known = {symbol.name for symbol in spec.symbols} & set(parameters)
        given = {name: parameters[name] for name in known}
        loss, style = getattr(fast.losses, object_name), styles[i // 6]
        said = ", ".join(f"{name} = {value:g}" for name, value in sorted(given.items()))
        label = spec.title.split(" (")[0].replace(" loss", "") + (f", {said}" if said else "")
        left.plot(at, loss.value(scores, y, **given), style, label=label)
        right.plot(at, loss.gradient(scores, y, **given)[:, 0], style)
    left.axvline(2.0, color=INK, alpha=0.3, linewidth=0.8)
    left.set(xlabel="score of the right class", ylabel="loss", ylim=(-0.2, 6.2))
    right.set(xlabel="score of the right class", ylabel="slope")
    left.legend(fontsize=7.5)
    told = (
        "Other classes have the scores 2, 1/2, 0 and −1. Right: what a little more score is worth."
    )
    return show(figure, f"{caption} {told}".strip())


def flow(*steps: str, caption: str, back: str = "") -> Picture:
    """Boxes from left to right with arrows; ``back`` is said of an arrow from the last to the first."""
    figure, axes = plt.subplots(figsize=(9.2, 1.5 if back else 1.0))
    box = {"boxstyle": "round,pad=0.5", "facecolor": "none", "edgecolor": BLUE}
    places = np.arange(len(steps)) + 0.5
    boxes = [
        axes.text(x, 1.0, step, ha="center", va="center", fontsize=9, bbox=box).get_bbox_patch()
        for x, step in zip(places, steps, strict=True)
    ]
    for (x, left), (other, right) in pairwise(zip(places, boxes, strict=True)):
        arrow = {"arrowstyle": "->", "color": GREY, "patchA": left, "patchB": right}
        axes.annotate("", (other, 1.0), (x, 1.0), arrowprops=arrow)
    if back:
        bent = {"arrowstyle": "->", "color": ORANGE, "connectionstyle": "arc3,rad=-0.12"}
        axes.annotate("", (places[0], 0.72), (places[-1], 0.72), arrowprops=bent)
        axes.text(len(steps) / 2, 0.18, back, ha="center", va="center", fontsize=9, color=ORANGE)
    axes.set(xlim=(0, len(steps)), ylim=(0.0 if back else 0.6, 1.4))
    axes.axis("off")
    return show(figure, caption)
