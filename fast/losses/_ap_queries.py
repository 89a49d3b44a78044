"""Average precision loss of many queries, prepared once and evaluated at many scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast.errors import InvalidParameterError
from fast.losses import _ap_inference as inference
from fast.losses._ap_labels import group_codes, mask_of, positives_of, scores_of


class Cut(NamedTuple):
    """A lower bound on F(scores), the mean of L over the queries, tight at the scores given.

    F(other) >= delta + <coefficients, other> for all scores.

    Attributes
    ----------
    value : float
        F at the scores given.
    delta : float
        Mean of 1 - AP of the rankings found: the offset of the bound.
    coefficients : ndarray, shape (n,)
        Subgradient; its entries sum to 0 in each query.
    active : int
        Negatives that stand above a positive of their query.
    """

    value: float
    delta: float
    coefficients: NDArray[np.float64]
    active: int


class Queries:
    """Labels and groups of a ranking problem.

    Parameters
    ----------
    y : array_like, shape (n,)
        True or 1 for positives, False, 0 or -1 for negatives.
    groups : array_like, shape (n,), optional
        Query of each sample, integers or strings in any order; without it all are one query.

    Attributes
    ----------
    n, n_queries : int
        Samples and queries.
    positives : ndarray of bool, shape (n,)
        Mask of the positives.

    Raises
    ------
    fast.errors.InvalidParameterError
        Labels that are not binary, a query without a positive or without a negative.
    """

    def __init__(self, y: ArrayLike, groups: Any = None) -> None:
        if groups is None:
            self.positives = positives_of(y).copy()
            parts = [np.arange(self.positives.shape[0])]
        else:
            self.positives = mask_of(y).copy()
            codes, names = group_codes(groups, self.positives.shape[0])
            self._refuse_one_sided(codes, names)
            order = np.argsort(codes, kind="stable")
            parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
        self.n = self.positives.shape[0]
        self.n_queries = len(parts)
        self.positives.flags.writeable = False
        self._parts = [] if groups is None else parts
        self._masks = [self.positives[part] for part in parts]
        self._places = [np.flatnonzero(mask) for mask in self._masks]
        # 2/(P N Q) of each sample's query: coefficients are integer multiples of it.
        self._unit = np.empty(self.n)
        for part, mask, places in zip(parts, self._masks, self._places, strict=True):
            unit = 2.0 / (float(len(places)) * (len(mask) - len(places))) / self.n_queries
            self._unit[part] = np.where(mask, -unit, unit)

    def _refuse_one_sided(self, codes: NDArray[np.int64], names: NDArray[Any]) -> None:
        samples = np.bincount(codes, minlength=len(names))
        positives = np.bincount(codes[self.positives], minlength=len(names))
        for missing, kind in ((positives == 0, "positive"), (positives == samples, "negative")):
            if missing.any():
                which = [str(name) for name in names[missing]]
                shown = ", ".join(which[:5]) + (", ..." if len(which) > 5 else "")
                raise InvalidParameterError(
                    "groups",
                    f"{len(which)} without a {kind} ({shown})",
                    "a positive and a negative in each group: AP has no ranking to prefer there",
                    "drop the samples of these groups",
                )

    def infer(self, scores: ArrayLike, method: str = "divide_and_conquer") -> Cut:
        """Mean over the queries of L, with the rankings that attain it as a cut.

        Parameters
        ----------
        scores : array_like, shape (n,)
            Scores; float64, float32 or integers.
        method : str
            As in ``fast.losses.average_precision.loss_augmented_inference``.

        Returns
        -------
        Cut
            ``value``, ``delta``, ``coefficients`` and ``active``.

        Raises
        ------
        fast.errors.InvalidParameterError
            Scores that are not finite or not one per sample, an unknown method.
        """
        values = self._checked(scores)
        run = inference.method(method)
        coefficients = np.zeros(self.n)
        value = delta = 0.0
        active = 0
        for q, (mask, places) in enumerate(zip(self._masks, self._places, strict=True)):
            part = self._parts[q] if self._parts else None
            own = np.zeros(len(mask)) if self._parts else coefficients
            one = values if part is None else values[part]
            found = run(one, mask, places, own, 1.0 / self.n_queries)
            if part is not None:
                coefficients[part] = own
            value += found.value
            delta += found.delta
            active += found.active
        return Cut(value / self.n_queries, delta / self.n_queries, coefficients, active)

    def inversions(self, coefficients: NDArray[np.float64]) -> NDArray[np.int64]:
        """Ranking of a cut: per positive the negatives above it, per negative the positives below."""
        return np.rint(coefficients / self._unit).astype(np.int64)

    def coefficients(self, inversions: ArrayLike) -> NDArray[np.float64]:
        """Coefficients of a ranking's cut from its inversions."""
        return np.asarray(inversions) * self._unit

    def delta(self, inversions: ArrayLike) -> float:
        """Mean of 1 - AP over the queries, for the inversions of the positives."""
        counts = np.asarray(inversions)
        if not self._parts:
            return inference.delta(np.sort(counts[self.positives]))
        losses = [
            inference.delta(np.sort(counts[part[mask]]))
            for part, mask in zip(self._parts, self._masks, strict=True)
        ]
        return float(np.mean(losses))

    def _checked(self, scores: ArrayLike) -> NDArray[np.float64]:
        values = scores_of(scores)
        if values.shape[0] != self.n:
            raise InvalidParameterError(
                "scores",
                f"shape {values.shape}",
                f"shape ({self.n},): one score per sample",
                "match the scores to y",
            )
        return values
