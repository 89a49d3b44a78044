"""The index of duals: one row per declared object, from the declarations alone, and a link back from each lesson.

Formulas are those of `Spec.formulas`; what breaks in print are the errata that a wrong solver of the
object implements, or that its notes name. Nothing here is written twice, so nothing can drift.
"""

import functools
import html
import re
from collections.abc import Iterator
from typing import Any

from declared import shown
from docutils import nodes
from ledger import anchor
from markup import Html
from sphinx.application import Sphinx

import refsolve
from refsolve.spec import Spec

#: Column -> formulas that stand there, with the words before them.
COLUMNS: dict[str, dict[str, str]] = {
    "definition": {"set": "", "value": "", "definition": "", "primal": "", "z": "with", "Delta": "", "step": "step:"},
    "conjugate": {"conjugate": "", "support": "of the indicator:"},
    "domain": {},
    "dual": {"dual": "", "dual of a step": "", "linear program": "inference:", "kernel": "", "gap": "gap:",
             "scale-free gap": "scale-free:", "certificate": "certificate:", "infeasible": "infeasible if"},
    "update": {"solution": "projection:", "sdca_update": "block:", "prox": "prox:", "maps": "", "gradient": "gradient:",
               "derivative": "derivative:", "loss_augmented_inference": "inference:"},
}  # fmt: skip
#: Papers by what a source says; C and A are two printings of one.
PAPERS = {
    "N": ("Top-k multiclass SVM, 2015", r"Lapin et al\. 2015"),
    "C/A": ("Top-k error, 2016", r"Lapin et al\. 2016|Lapin et al\. 2015.*; 2016"),
    "M": ("AP-SVM, 2014", r"Mohapatra et al\. 2014"),
    "X": ("Privileged information, 2016", r"Xu et al\. 2016"),
}
ELSEWHERE = r"^(.*?),? on (\{.*?\}(?:, s = <1,x>)?|0 <=.*?)(?:[;,] \+inf elsewhere.*)?$"
ERRATUM = re.compile(r"\b[EMX]\d{1,2}\b")


def papers(spec: Spec) -> list[str]:
    """Letters of the papers that an object is from; "other" if it is from none of the five."""
    return [p for p, (_, said) in PAPERS.items() if re.search(said, spec.source)] or ["other"]


@functools.cache
def errata() -> dict[str, list[str]]:
    """Keys of the errata by object: those that wrong solvers of it implement."""
    from verification.faulty_solvers import discover
    from verification.selftest.errata import ERRATA

    found: dict[str, list[str]] = {}
    for mutant in discover().values():
        known = found.setdefault(mutant.problem.rpartition(".")[0], [])
        known += [key for key in mutant.errata if key in ERRATA and key not in known]
    return found


@functools.cache
def claimed() -> dict[str, str]:
    """Anchor in the ledger of the statement that an erratum refutes or repairs."""
    from verification.paper_statements import claims

    found: dict[str, str] = {}
    for paper, claim in claims():
        if claim.erratum:
            found[claim.erratum] = anchor(paper, claim.number)
    return found


def in_print(object_name: str, spec: Spec) -> str:
    """What is printed and what is right, each linked to the claim; else the notes that name an erratum."""
    from verification.paper_statements import papers as ledgers
    from verification.selftest.errata import ERRATA

    items = []
    for key in errata().get(object_name, ()):
        if key.partition("/")[0] not in ledgers():
            continue  # a defect of somebody's program
        row = ERRATA[key]
        place = f"../reproducibility.html#{claimed().get(key, '')}".rstrip("#")
        link = f"<a href='{place}'>{html.escape(row.where)}</a>"
        items.append(f"{link}: {shown(row.printed)}. <b>Right:</b> {shown(row.right)}.")
    items += [shown(n) for n in spec.notes if ERRATUM.search(n) and not items]
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>" if items else ""


def domain(spec: Spec) -> tuple[str, str]:
    """The conjugate, and where it is finite."""
    if support := spec.formulas.get("support"):
        cone = re.match(r"0 if (.*), else \+inf", support)
        return support, f"{{w : {cone[1]}}}" if cone else "all w"
    text = " ".join(spec.formulas.get("conjugate", "").split())
    found = re.match(ELSEWHERE, text)
    return (found[1], found[2]) if found else (text, "")


def cells(object_name: str, spec: Spec) -> Iterator[tuple[str, str]]:
    """(column, HTML) of one row."""
    module = refsolve.catalogue.load(object_name)
    conjugate, where = domain(spec)
    for column, wanted in COLUMNS.items():
        lines = []
        for name, before in wanted.items():
            if name in spec.formulas:
                text = conjugate if column == "conjugate" else spec.formulas[name]
                words = f"<small>{before}</small> " if before else ""
                lines.append(f"<p>{words}{shown(text)}</p>")
        if column == "domain" and where:
            lines.append(f"<p>{shown(where)}</p>")
        dual_set = getattr(module, "dual_set", "")
        if column == "domain" and dual_set in refsolve.catalogue.object_names("sets"):
            title = refsolve.catalogue.load(dual_set).SPEC.title
            lines.append(
                f"<p><small>set:</small> <a href='#{dual_set}'>{html.escape(title)}</a></p>"
            )
        if column == "dual" and spec.kind == "losses" and not lines and hasattr(module, "dual_set"):
            lines.append(
                "<p><small>of the training problem:</small> <a href='#multiclass_erm'>D(A)</a></p>"
            )
        yield column, "".join(lines)
    yield "in print", in_print(object_name, spec)
    made = [f"refsolve/{spec.kind}/{object_name}.py"]
    made += [] if spec.oracle_only else [f"fast/{spec.kind}/{object_name}.py"]
    yield "files", "<p>" + " ".join(f"<code>{name}</code>" for name in made) + "</p>"


def row(object_name: str, spec: Spec) -> str:
    """One object."""
    of = papers(spec)
    chips = "".join(f"<span class='paper'>{p}</span>" for p in of)
    source = shown(spec.source) if re.search("[_^=]", spec.source) else html.escape(spec.source)
    head = (
        f"<th scope='row' role='rowheader'><a href='../{spec.kind}/{object_name}.html'>{html.escape(spec.title)}</a>"
        f"<small>{spec.kind} {chips}<br>{source}</small></th>"
    )
    body = "".join(
        f"<td role='cell' data-label='{name}'><div>{text}</div></td>"
        for name, text in cells(object_name, spec)
        if text
    )
    return f"<tr role='row' id='{object_name}' data-kind='{spec.kind}' data-papers='{' '.join(of)}'>{head}{body}</tr>"


def index() -> Html:
    """The table, with its filter; without a script all rows are shown, and no filter."""
    specs = {
        object_name: refsolve.catalogue.load(object_name).SPEC
        for object_name in refsolve.catalogue.object_names()
    }
    kinds = dict.fromkeys(spec.kind for spec in specs.values())
    of = {p: f"{p}: {said}" for p, (said, _) in PAPERS.items()} | {"other": "other sources"}
    choices = {"kind": {k: k for k in kinds}, "paper": of}
    selects = "".join(
        f"<label>{name} <select data-by='{name}'><option value=''>all</option>"
        + "".join(
            f"<option value='{value}'>{html.escape(text)}</option>"
            for value, text in options.items()
        )
        + "</select></label>"
        for name, options in choices.items()
    )
    search = "<label>find <input type='search' placeholder='simplex, hinge, E5'></label>"
    bar = f"<form class='duals-filter' hidden>{selects}{search}<output aria-live='polite'></output></form>"
    rows = "".join(row(object_name, spec) for object_name, spec in specs.items())
    table = f"<table class='duals' role='table'><tbody role='rowgroup'>{rows}</tbody></table>"
    return Html(f"{bar}{table}<script src='../_static/duals.js'></script>")


def link_back(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A lesson begins with a link to its row."""
    kind, _, object_name = docname.partition("/")
    if (
        kind not in refsolve.catalogue.OPERATIONS
        or object_name not in refsolve.catalogue.object_names()
    ):
        return
    title = next(iter(doctree.findall(nodes.title)))
    uri = f"{app.builder.get_relative_uri(docname, 'course/duals')}#{object_name}"
    link = nodes.reference("", "in the index of duals", refuri=uri, internal=True)
    title.parent.insert(
        title.parent.index(title) + 1, nodes.paragraph("", "", link, classes=["to-duals"])
    )


def unlink(app: Sphinx, name: str, template: str, context: dict[str, Any], *more: Any) -> None:
    """In the course's archive, which has no lessons, links to them are their text."""
    if name == "course/duals":
        link = r"<a href='\.\./([\w/]+)\.html[^']*'>(.*?)</a>"
        there = app.env.found_docs
        context["body"] = re.sub(link, lambda m: m[m[1] not in there and 2], context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", link_back)
    app.connect("html-page-context", unlink)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
