"""Oracle calls that training to a certified gap takes: ours against the plain 1-slack cutting plane."""

from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from verification.benchmarks import ap_shapes
from verification.benchmarks.records import Record, Section
from verification.benchmarks.timing import race

GAP = 1e-6
SIZE = {"n": 20_000, "d": 64, "share": 0.02, "separation": 1.5}
#: C and the oracle calls allowed.
LIMITS = {10.0: 60, 1000.0: 100}
#: Where the plain cutting plane is stopped.
MAX_CALLS, MAX_SECONDS = 500, 60.0
SECTION = Section(
    f"Training to a certified relative gap of {GAP:g}: two Gaussian classes, n = 20 000, d = 64, 2 % positives, "
    "means 1.5 apart",
    f"Gaps are recomputed from weights, rankings and dual weights, outside the clock. The cutting plane is stopped "
    f"after {MAX_CALLS} calls or {MAX_SECONDS:g} s, and its gap is that of its best model. LogisticRegression: "
    "scikit-learn's defaults, another problem, for orientation. Training AP: ties counted against.",
)


class Stopped(NamedTuple):
    """Where a cutting plane came to: best model, dual weights C lambda on its rankings, and what it cost."""

    w: np.ndarray
    rankings: np.ndarray
    weights: np.ndarray
    calls: int
    seconds: float


def cutting_plane(
    X: np.ndarray, queries: Any, C: float, tol: float, max_calls: int, max_seconds: float
) -> Stopped:
    """The plain 1-slack cutting plane (Joachims, Finley and Yu 2009), what AP-SVMs are usually trained by.

    Every round solves the problem over the rankings met so far, evaluates the most violated ranking at
    its solution, and adds it: no line search, no step that is kept back.

    Parameters
    ----------
    X : (n, d) array
    queries : fast.ranking.queries.Queries
    C, tol : it ends where P(best w) - D <= tol P, or at a limit
    max_calls, max_seconds : limits; the model is that of the best primal value so far.
    """
    from fast.solvers import simplex_qp

    start = perf_counter()
    w, best, best_value = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.inf
    rows, offsets, coefficients = [np.zeros(X.shape[1])], [0.0], [np.zeros(len(X))]
    gram = np.zeros((max_calls + 1, max_calls + 1))
    shares = np.ones(1)
    for calls in range(1, max_calls + 1):
        cut = queries.infer(X @ w)
        value = 0.5 * float(w @ w) + C * cut.value
        if value < best_value:
            best, best_value = w, value
        rows.append(C * (X.T @ cut.coefficients))
        offsets.append(-C * cut.delta)
        coefficients.append(cut.coefficients)
        A = np.array(rows)
        gram[calls, : calls + 1] = gram[: calls + 1, calls] = A @ A[-1]
        known = gram[: calls + 1, : calls + 1]
        shares = simplex_qp.minimise(A, np.array(offsets), 0.1 * tol * best_value, known).x
        w = -(shares @ A)
        dual = -float(shares @ offsets) - 0.5 * float(w @ w)
        if best_value - dual <= tol * best_value or perf_counter() - start > max_seconds:
            break
    rankings = np.array([queries.inversions(c) for c in coefficients])
    return Stopped(best, rankings, C * shares, calls, perf_counter() - start)


def average_precision(y: np.ndarray, scores: np.ndarray) -> float:
    """AP with ties counted against the scores."""
    from fast.metrics import average_precision as metric

    return float(metric(y, scores, ties="pessimistic"))


def certified(
    X: np.ndarray, y: np.ndarray, C: float, w: np.ndarray, rankings: Any, weights: np.ndarray
) -> float:
    """Relative gap of a model and of weights on rankings, by formulas the trainers have no part in."""
    from refsolve.models import ap_svm

    found = ap_svm.certificate(X, y, C=C, w=w, rankings=rankings, weights=weights)
    return float(found.relative_gap)


def measure(C: float, repeats: int, size: dict[str, Any] | None = None) -> list[Record]:
    """Ours, the cutting plane and scikit-learn's logistic regression at one C."""
    from sklearn.linear_model import LogisticRegression

    from fast import APSVM
    from fast.ranking.queries import Queries
    from verification.certificates import trained

    X, y = ap_shapes.make_problem(**(size or SIZE))

    def record(trainer: str, w: np.ndarray, seconds: float, gap: float | None = None,
               calls: int | None = None, most: dict[str, float] | None = None) -> Record:  # fmt: skip
        ap = average_precision(y, X @ w)
        figures = {"calls": calls, "gap": gap, "seconds": seconds, "training_AP": ap}
        return Record({"trainer": trainer, "C": C}, figures, most=most or {})

    APSVM(C=C, tol=1e-2).fit(X, y)  # compiles
    model = APSVM(C=C, tol=GAP, max_iter=100_000)
    seconds = race(partial(model.fit, X, y), lambda: None, repeats).seconds
    gap, calls = trained(model, X, y).relative_gap, int(model.n_oracle_calls_)
    limits = {"gap": GAP} | ({"calls": LIMITS[C]} if C in LIMITS else {})
    plain = cutting_plane(X, Queries(y), C, GAP, MAX_CALLS, MAX_SECONDS)
    reached = certified(X, y, C, plain.w, plain.rankings, plain.weights)
    other = LogisticRegression()
    took = race(partial(other.fit, X, y), lambda: None, 1).seconds
    return [
        record("APSVM", model.coef_[0], seconds, gap, calls, limits),
        record("plain 1-slack cutting plane", plain.w, plain.seconds, reached, plain.calls),
        record("LogisticRegression, C = 1", other.coef_[0], took),
    ]
