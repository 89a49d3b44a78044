"""Figures for the lessons: inline SVG that takes the page's text colour, light or dark.

A cell draws with matplotlib as usual and ends with `show(figure, "caption")`.
"""

import hashlib
import html
import io
import re
from dataclasses import dataclass

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

INK = "#0a0b0c"  # a stand-in for the page's text colour, replaced in `show`
BLUE, ORANGE, GREEN, PURPLE, RED, GREY = (
    "#3b8ad9",
    "#e0822d",
    "#2f9e6e",
    "#a06cd5",
    "#d9534f",
    "#8a8f98",
)

plt.rcParams.update(
    {
        "axes.edgecolor": INK,
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.prop_cycle": plt.cycler(color=[BLUE, ORANGE, GREEN, PURPLE, RED, GREY]),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": INK,
        "axes.titlesize": 11,
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "figure.figsize": (6.4, 3.6),
        "font.size": 10,
        "grid.alpha": 0.15,
        "grid.color": INK,
        "legend.frameon": False,
        "legend.labelcolor": INK,
        "lines.linewidth": 1.8,
        "savefig.facecolor": "none",
        "svg.fonttype": "path",
        "svg.hashsalt": "refsolve",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
)


@dataclass(frozen=True)
class Picture:
    """A drawn figure, as the HTML that the page shows."""

    markup: str

    def _repr_html_(self) -> str:
        return self.markup


def show(figure: plt.Figure, caption: str) -> Picture:
    """The figure as inline SVG with a caption (plain text, also read out by screen readers)."""
    buffer = io.StringIO()
    wide = " wide" if figure.get_figwidth() > 7.5 else ""
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Several figures share a page: without a prefix their clip paths and glyphs collide.
    prefix = "f" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    svg = svg.replace(INK, "currentColor")
    label = html.escape(caption, quote=True)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return Picture(
        f'<figure class="lesson{wide}">{svg}<figcaption>{html.escape(caption)}</figcaption></figure>'
    )
