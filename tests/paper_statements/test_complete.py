"""Nothing that the papers number is passed over, and no row names a number that they do not have."""

import re
import shlex
from collections import Counter
from dataclasses import replace

import pytest
from _commands import run

from verification.paper_statements import (
    VOICES,
    Edition,
    _ledger,
    _numbered,
    claims,
    items,
    missing,
    named,
    papers,
    undeclared,
    unknown,
    unnumbered,
)

#: Last number of each kind in each edition, counted in the papers.
NUMBERS = {
    "lapin_2015": [
        "Theorem 1, Proposition 4, Lemma 5, Definition 2, Algorithm 1, Equation 7, Table 1, Figure 2, Footnote 2"
    ],
    "lapin_2016": [
        "Proposition 11, Lemma 2, Definition 1, Equation 18, Table 4, Figure 2, Footnote 5",
        "Proposition 12, Lemma 3, Definition 1, Equation 25, Table 24, Figure 4, Footnote 5",
    ],
    "later_work": [""],
    "mohapatra_2014": ["Proposition 1, Algorithm 3, Equation 10, Table 3, Figure 1"],
    "xu_2016": ["Proposition 1, Algorithm 1, Equation 14, Table 4, Footnote 6"],
}
#: How many rows come out verified, refuted, repaired: one that is lost, or turned, is missed.
ROWS = {
    "lapin_2015": (24, 13, 15),
    "lapin_2016": (44, 23, 33),
    "later_work": (12, 1, 0),
    "mohapatra_2014": (19, 21, 28),
    "xu_2016": (14, 12, 21),
}
#: Refuted rows that the paper asserts, that it implies, that are our own questions, that a later paper asserts.
REFUTED = {
    "lapin_2015": (10, 2, 1, 0),
    "lapin_2016": (11, 6, 6, 0),
    "later_work": (0, 0, 1, 0),
    "mohapatra_2014": (7, 4, 10, 0),
    "xu_2016": (3, 3, 6, 0),
}


@pytest.mark.parametrize("paper", papers())
@pytest.mark.parametrize("wanting", [missing, undeclared, unknown])
def test_numbers_without_a_row_and_rows_without_a_number_are_none(wanting, paper):
    assert wanting(paper) == []


@pytest.mark.parametrize("paper", papers())
def test_the_lists_hold_the_numbers_of_the_papers(paper):
    found = [
        {f"{kind} {last}" for kind, last in edition.last.items()}
        for edition in _numbered.editions(paper)
    ]
    assert found == [set(filter(None, text.split(", "))) for text in NUMBERS[paper]]


@pytest.mark.parametrize("paper", papers())
def test_no_row_is_lost(paper):
    found = Counter(row.expected for _, row in claims(paper))
    assert tuple(found[name] for name in ("verified", "refuted", "repaired")) == ROWS[paper]
    assert not found["open"]
    refuted = Counter(row.voice for _, row in claims(paper) if row.expected == "refuted")
    assert tuple(refuted[voice] for voice in VOICES) == REFUTED[paper]


@pytest.mark.parametrize("paper", papers())
def test_a_statement_is_the_subject_of_a_row_and_not_only_mentioned_in_one(paper):
    first, *_ = _numbered.editions(paper)
    kinds = {kind: n for kind, n in first.last.items() if kind in _numbered.STATEMENTS}
    numbers = [row.number for _, row in claims(paper)]
    for kind, last in kinds.items():
        for n in range(1, last + 1):
            assert any(re.match(rf"{kind} {n}(?!\d)", number) for number in numbers), (kind, n)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("Lemma 3, cases 1 and 2", ["Lemma 3"]),
        ("Proposition 3, k = 1 and loss (5)", ["Proposition 3", "Equation (5)"]),
        ("Equations (2)-(4), one-vs-all", ["Equation (3)", "Equation (2)", "Equation (4)"]),
        ("Tables 2 and 3, iterations", ["Table 2", "Table 3"]),
        ("Algorithms 1, 2 and 3", ["Algorithm 1", "Algorithm 2", "Algorithm 3"]),
        ("Proposition 1, equations (3) and (4)", ["Proposition 1", "Equation (3)", "Equation (4)"]),
        ("Section 3, V(t) = W(e^t)", []),
        ("Section 2.5, ranking losses", []),
    ],
)
def test_the_numbers_in_the_name_of_a_row(number, expected):
    assert named(number) == expected


def rows_without(monkeypatch, gone):
    """The ledger without the rows of which `gone` is true."""
    kept = [(paper, claim) for paper, claim in claims() if not gone(claim)]

    def fewer(paper=None, only=""):
        return [(name, claim) for name, claim in kept if paper in (None, name)]

    monkeypatch.setattr(_numbered, "claims", fewer)


@pytest.mark.parametrize(
    ("paper", "name", "lost"),
    [
        ("lapin_2015", "Theorem 1", ["Theorem 1"]),
        ("xu_2016", "Equation (12)", ["Equation (12)"]),
        ("mohapatra_2014", "Proposition 1", ["Proposition 1"]),
        # The printed Proposition 8 is Proposition 9 of the longer version, and states its (16).
        ("lapin_2016", "Proposition 8", ["Proposition 8", "Proposition 9 of the arXiv version"]),
    ],
)
def test_a_row_that_is_gone_is_missed(monkeypatch, paper, name, lost):
    rows_without(monkeypatch, lambda claim: name in named(claim.number))
    assert set(lost) <= set(missing(paper))


def test_a_reason_is_no_excuse_for_a_theorem(monkeypatch):
    edition = Edition({"Theorem": 1, "Figure": 1}, nothing={"Theorem 1": "long", "Figure 1": "-"})
    monkeypatch.setattr(_numbered, "editions", lambda paper: (edition,))
    monkeypatch.setattr(_numbered, "claims", lambda paper: [])
    assert missing("lapin_2015") == ["Theorem 1"]


def test_numbers_and_rows_that_do_not_exist_are_named(monkeypatch):
    edition = Edition(
        {"Lemma": 1, "Table": 2},
        stated_by={"Lemma 1": ("Lemma 9, corrected",), "Table 3": ()},
        nothing={"Table 1": "photographs"},
    )
    row = next(claim for _, claim in claims("lapin_2015"))
    given = [("p", replace(row, number=number)) for number in ("Lemma 2", "Table 1")]
    monkeypatch.setattr(_numbered, "editions", lambda paper: (edition,))
    monkeypatch.setattr(_numbered, "claims", lambda paper: given)
    found = "\n".join(unknown("p"))
    assert "row 'Lemma 2': no Lemma 2" in found
    assert "Table 3: not among the numbers" in found
    assert "Lemma 1: no row 'Lemma 9, corrected'" in found
    assert "Table 1: rows ('Table 1',), yet a reason" in found


def test_a_declaration_that_is_missing_or_does_not_exist_is_named(monkeypatch):
    edition = Edition(
        {"Lemma": 4, "Figure": 1},
        nothing={"Figure 1": "photographs"},
        declared={
            "Lemma 2": ["simplex.projection", "refsolve.formulas.top_sum"],
            "Lemma 3": ["simplex.prox", "refsolve.formulas.none"],
            "Lemma 4": "about matrices",
        },
    )
    monkeypatch.setattr(_numbered, "editions", lambda paper: (edition,))
    monkeypatch.setattr(_numbered, "claims", lambda paper: [])
    assert undeclared("lapin_2015") == [
        "Lemma 1", "Lemma 3: no simplex.prox", "Lemma 3: no refsolve.formulas.none"
    ]  # fmt: skip
    found = {item.name: item.calls or item.apart for item in items("lapin_2015")}
    assert found["Lemma 2"] == (
        'refsolve.problem("simplex.projection")', "refsolve.formulas.top_sum"
    )  # fmt: skip
    assert (found["Lemma 4"], found["Figure 1"]) == ("about matrices", "photographs")


def test_a_loss_of_several_pieces_is_solved_and_not_posed():
    assert _numbered.call("truncated_topk_entropy.value") == (
        'refsolve.solve("truncated_topk_entropy.value")'
    )


@pytest.mark.parametrize("paper", papers())
def test_every_row_is_in_the_table_once_or_more(paper):
    shown = {row for item in items(paper) for row in item.rows}
    shown |= {claim.number for claim in unnumbered(paper)}
    assert shown == {claim.number for _, claim in claims(paper)}


def test_both_printings_of_a_paper_are_listed():
    names = {(item.name, item.edition) for item in items("lapin_2016")}
    assert ("Proposition 11", "") in names
    assert ("Proposition 12", "") not in names
    assert ("Proposition 12", "of the arXiv version") in names


# ---------------------------------------------------------------------------- the printed commands


@pytest.mark.parametrize("paper", papers())
def test_each_printed_command_finds_its_row(paper):
    for name, claim in claims(paper):
        result = _ledger.try_claim(replace(claim, draw=None, witnesses=()), paper=name)
        words = shlex.split(result.command)
        assert words[:3] == ["refsolve", "claims", "--paper"]
        found = [row.number for _, row in claims(words[3], words[5])]
        assert claim.number in found
        assert not set("`$\\!").intersection(claim.number)  # nothing that a shell would expand


def test_a_number_is_not_the_beginning_of_another():
    found = {claim.number.partition(",")[0] for _, claim in claims("lapin_2016", "Proposition 1")}
    assert found == {"Proposition 1"}


def test_a_printed_command_runs():
    claim = next(row for _, row in claims("xu_2016") if row.number == "Footnote 2")
    words = shlex.split(_ledger.try_claim(claim, paper="xu_2016", instances=1).command)
    assert "Footnote 2" in run(*words[1:], "--instances", "2").output


def test_a_number_that_is_passed_over_ends_the_command_with_a_failure(monkeypatch):
    line = ["claims", "--paper", "xu_2016", "--instances", "1"]
    monkeypatch.setattr("verification.paper_statements.run_claims", lambda *a, **b: [ok])
    claim = next(row for _, row in claims("xu_2016") if row.number == "Table 4")
    ok = _ledger.try_claim(claim, paper="xu_2016", instances=1)
    run(*line)
    monkeypatch.setattr("verification.paper_statements.missing", lambda paper: ["Lemma 7"])
    assert "Lemma 7 has no row" in run(*line, code=1).output
    run(*line, "--only", "Table 4")


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "verification.paper_statements.run_claims", lambda *a, **b: pytest.fail("it ran")
    )
    bad = tmp_path / "missing" / "ledger.md"
    done = run("claims", "--markdown", bad, code=2)
    assert "--markdown" in done.output.replace("\n", "")


def test_the_table_is_written(tmp_path):
    file = tmp_path / "ledger.md"
    line = ["claims", "--paper", "xu_2016", "--only", "Table 4", "--markdown", str(file)]
    run(*line)
    text = file.read_text(encoding="utf-8")
    assert '`refsolve claims --paper xu_2016 --only "Table 4"`' in text
    assert "| Footnote 3 | a link to the data |" in text
