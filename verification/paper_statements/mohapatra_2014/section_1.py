"""Section 1: loss-augmented inference of the binary SVM, the baseline, costs O(P + N)."""

from fractions import Fraction
from itertools import product

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import ONE, ZERO, Labels, draw_samples
from verification.paper_statements._rational import Function, Vector
from verification.paper_statements.mohapatra_2014 import stated


def _draw(rng: Rng) -> Inputs:
    return draw_samples(rng, most=7)


def _check(
    trial: Trial, *, labels: Labels, scores: Vector, scale: Fraction, term: Function
) -> None:
    """Labellings against one term of each sample; `scale` stands before the joint feature."""
    n = len(labels)
    signs = [1 if label else -1 for label in labels]

    def objective(other: tuple[int, ...]) -> Fraction:
        errors = Fraction(sum(a != b for a, b in zip(signs, other, strict=True)), n)
        change = sum((s * (b - a) for s, a, b in zip(scores, signs, other, strict=True)), ZERO)
        return errors + scale * change / n

    largest = max(objective(other) for other in product((1, -1), repeat=n))
    total = sum((term(y * s) for y, s in zip(signs, scores, strict=True)), ZERO) / n
    trial.exactly(largest == total, "the terms have another sum", largest=largest, terms=total)


BINARY = stated(
    "Section 1, inference of the binary SVM",
    draw=_draw,
    check=_check,
    says={"scale": Fraction(1, 2), "term": lambda margin: max(ZERO, 1 - margin)},
    wrong={
        "Psi = 1/n sum": {"scale": ONE},
        "0-1 loss": {"term": lambda margin: Fraction(int(margin <= 0))},
        "not cut off": {"term": lambda margin: 1 - margin},
    },
)
