"""What `docs/certificate_files.md` quotes: right and wrong certificates, and what a check costs.

``python docs/_ext/records.py certificate_files`` measures anew: some minutes.
"""

import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fast.certificates import Certificate, read
from verification.checkers import commands, exact, programs, trials, verdicts

SIZES = ((4000, 128, 100), (4000, 384, 1000), (4000, 2048, 1000))


def _models(folder: Path, many: int) -> Iterator[Path]:
    models = trials.rights(np.random.default_rng([1, 0]))
    for i in range(many):
        if i % 20 == 0:
            models = trials.rights(np.random.default_rng([1, i]))
        next(models).save(folder / f"{i}.cert")
        yield folder / f"{i}.cert"


def _others(folder: Path, many: int, make: Callable[[Any, Path], Any]) -> Iterator[Path]:
    for i in range(many):
        make(np.random.default_rng([3, i]), folder / f"{i}.cert")
        yield folder / f"{i}.cert"


def _wrong(kind: str, i: int, folder: Path) -> list[Path]:
    """All wrong ones of one right certificate."""
    rng = np.random.default_rng([2, i])
    if kind == "erm":
        given = trials.right(rng, tol=1e-9) if i % 8 else trials.free_intercept(rng)
        return [path for _, path in trials.wrong(given, folder)]
    if kind == "cone":
        tight, claim = i % 4 > 0, "optimal"
        while claim == "optimal":  # a loose one is true of other points, too
            claim = programs.program(rng, folder / "source.right", tight=tight)
            claim = "tight" if tight else claim
    else:
        programs.projection(rng, folder / "source.right")
    return [path for _, path in programs.wrong(folder / "source.right", folder)]


def judged(rights: dict[str, int], problems: int) -> dict[str, Any]:
    """Verdicts on right certificates of each kind, and on all wrong ones of some problems."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkers = commands(folder)
        names: Counter[str] = Counter()
        counts = {what: Counter[str]() for what in ("refused", "wrong", "accepted")}
        for kind, many in rights.items():
            make = programs.program if kind == "cone" else programs.projection
            found = _models(folder, many) if kind == "erm" else _others(folder, many, make)
            for files in batched(found, 250):
                names.update(
                    read(file).problem.split()[1] if kind != "cone" else kind for file in files
                )
                for language, command in checkers.items():
                    said = verdicts(command, files)
                    counts["refused"][language] += sum(not v.startswith("accepted") for v in said)
                if kind == "cone":
                    counts["refused"]["Python"] += sum(not exact.accepts(file) for file in files)
            for i in range(problems):
                paths = _wrong(kind, i, folder)
                counts["wrong"][kind] += len(paths)
                for language, command in checkers.items():
                    said = verdicts(command, paths)
                    counts["accepted"][language] += sum(v.startswith("accepted") for v in said)
                if kind == "cone":
                    counts["accepted"]["Python"] += sum(map(exact.accepts, paths))
    languages = (*checkers, "Python")  # Python: of cone programs alone
    return {
        "right": rights,
        "of": dict(sorted(names.items())),
        "right_refused": {language: counts["refused"][language] for language in languages},
        "wrong": dict(counts["wrong"]),
        "wrong_accepted": {language: counts["accepted"][language] for language in languages},
    }


def batched(items: Iterable[Path], many: int) -> Iterator[list[Path]]:
    """Lists of some."""
    items = iter(items)
    while found := list(islice(items, many)):
        yield found


def costs() -> list[dict[str, Any]]:
    """CPU time of check.c beside that of numpy's X W' on one thread, for softmax and a hinge."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = commands(folder, "-O3", "-march=native")["C"]
        for n, d, m in SIZES:
            rng = np.random.default_rng(0)
            X, y = rng.normal(size=(n, d)) / np.sqrt(d), rng.integers(0, m, n)
            W = rng.normal(size=(m, d)) / np.sqrt(d)
            products = []
            for _ in range(9):
                before = time.process_time()
                X @ W.T
                products.append(time.process_time() - before)
            row = {"n": n, "d": d, "m": m, "product": min(products)}
            data, pairs = {"X": X, "y": y, "mass": np.ones(n)}, np.stack([y, (y + 1) % m], axis=1)
            values = np.tile([0.5, -0.5], n)
            A = {"A.indptr": 2 * np.arange(n + 1), "A.indices": pairs.ravel(), "A.data": values}
            for title, loss, dual, more in (
                ("softmax", "entropy", "gradient", {}),
                ("multiclass_hinge", "hinge", "given", A),
            ):
                text = f"erm loss={loss} k=1 gamma=0.0 cost=0.0 intercept=none"
                Certificate(text, 1e300, data, {"W": W, **more}, {"dual": dual}).save(folder / "c")
                taken = []
                for _ in range(9):
                    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                    assert verdicts(command, [folder / "c"])[0].startswith("accepted")
                    taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - spent)
                row[title] = min(taken)
            found.append(row)
    return found


def measure() -> dict[str, Any]:
    """Everything."""
    return {**judged({"erm": 5000, "projection": 2000, "cone": 3000}, 60), "costs": costs()}
