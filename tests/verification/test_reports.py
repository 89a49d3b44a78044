"""What a run says of itself: JUnit XML, the page, JSON; with every verdict there is."""

import json
import re
import shlex
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from _pages import Page

from verification import Instance, InvalidArgumentError, Report, Result, Verdict, verify
from verification.app import command_line
from verification.report.document import Cell
from verification.report.junit import render_junit
from verification.report.run_report import MEANINGS, command, mark, report_document, terms_table
from verification.verdicts.verdict import Judgement

# What the schema of the xunit plugin of Jenkins (junit-10), which pytest and others follow, allows.
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname",
        "id", "package", "file", "log", "url",
    },
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set(),
    "system-err": set(),
}  # fmt: skip
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name"},
    "property": {"name", "value"},
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}


def valid(text: str) -> ET.Element:
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for node in root.iter():
        assert set(node.attrib) <= ATTRIBUTES[node.tag], node.tag
        assert set(node.attrib) >= REQUIRED.get(node.tag, set()), node.tag
        assert {child.tag for child in node} <= CHILDREN.get(node.tag, set()), node.tag
        if "time" in node.attrib:
            assert re.fullmatch(r"\d+\.\d*|\d+", node.get("time", ""))
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "")) == len(cases)
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(name, "")) == sum(c.find(kind) is not None for c in cases)
        for case in cases:
            assert sum(case.find(kind) is not None for kind in ("failure", "error", "skipped")) <= 1
    return root


def result(check: str, verdict: Verdict, message: str = "", **more: object) -> Result:
    instance = Instance.of("simplex.projection", "made up", a=np.array([1.0, 2.0]), r=1.0, rho=0.0)
    judgement = Judgement(verdict, 2e-16, 1e-15, message=message or f"message of {verdict}", **more)
    return Result.of(check, instance, judgement, seconds=0.25)


def report(*results: Result, **more: object) -> Report:
    return Report("simplex.projection", "quick", 7, results, candidate="mine.project", **more)


def everything() -> Report:
    """One check per verdict."""
    return report(*(result(v.name.lower(), v) for v in Verdict))


def test_every_verdict_has_its_place_in_junit() -> None:
    root = valid(everything().to_junit())
    (suite,) = root
    kinds = {
        case.get("name"): next((c.tag for c in case if c.tag != "system-out"), "passed")
        for case in suite.findall("testcase")
    }
    assert kinds == {
        "pass[made up]": "passed",
        "fail[made up]": "failure",
        "expected_failure[made up]": "skipped",
        "unexpected_pass[made up]": "failure",
        "skipped[made up]": "skipped",
        "inconclusive[made up]": "failure",
        "timeout[made up]": "error",
        "crash[made up]": "error",
    }
    found = {p.get("name"): p.get("value") for p in suite.find("properties")}
    for verdict in Verdict:
        assert found[f"results: {verdict}"] == "1"
    assert found["seed"] == "7"
    for verdict in (Verdict.FAIL, Verdict.TIMEOUT, Verdict.SKIPPED, Verdict.INCONCLUSIVE):
        assert f"message of {verdict}" in ET.tostring(suite, "unicode")


def test_a_case_is_as_bad_as_its_worst_result_and_shows_what_it_hides() -> None:
    mixed = report(
        result("one", Verdict.PASS),
        result("one", Verdict.INCONCLUSIVE, "nobody knows"),
        result("two", Verdict.CRASH, "it crashed"),
        result("two", Verdict.FAIL, "it is wrong"),
    )
    (suite,) = valid(mixed.to_junit())
    one, two = suite.findall("testcase")
    assert one.find("failure").get("type") == "inconclusive"
    assert "nobody knows" in one.find("failure").get("message")
    assert "1 pass, 1 inconclusive" in one.findtext("system-out", "")
    failure = two.find("failure")
    assert failure is not None
    assert "it is wrong" in failure.get("message", "")
    assert "it crashed" in (failure.text or "")


def test_control_characters_do_not_spoil_the_files(tmp_path) -> None:
    bad = report(
        result("check", Verdict.FAIL, "\x00 \x1b[31m \ud800 \ufffe ]]> <b> \x7f tab\tnew\nline"),
        counterexample="print('\x07')",
    )
    (suite,) = valid(bad.to_junit(tmp_path / "junit.xml"))
    message = suite.find("testcase/failure").get("message", "")
    assert "]]> <b>" in message
    assert valid((tmp_path / "junit.xml").read_text(encoding="utf-8")) is not None
    page = bad.to_html(tmp_path / "page.html")
    for text in (page, message):
        assert not any(ord(c) < 32 and c not in "\t\n\r" for c in text)
    assert "<b>" not in page
    json.loads(bad.to_json(tmp_path / "report.json"))


def test_nothing_judged_is_a_failing_case() -> None:
    for empty in (report(), report(result("check", Verdict.SKIPPED))):
        (suite,) = valid(empty.to_junit())
        assert suite.get("failures") == "1"
        assert "nothing was judged" in empty.to_html().lower().replace("<", " ")


def test_several_runs_are_several_suites() -> None:
    root = valid(render_junit([everything(), report(result("check", Verdict.PASS))]))
    assert [s.get("id") for s in root] == ["0", "1"]
    assert root.get("tests") == str(len(Verdict) + 1)


def test_the_page_shows_all_verdicts_and_all_reasons() -> None:
    html = everything().to_html()
    page = Page(html)
    assert page.links == []
    assert "http" not in html
    for verdict in Verdict:
        assert MEANINGS[verdict] in page.text
        if verdict not in (Verdict.PASS, Verdict.EXPECTED_FAILURE):
            assert f"message of {verdict}" in page.text
    assert "1 skipped, 1 inconclusive" in page.text
    assert "@media print" in html
    assert "prefers-color-scheme: dark" in html


def test_uncertain_and_skipped_are_counted_where_there_are_none() -> None:
    shown = report_document(report(result("check", Verdict.PASS)))
    assert shown.good == "1 results judged: 1 pass, 0 skipped, 0 inconclusive"


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ({"pass": 3}, "pass"),
        ({"pass": 3, "inconclusive": 1}, "pass"),
        ({"inconclusive": 1, "skipped": 2}, "INCONCLUSIVE"),
        ({"skipped": 2}, "skipped"),
        ({"expected failure": 2, "pass": 1}, "expected failure"),
        ({"pass": 9, "timeout": 1}, "FAIL"),
        ({"unexpected pass": 1}, "FAIL"),
    ],
)
def test_one_word_for_a_group(counts: dict[str, int], word: str) -> None:
    assert mark(counts).text == word


def test_terms_beside_their_tolerances() -> None:
    terms = {"a": (1.0, 2.0), "b": (3.0, 1.0), "c": (0.5, None), "d": (0.0, 0.0), "e": (1.0, 0.0)}
    rows = terms_table("terms", terms).rows
    marks = [row[-1].text for row in rows if isinstance(row[-1], Cell)]
    assert marks == ["within", "EXCEEDED", "part of the sum", "within", "EXCEEDED"]
    assert [row[3] for row in rows] == ["0.5", "3", "-", "0", "inf"]


def wrong(a, r, rho):
    return np.maximum(a, 0.0)


def test_a_real_failure_in_all_files(tmp_path) -> None:
    found = verify(wrong, "simplex.projection", checks=["certified_gap", "batch"], seed=3)
    document = report_document(found)
    written = command_line.write_files(document, [found], tmp_path)
    assert [p.name for p in written] == [
        "report.html", "junit.xml", "report.json", "simplex.projection.replay.json",
    ]  # fmt: skip
    page = Page(written[0].read_text(encoding="utf-8"))
    assert page.links == ["simplex.projection.replay.json", "junit.xml", "report.json"]
    assert all((tmp_path / link).exists() for link in page.links)
    data = json.loads(written[2].read_text(encoding="utf-8"), parse_constant=pytest.fail)
    valid(written[1].read_text(encoding="utf-8"))
    assert data["smallest"]["terms"]["repair distance"][0] > 0
    assert "repair distance" in page.text
    assert "single vectors only" in page.text
    assert data["not_judged"][0]["reason"] == "the candidate takes single vectors only"
    for line in found.counterexample.splitlines():
        assert line in page.text
    assert data["environment"]["numpy"] == np.__version__
    assert data["command"] == command(found) in page.text
    words = shlex.split(command(found))
    assert words[:2] == ["refsolve", "verify"]
    assert f"{__name__}:wrong" in words
    totals = [sum(each["counts"].values()) for each in data["by_check_and_family"]]
    assert sum(totals) == len(found.results)


def test_the_command_of_a_run_that_cannot_be_typed_is_empty() -> None:
    assert command(report(result("check", Verdict.PASS))) != ""
    local = Report("simplex.projection", "quick", 0, (), candidate="m.test.<locals>.project")
    assert command(local) == ""
    program = report(settings={"program": ("./solver", "a b"), "fixed": {"k": 3}, "isolate": True})
    typed = command(program)
    assert shlex.split(shlex.split(typed)[5]) == ["./solver", "a b"]
    assert typed.endswith("--set k=3 --isolate")


def test_a_file_that_cannot_be_written(tmp_path) -> None:
    for write in (Report.to_html, Report.to_junit, Report.to_json):
        with pytest.raises(InvalidArgumentError, match="can be written"):
            write(everything(), tmp_path / "no" / "folder")


def test_arguments_as_text() -> None:
    words = ("k=3", "r=0.5", "loss=softmax", "costs=[0, 1]", "gamma=null")
    assert command_line.fixed_arguments(words) == {
        "k": 3, "r": 0.5, "loss": "softmax", "costs": [0, 1], "gamma": None,
    }  # fmt: skip
    for word in ("k", "=3", "k="):
        with pytest.raises(InvalidArgumentError, match="NAME=VALUE"):
            command_line.fixed_arguments([word])
    assert command_line.formats("json, html") == ("html", "json")
    with pytest.raises(InvalidArgumentError, match="--output"):
        command_line.formats("out")
