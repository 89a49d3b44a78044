"""The losses of softmax type at scores log w, rational w: exact up to a k-th root.

For the top-k entropy losses, with U the u largest of the others' w_j/w_y and Z the sum of the rest,

    alpha: e^{k v} = k^u prod_U w (k Z/(k-u))^{k-u},        L = log(1 + e^v)
    beta:  e^{k L} = k^u prod_U w (k (1+Z)/(k-u))^{k-u}

are rational; the papers write them with logarithms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

from verification.paper_statements._logs import DIGITS, decimal
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ONE, ZERO


@dataclass(frozen=True)
class Parts:
    """The u entries at the cap (largest first), and the sum of the others."""

    capped: Vector
    rest: Fraction


def parts(w: Sequence[Fraction], k: int, extra: Fraction) -> Parts:
    """U grown while its next entry exceeds (extra + Z)/(k-u); extra is 0 for alpha, 1 for beta."""
    ordered = sorted(w, reverse=True)
    u = 0
    while u < min(k, len(ordered)) and ordered[u] * (k - u) > extra + sum(ordered[u:], ZERO):
        u += 1
    return Parts(ordered[:u], sum(ordered[u:], ZERO))


def alpha_power(w: Sequence[Fraction], k: int) -> Fraction:
    """e^{k v}."""
    found = parts(w, k, ZERO)
    left = k - len(found.capped)
    return k ** len(found.capped) * prod(found.capped, start=ONE) * (k * found.rest / left) ** left


def beta_power(w: Sequence[Fraction], k: int) -> Fraction:
    """e^{k L}."""
    found = parts(w, k, ONE)
    left = k - len(found.capped)
    scaled = (k * (1 + found.rest) / left) ** left
    return k ** len(found.capped) * prod(found.capped, start=ONE) * scaled


def ratios(w: Sequence[Fraction], y: int) -> Vector:
    """exp(u_j) = w_j/w_y over the others."""
    return [v / w[y] for j, v in enumerate(w) if j != y]


def entropy_alpha(w: Sequence[Fraction], k: int) -> Decimal:
    """The loss alpha of the ratios, to about 60 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        root = (decimal(alpha_power(w, k)).ln() / k).exp()
        return (1 + root).ln()


def entropy_beta(w: Sequence[Fraction], k: int) -> Decimal:
    """The loss beta of the ratios, to about 60 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return decimal(beta_power(w, k)).ln() / k
