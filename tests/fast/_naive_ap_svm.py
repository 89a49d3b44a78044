"""Judges a fitted AP-SVM from its attributes by the formulas, without the library's kernels.

Inversions of a ranking: for a positive the negatives ranked above it, for a negative the positives
ranked below it. All sums over pairs and counts, nothing sorted or searched cleverly.
"""

import numpy as np
import pytest

from refsolve.models import ap_ramp, ap_svm


def queries(y, groups=None):
    """Indices of every query."""
    groups = np.zeros(len(y), int) if groups is None else np.asarray(groups)
    return [np.flatnonzero(groups == g) for g in dict.fromkeys(groups.tolist())]


def hinge(s, y):
    """max_R Delta(R) + <s, Psi(R) - Psi(R*)> by dynamic programming over nondecreasing counts."""
    s, y = np.asarray(s, float), np.asarray(y, bool)
    if y.all() or not y.any():
        return 0.0
    pos, neg = np.sort(s[y])[::-1], np.sort(s[~y])[::-1]
    P, N = len(pos), len(neg)
    c = np.arange(N + 1)
    prefix = np.concatenate([[0.0], np.cumsum(neg)])
    best = np.zeros(N + 1)
    for k in range(1, P + 1):
        gain = c / (P * (k + c)) - 2.0 / (P * N) * (c * pos[k - 1] - prefix)
        best = np.maximum.accumulate(best) + gain
    return float(best.max())


def misordered(s, y):
    """max_R <s, Psi(R) - Psi(R*)>: every pair in the wrong order, and by how much."""
    s, y = np.asarray(s, float), np.asarray(y, bool)
    pairs = np.maximum(s[~y][None, :] - s[y][:, None], 0.0)
    return 2.0 * float(pairs.mean()) if pairs.size else 0.0


def delta(inversions, y):
    """1 - AP of a ranking."""
    c = np.sort(inversions[y])
    k = np.arange(1, len(c) + 1)
    return 1.0 - float(np.mean(k / (k + c)))


def coefficients(inversions, y):
    """Of <s, Psi(R) - Psi(R*)> in s."""
    scale = 2.0 / (y.sum() * (~y).sum())
    return scale * np.where(y, -1.0, 1.0) * inversions


def is_ranking(inversions, y):
    """The negatives' counts are the conjugate partition of the positives'."""
    c, t = inversions[y], np.sort(inversions[~y])[::-1]
    if len(c) == 0 or len(t) == 0:
        return not inversions.any()
    whole = (c >= 0).all() and (c <= len(t)).all() and np.issubdtype(inversions.dtype, np.integer)
    return bool(whole and all(t[j] == np.sum(c >= j + 1) for j in range(len(t))))


def mean_hinge(s, y, groups=None):
    """F(s), the mean over queries."""
    return float(np.mean([hinge(s[q], y[q]) for q in queries(y, groups)]))


def ramp(s, y, groups=None):
    """max_R [Delta + <s, Psi(R)>] - max_R <s, Psi(R)>, mean over queries."""
    H = np.mean([misordered(s[q], y[q]) for q in queries(y, groups)])
    return mean_hinge(s, y, groups) - float(H)


def cut(inversions, y, groups=None):
    """Offset and coefficients of the cut of one ranking per query, after checking that it is one."""
    offset, v, parts = 0.0, np.zeros(len(y)), queries(y, groups)
    for q in parts:
        assert is_ranking(inversions[q], y[q])
        offset += delta(inversions[q], y[q]) / len(parts)
        v[q] = coefficients(inversions[q], y[q]) / len(parts)
    return offset, v


def average_precision(s, y):
    """Of the worst order of ties."""
    order = np.lexsort((y, -np.asarray(s)))
    hits = y[order]
    return float(np.mean(np.cumsum(hits)[hits] / (np.flatnonzero(hits) + 1)))


def dense(X):
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


def bounds(result, X, y, C, **step):
    """P and D of a result by the certificate; ``step``: groups, and the ramp's reference ranking."""
    judge = ap_ramp if "reference" in step else ap_svm
    found = judge.certificate(
        X, y, C=C, w=result.w, rankings=result.rankings, weights=result.weights, **step
    )
    assert found.violation <= 1e-12 * C
    assert found.value <= found.primal
    return found.value, found.dual_value


def close(result, primal, dual, tol, rounding=1e-9):
    """The result's own bounds are these, and they meet."""
    scale = max(abs(primal), abs(dual))
    assert result.primal == pytest.approx(primal, abs=rounding * scale)
    assert result.dual == pytest.approx(dual, abs=rounding * scale)
    assert -rounding * scale <= primal - dual <= (tol + rounding) * scale
    assert result.gap <= tol


def check_descent(model, X, y, rounding=1e-9, groups=None):
    """J of the ramp or of bags at the end, that it fell, and that the last convex step bounds it."""
    w, positive = model.coef_[0], np.asarray(y) == model.classes_[1]
    if hasattr(model, "latent_"):
        scores = [dense(bag) @ w for bag in X]
        loss = mean_hinge(np.array([s.max() for s in scores]), positive, groups)
        for s, chosen in zip(scores, model.latent_, strict=True):
            assert s[chosen] >= s.max() - 1e-12 * np.abs(s).max()
        # the step: positives keep one candidate in all cuts
        assert (model.candidates_ == model.candidates_[0])[:, positive].all()
    else:
        loss = ramp(dense(X) @ w, positive, groups)
    J = 0.5 * w @ w + model.C * loss
    np.testing.assert_allclose(model.objectives_[-1], J, rtol=rounding, atol=1e-300)
    assert (np.diff(model.objectives_) <= 0.0).all()
    assert model.primal_objective_ >= J * (1 - rounding)
    rounds = model.history_["round"]
    assert model.n_rounds_ == rounds[-1] == rounds.max()
    assert (np.diff(model.history_["iteration"]) >= 0).all()
