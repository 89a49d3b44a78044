"""Proximal bundle method for regularised functions of scores.

The next point minimises 1/2 ||w||^2 + C max_t (offset_t + <a_t, Xw>) + rho/2 ||w - centre||^2, and
becomes the centre if P falls by a tenth of what the model promised. rho keeps the promise at a fair
part of the gap: it falls after good steps and where little is promised, and rises after bad ones
where much is. At rho = 0 this is the cutting plane method, which needs many more calls.

Of many examples F is nearly smooth, and distances are taken in the metric of its curvature (plus a ridge):
all of it for few columns, else of a sample of pairs of rows if it lies in few directions. It is taken anew
every few iterations, with kinks spread over the distance that scores have moved since the last time.
"""

from collections.abc import Callable

import numpy as np

from fast.solvers.metric import Metric
from fast.solvers.score_problem import ScoreProblem, ScoreState

ENOUGH, GOOD = 0.1, (0.5, 0.7)  # parts of the promised decrease; good without a metric and in one
LOWER, RAISE = 0.2, 2.0  # factors on rho after good and bad steps
MODEST, LOWER_MODEST = 0.05, 0.5  # promised part of the gap below which rho falls, and by how much
MUCH_SMOOTH, MUCH_ROUGH = 0.2, 0.9  # promised part above which rho rises after a bad step
ROUGH = 0.3  # F is rough if the cuts in use number this part of the dimension
SMALLEST, LARGEST = 1e-8, 1e8
STALLED = 50  # iterations without a better point or bound, to the last bit: rounding rules
SMOOTH_GAP = 0.5  # relative, below which F is tried as a smooth function
# Kinks are spread over WIDTH of the changes of scores since the last metric, at least SHRINK as far as then.
WIDTH, SHRINK = 0.5, 0.5
FIRST = 8  # iterations before there is a metric: fewer are cheap without
REFRESH = 4  # iterations between metrics, at least
OVERHEAD = 20_000_000  # operations that an iteration costs besides its products with X
BOUND_EVERY = 3  # iterations between two bounds from the cutting plane model


class Curvature:
    """The metric, from the first good centre on, made anew as centres move."""

    def __init__(self, problem: ScoreProblem) -> None:
        cost = problem.metric_cost
        self.problem, self.over = problem, cost == np.inf
        self.metric: Metric | None = None
        self.at, self.since, self.width = problem.state.w, 0, 0.0
        self.every = max(REFRESH, cost // (4 * problem.n * problem.d + OVERHEAD))

    def moved(self, before: np.ndarray, centre: np.ndarray, rho: float) -> float:
        """Rho, at most 1 where the metric is new."""
        problem, n_iter = self.problem, self.problem.state.n_iter
        if self.over or problem.state.gap > SMOOTH_GAP or n_iter < FIRST:
            return rho
        if self.metric is None:
            self.at = before
        elif n_iter < self.since + self.every:
            return rho
        change = problem.product.scores(centre - self.at, problem.exact)
        size = float(np.sqrt(change @ change / problem.n))
        self.width = max(WIDTH * size, SHRINK * self.width)
        self.at, self.since, known = centre, n_iter, self.metric
        self.metric = problem.curved(centre, self.width) or known
        self.over = self.metric is None
        return rho if self.over else min(rho, 1.0) if known else 1.0


def run(
    problem: ScoreProblem, tol: float, max_iter: int, ask: Callable[[ScoreState], bool]
) -> None:
    """Iterate until the gap is at most ``tol``, ``ask`` says stop, or after ``max_iter`` calls.

    Also where rounding keeps the gap from falling any further.
    """
    state, origin = problem.state, np.zeros(problem.d)
    centre, at_centre = state.w.copy(), state.primal
    rho, idle, best = 1.0, 0, (np.inf, np.inf)
    curvature = Curvature(problem)
    while state.n_iter < max_iter:
        aim = problem.aim(tol)
        near, metric = (centre, rho, problem.tolerance(aim)), curvature.metric
        w = problem.in_metric(*near, metric) if metric else problem.proximal_point(*near)
        promised, gap = at_centre - problem.model(w), at_centre - state.dual
        rough = problem.cuts.in_use >= ROUGH * min(problem.n, problem.d)
        primal, _ = problem.at(w)
        if at_centre - primal >= ENOUGH * promised:
            good = GOOD[metric is not None] * promised
            rho *= LOWER if at_centre - primal >= good else 1.0
            before, centre, at_centre = centre, w, primal
            rho = curvature.moved(before, centre, rho)
        elif promised > (MUCH_ROUGH if rough else MUCH_SMOOTH) * gap:
            rho *= RAISE
        if promised < MODEST * gap:
            rho *= LOWER_MODEST
        rho = min(max(rho, SMALLEST), LARGEST)
        problem.tidy()
        iteration = state.n_iter + 1
        if iteration % BOUND_EVERY == 0 or promised <= aim * abs(state.primal):
            problem.proximal_point(origin, 0.0, problem.tolerance(aim))
        if state.gap <= aim and not problem.exact:
            problem.make_exact(tol)
            centre, at_centre = state.w.copy(), state.primal
            if curvature.metric:
                curvature.metric.seen.clear()  # gradients have changed
        state.done = state.gap <= tol
        state.note(iteration, state.cut, state.n_oracle)
        idle = idle + 1 if (state.primal, -state.dual) == best else 0
        best = state.primal, -state.dual
        if ask(state) or state.done or idle >= STALLED:
            return
