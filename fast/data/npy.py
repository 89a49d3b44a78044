"""Arrays in ``.npy`` files: read, not mapped, so that memory holds the rows in use and no more."""

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


class Npy(Source):
    """Rows of a C-ordered array (n, d) of float16, float32 or float64 in a file.

    Parameters
    ----------
    name : str
        The file.
    shape : tuple of int
        (n, d).
    stored : numpy.dtype
        Of the file's numbers. float16 is read as float32.
    offset : int
        Bytes before the first number.
    """

    def __init__(self, name: str, shape: tuple[int, ...], stored: Any, offset: int) -> None:
        self.stamp = stamp(name)
        if stored.hasobject or stored not in (np.float16, np.float32, np.float64):
            expected = "float16, float32 or float64 in the byte order of this machine"
            raise InvalidTypeError(name, f"dtype {stored}", expected, f"{AGAIN}.astype(float))")
        if len(shape) != 2 or shape[0] < 0 or shape[1] < 1:
            fix = "store one row per example: np.save(new, array.reshape(n, -1))"
            raise InvalidParameterError(name, f"shape {shape}", "a matrix (n, d)", fix)
        needed = offset + shape[0] * shape[1] * stored.itemsize
        if self.stamp[0] < needed:
            given = f"{self.stamp[0]} bytes, where its header says {needed}: it is truncated"
            raise InvalidParameterError(name, given, "a whole file", "write or copy it again")
        self.name, self.stored, self.offset = name, stored, offset
        self.shape = (shape[0], shape[1])
        self.dtype = np.dtype(np.float32 if stored == np.float16 else stored)
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
            raise InvalidParameterError(
                name, f"{error}"[:300], expected, "write it with np.save"
            ) from error
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
            from fast.kernels.blocks import widen

            flat, piece = out.reshape(-1), np.empty(PIECE // 2, np.uint16)
            for i in range(0, flat.size, piece.size):
                part = piece[: flat.size - i]
                self._fill(file.fileno(), part, start + 2 * i)
                widen(part, flat[i : i + part.size])
        return out

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


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])
