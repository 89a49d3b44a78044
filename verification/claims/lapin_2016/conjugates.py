"""Proposition 6 of the arXiv version: conjugates of the two top-k hinge losses on R^m."""

from __future__ import annotations

from verification.claims import Claim
from verification.claims._topk import (
    alpha_halfspaces,
    beta_halfspaces,
    check_pair,
    draw_pair,
    hinge_alpha,
    hinge_beta,
    linear_on,
    pieces_alpha,
    pieces_beta,
)

METHOD = "rational linear programs in both directions, from the definition of the conjugate"

ALPHA = Claim(
    number="Proposition 6 of the arXiv version, alpha",
    section="2.3",
    statement="the conjugate of (6) on R^m is -<c,b> on the top-k simplex alpha, +infinity outside",
    method=METHOD,
    expected="verified",
    draw=draw_pair,
    check=check_pair,
    says={
        "value": hinge_alpha,
        "pieces": pieces_alpha,
        "domain": alpha_halfspaces,
        "formula": linear_on(alpha_halfspaces),
    },
    wrong={"beta set": {"formula": linear_on(beta_halfspaces)}},
    instances=300,
)

BETA = Claim(
    number="Proposition 6 of the arXiv version, beta",
    section="2.3",
    statement="the conjugate of (7) on R^m is -<c,b> on the top-k simplex beta, +infinity outside",
    method=METHOD,
    expected="verified",
    draw=draw_pair,
    check=check_pair,
    says={
        "value": hinge_beta,
        "pieces": pieces_beta,
        "domain": beta_halfspaces,
        "formula": linear_on(beta_halfspaces),
    },
    wrong={
        "alpha set": {"formula": linear_on(alpha_halfspaces)},
        "maximum over the alpha set": {"domain": alpha_halfspaces},
    },
    instances=300,
)
