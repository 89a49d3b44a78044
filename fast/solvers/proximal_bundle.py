"""Proximal bundle method for regularised functions of scores.

The next point minimises 1/2 ||w||^2 + C max_t (offset_t + <a_t, Xw>) + rho/2 ||w - centre||^2, and
becomes the centre if P falls by a tenth of what the model promised. rho keeps the promise at a fair
part of the gap: it falls after good steps and where little is promised, and rises after bad ones
where much is. At rho = 0 this is the cutting plane method, which needs many more calls.
"""

from collections.abc import Callable

import numpy as np

from fast.solvers.score_problem import ScoreProblem, ScoreState

ENOUGH, GOOD = 0.1, 0.5  # parts of the promised decrease
LOWER, RAISE = 0.2, 2.0  # factors on rho after good and bad steps
MODEST, LOWER_MODEST = 0.1, 0.5  # promised part of the gap below which rho falls, and by how much
MUCH_SMOOTH, MUCH_ROUGH = 0.2, 0.9  # promised part above which rho rises after a bad step
ROUGH = 0.3  # F is rough if the cuts in use number this part of the dimension
SMALLEST, LARGEST = 1e-8, 1e8
STALLED = 50  # iterations without a better point or bound, to the last bit: rounding rules
BOUND_EVERY = 3  # iterations between two bounds from the cutting plane model


def run(
    problem: ScoreProblem, tol: float, max_iter: int, ask: Callable[[ScoreState], bool]
) -> None:
    """Iterate until the gap is at most ``tol``, ``ask`` says stop, or after ``max_iter`` calls.

    Also where rounding keeps the gap from falling any further.
    """
    state, origin = problem.state, np.zeros(problem.d)
    centre, at_centre = state.w.copy(), state.primal
    rho, idle, best = 1.0, 0, (np.inf, np.inf)
    while state.n_iter < max_iter:
        aim = problem.aim(tol)
        w = problem.proximal_point(centre, rho, problem.tolerance(aim))
        promised, gap = at_centre - problem.model(w), at_centre - state.dual
        rough = problem.cuts.in_use >= ROUGH * min(problem.n, problem.d)
        primal, _ = problem.at(w)
        if at_centre - primal >= ENOUGH * promised:
            rho *= LOWER if at_centre - primal >= GOOD * promised else 1.0
            centre, at_centre = w, primal
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
        state.done = state.gap <= tol
        state.note(iteration, state.cut, state.n_oracle)
        idle = idle + 1 if (state.primal, -state.dual) == best else 0
        best = state.primal, -state.dual
        if ask(state) or state.done or idle >= STALLED:
            return
