"""A model's declaration: its printed primal, dual, maps and gap, executed, against its certificate.

The points are not optimal, so that every term counts; then strong duality holds at the oracle's answer, and no point
nearby has a smaller printed primal. Where the model is declared as norms and losses of linear maps, those give the
same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

import refsolve
from refsolve import catalogue
from verification.declarations import margin_cases, ranking_cases
from verification.declarations.case import Case
from verification.declarations.printed import number, read

TOL, CLOSED = 1e-8, 1e-5


def disagreements(object_name: str) -> Iterator[str]:
    """What the file of a model says twice, and differently."""
    module = catalogue.load(object_name)
    for case in CASES.get(object_name, lambda rng: iter(()))(np.random.default_rng(1)):
        for text in _on(module, case):
            yield f"{object_name}, {case.given}: {text}"


def _on(module: ModuleType, case: Case) -> Iterator[str]:
    object_name = module.__name__.rpartition(".")[2]
    formulas = {n: " ".join(t.split()) for n, t in module.SPEC.formulas.items()}
    certificate = module.certificate(**case.given, **case.certify)
    right = {"primal": certificate.primal, "dual": certificate.dual_value, "gap": certificate.gap}
    if "gap" in case.patterns and certificate.gap < 1e-3 * certificate.scale:
        yield f"the gap at a point that is not optimal is {certificate.gap}"
    lost = certificate.value - certificate.dual_value
    if not _near(lost, certificate.gap, certificate.scale):
        yield f"gap {certificate.gap} is not P - D = {lost}"
    names = case.names(certificate)
    for key, (formula, pattern) in case.patterns.items():
        found = re.search(pattern, formulas[formula])
        if found is None:
            yield f"formula {formula!r} has no {pattern!r}"
            continue
        rest = [
            f"0, {clause}"
            for clause in (case.more, formulas[formula][found.end() :].lstrip(" ,;"))
            if clause
        ]
        value = number("".join(found.groups()), read("0", names, rest)[1])
        wanted = names[key] if key in names else right[key]
        if np.shape(value) != np.shape(wanted) or not _near(value, wanted, certificate.scale):
            yield f"printed {key}: {found[1]} = {value}, the certificate says {wanted}"
    if case.blocks is not None:
        model = module.declaration(**(case.declared or case.given))
        u, p = case.blocks(certificate)
        u, p = (
            {n: np.asarray(v, dtype=float).reshape(-1) for n, v in each.items()} for each in (u, p)
        )
        p = p if p.keys() == model.terms.keys() else {}
        if not _near(model.primal(u), certificate.primal, certificate.scale):
            yield f"P of the declared norms and losses is {model.primal(u)}, the certificate's {certificate.primal}"
        if p and not _near(model.dual(p), certificate.dual_value, certificate.scale):
            yield f"D of the declared norms and losses is {model.dual(p)}, the certificate's {certificate.dual_value}"
        if (p and model.violation(p) > 1e-6) or model.excess(u) > 1e-6:
            yield f"the declared form calls a feasible point infeasible, by {model.excess(u)}"
    for operation in catalogue.operations(object_name):
        solved = refsolve.solve(f"{object_name}.{operation}", **case.given)
        if (
            solved.certificate.gap > CLOSED * max(solved.certificate.scale, 1e-3)
            and "gap" in case.patterns
        ):
            yield f"{operation}: the oracle's gap is {solved.certificate.gap}"
        if (
            operation == "primal"
            and "primal" in case.patterns
            and solved.value > certificate.primal + TOL
        ):
            yield f"primal: the oracle's {solved.value} is more than {certificate.primal} elsewhere"


def _near(a: Any, b: Any, scale: float) -> bool:
    return bool(
        np.max(abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float)))
        <= 1e-6 * max(scale, 1.0)
    )


CASES: Mapping[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "svm": margin_cases.svm,
    "binary_svm": margin_cases.binary_svm,
    "top_push": margin_cases.top_push,
    "svm_2k": margin_cases.svm_2k,
    "svm_plus_hinge": margin_cases.svm_plus(False),
    "svm_plus_squared_hinge": margin_cases.svm_plus(True),
    "multiclass_erm": margin_cases.multiclass_erm,
    "ap_svm": ranking_cases.structured("ap_svm"),
    "ap_svm_appx": ranking_cases.structured("ap_svm_appx"),
    "recall_at_k": ranking_cases.structured("recall_at_k"),
    "pointwise_risk": ranking_cases.pointwise_risk,
    "ap_ramp": ranking_cases.descents("ap_ramp"),
    "latent_ap_svm": ranking_cases.descents("latent_ap_svm"),
}
