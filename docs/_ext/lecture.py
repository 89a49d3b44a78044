"""A lecture's source: its facts, the exercises that go with it, and the notebook that it becomes."""

import re
from pathlib import Path
from typing import Any

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook

from verification.derivations import discover as derivations

DOCS = Path(__file__).resolve().parents[1]
FOLDER = DOCS / "course"


def lectures(folder: Path = FOLDER) -> dict[int, Path]:
    """The lectures by number."""
    return {int(p.name[:2]): p for p in sorted(folder.glob("[0-9][0-9]_*.md"))}


def facts(path: Path) -> dict[str, Any]:
    """Front matter of a lecture, and its title."""
    text = path.read_text("utf-8")
    known = dict(read_myst_markdown_notebook(text).metadata["course"])
    return known | {"title": next(x[2:] for x in text.splitlines() if x.startswith("# "))}


def completed(text: str, number: int) -> str:
    """A lecture with what is known of it elsewhere: its exercises, and what comes next."""
    return with_next(with_graded(text, number), number)


def with_graded(text: str, number: int) -> str:
    """A lecture that names the exercises which `refsolve exercise` marks."""
    folder = DOCS.parent / "verification" / "exercises"
    own = re.compile(rf"^LECTURE = {number}$", re.MULTILINE)
    names = [p.stem for p in sorted(folder.glob("*.py")) if own.search(p.read_text("utf-8"))]
    if not names:
        return text
    told = ", ".join(f"`refsolve exercise {name}`" for name in names)
    line = f"Auto-graded, with hints: {told}."
    if mine := [d for d in derivations().values() if d.lecture == number]:
        links = ", ".join(f"[{d.title}](derivations/{d.name}.md)" for d in mine)
        line += f" Derivations, graded step by step: {links}."
    return text.replace("## Exercises\n", f"## Exercises\n\n{line}\n", 1)


def with_next(text: str, number: int) -> str:
    """A lecture that ends with the one that comes next."""
    if not (path := lectures().get(number + 1)):
        return text
    known = facts(path)
    title = known["title"].partition(". ")[2]
    link = f"[Lecture {number + 1}, {title}]({path.name})"
    return f"{text.rstrip()}\n\n> **Next**: {link}. After it you can {known['gives']}.\n"


def notebook(text: str) -> nbformat.NotebookNode:
    """What runs where only the package is installed: the cells, and the text in plain Markdown."""
    book = read_myst_markdown_notebook(text)
    book.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
    }
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source)
        else:
            tags = cell.metadata.get("tags", [])
            hidden = any(tag in ("hide-input", "hide-cell") for tag in tags)
            cell.metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
    book.cells = [cell for cell in book.cells if cell.source.strip()]
    return book


def plain(text: str) -> str:
    """MyST to Markdown: notes and comments go, admonitions become details, links to pages their text."""
    text = re.sub(r"^%.*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^:::\{speaker\}.*?^:::\n?", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(
        r"^:::\{admonition\} (.*?)\n(?::[\w-]+:.*\n)*(.*?)^:::$",
        r"<details><summary>\1</summary>\n\n\2\n</details>",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    text = re.sub(
        r"^```\{interactive\} (\w+)\n.*?^```$",
        r"*(An interactive figure, `\1`, stands here on the page.)*",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    return re.sub(r"\[([^]]+)\]\((?!https?:)[^)]+\)", r"\1", text)
