"""Value and prox of the entropy losses on rows of 1000: against numpy.exp and against Clarabel through CVXPY."""

import importlib
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from verification.benchmarks.timing import clock, median_ratio, paired

#: Losses and the k they are measured at; softmax has none.
LOSSES: dict[str, int | None] = {"softmax": None, "topk_entropy_alpha": 5, "topk_entropy_beta": 5}
M, ROWS = 1000, 1000
EXP_LIMIT, PROX_LIMIT, ORACLE_LIMIT = 5.0, 12.0, 50.0


@dataclass(frozen=True)
class Timing:
    """Median seconds for all rows, and what has targets."""

    stem: str
    m: int
    k: int | None
    value: float
    exp_ratio: float
    prox: float
    prox_exp_ratio: float
    oracle_ratio: float

    @property
    def reached(self) -> bool:
        """True iff all three targets hold."""
        return (
            self.exp_ratio <= EXP_LIMIT
            and self.oracle_ratio >= ORACLE_LIMIT
            and self.prox_exp_ratio <= PROX_LIMIT
        )


def measure(stem: str, k: int | None, repeats: int = 5, rows: int = ROWS, m: int = M) -> Timing:
    """Time one loss on standard normal scores, after one call that compiles."""
    module = importlib.import_module(f"fast.losses.{stem}")
    extra: dict[str, Any] = {} if k is None else {"k": k}
    rng = np.random.default_rng(m)
    scores, y = rng.standard_normal((rows, m)), rng.integers(0, m, rows)
    module.value(scores[:2], y[:2], **extra)
    module.prox(scores[:2], **extra)
    values, exps = paired(
        partial(module.value, scores, y, **extra), partial(np.exp, scores), repeats
    )
    proxes, again = paired(partial(module.prox, scores, **extra), partial(np.exp, scores), repeats)
    seconds = median(proxes)
    return Timing(
        stem,
        m,
        k,
        value=median(values),
        exp_ratio=median_ratio(values, exps),
        prox=seconds,
        prox_exp_ratio=median_ratio(proxes, again),
        oracle_ratio=oracle_seconds(stem, scores, k) * rows / seconds,
    )


def oracle_seconds(stem: str, rows: np.ndarray, k: int | None, samples: int = 5) -> float:
    """Seconds of Clarabel for the prox of one row; its problem is compiled before the clock starts."""
    problem, v, _ = prox_problem(stem, rows.shape[1], k)

    def once(row: np.ndarray) -> float:
        v.value = row
        return clock(partial(problem.solve, solver="CLARABEL"))

    once(rows[0])  # compiles the problem
    return median(once(row) for row in rows[1 : 1 + samples])


def prox_problem(stem: str, d: int, k: int | None) -> tuple[Any, Any, Any]:
    """The dual of the prox at t = 1 in CVXPY, its parameter v, and its variable x; the prox is v - x.

    Of the ways to write it the quickest for Clarabel by up to 100x: the sum s is a variable of its
    own, so that the caps x_j <= s/k stay sparse. As written by the oracle, alpha takes seconds here.
    """
    import cvxpy as cp

    x, s, v = cp.Variable(d), cp.Variable(), cp.Parameter(d)
    caps = {"topk_entropy_alpha": lambda: [k * x <= s], "topk_entropy_beta": lambda: [k * x <= 1]}
    entropy = -cp.sum(cp.entr(x)) - cp.entr(1 - s)
    objective = cp.Minimize(0.5 * cp.sum_squares(x) - v @ x + entropy)
    return cp.Problem(objective, [s == cp.sum(x), *caps.get(stem, list)()]), v, x
