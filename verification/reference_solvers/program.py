"""A program that projects on the simplex, by the protocol of `verification.external`, wrong in one way.

Needs nothing but numpy, so that it starts at once. Its first argument says how it is wrong; "right" is
right.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Message = dict[str, Any]


def command(defect: str) -> tuple[str, ...]:
    """The command line of the program with this defect."""
    return (sys.executable, os.path.abspath(__file__), defect)


def project(a: np.ndarray[Any, Any], r: float) -> np.ndarray[Any, Any]:
    """Projection on {x >= 0, sum x = r}; rho does not matter where the sum is given."""
    if r == 0:
        return np.zeros(a.size)
    shifted = a - a.max()
    order = -np.sort(-shifted)
    means = (np.cumsum(order) - r) / np.arange(1, a.size + 1)
    support = int(np.flatnonzero(order > means)[-1])
    return np.maximum(shifted - means[support], 0.0)


def tied(a: np.ndarray[Any, Any]) -> bool:
    """Whether two entries are equal."""
    return np.unique(a).size < a.size


def right(a: np.ndarray[Any, Any], r: float) -> Message:
    """No defect."""
    return {"x": project(a, r).tolist(), "status": "optimal"}


def crashes(a: np.ndarray[Any, Any], r: float) -> Message:
    """Abort at ties."""
    if tied(a):
        os.abort()
    return right(a, r)


def hangs(a: np.ndarray[Any, Any], r: float) -> Message:
    """Sleep at ties."""
    while tied(a):
        time.sleep(1.0)
    return right(a, r)


def lies(a: np.ndarray[Any, Any], r: float) -> Message:
    """Twenty steps of bisection, and "optimal"."""
    low, high = float(a.max()) - r, float(a.max())
    for _ in range(20):
        middle = (low + high) / 2
        if np.maximum(a - middle, 0).sum() > r:
            low = middle
        else:
            high = middle
    return {"x": np.maximum(a - low, 0.0).tolist(), "status": "optimal"}


def six_digits(a: np.ndarray[Any, Any], r: float) -> Message:
    """Print as C does with %g."""
    return {"x": [float(f"{v:g}") for v in project(a, r)], "status": "optimal"}


def comma(a: np.ndarray[Any, Any], r: float) -> Message:
    """Print decimals as some locales do; `main` sees to it."""
    return right(a, r)


_before: list[Message] = []


def late(a: np.ndarray[Any, Any], r: float) -> Message:
    """Answer with the solution of the request before, of the same length."""
    message = right(a, r)
    _before.append(message)
    old = _before.pop(0) if len(_before) > 1 else message
    return old if len(old["x"]) == a.size else message


def main(solve: Callable[[np.ndarray[Any, Any], float], Message]) -> None:
    """Answer every line."""
    for line in sys.stdin:
        request = json.loads(line)
        a = request["arrays"]["a"]
        values = np.array(a.get("values", ()), dtype=a["dtype"])
        if "values" not in a:
            reply: Message = {"status": "unsupported", "message": "no files"}
        elif len(a["shape"]) != 1:
            reply = {"status": "error", "message": "single vectors only"}
        else:
            reply = solve(values.astype(float), float(request["params"]["r"]))
        text = json.dumps({"id": request["id"], **reply})
        if solve is comma:
            text = re.sub(r"(?<=\d)\.(?=\d)", ",", text)
        print(text, flush=True)


if __name__ == "__main__":
    main(globals()[sys.argv[1]])
