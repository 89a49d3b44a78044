"""HDF5 files: a dataset of numbers (n, d), read a group of rows at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fast.data.files import reading, stamp
from fast.data.npy import GROUP, only_matrix
from fast.data.source import Source
from fast.errors import InvalidParameterError, InvalidTypeError


class Hdf5(Source):
    """Rows of a dataset (n, d); types are read as those of ``.npy`` files.

    Parameters
    ----------
    name : str
        The file.
    label : str or None
        The dataset (n,) of labels.
    feature : str or None
        The dataset of features; default "X", else the only matrix of the file.
    """

    def __init__(self, name: str, label: str | None, feature: str | None) -> None:
        self.name, self.stamp = name, stamp(name)
        label, feature = (path and path.strip("/") for path in (label, feature))
        with opened(name) as file:
            held = datasets(file)
            self.chosen = only_matrix(
                name, {key: data.shape for key, data in held.items()}, feature
            )
            data = held[self.chosen]
            if data.ndim != 2 or data.dtype.kind not in "fiub" or data.dtype.itemsize > 8:
                given = f"dataset {self.chosen!r} of {data.dtype}, shape {data.shape}"
                fix = "name another one: fast.data.rows(path, features=...), --features"
                raise InvalidTypeError(name, given, "real numbers (n, d)", fix)
            if label is not None:
                self.labels = values(name, held, label)
            self.shape, self.dtype = data.shape, np.result_type(np.float32, data.dtype)
            n, size = self.shape[0], self.shape[1] * data.dtype.itemsize
            step = max(1, GROUP // max(size, 1)) if data.chunks is None else data.chunks[0]
            step *= max(1, GROUP // max(step * size, 1))
        self.groups = tuple(slice(i, min(i + step, n)) for i in range(0, n, step))

    def read(self, rows: slice) -> NDArray[Any]:
        """Rows, into new memory."""
        stamp(self.name, self.stamp)
        with opened(self.name) as file:
            return np.ascontiguousarray(file[self.chosen][rows], self.dtype)


@contextmanager
def opened(name: str) -> Iterator[Any]:
    """The open file; its errors with name and fix."""
    try:
        import h5py
    except ImportError:
        fix = "in a clone of refsolve, pip install '.[mat]'"
        raise InvalidParameterError(name, "HDF5", "h5py installed", fix) from None
    stamp(name)
    with reading(name), h5py.File(name, "r") as file:
        yield file


def datasets(file: Any) -> dict[str, Any]:
    """All datasets by their paths."""
    found: dict[str, Any] = {}
    file.visititems(lambda path, held: found.update({path: held} if hasattr(held, "dtype") else {}))
    return found


def values(name: str, held: dict[str, Any], wanted: str) -> NDArray[Any]:
    """A dataset of numbers or texts."""
    import h5py

    if wanted not in held:
        expected = f"one of {', '.join(held)}"[:300]
        raise InvalidParameterError(name, f"no dataset {wanted!r}", expected, "name one of these")
    data = held[wanted]
    text = h5py.check_string_dtype(data.dtype) is not None
    found = np.asarray(data.asstr()[...].tolist() if text else data[...])
    if found.dtype.kind not in "iubfU":
        given = f"dataset {wanted!r} of {data.dtype}"
        raise InvalidTypeError(name, given, "labels", "write numbers or texts")
    return found
