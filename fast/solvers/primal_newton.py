"""Semismooth Newton in the primal, for smooth losses (gamma > 0).

P is continuously differentiable and piecewise quadratic: with p_i the projection of the margins on
Delta_k(gamma) and x_i = r_i p_i / gamma the gradient is W - X'A, and its generalised derivative is
I + sum_i (r_i/gamma) x_i x_i' (x) T_i, where T_i projects on the tangent space of the face that
p_i lies in. Each step is a Newton direction by conjugate gradients, whose products are two matrix
products in float32, and a line search on the scores alone.

The certificate is free: A is dual feasible, every Fenchel-Young residual is zero, and
P(W) - D(A) = ||W - X'A||^2 / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._numba import kernel

from .active_list import ALPHA, smooth_loss
from .face_newton import classify, to_tangent
from .rows import is_sparse, scores
from .state import TrainingState


@kernel
def smooth_rows(f, y, loss, out_loss, p_all, work):
    """Loss of each row of the scores ``f`` and its dual direction p (row of p_all, p_y = 0)."""
    variant, k, gamma = loss
    m = f.shape[1]
    z, p, scratch = work[0, : m - 1], work[1, : m - 1], work[2, : m - 1]
    for i in range(f.shape[0]):
        t = 0
        for j in range(m):
            if j != y[i]:
                z[t] = f[i, j] - f[i, y[i]] + 1.0
                t += 1
        out_loss[i] = smooth_loss(variant, z, k, gamma, p, scratch)
        t = 0
        p_all[i, y[i]] = 0.0
        for j in range(m):
            if j != y[i]:
                p_all[i, j] = p[t]
                t += 1


@kernel
def losses_along(f, step, length, y, loss, out_loss, work):
    """Loss of each row of f + length*step, nothing stored."""
    variant, k, gamma = loss
    m = f.shape[1]
    z, p, scratch = work[0, : m - 1], work[1, : m - 1], work[2, : m - 1]
    for i in range(f.shape[0]):
        own = f[i, y[i]] + length * step[i, y[i]]
        t = 0
        for j in range(m):
            if j != y[i]:
                z[t] = f[i, j] + length * step[i, j] - own + 1.0
                t += 1
        out_loss[i] = smooth_loss(variant, z, k, gamma, p, scratch)


@kernel
def curved_rows(p_all, loss, r, members, kinds, full):
    """Rows whose face has a positive dimension, with the kinds of their entries."""
    variant, k, gamma = loss
    q = 0
    for i in range(p_all.shape[0]):
        if not r[i] > 0.0:
            continue
        s = 0.0
        for j in range(p_all.shape[1]):
            s += p_all[i, j]
        dim, saturated = classify(p_all[i], p_all.shape[1], s, gamma, variant, k, kinds[q])
        if dim > 0:
            members[q] = i
            full[q] = saturated
            q += 1
    return q


@kernel
def curvature_rows(V, y, weight, loss, kinds, full):
    """V_i <- (r_i/gamma) T_i V_i in place, with the entry at y_i that makes the row sum zero."""
    variant, k, _ = loss
    for i in range(V.shape[0]):
        own = V[i, y[i]]
        for j in range(V.shape[1]):
            V[i, j] -= own
        to_tangent(V[i], V.shape[1], kinds[i], full[i], variant == ALPHA, k)
        s = 0.0
        for j in range(V.shape[1]):
            V[i, j] *= weight[i]
            s += V[i, j]
        V[i, y[i]] = -s


class PrimalNewtonSolver:
    """Trains one smooth top-k hinge model; see :func:`fast.models.multiclass_erm.train`."""

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m = X, y, r, m
        self.loss = (loss.variant, loss.k, float(loss.gamma))
        n = X.shape[0]
        size = float(max(X.max(), -X.min()))
        fits = max(size * size / loss.gamma, size, 1.0) * float(r.max()) * n < 1e25
        self.X32 = X.astype(np.float32 if fits else np.float64)  # directions may be inaccurate
        self.W = np.zeros((m, X.shape[1]))
        self.p = np.zeros((n, m))
        self.best = np.zeros((n, m))  # the p of the best dual so far
        self.losses = np.zeros(n)
        self.work = np.zeros((3, max(m, 2)))

    def start_cold(self) -> None:
        """W = 0."""

    def start_warm(self, dual: sp.csr_array) -> None:
        """W = X'A of a feasible dual, which counts as the best one until a better is met."""
        scale = np.divide(self.loss[2], self.r, out=np.zeros_like(self.r), where=self.r > 0.0)
        self.best = dual.toarray() * scale[:, None]
        self.W = self._primal_of(dual.toarray())

    def _primal_of(self, x: np.ndarray) -> np.ndarray:
        """W = X'A, (m, d), for masses x (n, m) with x[i, y_i] = 0 (consumed)."""
        np.negative(x, out=x)
        x[np.arange(len(self.y)), self.y] = -x.sum(axis=1)
        product = self.X.T @ x if is_sparse(self.X) else x.T @ self.X
        return np.ascontiguousarray((product.T if is_sparse(self.X) else product), np.float64)

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Newton steps until state.gap <= tol, or max_iter, or the callback stops."""
        gamma = self.loss[2]
        n = len(self.y)
        members, full = np.empty(n, np.int64), np.empty(n, np.bool_)
        kinds = np.empty((n, self.m), np.int8)
        f = scores(self.X, self.W, 0, n)
        for iteration in range(state.n_iter + 1, max_iter + 1):
            smooth_rows(f, self.y, self.loss, self.losses, self.p, self.work)
            half = 0.5 * float(np.vdot(self.W, self.W))
            primal = half + float(self.r @ self.losses)
            gradient = self.W - self._primal_of(self.p * (self.r / gamma)[:, None])
            gap = 0.5 * float(np.vdot(gradient, gradient))
            dual = state.dual
            if primal - gap > dual:
                dual = primal - gap
                self.best[:] = self.p
            state.record(iteration, primal, dual, self.W)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return
            q = curved_rows(self.p, self.loss, self.r, members, kinds, full)
            direction = self._direction(gradient, members[:q], kinds[:q], full[:q])
            step = scores(self.X, direction, 0, n)
            length = self._line_search(f, step, direction, gradient, primal)
            if length == 0.0:
                return
            self.W += length * direction
            f += length * step
            if iteration % 10 == 0:  # the running sum of scores drifts
                f = scores(self.X, self.W, 0, n)

    def _direction(
        self, gradient: np.ndarray, members: np.ndarray, kinds: np.ndarray, full: np.ndarray
    ) -> np.ndarray:
        """Conjugate gradients on (I + X'TX) d = -gradient, in float32."""
        rows = self.X32[members]
        y = self.y[members]
        weight = (self.r[members] / self.loss[2]).astype(rows.dtype)
        residual = (-gradient).astype(rows.dtype)
        d = np.zeros_like(residual)
        search = residual.copy()
        rho = start = float(np.vdot(residual, residual))
        target = start * min(0.01, max(1e-8, start / (1.0 + start)))
        for _ in range(60):
            V = np.ascontiguousarray(rows @ search.T)
            curvature_rows(V, y, weight, self.loss, kinds, full)
            image = search + (rows.T @ V).T
            curvature = float(np.vdot(search, image))
            if not curvature > 0.0:  # underflow
                return -gradient
            length = rho / curvature
            d += length * search
            residual -= length * image
            new = float(np.vdot(residual, residual))
            if new <= target:
                break
            search = residual + (new / rho) * search
            rho = new
        return d.astype(np.float64)

    def _line_search(
        self,
        f: np.ndarray,
        step: np.ndarray,
        direction: np.ndarray,
        gradient: np.ndarray,
        primal: float,
    ) -> float:
        """Armijo backtracking on P(W + t d); the scores are affine in t."""
        slope = float(np.vdot(gradient, direction))
        cross, half = float(np.vdot(self.W, direction)), 0.5 * float(np.vdot(direction, direction))
        base = 0.5 * float(np.vdot(self.W, self.W))
        length = 1.0
        for _ in range(40):
            losses_along(f, step, length, self.y, self.loss, self.losses, self.work)
            value = base + length * cross + length * length * half + float(self.r @ self.losses)
            if value <= primal + 1e-4 * length * slope + 1e-15 * abs(primal):
                return length
            length *= 0.5
        return 0.0

    def masses(self) -> sp.csr_array:
        """The dual as a CSR array (n, m): mass of each example on the other classes."""
        return sp.csr_array(self.best * (self.r / self.loss[2])[:, None])
