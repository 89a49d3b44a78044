"""The largest of some numbers, the same ones on every processor."""

import numpy as np


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the ``count`` >= 1 largest on the last axis, best first; of equal ones the first.

    A partition alone takes whichever of equal ones suits the instructions of the processor.
    """
    rows = values.reshape(-1, values.shape[-1])
    best = np.sort(np.argpartition(-rows, count - 1, axis=1)[:, :count], axis=1)
    rank = np.argsort(-np.take_along_axis(rows, best, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(best, rank, axis=1)
    tied = (rows >= np.take_along_axis(rows, best[:, -1:], axis=1)).sum(axis=1) > count
    best[tied] = np.argsort(-rows[tied], axis=1, kind="stable")[:, :count]
    return best.reshape(*values.shape[:-1], count)
