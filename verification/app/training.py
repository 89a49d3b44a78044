"""What ``refsolve train`` does: prepare, fit, measure, and write a model with its report."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path as FilePath
from types import SimpleNamespace
from typing import Any

import numpy as np

from verification.app.column_checks import doubts
from verification.app.console import check_file, make_folder, say, stage
from verification.app.dataset import Examples
from verification.app.labels import listed
from verification.app.metrics import Measured, blocks, measure
from verification.app.model_file import SUFFIX, packed
from verification.app.multilabel import aligned
from verification.app.path import Path, fit_path
from verification.app.plots import pictures
from verification.app.preprocessing import numbers, transformer
from verification.app.trained_model import Model
from verification.errors import DataFileError, InvalidArgumentError
from verification.report.document import Block, Cell, Document, Paragraph, number, seconds, table
from verification.report.render import beside, rendered, replace_files

#: By name, the estimator of `fast` and its options; what they are where they are not given.
MODELS = {
    "svm": ("TopKSVC", "k", "variant", "gamma", "fit_intercept", "class_weight"),
    "logistic": ("TopKLogisticRegression", "k", "variant", "truncated", "fit_intercept", "class_weight"),
    "ap": ("APSVM",),
    "svmplus": ("SVMPlusClassifier", "lam"),
    "multilabel": ("MultilabelClassifier", "loss", "gamma", "fit_intercept"),
}
OPTIONS = {"k": 1, "variant": "alpha", "gamma": 0.0, "truncated": False, "lam": None, "loss": None,
           "fit_intercept": False, "class_weight": None}  # fmt: skip
TITLES = {
    "TopKSVC": "Top-k SVM",
    "TopKLogisticRegression": "Top-k logistic regression",
    "APSVM": "AP-SVM",
    "SVMPlusClassifier": "SVM with privileged information",
    "MultilabelClassifier": "Multilabel classifier",
}


#: Said once in every report of a certified model.
MEANING = (
    "Certified: no model has a training objective that is lower by more than the gap. That is about the training "
    "problem; the accuracies below say how good the answers are."
)
#: Said where nothing was held out.
SEEN = (
    "Measured on the training examples alone; on new ones accuracy is lower: --holdout 0.2 or --test FILE measures it."
)
#: What the parameters of the estimators are called in reports.
NAMES = {"gamma": "smoothing gamma", "lam": "lambda, weight of the correcting function",
         "fit_intercept": "bias per class", "k": "guesses k", "seconds": "training time"}  # fmt: skip


def title_of(classifier: Any) -> str:
    """What a trained model is called; of two classes the loss has no k."""
    name = TITLES[type(classifier).__name__]
    if not name.startswith("Top-k"):
        return name
    if len(classifier.classes_) == 2:
        return {"Top-k SVM": "SVM", "Top-k logistic regression": "Logistic regression"}[name]
    single = {"Top-k SVM": "Multiclass SVM", "Top-k logistic regression": "Multinomial logistic regression"}
    return single[name] if classifier.k == 1 else name


@dataclass(frozen=True)
class Trained:
    """A fitted model and the document."""

    model: Model
    document: Document


def split_holdout(examples: Examples, fraction: float, seed: int) -> tuple[Examples, Examples]:
    """Train and holdout parts, of every class the same share; with groups, whole groups."""
    from sklearn.model_selection import GroupShuffleSplit, train_test_split

    _check_seed(seed)
    if not 0.0 < fraction < 1.0:
        raise InvalidArgumentError(
            f"holdout is {fraction}; expected a fraction strictly between 0 and 1"
        )
    assert examples.y is not None
    rows, shares = np.arange(len(examples.y)), None if examples.labels else examples.y
    try:
        if examples.group is not None:
            splitter = GroupShuffleSplit(1, test_size=fraction, random_state=seed)
            first, second = next(splitter.split(rows, groups=examples.group))
        else:
            first, second = train_test_split(
                rows, test_size=fraction, random_state=seed, stratify=shares
            )
    except ValueError:
        raise InvalidArgumentError(_undrawn(examples, fraction)) from None
    return examples.part(first), examples.part(second)


def _undrawn(examples: Examples, fraction: float) -> str:
    """Why a holdout cannot be drawn."""
    text = f"holdout={fraction} cannot be drawn with every class on both sides: "
    if examples.group is not None or examples.labels:
        return text + f"{len(examples.X)} examples are too few; expected more, or examples of their own in --test"
    names, counts = np.unique(np.asarray(examples.y), return_counts=True)
    rare = [f"{name!s:.40}" for name, n in zip(names, counts, strict=True) if n < 2]
    if rare:
        counted = "; if these are counts or measurements, put them into classes first, or name another --label"
        return text + (
            f"{listed(rare)} of {len(names)} classes have one example; expected two of each: --rare-classes "
            "drop or merge, or examples of their own with --test" + counted * (names.dtype.kind in "iu")
        )
    return text + (
        f"{len(names)} classes and {len(examples.X)} examples; expected a part that holds each class: another "
        "fraction, or --test"
    )


def _check_seed(seed: object) -> None:
    if isinstance(seed, int | np.integer) and not 0 <= seed < 2**32:
        raise InvalidArgumentError(f"seed={seed}: expected an integer from 0 to 2**32 - 1, e.g. 0")


def train(
    examples: Examples,
    *,
    test: Examples | None = None,
    judged: str = "holdout",
    scale: str = "standard",
    impute: str | None = None,
    categories: Sequence[str] = (),
    model: str = "svm",
    C: float | Sequence[float] = 1.0,
    overwrite: bool = False,
    **parameters: Any,
) -> Trained:
    """Fit an estimator of `fast` on prepared examples and describe the result; of several C the best.

    P = 1/2 ||W||^2 + C sum_i L(y_i, W'x_i), x_i as prepared; the gap reported is (P - D)/max(|P|, |D|).
    ``overwrite``: the examples' numbers may be scaled in place, which saves their memory. Raises the
    estimator's own errors, and DataFileError, which names the file, where the data do not fit it.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline

    from fast.errors import CollapseWarning

    told = (ConvergenceWarning, CollapseWarning)  # the document says them
    _check_seed(parameters.get("random_state"))
    Cs = (C,) if isinstance(C, int | float) else tuple(C)
    classifier = new_classifier(model, C=Cs[0], **parameters)
    _check_classes(examples, test, model)
    doubtful = doubts(examples)
    transform = transformer(examples, scale, impute, categories)
    made = unfitted(examples, transform, scale, impute)
    X = made.fed(examples)
    if test is not None:
        made.fed(test)  # refused now, not after the training
        if odd := made.additional(test):
            say(f"{test.source.name}: columns that were not trained on are left out: {listed(odd)}")
    options = _options(model, examples)
    if len(Cs) > 1 and test is None:
        raise InvalidArgumentError(
            f"C has {len(Cs)} values; expected examples to choose by: add --holdout 0.2, or --test FILE"
        )
    with stage("made the kernels ready"):
        compile_kernels(classifier, examples.sparse)
    path: Path | None = None
    try:
        with stage("trained"), warnings.catch_warnings(record=True) as caught:
            for said in told:
                warnings.simplefilter("always", said)
            prepared = X if transform is None else _fit_transform(transform, X, overwrite)
            if len(Cs) == 1:
                classifier.fit(prepared, examples.y, **options)
            else:
                assert test is not None
                path = _path(classifier, Cs, made, transform, prepared, options, examples, test)
                classifier = path.best
        classifier.set_params(verbose=0)  # the bar was for this fit, not for whoever loads it
    except ValueError as error:  # scikit-learn's own validation
        if type(error).__module__.partition(".")[0] == "fast":
            raise
        raise DataFileError(f"{examples.source} cannot be trained on: {error}") from error
    advice = [*_advice(caught, told), *doubtful]
    estimator = classifier if transform is None else make_pipeline(transform, classifier)
    fitted = replace(made, estimator=estimator)
    bare = replace(made, estimator=classifier, scale="none", columns=None, impute=None, categories={}, booleans=())
    parts = {"train": (bare, _of_prepared(examples, prepared))}
    parts |= {} if test is None else {judged: (fitted, test)}
    return Trained(fitted, _shown(fitted, parts, scale, advice, path))


def _fit_transform(transform: Any, X: Any, overwrite: bool) -> Any:
    """The same numbers as of ``fit_transform``, of a scaler in the memory of X where that may be."""
    if not overwrite or not hasattr(transform, "copy") or not isinstance(X, np.ndarray):
        return transform.fit_transform(X)
    with suppress(ValueError):  # of pandas, whose views are read-only, the memory itself is not
        X.setflags(write=True)
    try:
        return transform.fit(X).set_params(copy=not X.flags.writeable).transform(X)
    finally:
        transform.set_params(copy=True)


def _of_prepared(examples: Examples, prepared: Any) -> Examples:
    """Examples whose features are as the classifier takes them."""
    import pandas as pd

    X = prepared if examples.sparse else pd.DataFrame(prepared, copy=False)
    return replace(examples, X=X, named=False)


def _advice(caught: Sequence[warnings.WarningMessage], told: tuple[type, ...]) -> list[str]:
    """Warnings that the document says; the others go on."""
    for other in caught:
        if not issubclass(other.category, told):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return [str(w.message) for w in caught if issubclass(w.category, told)]


def _shown(
    model: Model, parts: dict[str, tuple[Model, Examples]], scale: str, advice: Sequence[str], path: Path | None
) -> Document:
    """The model measured on its parts, for each as it takes them; pictures of the last one."""
    with stage("measured, and drawn"):
        measured = {name: measure(*part) for name, part in parts.items()}
        shown = pictures(*[*parts.values()][-1], path)
    document = describe(model, measured, scale, advice, path)
    title = f"{document.title} trained on {parts['train'][1].source.name}"
    return replace(document, title=title, appendix=shown)


def _path(
    classifier: Any, C: Sequence[float], made: Model, transform: Any, X: Any, options: dict[str, Any],
    examples: Examples, test: Examples,
) -> Path:  # fmt: skip
    given = made.fed(test)
    y = aligned(test, made.labels) if made.labels else test.y
    judged = (given if transform is None else transform.transform(given), y, test.group)
    assert examples.y is not None
    return fit_path(classifier, C, X, examples.y, options, judged)


def _check_classes(examples: Examples, test: Examples | None, model: str) -> None:
    y = examples.y
    assert y is not None
    if examples.labels and (y.sum(axis=1) == 1).all():
        raise InvalidArgumentError(
            f"{examples.source}: every example has one label; expected several of some for --model multilabel: "
            "--model svm or logistic trains on one each"
        )
    if (y == y[0]).all():
        raise DataFileError(
            f"{examples.source} cannot be trained on: all {len(y)} labels are {y[0]!s:.80}; expected at "
            "least two classes: name the column or array of labels with --label, or add examples of another "
            "class"
        )
    if model == "ap" and len(np.unique(y)) > 2:
        raise InvalidArgumentError(
            f"{examples.source} has {len(np.unique(y))} classes; AP-SVM ranks one before the rest: name it "
            "with --positive"
        )
    judged = y if test is None or test.y is None else test.y
    known = (test.labels, examples.labels) if test is not None and examples.labels else (judged, y)
    if (unknown := np.setdiff1d(*known)).size:
        raise DataFileError(
            f"label(s) {listed(unknown.tolist())} of the examples to measure on are none of the classes in "
            f"{examples.source}; expected classes that are trained: leave these examples out, or train on some"
        )


def unfitted(examples: Examples, transform: object, scale: str, impute: str | None) -> Model:
    """What knows how to feed the estimator, before there is one."""
    kinds = {}
    for name, step, columns in getattr(transform, "transformers", ()):
        if name == "categories":
            kinds = dict(zip(columns, step.categories, strict=True))
    stand_in = SimpleNamespace(n_features_in_=examples.X.shape[1])
    roles = (examples.apart, examples.positive, examples.grouped)
    names = {} if examples.sparse else {c: c if examples.named else str(j) for j, c in enumerate(examples.X.columns)}
    booleans = tuple(names[c] for c in examples.booleans if c in names and names[c] not in kinds)
    return Model(stand_in, scale, examples.columns, impute, kinds, *roles, labels=examples.labels,
                 features=examples.features, index_base=examples.index_base, booleans=booleans)  # fmt: skip


def _options(model: str, examples: Examples) -> dict[str, Any]:
    """What `fit` takes besides X and y."""
    if model != "ap" and examples.group is not None:
        raise InvalidArgumentError("--group belongs to --model ap, which ranks within each group")
    if model != "svmplus" and examples.Z is not None:
        raise InvalidArgumentError("--privileged belongs to --model svmplus")
    if model == "ap":
        if examples.weight is not None:
            raise InvalidArgumentError(
                "--weight does not go with --model ap: ranks have no weights"
            )
        return {"groups": examples.group}
    options: dict[str, Any] = {"sample_weight": examples.weight}
    if model == "svmplus" and examples.Z is not None:
        options["Z"] = numbers(replace(examples, X=examples.Z))
    return options


def new_classifier(model: str, **parameters: Any) -> Any:
    """The unfitted estimator of that name; options that it does not have are refused."""
    import fast

    if model not in MODELS:
        raise InvalidArgumentError(f"model is {model!r}; expected one of {', '.join(MODELS)}")
    kind, *own = MODELS[model]
    given = {name: parameters.pop(name, default) for name, default in OPTIONS.items()}
    given = {name: value for name, value in given.items() if value != OPTIONS[name]}
    if wrong := [name for name in given if name not in own]:
        others = " or ".join(f"model={name!r}" for name in MODELS if wrong[0] in MODELS[name])
        why = (
            "the entropy loss is smooth by itself; "
            if (model, wrong[0]) == ("logistic", "gamma")
            else ""
        )
        raise InvalidArgumentError(
            f"{wrong[0]} does not belong to model={model!r}: {why}leave it out, or use {others}"
        )
    if given.get("variant") == "beta" and "truncated" in given:
        raise InvalidArgumentError(
            "variant is 'beta', but the truncated loss has no variants; leave one of the two out"
        )
    if model == "multilabel" and "gamma" in given and given.get("loss") != "smooth_hinge":
        raise InvalidArgumentError(
            f"gamma is {given['gamma']:g}; expected loss='smooth_hinge' with it"
        )
    return getattr(fast, kind)(**given, **parameters)


def compile_kernels(classifier: Any, sparse: bool) -> None:
    """Fit a copy to a few made-up examples, so that seconds are those of training alone.

    On a cold cache compiling takes many times longer than most fits. A wrong parameter is left for the
    fit itself to refuse.
    """
    import scipy.sparse as sp
    from sklearn.base import clone

    rng = np.random.default_rng(0)
    many = rng.standard_normal((1400, 16))
    if "k" not in classifier.get_params():
        X, copy = many[:12], clone(classifier).set_params(max_iter=5, verbose=0)
        with warnings.catch_warnings(action="ignore"), suppress(TypeError, ValueError):
            copy.fit(sp.csr_array(X) if sparse else X, np.arange(12) % 2)
        return
    # "auto" may go from one algorithm to the other in the middle of a fit
    both = classifier.solver == "auto" and getattr(classifier, "gamma", 0.0) > 0.0
    solvers = ("active", "newton") if both else (classifier.solver,)
    # The second C: with weak losses Newton's first step may do, without products with the Hessian.
    # The second size: small problems do without float32, and are certified in extended precision.
    for solver, C, n in product(solvers, (classifier.C, 10.0), (15, len(many))):
        steps = 2 if n > 15 and solver != "newton" and hasattr(classifier, "gamma") else 200
        X, y = many[:n], np.arange(n) % 5
        copy = clone(classifier).set_params(C=C, solver=solver, max_iter=steps, tol=1e-2, verbose=0)
        with warnings.catch_warnings(action="ignore"):
            try:
                copy.set_params(k=min(copy.k, 3)).fit(sp.csr_array(X) if sparse else X, y)
            except (TypeError, ValueError):
                return


def describe(
    model: Model, measured: dict[str, Measured], scale: str, advice: Sequence[str] = (),
    path: Path | None = None,
) -> Document:  # fmt: skip
    """Facts of a fitted model: certificate, size, accuracy on each part.

    Seconds are those of the training itself, as its history counts them.
    """
    classifier = model.classifier
    certified = model.certified
    gap_name = "certified relative duality gap"
    truncated = getattr(classifier, "truncated", False)
    if truncated:  # not convex: only the step has a dual
        gap_name += " of the last convex step"
    shown = ["loss", "k", "variant", "gamma", "truncated", "lam", "C", "fit_intercept"]
    shown += ["class_weight"] if getattr(classifier, "class_weight", None) is not None else []
    if len(classifier.classes_) == 2:  # of which k is 1, and the variants are one
        shown = [name for name in shown if name not in ("k", "variant", "truncated")]
    facts = {
        "examples": measured["train"].examples,
        "features": model.classifier.coef_.shape[-1],
        "classes": len(classifier.classes_),
        **{
            name: getattr(classifier, name)
            for name in shown
            if name in classifier.get_params() and not (name == "variant" and truncated)
            and not (name == "loss" and hasattr(classifier, "lam"))
            and not (name == "gamma" and getattr(classifier, "loss", "smooth_hinge") != "smooth_hinge")
        },
        "scaling": scale,
        **({"missing values filled with": model.impute} if model.impute is not None else {}),
        **({"categories": ", ".join(model.categories)} if model.categories else {}),
        "primal objective": float(np.sum(classifier.primal_objective_)),
        "dual objective": float(np.sum(classifier.dual_objective_)),
        gap_name: float(classifier.dual_gap_),
        "declared tolerance": classifier.tol,
        "epochs": int(classifier.n_iter_),
        "seconds": float(classifier.history_["time"][-1]),
    }  # fmt: skip
    plain: dict[str, object] = {"gamma": 0.0, "truncated": False}  # what says nothing of the model is in the JSON alone
    plain |= {"k": 1, "variant": "alpha"} if getattr(classifier, "k", None) == 1 else {}
    rows: list[tuple[str | Cell, ...]] = [
        (NAMES.get(name, name), Cell(_rounded(name, v), _tone(name, certified)))
        for name, v in facts.items()
        if name not in plain or v != plain[name]
    ]
    parts: list[Block] = [table("Model", ("", "value"), rows, note=MEANING if certified else "")]
    parts += [path.block] if path is not None else []
    parts += [Paragraph(text, "bad") for text in advice]
    parts += blocks(measured)
    parts += [Paragraph(SEEN, "warn")] if len(measured) == 1 else []
    data = {
        "model": facts,
        "accuracy": {name: part.data for name, part in measured.items()},
        "by_class": {name: part.by_class for name, part in measured.items() if part.classes},
        "certified": certified,
        "advice": list(advice),
        **({"path": path.data} if path is not None else {}),
        "history": {name: list(values) for name, values in classifier.history_.items()},
    }
    return Document(title_of(classifier), tuple(parts), certified, data, "certified")


def _rounded(name: str, value: object) -> str:
    if not isinstance(value, float):
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return seconds(value) if name == "seconds" else number(value, 2 if "gap" in name else 4)


def _tone(name: str, certified: bool) -> str:
    return ("good" if certified else "bad") if name.startswith("certified") else ""


def save(trained: Trained, output: FilePath) -> list[FilePath]:
    """Write the model, and its report as JSON, Markdown and HTML beside it: all of them, or none."""
    files = {output: packed(trained.model), **rendered(trained.document, output)}
    replace_files(files)
    return list(files)


def check_target(output: FilePath, force: bool) -> FilePath:
    """Refuse an output now that `save` would refuse after minutes of work, or that would be lost; its name.

    One without a suffix gets that of models.
    """
    if output.suffix not in ("", SUFFIX):
        raise InvalidArgumentError(f"output is {output}; expected a name that ends in {SUFFIX}")
    output = output.with_suffix(SUFFIX)
    check_files((output, *beside(output)), force)
    return output


def check_files(files: Sequence[FilePath], force: bool) -> None:
    """Refuse files that cannot be written, or that are there already."""
    for file in files:
        make_folder("output", file.parent)
        if file.exists() and not force:
            raise InvalidArgumentError(
                f"output={str(file)!r}: {file} is there already; expected a new name; --force replaces it"
            )
        check_file("output", file)
