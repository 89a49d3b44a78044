"""Models of a path of C in a folder, so that a run that is begun again goes on after the last of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names

from fast._validation import label_array
from fast.data import Source, fingerprint
from fast.data.columns import by_name
from fast.errors import InvalidParameterError
from fast.solvers.checkpoint import Checkpoint
from fast.solvers.first_pass import examined

#: Attributes of a fitted model that are written; ``dual_coef_`` is as large as all scores.
FITTED = (
    "coef_", "intercept_", "n_features_in_", "n_iter_", "solver_", "dual_gap_",
    "primal_objective_", "dual_objective_",
)  # fmt: skip
BESIDES = ("C", "warm_start", "verbose", "n_jobs")  # parameters that may be others


class PathRecord:
    """A file per C in a folder, written whole or not at all; without a folder it does nothing.

    While a smooth loss is trained on rows in blocks, the state of the run is beside them.
    """

    def __init__(self, folder: Path | None, worker: Any, X: Any, y: Any, weight: Any) -> None:
        self.folder, self.worker = folder, worker
        if folder is None:
            return
        with self._of_folder():
            folder.mkdir(parents=True, exist_ok=True)
        self.X = X
        self.classes, numbers = np.unique(label_array("y", y), return_inverse=True)
        told = {k: v for k, v in worker.get_params().items() if k not in BESIDES}
        smooth = "gradients" in worker._loss(len(self.classes)).capabilities
        self.blocks = isinstance(X, Source) and not X.in_memory and smooth
        if isinstance(X, Source) and not X.in_memory:
            examined(X)  # on its cluster, if it has one
        weights = np.ones(1) if weight is None else np.asarray(weight)
        self.problem = (
            type(worker).__name__,
            told,
            self.classes.tolist(),
            numbers,
            weights,
            fingerprint(X),
        )

    def found(self, C: float) -> float | None:
        """Give the worker the model of this C, if there is one; the seconds that it took."""
        if self.folder is None:
            return None
        self.file = Checkpoint(self.folder / f"{C:.17g}.npz")
        self.running = self.folder / f"{C:.17g}.run.npz"
        with self._of_folder():
            held = self.file.open((*self.problem, C))
        if held is None:
            return None
        worker, values = self.worker, {n: v if v.ndim else v.item() for n, v in held.items()}
        for name in [n for n in vars(worker) if n.endswith("_")]:  # of another C
            delattr(worker, name)
        if isinstance(self.X, Source):
            by_name(worker, self.X, reset=True)
        else:
            _check_feature_names(worker, self.X, reset=True)
        worker.classes_ = self.classes
        vars(worker).update({name: values[name] for name in FITTED})
        names = [name for name in held if name.startswith("history_")]
        worker.history_ = {name.removeprefix("history_"): held[name] for name in names}
        W = worker.coef_
        if worker.fit_intercept:
            W = np.hstack([W, worker.intercept_[:, None]])
        worker._last_weights = W, worker.classes_, worker.fit_intercept
        worker._interrupted = False
        return float(values["seconds"])

    def options(self) -> dict[str, Any]:
        """Of a fit at the C that was not found."""
        return {"checkpoint": self.running} if self.folder is not None and self.blocks else {}

    def keep(self, seconds: float) -> None:
        """Write the worker's model, which is whole."""
        if self.folder is None:
            return
        model = {name: np.asarray(getattr(self.worker, name)) for name in FITTED}
        model |= {f"history_{name}": v for name, v in self.worker.history_.items()}
        with self._of_folder():
            self.file.save(lambda: {**model, "seconds": np.array(seconds)})
            self.running.unlink(missing_ok=True)

    @contextmanager
    def _of_folder(self) -> Iterator[None]:
        """Errors name the argument that the caller gave."""
        try:
            yield
        except InvalidParameterError as error:
            raise InvalidParameterError("folder", error.given, error.expected, error.fix) from None
        except OSError as error:
            given, fix = f"{self.folder}: {error.strerror}", "name another one"
            raise InvalidParameterError("folder", given, "a folder to write to", fix) from None
