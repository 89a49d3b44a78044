"""Top-k accuracy with ties counted against the classifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fast._validation import check_classes, check_k, finite_array
from fast.errors import InvalidParameterError


def topk_accuracy(
    y_true: ArrayLike, scores: ArrayLike, k: int, classes: ArrayLike | None = None
) -> float:
    """Fraction of rows whose true class is among the k best, ties counted as better.

    Row i is correct iff fewer than k other classes have a score >= that of the true class, so
    that constant scores are wrong for every k < m. (scikit-learn breaks ties by class order.)

    Parameters
    ----------
    y_true : array_like, shape (n,)
        True labels.
    scores : array_like, shape (n, m)
        Scores of all classes; float64, float32 or integers.
    k : int
        Number of guesses, 1 to m.
    classes : array_like, shape (m,), optional
        Labels of the columns, distinct; default 0 to m - 1.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    fast.errors.InvalidParameterError
        Scores that are not finite, k out of range, shapes that do not match, no rows, a label
        that is not among the classes.
    """
    values = finite_array("scores", scores, (2,))
    n, m = values.shape
    if n == 0:
        raise InvalidParameterError(
            "scores", f"shape {values.shape}", "at least one row", "add rows"
        )
    k = check_k(k, m, " (the number of classes)")
    if classes is None:
        y = check_classes(y_true, n, m, "y_true")
    else:
        y = _columns(np.asarray(y_true), np.asarray(classes), n, m)
    own = values[np.arange(n), y]
    others_ahead = (values >= own[:, np.newaxis]).sum(axis=1) - 1
    return float(np.mean(others_ahead < k))


def _columns(labels: np.ndarray, classes: np.ndarray, n: int, m: int) -> np.ndarray:
    """Column of each label."""
    for name, array, size in (("y_true", labels, n), ("classes", classes, m)):
        if array.shape != (size,):
            raise InvalidParameterError(
                name, f"shape {array.shape}", f"shape ({size},)", "match it to the scores"
            )
    order = np.argsort(classes, kind="stable")
    ordered = classes[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise InvalidParameterError(
            "classes", "repeated labels", "distinct labels", "merge columns"
        )
    place = np.minimum(np.searchsorted(ordered, labels), m - 1)
    unknown = ordered[place] != labels
    if unknown.any():
        raise InvalidParameterError(
            "y_true",
            f"label {labels[unknown][0]!r} is not in classes",
            "labels that have a column of scores",
            "drop those rows or add their classes",
        )
    return order[place]
