"""SVM+ with linear functions as a hard-margin SVM on longer rows; what both losses share.

With u = (a multiple of) the parameters of f and g both losses take the form

min 1/2 ||u||^2 + <c, v> + 1/2 sum_i k_i e_i^2
    y_i (x_i'w + b) + g_i + e_i >= h1_i,   g_i + e_i >= h2_i (if slacks must not be negative)

where g_i is linear in u and v, the free variables (b, and rho where nobody penalises it), and
e_i = 0 unless there are own slacks. Rows are made for the working set only; X and Z stay as they
came, dense or CSR, and are centred by arithmetic where the problem allows it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast.solvers.cuts import Product
from fast.solvers.rows import is_sparse, squared_norms
from fast.svm_plus.formulas import Examples


@dataclass
class Model:
    """f(x) = w'x + b, g(z) = v'z + rho, and P at this feasible point."""

    w: np.ndarray
    b: float
    v: np.ndarray
    rho: float
    primal: float


@dataclass
class Bound:
    """Feasible multipliers alpha, beta (n,) and D there."""

    alpha: np.ndarray
    beta: np.ndarray
    dual: float


@dataclass
class View:
    """A primal point seen from all rows: what it violates, and the feasible model made of it."""

    violation: np.ndarray  # (n,) of the margin rows
    violation_slack: np.ndarray | None  # (n,) of the rows g + e >= h2
    model: Model


class SVMPlusData(Examples):
    """X, Z, y and the weights of the examples that count (omega_i > 0).

    Parameters
    ----------
    X, Z : (n, d), (n, s) arrays or CSR, float32 or float64
    y : (n,) float64, -1 or 1
    omega : (n,) float64, positive
    C, lam : float
    nonneg : bool
        Keep xi >= 0.
    delta : (n,) array or float
        Own slacks: sum lam/(2 delta_i) (xi_i - g(z_i))^2 is paid; 0 for none.
    signed : bool
        y_i g(z_i) in the place of g(z_i).
    """

    def __init__(
        self, X: Any, y: np.ndarray, Z: Any, omega: np.ndarray, C: float, lam: float,
        nonneg: bool, delta: Any, signed: bool = False,
    ) -> None:  # fmt: skip
        self.price_examples(y, C * omega, lam, delta, nonneg, signed)
        self.X, self.Z, self.omega, self.C, self.d = X, Z, omega, C, X.shape[1]
        self.products_x, self.products_z = Product(X), Product(Z)
        self.mean_x = self.products_x.gradients(np.full(self.n, 1.0 / self.n))

    def relabel(self, y: np.ndarray) -> None:
        """Take other labels."""
        self.y, self.positive = y, y > 0.0

    def spread(self) -> float:
        """Root mean square distance of the x_i from their mean."""
        squares = float(squared_norms(self.X).mean()) - float(self.mean_x @ self.mean_x)
        return float(np.sqrt(max(squares, 0.0)))

    # What a loss adds: the unknowns of g and of the whole problem, right-hand sides of both families
    # of rows, prices of the free variables and of own slacks.
    p_slack: int
    size: int
    h1: np.ndarray
    h2: np.ndarray
    c: np.ndarray
    k: np.ndarray

    def slack_rows(self, which: np.ndarray) -> np.ndarray:
        """What g adds to the rows ``which``."""
        raise NotImplementedError

    def view(self, u: np.ndarray, free: np.ndarray) -> View:
        """A point of the working set's problem, seen from all rows."""
        raise NotImplementedError

    def bound(self, alpha: np.ndarray, beta: np.ndarray) -> Bound:
        """Feasible multipliers near these, with D."""
        raise NotImplementedError

    def certified(self, model: Model) -> Model:
        """The model with P recomputed from its parameters."""
        raise NotImplementedError

    def trivial(self) -> tuple[Model, Bound]:
        """The model and the bound to begin with."""
        raise NotImplementedError

    def dense_rows(self, X: Any, which: np.ndarray) -> np.ndarray:
        """Rows of X as float64."""
        block = X[which]
        return np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)

    def margin_rows(self, which: np.ndarray) -> np.ndarray:
        """y_i (x_i - mean) of the rows ``which``."""
        return (self.dense_rows(self.X, which) - self.mean_x) * self.y[which, None]

    def scores(self, w: np.ndarray) -> np.ndarray:
        """w'(x_i - mean) (n,)."""
        return self.products_x.scores(w) - float(self.mean_x @ w)

    def back_x(self, alpha: np.ndarray) -> np.ndarray:
        """X'(alpha y) (d,), for balanced alpha."""
        return self.transposed(self.products_x, alpha * self.y)

    def transposed(self, product: Product, a: np.ndarray) -> np.ndarray:
        """X'a or Z'a, from the rows where a is not 0."""
        which = np.flatnonzero(a)
        if 4 * len(which) > self.n:
            return product.gradients(a)
        return np.asarray(product.X[which].astype(np.float64).T @ a[which])

    def price(self, primal: float, dual: float, m: int) -> float | None:
        """Guess of the mean multiplier of m rows, None if there is no better than the rows'."""
        return None

    def without_slack(
        self, first: np.ndarray, primal: float, dual: float
    ) -> tuple[Model | None, Bound | None]:
        """What a hard-margin SVM on the rows ``first`` gives, where that may help."""
        return None, None
