"""NDCG loss: the structured hinge of 1 - DCG/best DCG over all rankings of a query's samples.

As for average precision (`refsolve.losses.average_precision`, whose notation this is), the inference
is a choice of i_j for each negative, and splits by negatives because h_k(j) falls strictly in j: d(r) =
1/log2(1 + r) is strictly convex in r. With d = 0 beyond rank k, NDCG@k from k = 2 on, it is not: for k = 2,
P = 1, N = 2, s = (9/20, 0, 0), h_1 = (d(1) - d(2) - 9/20, d(2) - 9/20) has the signs (-, +), and no ranking puts
the second negative above the positive and the first below. The bound is more than 7/40, L is 1/10 (both negatives
above), and the recursion finds 0.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from refsolve import _ranking, _ranking_scores
from refsolve._lazy import cp
from refsolve._ranking import coefficients, from_coefficients, is_ranking, violation
from refsolve.losses.average_precision import constraints, expression, objective
from refsolve.proofs.ranking_losses import NDCG as LOSS
from refsolve.spec import Spec

__all__ = [
    "SPEC", "coefficients", "constraints", "delta", "from_coefficients", "is_ranking",
    "most_violated", "objective", "operations", "value", "violation",
]  # fmt: skip

SPEC = Spec(
    title="NDCG loss over rankings (structured hinge)",
    kind="losses",
    formulas={
        "inversions": "c_i of a positive: negatives above it; t_j of a negative: positives below it",
        "Delta": (
            "1 - DCG(R)/DCG(R*) = sum_k (log 2/log(1 + k) - log 2/log(1 + k + c_k))/Z, "
            "c_k the k-th smallest c_i"
        ),
        "Z": "DCG(R*) = sum_k log 2/log(1 + k), k = 1..P",
        "Psi": "(1/(PN)) sum_ij R_ij (x_i - x_j), i positive, j negative",
        "coefficients": "Psi(R) - Psi(R*) = X'a, a_i = -2 c_i/(PN) and a_j = +2 t_j/(PN); <1,a> = 0",
        "value": "L(s) = max over R of Delta(R) + <a(R), s>",
        "loss_augmented_inference": (
            "a(R) for the maximiser with the fewest inversions;\n"
            "h_k(j) = (log 2/log(k + j) - log 2/log(1 + k + j))/Z - 2 (s_k - s_j)/(PN), both classes "
            "by falling score,\n"
            "delta_j(i) = sum over k >= i of h_k(j), opt_j = argmax over i in 1..P+1, delta_j(P+1) = 0,\n"
            "L = sum_j max_i delta_j(i)"
        ),
        "linear program": "max sum h_k(j) x_kj over 0 <= x_1j <= .. <= x_Pj <= 1 for every j",
        "dual": "min sum_j u_Pj over u >= 0, u_kj >= u_(k-1)j + h_k(j), u_0j = 0; best: Kadane's sums",
    },
    symbols=(),
    scaling="one query; several queries: the mean of L. P(w) = 1/2||w||^2 + C L(Xw)",
    source="Mohapatra, Rolinek, Jawahar, Kolmogorov, Kumar, CVPR 2018, arXiv 1604.08269",
    notes=(
        "y: 1 is positive, 0 or -1 negative; both must occur; L is convex, and >= 0 as R* competes",
        "two grades of relevance with gains a > b: Delta times (a - b) Z_P/((a - b) Z_P + b Z_n), Z_m = sum d",
        "three grades: Delta sees the order among the positives, and the inference does not split",
        "NDCG@k: d(k) - 0 > d(k - 1) - d(k) from k = 2 on, and h_k(j) rises with j",
        "ties: L bounds 1 - NDCG for the worst order of tied samples",
    ),
)  # fmt: skip

family = "ranking"
operations = ("value", "loss_augmented_inference")
delta = partial(_ranking.delta, of=LOSS)
most_violated = partial(_ranking_scores.most_violated, loss=LOSS)


def value(z: cp.Expression, y: ArrayLike) -> Any:
    """CVXPY expression of L in the scores z (n,), whatever their order."""
    return expression(z, y, LOSS)
