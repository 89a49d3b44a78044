"""`refsolve audit`: files of weights, examples and labels in, what is certain of the model out."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fast.auditing import AuditResult, audit
from verification.app.examples import Roles
from verification.app.labels import number_classes, text_classes
from verification.app.reading import npy_file, read
from verification.errors import DataFileError, InvalidArgumentError
from verification.report.document import Document, Paragraph, number, table

BLOCKS = (".npy", ".parquet", ".pq")  # read in blocks


def examples(file: Path, labels: Path | None, label: str | None) -> tuple[Any, np.ndarray]:
    """Rows, in blocks where the format has them, and labels, those of a file of their own first."""
    from fast.data import rows

    suffix = file.suffix.lower()
    if suffix in BLOCKS:
        X = rows(file, label=None if labels is not None else label)
        y = X.labels
    elif suffix == ".npz" and labels is not None:
        X, y = _csr(file), None
    else:
        found = read(file, Roles(label, labelled=labels is None))
        X = found.X if found.sparse else found.X.to_numpy(np.float64)
        y = found.y
    y = y if labels is None else npy_file(labels)
    if y is None:
        raise InvalidArgumentError(f"LABELS: expected a .npy file, or --label: {file} has none")
    if y.dtype.kind in "fiub":
        return X, number_classes(labels or file, y, "row {}".format)
    return X, text_classes(labels or file, [str(t) for t in y], "row {}".format)


def _csr(file: Path) -> Any:
    """A sparse matrix as scipy saves it."""
    import scipy.sparse as sp

    try:
        return sp.csr_array(sp.load_npz(file))
    except (OSError, ValueError, KeyError) as error:
        raise DataFileError(
            f"cannot read {file}: {error}; expected a matrix by scipy.sparse.save_npz, or leave LABELS out"
        ) from None


def audited(
    weights: Path, X: Any, y: np.ndarray, files: dict[str, Path | None], **options: Any
) -> AuditResult:
    """The audit, of arrays in ``.npy`` files by the names of `fast.audit`."""
    arrays: dict[str, Any] = {
        name: npy_file(file) for name, file in files.items() if file is not None
    }
    return audit(npy_file(weights), X, y, **arrays, **options)


def document(found: AuditResult, name: str, tolerance: float) -> Document:
    """What is certain, for people and as data."""
    best = found.optimum
    rows = [
        ("P of the model, at most", f"{found.primal:.10g}"),
        ("P of any model, at least", f"{found.dual:.10g}"),
        ("so the model is above the optimum by at most", number(found.gap, 3)),
        ("in relation to the optimum", f"{found.above:.2%}"),
        ("accuracy on these rows", f"{found.accuracy:.2%}"),
        ("passes over them", str(found.passes)),
    ]
    if best is not None:
        rows += [
            ("P of a model trained here, at most", f"{best.primal:.10g}"),
            ("so the model is above the optimum by at least", f"{found.least_above:.2%}"),
            ("accuracy of the model trained here", f"{best.accuracy:.2%}"),
        ]
    ok = found.relative_gap <= tolerance
    blocks: list[Any] = [table("What is certain", ("", ""), rows)]
    if not ok and best is None:
        text = "Either the model is far from the optimum, or far enough that this bound is weak: --refit says which."
        blocks.append(Paragraph(text, "warn"))
    sizes = f"{found.loss}, C = {found.C:g}: {found.n_samples} rows, {found.n_features} features"
    data = {**_numbers(found), "optimum": None if best is None else _numbers(best)}
    good, bad = f"within {tolerance:g} of the optimum", f"not within {tolerance:g} of the optimum"
    return Document(f"audit {name}, {sizes}", tuple(blocks), ok, data, good=good, bad=bad)


def _numbers(found: AuditResult) -> dict[str, Any]:
    names = ("gap", "relative_gap", "above", "least_above")
    told = {**asdict(found), **{name: getattr(found, name) for name in names}}
    plain = {k: v for k, v in told.items() if k not in ("W", "intercept", "optimum")}
    return {k: v if not isinstance(v, float) or np.isfinite(v) else None for k, v in plain.items()}
