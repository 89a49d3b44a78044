"""Table 1, the open question once more, without any argument: minimisers by CVXPY, with a margin.

A minimiser ranks class i above class j for certain if forbidding it, g_i <= g_j, costs a positive
amount; the bound comes from a dual point and formulas (`refsolve.models.pointwise_risk`). Evidence
at the p that were drawn, nothing more.
"""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import refsolve
from refsolve.models import pointwise_risk
from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._rational import Vector
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import draw_probabilities

#: Margins this small do not decide.
LEAST = 1e-9


def _draw(rng: Rng, smooth: bool) -> Inputs:
    m = int(rng.integers(3, 5))
    k = int(rng.integers(2, m))
    least = int(rng.choice([1, 9]))  # half of the p are nearly uniform
    p = sorted(draw_probabilities(rng, m, k, least=least, largest=14), reverse=True)
    return {"p": p, "k": k, "gamma": float(rng.choice([0.25, 1, 4])) if smooth else None}


def _check(trial: Trial, *, p: Vector, k: int, gamma: float | None, stem: str) -> None:
    """Margins between all classes of different probability, p decreasing."""
    q = np.array([float(v) for v in p])
    smoothing = {"gamma": gamma} if stem.startswith("smooth") else {}
    params: dict[str, Any] = {"k": k, **smoothing}
    given: dict[str, Any] = {"loss": stem, "p": q, **params}
    best = refsolve.solve("pointwise_risk.primal", **given)
    pairs = ((i, j) for i, j in combinations(range(len(p)), 2) if p[i] > p[j])
    for i, j in pairs:
        other = refsolve.solve("pointwise_risk.primal", **given, behind=(i, j))
        margin = pointwise_risk.margin(
            stem, q, i, j, x=other.dual, g=other.x, least=best.x, **params
        )
        trial.within(
            max(0.0, LEAST - margin),
            0.0,
            "no margin proves that every minimiser ranks the first class of `pair` higher",
            pair=(i, j),
            margin=margin,
        )


def _margins(name: str, stem: str, hinge: str) -> Claim:
    return stated(
        f"Table 1, margins, {name}",
        draw=partial(_draw, smooth=stem.startswith("smooth")),
        check=_check,
        says={"stem": stem},
        wrong={"the hinge": {"stem": hinge}},
    )


SMOOTH_ALPHA = _margins("smooth top-k hinge alpha", "smooth_topk_hinge_alpha", "topk_hinge_alpha")
SMOOTH_BETA = _margins("smooth top-k hinge beta", "smooth_topk_hinge_beta", "topk_hinge_beta")
ENTROPY_ALPHA = _margins("top-k entropy alpha", "topk_entropy_alpha", "topk_hinge_alpha")
ENTROPY_BETA = _margins("top-k entropy beta", "topk_entropy_beta", "topk_hinge_beta")
