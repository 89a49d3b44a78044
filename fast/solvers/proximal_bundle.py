"""Proximal bundle method for regularised functions of scores.

The next point minimises 1/2 ||w||^2 + C max_t (offset_t + <a_t, Xw>) + rho/2 ||w - centre||^2, and
becomes the centre if P falls by a tenth of what the model promised. rho keeps the promise at a fair
part of the gap: it falls after good steps and where little is promised, and rises after bad ones
where much is. At rho = 0 this is the cutting plane method, which needs many more calls.

Where more negatives are active than there are columns, F is nearly smooth, and distances are taken in the
metric of its curvature, if that lies in few directions; back to the ordinary one for good if the gap then
falls too slowly.
"""

from collections.abc import Callable

import numpy as np

from fast.solvers.metric import Metric
from fast.solvers.rows import is_sparse
from fast.solvers.score_problem import ScoreProblem, ScoreState

ENOUGH, GOOD = 0.1, 0.5  # parts of the promised decrease
LOWER, RAISE = 0.2, 2.0  # factors on rho after good and bad steps
MODEST, LOWER_MODEST = 0.05, 0.5  # promised part of the gap below which rho falls, and by how much
MUCH_SMOOTH, MUCH_ROUGH = 0.2, 0.9  # promised part above which rho rises after a bad step
ROUGH = 0.3  # F is rough if the cuts in use number this part of the dimension
SMALLEST, LARGEST = 1e-8, 1e8
STALLED = 50  # iterations without a better point or bound, to the last bit: rounding rules
STEEP = 0.1  # part of the columns that most of the curvature has to lie in
SMOOTH_GAP = 0.5  # relative, below which F is tried as a smooth function
TRIAL, FALL = 12, 3.0  # the gap has to fall by that in so many iterations, or the metric goes
WIDTH, KEEP = 1.0, 0.3
REFRESH = 8
BOUND_EVERY = 3  # iterations between two bounds from the cutting plane model


class Trial:
    """The metric, from the first centre at which F looks smooth until it does not pay."""

    def __init__(self, problem: ScoreProblem) -> None:
        self.problem = problem
        self.over = is_sparse(problem.product.X)
        self.metric: Metric | None = None
        self.since, self.gap, self.rho = 0, np.inf, 1.0
        self.width = 0.0

    def begin(self, centre: np.ndarray, before: np.ndarray, rho: float) -> float:
        """Rho, 1 if the metric begins at this centre."""
        state = self.problem.state
        if self.over or state.gap > SMOOTH_GAP:
            return rho
        if self.metric is not None and state.n_iter < self.built + REFRESH:
            return rho
        self.built = state.n_iter
        moved = self.problem.product.scores(centre - (before if self.metric is None else self.last), self.problem.exact)
        width = float(np.sqrt(moved @ moved / len(moved)))
        self.last = centre
        self.width = max(WIDTH * width, KEEP * self.width)
        new = self.problem.curved(centre, self.width)
        if self.metric is not None:
            self.metric = new or self.metric
            return rho
        self.over = new is None
        self.metric = new
        if new is None:
            return rho
        self.since, self.gap, self.rho = state.n_iter, state.gap, rho
        return 1.0

    def judged(self, rho: float) -> float:
        """Rho, that of before if the metric ends."""
        state = self.problem.state
        if self.metric is None or state.n_iter < self.since + TRIAL:
            return rho
        if state.gap > FALL * self.gap:
            self.metric, self.over = None, True
            return self.rho
        self.since, self.gap = state.n_iter, state.gap
        return rho


def run(
    problem: ScoreProblem, tol: float, max_iter: int, ask: Callable[[ScoreState], bool]
) -> None:
    """Iterate until the gap is at most ``tol``, ``ask`` says stop, or after ``max_iter`` calls.

    Also where rounding keeps the gap from falling any further.
    """
    state, origin = problem.state, np.zeros(problem.d)
    centre, at_centre = state.w.copy(), state.primal
    rho, idle, best = 1.0, 0, (np.inf, np.inf)
    trial = Trial(problem)
    while state.n_iter < max_iter:
        aim = problem.aim(tol)
        near, metric = (centre, rho, problem.tolerance(aim)), trial.metric
        w = problem.in_metric(*near, metric) if metric else problem.proximal_point(*near)
        promised, gap = at_centre - problem.model(w), at_centre - state.dual
        rough = problem.cuts.in_use >= ROUGH * min(problem.n, problem.d)
        primal, _ = problem.at(w)
        if at_centre - primal >= ENOUGH * promised:
            rho *= LOWER if at_centre - primal >= GOOD * promised else 1.0
            before, centre, at_centre = centre, w, primal
            rho = trial.begin(centre, before, rho)
        elif promised > (MUCH_ROUGH if rough else MUCH_SMOOTH) * gap:
            rho *= RAISE
        if promised < MODEST * gap:
            rho *= LOWER_MODEST
        rho = min(max(trial.judged(rho), SMALLEST), LARGEST)
        problem.tidy()
        iteration = state.n_iter + 1
        if iteration % BOUND_EVERY == 0 or promised <= aim * abs(state.primal):
            problem.proximal_point(origin, 0.0, problem.tolerance(aim))
        if state.gap <= aim and not problem.exact:
            problem.make_exact(tol)
            centre, at_centre = state.w.copy(), state.primal
            if trial.metric:
                trial.metric.seen.clear()  # gradients have changed
        state.done = state.gap <= tol
        state.note(iteration, state.cut, state.n_oracle)
        idle = idle + 1 if (state.primal, -state.dual) == best else 0
        best = state.primal, -state.dual
        if ask(state) or state.done or idle >= STALLED:
            return
