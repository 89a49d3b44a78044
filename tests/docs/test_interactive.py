"""The interactive figures: bundled without npm, driven in a real browser, equal to `fast`."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fast

pytest.importorskip("docutils", reason="needs the docs extra: pip install 'refsolve[docs]'")
pytest.importorskip("sphinx", reason="needs the docs extra: pip install 'refsolve[docs]'")

DOCS = Path(__file__).resolve().parents[2] / "docs"
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def ours():
    """The extension and the browser's driver."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        patch.syspath_prepend(str(HERE))
        yield importlib.import_module("interactive"), importlib.import_module("browser")


@pytest.fixture(scope="module")
def browser(ours):
    if ours[1].program() is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with ours[1].browser() as one:
        yield one


@pytest.fixture
def show(ours, browser, tmp_path):
    """Open a page with one figure, and ask what it computed."""
    extension, _ = ours

    def show(name, width=1400, **options):
        page = tmp_path / "page.html"
        body = extension.interactive_html(name, **options) + extension.bundle([name])
        page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
        browser.open(page, width)
        return lambda: browser.ask("document.querySelector('figure').state")

    yield show
    assert browser.errors == []


def close(found, right):
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)


def check_simplex(state):
    close(state["x"], fast.sets.simplex.project(state["a"]))
    x, a = np.array(state["x"]), np.array(state["a"])
    close(x, a - state["t"] + state["nu"])
    assert state["gap"] < 1e-15


CHECKS = {
    "simplex_projection": (check_simplex, "a"),
}


def test_every_figure_is_checked(ours) -> None:
    assert set(CHECKS) == set(ours[0].figures())


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "finger"])
@pytest.mark.parametrize("name", CHECKS)
def test_dragged_values_are_those_of_fast(show, browser, name: str, touch: bool) -> None:
    check, what = CHECKS[name]
    state = show(name, width=400 if touch else 1400)
    check(first := state())
    for dx, dy in [(37, -23), (-90, 41), (11, 160)]:
        browser.drag(".interactive-handle", dx, dy, touch=touch)
        check(state())
    assert state()[what] != first[what], "it has moved"


@pytest.mark.parametrize("name", CHECKS)
def test_keys_move_what_has_the_focus(show, browser, name: str) -> None:
    check, what = CHECKS[name]
    state = show(name)
    first = state()
    browser.ask("document.querySelector('.interactive-handle').focus()")
    said = "document.activeElement.getAttribute('aria-valuetext')"
    before = browser.ask(said)
    browser.press("ArrowLeft", 2)
    browser.press("ArrowUp")
    check(moved := state())
    assert moved[what] != first[what]
    assert browser.ask(said) != before
    sliders = browser.ask("document.querySelectorAll('input[type=range]').length")
    for i in range(sliders):
        browser.ask(f"document.querySelectorAll('input[type=range]')[{i}].focus()")
        browser.press("ArrowRight")
    assert not sliders or state() != moved


@pytest.mark.parametrize("name", CHECKS)
def test_a_phone_needs_no_scrolling_sideways_and_everything_has_a_name(show, browser, name) -> None:
    show(name, width=400)
    assert browser.ask("document.documentElement.scrollWidth") <= 400
    parts = "[...document.querySelectorAll('svg, input, select, [role=slider]')]"
    assert browser.ask(f"{parts}.every((e) => e.getAttribute('aria-label'))")
    assert browser.ask("document.querySelector('[aria-live]') !== null")


def test_all_figures_fit_a_page_and_say_something_without_a_script(ours) -> None:
    extension, _ = ours
    text = extension.bundle(extension.figures())
    assert len(text.encode()) < extension.LIMIT
    assert "import " not in text.replace("// import", "")
    for name in extension.figures():
        said = extension.description(name)
        assert len(said) > 30
        assert extension.html.escape(said) in extension.interactive_html(name)


def test_unknown_figures_and_modules_that_cannot_be_bundled_are_named(ours, tmp_path) -> None:
    extension, _ = ours
    for use in (extension.interactive_html, lambda name: extension.bundle([name])):
        with pytest.raises(ValueError, match=r"no figure 'simplx'; there are .*simplex_projection"):
            use("simplx")
    module = tmp_path / "m.mjs"
    module.write_text('import everything from "./else.mjs";\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extension, "HOME", tmp_path)
        with pytest.raises(ValueError, match="cannot bundle 'import everything"):
            extension._module(module, {})


def test_sphinx_writes_the_figure_its_caption_and_one_script(tmp_path) -> None:
    figure = '```{interactive} simplex_projection\n:options: {"r": 2}\n\nA $t$ *moves*.\n```\n'
    (tmp_path / "index.md").write_text(f"# Title\n\n{figure}\n{figure}", encoding="utf-8")
    settings = f"import sys; sys.path.insert(0, {str(DOCS / '_ext')!r})\n"
    settings += (
        "extensions = ['myst_parser', 'interactive']; myst_enable_extensions = ['dollarmath']"
    )
    (tmp_path / "conf.py").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-qWb", "html", tmp_path, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count("<em>moves</em>") == page.count('<figure class="interactive"') == 2
    assert page.count("const FIGURES=") == 1
    assert "{&quot;r&quot;: 2}" in page
