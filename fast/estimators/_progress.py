"""Progress of a fit: scikit-learn callbacks, a bar, or printed certificates."""

from __future__ import annotations

import math
from functools import partial
from types import TracebackType
from typing import Any

from fast._interrupts import hold_back, let_through
from fast.solvers.state import TrainingState


class Monitor:
    """Called after every check; true asks the training to stop.

    Callbacks registered with ``set_callbacks`` see one task per iteration, with the best certified
    model so far; ``max_iter`` is None if their number has no bound. ``verbose=1`` shows how many
    digits of the gap are reached, ``verbose=2`` prints.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, tol: float, max_iter: int | None) -> None:
        self.estimator, self.data = estimator, {"X": X, "y": y}
        self.tol, self.verbose = tol, int(estimator.verbose)
        self.max_iter = math.inf if max_iter is None else max_iter
        self.bar: Any = None
        self.task: Any = None
        self.context: Any = None
        self.evaluation: Any = None
        self.watch = self.pulse = getattr(estimator, "_watch", None)  # of a path
        if hasattr(estimator, "_skl_callbacks"):
            self.context = estimator._init_callback_context(max_subtasks=max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)

    def __enter__(self) -> Monitor:
        if self.verbose == 1:
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True))
            self.bar.start()
            self.goal = max(-math.log10(self.tol), 1e-9)
            self.row = self.bar.add_task(type(self.estimator).__name__, total=self.goal)
        self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        hold_back()
        if self.bar is not None:
            self.bar.stop()
        if self.task is not None:  # the task that was begun but did not run to its check
            self.task.call_on_fit_task_end(estimator=self.estimator)
        if self.context is not None and kind is None:
            self.context.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def _begin(self) -> None:
        if self.context is not None:
            self.task = self.context.subcontext(task_name="iteration")
            self.task.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def __call__(self, state: TrainingState) -> bool:
        let_through()
        if self.evaluation is not None:
            self.evaluation.add(state)
        if self.bar is not None:
            digits = -math.log10(max(state.gap, self.tol))
            self.bar.update(
                self.row, completed=max(0.0, digits), description=f"gap {state.gap:.1e}"
            )
        if self.verbose > 1:
            print(
                f"iteration {state.n_iter}: primal {state.primal:.9g}, dual {state.dual:.9g}, "
                f"gap {state.gap:.3g}"
            )
        if self.watch is not None and self.watch(state):
            return True
        if self.context is None:
            return False
        if self.task is None:
            self._begin()
        task, self.task = self.task, None
        stop = task.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=partial(
                self.estimator._reconstruction, state, **self.data
            ),  # computed for callbacks that ask for a model
            **self.data,
        )
        if not (stop or state.done or state.n_iter >= self.max_iter):
            self._begin()
        return bool(stop)
