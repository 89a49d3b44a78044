"""Instances of a multiclass risk: data, losses and parameters at their ends and in between."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.proofs.loss import generator_of
from verification.models import twins

Params = dict[str, Any]
Rng = np.random.Generator

#: Losses that are taken for one another.
RELATIVES: dict[str, tuple[str, ...]] = {
    "multiclass_hinge": ("ova_hinge",),
    "topk_hinge_alpha": ("topk_hinge_beta", "multiclass_hinge"),
    "topk_hinge_beta": ("topk_hinge_alpha", "multiclass_hinge"),
    "smooth_topk_hinge_alpha": ("smooth_topk_hinge_beta", "topk_hinge_alpha"),
    "smooth_topk_hinge_beta": ("smooth_topk_hinge_alpha", "topk_hinge_beta"),
    "softmax": ("ova_logistic",),
    "topk_entropy_alpha": ("topk_entropy_beta", "softmax"),
    "topk_entropy_beta": ("topk_entropy_alpha", "softmax"),
    "ova_hinge": ("multiclass_hinge",),
    "ova_logistic": ("softmax",),
}


def convex(family: str = "") -> tuple[str, ...]:
    """Losses with a dual, of a family or all: those that a risk can be made of."""
    return tuple(
        object_name
        for object_name in catalogue.object_names("losses")
        if hasattr(module := catalogue.load(object_name), "dual_set")
        and not module.SPEC.oracle_only
        and getattr(module, "family", "multiclass").startswith(family)
    )


def trained() -> tuple[str, ...]:
    """Losses that `fast` trains: those with a dual and a twin."""
    return tuple(s for s in convex() if twins.exists("losses", s))


MULTILABEL = convex("multilabel")


def estimator(loss: str, given: Params) -> tuple[str, dict[str, Any]] | None:
    """Estimator of `fast` with the parameters that make it train a loss, or None if none does."""
    import fast
    from fast.families import named
    from fast.families.entropies import Entropy
    from fast.families.hinges import Hinge
    from fast.kernels.hinges import BETA
    from fast.losses.consistent_topk_hinge import ConsistentTopKHinge
    from fast.losses.ordered_weighted_hinge import OrderedWeightedHinge

    for name in ("OneVsAllClassifier", "MultilabelClassifier"):
        for loss_name, object_name in getattr(fast, name).object_names.items():
            if object_name == loss:
                return name, {"loss": loss_name, **given}
    found = named(loss, **given)
    beta = isinstance(found, Entropy | Hinge) and found.variant == BETA
    variant = {"variant": "beta"} if beta else {}
    if isinstance(found, Entropy):
        return "TopKLogisticRegression", {"k": found.k, **variant}
    if isinstance(found, Hinge):
        return "TopKSVC", {"k": found.k, "gamma": found.gamma, **variant}
    if isinstance(found, ConsistentTopKHinge):
        return "TopKSVC", {"variant": "consistent", **given}
    if isinstance(found, OrderedWeightedHinge):
        return "TopKSVC", {"beta": found.beta}
    return None


def labelled(loss: str) -> bool:
    """Whether a loss takes rows of labels."""
    return getattr(catalogue.load(loss), "family", "") == "multilabel"


def parameters(params: Params) -> dict[str, Any]:
    """The loss's own parameters, as far as they are given."""
    names = catalogue.load(params["loss"]).SPEC.names
    return {name: params[name] for name in names if params.get(name) is not None}


def valid(params: Params) -> bool:
    """Whether the arguments fit together."""
    X, K, y, loss = params["X"], params["K"], params["y"], params["loss"]
    if (X is None) == (K is None) or loss not in convex() or len(y) == 0:
        return False
    data = X if K is None else K
    if data.ndim != 2 or len(data) != len(y) or data.size == 0 or not np.isfinite(data).all():
        return False
    if K is not None and not _is_gram(K):
        return False
    if labelled(loss) != (y.ndim == 2):
        return False
    m = y.shape[1] if y.ndim == 2 else int(y.max()) + 1
    if y.ndim == 1 and (y.min() < 0 or len(np.unique(y)) != m):
        return False
    if m < 2 or (y.ndim == 2 and not _indicators(y, loss)):
        return False
    names = catalogue.load(loss).SPEC.names
    k, gamma = params["k"], params["gamma"]
    if (k is None) == ("k" in names) or (gamma is None) == ("gamma" in names):
        return False
    if k is not None and not 1 <= k <= m - 1:
        return False
    if not fits(params["beta"], names, m):
        return False
    if not (0 < params["C"] < np.inf) or (gamma is not None and not 0 < gamma < np.inf):
        return False
    return _weights(params["sample_weight"], len(y)) and _costs(params["costs"], y, m)


def fits(beta: np.ndarray | None, names: tuple[str, ...], m: int) -> bool:
    """Whether the weights of ordered violations are some: m - 1 that fall, or none."""
    if beta is None:
        return True
    falling = np.diff(np.append(beta, 0.0)) <= 0
    return "beta" in names and np.shape(beta) == (m - 1,) and bool(falling.all())


def fitting(params: Params) -> Params:
    """With the first of the weights, as many as there are classes for."""
    if params["beta"] is None or params["y"].ndim != 1:
        return params
    return {**params, "beta": params["beta"][: int(params["y"].max())]}


def _is_gram(K: np.ndarray) -> bool:
    if K.shape[0] != K.shape[1] or not np.array_equal(K, K.T) or not K.any():
        return False
    values = np.linalg.eigvalsh(K)
    return bool(values[0] >= -len(K) * np.finfo(float).eps * values[-1])


def _indicators(y: np.ndarray, loss: str) -> bool:
    # a target distribution needs a positive label
    rows = bool(y.any(axis=1).all()) or not generator_of(catalogue.load(loss)).shifted
    return rows and bool(np.isin(y, (0, 1)).all())


def _weights(weight: np.ndarray | None, n: int) -> bool:
    return weight is None or (weight.shape == (n,) and bool((weight >= 0).all()))


def _costs(costs: np.ndarray | None, y: np.ndarray, m: int) -> bool:
    if costs is None:
        return True
    if y.ndim == 2 or costs.shape not in ((m,), (len(y), m)) or costs.min() < 0:
        return False
    return costs.ndim == 1 or not costs[np.arange(len(y)), y].any()


def finalize(params: Params, rng: Rng) -> Params:
    """K and gamma for the loss, 0/1 rows for a multilabel one; what it does not have is dropped."""
    if params["loss"] not in convex():
        return params
    names = catalogue.load(params["loss"]).SPEC.names
    y = params["y"]
    changed = dict(params)
    if labelled(params["loss"]) and y.ndim == 1:
        m = int(y.max()) + 1
        changed["y"] = np.eye(m, dtype=np.int64)[y] | (rng.random((len(y), m)) < 0.3)
        changed["costs"] = None
    m = int(y.max()) + 1 if y.ndim == 1 else y.shape[1]
    if "k" not in names:
        changed["k"] = None
    elif params["k"] is None:
        changed["k"] = _k(rng, m)
    if "gamma" not in names:
        changed["gamma"] = None
    elif params["gamma"] is None:
        changed["gamma"] = _gamma(rng)
    if "beta" not in names:
        changed["beta"] = None
    elif params.get("beta") is None:
        symbol = next(s for s in catalogue.load(params["loss"]).SPEC.symbols if s.name == "beta")
        changed["beta"] = symbol.draw(rng, m - 1, 1.0, {})
    return changed


def _k(rng: Rng, m: int) -> int:
    return int(rng.choice([1, m - 1, int(rng.integers(1, m))]))


def _gamma(rng: Rng) -> float:
    return float(rng.choice([0.1, 1.0, 10.0]))


def _C(rng: Rng) -> float:
    return float(rng.choice([0.01, 0.1, 1.0, 10.0, 10.0 ** rng.uniform(-2, 2)]))


def _labels(rng: Rng, n: int, m: int) -> np.ndarray:
    """Every class at least once."""
    return rng.permutation(np.append(np.arange(m), rng.integers(0, m, max(n - m, 0)))).astype(
        np.int64
    )


def _sizes(rng: Rng, largest: int) -> tuple[int, int, int]:
    m = int(rng.integers(2, 7))
    n = int(rng.integers(m, max(largest, m) + 1))
    return n, m, int(rng.integers(1, 6))


Maker = Callable[[Rng, int], Params]


def _stream(maker: Maker) -> Callable[[Rng, int], Iterator[Params]]:
    """Every loss in turn, in an order that changes."""

    def generate(rng: Rng, largest: int) -> Iterator[Params]:
        while True:
            for loss in rng.permutation(trained()):
                drawn = {"loss": str(loss), "C": _C(rng), "k": None, "gamma": None}
                yield finalize(drawn | maker(rng, largest), rng)

    return generate


def _random(rng: Rng, largest: int) -> Params:
    n, m, d = _sizes(rng, largest)
    return {"X": rng.standard_normal((n, d)), "y": _labels(rng, n, m)}


def _clusters(rng: Rng, largest: int) -> Params:
    """Separable: a large C asks for the hard margin."""
    n, m, d = _sizes(rng, largest)
    y = _labels(rng, n, m)
    centres = 4 * rng.standard_normal((m, d + 1))
    X = centres[y] + 0.1 * rng.standard_normal((n, d + 1))
    return {"X": X, "y": y, "C": float(10.0 ** rng.integers(0, 4))}


def _ties(rng: Rng, largest: int) -> Params:
    """Few distinct examples, with several labels each."""
    n, m, d = _sizes(rng, largest)
    return {"X": rng.choice([-1.0, 0.0, 0.5, 1.0], size=(n, d)), "y": _labels(rng, n, m)}


def _zero_rows(rng: Rng, largest: int) -> Params:
    drawn = _random(rng, largest)
    drawn["X"][rng.random(len(drawn["y"])) < rng.choice([0.2, 0.5, 1.0])] = 0.0
    return drawn


def _repeated(rng: Rng, largest: int) -> Params:
    drawn = _random(rng, largest)
    n = len(drawn["y"])
    drawn["X"] = drawn["X"][rng.integers(0, max(1, n // 3), n)]
    return drawn


def _one_each(rng: Rng, largest: int) -> Params:
    m = int(rng.integers(2, 9))
    return {"X": rng.standard_normal((m, int(rng.integers(1, 6)))), "y": rng.permutation(m)}


def _many_classes(rng: Rng, largest: int) -> Params:
    """More classes than a register or a small buffer holds."""
    m = int(rng.integers(9, 14))
    n = 2 * m + int(rng.integers(0, m))
    return {"X": rng.standard_normal((n, int(rng.integers(2, 9)))), "y": _labels(rng, n, m)}


def _beyond_64(rng: Rng, largest: int) -> Params:
    """More classes than a mask of 64 bits, or two warps, can tell apart; without centres W = 0 suits hinges."""
    m = int(rng.integers(65, 71))
    y = _labels(rng, 2 * m + int(rng.integers(0, 6)), m)
    centres, noise = rng.standard_normal((m, 8)), rng.standard_normal((len(y), 8))
    return {"X": (centres[y] + noise / 2)[:, : int(rng.integers(2, 9))], "y": y}


def _ends(rng: Rng, largest: int) -> Params:
    """K = 1 and k = m - 1."""
    drawn = _random(rng, largest)
    return drawn | {"k": int(rng.choice([1, int(drawn["y"].max())]))}


def _scales(rng: Rng, largest: int) -> Params:
    drawn = _random(rng, largest)
    drawn["X"] *= 10.0 ** rng.uniform(-3, 3)
    size = float(np.square(drawn["X"]).sum(axis=1).mean())
    return drawn | {"C": float(10.0 ** rng.uniform(-6, 3) / size)}


def _weighted(rng: Rng, largest: int) -> Params:
    """Some examples have no weight, some a large one."""
    drawn = _random(rng, largest)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0, 100.0], size=len(drawn["y"]))
    return drawn | {"sample_weight": weight}


def _with_costs(rng: Rng, largest: int) -> Params:
    """Margins per class, or per example and class."""
    drawn = _random(rng, largest)
    y = drawn["y"]
    m = int(y.max()) + 1
    if rng.random() < 0.5:
        return drawn | {"costs": rng.choice([0.5, 1.0, 2.0], size=m)}
    costs = rng.choice([0.0, 0.5, 1.0, 2.0], size=(len(y), m))
    costs[np.arange(len(y)), y] = 0.0
    return drawn | {"costs": costs}


def _gram(rng: Rng, largest: int) -> Params:
    """A linear kernel, of low rank, or a Gaussian one."""
    drawn = _random(rng, largest)
    X = drawn.pop("X")
    if rng.random() < 0.5:
        K = X @ X.T
    else:
        K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    return drawn | {"X": None, "K": (K + K.T) / 2}


def _digits(rng: Rng, largest: int) -> Params:
    """Rows of scikit-learn's digits, of a few classes, in [0, 1]."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = rng.choice(10, size=int(rng.integers(2, 6)), replace=False)
    first = [int(rng.choice(np.flatnonzero(y == c))) for c in chosen]
    more = rng.choice(np.flatnonzero(np.isin(y, chosen)), size=max(largest - len(first), 0))
    rows = np.append(first, more).astype(int)
    labels = np.unique(y[rows], return_inverse=True)[1].astype(np.int64)
    return {"X": X[rows] / 16, "y": labels}


FAMILIES: dict[str, Callable[[Rng, int], Iterator[Params]]] = {
    "random": _stream(_random),
    "ties": _stream(_ties),
    "separable": _stream(_clusters),
    "zero rows": _stream(_zero_rows),
    "repeated examples": _stream(_repeated),
    "one example per class": _stream(_one_each),
    "k at its ends": _stream(_ends),
    "scales": _stream(_scales),
    "weighted": _stream(_weighted),
    "costs": _stream(_with_costs),
    "gram": _stream(_gram),
    "digits": _stream(_digits),
    "many classes": _stream(_many_classes),
    "more than 64 classes": _stream(_beyond_64),
}
