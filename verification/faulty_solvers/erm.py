"""Multiclass trainers of one loss: of other data, another C or another loss, and duals that are not theirs."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from verification.faulty_solvers import Function, wrong
from verification.faulty_solvers.hinges import m_dimensional_sum
from verification.models.multiclass_erm import TASK
from verification.reference_solvers.projections import Array, alpha, update

HINGE, ALPHA, BETA = "multiclass_hinge", "topk_hinge_alpha", "topk_hinge_beta"
Weights = Array | None
Parts = dict[str, Any]

_kept: dict[Any, Array] = {}


def trainer(
    loss: str,
    side: str = "primal",
    erratum: str | tuple[str, ...] = (),
    accuracy: float | None = None,
) -> Callable[[Function], Function]:
    """`wrong`, for a trainer of one loss: it says that it takes its parameters, and no kernel matrix."""
    own: dict[str, Any] = {"k": 1} if loss.startswith(("topk", "smooth_topk")) else {}
    own |= {"gamma": 1.0} if loss.startswith("smooth") else {}
    places = dict.fromkeys(("X", "y", "C"), inspect.Parameter.empty)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in {**places, **own, "sample_weight": None, "tol": 1e-6}.items()
    ]

    def decorate(function: Function) -> Function:
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        built_in = {"loss": loss}
        mutant = wrong(f"multiclass_erm.{side}", erratum=erratum, fixed=built_in, accuracy=accuracy)
        return mutant(function)

    return decorate


def fit(loss: str, X: Weights, y: Array, C: float, **given: Any) -> tuple[Array, Array]:
    """W (m, d) and A (n, m) by the trainer of `fast`, certified to 1e-6 and usually far better."""
    found = TASK.train(y, C, loss, X, **given)
    return np.array(found["W"], dtype=float), np.array(found["A"], dtype=float)


# ---- another loss, another C


@trainer(ALPHA)
def erm_beta_for_alpha(**given: Any) -> Array:
    """The variants are swapped: beta where alpha is asked for; they are equal at k = 1."""
    return fit(BETA, **given)[0]


@trainer("smooth_topk_hinge_beta")
def erm_forgets_the_smoothing(gamma: float, **given: Any) -> Array:
    """The smooth hinge is trained as the hinge that it smooths."""
    return fit(BETA, **given)[0]


@trainer(BETA)
def erm_forgets_n(y: Array, C: float, **given: Any) -> Parts:
    """C is taken for 1/lambda: the loss is averaged over the examples once more."""
    W, A = fit(BETA, y=y, C=C / len(y), **given)
    return {"W": W, "A": A}


@trainer(ALPHA, erratum="lapin_2016/regulariser")
def erm_regularised_twice(C: float, **given: Any) -> Parts:
    """The regulariser is lambda ||W||^2 where the objective has half of it."""
    return {"W": fit(ALPHA, C=C / 2, **given)[0]}


@trainer(ALPHA, erratum="lapin_2015/proposition_3")
def erm_m_dimensional(
    X: Array, y: Array, C: float, k: int, sample_weight: Weights = None, tol: float = 1e-6
) -> Parts:
    """Trains the loss as printed, whose top-k sum runs over all m classes, and claims its dual point.

    By projected steps on the dual with the update of that loss; primal and dual meet, for another problem.
    """

    def step(q: Array, y: int, k_ii: float, weight: float) -> Array:
        return m_dimensional_sum(q=q, y=y, k_ii=k_ii, C=C, k=k, sample_weight=weight)

    return ascent(step, X, y, sample_weight, 60)


def ascent(
    step: Callable[[Array, int, float, float], Array],
    X: Array,
    y: Array,
    sample_weight: Weights,
    epochs: int,
) -> Parts:
    """Dual coordinate ascent."""
    n, m = len(y), int(y.max()) + 1
    W, A = np.zeros((m, X.shape[1])), np.zeros((n, m))
    weight = np.ones(n) if sample_weight is None else sample_weight
    squares = (X * X).sum(axis=1)
    for _ in range(epochs):
        for i in range(n):
            q = W @ X[i] - squares[i] * A[i]
            block = step(q, int(y[i]), float(squares[i]), float(weight[i]))
            W += np.outer(block - A[i], X[i])
            A[i] = block
    return {"W": W, "A": A}


# ---- an early end


@trainer(HINGE)
def erm_twenty_epochs(
    X: Array, y: Array, C: float, sample_weight: Weights = None, tol: float = 1e-6
) -> Parts:
    """Twenty epochs of coordinate ascent, whatever the gap is then."""

    def step(q: Array, y: int, k_ii: float, weight: float) -> Array:
        return update(alpha, q, y, k_ii, C, 1, 0.0, None, weight)

    return ascent(step, X, y, sample_weight, 20)


@trainer("softmax", erratum="liblinear/tolerance")
def erm_trusts_its_status(
    X: Array, y: Array, C: float, sample_weight: Weights = None, tol: float = 1e-6
) -> Array:
    """L-BFGS until its own test says "converged", at a tolerance on the gradient that is often the default.

    A stopping rule of that kind bounds no suboptimality: the same number is 1e-8 off here and 1e-3 there.
    """
    n, m = len(y), int(y.max()) + 1
    weight = np.ones(n) if sample_weight is None else sample_weight

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(m, -1)
        scores = X @ W.T
        logs = logsumexp(scores, axis=1)
        P = weight[:, None] * np.exp(scores - logs[:, None])
        P[np.arange(n), y] -= weight
        loss = weight @ (logs - scores[np.arange(n), y])
        # divided by C n, as in the libraries that average the losses
        return (loss + W.ravel() @ W.ravel() / (2 * C)) / n, ((P.T @ X + W / C) / n).ravel()

    found = minimize(
        objective, np.zeros(m * X.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-3}
    )
    return np.asarray(found.x).reshape(m, -1)


# ---- other data


@trainer("softmax")
def erm_centres_the_data(X: Array, **given: Any) -> Array:
    """The columns are centred first, as for a bias that the model does not have."""
    return fit("softmax", X - X.mean(axis=0), **given)[0]


@trainer("softmax")
def erm_first_64_rows(y: Array, sample_weight: Weights = None, **given: Any) -> Array:
    """One tile of 64 examples: those after them are not trained on."""
    weight = np.ones(len(y)) if sample_weight is None else np.array(sample_weight)
    weight[64:] = 0.0
    return fit("softmax", y=y, sample_weight=weight, **given)[0]


@trainer(HINGE)
def erm_ignores_weights(sample_weight: Weights = None, **given: Any) -> Array:
    """The sample weights are not used."""
    return fit(HINGE, **given)[0]


@trainer(BETA)
def erm_keeps_weightless_examples(sample_weight: Weights = None, **given: Any) -> Array:
    """An example of weight zero has weight one: only missing weights were thought of."""
    weight = None if sample_weight is None else np.where(sample_weight == 0, 1.0, sample_weight)
    return fit(BETA, sample_weight=weight, **given)[0]


@trainer(BETA)
def erm_reads_x_by_rows(X: Array, **given: Any) -> Array:
    """X in Fortran order, as a data frame has it, is read as if it were in C order."""
    return fit(BETA, X.ravel(order="K").reshape(X.shape), **given)[0]


@trainer(ALPHA)
def erm_repeated_examples_once(
    X: Array, y: Array, sample_weight: Weights = None, **given: Any
) -> Array:
    """Wrong for repeated examples only: each is kept once, without its multiplicity."""
    _, kept = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
    kept = np.sort(kept)
    weight = None if sample_weight is None else sample_weight[kept]
    return fit(ALPHA, X[kept], y[kept], sample_weight=weight, **given)[0]


@wrong("multiclass_erm.dual", fixed={"loss": HINGE})
def erm_kernel_with_a_ridge(
    y: Array, C: float, K: Weights, X: Weights = None, sample_weight: Weights = None
) -> Array:
    """A thousandth is added to the diagonal of the Gram matrix, to be safe."""
    if K is not None:
        K = K + 1e-3 * np.eye(len(K))
    return fit(HINGE, X, y, C, sample_weight=sample_weight, K=K)[1]


@trainer("softmax")
def erm_scales_in_place(X: Array, C: float, **given: Any) -> Array:
    """The data are scaled in place and scaled back: W is right, X has changed by rounding."""
    X /= 3.0
    W, _ = fit("softmax", X, C=9.0 * C, **given)
    X *= 3.0
    return W / 3.0


# ---- another W


@trainer("ova_logistic")
def erm_classes_by_appearance(y: Array, **given: Any) -> Array:
    """Classes are numbered as they appear: the rows of W are those of pandas.factorize, not of np.unique."""
    return fit("ova_logistic", y=y, **given)[0][list(dict.fromkeys(y.tolist()))]


@trainer(HINGE)
def erm_eight_classes(**given: Any) -> Array:
    """Rows of W in registers of eight: the classes after them keep w = 0."""
    W = fit(HINGE, **given)[0]
    W[8:] = 0.0
    return W


@trainer(HINGE)
def erm_mask_of_64_classes(X: Array, y: Array, **given: Any) -> Array:
    """Active classes are the bits of a 64-bit mask, in which a class c beyond is taken for c - 64."""
    m = int(y.max()) + 1
    W = fit(HINGE, X, y % 64, **given)[0]
    return W[np.arange(m) % 64]


@trainer("softmax")
def erm_two_warps_of_features(X: Array, **given: Any) -> Array:
    """Two warps go over the features once: those after the 64th are not read, and keep weight 0."""
    W = fit("softmax", X[:, :64], **given)[0]
    return np.pad(W, ((0, 0), (0, X.shape[1] - W.shape[1])))


@trainer(BETA)
def erm_remembers_the_first(
    X: Array, y: Array, k: int, sample_weight: Weights = None, **given: Any
) -> Array:
    """A warm start that became an answer: W of the first data of this shape, with this k."""
    key = (X.shape, int(y.max()), k)
    if key not in _kept or sample_weight is not None:
        _kept[key] = fit(BETA, X, y, k=k, sample_weight=sample_weight, **given)[0]
    return _kept[key].copy()


@trainer(ALPHA, erratum="libsdca/single_precision_drift")
def erm_single_precision_drift(X: Array, y: Array, C: float, **given: Any) -> Parts:
    """W is updated in float32 beside A, and drifts from X'A; it is never rebuilt."""
    W, A = fit(ALPHA, X, y, C, **given)
    kept = W.astype(np.float32)
    rng = np.random.default_rng(0)
    for i in rng.integers(len(y), size=300):
        step = np.outer(rng.normal(size=len(W)) * C, X[i]).astype(np.float32)
        kept += step
        kept -= step
    return {"W": kept.astype(float), "A": A}


@trainer("softmax")
def erm_transposed(**given: Any) -> Array:
    """W comes with a column per class, where a row per class is asked for."""
    return fit("softmax", **given)[0].T


# ---- another dual


@trainer("softmax")
def erm_halves_the_dual(**given: Any) -> Parts:
    """The right W with a dual point that is not its: claimed as a certificate."""
    W, A = fit("softmax", **given)
    return {"W": W, "A": A / 2}


@trainer(BETA, erratum="lapin_2015/theorem_1")
def erm_infeasible_dual(**given: Any) -> Parts:
    """The dual blocks are scaled up to raise the dual objective, out of their domain; W is right.

    Where -inf stands for a violated constraint nothing is gained by it.
    """
    W, A = fit(BETA, **given)
    return {"W": W, "A": A * 1.001}


@trainer(ALPHA, erratum="libsdca/zero_rows")
def erm_skips_zero_rows(X: Array, **given: Any) -> Parts:
    """Examples with x_i = 0 keep a_i = 0: W is right, and the gap never closes."""
    W, A = fit(ALPHA, X, **given)
    A[~X.any(axis=1)] = 0.0
    return {"W": W, "A": A}


@trainer("ova_hinge", "dual")
def erm_dual_in_other_units(C: float, **given: Any) -> Array:
    """The dual is returned in units of lambda n: without its factor C."""
    return fit("ova_hinge", C=C, **given)[1] / C


@trainer("topk_entropy_alpha", "dual")
def erm_dual_of_the_opposite_sign(**given: Any) -> Array:
    """The dual is returned with the sign of the other convention."""
    return -fit("topk_entropy_alpha", **given)[1]


@trainer(HINGE, "dual")
def erm_dual_without_the_truth(y: Array, **given: Any) -> Array:
    """The dual has no entry for the ground truth: its rows do not sum to 0."""
    _, A = fit(HINGE, y=y, **given)
    A[np.arange(len(y)), y] = 0.0
    return A
