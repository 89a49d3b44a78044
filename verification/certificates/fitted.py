"""Certificates of fitted estimators: `fast.TopKSVC`, `fast.TopKLogisticRegression`, one-vs-rest, rankers, SVM+."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve import catalogue
from refsolve.models import recall_at_k, top_push
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS
from verification.certificates import plus_fitted
from verification.certificates.model import dense, erm, kernel_matrix, overclaimed
from verification.certificates.ranking_model import latent_erm, ranking_erm
from verification.errors import InvalidArgumentError, invalid_arguments
from verification.fitted_loss import loss_of
from verification.verdicts.verdict import Judgement, Verdict


def trained(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, Z: Any = None
) -> ModelCertificate:
    """Certify a fitted model on its training data from ``coef_`` and ``dual_coef_``.

    Parameters
    ----------
    estimator : fitted TopKSVC, TopKLogisticRegression, OneVsAllClassifier, MultilabelClassifier,
        scikit-learn's OneVsRestClassifier of the first two, APSVM, NDCGSVM, LatentAPSVM, TopPush, RecallAtK or
        SVMPlusClassifier
        With a kernel, W is the one that ``dual_coef_`` spans. ``truncated=True`` is certified for the
        convex step on the classes ``kept_``. One-vs-rest is certified for the sum of its binary
        losses (``ova_hinge``, ``ova_smooth_hinge``, ``ova_logistic``), at least 3 classes. An AP-SVM is
        certified by its ``rankings_``, with ``ramp=True``, or on bags, for its last convex step. An
        SVM+ is certified class by class; its relative gap is the largest.
    X, y, sample_weight, groups, Z : what it was fitted on.
    """
    if plus_fitted.is_plus(estimator):
        return plus_fitted.certify(estimator, X, y, Z, sample_weight)
    if hasattr(estimator, "rankings_"):
        return _ranker(estimator, X, y, groups)
    if hasattr(estimator, "sets_") or "active" in getattr(estimator, "history_", ()):
        return _top(estimator, X, y)
    if hasattr(estimator, "estimators_"):
        return _one_vs_rest(estimator, X, y, sample_weight)
    labels, weights = _labels(estimator, y, sample_weight)
    loss, params = loss_of(estimator)
    kernel = getattr(estimator, "kernel", "linear")
    given: dict[str, Any] = {
        "loss": loss,
        "C": float(estimator.C),
        "dual": estimator.dual_coef_,
        "sample_weight": weights,
        **params,
    }
    if message := _false_intercept(estimator):
        raise InvalidArgumentError(message)
    if not (isinstance(kernel, str) and kernel == "linear"):
        K = kernel_matrix(X, kernel, getattr(estimator, "kernel_params", None) or {})
        if estimator.fit_intercept:
            K = K + 1.0
        return erm(dense(estimator.dual_coef_), y=labels, K=K, **given)
    coef, X = _with_constant(estimator, X)
    return erm(coef, X, labels, **given)


def _top(model: Any, X: Any, y: Any) -> ModelCertificate:
    """What looks at the top of a ranking: recall at k by its sets, or TopPush; of classes by the rows Phi_y(x_i)."""
    w, given, up = model.coef_[0], model.dual_coef_.ravel(), np.asarray(y) == model.classes_[1]
    k = getattr(model, "k", None)
    if len(model.classes_) > 2:  # features by classes
        X, w = sp.kron(X, sp.eye_array(len(model.classes_)), format="csr"), model.coef_.T.ravel()
        up, k = (np.asarray(y)[:, None] == model.classes_).ravel(), (k or 1) * len(up)
    with invalid_arguments():
        if hasattr(model, "sets_"):
            cuts = {"sets": model.sets_.reshape(-1, len(up)), "k": int(k or up.sum())}
            return recall_at_k.certificate(X, up, C=float(model.C), w=w, weights=given, **cuts)
        return top_push.certificate(X, up, C=float(model.C), w=w, multipliers=given)


def _false_intercept(estimator: Any) -> str:
    """What is wrong with an intercept that ``dual_coef_`` or ``fit_intercept=False`` decides; else empty."""
    kernel = getattr(estimator, "kernel", "linear")
    linear = isinstance(kernel, str) and kernel == "linear"
    if linear and estimator.fit_intercept:
        return ""
    A = dense(estimator.dual_coef_) if estimator.fit_intercept else np.zeros((1, 1))
    off = float(abs(estimator.intercept_ - A.sum(axis=0)).max())
    if off <= 4 * len(A) * EPS * float(abs(A).sum(axis=0).max()):
        return ""
    right = (
        "the column sums of dual_coef_" if estimator.fit_intercept else "0 without fit_intercept"
    )
    return f"intercept_: off by {off:.3g}; expected {right}: the model that was trained"


def _labels(estimator: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Class indices, and the weights times those of the classes."""
    from sklearn.utils.class_weight import compute_class_weight  # a second to import

    y = np.asarray(dense(y))
    classes = estimator.classes_
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if hasattr(estimator, "multilabel_"):
        rows = y if estimator.multilabel_ else y[:, None] == classes
        counted = rows.any(axis=1) if estimator.loss == "entropy" else np.ones(len(y), bool)
        labels = np.where(counted[:, None], rows, 1).astype(
            np.int64
        )  # any labels: they do not count
        return labels, weights * counted
    labels = np.searchsorted(classes, y)
    with np.errstate(divide="ignore"):  # "balanced" divides by the weight of a class
        factors = compute_class_weight(
            estimator.class_weight, classes=classes, y=y, sample_weight=weights
        )
    return labels, weights * np.where(weights > 0, factors[labels], 0)


def _with_constant(estimator: Any, X: Any) -> tuple[np.ndarray, Any]:
    """Weights and examples, with the constant feature, which is regularised like the others."""
    coef = np.asarray(estimator.coef_, dtype=np.float64)
    if not estimator.fit_intercept:
        return coef, X
    ones = np.ones((X.shape[0], 1))
    if hasattr(X, "tocsr"):
        X = sp.hstack([sp.csr_array(X), sp.csr_array(ones)], format="csr")
    else:
        X = np.hstack([X, ones])
    return np.column_stack([coef, estimator.intercept_]), X


def _one_vs_rest(model: Any, X: Any, y: Any, sample_weight: Any) -> ModelCertificate:
    """The m binary problems as one: w = coef_[1] - coef_[0] is the binary SVM with twice the C.

    P = 1/2(||w_0||^2 + ||w_1||^2) + C sum phi with w_0 = -w_1 is half of 1/2||w||^2 + 2 C sum phi.
    """
    parts = model.estimators_
    first = parts[0]
    if len(parts) < 3 or any(int(part.k) != 1 or len(part.classes_) != 2 for part in parts):
        raise InvalidArgumentError(
            "estimator: expected OneVsRestClassifier of binary models with k=1 for 3 classes or more"
        )
    if any(part.class_weight is not None for part in parts):
        raise InvalidArgumentError(
            "estimator: class_weight means another C for every binary problem; leave it out"
        )
    blocks = [np.diff(dense(part.dual_coef_))[:, 0] for part in parts]
    smooth = getattr(first, "gamma", 0.0)
    object_name = "ova_logistic" if hasattr(first, "truncated") else "ova_hinge"
    object_name = "ova_smooth_hinge" if smooth > 0 else object_name
    coefs = []
    data = X
    for part in parts:
        coef, data = _with_constant(part, X)
        coefs.append(coef[1] - coef[0])
    return erm(
        np.stack(coefs),
        data,
        np.searchsorted(model.classes_, np.asarray(y)),
        loss=object_name,
        C=2.0 * float(first.C),
        gamma=float(smooth) if smooth > 0 else None,
        dual=np.column_stack(blocks),
        sample_weight=sample_weight,
    )


def _ranker(model: Any, X: Any, y: Any, groups: Any) -> ModelCertificate:
    """An AP-SVM, with easy examples, a reference ranking (of the ramp), or bags of candidates."""
    fit = model.coef_, X, np.asarray(y) == model.classes_[1]
    dual = {"C": float(model.C), "rankings": model.rankings_, "weights": model.dual_coef_}
    if hasattr(model, "candidates_"):
        return latent_erm(*fit, candidates=model.candidates_, groups=groups, **dual)
    return ranking_erm(
        *fit,
        **dual,
        groups=groups,
        reference=getattr(model, "reference_ranking_", None),
        easy=getattr(model, "easy_mask_", None),
        easy_weights=getattr(model, "easy_dual_coef_", None),
        loss=catalogue.load(getattr(model, "object_name", "average_precision")).LOSS,
    )


def judge_claims(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, Z: Any = None
) -> Judgement:
    """Whether the gap and the objectives that a fitted estimator claims are true.

    The claimed ``dual_gap_`` may exceed the certified one (a weaker claim), not undercut it by
    more than the rounding in both computations; likewise for the objectives.
    """
    if plus_fitted.is_plus(estimator):
        return plus_fitted.judge_claims(estimator, X, y, Z, sample_weight)
    if hasattr(estimator, "fit_intercept") and (message := _false_intercept(estimator)):
        return Judgement(Verdict.FAIL, message=message)
    found = trained(estimator, X, y, sample_weight, groups=groups)
    size = max(abs(found.primal), abs(found.dual))
    if hasattr(estimator, "rankings_"):
        # n terms 2 C c_i s_i/(PN), whose coefficients sum to at most 4 C in absolute value
        w, bags = estimator.coef_[0], [X] if len(getattr(X, "shape", ())) == 2 else X
        scores = np.concatenate([np.ravel(rows @ w) for rows in bags])
        room = size + 4 * estimator.C * float(abs(scores).max())
        slack = 4 * (len(scores) + len(w) + 4) * EPS * room + 2 * found.error
    else:
        n, m = np.atleast_2d(estimator.dual_coef_).shape
        # both sides sum n m terms of the size of the objective
        slack = 2 * found.error + 4 * (n + m) * EPS * size
    claimed = float(estimator.dual_gap_) * size
    primal, dual = estimator.primal_objective_, estimator.dual_objective_
    problems = overclaimed(found, claimed, primal, dual, slack)
    verdict = Verdict.FAIL if problems else Verdict.PASS
    relative = slack / size if size > 0 else 0.0
    terms = {
        "certified gap beyond the claim": (found.gap - claimed, slack),
        "primal objective beyond the claim": (float(found.primal - primal), slack),
        "dual claim beyond the certificate": (float(dual - found.dual), slack),
    }
    return Judgement(
        verdict, found.relative_gap, relative, message="; ".join(problems), terms=terms
    )
