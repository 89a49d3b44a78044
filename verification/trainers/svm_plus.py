"""Judges the SVM+ trainers on small problems: their certificates recomputed, and the oracle's interval.

See `verification.trainers.table`.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from verification import certificates
from verification.instances.instance import Instance
from verification.instances.svm_plus import FAMILIES, OBJECTS, draw
from verification.trainers.table import TOL, beside_oracle, report, too_wide
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement

COUNTS = {"quick": 22, "thorough": 154}  # per loss
#: Variants in turn; the number of families is no multiple of theirs, so that all of them meet.
VARIANTS = (
    "as in the paper",
    "the other xi",
    "own slacks",
    "kernels",
    "kernels, own slacks",
    "both",
    "the label's sign",
)


def instances(profile: str, seed: int, object_name: str) -> list[Instance]:
    """Problems of every family and variant of one loss."""
    rng = np.random.default_rng([seed, 6, OBJECTS.index(object_name)])
    found = []
    for i in range(COUNTS[profile]):
        family, variant = FAMILIES[i % len(FAMILIES)], VARIANTS[i % len(VARIANTS)]
        given = draw(rng, family)
        if variant in ("the other xi", "both"):
            given["nonneg_slack"] = object_name == OBJECTS[0]
        given |= {"label_signed": True} if variant == "the label's sign" else {}
        if variant in ("own slacks", "kernels, own slacks", "both", "the label's sign"):
            given["free_slack"] = float(10.0 ** rng.integers(-2, 2))
        if variant.startswith("kernels"):
            given |= {"K": rbf_kernel(given.pop("X")), "Kz": rbf_kernel(given.pop("Z"))}
        found.append(Instance.of(f"{object_name}.primal", family, **given))
    return found


def fit(instance: Instance, trainer: Callable[..., Any] | None = None) -> tuple[Any, Any, Any]:
    """The fitted estimator, and what it took for X and Z. ``trainer`` makes it; default `fast`'s."""
    import fast
    from fast.errors import CollapseWarning

    given = {"free_slack": 0.0} | instance.params
    y, weight = given.pop("y"), given.pop("sample_weight", None)
    X, Z, K, Kz = (given.pop(name, None) for name in ("X", "Z", "K", "Kz"))
    if K is not None:
        given["kernel"] = given["kernel_z"] = "precomputed"
    loss = "squared_hinge" if instance.object_name == OBJECTS[0] else "hinge"
    make = trainer or fast.SVMPlusClassifier
    model = make(loss=loss, standardize_z=False, tol=TOL, max_iter=5000, **given)
    X, Z = (X, Z) if K is None else (K, Kz)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says how far it came
        return model.fit(X, y, Z, sample_weight=weight), X, Z


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum."""
    given = instance.params
    y, weight = given["y"], given.get("sample_weight")
    model, X, Z = fit(instance, trainer)
    claims = certificates.judge_claims(model, X, y, weight, Z=Z)
    if not claims.ok:
        return claims
    ours = certificates.trained(model, X, y, weight, Z=Z)

    def apart(x: np.ndarray) -> float:
        if "K" not in given:
            return float(np.linalg.norm(model.coef_[0] - x))
        step = model.kernel_coef_[0] - x
        return float(np.sqrt(max(step @ given["K"] @ step, 0.0)))

    return too_wide(ours) or beside_oracle(instance.problem.name, given, ours, apart)


def verify_plus(object_name: str, profile: str = "quick", seed: int = 0) -> Report:
    """The report on ``svm_plus_squared_hinge`` or ``svm_plus_hinge``."""
    drawn = instances(profile, seed, object_name)
    return report(f"{object_name}.primal", "trainer", drawn, examine, profile, seed)
