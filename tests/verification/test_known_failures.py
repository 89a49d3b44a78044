"""Files of known failures: what is listed is expected, what is not still fails, what is spoilt is refused."""

import json
import shlex
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

from fast.sets.simplex import project as right
from verification import InvalidArgumentError, Verdict, verify
from verification.bridges.cases import cases
from verification.cli import app
from verification.failures.run_command import command
from verification.kit import known_failures
from verification.verdicts import condition

pytest_plugins = ["pytester"]
PROBLEM = "simplex.projection"
CHECKS = ["scales", "extremes"]
ENTRY = """
[[xfail]]
problem = "simplex.*"
check = "extremes"
when = "r == 0"
reason = "divides by r, issue 12"
"""


def divides(a, r=1.0, rho=0.0):
    """Wrong for r = 0 alone."""
    return np.full_like(a, np.nan) if r == 0 else right(a, r=r, rho=rho)


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Writes an xfail file and says its name."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "xfail.toml").write_text(text, encoding="utf-8")
        return "xfail.toml"

    return write


def judged(path, solver=divides, **more):
    return verify(solver, PROBLEM, xfail=path, checks=CHECKS, shrink=False, **more)


def test_what_is_listed_is_expected_and_every_report_says_so(listed):
    plain = verify(divides, PROBLEM, checks=["extremes"], shrink=False)
    found = judged(listed(ENTRY))
    assert not plain.ok
    assert found.ok
    assert found.counts["expected failure"] == len(plain.failures) > 0
    line = f"xfail: {len(plain.failures)} in extremes when r == 0: divides by r, issue 12"
    assert line in found.summary()
    (entry,) = json.loads(found.to_json())["xfail"]
    assert (entry["failed"], entry["source"]) == (len(plain.failures), "xfail.toml")
    skips = ET.fromstring(found.to_junit()).findall(".//skipped[@type='expected failure']")
    assert any("divides by r, issue 12" in skip.get("message") for skip in skips)
    assert "--xfail xfail.toml" in command(found)


def test_what_is_not_listed_still_fails(listed):
    def worse(a, r=1.0, rho=0.0):
        return divides(a, r, rho) * (2 if np.max(a) > 1e5 else 1)

    found = judged(listed(ENTRY), worse)
    assert not found.ok
    assert found.counts["expected failure"] > 0
    assert {r.verdict for r in found.failures} == {Verdict.FAIL}
    assert {r.instance["r"] == 0 for r in found.failures if r.check == "extremes"} <= {False}


@pytest.mark.parametrize(
    "text",
    [
        "xfail_strict = false" + ENTRY,
        ENTRY + "strict = false",
        "xfail_strict = true" + ENTRY + "strict = false",
    ],
)
def test_one_that_passes_is_said_and_fails_if_strict(listed, text):
    strict = judged(listed(ENTRY), right)
    assert [r.verdict for r in strict.failures] == [Verdict.UNEXPECTED_PASS]
    assert "XPASS: extremes when r == 0" in strict.summary()
    assert "remove it from xfail.toml" in strict.summary()
    lenient = judged(listed(text), right)
    assert lenient.ok
    assert "XPASS" in lenient.to_json()


def test_entries_for_others_are_left_alone(listed):
    more = '\n[[xfail]]\nproblem = "softmax"\ncheck = "extremes"\nreason = "ours"\n'
    found = verify(right, PROBLEM, xfail=listed(ENTRY + more), checks=["scales"], shrink=False)
    assert found.ok
    assert found.known == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[xfail]\n", "no TOML file: .*line 1"),
        ("[xfail]\n", "expected .*xfail.* tables"),
        ("xfail_strict = 1\n", "xfail_strict = false"),
        ("expected = []\n", "found expected"),
        (ENTRY + "why = 'x'", "number 1: why is not known"),
        (ENTRY.replace("reason", "#"), "reason is missing"),
        (ENTRY.replace('"divides by r, issue 12"', "3"), "reason=3"),
        (ENTRY.replace("extremes", "extreme"), "check='extreme': expected"),
        (ENTRY.replace("simplex.*", "simplices"), "number 1: .*simplices.* not known"),
        (ENTRY.replace("r == 0", "R == 0"), "has no R; expected some of a, r, rho"),
        (ENTRY.replace("r == 0", "r"), "compares nothing"),
        (ENTRY.replace("r == 0", "r = 0"), "expected comparisons"),
        (ENTRY.replace("r == 0", "r.real == 0"), "r.real is not known"),
        (ENTRY.replace("r == 0", "__import__('os') == 0"), "is not known"),
        (ENTRY.replace("r == 0", "2 ** 9999999 > r"), "is not known"),
        (ENTRY.replace("r == 0", "a > 0"), "compares an array"),
    ],
)
def test_a_spoilt_file_is_refused_by_name(listed, text, says):
    with pytest.raises(InvalidArgumentError, match=says):
        judged(listed(text))


def test_a_missing_file_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"no\.toml.*No such file"):
        judged("no.toml")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("r == 0 and len(a) > 2", True),
        ("not (r == 0) or k > 2", False),
        ("0 <= r < 1 <= len(a) - 1", True),
        ("k > len(a)", False),  # k is None: of nothing, nothing is true
        ("dtype(a) == 'float32'", True),
        ("min(a) == -1.0 and max(a) / 2 == 1", True),
        ("columns(a) % 2 != 1", False),
        ("m > 1", False),
    ],
)
def test_conditions(text, holds):
    given = {"a": np.array([-1, 0, 2], dtype=np.float32), "r": 0.0, "k": None}
    assert condition.holds(text, given) is holds


def test_every_entry_says_which_problems(listed):
    text = ENTRY + ENTRY.replace('"extremes"', '["scales", "ties/ties"]')
    found = known_failures.read(listed(text))
    assert [known.key for _, known in found] == ["extremes", "scales", "ties/ties"]
    assert {names for names, _ in found} == {frozenset({PROBLEM})}


def test_the_command(listed, tmp_path):
    (tmp_path / "known_to_fail.py").write_text(
        "import numpy as np\nfrom fast.sets.simplex import project as right\n\n\n"
        "def divides(a, r=1.0, rho=0.0):\n"
        "    return np.full_like(a, np.nan) if r == 0 else right(a, r=r, rho=rho)\n"
    )
    line = (
        f"verify --problem {PROBLEM} --solver known_to_fail:divides --check extremes --no-isolate"
    )
    words = [*shlex.split(line), "--json"]
    assert CliRunner().invoke(app, words).exit_code == 1
    done = CliRunner().invoke(app, [*words, "--xfail", listed(ENTRY)])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["xfail"][0]["failed"] > 0
    fixed = CliRunner().invoke(app, [*words[:3], "--check", "extremes", "--xfail", "xfail.toml"])
    assert fixed.exit_code == 1
    assert "XPASS" in fixed.stdout
    spoilt = CliRunner().invoke(app, [*words, "--xfail", listed("[[xfail]]")])
    assert spoilt.exit_code == 2


def test_in_pytest(pytester):
    pytester.makefile(".toml", xfail=ENTRY)
    pytester.makepyfile(
        f"""
        import numpy as np
        import verification
        from fast.sets.simplex import project as right

        def divides(a, r, rho):
            return np.full_like(a, np.nan) if r == 0 else right(a, r=r, rho=rho)

        mark = verification.parametrize("{PROBLEM}", checks=["extremes"], xfail="xfail.toml")

        @mark
        def test_known(case):
            case.run(divides)

        @mark
        def test_repaired(case):
            case.run(right)
        """
    )
    own = ("-p", "verification.pytest_plugin", "-p", "no:cacheprovider", "--junitxml", "out.xml")
    found = pytester.runpytest_inprocess(*own)
    about = sum(bool(c.xfail) for c in cases(PROBLEM, checks=["extremes"], xfail="xfail.toml"))
    outcomes = found.parseoutcomes()
    assert outcomes["xfailed"] == outcomes["failed"] == about > 0
    run = pytester.runpytest_inprocess(*own, "--runxfail", "-k", "known")
    assert run.parseoutcomes()["failed"] == about
    found.stdout.fnmatch_lines(["*XPASS(strict)*XPASS: extremes when r == 0*xfail.toml*"])
    said = (pytester.path / "out.xml").read_text(encoding="utf-8")
    assert "divides by r, issue 12" in said
