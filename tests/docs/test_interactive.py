"""The interactive figures: bundled without npm, driven in a real browser, equal to `fast`."""

import importlib
import inspect
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fast

pytest.importorskip("docutils", reason="needs the docs extra: pip install '.[docs]'")
pytest.importorskip("sphinx", reason="needs the docs extra: pip install '.[docs]'")

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def ours():
    """The extension."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        yield importlib.import_module("interactive")


@pytest.fixture
def show(ours, browser, tmp_path):
    """Open a page with one figure, and ask what it computed."""

    def show(name, width=1400, media={}, **options):  # noqa: B006
        page = tmp_path / "page.html"
        body = ours.interactive_html(name, **options) + ours.bundle([name])
        page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
        browser.open(page, width, **media)
        return lambda: browser.ask("document.querySelector('figure').state")

    yield show
    assert browser.errors == []


def close(found, right):
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)


def check_simplex(state):
    close(state["x"], fast.sets.simplex.project(state["a"]))
    x, a = np.array(state["x"]), np.array(state["a"])
    close(x, a - state["t"] + state["nu"])
    assert state["gap"] == pytest.approx(0, abs=1e-15) or state["gap"] > 1e-5, "t was moved"


def check_solid(state):
    name = "topk_cone" if state["kind"] == "cone" else f"topk_simplex_{state['kind']}"
    given = {} if state["kind"] == "cone" else {"r": state["r"]}
    x, a = np.array(state["x"]), np.array(state["a"])
    close(x, getattr(fast.sets, name).project(a, state["k"], **given))
    share = 0 if state["kind"] == "beta" else sum(state["mu"]) / state["k"]
    close(a - x, state["lambda"] + np.array(state["mu"]) - share - state["nu"])
    assert min(state["lambda"], *state["mu"]) >= 0
    assert min(state["nu"]) > -1e-15
    assert abs(state["gap"]) < 1e-15


def of(state, operation, *given, **more):
    """What `fast` makes of the loss of a figure."""
    function = getattr(getattr(fast.losses, state["loss"]), operation)
    known = inspect.signature(function).parameters
    more |= {name: state[name] for name in ("k", "gamma") if name in known and name in state}
    return function(*given, **more)


def check_levels(state):
    scores = [0.0, *state["z"]]
    close(state["value"], of(state, "value", scores, 0, costs=[0.0] * 3))
    right = of(state, "conjugate", state["x"], costs=[0.0] * 2)
    close(state["conjugate"], right) if state["conjugate"] is not None else np.isinf(right)
    gradient = of(state, "gradient", scores, 0, costs=[0.0] * 3)[1:]
    if np.allclose(state["x"], gradient):
        close(state["x"], gradient)
        assert state["residual"] is None or abs(state["residual"]) < 1e-14


def check_ascent(state):
    X, y, C = np.array(state["X"]), np.array(state["y"]), state["C"]
    x = np.array(state["blocks"])
    A = np.zeros((len(X), 3))
    for i, own in enumerate(y):
        A[i, np.arange(3) != own] = -x[i]
        A[i, own] = x[i].sum()
    close(state["W"], A.T @ X)
    half = 0.5 * np.sum((A.T @ X) ** 2)
    primal = half + C * sum(of(state, "value", X[i] @ X.T @ A, y[i]) for i in range(len(X)))
    dual = -half - C * sum(of(state, "conjugate", x[i] / C) for i in range(len(X)))
    close([state["primal"], state["dual"], state["gap"]], [primal, dual, primal - dual])


def check_ranking(state):
    found = fast.losses.average_precision.loss_augmented_inference(state["scores"], state["y"])
    close(state["value"], found.value)
    close(state["loss"], found.delta)
    close(state["coefficients"], found.coefficients)
    assert 1 - state["ap"] <= state["value"] + 1e-15
    y = np.array(state["y"])[state["order"]]
    above = np.cumsum(y == 0)[y == 1]
    close(state["loss"], np.mean(above / (above + np.arange(1, len(above) + 1))))


def check_certificate(state):
    a, x, given = (np.array(state[name]) for name in ("a", "x", "multipliers"))
    kind, k, r = state["kind"], state["k"], state["r"]
    share = 0 if kind == "beta" else 1 / k
    total = [] if kind == "cone" else [np.ones(3)]  # the rows of C x <= b
    caps = [] if kind == "simplex" else [*(np.eye(3) - share)]
    C = np.array([*total, *caps, *-np.eye(3)])
    b = np.array([r] * len(total) + [r / k * (kind == "beta")] * len(caps) + [0] * 3)
    close(state["primal"], 0.5 * np.sum((x - a) ** 2))
    lowest = a - C.T @ given  # of 1/2 ||x - a||^2 + <given, C x - b>
    close(state["dual"], 0.5 * np.sum((C.T @ given) ** 2) + given @ (C @ lowest - b))
    proves = given[kind == "simplex" :].min() >= 0
    inside = max(C @ x - b) < 1e-9 and (kind != "simplex" or abs(x.sum() - r) < 1e-9)
    good = inside and proves and state["primal"] - state["dual"] <= 1e-4
    assert state["ok"] == good
    assert state["verdict"].startswith("✓" if good else "✗")
    if inside and proves:
        right = {
            "simplex": fast.sets.simplex.project(a),
            "alpha": fast.sets.topk_simplex_alpha.project(a, k, r),
            "beta": fast.sets.topk_simplex_beta.project(a, k, r),
            "cone": fast.sets.topk_cone.project(a, k),
        }[kind]
        assert np.linalg.norm(x - right) <= state["within"] + 1e-12


def check_conjugate(state):
    x, g = state["x"], state["g"]
    name = {"hinge": "multiclass_hinge", "logistic": "softmax"}.get(state["name"])
    if name:  # two classes, the right one ahead by x
        loss, costs = getattr(fast.losses, name), [float(name != "softmax")]
        value = loss.value([x, 0.0], 0, costs=[0.0, *costs])
        conjugate = loss.conjugate([-g], costs=costs)
        convex = value
    elif state["name"] == "square":
        value, conjugate, convex = x * x / 2, g * g / 2, x * x / 2
    else:  # the suprema over a grid that holds the best points
        value = min((x - 1) ** 2, (x + 1) ** 2)
        points = [g / 2 + 1, g / 2 - 1]
        conjugate = max(g * u - min((u - 1) ** 2, (u + 1) ** 2) for u in points)
        slopes = [0.0, 2 * (x - 1), 2 * (x + 1)]
        convex = max(h * x - abs(h) - h * h / 4 for h in slopes)
    close(state["value"], value)
    if np.isinf(conjugate):
        assert state["conjugate"] is None, "no JSON has infinity"
        return
    close([state["conjugate"], state["line"]], [conjugate, g * x - conjugate])
    close(state["biconjugate"], convex)
    close(state["residual"], value + conjugate - g * x)
    assert state["residual"] >= -1e-15
    assert state["line"] <= convex + 1e-15


CHECKS = {
    "conjugate": (check_conjugate, "x"),
    "simplex_projection": (check_simplex, "a"),
    "topk_simplex": (check_solid, "a"),
    "topk_cone": (check_solid, "a"),
    "loss_levels": (check_levels, "z"),
    "coordinate_ascent": (check_ascent, "X"),
    "ranking": (check_ranking, "scores"),
    "certificate": (check_certificate, "x"),
}


def test_every_figure_is_checked(ours) -> None:
    assert set(CHECKS) == set(ours.figures())


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


@pytest.mark.parametrize(
    "name",
    ["topk_simplex", "topk_cone", "loss_levels", "coordinate_ascent", "certificate", "conjugate"],
)
def test_every_choice_computes_what_fast_computes(show, browser, name: str) -> None:
    check, _ = CHECKS[name]
    state = show(name)
    browser.drag(".interactive-handle", 30, -60)
    sizes = browser.ask("[...document.querySelectorAll('select')].map((e) => e.options.length)")
    for option in itertools.product(*map(range, sizes)):
        browser.ask(
            f"[...document.querySelectorAll('select')].forEach((e, i) => {{ e.selectedIndex = {list(option)}[i];"
            " e.dispatchEvent(new Event('change')); })"
        )
        check(state())


def test_the_browser_sees_errors_and_requests(browser, tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<script>fetch('http://127.0.0.1:8999/x').catch(() => 0); throw Error('no')</script>"
    )
    browser.open(page)
    browser.ask("1")
    said = "\n".join(browser.errors)
    assert "asks for http://127.0.0.1:8999/x" in said
    assert "Error: no" in said


@pytest.mark.parametrize("function", ["hinge", "logistic", "square", "hump"])
def test_any_slope_is_a_line_below_or_none(show, browser, function: str) -> None:
    state = show("conjugate", f=function)
    for presses in (8, 30, 30):
        browser.ask("document.querySelectorAll('.interactive-handle')[1].focus()")
        browser.press("ArrowLeft", presses)
        check_conjugate(found := state())
    assert (found["conjugate"] is None) == (function in ("hinge", "logistic")), "the domain ends"


@pytest.mark.parametrize("loss", ["smooth_topk_hinge_beta", "topk_entropy_alpha"])
def test_steps_are_those_of_fast_and_close_the_gap(show, browser, loss: str) -> None:
    state = show("coordinate_ascent", loss=loss, C=0.5)
    browser.ask(
        "for (let i = 0; i < 12; i++) document.querySelector('button').click()".join(
            ["(() => {", "})()"]
        )
    )
    check_ascent(found := state())
    X, y = np.array(found["X"]), found["y"]
    A = np.zeros((9, 3))
    for i in [*range(9), 0, 1, 2]:
        A[i] = 0
        q = X[i] @ X.T @ A
        A[i] = of(found, "sdca_update", q, y[i], X[i] @ X[i], C=0.5)
    close(found["W"], A.T @ X)
    browser.ask(
        "(() => { for (let i = 0; i < 60; i++) document.querySelectorAll('button')[1].click() })()"
    )
    check_ascent(last := state())
    assert -1e-14 < last["gap"] < 1e-6 < found["gap"], "nine sums of terms of size 1"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_plays_by_itself_jumps_to_the_end_for_who_wants_no_motion(
    show, browser, motion
) -> None:
    state = show("coordinate_ascent", media={"prefers_reduced_motion": motion})
    browser.ask("document.querySelectorAll('button')[2].click()")
    assert state()["count"] == (81 if motion == "reduce" else 0)
    assert browser.ask("document.querySelectorAll('button')[2].textContent") == (
        "Play" if motion == "reduce" else "Pause"
    )


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "finger"])
def test_a_solid_is_turned_by_its_ground(show, browser, touch: bool) -> None:
    state = show("topk_cone", width=400)
    turn = "document.querySelector('input[aria-label=turn]').value"
    first, before = state(), browser.ask(turn)
    browser.drag("svg text", 60, 5, touch=touch)
    assert browser.ask(turn) != before
    assert state() == first, "the point stays"


def test_a_certificate_turns_red_with_words(show, browser) -> None:
    state = show("certificate")
    assert state()["ok"]
    browser.ask("document.querySelectorAll('input[type=range]')[2].focus()")
    browser.press("ArrowLeft", 3)
    found = state()
    assert "the multiplier of x₂ ≥ 0 is negative" in found["verdict"]
    assert browser.ask("document.querySelector('.verdict').classList.contains('bad')")
    assert "✗ No proof" in browser.ask("document.querySelector('.verdict').innerText")
    browser.ask("document.querySelector('button').click()")
    assert state()["ok"]
    for kind in ("alpha", "beta", "cone", "simplex"):
        browser.ask(f"[...document.querySelectorAll('select')].forEach((e) => {{ e.value = '{kind}';"
                    " e.dispatchEvent(new Event('change')); })")  # fmt: skip
        check_certificate(found := state())
        assert found["ok"], "right multipliers"
        assert np.count_nonzero(found["multipliers"]) > 1
        for i in range(len(found["multipliers"])):
            slider = (
                f"[...document.querySelectorAll('.interactive-slider:not([hidden]) input')][{i}]"
            )
            browser.ask(f"(({slider}).value = -0.1, ({slider}).dispatchEvent(new Event('input')))")
            check_certificate(found := state())
            assert not found["ok"]
            browser.ask("document.querySelector('button').click()")
            assert state()["ok"]


@pytest.mark.parametrize("name", CHECKS)
def test_a_dragged_point_stays_under_the_pointer(show, browser, name: str) -> None:
    show(name)
    x, y = browser.middle(".interactive-handle .halo")
    browser.drag(".interactive-handle", 20, -14, beside=4)
    moved = browser.middle(".interactive-handle .halo")
    assert moved == pytest.approx((x + 20, y if name in ("ranking", "conjugate") else y - 14), abs=0.1)


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
    text = ours.bundle(ours.figures())
    assert len(text.encode()) < ours.LIMIT
    assert "import " not in text.replace("// import", "")
    for name in ours.figures():
        said = ours.description(name)
        assert len(said) > 30
        assert ours.html.escape(said) in ours.interactive_html(name)


def test_unknown_figures_and_modules_that_cannot_be_bundled_are_named(ours, tmp_path) -> None:
    for use in (ours.interactive_html, lambda name: ours.bundle([name])):
        with pytest.raises(ValueError, match=r"no figure 'simplx'; there are .*simplex_projection"):
            use("simplx")
    module = tmp_path / "m.mjs"
    module.write_text('import everything from "./else.mjs";\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "HOME", tmp_path)
        with pytest.raises(ValueError, match="cannot bundle 'import everything"):
            ours._module(module, {})


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
