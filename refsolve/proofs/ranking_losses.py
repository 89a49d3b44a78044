"""Losses over rankings, declared by what the k-th positive loses to the c negatives above it.

Delta = (1/norm) sum_k terms(k, c_k) of c_1 <= ... <= c_P, and steps(k, j) = terms(k, j) - terms(k, j - 1) must
not rise with j. That is the condition under which loss-augmented inference splits by negatives: Delta is then
a sum over negatives j of delta_j(rank of j among the positives) with delta_j(i + 1) - delta_j(i) = -steps(i, j)
monotone in j (Mohapatra, Rolinek, Jawahar, Kolmogorov, Kumar, "Efficient Optimization for Rank-Based Loss
Functions", CVPR 2018).
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from refsolve.proofs.certificate import Array, Real

#: Digits to which logarithms stand for themselves in fractions.
DIGITS = 45


@dataclass(frozen=True)
class RankingLoss:
    """A loss of the counts c_k.

    Attributes
    ----------
    terms, steps : callable
        Of arrays k, c and k, j in long double; steps without cancellation.
    norm : callable
        Of P.
    term, whole : callable
        The same terms and norm in fractions.
    error : Fraction
        Bound on the error of a difference of two of these terms.
    rises : bool
        Whether steps(k, j) does not fall in k <= j.
    """

    terms: Callable[[Array, Array], Array]
    steps: Callable[[Array, Array], Array]
    norm: Callable[[int], Any]
    term: Callable[[int, int], Fraction]
    whole: Callable[[int], Fraction]
    error: Fraction = Fraction(0)
    rises: bool = False

    def delta(self, counts: Array) -> Any:
        """Delta of counts in any order, in long double; over the last axis."""
        c = np.sort(counts, axis=-1).astype(Real)
        P = c.shape[-1]
        return self.terms(np.arange(1, P + 1, dtype=Real), c).sum(axis=-1) / self.norm(P)

    def step(self, k: int, j: int) -> Fraction:
        """What the j-th negative above the k-th positive adds to the sum of the terms."""
        return self.term(k, j) - self.term(k, j - 1)


@lru_cache(maxsize=100_000)
def discount(r: int) -> Fraction:
    """1/log2(1 + r) to `DIGITS` digits."""
    with localcontext() as context:
        context.prec = DIGITS + 10
        digits = Decimal(2).ln() / Decimal(1 + r).ln() * 10**DIGITS
    return Fraction(round(digits), 10**DIGITS)


def _discounted(k: Array, c: Any) -> Any:
    """d(k) - d(k + c) = d(k) d(k + c) log2(1 + c/(1 + k)), d(r) = 1/log2(1 + r): no cancellation."""
    log_2 = np.log(Real(2))
    return log_2 * np.log1p(c / (1 + k)) / (np.log1p(k) * np.log1p(k + c))


AVERAGE_PRECISION = RankingLoss(
    terms=lambda k, c: c / (k + c),
    steps=lambda k, j: k / ((j + k) * (j + k - 1)),
    norm=Real,
    term=lambda k, c: Fraction(c, k + c),
    whole=Fraction,
    rises=True,
)
NDCG = RankingLoss(
    terms=_discounted,
    steps=lambda k, j: _discounted(k + j - 1, Real(1)),
    norm=lambda P: (np.log(Real(2)) / np.log1p(np.arange(1, P + 1, dtype=Real))).sum(),
    term=lambda k, c: discount(k) - discount(k + c),
    whole=lambda P: sum(map(discount, range(1, P + 1)), Fraction(0)),
    error=Fraction(1, 10**DIGITS),
)
