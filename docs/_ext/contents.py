"""The table of contents by what is declared: one row per object, found as the catalogue finds it."""

import html
import re
from pathlib import Path

from markup import Html, table
from mathml import convert

import refsolve

DOCS = Path(__file__).resolve().parents[1]
#: A displayed formula and its label.
FORMULA = re.compile(r"^\$\$(.+?)\$\$[ ]*(?:\(eq:([\w-]+)\))?", re.DOTALL | re.MULTILINE)


def definition(page: Path) -> str:
    """MathML of the formula that defines what a page teaches: the one labelled as a loss, or the first."""
    formulas = FORMULA.findall(re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL))
    named = [tex for tex, label in formulas if label.endswith("-loss")]
    tex = (named or [tex for tex, _ in formulas])[0]
    return convert(tex.strip().rstrip(".,").strip(), block=False)


def objects_table(kind: str) -> Html:
    """Title, linked to the object's page, and the formula that defines it there."""
    rows = []
    for object_name in refsolve.catalogue.object_names():
        spec = refsolve.catalogue.load(object_name).SPEC
        if spec.kind == kind:
            link = f"<a href='{kind}/{object_name}.html'>{html.escape(spec.title)}</a>"
            rows.append((link, definition(DOCS / kind / f"{object_name}.md")))
    return table((kind[:-1] if kind != "losses" else "loss", "definition"), rows, "object_names")
