"""Latent AP-SVM: bags of candidates, each bag scored by its best one, lowered by convex steps.

The score of a bag is the maximum of <x_r,w> over its rows r. L does not fall in the scores of the
negatives and does not rise in those of the positives: for negatives the maximum stays inside L,
which is convex; for positives a step fixes a row, which bounds L from above.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve.errors import InvalidParameterError
from refsolve.models import ap_svm
from refsolve.models._ap_cuts import Finish, Master, check_weights
from refsolve.models._ap_descent import DescentCertificate, descend
from refsolve.models._ap_rankings import check_queries, check_rankings
from refsolve.models._data import check_examples
from refsolve.models._symbols import BAGS, BOX, POSITIVE, ROWS, START, take
from refsolve.oracle import Answer, ParametrizedProblem
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.space import Rows
from refsolve.spec import Spec, check_vector

SPEC = Spec(
    title="Latent AP-SVM (bags of candidates)",
    kind="models",
    formulas={
        "primal": "J(w) = 1/2||w||^2 + C L(s),  s_i = max over the rows r of bag i of <x_r,w>",
        "step": (
            "P(w) = 1/2||w||^2 + C L(s) with s_i = <x_{h_i},w> for positive bags, h fixed;\n"
            "P >= J, equal where h_i attains the maximum"
        ),
        "dual of a step": (
            "D(alpha) = sum_t alpha_t Delta(R_t) - 1/2||sum_t alpha_t g_t||^2, alpha >= 0, sum = C,\n"
            "g_t = sum_i c_{R_t,i} x_{r_ti}: a cut is a ranking and a row r_ti for each bag, h_i if positive"
        ),
        "gap": (
            "sum_t alpha_t (L(s) - Delta(R_t) - <g_t,w>) + 1/2||w + sum_t alpha_t g_t||^2\n"
            "= P(w) - D(alpha);  slack = P(w) - J(w)"
        ),
    },
    symbols=(BOX,),
    arguments=(ROWS, BAGS, POSITIVE, BOX),
    options=(START,),
    scaling="C multiplies L over the bags, one query",
    source="Mohapatra et al. 2014, section 4.2; Behl, Jawahar and Kumar 2014",
    notes=(
        "not convex: the certificate proves the last convex step, and claims no lower bound on J",
        "slack 0: neither other rows for the positives at this w nor another w for these rows is better",
        "J never rises; without a start the positives begin with their first row",
    ),
)
operations = ("primal",)


@dataclass(frozen=True)
class LatentCertificate(DescentCertificate):
    """A `DescentCertificate` over rankings of bags.

    Attributes
    ----------
    rankings, candidates : ndarray of shape (m, B)
        Inversions and rows of X of the cuts that carry the weights.
    chosen : ndarray of shape (B,)
        Rows that the step fixed for the positive bags; for the negative ones, the best at w.
    """

    rankings: Array = field(repr=False)
    candidates: Array = field(repr=False)
    chosen: Array = field(repr=False)


@dataclass(frozen=True)
class Data(ap_svm.Data):
    """Checked arguments; bags sorted by their names, ``order`` lists rows bag by bag."""

    bag: Array
    order: Array
    starts: Array
    positive: Array

    def best(self, w: Array) -> Array:
        """The first best row of each bag, (B,)."""
        scores = self.scores(w)[self.order]
        top = np.repeat(
            np.maximum.reduceat(scores, self.starts), np.diff([*self.starts, len(scores)])
        )
        hits = np.flatnonzero(scores == top)
        return self.order[hits[np.searchsorted(hits, self.starts)]]

    def seen(self, w: Array, chosen: Array) -> Array:
        """Rows by which a step scores the bags: fixed for positives, the best for negatives."""
        return np.where(self.positive, chosen, self.best(w))

    def pull(self, inversions: Array, candidates: Array) -> Array:
        """The vector g_t of one cut, (d,)."""
        full = np.zeros(len(self.order), Real)
        full[candidates] = self.queries.coefficients(inversions)
        return self.space.pull(full)


def check_data(X: Rows, bags: ArrayLike, y: ArrayLike, C: float) -> Data:
    """Validated arguments: rows X (n, d), the bag of each row, a label for each bag."""
    rows = check_examples(X)
    names = np.asarray(bags)
    if names.shape != (rows.shape[0],) or names.dtype.kind not in "iuUS":
        raise InvalidParameterError(
            "bags", bags, f"{rows.shape[0]} integers or strings", "name the bag of every row of X"
        )
    values, bag = np.unique(names, return_inverse=True)
    if np.shape(y) != (values.size,):
        raise InvalidParameterError(
            "y", y, f"{values.size} labels, one for each bag", "order them by the names of the bags"
        )
    queries = check_queries(y, values.size)
    order = np.argsort(bag, kind="stable")
    starts = np.searchsorted(bag[order], np.arange(values.size))
    return Data(rows, queries, BOX.check(C), bag, order, starts, queries.queries[0].positive)


def primal(X: Rows, bags: ArrayLike, y: ArrayLike, *, w: ArrayLike, C: float) -> float:
    """J(w)."""
    data = check_data(X, bags, y, C)
    return float(_objective(data, check_vector("w", w, size=data.X.shape[1]).astype(Real)))


def _objective(data: Data, w: Array) -> Real:
    scores = data.scores(w)[data.best(w)]
    return (w * w).sum() / 2 + data.C * data.queries.most_violated(scores)[0]


def certificate(
    X: Rows,
    bags: ArrayLike,
    y: ArrayLike,
    *,
    C: float,
    w: ArrayLike,
    chosen: ArrayLike | None = None,
    rankings: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> LatentCertificate:
    """What the convex step of fixed rows proves about w.

    Parameters
    ----------
    X : (n, d) array or scipy sparse matrix
        Candidates of all bags.
    bags : (n,) array of int or str
        Bag of each row; the bags are ordered by these names.
    y : (B,) array
        Labels of the bags.
    C : float
    w : (d,) array
        Model.
    chosen : (B,) array of int, optional
        Row of X fixed for each bag (those of negative bags are not used); by default the best at w.
    rankings : (m, B) array of int, optional
        Inversions; by default those most violated at w.
    candidates : (m, B) array of int, optional
        Row of each bag in each cut. Those of positive bags with inversions must be ``chosen``.
    weights : (m,) array, optional
        alpha, moved onto the simplex of size C.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    data = check_data(X, bags, y, C)
    w = check_vector("w", w, size=data.X.shape[1]).astype(Real)
    best = data.best(w)
    fixed = best if chosen is None else _check_rows("chosen", [chosen], data)[0]
    cut = (rankings, candidates, weights)
    if len({part is None for part in cut}) > 1:
        expected = "rankings, candidates and weights, or none"
        raise InvalidParameterError("rankings", rankings, expected, "pass all three")
    if rankings is None:
        seen = data.seen(w, fixed)
        rankings = data.queries.most_violated(data.scores(w)[seen])[1][None]
        candidates, weights = seen[None], [data.C]
    inversions = check_rankings(data.queries, rankings)
    rows = _check_rows("candidates", candidates, data)
    used = data.positive & (inversions > 0)  # rows of weight 0 may be any
    if rows.shape != inversions.shape or (used & (rows != fixed)).any():
        raise InvalidParameterError(
            "candidates", candidates, f"{len(inversions)} rows, those of positive bags as chosen",
            "pass the rows by which each cut scores the bags",
        )  # fmt: skip
    return _certificate(data, w, fixed, inversions, rows, weights)


def _check_rows(name: str, value: object, data: Data) -> Array:
    rows = np.asarray(value)
    n, B = data.X.shape[0], data.positive.size
    fits = rows.ndim == 2 and rows.shape[1] == B and rows.dtype.kind in "iu"
    if not fits or rows.min() < 0 or rows.max() >= n or (data.bag[rows] != np.arange(B)).any():
        raise InvalidParameterError(
            name, value, f"integer rows of X, one of each of the {B} bags", "index the rows of X"
        )
    return rows.astype(np.intp)


def _certificate(
    data: Data,
    w: Array | None,
    chosen: Array,
    inversions: Array,
    candidates: Array,
    weights: ArrayLike | None,
) -> LatentCertificate:
    alpha, violation = check_weights(weights, len(inversions), data.C)
    dual = data.dual(inversions, alpha, rows=candidates)
    point = dual.v if w is None else w
    seen = data.seen(point, chosen)
    proof = dual.prove(point, seen=seen)
    primal = float(proof.primal)
    objective = min(float(_objective(data, point)), primal)
    return LatentCertificate.of_cuts(
        proof,
        dual,
        violation,
        objective=objective,
        slack=primal - objective,
        rankings=inversions,
        candidates=candidates,
        chosen=seen,
    )


# ---- CVXPY ----------------------------------------------------------------------------------


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``latent_ap_svm.primal``: x is w (d,) of the last step, value J(w).

    ``start`` (d,) is the w whose best rows are the positives' first; each step is a cutting plane.
    """
    X, bags, y, C, start = take(given, SPEC.arguments, start=None)
    data = check_data(X, bags, y, C)
    B, d = data.positive.size, data.X.shape[1]
    unit = data.C * float(data.queries.most_violated(np.zeros(B))[0])  # J(0)

    def step(chosen: Array) -> tuple[Answer, Master, Finish]:
        master = Master(data.C, 1, d, unit)

        def add(w: Array, _: float = 0.0) -> bool:
            seen = data.seen(w, chosen)
            inversions = data.queries.most_violated(data.scores(w)[seen])[1]
            offset = data.queries.delta(inversions[None])[0]
            tag = np.concatenate([inversions, seen])
            return master.add(0, tag, offset, data.pull(inversions, seen))

        def finish(found: dict[str, Any]) -> Answer:
            tags = np.array(master.tags[0])
            cuts = tags[:, :B], tags[:, B:], found["parts"][0] * data.C
            points = (None, found["w"].astype(Real))
            proofs = [_certificate(data, w, chosen, *cuts) for w in points]
            proof = min(proofs, key=lambda proof: proof.gap)
            return Answer(proof.w, proof.objective, proof.weights, proof)

        perfect = np.concatenate([np.zeros(B, np.intp), data.seen(np.zeros(d), chosen)])
        master.add(0, perfect, 0.0, np.zeros(d))  # constant: it keeps the master bounded
        add(np.zeros(d))
        return master.close("latent_ap_svm.primal", finish, add), master, finish

    rows, first = data.order[data.starts], None
    if start is not None:
        start = check_vector("start", start, size=d).astype(Real)
        rows, first = data.best(start), float(_objective(data, start))
    # the state is the positives' rows; those of negatives are never fixed
    fixed = np.where(data.positive, rows, data.order[data.starts])
    return descend(fixed, first, unit, step, lambda w: np.where(data.positive, data.best(w), fixed))
