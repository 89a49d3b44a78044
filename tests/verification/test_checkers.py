"""check.c and check.js accept right certificates, and refuse every wrong one."""

import re
import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal, localcontext

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import refsolve
from fast import (
    MultilabelClassifier,
    OneVsAllClassifier,
    TopKLogisticRegression,
    TopKSVC,
    certificates,
)
from fast.errors import InvalidParameterError, UnreadableError
from refsolve.cones import ConeProgram
from refsolve.cones.travelling import Proof
from refsolve.errors import InvalidParameterError as RefsolveParameterError
from verification import checkers
from verification.checkers import programs, trials
from verification.cli import app

PROGRAMS = {"C": "cc", "JavaScript": "node"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return checkers.commands(tmp_path_factory.mktemp("built"))


@pytest.fixture(params=PROGRAMS)
def command(request, built):
    if request.param not in built:
        pytest.skip(f"{PROGRAMS[request.param]} is not installed")
    return built[request.param]


def accepted(lines):
    return [line.startswith("accepted bound=") for line in lines]


def test_right_certificates_are_accepted(command, tmp_path):
    files = [tmp_path / f"{i}.cert" for i in range(30)]
    for i, file in enumerate(files):
        trials.right(np.random.default_rng([3, i])).save(file)
    lines = checkers.verdicts(command, files)
    assert all(accepted(lines)), lines


@pytest.mark.parametrize("seed", range(4))
def test_wrong_certificates_are_refused(command, tmp_path, seed):
    rng = np.random.default_rng([4, seed])
    given = trials.right(rng, tol=1e-9) if seed else trials.free_intercept(rng)
    right = tmp_path / "right.cert"
    given.save(right)
    assert accepted(checkers.verdicts(command, [right])) == [True]
    named = list(trials.wrong(given, tmp_path))
    lines = checkers.verdicts(command, [path for _, path in named])
    assert len(lines) == len(named) > 45
    taken = {n for (n, _), yes in zip(named, accepted(lines), strict=True) if yes}
    assert taken == set()


def others(folder, many, seed=11):
    """Certificates of projections, and of cone programs."""
    for i in range(many):
        programs.projection(np.random.default_rng([seed, i]), folder / f"projection{i}.cert")
        programs.program(np.random.default_rng([seed, i]), folder / f"cone{i}.cert")
    return [sorted(folder.glob(f"{kind}*.cert")) for kind in ("projection", "cone")]


def test_right_projections_and_programs_are_accepted(built, tmp_path):
    for command in built.values():
        for files in others(tmp_path, 30):
            assert all(accepted(checkers.verdicts(command, files)))


def test_files_of_singular_forms_are_accepted(built, tmp_path):
    """Semidefinite exactly, which nobody sees in floats; the file's curvature is a little less."""
    rng, files = np.random.default_rng(21), []
    for i, n in enumerate((2, 2, 3, 5, 8)):
        x, root = cp.Variable(n), rng.integers(-3, 4, (n - 1, n)).astype(float)
        form = np.ones((2, 2)) if i == 0 else root.T @ root
        problem = cp.Problem(cp.Minimize(cp.quad_form(x, form) + cp.sum(x)), [x >= -1, x <= 2])
        problem.solve(solver="CLARABEL")
        files.append(tmp_path / f"{i}.cert")
        refsolve.certify(problem).save(files[-1])
    for command in built.values():
        assert all(accepted(checkers.verdicts(command, files)))


@pytest.mark.parametrize("seed", range(6))
def test_wrong_projections_and_programs_are_refused(built, tmp_path, seed):
    rng, source = np.random.default_rng([12, seed]), tmp_path / "source.right"
    if seed % 2:
        programs.projection(rng, source)
    else:
        programs.program(rng, source, tight=seed > 0)
    named = list(programs.wrong(source, tmp_path))
    for command in built.values():
        lines = checkers.verdicts(command, [path for _, path in named])
        taken = {n for (n, _), yes in zip(named, accepted(lines), strict=True) if yes}
        assert len(lines) == len(named) > 20
        assert taken == set()


def test_a_claim_is_compared_to_the_last_bit(built, tmp_path):
    """What a checker finds is accepted as a claim, one unit in the last place less is not."""
    trials.right(np.random.default_rng(13)).save(tmp_path / "erm.cert")
    (projections, cones), claims = others(tmp_path, 1, seed=14), []
    for command in built.values():
        for path in [tmp_path / "erm.cert", *projections, *cones]:
            (line,) = checkers.verdicts(command, [path])
            bound = float(line.split("bound=")[1].split()[0])
            for claim in (bound, np.nextafter(bound, -np.inf)):
                replace(certificates.read(path), bound=claim).save(tmp_path / "claim")
                claims += accepted(checkers.verdicts(command, [tmp_path / "claim"]))
    assert claims == [True, False] * (3 * len(built))


def test_a_curvature_that_underflow_would_hide_is_refused(built, tmp_path):
    """The last pivot is 5e-324 - 3 (1.5e-162)^2 < 0, of which floats see none of the squares."""
    P = np.eye(4)
    P[3, :3] = P[:3, 3] = 1.5e-162
    P[3, 3] = 5e-324
    given = ConeProgram(P, np.zeros(4), sp.csr_array((0, 4)), np.zeros(0), 0, 0, (), 0)
    none = np.zeros(4)
    solution = {"x": none, "z": np.zeros(0), "curvature": none}
    Proof("optimal", 1.0, 0.0, solution, none - np.inf, none + np.inf).save(
        tmp_path / "c.cert", given, ()
    )
    for command in built.values():
        (line,) = checkers.verdicts(command, [tmp_path / "c.cert"])
        assert line == "refused: the curvature is not certain"


def test_the_exponentials_of_the_c_checker_are_upper_bounds(tmp_path):
    """In every part of the range, by at most 20 roundings of 2^-52; logarithms by as much of 1 + |log|."""
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    rng = np.random.default_rng(15)
    x = np.r_[0.0, -708, 708.99, rng.uniform(-660, 709, 1000), rng.normal(size=1000)]
    source = tmp_path / "exp.c"
    source.write_text(
        f'#define main unused\n#include "{checkers.FOLDER / "check.c"}"\n#undef main\n'
        'int main(void) { double x; while (scanf("%la", &x) == 1) { fesetround(FE_UPWARD);'
        ' printf("%a %a\\n", exp_up(x), x > 0 ? log_up(x) : 0); fesetround(FE_TONEAREST); }'
        " return main == unused; }"
    )
    made = [str(tmp_path / "exp"), str(source)]
    subprocess.run(["cc", "-O2", "-frounding-math", "-o", *made, "-lm"], check=True)
    lines = "\n".join(float(v).hex() for v in x)
    done = subprocess.run(made[:1], input=lines, capture_output=True, text=True, check=True)
    found = [[float.fromhex(v) for v in line.split()] for line in done.stdout.splitlines()]
    assert len(found) == len(x)
    with localcontext(prec=40):
        for v, (power, log) in zip(map(Decimal, x.tolist()), found, strict=True):
            least = v.exp()
            room = Decimal(20 * 2.0**-52)
            assert least <= Decimal(power) <= least * (1 + room) + Decimal("2e-290")
            if v > 0:
                assert v.ln() <= Decimal(log) <= v.ln() + room * (1 + abs(v.ln()))


def test_problems_and_projections_are_saved(built, tmp_path):
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [cp.sum(x) <= 1, x >= 0])
    problem.solve(solver="CLARABEL")
    refsolve.certify(problem).save(tmp_path / "a.cert")
    made = certificates.read(tmp_path / "a.cert")
    assert made.problem.startswith("cone zero=")
    assert made.bound < 1e-6
    (tmp_path / "lp.py").write_text(
        "import cvxpy as cp\nx = cp.Variable()\nhalf = cp.Problem(cp.Minimize(x), [2 * x >= 1])\n"
    )
    given = ["certify", f"{tmp_path / 'lp.py'}:half", "--save", str(tmp_path / "b.cert")]
    assert CliRunner().invoke(app, given).exit_code == 0
    refsolve.solve("simplex.projection", a=[0.6, 0.6, -1.0]).save(tmp_path / "c.cert")
    given = [
        "--problem",
        "simplex.projection",
        "--check",
        "ties",
        "--certificates",
        str(tmp_path / "kept"),
    ]
    assert CliRunner().invoke(app, ["verify", *given]).exit_code == 0
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) > 50
    saved = [tmp_path / f"{n}.cert" for n in "abc"]
    for command in built.values():
        assert all(accepted(checkers.verdicts(command, saved + kept)))
    with pytest.raises(RefsolveParameterError, match="softmax"):
        refsolve.solve("softmax.value", scores=[0.0, 1.0], y=0).save(tmp_path / "d.cert")


def test_the_bound_is_close_to_that_of_the_estimator(command, tmp_path):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(50, 4)), np.arange(50) % 5
    for model in (TopKSVC(k=2), OneVsAllClassifier()):
        model.fit(X, y)
        model.certificate(X, y).save(tmp_path / "c.cert")
        gap = model.primal_objective_ - model.dual_objective_
        (line,) = checkers.verdicts(command, [tmp_path / "c.cert"])
        bound = float(line.split("bound=")[1].split()[0])
        assert bound == pytest.approx(gap, rel=1e-6, abs=1e-11 * model.primal_objective_)


def test_the_c_checker_is_c99_without_warnings(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    assert "C" in checkers.commands(tmp_path, *flags)


def test_a_build_that_does_not_round_outwards_accepts_nothing(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    trials.right(np.random.default_rng(6)).save(tmp_path / "c.cert")
    built = checkers.commands(tmp_path, "-Ofast", "-fno-rounding-math")
    (line,) = checkers.verdicts(built["C"], [tmp_path / "c.cert"])
    assert line.endswith("-frounding-math forgotten")


@pytest.mark.parametrize("name", ["check.c", "check.js"])
def test_checkers_are_tiny_and_need_nothing(name):
    text = (checkers.FOLDER / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 500
    assert "refsolve" not in text.replace("refsolve-cert", "")


def test_the_javascript_checker_runs_where_there_is_no_node(tmp_path):
    """As in a page: no require, no process."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    trials.right(np.random.default_rng(6)).save(tmp_path / "c.cert")
    script = (
        "const fs = require('fs'), vm = require('vm'), [code, file] = process.argv.slice(1);"
        "const page = vm.createContext({TextDecoder, TextEncoder});"
        "vm.runInContext(fs.readFileSync(code, 'utf8'), page);"
        "console.log(page.checkCertificate(new Uint8Array(fs.readFileSync(file))).bound > 0)"
    )
    given = ["node", "-e", script, str(checkers.FOLDER / "check.js"), str(tmp_path / "c.cert")]
    assert subprocess.run(given, capture_output=True, text=True, check=True).stdout == "true\n"


def test_what_is_written_is_read(tmp_path):
    for i in range(6):
        given = trials.right(np.random.default_rng([8, i]))
        given.save(tmp_path / "c.cert")
        found = certificates.read(tmp_path / "c.cert")
        for name in ("problem", "bound", "header"):
            assert getattr(found, name) == getattr(given, name)
        for held, wanted in ((found.data, given.data), (found.solution, given.solution)):
            one, other = ({n: (v.dtype, v.tolist()) for n, v in d.items()} for d in (held, wanted))
            assert one == other


def test_what_is_no_certificate_is_named(tmp_path):
    for name, path in trials.malformed(trials.free_intercept(np.random.default_rng(9)), tmp_path):
        if name != "swapped arrays":  # of which the sizes fit
            with pytest.raises(UnreadableError, match=f"^{re.escape(str(path.parent))}"):
                certificates.read(path)


def test_what_cannot_be_certified_is_refused_by_name():
    X, y = np.random.default_rng(7).normal(size=(30, 3)), np.arange(30) % 3
    model = TopKLogisticRegression(C=0.1).fit(X, y)
    assert model.certificate(sp.csr_array(X), y).bound < 1e-9
    kernel, cut = TopKSVC(kernel="rbf"), TopKLogisticRegression(truncated=True)
    for fitted, given, says in (
        (model, (2 * X, y), "X, y: P = "),
        (model, (X, y + 1), "y: other labels"),
        (model, (X[:15], y[:15]), "X: 15 rows"),
        (kernel.fit(X, y), (X, y), "kernel: 'rbf'"),
        (cut.fit(X, y), (X, y), "loss: 'truncated_topk_entropy'"),
        (MultilabelClassifier().fit(X, y), (X, y), "loss: 'multilabel_hinge'"),
    ):
        with pytest.raises(InvalidParameterError, match=f"^{says}"):
            fitted.certificate(*given)
