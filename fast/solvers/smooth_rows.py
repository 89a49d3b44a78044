"""Smooth top-k hinges, row by row, in the form that Newton's method asks for.

The loss is piecewise quadratic: with p the projection of the margins on Delta_k(gamma) the gradient
in the others is x = p/gamma, and the generalised Hessian T/gamma, where T projects on the tangent
space of the face that p lies in.
"""

from typing import Any

import numpy as np

from fast._numba import kernel
from fast.kernels.hinges import ALPHA, by_loss, project_row

from .active_face_newton import classify, to_tangent
from .working_set import smoothed


@by_loss(3)
def smooth_rows(f, y, r, loss, losses, A, faces, work):
    """Losses, A_i = r_i g_i, and the face that p_i lies in, of every row of the scores."""
    variant, k, gamma = loss
    kinds, full, dim = faces
    m = f.shape[1]
    z, p, scratch = work[0, : m - 1], work[1, : m - 1], work[2, : m - 1]
    own_row = work[3, :m]
    for i in range(f.shape[0]):
        own = y[i]
        t = 0
        for j in range(m):
            if j != own:
                z[t] = f[i, j] - f[i, own] + 1.0
                t += 1
        project_row(variant, z, k, gamma, 0.0, p, scratch)
        losses[i] = smoothed(z, p, gamma)
        t = 0
        s = 0.0
        own_row[own] = 0.0
        for j in range(m):
            if j != own:
                own_row[j] = p[t]
                s += p[t]
                A[i, j] = r[i] * (p[t] / gamma)
                t += 1
        A[i, own] = -r[i] * (s / gamma)
        dim[i], full[i] = classify(own_row, m, s, gamma, variant, k, kinds[i])


@kernel
def curved(V, members, y, weight, loss, kinds, full):
    """V_q <- (r_i/gamma) T_i V_q in place, with the entry at y_i that makes the row sum zero."""
    variant, k, _ = loss
    for q in range(V.shape[0]):
        i = members[q]
        own = V[q, y[i]]
        for j in range(V.shape[1]):
            V[q, j] -= own
        to_tangent(V[q], V.shape[1], kinds[i], full[i], variant == ALPHA, k)
        s = 0.0
        for j in range(V.shape[1]):
            V[q, j] *= weight[i]
            s += V[q, j]
        V[q, y[i]] = -s


class SmoothRows:
    """Losses, gradients and Hessian products of all examples for one smooth top-k hinge."""

    single = False  # faces are told apart in float64

    def __init__(self, loss: Any, y: np.ndarray, r: np.ndarray, m: int) -> None:
        n = len(y)
        self.loss = loss.parameters(m - 1)
        self.y, self.r = y, r
        self.weight = r / loss.gamma
        self.losses = np.zeros(n)
        self.kinds = np.empty((n, m), np.int8)
        self.full, self.dim = np.empty(n, np.bool_), np.zeros(n, np.int64)
        self.work = np.zeros((4, max(m, 2)))

    def evaluate(self, f: np.ndarray, A: np.ndarray) -> float:
        """Sum of r_i L_i; A receives r_i times the gradients in the scores."""
        faces = self.kinds, self.full, self.dim
        smooth_rows(f, self.y, self.r, self.loss, self.losses, A, faces, self.work)
        return float(self.r @ self.losses)

    def members(self, squares: np.ndarray) -> np.ndarray:
        """Examples on a face of positive dimension."""
        return np.flatnonzero((self.dim > 0) & (self.r > 0.0))

    def mean_curvature(self) -> float:
        """Average eigenvalue of the Hessians in the scores."""
        m = self.kinds.shape[1]
        return float(self.weight @ self.dim) / (float(self.r.sum()) * (m - 1))

    def curvatures(self) -> np.ndarray:
        """The same of every r_i H_i, (n,)."""
        return np.asarray(self.weight * self.dim / (self.kinds.shape[1] - 1))

    def summed(self) -> np.ndarray | None:
        """Sum of r_i H_i, (m, m): not at hand."""
        return None

    def pairs(self) -> None:
        """What is left of the diagonals of r_i H_i: not at hand."""
        return None

    def curve(self, V: np.ndarray, members: np.ndarray) -> None:
        """V_q <- r_i H_i V_q in place, i = members[q]; at the point last evaluated."""
        curved(V, members, self.y, self.weight, self.loss, self.kinds, self.full)

    def at_zero(self) -> None:
        """No closed form is needed here."""
        return None
