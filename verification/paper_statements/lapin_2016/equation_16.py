"""Equation (16): primal and dual of the smooth top-k hinge, as printed and over the others."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Trial
from verification.paper_statements._cone import smooth_hinge_alpha
from verification.paper_statements._erm import Problem, column, primal
from verification.paper_statements._gap import (
    check_bounds,
    check_meeting,
    draw_training,
    lower_bound,
)
from verification.paper_statements._rational import Array, Matrix, vector
from verification.paper_statements._topk import ONE, ZERO, hinge_alpha
from verification.paper_statements.lapin_2015.proposition_3 import all_classes, other_classes
from verification.paper_statements.lapin_2016 import stated

GAMMA = Fraction(1, 2)

PRINTED = stated(
    "Equation (16) with (10) as printed",
    check=check_bounds,
    says={"pieces": all_classes},
    right={"pieces": other_classes},
    witnesses=(
        {
            "problem": Problem(np.array([vector(1), vector(1)]), (0, 1), 3, 2, Fraction(1, 10)),
            "gamma": ONE,
            "multipliers": [vector("14/34", "1/2", "3/34"), vector("1/2", "14/34", "3/34")],
            "w": np.array([vector("10/17"), vector("10/17"), vector("-20/17")]),
            "columns": np.array([column(vector("10/17", "10/17"), y) for y in (0, 1)]),
        },
    ),
)

OTHERS = stated(
    "Equation (16), sum over the others",
    draw=draw_training,
    check=check_meeting,
    says={
        "stem": "smooth_topk_hinge_alpha",
        "loss": lambda z, k: smooth_hinge_alpha(z, k, GAMMA),
        "lam_factor": 1,
        "dual_stem": "smooth_topk_hinge_alpha",
        "gamma": GAMMA,
    },
    wrong={
        "the problem of section 2, with lam ||W||^2": {"lam_factor": 2},
        "hinge without smoothing": {"loss": hinge_alpha},
        "true class in the sum": {"loss": lambda z, k: smooth_hinge_alpha([*z, ZERO], k, GAMMA)},
    },
)


def _check_regulariser(
    trial: Trial, *, problem: Problem, multipliers: Matrix, w: Array, factor: int
) -> None:
    """All P(W) of section 2 from below, against all D(A) of (16) from above (k = 1)."""
    least = lower_bound(
        replace(problem, lam=factor * problem.lam), multipliers, other_classes, ZERO
    )
    most = primal(problem, w, hinge_alpha)
    trial.exactly(
        least is None or least <= most,
        "every P(W) exceeds every D(A) by a fixed amount",
        least_primal=least,
        largest_dual=most,
    )


REGULARISER = stated(
    "Section 2, the optimisation problem",
    check=_check_regulariser,
    says={"factor": 2},
    right={"factor": 1},
    witnesses=(
        {
            "problem": Problem(np.array([vector(1)]), (0,), 2, 1, Fraction(1)),
            "multipliers": [vector(0, 1)],
            "w": np.array([vector("1/2"), vector("-1/2")]),
        },
    ),
)
