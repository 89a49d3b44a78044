"""Certified duality gap of a binary SVM in structural form, from its weights and alpha.

    P(w) - D(alpha) = 1/2||w - v||^2 + sum_i [(C/n) max(0, m_i) - alpha_i m_i],   m_i = 1 - y_i (<x_i,w> + b),

v = sum_i alpha_i y_i x_i: every term is nonnegative for alpha in [0, C/n]. The bias is the weight of a
constant feature, in w and in v; a free one is in neither, and has the constraint sum_i alpha_i y_i = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.certificates.model import EPS, EXTENDED, ModelCertificate
from verification.certificates.ranking_model import EPS_OF_REAL, Product, Real
from verification.certificates.ranking_truth import mask
from verification.errors import InvalidArgumentError


def binary_erm(
    coef: Any,
    X: Any,
    y: Any,
    *,
    C: float,
    alpha: Any,
    bias: float | None = None,
    free: bool = False,
) -> ModelCertificate:
    """Certify w for min 1/2||w||^2 + (C/n) sum_i max(0, 1 - y_i (<x_i,w> + b)).

    Parameters
    ----------
    coef : (d,) array
    X : (n, d) array or sparse matrix
    y : (n,) array
        Positive entries stand for +1, the others for -1.
    C : float
        Weight of the mean hinge.
    alpha : (n,) array
        Dual point in [0, C/n]; clipped to it.
    bias : float, optional
        Weight b of a constant feature, regularised like the others; None if there is none.
    free : bool
        b is not regularised; the heavier class of ``alpha`` is scaled down until both balance.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit.
    """
    w, signs = np.asarray(coef, dtype=Real).ravel(), np.where(mask(y), 1, -1)
    given = np.asarray(alpha, dtype=Real)
    n, d = X.shape
    if w.shape != (d,) or given.shape != (n,) or signs.shape != (n,):
        raise InvalidArgumentError(
            f"coef {w.shape}, alpha {given.shape}, y {signs.shape}: expected ({d},), ({n},), ({n},)"
        )
    b = Real(0 if bias is None else bias)
    product = Product(X, Real if n * d <= EXTENDED else np.float64)
    mass = Real(C) / n
    a = np.clip(given, 0, mass)
    if free:
        a = balanced(a, signs)
    slack = 1 - signs * (product.scores(w) + b)
    v, c = product.combination(a * signs), (a * signs).sum()
    priced = bias is not None and not free  # b is a weight like the others
    apart = np.append(w - v, b - c if priced else Real(0))
    square = (w * w).sum() + (b * b if priced else 0)
    residual = (mass * np.maximum(slack, 0) - a * slack).sum()
    norms = product.norms() + float(bias is not None)
    reach = norms * float(np.sqrt((w * w).sum() + b * b))
    error = float(mass) * float((2 * (d + 4) * product.eps * (1 + reach)).sum())
    error += (n + 4) * EPS_OF_REAL * C * (1 + float(reach.max(initial=0.0)))
    length = float(np.sqrt((apart * apart).sum()))
    off = (n + 2) * product.eps * float((a * norms).sum())
    error += length * off + off**2 / 2
    gap = float(residual) + length**2 / 2 + error
    primal = float(square / 2 + mass * np.maximum(slack, 0).sum()) + error
    primal += EPS * abs(primal)  # rounded to a float
    moved = float(np.abs(a - given).sum())
    terms = {
        "1/2||w - v||^2, v the dual's weights": length**2 / 2,
        "sum_i (C/n max(0, m_i) - alpha_i m_i)": float(residual),
        "rounding": float(error),
    }
    return ModelCertificate(primal, primal - gap, gap, error, moved, terms)


def balanced(alpha: Any, signs: Any) -> Any:
    """Weights >= 0 with equal sums of both classes: the heavier one is scaled down."""
    sums = {side: alpha[signs == side].sum() for side in (1, -1)}
    least = min(sums.values())
    scale = {side: least / total if total > 0 else Real(0) for side, total in sums.items()}
    return alpha * np.where(signs > 0, scale[1], scale[-1])


def best_bias(w: Any, X: Any, y: Any) -> float:
    """A free bias with the least hinge loss at w: where the slope in b turns from negative."""
    signs = np.where(mask(y), 1, -1)
    scores = Product(X, Real).scores(np.asarray(w, dtype=Real))
    # right of the k-th break the slope is k - #positives
    return float(np.sort(signs - scores)[max(int((signs > 0).sum()) - 1, 0)])
