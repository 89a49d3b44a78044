"""The sound algorithms as solvers of problems: what the mutants would be without their defects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from verification.mutants.sound import entropies, projections, rankings, svm
from verification.mutants.sound.projections import Array, Project

Solver = Callable[..., Any]


def update(project: Project) -> Solver:
    """The SDCA update of a hinge and of its smooth version, from a projection."""

    def sdca_update(q: Array, y: int, k_ii: float, **given: Any) -> Array:
        return projections.update(project, q, y, k_ii, **given)

    return sdca_update


def prox(project: Project) -> Solver:
    """Prox of a hinge (gamma = 0) or of its smooth version by Moreau's identity."""

    def moreau(
        v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None, gamma: float = 0.0
    ) -> Array:
        v = np.asarray(v, dtype=float)
        return v - t * project((v + projections.prices(costs, v.size)) / (t + gamma), k, 1.0, 0.0)

    return moreau


def entropy(operation: str, shared: bool) -> Solver:
    """An operation of a top-k entropy, with the complement where it is asked for."""

    def value(
        scores: Array, y: int, k: int = 1, costs: Array | None = None, sample_weight: float | None = None
    ) -> float:  # fmt: skip
        z = entropies.margins(scores, y, costs)
        return projections.weight(sample_weight) * entropies.value(z, k, shared)

    def gradient(
        scores: Array, y: int, k: int = 1, costs: Array | None = None,
        sample_weight: float | None = None, return_complement: bool = False,
    ) -> Any:  # fmt: skip
        both = entropies.gradient(scores, y, k, shared, costs, sample_weight)
        return both if return_complement else both[0]

    def prox(
        v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None, return_complement: bool = False
    ) -> Any:  # fmt: skip
        both = entropies.prox(v, k, t, shared, costs)
        return both if return_complement else both[0]

    def sdca_update(
        q: Array, y: int, k_ii: float, C: float = 1.0, k: int = 1, costs: Array | None = None,
        sample_weight: float | None = None, return_complement: bool = False,
    ) -> Any:  # fmt: skip
        both = entropies.update(q, y, k_ii, C, k, shared, costs, sample_weight)
        return both if return_complement else both[0]

    solvers: dict[str, Solver] = {
        "value": value,
        "gradient": gradient,
        "prox": prox,
        "sdca_update": sdca_update,
    }
    return solvers[operation]


def inference(scores: Array, y: Array) -> rankings.Answer:
    """Loss-augmented inference for average precision."""
    return rankings.infer(scores, y)


#: Relative gap that a slow trainer promises where it is not that of the instances (1e-6): the multipliers
#: leave its v and rho that much at C/lam = 1e10. Of 250 such instances the worst were off by 1e-3 (hinge)
#: and 5e-5 (squared hinge).
PROMISES: dict[str, dict[str, float]] = {
    f"svm_plus_{loss}.{side}": {"tol": tol}
    for loss, tol in (("hinge", 1e-2), ("squared_hinge", 1e-3))
    for side in ("primal", "dual")
}

VARIANTS: dict[str, Project] = {"alpha": projections.alpha, "beta": projections.beta}
ENTROPIES = ("value", "gradient", "prox", "sdca_update")
SOLVERS: dict[str, Solver] = {
    **{f"topk_simplex_{variant}.projection": solver for variant, solver in VARIANTS.items()},
    "topk_cone.projection": projections.unbounded,
    **{
        f"{kind}topk_hinge_{variant}.{name}": make(project)
        for kind in ("", "smooth_")
        for variant, project in VARIANTS.items()
        for name, make in (("sdca_update", update), ("prox", prox))
    },
    **{
        f"topk_entropy_{variant}.{operation}": entropy(operation, variant == "alpha")
        for variant in VARIANTS
        for operation in ENTROPIES
    },
    "average_precision.loss_augmented_inference": inference,
    **svm.SOLVERS,
}
