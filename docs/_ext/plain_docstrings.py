"""Docstrings here are numpydoc sections around plain text; make that text safe as reStructuredText.

Written for a terminal, they contain formulas such as ||x - a||^2 or L*(v), and lines whose breaks
matter. Read as reStructuredText the first would be substitutions and emphasis, the second a blur.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any

from sphinx import addnodes
from sphinx.application import Sphinx

LITERAL = re.compile(r"``.+?``|(?::[a-z]+:)?`[^`\s][^`]*`", re.DOTALL)
BULLET = re.compile(r"^(\s*)([*-]|\d+\.)\s+(.*)$")
UNDERLINE = re.compile(r"^-{3,}\s*$")
NAMES = re.compile(r"^\w+(, \w+)+(?= :)")
FREE_TEXT = {"", "Notes", "References", "Warnings"}
# Values of constants that say where the page was built, or nothing.
UNTOLD = ("PosixPath(", "<function ")
# Prose is wrapped near column 100: a shorter line that is not the last ends where it is meant to.
SHORT = 84


def escape(text: str) -> str:
    """Backslash what reStructuredText would read as markup, outside literals."""
    pieces, end = [], 0
    for match in LITERAL.finditer(text):
        pieces += [
            _escape_plain(text[end : match.start()]),
            f"``{match.group().split('`', 1)[1].strip('`')}``",
        ]
        end = match.end()
    return "".join([*pieces, _escape_plain(text[end:])])


def _escape_plain(text: str) -> str:
    text = text.replace("\\", "\\\\")
    text = re.sub(r"([|*`])", r"\\\1", text)
    return re.sub(r"_(?=\W|$)", r"\\_", text)


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(title, lines) of each numpydoc section; the text before the first has the title ""."""
    starts = [i - 1 for i in range(1, len(lines)) if UNDERLINE.match(lines[i]) and lines[i - 1]]
    yield "", lines[: starts[0]] if starts else lines
    for start, stop in itertools.pairwise([*starts, len(lines)]):
        yield lines[start].strip(), lines[start + 2 : stop]


def paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines without a blank one; a list begins a run of its own."""
    run: list[str] = []
    for line in [*lines, ""]:
        starts_list = bool(BULLET.match(line)) and run and not BULLET.match(run[0])
        if run and (not line.strip() or starts_list):
            yield run
            run = []
        if line.strip():
            run.append(line)


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def format_text(lines: list[str]) -> list[str]:
    """Free text: lists stay lists, tables and code become literal, formulas keep their lines."""
    result: list[str] = []
    for run in paragraphs(lines):
        first = run[0]
        if BULLET.match(first):
            for line in run:
                match = BULLET.match(line)
                result.append(f"{match[1]}{match[2]} {escape(match[3])}" if match else escape(line))
        elif first.lstrip().startswith(">>>"):
            result += run
        elif first.startswith(("|", " ")):
            if not (result and any(line.endswith("::") for line in result[-2:])):
                result += [".. code-block:: text", ""]
            result += [f"    {line}" for line in run]
        elif any(len(line) < SHORT for line in run[:-1]) or any(map(indent, run)):
            result += [f"| {' ' * indent(line)}{escape(line.strip())}" for line in run]
        else:  # a literal may go on in the next line
            result += escape("\n".join(run)).split("\n")
        result.append("")
    return result


def process(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Rewrite one docstring in place."""
    result: list[str] = []
    if what in ("attribute", "data", "property") and lines:
        # napoleon takes what stands before a colon for the type; of a named tuple nothing is said
        lines[0] = "" if lines[0].startswith("Alias for field number") else f": {lines[0]}"
    for title, body in sections(list(lines)):
        if title == "Attributes":  # of "a, b : text" it would take a for the type of b
            body = [NAMES.sub(_join, line) for line in body]
        if title:
            result += [title, "-" * len(title)]
        if title in FREE_TEXT:
            result += format_text(body)
        elif title == "Examples":
            result += body
        else:
            result += map(escape, body)
    lines[:] = result


def _join(names: re.Match[str]) -> str:
    return names.group().replace(", ", ",\u200b")


def skip(
    app: Sphinx, what: str, name: str, obj: object, skipped: bool, options: object
) -> bool | None:
    """Leave out what scikit-learn generates for metadata routing."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def hide_values(app: Sphinx, document: Any) -> None:
    """Leave out the value of a constant that is a path, or made of functions."""
    for note in list(document.findall(addnodes.desc_annotation)):
        if any(word in note.astext() for word in UNTOLD):
            note.parent.remove(note)


def setup(app: Sphinx) -> dict[str, bool]:
    # Before napoleon (priority 500), which turns the sections into markup of its own.
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", hide_values)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
