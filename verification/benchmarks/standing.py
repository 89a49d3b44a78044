"""The standing benchmark: every regime, every loss, C over six orders, everybody to the same true accuracy.

A cell is one problem (data, loss, C) and one accuracy. Ours is asked for the certified gap; a peer gets
the loosest of its own tolerances whose P(W) lies within that of a lower bound, (P(W) - D) / P(W), with D
the dual objective of a fit of ours a hundred times tighter, recomputed from the dual variables. Every fit has
a process of its own, forked from one that has the data and the compiled kernels, with a limit of
seconds (on the wall: one of CPU time would make the process's clock coarse); what does not end in time
is a timeout, printed as such. A loss is fitted on the data of its kind alone: classes, two classes of which
one is rare, two classes, two of few examples for kernels, sets of labels, or classes with privileged features.
"""

import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba.core import event

from fast.errors import InvalidParameterError
from verification.benchmarks import peers
from verification.benchmarks.forked import TIMEOUT, forked
from verification.certificates import trained

CS = (1e-3, 1e-1, 1e1, 1e3)
ACCURACIES = (1e-3, 1e-6)
REFERENCE = 1e-2  # accuracy of the lower bound, in parts of the accuracy asked for
AUTO = "auto"
BRIEF = 1.0  # seconds below which a fit is repeated
TOLERANCES = 10.0 ** np.arange(0.0, -9.5, -0.5)


class Run(NamedTuple):
    """One solver in one cell: CPU seconds, and the suboptimality reached (``seconds`` None: it was not)."""

    data: str
    loss: str
    C: float
    accuracy: float
    solver: str
    seconds: float | None
    suboptimality: float | None
    why: str = ""

    @property
    def cell(self) -> tuple[str, str, float, float]:
        """The problem and the accuracy."""
        return self[:4]


class Loss(NamedTuple):
    """An estimator of ours, its solvers, whoever else minimises the same objective, and what it is for."""

    estimator: str
    params: dict[str, Any]
    solvers: tuple[str, ...]
    peers: dict[str, peers.Trainer]
    kind: str = "classes"


_ENTROPY = "newton", "lbfgs", "interior"
_TOP = "bundle", "cutting_plane"
#: By name; another solver or peer is another entry.
LOSSES = {
    "hinge": Loss("TopKSVC", {}, ("active", "interior"), {"liblinear": peers.CRAMMER_SINGER}),
    "top-5 hinge": Loss("TopKSVC", {"k": 5}, ("active", "interior"), {}),
    "smooth top-5 hinge": Loss(
        "TopKSVC", {"k": 5, "gamma": 1.0}, ("active", "newton", "interior"), {}
    ),
    "softmax": Loss(
        "TopKLogisticRegression",
        {},
        _ENTROPY,
        {
            "sklearn lbfgs": peers.logistic("lbfgs"),
            "sklearn newton-cholesky": peers.logistic("newton-cholesky"),
            "saga": peers.logistic("saga"),
            "cyanure": peers.CYANURE,
        },
    ),
    "top-5 entropy": Loss("TopKLogisticRegression", {"k": 5}, _ENTROPY, {}),
    "one-vs-rest hinge": Loss(
        "OneVsAllClassifier", {"loss": "hinge"}, ("sdca",), {"liblinear": peers.OVR_HINGE}
    ),
    "one-vs-rest logistic": Loss(
        "OneVsAllClassifier", {"loss": "logistic"}, ("newton", "lbfgs"), peers.OVR_LOGISTIC
    ),
    "two-class hinge": Loss(
        "OneVsAllClassifier", {"loss": "hinge"}, ("sdca",), peers.TWO_HINGE, "two classes"
    ),
    "two-class logistic": Loss(
        "OneVsAllClassifier", {"loss": "logistic"}, ("newton", "lbfgs"), peers.TWO_LOGISTIC, "two classes"
    ),
    "RBF SVM": Loss(
        "SVMPlusClassifier", {"loss": "hinge", "kernel": "rbf"}, (), peers.RBF, "two small classes"
    ),
    "multilabel hinge": Loss("MultilabelClassifier", {"loss": "hinge"}, ("sdca",), {}, "labels"),
    "multilabel entropy": Loss("MultilabelClassifier", {"loss": "entropy"}, (), {}, "labels"),
    "AP": Loss("APSVM", {}, _TOP, {}, "ranking"),
    "recall at 50": Loss("RecallAtK", {"k": 50}, _TOP, {}, "ranking"),
    "TopPush": Loss("TopPush", {}, (), {}, "ranking"),
    "SVM1+": Loss("SVMPlusClassifier", {"loss": "hinge"}, (), {}, "privileged"),
    "SVM2+": Loss("SVMPlusClassifier", {}, (), {}, "privileged"),
    "SVM2+, RBF": Loss("SVMPlusClassifier", {"kernel": "rbf"}, (), {}, "privileged"),
}


def _digits() -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def _letter() -> tuple[Any, np.ndarray]:
    from verification.benchmarks.letter import load_parts

    return load_parts().train


def _badly_scaled() -> tuple[Any, np.ndarray]:
    X, y = _digits()
    return X * 10.0 ** np.random.default_rng(0).choice([-4, 0, 4], X.shape[1]), y


def _far_away() -> tuple[Any, np.ndarray]:
    X, y = DATA["clusters"]()
    return X + 1e4, y


def _rare(generator: str, *sizes: int) -> Callable[[], tuple[Any, np.ndarray]]:
    def make() -> tuple[Any, np.ndarray]:
        X, y = _made(generator, *sizes)()
        return X, y == 0

    return make


def _two(generator: str, *sizes: int) -> Callable[[], tuple[Any, np.ndarray]]:
    """The lower half of the classes against the upper one."""

    def make() -> tuple[Any, np.ndarray]:
        X, y = _made(generator, *sizes)()
        return X, (2 * y >= sizes[1]).astype(np.int64)

    return make


def _labels(generator: str, *sizes: int) -> Callable[[], tuple[Any, np.ndarray]]:
    """One label for each example, and for every other one the next label, too."""

    def make() -> tuple[Any, np.ndarray]:
        X, y = _made(generator, *sizes)()
        each = np.eye(sizes[1], dtype=np.int64)
        return X, each[y] | (each[(y + 1) % sizes[1]] * (np.arange(len(y)) % 2)[:, None])

    return make


def _privileged(n: int, classes: int) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Means of 2 x 2 pixels; the whole image is known in training."""
    X, y = _digits()
    coarse = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    return coarse[:n], y[:n] % classes, {"Z": X[:n]}


def _made(generator: str, *sizes: int, **more: Any) -> Callable[[], tuple[Any, np.ndarray]]:
    def make() -> tuple[Any, np.ndarray]:
        from fast import datasets

        return getattr(datasets, generator)(*sizes, **more, random_state=0)

    return make


#: Examples n, classes m, features d; what `fit` takes besides X and y, if anything, comes third.
DATA: dict[str, Callable[[], tuple[Any, ...]]] = {
    "digits": _digits,
    "letter": _letter,
    "mixture, m = 100": _made("make_gaussian_mixture", 5000, 100, 256),
    "mixture, m = 400": _made("make_gaussian_mixture", 4000, 400, 512),
    "mixture, m = 10": _made("make_gaussian_mixture", 50_000, 10, 100),
    "images": _made("make_images", 10_000, 10, 784),
    "heavy tails": _made("make_heavy_tails", 58_000, 7, 9),
    "one-hot": _made("make_one_hot", 3200, 3, 180),
    "clusters": _made("make_clusters", 1000, 11, 10),
    "text": _made("make_text", 20_000, 50, 50_000),
    "deep features, m = 300": _made("make_deep_features", 5000, 300, 256),
    "deep features, m = 1000": _made("make_deep_features", 12_811, 1000, 384),
    "digits, scales 1e-4 to 1e4": _badly_scaled,
    "clusters, 1e4 away": _far_away,
    "rare class": _rare("make_gaussian_mixture", 2000, 20, 50),
    "rare topic": _rare("make_text", 1000, 10, 2000),
    "rare, one-hot": _rare("make_one_hot", 3200, 3, 180),
    "two classes, tall": _two("make_gaussian_mixture", 20_000, 20, 30),
    "two classes, wide": _two("make_gaussian_mixture", 1000, 20, 2000),
    "two classes, heavy tails": _two("make_heavy_tails", 20_000, 7, 9),
    "two classes, one-hot": _two("make_one_hot", 3200, 4, 180),
    "two classes, images": _two("make_images", 2000, 10, 784),
    "two classes, text": _two("make_text", 4000, 50, 10_000),
    "two classes, clusters": _two("make_clusters", 1000, 10, 10),
    "clusters, n = 500": _two("make_clusters", 500, 10, 10),
    "mixture, n = 1000": _two("make_gaussian_mixture", 1000, 10, 50),
    "one-hot, n = 2000": _two("make_one_hot", 2000, 4, 60),
    "images, n = 2000": _two("make_images", 2000, 10, 784),
    "mixture, n = 4000": _two("make_gaussian_mixture", 4000, 20, 20),
    "labels": _labels("make_gaussian_mixture", 1000, 10, 50),
    "labels of text": _labels("make_text", 1000, 10, 2000),
    "images and their halves, m = 2": partial(_privileged, 600, 2),
    "images and their halves, m = 10": partial(_privileged, 300, 10),
}
#: Kinds of data other than classes.
KINDS = {
    **dict.fromkeys((name for name in DATA if name.startswith("rare")), "ranking"),
    **dict.fromkeys((name for name in DATA if name.startswith("two classes")), "two classes"),
    **dict.fromkeys((name for name in DATA if ", n = " in name), "two small classes"),
    **dict.fromkeys(("labels", "labels of text"), "labels"),
    **dict.fromkeys((name for name in DATA if name.startswith("images and")), "privileged"),
}


def measure(data: str, loss: str, C: float, limit: float, known: set[tuple]) -> Iterator[Run]:
    """Everybody on one problem, each result as soon as it is there; what is ``known`` is left out.

    Parameters
    ----------
    data, loss : str
        Keys of `DATA` and `LOSSES`.
    C : float
        P = 1/2 ||W||^2 + C sum_i L_i, no intercept (but of SVM+).
    limit : float
        Seconds of one fit.
    known : set
        (data, loss, C, accuracy, solver) measured before.
    """
    problem, own = (data, loss, C), LOSSES[loss]
    if KINDS.get(data, "classes") != own.kind:
        return
    X, y, options = prepared(data)
    if own.kind == "classes" and own.params.get("k", 1) >= len(np.unique(y)):
        return  # no such loss
    _warm(own, X, y, options)

    def missing(solver: str) -> list[float]:
        return [at for at in ACCURACIES if (*problem, at, solver) not in known]

    for solver in (AUTO, *own.solvers):
        for at in missing(solver):
            fit = partial(_ours, own, solver, X, y, options, C, at)
            found = _limited(fit, limit)
            yield _judged(Run(*problem, at, solver, *found), at)
    if any(missing(name) for name in own.peers):
        tight = _limited(partial(_bound, own, X, y, C), 4 * limit)
        for name, peer in own.peers.items():
            runs = [Run(*problem, at, name, None, None, "no lower bound") for at in missing(name)]
            yield from runs if tight[0] is None else _matched(runs, peer, X, y, tight[1], limit)


def _judged(run: Run, accuracy: float) -> Run:
    if run.seconds is None or (run.suboptimality or 0.0) <= accuracy:
        return run
    return run._replace(seconds=None, why=f"ended at {run.suboptimality:.1g}")


def _matched(
    runs: list[Run], peer: peers.Trainer, X: Any, y: np.ndarray, lower: float, limit: float
) -> Iterator[Run]:
    """The peer at its loosest tolerances that reach the accuracies, which fall."""
    best, why = None, "ended"
    for tol in TOLERANCES:

        def fit(tol: float = tol) -> tuple[float, float]:
            return _timed(
                lambda: peer.fit(X, y, runs[0].C, tol),
                lambda model: peers.suboptimality(model.coef_, X, y, runs[0].C, lower, peer),
            )

        seconds, reached, why = _limited(fit, limit)
        if seconds is None:
            break
        best = reached if best is None else min(best, reached)
        while runs and reached <= runs[0].accuracy:
            yield runs.pop(0)._replace(seconds=seconds, suboptimality=reached, why="")
        if not runs:
            return
    for run in runs:
        yield run._replace(suboptimality=best, why=why or "its tightest tolerance is no tighter")


def prepared(data: str) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Features and labels, as everybody reads them fastest, and what `fit` takes besides."""
    X, y, *options = DATA[data]()
    X = X if hasattr(X, "tocsr") else np.ascontiguousarray(X)
    return X, y, (options[0] if options else {})


def estimator(own: Loss, solver: str, C: float, tol: float) -> Any:
    """The estimator of a loss, without a bound on its iterations that matters."""
    import fast

    limits = {"tol": tol, "max_iter": 100_000, "random_state": 0}
    chosen = {} if solver == AUTO else {"solver": solver}  # some estimators have one solver
    return getattr(fast, own.estimator)(C=C, **chosen, **own.params, **limits)


def fitted(loss: str, X: Any, y: np.ndarray, C: float, tol: float, solver: str = AUTO) -> Any:
    """The estimator of a loss by its name, fitted."""
    return peers.fit_quietly(estimator(LOSSES[loss], solver, C, tol), X, y)


def _warm(own: Loss, X: Any, y: np.ndarray, options: dict[str, Any]) -> None:
    """Load and compile here what the processes of the fits then find in memory."""
    each = np.unique(y, return_index=True, axis=0)[1]
    rows = np.concatenate([each, np.arange(min(len(y), 300))])
    some = {name: value[rows] for name, value in options.items()}
    for solver in (AUTO, *own.solvers):
        model = estimator(own, solver, 1.0, 1e-3).set_params(max_iter=3)
        # a solver that is not for so many weights, and many classes for so few rows
        with suppress(InvalidParameterError), warnings.catch_warnings(action="ignore"):
            model.fit(X[rows], y[rows], **some)


def _ours(
    own: Loss, solver: str, X: Any, y: np.ndarray, options: dict[str, Any], C: float, tol: float
) -> tuple[float, float]:
    model = estimator(own, solver, C, tol)
    return _timed(
        lambda: peers.fit_quietly(model, X, y, **options),
        lambda model: trained(model, X, y, **options).relative_gap,
    )


def _bound(own: Loss, X: Any, y: np.ndarray, C: float) -> tuple[float, float]:
    model = peers.fit_quietly(estimator(own, AUTO, C, REFERENCE * min(ACCURACIES)), X, y)
    return 0.0, float(trained(model, X, y).dual)


def _timed(fit: Callable[[], Any], judge: Callable[[Any], float]) -> tuple[float, float]:
    """CPU seconds of a fit (the least of three means if it is brief), and how good it is."""

    def clock(repeats: int) -> tuple[float, Any]:
        start = time.process_time()
        for _ in range(repeats):
            model = fit()
        return (time.process_time() - start) / repeats, model

    with event.install_recorder("numba:compile") as compiled:
        seconds, model = clock(1)
    if compiled.buffer:  # a path that `_warm` did not take
        seconds, model = clock(1)
    if seconds < BRIEF:  # the clock ticks in milliseconds, and the first fit loads kernels
        repeats = int(0.05 / max(seconds, 1e-3)) + 1
        seconds = min(clock(repeats)[0] for _ in range(3))
    signal.setitimer(signal.ITIMER_REAL, 0.0)  # judging costs nothing
    return seconds, float(judge(model))


def _limited(job: Callable[[], tuple[float, float]], limit: float) -> tuple[Any, Any, str]:
    """What a job returns, from a process of its own that has so many seconds."""

    def run() -> Iterator[tuple[Any, Any, str]]:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limit + 3.0 * BRIEF)
        try:
            yield *job(), ""
        except Exception as error:  # what a solver cannot do is a result
            yield None, None, f"{type(error).__name__}: {error}"[:80]

    found, _ = forked(run, [8 * limit + 60])
    return found[0] if found else (None, None, TIMEOUT)
