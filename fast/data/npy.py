"""Matrices in ``.npy`` and safetensors files: read, not mapped: memory holds the rows in use and no more."""

import json
import math
import os
import warnings
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from fast.data.files import reading, stamp
from fast.data.source import Source
from fast.errors import InvalidParameterError, InvalidTypeError, UnreadableError

GROUP = 16 << 20  # stored bytes that are read at a time
PIECE = 1 << 18  # of them, how many are converted at a time: they stay in the cache
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
AGAIN = "write it again: np.save(new, np.load(old, mmap_mode='r')"
#: bfloat16 of ml_dtypes in a .npy file: NumPy knows its size alone.
BFLOAT16 = np.dtype("V2")
#: What safetensors calls the types that are read.
TENSORS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "V2", "BOOL": "?",
    **{f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (1, 2, 4, 8)},
}  # fmt: skip
WIDER = "convert where it was made: array.astype(np.float32) has every value of 8 and 16 bits"


class Npy(Source):
    """Rows of a C-ordered array (n, d) of numbers in a file.

    Parameters
    ----------
    name : str
        The file.
    shape : tuple of int
        (n, d).
    stored : numpy.dtype
        Of the file's numbers; ``V2`` is bfloat16. Numbers of at most 16 bits are read as float32, longer
        integers as float64.
    offset : int
        Bytes before the first number.
    """

    def __init__(self, name: str, shape: tuple[int, ...], stored: Any, offset: int) -> None:
        self.stamp = stamp(name)
        if stored != BFLOAT16 and (
            stored.kind not in "fiub" or stored.itemsize > 8 or not stored.isnative
        ):
            expected = "real numbers of at most 64 bits in the byte order of this machine"
            fix = WIDER if stored.kind == "V" else f"{AGAIN}.astype(float))"
            raise InvalidTypeError(name, f"dtype {stored}", expected, fix)
        if len(shape) != 2 or shape[0] < 0 or shape[1] < 1:
            fix = "store one row per example: np.save(new, array.reshape(n, -1))"
            raise InvalidParameterError(name, f"shape {shape}", "a matrix (n, d)", fix)
        needed = offset + shape[0] * shape[1] * stored.itemsize
        if self.stamp[0] < needed:
            given = f"{self.stamp[0]} bytes, where its header says {needed}: it is truncated"
            raise InvalidParameterError(name, given, "a whole file", "write or copy it again")
        self.name, self.stored, self.offset = name, stored, offset
        self.shape = (shape[0], shape[1])
        self.dtype = np.result_type(np.float32, np.float32 if stored == BFLOAT16 else stored)
        n, step = shape[0], max(1, GROUP // (shape[1] * stored.itemsize))
        self.groups = tuple(slice(i, min(i + step, n)) for i in range(0, n, step))

    @classmethod
    def file(cls, name: str) -> "Npy":
        """The array of a ``.npy`` file."""
        stamp(name)  # a named pipe would wait for ever
        try:
            with reading(name), open(name, "rb") as file, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # headers that Python 2 wrote
                version = npy.read_magic(file)
                if version not in HEADERS:
                    raise ValueError(f"format {version[0]}.{version[1]}, for structured dtypes")
                shape, fortran, stored = HEADERS[version](file)
                offset = file.tell()
        except UnreadableError:
            raise
        except Exception as error:  # what numpy's parser of Python literals may raise
            expected = "a .npy file of format 1 or 2 with a matrix of floats"
            fix = WIDER if "<f1" in str(error) else "write it with np.save"  # float8 of ml_dtypes
            raise InvalidParameterError(name, f"{error}"[:300], expected, fix) from error
        if fortran and min(shape, default=0) > 1:
            expected = "C order: one row after the other"
            raise InvalidParameterError(
                name, "Fortran order", expected, f"{AGAIN}.copy(order='C'))"
            )
        return cls(name, shape, stored, offset)

    @classmethod
    def mapped(cls, array: Any) -> "Npy":
        """The file under a `numpy.memmap`, or the rows of it that a slice left."""
        name = str(array.filename)
        if not array.flags.c_contiguous or array.mode == "c":
            given = (
                "a map of some columns or every other row, or with changes of its own (mode 'c')"
            )
            fix = "map it with mode='r' and slice consecutive rows, or pass np.array(X)"
            raise InvalidParameterError(name, given, "whole rows as they are in the file", fix)
        root = array
        while isinstance(root.base, np.memmap):
            root = root.base
        return cls(name, array.shape, array.dtype, root.offset + _address(array) - _address(root))

    @classmethod
    def tensor(cls, name: str, label: str | None, feature: str | None) -> "Npy":
        """A matrix of a safetensors file: the one of that name, or the only one; ``label`` (n,) are labels."""
        held = tensors(name)
        chosen = only_matrix(name, {key: shape for key, (_, shape, _) in held.items()}, feature)
        found = cls(name, tuple(held[chosen][1]), _tensor_type(name, held, chosen), held[chosen][2])
        if label is not None:
            stored = _tensor_type(name, held, label)
            kind, shape, offset = held[label]
            if stored.kind not in "fiub":
                raise InvalidTypeError(
                    name, f"labels {label!r} of {kind}", "integers", "write int64"
                )
            with reading(name):
                flat = np.fromfile(name, stored, math.prod(shape), offset=offset)
            found.labels = flat.reshape(shape)
        return found

    def read(self, rows: slice) -> NDArray[Any]:
        """Rows, into new memory."""
        n, d = max(rows.stop - rows.start, 0), self.shape[1]
        out = np.empty((n, d), self.dtype)
        stamp(self.name, self.stamp)
        with reading(self.name), open(self.name, "rb", buffering=0) as file:
            start = self.offset + rows.start * d * self.stored.itemsize
            if self.dtype == self.stored:
                self._fill(file.fileno(), out.reshape(-1), start)
                return out
            size = self.stored.itemsize
            flat, piece = out.reshape(-1), np.empty(PIECE // size, _bits(self.stored))
            for i in range(0, flat.size, piece.size):
                part = piece[: flat.size - i]
                self._fill(file.fileno(), part, start + size * i)
                self._convert(part, flat[i : i + part.size])
        return out

    def _convert(self, part: NDArray[Any], out: NDArray[Any]) -> None:
        if self.stored == np.float16:
            from fast.kernels.blocks import widen

            widen(part, out)
        elif self.stored == BFLOAT16:  # the upper half of a float32
            np.left_shift(part, 16, out=out.view(np.uint32), dtype=np.uint32)
        else:
            out[:] = part

    def _fill(self, file: int, numbers: NDArray[Any], start: int) -> None:
        """Read as many bytes as there is room for."""
        room, done = numbers.view(np.uint8).data, 0
        while done < len(room):
            count = os.preadv(file, [room[done:]], start + done)
            if not count:
                stamp(self.name, self.stamp)
                raise UnreadableError(
                    self.name, f"ends at byte {start + done}", "a whole file", "write it again"
                )
            done += count


def tensors(name: str) -> dict[str, tuple[str, list[int], int]]:
    """Of each tensor of a safetensors file its type, its shape and the byte where it begins.

    The library checks the header; it has no way to read bfloat16 as an array of NumPy.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        fix = "in a clone of refsolve, pip install '.[safetensors]'"
        raise InvalidParameterError(name, "safetensors", "that library installed", fix) from None
    stamp(name)
    try:
        with reading(name), safe_open(name, framework="numpy"), open(name, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
    except (SafetensorError, ValueError) as error:
        given, expected = f"{error}"[:300], "what safetensors.numpy.save_file writes"
        raise InvalidParameterError(name, given, expected, "write or copy it again") from error
    header.pop("__metadata__", None)
    return {
        key: (told["dtype"], told["shape"], 8 + length + told["data_offsets"][0])
        for key, told in header.items()
    }


def _tensor_type(name: str, held: dict[str, tuple[str, list[int], int]], key: str) -> Any:
    if key not in held:
        expected = f"one of {', '.join(held)}"[:300]
        raise InvalidParameterError(name, f"no tensor {key!r}", expected, "name one of these")
    if (kind := held[key][0]) not in TENSORS:
        expected = f"one of {', '.join(TENSORS)}"
        raise InvalidTypeError(name, f"tensor {key!r} of {kind}", expected, WIDER)
    return np.dtype(TENSORS[kind])


def only_matrix(name: str, shapes: dict[str, Any], feature: str | None) -> str:
    """The name of the matrix that is asked for, else "X", else that of the only matrix there is."""
    matrices = [key for key, shape in shapes.items() if len(shape) == 2]
    if feature is None and "X" not in matrices and len(matrices) == 1:
        return matrices[0]
    if (chosen := feature or "X") in shapes:
        return chosen
    held = ", ".join(f"{key} {tuple(shape)}" for key, shape in shapes.items())[:300]
    fix = "name the features: fast.data.rows(path, features=...), --features"
    raise InvalidParameterError(
        name, f"no array {chosen!r}; it holds {held}", "a matrix (n, d)", fix
    )


def _bits(stored: Any) -> Any:
    """As what numbers are read before they are converted."""
    return np.dtype(np.uint16) if stored in (np.float16, BFLOAT16) else stored


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])
