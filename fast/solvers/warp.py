"""Stochastic gradient steps on the WARP loss of a linear model or of one with an embedding.

L(y, f) = H_r/r sum over the v of V of (1 + f_v - f_y),   V = {v != y: f_v > f_y - 1}, r = |V|, H_r = sum_{j<=r} 1/j

(Weston, Bengio, Usunier 2011). For an example classes v != y are drawn, with replacement and at most m - 1 of
them, until one lies in V. If that is the q-th, r is taken to be (m-1)//q, and the step is one along
-H_r grad (f_v - f_y). f = Wx, or f = U V x with U (m, rank), V (rank, d). Not convex, and no bound follows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._interrupts import hold_back
from fast._numba import kernel
from fast.solvers.rows import as_rows, row_axpy, row_dot, scores, squared_norms
from fast.solvers.state import block_length

MODULUS, FACTOR = 2147483647, 48271  # of Park and Miller's generator


@dataclass
class Embedded:
    """W (m, d), or W = U V; ``loss`` the mean of L on the training data after each epoch, of W the least."""

    W: np.ndarray
    U: np.ndarray | None
    V: np.ndarray | None
    history: list[float]
    interrupted: bool = False


@kernel
def drawn(dense, data, indices, indptr, i, own, U, state):
    """A violating class, after how many draws (0: none in m - 1), its score and that of the own class."""
    others = U.shape[0] - 1
    right = row_dot(dense, data, indices, indptr, i, U, own)
    for q in range(1, others + 1):
        state[0] = state[0] * FACTOR % MODULUS
        v = state[0] % others
        if v >= own:
            v += 1
        wrong = row_dot(dense, data, indices, indptr, i, U, v)
        if wrong > right - 1.0:
            return v, q, wrong, right
    return own, 0, right, right


@kernel
def moved(dense, data, indices, indptr, i, factor, U, squares, j, score, size, bound):
    """U_j += factor x_i, then shortened to the bound; ``squares`` are the ||U_j||^2, ``size`` is ||x_i||^2."""
    row_axpy(dense, data, indices, indptr, i, factor, U, j)
    squares[j] += factor * (2.0 * score + factor * size)
    if squares[j] > bound * bound:
        shrink = bound / np.sqrt(squares[j])
        for t in range(U.shape[1]):
            U[j, t] *= shrink
        squares[j] = bound * bound


@kernel
def linear_epoch(rows, sizes, y, order, W, squares, harmonic, rate, bound, state):
    """A step for each example, in this order."""
    dense, data, indices, indptr = rows
    for i in order:
        v, q, wrong, right = drawn(dense, data, indices, indptr, i, y[i], W, state)
        if q > 0:
            f = rate * harmonic[(W.shape[0] - 1) // q]
            moved(dense, data, indices, indptr, i, f, W, squares, y[i], right, sizes[i], bound)
            moved(dense, data, indices, indptr, i, -f, W, squares, v, wrong, sizes[i], bound)


@kernel
def factored_epoch(
    rows, sizes, y, order, U, V, squares, lengths, harmonic, rates, bounds, state, h, g
):
    """The same for f = U V x, with room for h = V x (1, rank) and the difference g (rank,) of two rows of U.

    The step is divided by the larger of ||h||^2 and ||g||^2 where that exceeds 1.
    """
    dense, data, indices, indptr = rows
    for i in order:
        size, apart = 0.0, 0.0
        for c in range(V.shape[0]):
            h[0, c] = row_dot(dense, data, indices, indptr, i, V, c)
            size += h[0, c] * h[0, c]
        v, q, wrong, right = drawn(h, data, indices, indptr, 0, y[i], U, state)
        if q == 0:
            continue
        for c in range(V.shape[0]):
            g[c] = U[y[i], c] - U[v, c]
            apart += g[c] * g[c]
        weight = harmonic[(U.shape[0] - 1) // q] / max(size, apart, 1.0)
        f = rates[0] * weight
        moved(h, data, indices, indptr, 0, f, U, squares, y[i], right, size, bounds[0])
        moved(h, data, indices, indptr, 0, -f, U, squares, v, wrong, size, bounds[0])
        for c in range(V.shape[0]):
            f, reach = rates[1] * weight * g[c], h[0, c]
            moved(dense, data, indices, indptr, i, f, V, lengths, c, reach, sizes[i], bounds[1])


def loss(X: Any, y: np.ndarray, W: np.ndarray, harmonic: np.ndarray) -> float:
    """Mean of L, with the ranks themselves."""
    n, step, total = len(y), block_length(len(W)), 0.0
    ranked = np.append(0.0, harmonic[1:] / np.arange(1, len(harmonic)))
    for at in range(0, n, step):
        f = scores(X, W, at, min(at + step, n))
        own = y[at : at + step, None]
        margins = np.maximum(1.0 + f - np.take_along_axis(f, own, axis=1), 0.0)
        np.put_along_axis(margins, own, 0.0, axis=1)
        total += float(ranked[np.count_nonzero(margins, axis=1)] @ margins.sum(axis=1))
    return total / n


def train(
    X: Any, y: np.ndarray, m: int, *, rank: int | None, epochs: int, rate: float, bound: float,
    rng: np.random.RandomState, report: Callable[[int, float], None] = lambda epoch, loss: None,
) -> Embedded:  # fmt: skip
    """Steps of ``rate`` (1 - epoch/epochs), for x in units of the root mean square length of the rows.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64, C-contiguous
    y : (n,) int64 classes 0..m-1
    rank : int or None
        Of the embedding; None trains W.
    bound : float
        On the length of each row of W in that unit, or of U and V in those of the start; inf for none.
    report : callable
        Hears the number of each epoch and the loss after it.

    Returns
    -------
    Embedded
        The W after the epoch with the least training loss; also after KeyboardInterrupt.
    """
    n, d = X.shape
    rows, sizes = as_rows(X), squared_norms(X)
    square = float(sizes.mean()) or 1.0
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, m)))
    state = np.array([rng.randint(1, MODULUS)], np.int64)
    U, V = np.zeros((m, rank or d)), None
    if rank is not None:
        V = rng.standard_normal((rank, d)) / np.sqrt(rank * square)
        h, g = np.empty((1, rank)), np.empty(rank)
        bounds = bound * np.array([1.0, np.sqrt(d / (rank * square))])
    history: list[float] = []
    best: Any = None
    try:
        for epoch in range(epochs):
            step, order = rate * (1.0 - epoch / epochs), rng.permutation(n)
            given, squares = (rows, sizes, y, order, U), (U * U).sum(axis=1)
            if V is None:
                length = bound / np.sqrt(square)
                linear_epoch(*given, squares, harmonic, step / square, length, state)
            else:
                rates, lengths = np.array([step, step / square]), (V * V).sum(axis=1)
                factored_epoch(*given, V, squares, lengths, harmonic, rates, bounds, state, h, g)
            W = U if V is None else U @ V
            found = loss(X, y, W, harmonic)
            if not history or found < min(history):
                parts = (None, None) if V is None else (U.copy(), V.copy())
                best = Embedded(W.copy(), parts[0], parts[1], history)
            history.append(found)
            report(epoch + 1, found)
    except KeyboardInterrupt:
        if best is None:
            raise
        best.interrupted = True
    hold_back()
    return best


def _warmup() -> None:
    """Compile the kernels for dense float64 data."""
    X, y = np.eye(3), np.arange(3)
    for rank in (None, 2):
        rng = np.random.RandomState(0)
        train(X, y, 3, rank=rank, epochs=1, rate=0.1, bound=np.inf, rng=rng)
