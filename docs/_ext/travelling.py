"""What `docs/travelling.md` quotes: right and wrong certificates, and what a check costs.

``python docs/_ext/records.py travelling`` measures anew: some minutes.
"""

import resource
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from fast.certificates import Certificate
from verification.checkers import commands, trials, verdicts

SIZES = ((4000, 128, 100), (4000, 384, 1000), (4000, 2048, 1000))


def judged(rights: int, problems: int) -> dict[str, Any]:
    """Verdicts on right certificates, and on all wrong ones of some problems."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkers = commands(folder)
        kinds: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        for first in range(0, rights, 250):
            files = [folder / f"{i}.cert" for i in range(first, min(first + 250, rights))]
            for i, file in enumerate(files, first):
                if i % 5 == 0:
                    models = trials.rights(np.random.default_rng([1, i]))
                made = next(models)
                made.save(file)
                kinds[made.problem.split()[1].partition("=")[2]] += 1
            for language, command in checkers.items():
                said = verdicts(command, files)
                refused[language] += sum(not line.startswith("accepted") for line in said)
            for file in files:
                file.unlink()
        wrong, accepted = 0, Counter[str]()
        for i in range(problems):
            rng = np.random.default_rng([2, i])
            given = trials.right(rng, tol=1e-9) if i % 8 else trials.free_intercept(rng)
            named = list(trials.wrong(given, folder))
            wrong += len(named)
            for language, command in checkers.items():
                said = verdicts(command, (path for _, path in named))
                accepted[language] += sum(line.startswith("accepted") for line in said)
    return {
        "right": rights,
        "losses": dict(sorted(kinds.items())),
        "right_refused": {language: refused[language] for language in checkers},
        "wrong": wrong,
        "wrong_accepted": {language: accepted[language] for language in checkers},
    }


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
            for _ in range(5):
                before = time.process_time()
                X @ W.T
                products.append(time.process_time() - before)
            row = {"n": n, "d": d, "m": m, "product": min(products)}
            data, pairs = {"X": X, "y": y, "mass": np.ones(n)}, np.stack([y, (y + 1) % m], axis=1)
            values = np.tile([0.5, -0.5], n)
            A = {"A.indptr": 2 * np.arange(n + 1), "A.indices": pairs.ravel(), "A.data": values}
            for loss, dual, more in (("softmax", "gradient", {}), ("multiclass_hinge", "given", A)):
                text = f"erm loss={loss} k=1 gamma=0.0 cost=0.0 intercept=none"
                Certificate(text, 1e300, data, {"W": W, **more}, {"dual": dual}).save(folder / "c")
                taken = []
                for _ in range(3):
                    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                    assert verdicts(command, [folder / "c"])[0].startswith("accepted")
                    taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - spent)
                row[loss] = min(taken)
            found.append(row)
    return found


def measure() -> dict[str, Any]:
    """Everything."""
    return {**judged(10_000, 100), "costs": costs()}
