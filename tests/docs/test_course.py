"""Lectures are found, have all their parts, raise where a step is wrong, and run without the repository."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from verification.course import agree, check, counterexample, vectors

pytest.importorskip("myst_nb", reason="needs the docs extra: pip install '.[docs]'")

ROOT = Path(__file__).resolve().parents[2]
LECTURES = sorted((ROOT / "docs" / "course").glob("[0-9][0-9]_*.md"))
PARTS = [
    "Goals",
    "Prerequisites",
    "The derivation",
    "Find the wrong step",
    "Exercises",
    "Summary",
    "Further reading",
]
CELL = re.compile(r"^```\{code-cell\} python\n(?::tags: \[(.*?)\]\n)?(.*?)^```$", re.M | re.S)
WRONG = re.compile(r"^% wrong: (.+?) => (.+)$", re.M)
lectures = pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)


@pytest.fixture
def course(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    return importlib.import_module("course")


def split(text: str, level: int) -> dict[str, str]:
    """Sections of one level by title; code is no heading."""
    bare = CELL.sub(lambda found: found[0].replace("\n#", "\n\0"), text)
    parts = re.split(rf"^{'#' * level} (.+)$", bare, flags=re.M)
    return dict(zip(parts[1::2], (p.replace("\0", "#") for p in parts[2::2]), strict=True))


def test_lectures_are_numbered_and_need_earlier_ones(course: ModuleType) -> None:
    found = course.lectures()
    assert len(found) == len(LECTURES)
    for number, path in found.items():
        known = course.facts(path)
        assert known["title"].startswith(f"{number}. ")
        assert known["minutes"] == 45
        assert known["gives"]
        assert all(n < number and n in found for n in known["needs"])


def test_a_lecture_names_its_exercises_and_the_next_one(course: ModuleType) -> None:
    found = course.lectures()
    for number, path in found.items():
        text = course.completed(path.read_text("utf-8"), number)
        assert "`refsolve exercise " in text
        last = text.splitlines()[-1]
        named = number + 1 in found and f"]({found[number + 1].name})" in last
        assert named == (number < max(found))


@lectures
def test_a_lecture_has_all_its_parts(path: Path) -> None:
    text = path.read_text("utf-8")
    sections = split(text, 2)
    assert [title for title in sections if title in PARTS] == PARTS
    assert len(re.findall(r"^- ", sections["Goals"], re.M)) >= 3
    assert len(re.findall(r"^- ", sections["Further reading"], re.M)) >= 3
    assert "](" in sections["Prerequisites"]
    assert ":::{speaker}" in text
    wrong = sections["Find the wrong step"]
    assert ":::{admonition} The finding\n:class: solution\n:collapsible: closed" in wrong
    assert any(
        "hide-cell" in tags and "counterexample(" in code for tags, code in CELL.findall(wrong)
    )
    exercises = split(sections["Exercises"], 3)
    assert [title[:11] for title in exercises] == ["Exercise 1.", "Exercise 2.", "Exercise 3."]
    for part in exercises.values():
        assert ":::{admonition} Solution\n:class: solution\n:collapsible: closed" in part
        assert any("hide-cell" in tags for tags, _ in CELL.findall(part))


@lectures
def test_every_displayed_step_is_followed_by_its_check(path: Path) -> None:
    steps = split(split(path.read_text("utf-8"), 2)["The derivation"], 3)
    assert len(steps) >= 4
    assert [t.partition(".")[0] for t in steps] == [f"Step {n}" for n in range(1, 1 + len(steps))]
    for title, step in steps.items():
        # between two displayed formulas, and after the last, stands a cell that checks
        shown = [CELL.findall(part) for part in re.split(r"^\$\$.+?\$\$$", step, flags=re.M | re.S)]
        assert len(shown) > 1, title
        for cells in shown[1:]:
            assert any("check(" in code or "agree(" in code for _, code in cells), title
        assert "\n> " in step, f"{title}: nothing for the wall"


@lectures
def test_a_step_raises_where_it_is_wrong(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verification.course.picture", lambda draw, caption: None)  # no pictures
    namespace: dict[str, Any] = {"__name__": "lecture"}
    text = path.read_text("utf-8")
    # The lecture up to each step, then this step as it is not.
    for part in re.split(
        r"^(?=#{2,3} )", CELL.sub(lambda f: f[0].replace("\n#", "\n \x01"), text), flags=re.M
    ):
        cells = "\n".join(code for _, code in CELL.findall(part.replace(" \x01", "#")))
        if part.startswith("### Step"):
            wrong = WRONG.findall(part)
            assert wrong, part.splitlines()[0]
            for old, new in wrong:
                assert old in cells, (part.splitlines()[0], old)
                try:
                    exec(cells.replace(old, new, 1), dict(namespace))
                except AssertionError:
                    continue
                pytest.fail(f"{part.splitlines()[0]} does not notice {new}")
        exec(cells, namespace)


@lectures
def test_a_notebook_needs_nothing_of_docs(path: Path, course: ModuleType) -> None:
    book = course.notebook(path.read_text("utf-8"))
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert not re.search(r"^:::|^```\{|\{(eq|ref|doc)\}|\]\((?!https?:)", text, re.M)
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    names = re.findall(r"^\s*(?:from|import) (\w+)", code, re.M)
    helpers = {p.stem for p in (ROOT / "docs" / "_ext").glob("*.py")}
    assert not helpers & set(names)
    assert "verification" in names


def test_a_notebook_runs_outside_the_repository(course: ModuleType, tmp_path: Path) -> None:
    first = LECTURES[-1]
    book = course.notebook(first.read_text("utf-8"))
    script = tmp_path / "lecture.py"
    script.write_text("\n".join(c.source for c in book.cells if c.cell_type == "code"), "utf-8")
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_checks_raise() -> None:
    assert check([True, True]) == "✓ 2 cases"
    assert agree([[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0 + 1e-13]]).startswith("✓ 3 numbers")
    for wrong in (
        lambda: check([]),
        lambda: check([True, False]),
        lambda: check(x < 1 for x in (0, 1)),
        lambda: agree([1.0], [1.0 + 1e-11]),
        lambda: agree([1.0], [1.0, 2.0]),
        lambda: agree([float("nan")], [1.0]),
        lambda: agree([], []),
        lambda: counterexample(lambda x: x < 3, range(3)),
    ):
        with pytest.raises(AssertionError):
            wrong()
    assert counterexample(lambda x: x < 3, range(9)) == 3
    assert counterexample(lambda x, y: x < y, [(1, 2), (2, 2)]) == (2, 2)
    assert len({v.size for v in vectors(100)}) == 8
    assert any(len(set(v)) == 1 < v.size for v in vectors(100))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course without its outputs: nothing is executed."""
    out = tmp_path_factory.mktemp("course")
    options = {
        "root_doc": "course/index",
        "include_patterns": "course/**",
        "nb_execution_mode": "off",
    }
    options["suppress_warnings"] = "myst.xref_missing,ref.doc,myst-nb.lexer"
    given = [part for name, value in options.items() for part in ("-D", f"{name}={value}")]
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", *given, "docs", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / "course"


@lectures
def test_every_heading_is_a_slide_with_something_on_it(built: Path, path: Path) -> None:
    text = (built / f"{path.stem}.slides.html").read_text("utf-8")
    made = re.findall(r"<section.*?</section>", text, re.S)
    source = CELL.sub("", path.read_text("utf-8"))
    assert len(made) == len(re.findall(r"^#{1,3} ", source, re.M))
    walls = [
        re.sub(r"<h2>.*?</h2>|<aside>.*?</aside>|<[^>]+>", "", s, flags=re.S) for s in made[1:]
    ]
    assert all(wall.strip() for wall in walls)
    # what is spoken is there, and not on the wall
    notes = "".join(re.findall(r"<aside>(.*?)</aside>", text, re.S))
    assert len(notes) > 1000
    assert "For the speaker" not in text


@lectures
def test_documents_are_one_file_each_and_handouts_have_no_solutions(
    built: Path, path: Path, course: ModuleType
) -> None:
    offline = importlib.import_module("offline")
    for ending in course.KINDS:
        text = (built / f"{path.stem}.{ending}").read_text("utf-8")
        if ending == "ipynb":
            continue
        assert not offline.LOADS.search(text)
        assert not offline.STYLES.search(text.replace("data:font", ""))
        assert not re.search(r"<(?:script|link|img)\b[^>]*\b(?:src|href)=", text)
        if ending != "slides.html":
            assert "Solution" not in text
            assert "<pre" not in text
            assert "<math" in text


def test_slides_cost_little(course: ModuleType) -> None:
    files = [course.TEMPLATES / name for name in ("common.css", "slides.html", "slides.js")]
    assert sum(f.stat().st_size for f in files) < 15_000


def test_slides_in_a_browser(built: Path, browser: Any) -> None:
    browser.open(built / "02_simplex.slides.html", 1280, 720)
    count = browser.ask("slides.length")
    wide = "section.now div.math, section.now .cell_output pre"
    wide = f"[...document.querySelectorAll('{wide}')].filter(m => m.scrollWidth > m.clientWidth + 1).length"
    full = []
    for number in range(1, count + 1):
        assert browser.ask("document.getElementById('at').textContent") == f"{number}/{count}"
        assert browser.ask("document.querySelectorAll('section.now').length") == 1
        full.append(browser.ask("document.querySelectorAll('section.now.scroll').length"))
        full.append(browser.ask(wide))
        if browser.ask("document.querySelectorAll('section.now figure.interactive').length"):
            before = browser.ask("document.querySelector('figure.interactive').state.a")
            browser.drag("section.now .interactive-handle", 20, 15)
            assert browser.ask("document.querySelector('figure.interactive').state.a") != before
            browser.ask("document.activeElement.blur()")
        browser.press("ArrowRight")
    assert sum(full) == 0, "a slide that must be scrolled"
    browser.press("Home")
    browser.press("n")
    assert browser.ask("document.getElementById('notes').offsetHeight") > 100
    browser.press("o")
    assert browser.ask("document.querySelectorAll('main > div > section').length") == count
    browser.press("o")
    assert browser.ask("document.querySelectorAll('main > section').length") == count
    browser.open(built / "02_simplex.slides.html", 400, 800)
    assert browser.ask("document.documentElement.scrollWidth") <= 400
    assert browser.errors == []
