"""Terms of the glossary are linked in lectures, once each; the longest name wins; formulas and links are left alone."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

nodes = pytest.importorskip(
    "docutils.nodes", reason="needs the docs extra: pip install '.[docs]'"
)
EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"
KNOWN = {"simplex": "#1", "top-k simplex": "#2", "dual": "#3", "duality gap": "#4"}


class App:
    class env:
        @staticmethod
        def get_domain(name):
            objects = {("term", n): ("course/glossary", a[1:]) for n, a in KNOWN.items()}
            return SimpleNamespace(objects=objects)

    class builder:
        get_relative_uri = staticmethod(lambda here, there: f"{there}.html")


@pytest.mark.parametrize(("name", "count"), [("course/02_simplex", 3), ("sets/simplex", 0)])
def test_terms_are_linked_once_and_in_lectures_only(monkeypatch, name, count) -> None:
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    first = nodes.paragraph("", "Top-k simplexes, then the simplex; individual Dual, a dual. ")
    first += [nodes.math("", "simplex"), nodes.Text(" and the simplex again")]
    page = nodes.document(None, None)
    page += [first, nodes.paragraph("", "dual-use top-k simplex")]
    before = page.astext()
    importlib.import_module("terms").link_terms(App, page, name)
    links = [(n.astext(), n["refuri"].partition("#")[2]) for n in page.findall(nodes.reference)]
    assert links == [("Top-k simplexes", "2"), ("simplex", "1"), ("Dual", "3")][:count]
    assert page.astext() == before


def test_the_glossary_is_in_order_and_says_each_term_once() -> None:
    text = (EXTENSIONS.parent / "course" / "glossary.md").read_text("utf-8")
    lines = text.partition("```{glossary}\n")[2].partition("```")[0].splitlines()
    terms = [line for line in lines if line and not line.startswith(" ")]
    assert len(terms) > 40
    assert sorted({t.lower() for t in terms}) == [t.lower() for t in terms]
