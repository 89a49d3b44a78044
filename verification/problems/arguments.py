"""What the arguments and the answer of a problem are, for who sees its JSON and nothing else."""

import json

from refsolve.spec import Symbol
from verification.problems.problem import Problem

#: Meaning of an argument of a model, by name; `_OF` knows the exceptions. Those of the other kinds are
#: symbols, and say it themselves.
MEANING = {
    "y": "class of the example, 0 to m - 1",
    "k": "number of guesses, an integer",
    "r": "radius",
    "gamma": "smoothing",
    "costs": "c, an entry for each of the main vector (with y: that at y is ignored), or null",
    "C": "weight of the sum of the losses",
    "sample_weight": "omega, weight of the example's loss, or null: 1",
    "X": "n rows of features (n, d); null where there is K",
    "Z": "n rows of privileged features (n, s); null where there is Kz",
    "K": "Gram matrix (n, n) in the place of X, or null",
    "Kz": "Gram matrix (n, n) in the place of Z, or null",
    "lam": "weight of 1/2 ||v||^2",
    "loss": "name of the loss",
    "groups": "query of each example (n,), or null: one query",
    "easy": "which examples are easy (n,), true or false",
    "bias": 'false, true (regularised), or "free"',
    "bags": "bag of each row of X (n,), 0 to B - 1",
    "p": "weights of the m classes, m numbers >= 0",
    "behind": "pairs (i, j) with g_i <= g_j, or null",
    "CA": "weight of the losses of the first view",
    "CB": "weight of the losses of the second view",
    "D": "weight of the disagreement",
    "eps": "disagreement that is free",
    "nonneg_slack": "whether xi_i >= 0 is asked for, true or false",
    "free_slack": "delta: own slacks at lam/(2 delta) eta_i^2; 0: none",
    "tol": "relative duality gap to reach",
}

_LABELS = "0 or 1 for each entry of the main vector"
#: Exceptions: kind, family or name of a stem -> meanings.
_OF: dict[str, dict[str, str]] = {
    "functions": {"t": "a number, or an array of any shape"},
    "ova": {"costs": "c, one per class, or null"},
    "multilabel": {
        "y": _LABELS,
        "costs": "c, one per class, or null",
        "scores": "a number for each class",
    },
    "ranking": {"y": _LABELS, "scores": "a number for each sample"},
    "sets": {"y": _LABELS},
    "models": {
        "k": "number of guesses, or null where the loss has none",
        "gamma": "smoothing, or null where the loss has none",
        "sample_weight": "weight of each example (n,), or null: 1",
        "y": "-1 or 1 for each example (n,)",
    },
    "multiclass_erm": {
        "y": "class of each example (n,), 0 to m - 1",
        "costs": "a margin for each class (m,), or null: those of the loss",
    },
    "pointwise_risk": {"costs": "a margin for each class (m,), or null: those of the loss"},
    "latent_ap_svm": {"y": "0 or 1 for each bag (B,)"},
}
_ZERO_ONE = ("ap_svm", "ap_svm_appx", "ap_ramp", "binary_svm")
#: What the answer is.
ANSWERS = {
    "projection": "the projection, an entry for each of a",
    "value": "the loss, a number",
    "gradient": "the gradient (or a subgradient) in f, an entry for each of scores",
    "conjugate": 'the conjugate, a number or "inf"',
    "prox": "the minimiser, an entry for each of v",
    "sdca_update": "the new block a of the example, an entry for each of q",
    "loss_augmented_inference": "coefficients of the scores in the loss, an entry for each of scores; "
    "value (the loss) and counts (negatives above each positive) may be given, both or none",
}


def meaning(problem: Problem, name: str) -> str:
    """What an argument is."""
    symbol = next((s for s in problem.symbols if s.name == name), None)
    found = MEANING if symbol is None else {name: _text(symbol)}
    for key in (problem.kind, problem.family, problem.stem):
        found = found | _OF.get(key, {})
    if problem.stem in _ZERO_ONE and name == "y":
        return "0 or 1 for each example (n,)"
    return found[name]


def _text(symbol: Symbol) -> str:
    return (
        f"{symbol.meaning}, an integer"
        if symbol.kind == "integer" and symbol.shape == "scalar"
        else symbol.meaning
    )


def rows(problem: Problem) -> list[tuple[str, str, str]]:
    """Name, meaning and default of every argument, in calling order."""
    return [(name, meaning(problem, name), _default(problem, name)) for name in problem.arguments]


def answer(problem: Problem) -> str:
    """What is asked for."""
    if problem.model is None:
        return (
            "W(e^t), of the shape of t"
            if problem.kind == "functions"
            else ANSWERS[problem.operation]
        )
    sides = {side: ", ".join(names) for side, names in problem.model.parts.items()}
    own = sides.pop(problem.operation)
    other = f"; judged by themselves, or with {', '.join(sides.values())}" if sides else ""
    return f"the {problem.operation} unknowns {own}, by name or in this order{other}"


def _default(problem: Problem, name: str) -> str:
    if name not in problem.defaults:
        return "required"
    value = problem.defaults[name]
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)
