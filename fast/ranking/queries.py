"""Ranking loss of many queries, prepared once and evaluated at many scores."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._validation import LIMIT, raise_bad_entry, real_array
from fast.errors import InvalidParameterError
from fast.ranking import inference
from fast.ranking.labels import group_codes, mask_of, positives_of, scores_of
from fast.ranking.losses import AVERAGE_PRECISION, RankLoss


class Cut(NamedTuple):
    """A lower bound on F(scores), the (weighted) mean of L over the queries, tight at the scores given.

    F(other) >= delta + <coefficients, other> for all scores.

    Attributes
    ----------
    value : float
        F at the scores given.
    delta : float
        Mean of Delta of the rankings found: the offset of the bound.
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
    weights : array_like, shape (n,), optional
        Weight of the query of each sample, >= 0, the same within a query: F is the weighted mean of L.
        Of a query of weight 0 no coefficient differs from 0.
    loss : AveragePrecision or DiscountedGain
        Which Delta, see :mod:`fast.ranking.losses`.

    Attributes
    ----------
    n, n_queries : int
        Samples and queries.
    positives : ndarray of bool, shape (n,)
        Mask of the positives.

    Raises
    ------
    fast.errors.InvalidParameterError
        Labels that are not binary, a query without a positive or without a negative, weights that
        differ within a query.
    """

    def __init__(
        self, y: ArrayLike, groups: Any = None, weights: ArrayLike | None = None,
        loss: RankLoss = AVERAGE_PRECISION,
    ) -> None:  # fmt: skip
        self.loss = loss
        self.positives = mask_of(y).copy()
        self.n = self.positives.shape[0]
        if groups is None:
            positives_of(self.positives, self.n)
            codes = np.zeros(self.n, dtype=np.int64)
        else:
            codes, names = group_codes(groups, self.n)
            self._refuse_one_sided(codes, names)
        self._mask = self.positives
        self.positives = self._mask.view()
        self.positives.flags.writeable = False
        samples, found = np.bincount(codes), np.bincount(codes[self.positives])
        self.n_queries = len(samples)
        # Samples by query, the positives of each first, else in input order.
        self._order = np.lexsort((~self.positives, codes)) if self.n_queries > 1 else None
        self._starts = np.concatenate(([0], np.cumsum(samples)))
        self._found = found
        # 2/(P N Q) of each sample's query: coefficients are integer multiples of it.
        self._weights = _per_query(weights, codes, self._starts)
        unit = (
            2.0 / (found.astype(np.float64) * (samples - found)) * (self._weights / self.n_queries)
        )
        self._unit = np.where(self.positives, -unit[codes], unit[codes])

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
                    "a positive and a negative in each group: a loss has no ranking to prefer there",
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
        run = inference.method(method, self.loss)
        coefficients = np.zeros(self.n)
        if self._order is None:
            found = run(values, self._mask, int(self._found[0]), coefficients, 1.0)
            return Cut(found.value, found.delta, coefficients, found.active)
        values = values[self._order]
        sizes = np.diff(self._starts)
        value, delta, active, short = 0.0, 0.0, 0, 0
        if method != "numpy":
            from fast.ranking import many as many

            short = many.SHORT
            if sizes.min() <= short:
                given = values, self._order, self._starts, self._found, self._weights
                value, delta, active = many.run(method, *given, coefficients, self.loss)
        for q in np.flatnonzero(sizes > short):
            part = slice(self._starts[q], self._starts[q + 1])
            mask = np.arange(sizes[q]) < self._found[q]
            own = np.zeros(sizes[q])
            weight = self._weights[q]
            one = run(values[part], mask, int(self._found[q]), own, weight / self.n_queries)
            coefficients[self._order[part]] = own
            value += weight * one.value
            delta += weight * one.delta
            active += one.active
        return Cut(value / self.n_queries, delta / self.n_queries, coefficients, int(active))

    def predicted(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Inversions of the ranking by these scores; a tie is none."""
        values = self._checked(scores)
        inversions = np.zeros(self.n, np.int64)
        for q, first in enumerate(self._starts[:-1]):
            part = slice(first, self._starts[q + 1])
            own = np.flatnonzero(self.positives) if self._order is None else self._order[part]
            above = own[: self._found[q]]
            below = np.flatnonzero(~self.positives) if self._order is None else own[len(above) :]
            high, low = np.sort(values[above]), np.sort(values[below])
            inversions[above] = len(low) - np.searchsorted(low, values[above], side="right")
            inversions[below] = np.searchsorted(high, values[below], side="left")
        return inversions

    def inversions(self, coefficients: NDArray[np.float64]) -> NDArray[np.int64]:
        """Ranking of a cut: per positive the negatives above it, per negative the positives below.

        That of R* in queries of weight 0.
        """
        found = np.zeros(self.n)
        np.divide(coefficients, self._unit, out=found, where=self._unit != 0.0)
        return np.rint(found).astype(np.int64)

    def coefficients(self, inversions: ArrayLike) -> NDArray[np.float64]:
        """Coefficients of a ranking's cut from its inversions."""
        return np.asarray(inversions) * self._unit

    def delta(self, inversions: ArrayLike) -> float:
        """Mean of Delta over the queries, for the inversions of the positives."""
        counts = np.asarray(inversions)
        if self._order is None:
            return self.loss.delta(np.sort(counts[self.positives]))
        counts = counts[self._order]
        firsts = zip(self._starts[:-1], self._found, strict=True)
        losses = [self.loss.delta(np.sort(counts[first : first + p])) for first, p in firsts]
        return float(np.mean(self._weights * losses))

    def _checked(self, scores: ArrayLike) -> NDArray[np.float64]:
        values = scores_of(scores)
        if values.shape[0] != self.n:
            raise InvalidParameterError(
                "scores",
                f"shape {values.shape}",
                f"shape ({self.n},): one score per sample",
                "match the scores to y",
            )
        if self._order is not None and not np.abs(values).max() <= LIMIT:
            raise_bad_entry("scores", values)
        return values


def _per_query(
    weights: ArrayLike | None, codes: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Weights of the queries, with mean 1."""
    count = len(starts) - 1
    if weights is None:
        return np.ones(count)
    given = real_array("weights", weights, (1,)).astype(np.float64)
    found, fault = np.zeros(count), ""
    if given.shape != codes.shape:
        fault = f"shape {given.shape}, not ({len(codes)},)"
    elif not (np.isfinite(given) & (given >= 0.0)).all() or not given.any():
        fault = f"least {given.min():g}, largest {given.max():g}"
    else:
        found[codes] = given
        differ = np.flatnonzero(found[codes] != given)[:1]
        fault = "".join(f"{given[i]:g} and {found[codes[i]]:g} in one query" for i in differ)
    if fault:
        expected = "finite numbers >= 0, not all 0, one per sample and the same within a query"
        fix = "give all samples of a query the same weight: a ranking has no weights of its samples"
        raise InvalidParameterError("weights", fault, expected, fix)
    found = found / found.max()
    return np.asarray(found * (count / found.sum()))
