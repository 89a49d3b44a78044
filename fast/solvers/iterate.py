"""Where a quasi-Newton run is, and how that is written down."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .state import TrainingState

PATIENCE = 8  # passes without halving the gap, after which the pairs are forgotten


class Point(NamedTuple):
    """R and its gradient (m, d); the mean Hessian in the scores: one number, and (m, m) or None."""

    risk: float
    slopes: np.ndarray
    bend: float
    bends: Any


@dataclass
class Walk:
    """Where a run is: steps, C', precision, and what it has learnt of its steps."""

    iteration: int
    C: float
    double: bool
    usual: int = 0  # steps of length 1
    trust: float = 1.0  # best length of the last step over what the sample said
    failed: bool = False  # in the last search
    best: float = np.inf  # gap at this C'
    patience: int = PATIENCE


def arrays_of(solver: Any, state: TrainingState, at: Walk, point: Point) -> dict[str, Any]:
    """All that the rest of a run depends on, but for what its data say."""
    arrays = {"W": solver.W, "best": solver.best, "kept": state.W, **vars(solver.pairs)}
    arrays |= {f"point_{name}": value for name, value in point._asdict().items()}
    arrays |= {f"at_{name}": value for name, value in vars(at).items()}
    arrays["history"] = np.array([list(entry.values()) for entry in state.history])
    arrays["state"] = np.array([state.n_iter, state.primal, state.dual])
    return {name: np.asarray(value) for name, value in arrays.items() if value is not None}


def restored(solver: Any, state: TrainingState, held: dict[str, Any]) -> tuple[Walk, Point]:
    """The run that `arrays_of` wrote down."""
    solver.W, solver.best = held["W"], held.get("best")
    for name in vars(solver.pairs):
        setattr(solver.pairs, name, held[name])
    solver.pairs.order = held["order"].tolist()
    names = ("iteration", "time", "primal", "dual", "gap")
    rows = [dict(zip(names, row, strict=True)) for row in held["history"].tolist()]
    state.history[:] = [row | {"iteration": int(row["iteration"])} for row in rows]
    state.started = time.perf_counter() - rows[-1]["time"]
    state.n_iter, state.W = int(held["state"][0]), held["kept"]
    state.primal, state.dual = held["state"][1:].tolist()
    at = Walk(**{name: held[f"at_{name}"].item() for name in vars(Walk(0, 0.0, False))})
    parts: dict[str, Any] = {name: held.get(f"point_{name}") for name in Point._fields}
    return at, Point(**parts | {name: float(parts[name]) for name in ("risk", "bend")})
