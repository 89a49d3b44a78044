"""Judges the AP estimators on small problems: their certificates recomputed, and the oracle's interval.

`verification.verify` judges the training functions, and anybody's, by certificates alone; here the
estimators are judged, and the oracle beside them, on some of the same instances.

See `verification.trainers.table`. With easy examples the problem is (10). The ramp loss and latent
candidates, which have no optimum that an oracle could bracket, are judged by their last convex step and by
their descent.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from refsolve.models import binary_svm as declared
from refsolve.proofs import ranking_truth
from refsolve.proofs.model import ModelCertificate
from verification import certificates
from verification.certificates.ranking_model import latent_risk
from verification.instances import datasets
from verification.instances.instance import Instance
from verification.trainers.table import EPS, TOL, beside_oracle, descended, report, too_wide
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement, Verdict

PROBLEM = "ap_svm.primal"
EASY, RAMP = "ap_svm_appx.primal", "ap_ramp.primal"
LATENT, BINARY = "latent_ap_svm.primal", "binary_svm.primal"
#: Instances per family; the families are those of `verification.models`.
COUNTS = {"quick": 3, "thorough": 20}
FAMILIES = (
    (PROBLEM, "random"),
    (PROBLEM, "zero rows"),
    (PROBLEM, "repeated examples"),
    (PROBLEM, "one positive"),
    (PROBLEM, "one negative"),
    (PROBLEM, "separable"),
    (PROBLEM, "queries"),
    (EASY, "random"),
    (RAMP, "random"),
    (LATENT, "random"),
    (BINARY, "random"),
)


def instances(profile: str, seed: int) -> list[Instance]:
    """Small problems of every family."""
    return [
        instance
        for problem, family in FAMILIES
        for instance in datasets.draw(problem, family, COUNTS[profile], seed)
    ]


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum.

    ``trainer`` makes the estimator from its parameters; default `fast.APSVM` (`fast.LatentAPSVM`). For
    the binary SVM, which has no estimator of its own, it is the training function.
    """
    import fast

    given = instance.params
    X, y, C = given["X"], given["y"], given["C"]
    if instance.problem.name == BINARY:
        return _examine_binary(instance, trainer)
    groups = given.get("groups")
    if instance.problem.name == LATENT:
        X = np.split(X, np.flatnonzero(np.diff(given["bags"])) + 1)
        model = (trainer or fast.LatentAPSVM)(C=C, tol=TOL, max_iter=2000).fit(X, y)
    else:
        ramp = instance.problem.name == RAMP
        model = (trainer or fast.APSVM)(C=C, tol=TOL, max_iter=2000, ramp=ramp)
        model.fit(X, y, groups=groups, easy_mask=given.get("easy"))
    claims = certificates.judge_claims(model, X, y, groups=groups)
    if not claims.ok:
        return claims
    ours = certificates.trained(model, X, y, groups=groups)
    if ours.relative_gap <= 2 * TOL and instance.problem.name in (RAMP, LATENT):
        return _descent(model, X, y, C, ours)
    return beside(instance, ours, model.coef_[0])


def _data(instance: Instance) -> dict[str, Any]:
    """The arguments without the tolerance, which is `TOL` here."""
    return {name: value for name, value in instance.params.items() if name != "tol"}


def _examine_binary(instance: Instance, trainer: Callable[..., Any] | None) -> Judgement:
    """The binary SVM by its training function."""
    from fast.models import binary_svm

    given = _data(instance)
    found = (trainer or binary_svm.train)(**given, tol=TOL, max_iter=2000)
    b = float(found.b) if given["bias"] else None
    ours = declared.certificate(**given, w=found.w, b=b, alpha=found.alpha)
    slack = 2 * ours.error + 64 * len(given["y"]) * EPS * abs(ours.primal)
    if ours.gap > found.primal - found.dual + slack or ours.primal > found.primal + slack:
        message = (
            f"gap {ours.gap:.6g} at {ours.primal!r}, claimed {found.gap:.6g} at {found.primal!r}"
        )
        return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)
    return beside(instance, ours, found.w)


def beside(instance: Instance, ours: ModelCertificate, w: np.ndarray) -> Judgement:
    """The trained model beside the oracle's."""
    if ours.error > TOL * abs(ours.primal):  # an optimum of 1e-10 at a C of 1e4
        message = f"rounding alone may hide {ours.error:.3g} of {ours.primal:.3g}"
        return Judgement(Verdict.INCONCLUSIVE, message=message)
    given, problem = _data(instance), instance.problem.name

    def apart(x: np.ndarray) -> float:
        return float(np.linalg.norm(w - x))

    return too_wide(ours) or beside_oracle(problem, given, ours, apart, least=given["C"])


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
    message = descended("objective", path, final, ours.primal, slack)
    if not message and bags and [int((b @ w).argmax()) for b in X] != model.latent_.tolist():
        message = f"latent_ is {model.latent_.tolist()}, not the best candidates"
    verdict = Verdict.FAIL if message else Verdict.PASS
    return Judgement(verdict, ours.relative_gap, 2 * TOL, message=message)


def verify_rankers(profile: str = "quick", seed: int = 0) -> list[Report]:
    """One report per model."""
    drawn = instances(profile, seed)
    return [
        report(name, "ranker", (i for i in drawn if i.problem.name == name), examine, profile, seed)
        for name in (PROBLEM, EASY, RAMP, LATENT, BINARY)
    ]
