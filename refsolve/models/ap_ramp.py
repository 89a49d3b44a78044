"""Structured ramp over rankings: the hinge less the score of the predicted ranking, by CCCP.

ramp(s) = max_R [Delta(R) + <s,Psi(R)>] - max_R <s,Psi(R)> is at least 1 - AP of the predicted
ranking, for every order of ties, and below 1: an outlier costs no more than that. It is a difference
of convex functions. A step replaces the second one by its value for a fixed ranking, the reference.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve._ranking import ranking_from_scores
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_cuts import Finish, Master
from refsolve.models._ap_descent import DescentCertificate, descend
from refsolve.models._ap_rankings import RankingMaster, check_ranking, check_rankings, wants_all
from refsolve.models._symbols import BOX, GROUPS, RANKINGS, RELEVANT, ROWS, START, take
from refsolve.models.ap_svm import Data, check_data
from refsolve.oracle import Answer, ParametrizedProblem
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.space import Rows
from refsolve.spec import Spec, check_vector

SPEC = Spec(
    title="AP-SVM with the structured ramp loss",
    kind="models",
    formulas={
        "primal": (
            "J(w) = 1/2||w||^2 + C mean over queries of (L(Xw) - H(Xw)),\n"
            "L(s) = max_R Delta(R) + <c_R,s>,  H(s) = max_R <c_R,s>"
        ),
        "step": "P(w) = 1/2||w||^2 + C (L(Xw) - <c_ref,Xw>) >= J(w), equal where ref is predicted",
        "dual of a step": (
            "D(alpha) = sum_R alpha_R Delta(R) - 1/2||X' sum_R alpha_R (c_R - c_ref)||^2,\n"
            "alpha >= 0, sum_R alpha_R = C"
        ),
        "gap": (
            "sum_R alpha_R (L(Xw) - Delta(R) - <c_R,Xw>) + 1/2||w + X' sum_R alpha_R (c_R - c_ref)||^2\n"
            "= P(w) - D(alpha);  slack = C (H(Xw) - <c_ref,Xw>) = P(w) - J(w)"
        ),
    },
    symbols=(BOX,),
    arguments=(ROWS, RELEVANT, BOX, GROUPS),
    options=(RANKINGS, START),
    scaling="as AP-SVM: C multiplies the mean over queries; J(0) = C max Delta",
    source=(
        "the loss of AP-SVM (Mohapatra et al. 2014, problem (3)) with the ramp of Do et al. 2008; "
        "CCCP: Yuille and Rangarajan 2003"
    ),
    notes=(
        "not convex: the certificate proves the last convex step, and claims no lower bound on J",
        "slack 0: w is a critical point, no step leads away from it",
        "J never rises; without a start the first reference is R*, and the first step is AP-SVM",
    ),
)
operations = ("primal",)


@dataclass(frozen=True)
class RampCertificate(DescentCertificate):
    """A `DescentCertificate` over rankings.

    Attributes
    ----------
    rankings : ndarray of shape (m, n)
        Inversions of the rankings that carry the weights.
    reference : ndarray of shape (n,)
        Inversions of the ranking that the step fixed.
    """

    rankings: Array = field(repr=False)
    reference: Array = field(repr=False)


def predicted(data: Data, w: Array) -> Array:
    """Inversions of the ranking by score; of tied ones the best, so that w = 0 leads to AP-SVM."""
    scores = data.scores(w).astype(float)
    inversions = np.zeros(data.queries.n, np.int64)
    for q in data.queries.queries:
        inversions[q.items] = ranking_from_scores(scores[q.items], q.positive, "optimistic")
    return inversions


def primal(
    X: Rows, y: ArrayLike, *, w: ArrayLike, C: float, groups: ArrayLike | None = None
) -> float:
    """J(w)."""
    data = check_data(X, y, C, groups)
    w = check_vector("w", w, size=data.X.shape[1]).astype(Real)
    scores = data.scores(w)
    top = data.queries.coefficients(predicted(data, w)[None])[0] @ scores
    return float((w * w).sum() / 2 + data.C * (data.queries.most_violated(scores)[0] - top))


def certificate(
    X: Rows,
    y: ArrayLike,
    *,
    C: float,
    w: ArrayLike,
    reference: ArrayLike | None = None,
    rankings: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> RampCertificate:
    """What the convex step of a reference proves about w.

    Parameters
    ----------
    X, y, C, rankings, weights, groups
        As in `refsolve.models.ap_svm.certificate`.
    w : (d,) array
        Model.
    reference : (n,) array of int, optional
        Inversions of the ranking that the step fixed; by default the one that w predicts.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    data = check_data(X, y, C, groups)
    if (rankings is None) != (weights is None):
        name = "weights" if weights is None else "rankings"
        raise InvalidParameterError(name, None, "rankings with their weights", "pass both")
    w = check_vector("w", w, size=data.X.shape[1]).astype(Real)
    if reference is None:
        reference = predicted(data, w)
    else:
        reference = check_ranking(data.queries, "reference", reference)
    inversions = None if rankings is None else check_rankings(data.queries, rankings)
    return _certificate(data, w, inversions, weights, reference)


def _certificate(
    data: Data,
    w: Array | None,
    inversions: Array | None,
    weights: ArrayLike | None,
    reference: Array,
) -> RampCertificate:
    inversions, alpha, violation = data.cuts(w, inversions, weights)
    dual = data.dual(inversions, alpha, reference=reference)
    proof = dual.prove(dual.v if w is None else w)
    scores = data.scores(proof.w)
    moves = (predicted(data, proof.w) - reference)[None]
    slack = float(data.C * np.maximum(0, data.queries.coefficients(moves)[0] @ scores))
    return RampCertificate.of_cuts(
        proof,
        dual,
        violation,
        objective=float(proof.primal) - slack,
        slack=slack,
        rankings=inversions,
        reference=reference,
    )


# ---- CVXPY ----------------------------------------------------------------------------------


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``ap_ramp.primal``: x is w (d,) of the last step, value J(w).

    Arguments X, y, C, groups, rankings as of ``ap_svm.primal``; ``start`` (d,) is the w whose
    predicted ranking is the first reference.
    """
    X, y, C, groups, how, start = take(given, SPEC.arguments, rankings="auto", start=None)
    data = check_data(X, y, C, groups)
    everything = wants_all(how, data.queries)
    unit = data.C * float(data.queries.most_violated(np.zeros(data.queries.n))[0])  # J(0)
    known: list[RankingMaster] = []

    def step(reference: Array) -> tuple[Answer, Master, Finish]:
        master = RankingMaster(data.queries, data.space, data.C, unit, reference)
        if known:
            master.adopt(known[-1])
        elif everything:
            master.add_all()
        known.append(master)

        def finish(found: dict[str, Any]) -> Answer:
            weights, inversions = master.joined(found["parts"])
            points = (None, found["w"].astype(Real))
            proofs = [_certificate(data, w, inversions, weights, reference) for w in points]
            proof = min(proofs, key=lambda proof: proof.gap)
            return Answer(proof.w, proof.objective, proof.weights, proof)

        return master.close("ap_ramp.primal", finish, master.separate), master, finish

    reference, first = np.zeros(data.queries.n, np.int64), None
    if start is not None:
        start = check_vector("start", start, size=data.X.shape[1])
        reference, first = predicted(data, start), primal(X, y, w=start, C=C, groups=groups)
    return descend(reference, first, unit, step, lambda w: predicted(data, w))
