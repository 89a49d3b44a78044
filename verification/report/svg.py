"""Two kinds of pictures as SVG: lines over an axis, and counts in a matrix."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from verification.report.document import Picture

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 230, 66, 12, 14, 44
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")


@dataclass(frozen=True)
class Line:
    """Points of a line, and what it is called; a dotted one is grey."""

    name: str
    x: Any
    y: Any
    dots: bool = True
    dotted: bool = False


class Axis:
    """Numbers on a length of pixels, integers with integer ticks; ``log``: positive ones by their logarithms."""

    def __init__(self, numbers: Any, start: float, end: float, log: bool = False) -> None:
        low, high = float(np.min(numbers)), float(np.max(numbers))
        self.log, self.start, self.end, self.whole = log, start, end, np.asarray(numbers).dtype.kind == "i"
        low, high = (np.log10(low), np.log10(high)) if log else (low, high)
        room = 0.05 * (high - low) or 0.05 * abs(low) or 0.5
        self.low, self.high = low - room, high + room

    def at(self, numbers: Any) -> Any:
        """Where they are."""
        shown = np.log10(numbers) if self.log else np.asarray(numbers, float)
        return self.start + (shown - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of round numbers, of logarithms of powers of ten where there are two."""
        rough = (self.high - self.low) / 5
        if self.log and np.floor(self.high) > np.ceil(self.low):
            step = float(np.ceil(rough))
        else:
            unit = 10.0 ** np.floor(np.log10(rough))
            step = max(unit * next(s for s in (1, 2, 5, 10) if s * unit >= rough), float(self.whole))
        numbers = step * np.arange(np.ceil(self.low / step), np.floor(self.high / step) + 1) + 0.0
        places = self.start + (numbers - self.low) / (self.high - self.low) * (self.end - self.start)
        texts = [f"{10.0**v:.3g}" if self.log else f"{v:.6g}" for v in numbers]
        return list(zip(places.tolist(), texts, strict=True))


def lines(
    title: str, words: str, found: Sequence[Line], labels: tuple[str, str], log: tuple[bool, bool] = (False, False)
) -> Picture:  # fmt: skip
    """Lines over an axis with a legend above."""
    top = TOP + 16 * -(-len(found) // 3)
    x = Axis(np.concatenate([line.x for line in found]), LEFT, WIDTH - RIGHT, log[0])
    y = Axis(np.concatenate([line.y for line in found]), HEIGHT - BOTTOM, top, log[1])
    parts = [f'<path d="M{LEFT} {top}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#444"/>']
    for place, text in x.ticks():
        parts += [_stroke(place, HEIGHT - BOTTOM, place, HEIGHT - BOTTOM + 4), _text(place, HEIGHT - BOTTOM + 16, text)]
    for place, text in y.ticks():
        parts += [_stroke(LEFT - 4, place, LEFT, place), _text(LEFT - 7, place + 4, text, "end")]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, labels[0]))
    parts.append(_upright(14, (top + HEIGHT - BOTTOM) / 2, labels[1]))
    for i, line in enumerate(found):
        colour = "#888" if line.dotted else COLOURS[i % len(COLOURS)]
        style = f'fill="none" stroke="{colour}" stroke-width="1.5"' + ' stroke-dasharray="2 3"' * line.dotted
        points = np.round(np.column_stack([x.at(line.x), y.at(line.y)]), 1)
        moved = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))  # of millions few are told apart
        points = points[moved].tolist()
        parts.append(f'<polyline {style} points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in points if line.dots]
        left, height = LEFT + i % 3 * 112, 12 + 16 * (i // 3)
        parts += [f'<path d="M{left} {height - 4}h16" {style}/>', _text(left + 20, height, line.name[:20], "start")]
    return Picture(title, _svg(WIDTH, HEIGHT, parts), words)


def matrix(title: str, words: str, counts: np.ndarray, names: Sequence[object], labels: tuple[str, str]) -> Picture:
    """Counts, the larger the darker; a row and a column for each name."""
    shown, most = [f"{name!s:.16}" for name in names], max(int(counts.max()), 1)
    cell, left = max(26, 8 * len(str(most))), 34 + 7 * max(map(len, shown))
    size = cell * len(shown)
    parts = list(_cells(counts / most, counts, left, cell))
    for j, name in enumerate(shown):
        middle = cell * (j + 0.5)
        parts += [_text(left - 6, middle + 4, name, "end"), _upright(left + middle + 4, size + 6, name, "end")]
    parts += [_text(left + size / 2, size + left - 6, labels[0]), _upright(14, size / 2, labels[1])]
    return Picture(title, _svg(left + max(size, 150), max(size, 100) + left, parts), words)


def _cells(shares: np.ndarray, counts: np.ndarray, left: float, cell: float) -> Iterator[str]:
    for i, j in np.ndindex(*counts.shape):
        share, x, y = float(shares[i, j]), left + cell * j, cell * i
        fill = f'fill="#08306b" fill-opacity="{share:.3f}" stroke="#ccc"'
        yield f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" {fill}/>'
        yield _text(x + cell / 2, y + cell / 2 + 4, str(counts[i, j]), fill="#fff" if share > 0.5 else "#000")


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    font = 'font-family="sans-serif" font-size="12"'
    box = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>{"".join(parts)}</svg>'


def _stroke(a: float, b: float, c: float, d: float) -> str:
    return f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" stroke="#444"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "", fill: str = "#000") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{more}>{escape(text)}</text>'


def _upright(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return _text(x, y, text, anchor, f' transform="rotate(-90 {x:.1f} {y:.1f})"')
