"""What the cells of the course call: checks that raise, a counterexample or none, pictures.

It needs numpy alone, so that a lecture's notebook runs wherever the package is installed; pictures
want matplotlib (in a clone, ``pip install '.[plot]'``) and say so where it is missing.
"""

import hashlib
import html
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Case = TypeVar("Case")

INK = "#0a0b0c"  # a stand-in for the page's text colour, replaced in `inline`
BLUE, ORANGE, GREEN, PURPLE, RED, GREY = COLOURS = (
    "#3b8ad9", "#e0822d", "#2f9e6e", "#a06cd5", "#d9534f", "#8a8f98",
)  # fmt: skip
#: matplotlib's parameters for inline SVG on a light or a dark page.
STYLE = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
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


class Said(str):
    """A sentence that a notebook shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def check(true: Any, what: str = "cases") -> Said:
    """Raise unless everything in `true` is true, and there is something in it."""
    cases = np.atleast_1d(np.asarray(list(true) if isinstance(true, Iterator) else true, bool))
    if not cases.size:
        raise AssertionError(f"nothing was checked: no {what}")
    if not cases.all():
        first = int(np.flatnonzero(~cases.ravel())[0])
        raise AssertionError(
            f"wrong in {np.count_nonzero(~cases)} of {cases.size} {what}, first in number {first}"
        )
    return Said(f"✓ {cases.size} {what}")


def agree(left: Any, right: Any, tol: float = 1e-12) -> Said:
    """Raise unless |left - right| <= tol (1 + max(|left|, |right|)) everywhere; 0 means exactly.

    Both may be lists of arrays of different lengths, or of fractions.
    """
    a, b = (_flat(values) for values in (left, right))
    if a.shape != b.shape:
        raise AssertionError(f"{a.size} numbers on the left, {b.size} on the right")
    off = abs(a - b) / (1 + np.maximum(abs(a), abs(b)))
    check([difference <= tol for difference in off], "numbers")
    if tol == 0:
        return Said(f"✓ {a.size} numbers agree exactly")
    return Said(f"✓ {a.size} numbers agree, to {float(max(off)):.0e}")


def accept(*steps: Any) -> Said:
    """Raise with the first step that `refsolve.check_step` does not accept; there must be one at least."""
    for step in steps:
        if not step:
            raise AssertionError(step)
    if not steps:
        raise AssertionError("nothing was checked: no steps")
    return Said(f"✓ accepted, on {sum(step.tried for step in steps)} points and instances")


def _flat(values: Any) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return values.ravel()
    if isinstance(values, Iterable):
        parts = [_flat(value) for value in values]
        return np.concatenate(parts) if parts else np.empty(0)
    return np.array([values])


def counterexample(claim: Callable[..., Any], cases: Iterable[Case]) -> Case:
    """The first case for which the claim is false; raise if it holds for all of them."""
    number = 0
    for number, case in enumerate(cases, 1):  # noqa: B007
        if not claim(*(case if isinstance(case, tuple) else (case,))):
            return case
    raise AssertionError(f"no counterexample among {number} cases")


def vectors(count: int, most: int = 8, seed: int = 0) -> list[np.ndarray]:
    """Vectors of 1 to `most` entries: plain, with ties and zeros, all alike, and of very different sizes."""
    rng = np.random.default_rng(seed)
    drawn = []
    for number in range(count):
        v = rng.normal(size=rng.integers(1, most + 1))
        kind = number % 4
        if kind == 1:
            v = np.round(v * 2) / 2
        elif kind == 2:
            v = np.full(v.size, np.round(v[0], 1))
        elif kind == 3:
            v *= 10.0 ** rng.uniform(-2, 2)
        drawn.append(v)
    return drawn


@dataclass(frozen=True)
class Picture:
    """A drawn figure, as the HTML that a page or a notebook shows."""

    markup: str

    def _repr_html_(self) -> str:
        return self.markup


def picture(draw: Callable[[Any], Any], caption: str) -> Picture | Said:
    """What ``draw(plt)`` returns, a figure, with a caption; a sentence where matplotlib is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return Said(f"(a picture, for which matplotlib is missing: {caption})")
    with plt.rc_context({**STYLE, "axes.prop_cycle": plt.cycler(color=COLOURS)}):
        return inline(draw(plt), caption)


def inline(figure: Any, caption: str) -> Picture:
    """The figure as inline SVG with a caption (plain text, also read out by screen readers)."""
    import matplotlib.pyplot as plt

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
