"""Loss-augmented inference for average precision and NDCG: positions, gains, ranks, and what comes of them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast.losses.average_precision import loss_augmented_inference
from verification.faulty_solvers import wrong, wrong_step
from verification.reference_solvers import rankings as sound
from verification.reference_solvers.rankings import Answer, Array

INFERENCE = "average_precision.loss_augmented_inference"
VALUE = "average_precision.value"
#: Of `ap_one_method_is_wrong`.
METHODS = ("greedy", "search")


def taking(step: str) -> Callable[[Any], Callable[..., Answer]]:
    """Sound inference but for one step."""
    return lambda wrong: lambda scores, y: sound.infer(scores, y, **{step: wrong})


# ---- the answer


@wrong(INFERENCE)
def ap_counts_in_sorted_order(scores: Array, y: Array) -> Answer:
    """The counts come in the order of the scores, not in that of the samples; the coefficients are right."""
    value, counts, coefficients = sound.infer(scores, y)
    return value, np.sort(counts), coefficients


@wrong(INFERENCE)
def ap_counts_pairs_in_16_bits(scores: Array, y: Array) -> Answer:
    """The number of pairs P N is a 16-bit integer: beyond 32767 of them the sizes of all steps are wrong."""
    value, counts, coefficients = sound.infer(scores, y)
    pairs = int(np.sum(y == 1)) * int(np.sum(y == 0))
    kept = (pairs + 2**15) % 2**16 - 2**15
    return value, counts, coefficients * (pairs / kept if kept else 0.0)


@wrong(INFERENCE)
def ap_counts_pairs_in_32_bits(scores: Array, y: Array) -> Answer:
    """The number of pairs P N is a 32-bit integer, which wraps from 46341 samples of either kind on; near-linear."""
    value, counts, coefficients = loss_augmented_inference(scores, y, method="numpy")
    pairs = int(np.sum(y > 0)) * int(np.sum(y <= 0))
    return value, counts, coefficients * (pairs / ((pairs + 2**31) % 2**32 - 2**31))


@wrong_step(INFERENCE, taking("gains"))
def ap_gains_in_32_bits(up: Array, down: Array) -> Array:
    """The product (j + k)(j + k - 1) of a gain is a 32-bit integer, which wraps at j + k = 46342."""
    j = np.arange(1, len(down) + 1, dtype=np.int32)[:, None]
    k = np.arange(1, len(up) + 1, dtype=np.int32)
    margin = (up - down[:, None]) / len(down)
    return (k / ((j + k) * (j + k - 1)) - 2 * margin) / len(up)


@wrong(INFERENCE)
def ap_unbalanced_coefficients(scores: Array, y: Array) -> Answer:
    """A negative counts the positives below it one short: the coefficients do not sum to 0."""
    value, counts, coefficients = sound.infer(scores, y)
    short = np.maximum(coefficients - 2.0 / (len(counts) * (len(y) - len(counts))), 0.0)
    return value, counts, np.where(y > 0, coefficients, short)


@wrong(INFERENCE)
def ap_without_the_factor_two(scores: Array, y: Array) -> Answer:
    """Psi without its factor: a pair in the wrong order costs (s_k - s_j)/(PN), not twice that."""
    return sound.infer(scores / 2, y)


@wrong(VALUE)
def ap_loss_off_by_one(scores: Array, y: Array) -> float:
    """Delta counts one negative too many above every positive that has any."""

    def loss(counts: Array) -> float:
        return sound.delta(np.where(counts > 0, counts + 1, 0))

    return sound.infer(scores, y, loss=loss)[0]


@wrong(VALUE, erratum="ap_libraries/negative_losses")
def ap_value_below_zero(scores: Array, y: Array) -> float:
    """Another offset: the value is measured from the ranking by score instead of the perfect one.

    The "loss" can be negative, as in libraries that maximise Delta + <s, Psi> over a sample of rankings.
    """
    scores = np.asarray(scores, dtype=float)
    order = np.argsort(-scores, kind="stable")
    above = np.cumsum(y[order] <= 0)[y[order] > 0]
    return sound.infer(scores, y)[0] - sound.delta(above)


@wrong(VALUE)
def ap_value_without_the_offset(scores: Array, y: Array) -> float:
    """Delta + <s, Psi(R)> at the most violated ranking, without the score of the right one."""
    scores = np.asarray(scores, dtype=float)
    return sound.infer(scores, y)[0] + scores[y > 0].mean() - scores[y <= 0].mean()


# ---- positions and gains


@wrong_step(INFERENCE, taking("positions"))
def ap_negatives_unsorted(scores: Array, y: Array) -> tuple[Array, Array]:
    """The negatives are taken in the order of the input."""
    return sound.positions(scores, y)[0], np.flatnonzero(y <= 0)


@wrong_step(INFERENCE, taking("gains"))
def ap_divides_by_the_negatives_squared(up: Array, down: Array) -> Array:
    """The margins are divided by N^2 where PN stands."""
    ratio = len(up) / len(down)
    return sound.gains(up * ratio, down * ratio)


@wrong(INFERENCE, erratum="mohapatra_2014/equation_5")
def ap_single_precision_gains(scores: Array, y: Array) -> Answer:
    """The gain of a rank is a difference of two fractions, in float32.

    (5) of Mohapatra et al. 2014 as printed; k/((j+k)(j+k-1)) does not cancel.
    """

    def gains(up: Array, down: Array) -> Array:
        j = np.arange(1, len(down) + 1, dtype=np.float32)[:, None]
        k = np.arange(1, len(up) + 1, dtype=np.float32)
        margin = 2 * (up - down[:, None]) / len(down)
        return (j / (j + k) - (j - 1) / (j + k - 1) - margin.astype(np.float32)) / len(up)

    with np.errstate(over="ignore", invalid="ignore"):  # beyond float32, inf - inf
        return sound.infer(scores, y, gains=gains)


def without_ties(up: Array, down: Array) -> Array:
    """No gain from a tie."""
    return np.where(up == down[:, None], 0.0, sound.gains(up, down))


@wrong(VALUE, erratum=("mohapatra_2014/ties", "ap_libraries/averaged_ties"))
def ap_ties_are_averaged(scores: Array, y: Array) -> float:
    """Ties count with the average of their orderings, as ready-made metrics have it; the loss takes the worst."""
    f = np.asarray(scores, dtype=float)
    return (sound.infer(f, y)[0] + sound.infer(f, y, gains=without_ties)[0]) / 2


@wrong(VALUE, erratum="mohapatra_2014/ties")
def ap_ties_are_in_order(scores: Array, y: Array) -> float:
    """A negative that ties with a positive stays below it: ties are broken in favour of the scores."""
    return sound.infer(scores, y, gains=without_ties)[0]


# ---- ranks


@wrong_step(INFERENCE, taking("ranks"), erratum="mohapatra_2014/proposition_1")
def ap_bisects_too_far(table: Array) -> Array:
    """Bisection over all ranks, also where there are more positives than negatives so far.

    delta_j is concave up to rank min(P, j) + 1 only.
    """
    N, P = table.shape
    opt = np.empty(N, dtype=np.int64)
    for j in range(N):
        low, high = 0, P
        while low < high:
            middle = (low + high) // 2
            if table[j, middle] > 0:
                high = middle
            else:
                low = middle + 1
        opt[j] = low + 1
    # a valid ranking in any case
    return np.maximum.accumulate(opt)


@wrong(INFERENCE)
def ap_one_method_is_wrong(scores: Array, y: Array, method: str = "greedy") -> Answer:
    """Right by default; method="search" looks at the ranks 1..min(P, j) only."""

    def short(table: Array) -> Array:
        deltas = sound.suffix_sums(table)
        N, P = table.shape
        beyond = np.arange(1, P + 1) > np.minimum(P, np.arange(1, N + 1))[:, None]
        deltas[:, :-1][beyond] = -np.inf
        return P + 1 - deltas[:, ::-1].argmax(axis=1)

    return sound.infer(scores, y, ranks=short if method == "search" else sound.ranks)


@wrong_step(INFERENCE, taking("ranks"))
def ap_ranks_fall(table: Array) -> Array:
    """Divide and conquer for ranks that fall with the negatives; they rise.

    As a scan of section 3.2 of Mohapatra et al. 2014 reads.
    """
    deltas = sound.suffix_sums(table)
    opt = np.zeros(len(table), dtype=np.int64)

    def solve(first: int, last: int, low: int, high: int) -> None:
        if first >= last:
            return
        middle = (first + last) // 2
        best = low + int(deltas[middle, low : high + 1].argmax())
        opt[middle] = best + 1
        solve(first, middle, best, high)
        solve(middle + 1, last, low, best)

    solve(0, len(table), 0, table.shape[1])
    return opt


@wrong(INFERENCE)
def ap_scores_as_keys(scores: Array, y: Array) -> Answer:
    """Wrong for duplicated scores only: the ranks are kept by score, and the last one of equals is used for all."""
    scores = np.asarray(scores, dtype=float)
    up, down = sound.positions(scores, y)
    opt = sound.ranks(sound.gains(scores[up], scores[down]))
    by_score = dict(zip(scores[down].tolist(), opt.tolist(), strict=True))
    return sound.answer(scores, y, up, down, np.array([by_score[s] for s in scores[down].tolist()]))


@wrong_step(INFERENCE, taking("ranks"))
def ap_selects_the_wrong_side(table: Array) -> Array:
    """The two sides of the selected score are exchanged: the search runs on the negatives below it.

    As a scan of Algorithm 3 of Mohapatra et al. 2014 reads.
    """
    opt, last = sound.ranks(table), table.shape[1] + 1
    return np.where(opt < last, last, opt)


@wrong(INFERENCE)
def ap_stops_at_the_first_inactive(scores: Array, y: Array) -> Answer:
    """Stops at the first negative that belongs below all positives, although none are sorted.

    Right for negatives by descending score; a pass over the input must look at every one.
    """
    scores = np.asarray(scores, dtype=float)
    up, down = sound.positions(scores, y)
    opt = sound.ranks(sound.gains(scores[up], scores[down]))
    rank = dict(zip(down.tolist(), opt.tolist(), strict=True))
    inactive = [i for i in np.flatnonzero(y <= 0).tolist() if rank[i] == len(up) + 1]
    seen = [i for i in down.tolist() if not inactive or i <= inactive[0]]
    cut = np.array([rank[i] if i in seen else len(up) + 1 for i in down.tolist()])
    return sound.answer(scores, y, up, down, cut)


@wrong_step(INFERENCE, taking("ranks"), erratum="mohapatra_2014/algorithm_1")
def ap_without_the_last_rank(table: Array) -> Array:
    """Interleaving ranks end at P: no negative may stay below all positives.

    As Algorithm 1 and (7), (8) of Mohapatra et al. 2014 print it.
    """
    return sound.suffix_sums(table)[:, :-1].argmax(axis=1) + 1


# ---- NDCG


@wrong("ndcg.loss_augmented_inference")
def ndcg_bisects(scores: Array, y: Array) -> Answer:
    """Bisection over the ranks, as for average precision; NDCG's delta_j is not concave in any part of them."""
    return sound.infer_discounted(scores, y, ranks=_bisected)


def _bisected(table: Array) -> Array:
    """The first rank from which on all gains are positive."""
    falls = np.cumsum(table[:, ::-1] <= 0, axis=1)[:, ::-1] > 0
    return np.maximum.accumulate(1 + falls.sum(axis=1))


def _by_sums(scores: Array, y: Array, **gains: Any) -> float:
    """NDCG's loss with other gains."""
    s = np.asarray(scores, dtype=float)
    up, down = sound.positions(s, y)
    return float(
        sound.suffix_sums(sound.discounted_gains(s[up], s[down], **gains)).max(axis=1).sum()
    )


@wrong("ndcg.value")
def ndcg_divides_by_all_ranks(scores: Array, y: Array) -> float:
    """DCG is divided by that of n positives."""
    return _by_sums(scores, y, best=len(y))


@wrong("ndcg.value")
def ndcg_discounts_from_rank_two(scores: Array, y: Array) -> float:
    """The older discount, 1 at ranks 1 and 2 and 1/log2(r) from there on; it is not convex."""
    return _by_sums(scores, y, discounts=lambda ranks: 1 / np.log2(np.maximum(ranks, 2)))
