"""Recall at k by a structural SVM: a quadratic plus the largest of a cut for every set of k examples.

The slack xi lies above 0 and above Delta(T) + 2 (sum_T s - sum_pos s) for every set T of k examples,
Delta(T) = 1 - |T and pos|/P: the labels +-1 with the map Psi(X, y) = sum_i y_i x_i. The dual has a weight
for every set.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve._ranking import check_relevance
from refsolve.canonicalize import ParametrizedProblem
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_cuts import Master, written
from refsolve.models._ap_rankings import check_classes
from refsolve.models._data import check_examples
from refsolve.models._symbols import BOX, RELEVANT, ROWS, take
from refsolve.predicted_sets import Problem
from refsolve.proofs.certificate import Array, Real, candidate
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import Rows, Space
from refsolve.spec import Spec, Symbol

SIZE = Symbol("k", "size of the predicted sets, below n", "integer", low=1)

SPEC = Spec(
    title="Recall at k",
    kind="models",
    formulas={
        "primal": (
            "P(w) = 1/2||w||^2 + C L(Xw), L(s) = max(0, max_T Delta(T) + 2 (sum_T s - sum_pos s)),\n"
            "T over the sets of k examples, Delta(T) = 1 - |T and pos|/P"
        ),
        "dual": (
            "D(lambda) = sum_T lambda_T Delta(T) - 1/2||v||^2, v = -2 sum_T lambda_T X'(1_T - 1_pos),\n"
            "lambda >= 0, sum_T lambda_T <= C"
        ),
        "maps": "w = v",
        "gap": (
            "sum_T lambda_T (L(s) - Delta(T) - 2 (sum_T s - sum_pos s)) + (C - sum_T lambda_T) L(s)\n"
            "+ 1/2||w - v||^2 = P(w) - D(lambda), every term >= 0"
        ),
    },
    symbols=(BOX, SIZE),
    arguments=(ROWS, RELEVANT, BOX, SIZE),
    scaling="C multiplies the loss, one number in [0, 1] at w = 0",
    source="Joachims 2005, A Support Vector Method for Multivariate Performance Measures",
    notes=(
        "k = P: L bounds 1 - recall at k, and a constant added to all scores changes nothing",
        "k != P: sums over sets of different sizes are compared, and L bounds nothing: see the lesson",
        "few sets: all of them are cuts; many: the most violated, until the gap over all closes",
    ),
)
#: Sets up to which all are cuts.
FEW = 100
#: Sets that are written down at most.
MOST = 10_000


@dataclass(frozen=True)
class RecallCertificate(ModelCertificate):
    """A `ModelCertificate` with the residuals of the sets and, last, of the bound xi >= 0.

    Attributes
    ----------
    w : ndarray of shape (d,)
        The point that P was taken at.
    sets : ndarray of bool, shape (m, n)
    weights : ndarray of shape (m,)
        The repaired lambda.
    """

    w: Array = field(repr=False)
    sets: Array = field(repr=False)
    weights: Array = field(repr=False)

    @property
    def named(self) -> dict[str, Any]:
        """The model, and the weights of the sets as alpha."""
        return super().named | {"alpha": self.weights}


class Data(Problem):
    """One checked instance."""

    def certify(self, w: Array | None, sets: Array, weights: Array) -> RecallCertificate:
        """Certificate of weighted sets with any w, or with theirs."""
        inside, off = self.repair(weights.astype(Real))
        w = self.pull(sets, inside) if w is None else w.astype(Real)
        proof = self.prove(w, sets, inside)
        found: dict[str, Any] = {
            "w": w.astype(float),
            "sets": sets,
            "weights": inside.astype(float),
        }
        return RecallCertificate.of(proof, off, **found)


def check_data(X: Rows, y: ArrayLike, C: float, k: int) -> Data:
    """Validated arguments."""
    rows = check_examples(X)
    up = check_relevance(check_classes(y, rows.shape[0]))
    k = SIZE.check(k)
    if k >= len(up):
        raise InvalidParameterError("k", k, f"1 <= k < n = {len(up)}", "lower k")
    return Data(Space(rows), up, BOX.check(C), k)


def check_sets(data: Data, sets: ArrayLike) -> Array:
    """Sets (m, n) of k examples each."""
    array = np.asarray(sets)
    n = len(data.up)
    sound = array.dtype == bool and array.ndim == 2 and array.shape[1] == n
    if not sound or not (array.sum(axis=1) == data.k).all():
        raise InvalidParameterError(
            "sets",
            sets,
            f"booleans (m, {n}) with {data.k} True in each row",
            "pass masks of the sets",
        )
    return array


def certificate(
    X: Rows, y: ArrayLike, *, C: float, k: int, sets: ArrayLike, weights: ArrayLike,
    w: ArrayLike | None = None,
) -> RecallCertificate:  # fmt: skip
    """Primal-dual gap of w and of weights on sets, whoever computed them.

    Parameters
    ----------
    X : (n, d) array or scipy sparse matrix
    y : (n,) array
        Labels: booleans, 0/1 or -1/1; at least one of each.
    C : float
        Weight of the loss.
    k : int
        Size of the sets, 1 <= k < n.
    sets : (m, n) array of bool
    weights : (m,) array
        lambda >= 0 with sum <= C. They are clipped at 0 and scaled down to that sum; how far they
        were from it is the ``violation``.
    w : (d,) array, optional
        Model; by default the one that the weights stand for.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    data = check_data(X, y, C, k)
    masks = check_sets(data, sets)
    point = None if w is None else candidate("w", w, data.space.width)
    lam = candidate("weights", weights, len(masks)) if len(masks) else np.zeros(0)
    return data.certify(point, masks, lam)


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(X: Rows, y: ArrayLike, *, C: float, k: int) -> fenchel.Model:
    """The model as a norm and the largest of 0 and a cut for every set."""
    data = check_data(X, y, C, k)
    return _master(data, everything=True).declared()


def _master(data: Data, everything: bool) -> Master:
    d, n = data.space.width, len(data.up)
    master = Master(data.C, 1, d, float(data.value(np.zeros(d, Real))))
    master.add(0, np.zeros(n, bool), 0.0, np.zeros(d))
    if everything:
        for members in itertools.combinations(range(n), data.k):
            _add(data, master, np.isin(np.arange(n), members))
    return master


def _add(data: Data, master: Master, members: Array) -> bool:
    row = data.space.pull(data.coefficients(members[None])[0])
    return master.add(0, members, data.offsets(members[None])[0], row)


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    """The master over all sets, or over those that a cutting plane meets."""
    data = check_data(*take(given, SPEC.arguments))
    master = _master(data, comb(len(data.up), data.k) <= FEW)

    def separate(w: Array, b: float) -> bool:
        return _add(data, master, data.worst(data.space.values(w).astype(Real))[1])

    def prove(found: dict[str, Any]) -> Iterator[RecallCertificate]:
        every = np.array(master.tags[0])
        own = every.any(axis=1)  # without the slack's bound
        weights = (data.C * found["parts"][0])[own]
        points = [None, found["w"]] if "w" in found else [None]
        return (data.certify(w, every[own], weights) for w in points)

    return master.closed("recall_at_k", operation, prove, separate)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``recall_at_k.primal``: x is w (d,), dual the weights of ``certificate.sets``."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``recall_at_k.dual``: x is the weights of ``certificate.sets``, dual is w."""
    return _canonicalize(given, "dual")


# ---- as it is written -----------------------------------------------------------------------


def _everything(arguments: dict[str, Any]) -> Master:
    data = check_data(*take(arguments, SPEC.arguments))
    if (sets := comb(len(data.up), data.k)) > MOST:
        raise InvalidParameterError(
            "k", f"{data.k} of {len(data.up)} examples", f"at most {MOST} sets, not {sets:.3g}",
            "take fewer examples; refsolve.solve adds the most violated sets one by one",
        )  # fmt: skip
    return _master(data, everything=True)


problem_primal, problem_dual = (partial(written, _everything, side) for side in ("primal", "dual"))
