"""Proposition 6 of the arXiv version: conjugates of the two top-k hinge losses on R^m."""

from verification.paper_statements._topk import (
    alpha_halfspaces,
    beta_halfspaces,
    draw_pair,
    hinge_alpha,
    hinge_beta,
    linear_on,
    pair,
    pieces_alpha,
    pieces_beta,
)
from verification.paper_statements.lapin_2016 import stated

ALPHA = stated(
    "Proposition 6 of the arXiv version, alpha",
    **pair(hinge_alpha, pieces_alpha, alpha_halfspaces),
    draw=draw_pair,
    wrong={"beta set": {"formula": linear_on(beta_halfspaces)}},
)

BETA = stated(
    "Proposition 6 of the arXiv version, beta",
    **pair(hinge_beta, pieces_beta, beta_halfspaces),
    draw=draw_pair,
    wrong={
        "alpha set": {"formula": linear_on(alpha_halfspaces)},
        "maximum over the alpha set": {"domain": alpha_halfspaces},
    },
)
