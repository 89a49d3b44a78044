"""Examples as rows, dense or CSR, behind one set of kernels.

A kernel receives the tuple ``rows = (dense, data, indices, indptr)``; what is not there is an empty
array, and ``dense`` has two dimensions only if it is there: numba then drops the other branch at
compile time (a run-time flag made the kernels four times slower). Kernels unpack the tuple once,
and name rows of W by number instead of by view.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._numba import REORDER, kernel

FUSE = REORDER | {"contract"}  # fused multiply-add
TINY = 1e-290  # squared norms below it count as 0: dividing by them would overflow


def is_sparse(X: Any) -> bool:
    """Whether ``X`` is a scipy sparse array or matrix."""
    return bool(sp.issparse(X))


def dense(X: Any) -> np.ndarray:
    """As an array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def as_csr(x: np.ndarray) -> sp.csr_array:
    """The entries of an array that are not 0; scipy takes three times as long for few."""
    rows, columns = np.nonzero(x)
    ends = np.zeros(len(x) + 1, np.int32)
    np.cumsum(np.count_nonzero(x, axis=1), out=ends[1:])
    return sp.csr_array((x[rows, columns], columns.astype(np.int32), ends), shape=x.shape)


def blocks_of(dual_variables: Any, y: np.ndarray) -> np.ndarray:
    """A (n, m), whose rows sum to 0, of dual variables on the other classes."""
    x = dense(dual_variables)
    A = np.negative(x)
    A[np.arange(len(y)), y] = x.sum(axis=1)
    return A


def expanded(values: np.ndarray, kept: np.ndarray, n: int) -> np.ndarray:
    """Values (..., len(kept)) of some of n examples, and zeros for the others."""
    out = np.zeros((*values.shape[:-1], n))
    out[..., kept] = values
    return out


def as_rows(X: Any) -> tuple:
    """The kernels' view of ``X`` ((n, d), C-contiguous or CSR); nothing is copied."""
    none = np.empty(0, X.dtype)
    if is_sparse(X):
        parts = none, X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)
    else:
        empty = np.empty(0, np.int64)
        parts = X, none, empty, empty
    views = tuple(part.view() for part in parts)
    for view in views:  # always typed read-only: memory-mapped data need no kernels of their own
        view.flags.writeable = False
    return views


@kernel(forceinline=True, fastmath=FUSE)
def row_dot(dense, data, indices, indptr, i, W, j):
    """<x_i, W_j> in float64."""
    s = 0.0
    if dense.ndim == 1:
        for t in range(indptr[i], indptr[i + 1]):
            s += data[t] * W[j, indices[t]]
    else:
        for t in range(dense.shape[1]):
            s += dense[i, t] * W[j, t]
    return s


@kernel(forceinline=True, fastmath=FUSE)
def row_axpy(dense, data, indices, indptr, i, factor, W, j):
    """W_j += factor * x_i."""
    if dense.ndim == 1:
        for t in range(indptr[i], indptr[i + 1]):
            W[j, indices[t]] += factor * data[t]
    else:
        for t in range(dense.shape[1]):
            W[j, t] += factor * dense[i, t]


def squared_norms(X: Any) -> np.ndarray:
    """||x_i||^2 of every row, in float64; 0 below TINY."""
    if is_sparse(X):
        if not X.has_canonical_format:  # duplicates add up
            X = X.copy()
            X.sum_duplicates()
        parts = np.square(X.data, dtype=np.float64), X.indices, X.indptr
        squares = sp.csr_array(parts, shape=X.shape) @ np.ones(X.shape[1])
    else:
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return np.where(squares < TINY, 0.0, squares)


def scores(X: Any, W: np.ndarray, first: int, last: int) -> np.ndarray:
    """Rows first:last of X W' in float64, W (m, d)."""
    block = X[first:last]
    if is_sparse(block):
        return np.asarray(block @ W.T)
    return block.astype(np.float64, copy=False) @ W.T
