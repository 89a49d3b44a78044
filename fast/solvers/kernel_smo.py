"""Kernel SVMs with a hinge by sequential minimal optimisation on rows of K that come on demand.

max D(b) = <y, b> - 1/2 b'K b - 1/2 sum_i ridge_i b_i^2,   0 <= y_i b_i <= cost_i,   1'b = 0 if free

The model is f = K b, plus an offset that costs nothing if ``free``; the ridge gamma/cost_i belongs to
the smooth hinge. Two coordinates move at a time: with 1'b = 0 the pair of Fan, Chen and Lin ("Working
set selection using second order information", JMLR 2005), else the one that gains most alone and the
partner that gains most after it, as Steinwart, Hush and Scovel ("Training SVMs without offset", 2011).

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
def allow(t, y, b, cost, rises, falls):
    """Note whether b_t may rise (0, else NEVER) and fall (1, else 0)."""
    a = y[t] * b[t]
    up, down = (a < cost[t], a > 0.0) if y[t] > 0.0 else (a > 0.0, a < cost[t])
    rises[t] = 0.0 if up else NEVER
    falls[t] = 1.0 if down else 0.0


@kernel
def allow_all(y, b, cost, rises, falls):
    """`allow` everywhere."""
    for t in range(len(y)):
        allow(t, y, b, cost, rises, falls)


@kernel
def put(t, value, y, b, cost):
    """B_t = value, at most at the end of its box; how far it went."""
    before = b[t]
    a = min(max(y[t] * value, 0.0), cost[t])
    b[t] = y[t] * a
    return b[t] - before


@kernel
def paired(cache, slot, used, y, cost, diagonal, ridge, b, v, rises, falls, out, flat, eps, most):
    """Steps that keep the sum of b, until no violation exceeds eps: outcome, rows wanted and kept, steps."""
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
        a_up, a_down = y[up] * b[up], y[down] * b[down]
        room_up = cost[up] - a_up if y[up] > 0.0 else a_up
        room_down = a_down if y[down] > 0.0 else cost[down] - a_down
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


@kernel
def moved_alone(v, rises, falls, diagonal, row, other, first, second, out):
    """V -= first row + second other; gains of steps of one coordinate then, and the largest."""
    most = 0.0
    for t in range(len(v)):
        v[t] -= first * row[t] + second * other[t]
        slope = larger(larger(v[t] + rises[t], -falls[t] * v[t]), 0.0)
        out[t] = slope * slope / diagonal[t]
        most = larger(out[t], most)
    return most


@kernel
def leader(v, rises, falls, diagonal, row, other, first, second, out):
    """V -= first row + second other; the coordinate that gains most alone then, -1 if none does."""
    n, best, home = len(v), 0.0, -1
    for start in range(0, n, BLOCK):
        part = slice(start, min(start + BLOCK, n))
        most = moved_alone(
            v[part], rises[part], falls[part], diagonal[part], row[part], other[part], first,
            second, out,
        )  # fmt: skip
        if most > best:
            best, home = most, start
    if home < 0:
        return -1
    part = slice(home, min(home + BLOCK, n))
    moved_alone(
        v[part], rises[part], falls[part], diagonal[part], row[part], other[part], 0.0, 0.0, out
    )
    return home + place(out[: len(v[part])], best)


@kernel
def gains_after(v, rises, falls, row, diagonal, step, own, flat, out):
    """Gains of a step of one coordinate after a step of ``row``'s, the largest, and the worst slope."""
    most, worst = 0.0, 0.0
    for t in range(len(v)):
        worst = larger(larger(v[t] + rises[t], -falls[t] * v[t]), worst)
        after = v[t] - step * row[t]
        slope = larger(larger(after + rises[t], -falls[t] * after), 0.0)
        out[t] = slope * slope / larger(diagonal[t] - row[t] * row[t] / own, flat)
        most = larger(out[t], most)
    return most, worst


@kernel
def follower(v, rises, falls, row, diagonal, step, own, flat, out):
    """The partner that gains most after a step of ``row``'s, -1 if none gains; the worst slope."""
    n, best, home, worst = len(v), 0.0, -1, 0.0
    for start in range(0, n, BLOCK):
        part = slice(start, min(start + BLOCK, n))
        most, there = gains_after(
            v[part], rises[part], falls[part], row[part], diagonal[part], step, own, flat, out
        )
        worst = max(worst, there)
        if most > best:
            best, home = most, start
    if home < 0:
        return -1, worst
    part = slice(home, min(home + BLOCK, n))
    gains_after(v[part], rises[part], falls[part], row[part], diagonal[part], step, own, flat, out)
    return home + place(out[: len(v[part])], best), worst


@kernel
def separate(cache, slot, used, y, cost, diagonal, ridge, b, v, rises, falls, out, flat, eps, most):
    """`paired` where the sum of b is free."""
    i = leader(v, rises, falls, diagonal, cache[0], cache[0], 0.0, 0.0, out)
    for taken in range(most):
        if i < 0:
            return DONE, -1, -1, taken
        if slot[i] < 0:
            return WANTED, i, i, taken
        row = cache[slot[i]]
        before = b[i]
        step = put(i, before + v[i] / diagonal[i], y, b, cost)
        b[i] = before
        rises[i], falls[i] = NEVER, 0.0  # no partner of its own
        j, worst = follower(v, rises, falls, row, diagonal, step, diagonal[i], flat, out)
        allow(i, y, b, cost, rises, falls)
        if max(worst, abs(v[i])) <= eps:
            return DONE, -1, -1, taken
        if j >= 0 and slot[j] < 0:
            return WANTED, j, i, taken
        used[slot[i]] = used[-1] = used[-1] + 1
        other, second = row, 0.0
        if j >= 0:
            used[slot[j]] = used[-1]
            other = cache[slot[j]]
            first, second = best_pair(i, j, row[j], y, cost, diagonal, b, v, flat)
            v[j] -= ridge[j] * second
            allow(j, y, b, cost, rises, falls)
        else:
            first = put(i, before + step, y, b, cost)
        v[i] -= ridge[i] * first
        allow(i, y, b, cost, rises, falls)
        i = leader(v, rises, falls, diagonal, row, other, first, second, out)
    return TIRED, -1, -1, most


@kernel
def best_pair(i, j, k, y, cost, diagonal, b, v, flat):
    """The best b_i and b_j in their boxes; how far both went."""
    p, q = diagonal[i], diagonal[j]
    start_i, start_j = b[i], b[j]
    determinant = p * q - k * k
    if determinant > flat * p:
        first = put(i, start_i + (q * v[i] - k * v[j]) / determinant, y, b, cost)
        second = put(j, start_j + (p * v[j] - k * v[i]) / determinant, y, b, cost)
        if abs(q * v[i] - k * v[j] - determinant * first) <= 1e-9 * determinant * abs(first):
            if abs(p * v[j] - k * v[i] - determinant * second) <= 1e-9 * determinant * abs(second):
                return first, second
    b[i], b[j] = start_i, start_j
    for _ in range(4):  # an end of a box is met, and coordinates in turn then meet the best of it
        put(i, start_i + (v[i] - k * (b[j] - start_j)) / p, y, b, cost)
        put(j, start_j + (v[j] - k * (b[i] - start_i)) / q, y, b, cost)
    return b[i] - start_i, b[j] - start_j


class RowCache:
    """Rows of K at some columns, as they are asked for; those not used for longest make room."""

    def __init__(self, gram: Any, columns: np.ndarray | None, memory: int, dtype: Any) -> None:
        n = self.n = gram.n if columns is None else len(columns)
        self.gram, self.columns, self.dtype = gram, columns, dtype
        self.capacity = min(n, max(memory // (n * np.dtype(dtype).itemsize), 4))
        self.ahead = max(AHEAD // n, 32)
        self.values = np.zeros((self.capacity, n), dtype)  # touched where rows come
        self.slot, self.holds = np.full(n, -1), np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity + 1, np.int64)  # when; the last entry is the clock
        self.filled = 0

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
                at = int(self.used[:-1].argmin())
                self.slot[self.holds[at]] = -1
        else:
            urgency[self.slot >= 0] = -np.inf
            urgency[wanted] = np.inf
            many, at = min(self.ahead, self.capacity - self.filled), self.filled
            which = np.argpartition(urgency, self.n - many)[self.n - many :]
            which = which[urgency[which] > -np.inf]
        end = at + len(which)
        given = which if self.columns is None else self.columns[which]
        self.gram.rows(given, self.dtype, self.columns, self.values[at:end])
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
        self.memory, self.dtype = memory, np.float32
        self.b, self.f, self.offset = np.zeros(len(y)), np.zeros(len(y)), 0.0
        self.eps, self.taken = START, 0
        self.v, self.rows = y.copy(), None  # the gradient, and rows at all columns

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
            if part.active is None:
                primal, dual, _ = self.objectives(self.b, self.y - self.v - self.ridge * self.b)
                gap = certified_gap(primal, dual)
                if gap <= SAFE * tol:
                    break
                if outcome == DONE:
                    self.lower(gap, tol)
            else:
                part.store(self)
                if outcome == DONE:
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

    def __init__(self, whole: KernelSMO, active: np.ndarray) -> None:
        self.active = active if len(active) else None
        names = ("y", "cost", "ridge", "diagonal", "b", "v")
        for name in names:
            values = getattr(whole, name)
            setattr(self, name, values if self.active is None else values[active])
        self.free, self.flat, self.n = whole.free, whole.flat, len(self.y)
        self.rises, self.falls = np.empty((2, self.n))
        self.out = np.empty(BLOCK)
        if self.active is None:
            if whole.rows is None or whole.rows.dtype != whole.dtype:
                whole.rows = RowCache(whole.gram, None, whole.memory, whole.dtype)
            self.cache = whole.rows
        else:
            self.cache = RowCache(whole.gram, active, whole.memory, whole.dtype)

    def steps(self, eps: float, most: int) -> tuple[int, int]:
        """How it came out, and how many."""
        cache, total = self.cache, 0
        rises, falls = self.rises, self.falls
        allow_all(self.y, self.b, self.cost, rises, falls)
        advance = paired if self.free else separate
        while True:
            outcome, wanted, kept, taken = advance(
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
        return np.flatnonzero((rises | (self.v <= high)) & (falls | (self.v >= low)) & (rises | falls))

    def range(self) -> tuple[float, float]:
        """Between which gradients the violations lie."""
        high = float((self.v + self.rises).max())
        low = float(np.where(self.falls > 0.0, self.v, np.inf).min())
        if not self.free:
            high = max(high, -low)
            low = -high
        return high, low

    def store(self, whole: KernelSMO) -> None:
        """Take b and v back."""
        whole.b[self.active], whole.v[self.active] = self.b, self.v


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
