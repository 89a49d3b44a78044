"""Equation (1): the multiclass hinge loss, and the maximum with 0 that (2) adds to it."""

from collections.abc import Callable

from verification.paper_statements import Trial
from verification.paper_statements._rational import Vector, add
from verification.paper_statements._topk import ONE, ZERO, costs, hinge_alpha, margins
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.equation_3 import draw_scores


def printed(f: Vector, y: int) -> Vector:
    """What (1) takes the maximum of: [j != y] + f_j - f_y, the true class included."""
    return add([v - f[y] for v in f], costs(len(f), y))


def _check(
    trial: Trial, *, f: Vector, y: int, k: int, terms: Callable[[Vector, int], Vector]
) -> None:
    loss = max(terms(f, y))
    trial.exactly(loss == max(ZERO, loss), "the maximum with 0 changes it", loss=loss)
    others = hinge_alpha(margins(f, y), 1)
    trial.exactly(loss == others, "it is not the hinge of the others", loss=loss, others=others)
    right = all(f[y] >= v + 1 for j, v in enumerate(f) if j != y)
    trial.exactly((loss == 0) == right, "it is 0 at other margins", loss=loss)


EQUATION_1 = stated(
    "Equation (1)",
    draw=draw_scores,
    check=_check,
    says={"terms": printed},
    wrong={
        "without the true class": {"terms": margins},
        "the true class costs 1 too": {"terms": lambda f, y: [v - f[y] + ONE for v in f]},
        "no costs": {"terms": lambda f, y: [v - f[y] for v in f]},
    },
)
