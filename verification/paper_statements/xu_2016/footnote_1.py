"""Footnote 1: the correcting function with the label, g = y (v'z + rho)."""

from collections.abc import Callable

import numpy as np

from verification.paper_statements import Trial
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
from verification.paper_statements.xu_2016 import stated


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


PRINTED = stated(
    "Footnote 1 as printed",
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


SIGNED_DUAL = stated(
    "Footnote 1, dual",
    draw=draw_plus,
    check=_check_dual,
    says={"form": label_signed},
    wrong={
        "K . yy' + Q": {"form": as_before},
        "K + Q . yy'": {"form": lambda k, q, y: k + signed(q, y)},
        "Q twice": {"form": lambda k, q, y: signed(k + 2 * q, y)},
    },
)
