"""``refsolve show STEM``: what a stem is, from its declaration."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from verification.console import JsonOption, finish

app = typer.Typer(add_completion=False)


def _loss_facts(module: Any) -> list[tuple[str, str]]:
    """Family, domain of the conjugate and default margin of a loss."""
    if module is None:
        return []
    cost = getattr(module, "default_cost", 1.0)
    family = getattr(module, "family", "multiclass")
    if family == "ranking":
        return [("family", "ranking: one loss for the samples of a query")]
    where = " on the negatives, 0 on the positives" if cost and family == "multilabel" else ""
    return [
        ("family", family),
        ("dual set", getattr(module, "dual_set", "none: the loss is not convex")),
        ("costs", f"{cost:g}{where} unless given"),
    ]


@app.command()
def show(
    stem: Annotated[str, typer.Argument(help="Name as in `refsolve list`, e.g. topk_hinge_alpha.")],
    as_json: JsonOption = False,
) -> None:
    """Show a stem's mathematics, parameters, scaling and source."""
    from refsolve import catalogue
    from refsolve.spec import REQUIRED
    from verification.report import Block, Document, Paragraph, table

    spec = catalogue.load(stem).SPEC
    kind = catalogue.kind(stem)
    formulas = [(name, text) for name, text in spec.formulas.items()]
    symbols = [
        (s.name, s.meaning, s.range_text(), "required" if s.default is REQUIRED else str(s.default))
        for s in spec.symbols
    ]
    places = [("declared", f"refsolve.{kind}.{stem}")]
    if not spec.oracle_only:
        places.append(("computed", f"fast.{kind}.{stem}"))
    problems = [f"{stem}.{operation}" for operation in catalogue.operations(stem)]
    facts = [
        *_loss_facts(catalogue.load(stem) if kind == "losses" else None),
        ("scaling", spec.scaling),
        ("source", spec.source),
        *(("note", note) for note in spec.notes),
    ]
    blocks: list[Block] = [table("Mathematics", ("object", "formula"), formulas)]
    if symbols:
        blocks.append(table("Parameters", ("symbol", "meaning", "range", "default"), symbols))
    blocks += [
        table("Reading", ("", ""), facts),
        table("Where", ("", ""), [*places, ("problems", ", ".join(problems))]),
    ]
    if spec.erratum:
        blocks.append(
            Paragraph(
                f"This stem documents the erratum {spec.erratum}: see `refsolve claims`.", "warn"
            )
        )
    if spec.reason:
        blocks.append(Paragraph(f"No fast twin: {spec.reason}.", "dim"))
    data = {
        "stem": stem,
        "kind": kind,
        "formulas": dict(spec.formulas),
        "symbols": [
            dict(zip(("name", "meaning", "range", "default"), row, strict=True)) for row in symbols
        ],
        "scaling": spec.scaling,
        "source": spec.source,
        "notes": list(spec.notes),
        "erratum": spec.erratum,
        "reason": spec.reason,
        "oracle_only": spec.oracle_only,
        "problems": problems,
        "places": dict(places),
    }
    finish(Document(f"{stem}: {spec.title}", tuple(blocks), None, data), as_json)
