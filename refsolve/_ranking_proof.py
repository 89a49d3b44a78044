"""Certificates of loss-augmented inference: flows bound every ranking, a ranking attains.

For flows u >= 0, (P, N), with u_kj >= u_(k-1)j + h_k(j), u_0j = 0, no ranking exceeds sum_j u_Pj.
What a ranking with interleaving ranks i_j lacks of that is a sum of terms >= 0,

    sum_j [u_(i_j - 1)j + sum_{k >= i_j} (u_kj - u_(k-1)j - h_k(j))]
      + (2/(PN)) [what its order within the classes costs beside the order by score].

The best flows are Kadane's sums max(0, u_(k-1)j + h_k(j)), for which u_Pj = max_i delta_j(i) and the
bracket is max_i delta_j(i) - delta_j(i_j).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import catalogue
from refsolve._ranking import from_coefficients, signed
from refsolve._ranking_scores import Query
from refsolve._types import Array, Real
from refsolve.errors import InvalidParameterError
from refsolve.proofs.certificate import Certificate, candidate, number_error, up
from refsolve.proofs.families import is_ranking


def _check(object_name: str, scores: ArrayLike, y: ArrayLike, params: dict[str, Any]) -> Query:
    module = catalogue.load(object_name)
    if not is_ranking(module):
        raise InvalidParameterError(
            "object_name", object_name, "a loss over rankings", "use average_precision or ndcg"
        )
    module.SPEC.check(params)
    return Query(scores, y, module.LOSS)


def repair_flows(query: Query, flows: ArrayLike | None) -> Array:
    """Dual-feasible flows (P, N) near the given ones, in longdouble; None gives Kadane's sums."""
    h = query.gains()
    u = np.zeros_like(h)
    if flows is not None:
        if np.shape(flows) != h.shape:
            raise InvalidParameterError(
                "dual", flows, f"flows of shape {h.shape}", "give one row per positive"
            )
        u = candidate("dual", np.ravel(flows), h.size).reshape(h.shape).copy()
    last = np.zeros(query.N, Real)
    for k in range(query.P):
        last = u[k] = np.maximum(np.maximum(u[k], last + h[k]), 0)
    return u


def _disorder(scores: Array, inversions: Array) -> Any:
    """<s, c> - <s, c sorted>, s descending and c to be ascending: a sum of terms >= 0."""
    excess = np.cumsum(inversions - np.sort(inversions))[:-1]
    return ((scores[:-1] - scores[1:]) * excess).sum()


def order_cost(query: Query, inversions: Array) -> Any:
    """What a ranking loses by an order within the classes that is not that of the scores."""
    s = query.scores.astype(Real)
    high = _disorder(s[query.above], inversions[query.above])
    low = _disorder(-s[query.below[::-1]], inversions[query.below[::-1]])
    return 2 * (high + low) / (Real(query.P) * query.N)


def _ranks(query: Query, inversions: Array) -> Array:
    """Interleaving ranks i_j of a ranking, non-decreasing."""
    return query.P + 1 - -np.sort(-inversions[query.below])


def lacking(query: Query, inversions: Array, flows: Array | None = None) -> Any:
    """Bound on L less the objective of a ranking, in longdouble: a sum of terms >= 0."""
    ranks = _ranks(query, inversions)
    total = order_cost(query, inversions)
    if flows is not None:
        before = np.vstack([np.zeros(query.N, Real), flows])
        slack = np.maximum(flows - before[:-1] - query.gains(), 0)  # rounding aside it is >= 0
        counted = np.arange(1, query.P + 1)[:, None] >= ranks
        return total + before[ranks - 1, np.arange(query.N)].sum() + slack[counted].sum()
    wrong = 1 + np.flatnonzero(_ranks(query, query.best[0]) != ranks)  # elsewhere the bracket is 0
    for part, sums in query.blocks(wrong):
        own = np.take_along_axis(sums, query.P + 1 - ranks[wrong[part] - 1][None], axis=0)[0]
        total += (sums.max(axis=0) - own).sum()
    return total


def size(query: Query, inversions: Array) -> float:
    """Natural size of the objective: 1 + (2/(PN)) sum of |s_k - s_j| over the inverted pairs."""
    ranks = _ranks(query, inversions)
    active = int((ranks <= query.P).sum())
    s = query.centred(inversions)
    high, low = s[query.above], s[query.below[:active]]
    tail = np.append(np.cumsum(high[::-1])[::-1], Real(0))  # sums of the scores from rank k on

    def sums(start: Array) -> Array:
        """sum_{k >= start} (s_j - s_k), 0-based."""
        return (query.P - start) * low - tail[start]

    start = ranks[:active] - 1
    middle = np.maximum(start, np.searchsorted(-high, -low))  # from here on s_k <= s_j
    total = (2 * sums(middle) - sums(start)).sum()
    return float(1 + 2 * max(total, Real(0)) / (Real(query.P) * query.N))


def loss_augmented_inference(
    object_name: str,
    coefficients: ArrayLike,
    scores: ArrayLike,
    y: ArrayLike,
    *,
    dual: ArrayLike | None = None,
    **params: Any,
) -> Certificate:
    """Certificate of coefficients (n,) as those of a most violated ranking.

    The candidate is moved to a ranking R: its positives' inversions are rounded. ``gap`` bounds L -
    (Delta(R) + <coefficients, s>) by flows: the given ones, repaired, or the best. ``violation`` is
    the largest change of a coefficient; ``distance`` is nan, ties having several maximisers.

    Parameters
    ----------
    object_name : str
        ``average_precision`` or ``ndcg``.
    coefficients : (n,) array
        Candidate for the coefficients of Psi(R) - Psi(R*), in input order.
    scores, y : (n,) arrays
        The query.
    dual : (P, N) array, optional
        Flows u_kj, positives and negatives by descending score (of equals the first first).

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    query = _check(object_name, scores, y, params)
    given = candidate("coefficients", coefficients, query.scores.size)
    inversions = from_coefficients(query.positive, given)
    flows = None if dual is None else repair_flows(query, dual)
    gap = lacking(query, inversions, flows)
    off = abs(given - signed(query.positive, inversions)).max()
    return Certificate(
        gap=up(gap),
        violation=float(off),
        distance=np.nan,
        value=float(query.value(inversions)),
        scale=size(query, query.best[0]),
    )


def ranking_value(
    object_name: str,
    value: float,
    scores: ArrayLike,
    y: ArrayLike,
    *,
    x: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    sample_weight: float = 1.0,
    **params: Any,
) -> Certificate:
    """Certificate of a number as L(s; y): its error is at most ``gap``.

    L lies between the objective of a ranking, the given one or the greedy one, and sum_j max_i
    delta_j(i).
    """
    if costs is not None or sample_weight != 1:
        name, wrong = ("costs", costs) if costs is not None else ("sample_weight", sample_weight)
        raise InvalidParameterError(name, wrong, "none: a ranking has neither", f"drop {name}")
    query = _check(object_name, scores, y, params)
    inversions, upper = query.best
    if x is not None:
        inversions = from_coefficients(
            query.positive, candidate("coefficients", x, query.scores.size)
        )
    lower = query.value(inversions)
    error = number_error(value, lower, upper)
    return Certificate(error, 0.0, error, float(upper), size(query, query.best[0]))
