"""Examples with several labels each: indicators out of files, and how well a model finds the labels."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from verification.app.dataset import Examples
from verification.app.labels import listed
from verification.errors import DataFileError
from verification.instances import npz


def indicator(
    source: Path, held: np.ndarray, names: Sequence[str], place: Callable[[int, str], str]
) -> np.ndarray:
    """Which labels are right, (n, m) booleans, of entries 0 and 1."""
    if held.ndim != 2 or len(names) < 2:
        raise DataFileError(
            f"{source}: expected at least two labels to choose from: columns of 0 and 1 named by --labels a,b,c, "
            "an array Y (n, m) of them, or 1,4 3:0.5 in an svm file"
        )
    if held.dtype == object:  # text, such as True of a CSV file
        words = np.char.lower(held.astype(str))
        held = np.select([words == "true", words == "false"], [1, 0], held)
    if (bad := np.argwhere((held != 0) & (held != 1))).size:
        i, j = bad[0].tolist()
        raise DataFileError(
            f"{source}, {place(i, names[j])}: the entry is {held[i, j]!s:.80}; expected 1 for a label of the "
            "example, or 0"
        )
    return held.astype(bool)


def with_csr(source: Path, names: Sequence[str], label: str) -> dict[str, np.ndarray]:
    """Arrays of an .npz; the one of the labels may be held as the parts of a CSR matrix."""
    from scipy.sparse import csr_array

    try:
        return npz.read(source, names)
    except DataFileError as error:
        parts = [f"{label}_{part}" for part in ("data", "indices", "indptr", "shape")]
        try:
            arrays = npz.read(source, [*(name for name in names if name != label), *parts])
            held: Any = tuple(arrays[part] for part in parts[:3])
            found = csr_array(held, tuple(arrays[parts[3]].tolist()))
            if found.shape[0] * found.shape[1] > 2**32:  # whatever it claims, it is made dense
                raise ValueError(f"shape {found.shape}")
            found.check_format(full_check=True)
        except (DataFileError, ValueError, TypeError, OverflowError) as other:
            raise DataFileError(
                f"{error}; nor is {', '.join(parts)} a CSR matrix: {other}"
            ) from None
        return arrays | {label: found.toarray()}


def aligned(examples: Examples, names: Sequence[str]) -> np.ndarray:
    """The indicator with these labels as its columns; those that the examples do not know are never right."""
    if odd := [name for name in examples.labels if name not in names]:
        raise DataFileError(
            f"label(s) {listed(odd)} of {examples.source} are none of those that were trained, {listed(names)}; "
            "leave them out"
        )
    assert examples.y is not None
    found = np.zeros((len(examples.y), len(names)), bool)
    found[:, [names.index(name) for name in examples.labels]] = examples.y
    return found


def measured(names: Sequence[str], Y: np.ndarray, F: np.ndarray) -> tuple[dict[str, float], Any]:
    """Shares by name, and of each label how often it is right, its F1 and average precision.

    A label is predicted where its score F is above 0. One that is never right has no average precision.
    """
    from sklearn.metrics import accuracy_score, average_precision_score, f1_score, hamming_loss

    found = F > 0.0
    f1 = partial(f1_score, Y, found, zero_division=0.0)
    each = f1(average=None)
    precisions = [
        float(average_precision_score(own, f)) if own.any() else None
        for own, f in zip(Y.T, F.T, strict=True)
    ]
    shares = {
        "subset accuracy": accuracy_score(Y, found),
        "micro F1": f1(average="micro"),
        "macro F1": each.mean(),
        "Hamming loss": hamming_loss(Y, found),
        "mean AP": np.mean([p for p in precisions if p is not None] or [np.nan]),
    }
    labels = zip(names, Y.sum(axis=0).tolist(), each.tolist(), precisions, strict=True)
    return {name: float(share) for name, share in shares.items()}, tuple(labels)
