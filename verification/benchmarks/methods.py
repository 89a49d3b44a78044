"""The methods of Lapin et al. 2016 as what they minimise, and how each is trained with `fast`.

P = 1/2 ||W||^2 + C sum_i L(y_i, W x_i), no bias. One-vs-all losses are sums over the classes.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from verification.benchmarks.peers import fit_quietly
from verification.certificates import trained

#: Iterations allowed to one model; where they do not suffice the certificate says so.
MAX_ITER = 100_000


@dataclass(frozen=True)
class Loss:
    """A loss of Table 1: ``kind`` is hinge or entropy, one against all others (``ova``) or multiclass."""

    kind: str
    k: int = 1
    gamma: float = 0.0
    ova: bool = False
    truncated: bool = False
    variant: str = "alpha"

    def estimator(self, C: float, tol: float, **options: Any) -> Any:
        """The unfitted `fast` estimator of this loss."""
        import fast

        settings = {"C": C, "tol": tol, "max_iter": MAX_ITER, "random_state": 0, **options}
        if self.ova:
            kind = "logistic" if self.kind == "entropy" else "hinge"
            return fast.OneVsAllClassifier(loss=kind, **settings)
        if self.kind == "hinge":
            return fast.TopKSVC(k=self.k, gamma=self.gamma, variant=self.variant, **settings)
        return fast.TopKLogisticRegression(k=self.k, truncated=self.truncated, **settings)


@dataclass(frozen=True)
class Fitted:
    """Weights (m, d) and dual (n, m), an array or CSR, of one C, with the primal objective and the gap claimed.

    ``estimator`` is what was fitted, ``seconds`` the time that took.
    """

    C: float
    W: np.ndarray
    dual: Any
    primal: float
    gap: float
    estimator: Any = None
    seconds: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether W = 0 is optimal as far as the certificate can tell: ||W - W*||^2 <= 2 gap."""
        noise = 1e-6 * min(1.0, self.C * self.dual.shape[0])
        return float(np.sum(self.W**2)) <= 4.0 * self.gap * abs(self.primal) + noise**2


def path(
    loss: Loss, X: np.ndarray, y: np.ndarray, grid: Sequence[float], tol: float
) -> list[Fitted]:
    """One model per C, each begun at the dual of the one before; labels are 0..m-1."""
    return list(along(loss, X, y, grid, tol))


def along(
    loss: Loss, X: Any, y: np.ndarray, grid: Sequence[float], tol: float, warm: bool = True
) -> Iterator[Fitted]:
    """The same, one at a time; each for itself unless ``warm``."""
    model = loss.estimator(1.0, tol, warm_start=warm)
    for C in grid:
        model.set_params(C=C)
        start = process_time()
        fit_quietly(model, X, y)
        seconds = process_time() - start
        primal, gap = float(model.primal_objective_), float(model.dual_gap_)
        yield Fitted(C, model.coef_, model.dual_coef_, primal, gap, copy(model), seconds)


def fit(loss: Loss, X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Any:
    """A fitted classifier."""
    return fit_quietly(loss.estimator(C, tol), X, y)


def certified_gap(model: object, X: np.ndarray, y: np.ndarray) -> float:
    """Relative duality gap of an estimator or a `Fitted`, by formulas that the trainer has no part in."""
    estimator = model.estimator if isinstance(model, Fitted) else model
    return trained(estimator, X, y).relative_gap
