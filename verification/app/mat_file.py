"""Matrices of a MATLAB file, read in a process of its own: scipy's reader can crash on a damaged file.

``python -m verification.app.mat_file FILE TARGET NAME ...`` writes the named arrays to TARGET (.npz).
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from verification.errors import DataFileError
from verification.instances import npz

SECONDS = 600


def read(source: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The named arrays; columns and rows become vectors, except for X.

    Raises
    ------
    DataFileError
        Damage, no such array, version 7.3.
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
        held = sorted(name for name, _, _ in whosmat(str(source)))
        if missing := [name for name in names if name not in held]:
            raise DataFileError(f"{source} lacks the array(s) {missing}; it holds {held[:20]}")
        found = loadmat(str(source), variable_names=list(names), chars_as_strings=True)
    except NotImplementedError:
        raise DataFileError(
            f"{source} is a .mat file of version 7.3 (HDF5); save it with -v7, or as .npz"
        ) from None
    arrays = {}
    for name in names:
        array = found[name]
        array = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
        if name != "X" and array.ndim == 2 and 1 in array.shape:  # MATLAB knows no vectors
            array = array.ravel()
        if array.dtype == object and all(np.size(a) == 1 for a in array):  # cells of words
            array = np.array([str(np.ravel(a)[0]) for a in array])
        if array.dtype.kind not in "fiubU":
            raise DataFileError(
                f"{source}: {name} has dtype {array.dtype}; expected real numbers, or words for labels"
            )
        arrays[name] = array
    np.savez(target, **arrays)


if __name__ == "__main__":
    try:
        _convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    except DataFileError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
