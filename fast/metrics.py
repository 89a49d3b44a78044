"""Top-k accuracy, average precision and NDCG, ties counted against the classifier unless asked otherwise."""

import numpy as np
from numpy.typing import ArrayLike

from fast._validation import check_classes, check_k, finite_array, label_array
from fast.errors import InvalidParameterError
from fast.ranking.labels import mask_of, scores_of


def score_columns(scores: ArrayLike) -> np.ndarray:
    """A column per class: of two classes ``decision_function`` gives one number f, here -f and f."""
    f = np.asarray(scores)
    return np.column_stack([-f, f]) if f.ndim == 1 else f


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
        y = _columns(label_array("y_true", y_true), label_array("classes", classes), n, m)
    own = values[np.arange(n), y]
    others_ahead = (values >= own[:, np.newaxis]).sum(axis=1) - 1
    return float(np.mean(others_ahead < k))


def average_precision(y_true: ArrayLike, scores: ArrayLike, ties: str = "pessimistic") -> float:
    """Mean over the positives of the precision at their rank, (1/P) sum_k k/rank_k.

    Scikit-learn gives all samples of a tie the rank of its last one, positives and negatives
    alike; its value can exceed that of every order: for y = (0, 1, 1) and s = (2, 1, 1) it is 2/3,
    and each order of the two tied positives gives 7/12. Without ties all agree.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        True or 1 for positives, False, 0 or -1 for negatives; at least one positive.
    scores : array_like, shape (n,)
        Scores; float64, float32 or integers.
    ties : {"pessimistic", "optimistic", "expected"}
        Samples with equal scores stand negatives first, positives first, or in random order: the
        mean over all orders, every order as likely as any other.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    fast.errors.InvalidParameterError
        Scores that are not finite, shapes that do not match, other labels, no positive, an
        unknown treatment of ties.

    Notes
    -----
    Of a tie of m samples, a of them positive, that follows R samples with A positives, place q
    is positive with probability a/m, and then (q - 1)(a - 1)/(m - 1) of the places before it in
    the tie are positive on average. It adds a/m (A + 1 + (q - 1)(a - 1)/(m - 1))/(R + q) to the
    expected sum.
    """
    _check_ties(ties)
    values = finite_array("scores", scores_of(scores))
    positive = mask_of(y_true, values.shape[0], "y_true")
    if not positive.any():
        raise InvalidParameterError(
            "y_true", "no positive", "at least one positive", "AP is not defined without one"
        )
    if ties == "expected":
        return _expected_precision(positive, values)
    above, below = -np.sort(-values[positive]), np.sort(values[~positive])
    ahead = below.shape[0] - np.searchsorted(
        below, above, side="left" if ties == "pessimistic" else "right"
    )
    ranks = np.arange(1, above.shape[0] + 1)
    return float(np.mean(ranks / (ranks + ahead)))


def ndcg(
    y_true: ArrayLike, scores: ArrayLike, k: int | None = None, ties: str = "pessimistic"
) -> float:
    """Discounted gain of the ranking by score over that of the best: DCG = sum of y_r/log2(1 + r) over ranks r.

    The gain is y itself, not 2^y - 1. With ties="expected" samples of a tie share the mean of their gains, as in
    scikit-learn's ``ndcg_score``; that is the mean over all orders of the tied samples, DCG being linear in gains.
    Other libraries keep the order of a sort: without ties all agree.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        Gains >= 0, not all 0: grades, or True and 1 for relevant samples.
    scores : array_like, shape (n,)
        Scores; float64, float32 or integers.
    k : int, optional
        NDCG@k: ranks beyond k count nothing, for the best ranking too. Default all ranks.
    ties : {"pessimistic", "optimistic", "expected"}
        Samples with equal scores stand by rising gain, by falling gain, or in random order.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    fast.errors.InvalidParameterError
        Scores or gains that are not finite, negative gains or none above 0, shapes that do not match, k < 1, an
        unknown treatment of ties.
    """
    _check_ties(ties)
    values = finite_array("scores", scores_of(scores))
    gains = finite_array("y_true", label_array("y_true", y_true), (1,)).astype(np.float64)
    if gains.shape != values.shape or (gains < 0).any() or not gains.any():
        raise InvalidParameterError(
            "y_true",
            f"shape {gains.shape}, least {gains.min(initial=np.inf):g}, largest {gains.max(initial=0):g}",
            f"{values.shape[0]} gains >= 0, one per score and not all 0",
            "write 0 for what is not relevant; NDCG is not defined without a relevant sample",
        )
    discounts = 1.0 / np.log2(np.arange(2.0, gains.shape[0] + 2.0))
    if k is not None:
        discounts[check_k(k) :] = 0.0
    ranked = gains[np.lexsort((-gains if ties == "optimistic" else gains, -values))]
    if ties == "expected":
        falling = -np.sort(-values)
        starts = np.flatnonzero(np.concatenate(([True], falling[1:] != falling[:-1])))
        sizes = np.diff(starts, append=values.shape[0])
        ranked = np.repeat(np.add.reduceat(ranked, starts) / sizes, sizes)
    return float(discounts @ ranked / (discounts @ -np.sort(-gains)))


def _check_ties(ties: str) -> None:
    """Refuse an unknown treatment of ties."""
    if ties not in ("pessimistic", "optimistic", "expected"):
        raise InvalidParameterError(
            "ties", repr(ties), "'pessimistic', 'optimistic' or 'expected'", "choose one of them"
        )


def _expected_precision(positive: np.ndarray, values: np.ndarray) -> float:
    """Mean of AP over the orders of each tie."""
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    sizes = np.diff(starts, append=values.shape[0])
    own = np.add.reduceat(positive[order], starts, dtype=np.int64)
    before = np.cumsum(own) - own
    m, a = np.repeat(sizes, sizes), np.repeat(own, sizes)
    rank = np.arange(1, values.shape[0] + 1)
    place = rank - np.repeat(starts, sizes)
    found = np.repeat(before, sizes) + 1 + (place - 1) * ((a - 1) / np.maximum(m - 1, 1))
    return float(np.sum(a / m * found / rank) / np.count_nonzero(positive))


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
