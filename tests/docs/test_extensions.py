"""The small Sphinx extensions of docs/_ext do what the pages rely on."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("myst_nb", reason="needs the docs extra: pip install '.[docs]'")
nodes = pytest.importorskip("docutils.nodes")
utils = pytest.importorskip("docutils.utils")

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    def load(name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(EXTENSIONS))
        return importlib.import_module(name)

    return load


@pytest.mark.parametrize("tex", [r"\frac12", r"\tfrac12", r"\dfrac 12", r"\frac{1}{2}"])
def test_fractions_of_digits_read_as_tex_reads_them(load, tex: str) -> None:
    assert re.search(
        r"<mfrac[^>]*><mn>1</mn><mn>2</mn></mfrac>", load("mathml").convert(tex, block=False)
    )


def test_plain_brackets_do_not_stretch_and_sized_ones_keep_their_size(load) -> None:
    convert = load("mathml").convert
    assert '<mo stretchy="false">⟨</mo>' in convert(r"\langle x, y\rangle", block=True)
    assert "minsize" in convert(r"\Bigl\{0\Bigr\}", block=True)


def test_names_of_functions_stand_apart_and_accented_letters_keep_their_subscripts(load) -> None:
    convert = load("mathml").convert
    space = '<mspace width="0.17em"/>'
    assert convert(r"x\log x", block=False).count(space) == 2
    assert convert(r"\log(x)", block=False).count(space) == 0
    assert convert(r"(1-s)\log(1-s)", block=False).count(space) == 1
    assert "munderover" not in convert(r"\tilde x_i", block=False)
    assert "munderover" in convert(r"\sum_i^n x", block=True)
    braced = convert(r"\underbrace{\Bigl(a_{i}\Bigr)}_{\ge 0}", block=True)
    assert "<mo>⏟</mo></munder><mrow><mo>≥</mo><mn>0</mn></mrow></munder>" in braced
    assert "</mover><mi>y</mi></mover>" in convert(r"\overbrace{a}^{y}", block=True)


def test_a_displayed_formula_breaks_at_wide_spaces_outside_of_brackets_alone(load) -> None:
    table = r"\begin{cases} x & \qquad y\end{cases}"
    whole = rf"\{{a\}} \qquad \left(b \qquad c\right)\qquad {table} \qquadratic"
    parts = [part.strip() for part in load("mathml").pieces(whole)]
    assert parts == [r"\{a\}", r"\left(b \qquad c\right)", table + r" \qquadratic"]


def test_the_comma_after_a_formula_stays_with_it(load) -> None:
    line = nodes.paragraph("", "", nodes.math("", "f"), nodes.Text("), and "), nodes.math("", "g"))
    document = utils.new_document("a page")
    document += line
    load("mathml").keep_stops(None, document, "")
    assert [line[0]["stop"], str(line[1]), line[2].get("stop")] == ["),", " and ", None]


def test_the_source_of_a_formula_stays_readable(load) -> None:
    assert 'alttext="a &lt; b"' in load("mathml").convert("a < b", block=False)


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://example.org/a.js"></script>',
        "<link rel='stylesheet' href='//example.org/a.css'>",
        '<img alt="x" src=http://example.org/a.png>',
        "<style>@import url(https://example.org/font.css);</style>",
        "<style>src: url('//example.org/font.woff2')</style>",
    ],
)
def test_remote_loads_are_found(load, tmp_path: Path, markup: str) -> None:
    (tmp_path / "page.html").write_text(f"<p>text</p>{markup}", encoding="utf-8")
    found = load("offline").remote_references(tmp_path)
    assert [page for page, _ in found] == ["page.html"]
    assert "example.org" in found[0][1]


def test_links_and_local_files_are_no_remote_loads(load, tmp_path: Path) -> None:
    page = '<a href="https://example.org">paper</a><script src="_static/a.js"></script>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "a.css").write_text("src: url(font.woff2)", encoding="utf-8")
    assert load("offline").remote_references(tmp_path) == []


def rendered(load, text: str) -> str:
    lines = text.splitlines()
    load("plain_docstrings").process(None, "function", "f", None, None, lines)
    return "\n".join(lines)


def test_formulas_survive_as_text(load) -> None:
    text = rendered(load, "Bound on ||x - a||^2 by L*(v) + S_k(z)_+ with `rho` and ``w_``.")
    assert r"\|\|x - a\|\|^2 by L\*(v) + S_k(z)\_+ with ``rho`` and ``w_``." in text


def test_lines_of_a_formula_stay_apart_and_prose_flows(load) -> None:
    long = "Prose that was wrapped near the hundredth column goes on in the next line without a break, "
    text = rendered(load, f"Title.\n\nP(W) = a\nD(A) = b\n\n{long}\nas here.")
    assert "| P(W) = a\n| D(A) = b" in text
    assert "| Prose" not in text


def test_lists_tables_and_sections_keep_their_form(load) -> None:
    text = rendered(
        load,
        "Title.\n\n* one\n* two\n\n| a | b |\n|---|---|\n\nNotes\n-----\nx*y\n\nExamples\n--------\n>>> a * b",
    )
    assert "* one\n* two" in text
    assert ".. code-block:: text\n\n    | a | b |" in text
    assert "Notes\n-----\nx\\*y" in text
    assert ">>> a * b" in text


def test_a_literal_may_go_on_in_the_next_line(load) -> None:
    start = "A sentence that is long enough to be wrapped near the hundredth column, it speaks of ``f(a_,"
    text = rendered(load, f"Title.\n\n{start}\nb_)`` and a*b.")
    assert "``f(a_,\nb_)`` and a\\*b." in text


def test_a_colon_makes_no_type_and_a_comma_no_name(load) -> None:
    lines = ["What is asked of it: projection, value."]
    load("plain_docstrings").process(None, "property", "f", None, None, lines)
    assert lines[0] == ": What is asked of it: projection, value."
    lines = ["Title.", "", "Attributes", "----------", "a, b : two numbers, or one."]
    load("plain_docstrings").process(None, "class", "C", None, None, lines)
    assert lines[-1] == "a,\u200bb : two numbers, or one."


def test_the_api_shows_no_path_of_the_machine(load) -> None:
    addnodes = pytest.importorskip("sphinx.addnodes")
    values = (" = 1e-06", " = PosixPath('/a/b')", " = {'C': <function f>}")
    page = addnodes.desc_signature("", "", *(addnodes.desc_annotation(v, v) for v in values))
    load("plain_docstrings").hide_values(None, page)
    assert page.astext() == values[0]


def test_sentences_of_mutants_show_their_code(load) -> None:
    assert load("kills")._text("``a or 1``: a < b") == "<code>a or 1</code>: a &lt; b"


def test_figures_take_the_colour_of_the_page(load) -> None:
    mpl = pytest.importorskip("matplotlib")
    with mpl.rc_context():
        figures = load("figures")
        pictures = []
        for label in ("first", "second"):
            figure, axes = figures.plt.subplots()
            axes.plot([0, 1], [0, 1], label=label)
            axes.set(xlabel=label, ylabel="y")
            pictures.append(figures.show(figure, f"a < {label}").markup)
    for markup in pictures:
        assert figures.INK not in markup
        assert "currentColor" in markup
        assert "<figcaption>a &lt; " in markup
        assert "://matplotlib" not in markup
    # Two figures on one page share no identifier.
    first, second = (set(re.findall(r'\bid="([^"]+)"', markup)) for markup in pictures)
    assert first
    assert not first & second


def test_commands_and_files_are_shown_without_their_helpers(load) -> None:
    terminal = load("terminal")
    assert terminal.commands('run("a b", code=1)\nrun("c", tail=3)') == ["a b", "c"]
    for other in ('run("a")\nx = 1', "run(command)", "case.run(x)", "%%writefile a.py", ""):
        assert terminal.commands(other) == []
    long = f"refsolve {'x' * 60} --solver name:function --seed 0"
    first, second = terminal.prompted(long).split("\n")
    assert first.startswith("$ refsolve x")
    assert first.endswith(" \\")
    assert " ".join([first.removesuffix(" \\"), second.strip()]) == f"$ {long}"


def test_cells_become_files_and_commands(load) -> None:
    nodes = pytest.importorskip("docutils.nodes")

    def cell(source: str, output: str):
        block = nodes.literal_block(source, source, language="ipython")
        return nodes.container(
            "",
            nodes.container("", block, nb_element="cell_code_source"),
            nodes.container("", nodes.literal_block("", output), nb_element="cell_code_output"),
            nb_element="cell_code",
        )

    page = nodes.container(
        "", cell("%%writefile a.py\nx = 1", "Writing a.py"), cell('run("ls")', "a.py")
    )
    load("terminal").show(None, page)
    blocks = list(page.findall(nodes.literal_block))
    assert [block.astext() for block in blocks] == ["x = 1", "$ ls", "a.py"]
    assert [block.get("language") for block in blocks] == ["python", "console", None]
    assert "a.py" in page[0].astext()
    assert "%%" not in page.astext()


@pytest.mark.parametrize("kind", ["sets", "losses", "functions", "models"])
def test_every_lesson_displays_the_formula_that_defines_its_object(load, kind: str) -> None:
    for page in (EXTENSIONS.parent / kind).glob("*.md"):
        assert load("contents").definition(page).startswith("<math"), page


def test_records_are_json_with_a_row_per_line_and_their_modules_can_renew_them(load) -> None:
    records = load("records")
    for path in records.RECORDS.glob("*.json"):
        record = records.recorded(path.stem)
        assert records.written(record) + "\n" == path.read_text(encoding="utf-8")
        assert record["commit"]
        assert callable(records.MEASURES.get(path.stem) or load(path.stem).measure)


def test_a_name_is_an_entry_of_the_index_on_its_page(load) -> None:
    nodes = pytest.importorskip("docutils.nodes")

    class App:
        class env:
            docname = "losses/softmax"

    page = nodes.section(ids=["top"])
    document = nodes.container("", page)
    load("names").index_name(App, document)
    assert document[0]["entries"] == [("single", "softmax", "top", "main", None)]
