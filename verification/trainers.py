"""Judges `fast.TopKSVC` on small problems: its own certificate recomputed, and the oracle's interval.

The oracle brackets the optimum, D <= P* <= P, and so does the trained model; both brackets come from
formulas and hold whatever was solved, so that two that do not overlap prove one of them wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from verification import certificates
from verification.instances import Instance
from verification.verdicts import Judgement, Report, Result, Verdict

#: loss of `refsolve` -> what `TopKSVC` calls it.
LOSSES: dict[str, dict[str, Any]] = {
    "multiclass_hinge": {"k": 1, "gamma": 0.0},
    "topk_hinge_alpha": {"variant": "alpha", "gamma": 0.0},
    "topk_hinge_beta": {"variant": "beta", "gamma": 0.0},
    "smooth_topk_hinge_alpha": {"variant": "alpha"},
    "smooth_topk_hinge_beta": {"variant": "beta"},
}
PROBLEM = "multiclass_erm.primal"
COUNTS = {"quick": 4, "thorough": 20}
FAMILIES = ("random", "zero rows", "repeated examples", "one example per class")
TOL = 1e-6
EPS = float(np.finfo(float).eps)


def instances(profile: str, seed: int) -> list[Instance]:
    """Small problems of every loss and family; C from 1e-2 to 1e2, k up to m - 1."""
    rng = np.random.default_rng([seed, 26])
    found = []
    for loss in LOSSES:
        for number in range(COUNTS[profile]):
            family = FAMILIES[number % len(FAMILIES)]
            m, d = int(rng.integers(3, 7)), int(rng.integers(1, 6))
            n = m if family == "one example per class" else int(rng.integers(m, 25))
            X = rng.standard_normal((n, d))
            y = rng.permutation(np.arange(n) % m)
            if family == "zero rows":
                X[:: max(1, n // 3)] = 0.0
            if family == "repeated examples":
                X[n // 2 :] = X[: n - n // 2]
            given: dict[str, Any] = {
                "loss": loss,
                "X": X,
                "y": y,
                "C": float(10.0 ** rng.integers(-2, 3)),
            }
            if loss != "multiclass_hinge":
                given["k"] = int(rng.integers(1, m))
            if loss.startswith("smooth"):
                given["gamma"] = float(rng.choice([0.1, 1.0, 10.0]))
            found.append(Instance.of(PROBLEM, family, **given))
    return found


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum.

    ``trainer`` makes the estimator from its parameters; default `fast.TopKSVC`.
    """
    import fast
    import refsolve

    train = trainer or fast.TopKSVC
    given = instance.params
    X, y, loss = given.pop("X"), given.pop("y"), given.pop("loss")
    model = train(tol=TOL, max_iter=10_000, random_state=0, **{**given, **LOSSES[loss]}).fit(X, y)
    claims = certificates.judge_claims(model, X, y)
    if not claims.ok:
        return claims
    ours = certificates.trained(model, X, y)
    if ours.relative_gap > 2 * TOL:
        message = f"trained to a relative gap of {ours.relative_gap:.3g}, asked for {TOL:g}"
        return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)
    try:
        oracle = refsolve.solve(PROBLEM, loss=loss, X=X, y=y, **given)
    except refsolve.errors.OracleUncertainError as error:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=str(error))
    unit = given["C"] * len(y)  # the oracle's P carries 1/n: P/lambda = C n P
    proof: Any = oracle.certificate
    upper, lower = proof.primal * unit, proof.dual * unit
    slack = 64 * len(y) * EPS * max(abs(upper), abs(ours.primal), unit)
    if max(lower, ours.dual) > min(upper, ours.primal) + slack:
        message = f"the oracle has P* in [{lower!r}, {upper!r}], the trainer in [{ours.dual!r}, {ours.primal!r}]"
        return Judgement(Verdict.FAIL, message=message)
    if oracle.status is not refsolve.errors.Status.CERTIFIED:  # too wide a bracket to agree with
        message = f"{oracle.solver} has gap {proof.gap:.3g}"
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=message)
    # P is 1-strongly convex: each of the two is within sqrt(2 gap) of the one minimiser.
    bound = float(
        np.sqrt(2 * (ours.gap + slack)) + np.sqrt(2 * (max(proof.gap, 0.0) * unit + slack))
    )
    apart = float(np.linalg.norm(model.coef_ - oracle.x.T))
    verdict = Verdict.PASS if apart <= bound else Verdict.FAIL
    message = (
        ""
        if verdict is Verdict.PASS
        else f"||W - W_oracle|| = {apart:.3g} exceeds the certified {bound:.3g}"
    )
    return Judgement(verdict, ours.relative_gap, 2 * TOL, apart, bound, message)


def verify_trainer(profile: str = "quick", seed: int = 0) -> Report:
    """A report like those of `verification.verify`, on the model ``multiclass_erm``.

    Gaps are relative; the distance is ||W - W_oracle||, its tolerance the certified bound.
    """
    start = time.perf_counter()
    results = tuple(Result.of("trainer", each, examine(each)) for each in instances(profile, seed))
    return Report(PROBLEM, profile, seed, results, time.perf_counter() - start, "fast.TopKSVC")
