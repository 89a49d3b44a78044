"""What quasi-Newton steps need of a block of examples: pure functions, whose sums passes form."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .passes import Block
from .rows import is_sparse

FEW = 64  # classes up to which their mean Hessian is


def transposed(X: Any, A: np.ndarray) -> np.ndarray:
    """A'X, (m, d), in float64."""
    return np.asarray((X.T @ A).T if is_sparse(X) else A.T @ X, dtype=np.float64)


def slopes_at(block: Block, f: np.ndarray) -> tuple[np.ndarray, Any]:
    """w_i times the gradients in the scores f, and the loss's rows if it has curvature."""
    _, y, w, loss, m, _ = block
    if "curvature" not in loss.capabilities:
        return np.asarray(loss.gradient(f, y, sample_weight=w)), None
    held, A = loss.rows(y, w, m), np.empty_like(f)
    held.curved = m <= FEW
    held.evaluate(f, A)
    return A, held


def at_weights(block: Block, W: np.ndarray) -> tuple[float, float, Any, np.ndarray]:
    """Of a block at W' (d, m): the risk, two sums of curvature in the scores, and the gradient."""
    X, y, w, loss, m, _ = block
    f = np.ascontiguousarray(X @ W)
    A, held = slopes_at(block, f)
    if held is None:
        risk = float(np.sum(loss.value(f, y, sample_weight=w)))
        return risk, (1.0 - 1.0 / m) / m * float(w.sum()), None, transposed(X, A)
    risk, bend = float(w @ held.losses), float(held.curvatures().sum())
    return risk, bend, held.summed() if m <= FEW else None, transposed(X, A)


def slopes_of_weights(block: Block, W: np.ndarray) -> np.ndarray:
    """`slopes_at` the scores of W' (d, m)."""
    return slopes_at(block, np.ascontiguousarray(block.X @ W))[0]


def class_sums(block: Block) -> tuple[np.ndarray]:
    """Sums of w_i x_i over the examples of every class, (m, d)."""
    X, y, w, _, m, _ = block
    sums = sp.csr_array((w, (y, np.arange(len(y)))), shape=(m, len(y))) @ X
    return (np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=np.float64),)


def squares(block: Block) -> tuple[np.ndarray]:
    """The diagonal of X'wX."""
    X, w = block.X, block.w
    return (np.asarray(w @ (X.multiply(X) if is_sparse(X) else X * X), dtype=np.float64),)


def gram(block: Block) -> tuple[np.ndarray]:
    """X'wX."""
    rows = block.X * np.sqrt(block.w).astype(block.X.dtype)[:, None]
    return ((rows.T @ rows).astype(np.float64, copy=False),)


def power(block: Block, v: np.ndarray) -> tuple[np.ndarray]:
    """X'wX v."""
    X, w = block.X, block.w.astype(v.dtype)
    return (X.T @ (w * (X @ v)),)
