"""Proposition 2: the top-k hinge loss as a function on R^m and its conjugate."""

from verification.paper_statements._topk import (
    alpha_halfspaces,
    beta_halfspaces,
    cone_halfspaces,
    draw_pair,
    hinge_alpha,
    hinge_beta,
    linear_on,
    pair,
    pieces_alpha,
)
from verification.paper_statements.lapin_2015 import stated

PROPOSITION_2 = stated(
    "Proposition 2",
    **pair(hinge_alpha, pieces_alpha, alpha_halfspaces),
    draw=draw_pair,
    wrong={
        "beta set": {"formula": linear_on(beta_halfspaces)},
        "cone, without the bound on the sum": {"formula": linear_on(cone_halfspaces)},
        "maximum over the beta set": {"domain": beta_halfspaces},
        "beta loss": {"value": hinge_beta},
    },
)
