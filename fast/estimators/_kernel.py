"""Kernels by a factorisation K = GG': a linear model on the rows of G is one in feature space."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from fast.errors import InvalidParameterError, InvalidTypeError
from fast.families import Loss
from fast.models.multiclass_erm import TrainingResult
from fast.models.svm import budget
from fast.solvers import kernel_smo
from fast.solvers.box_interior_point import MatrixGram
from fast.solvers.kernel_rows import KernelRows, RowGram
from fast.solvers.rounding import Gram, confirmed, down, precisions, up
from fast.solvers.state import Solution

EPS = float(np.finfo(float).eps)
DEFINITE = ("linear", "cosine", "laplacian")
ROUNDING = 1e-7  # of the largest entry: kernels are computed with errors of up to sqrt(eps)


def check_kernel(kernel: Any, name: str = "kernel", names: Sequence[str] = ()) -> Any:
    """A kernel's name, by default one of scikit-learn's, or a function of two rows."""
    if callable(kernel) or (isinstance(kernel, str) and kernel in ("linear", *names)):
        return kernel
    if not names:
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS  # takes long to import

        others = sorted(set(PAIRWISE_KERNEL_FUNCTIONS) - {"linear"})
        return check_kernel(kernel, name, ("linear", "precomputed", *others))
    raise InvalidParameterError(
        name, repr(kernel), f"one of {', '.join(names)} or a callable", "use 'linear' or 'rbf'"
    )


class KernelMap:
    """K between examples, and its pivoted Cholesky factor G (n, rank): rows are features.

    Parameters
    ----------
    kernel, params
        As for scikit-learn's ``pairwise_kernels``; "precomputed" takes K itself.
    constant : float
        Added to every entry: 1 for an intercept, regularised like the rest.
    """

    def __init__(self, kernel: str | Callable, params: dict[str, Any] | None, constant: float):
        self.kernel, self.constant = kernel, constant
        if not isinstance(params, dict | None):
            raise InvalidTypeError(
                "kernel_params", repr(params), "a dict or None", 'pass, for example, {"gamma": 0.1}'
            )
        self.params = {} if params is None else dict(params)
        if kernel == "precomputed" and self.params:
            raise InvalidParameterError(
                "kernel_params", repr(params), "None for a precomputed kernel", "leave it out"
            )

    def between(self, X: Any, Y: Any = None) -> np.ndarray:
        """K(X, Y), or K(X, X); for "precomputed" X holds the kernel values themselves."""
        if self.kernel == "precomputed":
            K = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        else:
            from sklearn.metrics.pairwise import pairwise_kernels

            try:
                # in float32 near examples would differ by rounding only
                X, Y = (None if v is None else v.astype(np.float64) for v in (X, Y))
                with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is refused below
                    K = pairwise_kernels(X, Y, metric=self.kernel, **self.params)
            except TypeError as error:
                raise InvalidParameterError(
                    "kernel_params", repr(self.params), f"arguments of {self.kernel!r}", str(error)
                ) from None
            K = np.array(K, dtype=np.float64)
        if not np.isfinite(K).all():
            raise InvalidParameterError(
                "kernel", "a value that is nan or infinite", "finite values", "rescale X"
            )
        return K + self.constant if self.constant else K

    def rows(self, X: Any, scale: float = 1.0) -> KernelRows | None:
        """K times ``scale`` by its rows, if the kernel is positive semidefinite by what it is."""
        params, gamma = self.params, None
        if self.kernel == "rbf" and set(params) <= {"gamma"}:
            gamma = params.get("gamma")
            gamma = 1.0 / X.shape[1] if gamma is None else gamma
            if not (isinstance(gamma, int | float | np.number) and gamma >= 0.0):
                return None
        elif self.kernel == "poly":
            signs = [params.get("gamma") or 0.0, params.get("coef0", 1.0)]
            if min(signs) < 0.0 or not isinstance(params.get("degree", 3), int | np.integer):
                return None
        elif self.kernel not in DEFINITE:
            return None
        return KernelRows(X, self.between, gamma, self.constant, scale)

    def fit(self, X: Any) -> np.ndarray:
        """Features of the examples; remembers which of them span the space."""
        K = self.between(X)
        if K.shape[0] != K.shape[1]:
            raise InvalidParameterError(
                "X",
                f"a precomputed kernel of shape {K.shape}",
                "a square matrix",
                "pass the kernel between all pairs of training examples",
            )
        top = float(abs(K).max())
        if float(abs(K - K.T).max()) > ROUNDING * top:
            raise InvalidParameterError(
                "X", "a kernel matrix that is not symmetric", "K = K'", "use (K + K') / 2"
            )
        n = len(K)
        if not top > 0.0:
            raise InvalidParameterError(
                "kernel",
                "a kernel matrix of zeros",
                "entries other than 0",
                "choose another kernel",
            )
        if float(K.diagonal().min()) < 0.0:
            raise self._indefinite("a diagonal entry is negative")
        factor, pivots, rank, _ = dpstrf(K, lower=1, tol=n * EPS * float(K.diagonal().max()))
        order = pivots - 1
        G = np.zeros((n, rank))
        G[order] = np.tril(factor)[:, :rank]
        residual = float(abs(K - G @ G.T).max())
        if residual > ROUNDING * top:
            raise self._indefinite(f"its factorisation leaves {residual:.3g}")
        self.K, self.order = K, order[:rank]
        self.factor = np.ascontiguousarray(G[self.order])
        return G

    def _indefinite(self, why: str) -> InvalidParameterError:
        return InvalidParameterError(
            "kernel",
            f"a kernel matrix that is not positive semidefinite ({why})",
            "a positive semidefinite kernel",
            "choose another kernel or other kernel_params",
        )

    def forget(self) -> None:
        """Drop K, which prediction does not need."""
        self.__dict__.pop("K", None)

    def transform(self, K: np.ndarray) -> np.ndarray:
        """Features of other examples from their kernel values with the training examples."""
        return np.asarray(solve_triangular(self.factor, K[:, self.order].T, lower=True).T)


def two_classes(
    gram: MatrixGram | KernelRows, encoded: np.ndarray, r: np.ndarray, gamma: float, tol: float,
    start: np.ndarray | None, max_iter: int, report: Any,
) -> TrainingResult:  # fmt: skip
    """The (smooth) hinge of two classes, whose rows of W are -w and w: an SVM without a free offset.

    ``gram`` is 2 K. With b_i = y_i a_i, y = +-1, and f = 2 K b, the difference of the scores,

    P = 1/2 <b, f> + sum_i r_i L(1 - y_i f_i),   D = sum_i a_i - gamma/2 a_i^2/r_i - 1/2 <b, f>
    """
    n, y = len(encoded), np.where(encoded == 1, 1.0, -1.0)
    found = kernel_smo.train(
        gram, y, r, gamma=gamma, free=False, tol=tol, max_iter=max_iter, most=budget(n),
        report=report, start=start,
    )  # fmt: skip
    a, b = found.alpha, found.alpha * y

    def bounds(real: Any) -> tuple[float, float]:
        space = RowGram(gram, real) if isinstance(gram, KernelRows) else Gram(gram.K, real)
        eps, p, mass, smooth = space.eps, b.astype(real), r.astype(real), real(gamma)
        f, (square, off) = space.values(p), space.square(p)
        z = np.maximum(1 - y * f + space.slip(p) + 4 * eps * (1 + abs(f)), 0)
        paid = real(0)
        if gamma > 0.0:
            part = np.minimum(z / smooth, 1)
            z = part * (z - smooth / 2 * part)
            paid = smooth / 2 * (p * p / np.where(mass > 0, mass, 1)).sum()
        gain, wide = abs(p).sum(), (n + 16) * eps
        primal = ((square + off) / 2 + (mass * z).sum()) * (1 + wide)
        return up(primal), down(gain - paid - (square + off) / 2 - wide * (gain + paid + square))

    claimed = confirmed(precisions(2 * n * n), bounds, (found.primal, found.dual), tol)
    own = {field.name: getattr(found, field.name) for field in fields(Solution)}
    masses = sp.csr_array((a, (np.arange(n), 1 - encoded)), shape=(n, 2))
    masses.eliminate_zeros()
    return TrainingResult(np.stack([-b, b]), masses, claimed, **own)


def kernel_objectives(
    K: np.ndarray, A: np.ndarray, y: np.ndarray, r: np.ndarray, loss: Loss
) -> tuple[float, float]:
    """P and D of the model W = sum_i a_i phi(x_i)' whose dual is A (n, m), from the Gram matrix."""
    f = K @ A
    half = 0.5 * float(np.vdot(A, f))
    dual_variables = -A
    dual_variables[np.arange(len(y)), y] = 0.0
    dual = -float(loss.conjugates(dual_variables, r).sum()) - half
    return half + float(r @ loss.values(f, y)), dual
