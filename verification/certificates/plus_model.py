"""Certificates of an SVM+ (or SVM) by the data and proofs of `refsolve`, of the very model that is given."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve.initial_guess import Problem
from refsolve.models import svm, svm_plus_hinge, svm_plus_squared_hinge
from refsolve.proofs.certificate import Array, candidate
from refsolve.proofs.model import ModelCertificate, Proof
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.space import Rows, Space
from refsolve.proofs.svm_plus import PlusProof, Point
from verification.errors import InvalidArgumentError, invalid_arguments

LOSSES = {"hinge": svm_plus_hinge, "squared_hinge": svm_plus_squared_hinge}


def problem(
    y: ArrayLike,
    *,
    loss: str,
    C: float,
    X: Rows = None,
    K: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    blur: float = 0.0,
    **more: Any,
) -> Problem:
    """The data of one binary SVM+, or SVM.

    Parameters
    ----------
    y : (n,) array of -1 and 1, 0 and 1 or booleans
    loss : {"hinge", "squared_hinge"}
    C : float
        Weight of the loss (a sum, without 1/n).
    X, K, sample_weight
        Features or a Gram matrix of all rows; those of weight zero leave.
    blur : float
        Relative error of the entries of Gram matrices that were computed anew, in units of eps.
    **more
        ``Z`` or ``Kz``, neither for the ordinary SVM; ``lam``, 1 by default, ``nonneg_slack``, by default
        that of the loss, and ``free_slack`` as `refsolve.models.svm_plus_hinge.certificate` has them.

    Raises
    ------
    InvalidArgumentError
        Naming the argument.
    """
    if loss not in LOSSES:
        raise InvalidArgumentError(f"loss={loss!r}: expected one of {', '.join(LOSSES)}")
    own: dict[str, Any] = {"K": K, "sample_weight": sample_weight, "blur": blur}
    with invalid_arguments():
        if more.get("Z") is None and more.get("Kz") is None:
            return svm.check_data(X, y, C, loss, **own)
        if more.get("nonneg_slack") is None:
            more.pop("nonneg_slack", None)
        return LOSSES[loss].check_data(X=X, y=y, C=C, **own, **{"lam": 1.0, **more})


def vector(space: Space, name: str, p: ArrayLike) -> Array:
    """A vector that was given: (d,), or coefficients of all n examples."""
    with invalid_arguments():
        return candidate(name, p, space.width).astype(space.real)


def point(problem: Problem, w: ArrayLike, b: Offset, v: ArrayLike | None, rho: Offset) -> Point:
    """A checked model."""
    w = vector(problem.x, "w", w)
    with invalid_arguments():
        b, rho = (problem.real(candidate(n, [v], 1)[0]) for n, v in (("b", b), ("rho", rho)))
    if problem.z is None:
        return Point(w, b)
    if v is None:
        raise InvalidArgumentError("v=None: the correcting function is needed; pass v and rho")
    return Point(w, b, vector(problem.z, "v", v), rho)


def multipliers(
    problem: Problem, alpha: ArrayLike | None, beta: ArrayLike | None
) -> tuple[Array, Array]:
    """Checked multipliers of the examples."""
    with invalid_arguments():
        return problem.part("alpha", alpha), problem.part("beta", beta)


def certificate(
    problem: Problem,
    w: ArrayLike,
    b: float,
    alpha: ArrayLike,
    *,
    v: ArrayLike | None = None,
    rho: float = 0.0,
    beta: ArrayLike | None = None,
) -> ModelCertificate:
    """Gap of a model, whose rho may be raised and no more, and of multipliers, which are repaired.

    Parameters
    ----------
    problem : Problem
    w : (d,) array, or coefficients (n,) with ``K``
    b : float
    alpha, beta : (n,) arrays
        Multipliers of the margins (times no labels) and of xi >= 0.
    v, rho : (s,) array, or coefficients (n,) with ``Kz``, and float
    """
    both = multipliers(problem, alpha, beta)
    return judged(problem, problem.gap_of(point(problem, w, b, v, rho), *both))


def of_multipliers(problem: Problem, alpha: ArrayLike) -> ModelCertificate:
    """Certificate of multipliers alone, at the best multiples of them and of their model.

    Squared hinge without xi >= 0: relative gap 1 - (S m/q)^2, see `refsolve.initial_guess`. A
    gap of infinity for multipliers that prove nothing.
    """
    if not problem.squared or problem.nonneg or problem.plain:
        raise InvalidArgumentError(
            "of_multipliers: expected the squared hinge with Z or Kz, without nonneg_slack"
        )
    proof = problem.scale_free(multipliers(problem, alpha, None)[0])
    if proof is None:
        none, zero = problem.real(np.inf), problem.real(0)
        return ModelCertificate.of(Proof(none, zero, problem.y, none, {}, zero))
    return judged(problem, proof)


def judged(problem: Problem, proof: PlusProof) -> ModelCertificate:
    """The certificate of a proof."""
    return ModelCertificate.of(proof, doubt=problem.doubt(proof))
