"""The circle of Lapin et al. 2016, section 4: what the printed description can mean, exactly.

[0, 7] has five segments of lengths 1, 1, 1, 3, 1; classes mix inside a segment as in `TABLE`;
position t becomes the point (cos, sin)(2 pi t/7). The text calls the table "class-conditional", but
its columns add up to 1 and its rows do not, and it does not say how heavy a segment is. Each reading
is a table of joint probabilities P(class, segment) in exact fractions:

| reading | P(class, segment) |
|---|---|
| segments | TABLE/5: all segments equally likely, TABLE is P(class given segment) |
| uniform | TABLE * length/7: position uniform on [0, 7], TABLE is P(class given segment) |
| classes | rows of TABLE made to add up to 1, classes equally likely: P(segment given class) |
| densities | the same with TABLE * length: heights of the density of each class |

The generator in the authors' library (libsdca, matlab/getdata.m) takes the first and seeds MATLAB's
generator with 0, so that the draw behind the paper's Table 2 can be made again: `authors_draw`.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

Joint = tuple[tuple[Fraction, ...], ...]

LENGTHS = (1, 1, 1, 3, 1)
#: Ends of the segments.
EDGES = (0, 1, 2, 3, 6, 7)
AROUND = EDGES[-1]
#: The printed numbers, one row per class, one column per segment.
TABLE: Joint = tuple(
    tuple(Fraction(text) for text in row.split())
    for row in ("0 1 .4 .3 0", "1 0 .1 .7 0", "0 0 .5 0 1")
)
M = len(TABLE)
#: Points for training, validation and test.
SIZES = (200, 200, 200_000)
#: MATLAB's seed 0 is this seed of the Mersenne twister.
MATLAB_SEED = 5489


def _normalised(rows: Joint) -> Joint:
    return tuple(tuple(p / sum(row) / len(rows) for p in row) for row in rows)


def _stretched() -> Joint:
    return tuple(tuple(p * n for p, n in zip(row, LENGTHS, strict=True)) for row in TABLE)


def _scaled(rows: Joint, total: int) -> Joint:
    return tuple(tuple(p / total for p in row) for row in rows)


#: Joint probabilities of class and segment by reading; the first is the authors' own.
READINGS: dict[str, Joint] = {
    "segments": _scaled(TABLE, len(LENGTHS)),
    "uniform": _scaled(_stretched(), AROUND),
    "classes": _normalised(TABLE),
    "densities": _normalised(_stretched()),
}


def points(positions: np.ndarray) -> np.ndarray:
    """Points on the unit circle, (n, 2), of positions in [0, 7]."""
    angles = 2.0 * np.pi * positions / AROUND
    return np.column_stack([np.cos(angles), np.sin(angles)])


def draw(joint: Joint, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """``n`` independent examples: points (n, 2) and classes 0, 1, 2."""
    rng = np.random.default_rng(seed)
    cells = np.array(joint, dtype=np.float64)
    drawn = rng.choice(cells.size, size=n, p=cells.ravel() / cells.sum())
    classes, segments = np.divmod(drawn, len(LENGTHS))
    return points(_positions(segments, rng.random(n))), classes


def authors_draw(sizes: tuple[int, int, int] = SIZES) -> tuple[np.ndarray, np.ndarray]:
    """The examples that the authors' script makes, all parts in one.

    Segments for all examples are drawn first, then positions inside them, then classes; the streams
    depend on the number of examples, so that other ``sizes`` give another draw.
    """
    stream = np.random.RandomState(MATLAB_SEED)  # MATLAB's bits
    n = sum(sizes)
    segments = np.floor(len(LENGTHS) * stream.random_sample(n)).astype(np.int64)
    positions = _positions(segments, stream.random_sample(n))
    below = np.cumsum(np.array(TABLE, dtype=np.float64), axis=0)[:, segments]
    return points(positions), (stream.random_sample(n) > below).sum(axis=0)


def _positions(segments: np.ndarray, inside: np.ndarray) -> np.ndarray:
    return inside * np.array(LENGTHS)[segments] + np.array(EDGES[:-1])[segments]


def boundaries(W: np.ndarray) -> np.ndarray:
    """Positions in [0, 7) where two of the scores <w_j, x> are equal, ascending."""
    found = [
        np.arctan2(edge[1], edge[0]) + turn
        for i in range(len(W))
        for edge in (W[i] - W[:i])
        for turn in (0.5 * np.pi, 1.5 * np.pi)
    ]
    return np.sort(np.mod(np.array(found) * AROUND / (2.0 * np.pi), AROUND))


def cells(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the arcs on which neither segment nor ranking changes, and the scores at their middles.

    Returns ends (c + 1,) from 0 to 7 and scores (c, m).
    """
    ends = np.unique(np.concatenate([np.array(EDGES, dtype=np.float64), boundaries(W)]))
    return ends, points(0.5 * (ends[:-1] + ends[1:])) @ W.T


def accuracy(W: np.ndarray, joint: Joint, tie: float = 0.0) -> tuple[float, float]:
    """Top-1 and top-2 accuracy of the linear classifier x -> W x, no sampling involved.

    The circle falls into arcs of constant ranking; a class is ahead of the true one if its score is
    larger than that minus ``tie``, so that equal weights count as an error.
    """
    ends, scores = cells(W)
    segment = np.searchsorted(EDGES, ends[:-1], side="right") - 1
    density = np.array(joint, dtype=np.float64) / np.array(LENGTHS)
    mass = density[:, segment].T * np.diff(ends)[:, None]  # (arcs, classes)
    ahead = (scores[:, :, None] <= scores[:, None, :] + tie).sum(axis=2) - 1
    return float(mass[ahead < 1].sum()), float(mass[ahead < 2].sum())


def regions(
    W: np.ndarray, choose: Callable[..., np.ndarray] = np.argmax
) -> list[tuple[float, float, int]]:
    """(start, end, class) around the circle of the class with the largest (smallest) score."""
    ends, scores = cells(W)
    found: list[tuple[float, float, int]] = []
    for a, b, j in zip(ends[:-1], ends[1:], choose(scores, axis=1), strict=True):
        if found and found[-1][2] == j:
            found[-1] = (found[-1][0], float(b), int(j))
        else:
            found.append((float(a), float(b), int(j)))
    return found
