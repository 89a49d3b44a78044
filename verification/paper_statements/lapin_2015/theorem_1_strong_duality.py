"""Theorem 1, strong duality: least primal and largest dual value meet."""

from verification.paper_statements import Claim
from verification.paper_statements._gap import check_meeting, draw_training
from verification.paper_statements._topk import ZERO, hinge_alpha, hinge_beta

STRONG_DUALITY = Claim(
    number="Theorem 1, strong duality",
    section="3.1",
    statement="min P = max D for the top-k hinge of the others",
    method="both problems solved with CVXPY, their values at feasible points in rational "
    "arithmetic; the certificate is P(W) - D(A)",
    draw=draw_training,
    check=check_meeting,
    says={
        "stem": "topk_hinge_alpha",
        "loss": hinge_alpha,
        "lam_factor": 1,
        "dual_stem": "topk_hinge_alpha",
        "gamma": ZERO,
    },
    wrong={
        "loss (3) as printed": {
            "stem": "topk_hinge_alpha_printed",
            "loss": lambda z, k: hinge_alpha([*z, ZERO], k),
        },
        "beta loss": {"stem": "topk_hinge_beta", "loss": hinge_beta},
        "lam ||W||^2 in place of lam/2 ||W||^2": {"lam_factor": 2},
    },
    instances=20,
    voice="implied",
)
