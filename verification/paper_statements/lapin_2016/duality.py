"""Primal and dual objectives of equation (16): where they meet, for each loss, and where they cannot."""

from collections.abc import Callable
from dataclasses import replace
from decimal import localcontext
from fractions import Fraction

import numpy as np

from verification.paper_statements import Trial
from verification.paper_statements._cone import VARIANTS, smooth_hinge_alpha, smooth_hinge_beta
from verification.paper_statements._entropies import entropy_alpha, entropy_beta
from verification.paper_statements._erm import Conjugate, Problem, column, primal
from verification.paper_statements._gap import (
    check_bounds,
    check_meeting,
    draw_training,
    lower_bound,
)
from verification.paper_statements._logs import DIGITS, Log, binary, decimal, entropy_term
from verification.paper_statements._rational import Array, Matrix, Vector, vector
from verification.paper_statements._topk import ONE, ZERO, Loss, hinge_alpha, hinge_beta, inside
from verification.paper_statements._update import smooth_conjugate
from verification.paper_statements.lapin_2015.conjugates import all_classes, other_classes
from verification.paper_statements.lapin_2016 import stated

# ==========================================================================================
# Equation (16): primal and dual of the smooth top-k hinge, as printed and over the others.
# ==========================================================================================

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
        "object_name": "smooth_topk_hinge_alpha",
        "loss": lambda z, k: smooth_hinge_alpha(z, k, GAMMA),
        "lam_factor": 1,
        "dual_name": "smooth_topk_hinge_alpha",
        "gamma": GAMMA,
        "conjugate": smooth_conjugate(GAMMA),
    },
    wrong={
        "the problem of section 2, with lam ||W||^2": {"lam_factor": 2},
        "hinge without smoothing": {"loss": hinge_alpha},
        "true class in the sum": {"loss": lambda z, k: smooth_hinge_alpha([*z, ZERO], k, GAMMA)},
    },
)

# --------------------------------------------------------------------------------- the other losses

SMOOTH_BETA = OTHERS.also(
    "Equation (16), smooth top-k hinge beta",
    says={
        "object_name": "smooth_topk_hinge_beta",
        "loss": lambda z, k: smooth_hinge_beta(z, k, GAMMA),
        "dual_name": "smooth_topk_hinge_beta",
        "conjugate": smooth_conjugate(GAMMA, "beta"),
    },
    wrong={
        "the alpha loss": {"object_name": "smooth_topk_hinge_alpha", "loss": OTHERS.says["loss"]},
        "hinge without smoothing": {"loss": hinge_beta},
    },
)


def of_margins(value: Callable[[Vector, int], object]) -> Loss:
    """A loss of the ratios e^u over the others, at margins u + 1, to about 60 digits."""

    def loss(z: Vector, k: int) -> Fraction:
        with localcontext() as context:
            context.prec = DIGITS
            ratios = [Fraction(decimal(v - 1).exp()) for v in z]
            return Fraction(value(ratios, k))  # type: ignore[call-overload]

    return loss


def entropy_on(variant: str, k: int | None = None) -> Conjugate:
    """<x,log x> + (1-s) log(1-s) on a dual set, to about 60 digits."""

    def conjugate(v: Array, guesses: int) -> Fraction | None:
        known = inside(v, VARIANTS[variant].halfspaces(len(v), k or guesses))
        return Fraction(binary(v).decimal()) if known else None

    return conjugate


def plain(x: Array) -> Log:
    """<x,log x>."""
    return sum((entropy_term(v) for v in x), Log())


def softmax(ratios: Vector, k: int) -> object:
    """log(1 + sum of the ratios)."""
    return decimal(1 + sum(ratios, ZERO)).ln()


SOFTMAX = OTHERS.also(
    "Equation (16), softmax",
    says={
        "object_name": "softmax",
        "loss": of_margins(softmax),
        "dual_name": "softmax",
        "gamma": ZERO,
        "conjugate": entropy_on("alpha", k=1),
    },
    wrong={
        "lam ||W||^2 in place of lam/2 ||W||^2": {"lam_factor": 2},
        "without the 1 of (14)": {"loss": of_margins(lambda w, k: decimal(sum(w, ZERO)).ln())},
        "without (1-s) log(1-s)": {"conjugate": lambda v, k: Fraction(plain(v).decimal())},
    },
)


ENTROPY_ALPHA = SOFTMAX.also(
    "Equation (16), top-k entropy alpha",
    says={
        "object_name": "topk_entropy_alpha",
        "loss": of_margins(entropy_alpha),
        "dual_name": "topk_entropy_alpha",
        "conjugate": entropy_on("alpha"),
    },
    wrong={
        "softmax for every k": {"object_name": "softmax", "loss": SOFTMAX.says["loss"]},
        "lam ||W||^2 in place of lam/2 ||W||^2": {"lam_factor": 2},
    },
)

ENTROPY_BETA = SOFTMAX.also(
    "Equation (16), top-k entropy beta",
    says={
        "object_name": "topk_entropy_beta",
        "loss": of_margins(entropy_beta),
        "dual_name": "topk_entropy_beta",
        "conjugate": entropy_on("beta"),
    },
    wrong={
        "softmax for every k": {"object_name": "softmax", "loss": SOFTMAX.says["loss"]},
        "the alpha loss": {
            "object_name": "topk_entropy_alpha",
            "loss": ENTROPY_ALPHA.says["loss"],
        },
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
    witnesses=(
        {
            "problem": Problem(np.array([vector(1)]), (0,), 2, 1, Fraction(1)),
            "multipliers": [vector(0, 1)],
            "w": np.array([vector("1/2"), vector("-1/2")]),
        },
    ),
)
