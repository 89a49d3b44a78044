"""The losses of `fast.torch`, judged by the kit: every object, operation and form that training asks.

``python docs/_ext/records.py torch_kit`` makes the record.
"""

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from verification.bridges.torch_losses import ACCURACY, candidate, forms
from verification.kit.loop import verify
from verification.models import twins
from verification.problems.problem import lookup, names
from verification.report.environment import commit, version
from verification.verdicts.report import Report


def judged() -> Iterator[tuple[str, str]]:
    """Problems of the objects that `fast.torch` has, and forms: those of the functions, and "module"."""
    known, losses = names(), twins.package("torch.losses")
    for object_name in losses.names():
        for operation in ("value", "gradient"):
            problem = f"{object_name}.{operation}"
            if problem not in known:
                continue
            yield problem, "rows"
            if "costs" not in lookup(problem).arguments:  # a ranking: its rows are queries
                continue
            yield problem, "module"
            for form in forms(operation)[1:]:
                if form != "smoothed" or getattr(losses.function(object_name), "linear", False):
                    yield problem, form


def loss(problem: str, form: str) -> Callable[..., Any]:
    """The function of an object, or the module made anew of what it is called with."""
    object_name = lookup(problem).object_name
    if form != "module":
        return getattr(importlib.import_module("fast.torch"), object_name)
    module = importlib.import_module("fast.torch.modules").RowwiseLoss

    def made(scores: Any, y: Any, **options: Any) -> Any:
        return module(object_name, **options)(scores, y)

    return made


def judge(problem: str, form: str, profile: str = "quick", **options: Any) -> Report:
    """The report on one of them; options as of `verification.verify`."""
    asked = candidate(loss(problem, form), problem, "rows" if form == "module" else form)
    return verify(
        asked,
        problem,
        profile,
        accuracy=ACCURACY.get(form),
        batch=True,
        shrink=False,
        refuses="fast.errors:InvalidParameterError" if form == "smoothed" else (),  # beside costs
        **options,
    )


def record(profile: str, every: int = 1) -> dict[str, Any]:
    """Counts and failures of all of them; the forms but for the first have a fifth of the instances."""
    start, found = time.perf_counter(), {}
    for problem, form in judged():
        report = judge(problem, form, profile, every=every * (1 if form == "rows" else 5))
        counts = {name: n for name, n in report.counts.items() if n}
        found[f"{problem} {form}"] = {"ok": report.ok, **counts}
        print(f"{time.perf_counter() - start:6.0f} s  {problem} {form}: {counts}")
        if not report.ok:
            print(report.summary())
    return {
        "commit": commit(),
        "torch": version("torch"),
        "profile": profile,
        "every": every,
        "ok": all(row["ok"] for row in found.values()),
        "seconds": round(time.perf_counter() - start),
        "judged": found,
    }
