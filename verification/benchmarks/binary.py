"""Two classes in the papers' protocol: SVM, logistic regression, AP-SVM and, with privileged features, SVM+."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from verification.benchmarks.methods import MAX_ITER, Loss
from verification.benchmarks.peers import fit_quietly
from verification.benchmarks.protocol import Model, Pair, Row
from verification.certificates import trained
from verification.errors import InvalidArgumentError

#: Weights of the correcting function of SVM+ that validation chooses from, for every C.
LAMS = (0.1, 1.0, 10.0, 100.0)

#: Estimator of `fast`, and its C for one of 1/2 ||w||^2 + C sum of losses of n examples.
_MAKERS: dict[str, tuple[str, Callable[[float, int], float]]] = {
    "SVM": ("TopKSVC", lambda C, n: C / 2),  # our two rows of W are -w/2 and w/2
    "LR": ("TopKLogisticRegression", lambda C, n: C / 2),
    "AP-SVM": ("APSVM", lambda C, n: C * n),  # one loss of the whole list, not a sum
    "SVM+": ("SVMPlusClassifier", lambda C, n: C),
}


@dataclass(frozen=True)
class BinaryRow(Row):
    """A method for labels 0 and 1: accuracy, and average precision of label 1."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What is measured; each has its own C."""
        return ("Accuracy", "AP")

    def models(
        self,
        data: Pair,
        grid: Sequence[float],
        tol: float,
        Z: object = None,
        lam: float | None = None,
    ) -> Iterator[Model]:
        """A model per C, of SVM+ per C and lambda; each for itself."""
        import fast

        X, y = data
        plus = self.name == "SVM+"
        name, price = _MAKERS[self.name]
        lams = (lam,) if lam is not None else LAMS if plus else (None,)
        extra = {"Z": Z} if plus else {}
        for C in grid:
            for weight in lams:
                own = {} if weight is None else {"lam": weight}
                given = {"C": price(C, len(y)), "tol": tol, "max_iter": MAX_ITER, **own}
                model = getattr(fast, name)(**given)
                start = process_time()
                fit_quietly(model, X, y, **extra)
                seconds = process_time() - start
                gap = float(trained(model, X, y, **extra).relative_gap)
                yield Model(C, gap, seconds, model.decision_function, weight)

    def measure(self, scores: np.ndarray, y: np.ndarray) -> tuple[float, ...]:
        """In percent."""
        from sklearn.metrics import average_precision_score

        accuracy = np.mean((scores > 0.0) == (y == 1))
        return 100.0 * float(accuracy), 100.0 * float(average_precision_score(y, scores))


def binary_rows(names: Sequence[str] | None, privileged: bool) -> list[Row]:
    """The methods asked for, by default all, SVM+ with privileged features only.

    Raises
    ------
    InvalidArgumentError
        A name that is none, SVM+ without privileged features.
    """
    known = [name for name in _MAKERS if privileged or name != "SVM+"]
    names = list(dict.fromkeys(names or known))
    if wrong := [name for name in names if name not in known]:
        more = "" if privileged else "; SVM+ with --privileged"
        raise InvalidArgumentError(
            f"method is {wrong[0]!r}; expected for two classes one of {', '.join(known)}{more}"
        )
    return [BinaryRow(name, Loss("hinge")) for name in names]
