"""Driver of the active-list solver: check, face Newton step, passes, until the gap is certified.

A round begins with a *check*, one matrix product that yields every example's loss, its
Fenchel-Young gap and its new list. Then, where it has paid off, comes one Newton step on the
current face, and then passes of exact block updates over the examples whose gap matters, until a
pass earns less than the round has earned on average for the same work, the check included. Work is
estimated from counts (nanoseconds per list entry and per score, measured once), not timed: the
same data and seed give the same model.

Where weights are few and rounds creep, the interior point method finds the best dual of the examples whose gap matters,
the others as they are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .active_face_newton import FaceNewton, Problem
from .rows import as_rows, blocks_of, is_sparse, scores, squared_norms
from .simplex_interior import SimplexInteriorSolver
from .state import TrainingState, block_length
from .working_set import active_pass, primal_from_dual, refresh_rows, squared_masses

ROOM = 4_000_000  # list entries that smooth losses, with their long supports, may take at once
MAX_PASSES = 60  # of the active examples between two checks
ROUND = 3e5  # nanoseconds that a round takes besides
TRIAL, STAKE = 3, 0.1  # checks, and part of the rival's time, before a race can be lost
DOUBTS = 3  # forecasts running that have to say so
SURE = 1.25  # times the rival's time: what is foretold may be as wrong
SHARE = 0.05  # of the rival's time: no round takes longer
CACHE = 4e6  # bytes; beyond them rows are waited for
FACES, INNER, ZERO = 3, 60, 1e-7  # faces left to the interior point method, its steps, and parts of r that are none
SMALL, REST = 0.3, 0.1  # of the rival's time, up to which faces are tried, and of the gap, which they leave
LEAST = 20_000  # numbers n m d from which on they are


class Race:
    """Against another method, which takes ``rival`` nanoseconds: whether to leave the rest to it.

    The rest takes as long as gaps have fallen in the last half of the way. The more has been spent, the
    nearer the end has to be. So say ``DOUBTS`` checks running: the first forecasts are off by ten times.
    """

    def __init__(self, rival: float = np.inf) -> None:
        self.rival, self.work, self.further, self.lost = rival, 0.0, 0.0, False
        self.begin()

    def begin(self) -> None:
        """Another start."""
        self.way, self.doubts = [(self.work, 1.0)], 0

    def lost_at(self, work: float, gap: float, tol: float) -> bool:
        """After so much more work, and with this gap."""
        self.work += work
        self.way.append((self.work, gap))
        if len(self.way) < TRIAL or self.work < STAKE * self.rival:
            return False
        before, wide = self.way[len(self.way) // 2]
        fall = max(np.log(wide / gap), 1e-9)
        again = self.lost_with((self.work - before) * np.log(gap / tol) / fall)
        self.doubts = self.doubts + 1 if again else 0
        self.lost = self.doubts >= DOUBTS
        return self.lost

    def lost_with(self, rest: float) -> bool:
        """When so much work seems to be left, and ``further`` times the whole after it."""
        rest += self.further * (self.work + rest)
        self.lost = rest * (1.0 + self.work / self.rival) > SURE * self.rival
        return self.lost


def packed(lists: tuple[np.ndarray, np.ndarray, np.ndarray], m: int) -> sp.csr_array:
    """Lists (index, value, count) as CSR (n, m), in their order, with their zeros."""
    index, value, count = lists
    taken = np.arange(index.shape[1]) < count[:, None]
    ends = np.concatenate([[0], np.cumsum(count)])
    return sp.csr_array((value[taken], index[taken], ends), shape=(len(count), m))


def unpacked(dual: Any, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists (index, value, count) of the entries of CSR, with ``room`` for more."""
    count = np.diff(dual.indptr).astype(np.int64)
    shape = len(count), max(room, int(count.max(initial=0)))
    index, value = np.zeros(shape, np.int32), np.zeros(shape)
    taken = np.arange(shape[1]) < count[:, None]
    index[taken], value[taken] = dual.indices, dual.data
    return index, value, count


class ActiveSetSolver:
    """Trains one top-k hinge model, also smoothed or squared; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "lists"
    WHOLE = True  # lists of all examples, beside all rows

    # listed are the classes within REACH * ||x_i|| * sqrt(2 gap) of the margin
    REACH, SMOOTH_REACH = 0.15, 0.001
    PATIENCE = 0.4  # a round ends when a pass earns less than this share of the average rate

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m = X, y, r, m
        self.loss = _, k, gamma, _ = loss.structure(m - 1)
        n, d = X.shape
        apart = self.WHOLE and k == 1 and not any(self.loss[2:]) and n * m * d > LEAST
        self.given, self.faces = loss, FACES if apart else 0
        self.rng = np.random.default_rng(seed)
        self._measure()
        others = m - 1
        self.keep = min(others, k + (4 if gamma == 0.0 else 16))
        listed = n if self.WHOLE else 0
        empty = np.zeros((listed, 0), np.int32), np.zeros((listed, 0)), np.zeros(listed, np.int64)
        self.lists: tuple[np.ndarray, np.ndarray, np.ndarray] = empty
        roomy = gamma > 0.0 and n * others <= ROOM
        self._make_lists(others if roomy else min(others, 2 * self.keep + 4))
        self.entry_cost, self.check_cost = self.costs()
        self.pace = self._nanoseconds() / self.entry_cost
        self.mass = np.zeros(n)
        self.losses, self.gaps = np.zeros(n), np.zeros(n)
        self.race = Race()
        self._prepare(n, d, m)

    def _measure(self) -> None:
        """Norms of rows, and how many entries they have."""
        self.squares, self.sparse = squared_norms(self.X), is_sparse(self.X)
        self.width = self.X.nnz / len(self.y) if self.sparse else self.X.shape[1]

    def _prepare(self, n: int, d: int, m: int) -> None:
        """What depends on how X and W lie in memory."""
        self.rows, self.W = as_rows(self.X), np.zeros((m, d))
        self.work, self.newton = np.zeros((6, max(m, 2))), FaceNewton(m, d)

    def _make_lists(self, capacity: int) -> None:
        """Room for ``capacity`` classes per example; what the lists hold is kept."""
        n, old = self.lists[0].shape
        index, value = np.zeros((n, capacity), np.int32), np.zeros((n, capacity))
        index[:, :old], value[:, :old] = self.lists[0], self.lists[1]
        self.lists = (index, value, self.lists[2])

    def costs(self) -> tuple[float, float]:
        """Nanoseconds per list entry, and per check."""
        sparse, width = self.sparse, self.width
        check = len(self.y) * (30.0 + self.m * (1.5 + (0.6 if sparse else 0.03) * width))
        return 15.0 + (1.2 if sparse else 0.3) * width, check

    def _nanoseconds(self) -> float:
        """What an entry takes with all that belongs to it, in a race."""
        far = len(self.y) * (8.0 * self.width + 12.0 * self.lists[0].shape[1]) / CACHE
        return 30.0 + (1.4 if self.sparse else 0.35) * self.width + 10.0 * min(far, 3.0)

    # -- starting points ----------------------------------------------------------------------
    def start_cold(self) -> None:
        """Lists from the distances to the class means; no dual mass."""
        means = self._class_means()
        offset = -0.5 * np.einsum("ij,ij->i", means, means)
        self._refresh(means, offset, np.full(len(self.y), np.inf))

    def _class_means(self) -> np.ndarray:
        n = len(self.y)
        counts = np.maximum(np.bincount(self.y, minlength=self.m), 1)
        pick = sp.csr_array((1.0 / counts[self.y], (self.y, np.arange(n))), shape=(self.m, n))
        means = pick @ self.X
        return means.toarray() if is_sparse(means) else np.asarray(means, dtype=np.float64)

    def start_warm(self, dual: Any) -> None:
        """Lists from a feasible dual, CSR (n, m) of dual variables of the other classes."""
        self._take_lists(dual)
        self._sum_weights()
        self._refresh(self.W, None, self.REACH * np.sqrt(self.squares))

    def _sum_weights(self) -> None:
        """W = X'A and the dual variables, anew from the lists."""
        primal_from_dual(self.rows, self.y, self.lists, self.mass, self.W)

    def _take_lists(self, dual: Any) -> None:
        self.lists = unpacked(dual, self.lists[0].shape[1])

    resume = start_warm

    # -- a round ------------------------------------------------------------------------------
    def _refresh(
        self, W: np.ndarray, offset: Any, reach: np.ndarray, negligible: float = -np.inf
    ) -> None:
        n = len(self.y)
        size = block_length(self.m)
        crowded = longest = 0
        examples, near = (self.y, self.r), (reach, negligible, self.keep)
        out = self.losses, self.gaps
        for first in range(0, n, size):
            f = scores(self.X, W, first, min(n, first + size))
            if offset is not None:
                f += offset
            short, support = refresh_rows(
                f, first, examples, near, self.loss, self.lists, out, self.work
            )
            crowded += short
            longest = max(longest, support)
        self._lengthen(crowded, longest)

    def _lengthen(self, crowded: int, longest: int) -> None:
        """Longer lists, where so many were too short and one should have been ``longest``."""
        if crowded:
            self.keep = min(self.m - 1, max(2 * self.keep, longest + 8))
            if self.lists[0].shape[1] < self.m - 1:
                self._make_lists(min(self.m - 1, max(2 * self.lists[0].shape[1], self.keep + 8)))

    def check(self, gap: float, negligible: float) -> tuple[float, float]:
        """Primal and dual objective at the current point; lists are renewed."""
        share = self.SMOOTH_REACH if self.loss[2] > 0.0 else self.REACH
        reach = share * np.sqrt(2.0 * max(gap, 0.0)) * np.sqrt(self.squares)
        self._refresh(self.W, None, reach, negligible)
        half = 0.5 * float(np.vdot(self.W, self.W))
        primal = half + float(self.r @ self.losses)
        return primal, self.dual_objective(half)

    def dual_objective(self, half_norm: float) -> float:
        """D = sum_i <1,x_i> - (gamma ||x_i||^2 + price <1,x_i>^2)/(2 r_i) - ||W||^2/2."""
        value = float(self.mass.sum()) - half_norm
        flat = not any(self.loss[2:])
        return value if flat else value - 0.5 * squared_masses(self.r, self.loss, self.lists)

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Rounds until state.gap <= tol, or max_iter, or the callback stops."""
        loss, rng, negligible = self.loss, self.rng, -np.inf
        newton_from, failures, rate, spent, mine = 3, 0, 0.0, self.check_cost, Race()
        ratio, tail = 1.0, 0.1
        for iteration in range(state.n_iter + 1, max_iter + 1):
            problem, active = self._at_hand(negligible)
            if iteration > newton_from:
                budget = spent / self.entry_cost
                gain, visited = self.newton.step(problem, self.W, active, self.work, budget)
                self.race.work += self.pace * visited * self.entry_cost
                failures = failures + 1 if gain < 0.5 * rate * visited * self.entry_cost else 0
                newton_from = iteration + min(failures, 3)
            r = problem[2]
            idle = np.zeros(len(r), np.int8)
            if len(active) == 0:  # every gap is rounding, the certificate is not there yet
                active = np.flatnonzero(r > 0.0)
            order = rng.permutation(active)
            n_order, total, spent, last = len(order), 0.0, self.check_cost, 0.0
            enough = tail * tol * abs(state.primal)
            for p in range(MAX_PASSES):
                if p:
                    rng.shuffle(order[:n_order])
                gain, n_order, visited = active_pass(
                    *problem, self.W, order, n_order, idle, self.work
                )
                total += gain
                spent += visited * self.entry_cost
                rate = gain / (visited * self.entry_cost)
                ratio = gain / last if 0.0 < gain < last else ratio
                last = gain
                if n_order == 0 or rate * spent < self.PATIENCE * total:
                    break
                if self.pace * spent > SHARE * self.race.rival:
                    break
                if loss[2] > 0.0 and gain * ratio < enough * (1.0 - ratio):
                    tail *= 0.1  # gains fall geometrically, their tail is negligible; if the
                    break  # check disagrees, the next round waits for more
            negligible = 0.1 * tol * abs(state.primal) / len(self.y) if state.history else 0.0
            gap = state.absolute_gap
            if self.loss[2] > 0.0:  # strongly concave duals converge fast: the gains tell how far
                gap = min(gap, 20.0 * gain)
            primal, dual = self.check(gap, negligible)
            state.record(iteration, primal, dual, self.W)
            state.done = state.gap <= tol and self._certify(state, tol)
            if report(state):
                break
            if state.done:
                return
            if self.race.lost_at(self.pace * spent + ROUND, state.gap, tol):
                break
            if self.faces and len(mine.way) >= TRIAL:
                face = self._face(negligible)
                mine.rival = self._face_cost(len(face), tol)
            if mine.lost_at(self.pace * spent + ROUND, state.gap, tol):
                self._solve_face(face, REST * tol * abs(state.primal))
                mine, newton_from = Race(), iteration + 1
        self._certify(state, tol)

    def _at_hand(self, negligible: float) -> tuple[Problem, np.ndarray]:
        """What kernels ask of the rows in memory, and which of those matter."""
        problem = self.rows, self.y, self.r, self.squares, self.loss, self.lists, self.mass
        return problem, np.flatnonzero((self.gaps > negligible) & (self.r > 0.0))

    def _face(self, negligible: float) -> np.ndarray:
        """Examples whose gap matters, or whose mass is neither 0 nor all of r."""
        inside = (self.mass > 0.0) & (self.lists[1].max(axis=1, initial=0.0) < self.r)
        return np.flatnonzero(((self.gaps > negligible) | inside) & (self.r > 0.0))

    def _face_cost(self, count: int, tol: float) -> float:
        """Nanoseconds of `_solve_face` for so many examples; inf where it is not for them."""
        rows = self.X[:count]
        if not self.faces or not count or not SimplexInteriorSolver.affordable(rows, self.m):
            return np.inf
        found = SimplexInteriorSolver.nanoseconds(rows, self.m, self.given, tol)
        return found if found <= SMALL * self.race.rival else np.inf

    def _solve_face(self, at: np.ndarray, goal: float) -> None:
        """The best dual of the examples ``at``, up to ``goal``, where all others stay as they are."""
        self.faces -= 1
        self._sum_weights()
        rows = self.X[at].astype(np.float64)
        A = blocks_of(packed(self.lists, self.m)[at], self.y[at])
        inner = SimplexInteriorSolver(rows, self.y[at], self.r[at], self.m, self.given, 0)
        inner.offset = (self.W - A.T @ rows) @ rows.T
        state = TrainingState()
        inner.run(state, 0.0, INNER, lambda state: state.absolute_gap <= goal)
        before = self.dual_objective(0.5 * float(np.vdot(self.W, self.W)))
        old = [part.copy() for part in self.lists]
        self._take_face(at, inner.dual_variables().toarray())
        self._sum_weights()
        if not self.dual_objective(0.5 * float(np.vdot(self.W, self.W))) > before:
            self.lists = old[0], old[1], old[2]
            self._sum_weights()

    def _take_face(self, at: np.ndarray, x: np.ndarray) -> None:
        """Lists of the examples ``at`` from their masses (len(at), m), those next to 0 left out."""
        r = self.r[at, None]
        x = np.where(x > ZERO * r, x, 0.0)
        x = np.where(x >= (1.0 - ZERO) * r, r, x)
        x *= np.minimum(1.0, r / np.maximum(x.sum(axis=1, keepdims=True), r))
        count = np.count_nonzero(x, axis=1)
        if count.max() > self.lists[0].shape[1]:
            self._make_lists(min(self.m - 1, int(count.max())))
        index, value, counts = self.lists
        counts[at], taken = count, np.arange(index.shape[1]) < count[:, None]
        which, classes = np.nonzero(x)
        rows, places = np.nonzero(taken)
        index[at[rows], places], value[at[rows], places] = classes, x[which, classes]

    def _certify(self, state: TrainingState, tol: float) -> bool:
        """The dual objective again, with W = X'A summed anew: rounding must not certify."""
        self._sum_weights()
        state.claim(state.primal, self.dual_objective(0.5 * float(np.vdot(self.W, self.W))))
        return state.gap <= tol

    def dual_variables(self) -> sp.csr_array:
        """The dual as a CSR array (n, m): mass of each example on the other classes."""
        out = packed(self.lists, self.m)
        out.eliminate_zeros()
        out.sort_indices()
        return out
