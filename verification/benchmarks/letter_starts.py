"""Why the truncated rows of Letter differ: one risk, several starts, and descents cut short.

The paper starts at the softmax solution and takes gradient steps with line search; it does not say when
it stops. The truncated risk P/(C n) = (1/2 ||W||^2 + C sum L)/(C n) and the accuracies are followed
from there, beside our majorise-minimise and a quasi-Newton descent from random weights.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verification.benchmarks.methods import Loss
from verification.benchmarks.protocol import TOL, TOP, Parts, Row, RowResult, accuracies, timed_fit
from verification.report.document import Table, table

#: Gradient steps after which the descent is looked at.
STEPS = (30, 100)


@dataclass(frozen=True)
class Stop:
    """A point reached: its truncated risk, and its test accuracies in percent for `TOP`."""

    name: str
    risk: float
    test: tuple[float, ...]


@dataclass(frozen=True)
class Stops:
    """All points of one row at one C."""

    row: Row
    C: float
    found: tuple[Stop, ...]


def risk(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, k: int) -> tuple[float, np.ndarray]:
    """P(W) with the truncated loss, and a gradient (of the piece that is kept)."""
    from fast.losses import truncated_topk_entropy

    scores = np.ascontiguousarray(X @ W.T)
    value = 0.5 * float(np.sum(W * W)) + C * float(truncated_topk_entropy.value(scores, y, k).sum())
    return value, W + C * truncated_topk_entropy.gradient(scores, y, k).T @ X


def descend(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float, k: int) -> Iterator[np.ndarray]:
    """Gradient steps with backtracking: each lowers the risk by half of what its slope promises.

    Ends where no step does so any more.
    """
    value, gradient = risk(W, X, y, C, k)
    step = 1.0 / (C * len(y))
    while True:
        slope = float(np.sum(gradient**2))
        for _ in range(60):
            moved = W - step * gradient
            lower, following = risk(moved, X, y, C, k)
            if lower <= value - 0.5 * step * slope:
                break
            step *= 0.5
        else:
            return
        W, value, gradient = moved, lower, following
        step *= 1.5
        yield W


def follow(parts: Parts, row: Row, C: float, steps: Sequence[int] = STEPS) -> Stops:
    """Softmax, descents from it, ours, and a random start, for one truncated row."""
    from scipy.optimize import minimize

    X, y = parts.train
    k, n, m = row.loss.k, len(y), int(y.max()) + 1

    def stop(name: str, W: np.ndarray) -> Stop:
        test = accuracies(parts.test[0] @ W.T, parts.test[1], np.arange(m))
        return Stop(name, risk(W, X, y, C, k)[0] / (C * n), test)

    start = timed_fit(parts.train, Row("", Loss("entropy"), row.paper), C, TOL)[0].coef_
    found = [stop("softmax, the start", start)]
    for done, W in enumerate(descend(start, X, y, C, k), 1):
        if done in steps:
            found.append(stop(f"{done} gradient steps", W))
        if done >= max(steps):
            break
    found.append(stop("majorise-minimise (ours)", timed_fit(parts.train, row, C, TOL)[0].coef_))

    def flat(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = risk(w.reshape(m, -1), X, y, C, k)
        return value, gradient.ravel()

    start = 0.1 * np.random.default_rng(0).standard_normal(start.size)
    best = minimize(flat, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    found.append(stop("quasi-Newton, random start", best.x.reshape(m, -1)))
    return Stops(row, C, tuple(found))


def follow_all(parts: Parts, results: Sequence[RowResult]) -> list[Stops]:
    """Every truncated row at the C that validation chose for its own k."""
    return [
        follow(parts, r.row, r.chosen[TOP.index(r.row.loss.k)].C)
        for r in results
        if r.row.loss.truncated
    ]


def starts_table(followed: Sequence[Stops]) -> Table:
    """Risk and accuracy of every stop, the printed accuracies last."""
    rows: list[tuple[str, ...]] = []
    for one in followed:
        for number, s in enumerate(one.found):
            head = (one.row.name, f"{one.C:g}") if number == 0 else ("", "")
            rows.append((*head, s.name, f"{s.risk:.4f}", *(f"{v:.1f}" for v in s.test)))
        rows.append(("", "", "printed", "-", *(f"{v:.1f}" for v in one.row.paper)))
    heads = tuple(f"top-{k}" for k in TOP)
    note = (
        "Training part alone, at the C chosen for the row's own k; risk is P/(C n) with the truncated loss. Where two "
        "starts end at nearly the same risk, the start explains little; a descent from softmax that is cut short "
        "keeps more of softmax's top-1, as the printed rows do."
    )
    columns = ("method", "C", "point", "risk", *heads)
    title = "Truncated entropy: start and stop"
    return table(title, columns, rows, (columns[1], *columns[3:]), note)
