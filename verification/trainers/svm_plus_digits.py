"""SVM+ on the digits: trained on coarse images, the full ones privileged; every certificate recomputed."""

import warnings
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from verification.certificates import judge_claims, trained
from verification.report.document import Table, number, table, verdict_cell

CLASSES = (3, 5, 8, 9)
C, LAM = 1.0, 1.0
#: Certified relative duality gap asked for, in each class.
TOL = 1e-6
MODELS: dict[str, dict[str, Any]] = {
    "SVM, squared hinge": {"Z": None},
    "SVM, hinge": {"Z": None, "loss": "hinge"},
    "SVM2+": {},
    "SVM2+, xi >= 0": {"nonneg_slack": True},
    "SVM1+": {"loss": "hinge"},
    "SVM2+, free slack": {"free_slack": 1.0},
    "SVM1+, free slack": {"loss": "hinge", "free_slack": 1.0},
    "SVM2+, rbf": {"kernel": "rbf", "kernel_z": "rbf"},
    "SVM2+, rbf, free slack": {"kernel": "rbf", "kernel_z": "rbf", "free_slack": 1.0},
    "SVM1+, rbf, free slack": {
        "loss": "hinge",
        "kernel": "rbf",
        "kernel_z": "rbf",
        "free_slack": 1.0,
    },
}


class Digits(NamedTuple):
    """X (n, 16): means over 2 x 2 pixels; Z (n, 64): the images; labels y (n,)."""

    X: np.ndarray
    Z: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class DigitsModel:
    """One row: a model of all classes against the rest.

    Attributes
    ----------
    examples : of the training part.
    gap : largest certified relative duality gap of a class, computed anew.
    objection : what is wrong with the claims of the model; empty if nothing is.
    collapsed : classes with w = 0.
    seconds : CPU seconds of training.
    train, test : accuracy.
    """

    name: str
    examples: int
    solver: str
    gap: float
    objection: str
    collapsed: int
    seconds: float
    train: float
    test: float

    @property
    def ok(self) -> bool:
        """Certified to the tolerance, with true claims."""
        return self.gap <= TOL * (1 + 1e-3) and not self.objection

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {**asdict(self), "ok": self.ok}


def load() -> tuple[Digits, Digits]:
    """Every other image of `CLASSES` for training, the rest for testing."""
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    kept = np.isin(y, CLASSES)
    Z, y = images[kept] / 16.0, y[kept]
    X = Z.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(Z), 16)
    return Digits(X[::2], Z[::2], y[::2]), Digits(X[1::2], Z[1::2], y[1::2])


def measure(name: str, train: Digits, test: Digits) -> DigitsModel:
    """Train one of `MODELS` and judge it."""
    from fast import SVMPlusClassifier
    from fast.errors import CollapseWarning

    given: dict[str, Any] = {"Z": train.Z, "free_slack": 0.0} | MODELS[name]
    Z = given.pop("Z")
    model = SVMPlusClassifier(C=C, lam=LAM, tol=TOL, **given)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # the table says how many
        model.fit(train.X, train.y, Z)
    seconds = process_time() - start
    return DigitsModel(
        name,
        len(train.y),
        model.solver_,
        trained(model, train.X, train.y, Z=Z).relative_gap,
        judge_claims(model, train.X, train.y, Z=Z).message,
        int(model.collapsed_.sum()),
        seconds,
        float(model.score(train.X, train.y)),
        float(model.score(test.X, test.y)),
    )


def run() -> list[DigitsModel]:
    """All of `MODELS`."""
    train, test = load()
    return [measure(name, train, test) for name in MODELS]


def digits_table(models: list[DigitsModel]) -> Table:
    """One row per model."""
    rows = [
        (
            m.name,
            m.solver.replace("_", " "),
            number(m.gap),
            str(m.collapsed),
            number(m.seconds),
            f"{100 * m.train:.2f}",
            f"{100 * m.test:.2f}",
            verdict_cell(m.ok),
        )
        for m in models
    ]
    figures = ("certified gap", "w = 0", "seconds", "% train", "% test")
    note = (
        f"C = {C:g}, lam = {LAM:g}, {models[0].examples if models else 0} training images of "
        f"{', '.join(map(str, CLASSES))}: 4 x 4 means, and the 8 x 8 image in training only; relative gap "
        f"at most {TOL:g} in each class. Untuned: not a comparison of the models."
    )
    return table("SVM+: digits", ("model", "solver", *figures, ""), rows, figures, note)
