"""check.c and check.js accept right certificates, and refuse every wrong one."""

import json
import math
import pkgutil
import re
import shutil
import subprocess
from dataclasses import fields, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import _cone_problems
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import refsolve
from fast import (
    OneVsAllClassifier,
    TopKLogisticRegression,
    TopKSVC,
    certificates,
    losses,
)
from fast.errors import InvalidParameterError, UnreadableError
from fast.families import named
from fast.losses.softmax import Softmax
from refsolve.cones import ConeProgram
from refsolve.cones.certificate_file import Proof
from refsolve.cones.dyadic import Dyadic
from refsolve.cones.power import Power
from refsolve.cones.semidefinite import Semidefinite, semidefinite_in_integers
from refsolve.errors import InvalidParameterError as RefsolveParameterError
from verification import checkers
from verification.checkers import exact, programs, trials
from verification.cli import app
from verification.errors import InvalidArgumentError

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


def everybody(built, files):
    """What each checker says of files of cone programs."""
    found = {name: accepted(checkers.verdicts(command, files)) for name, command in built.items()}
    return found | {"Python": [exact.accepts(file) for file in files]}


def agree(built, right, wrong=()):
    """Everybody accepts these files of cone programs, and none of those."""
    for name, said in everybody(built, [*right, *wrong]).items():
        assert said == [True] * len(right) + [False] * len(wrong), name


KINDS = {
    "erm": lambda rng, path: trials.right(rng).save(path),
    "projection": programs.projection, "cone": programs.program,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_right_certificates_are_accepted(built, tmp_path, kind):
    files = [tmp_path / f"{i}.cert" for i in range(30)]
    for i, file in enumerate(files):
        KINDS[kind](np.random.default_rng([3, i]), file)
    for command in built.values():
        lines = checkers.verdicts(command, files)
        assert all(accepted(lines)), lines
    if kind == "cone":
        assert all(map(exact.accepts, files))
    else:
        with pytest.raises(InvalidArgumentError, match=r"no cone program"):
            exact.check(files[0])


@pytest.mark.parametrize("seed", range(10))
def test_wrong_certificates_are_refused(built, tmp_path, seed):
    rng, source = np.random.default_rng([12, seed]), tmp_path / "source.right"
    if seed < 4:
        given = trials.right(rng, tol=1e-9) if seed else trials.free_intercept(rng)
        given.save(source)
        named, least = list(trials.wrong(given, tmp_path)), 45
    else:
        kinds = {"tight": seed > 4} if seed % 2 == 0 else {}
        (programs.projection if seed % 2 else programs.program)(rng, source, **kinds)
        named, least = list(programs.wrong(source, tmp_path)), 20
    for command in built.values():
        right, *said = accepted(checkers.verdicts(command, [source, *(p for _, p in named)]))
        assert right
        assert len(said) == len(named) > least
        assert {n for (n, _), yes in zip(named, said, strict=True) if yes} == set()
    if seed in (4, 6, 8):
        assert not [name for name, path in named if exact.accepts(path)]


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


def _solved(make, path):
    problem = cp.Problem(*make(np.random.default_rng(17)))
    problem.solve(solver="CLARABEL")
    if problem.status == "infeasible":
        for variable in problem.variables():
            variable.save_value(np.zeros(variable.shape))
    refsolve.certify(problem).save(path)
    return certificates.read(path)


@pytest.mark.filterwarnings("ignore:.*approx:UserWarning")
@pytest.mark.parametrize("make", _cone_problems.OTHER_CONES)
def test_semidefinite_and_power_cones_are_checked(built, tmp_path, make):
    given = _solved(make, tmp_path / "right.cert")
    assert {"psd", "power"} & set(given.data)
    agree(built, [tmp_path / "right.cert"])
    program, _, _ = exact.program_of(given)
    worst = {"another bound": replace(given, bound=given.bound - 1e-6)}
    if "x" not in given.solution:  # now there is a point
        wider = given.data["b"] + 10 * program.inwards()
        worst["another b"] = replace(given, data=given.data | {"b": wider})
    rows = np.concatenate([np.arange(rows.start, rows.stop) for _, rows in program.more])
    z = given.solution["z"]
    for i in rows[np.argsort(-np.abs(z[rows]))[:3]].tolist() if "x" in given.solution else ():
        moved = np.where(np.arange(len(z)) == i, 0.99 * z, z)
        worst[f"another z[{i}]"] = replace(given, solution=given.solution | {"z": moved})
    if "x" in given.solution:
        x, parts = given.solution["x"], given.data["A.data"]
        worst["another A"] = replace(given, data=given.data | {"A.data": parts * (1 + 1e-3)})
        for i in range(min(len(x), 3)):
            moved = x + 1e-2 * (1 + np.abs(x).max()) * (np.arange(len(x)) == i)
            worst[f"another x[{i}]"] = replace(given, solution=given.solution | {"x": moved})
    files = [tmp_path / f"{i}.cert" for i in range(len(worst))]
    for file, made in zip(files, worst.values(), strict=True):
        made.save(file)
    for name, said in everybody(built, files).items():
        taken = [change for change, yes in zip(worst, said, strict=True) if yes]
        assert not taken, (name, taken)


def _cones(path, block, *, s=None, z=None, violation=0.0):
    """A program of one cone: 0 is claimed to be a solution, the slack there is s, or z multipliers."""
    m, none = block.size, np.zeros(1)
    s, z = (
        np.asarray(given, dtype=float) if given is not None else np.zeros(m) for given in (s, z)
    )
    program = ConeProgram(
        np.zeros((1, 1)), none, np.zeros((m, 1)), s if np.any(s) else block.inwards(False),
        other=(block,),
    )  # fmt: skip
    solution = {"x": none, "z": z, "curvature": none}
    bound = 1e-6 + float(np.abs(z) @ np.abs(program.b)) * 1.001
    Proof("optimal", bound, violation, solution, none - np.inf, none + np.inf).save(
        path, program, ()
    )
    return path


def _near(block, rng, by):
    """A slack and multipliers that are inside by a share of their size, or outside."""
    if isinstance(block, Power):
        a, x = (
            np.array([float(v) for v in block.weights]),
            10.0 ** rng.uniform(-3, 3, block.size - 1),
        )
        ends = (float(np.prod(v**a)) * (1 - by) for v in (x, x / a))
        return tuple(np.append(x, end * rng.choice([-1, 1])) for end in ends)
    Q = np.linalg.qr(rng.normal(size=(block.order, block.order)))[0]
    values = np.append(by, 10.0 ** rng.uniform(-2, 0, block.order - 1))
    values[1:][-1:] = 1.0
    row, column = block.places
    entries = (Q @ np.diag(values) @ Q.T)[row, column]
    return entries, np.where(row == column, 1.0, 2.0) * entries


BLOCKS = (Semidefinite(1), Semidefinite(2), Semidefinite(5), Semidefinite(16), Semidefinite(40),
          Power((0.3, 0.7)), Power((0.999, 0.001)), Power((0.2, 0.1, 0.4, 0.3)))  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_edges_of_cones_are_where_they_are(built, tmp_path, block):
    """Inside by 1e-9 of the size is accepted, outside by as much is refused, as point and as multipliers."""
    rng, inside, outside = np.random.default_rng(23), [], []
    for i in range(5):
        for by, files in ((1e-9, inside), (-1e-9, outside)):
            s, z = _near(block, rng, by)
            at = tmp_path / f"{i}{len(files)}{by}"
            files += [
                _cones(at.with_suffix(".s"), block, s=s),
                _cones(at.with_suffix(".z"), block, z=z),
            ]
            if (
                by < 0
            ):  # a matrix is outside by its eigenvalue, a product of powers by its last entry
                far = 1e-9 if isinstance(block, Semidefinite) else 1e-9 * np.abs(s).max()
                inside.append(_cones(at.with_suffix(".far"), block, s=s, violation=1.01 * far))
                if isinstance(block, Semidefinite):
                    outside.append(_cones(at.with_suffix(".less"), block, s=s, violation=0.99e-9))
    agree(built, inside, outside)


def test_what_is_outside_by_less_than_rounding_is_refused(built, tmp_path):
    """Matrices of rank 1 whose entries are rounded, and products of powers that end one float too high."""
    rng, files = np.random.default_rng(31), []
    for order in (2, 3, 3, 6, 12):
        cone, row, column = Semidefinite(order), *Semidefinite(order).places
        M = None
        while M is None or semidefinite_in_integers(cone.matrix(Dyadic.of(M).numbers).tolist()):
            v = rng.normal(size=order)
            M = v[row] * v[column]
        files.append(_cones(tmp_path / f"{len(files)}.s", cone, s=M))
        z = np.where(row == column, 1.0, 2.0) * M
        files.append(_cones(tmp_path / f"{len(files)}.z", cone, z=z))
    for a in (0.5, 0.3, 0.999, 0.01):
        cone = Power((a, 1 - a))
        x = rng.uniform(0.1, 10, 2)
        weights = [Decimal(w.numerator) / Decimal(w.denominator) for w in cone.weights]
        for given, dual in ((x, False), (x * np.array([a, 1 - a]), True)):
            with localcontext(prec=50):
                parts = [Decimal(v) for v in given]
                parts = [v / w for v, w in zip(parts, weights, strict=True)] if dual else parts
                logs = sum(w * v.ln() for v, w in zip(parts, weights, strict=True))
                end = float(logs.exp())
                end = end if Decimal(end).ln() > logs else float(np.nextafter(end, np.inf))
            made = {"z" if dual else "s": np.append(given, end)}
            files.append(_cones(tmp_path / f"{len(files)}.p", cone, **made))
    for c in (1.0, 3.7, 1e-40):  # where no logarithm is needed to see one that is inside
        end = float(np.nextafter(c, np.inf))
        files.append(_cones(tmp_path / f"{len(files)}.p", Power((0.3, 0.7)), s=[c, c, end]))
    for edge in ([-1e-300, 1.0, 0.0], [1.0, -1e-9, 0.0], [0.0, 1.0, 1e-9], [0.0, 1.0, -5e-324]):
        files.append(_cones(tmp_path / f"{len(files)}.s", Power((0.3, 0.7)), s=edge))
        files.append(_cones(tmp_path / f"{len(files)}.z", Power((0.3, 0.7)), z=edge))
    agree(built, [], files)


@pytest.mark.parametrize("diagonal", [(100.0, 0.001), (0.001, 100.0), (0.5, 0.5)])
def test_what_rounding_hides_of_a_slack_is_taken_off(built, tmp_path, diagonal):
    """b - ax is -1, and [-4, 0] is all that floats know of it."""
    a, b = 2.0**27 + 1, np.array([diagonal[0], 2.0**54 + 2.0**28, diagonal[1]])
    program = ConeProgram(
        np.zeros((1, 1)), np.zeros(1), np.array([[0.0], [a], [0.0]]), b,
        other=(Semidefinite(2),),
    )  # fmt: skip
    solution = {"x": np.array([a]), "z": np.zeros(3), "curvature": np.zeros(1)}
    free = np.full(1, np.inf)
    files = [tmp_path / "right", tmp_path / "wrong"]
    for file, violation in zip(files, (4.0, 0.0), strict=True):
        Proof("optimal", 1e-6, violation, solution, -free, free).save(file, program, ())
    agree(built, files[:1], files[1:])


def test_singular_matrices_of_few_digits_are_seen_exactly(built, tmp_path):
    rng, right, wrong = np.random.default_rng(29), [], []
    for order in (2, 3, 5, 9):
        block, files = Semidefinite(order), []
        root = rng.integers(-3, 4, (order, max(order // 2, 1)))
        row, column = block.places
        for i, last in enumerate((0, 2.0**-30)):
            M = (root @ root.T).astype(float)
            M[-1, -1] -= last
            M = M * 2.0**-7
            path = tmp_path / f"{order}{i}"
            files.append(_cones(path.with_suffix(".s"), block, s=M[row, column]))
            z = np.where(row == column, 1.0, 2.0) * M[row, column]
            files.append(_cones(path.with_suffix(".z"), block, z=z))
        right, wrong = right + files[:2], wrong + files[2:]
    flat = [1.0, 0, 0, 0, 2.0, 0]  # s_23 beside zeros
    wrong += [_cones(tmp_path / "flat.s", Semidefinite(3), s=flat)]
    wrong += [_cones(tmp_path / "flat.z", Semidefinite(3), z=flat)]
    agree(built, right, wrong)


def _nearest(text):
    """The double next to a hexadecimal number, by rational arithmetic; inf beyond all."""
    sign, whole, part, power = re.fullmatch(
        r"(-?)0x(\w+?)(?:\.(\w+))?p([+-]?\d+)", text.lower()
    ).groups()
    value = Fraction(int(whole + (part or ""), 16)) * Fraction(2) ** (
        int(power) - 4 * len(part or "")
    )
    try:
        return math.copysign(value.numerator / value.denominator, -1 if sign else 1)
    except OverflowError:
        return math.copysign(math.inf, -1 if sign else 1)


HEXADECIMAL = (
    "0x1p+0", "0x1.8p+1", "-0x1.8p-3", "0X1.ABCDEFp4", "0xAp-1", "0x10p0", "0x0p+0", "-0x0p-5", "0x00001p0",
    "0x1.999999999999ap-4", "0x1.fffffffffffffp+1023", "0x1.fffffffffffff7p+1023",
    "0x1.fffffffffffff8p+1023", "-0x1p+1024", "0x1p+1024", "0x1p-1022", "0x0.fffffffffffffp-1022",
    "0x1p-1074", "0x1p-1075", "0x1.0000000000001p-1075", "0x1.8p-1074", "0x2.8p-1074", "0x1p-1076",
    "0X9.f00Cd30680p-960",
    "0x2.80000000000000000001p-1074",
    "0x1.00000000000008p0", "0x1.000000000000080000000000000000001p0", "0x1.00000000000018p0",
    "-0x1.00000000000018p0", "0x1fffffffffffff8p-3", "0x3fffffffffffffp0", "0x" + "f" * 60 + "p-200",
    "0x0." + "0" * 60 + "1p+244", "0x1" + "0" * 60 + "p-240", "0x0.0000000000001p-1026",
)  # fmt: skip
MALFORMED = (
    "0x1p0", '"1.5"', '"0x1"', '"0x.8p0"', '"0x1.p0"', '"0xp0"', '"0x"', '"x1p0"', '"+0x1p0"', '"0x1p"',
    '"0x1p+"', '"0x1p0 "', '" 0x1p0"', '"0x1gp0"', '"0x1p0x"', '"1p0"', '"0x1_0p0"', '"0x1e3"', '"0x1p1.0"',
    '"0x1p0f"', '"0x1p0p0"', '"--0x1p0"', '"0x-1p0"', '"0x1.8.0p0"', '"0x１p0"', '""', "inf", "nan", "NaN",
    "Infinity", "-Infinity", '"inf"', '"nan"', "1e999", "-1e999", "+1", ".5", "5.", "01", "-", "1e", "1e+",
    "0b1", "1_000", "1f", "true", "null", "[1]", '"0x1p+99999999999999999999"', "1" + "0" * 400,
)  # fmt: skip
DECIMAL = (
    "1.5", "-0", "0.1", "1e-400", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
    "9007199254740993", "9007199254740992.9999999999999999", "9007199254740993.00000000000000001",
    "1.7976931348623157e308", "1E+2", "-12.50e-01", "0." + "3" * 300, "1" + "0" * 308,
)  # fmt: skip


def test_numbers_are_read_alike(built, tmp_path):
    """Of a claim of at least -1e149; then as a parameter."""
    block = np.array([-1e149])
    program = ConeProgram(np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1)), block, nonneg=1)
    none, source = np.zeros(1), tmp_path / "source.cert"
    solution = {"x": none, "z": none + 1, "curvature": none}
    Proof("optimal", 0.0, 1e150, solution, none - np.inf, none + np.inf).save(source, program, ())
    raw = source.read_bytes()
    start = 32 + int(raw[16:31])
    text = json.dumps(json.loads(raw[32:start]))
    assert text.count('"bound": 0.0') == 1
    wanted = {f'"{number}"': _nearest(number) for number in HEXADECIMAL}
    wanted |= {number: float(number) for number in DECIMAL} | dict.fromkeys(MALFORMED, math.nan)
    files = [tmp_path / f"{i}.cert" for i in range(len(wanted))]
    for file, number in zip(files, wanted, strict=True):
        given = text.replace('"bound": 0.0', f'"bound": {number}')
        size = -(-(len(given.encode()) + 33) // 64) * 64 - 32
        filled = given.encode() + b" " * (size - 1 - len(given.encode())) + b"\n"
        file.write_bytes(f"refsolve-cert 1 {size:015d}\n".encode() + filled + raw[start:])
    right = [value if -1e149 <= value < math.inf else math.nan for value in wanted.values()]
    said = {}
    for name, command in built.items():
        lines = checkers.verdicts(command, files)
        said[name] = [float(re.findall("claimed=(.*?) |$", line)[0] or "nan") for line in lines]
    said["Python"] = [_claim(file) for file in files]
    for name, found in said.items():
        pairs = zip(wanted, found, right, strict=True)
        assert not [p for p in pairs if repr(p[1] + 0.0) != repr(p[2] + 0.0)], name


def _claim(path):
    try:
        return certificates.read(path).bound if exact.accepts(path) else math.nan
    except UnreadableError:
        return math.nan


def test_parameters_are_read_alike(built, tmp_path):
    """A point of the box up to r is accepted for r itself, and not for the float that follows it."""
    texts = [t for t in HEXADECIMAL if 0 <= _nearest(t) <= 1e150] + ["1.5", "1e-400", "2.5e+01"]
    values = [_nearest(t) if "x" in t.lower() else float(t) for t in texts]
    ends = [(t, v, not above) for t, v in zip(texts, values, strict=True) for above in (0, 1)
            for v in [np.nextafter(v, np.inf) if above else v]]  # fmt: skip
    wrong = [
        *["0x1", "0x1p", "+1", "1.", ".5", "inf", "nan", "0x1p+1024", "1e999", "0b1", "1_0"],
        "",
        "1 2",
    ]
    ends += [(text, 0.0, False) for text in wrong]
    files = [tmp_path / f"{i}.cert" for i in range(len(ends))]
    for file, (text, value, _) in zip(files, ends, strict=True):
        problem, x = f"projection set=box k=0x1p+0 r={text} cap=1.0 rho=0.0", np.array([value])
        arrays = {"x": x, "multipliers": np.zeros(0)}
        certificates.Certificate(problem, 1e-300, {"a": x}, arrays, {"violation": 0.0}).save(file)
    for name, command in built.items():
        found = accepted(checkers.verdicts(command, files))
        pairs = zip(ends, found, strict=True)
        assert not [p for p in pairs if p[1] != p[0][2]], name
    for (text, _, _), file in zip(ends, files, strict=True):
        if text in wrong:
            with pytest.raises(UnreadableError, match=r"a parameter|a problem"):
                certificates.read(file)
        else:
            assert certificates.parameters(certificates.read(file).problem)["k"] == 1


def test_a_claim_is_compared_to_the_last_bit(built, tmp_path):
    """What a checker finds is accepted as a claim, one unit in the last place less is not."""
    claims = []
    for kind, save in KINDS.items():
        save(np.random.default_rng(13), tmp_path / kind)
    for command in built.values():
        for path in map(tmp_path.joinpath, KINDS):
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
    given = ["verify", "--problem", "simplex.projection", "--check", "ties", "--certificates"]
    assert CliRunner().invoke(app, [*given, str(tmp_path / "kept")]).exit_code == 0
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
    uncommented = re.sub(r"/\*.*?\*/|^\s*//.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len([line for line in uncommented.splitlines() if line.strip()]) <= 900
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


LOSSES = [m.name for m in pkgutil.iter_modules(losses.__path__) if m.name not in ("average_precision", "ndcg")]


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_has_its_formula_or_is_not_in_certificate_files(built, tmp_path, name):
    """A = -C grad L(W x) attains L + L*, so that P - D is the square: of this loss, and of no other."""
    rng, numbers = np.random.default_rng(33), {"k": 2, "gamma": 0.5, "beta": 0.5}
    loss = named(name)
    loss = replace(loss, **{f.name: numbers[f.name] for f in fields(loss)})
    X, y, W, C = (
        rng.normal(size=(40, 3)),
        np.arange(40) % 5,
        rng.normal(size=(5, 3)),
        np.full(40, 0.3),
    )
    if not loss.formula:
        with pytest.raises(
            InvalidParameterError, match=rf"loss: '{name}'; expected .*certificate_files"
        ):
            certificates.linear_model(X, y, C, W, None, loss, None, (1.0, 0.0))
        return
    A = -0.3 * loss.gradient(X @ W.T, y)
    miss = W - A.T @ X
    primal = 0.5 * (W * W).sum() + 0.3 * loss.value(X @ W.T, y).sum()
    values = primal, primal - 0.5 * (miss * miss).sum()
    made = certificates.linear_model(X, y, C, W, None, loss, A, values)
    files, generator = [tmp_path / "right"], loss.formula.partition("+")[0]
    made.save(files[0])
    # not alpha for beta: its loss is smaller, and its dual may be the same
    for flag in ("+beta", "+ova", "+alpha"):
        problem = made.problem.replace(f"loss={loss.formula} ", f"loss={generator}{flag} ")
        problem = problem.replace(" k=2 ", " k=1 ") if "ova" in flag else problem
        if problem != made.problem and getattr(loss, "k", 1) > 1:
            files.append(tmp_path / f"{len(files)}")
            replace(made, problem=problem).save(files[-1])
    for command in built.values():
        said = accepted(checkers.verdicts(command, files))
        assert said == [True] + [False] * (len(files) - 1), files


class Doubled(Softmax):
    """Of a family, but computed otherwise."""

    def value(self, *given):
        return 2 * super().value(*given)


def test_a_loss_that_is_computed_otherwise_has_no_formula_of_its_family():
    with pytest.raises(InvalidParameterError, match=r"^loss: 'test_checkers'"):
        certificates.linear_model(
            np.eye(2), np.arange(2), np.ones(2), np.eye(2), None, Doubled(), None, (1.0, 0.0)
        )


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
    ):
        with pytest.raises(InvalidParameterError, match=f"^{says}"):
            fitted.certificate(*given)
