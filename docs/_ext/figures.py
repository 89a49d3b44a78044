"""Figures for the lessons: inline SVG that takes the page's text colour, light or dark.

A cell draws with matplotlib as usual and ends with `show(figure, "caption")`.
"""

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

from verification.course import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    RED,
    STYLE,
    Picture,
)
from verification.course import inline as show

__all__ = ["BLUE", "GREEN", "GREY", "INK", "ORANGE", "PURPLE", "RED", "Picture", "show"]

plt.rcParams.update({**STYLE, "axes.prop_cycle": plt.cycler(color=COLOURS)})
