"""Docstrings here are numpydoc sections around plain text; make that text safe as reStructuredText.

A formula such as ||x - a||^2 or L*(v) would otherwise be read as a substitution or as emphasis.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"``.+?``|`[^`\s][^`]*`")
UNDERLINE = re.compile(r"^\s*(-{3,}|={3,})\s*$")


def escape(text: str) -> str:
    """Backslash what reStructuredText would read as markup, outside literals."""
    pieces, end = [], 0
    for match in LITERAL.finditer(text):
        pieces.append(_escape_plain(text[end : match.start()]))
        pieces.append("``" + match.group().strip("`") + "``")
        end = match.end()
    pieces.append(_escape_plain(text[end:]))
    return "".join(pieces)


def _escape_plain(text: str) -> str:
    text = text.replace("\\", "\\\\")
    text = re.sub(r"([|*`])", r"\\\1", text)
    return re.sub(r"_(?=\W|$)", r"\\_", text)


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape inline markup; set indented formula lines off as literal blocks."""
    result: list[str] = []
    literal = False  # inside an indented formula block under a paragraph
    for number, line in enumerate(lines):
        body = line.strip()
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if UNDERLINE.match(line) or UNDERLINE.match(following) or body.startswith(">>>"):
            literal = False
            result.append(line)
            continue
        result.append(line if literal else escape(line))
    lines[:] = result


def setup(app: Sphinx) -> dict[str, bool]:
    # Before napoleon (priority 500), which turns the sections into markup of its own.
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
