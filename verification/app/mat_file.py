"""Matrices of a MATLAB file, read in a process of its own: scipy's reader can crash on a damaged file.

``python -m verification.app.mat_file FILE TARGET NAME ...`` writes the named arrays to TARGET (.npz).
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import DataFileError
from verification.instances import npz

SECONDS = 600


def read(source: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named arrays; columns and rows become vectors, except for X.

    Raises
    ------
    DataFileError
        Damage, no such array, version 7.3 without h5py.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "arrays.npz"
        command = [sys.executable, "-m", __name__, str(source), str(target), *names]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise _damaged(source, f"nothing came of it in {SECONDS} s") from None
        if done.returncode == 3:
            raise DataFileError(done.stderr.strip())
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"the reader ended with {done.returncode}"]
            raise _damaged(source, lines[-1])
        return npz.read(target, list(names))


def _damaged(source: Path, why: str) -> DataFileError:
    return DataFileError(
        f"{source} is not a readable .mat file: {why[:200]}; write it again, or as .npz"
    )


def _convert(source: Path, target: Path, names: Sequence[str]) -> None:
    from scipy.io import loadmat, whosmat

    try:
        held = [name for name, _, _ in whosmat(str(source))]
        _all_there(source, names, held)
        found = loadmat(str(source), variable_names=list(names), chars_as_strings=True)
    except NotImplementedError:  # version 7.3
        found = _hdf5(source, names)
    arrays = {}
    for name in names:
        array = found[name]
        array = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
        if array.dtype == object:  # cells, each of a word or a number
            cells = [np.ravel(cell) for cell in array.ravel()]  # an empty one is no class
            kinds = {cell.dtype.kind == "U" for cell in cells if cell.size}
            if len(kinds) == 1 and all(cell.size <= 1 for cell in cells):
                array = np.array([cell[0] if cell.size else "" for cell in cells])
        if name != "X" and array.ndim == 2 and 1 in array.shape:  # MATLAB knows no vectors
            array = array.ravel()
        if array.dtype.kind == "U":  # rows of a matrix of characters are padded to one length
            array = np.char.rstrip(array)
        if array.dtype.kind not in "fiubU":
            raise DataFileError(
                f"{source}: {name} has dtype {array.dtype}; expected real numbers, or words for labels"
            )
        arrays[name] = array
    np.savez(target, **arrays)


def _all_there(source: Path, names: Sequence[str], held: Iterable[str]) -> None:
    known = sorted(held)
    if missing := [name for name in names if name not in known]:
        raise DataFileError(f"{source} lacks the array(s) {missing}; it holds {known[:20]}")


def _hdf5(source: Path, names: Sequence[str]) -> dict[str, Any]:
    """Arrays of version 7.3: HDF5 with MATLAB's columns as rows, texts as numbers of characters."""
    try:
        import h5py
    except ImportError:
        raise DataFileError(
            f"{source} is a .mat file of version 7.3 (HDF5); pip install h5py reads it, or save it with -v7, or "
            "as .npz"
        ) from None
    from scipy.sparse import csc_array

    with h5py.File(source, "r") as file:
        _all_there(source, names, (name for name in file if not name.startswith("#")))

        def value(held: Any) -> Any:
            kind = held.attrs.get("MATLAB_class", b"")
            if "MATLAB_sparse" in held.attrs:
                ends = np.asarray(held["jc"])
                data, rows = (
                    np.asarray(held[k]) if k in held else np.zeros(0) for k in ("data", "ir")
                )
                shape = int(held.attrs["MATLAB_sparse"]), len(ends) - 1
                parts: Any = (data, rows, ends)
                return csc_array(parts, shape=shape)
            if not isinstance(held, h5py.Dataset):
                raise DataFileError(
                    f"{source}: {held.name.lstrip('/')} is no array; expected numbers or words"
                )
            if held.attrs.get("MATLAB_empty", 0):
                return np.zeros(tuple(np.asarray(held)))
            if kind == b"char":  # a row of characters per word
                return np.array(["".join(map(chr, row)) for row in np.asarray(held).T])
            if kind == b"cell":
                cells = [value(file[ref]) for ref in np.asarray(held).T.ravel()]
                found = np.empty(len(cells), object)
                found[:] = cells
                return found
            return np.asarray(held).T

        return {name: value(file[name]) for name in names}


if __name__ == "__main__":
    try:
        _convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    except DataFileError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
