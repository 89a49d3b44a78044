"""`refsolve audit`: files of weights, examples and labels in, what is certain of the model out."""

from typing import Any

from fast.auditing import AuditResult
from verification.report.document import Document, Paragraph, number, table


def document(found: AuditResult, name: str, tolerance: float) -> Document:
    """What is certain, for people and as data."""
    best = found.optimum
    lines = [
        ("P of the model, at most", f"{found.primal:.10g}"),
        ("P of any model, at least", f"{found.dual:.10g}"),
        ("so the model is above the optimum by at most", number(found.gap, 3)),
        ("in relation to the optimum", _share(found.above)),
        ("accuracy on these rows", f"{found.accuracy:.2%}"),
        ("passes over them", str(found.passes)),
    ]
    if best is not None:
        lines += [
            ("P of a model trained here, at most", f"{best.primal:.10g}"),
            ("so the model is above the optimum by at least", _share(found.least_above)),
            ("accuracy of the model trained here", f"{best.accuracy:.2%}"),
        ]
    ok = found.relative_gap <= tolerance
    blocks: list[Any] = [table("What is certain", ("", ""), lines)]
    if not ok and best is None:
        text = "Either the model is far from the optimum, or far enough that this bound is weak: --refit says which."
        blocks.append(Paragraph(text, "warn"))
    sizes = f"{found.loss}, C = {found.C:g}: {found.n_samples} rows, {found.n_features} features"
    data = {**_numbers(found), "optimum": None if best is None else _numbers(best)}
    good, bad = f"within {tolerance:g} of the optimum", f"not within {tolerance:g} of the optimum"
    return Document(f"audit {name}, {sizes}", tuple(blocks), ok, data, good=good, bad=bad)


def _share(above: float) -> str:
    """Per cent, where that can be read."""
    return f"{above:.2%}" if 1e-4 <= above < 100.0 or not above else f"{number(above, 3)} of it"


def _numbers(found: AuditResult) -> dict[str, Any]:
    names = ("loss", "C", "n_samples", "n_features", "n_classes", "primal", "dual", "gap", "relative_gap", "above",
             "least_above", "accuracy", "passes")  # fmt: skip
    return {name: getattr(found, name) for name in names}
