"""Predictions as a table: the k best labels of each example, scores, probabilities."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verification.app.dataset import Examples
from verification.app.metrics import scores_of
from verification.app.trained_model import Model
from verification.errors import InvalidArgumentError
from verification.report.document import Document, table

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5


@dataclass(frozen=True)
class Predictions:
    """The table, and the bytes of its file."""

    frame: pd.DataFrame
    data: bytes


def predictions(
    model: Model, examples: Examples, k: int | None, scores: bool, target: Path
) -> Predictions:
    """What the model says of every example.

    Columns: top_1, ..., top_k, the classes with the largest scores (for AP-SVM: query, if the file says it,
    rank, 1 for the largest score of a query, and score; where an example has several labels, and without k:
    labels, such as "a,b"); then score_CLASS for each class, and probability_CLASS where the model has any.
    """
    import pandas as pd

    if target.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidArgumentError(
            f"output is {target}; expected a name that ends in .csv or .parquet"
        )
    X, classifier, classes = model.fed(examples), model.classifier, model.names
    columns: dict[str, np.ndarray] = {}
    if type(classifier).__name__ == "APSVM":
        f = np.asarray(model.estimator.decision_function(X))
        columns = {"rank": _ranks(f, examples.group), "score": f, "predicted": classes[(f > 0.0).astype(int)]}
        columns = columns if examples.group is None else {"query": examples.group, **columns}
    else:
        many = int(getattr(classifier, "k", 1)) if k is None else k
        if not 1 <= many <= len(classes):
            raise InvalidArgumentError(
                f"k={many}: expected 1 <= k <= {len(classes)}, the number of classes"
            )
        F = scores_of(model, X)
        order = np.argsort(-F, axis=1, kind="stable")[:, :many]
        columns = {f"top_{j + 1}": classes[order[:, j]] for j in range(many)}
        if model.labels and k is None:
            columns = {"labels": np.array([",".join(classes[f > 0.0]) for f in F])}
        if scores:
            columns |= {f"score_{c}": F[:, j] for j, c in enumerate(classes)}
            if hasattr(model.estimator, "predict_proba"):
                p = np.asarray(model.estimator.predict_proba(X))
                columns |= {f"probability_{c}": p[:, j] for j, c in enumerate(classes)}
    frame = pd.DataFrame(columns)
    return Predictions(frame, _written(frame, target))


def _ranks(f: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """1 for the largest score of a query, 2 for the next, ...; of equal scores the first row comes first."""
    queries = np.zeros(len(f), int) if groups is None else np.unique(groups, return_inverse=True)[1]
    order = np.lexsort((-f, queries))
    starts = np.searchsorted(queries[order], queries[order])
    rank = np.empty(len(f), np.int64)
    rank[order] = np.arange(1, len(f) + 1) - starts
    return rank


def _written(frame: pd.DataFrame, target: Path) -> bytes:
    stream = io.BytesIO()
    if target.suffix.lower() == ".csv":
        frame.to_csv(stream, index=False)
        return stream.getvalue()
    try:
        frame.to_parquet(stream, index=False, engine="pyarrow")
    except ImportError:
        raise InvalidArgumentError(
            f"output={str(target)!r}: Parquet needs pyarrow: in a clone of refsolve, pip install '.[parquet]'; or "
            "write a .csv"
        ) from None
    return stream.getvalue()


def summary(found: Predictions, target: Path) -> Document:
    """The first rows, and how often each label comes first."""
    frame = found.frame
    names = [str(name) for name in frame.columns[: 2 * SHOWN]]
    rows = [
        tuple(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row)
        for row in frame.iloc[:SHOWN, : 2 * SHOWN].itertuples(index=False)
    ]
    label = next(name for name in ("predicted", "labels", "top_1") if name in frame)
    labels, counts = np.unique(frame[label].to_numpy().astype(str), return_counts=True)
    data = {"output": str(target), "examples": len(frame), "columns": list(frame.columns),
            "labels": dict(zip(labels.tolist(), counts.tolist(), strict=True))}  # fmt: skip
    first = table(f"First of {len(frame)} examples", tuple(names), rows)
    often = table(
        "Labels",
        (label, "examples"),
        [(n, str(c)) for n, c in zip(labels, counts, strict=True)],
        ["examples"],
    )
    return Document(f"Predictions in {target}", (first, often), None, data)
