"""The ledger as a whole: every claim comes out as recorded, and could have come out otherwise."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from verification.errors import InvalidArgumentError, VerificationFailedError
from verification.paper_statements import (
    Claim,
    claims,
    headline,
    papers,
    raise_if_failed,
    run_claims,
    to_markdown,
    try_claim,
)
from verification.selftest.errata import ERRATA

ROWS = claims()


def named(rows):
    return {"argvalues": rows, "ids": [f"{row[0]}-{row[1].number}-{row[2:]}" for row in rows]}


@pytest.mark.parametrize(("paper", "row"), **named(ROWS))
def test_a_claim_comes_out_as_recorded(paper, row):
    result = try_claim(row, paper=paper, seed=1, instances=max(1, row.instances // 4))
    assert result.ok, (result.failure, result.counterexample)
    assert result.instances >= 1
    if result.status == "refuted":
        assert result.counterexample["exact"]


@pytest.mark.parametrize(
    ("paper", "row", "name"), **named([(p, row, name) for p, row in ROWS for name in row.wrong])
)
def test_a_wrong_statement_is_refuted(paper, row, name):
    result = try_claim(row.variant(name), paper=paper, stop_early=True)
    assert result.status == "refuted"
    assert not result.ok
    assert result.counterexample is not None


@pytest.mark.parametrize(
    ("paper", "row"), **named([(p, row) for p, row in ROWS if row.expected == "refuted"])
)
def test_a_refuted_claim_fails_when_its_counterexample_is_none(paper, row):
    result = try_claim(row.righted(), paper=paper, instances=max(1, row.instances // 4))
    assert result.status == "verified", result.counterexample
    assert not result.ok
    assert "counterexample on record" in result.failure
    with pytest.raises(VerificationFailedError, match="counterexample on record"):
        raise_if_failed([result])


@pytest.mark.parametrize(("paper", "row"), **named(ROWS))
def test_every_row_says_how_it_could_fail(paper, row):
    assert row.statement
    assert row.method
    if row.expected == "refuted":
        assert row.witnesses
        assert row.right
        assert set(row.right) <= set(row.says)
    else:
        assert row.wrong
        assert row.draw is not None
        assert row.instances > 0
        assert all(set(contents) <= set(row.says) for contents in row.wrong.values())


def test_numbers_are_unique_and_papers_found_by_their_folders():
    assert len({(paper, row.number) for paper, row in ROWS}) == len(ROWS)
    assert {paper for paper, _ in ROWS} == set(papers())
    assert all(paper.title for paper in papers().values())


def test_an_erratum_is_known_and_its_row_no_verified_one():
    errata = {row.erratum: row.expected for _, row in ROWS if row.erratum}
    assert len(errata) >= 11
    assert set(errata) <= set(ERRATA)
    assert set(errata.values()) == {"refuted", "repaired"}


def test_rows_stand_in_the_order_of_the_sections():
    for paper in papers():
        sections = [[int(v) for v in row.section.split(".")] for _, row in claims(paper)]
        assert sections == sorted(sections)


# ------------------------------------------------------------------------------ the machinery


def above(trial, *, x, bound):
    trial.exactly(x > bound, "x is too small", excess=x - bound)


def claim(**changes):
    given = {
        "number": "Proposition 0",
        "section": "1",
        "statement": "x > bound",
        "method": "comparison",
        "expected": "verified",
        "check": above,
        "draw": lambda rng: {"x": Fraction(int(rng.integers(1, 9)), 3)},
        "says": {"bound": 0},
        "instances": 20,
        "voice": "ours",
    }
    return Claim(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"voice": None}, "'Proposition 0': voice=None: expected one of asserted, implied, ours, later"),
        ({"voice": "said"}, "voice='said'"),
        ({"voice": "implied", "expected": "repaired"}, "a repaired statement is ours"),
        ({"voice": "implied", "expected": "refuted"}, "quote='': expected the paper's words"),
        ({"quote": "x > b"}, "quote='x > b': expected the paper's words if they are refuted"),
        ({"quote": "x > b", "expected": "refuted"}, "quote='x > b'"),
        (
            {"quote": "x > b", "expected": "refuted", "voice": "asserted"},
            "witness='': expected one of words, printings, repeated, characters for a quote",
        ),
        ({"witness": "words"}, "witness='words'"),
        ({"apart": "dull"}, "apart='dull'"),
    ],
)
def test_a_claim_says_whose_statement_it_is(changes, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        claim(**changes)


def test_a_row_has_its_own_text_and_the_code_of_the_one_it_is_made_from():
    text = {"section": "2", "statement": "x > 3", "method": "comparison", "voice": "ours"}
    first = claim(text=lambda number: {"number": number, **text}, right={"bound": 3})
    for other in (first.also("Proposition 1", says={"bound": 3}), first.corrected("Proposition 1")):
        assert (other.number, other.section, other.statement) == ("Proposition 1", "2", "x > 3")
        assert (other.check, other.draw, other.says) == (first.check, first.draw, {"bound": 3})
    assert first.corrected().number == "Proposition 0, corrected"
    assert claim(voice=None, expected="repaired").voice == "ours"
    with pytest.raises(
        InvalidArgumentError, match=r"number='Lemma 9': no row of statements\.toml in lapin_2015"
    ):
        ROWS[0][1].also("Lemma 9")


@pytest.mark.parametrize("paper", papers())
def test_every_row_on_record_is_tried(paper):
    assert sorted(papers()[paper].rows) == sorted(row.number for _, row in claims(paper))


def test_the_headline_counts_what_the_paper_asserts_apart():
    said = [claim(voice="asserted"), claim(), claim(expected="repaired", voice=None)]
    quoted = {"quote": "x > b", "witness": "words"}
    said += [claim(voice="asserted", **quoted, says={"bound": 9}, expected="refuted")]
    said += [claim(apart="numbers")]
    assert headline([try_claim(row) for row in said]) == (
        "4 statements: 2 asserted by the papers (1 verified, 1 refuted); 0 implied; "
        "2 our own (1 verified, 1 repaired); 0 by later papers. Besides, 1 rows of arithmetic on "
        "printed numbers (1 verified). On the instances of 0 rows our declaration and our fast function are "
        "evaluated, too."
    )


def test_status_follows_from_the_evidence_alone():
    assert try_claim(claim()).status == "verified"
    assert try_claim(claim(expected="repaired")).status == "repaired"
    wrong = try_claim(claim(says={"bound": 1}))
    assert wrong.status == "refuted"
    assert "came out refuted, expected verified" in wrong.failure
    assert 0 < wrong.violations < wrong.instances == 20
    x, excess = (Fraction(wrong.counterexample[name]) for name in ("x", "excess"))
    assert x <= 1
    assert excess == x - 1


def test_a_claim_that_decided_nothing_is_open():
    silent = claim(check=lambda trial, **given: None)
    assert try_claim(silent).status == "open"
    assert not try_claim(silent).ok
    assert try_claim(claim(draw=None)).status == "open"
    assert try_claim(replace(silent, expected="open")).ok


def test_what_the_statement_is_not_about_is_no_instance():
    def only_large(trial, *, x, bound):
        trial.nothing_claimed()
        if x > 1:
            above(trial, x=x, bound=bound)

    result = try_claim(claim(check=only_large))
    assert result.status == "verified"
    assert 0 < result.instances < 20
    assert result.undecided == 0
    for seed in range(5):  # one that counts is looked for
        assert try_claim(claim(check=only_large), seed=seed, instances=1).instances == 1
    none = try_claim(claim(check=only_large, draw=lambda rng: {"x": Fraction(1)}))
    assert (none.status, none.instances) == ("open", 0)
    assert not none.ok


def test_a_refutation_in_floating_point_only_is_not_accepted():
    def rough(trial, *, x, bound):
        trial.within(float(x) - 10, 1e-9, "x is not 10")

    result = try_claim(claim(check=rough, expected="refuted"))
    assert result.status == "refuted"
    assert not result.ok
    assert "rational" in result.failure


def test_a_certificate_that_is_not_a_number_contradicts():
    def broken(trial, *, x, bound):
        trial.within(float("nan"), 1e-9, "no number")

    assert try_claim(claim(check=broken)).status == "refuted"
    assert json.dumps(try_claim(claim(check=broken)).to_dict(), allow_nan=False)


def test_one_witness_that_contradicts_does_not_speak_for_another():
    both = claim(
        expected="refuted", witnesses=({"x": Fraction(-1)}, {"x": Fraction(1)}), instances=0
    )
    assert "counterexample on record" in try_claim(both).failure
    assert try_claim(replace(both, witnesses=both.witnesses[:1])).ok


def test_an_error_in_a_check_names_the_claim_and_the_instance():
    def failing(trial, *, x, bound):
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError) as caught:
        try_claim(claim(check=failing), paper="somebody_2000")
    assert "somebody_2000 Proposition 0" in "".join(caught.value.__notes__)


def test_the_seed_decides_the_instances():
    results = [try_claim(claim(says={"bound": 1}), seed=seed) for seed in (0, 0, 1, 2, 3)]
    found = [result.violations for result in results]
    assert found[0] == found[1]
    assert len(set(found)) > 1


# ------------------------------------------------------------------------------ running and showing


@pytest.fixture(scope="module")
def results():
    return run_claims("lapin_2016", seed=3, instances=2, only="Equation (16)")


def test_a_run_reports_its_progress(results):
    seen = []
    told = {"only": "Equation (16)", "progress": lambda *step: seen.append(step)}
    again = run_claims("lapin_2016", seed=3, instances=2, **told)
    total = len(claims("lapin_2016", "Equation (16)"))
    assert total >= 3
    assert [step[:2] for step in seen] == [(done, total) for done in range(total + 1)]
    assert all(step[2].startswith("lapin_2016 ") for step in seen[:-1])
    # CVXPY's answers may differ in their last bits, so that certificates do; counts may not.
    count = [(r.number, r.status, r.instances, r.violations, r.counterexample) for r in results]
    assert count == [
        (r.number, r.status, r.instances, r.violations, r.counterexample) for r in again
    ]


def test_a_run_can_be_confined_to_some_numbers():
    found = run_claims(only="Lemma 1", instances=1)
    assert len({r.paper for r in found}) == 2
    assert all("Lemma 1" in r.number for r in found)


def test_results_are_json(results):
    back = json.loads(json.dumps([r.to_dict() for r in results], allow_nan=False))
    refuted = next(r for r in back if r["number"] == "Equation (16) with (10) as printed")
    assert refuted["counterexample"]["least_primal"] == "43/136"
    assert refuted["counterexample"]["largest_dual"] == "2/17"
    assert refuted["counterexample"]["problem"]["lam"] == "1/10"


def test_markdown_has_a_line_per_claim_and_escapes_formulas(results):
    text = to_markdown(results)
    lines = [line for line in text.splitlines() if line.startswith("| ") and "§" in line]
    assert len(lines) == len(results)
    unescaped = [line.replace("\\|", "") for line in lines]
    assert all(line.count("|") == 10 for line in unescaped)
    assert all(r.command in line for r, line in zip(results, unescaped, strict=True))
    assert "43/136" in text
    assert "**unexpected**" not in text
    bad = replace(results[0], ok=False, failure="came out otherwise")
    assert "**unexpected**: came out otherwise" in to_markdown([bad])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paper": "nobody_1900"}, "nobody_1900.*lapin_2015"),
        ({"seed": -1}, "seed=-1"),
        ({"instances": 0}, "instances=0"),
        ({"only": "Theorem 99"}, "Theorem 99"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InvalidArgumentError, match=message):
        run_claims(**arguments)


def test_no_result_is_no_success():
    with pytest.raises(VerificationFailedError, match="nothing is verified"):
        raise_if_failed([])


# ------------------------------------------------------------------------------- the product


@pytest.fixture(scope="module")
def every():
    return [try_claim(row, paper=paper, instances=1) for paper, row in ROWS]


def test_rows_without_the_product_say_why_and_printed_numbers_are_counted_apart(every):
    results = every
    apart = {(r.paper, r.number): r.apart for r in results if not r.product}
    assert all(apart.values())
    assert sum(why == "numbers" for why in apart.values()) == 39
    assert sum(bool(r.product) for r in results) >= 190
    for r in results:
        if r.product:
            assert any(what.startswith("fast.") for what in r.product)
            assert any(what.startswith("refsolve") for what in r.product)
    assert "39 rows of arithmetic on printed numbers" in headline(results)


@pytest.mark.parametrize(
    ("module", "name", "wrong", "rows"),
    [
        ("refsolve.losses.topk_hinge_alpha", "value", lambda z, k=1: 1.01 * z[0], 30),
        ("fast.losses.topk_hinge_alpha", "value", lambda f, y, k=1, **more: 0.1, 30),
        ("refsolve.losses.average_precision", "value", lambda z, y: z[0], 30),
        ("fast.losses.average_precision", "value", lambda scores, y: 0.1, 30),
        ("fast.sets.topk_cone", "project", lambda a, k, rho=0.0: a, 8),
        ("refsolve.sets.topk_cone", "constraints", lambda x, k: [x >= 1], 8),
        ("fast.svm_plus.deformed_kernel", "deformed_kernel", lambda **given: given["Z"], 20),
        ("refsolve.models.svm_plus_squared_hinge", "deformed_kernel", lambda **given: 0.0, 20),
        ("refsolve.models.multiclass_erm", "primal", lambda *args, **given: 0.1, 5),
    ],
)
def test_a_wrong_declaration_and_a_wrong_fast_function_make_rows_fail(
    monkeypatch, every, module, name, wrong, rows
):
    """Of the rows that evaluate the object."""
    import importlib

    own = module.rpartition(".")[2]
    asks = {(r.paper, r.number) for r in every if any(own in what for what in r.product)}
    monkeypatch.setattr(importlib.import_module(module), name, wrong)
    failed = 0
    for paper, row in ROWS:
        if failed < rows and not row.apart and (paper, row.number) in asks:
            result = try_claim(row, paper=paper, instances=1)
            failed += not result.ok and name in result.failure
    assert failed == rows
