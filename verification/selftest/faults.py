"""What ports get wrong: kinds of faults around a right solution, with the ranges of their parameters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verification.instances.shapes import absent
from verification.problems.problem import Problem

Array = np.ndarray[Any, Any]
Params = dict[str, Any]
Rng = np.random.Generator
Ranges = dict[str, tuple[float, float]]
Faulty = Callable[..., Array]

#: Kind -> ranges of its parameters, and the faulty solution, called as ``faulty(right, params, **drawn)``.
FAULTS: dict[str, tuple[Ranges, Faulty]] = {}


@dataclass
class Right:
    """A right solution, called with a dictionary; what a fault is wrapped around, and what it remembers."""

    problem: Problem
    solve: Callable[..., Any]
    rng: Rng = field(default_factory=np.random.default_rng)
    buffer: Array = field(default_factory=lambda: np.zeros(1))

    def __call__(self, params: Params, main: Array | None = None, **changes: Any) -> Array:
        """The right answer, of another main array or other arguments."""
        given = {**params, **changes}
        if main is not None:
            given[self.problem.data] = main
        return np.array(self.solve(**given), dtype=float)

    def main(self, params: Params) -> Array:
        """A copy of the main array."""
        return np.array(params[self.problem.data], dtype=float)

    def without(self, params: Params, lost: Any) -> Array:
        """The answer as if some columns had not been there; nothing is written to them."""
        main = self.main(params)
        dropped = np.zeros(main.shape, dtype=bool)
        dropped[..., lost] = True
        if not dropped.any():
            return self(params)
        if self.problem.others and self.problem.operation != "prox":
            np.put_along_axis(dropped, np.asarray(params["y"])[..., None], False, axis=-1)
        main[dropped] = absent(self.problem) or 0.0
        out = self(params, main)
        if out.shape == main.shape:
            out[..., lost] = 0.0
        return out


def fault(**ranges: tuple[float, float]) -> Callable[[Faulty], Faulty]:
    """The decorator of a kind of fault; its docstring says what is wrong."""

    def decorate(faulty: Faulty) -> Faulty:
        FAULTS[faulty.__name__] = ranges, faulty
        return faulty

    return decorate


def size(rng: Rng, low: float, high: float) -> int:
    """A number of a log-uniform distribution; every other one a power of two."""
    drawn = np.exp(rng.uniform(np.log(low), np.log(high)))
    return int(2 ** round(np.log2(drawn))) if rng.random() < 0.5 else round(drawn)


def _lost(name: str, doc: str, lost: Callable[..., Any], **ranges: tuple[float, float]) -> None:
    """A kind of fault by which some of n entries are neither read nor written: ``lost(n, **drawn)``."""

    def faulty(right: Right, p: Params, **drawn: int) -> Array:
        return right.without(p, lost(right.main(p).shape[-1], **drawn))

    faulty.__name__, faulty.__doc__ = name, doc
    FAULTS[name] = ranges, faulty


# fmt: off
_lost("lane_lost", "Entries of one lane beyond a size have no part.",
      lambda n, w, lane, beyond: (np.arange(n) % w == lane % w) & (np.arange(n) >= beyond),
      w=(4, 64), lane=(1, 64), beyond=(4, 30_000))
_lost("tail_dropped", "The last entries, which fill no vector of w, have no part beyond a size.",
      lambda n, w, beyond: slice(n - n % w if n > beyond else n, n), w=(4, 64), beyond=(4, 5_000))
_lost("grid_of_columns", "Entries beyond the grid are neither read nor written.",
      lambda n, limit: slice(limit, None), limit=(20, 100_000))
_lost("full_blocks", "Where entries fill blocks to the last, that last one is in no sum.",
      lambda n, w: slice(n if n % w else n - 1, n), w=(8, 1_024))
_lost("tree_of_a_power", "A reduction by halves, above a size: what is beyond a power of two is lost.",
      lambda n, beyond: slice(2 ** (n.bit_length() - 1) if n > beyond else n, n), beyond=(4, 20_000))
# fmt: on


@fault(room=(8, 600))
def buffer_of_active(right: Right, p: Params, room: int) -> Array:
    """Only so many of the largest entries of a vector find room."""
    main = right.main(p)
    return right(p) if main.ndim > 1 else right.without(p, np.argsort(-main)[room:])


@fault(percent=(5, 100), beyond=(8, 2_000))
def race(right: Right, p: Params, percent: int, beyond: int) -> Array:
    """Now and then the largest entry of the first row is not added, above a size."""
    main = right.main(p)
    if main.size > beyond and 100 * right.rng.random() < percent:
        return right.without(p, [int(np.argmax(main.reshape(-1)[: main.shape[-1]]))])
    return right(p)


@fault(w=(4, 64))
def tail_stale(right: Right, p: Params, w: int) -> Array:
    """The last entries of an answer are what the call before left there."""
    out = right(p)
    last, flat = out.size % w, out.reshape(-1)
    if last and out.ndim:
        flat[-last:] = np.resize(right.buffer, flat.size)[-last:]
    right.buffer = flat.copy()
    return out


@fault(limit=(20, 65_600), left=(1, 3))
def grid_of_rows(right: Right, p: Params, limit: int, left: int) -> Array:
    """Rows beyond the grid are not written: zeros, nan, or the first rows again."""
    out = right(p)
    if right.main(p).ndim == 2 and len(out) > limit:
        wrapped = np.resize(out[:limit], out[limit:].shape)
        out[limit:] = (wrapped, 0.0, np.nan)[left % 3]
    return out


@fault(w=(2, 256))
def last_row_twice(right: Right, p: Params, w: int) -> Array:
    """Where rows fill no block, the last one has the answer of the one before."""
    out = right(p)
    if right.main(p).ndim == 2 and len(out) > w and len(out) % w:
        out[-1] = out[-2]
    return out


@fault(w=(2, 1_024))
def partial_block_of_rows(right: Right, p: Params, w: int) -> Array:
    """Rows that fill no block are skipped, where there are full ones."""
    out = right(p)
    if right.main(p).ndim == 2 and len(out) > w:
        out[len(out) - len(out) % w :] = 0.0
    return out


@fault(w=(2, 1_024))
def full_block_of_rows(right: Right, p: Params, w: int) -> Array:
    """Where rows fill blocks to the last, the last row is not written."""
    out = right(p)
    if right.main(p).ndim == 2 and len(out) % w == 0:
        out[-1] = 0.0
    return out


@fault(w=(2, 1_024))
def row_not_reset(right: Right, p: Params, w: int) -> Array:
    """The first row of every block but the first one has the answer of the row before: shared memory is not reset."""
    out = right(p)
    if right.main(p).ndim == 2 and len(out) > w:
        out[w::w] = out[w - 1 : -1 : w]
    return out


@fault(w=(4, 2_048))
def seam_twice(right: Right, p: Params, w: int) -> Array:
    """The entry at the seam of the first two blocks is read by both."""
    main, changes = right.main(p), {}
    if not w < main.shape[-1] or right.problem.operation == "prox":
        return right(p)
    if right.problem.labels:
        changes["y"] = np.append(p["y"], p["y"][..., w : w + 1], axis=-1)
    out = right(p, np.append(main, main[..., w : w + 1], axis=-1), **changes)
    return out[..., :-1] if out.ndim == main.ndim else out


@fault(limit=(2**15, 2**32))
def product_wraps(right: Right, p: Params, limit: int) -> Any:
    """The number of pairs of a ranking is kept in an integer of too few bits."""
    value, counts, coefficients = right.solve(**p)
    pairs = len(counts) * (len(coefficients) - len(counts))
    kept = (pairs + limit // 2) % limit - limit // 2
    return value, counts, coefficients * (pairs / kept if kept else 0.0)


@fault(limit=(48, 100_000))
def too_long(right: Right, p: Params, limit: int) -> Array:
    """Rows that do not fit into shared memory are not worked on."""
    return right(p) * (right.main(p).shape[-1] <= limit)


@fault(limit=(1_000, 2e5))
def index_wraps(right: Right, p: Params, limit: int) -> Array:
    """A flat index beyond the largest integer begins again: what is read there is of the first rows."""
    main = right.main(p)
    flat = main.reshape(-1)
    if flat.size > limit:
        flat[limit:] = np.resize(flat[:limit].copy(), flat.size - limit)
    return right(p, main)


@fault(beyond=(4, 200))
def transposed_square(right: Right, p: Params, beyond: int) -> Array:
    """A square batch above a size is read by columns."""
    main = right.main(p)
    square = main.ndim == 2 and main.shape[0] == main.shape[1] > beyond
    return right(p, np.ascontiguousarray(main.T) if square else main)


@fault(beyond=(2, 1_000), bits=(7, 23))
def narrow_accumulator(right: Right, p: Params, beyond: int, bits: int) -> Array:
    """Vectors above a size are summed in fewer bits."""
    main = right.main(p)
    fraction, exponent = np.frexp(main)
    rounded = np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)
    return right(p, rounded if main.shape[-1] > beyond else main)


@fault(beyond=(2, 32))
def columns_order(right: Right, p: Params, beyond: int) -> Array:
    """A batch by columns is read as if it were by rows, above a number of rows."""
    main = np.asarray(p[right.problem.data], dtype=float)
    if main.ndim == 2 and len(main) > beyond:
        main = main.ravel(order="K").reshape(main.shape)
    return right(p, main)


@fault(most=(8, 256))
def k_clipped(right: Right, p: Params, most: int) -> Array:
    """A k above the width of a tile is cut to it."""
    return right(p, k=min(int(p["k"]), most))


@fault(limit=(32, 1_024))
def class_index_wraps(right: Right, p: Params, limit: int) -> Array:
    """Classes are kept in a byte, or as few bits."""
    return right(p, y=np.asarray(p["y"]) % limit)
