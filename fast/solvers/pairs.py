"""What a quasi-Newton method remembers of its last steps."""

from collections.abc import Callable

import numpy as np

MEMORY = 10  # pairs


class Pairs:
    """Steps s and changes u of R's gradient, as rows, with all their products; newest last.

    What a step needs is then a few products of a matrix and a vector: no pair is read alone.
    """

    def __init__(self, size: int) -> None:
        self.S, self.U = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self.forget()

    def forget(self) -> None:
        """No pairs."""
        self.order: list[int] = []
        self.SS, self.SU = np.zeros((2, MEMORY, MEMORY))

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
        n = len(self.order)
        S, U = self.S[:n], self.U[:n]
        across = self.SS[:n, :n] + C * self.SU[:n, :n]  # s_i'c_j
        g, weights = gradient.ravel(), np.zeros(n)
        along = S @ g
        for i in reversed(self.order):
            weights[i] = (along[i] - across[i] @ weights) / across[i, i]
        rest = g - S.T @ weights - U.T @ (C * weights)
        last = self.order[-1]
        change = self.S[last] + C * self.U[last]
        z = np.asarray(first(rest.reshape(gradient.shape))).ravel()
        scaled = np.asarray(first(change.reshape(gradient.shape))).ravel()
        z *= across[last, last] / (change @ scaled)
        along, added = S @ z + C * (U @ z), np.zeros(n)
        for i in self.order:
            added[i] = weights[i] - (along[i] + across[:, i] @ added) / across[i, i]
        z += S.T @ added
        return z.reshape(gradient.shape)
