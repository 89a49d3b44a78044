"""Equation (14), the decision function, and the b that it does not define."""

from collections.abc import Callable

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector
from verification.paper_statements._svm import Labels, Plus, Vector, draw_plus, of_plus
from verification.paper_statements.xu_2016 import stated


def _draw(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "new": draw_vector(rng, len(given["x"][0]), 3, 1)}


@of_plus
def _check_value(
    trial: Trial, p: Plus, *, new: Vector, terms: Callable[[Vector, Labels], Vector]
) -> None:
    found = terms(p.solved.alpha, p.y) @ (p.x @ new) + p.solved.b
    right = p.solved.w @ new + p.solved.b
    trial.exactly(found == right, "another value at a new point", found=found, right=right)


VALUE = stated(
    "Equation (14)",
    draw=_draw,
    check=_check_value,
    says={"terms": lambda a, t: a * t},
    wrong={"without y_i": {"terms": lambda a, t: a}},
)


@of_plus
def _check_b(
    trial: Trial,
    p: Plus,
    *,
    new: Vector,
    target: Callable[[Labels, Vector], Vector],
    over: Callable[[Vector], Vector],
) -> None:
    alpha = p.solved.alpha
    found = (target(p.y, p.q @ alpha) - p.k @ (alpha * p.y))[over(alpha)]
    trial.exactly(
        len(found) > 0 and all(found == p.solved.b),
        "the formula gives another b",
        b=p.solved.b,
        found=found,
    )


B = stated(
    "Equation (14), b",
    draw=_draw,
    check=_check_b,
    says={"target": lambda t, xi: t * (1 - xi), "over": lambda a: a > 0},
    wrong={
        "as in an SVM, without the slack": {"target": lambda t, xi: t},
        "over all samples": {"over": lambda a: a >= 0},
        "1 + xi": {"target": lambda t, xi: t * (1 + xi)},
    },
)
