"""Ports written by hand: right solvers (`right`, `right_sets`, `right_losses`, `right_more`), and one fault each
(`first.toml` to `sixth.toml`); `right_only` are right solvers of problems that no fault is of.

The faults were written before the checks were looked at, from what ports get wrong; the rates of the first
run are in `docs/selftest/written.json`. ``python -m verification.selftest.written first --profile quick``
runs a set.
"""

import argparse
import importlib.resources
import json
import time
import tomllib
from collections.abc import Callable
from functools import partial
from typing import Any

import verification
from verification.selftest.written import right_only

PROBLEMS = {
    "simplex_sort": "simplex.projection",
    "simplex_michelot": "simplex.projection",
    "simplex_bisection": "simplex.projection",
    "simplex_newton": "simplex.projection",
    "capped_simplex": "capped_simplex.projection",
    "box": "box.projection",
    "l1_ball": "l1_ball.projection",
    "topk_beta": "topk_simplex_beta.projection",
    "bipartite": "bipartite_simplex.projection",
    "softmax_value": "softmax.value",
    "softmax_gradient": "softmax.gradient",
    "ova_logistic_value": "ova_logistic.value",
    "topk_alpha_value": "topk_hinge_alpha.value",
    "topk_alpha_gradient": "topk_hinge_alpha.gradient",
    "topk_beta_value": "topk_hinge_beta.value",
    "smooth_beta_value": "smooth_topk_hinge_beta.value",
    "hinge_value": "multiclass_hinge.value",
    "hinge_update": "multiclass_hinge.sdca_update",
    "hinge_prox": "multiclass_hinge.prox",
    "hinge_conjugate": "multiclass_hinge.conjugate",
    "multilabel_value": "multilabel_hinge.value",
    "sparsemax_value": "sparsemax.value",
    "ap_value": "average_precision.value",
    "lambert": "lambert_w_exp.value",
    "erm_sdca": "multiclass_erm.primal",
    "svm_no_bias": "binary_svm.primal",
    "ova_hinge_update": "ova_hinge.sdca_update",
    "ova_smooth_value": "ova_smooth_hinge.value",
    "ova_logistic_gradient": "ova_logistic.gradient",
    "squared_topk_value": "squared_topk_hinge.value",
    "sparsemax_gradient": "sparsemax.gradient",
    "softmax_conjugate": "softmax.conjugate",
    "topk_alpha_conjugate": "topk_hinge_alpha.conjugate",
    "multilabel_gradient": "multilabel_hinge.gradient",
    "ap_inference": "average_precision.loss_augmented_inference",
}
#: The solvers of `right_sets.py` and `right_losses.py`.
MORE = {
    "condat_simplex": "simplex.projection",
    "capped_halving": "capped_simplex.projection",
    "alpha_nested": "topk_simplex_alpha.projection",
    "cone_nested": "topk_cone.projection",
    "beta_breakpoints": "topk_simplex_beta.projection",
    "knapsack_fsum": "knapsack.projection",
    "l1_rows": "l1_ball.projection",
    "box_list": "box.projection",
    "bipartite_bisect": "bipartite_simplex.projection",
    "hinge_gradient": "multiclass_hinge.gradient",
    "smooth_alpha_value": "smooth_topk_hinge_alpha.value",
    "smooth_beta_gradient": "smooth_topk_hinge_beta.gradient",
    "beta_conjugate": "topk_hinge_beta.conjugate",
    "alpha_prox": "topk_hinge_alpha.prox",
    "alpha_update": "topk_hinge_alpha.sdca_update",
    "beta_update": "topk_hinge_beta.sdca_update",
    "softmax_prox": "softmax.prox",
    "softmax_update": "softmax.sdca_update",
    "entropy_alpha_value": "topk_entropy_alpha.value",
    "entropy_alpha_gradient": "topk_entropy_alpha.gradient",
    "entropy_beta_value": "topk_entropy_beta.value",
    "entropy_multilabel_value": "multilabel_entropy.value",
    "entropy_multilabel_gradient": "multilabel_entropy.gradient",
    "multilabel_hinge_update": "multilabel_hinge.sdca_update",
    "multilabel_smooth_value": "multilabel_smooth_hinge.value",
    "ova_logistic_conjugate": "ova_logistic.conjugate",
    "ova_logistic_update": "ova_logistic.sdca_update",
    "ova_smooth_gradient": "ova_smooth_hinge.gradient",
    "ova_smooth_prox": "ova_smooth_hinge.prox",
    "sparsemax_prox": "sparsemax.prox",
    "sparsemax_conjugate": "sparsemax.conjugate",
    "squared_gradient": "squared_topk_hinge.gradient",
    "squared_prox": "squared_topk_hinge.prox",
    "truncated_value": "truncated_topk_entropy.value",
    "truncated_gradient": "truncated_topk_entropy.gradient",
    "lambert_newton": "lambert_w_exp.value",
    "ap_value_table": "average_precision.value",
    "ap_inference_table": "average_precision.loss_augmented_inference",
    "svm_smo": "svm.dual",
    "svm_plus_smo": "svm_plus_squared_hinge.dual",
    "binary_ascent": "binary_svm.dual",
    "erm_softmax": "multiclass_erm.primal",
    "entropy_beta_gradient": "topk_entropy_beta.gradient",
    "entropy_multilabel_conjugate": "multilabel_entropy.conjugate",
    "ova_hinge_prox": "ova_hinge.prox",
    "truncated_prox": "truncated_topk_entropy.prox",
    "squared_conjugate": "squared_topk_hinge.conjugate",
    "svm_primal": "svm.primal",
    "sparsemax_update": "sparsemax.sdca_update",
    "smooth_alpha_prox": "smooth_topk_hinge_alpha.prox",
    "smooth_beta_update": "smooth_topk_hinge_beta.sdca_update",
    "multilabel_hinge_prox": "multilabel_hinge.prox",
}
#: The solvers of `right_more.py`.
LATEST = {
    "simplex_heap": "simplex.projection",
    "simplex_pivot": "simplex.projection",
    "beta_prox": "topk_hinge_beta.prox",
    "beta_gradient": "topk_hinge_beta.gradient",
    "beta_value_heap": "topk_hinge_beta.value",
    "ova_hinge_value": "ova_hinge.value",
    "ova_hinge_gradient": "ova_hinge.gradient",
    "ova_hinge_conjugate": "ova_hinge.conjugate",
    "ova_logistic_prox": "ova_logistic.prox",
    "ova_smooth_conjugate": "ova_smooth_hinge.conjugate",
    "ova_smooth_update": "ova_smooth_hinge.sdca_update",
    "smooth_alpha_gradient": "smooth_topk_hinge_alpha.gradient",
    "smooth_alpha_conjugate": "smooth_topk_hinge_alpha.conjugate",
    "smooth_alpha_update": "smooth_topk_hinge_alpha.sdca_update",
    "smooth_beta_conjugate": "smooth_topk_hinge_beta.conjugate",
    "smooth_beta_prox": "smooth_topk_hinge_beta.prox",
    "squared_update": "squared_topk_hinge.sdca_update",
    "entropy_alpha_conjugate": "topk_entropy_alpha.conjugate",
    "entropy_beta_conjugate": "topk_entropy_beta.conjugate",
    "truncated_conjugate": "truncated_topk_entropy.conjugate",
    "entropy_beta_prox": "topk_entropy_beta.prox",
    "entropy_beta_update": "topk_entropy_beta.sdca_update",
    "multilabel_entropy_prox": "multilabel_entropy.prox",
    "multilabel_entropy_update": "multilabel_entropy.sdca_update",
    "multilabel_hinge_conjugate": "multilabel_hinge.conjugate",
    "multilabel_smooth_conjugate": "multilabel_smooth_hinge.conjugate",
    "multilabel_smooth_gradient": "multilabel_smooth_hinge.gradient",
    "multilabel_smooth_update": "multilabel_smooth_hinge.sdca_update",
    "softmax_value_online": "softmax.value",
    "ap_value_conquer": "average_precision.value",
    "ap_inference_conquer": "average_precision.loss_augmented_inference",
    "lambert_halley": "lambert_w_exp.value",
    "top_push_dual": "top_push.dual",
    "svm_plus_primal": "svm_plus_squared_hinge.primal",
}
SETS, RIGHT = (
    ("first", "second", "third", "fourth", "fifth", "sixth"),
    ("right", "right_sets", "right_losses", "right_more"),
)
FIXED: dict[str, dict[str, Any]] = {
    "erm_sdca": {"loss": "multiclass_hinge"},
    "svm_no_bias": {"bias": False},
    "svm_plus_smo": {"nonneg_slack": False},
    "binary_ascent": {"bias": False},
    "erm_softmax": {"loss": "softmax"},
    "svm_primal": {"loss": "hinge"},
    "svm_plus_primal": {"nonneg_slack": False},
}
#: Seconds per call of what is slow by its nature: coordinate ascent in plain Python at large C.
TIMEOUT = dict.fromkeys(
    ("erm_sdca", "svm_smo", "svm_primal", "svm_plus_smo", "top_push_dual", "svm_plus_primal"), 120.0
)


def ports(name: str) -> list[dict[str, str]]:
    """The faults of one set: ``name``, ``of``, and either ``old`` and ``new`` or ``code`` around ``right``."""
    text = importlib.resources.files(__name__).joinpath(f"{name}.toml").read_text()
    return tomllib.loads(text)["port"]


def build(of: str, old: str = "", new: str = "", code: str = "", **_: str) -> Callable[..., Any]:
    """The solver `of`, with ``old`` replaced by ``new`` in its file, or ``code`` around it."""
    files = [importlib.resources.files(__name__).joinpath(f"{name}.py") for name in RIGHT]
    file, text = next((f.name, t) for f in files if f"def {of}(" in (t := f.read_text()))
    if old:
        if text.count(old) < 1:
            raise ValueError(f"{old!r} is not in {file} any more")
        start = text.index(f"def {of}(") if old in text[text.index(f"def {of}(") :] else 0
        text = text[:start] + text[start:].replace(old, new, 1)
    names: dict[str, Any] = {"__name__": f"written_{of}"}
    exec(compile(text, file, "exec"), names)
    if code:
        names["right"] = names[of]
        exec(compile(code, "port.py", "exec"), names)
    return names["port" if code else of]


def run(port: dict[str, str], profile: str, **options: Any) -> verification.Report:
    """The report on one port."""
    of = port["of"]
    options = {"timeout": TIMEOUT.get(of, 10.0)} | options
    return verification.verify(
        build(**port),
        (PROBLEMS | MORE | LATEST)[of],
        profile,
        fixed=FIXED.get(of),
        shrink=False,
        **options,
    )


def main() -> None:
    """The command: a line of JSON for each port."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=[*SETS, "right", "right_more", "right_latest", "right_only"])
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    right = {"right": PROBLEMS, "right_more": MORE, "right_latest": LATEST}.get(args.set)
    runs: list[tuple[str, Callable[[], verification.Report]]]
    if args.set == "right_only":
        runs = [
            (
                f"{problem}: {getattr(solver, '__name__', type(solver).__name__)}",
                partial(
                    verification.verify, solver, problem, args.profile, shrink=False, **options
                ),
            )
            for solver, problem, options in right_only.PORTS
        ]
    else:
        chosen = [{"of": of, "name": of} for of in right] if right else ports(args.set)
        runs = [(port["name"], partial(run, port, args.profile)) for port in chosen]
    for name, judge in runs:
        if args.only in ("", name):
            start = time.process_time()
            report = judge()
            failed = {f.check: f.message[:100] for f in report.failures}
            row = {"name": name, "killed": not report.ok, "checks": sorted(failed)}
            row |= {"seconds": round(time.process_time() - start, 1)}
            if right or args.set == "right_only":
                row["failed"] = failed
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
