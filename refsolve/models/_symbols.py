"""Arguments of the models, each with all that is known of it; their files put them in calling order."""

from dataclasses import replace
from typing import Any

from refsolve.errors import MISSING, InvalidParameterError
from refsolve.spec import REQUIRED, Symbol

ROWS = Symbol("X", "n rows of features (n, d)", shape="data")
OR_GRAM = replace(ROWS, meaning="n rows of features (n, d); null where there is K", default=None)
PRIVILEGED = Symbol(
    "Z", "n rows of privileged features (n, s); null where there is Kz", default=None, shape="data"
)
GRAM = Symbol("K", "Gram matrix (n, n) in the place of X, or null", default=None, shape="data")
GRAM_Z = Symbol("Kz", "Gram matrix (n, n) in the place of Z, or null", default=None, shape="data")
SIGNS = Symbol("y", "-1 or 1 for each example (n,)", shape="data")
RELEVANT = replace(SIGNS, meaning="0 or 1 for each example (n,)")
CLASSES = replace(SIGNS, meaning="class of each example (n,), 0 to m - 1")
POSITIVE = replace(SIGNS, meaning="0 or 1 for each bag (B,)")
WEIGHTS = Symbol(
    "sample_weight", "weight of each example (n,), or null: 1", low=0, default=None, shape="data"
)
GROUPS = Symbol(
    "groups", "query of each example (n,), or null: one query", default=None, shape="data"
)
EASY = Symbol("easy", "which examples are easy (n,), true or false", shape="data")
BAGS = Symbol("bags", "bag of each row of X (n,), 0 to B - 1", shape="data")
PROBABILITIES = Symbol("p", "weights of the m classes, m numbers >= 0", low=0, shape="data")
BEHIND = Symbol("behind", "pairs (i, j) with g_i <= g_j, or null", default=None, shape="data")
LOSS = Symbol("loss", "name of the loss", shape="name")
GUESSES = Symbol(
    "k", "number of guesses, or null where the loss has none", "integer", low=1, default=None
)
GAMMA = Symbol(
    "gamma", "smoothing, or null where the loss has none", low=0, low_open=True, default=None
)
BETA = Symbol(
    "beta", "falling weights of the ordered violations (m - 1,), or null: 1, or the loss has none",
    low=0, default=None, shape="data",
)  # fmt: skip
COSTS = Symbol(
    "costs",
    "a margin for each class (m,), or for each example and class (n, m) with 0 at its own class, "
    "or null: those of the loss",
    low=0,
    default=None,
    shape="data",
)
BIAS = Symbol("bias", 'false, true (regularised), or "free"', default=False, shape="name")
SLACKS = Symbol(
    "nonneg_slack", "whether xi_i >= 0 is asked for, true or false", default=True, shape="name"
)
BOX = Symbol("C", "weight of the loss", low=0, low_open=True)
SUM = replace(BOX, meaning="weight of the loss, a sum over the examples")
OWN = Symbol(
    "free_slack", "delta, own slacks at lam/(2 delta) w_i eta_i^2; 0: none", low=0, default=0.0
)

PENALIZED = Symbol(
    "penalize_bias", "whether 1/2 b^2 is added, true or false", default=False, shape="name"
)
SIGNED = Symbol(
    "label_signed", "whether xi_i = y_i (<v,z_i> + rho), true or false", default=False, shape="name"
)
FREE = Symbol("bias", "whether easy rows have a free bias", default=True, shape="name")
COUNT = Symbol("n_classes", "m, if not all classes occur", "integer", low=1, default=None)
RANKINGS = Symbol(
    "rankings", "all as constraints, cutting_plane: those that are needed, or auto", default="auto",
    shape="name",
)  # fmt: skip
CUTS = replace(RANKINGS, name="labels", meaning="labellings: all, cutting_plane or auto")
START = Symbol("start", "w to begin with (d,), or null: 0", default=None, shape="data")


def take(given: dict[str, Any], arguments: tuple[Symbol, ...], **options: Any) -> list[Any]:
    """The arguments of a model in order, then the options; missing and unknown names are refused."""
    defaults = {s.name: s.default for s in arguments} | options
    for name in given:
        if name not in defaults:
            raise InvalidParameterError(
                name, given[name], f"one of: {', '.join(defaults)}", f"drop {name}"
            )
    found = defaults | given
    for name, value in found.items():
        if value is REQUIRED:
            raise InvalidParameterError(name, MISSING, "a value", f"pass {name}=...")
    return list(found.values())
