"""Documents: the same facts in all three renderings, nothing unescaped, nothing cut."""

import errno
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from _pages import Page
from markdown_it import MarkdownIt
from rich.console import Console

from verification.errors import InvalidArgumentError
from verification.instances.instance import Instance
from verification.report.document import Cell, Code, Document, Paragraph, table
from verification.report.page import render_html
from verification.report.render import (
    plain,
    render_json,
    render_markdown,
    render_terminal,
    write_text,
)
from verification.report.run_report import report_document
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement, Result, Verdict

DOCUMENT = Document(
    "A <title> & more",
    (
        table(
            "Facts",
            ("name", "value"),
            [("a<b", Cell("1.5", "bad")), ("c", "[bold]2[/bold]")],
            ["value"],
            "a note",
        ),
        Paragraph("x < y & z", "warn"),
        Code("paste", "print('<hello>')"),
    ),
    False,
    {"worst": float("inf"), "many": np.arange(3), "one": np.float32(0.5)},
)


SHOWN = ("A <title> & more", "a<b", "1.5", "print('<hello>')", "a note", "FAILED")


def terminal(document: Document, width: int = 120) -> str:
    stream = io.StringIO()
    render_terminal(document, Console(file=stream, width=width))
    return stream.getvalue()


def test_html_is_well_formed_escaped_and_alone() -> None:
    page = Page(render_html(DOCUMENT))
    assert page.links == [], "the page stands alone"
    assert {"title", "h1", "table", "pre"} <= page.seen
    assert not {"script", "hello", "b"} & page.seen
    for text in (*SHOWN, "x < y & z"):
        assert text in page.text


def test_commands_in_a_text_are_code_and_open_nothing() -> None:
    """Between backticks is code; a single one, and markup in it, stay text."""
    text = "`refsolve audit` takes <b> it, ` and `<i>` or *this*"
    found = Document("t", (Paragraph(text), table("", ("a",), [("1",)], note="see `x`")), None, {})
    page = render_html(found)
    for part in ("<code>refsolve audit</code>", "<code>x</code>", "&lt;b&gt;", "&lt;i&gt;"):
        assert part in page
    assert "<b>" not in page + MarkdownIt().render(render_markdown(found))
    assert "<code>refsolve audit</code>" in MarkdownIt().render(render_markdown(found))
    single = Document("t", (Paragraph("a ` b"),), None, {})
    assert "a ` b" in render_html(single)
    assert "a ` b" in MarkdownIt().render(render_markdown(single))


def test_markdown_reads_as_the_same_text() -> None:
    page = Page(MarkdownIt("commonmark").enable("table").render(render_markdown(DOCUMENT)))
    assert {"h1", "table", "pre"} <= page.seen
    assert not {"b", "hello", "title", "strong"} & page.seen
    for text in (*SHOWN, "[bold]2[/bold]", "x < y & z"):
        assert text in page.text


def test_terminal_shows_every_cell_and_takes_brackets_literally() -> None:
    shown = terminal(DOCUMENT)
    for text in (*SHOWN, "[bold]2[/bold]"):
        assert text in shown


def test_numbers_are_not_cut_in_a_narrow_terminal() -> None:
    document = Document(
        "t", (table("", ("words", "figure"), [("long " * 30, "1.2345e-10")], ["figure"]),)
    )
    assert "1.2345e-10" in terminal(document, width=40)


def test_json_is_strict() -> None:
    data = json.loads(render_json(DOCUMENT), parse_constant=pytest.fail)
    assert data == {
        "title": "A <title> & more",
        "ok": False,
        "worst": "inf",
        "many": [0, 1, 2],
        "one": 0.5,
    }


def test_plain_reaches_nested_values() -> None:
    assert plain({"a": [(np.int64(1), float("nan"))], 2: {Path("x")}}) == {
        "a": [[1, "nan"]],
        "2": ["x"],
    }


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns"):
        table("t", ("a", "b"), [("1",)])


def report(*verdicts: Verdict) -> Report:
    instance = Instance.of("simplex.projection", "made up", a=np.array([1.0, 2.0]))
    results = tuple(
        Result.of("certified_gap", instance, Judgement(v, gap=1e-16, message=f"message of {v}"))
        for v in verdicts
    )
    code = "project([1.0, 2.0])" if any(v.is_bad for v in verdicts) else None
    return Report(
        "simplex.projection", "quick", 0, results, candidate="mine:project", counterexample=code
    )


@pytest.mark.parametrize(
    ("verdicts", "ok"),
    [
        ((Verdict.PASS, Verdict.SKIPPED), True),
        ((Verdict.PASS, Verdict.FAIL), False),
        ((Verdict.PASS, Verdict.TIMEOUT), False),
        ((Verdict.SKIPPED,), False),
        ((Verdict.INCONCLUSIVE,), False),
        ((Verdict.PASS, Verdict.INCONCLUSIVE), False),
        ((), False),
    ],
)
def test_the_verdict_shown_is_the_report_s(verdicts: tuple[Verdict, ...], ok: bool) -> None:
    document = report_document(report(*verdicts))
    assert document.ok is ok
    assert any(word in terminal(document) for word in ("FAILED", "INCONCLUSIVE")) is not ok
    assert json.loads(render_json(document))["ok"] is ok


@pytest.mark.parametrize("width", [40, 160])
def test_code_is_neither_cut_nor_folded(width: int) -> None:
    """A line of a counterexample has every argument, and can be pasted."""
    line = f"print(project(a=np.array([{', '.join(['0.5'] * 100)}]), k=2))"
    code = f"import numpy as np\n\n{line}\n# right    [{'0.25, ' * 80}]"
    shown = terminal(Document("title", (Code("Smallest", code),), None, {}), width)
    assert code in shown


def test_a_full_disk_leaves_the_report_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "old.html").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    for name in ("old.html", "new.html"):
        with pytest.raises(InvalidArgumentError, match=r"output=.*No space left on device"):
            write_text(tmp_path / name, "new", "output")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
    assert write_text(os.devnull, "new").is_char_device(), "a device is written to, not replaced"


def test_a_run_that_is_inconclusive_has_an_exit_code_of_its_own(capsys) -> None:
    import typer

    from verification.app.console import finish

    for verdicts, code in (
        ((Verdict.PASS, Verdict.INCONCLUSIVE), 3),
        ((Verdict.INCONCLUSIVE, Verdict.FAIL), 1),
    ):
        found = report(*verdicts)
        with pytest.raises(typer.Exit) as ended:
            finish(report_document(found), as_json=True)
        assert ended.value.exit_code == code
        said = json.loads(capsys.readouterr().out)
        assert said["inconclusive"] is (code == 3)
        assert said["undecided"] == 1
    page = render_html(report_document(report(Verdict.PASS, Verdict.INCONCLUSIVE)))
    assert 'class="bad">INCONCLUSIVE' in page
