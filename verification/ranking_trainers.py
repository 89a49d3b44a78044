"""Judges the AP trainers on small problems: their certificates recomputed, and the oracle's interval.

As `verification.trainers` for the multiclass losses: the oracle's D <= P* <= P and that of the trained
model hold whatever was solved, so that two that do not overlap prove one of them wrong. With easy
examples the problem is (10). The ramp loss and latent candidates, which have no such optimum, are judged
by their last convex step and by their descent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from verification import certificates
from verification.certificates import ranking_truth
from verification.certificates.binary import binary_erm
from verification.certificates.model import ModelCertificate
from verification.certificates.ranking_latent import latent_risk
from verification.instances import Instance
from verification.verdicts import Judgement, Report, Result, Verdict

PROBLEM = "ap_svm.primal"
EASY, RAMP = "ap_svm_appx.primal", "ap_ramp.primal"
LATENT, BINARY = "latent_ap_svm.primal", "binary_svm.primal"
COUNTS = {"quick": 33, "thorough": 220}
FAMILIES = (
    "random",
    "zero rows",
    "repeated examples",
    "one positive",
    "one negative",
    "separable",
    "queries",
    "easy examples",
    "ramp",
    "candidates",
    "hinge",
)
#: Families that belong to another model than the AP-SVM.
MODELS = {"easy examples": EASY, "ramp": RAMP, "candidates": LATENT, "hinge": BINARY}
TOL = 1e-6
EPS = float(np.finfo(float).eps)


def instances(profile: str, seed: int) -> list[Instance]:
    """Small problems of every family; C from 1e-2 to 1e3."""
    rng = np.random.default_rng([seed, 4])
    return [_instance(rng, FAMILIES[i % len(FAMILIES)]) for i in range(COUNTS[profile])]


def _instance(rng: np.random.Generator, family: str) -> Instance:
    n, d = int(rng.integers(4, 25)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d))
    y = np.zeros(n, dtype=np.int64)
    y[rng.permutation(n)[: int(rng.integers(1, n))]] = 1
    if family == "zero rows":
        X[:: max(1, n // 3)] = 0.0
    if family == "repeated examples":  # of either kind, so that their scores tie
        X[n // 2 :] = X[: n - n // 2]
    if family in ("one positive", "one negative"):
        y[:] = family == "one negative"
        y[rng.integers(n)] = family == "one positive"
    if family == "separable":
        X[:, 0] += 4.0 * y
    given: dict[str, Any] = {"X": X, "y": y, "C": float(10.0 ** rng.integers(-2, 4))}
    if family == "queries":
        groups = rng.permutation(np.arange(n) % int(rng.integers(2, 1 + n // 2)))
        for g in np.unique(groups):  # one of both kinds in each
            y[np.flatnonzero(groups == g)[:2]] = [0, 1]
        given |= {"y": y, "groups": groups}
    if family == "easy examples":  # a plane separates them; one of each kind is not easy
        margins = (2 * y - 1) * (X @ (2 * rng.standard_normal(d)) + rng.standard_normal())
        given["easy"] = margins >= max(0.1, float(np.quantile(margins, 0.5)))
        given["easy"][[int(y.argmax()), int(y.argmin())]] = False
    if family == "candidates":  # one to four rows per bag, one of which shows the object
        sizes = rng.integers(1, 5, size=n)
        rows = rng.standard_normal((int(sizes.sum()), d))
        rows[np.cumsum(sizes) - 1] += 2.0 * y[:, None]
        given |= {"X": rows, "bags": np.repeat(np.arange(n), sizes)}
    if family == "hinge":
        given["bias"] = bool(rng.random() < 0.5)
    return Instance.of(MODELS.get(family, PROBLEM), family, **given)


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum.

    ``trainer`` makes the estimator from its parameters; default `fast.APSVM` (`fast.LatentAPSVM`). For
    the binary SVM, which has no estimator of its own, it is the training function.
    """
    import fast

    given = instance.params
    X, y, C = given["X"], given["y"], given["C"]
    if instance.problem == BINARY:
        return _examine_binary(instance, trainer)
    groups = given.get("groups")
    if instance.problem == LATENT:
        X = np.split(X, np.flatnonzero(np.diff(given["bags"])) + 1)
        model = (trainer or fast.LatentAPSVM)(C=C, tol=TOL, max_iter=2000).fit(X, y)
    else:
        ramp = instance.problem == RAMP
        model = (trainer or fast.APSVM)(C=C, tol=TOL, max_iter=2000, ramp=ramp)
        model.fit(X, y, groups=groups, easy_mask=given.get("easy"))
    claims = certificates.judge_claims(model, X, y, groups=groups)
    if not claims.ok:
        return claims
    ours = certificates.trained(model, X, y, groups=groups)
    if ours.relative_gap <= 2 * TOL and instance.problem in (RAMP, LATENT):
        return _descent(model, X, y, C, ours)
    return _bracket(instance, ours, model.coef_[0])


def _examine_binary(instance: Instance, trainer: Callable[..., Any] | None) -> Judgement:
    """The binary SVM by its training function."""
    from fast.models import binary_svm

    given = instance.params
    found = (trainer or binary_svm.train)(**given, tol=TOL, max_iter=2000)
    ours = binary_erm(
        found.w,
        given["X"],
        given["y"],
        C=given["C"],
        alpha=found.alpha,
        bias=found.b if given["bias"] else None,
    )
    slack = 2 * ours.error + 64 * len(given["y"]) * EPS * abs(ours.primal)
    if ours.gap > found.primal - found.dual + slack or ours.primal > found.primal + slack:
        message = (
            f"gap {ours.gap:.6g} at {ours.primal!r}, claimed {found.gap:.6g} at {found.primal!r}"
        )
        return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)
    return _bracket(instance, ours, found.w)


def _bracket(instance: Instance, ours: ModelCertificate, w: np.ndarray) -> Judgement:
    """The trained model beside the oracle's."""
    import refsolve
    from refsolve.errors import OracleUncertainError, Status

    if ours.error > TOL * abs(ours.primal):  # an optimum of 1e-10 at a C of 1e4
        message = f"rounding alone may hide {ours.error:.3g} of {ours.primal:.3g}"
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=message)
    if ours.relative_gap > 2 * TOL:
        message = f"trained to a relative gap of {ours.relative_gap:.3g}, asked for {TOL:g}"
        return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)
    given = instance.params
    try:
        oracle = refsolve.solve(instance.problem, **given)
    except OracleUncertainError as error:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=str(error))
    proof: Any = oracle.certificate
    slack = 64 * len(given["y"]) * EPS * max(abs(proof.primal), abs(ours.primal), given["C"])
    if max(proof.dual, ours.dual) > min(proof.primal, ours.primal) + slack:
        message = (
            f"the oracle has P* in [{proof.dual!r}, {proof.primal!r}], the trainer in "
            f"[{ours.dual!r}, {ours.primal!r}]"
        )
        return Judgement(Verdict.FAIL, message=message)
    if oracle.status is not Status.CERTIFIED:
        message = f"{oracle.solver} has gap {proof.gap:.3g}"
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=message)
    # P is 1-strongly convex: each of the two is within sqrt(2 gap) of the one minimiser
    bound = float(np.sqrt(2 * (ours.gap + slack)) + np.sqrt(2 * (max(proof.gap, 0.0) + slack)))
    apart = float(np.linalg.norm(w - oracle.x))
    verdict = Verdict.PASS if apart <= bound else Verdict.FAIL
    message = f"||w - w_oracle|| = {apart:.3g} exceeds the certified {bound:.3g}"
    return Judgement(
        verdict, ours.relative_gap, 2 * TOL, apart, bound, "" if apart <= bound else message
    )


def ramp_risk(w: np.ndarray, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """1/2||w||^2 + C (max_R Delta + <s, Psi(R)> - max_R <s, Psi(R)>), the second maximum by pairs."""
    scores = X @ w
    inverted = np.maximum(scores[y == 0] - scores[y == 1][:, None], 0.0)
    hinge = float(ranking_truth.solve(scores, y).value)
    return 0.5 * float(w @ w) + C * (hinge - 2.0 * float(inverted.mean()))


def _descent(model: Any, X: Any, y: np.ndarray, C: float, ours: Any) -> Judgement:
    """The objective never rises, ends where it claims, and not above that of the last convex step."""
    path, w = np.asarray(model.objectives_), model.coef_[0]
    bags = isinstance(X, list)
    final = (latent_risk if bags else ramp_risk)(w, X, y, C)
    reach = float(np.abs((np.concatenate(X) if bags else X) @ w).max())
    slack = 64 * len(y) * EPS * (float(np.abs(path).max()) + C * reach)
    message = ""
    if np.diff(path).max(initial=0.0) > slack:
        message = f"the objective rises: {path.tolist()}"
    elif abs(path[-1] - final) > slack:
        message = f"the objective is {final!r}, claimed {float(path[-1])!r}"
    elif final > ours.primal + slack:
        message = f"the objective {final!r} exceeds that of its convex step, {ours.primal!r}"
    elif bags and [int((b @ w).argmax()) for b in X] != model.latent_.tolist():
        message = f"latent_ is {model.latent_.tolist()}, not the best candidates"
    verdict = Verdict.FAIL if message else Verdict.PASS
    return Judgement(verdict, ours.relative_gap, 2 * TOL, message=message)


def verify_rankers(profile: str = "quick", seed: int = 0) -> list[Report]:
    """One report per model, like those of `verification.verify`.

    Gaps are relative; the distance is ||w - w_oracle||, its tolerance the certified bound.
    """
    reports = []
    drawn = instances(profile, seed)
    for problem in (PROBLEM, EASY, RAMP, LATENT, BINARY):
        start = time.perf_counter()
        results = tuple(
            Result.of("ranker", each, examine(each)) for each in drawn if each.problem == problem
        )
        elapsed = time.perf_counter() - start
        reports.append(Report(problem, profile, seed, results, elapsed, "fast"))
    return reports
