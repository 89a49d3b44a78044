"""Certificates of a fitted `fast.SVMPlusClassifier` or `fast.SVM2KClassifier`: each class against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve.models import svm_2k
from refsolve.proofs.certificate import Real
from refsolve.proofs.model import ModelCertificate, Proof
from refsolve.proofs.space import EPS
from verification.certificates.model import dense, kernel_matrix, overclaimed
from verification.certificates.plus_model import certificate, problem
from verification.errors import InvalidArgumentError, invalid_arguments
from verification.verdicts.verdict import Judgement, Verdict

Array = np.ndarray[Any, Any]
#: Relative error, in units of eps, of kernels that are computed twice.
BLUR = 16.0
#: How far means and variances of scaled privileged features may be from 0 and 1.
SCALED = 1e-6


@dataclass(frozen=True)
class ClassesCertificate(ModelCertificate):
    """The sums over the binary problems; the relative gap is the largest of them.

    Attributes
    ----------
    parts : tuple of ModelCertificate
        One per row of ``dual_coef_``.
    """

    parts: tuple[ModelCertificate, ...] = ()

    @classmethod
    def sums(cls, parts: list[ModelCertificate]) -> ClassesCertificate:
        """Sum up."""
        primal, dual, gap, error = (
            np.array([getattr(part, name) for part in parts], Real)
            for name in ("primal", "dual", "gap", "error")
        )
        moved, none = max(part.moved for part in parts), Real(0)
        terms = {f"problem {j}": part.gap for j, part in enumerate(parts)}
        proof = Proof(primal.sum(), dual.sum(), gap - error, none, terms, error.sum(), moved)
        return cls.of(proof, parts=tuple(parts))

    @property
    def relative_gap(self) -> float:
        """The largest relative gap of a class."""
        return max(part.relative_gap for part in self.parts)


def is_plus(estimator: Any) -> bool:
    """Whether this is an SVM+ or SVM-2K (or one without privileged features)."""
    own = ("C_z", "D", "eps") if is_two_views(estimator) else ("lam", "free_slack")
    return all(hasattr(estimator, name) for name in (*own, "dual_gaps_"))


def is_two_views(estimator: Any) -> bool:
    """Whether this is an SVM-2K."""
    return hasattr(estimator, "C_z")


def certify(
    estimator: Any, X: Any, y: Any, Z: Any = None, sample_weight: Any = None
) -> ClassesCertificate:
    """Certify every class on the data that the estimator was fitted on."""
    y = np.asarray(y)
    n = len(y)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    for name, rows in (("X", X), ("Z", Z), ("sample_weight", weight)):
        if rows is not None and rows.shape[0] != n:
            raise InvalidArgumentError(f"{name} of shape {rows.shape}: expected {n} rows, as y has")
    given = _features(estimator, X, Z, weight)
    classes, alpha = estimator.classes_, np.asarray(estimator.dual_coef_)
    many = 1 if len(classes) == 2 else len(classes)
    if alpha.shape != (many, n):
        raise InvalidArgumentError(
            f"dual_coef_ of shape {alpha.shape}: expected ({many}, {n}), a row per class"
        )
    model = {"w": estimator.coef_ if "X" in given else estimator.kernel_coef_}
    model |= {"b": estimator.intercept_, "alpha": alpha}
    if Z is not None:
        v = estimator.correction_coef_ if "Z" in given else estimator.correction_kernel_coef_
        model |= {"v": v, "rho": estimator.correction_intercept_}
        names = ("slack_dual_coef_", "correction_dual_coef_", "tie_dual_coef_")
        model |= {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    parts = []
    for j in range(many):
        labels = np.where(y == classes[1 if many == 1 else j], 1.0, -1.0)
        part = {name: values[j] for name, values in model.items()}
        parts.append(_binary(estimator, labels, {**given, "sample_weight": weight}, part))
    return ClassesCertificate.sums(parts)


def _binary(
    model: Any, labels: Array, given: dict[str, Any], part: dict[str, Any]
) -> ModelCertificate:
    """One class against the rest; ``part`` has its rows of the attributes."""
    own: dict[str, Any]
    fit, C = (part["w"], float(part["b"])), float(model.C)
    alpha = part["alpha"] * labels
    if "tie_dual_coef_" in part:
        prices = {"CA": C, "CB": float(model.C_z), "D": float(model.D), "eps": float(model.eps)}
        views = ("w" if "X" in given else "coef", "v" if "Z" in given else "correction_coef")
        own = {views[0]: part["w"], views[1]: part["v"], "b": fit[1], "rho": float(part["rho"])}
        both = np.array([alpha, part["correction_dual_coef_"] * labels, part["tie_dual_coef_"]])
        with invalid_arguments():
            return svm_2k.certificate(y=labels, alpha=both, **prices, **given, **own)
    own = {"loss": "hinge"}  # SVM-2K without Z
    if not is_two_views(model):
        own = {name: getattr(model, name) for name in ("loss", "nonneg_slack")}
        own["label_signed"] = getattr(model, "label_signed", False)
        own |= {name: float(getattr(model, name)) for name in ("lam", "free_slack")}
    rest: dict[str, Any] = {
        "rho": float(part.get("rho", 0.0)),
        "beta": part.get("slack_dual_coef_"),
    }
    data = problem(labels, C=C, **own, **given)
    return certificate(data, *fit, alpha, v=part.get("v"), **rest)


def _features(estimator: Any, X: Any, Z: Any, weight: Array) -> dict[str, Any]:
    """X or K, and Z as scaled or Kz, computed anew."""
    given: dict[str, Any] = {"blur": BLUR}
    if _is(estimator.kernel, "linear"):
        given["X"] = X
    else:
        given["K"] = _kernel(estimator, "kernel", "gamma", X, weight)
    if Z is None:
        return given
    if estimator.standardize_z and not _is(estimator.kernel_z, "precomputed"):
        Z = _scaled(estimator.z_scaler_, Z, weight)
    if _is(estimator.kernel_z, "linear"):
        given["Z"] = Z
    else:
        given["Kz"] = _kernel(estimator, "kernel_z", "gamma_z", Z, weight)
    return given


def _is(kernel: Any, name: str) -> bool:
    return isinstance(kernel, str) and kernel == name


def _scaled(scaler: Any, Z: Any, weight: Array) -> Any:
    """Z as the model saw it; its columns must have variance 1 (and mean 0, unless it is sparse)."""
    scaled = scaler.transform(Z.astype(np.float64))
    share = weight / weight.sum()
    values = dense(scaled)
    mean = share @ values
    spread = share @ (values - mean) ** 2
    before = dense(Z)
    moving = np.ptp(before[weight > 0], axis=0) > 1e-6 * abs(before).max(axis=0)
    wrong = abs(spread - 1) > SCALED
    if not hasattr(scaled, "toarray"):
        wrong |= abs(mean) > SCALED
    if (wrong & moving).any():
        raise InvalidArgumentError(
            f"z_scaler_: column {int(np.argmax(wrong & moving))} of Z as scaled has mean "
            f"{mean[wrong & moving][0]:.6g} and variance {spread[wrong & moving][0]:.6g}; expected 0 "
            "and 1 with the weights of the examples"
        )
    return scaled


def _kernel(estimator: Any, kernel: str, gamma: str, X: Any, weight: Array) -> Array:
    """The kernel matrix of all examples, by scikit-learn; gamma "scale" is 1/(d Var), weighted."""
    name = getattr(estimator, kernel)
    params: dict[str, Any] = {}
    if isinstance(name, str) and name in ("rbf", "poly", "sigmoid"):
        width = getattr(estimator, gamma)
        if width == "scale":
            values = dense(X.astype(np.float64))
            share = weight / weight.sum()
            variance = float((share @ (values - (share @ values).mean()) ** 2).mean())
            width = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        params["gamma"] = 1 / X.shape[1] if width == "auto" else float(width)
    if isinstance(name, str) and name in ("poly", "sigmoid"):
        params["coef0"] = estimator.coef0
    if _is(name, "poly"):
        params["degree"] = estimator.degree
    return kernel_matrix(X, name, params)


def _predictions(estimator: Any, X: Any) -> list[str]:
    """What is wrong with `predict`, where the model is linear: the largest score has to win."""
    if not hasattr(estimator, "coef_"):
        return []
    f = np.asarray(X @ np.asarray(estimator.coef_).T) + estimator.intercept_
    if f.shape[1] == 1:
        f = np.hstack([-f, f]) / 2
    found = np.searchsorted(estimator.classes_, estimator.predict(X))
    lost = f.max(axis=1) - f[np.arange(len(f)), found]
    wrong = np.flatnonzero(lost > 64 * f.shape[1] * X.shape[1] * EPS * (1 + abs(f).max(axis=1)))
    if not len(wrong):
        return []
    return [
        f"{len(wrong)} predictions are not the class with the largest score, row {wrong[0]} first"
    ]


def judge_claims(
    estimator: Any, X: Any, y: Any, Z: Any = None, sample_weight: Any = None
) -> Judgement:
    """Whether every class's gap and objectives, and its predictions, are what the estimator claims.

    A claimed gap may exceed the certified one, not undercut it by more than ``doubt``: rounding of
    scores in float64 times the multipliers, which includes what the repair to feasibility costs.
    """
    found = certify(estimator, X, y, Z, sample_weight)
    problems, allowed = [], 0.0
    claims = (estimator.primal_objective_, estimator.dual_objective_, estimator.dual_gaps_)
    shape = (len(found.parts),)
    if any(np.shape(claim) != shape for claim in claims):
        raise InvalidArgumentError(
            f"dual_gaps_, primal_objective_ and dual_objective_: expected shape {shape}, one per class"
        )
    for j, (part, primal, dual, gap) in enumerate(zip(found.parts, *claims, strict=True)):
        size = max(abs(part.primal), abs(part.dual))
        slack = part.doubt + 4 * EPS * size
        allowed = max(allowed, slack / size)
        said = overclaimed(part, gap * size, primal, dual, slack)
        problems += [f"problem {j}: {each}" for each in said]
    problems += _predictions(estimator, X)
    if not estimator.dual_gap_ >= np.max(estimator.dual_gaps_):
        problems.append(f"dual_gap_ {estimator.dual_gap_!r} is not the largest of dual_gaps_")
    verdict = Verdict.FAIL if problems else Verdict.PASS
    return Judgement(verdict, found.relative_gap, allowed, message="; ".join(problems))
