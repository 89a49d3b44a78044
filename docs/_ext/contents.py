"""The table of contents by what is declared: one row per stem, found as the catalogue finds it."""

import html

from markup import Html, table

import refsolve


def stems_table() -> Html:
    """Title, linked to the stem's page, and the formula that defines it."""
    rows = []
    for stem in refsolve.catalogue.stems():
        spec = refsolve.catalogue.load(stem).SPEC
        formula = next(spec.formulas[n] for n in ("set", "value", "primal") if n in spec.formulas)
        link = f"<a href='{spec.kind}/{stem}.html'>{html.escape(spec.title)}</a>"
        formula = html.escape(formula.splitlines()[0].rstrip(";"))
        rows.append((link, f"<code>{formula}</code>"))
    return table(("object", "definition"), rows)
