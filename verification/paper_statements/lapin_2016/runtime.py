"""Section 3, "Runtime", and Figure 1: what is said of convergence, in passes that are counted.

Time is no part of these rows: `refsolve reproduce convergence` has it.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements.lapin_2016 import stated

#: Stem of a loss and its parameters.
Loss = tuple[str, dict[str, Any]]
HINGE: Loss = "multiclass_hinge", {}
SMOOTH: Loss = "smooth_topk_hinge_alpha", {"k": 1, "gamma": 1.0}
SOFTMAX: Loss = "softmax", {}
MOST, TRAINING = 400, 300  # passes; examples to train on
STOP = 1e-3  # the paper's criterion
LETTER = -1  # in the place of a seed: rows of Letter, which has 26 classes


def _draw(rng: Rng) -> Inputs:
    """Features as a network makes them, m classes, C over two decades."""
    return {
        "seed": int(rng.integers(1_000_000)),
        "m": int(rng.integers(3, 9)),
        "C": float(rng.choice([0.3, 1.0, 3.0, 10.0, 30.0])),
    }


@lru_cache(maxsize=4)
def _data(seed: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    from fast.datasets import load_letter, make_deep_features

    if seed == LETTER:
        X, y = load_letter(subset="train")
        return X[:1300] / 7.5 - 1.0, y[:1300]
    return make_deep_features(1300, m, 16, separation=1.0, random_state=seed)


def curve(seed: int, m: int, C: float, loss: Loss, solver: str) -> list[tuple[int, float, int]]:
    """Passes, relative gap, and how many of 1000 other examples are right, per certificate."""
    from fast.families import named
    from fast.models.multiclass_erm import train

    X, y = _data(seed, m)
    own, other = slice(TRAINING), slice(TRAINING, None)
    found = []

    def report(state: Any) -> bool:
        right = int((np.argmax(X[other] @ state.W.T, axis=1) == y[other]).sum())
        found.append((state.passes or state.n_iter, state.gap, right))
        return bool(found[-1][0] >= MOST)

    stem, given = loss
    train(
        X[own], y[own], C, m, named(stem, **given), tol=1e-6, max_iter=MOST, solver=solver, report=report
    )  # fmt: skip
    return found


def passes(rows: list[tuple[int, float, int]], gap: float) -> int:
    """Passes to a gap; `MOST` where it is not reached."""
    return next((count for count, reached, _ in rows if reached <= gap), MOST)


def _check_pair(
    trial: Trial, *, seed: int, m: int, C: float, first: tuple[Loss, str], second: tuple[Loss, str],
    gaps: tuple[float, ...], share: float,
) -> None:  # fmt: skip
    """The first needs at most that share of the second's passes."""
    one, two = (curve(seed, m, C, loss, solver) for loss, solver in (first, second))
    for gap in gaps:
        counts = passes(one, gap), passes(two, gap)
        trial.exactly(counts[0] <= share * counts[1], "more passes", gap=gap, passes=counts)


FASTER = stated(
    "Figure 1, smooth losses converge faster",
    draw=_draw,
    check=_check_pair,
    says={"first": (SMOOTH, "sdca"), "second": (HINGE, "sdca"), "gaps": (STOP,), "share": 1.0},
    wrong={
        "the other way round": {"first": (HINGE, "sdca"), "second": (SMOOTH, "sdca")},
        "ten times fewer": {"share": 0.1},
    },
)

TURNED: dict[str, dict[str, Any]] = {
    "the other way round": {"first": (SOFTMAX, "fista"), "second": (SOFTMAX, "sdca")},
    "fifty times fewer": {"share": 0.02},
}
COMPETITIVE = stated(
    "Figure 3 of the arXiv version, gaps of 1e-4 and more",
    draw=_draw,
    check=_check_pair,
    says={
        "first": (SOFTMAX, "sdca"),
        "second": (SOFTMAX, "fista"),
        "gaps": (1e-2, 1e-3, 1e-4),
        "share": 1.0,
    },
    wrong=TURNED,
)

BETTER = COMPETITIVE.also(
    "Figure 3 of the arXiv version, smaller gaps",
    says={"gaps": (1e-6,), "share": 0.5},
    wrong=TURNED,
)


def _check_accuracy(
    trial: Trial, *, seed: int, m: int, C: float, loss: Loss, points: int,
    few: Callable[[list[tuple[int, float, int]]], int],
) -> None:  # fmt: skip
    """From some pass on the accuracy stays near the last one, in examples of 1000."""
    rows = curve(seed, m, C, loss, "sdca")
    start, last = few(rows), rows[-1][2]
    away = [abs(right - last) for count, _, right in rows if count >= start]
    trial.exactly(max(away) <= points, "accuracy still moves", away=max(away), after=start)


SATURATES = stated(
    "Figure 1, accuracy saturates",
    draw=_draw,
    check=_check_accuracy,
    says={"loss": SOFTMAX, "points": 15, "few": lambda rows: 5},
    wrong={"no point": {"points": 0}, "a fifth of a point": {"points": 2}},
)

ANYWHERE = SATURATES.also(
    "Figure 1, accuracy saturates on other data",
    draw=lambda rng: {"seed": LETTER, "m": 26, "C": 10.0},
    right={"few": lambda rows: passes(rows, STOP)},
    witnesses=({"seed": LETTER, "m": 26, "C": 10.0},),
)

STOPPING = SATURATES.also(
    "Figure 1, the stopping criterion",
    draw=lambda rng: _draw(rng) if rng.random() < 0.8 else {"seed": LETTER, "m": 26, "C": 10.0},
    says={"few": lambda rows: passes(rows, STOP)},
    wrong={"at a gap of 0.3": {"few": lambda rows: passes(rows, 0.3)}, "no point": {"points": 0}},
)
