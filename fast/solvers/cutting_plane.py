"""1-slack cutting planes with the line search of OCAS (Franc & Sonnenburg 2009).

The model max_t (offset_t + <a_t, Xw>) is minimised exactly, and the next cuts are taken at its
minimiser and, if P rises towards it, at a point of the segment from the best w so far.
"""

from collections.abc import Callable

import numpy as np

from fast.solvers.score_problem import ScoreProblem, ScoreState

INWARD = 0.1  # the second cut is taken this part of the way beyond the best point


def run(
    problem: ScoreProblem, tol: float, max_iter: int, ask: Callable[[ScoreState], bool]
) -> None:
    """Iterate until the gap is at most ``tol``, ``ask`` says stop, or after ``max_iter`` rounds."""
    state, origin = problem.state, np.zeros(problem.d)
    while state.n_iter < max_iter:
        aim = problem.aim(tol)
        w = problem.proximal_point(origin, 0.0, problem.tolerance(aim))
        best = state.w
        _, slope = problem.at(w)
        if float(slope @ (w - best)) > 0.0:
            problem.at(best + INWARD * (w - best))
        problem.tidy()
        problem.proximal_point(origin, 0.0, problem.tolerance(aim))
        if state.gap <= aim and not problem.exact:
            problem.make_exact(tol)
        state.done = state.gap <= tol
        state.note(state.n_iter + 1, state.cut, state.n_oracle)
        if ask(state) or state.done:
            return
