"""The scoreboard: what its families are, and that a false verdict or a weak certificate would show."""

import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def board() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        import scoreboard

        yield scoreboard
        for name in ("scoreboard", "scoreboard_families", "cvxpy_examples", "records"):
            sys.modules.pop(name, None)


def row(**given: Any) -> dict[str, Any]:
    return {"set": "families", "name": "x", "size": 1, "cone": "LP", "solver": "SCS", "said": "optimal",
            "residual": 1e-9, "status": "certified", "lower": 1.0, "upper": 1.0, "truth": 1.0} | given  # fmt: skip


def test_families_have_the_optimum_that_is_planted(board: Any) -> None:
    known = 0
    for family in board.scoreboard_families.FAMILIES:
        problem, truth = family.make(family.sizes[0], board.np.random.default_rng(7))
        assert problem.is_dcp(), family.name
        assert len(set(family.sizes)) == 3
        assert family.source
        if isinstance(truth, float):
            known += 1
            problem.solve(solver="CLARABEL")
            assert problem.value == pytest.approx(truth, rel=1e-5, abs=1e-6), family.name
    assert known >= 8
    assert len({f.cone for f in board.scoreboard_families.FAMILIES}) == 6


def test_examples_are_problems_that_certify_takes(board: Any) -> None:
    assert len(board.cvxpy_examples.EXAMPLES) >= 40
    for name, make in board.cvxpy_examples.EXAMPLES.items():
        problem = make()
        assert problem.is_dcp() or problem.is_dgp(), name


@pytest.mark.parametrize(
    "false",
    [
        {"lower": 1.1}, {"upper": 0.9}, {"status": "infeasible"}, {"truth": "infeasible"},
        {"truth": "unbounded", "status": "infeasible"},
    ],
)  # fmt: skip
def test_false_verdicts_are_seen(board: Any, false: dict[str, Any]) -> None:
    assert board.contradicted([row()]) == []
    assert len(board.contradicted([row(**false)])) == 1


def test_what_the_characters_mean(board: Any) -> None:
    for given, mark in (
        ({}, "●"), ({"status": "suboptimal"}, "✗"), ({"status": "inconclusive"}, "○"),
        ({"status": "feasible only to δ"}, "◐"), ({"said": "infeasible", "status": "infeasible"}, "∅"),
        ({"said": "failed", "status": "inconclusive"}, "–"),
        ({"said": "infeasible", "status": "inconclusive", "reason": "a feasible point exists"}, "!"),
    ):  # fmt: skip
        assert board.symbol(row(**given)) == mark
        assert mark in board.board([row(**given)])


def test_strength_counts_answers_with_small_residuals_to_solvable_problems(board: Any) -> None:
    rows = [row(), row(residual=1e-7), row(residual=None), row(truth="infeasible"),
            row(status="violated"), row(status="inconclusive"), row(said="user_limit")]  # fmt: skip
    assert board.strength(rows) == {"families": {"answers": 3, "certified": 1, "proven wrong": 1}}
    assert board.totals(rows).count("\n") == 1 + len(board.SOLVERS)
