"""Pages and reports at the width of a phone: nothing is wider than the screen, and no table is cut."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verification
from verification.app.dataset import Examples
from verification.app.training import train
from verification.report.document import Cell, Document, table
from verification.report.page import render_html
from verification.report.run_report import report_document

STATIC = Path(__file__).resolve().parents[2] / "docs" / "_static"
WIDTH, WIDER = 400, 1400
#: Tables (and formulas in a line) of which a part lies outside of what holds them, or of the screen.
CUT = """[...document.querySelectorAll('table, span.math')].filter(e => {
  const holder = e.parentElement.closest('.wide, .table-wrapper, article') ?? document.body;
  const right = e.getBoundingClientRect().right;
  return right > innerWidth || right > holder.getBoundingClientRect().right + 1;
}).map(e => e.innerText.slice(0, 60))"""
ACROSS = "document.documentElement.scrollWidth"
#: The display of the cells of a row of the table that a selector names.
CELLS = "[...document.querySelectorAll('{} tbody tr:first-child td')].map(e => getComputedStyle(e).display)"


def wrong(a: np.ndarray, r: float = 1.0, rho: float = 0.0) -> np.ndarray:
    """No projection onto the simplex."""
    x = np.maximum(a, 0.0)
    return x * (r / max(x.sum(), 1e-9))


def reports() -> dict[str, str]:
    """A page of each kind: a training with its path, and a run with a counterexample."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 4)), np.repeat(["setosa", "versicolor", "virginica"], 30)
    X[:, 0] += np.repeat([0, 3, 6], 30)
    rows = rng.permutation(90)
    whole = Examples.of(X, y)
    trained = train(whole.part(rows[:60]), test=whole.part(rows[60:]), C=(0.1, 1.0), model="logistic", random_state=0)
    failed = verification.verify(wrong, "simplex.projection", checks=("ground_truth", "ties"), seed=0)
    return {"training": render_html(trained.document), "verify": render_html(report_document(failed))}


def test_reports_are_as_wide_as_a_phone(browser: Any, tmp_path: Path) -> None:
    for name, text in reports().items():
        page = tmp_path / f"{name}.html"
        page.write_text(text, "utf-8")
        for width in (WIDTH, WIDER):
            browser.open(page, width)
            assert browser.ask(ACROSS) <= width, (name, width)
            assert browser.ask(CUT) == [], (name, width)
        assert "data-label" in text


def test_only_rows_that_are_too_wide_are_stacked(browser: Any, tmp_path: Path) -> None:
    columns = ("problem", "instances", "worst gap", "worst distance", "worst / tolerance", "verdicts", " ")
    row = ("simplex.projection", "1287", "4.39e-17", "7.73e-17", Cell("", "dim"), "1414 pass", Cell("pass", "good"))
    narrow = table("Narrow", ("class", "examples"), [("setosa", "30")], numeric=("examples",))
    page = tmp_path / "page.html"
    page.write_text(render_html(Document("title", (table("Wide", columns, [row], columns[1:5]), narrow))), "utf-8")
    browser.open(page, WIDTH)
    assert browser.ask(CUT) == []
    cells = browser.ask(CELLS.format("div:nth-of-type(1)"))
    assert cells == ["block", "block", "block", "block", "none", "block", "block"]  # nothing is said of an empty cell
    assert browser.ask(CELLS.format("div:nth-of-type(2)")) == ["table-cell"] * 2
    said = "getComputedStyle(document.querySelectorAll('td')[{}], '::before').content"
    assert browser.ask("document.querySelectorAll('td')[2].dataset.label") == "worst gap"
    assert [browser.ask(said.format(i)) != "none" for i in (2, 6)] == [True, False]
    browser.open(page, WIDER)
    assert browser.ask(CELLS.format("div:nth-of-type(1)")) == ["table-cell"] * 7


@pytest.mark.parametrize("columns", [2, 12])
def test_tables_of_pages_are_stacked_where_they_are_too_wide(browser: Any, tmp_path: Path, columns: int) -> None:
    """Rows get the names of their columns, and are a table again where there is room."""
    script = f"<script>{(STATIC / 'narrow.js').read_text('utf-8')}</script>"
    style = f"<style>{(STATIC / 'lessons.css').read_text('utf-8')}</style>"
    heads = "".join(f"<th><p><i>a</i>{j}</p></th>" for j in range(columns))
    cells = "".join(f"<td><p>{j}.123</p></td>" for j in range(columns))
    text = f"<table class='docutils'><thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
    formula = f"<span class='math'><math><mi>{'m' * 45}</mi></math></span>"
    page = tmp_path / "page.html"
    body = f"<article>{text}<p>{formula}</p></article>"
    page.write_text(f"<!doctype html><meta charset=utf-8>{style}{body}{script}", "utf-8")
    browser.open(page, WIDTH)
    wide = columns > 2
    assert browser.ask(CELLS.format("table")) == ["block" if wide else "table-cell"] * columns
    assert browser.ask(ACROSS) <= WIDTH
    assert browser.ask(CUT) == []
    words = browser.ask("document.querySelector('tbody').innerText").split()
    assert words == [word for j in range(columns) for word in ([f"a{j}"] if wide else []) + [f"{j}.123"]]
    browser.open(page, WIDER)
    assert browser.ask(CELLS.format("table")) == ["table-cell"] * columns
    assert browser.ask("document.querySelectorAll('.stacked, .wide').length") == 0


def test_a_figure_of_several_panels_is_shown_whole_and_large_after_a_tap(browser: Any, tmp_path: Path) -> None:
    style, script = (STATIC / name for name in ("lessons.css", "narrow.js"))
    figure = "<figure class='lesson wide'><svg viewBox='0 0 920 300'></svg><figcaption>Two.</figcaption></figure>"
    page = tmp_path / "page.html"
    inside = f"<style>{style.read_text('utf-8')}</style><article>{figure}</article>"
    page.write_text(f"<!doctype html><meta charset=utf-8>{inside}<script>{script.read_text('utf-8')}</script>", "utf-8")
    browser.open(page, WIDTH)
    width = "document.querySelector('svg').getBoundingClientRect().right"
    tap = "document.querySelector('svg').dispatchEvent(new Event('click'))"
    assert browser.ask(width) <= WIDTH
    assert browser.ask(tap)
    assert browser.ask(width) > WIDTH
    assert browser.ask(ACROSS) <= WIDTH
    assert browser.ask(tap)
    assert browser.ask(width) <= WIDTH


def test_without_the_script_a_wide_table_is_found_to_be_cut(browser: Any, tmp_path: Path) -> None:
    cells = "".join(f"<td>{j}.123</td>" for j in range(30))
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><article><table><tbody><tr>{cells}</tr></tbody></table></article>", "utf-8")
    browser.open(page, WIDTH)
    assert len(browser.ask(CUT)) == 1
