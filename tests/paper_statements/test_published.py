"""The published counterexamples and errata, by the numbers that are printed of them; the tables as they are printed."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from verification.paper_statements import _logs, claims, risk, try_claim
from verification.paper_statements.mohapatra_2014 import losses, tables
from verification.paper_statements.xu_2016 import tables as times

COUNTEREXAMPLES = [
    ("lapin_2015", "Algorithm 1, loss (3) as printed",
     {"least_primal": "8/15", "largest_dual": "2/15", "attained_dual": "2/15"}),
    ("mohapatra_2014", "Algorithm 1 as printed", {"objective": "-39/2", "largest": 0, "ranks": [1]}),
    ("mohapatra_2014", "Algorithm 3 as our scan reads", {"objective": 0, "largest": "3/2"}),
    ("mohapatra_2014", "AP of equal scores, by thresholds", {"value": "2/3", "largest": "7/12"}),
    ("mohapatra_2014", "Section 3.3, hinge loss 0", {"slack": "1/18"}),
    ("mohapatra_2014", "Problem (10), minimum", {"w": 1, "infimum": "1/2"}),
    ("mohapatra_2014", "Problem (10), bound", {"xi": 0, "loss": "1/6"}),
    ("xu_2016", "Equation (3), xi >= 0 as printed",
     {"without": "219/467", "kept": "68/145", "xi": ["-1/467", "59/467"]}),
    ("xu_2016", "Footnote 1 as printed", {"ray": ["1/2", "1/2"]}),
    ("xu_2016", "Problem (3), falling back to an SVM", {"w": [0], "svm": ["1/3"]}),
    ("xu_2016", "Algorithm 1, step 3 as printed", {"w": ["22/13"], "boxed_w": [1]}),
    ("xu_2016", "Equation (5), any kernel", {"ray": ["1/4", "1/2", "1/4"]}),
    ("xu_2016", "Equation (4), any kernel", {"curvature": "-6/5"}),
    ("xu_2016", "Problem (3), weights near 0", {"with_": "3/2", "without": "3/8"}),
]  # fmt: skip
#: Of xu_2016: what an erratum refutes, and what is true instead.
ERRATA = [
    ("X1", "Equation (3), xi >= 0 as printed", "Equation (3), when xi >= 0 is harmless"),
    ("X2", "Section 3, n variables by the square", "Equation (2) with b = 0"),
    ("X3", "Footnote 1 as printed", "Footnote 1, dual"),
    ("X4", "Problem (3), falling back to an SVM", "Problems (1) and (3), collapse"),
    ("X5", "Algorithm 1, step 3 as printed", "Algorithm 1, an inactive box"),
    ("X6", "Equation (5), any kernel", "Equation (5)"),
    ("X7", None, "Equation (14), b"),
    ("X8", "Equation (4), any kernel", "Problem (3), one class"),
    ("X8", "Problem (3), weights near 0", "Equation (5), weighted"),
    ("X9", None, "Table 4, what it compares"),
]


def row(paper, number):
    return next(claim for _, claim in claims(paper) if claim.number == number)


@pytest.mark.parametrize(("paper", "number", "facts"), COUNTEREXAMPLES)
def test_the_published_counterexamples(paper, number, facts):
    found = try_claim(row(paper, number), paper=paper, instances=1).to_dict()["counterexample"]
    assert {name: found[name] for name in facts} == facts


@pytest.mark.parametrize(("erratum", "refuted", "true"), ERRATA)
def test_every_erratum_has_its_claims(erratum, refuted, true):
    assert row("xu_2016", true).expected in {"verified", "repaired"}
    if refuted is not None:
        assert row("xu_2016", refuted).expected == "refuted"


def test_the_tables_are_those_of_the_paper():
    # Sums of the columns of Table 1 and of the rows of Tables 2 and 3.
    columns = [sum(column) for column in zip(*tables.TABLE_1.values(), strict=True)]
    assert [float(v) for v in columns] == [479.34, 511.96, 508.88, 502.58, 491.51]
    totals = [sum(row) for row in zip(*tables.TIMES.values(), strict=True)]
    assert [float(v) for v in totals] == [1.0395, 25.242]


def test_rounding_of_printed_numbers():
    assert times.rounded("867.6") == (Fraction("867.55"), Fraction("867.65"))
    assert times.rounded("17") == (Fraction("16.5"), Fraction("17.5"))
    low, high = times.quotients("SVM1+", "SVM2+")[0]
    assert low < Fraction("867.6") / Fraction("7.847") < high
    assert float(high - low) < 0.03


# ---- of the helpers, what the ledger's own wrong statements do not reach


@pytest.mark.parametrize("seed", range(12))
def test_the_ap_by_thresholds_is_the_one_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    labels = (1, *(int(v) for v in rng.integers(0, 2, 9)))
    scores = [Fraction(int(v)) for v in rng.integers(0, 4, 10)]
    theirs = average_precision_score(labels, [float(v) for v in scores])
    assert float(losses.by_thresholds(labels, scores)) == pytest.approx(theirs, rel=1e-13)


def test_what_cannot_be_decided_raises():
    log = _logs.log(2)
    with pytest.raises(ArithmeticError, match="not decided"):
        (log - Fraction(str(log.decimal()))).sign()
    with pytest.raises(TypeError):
        hash(log)
    half = Fraction(1, 2)
    found = risk.minimisers([half, half], [risk.hinge_alpha_pieces(2, 1, y) for y in (0, 1)])
    with pytest.raises(ValueError, match="not unique"):
        risk.wrong_pair(found, [half, half], 1)
