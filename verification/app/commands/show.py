"""``refsolve show NAME``: what an object is, from its declaration."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from verification.app.options import argument, command, option
from verification.report.document import Block, Code, Document, Paragraph, table

if TYPE_CHECKING:
    from refsolve.spec import Spec
    from verification.problems.problem import Problem

#: Columns of the table of symbols.
COLUMNS = ("name", "meaning", "range", "default")

app = typer.Typer(add_completion=False)


def _loss_facts(module: object) -> list[tuple[str, str]]:
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


def _alike(rows: dict[str, Any]) -> list[tuple[list[str], Any]]:
    """Problems with the same arguments together."""
    found: list[tuple[list[str], Any]] = []
    for name, each in rows.items():
        same = next((names for names, other in found if other == each), None)
        if same is None:
            found.append(([name], each))
        else:
            same.append(name)
    return found


def _mathematics(
    module: Any, kind: str, symbols: Sequence[tuple[str, ...]], where: list[tuple[str, str]]
) -> list[Block]:
    """What the declaration says."""
    spec: Spec = module.SPEC
    facts = [
        *_loss_facts(module if kind == "losses" else None),
        ("scaling", spec.scaling),
        ("source", spec.source),
        *(("note", note) for note in spec.notes),
    ]
    blocks: list[Block] = [table("Mathematics", ("object", "formula"), spec.formulas.items())]
    if symbols:
        blocks.append(table("Parameters", ("symbol", *COLUMNS[1:]), symbols))
    return [*blocks, table("Reading", ("", ""), facts), table("Where", ("", ""), where)]


def _remarks(object_name: str, kind: str, spec: Spec) -> list[Block]:
    """What is to be known besides: of the parts of a model, of errata, of what fast does not compute."""
    from verification import models

    blocks: list[Block] = []
    if kind == "models" and (text := models.described(object_name)):
        words = " ".join(text.partition("\n\n")[2].split())
        blocks.append(Paragraph(words.replace("``", "")))  # markup of docstrings
    if spec.erratum:
        text = f"This object documents the erratum {spec.erratum}: see `refsolve claims`."
        blocks.append(Paragraph(text, "warn"))
    if spec.reason:
        blocks.append(Paragraph(f"Not computed in fast: {spec.reason}.", "dim"))
    return blocks


def _arguments(problem: Problem) -> list[tuple[str, str, str]]:
    """Name, meaning and default of every argument, in calling order."""
    defaults = problem.defaults
    return [
        (
            s.name,
            f"{s.meaning}, an integer"
            if s.kind == "integer" and s.shape == "scalar"
            else s.meaning,
            _text(defaults[s.name]) if s.name in defaults else "required",
        )
        for s in problem.symbols
    ]


def _text(value: object) -> str:
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _answer(problem: Problem) -> str:
    """What is asked for."""
    from refsolve.operations import ANSWERS

    if problem.model is None:
        functions = problem.kind == "functions"
        return "W(e^t), of the shape of t" if functions else ANSWERS[problem.operation]
    sides = {side: ", ".join(names) for side, names in problem.model.parts.items()}
    own = sides.pop(problem.operation)
    other = f"; judged by themselves, or with {', '.join(sides.values())}" if sides else ""
    return f"the {problem.operation} unknowns {own}, by name or in this order{other}"


def _written(problem: Problem, latex: bool) -> str:
    """What `refsolve.problem` makes of a small random instance, or why there is none."""
    import refsolve
    from refsolve.errors import RefsolveError
    from verification.checks import trained
    from verification.instances.families import draw

    if problem.kind == "models":
        tried = trained.instances(problem, "quick", 0)
        chosen = min(tried, key=lambda i: np.size(i["y"]) if "y" in i.params else 0)
    else:
        chosen = draw(problem.name, "random", 1, 8, largest=6)[0]
    given: dict[str, Any] = {n: v for n, v in chosen.params.items() if v is not None}
    if problem.kind == "functions":
        given = {n: float(v.flat[0]) for n, v in given.items()}
    try:
        found = refsolve.problem(problem.name, **given)
    except RefsolveError as error:
        return str(error)
    return found.latex() if latex else str(found)


@dataclass(frozen=True, kw_only=True)
class Options:
    """An object or one of its problems."""

    object_name: str = argument(
        "Name as in `refsolve list`, e.g. topk_hinge_alpha, or topk_hinge_alpha.prox."
    )
    problem: bool = option("Its operations as CVXPY problems, of small random arguments.", False)
    latex: bool = option("The same in LaTeX.", False)


@command(app)
def show(options: Options) -> Document:
    """Show a loss, set or model: mathematics, parameters, source."""
    from refsolve import catalogue
    from refsolve.spec import REQUIRED
    from verification.problems.problem import lookup

    object_name, _, operation = options.object_name.partition(".")
    if operation:
        lookup(f"{object_name}.{operation}")  # says what there is
    spec = catalogue.load(object_name).SPEC
    kind = catalogue.kind(object_name)
    symbols: list[tuple[str, ...]] = [
        (s.name, s.meaning, s.range_text(), "required" if s.default is REQUIRED else str(s.default))
        for s in spec.symbols
    ]
    places = [("declared", f"refsolve.{kind}.{object_name}")]
    if importlib.util.find_spec(f"fast.{kind}.{object_name}") is not None:
        places.append(("computed", f"fast.{kind}.{object_name}"))
    problems = [f"{object_name}.{each}" for each in catalogue.operations(object_name)]
    asked = [lookup(name) for name in problems if not operation or name.endswith(f".{operation}")]
    rows = {p.name: _arguments(p) for p in asked}
    answers = {p.name: _answer(p) for p in asked}
    where = [*places, ("problems", ", ".join(problems))]
    blocks = _mathematics(catalogue.load(object_name), kind, symbols, where)
    for names, each in _alike(rows):
        blocks.append(table(f"Arguments of {', '.join(names)}", COLUMNS[:2] + COLUMNS[3:], each))
        blocks += [Paragraph(f"Answer of {name}: {answers[name]}.") for name in names]
    options_of = [(s.name, s.meaning, str(s.default)) for s in spec.options]
    if options_of:
        title = "Options of refsolve.solve and refsolve.problem"
        blocks.append(table(title, ("name", "meaning", "default"), options_of))
    blocks += _remarks(object_name, kind, spec)
    written = (
        {p.name: _written(p, options.latex) for p in asked}
        if options.problem or options.latex
        else {}
    )
    blocks += [Code(name, text) for name, text in written.items()]
    told = ("scaling", "source", "erratum", "reason", "oracle_only")
    data = {
        "name": object_name,
        "kind": kind,
        "formulas": dict(spec.formulas),
        "symbols": [dict(zip(COLUMNS, row, strict=True)) for row in symbols],
        **{name: getattr(spec, name) for name in told},
        "notes": list(spec.notes),
        "problems": problems,
        "arguments": rows,
        "answers": answers,
        "options": options_of,
        "places": dict(places),
        **({"written": written} if written else {}),
    }
    return Document(f"{object_name}: {spec.title}", tuple(blocks), None, data)
