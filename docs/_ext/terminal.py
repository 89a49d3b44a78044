"""Cells that write a file or run a command are shown as what a reader does: the file, the command.

``%%writefile NAME`` is the notebook's word for a file, and ``run("...")`` of `workbench` for a
terminal; a reader who copies the block needs neither.
"""

import ast
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

WRITE = "%%writefile "
WIDTH = 88
LANGUAGES = {"py": "python", "json": "json", "jsonl": "json", "toml": "toml", "yml": "yaml"}


def commands(source: str) -> list[str]:
    """The commands of a cell that does nothing but ``run("...")``; none of any other cell."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return []
    found = []
    for statement in statements:
        match statement:
            case ast.Expr(ast.Call(ast.Name("run"), [ast.Constant(str(command)), *_])):
                found.append(command)
            case _:
                return []
    return found


def prompted(command: str) -> str:
    """``$ command``, going on in a second line before an option where the first is full."""
    line, *lines = re.split(r" (?=--)", f"$ {command}")
    for option in lines:
        last = line.rpartition("\n")[2]
        line += f" {option}" if len(last) + len(option) < WIDTH else f" \\\n      {option}"
    return line


def _as_file(cell: nodes.Element, source: nodes.literal_block) -> None:
    name, text = source.astext().removeprefix(WRITE).split("\n", 1)
    block = nodes.literal_block(text, text, language=LANGUAGES[name.rpartition(".")[2]])
    # no caption of docutils: those are numbered
    title = nodes.inline("", name, classes=["caption-text"])
    caption = nodes.container("", title, classes=["code-block-caption"])
    wrapper = nodes.container("", caption, block, classes=["literal-block-wrapper"])
    source.replace_self(wrapper)
    for output in _outputs(cell):  # "Writing NAME"
        cell.remove(output)


def _outputs(cell: nodes.Element) -> list[nodes.Element]:
    return [child for child in cell.children if child.get("nb_element") == "cell_code_output"]


def show(app: Sphinx, document: nodes.document) -> None:
    """Rewrite the cells of one page."""
    cells = [n for n in document.findall(nodes.container) if n.get("nb_element") == "cell_code"]
    for cell in cells:
        for source in list(cell.findall(nodes.literal_block)):
            parent: Any = source.parent
            if parent.get("nb_element") != "cell_code_source":
                continue
            if source.astext().startswith(WRITE):
                _as_file(cell, source)
            elif found := commands(source.astext()):
                text = "\n".join(map(prompted, found))
                source.replace_self(nodes.literal_block(text, text, language="console"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
