"""Rankings in count form: what the loss and the joint feature map see of an order of n samples.

The **inversions** of a ranking are n integers: for a positive the negatives ranked above it, c_i in
0..N, for a negative the positives ranked below it, t_j in 0..P. Two orders with the same inversions
differ only within runs of one class, which neither AP nor Psi sees. n such numbers belong to a
ranking if and only if t, sorted, is the conjugate partition of c: t_[j] = #{i: c_i >= j}.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from refsolve._types import Array, Real
from refsolve.errors import InvalidParameterError
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, RankingLoss
from refsolve.spec import check_matrix, check_vector, refuse_masked

#: Number of samples up to which all rankings are listed.
MAX_LISTED = 8


def check_relevance(y: ArrayLike, size: int | None = None) -> Array:
    """Mask of the positives, (n,), from 0/1, -1/+1 or booleans; both classes must occur."""
    expected = "a vector of 0/1, -1/+1 or booleans" + ("" if size is None else f", {size} entries")
    refuse_masked("y", y)
    row = np.asarray(y) if not isinstance(y, str) else np.empty(0)
    if row.dtype.kind not in "biuf" or row.ndim != 1 or size not in (None, row.size):
        raise InvalidParameterError("y", y, expected, "pass one label per score")
    if not (np.isin(row, (0, 1)).all() or np.isin(row, (-1, 1)).all()):
        bad = int(np.flatnonzero(~np.isin(row, (0, 1)))[0])
        raise InvalidParameterError("y", y, expected, f"binarise it (see entry {bad})")
    positive = row == 1
    if positive.all() or not positive.any():
        found = f"{positive.sum()} positives, {row.size - positive.sum()} negatives"
        raise InvalidParameterError(
            "y",
            found,
            "at least one positive and one negative",
            "drop the query: it has no AP loss",
        )
    return positive


def queries(y: ArrayLike, groups: ArrayLike | None = None) -> list[Array]:
    """Indices of the samples of each query, in the order of the sorted group names.

    ``groups`` (n,) names the query of each sample; None is one query. Each query needs both classes.
    """
    row = np.asarray(y)
    if groups is None:
        return [np.arange(check_relevance(row).size)]
    names = np.asarray(groups)
    if names.ndim != 1 or names.shape != row.shape or (names != names).any():
        raise InvalidParameterError(
            "groups", groups, f"one name per sample, shape {row.shape}", "name every sample's query"
        )
    values, member = np.unique(names, return_inverse=True)
    order = np.argsort(member.ravel(), kind="stable")
    found = np.split(order, np.cumsum(np.bincount(member.ravel()))[:-1])
    for name, rows in zip(values, found, strict=True):
        try:
            check_relevance(row[rows])
        except InvalidParameterError as wrong:
            fix = f"{wrong.fix} (query {name})"
            raise InvalidParameterError(wrong.argument, wrong.value, wrong.expected, fix) from None
    return found


def conjugate_partition(counts: Array, size: int) -> Array:
    """#{i: counts_i >= j} for j = 1..size: inversions of the negatives from those of the positives."""
    held = np.bincount(np.minimum(counts, size), minlength=size + 1)
    return np.cumsum(held[::-1])[::-1][1:]


def violation(y: ArrayLike, inversions: ArrayLike, groups: ArrayLike | None = None) -> float:
    """By how much n numbers fail to be the inversions of a ranking; 0 for a ranking.

    The largest distance from an integer in range, or of the negatives' sorted entries from the
    conjugate partition of the positives', over all queries.
    """
    given = check_vector("inversions", inversions, size=np.size(y))
    worst = 0.0
    for rows in queries(y, groups):
        positive = check_relevance(np.asarray(y)[rows])
        values = given[rows]
        P, N = int(positive.sum()), int((~positive).sum())
        whole = np.clip(np.rint(values), 0, np.where(positive, N, P))
        counts = whole[positive].astype(np.int64)
        below = -np.sort(-whole[~positive])
        off = abs(below - conjugate_partition(counts, N)).max()
        worst = max(worst, float(abs(values - whole).max()), float(off))
    return worst


def is_ranking(y: ArrayLike, inversions: ArrayLike, groups: ArrayLike | None = None) -> bool:
    """Whether n numbers are the inversions of some ranking (of each query, with ``groups``)."""
    return violation(y, inversions, groups) == 0


def check_inversions(y: ArrayLike, inversions: ArrayLike) -> tuple[Array, Array]:
    """Mask of the positives and the inversions as int64; refused if they are no ranking."""
    given = check_vector("inversions", inversions)
    positive = check_relevance(y, given.size)
    off = violation(y, given)
    if off > 0:
        raise InvalidParameterError(
            "inversions", inversions,
            f"the inversions of a ranking; they are off by {off:g}",
            "count, for a positive, the negatives above it, for a negative, the positives below it",
        )  # fmt: skip
    return positive, given.astype(np.int64)


def delta(y: ArrayLike, inversions: ArrayLike, of: RankingLoss = AVERAGE_PRECISION) -> float:
    """Loss of a ranking; 1 - AP(R*, R) = (1/P) sum_k c_k/(k + c_k), c_k ascending."""
    positive, counts = check_inversions(y, inversions)
    return float(of.delta(counts[positive]))


def average_precision(y: ArrayLike, inversions: ArrayLike) -> float:
    """AP(R*, R) = (1/P) sum_k k/(k + c_k), c_k the k-th smallest inversion of the positives."""
    positive, counts = check_inversions(y, inversions)
    c = np.sort(counts[positive]).astype(Real)
    k = np.arange(1, c.size + 1, dtype=Real)
    return float((k / (k + c)).sum() / c.size)


def signed(positive: Array, inversions: Array) -> Array:
    """The coefficients in longdouble; see `coefficients`."""
    P, N = int(positive.sum()), int((~positive).sum())
    return np.where(positive, -2, 2) * np.asarray(inversions, Real) / (Real(P) * N)


def coefficients(y: ArrayLike, inversions: ArrayLike) -> Array:
    """Weights of the samples in Psi(R) - Psi(R*), (n,): -2 c_i/(PN), and +2 t_j/(PN).

    They sum to 0, and Psi(R) - Psi(R*) = X' coefficients.
    """
    return signed(*check_inversions(y, inversions)).astype(float)


def repair(y: ArrayLike, inversions: ArrayLike) -> Array:
    """A ranking near n numbers: the positives' are rounded, the negatives keep their order."""
    given = np.asarray(inversions)
    positive = check_relevance(y, given.size)
    N = int((~positive).sum())
    counts = np.empty(given.size, np.int64)
    counts[positive] = np.clip(np.rint(given[positive]), 0, N)
    order = np.flatnonzero(~positive)[np.argsort(-given[~positive], kind="stable")]
    counts[order] = conjugate_partition(counts[positive], N)
    return counts


def from_coefficients(y: ArrayLike, given: ArrayLike) -> Array:
    """The ranking nearest in spirit to n coefficients (exact for those of a ranking)."""
    values = np.asarray(given, Real)
    positive = check_relevance(y, values.size)
    P, N = int(positive.sum()), int((~positive).sum())
    return repair(y, values * np.where(positive, -1, 1) * (Real(P) * N / 2))


def ranking_from_scores(scores: ArrayLike, y: ArrayLike, ties: str = "pessimistic") -> Array:
    """Inversions of the order by descending scores, which maximises <w, Psi> (equation (2)).

    A tie of a positive and a negative puts the negative ("pessimistic") or the positive
    ("optimistic") first.
    """
    s = check_vector("scores", scores)
    positive = check_relevance(y, s.size)
    if ties not in ("pessimistic", "optimistic"):
        raise InvalidParameterError("ties", ties, "'pessimistic' or 'optimistic'", "choose one")
    # strictly smaller keys stand below: 0 for the class that yields in a tie, 1 for the other
    yields = positive if ties == "pessimistic" else ~positive
    place = np.unique(np.stack([s, ~yields], 1), axis=0, return_inverse=True)[1].ravel()
    others, own = np.sort(place[~positive]), np.sort(place[positive])
    counts = np.empty(s.size, np.int64)
    counts[positive] = others.size - np.searchsorted(others, place[positive])
    counts[~positive] = np.searchsorted(own, place[~positive])
    return counts


def ranking_matrix(y: ArrayLike, inversions: ArrayLike) -> Array:
    """R (n, n) int8: 1 where sample i stands above j, -1 below, 0 in the same run of one class.

    For the perfect ranking this is the paper's R*: 0 within the classes.
    """
    positive, counts = check_inversions(y, inversions)
    below = counts[~positive]
    # runs by the negatives above them: 2c for positives, 2 #{t' > t} + 1 for negatives
    place = 2 * counts
    place[~positive] = 2 * (below[None, :] > below[:, None]).sum(axis=1) + 1
    return np.sign(place[None, :] - place[:, None]).astype(np.int8)


def inversions_from_matrix(y: ArrayLike, R: ArrayLike) -> Array:
    """Inversions of a ranking matrix, from its signs between the classes, as eq. (1) sees it.

    Within the classes only R = -R' is asked. A matrix that no order of the samples has is refused.
    """
    positive = check_relevance(y)
    n = positive.size
    R = check_matrix("R", R, (n, n))
    counts = np.zeros(n, np.int64)
    cross = R[np.ix_(positive, ~positive)]
    counts[positive] = (cross < 0).sum(axis=1)
    counts[~positive] = (cross < 0).sum(axis=0)
    if not np.isin(cross, (-1, 1)).all() or (R != -R.T).any() or not is_ranking(positive, counts):
        raise InvalidParameterError(
            "R", R, "an antisymmetric matrix of an order, +-1 between the classes",
            "set R_ij = 1 where sample i stands above j",
        )  # fmt: skip
    return counts


def joint_feature_map(X: ArrayLike, y: ArrayLike, inversions: ArrayLike) -> Array:
    """Psi(X, R) (d,), equation (1): X' a, a_i = (N - 2 c_i)/(PN), a_j = -(P - 2 t_j)/(PN)."""
    positive, counts = check_inversions(y, inversions)
    X = check_matrix("X", X, (positive.size, None))
    P, N = int(positive.sum()), int((~positive).sum())
    best = np.where(positive, Real(1) / P, Real(-1) / N)
    return ((best + signed(positive, counts)) @ X.astype(Real)).astype(float)


def interleavings(P: int, N: int) -> Iterator[tuple[int, ...]]:
    """All c_1 <= ... <= c_P in 0..N: the rankings of samples that are sorted within the classes."""
    return itertools.combinations_with_replacement(range(N + 1), P)


def all_rankings(y: ArrayLike) -> Array:
    """Inversions of all rankings of the samples, (m, n), each once; the perfect one first.

    m grows like n!: n <= 8.
    """
    positive = check_relevance(y)
    P, N = int(positive.sum()), int((~positive).sum())
    if positive.size > MAX_LISTED:
        raise InvalidParameterError(
            "y", f"{positive.size} samples", f"at most {MAX_LISTED} samples", "use a cutting plane"
        )
    rows = []
    for counts in interleavings(P, N):
        below = conjugate_partition(np.array(counts), N)
        for c in sorted(set(itertools.permutations(counts))):
            for t in sorted(set(itertools.permutations(below.tolist()))):
                row = np.empty(positive.size, np.int64)
                row[positive], row[~positive] = c, t
                rows.append(row)
    return np.array(rows)
