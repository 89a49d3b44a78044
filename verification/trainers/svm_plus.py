"""Judges the SVM+ trainers on small problems: their certificates recomputed, and the oracle's interval.

As `verification.trainers.ranking` for AP: the oracle's D <= P* <= P and that of the fitted model hold
whatever was solved, so that two that do not overlap prove one of them wrong.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from verification import certificates
from verification.instances.instance import Instance
from verification.instances.svm_plus import EPS, FAMILIES, STEMS, draw
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement, Result, Verdict

COUNTS = {"quick": 22, "thorough": 154}  # per loss
#: Variants in turn; the number of families is no multiple of theirs, so that all of them meet.
VARIANTS = (
    "as in the paper",
    "the other xi",
    "own slacks",
    "kernels",
    "kernels, own slacks",
    "both",
)
TOL = 1e-6


def instances(profile: str, seed: int, stem: str) -> list[Instance]:
    """Problems of every family and variant of one loss."""
    rng = np.random.default_rng([seed, 6, STEMS.index(stem)])
    found = []
    for i in range(COUNTS[profile]):
        family, variant = FAMILIES[i % len(FAMILIES)], VARIANTS[i % len(VARIANTS)]
        given = draw(rng, family)
        if variant in ("the other xi", "both"):
            given["nonneg_slack"] = stem == STEMS[0]
        if variant in ("own slacks", "kernels, own slacks", "both"):
            given["free_slack"] = float(10.0 ** rng.integers(-2, 2))
        if variant.startswith("kernels"):
            given |= {"K": rbf_kernel(given.pop("X")), "Kz": rbf_kernel(given.pop("Z"))}
        found.append(Instance.of(f"{stem}.primal", family, **given))
    return found


def fit(instance: Instance, trainer: Callable[..., Any] | None = None) -> tuple[Any, Any, Any]:
    """The fitted estimator, and what it took for X and Z. ``trainer`` makes it; default `fast`'s."""
    import fast
    from fast.errors import CollapseWarning

    given = instance.params
    y, weight = given.pop("y"), given.pop("sample_weight", None)
    X, Z, K, Kz = (given.pop(name, None) for name in ("X", "Z", "K", "Kz"))
    if K is not None:
        given["kernel"] = given["kernel_z"] = "precomputed"
    loss = "squared_hinge" if instance.stem == STEMS[0] else "hinge"
    make = trainer or fast.SVMPlusClassifier
    model = make(loss=loss, standardize_z=False, tol=TOL, max_iter=5000, **given)
    X, Z = (X, Z) if K is None else (K, Kz)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says how far it came
        return model.fit(X, y, Z, sample_weight=weight), X, Z


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum."""
    import refsolve
    from refsolve.errors import OracleUncertainError, Status

    given = instance.params
    y, weight = given["y"], given.get("sample_weight")
    model, X, Z = fit(instance, trainer)
    claims = certificates.judge_claims(model, X, y, weight, Z=Z)
    if not claims.ok:
        return claims
    ours = certificates.trained(model, X, y, weight, Z=Z)
    if ours.relative_gap > 2 * TOL:
        message = f"trained to a relative gap of {ours.relative_gap:.3g}, asked for {TOL:g}"
        return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)
    try:
        oracle = refsolve.solve(instance.problem.name, **given)
    except OracleUncertainError as error:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=str(error))
    proof: Any = oracle.certificate
    slack = 64 * len(y) * EPS * max(abs(proof.primal), abs(ours.primal), 1.0)
    if max(proof.dual, ours.dual) > min(proof.primal, ours.primal) + slack:
        message = (
            f"the oracle has P* in [{proof.dual!r}, {proof.primal!r}], the trainer in "
            f"[{ours.dual!r}, {ours.primal!r}]"
        )
        return Judgement(Verdict.FAIL, message=message)
    if oracle.status is not Status.CERTIFIED:
        message = f"{oracle.solver} has gap {proof.gap:.3g}"
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=message)
    # P is 1-strongly convex in w: each of the two is within sqrt(2 gap) of the one minimiser
    bound = float(np.sqrt(2 * (ours.gap + slack)) + np.sqrt(2 * (max(proof.gap, 0.0) + slack)))
    if "K" in given:
        step = model.kernel_coef_[0] - oracle.x
        apart = float(np.sqrt(max(step @ given["K"] @ step, 0.0)))
    else:
        apart = float(np.linalg.norm(model.coef_[0] - oracle.x))
    verdict = Verdict.PASS if apart <= bound else Verdict.FAIL
    message = "" if apart <= bound else f"||w - w_oracle|| = {apart:.3g} exceeds {bound:.3g}"
    return Judgement(verdict, ours.relative_gap, 2 * TOL, apart, bound, message)


def verify_plus(stem: str, profile: str = "quick", seed: int = 0) -> Report:
    """A report like those of `verification.verify`, on ``svm_plus_squared_hinge`` or ``svm_plus_hinge``.

    Gaps are relative; the distance is ||w - w_oracle||, its tolerance the certified bound.
    """
    start = time.perf_counter()
    results = tuple(
        Result.of("trainer", each, examine(each)) for each in instances(profile, seed, stem)
    )
    return Report(f"{stem}.primal", profile, seed, results, time.perf_counter() - start, "fast")
