"""Checked data of a multiclass risk, and the maps between scores, margins, W and A."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import catalogue
from refsolve.errors import MISSING, InvalidGramError, InvalidParameterError
from refsolve.proofs import erm, families
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.loss import Loss, module_of
from refsolve.proofs.space import Rows, Sparse
from refsolve.spec import Symbol, check_matrix, check_vector, refuse_masked

LAM = Symbol("lam", "weight lambda of the regulariser; give lam or C", low=0, low_open=True)
BOX = Symbol("C", "weight of the sum of the losses, 1/(lambda n)", low=0, low_open=True)


@dataclass(frozen=True)
class Data:
    """One empirical risk: arrays are float64 and checked, rows are examples."""

    loss: Loss
    y: Array
    X: Any
    K: Array | None
    lam: float
    C: float
    costs: Array
    weight: Array
    m: int

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.y.shape[0]

    def margins(self, scores: Array) -> Array:
        """Z (n, d) from scores (n, m), d = m - 1 for the multiclass family, m for the others."""
        return self.loss.margins(scores, self.y, self.costs)

    def blocks(self, x: Array) -> Array:
        """A' (n, m) from x (n, d): a_i = w_i C block(x_i)."""
        return self.loss.block(x, self.y) * (self.C * self.weight)[:, None]

    def row(self, i: int) -> tuple[Any, ...]:
        """What the declaration's functions take of y for example i."""
        return (self.y[i],) if self.loss.labelled else ()

    def matrix(self, i: int) -> Array:
        """M' (m, d) of example i: z_i = f_i M' + c_i."""
        return self.loss.family.matrix(self.m, self.y[i])

    def dual_point(self, A: ArrayLike) -> tuple[Array, float]:
        """Feasible x (n, m-1) near to A (n, m), and by how much A violated the constraints."""
        a = check_matrix("A", A, (self.n, self.m)).astype(np.longdouble)
        mass = (self.C * self.weight)[:, None]
        raw = self.loss.family.coordinates(a, self.y)
        scaled = raw / np.where(mass > 0, mass, 1)
        excess = np.where(mass[:, 0] > 0, mass[:, 0] * self.loss.violation(scaled), 0)
        lost = np.where(mass > 0, 0, abs(a))  # an example of weight 0 has no dual mass
        violation = max(excess.max(), self.loss.family.unbalance(a).max(), lost.max())
        return np.where(mass > 0, self.loss.repair(scaled), 0), float(violation)

    def model(self, W: ArrayLike | None, B: ArrayLike | None) -> Array:
        """W (m, d), or B'X; with a Gram matrix B' (m, n)."""
        if W is not None and B is not None:
            raise InvalidParameterError("B", B, "W or B, not both", "drop one")
        if W is not None:
            if self.X is None:
                raise InvalidParameterError("W", W, "B (n, m) with a Gram matrix", "pass B=...")
            return check_matrix("W", W, (self.m, self.X.shape[1])).astype(Real)
        if B is None:
            raise InvalidParameterError("W", None, "a model", "pass W=... or B=...")
        B = np.asarray(B, Real)
        check_matrix("B", B, (self.n, self.m))
        return B.T if self.K is not None else np.asarray(self.X.T @ B, Real).T

    @cached_property
    def problem(self) -> erm.Problem:
        """The risk over lambda, as its proofs take it."""

        def at(rows: slice) -> tuple[Loss, Array]:
            loss = Loss(self.loss.object_name, self.loss.params, self.loss.d, self.y[rows])
            return loss, self.costs[rows]

        return erm.Problem(at, self.y, self.C * self.weight, self.m, self.X, self.K)

    def single(self, i: int) -> Loss:
        """The loss of example i."""
        return Loss(self.loss.object_name, self.loss.params, self.loss.d, self.y[i])

    def factor(self) -> Array:
        """G with GG' = K: X itself, or U sqrt(eigenvalues)."""
        if self.K is None:
            return self.X.toarray() if hasattr(self.X, "toarray") else self.X
        roots, vectors = self._spectrum
        return vectors * roots

    def expansion(self, W: Array) -> Array:
        """B (n, m) with B'G = W for W (m, d) in the row space of `factor`."""
        roots, vectors = self._spectrum
        return (vectors / np.where(roots > 0, roots, 1)) @ W.T

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        return spectrum(np.asarray(self.K), 1e-13)


def check_data(loss: str, y: ArrayLike | Sparse, given: dict[str, Any]) -> Data:
    """Validate the arguments of a risk; what is left over are the loss's parameters."""
    rest = dict(given)
    X, K, n = check_features("X", rest.pop("X", None), "K", rest.pop("K", None))
    family = families.of(_load_loss(loss))
    y, m = _check_labels(family, y, n, rest.pop("n_classes", None))
    costs = rest.pop("costs", None)
    lam, box = rest.pop("lam", None), rest.pop("C", None)
    if (lam is None) == (box is None):
        raise InvalidParameterError("lam", lam, "either lam or C = 1/(lam n)", "pass exactly one")
    if box is None:
        lam = LAM.check(lam)
        box = 1 / (lam * n)
    else:
        box = BOX.check(box)
        lam = 1 / (box * n)
    weight = rest.pop("sample_weight", None)
    weight = np.ones(n) if weight is None else check_vector("sample_weight", weight, size=n)
    if weight.min() < 0:
        raise InvalidParameterError(
            "sample_weight", float(weight.min()), "weights >= 0", "drop or lift negative weights"
        )
    declared = Loss(loss, rest, family.size(m), y)
    costs = _check_costs(declared, costs, y, m)
    return Data(declared, y, X, K, lam, box, costs, weight, m)


def check_features(
    name: str, X: Rows, gram_name: str, K: ArrayLike | None
) -> tuple[Any, Array | None, int]:
    """Exactly one of features and Gram matrix, and their number of rows."""
    if (X is None) == (K is None):
        expected = f"either {name} (n, d) or {gram_name} (n, n)"
        given = MISSING if X is None else X
        raise InvalidParameterError(name, given, expected, "pass exactly one")
    if X is not None:
        rows = check_examples(X, name)
        return rows, None, rows.shape[0]
    K = check_gram(K, gram_name)
    return None, K, len(K)


def spectrum(gram: Array, least: float) -> tuple[Array, Array]:
    """Roots of the eigenvalues above a part of the largest, and their vectors."""
    values, vectors = np.linalg.eigh(gram)
    keep = values > least * max(values.max(), 0)
    if not keep.any():  # K = 0: one direction of length 0 keeps the shapes
        return np.zeros(1), np.zeros((len(values), 1))
    return np.sqrt(values[keep]), vectors[:, keep]


def check_gram(K: object, name: str = "K") -> Array:
    """A symmetric positive semidefinite matrix, symmetrised, or `InvalidGramError`."""
    gram = check_matrix(name, K, (None, None))
    if gram.shape[0] != gram.shape[1]:
        raise InvalidGramError(name, gram, "a square matrix", "pass k(x_i, x_j) over the examples")
    size = abs(gram).max()
    skew = abs(gram - gram.T).max()
    if skew > 1e-9 * size:
        raise InvalidGramError(
            name, gram, f"a symmetric matrix; |K - K'| reaches {skew:.2g}", "use (K + K')/2"
        )
    gram = (gram + gram.T) / 2
    try:  # a tenth of the time of eigenvalues
        np.linalg.cholesky(gram + (1e-10 * len(gram) * size or 1.0) * np.eye(len(gram)))
    except np.linalg.LinAlgError:
        low = float(np.linalg.eigvalsh(gram)[0])
        raise InvalidGramError(
            name, gram, f"a positive semidefinite matrix; its least eigenvalue is {low:.3g}",
            "use a positive semidefinite kernel, or add that much to the diagonal",
        ) from None  # fmt: skip
    return gram


def check_examples(X: Rows, name: str = "X") -> Any:
    """A finite, non-empty matrix of examples, sparse by rows or dense."""
    if X is None or not hasattr(X, "tocsr"):
        return check_matrix(name, X, (None, None))
    rows = X.tocsr().astype(float)
    if rows.shape[0] == 0 or rows.shape[1] == 0 or not np.isfinite(rows.data).all():
        raise InvalidParameterError(
            name, rows, "a finite, non-empty matrix", "replace or drop NaN and inf"
        )
    return rows


def _load_loss(object_name: str) -> Any:
    module = module_of(object_name)
    families.of(module)  # refuses a loss over rankings
    if "sdca_update" not in catalogue.operations(object_name):
        raise InvalidParameterError("loss", object_name, "a convex loss", "train by convex steps")
    return module


def _check_labels(
    family: families.Family, y: ArrayLike | Sparse, n: int, m: int | None
) -> tuple[Array, int]:
    if family.name == "multilabel":
        return _check_indicators(family, y, n, m)
    refuse_masked("y", y)
    array = np.asarray(y)
    if array.ndim != 1 or array.size != n or array.dtype.kind not in "iu":
        raise InvalidParameterError(
            "y", y, f"{n} integer class indices", "encode the labels as 0..m-1"
        )
    m = int(array.max()) + 1 if m is None else Symbol("n_classes", "", "integer", low=2).check(m)
    if m < 2 or array.min() < 0 or array.max() >= m:
        raise InvalidParameterError(
            "y", f"indices {array.min()}..{array.max()}", f"0..{max(m, 2) - 1}, at least two classes",
            "encode the labels as 0..m-1, or pass n_classes=...",
        )  # fmt: skip
    return array.astype(np.intp), m


def _check_indicators(
    family: families.Family, y: ArrayLike | Sparse, n: int, m: int | None
) -> tuple[Array, int]:
    """A 0/1 matrix (n, m), dense or scipy sparse."""
    array = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    expected = f"a 0/1 indicator matrix of {n} rows and at least two columns"
    if array.ndim != 2 or array.shape[0] != n or array.shape[1] < 2:
        raise InvalidParameterError("y", y, expected, "binarise the labels, one column a class")
    if m is not None and m != array.shape[1]:
        raise InvalidParameterError(
            "n_classes", m, f"the columns of y, {array.shape[1]}", "drop n_classes"
        )
    rows = [family.check_label(row, array.shape[1]) for row in array]
    return np.array(rows), array.shape[1]


def _check_costs(loss: Loss, costs: ArrayLike | None, y: Array, m: int) -> Array:
    """Costs over the coordinates of x, (n, d), from (m,) or (n, m).

    In the multiclass family entries at y_i must be 0, or are not used if one row serves all.
    """
    n = y.shape[0]
    if costs is None:
        if loss.labelled:
            return loss.family.default_costs(loss.default_cost, y, loss.d)
        return np.full((n, loss.d), loss.default_cost)
    if np.ndim(costs) == 1:
        full = np.tile(check_vector("costs", costs, size=m), (n, 1))
    else:
        full = check_matrix("costs", costs, (n, m))
    if loss.family.name != "multiclass":
        return full
    if np.ndim(costs) != 1:
        own = full[np.arange(n), y]
        if own.any():
            row = int(np.flatnonzero(own)[0])
            raise InvalidParameterError(
                "costs", f"{own[row]} at the ground truth of row {row}", "costs[i, y_i] = 0",
                "set those entries to 0",
            )  # fmt: skip
    return families.others(full, y)
