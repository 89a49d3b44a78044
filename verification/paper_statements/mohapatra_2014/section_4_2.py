"""Section 4.2, latent AP-SVM: which candidate of a positive or negative serves the loss best."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import ZERO, Labels, draw_samples
from verification.paper_statements._rational import Vector, draw_vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_3 import hinge


def _draw(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=4)
    bags = [draw_vector(rng, int(rng.integers(1, 4)), 1, 4) for _ in given["labels"]]
    others = [[v + w for v, w in zip(bag, draw_vector(rng, 3, 1, 4), strict=False)] for bag in bags]
    return {"labels": given["labels"], "bags": bags, "others": others}


#: Scores of the candidates of one sample -> score of the sample
Pick = Callable[[Sequence[Fraction]], Fraction]


def _check(
    trial: Trial,
    *,
    labels: Labels,
    bags: list[Vector],
    others: list[Vector],
    positive: Pick,
    fixed: bool,
) -> None:
    def loss(bags: list[Vector], chosen: tuple[int, ...] | None) -> Fraction:
        """L; negatives take their best candidate, positives the chosen one if there is one."""
        return hinge(
            labels,
            [
                bag[chosen[i]] if label and chosen is not None else max(bag)
                for i, (label, bag) in enumerate(zip(labels, bags, strict=True))
            ],
        )

    choices = list(
        product(*(range(len(bag)) if y else (0,) for y, bag in zip(labels, bags, strict=True)))
    )
    picked = tuple(
        bag.index(positive(bag)) if y else 0 for y, bag in zip(labels, bags, strict=True)
    )
    least = min(loss(bags, chosen) for chosen in choices)
    found = loss(bags, picked)
    trial.exactly(found == least, "another choice has a smaller loss", loss=found, least=least)
    middle = [
        [(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(bags, others, strict=True)
    ]
    ends = [loss(points, picked if fixed else None) for points in (bags, others)]
    value = loss(middle, picked if fixed else None)
    trial.exactly(value <= sum(ends, ZERO) / 2, "not convex", value=value, ends=ends)


LATENT = stated(
    "Section 4.2, latent choice",
    draw=_draw,
    check=_check,
    says={"positive": max, "fixed": True},
    wrong={
        "the smallest score": {"positive": min},
        "the first candidate": {"positive": lambda bag: bag[0]},
        "the positives' maximum inside as well": {"fixed": False},
    },
)
