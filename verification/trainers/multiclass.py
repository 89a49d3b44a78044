"""Judges the trainers on small problems: their own certificates recomputed, and the oracle's interval.

See `verification.trainers.table`. The truncated loss, which has no optimum that an oracle could bracket, is
judged by its convex step and by its descent.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from verification import certificates
from verification.certificates.model import dense
from verification.instances import datasets
from verification.instances.instance import Instance
from verification.models import multiclass_erm
from verification.trainers.table import EPS, TOL, beside_oracle, descended, report
from verification.verdicts import verify_model
from verification.verdicts.report import Report
from verification.verdicts.verdict import Candidate, Judgement, Verdict

TRUNCATED = "truncated_topk_entropy"
PROBLEM = "multiclass_erm.primal"
#: Instances per loss; the other families are judged by `verification.verify`, without the oracle.
COUNTS = {"quick": 4, "thorough": 20}
FAMILIES = ("random", "zero rows", "repeated examples", "one example per class")


def losses() -> tuple[str, ...]:
    """Those that `fast` trains."""
    return (*multiclass_erm.trained(), TRUNCATED)


class Fitted(NamedTuple):
    """What is trained without an estimator."""

    coef_: np.ndarray
    dual_coef_: np.ndarray


def instances(profile: str, seed: int) -> list[Instance]:
    """Small problems of every loss and family; only the arguments that are given."""
    found = []
    for number, loss in enumerate(losses()):
        # the truncated loss has k and no gamma, like an entropy
        drawn_as = "topk_entropy_beta" if loss == TRUNCATED else loss
        for family in FAMILIES:
            count = COUNTS[profile] // len(FAMILIES)
            key = 100 * seed + number
            drawn = datasets.draw(PROBLEM, family, count, key, fixed={"loss": drawn_as})
            for each in drawn:
                given = {name: v for name, v in each.params.items() if v is not None}
                found.append(Instance.of(PROBLEM, family, **{**given, "loss": loss, "tol": TOL}))
    return found


def train(loss: str, given: dict[str, Any], X: Any, y: Any, trainer: Any = None) -> Any:
    """Fit the estimator of a loss."""
    import fast

    own: dict[str, Any] = {n: given[n] for n in ("k", "gamma", "beta") if n in given}
    known = multiclass_erm.estimator(loss, own)
    if known is None and trainer is None:
        return Fitted(*multiclass_erm.TASK.train(y, loss=loss, X=X, **given).values())
    name, meaning = known or ("", {})
    meaning = {"truncated": True} if loss == TRUNCATED else meaning
    make = trainer or getattr(fast, name)
    params = {"max_iter": 10_000, "random_state": 0, **given, **meaning}
    return make(**params).fit(X, y)


def examine(instance: Instance, trainer: Callable[..., Any] | None = None) -> Judgement:
    """Train, recompute the certificate, and compare the two brackets of the optimum.

    ``trainer`` makes the estimator from its parameters; default that of `fast`.
    """
    given = instance.params
    X, y, loss = given.pop("X"), given.pop("y"), given.pop("loss")
    model = train(loss, given, X, y, trainer)
    if hasattr(model, "dual_gap_"):
        claims = certificates.judge_claims(model, X, y)
        if not claims.ok:
            return claims
    if isinstance(model, Fitted):
        asked = {name: value for name, value in given.items() if name != "tol"}
        ours = certificates.erm(model.coef_, X, y, loss=loss, dual=model.dual_coef_, **asked)
    else:
        ours = certificates.trained(model, X, y)
    if loss == TRUNCATED:
        return _descent(model, X, y, given, ours)
    full = Instance.of(
        PROBLEM, instance.family, **{**multiclass_erm.TASK.defaults, **instance.params}
    )
    parts = {"W": np.asarray(model.coef_), "A": np.asarray(dense(model.dual_coef_))}
    judged = verify_model.judge(full, Candidate(parts["W"], parts["A"], parts=parts))
    if not judged.ok:
        return judged
    del given["tol"]
    unit = given["C"] * len(y)  # the oracle's P carries 1/n: P/lambda = C n P
    found = beside_oracle(
        PROBLEM, {**given, "loss": loss, "X": X, "y": y}, ours,
        lambda x: float(np.linalg.norm(parts["W"] - x)), unit, unit, "W",
    )  # fmt: skip
    own: Any = {"gap": judged.gap, "gap_tolerance": judged.gap_tolerance, "terms": judged.terms}
    return found if found.distance is None else replace(found, **own)


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
    """The convex step is solved to TOL; the truncated risk never rises and ends where it claims.

    The right number of classes counts.
    """
    allowed = TOL * max(abs(ours.primal), abs(ours.dual)) + 2 * ours.error
    if ours.gap > allowed:
        message = (
            f"convex step solved to a relative gap of {ours.relative_gap:.3g}, asked for {TOL:g}"
        )
        return Judgement(Verdict.FAIL, ours.relative_gap, TOL, message=message)
    m, k = len(model.classes_), given["k"]
    path = np.asarray(model.truncated_objectives_)
    final = truncated_risk(np.asarray(model.coef_), X, y, given["C"], k)
    slack = 64 * len(y) * m * EPS * float(np.abs(path).max())
    message = descended("truncated risk", path, final, ours.primal, slack)
    right = (model.kept_.sum(axis=1) == m - k + 1).all() and model.kept_[np.arange(len(y)), y].all()
    if not message and not right:
        message = f"kept_ must hold the true class and {m - k} others in every row"
    verdict = Verdict.FAIL if message else Verdict.PASS
    return Judgement(
        verdict, ours.relative_gap, ours.relative_gap * allowed / ours.gap, message=message
    )


def verify_trainer(profile: str = "quick", seed: int = 0) -> Report:
    """The report on the model ``multiclass_erm``."""
    return report(PROBLEM, "trainer", instances(profile, seed), examine, profile, seed)
