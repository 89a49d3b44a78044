"""The index of duals has a row per declared object, in formulas; it can be filtered; lessons link to it."""

import importlib
import re
from pathlib import Path

import pytest

import refsolve

pytest.importorskip("myst_nb", reason="needs the docs extra: pip install '.[docs]'")
nodes = pytest.importorskip("docutils.nodes")

DOCS = Path(__file__).resolve().parents[2] / "docs"
OBJECTS = refsolve.catalogue.object_names()


@pytest.fixture(scope="module")
def ours():
    """The extension, the converter, the ledger."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        yield {n: importlib.import_module(n) for n in ("duals", "declared", "ledger")}


@pytest.fixture(scope="module")
def index(ours):
    return str(ours["duals"].index())


def rows(index):
    return dict(re.findall(r"<tr role='row' id='(\w+)'(.*?)</tr>", index, re.DOTALL))


def test_every_object_has_a_row_with_a_definition_and_its_paper(ours, index) -> None:
    found = rows(index)
    assert list(found) == list(OBJECTS)
    letters = {*ours["duals"].PAPERS, "other"}
    for object_name, row in found.items():
        assert "data-label='definition'" in row, object_name
        assert "<math" in row, object_name
        assert set(re.findall(r"<span class='paper'>(.*?)</span>", row)) <= letters
        assert f"refsolve/{refsolve.catalogue.load(object_name).SPEC.kind}/{object_name}.py" in row
    for object_name in refsolve.catalogue.object_names("losses"):
        if getattr(refsolve.catalogue.load(object_name), "dual_set", ""):
            assert "data-label='domain'" in found[object_name], object_name
    used = {p for row in found.values() for p in re.findall(r"class='paper'>(.*?)<", row)}
    assert used == letters, "a choice of the filter that shows nothing"


def test_no_mathematics_is_left_as_text(index) -> None:
    text = re.sub(
        r"<math.*?</math>|<script.*?</script>|<code>.*?</code>|<[^>]+>", "", index, flags=re.S
    )
    assert not re.findall(r".{0,30}(?:&lt;|&gt;|[_^{}|=]|\|\|).{0,30}", text)


def test_errata_lead_to_claims_of_the_ledger(ours, index) -> None:
    from verification.paper_statements import claims

    known = {ours["ledger"].anchor(paper, claim.number) for paper, claim in claims()}
    used = set(re.findall(r"reproducibility\.html#([\w-]+)", index))
    assert len(used) > 8
    assert used <= known
    assert "lapin-2015-lemma-3-cases-1-and-2" in rows(index)["topk_cone"]
    assert {n for links in re.findall(r"href='#(\w+)'", index) for n in [links]} <= set(OBJECTS)


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("-<c,x> on {x >= 0}", r"-\langle c ,x \rangle"),
        ("1/2||x - a||^2", r"\tfrac{1}{2}\|x"),
        ("W = X'A'", r"X ^{\top}A ^{\top}"),
        ("S_k(max(z, 0))/k", r"S _{k}(\max (z"),
        ("K * yy' + Q, L* = 0", r"K  \odot  y y ^{\top}"),
        ("alpha_Ai <= CA", r"\alpha _{A i}  \le  C_A"),
        ("-inf outside the domain", r"-\infty"),
    ],
)
def test_declared_text_becomes_tex(ours, text: str, tex: str) -> None:
    html = ours["declared"].shown(text).replace("&amp;", "&").replace("&lt;", "<")
    assert re.sub(r"\s+", "", tex) in re.sub(
        r"\s+", "", "".join(re.findall(r'alttext="(.*?)"', html))
    )


def test_words_stay_words(ours) -> None:
    shown = ours["declared"].shown("S_k = sum of the k largest, a margin of 1")
    assert "sum of the " in shown
    assert "largest" in re.sub(r"<math.*?</math>", "", shown)
    assert "∑" not in shown


def test_a_lesson_links_to_its_row_and_other_pages_do_not(ours) -> None:
    class App:
        class builder:
            get_relative_uri = staticmethod(lambda a, b: f"../{b}.html")

    for name, links in (("sets/simplex", 1), ("course/duals", 0), ("objects", 0)):
        page = nodes.document(None, None)
        page += nodes.section("", nodes.title("", "A title"), nodes.paragraph("", "text"))
        ours["duals"].link_back(App, page, name)
        found = [n["refuri"] for n in page.findall(nodes.reference)]
        assert found == ["../course/duals.html#simplex"] * links


def test_links_to_pages_that_are_not_built_are_text(ours, index) -> None:
    class App:
        class env:
            found_docs = ("sets/simplex", "reproducibility")

    context = {"body": index}
    ours["duals"].unlink(App, "course/duals", "", context)
    kept = set(re.findall(r"href='\.\./([\w/]+)\.html", context["body"]))
    assert kept == {"sets/simplex", "reproducibility"}
    assert "Top-k cone" in context["body"]


def test_the_filter_works_by_keyboard_and_all_is_shown_without_it(
    ours, browser, index, tmp_path
) -> None:
    script = f"<script>{(DOCS / '_static' / 'duals.js').read_text('utf-8')}</script>"
    body = re.sub(r"<script.*?</script>", "", index)
    css = (DOCS / "_static" / "lessons.css").read_text("utf-8")
    css = css.replace('url("', f'url("{(DOCS / "_static").as_uri()}/')
    page = tmp_path / "page.html"
    count = "[...document.querySelectorAll('table.duals tr')].filter(r => r.offsetParent).length"
    for text, hidden in ((body, True), (body + script, False)):
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{css}</style>{text}", "utf-8")
        browser.open(page, 400)
        assert browser.ask(count) == len(OBJECTS)
        assert browser.ask("document.querySelector('form').offsetParent === null") is hidden
    assert browser.ask("document.documentElement.scrollWidth") <= 400, "wider than a phone"
    browser.ask("document.querySelector('[data-by=kind]').focus()")
    browser.press("End")
    assert browser.ask(count) == len(refsolve.catalogue.object_names("models"))

    def choose(paper: str, words: str = "", kind: str = "") -> int:
        values = f"['{kind}', '{paper}', '{words}'].forEach((v, i) => form.elements[i].value = v)"
        fire = "form.dispatchEvent(new Event('input'))"
        browser.ask(f"(form => ({values}, {fire}))(document.forms[0])")
        return int(browser.ask(count))

    assert choose("X") == sum("paper'>X<" in row for row in rows(index).values())
    assert choose("", "zhou jin") == 1
    browser.ask("location.hash = '#simplex'")
    assert browser.ask(count) == len(OBJECTS)
    assert browser.errors == []
