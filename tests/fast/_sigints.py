"""Real interrupts of fits at random times: ``python tests/fast/_sigints.py COUNT`` prints what came of them.

The refits are of a fitted model; the first fits are those of a process that has not fitted yet.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import _problems
import numpy as np
from _transactions import Refit, named
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fast import APSVM, LatentAPSVM, SVMPlusClassifier, TopKLogisticRegression, TopKSVC

_CLASSES = _problems.classes(0, n=90, m=3, d=2), named(*_problems.classes(1, n=300, m=6, d=8))
_RANKED = _problems.relevant(0, n=60, d=3), named(*_problems.relevant(1, n=300, d=8))
REFITS = {
    "TopKSVC": Refit(TopKSVC(k=2, gamma=0.1, tol=1e-6, random_state=0), *_CLASSES),
    "TopKLogisticRegression": Refit(TopKLogisticRegression(k=2, C=10.0, tol=1e-8), *_CLASSES),
    "APSVM": Refit(APSVM(C=30.0, tol=1e-4), *_RANKED),
    "LatentAPSVM": Refit(
        LatentAPSVM(C=10.0), _problems.bags(0, n=20, d=2), named(*_problems.bags(1, n=80, d=4))
    ),
    "SVMPlusClassifier": Refit(
        SVMPlusClassifier(C=3.0, kernel="rbf", kernel_z="rbf", tol=1e-4),
        _problems.privileged(0, n=40, d=2),
        named(*_problems.privileged(1, n=120, d=4, classes=4)),
    ),
}


def shot(run: Callable[[], Any], delay: float) -> str:
    """What a run says that is interrupted once, after ``delay`` seconds."""

    def shoot() -> None:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)

    said, thread = "", threading.Thread(target=shoot)
    try:
        try:
            thread.start()
            run()
        except Warning:
            said = "warning"
        finally:
            thread.join()
    except KeyboardInterrupt:
        said = "KeyboardInterrupt"
    return said


def refits(name: str, count: int, seed: int = 0) -> Counter[str]:
    """Outcomes of refits that are interrupted at random times from their beginning to their end."""
    refit, found, rng = REFITS[name], Counter[str](), np.random.default_rng(seed)
    refit.fit(refit.fitted())
    start = time.perf_counter()
    refit.fit(refit.fitted())
    seconds = time.perf_counter() - start
    for delay in rng.uniform(0.0, seconds, count):
        model = refit.fitted()
        before = refit.state(model)
        said = shot(lambda model=model: refit.fit(model), delay)
        try:
            found[f"{refit.outcome(model, before)}, {said}"] += 1
        except Exception as error:
            found[f"broken: {error}"] += 1
    return found


def first_fit(name: str, delay: float) -> str:
    """The outcome of a first fit."""
    refit = REFITS[name]
    model = clone(refit.model)
    said = shot(lambda: refit.fit(model), delay)
    try:
        model.predict(refit.new[0])
    except NotFittedError:
        return f"none, {said}"
    return f"{refit.outcome(model, refit.state(clone(refit.model)))}, {said}"


def first_fits(name: str, count: int, seed: int = 0) -> Counter[str]:
    """Outcomes of first fits, each in a process of its own."""
    found = Counter[str]()
    for delay in np.random.default_rng(seed).uniform(0.0, 0.5, count):
        command = [sys.executable, "-W", "error", __file__, name, str(delay)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found[done.stdout.strip() or f"broken: {done.stderr}"] += 1
    return found


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    np.random.seed(0)  # noqa: NPY002 - for models without a random_state
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    if rest and first in REFITS:
        print(first_fit(first, float(rest[0])))
    else:
        table = {name: dict(refits(name, int(first))) for name in REFITS}
        if rest:
            for name, found in table.items():
                found["first"] = dict(first_fits(name, int(rest[0])))
        print(json.dumps(table, indent=1))
