"""Oracle calls that training to a certified gap takes: ours against the plain 1-slack cutting plane."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from verification.benchmarks import ap_cutting_plane, ap_shapes
from verification.benchmarks.timing import clock

GAP = 1e-6
SIZE = {"n": 20_000, "d": 64, "share": 0.02, "separation": 1.5}
#: C and the oracle calls allowed.
LIMITS = {10.0: 60, 1000.0: 100}
#: Where the plain cutting plane is stopped.
MAX_CALLS, MAX_SECONDS = 500, 60.0
PROBLEM = "two Gaussian classes, n = 20 000, d = 64, 2 % positives, means 1.5 apart"
NOTE = (
    f"Gaps are recomputed from weights, rankings and dual weights, outside the clock. The cutting plane is stopped "
    f"after {MAX_CALLS} calls or {MAX_SECONDS:g} s, and its gap is that of its best model. LogisticRegression: "
    "scikit-learn's defaults, another problem, for orientation. Training AP: ties counted against."
)


@dataclass(frozen=True)
class Run:
    """One trainer at one C: oracle calls, certified relative gap, median seconds, training AP."""

    trainer: str
    C: float
    calls: int | None
    gap: float | None
    seconds: float
    ap: float
    target: int | None = None

    @property
    def certified(self) -> bool:
        """Whether the recomputed gap is small enough; True where there is none to recompute."""
        return self.gap is None or self.gap <= GAP

    @property
    def reached(self) -> bool:
        """Certified within the calls allowed; True where there is no target."""
        return self.target is None or (
            self.certified and self.calls is not None and self.calls <= self.target
        )


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


def measure(
    C: float,
    repeats: int,
    size: dict[str, Any] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> list[Run]:
    """Ours, the cutting plane and scikit-learn's logistic regression at one C."""
    from sklearn.linear_model import LogisticRegression

    from fast import APSVM
    from fast.ranking.queries import Queries
    from verification.certificates import trained

    X, y = ap_shapes.make_problem(**(size or SIZE))
    say(f"C = {C:g}: ours")
    APSVM(C=C, tol=1e-2).fit(X, y)  # compiles
    model = APSVM(C=C, tol=GAP, max_iter=100_000)
    times = [clock(lambda: model.fit(X, y)) for _ in range(repeats)]
    gap = trained(model, X, y).relative_gap
    ap = average_precision(y, model.decision_function(X))
    calls = int(model.n_oracle_calls_)
    runs = [Run("APSVM", C, calls, gap, median(times), ap, LIMITS.get(C))]
    say(f"C = {C:g}: the plain cutting plane")
    plain = ap_cutting_plane.train(X, Queries(y), C, GAP, MAX_CALLS, MAX_SECONDS)
    gap = certified(X, y, C, plain.w, plain.rankings, plain.weights)
    ap = average_precision(y, X @ plain.w)
    runs.append(Run("plain 1-slack cutting plane", C, plain.calls, gap, plain.seconds, ap))
    start = perf_counter()
    logistic = LogisticRegression().fit(X, y)
    seconds = perf_counter() - start
    ap = average_precision(y, logistic.decision_function(X))
    runs.append(Run("LogisticRegression", 1.0, None, None, seconds, ap))
    return runs
