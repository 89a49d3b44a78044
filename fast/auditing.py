"""How far anybody's linear model is from its optimum: bounds from passes over the rows, whatever trained it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._threads import resolve
from fast._validation import check_flag, finite_array, number, per_row
from fast.audited import (
    SQUARED,
    encoded,
    labels_of,
    loss_of,
    named_weights,
    settings_of,
    unwrapped,
    weights_of,
)
from fast.data import Source, examine, rows
from fast.data.constant import with_ones
from fast.data.dask_rows import DaskRows
from fast.errors import InvalidParameterError
from fast.families import named
from fast.families.hinges import Hinge
from fast.kernels.signed import LOGISTIC
from fast.models.multiclass_erm import train
from fast.solvers.audit_pass import Form, evaluated, objectives
from fast.solvers.dask_passes import passes_of
from fast.solvers.free_intercept import newton_step
from fast.solvers.one_vs_rest_training import train as train_signed
from fast.solvers.rounding import consistent
from fast.solvers.rows import dense
from fast.solvers.state import certified_gap

__all__ = ["AuditResult", "audit"]

PASSES = 6  # over the rows, at most: where a free intercept is moved to its own optimum
SETTLED = 1e-9  # of all mass, which a free intercept may leave unbalanced
WIDE = 1024.0  # smoothing under which a hinge is its square, in training
REACH = 10.0  # a free intercept is trained as the weight of a feature so many times as long as rows


@dataclass(frozen=True)
class AuditResult:
    """What is certain of a linear model.

    Attributes
    ----------
    loss, C, n_samples, n_features, n_classes
        What was audited; ``n_classes`` counts rows of W.
    primal, dual : float
        P of the model, at most, and the least P that any model has, at least: rounding is on the safe side of both.
    gap, relative_gap : float
        primal - dual, and the same over the larger of their magnitudes: at most so far from the optimum.
    above : float
        (primal - dual)/dual: at most so much above the optimum, inf if dual is 0.
    accuracy : float
        Share of the examples whose own class has the largest score (one row: the right sign); ties are errors.
    passes : int
        Over the rows.
    optimum : AuditResult or None
        With ``refit``: the same of a better model, which was trained here.
    W, intercept : arrays
        The model.
    """

    loss: str
    C: float
    n_samples: int
    n_features: int
    n_classes: int
    primal: float
    dual: float
    accuracy: float
    passes: int
    W: np.ndarray = field(repr=False)
    intercept: np.ndarray = field(repr=False)
    optimum: "AuditResult | None" = None

    def __post_init__(self) -> None:
        consistent(self.primal, self.dual)

    @property
    def gap(self) -> float:
        """P less the least P, at most."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The same over the larger magnitude."""
        return certified_gap(self.primal, self.dual)

    @property
    def above(self) -> float:
        """How much above the optimum, at most."""
        return self.gap / self.dual if self.dual > 0.0 else np.inf

    @property
    def least_above(self) -> float:
        """How much above the optimum, at least, as far as a better model shows it (rounding aside)."""
        return 0.0 if self.optimum is None else max(self.primal / self.optimum.primal - 1.0, 0.0)


def audit(
    W: Any,
    X: Any,
    y: Any = None,
    *,
    loss: str | None = None,
    C: float | None = None,
    k: int = 1,
    gamma: float | None = None,
    intercept: Any = None,
    intercept_scaling: float | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
    dual: Any = None,
    refit: bool = False,
    tol: float = 1e-3,
    n_jobs: int | None = None,
) -> AuditResult:
    """Bound how far a linear model is from the least value of what it should minimise.

    P(W, b) = C sum_i w_i L(y_i, W x_i + b) + 1/2 ||W||^2, the regulariser without b. For a smooth L the dual point
    A = C w (e_y - p), p the slopes at the scores, is feasible, and P - D(A) = 1/2 ||W - A'X||^2: one pass.

    Parameters
    ----------
    W : array or data frame (m, d), `torch.nn.Linear`, or a fitted linear model
        A row per class, in the order of ``classes``; one row for two classes, positive for the second, as
        ``coef_`` has it. A frame of pandas names features, and classes by its index; a layer brings its bias. From a
        model of scikit-learn or cuML (``LogisticRegression``, ``LogisticRegressionCV``, ``LinearSVC``, ``SVC`` with
        a linear kernel and two classes, ``SGDClassifier``, subclasses of these, alone, at the end of a ``Pipeline``,
        the best of a search, or in ``OneVsRestClassifier``) all else is read, too.
    X : array, sparse matrix, data frame or `fast.data.Source` (n, d)
        The rows that it was trained on, as they were then; for a pipeline those that it was given. Columns of a
        frame go by name, where the model knows names: in any order, and more of them are left out, with a warning.
    y : array (n,) or (n, 1), optional
        Labels; by default those that came with a source.
    loss : str
        An object of `fast.losses`: softmax, the top-k entropies and hinges (one row: logistic, hinge), one-vs-all
        logistic and hinges; or ``"ova_squared_hinge"``, the sum over the rows of max{0, 1 - z}^2.
    C : float
        Of the sum, not the mean, of losses: 1/(lambda n) for lambda/2 ||W||^2 + mean.
    k, gamma
        Parameters of the loss, if it has them.
    intercept : array (m,), optional
        b, which is not regularised, unless ``intercept_scaling`` is given.
    intercept_scaling : float, optional
        b is s times the weight of a constant feature s, which is regularised like others, as LIBLINEAR has it. Without
        ``intercept`` W has d + 1 columns, these weights in the last one.
    classes : sequence, optional
        Labels of the rows of W. By default the sorted labels of y.
    sample_weight : array (n,), optional
        w.
    dual : array or CSR (n, m), optional
        Of a hinge, which has no slopes: dual variables >= 0 on the other classes; of a one-vs-all hinge those of each
        row. Without them training finds some. What is not feasible is clipped, and costs.
    refit : bool
        Train a better model, too: what is certain of that tightens ``dual``, and says what accuracy the distance costs.
    tol : float
        Relative gap of what is trained here.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    AuditResult

    Raises
    ------
    fast.errors.InvalidParameterError
        A model without a bound (no regulariser, or l1) or that minimised something else (``early_stopping``, weights
        of classes one-vs-all), W in another shape, labels without a row, columns without a name that the model
        knows, rows that are nan, infinite or so long that scores overflow; names argument, value and fix.

    Notes
    -----
    A free intercept asks that the dual blocks of every class sum to 0: b is moved to its own optimum first (a
    Newton step per pass; P is that of the b given), and what is left unbalanced is mixed away with the blocks of
    the shares of classes: feasible again up to a rounding that is priced, and D is concave.
    """
    tol = number("tol", tol, positive=True)
    given = {"loss": loss, "C": C, "gamma": gamma, "intercept": intercept,
             "intercept_scaling": intercept_scaling, "classes": classes}  # fmt: skip
    if isinstance(X, str | os.PathLike | list | tuple):
        X = rows(X)
    y = getattr(X, "labels", None) if y is None else y
    W, X, given = named_weights(*unwrapped(W, X), given)
    X = rows(X)
    y = labels_of(X, y)
    W, given, weights = settings_of(W, y, given, sample_weight)
    problem = _Problem(W, X, y, k, weights, **given)
    train_one = check_flag("refit", refit) or (problem.hinge and dual is None)
    if isinstance(X, DaskRows) and (problem.hinge or train_one):
        told = "a Dask array, and a hinge, or a model to be trained"
        raise InvalidParameterError("X", told, "rows in files or in memory", "load the rows")
    problem.n_jobs = n_jobs
    better, found = problem.W, None
    if train_one:
        better, found = problem.trained(tol)
    result = problem.bounds(problem.W, found if dual is None else problem.checked(dual))
    if not refit:
        return result
    mine = problem.bounds(better, found)
    least = max(result.dual, mine.dual)
    return replace(result, dual=least, optimum=replace(mine, dual=least))


class _Problem:
    """A model, its rows and what it should minimise; W has a column for the intercept, if there is one."""

    n_jobs: int | None = None

    def __init__(
        self, W: Any, X: Source, y: np.ndarray, k: int, weights: Any, *, loss: Any, C: Any, gamma: Any,
        intercept: Any, intercept_scaling: Any, classes: Any,
    ) -> None:  # fmt: skip
        s = intercept_scaling
        s = None if s is None else number("intercept_scaling", s, positive=True)
        free = intercept is not None and s is None
        self.X, (self.n, self.d) = X, X.shape
        self.W = weights_of(W, intercept, s, self.d)
        self.m = len(self.W)
        for name, value in (("loss", loss), ("C", C)):
            if value is None:
                fix = "pass what the trainer minimised, or the fitted model itself"
                raise InvalidParameterError(name, "None", "loss and C", fix)
        self.C = number("C", C, positive=True)
        self.loss, self.name, signed = loss_of(loss, k, gamma, self.m)
        constant = 1.0 if free else s
        self.form = Form(signed, self.name == SQUARED, constant, free)
        self.hinge = not (self.loss.smooth or self.loss.gamma > 0.0)
        if free and getattr(self.loss, "k", 1) != 1:
            fix = "pass intercept_scaling"
            told = f"free, with k = {k}"
            raise InvalidParameterError("intercept", told, "k = 1, or regularised", fix)
        self.w = np.ones(self.n) if weights is None else per_row("sample_weight", weights, self.n)
        names, self.y = encoded(y, classes, max(self.m, 2))
        shares = np.bincount(self.y, self.w, max(self.m, 2))
        if not shares.any() or (free and not shares.all()):
            given = f"no example of class {str(names[int(np.argmin(shares))])!r} with a weight"
            fix = "drop its row of W, or pass intercept_scaling"
            raise InvalidParameterError("y", given, "some of each, for free intercepts", fix)

    def checked(self, dual: Any) -> Any:
        """Masses for a hinge."""
        found: Any = dual if sp.issparse(dual) else finite_array("dual", dual, (2,))
        if found.shape != (self.n, self.m) or not self.hinge:
            given = f"shape {found.shape} for {self.name}"
            expected = f"dual variables {(self.n, self.m)} for a hinge, None for others"
            raise InvalidParameterError("dual", given, expected, "leave dual out, or reshape it")
        return found.tocsr() if sp.issparse(dual) else found.astype(np.float64)

    def bounds(self, W: np.ndarray, dual_variables: Any = None) -> AuditResult:
        """What passes say of W; a free intercept moves for the dual alone."""
        passes = passes_of(self.X, self.y, self.w, self.loss, max(self.m, 2))
        passes.n_jobs = resolve(self.n_jobs)
        first: Any = None
        dual, at, count = 0.0, W.copy(), 0  # no loss is negative
        while count < PASSES:
            sums = passes.total(evaluated, at, self.C, self.form, dual_variables)
            if not all(np.isfinite(part).all() for part in sums[:4]):
                examine(self.X)  # which names the entry
                told, fix = "scores beyond the range of float64", "rescale W or X"
                raise InvalidParameterError("W", told, "finite scores", fix)
            primal, below, rho = objectives(at, self.n, sums, self.form, self.loss)
            first = first or (primal, float(sums[5]) / float(self.w.sum()))
            dual, H, count = max(dual, below), sums[6], count + 1
            if H is None or not np.abs(rho).sum() > SETTLED * self.C * self.w.sum():
                break
            at[:, -1] += newton_step(H, rho)
        b = W[:, -1] * self.form.constant if self.form.constant else np.zeros(self.m)
        return AuditResult(self.name, self.C, self.n, self.d, self.m, first[0], dual, first[1], count,
                           W[:, : self.d], b)  # fmt: skip

    def trained(self, tol: float) -> tuple[np.ndarray, Any]:
        """Weights of a better model, and dual variables of a hinge."""
        start, scale, X = self.W.copy(), 1.0, self.X[:] if self.X.in_memory else self.X
        if self.form.free:  # as the weight of a long feature it is hardly regularised
            square = max(float(examine(self.X).squared_norms.max()), 1.0 / (self.C * self.w.sum()))
            scale = 2.0 ** np.ceil(np.log2(REACH * np.sqrt(max(square, 1.0))))
        if self.form.constant is not None:
            X = with_ones(X, scale * self.form.constant)
            start[:, -1] /= scale
        if isinstance(X, Source):
            X.path_cache["examined"] = examine(X)
        W, dual_variables = self._optimum(X, start, {"tol": tol, "n_jobs": self.n_jobs})
        if self.form.free:
            W[:, -1] *= scale
        return W, dual_variables if self.hinge else None

    def _optimum(self, X: Any, start: Any, options: dict[str, Any]) -> tuple[np.ndarray, Any]:
        """The same where the intercept is a weight like others; X has its feature."""
        loss, r, m = self.loss, self.C * self.w, self.m
        if self.form.squared:
            loss, r = replace(loss, gamma=WIDE), 2.0 * WIDE * r
        if self.form.signed and m > 1:
            X, own = X[:], self.y[:, None] == np.arange(m)
            found = train_signed(X, self.y, own, r, loss, weights=start, **options)
            return found.W, np.abs(dense(found.dual_variables))
        if m == 1:  # half of two classes whose scores are -f/2 and f/2
            logistic = loss.variant == LOGISTIC
            loss = named("softmax") if logistic else Hinge.named("alpha", 1, loss.gamma)
            r, start = r / 2.0, np.vstack([-start, start]) / 2.0
        start = None if self.hinge else start
        found = train(X, self.y, r, max(m, 2), loss, weights=start, **options)
        if m > 1:
            return found.W, found.dual_variables
        dual_variables = 2.0 * found.dual_variables.sum(axis=1)[:, None] if self.hinge else None
        return found.W[1:] - found.W[:1], dual_variables
