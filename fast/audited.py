"""What a linear model of somebody's minimises: its loss, C and intercept, read from its settings or from names."""

from typing import Any

import numpy as np

from fast._validation import check_k, finite_array
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.families import named
from fast.families.entropies import Entropy
from fast.families.hinges import Hinge
from fast.families.signed import Signed
from fast.kernels.entropies import TRUNCATED
from fast.kernels.signed import BOX, LOGISTIC

SQUARED = "ova_squared_hinge"
#: Of one row for two classes: a multiclass loss of the scores (0, f) is a one-vs-all one of f.
ONE_ROW = {"softmax": "ova_logistic", "multiclass_hinge": "ova_hinge"}
SGD = {"hinge": "ova_hinge", "log_loss": "ova_logistic", "squared_hinge": SQUARED}


def settings_of(model: Any, y: np.ndarray, given: dict[str, Any], sample_weight: Any) -> tuple:
    """Weights, settings by the names of `fast.audit`, sample weights: as given, or as a fitted model says.

    Of scikit-learn, or another library's class of that name, as cuML has one.
    """
    if not hasattr(model, "get_params"):
        return model, given, sample_weight
    kind, said = type(model).__name__, model.get_params()
    if kind not in READERS:
        fix = "pass coef_ with loss, C and intercept; models of fast have dual_gap_"
        raise InvalidTypeError("W", kind, f"one of {', '.join(READERS)}, or weights", fix)
    if not hasattr(model, "coef_"):
        raise InvalidParameterError("W", f"{kind} that is not fitted", "a fitted model", "fit it")
    for name in (name for name, value in given.items() if value is not None):
        told = "given with a fitted model"
        raise InvalidParameterError(name, told, "what the model says", f"leave {name} out")
    _check_regulariser(said)
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_  # `sparsify`
    loss, C, scaling = READERS[kind](said, len(coef), len(y))
    if said.get("class_weight") is not None:
        if len(coef) > 1 and loss.startswith("ova"):  # its own positives weigh, all others are 1
            told = f"{said['class_weight']!r}, one-vs-all: of each class, in its own problem alone"
            fix = (
                "fit with sample_weight, which weighs an example in all problems, and pass it here"
            )
            raise InvalidParameterError("class_weight", told, "None", fix)
        from sklearn.utils.class_weight import compute_class_weight

        names, w = (
            model.classes_,
            np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight),
        )
        each = compute_class_weight(said["class_weight"], classes=names, y=y, sample_weight=w)
        sample_weight = w * each[np.searchsorted(names, y)]
    found = {"loss": loss, "C": C, "classes": model.classes_}
    if said["fit_intercept"]:
        found |= {"intercept": np.atleast_1d(model.intercept_), "intercept_scaling": scaling}
    return coef, given | found, sample_weight


def _check_regulariser(given: dict[str, Any]) -> None:
    """Bounds rest on 1/2 ||W||^2."""
    penalty = given.get("penalty", "l2")
    mixed = penalty == "elasticnet" or penalty == "deprecated"
    if penalty in (None, "none", "l1") or (mixed and given.get("l1_ratio")):
        found, expected = f"{penalty!r}, l1_ratio={given.get('l1_ratio')}", "'l2'"
        raise InvalidParameterError("penalty", found, expected, "a bound needs it: fit with it")
    if not np.isfinite(given.get("C", 1.0)) or given.get("alpha", 1.0) == 0.0:
        fix = "a bound needs a regulariser: fit with one"
        raise InvalidParameterError("C", "no regulariser", "a finite C (alpha > 0)", fix)


Read = tuple[str, float, float | None]  # loss, C, and what liblinear's constant feature is


def _logistic(said: dict[str, Any], m: int, n: int) -> Read:
    """Softmax, or of older versions one-vs-all; liblinear regularises its intercept."""
    loss = "ova_logistic" if said.get("multi_class") == "ovr" else "softmax"
    regularised = said.get("solver") == "liblinear"
    return loss, float(said["C"]), float(said["intercept_scaling"]) if regularised else None


def _svc(said: dict[str, Any], m: int, n: int) -> Read:
    """One-vs-all, or Crammer and Singer, whose one row is the difference of two that are regularised."""
    C, scaling = float(said["C"]), float(said["intercept_scaling"])
    if said["multi_class"] == "crammer_singer":
        return "multiclass_hinge", 2.0 * C if m == 1 else C, scaling
    return SGD[said["loss"]], C, scaling


def _sgd(said: dict[str, Any], m: int, n: int) -> Read:
    """A mean of losses and alpha/2 ||w||^2, one-vs-all; the intercept is free."""
    if said["loss"] not in SGD:
        fix = "others have no bound here"
        raise InvalidParameterError("loss", repr(said["loss"]), f"one of {tuple(SGD)}", fix)
    return SGD[said["loss"]], 1.0 / (float(said["alpha"]) * n), None


READERS = {"LogisticRegression": _logistic, "LinearSVC": _svc, "SGDClassifier": _sgd}


def loss_of(name: Any, k: int, gamma: float | None, m: int) -> tuple[Any, str, bool]:
    """A loss with its parameters, its stem, and whether it is one of signed scores."""
    if not isinstance(name, str):
        raise InvalidParameterError("loss", repr(name), "a stem of fast.losses", "loss='softmax'")
    parameters: dict[str, Any] = {} if gamma is None else {"gamma": gamma}
    if check_k(k) != 1:
        parameters["k"] = k
    if m == 1 and name in ONE_ROW:
        name = ONE_ROW[name]
    loss: Any = named("ova_smooth_hinge" if name == SQUARED else name, **parameters)
    signed = isinstance(loss, Signed) and not loss.indicated and loss.variant in (BOX, LOGISTIC)
    plain = isinstance(loss, Entropy | Hinge) and loss.variant != TRUNCATED
    if not signed and (m == 1 or not plain):
        expected = "a loss of one score" if m == 1 else "a convex loss of one label with a bound"
        fix = "take softmax, multiclass_hinge, ova_logistic, ova_hinge, ova_squared_hinge or a top-k one"
        raise InvalidParameterError("loss", f"{name!r}", expected, fix)
    if m > 1:
        loss.parameters(m - 1)
    return loss, name, signed


def labels_of(X: Any, y: Any) -> np.ndarray:
    """One per row."""
    y = getattr(X, "labels", None) if y is None else y
    if y is None:
        raise InvalidTypeError("y", "None", "labels (n,)", "pass y: X came without labels")
    y, n = np.asarray(y), X.shape[0]
    if y.shape != (n,) or not n:
        fix = "pass y as a vector"
        raise InvalidParameterError("y", f"shape {y.shape}", f"{n} labels, one per row of X", fix)
    return y


def weights_of(W: Any, intercept: Any, s: float | None, d: int) -> np.ndarray:
    """W (m, d), and in another column the weights of a constant feature s, 1 where that is None."""
    W = finite_array("W", W, (1, 2)).astype(np.float64)
    W = W[None] if W.ndim == 1 else W
    wanted = d + (s is not None and intercept is None)
    if W.shape[1] != wanted:
        fix = "pass the weights of these features"
        if W.shape[0] == wanted:
            fix = "it looks transposed: pass W.T"
        elif W.shape[1] == d + 1:
            fix = (
                "if the last column belongs to a constant feature 1, pass intercept_scaling=1.0; if it is a"
                " free intercept, W[:, :-1] and intercept=W[:, -1]"
            )
        raise InvalidParameterError("W", f"shape {W.shape}", f"shape (m, {wanted})", fix)
    if intercept is None:
        return W
    b = np.atleast_1d(finite_array("intercept", intercept, (0, 1)).astype(np.float64))
    if b.shape != (len(W),):
        given, expected = f"shape {b.shape}", f"{len(W)} numbers, one per row of W"
        raise InvalidParameterError("intercept", given, expected, "pass intercept_ as it is")
    return np.column_stack([W, b / (s or 1.0)])


def encoded(y: np.ndarray, classes: Any, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows of W, and the row of each label."""
    known = np.unique(y) if classes is None else np.asarray(classes)
    if known.shape != (m,) or len(np.unique(known)) != m:
        given = f"{len(known)} labels for {m} rows (one row counts for two classes)"
        fix = "pass classes, the labels in the order of the rows of W"
        raise InvalidParameterError(
            "W" if classes is None else "classes", given, "a row per label", fix
        )
    order = np.argsort(known, kind="stable")
    found = order[np.minimum(np.searchsorted(known[order], y), m - 1)]
    wrong = np.flatnonzero(known[found] != y)
    if wrong.size:
        given = f"the label {str(y[wrong[0]])!r}"
        raise InvalidParameterError("y", given, "labels of the rows of W", "check classes")
    return known, found.astype(np.int64)
