"""Theorem 1, strong duality: least primal and largest dual value meet."""

from verification.paper_statements._gap import check_meeting, draw_training
from verification.paper_statements._topk import ZERO, hinge_alpha, hinge_beta
from verification.paper_statements.lapin_2015 import stated

STRONG_DUALITY = stated(
    "Theorem 1, strong duality",
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
)
