"""JUnit XML of `verify` runs: a suite per problem, a test case per (check, family of instances).

The layout is the one that Jenkins, GitLab, GitHub's actions and others read: ``testsuites`` holds
``testsuite`` (``properties``, then ``testcase``, then ``system-out``), a case holds at most one of
``failure``, ``error`` and ``skipped``. A case is

    error     a crash or a timeout, and nothing was proved wrong
    failure   a wrong answer, an unexpected pass, or a small instance that is inconclusive
    skipped   nothing was judged (skipped, inconclusive), or it failed as expected
    passed    otherwise; what of it was not judged stands in its output and in the properties
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

from verification.failures.run_command import command
from verification.report.document import number, tally
from verification.report.environment import versions
from verification.report.page import visible
from verification.verdicts.run import Run
from verification.verdicts.verdict import Verdict

_ERRORS = (Verdict.CRASH, Verdict.TIMEOUT)


def render_junit(reports: Sequence[Run]) -> str:
    """The XML of some runs."""
    root = ET.Element("testsuites")
    suites = [_suite(report, i) for i, report in enumerate(reports)]
    root.extend(suites)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _clean(text: str) -> str:
    """Text that XML can hold: no control characters, no surrogates, no non-characters."""
    return visible(text).translate(dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd"))


def _suite(report: Run, place: int) -> ET.Element:
    start = datetime.now(UTC) - timedelta(seconds=report.elapsed)
    suite = ET.Element(
        "testsuite",
        name=_clean(report.problem),
        id=str(place),
        package="refsolve",
        timestamp=start.strftime("%Y-%m-%dT%H:%M:%S"),
        hostname="localhost",
        time=f"{report.elapsed:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(report).items():
        ET.SubElement(properties, "property", name=_clean(name), value=_clean(value))
    cases = [
        _case(report, check, family, counts)
        for (check, family), counts in report.tally.by_family.items()
    ]
    if report.checked == 0:
        nothing = ET.Element("testcase", name="something is judged", classname=report.problem)
        nothing.set("time", "0")
        message = "nothing was judged, which counts as a failure"
        ET.SubElement(nothing, "failure", message=message, type="nothing judged").text = message
        cases.append(nothing)
    suite.extend(cases)
    if report.counterexample:
        ET.SubElement(suite, "system-out").text = _clean(report.counterexample)
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    return suite


def _properties(report: Run) -> dict[str, str]:
    found = {
        "candidate": report.candidate,
        "profile": report.profile,
        "seed": str(report.seed),
        "command": command(report),
        "judged": str(report.checked),
        "worst gap or distance of a pass over its tolerance": number(report.worst_ratio),
    }
    found |= {f"results: {name}": str(n) for name, n in report.counts.items()}
    found |= {f"version: {name}": text for name, text in versions().items()}
    return found


def _case(report: Run, check: str, family: str, counts: Mapping[str, int]) -> ET.Element:
    figures = report.tally.figures[check, family]
    case = ET.Element(
        "testcase",
        name=_clean(f"{check}[{family or '-'}]"),
        classname=_clean(report.problem),
        time=f"{figures.seconds:.3f}",
    )
    shown = f"{tally(counts)}; worst gap or distance over its tolerance: {number(figures.worst)}"
    found = {Verdict(name) for name, n in counts.items() if n}
    bad = [v for v in Verdict if v in found and v.is_bad]
    if bad:
        # what was proved wrong comes before what did not answer
        verdict = next((v for v in bad if v not in _ERRORS), bad[0])
        kind = "error" if verdict in _ERRORS else "failure"
        mine = [r for r in report.failures if (r.check, r.family) == (check, family)]
        first = next((r for r in mine if r.verdict is verdict), None)
        message = "" if first is None else first.message
        node = ET.SubElement(case, kind, type=verdict.value)
        node.set("message", _clean(f"{tally(counts)}: {message}"))
        lines = [f"{r.verdict}: {r.message}" for r in mine[:5]]
        smallest = report.counterexample_result
        if smallest is not None and (smallest.check, smallest.family) == (check, family):
            lines += ["", report.counterexample or ""]
        node.text = _clean("\n".join(lines))
    elif undecided := report.undecided_line(check, family):
        node = ET.SubElement(case, "failure", type=Verdict.INCONCLUSIVE.value)
        node.set("message", _clean(undecided))
    elif not any(v.judges for v in found) or Verdict.EXPECTED_FAILURE in found:
        order = (Verdict.EXPECTED_FAILURE, Verdict.INCONCLUSIVE, Verdict.SKIPPED)
        verdict = next(v for v in order if v in found)
        said = report.tally.reasons.get((verdict.value, check), {})
        known = report.known_lines(check) if verdict is Verdict.EXPECTED_FAILURE else []
        reason = "; ".join(known) or next(iter(said), "as announced by xfail")
        node = ET.SubElement(case, "skipped", type=verdict.value)
        node.set("message", _clean(f"{tally(counts)}: {reason}"))
    ET.SubElement(case, "system-out").text = _clean(shown)
    return case
