"""What ``refsolve train`` does: scale, fit, measure, and write a model with its report."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from verification.app.console import check_file, make_folder
from verification.app.examples import DataFileError
from verification.app.model_file import SUFFIX, packed
from verification.app.trained_model import Model, scaler
from verification.errors import InvalidArgumentError
from verification.report.document import Block, Cell, Document, Paragraph, number, table
from verification.report.render import render_json, render_markdown, replace_files

MODELS = ("svm", "logistic")
TOP = (1, 3, 5, 10)


@dataclass(frozen=True)
class Trained:
    """A fitted model and the document."""

    model: Model
    document: Document


def split_holdout(
    X: Any, y: np.ndarray, fraction: float, seed: int
) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Stratified train and holdout parts; `fraction` of the examples go to the holdout."""
    from sklearn.model_selection import train_test_split

    _check_seed(seed)
    if not 0.0 < fraction < 1.0:
        raise InvalidArgumentError(
            f"holdout is {fraction}; expected a fraction strictly between 0 and 1"
        )
    try:
        parts = train_test_split(X, y, test_size=fraction, random_state=seed, stratify=y)
    except ValueError as error:
        raise InvalidArgumentError(
            f"holdout={fraction} cannot be drawn with every class on both sides: {error}"
        ) from error
    X_train, X_held, y_train, y_held = parts
    return X_train, X_held, y_train, y_held


def _check_seed(seed: Any) -> None:
    if isinstance(seed, int | np.integer) and not 0 <= seed < 2**32:
        raise InvalidArgumentError(f"seed={seed}: expected an integer from 0 to 2**32 - 1, e.g. 0")


def train(
    X: Any,
    y: np.ndarray,
    *,
    columns: tuple[str, ...] | None = None,
    test: tuple[Any, np.ndarray] | None = None,
    scale: str = "none",
    model: str = "svm",
    source: str = "the examples",
    **parameters: Any,
) -> Trained:
    """Fit `fast.TopKSVC` or `fast.TopKLogisticRegression` and describe the result.

    P = 1/2 ||W||^2 + C sum_i L(y_i, W'x_i); the gap reported is (P - D)/max(|P|, |D|).
    Raises the estimator's own errors, and DataFileError, which names ``source``, where the data do not
    fit it.
    """
    from scipy.sparse import issparse
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline

    _check_seed(parameters.get("random_state"))
    if (y == y[0]).all():
        raise DataFileError(
            f"{source} cannot be trained on: all {len(y)} labels are {y[0]!s:.80}; expected at least two "
            "classes: name the column or array of labels with --label, or add examples of another class"
        )
    if test is not None and (unknown := np.setdiff1d(test[1], y)).size:
        raise DataFileError(
            f"label(s) {unknown[:5].tolist()} of the examples to measure on are none of the classes in "
            f"{source}; expected classes that are trained: leave these examples out, or train on some"
        )
    transform = scaler(scale, issparse(X))
    classifier = new_classifier(model, **parameters)
    compile_kernels(classifier, issparse(X))
    trained = classifier if transform is None else make_pipeline(transform, classifier)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)  # the document says it
            trained.fit(X, y)
        classifier.set_params(verbose=0)  # the bar was for this fit, not for whoever loads it
    except ValueError as error:  # scikit-learn's own validation: NaN, one class, ...
        if type(error).__module__.partition(".")[0] == "fast":
            raise
        raise DataFileError(f"{source} cannot be trained on: {error}") from error
    advice = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    for other in caught:
        if not issubclass(other.category, ConvergenceWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    document = describe(classifier, trained, X, y, test, scale, advice)
    return Trained(Model(trained, scale, columns), document)


def new_classifier(
    model: str, *, gamma: float = 0.0, truncated: bool = False, **parameters: Any
) -> Any:
    """The unfitted estimator of that name; options that it does not have are refused."""
    import fast

    if model not in MODELS:
        raise InvalidArgumentError(f"model is {model!r}; expected one of {', '.join(MODELS)}")
    if model == "svm":
        if truncated:
            raise InvalidArgumentError(
                "truncated=True belongs to the entropy loss; use model='logistic'"
            )
        return fast.TopKSVC(gamma=gamma, **parameters)
    if gamma != 0.0:
        raise InvalidArgumentError(
            f"gamma is {gamma:g}, but the entropy loss is smooth by itself; leave it out, or use model='svm'"
        )
    if truncated and parameters.get("variant") == "beta":
        raise InvalidArgumentError(
            "variant is 'beta', but the truncated loss has no variants; leave one of the two out"
        )
    return fast.TopKLogisticRegression(truncated=truncated, **parameters)


def compile_kernels(classifier: Any, sparse: bool) -> None:
    """Fit a copy to a few made-up examples, so that seconds are those of training alone.

    On a cold cache compiling takes many times longer than most fits. A wrong parameter is left for the
    fit itself to refuse.
    """
    import scipy.sparse as sp
    from sklearn.base import clone

    rng = np.random.default_rng(0)
    many = rng.standard_normal((1400, 16))
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
    classifier: Any,
    model: Any,
    X: Any,
    y: np.ndarray,
    test: tuple[Any, np.ndarray] | None,
    scale: str,
    advice: Sequence[str] = (),
) -> Document:
    """Facts of a fitted model: certificate, size, top-k accuracy on each part (also at its own k).

    Seconds are those of the training itself, as its history counts them.
    """
    m, d = len(classifier.classes_), classifier.coef_.shape[-1]
    certified = bool(classifier.dual_gap_ <= classifier.tol)
    gap_name = "certified relative duality gap"
    truncated = getattr(classifier, "truncated", False)
    if truncated:  # not convex: only the step has a dual
        gap_name += " of the last convex step"
    facts = {
        "examples": X.shape[0],
        "features": d,
        "classes": m,
        "k": classifier.k,
        **({} if truncated else {"variant": classifier.variant}),
        **{
            name: getattr(classifier, name)
            for name in ("gamma", "truncated")
            if hasattr(classifier, name)
        },
        "C": classifier.C,
        "scaling": scale,
        "primal objective": float(classifier.primal_objective_),
        "dual objective": float(classifier.dual_objective_),
        gap_name: float(classifier.dual_gap_),
        "asked for": classifier.tol,
        "passes": int(classifier.n_iter_),
        "seconds": float(classifier.history_["time"][-1]),
    }
    parts = {"train": (X, y)} | ({"holdout": test} if test is not None else {})
    tops = [k for k in sorted({*TOP, int(classifier.k)}) if k < max(m, 2)]
    accuracy = {
        name: {k: _accuracy(model, classifier, *part, k) for k in tops}
        for name, part in parts.items()
    }
    rows: list[tuple[str | Cell, ...]] = [
        (name, Cell(number(v, 6) if isinstance(v, float) else str(v), _tone(name, certified)))
        for name, v in facts.items()
    ]
    blocks: list[Block] = [table("Model", ("", "value"), rows)]
    blocks += [Paragraph(text, "bad") for text in advice]
    accuracy_rows = [(name, *(f"{100 * a[k]:.2f}" for k in tops)) for name, a in accuracy.items()]
    heads = tuple(f"top-{k}" for k in tops)
    blocks.append(table("Accuracy in percent", ("", *heads), accuracy_rows, heads))
    data = {"model": facts, "accuracy": accuracy, "certified": certified, "advice": list(advice)}
    title = "Top-k SVM" if hasattr(classifier, "gamma") else "Top-k logistic regression"
    return Document(title, tuple(blocks), certified, data, "certified")


def _tone(name: str, certified: bool) -> str:
    return ("good" if certified else "bad") if name.startswith("certified") else ""


def _accuracy(model: Any, classifier: Any, X: Any, y: np.ndarray, k: int) -> float:
    from fast.metrics import topk_accuracy

    scores = np.asarray(model.decision_function(X))
    if scores.ndim == 1:  # two classes: scikit-learn's single column is the difference of the two
        scores = np.column_stack([-scores, scores])
    return float(topk_accuracy(y, scores, k, classes=classifier.classes_))


def save(trained: Trained, output: Path) -> list[Path]:
    """Write the model, and its report as JSON and Markdown beside it: all of them, or none."""
    model, data, page = written(output)
    files = {
        model: packed(trained.model),
        data: (render_json(trained.document) + "\n").encode(),
        page: render_markdown(trained.document).encode(),
    }
    replace_files(files)
    return list(files)


def written(output: Path) -> tuple[Path, Path, Path]:
    """The files that `save` writes: model, JSON and Markdown."""
    return output, output.with_suffix(".json"), output.with_suffix(".md")


def check_target(output: Path, force: bool) -> None:
    """Refuse an output now that `save` would refuse after minutes of work, or that would be lost."""
    if output.suffix != SUFFIX:
        raise InvalidArgumentError(f"output is {output}; expected a name that ends in {SUFFIX}")
    make_folder("output", output.parent)
    for file in written(output):
        if file.exists() and not force:
            raise InvalidArgumentError(
                f"output={str(output)!r}: {file} is there already; expected a new name; --force replaces it"
            )
        check_file("output", file)
