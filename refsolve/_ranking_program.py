"""Loss-augmented inference as the oracle solves it: a linear program, one chain per negative."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from refsolve import certificates
from refsolve._lazy import cp
from refsolve._ranking import signed
from refsolve._ranking_proof import lacking, repair_flows, size
from refsolve._ranking_scores import Query
from refsolve._types import Array
from refsolve.arguments import take
from refsolve.canonicalize import TOLERANCE, Answer, ParametrizedProblem, Template
from refsolve.errors import InvalidParameterError

#: Pairs of a positive and a negative up to which the program is posed.
MAX_PAIRS = 200_000
#: Where a column of x is cut into below and above. At a tie it is fractional: a cut near 1 takes
#: the fewest inversions, one in the middle is right where the solver was less exact.
CUTS = (1 - 1e-6, 0.5)


def canonicalize(module: ModuleType, operation: str, params: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``value`` (x a number, dual the coefficients) or of the inference.

    For ``loss_augmented_inference`` x holds the coefficients (n,), value L, and dual the flows
    (P, N) behind the bound.
    """
    scores, y = take(params, "scores"), take(params, "y")
    module.SPEC.check(params)
    object_name = module.__name__.rpartition(".")[2]
    query = Query(scores, y, module.LOSS)
    P, N = query.P, query.N
    if P * N > MAX_PAIRS:
        raise InvalidParameterError(
            "scores", f"{P} positives, {N} negatives", f"at most {MAX_PAIRS} pairs of them",
            f"use refsolve.losses.{object_name}.most_violated: it adds up the same formula",
        )  # fmt: skip
    gains = query.gains()
    h, scale = _scaled(gains)

    def build() -> Template:
        x, data = cp.Variable((P, N)), cp.Parameter(P * N)
        chain = module.constraints(x)
        problem = cp.Problem(cp.Maximize(module.objective(x, data)), chain)
        flows = {f"u{i}": rows.dual_variables[0] for i, rows in enumerate(chain[1:])}
        return Template(problem, {"h": data}, {"x": x, **flows})

    def finish(found: Mapping[str, Any]) -> Answer:
        rows = [np.reshape(found[f"u{i}"], (-1, N)) for i in range(len(found) - 1)]
        flows = np.vstack(rows) * scale
        cuts = [query.ranking(_ranks(found["x"], cut)) for cut in CUTS]
        best = min(cuts, key=lambda inversions: max(lacking(query, inversions), rounding))
        return answer(best, flows)

    def answer(inversions: Array, flows: Array) -> Answer:
        a = signed(query.positive, inversions).astype(float)
        u = repair_flows(query, flows).astype(float)
        proof = certificates.loss_augmented_inference(object_name, a, scores, y, dual=u)
        if proof.gap > TOLERANCE * unit:  # the ranking may be right all the same
            u = repair_flows(query, None).astype(float)
            proof = certificates.loss_augmented_inference(object_name, a, scores, y)
        if operation == "loss_augmented_inference":
            return Answer(a, proof.value, u, proof)
        number = certificates.loss_value(object_name, proof.value, scores, y, x=a)
        return Answer(proof.value, proof.value, a, number)

    unit = size(query, query.best[0])
    rounding = np.finfo(gains.dtype).eps * (P + N) * unit  # less than that is a tie
    return ParametrizedProblem((P, N), build, {"h": h.ravel(order="F")}, finish, unit)


def _scaled(h: Array) -> tuple[Array, Array]:
    """Gains for the solver, each column divided by its largest entry, and these entries.

    The columns are problems of their own. A gain below minus the sum of all positive ones above it
    ends every optimal column there; how far below does not matter, but costs digits.
    """
    lost = np.cumsum(np.maximum(h, 0), axis=0)
    least = -2 * (lost + 1 / (h.shape[0] * np.arange(1, h.shape[1] + 1)))
    cut = np.maximum(h, least)
    scale = abs(cut).max(axis=0)
    scale = np.where(scale > 0, scale, 1)
    return (cut / scale).astype(float), scale.astype(float)


def _ranks(x: Array, cut: float) -> Array:
    """Interleaving ranks i_j, non-decreasing, from the columns of x."""
    return np.sort(1 + (x < cut).sum(axis=0))
