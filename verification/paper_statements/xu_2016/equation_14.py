"""Equation (14), the decision function, and the b that it does not define."""

from collections.abc import Callable

from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector
from verification.paper_statements._svm import Labels, Plus, Vector, draw_plus, of_plus


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


VALUE = Claim(
    number="Equation (14)",
    section="3",
    statement="f(x) = sum_i alpha_i y_i K(x, x_i) + b at the solution of (3): kernel of the main "
    "features alone, no Q",
    method="solved in rational arithmetic, compared with w'x + b at new points",
    draw=_draw,
    check=_check_value,
    says={"terms": lambda a, t: a * t},
    wrong={"without y_i": {"terms": lambda a, t: a}},
    instances=60,
    voice="asserted",
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


B = Claim(
    number="Equation (14), b",
    section="3",
    statement="b = y_i (1 - (Q alpha)_i) - sum_j alpha_j y_j K_ij, the same for every i with "
    "alpha_i > 0",
    method="solved in rational arithmetic; b is the multiplier of alpha'y = 0",
    expected="repaired",
    draw=_draw,
    check=_check_b,
    says={"target": lambda t, xi: t * (1 - xi), "over": lambda a: a > 0},
    wrong={
        "as in an SVM, without the slack": {"target": lambda t, xi: t},
        "over all samples": {"over": lambda a: a >= 0},
        "1 + xi": {"target": lambda t, xi: t * (1 + xi)},
    },
    instances=60,
    note="The paper never defines b. A mean over all samples, not the support vectors alone, is "
    "wrong as well.",
)
