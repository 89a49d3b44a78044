"""The methods of Lapin et al. 2016 as what they minimise, and how each is trained with `fast`.

P = 1/2 ||W||^2 + C sum_i L(y_i, W x_i), no bias. One-vs-all losses are sums over the classes, so that
their problem falls into one binary problem per class; a binary problem with C is our two-class problem
with C/2, whose weights are (-w/2, w/2).
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from time import perf_counter
from types import SimpleNamespace
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
        """The unfitted `fast` estimator of this loss; for one-vs-all losses that of a binary problem."""
        import fast

        settings = {"C": C / 2 if self.ova else C, "tol": tol, "max_iter": MAX_ITER, **options}
        if self.kind == "hinge":
            return fast.TopKSVC(
                k=self.k, gamma=self.gamma, variant=self.variant, random_state=0, **settings
            )
        return fast.TopKLogisticRegression(
            k=self.k, truncated=self.truncated, random_state=0, **settings
        )


@dataclass(frozen=True)
class Fitted:
    """Weights (m, d) and dual (n, m) of one C, with the primal objective and the gap claimed.

    ``parts`` are the fitted estimators behind it: one, or one per class; ``seconds`` they took.
    """

    C: float
    W: np.ndarray
    dual: np.ndarray
    primal: float
    gap: float
    parts: tuple[Any, ...] = ()
    seconds: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether W = 0 is optimal as far as the certificate can tell: ||W - W*||^2 <= 2 gap."""
        noise = 1e-6 * min(1.0, self.C * len(self.dual))
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
    m = int(y.max()) + 1
    problems = [(y == j).astype(np.int64) for j in range(m)] if loss.ova else [y]
    steps = zip(*(_path(loss, X, labels, grid, tol, warm) for labels in problems), strict=True)
    for C, models in zip(grid, steps, strict=True):
        yield _joined(loss, C, models)


def _path(
    loss: Loss, X: Any, y: np.ndarray, grid: Sequence[float], tol: float, warm: bool
) -> Iterator[Fitted]:
    model = loss.estimator(1.0, tol, warm_start=warm)
    for C in grid:
        model.set_params(C=C / 2 if loss.ova else C)
        start = perf_counter()
        fit_quietly(model, X, y)
        seconds = perf_counter() - start
        dual = model.dual_coef_
        dense = dual.toarray() if hasattr(dual, "toarray") else np.array(dual)
        primal, gap = float(model.primal_objective_), float(model.dual_gap_)
        yield Fitted(C, model.coef_.copy(), dense, primal, gap, (copy(model),), seconds)


def _joined(loss: Loss, C: float, models: Sequence[Fitted]) -> Fitted:
    """Binary models as one: rows w_j = coef_1 - coef_0, duals likewise, objectives twice their sum."""
    if not loss.ova:
        return models[0]
    W = np.stack([model.W[1] - model.W[0] for model in models])
    dual = np.column_stack([model.dual[:, 1] - model.dual[:, 0] for model in models])
    primal = 2.0 * sum(model.primal for model in models)
    lost = 2.0 * sum(model.gap * abs(model.primal) for model in models)
    parts = tuple(part for model in models for part in model.parts)
    seconds = sum(model.seconds for model in models)
    return Fitted(C, W, dual, primal, lost / primal, parts, seconds)


def fit(loss: Loss, X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Any:
    """A fitted classifier; one-vs-all losses through scikit-learn's `OneVsRestClassifier`."""
    from sklearn.multiclass import OneVsRestClassifier

    model = loss.estimator(C, tol)
    return fit_quietly(OneVsRestClassifier(model) if loss.ova else model, X, y)


def certified_gap(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Relative duality gap from weights and dual, by formulas that the trainer has no part in.

    ``model`` is an estimator, scikit-learn's around binary ones, or a `Fitted`.
    """
    if isinstance(model, Fitted):
        several = SimpleNamespace(estimators_=model.parts, classes_=np.unique(y))
        model = several if len(model.parts) > 1 else model.parts[0]
    return trained(model, X, y).relative_gap
