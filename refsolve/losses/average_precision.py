"""Average precision loss: the structured hinge of 1 - AP over all rankings of a query's samples.

L(s; y) = max over R of Delta(R) + <s, Psi(R) - Psi(R*)>, for the scores s (n,) of P positives and
N negatives. A ranking is given by its inversions (`refsolve._ranking`); the functions that know
rankings are re-exported here.

Why loss-augmented inference is a linear program with an integral optimum. Within a class the order
by score is best, as Delta sees counts only and the rest is an inner product of sorted sequences.
A ranking is then a choice of i_j in 1..P+1 for each negative, non-decreasing in j (the positives
k >= i_j stand below it), and its objective is sum_j delta_j(i_j). Drop the order of the i_j: the
bound sum_j max_i delta_j(i) splits into columns. It is attained, because h_k(j) falls strictly in
j: i' > i no worse than i at j is better than i at j + 1, so that maximisers never fall. With x_kj =
1 for "j stands above k" a column is the linear program max <h_j, x_j> over 0 <= x_1j <= ... <= x_Pj
<= 1, a simplex with the vertices (0, .., 0, 1, .., 1): integral. Its dual is a flow down the column.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve._lazy import cp
from refsolve._ranking import (
    all_rankings,
    average_precision,
    check_relevance,
    coefficients,
    delta,
    from_coefficients,
    interleavings,
    inversions_from_matrix,
    is_ranking,
    joint_feature_map,
    queries,
    ranking_from_scores,
    ranking_matrix,
    repair,
    violation,
)
from refsolve._ranking_scores import most_violated
from refsolve.errors import InvalidParameterError
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION as LOSS
from refsolve.proofs.ranking_losses import RankingLoss
from refsolve.spec import Spec

__all__ = [
    "SPEC",
    "all_rankings",
    "average_precision",
    "coefficients",
    "constraints",
    "delta",
    "expression",
    "from_coefficients",
    "inversions_from_matrix",
    "is_ranking",
    "joint_feature_map",
    "most_violated",
    "objective",
    "operations",
    "queries",
    "ranking_from_scores",
    "ranking_matrix",
    "repair",
    "value",
    "violation",
]

SPEC = Spec(
    title="Average precision loss over rankings (structured hinge)",
    kind="losses",
    formulas={
        "inversions": "c_i of a positive: negatives above it; t_j of a negative: positives below it",
        "Delta": "1 - AP(R*, R) = (1/P) sum_k c_k/(k + c_k), c_k the k-th smallest c_i",
        "Psi": "(1/(PN)) sum_ij R_ij (x_i - x_j), i positive, j negative: equation (1)",
        "coefficients": "Psi(R) - Psi(R*) = X'a, a_i = -2 c_i/(PN) and a_j = +2 t_j/(PN); <1,a> = 0",
        "value": "L(s) = max over R of Delta(R) + <a(R), s>",
        "loss_augmented_inference": (
            "a(R) for the maximiser with the fewest inversions;\n"
            "h_k(j) = (1/P) k/((j+k)(j+k-1)) - 2 (s_k - s_j)/(PN), both classes by falling score,\n"
            "delta_j(i) = sum over k >= i of h_k(j), opt_j = argmax over i in 1..P+1, delta_j(P+1) = 0,\n"
            "L = sum_j max_i delta_j(i)"
        ),
        "linear program": "max sum h_k(j) x_kj over 0 <= x_1j <= .. <= x_Pj <= 1 for every j",
        "dual": "min sum_j u_Pj over u >= 0, u_kj >= u_(k-1)j + h_k(j), u_0j = 0; best: Kadane's sums",
    },
    symbols=(),
    scaling="one query; several queries: the mean of L. P(w) = 1/2||w||^2 + C L(Xw), xi of (3) is L",
    source=(
        "Mohapatra et al. 2014, equations (1)-(9), Algorithm 1; Yue et al. 2007; for the losses of which the "
        "inference splits by negatives, Mohapatra, Rolinek, Jawahar, Kolmogorov, Kumar, CVPR 2018 (arXiv 1604.08269)"
    ),
    notes=(
        "y: 1 is positive, 0 or -1 negative; both must occur; L is convex, and >= 0 as R* competes",
        "M1: the argmax in Algorithm 1, (7) and (8) runs over 1..P+1, not 1..P; delta_j(P+1) = 0",
        "M2: delta_j is concave on 1..min(P,j)+1, h_k(j) being non-decreasing in k there",
        "opt_j is non-decreasing in j",
        "M5: the quickselect of Algorithm 3 must shrink its range",
        "M6: j/(j+k) - (j-1)/(j+k-1) = k/((j+k)(j+k-1)); only the right side keeps its digits",
        "M7: ties: L bounds 1 - AP for the worst order of tied samples",
        "section 3.2: the positives' counts fix Delta, but Psi only with which negatives they count",
        "value(z, y) in a CVXPY variable lists the interleavings, the order of z being open",
    ),
)  # fmt: skip

#: Interleavings that `value` lists at most.
MAX_PARTITIONS = 2_000

family = "ranking"
operations = ("value", "loss_augmented_inference")


def value(z: cp.Expression, y: ArrayLike) -> Any:
    """CVXPY expression of L in the scores z (n,), whatever their order."""
    return expression(z, y, LOSS)


def expression(z: cp.Expression, y: ArrayLike, loss: RankingLoss) -> Any:
    """CVXPY expression of the structured hinge of a loss over rankings: a maximum over partitions.

    For fixed sorted inversions c the best order within the classes gives the convex function
    Delta(c) + (2/(PN)) [sum_k S_{c_k}(z_N) + sum_k (c_k - c_(k-1)) S_{P-k+1}(-z_P)], S_m the sum of
    the m largest entries. There are (P+N over P) such c, at most `MAX_PARTITIONS`.
    """
    positive = check_relevance(y, z.size)
    P, N = int(positive.sum()), int((~positive).sum())
    if math.comb(P + N, P) > MAX_PARTITIONS:
        raise InvalidParameterError(
            "y", f"{P} positives, {N} negatives", f"at most {MAX_PARTITIONS} interleavings",
            "add the most violated rankings one by one, as the models do",
        )  # fmt: skip
    counts = np.array(list(interleavings(P, N)))
    largest = [_sums(z[np.flatnonzero(~positive)], N), _sums(-z[np.flatnonzero(positive)], P)]
    below = (counts[:, :, None] == np.arange(1, N + 1)).sum(axis=1)
    above = np.diff(counts, axis=1, prepend=0)[:, ::-1]
    losses = loss.delta(counts).astype(float)
    return cp.max(np.hstack([below, above]) * (2 / (P * N)) @ cp.hstack(largest) + losses)


def _sums(v: cp.Expression, size: int) -> Any:
    """S_1(v), ..., S_size(v); ``sum_largest`` of all entries cannot be solved twice."""
    return cp.hstack([*(cp.sum_largest(v, m) for m in range(1, size)), cp.sum(v)])


def objective(x: cp.Expression, h: cp.Expression) -> Any:
    """CVXPY objective of the inference in x (P, N), to be maximised; h (PN,) stacks the columns.

    As a vector: cvxpy compiles the elementwise product of parameters in O((PN)^2).
    """
    return h @ cp.vec(x, order="F")


def constraints(x: cp.Expression) -> list[Any]:
    """0 <= x_1j <= ... <= x_Pj <= 1: for each negative the positives below it are the lowest ones.

    In this order: the first row, the steps (if P > 1), the last row.
    """
    steps = [x[:-1] <= x[1:]] if x.shape[0] > 1 else []
    return [x[0] >= 0, *steps, x[-1] <= 1]
