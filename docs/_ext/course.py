"""The course: from one source per lecture a page, slides, a notebook, a sheet to print, an exercise sheet.

A lecture is ``docs/course/NN_name.md``, a MyST notebook. Its front matter says, besides the kernel::

    course:
      needs: [2, 3]                # lectures that come before; [] for none
      gives: the projection, sorted and certified      # what one can do after it
      minutes: 45

Then, in this order (tests/docs/test_course.py says what is missing):

- ``# 2. Title`` and a paragraph or two: the question, and why it matters;
- ``## Goals`` (a list), ``## Prerequisites`` (what was shown where, with links), and a first cell with
  all imports, tagged ``hide-input``: ``from verification.course import agree, check, counterexample,
  picture, vectors`` and what the lecture needs of numpy, fractions, fast; nothing of docs/_ext;
- sections of your own;
- ``## The derivation`` with ``### Step 1. ...``; each displayed formula is followed by a cell that
  raises if it is wrong (`check`, `agree`), on adversarial instances or exactly in fractions.
  Somewhere in each step stands a comment, ``% wrong: OLD => NEW``: the first OLD in the step's cells
  becomes NEW, and the test wants the step to raise. A check that no error can fail is none;
- ``## Find the wrong step``: an argument with a mistake, best one that was printed; then an
  admonition ``The finding`` (class ``solution``, ``collapsible: closed``) and a cell, tagged ``hide-cell``,
  that holds the counterexample (`counterexample`);
- ``## Exercises`` with ``### Exercise 1. ...`` to 3, each with an admonition ``Solution``, folded the
  same way, and a cell tagged ``hide-cell`` that runs it;
- ``## Summary``: statement, formulas, algorithm, picture; it must fit one sheet of A4;
- ``## Further reading``.

On slides each heading is one slide. What is spoken stays off the wall: plain paragraphs of your own
sections and of the derivation become the speaker's notes, and so does ``:::{speaker}``, which the
page folds away. What is shown: formulas, lists, tables, figures, cells (folded, with their output),
and block quotes: ``> a sentence for the wall``. A step needs one line on the wall that says what
its letters are. An interactive figure gets a heading, and so a slide, of its own. Keep a slide to
some ten lines. No labelled equations: say "step 3". Links are relative,
``[simplex](../sets/simplex.md)``; a notebook keeps their text alone. A helper of three lines stands
in the cell that needs it; cells take milliseconds.
"""

import base64
import html
import re
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from docutils.parsers.rst.directives.admonitions import BaseAdmonition
from docutils.statemachine import StringList
from lecture import FOLDER, completed, facts, lectures, notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent / "_templates" / "course"
#: Sections whose paragraphs are read, not spoken.
READ = ("Goals", "Prerequisites", "Find the wrong step", "Exercises", "Summary", "Further reading")
KINDS = {
    "slides.html": "slides",
    "sheet.html": "summary to print",
    "exercises.html": "exercise sheet",
    "ipynb": "notebook",
}


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Name the exercises, and the next lecture, in what Sphinx reads."""
    if found := re.match(r"course/(\d\d)_", name):
        source[0] = completed(source[0], int(found[1]))


# -- Documents of one file


def page(template: str, title: str, body: str, back: str) -> str:
    """A template of docs/_templates/course, with styles, script and mathematics font within."""
    font = base64.b64encode((HERE.parent / "_static" / "pagella-math-subset.woff2").read_bytes())
    parts = {
        "title": html.escape(title),
        "body": body,
        "back": back,
        "css": (TEMPLATES / "common.css").read_text("utf-8").replace("{{font}}", font.decode()),
        "script": (TEMPLATES / "slides.js").read_text("utf-8"),
    }
    text = (TEMPLATES / template).read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


def render(builder: Any, node: nodes.Node) -> str:
    return str(builder.render_partial(node.deepcopy())["fragment"])


def heading(builder: object, section: nodes.section) -> str:
    return render(builder, nodes.inline("", "", *(n.deepcopy() for n in section[0].children)))


def is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def is_setting(cell: nodes.Element) -> bool:
    """Whether a cell is hidden and shows nothing: imports, instances."""
    last = cell.children[-1].get("nb_element") if cell.children else None
    return "tag_hide-input" in cell["classes"] and last != "cell_code_output"


def cell_html(builder: object, cell: nodes.Element) -> str:
    """The source folded, the outputs open; a cell that the page folds whole stays folded whole."""
    made = []
    for child in cell.children:
        text = render(builder, child)
        if child.get("nb_element") == "cell_code_source":
            text = f"<details class='code'><summary>the cell</summary>{text}</details>"
        made.append(text)
    return f"<div class='cell'>{''.join(made)}</div>"


def is_spoken(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and "speaker" in node.get("classes", [])


def slide(builder: object, section: nodes.section, above: str, *, spoken: bool) -> str:
    """One slide: the section up to its first subsection."""
    wall, notes = [], []
    for node in section.children[1:]:
        if isinstance(node, nodes.section | nodes.comment | nodes.target):
            continue
        if is_cell(node):
            if not is_setting(node):
                wall.append(cell_html(builder, node))
        elif is_spoken(node):
            notes += [render(builder, child) for child in node.children[1:]]
        elif spoken and isinstance(node, nodes.paragraph):
            notes.append(render(builder, node))
        else:
            wall.append(render(builder, node))
    parts = [node for node in section.children if isinstance(node, nodes.section)]
    first = isinstance(section.parent, nodes.document)
    if not wall and parts and not first:
        wall = [f"<ul>{''.join(f'<li>{heading(builder, part)}</li>' for part in parts)}</ul>"]
    page = "sheet" if section[0].astext() == "Summary" else ""
    kind = "first" if first else page if wall else "bare"
    small = f"<small>{above}</small>" if above else ""
    return (
        f"<section class='{kind}'><div class='fit'><h2>{small}{heading(builder, section)}</h2>{''.join(wall)}"
        f"</div><aside>{''.join(notes)}</aside></section>"
    )


def slides(builder: object, doctree: nodes.document, above: str) -> list[str]:
    """All slides of a lecture; `above` stands on the first."""
    top = next(iter(doctree.findall(nodes.section)))
    made = [slide(builder, top, above, spoken=True)]
    for section in (n for n in top.children if isinstance(n, nodes.section)):
        spoken = section[0].astext() not in READ
        made.append(slide(builder, section, "", spoken=spoken))
        above = heading(builder, section)
        made += [
            slide(builder, part, above, spoken=spoken)
            for part in section.children
            if isinstance(part, nodes.section)
        ]
    return made


def moving(doctree: nodes.document) -> str:
    """Scripts and styles of the interactive figures, if there are any."""
    names = {node["name"] for node in doctree.findall() if node.tagname == "interactive"}
    return import_module("interactive").bundle(names) if names else ""


def named(doctree: nodes.document, title: str) -> nodes.section:
    return next(s for s in doctree.findall(nodes.section) if s[0].astext() == title)


def is_solution(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and (
        "solution" in node.get("classes", []) or "tag_hide-cell" in node.get("classes", [])
    )


def sheet(builder: object, section: nodes.section) -> str:
    """A section for paper: no code, no solutions, no notes."""
    made = []
    for node in section.children[1:]:
        if isinstance(node, nodes.section):
            made.append(f"<h2>{heading(builder, node)}</h2>{sheet(builder, node)}")
        elif is_cell(node):
            made += [
                render(builder, child)
                for child in node.children
                if child.get("nb_element") == "cell_code_output" and not is_solution(node)
            ]
        elif not is_spoken(node) and not is_solution(node) and node.tagname != "interactive":
            made.append(render(builder, node))
    return "".join(made)


def make_parts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Beside the page of a lecture: its slides, sheets and notebook; and links to them under its title."""
    if context.get("body"):  # a folded cell is called what it says
        context["body"] = context["body"].replace(' aria-label="Toggle hidden content"', "")
    name = pagename.rpartition("/")[2]
    path = FOLDER / f"{name}.md"
    if not pagename.startswith("course/") or not re.match(r"\d\d_", name) or doctree is None:
        return
    known = facts(path)
    title = known["title"]
    folder = Path(app.outdir, "course")
    folder.mkdir(exist_ok=True)
    back = f"{name}.html"
    above = f"After this lecture you can {html.escape(known['gives'])}."
    wall = "".join(slides(app.builder, doctree, above)) + moving(doctree)
    short, asked = (sheet(app.builder, named(doctree, x)) for x in ("Summary", "Exercises"))
    made = {
        "slides.html": page("slides.html", title, wall, back),
        "sheet.html": page("sheet.html", title, short, back),
        "exercises.html": page("sheet.html", f"{title}: exercises", asked, back),
        "ipynb": nbformat.writes(notebook(completed(path.read_text("utf-8"), int(name[:2]))))
        + "\n",
    }
    for ending, text in made.items():
        (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    links = " · ".join(
        f"<a href='{name}.{ending}'{' download' * (ending == 'ipynb')}>{what}</a>"
        for ending, what in KINDS.items()
    )
    bar = f"</h1><p class='course-parts'>{known['minutes']} minutes · {links}</p>"
    context["body"] = context["body"].replace("</h1>", bar, 1)


# -- Directives


class Speaker(BaseAdmonition, SphinxDirective):
    """What to say, to write on the board, to watch the time by: folded on the page, notes on slides."""

    required_arguments = 0
    node_class = nodes.admonition

    def run(self) -> list[nodes.Node]:
        self.arguments = ["For the speaker"]
        self.options = {"class": ["speaker"]}
        (node,) = super().run()
        node["collapsible"] = "closed"
        return [node]


class CourseTable(SphinxDirective):
    """The lectures: what each needs, gives and takes, with everything made of it."""

    def run(self) -> list[nodes.Node]:
        lines = [":::{list-table}", ":header-rows: 1", ":class: course", ""]
        lines += ["* - lecture", "  - needs", "  - after it you can", "  - to take along"]
        for path in lectures().values():
            self.env.note_dependency(str(path))
            known = facts(path)
            needs = ", ".join(map(str, known["needs"])) or "–"
            lines += [
                f"* - [{known['title']}]({path.name})",
                f"  - {needs}",
                f"  - {known['gives']}",
            ]
            lines += [f"  - {{course-parts}}`{path.stem}`"]
        return self.parse_text_to_nodes(StringList([*lines, ":::"], "course-table"))


def parts_role(
    name: str, raw: str, object_name: str, *_: Any, **__: Any
) -> tuple[list[nodes.Node], list[Any]]:
    short = {"slides": "slides", "sheet": "page", "exercises": "exercises", "ipynb": "notebook"}
    links = "\xa0· ".join(
        f"<a href='{object_name}.{ending}'>{short[ending.partition('.')[0]]}</a>"
        for ending in KINDS
    )
    return [nodes.raw("", links, format="html")], []


class CourseMap(SphinxDirective):
    """Which lecture stands on which: a graph in layers, drawn in the colour of the text."""

    def run(self) -> list[nodes.Node]:
        known = {number: facts(path) for number, path in lectures().items()}
        return [nodes.raw("", graph(known), format="html")]


def direct(number: int, known: dict[int, dict[str, Any]]) -> set[int]:
    """What a lecture needs and none of the others that it needs does."""

    def below(n: int) -> set[int]:
        mine = set(known[n]["needs"]) & set(known)
        return mine.union(*map(below, mine))

    mine = set(known[number]["needs"]) & set(known)
    return mine - set().union(*map(below, mine))


def graph(known: dict[int, dict[str, Any]]) -> str:
    """Inline SVG: a lecture stands one layer below the deepest that it needs."""
    layer: dict[int, int] = {}
    for number, lecture in sorted(known.items()):
        layer[number] = 1 + max((layer[n] for n in lecture["needs"] if n in layer), default=-1)
    rows: list[list[int]] = [[] for _ in range(1 + max(layer.values(), default=0))]
    for number in sorted(known):
        rows[layer[number]].append(number)
    # A phone shows it whole: four boxes of two lines of text in a row.
    width, step, half = 384, 70, 21

    def place(number: int) -> tuple[float, float]:
        row = rows[layer[number]]
        return width * (row.index(number) + 0.5) / len(row), step * layer[number] + 26

    drawn = []
    for number in known:
        for upper in direct(number, known):
            (x, y), end = place(upper), place(number)
            line = f"M{x:.0f} {y + half:.0f}"
            for row in range(layer[upper] + 1, layer[number]):  # past these boxes, through a gap
                gap = round(len(rows[row]) * (x + end[0]) / 2 / width) * width / len(rows[row])
                line += bend(x, y + half, gap, step * row + 26 - half) + f"v{2 * half}"
                x, y = gap, step * row + 26
            drawn.append(line + bend(x, y + half, end[0], end[1] - half))
    edges = f"<path d='{''.join(drawn)}' fill='none' stroke='currentColor' opacity='.5'/>"
    boxes = []
    for number in known:
        x, y = place(number)
        name = known[number].get("short", known[number]["title"].partition(". ")[2])
        lines = textwrap.wrap(f"{number}. {name}", 16)
        spans = "".join(
            f"<tspan x='{x:.0f}' y='{y + 4 + 14 * (i - (len(lines) - 1) / 2):.0f}'>{html.escape(line)}</tspan>"
            for i, line in enumerate(lines)
        )
        boxes.append(
            f"<a href='{lectures()[number].stem}.html'><rect x='{x - 45:.0f}' y='{y - half:.0f}' width='90' "
            f"height='{2 * half}' rx='5' fill='var(--color-background-secondary, none)' stroke='#3b8ad9'/>"
            f"<text text-anchor='middle' font-size='11' fill='currentColor'>{spans}</text></a>"
        )
    return (
        f"<figure class='lesson'><svg viewBox='0 0 {width} {step * len(rows) - 16}' width='{1.5 * width:.0f}' "
        f"role='group' aria-label='Which lecture stands on which'>{edges}{''.join(boxes)}</svg></figure>"
    )


def bend(x: float, y: float, x2: float, y2: float) -> str:
    """An edge that leaves and arrives upright."""
    middle = (y + y2) / 2
    return f"C{x:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("speaker", Speaker)
    app.add_directive("course-table", CourseTable)
    app.add_directive("course-map", CourseMap)
    app.add_role("course-parts", parts_role)
    app.connect("source-read", read)
    app.connect("html-page-context", make_parts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
