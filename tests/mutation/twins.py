"""What only a compiler can run, in Python: the intrinsics of `fast._simd` and `fast.ranking.bits`."""

import gc
import struct
import sys
from types import ModuleType
from typing import Any

import numpy as np

_SIMD: dict[str, Any] = {
    "larger": lambda x, y: x if x > y else y,
    "smaller": lambda x, y: x if x < y else y,
    "largest_or_nan": lambda x, y: x if (x > y or x != x) and y == y else y,
    "count_if": lambda count, condition: count + condition,
    "choose": lambda condition, x, y: x if condition else y,
    "plus": lambda total, term: total + term,
    "fused": lambda x, y, z: x * y + z,
    "bits": lambda x: np.int64(struct.unpack("<q", struct.pack("<d", x))[0]),
    "prefetch": lambda array, place: None,
    "from_bits": lambda n: np.float64(struct.unpack("<d", struct.pack("<q", int(n)))[0]),
}


def _word(hits: np.ndarray) -> np.uint64:
    return np.packbits(hits, bitorder="little").view(np.uint64)[0]


_BITS: dict[str, Any] = {
    "WIDTH": 64, "NONE": np.uint64(0), "ONE": np.uint64(1), "EVERY": np.uint64(2**64 - 1),
    "above": lambda array, first, bound: _word(array[first : first + 64] > bound),
    "within": lambda array, first, limit: _word(np.abs(array[first : first + 64]) <= limit),
    "zero": lambda array, first: _word(array[first : first + 64] == 0),
    "lowest": lambda bits: (int(bits) & -int(bits)).bit_length() - 1,
    "number": lambda bits: int(bits).bit_count(),
}  # fmt: skip


def install() -> None:
    """Put the twins in the place of the two modules; before `fast` is imported."""
    for name, contents in (("fast._simd", _SIMD), ("fast.ranking.bits", _BITS)):
        module = ModuleType(name, "Twins in Python.")
        vars(module).update(contents, np=np)
        sys.modules[name] = module


def of_every_loss() -> None:
    """Make the functions that `by_loss` makes of one at its first call: only those that exist can be changed."""
    for made in gc.get_objects():
        if getattr(made, "__qualname__", "") == "by_loss.<locals>.decorate.<locals>.made":
            for row in range(3):
                for smooth in (False, True):
                    made(row, smooth)


def unbox() -> None:
    """Let results hold plain numbers, as they come out of compiled code; after `fast` is imported."""
    from fast.losses.average_precision import Inference

    made = Inference.__new__

    def plain(cls: type, *values: Any, **named: Any) -> Any:
        given = {k: v.item() if isinstance(v, np.generic) else v for k, v in named.items()}
        return made(cls, *(v.item() if isinstance(v, np.generic) else v for v in values), **given)

    Inference.__new__ = plain
