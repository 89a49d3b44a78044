"""The example solvers of the documentation: right ones pass, and their wrong twins do not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from verification import certificates, external, verify
from verification.kit.solver_call import Caller

SOLVERS = Path(__file__).resolve().parents[3] / "docs" / "solvers"


def build(compiler, arguments, target):
    """Compile, if there is a compiler."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    done = subprocess.run(
        [compiler, *arguments, "-o", target], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "no warnings"
    return [str(target)]


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Commands of the solvers by name, built when they are asked for."""
    folder = tmp_path_factory.mktemp("solvers")
    built = {}

    def command(name):
        if name not in built:
            built[name] = make(name)
        return built[name]

    def make(name):
        strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror", str(SOLVERS / "solver.cpp")]
        if name == "C++":
            return build("g++", strict, folder / "solver")
        if name == "C++ in float":
            return build("g++", [*strict, "-DSUM=float"], folder / "solver_float")
        if name == "Rust":
            return build("rustc", [str(SOLVERS / "solver.rs")], folder / "solver_rust")
        if name in ("JavaScript", "JavaScript sorting words"):
            if shutil.which("node") is None:
                pytest.skip("node is not installed")
            return ["node", str(SOLVERS / ("solver.mjs" if name == "JavaScript" else "wrong.mjs"))]
        if name == "torch":
            pytest.importorskip("torch")
            return [sys.executable, str(SOLVERS / "solver_torch.py")]
        return [sys.executable, str(SOLVERS / "solver.py")]

    return command


HARD = ["ground_truth", "extremes", "lengths", "batch"]
RIGHT = [
    ("C++", "topk_simplex_alpha.projection", None),
    ("C++", "simplex.projection", HARD),
    ("Rust", "simplex.projection", HARD),
    ("JavaScript", "simplex.projection", HARD),
    ("JavaScript", "softmax.value", None),
    ("numpy", "simplex.projection", HARD),
    ("torch", "simplex.projection", HARD),
]


@pytest.mark.parametrize(("language", "problem", "checks"), RIGHT)
def test_right_solvers_pass(commands, language, problem, checks):
    with external(commands(language), problem=problem) as solver:
        report = verify(solver, problem, checks=checks)
    assert report.ok, report.summary()
    checks = report.by_check()
    expected = checks.keys() & {"batch", "shapes", "concurrency", "history", "distributions"}
    skipped = [checks[name]["skipped"] for name in expected]
    assert report.counts["skipped"] == sum(skipped) > 0, "batches, threads, what takes too long"
    assert report.checked > 250


WRONG = [("C++ in float", "simplex.projection"), ("JavaScript sorting words", "simplex.projection")]


@pytest.mark.parametrize(("language", "problem"), WRONG)
def test_wrong_twins_fail_with_a_counterexample(commands, language, problem):
    """The answers are wrong, the status says optimal, and the code shown fails again."""
    with external(commands(language), problem=problem) as solver:
        report = verify(solver, problem, checks=["ground_truth", "scales", "certified_gap"])
        assert report.counts["fail"] > 0
        assert report.counts["crash"] == 0
        smallest = report.counterexample_result.instance
        assert smallest["a"].size <= 4
        call = Caller(solver, solver.problem)
        assert not certificates.judge(smallest, call(smallest)).ok
    assert "external([" in report.counterexample


def test_a_batch_and_large_arrays_are_declined_or_read(commands):
    """The C++ solver reads no files and is asked again without; numpy reads them."""
    large = np.random.default_rng(1).normal(size=5000)
    with external(commands("C++"), problem="simplex.projection") as solver:
        x = solver(large)
        assert solver.npz is None
    with external(commands("numpy"), problem="simplex.projection") as solver:
        y = solver(large)
        assert solver.npz is not None
    assert x.size == 5000
    assert np.abs(x - y).max() <= 5000 * np.finfo(float).eps
    assert not os.path.exists("solver"), "nothing is built beside the sources"
