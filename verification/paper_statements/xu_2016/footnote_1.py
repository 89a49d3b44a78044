"""Footnote 1: the correcting function with the label, g = y (v'z + rho)."""

from collections.abc import Callable

import numpy as np

from verification.paper_statements import Claim, Trial
from verification.paper_statements._rational import vector
from verification.paper_statements._svm import (
    ONE,
    Labels,
    Matrix,
    Plus,
    draw_plus,
    of_plus,
    ray,
    signed,
)


def label_signed(k: Matrix, q: Matrix, y: Labels) -> Matrix:
    """The form of the dual: (K + Q) . yy'."""
    return signed(k + q, y)


def as_before(k: Matrix, q: Matrix, y: Labels) -> Matrix:
    """That of (4): K . yy' + Q."""
    return signed(k, y) + q


@of_plus
def _check_feasible(
    trial: Trial, p: Plus, *, form: Callable[[Matrix, Matrix, Labels], Matrix]
) -> None:
    direction = ray(form(p.k, p.q, p.y), p.y)
    trial.exactly(
        direction is None, "no feasible point: the dual falls without bound", ray=direction
    )


PRINTED = Claim(
    number="Footnote 1 as printed",
    section="3",
    statement="g = y (v'z + rho) is easily incorporated: the problem keeps a solution for all data",
    method="rays of the dual from an exact linear program",
    expected="refuted",
    draw=draw_plus,
    check=_check_feasible,
    says={"form": label_signed},
    right={"form": as_before},
    witnesses=(
        {
            "x": [vector(0), vector(0)],
            "y": (1, -1),
            "z": [vector(0), vector(0)],
            "c": ONE,
            "lam": ONE,
        },
    ),
    instances=40,
    note="It asks for y_i (w'x_i + v'z_i + b + rho) >= 1: the samples must be separable by x and z "
    "together. rho and b shift the same way, so that no slack helps contradictory samples.",
    voice="implied",
    quote="which can also be easily incorporated in our formulation",
    witness="words",
)


@of_plus
def _check_dual(trial: Trial, p: Plus, *, form: Callable[[Matrix, Matrix, Labels], Matrix]) -> None:
    h = form(p.k, p.q, p.y)
    point = p.minimum(h)
    if point is None:
        direction = ray(h, p.y)
        joined = np.hstack([p.x, p.zt])
        proved = direction is not None and not any(direction * p.y @ joined)
        trial.exactly(proved, "neither a solution nor a proof of infeasibility", ray=direction)
        return
    w, vt = p.w(point.a), p.vt(point.a * p.y)
    xi = p.y * (p.zt @ vt)
    feasible = p.feasible(w, point.mult[0], xi)
    trial.exactly(feasible, "the primal point of the solution is infeasible", xi=xi)
    value = p.value(w, vt, xi)
    trial.exactly(value == -point.value, "values differ", primal=value, dual=-point.value)


SIGNED_DUAL = Claim(
    number="Footnote 1, dual",
    section="3",
    statement="with g = y (v'z + rho) the dual has (K + Q) . yy' in place of K . yy' + Q and "
    "v~ = (lam I + C Z~Z~')^-1 Z~(a.y); it has a solution exactly if [x; z] is separable",
    method="solved in rational arithmetic: a primal point of equal value, or weights u with "
    "sum u = 0, X'u = 0, Z~u = 0 that prove infeasibility",
    expected="repaired",
    draw=draw_plus,
    check=_check_dual,
    says={"form": label_signed},
    wrong={
        "K . yy' + Q": {"form": as_before},
        "K + Q . yy'": {"form": lambda k, q, y: k + signed(q, y)},
        "Q twice": {"form": lambda k, q, y: signed(k + 2 * q, y)},
    },
    instances=60,
    note="A hard-margin SVM on the joined features [x; z~], the second part in the metric of "
    "(lam I + C Z~Z~')^-1; rho is a second bias that is penalised.",
)
