"""A search for an object's name finds its page first: the name is an entry of the index there."""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def index_name(app: Sphinx, document: nodes.document) -> None:
    kind, _, object_name = app.env.docname.rpartition("/")
    section = next(document.findall(nodes.section), None)
    if kind in ("losses", "sets", "functions", "models") and section is not None:
        entry = ("single", object_name, section["ids"][0], "main", None)
        document.insert(0, addnodes.index(entries=[entry]))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", index_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
