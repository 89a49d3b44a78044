"""What a linear model of somebody's minimises: its loss, C and intercept, read from its settings or from names."""

from typing import Any

import numpy as np

from fast._validation import check_k, finite_array
from fast.data import Source
from fast.data.columns import aligned, data_frame, wanted
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.families import named
from fast.families.signed import Signed
from fast.kernels.signed import BOX, LOGISTIC

SQUARED = "ova_squared_hinge"
#: Of one row for two classes: a multiclass loss of the scores (0, f) is a one-vs-all one of f.
ONE_ROW = {"softmax": "ova_logistic", "multiclass_hinge": "ova_hinge"}
SGD = {"hinge": "ova_hinge", "log_loss": "ova_logistic", "squared_hinge": SQUARED}


def unwrapped(model: Any, X: Any) -> tuple[Any, Any]:
    """The linear model inside searches and pipelines, and its rows: columns by name, transformers applied."""
    while True:
        X = _by_name(getattr(model, "feature_names_in_", None), X)
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            for part in model.get_params().values():  # fit_transform is not transform
                if hasattr(part, "fit_resample") or type(part).__name__ == "TargetEncoder":
                    told = f"a pipeline with {type(part).__name__}, whose rows of training are gone"
                    fix = "transform the rows, fit the last step to them, and pass both"
                    raise InvalidParameterError("W", told, "transformers of rows", fix)
            if isinstance(X, Source):
                fix = "pass an array or a frame, or transformed rows and the last step"
                raise InvalidParameterError("X", type(X).__name__, "what a pipeline takes", fix)
            X, model = model[:-1].transform(X) if len(model) > 1 else X, model[-1]
        else:
            return model, X


def _by_name(names: Any, X: Any) -> Any:
    """Columns in the order of names, where both have names; others are left out, with a warning."""
    if names is None or not len(names):
        return X
    if isinstance(X, Source):
        return aligned(X, names)
    if (frame := data_frame("X", X)) is None:
        return X
    import narwhals

    told = narwhals.from_native(frame, eager_only=True)
    return told.select(wanted(told.columns, names)).to_native()


def named_weights(W: Any, X: Any, given: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Weights, rows and settings: of a frame the names of features and classes, of a `torch.nn.Linear` its bias."""
    if any(c.__module__.startswith("torch.nn") and c.__name__ == "Linear" for c in type(W).__mro__):
        bias, known = W.bias, given["classes"]
        if bias is not None and given["intercept"] is not None:
            told, fix = "given beside the bias of the layer", "leave intercept out"
            raise InvalidParameterError("intercept", told, "one intercept", fix)
        if bias is not None:
            given = given | {"intercept": bias.detach().cpu().numpy()}
        if (
            known is None and W.out_features > 1
        ):  # by the numbers of classes, as cross_entropy has it
            given = given | {"classes": np.arange(W.out_features)}
        return W.weight.detach().cpu().numpy(), X, given
    if hasattr(W, "columns") and hasattr(W, "index"):  # a frame of pandas
        if all(isinstance(name, str) for name in W.columns):
            X = _by_name(W.columns, X)
        if given["classes"] is None and len(W) > 1 and type(W.index).__name__ != "RangeIndex":
            given = given | {"classes": W.index.to_numpy()}
        return W.to_numpy(), X, given
    return W, X, given


def settings_of(model: Any, y: np.ndarray, given: dict[str, Any], sample_weight: Any) -> tuple:
    """Weights, settings by the names of `fast.audit`, sample weights: as given, or as a fitted model says.

    Of scikit-learn, or another library's class of that name, as cuML has one.
    """
    if not hasattr(model, "get_params"):
        return model, given, sample_weight
    for name in (name for name, value in given.items() if value is not None):
        told = "given with a fitted model"
        raise InvalidParameterError(name, told, "what the model says", f"leave {name} out")
    several = any(c.__name__ == "OneVsRestClassifier" for c in type(model).__mro__)
    parts = getattr(model, "estimators_", [model]) if several else [model]
    kinds, read = zip(*(_read(part, len(y)) for part in parts), strict=True)
    if len(set(read)) > 1:
        told, fix = f"{read[0]} and other settings in other classes", "fit one model per C"
        raise InvalidParameterError("W", told, "one loss and one C", fix)
    (loss, C, scaling), said = read[0], parts[0].get_params()
    coef = np.vstack([p.coef_.toarray() if hasattr(p.coef_, "toarray") else p.coef_ for p in parts])
    if several:
        loss = ONE_ROW.get(loss, loss)
    weights = said.get("class_weight")
    if weights is not None:
        if len(coef) > 1 and loss.startswith("ova"):  # its own positives weigh, all others are 1
            told = f"{weights!r}, one-vs-all: of each class, in its own problem alone"
            fix = (
                "fit with sample_weight, which weighs an example in all problems, and pass it here"
            )
            raise InvalidParameterError("class_weight", told, "None", fix)
        from sklearn.utils.class_weight import compute_class_weight

        names, labels = parts[0].classes_, (y == model.classes_[-1]).astype(int) if several else y
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        count = None if kinds[0] in COUNT_ROWS else w
        each = compute_class_weight(weights, classes=names, y=labels, sample_weight=count)
        sample_weight = w * each[np.searchsorted(names, labels)]
    found = {"loss": loss, "C": C, "classes": model.classes_}
    if said.get("fit_intercept", True):
        b = np.concatenate([np.atleast_1d(p.intercept_) for p in parts])
        found |= {"intercept": b, "intercept_scaling": scaling}
    return coef, given | found, sample_weight


Read = tuple[str, float, float | None]  # loss, C, and what liblinear's constant feature is


def _read(model: Any, n: int) -> tuple[str, Read]:
    """The class that is known, a subclass of which the model may be, and what it minimises over n rows."""
    kinds = [c.__name__ for c in type(model).__mro__ if c.__name__ in READERS]
    if not kinds:
        fix = "pass coef_ with loss, C and intercept; models of fast have dual_gap_"
        known = f"one of {', '.join(READERS)}, alone, in a Pipeline, a search that refits or OneVsRestClassifier"
        raise InvalidTypeError("W", type(model).__name__, f"{known}, or weights", fix)
    if not hasattr(model, "classes_"):
        told = f"{type(model).__name__} that is not fitted"
        raise InvalidParameterError("W", told, "a fitted model", "fit it")
    said = model.get_params()
    _check_regulariser(said)
    return kinds[0], READERS[kinds[0]](model, said, n)


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


def _logistic(model: Any, said: dict[str, Any], n: int) -> Read:
    """Softmax, or of older versions one-vs-all; liblinear regularises its intercept."""
    loss = "ova_logistic" if said.get("multi_class") == "ovr" else "softmax"
    regularised = said.get("solver") == "liblinear"
    scaling = float(said["intercept_scaling"]) if regularised else None
    return loss, float(said.get("C", 1.0)), scaling


def _logistic_cv(model: Any, said: dict[str, Any], n: int) -> Read:
    """The same of the C that was chosen."""
    chosen = np.unique(model.C_)
    if not said["refit"] or len(chosen) > 1 or any(np.atleast_1d(model.l1_ratio_)):
        told = f"refit={said['refit']}, C_={model.C_}, l1_ratio_={model.l1_ratio_}"
        fix = "fit with refit=True and l1_ratios=(0,)"
        raise InvalidParameterError("W", told, "a model trained anew with one C and l2", fix)
    loss, _, scaling = _logistic(model, said, n)
    return loss, float(chosen[0]), scaling


def _linear_svc(model: Any, said: dict[str, Any], n: int) -> Read:
    """One-vs-all, or Crammer and Singer, whose one row is the difference of two that are regularised."""
    C, scaling = float(said["C"]), float(said["intercept_scaling"])
    if said["multi_class"] == "crammer_singer":
        return "multiclass_hinge", 2.0 * C if len(model.coef_) == 1 else C, scaling
    return SGD[said["loss"]], C, scaling


def _svc(model: Any, said: dict[str, Any], n: int) -> Read:
    """Of two classes; the intercept is free."""
    if said["kernel"] != "linear" or len(model.classes_) > 2:
        told = f"SVC with kernel={said['kernel']!r} of {len(model.classes_)} classes"
        fix = "pass OneVsRestClassifier(SVC(kernel='linear')), or two classes at a time"
        raise InvalidParameterError("W", told, "kernel='linear' and two classes", fix)
    return SGD["hinge"], float(said["C"]), None


def _sgd(model: Any, said: dict[str, Any], n: int) -> Read:
    """A mean of losses and alpha/2 ||w||^2, one-vs-all; the intercept is free."""
    if said["loss"] not in SGD:
        fix = "others have no bound here"
        raise InvalidParameterError("loss", repr(said["loss"]), f"one of {tuple(SGD)}", fix)
    if said.get("early_stopping"):
        told, fix = "True: it trained on a part of the rows", "fit with early_stopping=False"
        raise InvalidParameterError("early_stopping", told, "False", fix)
    if said["learning_rate"] in ("pa1", "pa2"):
        told, fix = repr(said["learning_rate"]), "fit with another"
        raise InvalidParameterError("learning_rate", told, "one that minimises the objective", fix)
    return SGD[said["loss"]], 1.0 / (float(said["alpha"]) * n), None


READERS = {"LogisticRegressionCV": _logistic_cv, "LogisticRegression": _logistic, "LinearSVC": _linear_svc,
           "SVC": _svc, "SGDClassifier": _sgd}  # fmt: skip
#: Whose class_weight="balanced" does not see sample_weight, in scikit-learn 1.9.
COUNT_ROWS = ("SGDClassifier", "SVC")


def loss_of(name: Any, k: int, gamma: float | None, m: int) -> tuple[Any, str, bool]:
    """A loss with its parameters, its object, and whether it is one of signed scores."""
    if not isinstance(name, str):
        raise InvalidParameterError(
            "loss", repr(name), "an object of fast.losses", "loss='softmax'"
        )
    parameters: dict[str, Any] = {} if gamma is None else {"gamma": gamma}
    if check_k(k) != 1:
        parameters["k"] = k
    if m == 1 and name in ONE_ROW:
        name = ONE_ROW[name]
    loss: Any = named("ova_smooth_hinge" if name == SQUARED else name, **parameters)
    signed = isinstance(loss, Signed) and not loss.indicated and loss.variant in (BOX, LOGISTIC)
    if not signed and (m == 1 or "simplex" not in loss.capabilities):
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
    y = y[:, 0] if y.shape == (n, 1) else y
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
