"""The best that anybody can do on the circle: Bayes, linear, and linear with a bias, in fractions.

Linear without bias, f_j(x) = <w_j, x>: the classes with the largest score cut the circle into arcs
of at most half of it each (normal cones of the triangle of the weights), in any order and at any
place. The class with the smallest score, which top-2 leaves out, does the same. Accuracy is linear
in each end of an arc while that stays inside a segment, so that some best choice has every end at an
end of a segment or half a circle away from one; these are tried one and all. An arc of exactly half
a circle beside two others is only approached: the value is then a supremum.

With a bias two scores of points on the circle can be equal at two places at most, anywhere: the
rankings of three classes that result are the circular words without a twice interleaved pair (never
abab), hence of at most four arcs, and again ends of segments suffice.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product

from verification.benchmarks.circle import AROUND, EDGES, LENGTHS, READINGS, Joint, M

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Best:
    """Largest top-1 and top-2 accuracy of three families of classifiers."""

    reading: str
    bayes: Pair
    linear: Pair
    biased: Pair


def best(reading: str) -> Best:
    """All three for one of `circle.READINGS`."""
    joint = READINGS[reading]
    return Best(reading, bayes(joint), linear(joint), biased(joint))


def bayes(joint: Joint) -> Pair:
    """Sum over segments of the largest, and of the two largest, joint probabilities."""
    columns = [sorted(column, reverse=True) for column in zip(*joint, strict=True)]
    one = sum((c[0] for c in columns), Fraction(0))
    return one, one + sum((c[1] for c in columns), Fraction(0))


@cache
def linear(joint: Joint) -> Pair:
    """Supremum over W of the accuracy of x -> W x."""
    half = Fraction(AROUND, 2)
    ends = sorted({(e + shift) % AROUND for e in EDGES for shift in (Fraction(0), half)})
    dual_variables = []
    for a, b, c in combinations_with_replacement(ends, M):
        if max(b - a, c - b, a + AROUND - c) <= half:
            arcs = ((a, b), (b, c), (c, a + AROUND))
            dual_variables += [
                sum(
                    (_mass(joint[j], *arc) for j, arc in zip(order, arcs, strict=True)), Fraction(0)
                )
                for order in permutations(range(M))
            ]
    return max(dual_variables), 1 - min(dual_variables)


@cache
def biased(joint: Joint) -> Pair:
    """Maximum over W and b of the accuracy of x -> W x + b."""
    dual_variables = [
        sum((joint[j][s] for s, j in enumerate(word)), Fraction(0))
        for word in product(range(M), repeat=len(LENGTHS))
        if realisable(word)
    ]
    return max(dual_variables), 1 - min(dual_variables)


def realisable(word: tuple[int, ...]) -> bool:
    """Whether no two classes take turns twice around the circle."""
    for pair in permutations(range(M), 2):
        seen = [j for j in word if j in pair]
        if sum(a != b for a, b in zip(seen, seen[1:] + seen[:1], strict=True)) > 2:
            return False
    return True


def _mass(row: tuple[Fraction, ...], a: Fraction, b: Fraction) -> Fraction:
    """Probability of one class between the positions a <= b <= a + 7."""
    return _up_to(row, b) - _up_to(row, a)


@cache
def _up_to(row: tuple[Fraction, ...], t: Fraction) -> Fraction:
    turns, rest = divmod(t, AROUND)
    inside = sum(
        (
            p * min(max(rest - start, Fraction(0)), Fraction(length)) / length
            for p, start, length in zip(row, EDGES[:-1], LENGTHS, strict=True)
        ),
        Fraction(0),
    )
    return turns * sum(row, Fraction(0)) + inside
