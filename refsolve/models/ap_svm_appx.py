"""AP-SVM-APPX: the AP loss of the difficult examples alone, the easy ones as hard constraints.

The easy examples are a mask. The bias b acts in their constraints only, and is free: rankings do
not see it. See `refsolve.models.ap_svm` for rankings and coefficients c_R.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve.errors import InvalidParameterError
from refsolve.models import ap_svm
from refsolve.models._ap_cuts import written
from refsolve.models._ap_easy import separator
from refsolve.models._ap_rankings import RankingMaster, check_classes, check_rankings, wants_all
from refsolve.models._data import check_examples
from refsolve.models._symbols import BOX, EASY, FREE, RANKINGS, RELEVANT, ROWS, take
from refsolve.oracle import ParametrizedProblem
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.ranking_model import Easy, Queries, Query
from refsolve.proofs.space import Rows
from refsolve.spec import LARGEST, Spec, Symbol, check_vector

SPEC = Spec(
    title="AP-SVM-APPX (AP loss of the difficult examples)",
    kind="models",
    formulas={
        "primal": (
            "P(w) = 1/2||w||^2 + C L(X_d w)\n"
            "subject to y_i (<x_i,w> + b) >= 1 for the easy examples, b free"
        ),
        "dual": (
            "D(alpha,mu) = sum_R alpha_R Delta(R) + sum_i mu_i - 1/2||u||^2,\n"
            "u = -X_d' sum_R alpha_R c_R + sum_i mu_i y_i x_i,\n"
            "alpha >= 0, sum_R alpha_R = C, mu >= 0, sum_i mu_i y_i = 0"
        ),
        "maps": "w = u",
        "gap": (
            "sum_R alpha_R (L(X_d w) - Delta(R) - <c_R,X_d w>)\n"
            "+ sum_i mu_i (y_i (<x_i,w> + b) - 1) + 1/2||w - u||^2 = P(w) - D(alpha,mu)"
        ),
        "infeasible": (
            "mu >= 0, sum mu = 1, sum mu_i y_i = 0 with r = sum mu_i y_i x_i: every feasible w has\n"
            "<r,w> >= 1, so none exists if r = 0, and none shorter than 1/||r||"
        ),
    },
    symbols=(BOX,),
    arguments=(ROWS, RELEVANT, EASY, BOX),
    options=(FREE, RANKINGS),
    scaling="C multiplies L of the difficult examples, as in problem (10)",
    source="Mohapatra et al. 2014, problem (10)",
    notes=(
        "M8: (10) prints > 1; one easy positive x = 1 without bias: 1/2 w^2 -> 1/2, never attained",
        "here >= 1; bias=False is (10) without b",
        "M8: the optimum does not bound the AP loss of all examples",
        "difficult examples of one class have no ranking: their L is 0",
        "easy examples of one class with a free b constrain nothing",
        "rankings and mu may be given for all n examples; the entries outside are 0",
    ),
)


@dataclass(frozen=True)
class AppxCertificate(ap_svm.ApCertificate):
    """An `ApCertificate`; the violation is also that of the constraints, in units of margins.

    Attributes
    ----------
    b : float
        Bias of the feasible point that P was taken at.
    mu : ndarray of shape (n_e,)
        Repaired multipliers of the easy examples, in the order of the rows.
    """

    b: float
    mu: Array = field(repr=False)


@dataclass(frozen=True)
class Data(ap_svm.Data):
    """Checked arguments: besides an AP-SVM's the easy examples, among all."""

    mask: Array
    easy: Easy


def check_data(X: Rows, y: ArrayLike, C: float, easy: ArrayLike, bias: bool = True) -> Data:
    """Validated arguments of problem (10)."""
    examples = check_examples(X)
    n = examples.shape[0]
    positive = check_classes(y, n)
    mask = np.asarray(easy)
    if mask.shape != (n,) or mask.dtype.kind != "b":
        raise InvalidParameterError("easy", easy, f"a mask of {n} booleans", "convert with bool")
    if not isinstance(bias, bool | np.bool_):
        raise InvalidParameterError("bias", bias, "True or False", "choose")
    items = np.flatnonzero(~mask)
    hard = positive[items]
    both = hard.any() and not hard.all()
    queries = Queries(n, (Query(items, hard),) if both else ())
    signs = np.where(mask, np.where(positive, Real(1), Real(-1)), Real(0))
    return Data(examples, queries, BOX.check(C), mask, Easy(signs, bool(bias)))


def certificate(
    X: Rows,
    y: ArrayLike,
    *,
    easy: ArrayLike,
    C: float,
    w: ArrayLike | None = None,
    b: float | None = None,
    rankings: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    mu: ArrayLike | None = None,
    bias: bool = True,
) -> AppxCertificate:
    """Primal-dual gap of (w, b) and of (alpha, mu), whoever computed them.

    Parameters
    ----------
    X, y, C
        As in `refsolve.models.ap_svm.certificate`; y may be of one class.
    easy : (n,) array of bool
        The examples that are constraints.
    w : (d,) array, optional
        Model, by default the u of the dual. An infeasible one is scaled up until the least margin
        is 1; if that cannot be, P and the gap are inf.
    b : float, optional
        Bias; by default the one that is best for w.
    rankings : (m, n) or (m, n_d) array of int, optional
        Inversions of the difficult examples; by default those most violated at w.
    weights : (m,) array, optional
        alpha, moved onto the simplex of size C.
    mu : (n,) or (n_e,) array, optional
        Multipliers of the easy examples, by default 0; clipped at 0, and the heavier class scaled
        down until both balance.
    bias : bool
        Whether there is a b.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    data = check_data(X, y, C, easy, bias)
    ap_svm.check_given(w, rankings, weights)
    if b is not None:
        b = Symbol("b", "bias", low=-LARGEST, high=LARGEST).check(b)
        if not bias and b != 0:
            raise InvalidParameterError("b", b, "no bias with bias=False", "drop b")
    given = None if w is None else check_vector("w", w, size=data.X.shape[1]).astype(Real)
    inversions = None
    if rankings is not None:
        inversions = check_rankings(data.queries, _spread("rankings", rankings, ~data.mask))
    multipliers = np.zeros(data.mask.size, Real)
    if mu is not None and data.mask.any():
        multipliers = check_vector("mu", _spread("mu", mu, data.mask)).astype(Real)
    return _certificate(data, given, b, inversions, weights, multipliers)


def _spread(name: str, value: ArrayLike, mask: Array) -> Array:
    """Entries over all n examples, from n or from those of the mask; 0 outside."""
    array = np.asarray(value)
    if array.ndim == 0 or array.shape[-1] not in (mask.size, mask.sum()):
        sizes = f"{mask.sum()} or {mask.size} entries in a row"
        raise InvalidParameterError(name, value, sizes, "make the sizes agree")
    if array.shape[-1] == mask.size:
        if array[..., ~mask].any():
            raise InvalidParameterError(name, value, "0 for the other examples", "check easy")
        return array
    out = np.zeros((*array.shape[:-1], mask.size), array.dtype)
    out[..., mask] = array
    return out


def _certificate(
    data: Data,
    w: Array | None,
    b: float | None,
    inversions: Array | None,
    weights: ArrayLike | None,
    multipliers: Array,
) -> AppxCertificate:
    inversions, alpha, off = data.cuts(w, inversions, weights)
    dual = data.dual(inversions, alpha, easy=data.easy, mu=multipliers)
    violation = max(off, float(-multipliers.min(initial=0)))
    if data.easy.free:
        apart = (np.maximum(0, multipliers) * data.easy.signs).sum()
        violation = max(violation, abs(float(apart)))
    start = dual.v if w is None else w
    proof = dual.prove(start, b)
    if w is not None or np.isinf(proof.short):
        violation = max(violation, proof.short)
    moved = float(np.sqrt(((proof.w - start) ** 2).sum()))
    return AppxCertificate.of_cuts(
        proof,
        dual,
        violation,
        moved,
        rankings=inversions,
        b=float(proof.b),
        mu=dual.mu[data.mask].astype(float),
    )


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(
    X: Rows, y: ArrayLike, *, easy: ArrayLike, C: float, bias: bool = True
) -> fenchel.Model:
    """The model as a norm, the largest cut of all rankings, and the easy examples' margins."""
    return _master(check_data(X, y, C, easy, bias)).whole()


def _master(data: Data) -> RankingMaster:
    rows, labels = (v[data.mask].astype(float) for v in (data.space.dense(), data.easy.signs))
    w = separator(rows, Easy(labels, data.easy.free))
    unit = float((w * w).sum() / 2 + data.C * data.queries.most_violated(data.scores(w))[0])
    hard: dict[str, Any] = {}
    if data.easy.binding:
        free = int(data.easy.free)
        hard = {
            "free": free,
            "hard": (np.pad(rows, ((0, 0), (0, free)), constant_values=1), labels),
        }
    return RankingMaster(data.queries, data.space, data.C, unit or data.C, **hard)


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    X, y, easy, C, bias, how = take(given, SPEC.arguments, bias=True, rankings="auto")
    data = check_data(X, y, C, easy, bias)
    everything = wants_all(how, data.queries)
    master = _master(data)

    def prove(found: dict[str, Any]) -> Iterator[AppxCertificate]:
        weights, inversions = master.joined(found["parts"])
        mu = np.zeros(data.mask.size, Real)
        if data.easy.binding:
            mu[data.mask] = found["mu"]
        points = [(None, None)]
        if "w" in found:
            points += [(found["w"].astype(Real), None), (found["w"].astype(Real), found["b"])]
        return (_certificate(data, *p, inversions, weights, mu) for p in points)

    if everything:
        master.add_all()
    return master.closed("ap_svm_appx", operation, prove, master.separate)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``ap_svm_appx.primal``: x is w (d,); b, mu and rankings in the certificate."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``ap_svm_appx.dual``: x is alpha (m,); mu and rankings in the certificate."""
    return _canonicalize(given, "dual")


# ---- as it is written -----------------------------------------------------------------------


def _everything(arguments: dict[str, Any]) -> RankingMaster:
    X, y, easy, C, bias, _ = take(arguments, SPEC.arguments, bias=True, rankings="all")
    data = check_data(X, y, C, easy, bias)
    wants_all("all", data.queries)
    return _master(data).listed()


problem_primal, problem_dual = (partial(written, _everything, side) for side in ("primal", "dual"))
