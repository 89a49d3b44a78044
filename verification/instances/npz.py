"""Arrays out of an .npz file that nobody vouches for: nothing is run, and no claimed size is believed.

The header of an array names its shape; numpy allocates that much before it reads. Here the shape has to
agree with the bytes that the archive holds, and those with the size of the file.
"""

import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.lib import format as npy

from verification.errors import DataFileError
from verification.instances.files import check_regular

#: One byte of deflate unfolds to no more.
RATIO = 1032
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
#: What reading a spoilt archive raises.
SPOILT = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, EOFError, OSError, ValueError,
    TypeError, SyntaxError, OverflowError, NotImplementedError, RuntimeError, RecursionError,
)  # fmt: skip


def read(
    path: str | os.PathLike[str], names: Sequence[str], limit: float = math.inf
) -> dict[str, np.ndarray]:
    """Read the named arrays of numbers or text; they are read-only, and their checksums agree.

    Parameters
    ----------
    path : of the archive.
    names : of the arrays, without ``.npy``; others are not looked at.
    limit : bytes that an array may unfold to.

    Raises
    ------
    DataFileError
        No such archive, no such array, objects, or a shape that is not that of the bytes held.
    """
    where, start = os.fspath(path), b"?"
    try:
        check_regular(path)
        with open(path, "rb") as stream:
            start = stream.read(len(npy.MAGIC_PREFIX))
        if start == npy.MAGIC_PREFIX:
            raise DataFileError(
                f"{where} is one array (.npy) under the name of an archive; expected .npz with the "
                f"array(s) {', '.join(names)}: write it with np.savez(path, name=array, ...)"
            )
        with zipfile.ZipFile(path) as archive:
            held = sorted(n.removesuffix(".npy") for n in archive.namelist())
            if missing := [name for name in names if name not in held]:
                raise DataFileError(f"{where} lacks the array(s) {missing}; it holds {held[:20]}")
            return {name: _array(archive, name, f"{where}, array {name}", limit) for name in names}
    except DataFileError:
        raise
    except MemoryError:
        raise DataFileError(f"{where} holds more than the memory of this machine") from None
    except SPOILT as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataFileError(
            f"{where} is not a readable .npz of plain arrays: {'it is empty' if not start else said}; "
            "expected what np.savez writes: write or copy it again"
        ) from error


def names(path: str | os.PathLike[str]) -> list[str]:
    """Names of the arrays; none where it is no archive, which `read` says."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except SPOILT:
        return []


def _array(archive: zipfile.ZipFile, name: str, where: str, limit: float) -> np.ndarray:
    """One array; numpy's own functions read magic and header."""
    info = archive.getinfo(f"{name}.npy" if f"{name}.npy" in archive.namelist() else name)
    stored = info.compress_type == zipfile.ZIP_STORED
    if not stored and info.compress_type != zipfile.ZIP_DEFLATED:
        raise DataFileError(f"{where} is packed in a way that numpy does not write; use np.savez")
    if info.file_size > limit:
        raise DataFileError(f"{where} unfolds to {info.file_size} bytes; expected at most {limit}")
    most = info.compress_size * (1 if stored else RATIO)
    with archive.open(info) as stream:
        version = npy.read_magic(stream)
        if version not in _HEADERS:
            raise DataFileError(f"{where} has format {version}; expected one array of numbers")
        with warnings.catch_warnings(action="ignore"):  # of spellings that numpy has left behind
            shape, fortran, dtype = _HEADERS[version](stream)
        if dtype.kind not in "biufcSU" or not dtype.itemsize:
            raise DataFileError(
                f"{where} has dtype {dtype}; expected plain arrays of numbers or text, as objects "
                "could run code: convert it where it was made, with astype(float) or astype(str)"
            )
        size, there = math.prod(shape) * dtype.itemsize, info.file_size - stream.tell()
        if size != there or info.file_size > most or min(shape, default=0) < 0:
            raise DataFileError(
                f"{where} claims shape {shape} of {dtype}, {size} bytes, where the file holds "
                f"{min(there, most)}; write it again with np.savez"
            )
        data = stream.read(size)
        stream.read(1)  # the end: only there is the checksum compared
    if dtype.kind == "U":  # numpy does not look: a SystemError where the text is used
        codes = np.frombuffer(data, np.dtype("u4").newbyteorder(dtype.byteorder))
        if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))):
            raise DataFileError(f"{where} has bytes that are no text; write it again with np.savez")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
