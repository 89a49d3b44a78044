"""The probability simplex of three classes as a triangle: points, panels, legends."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from figures import BLUE, GREEN, GREY, INK, ORANGE

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
#: Colours of the three classes, then of what is left undetermined.
COLOURS = np.array([BLUE, ORANGE, GREEN, GREY])


def interior(n: int) -> np.ndarray:
    """Counts (n(n-1)/2, 3) that sum to 6n: a grid of the inside, no two counts alike.

    The counts leave the remainders 1, 2 and 3 when divided by 6, so that no grid point lies on a
    line where two classes, or a class and a multiple of 6, are tied.
    """
    first, second = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    counts = np.stack([6 * first + 1, 6 * second + 2], axis=-1).reshape(-1, 2)
    counts = np.column_stack([counts, 6 * n - counts.sum(axis=1)])
    return counts[counts[:, 2] > 0]


def panel(
    axes: Any, p: np.ndarray, colours: Any, title: str = "", size: float = 7.0, **options: Any
) -> Any:
    """Colour the points p (N, 3) of the triangle; returns the drawn points."""
    at = p / p.sum(axis=1, keepdims=True) @ CORNERS
    drawn = axes.scatter(*at.T, c=colours, s=size, marker="h", linewidths=0, **options)
    outline = CORNERS[[0, 1, 2, 0]]
    axes.plot(*outline.T, color=INK, linewidth=0.8)
    axes.set(aspect="equal", xlim=(-0.06, 1.06), ylim=(-0.08, 0.98))
    axes.set_title(title, fontsize=9.5)
    axes.axis("off")
    return drawn


def name_corners(axes: Any, names: Sequence[str]) -> None:
    """Write what has probability 1 at each corner."""
    for name, (x, y), side in zip(names, CORNERS, ("left", "right", "center"), strict=True):
        below = y == 0
        place = {"ha": "center", "va": "top"} if below else {"ha": side, "va": "bottom"}
        axes.text(x, y - 0.02 if below else y + 0.02, name, fontsize=8, **place)
