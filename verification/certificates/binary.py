"""Certificates of a binary SVM over the mean hinge: checked arguments of `refsolve.proofs.svm_plus`."""

import numpy as np
from numpy.typing import ArrayLike

from refsolve.initial_guess import Problem
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.ranking_truth import mask
from refsolve.proofs.space import Sparse
from refsolve.proofs.svm_plus import Point
from verification.certificates.ranking_model import rows
from verification.errors import InvalidArgumentError


def binary_erm(
    coef: ArrayLike,
    X: Array | Sparse,
    y: ArrayLike,
    *,
    C: float,
    alpha: ArrayLike,
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
    w, given = np.asarray(coef, dtype=Real).ravel(), np.asarray(alpha, dtype=Real)
    data = problem(X, y, C, "free" if free else "none" if bias is None else "penalised")
    n, d = data.n, data.x.width
    if w.shape != (d,) or given.shape != (n,) or data.y.shape != (n,):
        raise InvalidArgumentError(
            f"coef {w.shape}, alpha {given.shape}, y {data.y.shape}: expected ({d},), ({n},), ({n},)"
        )
    b = Real(0 if bias is None else bias)
    return ModelCertificate.of(data.prove(Point(w, b), given, 0 * given))


def problem(X: Array | Sparse, y: ArrayLike, C: float, bias: str) -> Problem:
    """The SVM with costs C/n; ``bias`` as `refsolve.proofs.svm_plus.Problem` has it."""
    space, n = rows(X), X.shape[0]
    return Problem(space, np.where(mask(y), 1, -1), np.full(n, space.real(C) / n), bias=bias)
