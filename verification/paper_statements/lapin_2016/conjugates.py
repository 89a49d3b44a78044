"""Proposition 6 of the arXiv version: conjugates of the two top-k hinge losses on R^m."""

from verification.paper_statements._topk import (
    alpha_halfspaces,
    beta_halfspaces,
    hinge_alpha,
    hinge_beta,
    linear_on,
    pair_claim,
    pieces_alpha,
    pieces_beta,
)

ALPHA = pair_claim(
    "Proposition 6 of the arXiv version, alpha",
    "2.3",
    "the conjugate of (6) on R^m is -<c,b> on the top-k simplex alpha, +infinity outside",
    value=hinge_alpha,
    pieces=pieces_alpha,
    domain=alpha_halfspaces,
    wrong={"beta set": {"formula": linear_on(beta_halfspaces)}},
)

BETA = pair_claim(
    "Proposition 6 of the arXiv version, beta",
    "2.3",
    "the conjugate of (7) on R^m is -<c,b> on the top-k simplex beta, +infinity outside",
    value=hinge_beta,
    pieces=pieces_beta,
    domain=beta_halfspaces,
    wrong={
        "alpha set": {"formula": linear_on(alpha_halfspaces)},
        "maximum over the alpha set": {"domain": alpha_halfspaces},
    },
)
