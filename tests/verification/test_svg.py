"""Pictures of reports: what is drawn stands where the numbers say."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from verification.report.svg import Axis, Line, lines, matrix

SVG = "{http://www.w3.org/2000/svg}"


def _texts(svg: str) -> list[str | None]:
    return [found.text for found in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("numbers", "log", "texts"),
    [
        ([0.01, 0.25], False, ["0", "0.1", "0.2"]),
        ([-3.0, 4.0], False, ["-2", "0", "2", "4"]),
        ([1, 2], False, ["1", "2"]),
        ([7.0, 7.0], False, ["6.8", "7", "7.2"]),
        ([1e-16, 1.0], True, ["1e-16", "1e-12", "1e-08", "0.0001", "1"]),
        ([0.001, 1.0], True, ["0.001", "0.01", "0.1", "1"]),
    ],
)
def test_ticks_are_round_and_stand_at_their_numbers(numbers: list, log: bool, texts: list[str]) -> None:
    axis = Axis(numbers, 10.0, 110.0, log)
    ticks = axis.ticks()
    assert [text for _, text in ticks] == texts
    np.testing.assert_allclose([place for place, _ in ticks], axis.at([float(t) for t in texts]))
    assert all(10.0 <= place <= 110.0 for place, _ in ticks)


def test_points_of_a_line_rise_with_its_numbers() -> None:
    x, y = np.array([1, 2, 3]), np.array([0.5, 0.25, 1.0])
    svg = lines("t", "w", [Line("a & b", x, y), Line("tol", x[[0, 2]], y[[0, 0]], False, True)], ("x", "<y>")).svg
    root = ET.fromstring(svg)
    pairs = next(root.iter(f"{SVG}polyline")).attrib["points"].split()
    points = [[float(p) for p in pair.split(",")] for pair in pairs]
    dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{SVG}circle")]
    assert [tuple(p) for p in points] == dots
    (a, b, c), (high, higher, low) = zip(*points, strict=True)
    assert b - a == pytest.approx(c - b, abs=0.2)
    assert (higher - high) / (high - low) == pytest.approx(0.5, abs=0.01)  # y grows downwards
    assert {"a & b", "tol", "x", "<y>"} <= set(_texts(svg))


def test_a_million_points_become_as_many_as_there_are_pixels() -> None:
    x = np.linspace(0.0, 1.0, 200_000)
    assert len(lines("t", "w", [Line("a", x, x, False)], ("x", "y")).svg) < 60_000


def test_a_matrix_has_its_counts_in_rows_the_larger_the_darker() -> None:
    counts = np.array([[5, 0], [2, 10]])
    svg = matrix("t", "w", counts, ["no", "<yes>"], ("predicted", "true")).svg
    assert [t for t in _texts(svg) if t and t.isdigit()] == ["5", "0", "2", "10"]
    assert re.findall(r'fill-opacity="([\d.]+)"', svg) == ["0.500", "0.000", "0.200", "1.000"]
    assert {"no", "<yes>", "predicted", "true"} <= set(_texts(svg))
