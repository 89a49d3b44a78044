"""The fast reader of CSV files beside Python's: the same cells, or none."""

import random
from pathlib import Path

import numpy as np
import pytest

from verification.app import csv_file
from verification.app.labels import MISSING
from verification.errors import DataFileError

pytest.importorskip("pyarrow")
CELLS = [
    "1",
    "2.5",
    " 3",
    "-1e5",
    "a",
    "b c",
    '"q"',
    '"a,b"',
    '"x""y"',
    '5"',
    '""',
    "",
    "nan",
    "NA",
    "é",
]
CELLS += [
    "\t",
    "1_0",
    "+1",
    "True",
    '" s "',
    "'",
    "#",
    "1;2",
    "inf",
    "\x0b",
    "\x85",
    "\u2028",
    "\x1c",
    "01",
    " -007",
    "Null",
]


def _file(draw: random.Random) -> bytes:
    """Rows of cells that readers may take in two ways, some of other lengths, or not UTF-8."""
    width, end = draw.randint(1, 4), draw.choice(["\n", "\r\n", "\n", "\r"])
    cells = [*draw.sample(CELLS, draw.randint(1, 6)), "1", "2"]
    widths = [
        width if draw.random() < 0.97 else draw.randint(1, 5) for _ in range(draw.randint(1, 6))
    ]
    text = end.join(",".join(draw.choice(cells) for _ in range(w)) for w in widths)
    text = end * (draw.random() < 0.2) + text + end * (draw.random() < 0.7)
    if draw.random() < 0.2:
        text = text.replace(end, end + end, 1)
    mark = b"\xef\xbb\xbf" if draw.random() < 0.1 else b""
    return mark + text.encode() + (b"\xff" if draw.random() < 0.03 else b"")


def test_both_readers_find_the_same_cells(tmp_path: Path) -> None:
    draw, path, fast, wrong = random.Random(5), tmp_path / "x.csv", 0, 0
    gaps = padded = 0
    for _ in range(600):
        path.write_bytes(_file(draw))
        found = csv_file._arrow(path)
        try:
            right = csv_file._Python(path)
        except DataFileError:
            assert found is None
            wrong += 1
            continue
        if found is None:
            continue
        fast += 1
        assert (found.width, len(found)) == (right.width, len(right))
        assert [found.line(i) for i in range(len(found))] == right.lines
        for j in range(found.width):
            assert list(found.text(j, 0)) == list(right.text(j, 0))
            assert (found.head(j, 3), found.again(j)) == (right.head(j, 3), right.again(j))
            numbers = found.numbers(j, 0)
            if numbers is not None:
                cells = ["nan" if c.lower() in MISSING else c for c in right.text(j, 0)]
                np.testing.assert_array_equal(numbers, [float(cell) for cell in cells])
                gaps += "NA" in right.text(j, 0)
                assert found.padded(j, 0) == right.padded(j, 0)
                padded += found.padded(j, 0) is not None
    assert fast > 150
    assert wrong > 20
    assert min(gaps, padded) > 5


LATE = {
    "as numbers": ("3.5", 0),
    "missing": ("NA", 1),
    "infinite": ("inf", None),
    "text": ("x", None),
    "a plus": ("+2.5", 0),
    "a padded number": ("007", 0),
    "a space": (" 2.5", 0),
}


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("late", LATE)
def test_a_large_file_has_the_cells_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: str, header: bool
) -> None:
    """Columns of numbers are read as such, and as text where something else stands far below."""
    path, (cell, gaps) = tmp_path / "x.csv", LATE[late]
    rows = [f"{i / 4},{i},a{i % 3},{-i / 3:.17g},{'NA' if i % 50 == 7 else i + 0.5}" for i in range(1, 900)]
    rows[800] = ",".join([cell, *rows[800].split(",")[1:]])
    path.write_bytes("\r\n".join(["u,v,w,x,y"] * header + rows).encode())
    monkeypatch.setattr(csv_file, "BLOCK", 1 << 14)
    monkeypatch.setattr(csv_file, "AT_ONCE", 1 << 10)
    large, right = csv_file._arrow(path), csv_file._Python(path)
    assert large is not None
    types = [str(kind) for kind in large.table.schema.types]
    assert ("double" in types) == (late != "text")
    assert (len(large), large.width) == (len(right), right.width)
    for j in range(5):
        for first in (0, 1):
            assert list(large.text(j, first)) == list(right.text(j, first))
            numbers = large.numbers(j, first)
            cells = ["nan" if cell == "NA" else cell for cell in right.text(j, first)]
            if late not in ("infinite", "text") or j:
                assert (numbers is None) == (j == 2 or (header and not first))
            if numbers is not None:
                np.testing.assert_array_equal(numbers, [float(cell) for cell in cells])
            assert large.padded(j, first) == right.padded(j, first)
        assert (large.head(j, 3), large.again(j)) == (right.head(j, 3), right.again(j))
        assert large.head(j, 900) == right.head(j, 900)
    found = large.numbers(0, int(header))
    assert (found is None) == (gaps is None)
    assert found is None or int(np.isnan(found).sum()) == gaps


def test_rows_longer_than_a_block_and_quoted_names(tmp_path: Path) -> None:
    path, d = tmp_path / "wide.csv", 70_000
    rows = [",".join(f'"n, {j}"' for j in range(d)), *(",".join(["1.25", "-3"] * (d // 2)),) * 5]
    path.write_text("\n".join(rows))
    found = csv_file._arrow(path)
    assert found is not None
    assert (found.width, len(found), found.head(1, 2)) == (d, 6, ["n, 1", "-3"])
    numbers = found.numbers(2, 1)
    assert numbers is not None
    assert numbers.tolist() == [1.25] * 5
