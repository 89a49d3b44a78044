"""``python -m tests.mutation``: run a sample of mutants and keep a record."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tests.mutation.operators import ROOT, Mutant, files, mutants, sample
from tests.mutation.record import SURVIVED, UNREACHED, written

KINDS = ("interpreted", "compiled")
BUDGETS = {True: (1.5, 2.0, 12.0), False: (8.0, 2.5, 10.0)}  # CPU seconds, see Budget


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=540, help="how many, of all that there are")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--output", type=Path, help="the record; known verdicts in it are kept")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="files whose path begins with one of these"
    )
    parser.add_argument("--survivors", action="store_true", help="those of the record, once more")
    parser.add_argument("--kind", choices=KINDS, help="kernels or the rest; default both")
    parser.add_argument("--seconds", type=float, help="of tests for one mutant")
    parser.add_argument("--tests", nargs="*", default=[], help="files of tests; default all")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> tuple[list[Mutant], dict[str, int]]:
    drawn, rooms = sample(options.mutants, options.seed, *options.only)
    if options.survivors:
        known = {s["identity"] for s in json.loads(options.output.read_text())["survivors"]}
        among = [file for file in files() if file.startswith(tuple(options.only))]
        drawn = [m for file in among for m in mutants(file) if m.identity in known]
        print(f"{len(drawn)} of {len(known)} are still there")
    kinds = [options.kind] if options.kind else KINDS
    chosen = [m for m in drawn if KINDS[not m.interpreted] in kinds]
    return chosen, rooms


def _child(options: argparse.Namespace, chosen: list[Mutant]) -> None:
    """Run those of one kind in this process."""
    from tests.mutation.run import TESTS, Budget, run

    interpreted = options.kind == "interpreted"
    test, function, mutant = BUDGETS[interpreted]
    budget = Budget(test, function, options.seconds or mutant)
    with os.fdopen(os.dup(2), "w", buffering=1) as out:  # pytest captures the other one
        tests = options.tests or TESTS
        found = run(chosen, interpreted, budget, lambda line: print(line, file=out), tests)
    options.child.write_text(json.dumps([asdict(o) for o in found]))


def main() -> int:
    """Run both kinds, each in a process of its own; the exit code is 1 if one survived unexplained."""
    options, start = _options(), time.perf_counter()
    chosen, rooms = _chosen(options)
    if options.child:
        _child(options, chosen)
        return 0
    outcomes = []
    for kind in KINDS:
        if not any(KINDS[not m.interpreted] == kind for m in chosen):
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "outcomes.json"
            arguments = [*sys.argv[1:], "--kind", kind, "--child", str(file)]
            env = {**os.environ, "NUMBA_DISABLE_JIT": "1" if kind == "interpreted" else "0"}
            command = [sys.executable, "-m", "tests.mutation", *arguments]
            subprocess.run(command, env=env, cwd=ROOT, check=True)
            outcomes += json.loads(file.read_text())
    print(dict(Counter(o["status"] for o in outcomes)))
    if not options.output:
        return int(any(o["status"] in (SURVIVED, UNREACHED) for o in outcomes))
    command = " ".join(["python -m tests.mutation", *sys.argv[1:]])
    seconds = round(time.perf_counter() - start)
    return written(
        outcomes, rooms, options.output, again=options.survivors, command=command, seconds=seconds
    )


if __name__ == "__main__":
    sys.exit(main())
