"""Quasi-Newton steps in the primal with a homotopy in C, for any loss with a gradient.

P(W) = 1/2||W||^2 + C R(W), R = sum_i w_i L_i, C w_i = r_i. A pass evaluates R and its gradient in blocks
of rows; nothing of n times m numbers is kept. Steps are those of L-BFGS, whose first matrix is
I + C' (curvature in the scores) (x) X'wX in the eigenbasis of X'wX. C' grows from where the
regulariser rules to C as soon as the gap allows: pairs are kept as differences of W and of R's gradient,
so that they hold for every C'.

Passes go through float32 where the loss's rows allow it. The certificate is float64, and that of
`fast.solvers.primal_newton`: with A made of the gradients in the scores, P(W) - D(A) is half the
squared gradient of P.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fast.data import Source
from fast.data.io import fingerprint

from .block_sums import FEW, class_sums, slopes_at
from .checkpoint import Checkpoint
from .curvature_pairs import Pairs
from .first_pass import examined
from .initial_hessian import FirstMatrix
from .iterate import PATIENCE, Point, Walk, arrays_of, restored
from .multiclass_bounds import bounds_of_weights, sums_of_weights
from .primal_newton import SINGLE_GAP
from .primal_passes import PrimalPasses
from .rows import is_sparse
from .state import TrainingState

SMALL = 1_000_000  # n m d from which on float32 matters
MANY, SAVED = 100, 200.0  # features from which on steps win, products that their basis may cost
LARGE = 1 << 26  # m^2 from which on a pass at W = 0 is like any other
START, RAISE, READY = 4.0, 4.0, 0.3  # C' ||X'wX|| / m at first, its growth, the gap that allows it
SAMPLE, CHEAP = 500, 10_000  # rows that steps are measured on, and of how many that costs little
EXACT = 0.1  # of the slope that may be left there
STEEP = 1e4  # C ||X'wX|| / m from which on pairs are float64
USUAL = 0.67, 1.5  # lengths that say that 1 will do
TRUST = 0.2, 2.0  # how much one step changes what the sample is believed
LEAST = 2.0**-52  # of that: shorter steps change nothing
CERTIFY_EVERY = 20  # float32 steps between two certificates


class QuasiNewtonSolver(PrimalPasses):
    """Trains one smooth model; see :func:`fast.models.multiclass_erm.train`."""

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        super().__init__(X, y, r, m, loss)
        n, d = X.shape
        self.blocks = isinstance(X, Source)
        self.kept = not self.blocks  # in memory: so may be what is as long, if it is asked for
        self.path_cache = X.path_cache if self.blocks else {}
        size = float(max(X.max(), -X.min())) if self.kept else examined(X).largest
        curved = "curvature" in loss.capabilities
        self.plain = curved and getattr(loss, "dropped", None) is None  # all examples have one loss
        large = n * m * d > SMALL and max(size, 1.0) ** 2 * self.C * n < 1e25
        self.single = curved and large and loss.rows(y[:1], self.w[:1], m).single
        # of many classes a pass costs so much that a block of rows may be rounded each time
        if self.single and m <= FEW:
            self.passes.keep_short()
        self.scored: Any = None  # W that the sample's scores are of
        self.checkpoint: Checkpoint | None = None
        sample = np.sort(np.random.default_rng(seed).permutation(n)[:SAMPLE])
        some = self._known(("sample", seed), lambda: self.passes.some(sample).X)
        self.sample = self.passes.block(sample, some)  # the labels are of this fit
        self.trials = 2 if m <= FEW or n < CHEAP else np.inf  # usual steps that end measuring
        self.pairs = Pairs(m * d, np.float32 if self.single else np.float64)

    def _known(self, name: Any, make: Callable[[], Any]) -> Any:
        """What a fit before found of the same rows with the same weights."""
        w, known = self.path_cache.get(
            name, (None, None)
        )  # at once: another thread may fit to the rows
        if w is None or not np.array_equal(w, self.w):
            known = make()
            self.path_cache[name] = self.w, known
        return known

    @staticmethod
    def pays(X: Any, m: int) -> bool:
        """Whether the eigenbasis costs less than the products that Newton's method takes longer."""
        n, d = X.shape
        pairs = d / (2.0 * m) + 25.0 * d * d / (n * m)  # of matrix products
        return not is_sparse(X) and d >= MANY and d <= 2 * n and pairs <= SAVED

    # -- passes -------------------------------------------------------------------------------
    def _at_zero(self) -> Point:
        """The same at W = 0, where all examples of a class are alike: without products with W."""
        m, total = self.m, float(self.w.sum())
        mass = np.bincount(self.y, self.w, m)
        (sums,) = self.passes.total(class_sums)
        rows, A = self.loss.rows(np.arange(m), mass, m), np.empty((m, m))
        risk = rows.evaluate(np.zeros((m, m)), A)
        A /= np.where(mass > 0.0, mass, 1.0)[:, None]
        bend, bends = float(rows.curvatures().sum()), rows.summed() if m <= FEW else None
        return Point(
            risk, np.asarray(A.T @ sums), bend / total, None if bends is None else bends / total
        )

    # -- lengths ------------------------------------------------------------------------------
    def _decompose(self) -> None:
        """Make ready what steps begin with."""
        given = self.passes, self.sample, self.C, self.single
        self.first = FirstMatrix(*given, self._known)
        if self.C * self.first.largest > STEEP * self.m:
            self.pairs.widen()

    def _seen(self) -> np.ndarray:
        """The sample's scores."""
        if self.scored is not self.W:
            self.scored = self.W
            self.scores = np.ascontiguousarray(self.sample.X @ self.W.T)
        return self.scores

    def _length(self, z: np.ndarray, C: float, slope: float) -> float:
        """About the best length of a step, from some of the rows and the slope of all."""
        some = self.sample
        f, moved = self._seen(), np.ascontiguousarray(some.X @ z.T)
        scale = C * float(self.w.sum()) / max(float(some.w.sum()), 1e-300)
        square = float(np.vdot(z, z))

        def bent(t: float) -> float:
            return t * square - scale * float(np.vdot(slopes_at(some, f - t * moved)[0], moved))

        start = bent(0.0) + slope
        (low, below), (high, above), t = (0.0, -slope), (np.inf, np.inf), 1.0
        for _ in range(8):
            left = bent(t) - start
            if abs(left) <= EXACT * slope:
                break
            if left < 0.0:
                steep = max((left - below) / (t - low), 1e-300)
                low, below, ahead = t, left, t - left / steep
            else:
                high, above, ahead = t, left, np.inf
            if high < np.inf:  # the secant, inside
                rise = max(above - below, 1e-300)  # of an ascent, which rounding makes, it may be 0
                ahead = low - below * (high - low) / rise
                t = min(max(ahead, 0.9 * low + 0.1 * high), 0.1 * low + 0.9 * high)
            else:
                t = min(max(ahead, 1.5 * t), 4.0 * t)
        return t

    # -- steps --------------------------------------------------------------------------------
    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or the callback stops."""
        if state.n_iter >= max_iter:
            return
        self._decompose()
        at, point = self._resumed(state) or self._begun(state)
        while True:
            self.reached = at.iteration
            at.C, raised, primal, gradient, gap = self._raised(at.C, point)
            arrived = at.C == self.C and gap <= max(tol, 0.0 if at.double else SINGLE_GAP) * primal
            asked = state.pulse is not None and self._told(state, at.iteration, point)
            last = asked or at.iteration % CERTIFY_EVERY == 0 or at.iteration >= max_iter
            fresh = at.iteration > state.n_iter  # else a search failed, and W is as it was
            if fresh and (at.double or arrived or last):
                exact = point
                if not at.double:
                    if arrived and self._finished(state, at.iteration, tol, report):
                        return
                    at.double = arrived
                    exact = self._at(self.W, True)
                    if at.double:
                        point = exact
                        self.pairs.widen()
                if self._certified(state, at.iteration, exact, tol, max_iter, report):
                    return
                del exact  # as below: (m, d) numbers that nobody needs
                at.C, _, primal, gradient, gap = self._raised(at.C, point)
            better = raised or gap <= 0.5 * at.best
            at.patience = PATIENCE if better else at.patience - 1
            at.best = gap if better else at.best
            if at.patience == 0:
                self.pairs.forget()
                at.best, at.patience = gap, PATIENCE
            self.first.look(self._seen)
            solved = partial(self.first.solved, C=at.C, point=point)
            z = self.pairs.direction(gradient, at.C, solved)
            slope = float(np.vdot(gradient, z))
            if slope == 0.0:  # nothing is left of the gradient
                return
            del gradient
            t = at.trust * self._length(z, at.C, slope) if at.usual < self.trials else 1.0
            at.usual += USUAL[0] <= t <= USUAL[1]
            found = self._search(z, t, at.C, point, primal, slope, at.double)
            if found is None:
                if at.double and (at.failed or not self.pairs.order):
                    return
                at.failed, at.double = at.double, True
                self.pairs.forget()
                self.pairs.widen()
                point = self._at(self.W, True)
                continue
            W, following, at.failed = *found, False
            step, change = W - self.W, following.slopes - point.slopes
            fell = 1.0 - float(np.vdot(W + at.C * following.slopes, z)) / slope
            best = -float(np.vdot(step, z) / np.vdot(z, z)) / max(fell, TRUST[0])
            at.trust = max(at.trust * min(max(best / t, TRUST[0]), TRUST[1]), LEAST)
            if np.vdot(step, step) + at.C * np.vdot(step, change) > 0.0:
                self.pairs.add(step, change)
            self.W, point = W, following
            del step, change, z
            at.iteration += 1
            if self.checkpoint is not None:
                self.checkpoint.save(partial(arrays_of, self, state, at, point))

    def _told(self, state: TrainingState, iteration: int, point: Point) -> bool:
        """Say how far a pass has come; whether a certificate is asked for."""
        _, primal, _, gap = self._measured(self.C, point)
        state.passes, state.estimate = iteration, gap / primal
        return bool(state.pulse and state.pulse(state))

    def _begun(self, state: TrainingState) -> tuple[Walk, Point]:
        """The beginning of a run."""
        zero = self.plain and not self.W.any() and self.m * self.m <= LARGE
        point = self._at_zero() if zero else self._at(self.W, not self.single)
        return Walk(state.n_iter + 1, self._first_size(point), not self.single), point

    def _resumed(self, state: TrainingState) -> tuple[Walk, Point] | None:
        """Where a checkpoint leaves off."""
        if self.checkpoint is None:
            return None
        rules = self.passes.size, self.passes.source.groups, self.single
        problem = rules, self.C, repr(self.loss), self.X.shape, self.m, fingerprint(self.X)
        held = self.checkpoint.open((problem, self.y, self.w))
        return None if held is None else restored(self, state, held)

    def _first_size(self, point: Point) -> float:
        """C' to begin with: from where on the gap allows, and from W = 0 the smallest that is asked."""
        least = min(self.C, START * self.m / max(self.first.largest, 1e-300))
        size = self.C
        while size > least and not self._measured(size, point)[0]:
            size = max(size / RAISE, least)
        return size

    def _measured(self, C: float, point: Point) -> tuple[bool, float, np.ndarray, float]:
        """Whether the gap at C allows a larger one; P, its gradient and gap."""
        gradient = C * point.slopes
        gradient += self.W
        primal = 0.5 * float(np.vdot(self.W, self.W)) + C * point.risk
        gap = 0.5 * float(np.vdot(gradient, gradient))
        return gap <= READY * primal, primal, gradient, gap

    def _raised(self, C: float, point: Point) -> tuple[float, bool, float, np.ndarray, float]:
        """C', raised as far as the gap allows; whether it was; P, its gradient and gap there."""
        raised = False
        ready, primal, gradient, gap = self._measured(C, point)
        while ready and C < self.C:
            C, raised = min(RAISE * C, self.C), True
            ready, primal, gradient, gap = self._measured(C, point)
        return C, raised, primal, gradient, gap

    def _search(
        self, z: np.ndarray, t: float, C: float, point: Point, primal: float, slope: float,
        double: bool,
    ) -> tuple[np.ndarray, Point] | None:  # fmt: skip
        """Armijo's rule for P(W - t z); or a slope that falls while P, up to rounding, does not rise."""
        noise = (1e-15 if double else 1e-6) * abs(primal)
        for _ in range(30):
            W = self.W - t * z
            if np.array_equal(W, self.W):  # too short a step to be one: so are all shorter ones
                return None
            with np.errstate(over="ignore", invalid="ignore"):  # then the step is too long
                found = self._at(W, double)
                value = 0.5 * float(np.vdot(W, W)) + C * found.risk
                left = abs(float(np.vdot(W + C * found.slopes, z)))
            lower = value <= primal - 1e-4 * t * slope
            if lower or (left <= 0.8 * slope and value <= primal + noise):
                return W, found
            t *= 0.5
        return None

    # -- certificates -------------------------------------------------------------------------
    def _finished(self, state: TrainingState, iteration: int, tol: float, report: Callable) -> bool:
        """Claim the point that float32 calls good enough: P, D and the dual variables from one pass."""
        if tol < SINGLE_GAP:
            return False
        P, D, dual_variables = self._claims(self.W)
        if not tol * P >= P - D:
            return False
        bounds = (P, D) if state.primal > P else None  # else another W is kept
        self.best, self.finished = self.W, (dual_variables, bounds)
        state.record(iteration, P, max(D, state.dual), self.W)
        state.done = True
        report(state)
        return True

    def _claims(self, W: np.ndarray) -> tuple[float, float, Any]:
        """Bounds on P and D, rounded outwards, and the dual variables where there is room for them."""
        kind = np.float32 if self.loss.k == 1 else np.float64  # of k > 1 rounding leaves the caps
        dual_variables = np.empty((len(self.y), self.m), kind) if self.kept else None
        sums = self.passes.total(sums_of_weights, W, self.C, dual_variables)
        return *bounds_of_weights(W, len(self.y), self.loss, sums), dual_variables

    def bounds_at(self, W: np.ndarray) -> tuple[float, float] | None:
        """P at W and the best D, as claimed, if they are known or need no dual variables."""
        if self.finished is not None and (self.kept or self.finished[1] is not None):
            found: tuple[float, float] | None = self.finished[1]
            return found
        bounded = hasattr(self.loss, "rows")  # elsewhere nothing bounds what rounding does
        if self.kept or not bounded:
            return None
        P, D, _ = self._claims(W)
        if self.best is not None and not np.array_equal(self.best, W):
            D = max(D, self._claims(self.best)[1])
        return P, D
