"""AP-SVM: a quadratic plus the structured hinge over rankings, its dual, and the gap between them.

A ranking R is its inversions: for a positive the negatives above it (c_i), for a negative the
positives below it (t_j). Delta(R) = 1 - AP, and Psi(R) - Psi(R*) has the score coefficients
-2 c_i/(PN) and 2 t_j/(PN); c_R below is that vector. The dual has a weight for every ranking.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_cuts import CutCertificate, check_weights, outside, written
from refsolve.models._ap_rankings import RankingMaster, check_queries, check_rankings, wants_all
from refsolve.models._data import check_examples
from refsolve.models._symbols import BOX, GROUPS, RANKINGS, RELEVANT, ROWS, take
from refsolve.oracle import ParametrizedProblem
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.ranking_model import Dual, Queries
from refsolve.proofs.space import Rows, Space
from refsolve.spec import Spec, check_vector

SPEC = Spec(
    title="AP-SVM",
    kind="models",
    formulas={
        "primal": (
            "P(w) = 1/2||w||^2 + C L(Xw), L = mean over queries of\n"
            "max_R Delta(R) + <w,Psi(X,R)> - <w,Psi(X,R*)> = max_R Delta(R) + <c_R,Xw>:\n"
            "1/2||w||^2 + C xi with <w,Psi(X,R*) - Psi(X,R)> >= Delta(R) - xi for all R"
        ),
        "dual": (
            "D(alpha) = sum_R alpha_R Delta(R) - 1/2||X' sum_R alpha_R c_R||^2,\n"
            "alpha >= 0, sum_R alpha_R = C"
        ),
        "maps": "w = -X' sum_R alpha_R c_R",
        "gap": (
            "sum_R alpha_R (L(Xw) - Delta(R) - <c_R,Xw>) + 1/2||w + X' sum_R alpha_R c_R||^2\n"
            "= P(w) - D(alpha), every term >= 0; ||w - w*||^2 <= 2 gap"
        ),
    },
    symbols=(BOX,),
    arguments=(ROWS, RELEVANT, BOX, GROUPS),
    options=(RANKINGS,),
    scaling="C multiplies the mean over queries of L; with one query it is C xi of problem (3)",
    source="Mohapatra et al. 2014, problem (3)",
    notes=(
        "rankings='all' (queries of 8 at most): all orders are constraints, as w sorts and is not known",
        "rankings='cutting_plane': those most violated, until the gap over all rankings closes",
        "R enters by the pairs of a positive and a negative alone: P = N = 2 has 14 rankings",
        "L bounds 1 - AP for the worst order of tied scores (M7)",
        "no bias: <1,c_R> = 0, a constant added to all scores changes nothing",
        "with queries a row of rankings joins one ranking of each; Delta and c_R are means",
    ),
)


@dataclass(frozen=True)
class ApCertificate(CutCertificate):
    """A `CutCertificate` whose cuts are rankings.

    Attributes
    ----------
    rankings : ndarray of shape (m, n)
        Inversions of the rankings that carry the weights.
    """

    rankings: Array = field(repr=False)


@dataclass(frozen=True)
class Data:
    """Checked arguments: X (n, d), the queries over its rows, and C."""

    X: Any
    queries: Queries
    C: float

    @cached_property
    def space(self) -> Space:
        """Products with X."""
        return Space(self.X)

    def scores(self, w: Array) -> Array:
        """X w in longdouble."""
        return self.space.values(w).astype(Real)

    def cuts(
        self, w: Array | None, inversions: Array | None, weights: ArrayLike | None
    ) -> tuple[Array, Array, float]:
        """Inversions, repaired weights and their violation; by default the worst ranking at w."""
        if inversions is None or weights is None:
            assert w is not None
            inversions, weights = self.queries.most_violated(self.scores(w))[1][None], [self.C]
        return (inversions, *check_weights(weights, len(inversions), self.C))

    def dual(self, inversions: Array, weights: Array, **more: Any) -> Dual:
        """A dual point."""
        return Dual(self.space, self.queries, self.C, inversions, weights, **more)


def check_data(X: Rows, y: ArrayLike, C: float, groups: ArrayLike | None = None) -> Data:
    """Validated arguments of an AP-SVM."""
    rows = check_examples(X)
    return Data(rows, check_queries(y, rows.shape[0], groups), BOX.check(C))


def check_given(w: ArrayLike | None, rankings: ArrayLike | None, weights: ArrayLike | None) -> None:
    """Refuse rankings without weights, weights without rankings, and nothing at all."""
    if (rankings is None) != (weights is None) or (w is None and rankings is None):
        raise InvalidParameterError(
            "weights" if weights is None else "rankings", None,
            "w, or rankings with their weights, or all three", "pass the model to be certified",
        )  # fmt: skip


def recover(
    X: Rows,
    y: ArrayLike,
    *,
    rankings: ArrayLike,
    weights: ArrayLike,
    groups: ArrayLike | None = None,
) -> Array:
    """The model w = -X' sum_t weights_t c_t, (d,), from inversions (m, n) and weights (m,)."""
    data = check_data(X, y, 1.0, groups)
    inversions = check_rankings(data.queries, rankings)
    alpha = check_vector("weights", weights, size=len(inversions)).astype(Real)
    return -data.space.pull(alpha @ data.queries.coefficients(inversions)).astype(float)


def primal(
    X: Rows, y: ArrayLike, *, w: ArrayLike, C: float, groups: ArrayLike | None = None
) -> float:
    """P(w); see `certificate`."""
    data = check_data(X, y, C, groups)
    w = check_vector("w", w, size=data.X.shape[1]).astype(Real)
    return float((w * w).sum() / 2 + data.C * data.queries.most_violated(data.scores(w))[0])


def dual(
    X: Rows,
    y: ArrayLike,
    *,
    rankings: ArrayLike,
    weights: ArrayLike,
    C: float,
    groups: ArrayLike | None = None,
) -> float:
    """D(alpha), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(X, y, C, groups)
    inversions = check_rankings(data.queries, rankings)
    alpha, violation = check_weights(weights, len(inversions), data.C)
    if outside(violation, len(inversions), data.C):
        return -np.inf
    return float(data.dual(inversions, alpha).lower()[0])


def certificate(
    X: Rows,
    y: ArrayLike,
    *,
    C: float,
    w: ArrayLike | None = None,
    rankings: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> ApCertificate:
    """Primal-dual gap of w and of weights on rankings, whoever computed them.

    Parameters
    ----------
    X : (n, d) array or scipy sparse matrix
        Examples.
    y : (n,) array
        Labels: booleans, 0/1 or -1/1.
    C : float
        Weight of the mean loss.
    w : (d,) array, optional
        Model; by default the one that the weights stand for.
    rankings : (m, n) array of int, optional
        Inversions; by default those of the most violated ranking at w.
    weights : (m,) array, optional
        Dual variables alpha >= 0 with sum C. They are clipped at 0 and scaled to that sum; how far
        they were from it is the ``violation``.
    groups : (n,) array, optional
        Identifier of each example's query; one query by default.

    Raises
    ------
    InvalidParameterError
        Naming the argument: also for inversions that belong to no ranking.
    """
    data = check_data(X, y, C, groups)
    check_given(w, rankings, weights)
    given = None if w is None else check_vector("w", w, size=data.X.shape[1])
    inversions = None if rankings is None else check_rankings(data.queries, rankings)
    return _certificate(data, given, inversions, weights)


def _certificate(
    data: Data, w: Array | None, inversions: Array | None, weights: ArrayLike | None
) -> ApCertificate:
    inversions, alpha, violation = data.cuts(w, inversions, weights)
    dual = data.dual(inversions, alpha)
    proof = dual.prove(dual.v if w is None else w.astype(Real))
    return ApCertificate.of_cuts(proof, dual, violation, rankings=inversions)


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(
    X: Rows, y: ArrayLike, *, C: float, groups: ArrayLike | None = None
) -> fenchel.Model:
    """The model as a norm and the largest of each query's cuts, one for every ranking."""
    return _master(check_data(X, y, C, groups)).whole()


def _master(data: Data) -> RankingMaster:
    unit = data.C * float(data.queries.most_violated(np.zeros(data.queries.n))[0])  # P(0)
    return RankingMaster(data.queries, data.space, data.C, unit)


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    """The master over all rankings, or over those that a cutting plane meets."""
    X, y, C, groups, how = take(given, SPEC.arguments, rankings="auto")
    data = check_data(X, y, C, groups)
    everything = wants_all(how, data.queries)
    master = _master(data)

    def prove(found: dict[str, Any]) -> Iterator[ApCertificate]:
        weights, inversions = master.joined(found["parts"])
        points = [None, found["w"]] if "w" in found else [None]  # the dual's own w may be better
        return (_certificate(data, w, inversions, weights) for w in points)

    if everything:
        master.add_all()
    return master.closed("ap_svm", operation, prove, master.separate)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``ap_svm.primal``: x is w (d,), dual the weights of ``certificate.rankings``."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``ap_svm.dual``: x is the weights (m,) of ``certificate.rankings``, dual is w."""
    return _canonicalize(given, "dual")


# ---- as it is written -----------------------------------------------------------------------


def _everything(arguments: dict[str, Any]) -> RankingMaster:
    X, y, C, groups, _ = take(arguments, SPEC.arguments, rankings="all")
    data = check_data(X, y, C, groups)
    wants_all("all", data.queries)
    return _master(data).listed()


problem_primal, problem_dual = (partial(written, _everything, side) for side in ("primal", "dual"))
