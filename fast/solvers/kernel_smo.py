"""Kernel SVMs with a hinge by sequential minimal optimisation on rows of K that come on demand.

max D(b) = <y, b> - 1/2 b'K b - 1/2 sum_i ridge_i b_i^2,   0 <= y_i b_i <= cost_i,   1'b = 0 if free

The model is f = K b, plus an offset that costs nothing if ``free``; the ridge gamma/cost_i belongs to
the smooth hinge. Two coordinates move at a time, one up and one down, as Fan, Chen and Lin choose them
("Working set selection using second order information", JMLR 2005). Where the sum of b is free there is
one coordinate more, without bounds and with a row of 0: a pair with it moves the other one alone.

The gradient v = y - K b - ridge b is kept in step, with rows in float32. P and D follow from it. Where
they meet, f is computed once more in float64: the gap is that of b itself, and if rounding has hidden
something, the steps go on from the exact gradient, so that only the change since then is rounded.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast._numba import kernel
from fast._simd import larger
from fast.solvers.box_interior_point import MatrixGram, balanced
from fast.solvers.kernel_rows import MEMORY
from fast.solvers.plain_svm import PlainResult, PlainState, hinge_offset, squared_offset
from fast.solvers.state import TrainingRun, certified_gap

FLAT = 1e-12  # curvature, relative to the diagonal, that counts as none
NEVER = -1e300
BLOCK = 64
AHEAD = 1 << 18  # entries of rows that are computed at a time
START, SMALLEST = 0.5, 1e-14  # violations
SAFE, LEAST_CUT = 0.9, 0.05
PATIENCE = 2  # steps per coordinate between two looks
SHRINK_AFTER, SHRUNK = 0.5, 0.7
SLOWEST = 1 << 30  # entries of the gradient between two certificates
STALLED = 3  # certificates that do not halve the gap after which rounding rules
DONE, WANTED, TIRED = 0, 1, 2


@kernel
def moved(v, bias, row, other, first, second, out):
    """V -= first row + second other; v + bias to ``out``, and the largest."""
    highest = 2.0 * NEVER
    for t in range(len(v)):
        v[t] -= first * row[t] + second * other[t]
        out[t] = v[t] + bias[t]
        highest = larger(out[t], highest)
    return highest


@kernel
def place(values, most):
    """Where the largest of the values is."""
    for t in range(len(values)):
        if values[t] == most:
            return t
    return 0


@kernel
def steepest(v, bias, row, other, first, second, out):
    """V -= first row + second other; index of the largest v + bias. In blocks, so that SIMD serves."""
    n, best, home = len(v), NEVER, 0
    for start in range(0, n, BLOCK):
        part = slice(start, min(start + BLOCK, n))
        highest = moved(v[part], bias[part], row[part], other[part], first, second, out)
        if highest > best:
            best, home = highest, start
    part = slice(home, min(home + BLOCK, n))
    best = moved(v[part], bias[part], row[part], other[part], 0.0, 0.0, out)
    return home + place(out[: len(v[part])], best)


@kernel
def gains(v, falls, row, diagonal, top, own, flat, out):
    """Gains of a step with a partner among these, the largest of them, and the largest violation."""
    most, worst = 0.0, 0.0
    for t in range(len(v)):
        slope = falls[t] * (top - v[t])
        worst = larger(slope, worst)
        slope = larger(slope, 0.0)
        out[t] = slope * slope / larger(own + diagonal[t] - 2.0 * row[t], flat)
        most = larger(out[t], most)
    return most, worst


@kernel
def partner(v, falls, row, diagonal, top, own, flat, out):
    """Whose step together with ``row``'s gains most, -1 if none gains, and the largest violation."""
    n, best, home, worst = len(v), 0.0, -1, 0.0
    for start in range(0, n, BLOCK):
        part = slice(start, min(start + BLOCK, n))
        most, there = gains(v[part], falls[part], row[part], diagonal[part], top, own, flat, out)
        worst = max(worst, there)
        if most > best:
            best, home = most, start
    if home < 0:
        return -1, worst
    part = slice(home, min(home + BLOCK, n))
    gains(v[part], falls[part], row[part], diagonal[part], top, own, flat, out)
    return home + place(out[: len(v[part])], best), worst


@kernel
def rooms(t, y, b, cost):
    """How far b_t may rise and fall; a label of 0 has no bounds."""
    if y[t] == 0.0:
        return np.inf, np.inf
    return (cost[t] - b[t], b[t]) if y[t] > 0.0 else (-b[t], cost[t] + b[t])


@kernel
def allow(t, y, b, cost, rises, falls):
    """Note whether b_t may rise (0, else NEVER) and fall (1, else 0)."""
    up, down = rooms(t, y, b, cost)
    rises[t] = 0.0 if up > 0.0 else NEVER
    falls[t] = 1.0 if down > 0.0 else 0.0


@kernel
def allow_all(y, b, cost, rises, falls):
    """`allow` everywhere."""
    for t in range(len(y)):
        allow(t, y, b, cost, rises, falls)


@kernel
def pairs(cache, slot, used, y, cost, diagonal, ridge, b, v, rises, falls, out, flat, eps, most):
    """Steps of two coordinates that keep the sum of b, until no violation exceeds eps.

    How it came out, the row wanted and the one that must stay, and the steps taken.
    """
    up = steepest(v, rises, cache[0], cache[0], 0.0, 0.0, out)
    for taken in range(most):
        if slot[up] < 0:
            return WANTED, up, up, taken
        row = cache[slot[up]]
        down, worst = partner(v, falls, row, diagonal, v[up], diagonal[up], flat, out)
        if worst <= eps or down < 0:
            return DONE, -1, -1, taken
        if slot[down] < 0:
            return WANTED, down, up, taken
        used[slot[up]] = used[slot[down]] = used[-1] = used[-1] + 1
        step = (v[up] - v[down]) / max(diagonal[up] + diagonal[down] - 2.0 * row[down], flat)
        room_up, room_down = rooms(up, y, b, cost)[0], rooms(down, y, b, cost)[1]
        step = min(step, room_up, room_down)
        for t, sign, room in ((up, 1.0, room_up), (down, -1.0, room_down)):
            if step < room:
                b[t] += sign * step
            else:
                b[t] = y[t] * cost[t] if y[t] * sign > 0.0 else 0.0
            v[t] -= ridge[t] * sign * step
            allow(t, y, b, cost, rises, falls)
        up = steepest(v, rises, row, cache[slot[down]], step, -step, out)
    return TIRED, -1, -1, most


class RowCache:
    """Rows of K at some columns, as they are asked for; those not used for longest make room.

    Unless ``free`` there is one coordinate more, whose row is 0.
    """

    def __init__(
        self, gram: Any, columns: np.ndarray | None, free: bool, memory: int, dtype: Any
    ) -> None:
        n = self.n = gram.n if columns is None else len(columns)
        more = self.more = 0 if free else 1
        self.gram, self.columns, self.dtype = gram, columns, dtype
        self.capacity = min(n, max(memory // (n * np.dtype(dtype).itemsize), 4)) + more
        self.ahead = max(AHEAD // n, 32)
        self.values = np.zeros((self.capacity, n + more), dtype)  # touched where rows come
        self.slot, self.holds = np.full(n + more, -1), np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity + 1, np.int64)  # when; the last entry is the clock
        self.filled = more
        if more:
            self.slot[n], self.holds[0] = 0, n

    @property
    def full(self) -> bool:
        """Whether rows have to make room."""
        return self.filled == self.capacity

    def fetch(self, wanted: int, kept: int, urgency: np.ndarray | None) -> None:
        """Compute the row wanted and, while there is room, those that are most urgent; ``kept`` stays."""
        if urgency is None:
            which, at = np.array([wanted]), self.filled
            if self.full:
                self.used[self.slot[kept]] = self.used[-1]
                at = self.more + int(self.used[self.more : -1].argmin())
                self.slot[self.holds[at]] = -1
        else:
            urgency[self.slot >= 0] = -np.inf
            urgency[wanted], urgency = np.inf, urgency[: self.n]
            many, at = min(self.ahead, self.capacity - self.filled), self.filled
            many = min(many, self.n)
            which = np.argpartition(urgency, self.n - many)[self.n - many :]
            which = which[urgency[which] > -np.inf]
        end = at + len(which)
        given = which if self.columns is None else self.columns[which]
        self.gram.rows(given, self.dtype, self.columns, self.values[at:end, : self.n])
        self.slot[which], self.holds[at:end] = np.arange(at, end), which
        self.filled = max(self.filled, end)
        self.used[-1] += 1
        self.used[at:end] = self.used[-1]


class KernelSMO:
    """Trains one vector b; ``free``: an offset is free, and the sum of b 0.

    Parameters
    ----------
    gram : KernelRows or MatrixGram
    y, cost : (n,) arrays
        Labels -1 and 1; upper bounds on |b_i|, of 0 for examples that do not count.
    squared : bool
        The squared hinge: a ridge 1/cost, and no bounds.
    gamma : float
        Of the smooth hinge, whose offset is not free; 0 for the hinge itself.
    """

    def __init__(
        self, gram: Any, y: np.ndarray, cost: np.ndarray, squared: bool = False, gamma: float = 0.0,
        free: bool = True, memory: int = MEMORY,
    ) -> None:  # fmt: skip
        self.gram, self.y, self.weight, self.squared = gram, y, cost, squared
        self.gamma, self.free = gamma, free
        self.cost = np.full(len(y), np.inf) if squared else cost
        ridge = 1.0 if squared else gamma
        self.ridge = np.divide(ridge, cost, out=np.zeros(len(y)), where=cost > 0.0)
        self.flat = FLAT * max(float(gram.diagonal.max()), 1e-300)
        self.diagonal = np.maximum(gram.diagonal, self.flat) + self.ridge
        self.memory = memory
        self.dtype: Any = np.float32
        self.b, self.f, self.offset = np.zeros(len(y)), np.zeros(len(y)), 0.0
        self.eps, self.taken = START, 0
        self.v = y.copy()

    def objectives(self, b: np.ndarray, f: np.ndarray) -> tuple[float, float, float]:
        """P, D and the best offset for scores f = K b."""
        square, y, cost, offset = float(b @ f), self.y, self.weight, 0.0
        if self.squared:
            offset = squared_offset(f, y, cost, self.offset)
        elif self.free:
            offset = hinge_offset(f, y, cost)
        z = np.maximum(1.0 - y * (f + offset), 0.0)
        dual = float(y @ b) - 0.5 * square - 0.5 * float(self.ridge @ (b * b))
        if self.squared:
            z = 0.5 * z * z
        elif self.gamma > 0.0:
            p = np.minimum(z / self.gamma, 1.0)
            z = p * (z - 0.5 * self.gamma * p)
        return 0.5 * square + float(cost @ z), dual, offset

    def exact(self) -> tuple[float, float]:
        """Make b feasible and f exact; P and D of this b."""
        if self.free:
            self.b = balanced(self.b * self.y, self.y) * self.y
        self.f = self.gram.product(self.b)
        if self.squared and self.b.any():
            part = float(self.y @ self.b) / float(self.b @ (self.f + self.ridge * self.b))
            self.b, self.f = part * self.b, part * self.f
        primal, dual, self.offset = self.objectives(self.b, self.f)
        return primal, dual

    def steps(self, tol: float, most: int) -> int:
        """Steps, at most so many, until P and D of the gradient in hand are within ``tol``; how many."""
        part, total = _Part(self, np.arange(0)), 0
        while total < most and self.eps > SMALLEST:
            outcome, taken = part.steps(self.eps, min(most - total, PATIENCE * part.n))
            total += taken
            part.store(self)
            if part.active is None:
                primal, dual, _ = self.objectives(self.b, self.y - self.v - self.ridge * self.b)
                gap = certified_gap(primal, dual)
                if gap <= SAFE * tol:
                    break
                if outcome == DONE:
                    self.lower(gap, tol)
            elif outcome == DONE:
                break
            if self.taken + total > SHRINK_AFTER * self.gram.n:
                open_ = part.undecided()
                if len(open_) <= SHRUNK * part.n:
                    part = _Part(self, open_ if part.active is None else part.active[open_])
        self.taken += total
        return total

    def lower(self, gap: float, tol: float) -> None:
        """The violation at which the gap may be ``tol``, if it is ``gap`` now."""
        self.eps *= min(max(LEAST_CUT, 0.5 * tol / max(gap, 1e-300)), 0.5)


class _Part:
    """The coordinates ``active``, or all of them."""

    y: np.ndarray
    cost: np.ndarray
    ridge: np.ndarray
    diagonal: np.ndarray
    b: np.ndarray
    v: np.ndarray

    def __init__(self, whole: KernelSMO, active: np.ndarray) -> None:
        self.active = active if len(active) else None
        for name in ("y", "cost", "ridge", "diagonal", "b", "v"):
            values = getattr(whole, name)
            values = values if self.active is None else values[active]
            setattr(self, name, values if whole.free else np.append(values, 0.0))
        self.flat, self.n = whole.flat, len(self.y)
        self.rises, self.falls = np.empty((2, self.n))
        self.out = np.empty(BLOCK)
        memory, dtype = whole.memory, whole.dtype
        if self.active is None:  # rows at all columns serve other labels, too
            held = whole.gram.held
            if held is None or held.dtype != dtype or held.more == whole.free:
                held = whole.gram.held = RowCache(whole.gram, None, whole.free, memory, dtype)
            self.cache = held
        else:
            self.cache = RowCache(whole.gram, active, whole.free, memory, dtype)

    def steps(self, eps: float, most: int) -> tuple[int, int]:
        """How it came out, and how many."""
        cache, total = self.cache, 0
        rises, falls = self.rises, self.falls
        allow_all(self.y, self.b, self.cost, rises, falls)
        while True:
            outcome, wanted, kept, taken = pairs(
                cache.values, cache.slot, cache.used, self.y, self.cost, self.diagonal, self.ridge,
                self.b, self.v, rises, falls, self.out, self.flat, eps, most - total,
            )  # fmt: skip
            total += taken
            if outcome != WANTED:
                return outcome, total
            urgency = None
            if not cache.full:
                middle = 0.5 * sum(self.range())
                falling = np.where(falls > 0.0, middle - self.v, NEVER)
                urgency = np.maximum(self.v + rises - middle, falling)
            cache.fetch(wanted, kept, urgency)

    def undecided(self) -> np.ndarray:
        """Coordinates that are not at an end of their box, or not clearly."""
        rises, falls = self.rises == 0.0, self.falls > 0.0
        high, low = self.range()
        count = self.cache.n
        return np.flatnonzero(
            ((rises | (self.v <= high)) & (falls | (self.v >= low)) & (rises | falls))[:count]
        )

    def range(self) -> tuple[float, float]:
        """Between which gradients the violations lie."""
        high = float((self.v + self.rises).max())
        low = float(np.where(self.falls > 0.0, self.v, np.inf).min())
        return high, low

    def store(self, whole: KernelSMO) -> None:
        """Put b and v back."""
        where = slice(None) if self.active is None else self.active
        count = len(whole.b[where])
        whole.b[where], whole.v[where] = self.b[:count], self.v[:count]


def train(
    gram: Any,
    y: np.ndarray,
    cost: np.ndarray,
    squared: bool = False,
    gamma: float = 0.0,
    free: bool = True,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    most: float = np.inf,
    report: Callable[[Any], bool] | None = None,
    state: PlainState | None = None,
    start: np.ndarray | None = None,
    memory: int = MEMORY,
) -> PlainResult:
    """Minimise P until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    gram, y, cost, squared, gamma, free, memory
        As for `KernelSMO`.
    tol, max_iter, report : As for the other trainers.
    most : float
        Bound on the steps.
    state : PlainState, optional
        To keep the best model in.
    start : (n,) array, optional
        Multipliers y b >= 0 to begin with.
    """
    smo, run = KernelSMO(gram, y, cost, squared, gamma, free, memory), TrainingRun(report)
    state = PlainState() if state is None else state
    if start is not None:
        smo.b = y * np.clip(start, 0.0, smo.cost)

    def look() -> bool:
        primal, dual = smo.exact()
        if state.coef is None or certified_gap(primal, dual) < state.gap:  # one point, not two
            state.alpha, state.bound = smo.b * y, dual
            state.coef, state.b, state.primal = smo.b.copy(), smo.offset, np.inf
        else:
            primal = state.primal
        state.record(state.n_iter + 1, primal, state.bound, state.coef)
        state.done = state.gap <= tol or state.n_iter >= max_iter
        return run.ask(state) or state.done

    with run:
        idle, stop = 0, look()
        while not (stop or smo.taken >= most or smo.eps <= SMALLEST):
            before = state.gap
            smo.v = y - smo.f - smo.ridge * smo.b
            smo.steps(tol, int(min(most - smo.taken, max(SLOWEST // gram.n, 1000))))
            stop = look()
            smo.lower(state.gap, tol)
            idle = idle + 1 if state.gap > 0.5 * before else 0
            if idle and smo.dtype is np.float32:
                smo.dtype, idle = np.float64, 0
            elif idle >= STALLED:
                break
    if run.interrupted:
        look()
    return PlainResult(state.coef, None, state.b, state.alpha, **run.outcome(state, "smo"))


def _warmup() -> None:
    """Compile the kernels of this module."""
    y = np.array([1.0, -1.0, 1.0])
    gram = MatrixGram(np.eye(3))
    for dtype in (np.float32, np.float64):
        for free in (True, False):
            smo = KernelSMO(gram, y, np.ones(3), free=free)
            smo.dtype = dtype
            smo.steps(1e-3, 10)
