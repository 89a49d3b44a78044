"""The ledger as a whole: every claim comes out as recorded, and could have come out otherwise."""

from __future__ import annotations

import pytest

from verification.claims import claims, try_claim

ROWS = claims()
WRONG = [(paper, row, name) for paper, row in ROWS for name in row.wrong]


@pytest.mark.parametrize(("paper", "row"), ROWS, ids=[f"{p}-{r.number}" for p, r in ROWS])
def test_a_claim_comes_out_as_recorded(paper, row):
    result = try_claim(row, paper=paper, seed=1)
    assert result.ok, (result.failure, result.counterexample)


@pytest.mark.parametrize(
    ("paper", "row", "name"), WRONG, ids=[f"{p}-{r.number}-{name}" for p, r, name in WRONG]
)
def test_a_wrong_statement_is_refuted(paper, row, name):
    result = try_claim(row.variant(name), paper=paper, stop_early=True)
    assert result.status == "refuted"
    assert not result.ok
    assert result.counterexample is not None
