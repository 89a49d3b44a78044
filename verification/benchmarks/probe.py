"""Linear probes beside those who train them today, at equal true accuracy, or where they stop by themselves.

Unit-norm features with a falling spectrum, softmax, no intercept. The gap of others is P(W) less a dual
bound of ours that is a hundred times tighter; for SGD, whose loss is one-vs-all logistic, P(W) less
the dual value of the gradients at W, one pass. One thread: CPU seconds; more: seconds on the wall.
"""

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from verification.benchmarks import peers
from verification.benchmarks.records import Record, Section, Side, contest
from verification.benchmarks.standing import AUTO, LOSSES, estimator, fitted, prepared
from verification.certificates import erm

TOL = 1e-3
CS = (1.0, 10.0)
#: Of `standing.DATA`, by classes.
DATA = {m: f"deep features, {m}" for m in ("m = 300", "m = 1000")}
#: Times our seconds that they have to take at the same gap.
LIMITS = {"scikit-learn lbfgs": 3.0, "cyanure": 20.0}
SECTION = Section(
    f"Softmax to a certified relative gap of {TOL:g}",
    "lbfgs and cyanure: at the loosest tolerance that reaches the gap asked of us, and lbfgs at its default. "
    "Ratio: times ours, the median of pairs.",
)


def measure(data: str, C: float, threads: int = 1, repeats: int = 3) -> list[Record]:
    """Everybody on one problem.

    Parameters
    ----------
    data : key of `DATA`
    C : P = 1/2 ||W||^2 + C sum_i L_i
    threads : of BLAS, and ours
    repeats : pairs of fits behind each median
    """
    X, y, _ = prepared(DATA[data])
    model = estimator(LOSSES["softmax"], AUTO, C, TOL).set_params(n_jobs=threads)
    fit = partial(peers.fit_quietly, model, X, y)
    now = process_time if threads == 1 else perf_counter
    found = []
    with threadpool_limits(threads):
        fit()  # compiles
        tight = fitted("softmax", X, y, C, TOL / 100)
        for who, setting, other, gap in _rivals(X, y, C, tight.dual_objective_, threads):
            names = {"data": data, "C": C, "threads": threads, "against": who, "setting": setting}
            judged = who in LIMITS and setting.startswith("tol") and gap <= TOL
            least = {"ratio": LIMITS[who]} if judged else {}
            sides = (
                Side(fit, lambda model: float(model.dual_gap_)),
                Side(other, partial(_known, gap)),
            )
            most = {"gap": TOL}
            found.append(contest(names, *sides, repeats, now, least=least, most=most))
    return found


def _known(gap: float, model: object) -> float:
    return gap


def _rivals(X: Any, y: np.ndarray, C: float, lower: float, threads: int) -> Iterator[Any]:
    """(Who, how, a fit of theirs, its gap)."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    trainers = {"scikit-learn lbfgs": peers.LOGISTIC}
    if find_spec("cyanure") is not None and threads == 1:
        trainers["cyanure"] = peers.CYANURE
    for who, trainer in trainers.items():
        match, fit = peers.matched(trainer, X, y, C, lower, TOL)
        yield who, f"tol {match.tol:.2g}", fit, match.suboptimality
    default = LogisticRegression(C=C, fit_intercept=False)
    fit = partial(peers.fit_quietly, default, X, y)
    fit()
    gap = peers.suboptimality(default.coef_, X, y, C, lower, peers.LOGISTIC)
    yield "scikit-learn lbfgs", "its default", fit, gap
    if threads == 1:
        alpha = 1.0 / (C * len(y))
        sgd = SGDClassifier(loss="log_loss", alpha=alpha, fit_intercept=False, random_state=0)
        fit = partial(peers.fit_quietly, sgd, X, y)
        fit()
        own = erm(sgd.coef_, X, y, loss="ova_logistic", C=C).relative_gap
        yield "scikit-learn SGD", "its default, one-vs-all", fit, own
