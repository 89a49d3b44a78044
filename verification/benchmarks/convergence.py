"""How fast SDCA, FISTA and ours converge: the study of Lapin et al. 2016, Figure 1 (arXiv version: 2, 3).

Three losses on three data sets, C by validation as the paper's "best performing models". A curve has a
point per certificate: passes over the data, CPU seconds, the relative duality gap of the best W so
far, and its accuracy on the validation part. The clock is that of the process, and stands while accuracy
is measured. Passes of SDCA are epochs, whose certificates come on top and cost one more each; those of FISTA
are all its goes through the data. Ours works on parts of the data, or in products with Hessians: it has no
passes, only seconds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from verification.benchmarks.letter import load_parts

#: Gaps that the tables ask for; the paper's stopping criterion is the second.
GAPS = (1e-2, 1e-3, 1e-4, 1e-6)
#: Passes and CPU seconds after which a curve ends, and its gap.
PASSES, SECONDS, TOL = 3000, 20.0, 1e-7
POINTS = 50  # of a curve that are written down
CS = (0.01, 0.1, 1.0, 10.0)
#: By name, the object of a loss and its parameters; those with gamma or without a margin are smooth.
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    "SVM-Multi": ("multiclass_hinge", {}),
    "smooth SVM-Multi": ("smooth_topk_hinge_alpha", {"k": 1, "gamma": 1.0}),
    "softmax": ("softmax", {}),
}
#: By name, the solver of `fast.models.multiclass_erm`.
SOLVERS = {"SDCA": "sdca", "FISTA": "fista", "ours": "auto"}


class Data(NamedTuple):
    """Training and validation part."""

    X: np.ndarray
    y: np.ndarray
    X_val: np.ndarray
    y_val: np.ndarray


def _letter(quick: bool) -> Data:
    parts = load_parts()
    few = slice(1500 if quick else None)
    return Data(parts.train[0][few], parts.train[1][few], *parts.validation)


def _digits(quick: bool) -> Data:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    held = np.arange(len(y)) % 3 == 0
    return Data(X[~held] / 16.0, y[~held], X[held] / 16.0, y[held])


def _deep(quick: bool) -> Data:
    from fast.datasets import make_deep_features

    n, m, d = (900, 20, 32) if quick else (6000, 100, 128)
    X, y = make_deep_features(n, m, d, separation=0.5, random_state=0)
    own = 2 * n // 3
    return Data(X[:own], y[:own], X[own:], y[own:])


DATA: dict[str, Callable[[bool], Data]] = {"letter": _letter, "digits": _digits, "deep": _deep}


@dataclass(frozen=True)
class Curve:
    """One run: per certificate its passes, CPU seconds, relative gap and accuracy in percent."""

    data: str
    loss: str
    solver: str
    C: float
    passes: tuple[int, ...]
    seconds: tuple[float, ...]
    gaps: tuple[float, ...]
    accuracies: tuple[float, ...]

    def first(self, gap: float) -> int | None:
        """The first certificate that is as good."""
        return next((at for at, found in enumerate(self.gaps) if found <= gap), None)

    def settled(self, points: float = 0.5) -> int:
        """The first certificate from which on the accuracy stays so near to the last one."""
        away = [abs(value - self.accuracies[-1]) > points for value in self.accuracies]
        return len(away) - away[::-1].index(True) if any(away) else 0

    def thinned(self) -> "Curve":
        """The same at most `POINTS` times: evenly in the logarithm, and where something is read off."""
        count, settled = len(self.gaps), self.settled()
        kept = set(np.geomspace(1, count, min(POINTS, count)).astype(int) - 1) | {count - 1}
        kept |= {at for gap in GAPS if (at := self.first(gap)) is not None}
        kept |= {max(settled - 1, 0), settled}
        parts: dict[str, Any] = {
            name: tuple(getattr(self, name)[at] for at in sorted(kept))
            for name in ("passes", "seconds", "gaps", "accuracies")
        }
        return replace(self, **parts)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, thinned, with digits that mean something."""
        found, short = asdict(self.thinned()), {"seconds": 3, "gaps": 4, "accuracies": 5}
        return found | {
            name: [float(f"{value:.{digits}g}") for value in found[name]]
            for name, digits in short.items()
        }


def offered(loss: str) -> list[str]:
    """The solvers for a loss: FISTA needs a gradient."""
    from fast.families import named

    object_name, given = LOSSES[loss]
    smooth = named(object_name, **given).smooth
    return [name for name in SOLVERS if smooth or name != "FISTA"]


def accuracy(data: Data, W: np.ndarray) -> float:
    """Top-1 accuracy on the validation part in percent; a tie counts against the true class."""
    from fast.metrics import topk_accuracy

    return 100.0 * float(topk_accuracy(data.y_val, data.X_val @ W.T, 1, classes=np.arange(len(W))))


def trained(
    data: Data, loss: str, C: float, solver: str, tol: float, most: int = PASSES,
    report: Callable[[Any], bool] | None = None,
) -> Any:  # fmt: skip
    """A fit by the algorithms themselves."""
    from fast.families import named
    from fast.models.multiclass_erm import train

    object_name, given = LOSSES[loss]
    X, y, m = data.X, data.y, int(data.y.max()) + 1
    return train(
        X, y, C, m, named(object_name, **given), tol=tol, max_iter=most, solver=SOLVERS[solver], report=report
    )  # fmt: skip


def choose(data: Data, loss: str) -> float:
    """The C of best validation accuracy, the smallest of equals; models of ours."""
    return max(CS, key=lambda C: accuracy(data, trained(data, loss, C, "ours", 1e-3).W))


def run(
    name: str, data: Data, loss: str, solver: str, C: float, seconds: float = SECONDS,
    passes: int = PASSES, tol: float = TOL,
) -> Curve:  # fmt: skip
    """One curve, from W = 0 on."""
    found: list[tuple[int, float, float, float]] = [(0, 0.0, 1.0, 0.0)]
    spent, mark = 0.0, process_time()

    def report(state: Any) -> bool:
        nonlocal spent, mark
        spent += process_time() - mark
        at = state.passes or state.n_iter
        found.append((at, spent, state.gap, accuracy(data, state.W)))
        mark = process_time()
        return spent >= seconds or at >= passes

    trained(data, loss, C, solver, tol, passes, report)
    return Curve(name, loss, solver, C, *zip(*found, strict=True))


def curves(
    names: Sequence[str] = tuple(DATA), quick: bool = False, seconds: float = SECONDS,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[Curve]:  # fmt: skip
    """Every curve of these data sets, each as soon as it is known."""
    for name in names:
        data = DATA[name](quick)
        few = data._replace(X=data.X[:300], y=data.y[:300])  # kernels compile on nobody's clock
        for loss in LOSSES:
            say(f"{name}, {loss}: C")
            C = choose(data, loss)
            for solver in offered(loss):
                say(f"{name}, {loss}, C = {C:g}: {solver}")
                trained(few, loss, C, solver, TOL, 3)
                yield run(name, data, loss, solver, C, seconds, 100 if quick else PASSES)
