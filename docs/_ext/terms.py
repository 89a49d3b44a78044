"""In a lecture the first occurrence of each term of the glossary links to it, as by hand with ``{term}``.

The source stays plain, and so does the notebook that is made of it.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LECTURE = re.compile(r"course/\d\d_\w+")


def linked(text: str, known: dict[str, tuple[str, str]], uri: Any) -> list[nodes.Node]:
    """The text with references; a term that got one is taken out of ``known``."""
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    found = (
        re.search(rf"(?<![\w-])({names})(?:s|es)?(?![\w-])", text, re.IGNORECASE) if names else None
    )
    if found is None:
        return [nodes.Text(text)]
    place = known.pop(found[1].lower())
    link = nodes.reference("", found[0], refuri=uri(*place), internal=True, classes=["to-term"])
    rest = linked(text[found.end() :], known, uri)
    return [nodes.Text(text[: found.start()]), link, *rest]


def link_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the terms in a lecture's paragraphs."""
    if not LECTURE.fullmatch(docname):
        return
    objects = app.env.get_domain("std").objects
    known = {name.lower(): place for (kind, name), place in objects.items() if kind == "term"}

    def uri(page: str, anchor: str) -> str:
        return f"{app.builder.get_relative_uri(docname, page)}#{anchor}"

    for paragraph in doctree.findall(nodes.paragraph):
        for text in [n for n in paragraph.children if isinstance(n, nodes.Text)]:
            if len(new := linked(text.astext(), known, uri)) > 1:
                paragraph.replace(text, [n for n in new if n.astext()])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
