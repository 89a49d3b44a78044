"""Interactive figures: ```` ```{interactive} simplex_projection ````, the caption below it.

The modules of docs/course/js are put into one script per page, as browsers import nothing from files.
For pages that Sphinx does not make: `interactive_html` where the figure stands, `bundle` once at the end.

Classes: ``figure.interactive`` holds ``.interactive-stage`` (empty but for a sentence until the script
runs: ``.interactive-panels`` of pictures, ``.interactive-controls``, ``.interactive-numbers``,
``.interactive-live`` for screen readers) and a ``figcaption``.
"""

import html
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HOME = Path(__file__).resolve().parents[1] / "course" / "js"
LIMIT = 200_000  # bytes of a page's script and styles

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
START = """for (const root of document.querySelectorAll("figure.interactive")) {
  FIGURES[root.dataset.figure]?.create(root, JSON.parse(root.dataset.options));
}
"""


def figures() -> dict[str, Path]:
    """The figures by name: the modules that export ``create``."""
    found = sorted((HOME / "figures").glob("*.mjs"))
    return {p.stem: p for p in found if "export function create(" in p.read_text(encoding="utf-8")}


def _source(name: str) -> Path:
    try:
        return figures()[name]
    except KeyError:
        known = ", ".join(figures())
        raise ValueError(f"there is no figure {name!r}; there are {known}") from None


def description(name: str) -> str:
    """What the first lines of comment of a figure's module say."""
    lines = _source(name).read_text(encoding="utf-8").splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    return " ".join(line.removeprefix("//").strip() for line in lines[:end])


def interactive_html(name: str, caption: str = "", alt: str = "", **options: Any) -> str:
    """The place of a figure on a page; what it says without a script is `alt`.

    ``caption`` is HTML. ``options`` are the figure's own, see the second argument of ``create``.
    """
    said = html.escape(alt or description(name))
    given = html.escape(json.dumps(options), quote=True)
    return (
        f'<figure class="interactive" data-figure="{name}" data-options="{given}" aria-label="{said}">'
        f'<div class="interactive-stage"><p class="interactive-fallback">{said} '
        f"(The figure moves where JavaScript is allowed.)</p></div>"
        f"<figcaption>{caption or said}</figcaption></figure>"
    )


def bundle(names: Iterable[str]) -> str:
    """Style and script of these figures, to stand once, at the end of a page's body."""
    done: dict[Path, str] = {}
    table = ",".join(f'"{n}":{_module(_source(n), done)}' for n in sorted(set(names)))
    script = (
        f'(()=>{{"use strict";\n{"".join(done.values())}const FIGURES={{{table}}};\n{START}}})();'
    )
    style = (HOME / "figures" / "figures.css").read_text(encoding="utf-8")
    text = f"<style>{style}</style>\n<script>{script}</script>\n"
    if len(text.encode()) > LIMIT:
        raise ValueError(
            f"the figures of a page take {len(text.encode())} bytes, more than {LIMIT}"
        )
    return text


def _module(path: Path, done: dict[Path, str]) -> str:
    """The variable of a module, after it and what it imports have been written to `done`."""
    variable = "$" + re.sub(r"\W", "_", str(path.relative_to(HOME).with_suffix("")))
    if path in done:
        return variable
    text = path.read_text(encoding="utf-8")

    def given(match: re.Match[str]) -> str:
        source = _module((path.parent / match[2]).resolve(), done)
        return f"const {{{match[1].replace(' as ', ': ')}}} = {source};\n"

    text = IMPORT.sub(given, text)
    names = EXPORT.findall(text)
    text = EXPORT.sub("", text)
    if left := re.search(r"^(?:import|export)\b.*", text, re.MULTILINE):
        raise ValueError(f"{path.name}: cannot bundle {left[0]!r}")
    text = re.sub(r"^ *(?://.*)?\n|^ +", "", text, flags=re.MULTILINE)
    done[path] = f"const {variable}=(()=>{{\n{text}return{{{','.join(names)}}};}})();\n"
    return variable


class interactive(nodes.General, nodes.Element):
    """A figure in a document."""


class Interactive(SphinxDirective):
    """The directive; its content is the caption, ``:options:`` are JSON."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged, "options": json.loads}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """One node, whose children are the caption."""
        name = self.arguments[0]
        try:
            said = self.options.get("alt") or description(name)
        except ValueError as error:
            raise self.error(str(error)) from None
        for path in (Path(__file__), *HOME.rglob("*.*")):
            self.env.note_dependency(str(path))
        node = interactive(name=name, alt=said, options=self.options.get("options", {}))
        node += self.parse_content_to_nodes() or [nodes.paragraph("", said)]
        return [node]


def _open(translator: Any, node: interactive) -> None:
    markup = interactive_html(node["name"], "\0", node["alt"], **node["options"])
    start, end = markup.split("\0")
    translator.body.append(start)
    node["end"] = end


def _close(translator: Any, node: interactive) -> None:
    translator.body.append(node["end"])


def _plain(translator: object, node: interactive) -> None:
    """On paper and in plain text the caption is all."""


def add_script(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """One script for all figures of the page."""
    if tree is not None and (found := {node["name"] for node in tree.findall(interactive)}):
        context["body"] += bundle(found)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    plain = (_plain, _plain)
    app.add_node(interactive, html=(_open, _close), latex=plain, text=plain, man=plain)
    app.add_directive("interactive", Interactive)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
