"""What a quasi-Newton method remembers of its last steps."""

from collections.abc import Callable
from typing import Any

import numpy as np

MEMORY = 6  # pairs: 5 to 10 take as many steps


class Pairs:
    """Steps s and changes u of R's gradient, as rows, with all their products; newest last.

    What a step needs is then a few products of a matrix and a vector: no pair is read alone. They may be
    float32, half the memory, which costs no step more unless the problem is steep.
    """

    def __init__(self, size: int, dtype: Any = np.float64) -> None:
        self.S, self.U = np.empty((2, MEMORY, size), dtype)
        self.forget()

    def forget(self) -> None:
        """No pairs."""
        self.order: list[int] = []
        self.SS, self.SU = np.zeros((2, MEMORY, MEMORY))

    def widen(self) -> None:
        """Go on in float64, where rounding to float32 would be more than small curvatures tell."""
        if self.S.dtype != np.float64:
            held, n = (self.S, self.U), len(self.order)
            self.S, self.U = np.empty((2, MEMORY, self.S.shape[1]))
            self.S[:n], self.U[:n] = (part[:n] for part in held)

    def add(self, s: np.ndarray, u: np.ndarray) -> None:
        """One more pair; the oldest goes."""
        at = len(self.order) if len(self.order) < MEMORY else self.order.pop(0)
        self.order.append(at)
        self.S[at], self.U[at] = s.ravel(), u.ravel()
        held = sorted(self.order)
        S, U = self.S[: len(held)], self.U[: len(held)]
        self.SS[at, held] = self.SS[held, at] = S @ self.S[at]
        self.SU[at, held], self.SU[held, at] = U @ self.S[at], S @ self.U[at]

    def direction(self, gradient: np.ndarray, C: float, first: Callable) -> np.ndarray:
        """The two loops of L-BFGS, for changes s + C u; ``first`` applies the first matrix's inverse."""
        if not self.order:
            return np.asarray(first(gradient))
        n, kind = len(self.order), self.S.dtype
        S, U = self.S[:n], self.U[:n]
        across = self.SS[:n, :n] + C * self.SU[:n, :n]  # s_i'c_j
        weights = np.zeros(n)
        along = S @ gradient.ravel().astype(kind, copy=False)
        for i in reversed(self.order):
            weights[i] = (along[i] - across[i] @ weights) / across[i, i]
        rest = gradient.ravel() - S.T @ weights.astype(kind)
        rest -= U.T @ (C * weights).astype(kind)
        z = np.asarray(first(rest.reshape(gradient.shape))).ravel()
        last = self.order[-1]
        np.multiply(self.U[last], C, out=rest)
        rest += self.S[last]
        z *= across[last, last] / np.vdot(rest, first(rest.reshape(gradient.shape)))
        del rest
        short = z.astype(kind, copy=False)
        along, added = S @ short + C * (U @ short), np.zeros(n)
        del short
        for i in self.order:
            added[i] = weights[i] - (along[i] + across[:, i] @ added) / across[i, i]
        z += S.T @ added.astype(kind)
        return z.reshape(gradient.shape)
