"""Judges the trainers on small problems: their own certificates recomputed, and the oracle's interval.

The oracle brackets the optimum, D <= P* <= P, and so does the trained model; both brackets come from
formulas and hold whatever was solved, so that two that do not overlap prove one of them wrong. The
truncated loss, which has no such optimum, is judged by its convex step and by its descent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from refsolve import catalogue
from verification import certificates
from verification.instances import Instance
from verification.verdicts import Judgement, Report, Result, Verdict

#: loss of `refsolve` -> the estimator that trains it, and what it calls the loss.
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    "multiclass_hinge": ("TopKSVC", {"k": 1, "gamma": 0.0}),
    "topk_hinge_alpha": ("TopKSVC", {"variant": "alpha", "gamma": 0.0}),
    "topk_hinge_beta": ("TopKSVC", {"variant": "beta", "gamma": 0.0}),
    "smooth_topk_hinge_alpha": ("TopKSVC", {"variant": "alpha"}),
    "smooth_topk_hinge_beta": ("TopKSVC", {"variant": "beta"}),
    "softmax": ("TopKLogisticRegression", {"k": 1}),
    "topk_entropy_alpha": ("TopKLogisticRegression", {"variant": "alpha"}),
    "topk_entropy_beta": ("TopKLogisticRegression", {"variant": "beta"}),
    "truncated_topk_entropy": ("TopKLogisticRegression", {"truncated": True}),
    "ova_hinge": ("TopKSVC", {"k": 1, "gamma": 0.0}),
    "ova_smooth_hinge": ("TopKSVC", {"k": 1}),
    "ova_logistic": ("TopKLogisticRegression", {"k": 1}),
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
            names = catalogue.load(loss).SPEC.names
            if "k" in names:
                given["k"] = int(rng.integers(1, m))
            if "gamma" in names:
                given["gamma"] = float(rng.choice([0.1, 1.0, 10.0]))
            found.append(Instance.of(PROBLEM, family, **given))
    return found


def train(loss: str, given: dict[str, Any], X: Any, y: Any, trainer: Any = None) -> Any:
    """Fit the estimator of a loss; one-vs-rest for the losses that are sums of binary ones."""
    import fast

    name, meaning = LOSSES[loss]
    make = trainer or getattr(fast, name)
    params = {"tol": TOL, "max_iter": 10_000, "random_state": 0, **given, **meaning}
    if not loss.startswith("ova"):
        return make(**params).fit(X, y)
    from sklearn.multiclass import OneVsRestClassifier

    # a pair w_1 = -w_0 with C/2 is the one w = w_1 - w_0 with C
    return OneVsRestClassifier(make(**{**params, "C": params["C"] / 2})).fit(X, y)


def weights(model: Any) -> np.ndarray:
    """W, one row per class."""
    if not hasattr(model, "estimators_"):
        return np.asarray(model.coef_)
    return np.stack([part.coef_[1] - part.coef_[0] for part in model.estimators_])


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum.

    ``trainer`` makes the estimator from its parameters; default that of `fast`.
    """
    import refsolve

    given = instance.params
    X, y, loss = given.pop("X"), given.pop("y"), given.pop("loss")
    model = train(loss, given, X, y, trainer)
    if hasattr(model, "dual_gap_"):
        claims = certificates.judge_claims(model, X, y)
        if not claims.ok:
            return claims
    ours = certificates.trained(model, X, y)
    if ours.relative_gap > 2 * TOL:
        message = f"trained to a relative gap of {ours.relative_gap:.3g}, asked for {TOL:g}"
        return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)
    if hasattr(catalogue.load(loss), "pieces"):
        return _descent(model, X, y, given, ours)
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
    apart = float(np.linalg.norm(weights(model) - oracle.x.T))
    verdict = Verdict.PASS if apart <= bound else Verdict.FAIL
    message = (
        ""
        if verdict is Verdict.PASS
        else f"||W - W_oracle|| = {apart:.3g} exceeds the certified {bound:.3g}"
    )
    return Judgement(verdict, ours.relative_gap, 2 * TOL, apart, bound, message)


def truncated_risk(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, k: int) -> float:
    """1/2 ||W||^2 + C sum of log(1 + sum of e^u without the k - 1 largest u)."""
    total = 0.5 * float((W * W).sum())
    for scores, label in zip(X @ W.T, y, strict=True):
        u = np.sort(np.delete(scores - scores[label], label))[: W.shape[0] - k]
        total += C * float(np.logaddexp.reduce(np.append(u, 0.0)))
    return total


def _descent(
    model: Any, X: np.ndarray, y: np.ndarray, given: dict[str, Any], ours: Any
) -> Judgement:
    """The truncated risk never rises, ends where it claims, and the right number of classes counts."""
    m, k = len(model.classes_), given["k"]
    path = np.asarray(model.truncated_objectives_)
    final = truncated_risk(np.asarray(model.coef_), X, y, given["C"], k)
    slack = 64 * len(y) * m * EPS * float(np.abs(path).max())
    message = ""
    if np.diff(path).max(initial=0.0) > slack:
        message = f"the truncated risk rises: {path.tolist()}"
    elif abs(path[-1] - final) > slack:
        message = f"the truncated risk is {final!r}, claimed {float(path[-1])!r}"
    elif final > ours.primal + slack:
        message = f"the truncated risk {final!r} exceeds that of its convex step, {ours.primal!r}"
    elif (model.kept_.sum(axis=1) != m - k + 1).any() or not model.kept_[
        np.arange(len(y)), y
    ].all():
        message = f"kept_ must hold the true class and {m - k} others in every row"
    verdict = Verdict.FAIL if message else Verdict.PASS
    return Judgement(verdict, ours.relative_gap, 2 * TOL, message=message)


def verify_trainer(profile: str = "quick", seed: int = 0) -> Report:
    """A report like those of `verification.verify`, on the model ``multiclass_erm``.

    Gaps are relative; the distance is ||W - W_oracle||, its tolerance the certified bound.
    """
    start = time.perf_counter()
    results = tuple(Result.of("trainer", each, examine(each)) for each in instances(profile, seed))
    return Report(PROBLEM, profile, seed, results, time.perf_counter() - start, "fast")
