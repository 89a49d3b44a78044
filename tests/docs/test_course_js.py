"""What the figures of the course compute passes the kit, from outside: node docs/solvers/solver.mjs."""

import shutil
from pathlib import Path

import pytest

from verification import external, verify

SOLVER = Path(__file__).resolve().parents[2] / "docs" / "solvers" / "solver.mjs"
# The simplex and softmax, with the rest of the checks, are in tests/verification/external.
PROBLEMS = {
    "topk_simplex_alpha.projection": "ground_truth",
    "topk_simplex_beta.projection": "ground_truth",
    "topk_cone.projection": "ground_truth",
    "topk_hinge_alpha.value": "ties",
    "smooth_topk_hinge_beta.value": "fenchel_young",
    "topk_entropy_beta.value": "ties",
    "topk_hinge_beta.gradient": "ties",
    "smooth_topk_hinge_alpha.gradient": "scales",
    "topk_entropy_alpha.gradient": "scales",
    "truncated_topk_entropy.gradient": "ties",
    "topk_entropy_alpha.conjugate": "scales",
    "smooth_topk_hinge_beta.prox": "ties",
    "topk_hinge_alpha.sdca_update": "ground_truth",
    "softmax.sdca_update": "saturation",
    "topk_entropy_beta.sdca_update": "saturation",
    "topk_entropy_alpha.prox": "ties",
    "average_precision.value": "ground_truth",
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_arithmetic_of_the_figures_passes_the_kit(problem: str) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    with external(["node", str(SOLVER)], problem=problem) as solver:
        report = verify(solver, problem, checks=[PROBLEMS[problem]])
    assert report.ok, report.summary()
    assert report.counts["skipped"] == 0
    assert report.checked >= 40
