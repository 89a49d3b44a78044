"""Proposition 2: the top-k hinge loss as a function on R^m and its conjugate."""

from verification.paper_statements._topk import (
    alpha_halfspaces,
    beta_halfspaces,
    cone_halfspaces,
    hinge_alpha,
    hinge_beta,
    linear_on,
    pair_claim,
    pieces_alpha,
)

PROPOSITION_2 = pair_claim(
    "Proposition 2",
    "2.2.1",
    "max{0, S_k(a+c)/k} on R^m and -<c,b> on the top-k simplex are a conjugate pair, "
    "and the loss is max{<a+c,x> : x in the top-k simplex}",
    value=hinge_alpha,
    pieces=pieces_alpha,
    domain=alpha_halfspaces,
    wrong={
        "beta set": {"formula": linear_on(beta_halfspaces)},
        "cone, without the bound on the sum": {"formula": linear_on(cone_halfspaces)},
        "maximum over the beta set": {"domain": beta_halfspaces},
        "beta loss": {"value": hinge_beta},
    },
    note="A statement about functions on R^m. That it serves in Theorem 1 is another one, "
    "Proposition 3, and false.",
)
