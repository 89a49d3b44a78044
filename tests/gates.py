"""``python -m tests.gates`` (``make gates``): what no change of the code's structure may change, in minutes.

| gate         | holds if                                                                              |
|--------------|---------------------------------------------------------------------------------------|
| bytes        | fits of `CELLS` have the recorded ``coef_``, ``intercept_`` and ``dual_coef_``, bit by bit |
| detection    | cells of the recorded detection matrix that kill still do: a share, drawn by a seed   |
| certificates | every wrong certificate is refuted, by the check on record                            |
| statements   | every statement of the papers has its recorded status                                 |
| soak         | right solvers come out with the recorded counts of verdicts, without an alarm         |

Mutants are left to ``python -m tests.mutation``, file by file: what the tests reach alone takes minutes.
The records are those of the documentation and ``docs/gates.json``. A deliberate change of an
algorithm writes that anew (``--write bytes``) in the commit that makes it. Bytes depend on the
processor and on the versions of libraries: BLAS, numba and NumPy are told that it is a Haswell, and
with other versions than the record's the gate asks for a record of the commit before (``--write`` there,
``--record`` here).
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RECORD = DOCS / "gates.json"
INSIDE = "REFSOLVE_GATES"
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn")
SEED = 35
TOL = 1e-4
C = 1.0
#: Data of the standing benchmark by kind, small ones; dense and sparse, well and badly scaled.
DATA = {
    "classes": ("clusters", "digits, scales 1e-4 to 1e4"),
    "ranking": ("rare class", "rare topic"),
    "labels": ("labels", "labels of text"),
    "privileged": ("images and their halves, m = 2", "images and their halves, m = 10"),
}
INSTANCES = 10  # of a statement's own number of instances, one in so many is tried
SOAKED = 4000
CLOCKED = {
    "distributions": 25
}  # instances beyond which a check asks those alone who are fast enough


class Found(NamedTuple):
    """What a gate found: what the record keeps of it, what is wrong, and what was looked at."""

    record: Any
    problems: list[str]
    looked_at: str


def cells() -> Iterator[tuple[str, Any, str, str]]:
    """Name, loss (as `standing.LOSSES` has it), solver and data of every fit whose bytes are kept."""
    from verification.benchmarks import standing

    more = {
        "top-3 hinge, beta": ("TopKSVC", {"k": 3, "variant": "beta"}, ("sdca", "fista")),
        "hinge, RBF": ("TopKSVC", {"kernel": "rbf", "kernel_params": {"gamma": 0.1}}, ()),
        "top-3 hinge, intercept": ("TopKSVC", {"k": 3, "fit_intercept": True}, ()),
        "softmax, balanced": ("TopKLogisticRegression", {"class_weight": "balanced"}, ("sdca",)),
        "top-3 entropy, beta": ("TopKLogisticRegression", {"k": 3, "variant": "beta"}, ("fista",)),
        "softmax, truncated": ("TopKLogisticRegression", {"k": 2, "truncated": True}, ()),
        "one-vs-rest smooth hinge": ("OneVsAllClassifier", {"loss": "smooth_hinge"}, ("lbfgs",)),
        "multilabel smooth hinge": (
            "MultilabelClassifier", {"loss": "smooth_hinge", "fit_intercept": True}, (),
        ),
        "AP, ramp": ("APSVM", {"ramp": True}, ()),
        "AP, easy": ("APSVM", {"easy_fraction": 0.5}, ()),
        "SVM-2K": ("SVM2KClassifier", {"eps": 0.1}, ()),
    }  # fmt: skip
    kinds = {"MultilabelClassifier": "labels", "APSVM": "ranking", "SVM2KClassifier": "privileged"}
    losses = standing.LOSSES | {
        name: standing.Loss(estimator, params, solvers, {}, kinds.get(estimator, "classes"))
        for name, (estimator, params, solvers) in more.items()
    }
    for name, loss in losses.items():
        for data in DATA.get(loss.kind, ()):  # of other kinds no bytes are kept
            for solver in (standing.AUTO, *loss.solvers):
                yield f"{data} | {name} | {solver}", loss, solver, data


def fits(known: Any, options: argparse.Namespace) -> Found:
    """Fit what is on record, or to make one everything; a fit that is not certified is not kept."""
    from fast.errors import InvalidParameterError
    from verification.benchmarks import standing
    from verification.benchmarks.peers import fit_quietly
    from verification.benchmarks.timing import limit_to_one_thread
    from verification.certificates import trained

    limit_to_one_thread()
    versions = {name: version(name) for name in LIBRARIES}
    if known and versions != known["versions"]:
        told = [f"on record are fits with {known['versions']}, here are {versions}"]
        return Found(
            known, [*told, "write a record at the commit before, compare with --record"], ""
        )
    found = {}
    prepared = cache(standing.prepared)
    for name, loss, solver, data in cells():
        if known and name not in known["sha256"]:
            continue
        X, y, more = prepared(data)
        model = standing.estimator(loss, solver, C, TOL).set_params(max_iter=300)
        try:
            fit_quietly(model, X, y, **more)
        except InvalidParameterError as error:  # this solver is not for this problem
            found[name] = str(error)
            continue
        bytes_of = (_array(model, a) for a in ("coef_", "kernel_coef_", "intercept_", "dual_coef_"))
        if known or trained(model, X, y, **more).relative_gap <= TOL:
            found[name] = hashlib.sha256(b"".join(bytes_of)).hexdigest()
    kept = known["sha256"] if known else {n: v for n, v in found.items() if len(v) == 64}
    moved = [f"{name} changed" for name, digest in kept.items() if found.get(name) != digest]
    record = {"versions": versions, "sha256": kept}
    return Found(record, moved, f"{len(kept)} fits")


def _array(model: Any, name: str) -> bytes:
    found = getattr(model, name, None)
    if found is None:
        return b""
    found = found.toarray() if hasattr(found, "toarray") else found
    return str(np.shape(found)).encode() + np.ascontiguousarray(found).tobytes()


def detection(known: Any, options: argparse.Namespace) -> Found:
    """Killing cells of the quick matrix, a share of each check's, each up to its first failure."""
    from verification import faulty_solvers
    from verification.selftest import detection_matrix

    recorded = json.loads((DOCS / "selftest" / "quick.json").read_text(encoding="utf-8"))["rows"]
    kills = [
        (m, c)
        for m, row in recorded.items()
        for c, n in row["cells"].items()
        if 0 < n <= CLOCKED.get(c, n)
    ]
    drawn = random.Random(SEED).sample(kills, max(1, round(options.share * len(kills))))
    library, problems, other = faulty_solvers.discover(), [], 0
    by_mutant: dict[str, list[str]] = {}
    for mutant, check in drawn:
        by_mutant.setdefault(mutant, []).append(check)
    for name in sorted(by_mutant, key=lambda name: (recorded[name]["problem"], name)):
        if name not in library:
            problems.append(f"{name} is gone")
            continue
        mutant, numbers = library[name], recorded[name]["cells"]
        # each by itself: what one check has said of a solver, such as float32, the next one knows
        cells = {c: detection_matrix.row(mutant, "quick", 0, [c]).cells[c] for c in by_mutant[name]}
        blind = [c for c, n in cells.items() if not n and not _left_out(mutant, c, numbers[c])]
        if blind:  # a solver with a memory is killed by what the checks before have asked
            cells |= detection_matrix.row(mutant, "quick", 0).cells
        problems += [f"{c} does not kill {name} any more" for c in blind if not cells[c]]
        other += sum(cells[c] != numbers[c] for c in by_mutant[name])
    looked_at = f"{len(drawn)} of {len(kills)} killing cells, {other} at another instance"
    return Found(None, problems, looked_at)


def _left_out(mutant: Any, check: str, number: int) -> bool:
    """Whether a clock kept the instance that killed, the number-th of a check, from a slow solver."""
    from verification import verify

    report = verify(
        mutant.candidate, mutant.problem, checks=[check], fixed=mutant.fixed, shrink=False
    )
    return report.results[number - 1].message.startswith("left out:")


def certificates(known: Any, options: argparse.Namespace) -> Found:
    """Every wrong certificate, on the check that refutes it first by the record, which spares the others."""
    from verification.selftest.certificates import matrix
    from verification.selftest.certificates.patches import WRONG

    rows = json.loads((DOCS / "certificates.json").read_text(encoding="utf-8"))["rows"]
    problems = [f"{name} is gone" for name in rows if name not in WRONG]
    every = matrix.CHECKS
    for check, function in every.items():
        matrix.CHECKS = {check: function}
        if refuted := matrix.refuted_by()[0]:
            problems.append(f"{refuted} refutes the right certificates")
        for name, row in rows.items():
            if row["check"] == check and name in WRONG:
                with matrix.patched(WRONG[name]):
                    if not matrix.refuted_by()[0]:
                        problems.append(f"{check} does not refute {name} any more")
    matrix.CHECKS = every
    problems += [f"{name} is not on record" for name in WRONG if name not in rows]
    return Found(None, problems, f"{len(rows)} wrong certificates, {len(every)} checks")


def statements(known: Any, options: argparse.Namespace) -> Found:
    """All rows of the reproducibility table on a part of their instances."""
    from verification.paper_statements import claims, try_claim

    found: dict[str, dict[str, str]] = {}
    problems = []
    for paper, claim in claims():
        many = max(1, claim.instances // INSTANCES)
        result = try_claim(claim, paper=paper, seed=SEED, instances=many)
        found.setdefault(paper, {})[claim.number] = result.status
        if not result.ok:
            problems.append(f"{paper} {claim.number}: {result.failure}")
    return _compared(known, found, problems, f"{sum(map(len, found.values()))} statements")


def soak(known: Any, options: argparse.Namespace) -> Found:
    """Instances of all problems for every right solver, at one seed."""
    from verification.selftest import soak as soaking

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.jsonl"
        done = soaking.record(path, soaking.soak(SOAKED, SEED, path))
    rows: dict[str, dict[str, Any]] = {}
    for row in done["rows"]:
        rows.setdefault(row["solver"], {})[row["problem"]] = row["counts"]
    problems = [
        f"{row['solver']} {row['problem']}: {a}" for row in done["rows"] for a in row["alarms"]
    ]
    return _compared(known, rows, problems, f"{done['instances']} instances")


def _compared(known: Any, found: dict[str, Any], problems: list[str], looked_at: str) -> Found:
    """Two tables of two levels, entry by entry."""
    for group in sorted({*found, *(known or found)}):
        old, new = (known or found).get(group, {}), found.get(group, {})
        problems += [
            f"{group} {name}: {new.get(name)}, on record {old.get(name)}"
            for name in sorted({*old, *new}) if old.get(name) != new.get(name)
        ]  # fmt: skip
    return Found(found, problems, looked_at)


GATES: dict[str, Callable[[Any, argparse.Namespace], Found]] = {
    "bytes": fits, "detection": detection, "certificates": certificates,
    "statements": statements, "soak": soak,
}  # fmt: skip


def _run(name: str, known: Any, options: argparse.Namespace) -> tuple[str, Found, float]:
    start = time.perf_counter()
    with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere), redirect_stdout(nowhere):
        found = GATES[name](known, options)
    return name, found, time.perf_counter() - start


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.gates", description=__doc__)
    parser.add_argument(
        "gates", nargs="*", default=list(GATES), metavar="gate", help="; ".join(GATES)
    )
    parser.add_argument("--share", type=float, default=0.2, help="of the killing cells; 1 for all")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--write", action="store_true", help="the record anew, of these gates")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main() -> int:
    """A line for each gate; the exit status is 1 if one does not hold."""
    options = _options()
    record = json.loads(options.record.read_text()) if options.record.exists() else {}
    failed = False
    context = get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        known = {name: None if options.write else record.get(name) for name in options.gates}
        for job in [pool.submit(_run, name, known[name], options) for name in options.gates]:
            name, found, seconds = job.result()
            said = "FAILED" if found.problems else "holds"
            print(f"{name:12} {said:6} {found.looked_at}, {seconds:.0f} s", flush=True)
            for problem in found.problems:
                print(f"    {problem}", flush=True)
            failed |= bool(found.problems)
            if options.write and found.record is not None:
                record[name] = found.record
    if options.write:
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(failed)


def _haswell() -> int:
    """This program again, with an empty cache of kernels and one processor for all machines."""
    found = np.show_config("dicts")["SIMD Extensions"]["found"]  # type: ignore[index]
    newer = " ".join(name for name in found if name != "X86_V3")
    machine = {
        "OPENBLAS_CORETYPE": "Haswell",
        "NUMBA_CPU_NAME": "haswell",
        "NPY_DISABLE_CPU_FEATURES": newer,
    }
    with tempfile.TemporaryDirectory() as kernels:
        own = {INSIDE: "1", "NUMBA_CACHE_DIR": kernels, "OMP_NUM_THREADS": "1", **machine}
        command = [sys.executable, "-m", "tests.gates", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main() if os.environ.get(INSIDE) else _haswell())
