"""How good a trained model is on examples: top-k accuracy, average precision, which classes are confused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verification.app import multilabel
from verification.app.dataset import Examples
from verification.app.labels import listed
from verification.app.trained_model import Model
from verification.errors import DataFileError
from verification.report.document import Block, Cell, Paragraph, table

TOP = (1, 3, 5, 10)
ROWS = 1 << 15  # of a block
CONFUSED, CLASSES = 10, 12  # pairs of classes, and classes, that are shown


@dataclass(frozen=True)
class Measured:
    """Shares by name (k of top-k, or "average precision"), log-loss where there are probabilities."""

    examples: int
    shares: Mapping[Any, float]
    log_loss: float | None
    confused: tuple[tuple[str, str, int], ...]
    labels: tuple[tuple[str, int, float, float | None], ...] = ()  # name, examples, F1, AP
    constant: Mapping[int, float] = field(default_factory=dict)  # top-k of the most frequent classes
    most_frequent: str = ""
    balance: Mapping[str, float] = field(default_factory=dict)  # balanced accuracy; AUC, AP of two classes
    classes: tuple[tuple[str, int, float, float, float], ...] = ()  # examples, precision, recall, F1
    queries: int | None = None  # over which average precision is a mean
    random: float | None = None  # average precision of a random order

    @property
    def data(self) -> dict[str, Any]:
        """For JSON."""
        loss = {} if self.log_loss is None else {"log-loss": self.log_loss}
        each = {label: {"F1": f1, "AP": ap} for label, _, f1, ap in self.labels}
        queries: dict[str, float] = {} if self.queries is None else {"queries": self.queries}
        queries |= {} if self.random is None else {"random order": self.random}
        return {**self.shares, **self.balance, **loss, **queries, **({"labels": each} if each else {})}

    @property
    def by_class(self) -> dict[str, Any]:
        """For JSON: accuracies of always the most frequent classes, and figures of each class."""
        names = ("examples", "precision", "recall", "F1")
        each = {name: dict(zip(names, figures, strict=True)) for name, *figures in self.classes}
        return {"always the most frequent": dict(self.constant), "classes": each}


def in_blocks(function: Callable[[Any], Any], X: Any) -> np.ndarray:
    """What a function makes of rows, some of them at a time: what it needs besides stays small."""
    n = X.shape[0]
    found = [np.asarray(function(X[i : i + ROWS])) for i in range(0, max(n, 1), ROWS)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def scores_of(model: Model, X: object) -> np.ndarray:
    """Scores, a column per class; for two classes minus and plus their difference."""
    from fast.metrics import score_columns

    return score_columns(in_blocks(model.estimator.decision_function, X))


def measure(model: Model, examples: Examples) -> Measured:
    """Judge a model on labelled examples.

    Raises
    ------
    DataFileError
        Labels that the model does not know.
    """
    classifier, X = model.classifier, model.fed(examples)
    place = positions(model, examples)
    if model.labels:
        found, labels = multilabel.measured(model.labels, place, scores_of(model, X))
        return Measured(len(place), found, None, (), labels)
    y = classifier.classes_[place]
    if type(classifier).__name__ == "APSVM":
        prepared = model.estimator[:-1].transform(X) if hasattr(model.estimator, "steps") else X
        value = classifier.score(prepared, y, groups=examples.group)
        groups = np.zeros(len(y)) if examples.group is None else examples.group
        lists = [place[groups == name] for name in np.unique(groups)]
        random = float(np.mean([_random_order(len(each), int(each.sum())) for each in lists]))
        queries = None if examples.group is None else len(lists)
        return Measured(len(y), {"average precision": float(value)}, None, (), queries=queries, random=random)
    from fast.metrics import topk_accuracy

    scores, classes = scores_of(model, X), classifier.classes_
    tops = [k for k in sorted({*TOP, int(getattr(classifier, "k", 1))}) if k < max(len(classes), 2)]
    shares = {k: float(topk_accuracy(y, scores, k, classes=classes)) for k in tops}
    guessed = scores.argmax(axis=1)
    confused = _confused(model.names, place, guessed)
    counts = np.bincount(place, minlength=len(classes))
    often = np.sort(counts)[::-1].cumsum() / max(len(y), 1)
    each = _by_class(model.names, counts, np.bincount(guessed, minlength=len(classes)),
                     np.bincount(place[guessed == place], minlength=len(classes)))  # fmt: skip
    return Measured(
        len(y), shares, _log_loss(model, X, place), confused,
        constant={k: float(often[k - 1]) for k in tops}, most_frequent=str(model.names[counts.argmax()]),
        balance=_balance(scores, place, each), classes=each,
    )  # fmt: skip


def _random_order(n: int, positives: int) -> float:
    """Mean average precision over all orders of n: at rank k a positive has (P - 1)(k - 1)/(n - 1) above it."""
    rank = np.arange(1, n + 1)
    return float(np.mean((1.0 + (positives - 1) * (rank - 1) / max(n - 1, 1)) / rank))


def _by_class(
    names: np.ndarray, counts: np.ndarray, guesses: np.ndarray, right: np.ndarray
) -> tuple[tuple[str, int, float, float, float], ...]:
    """Precision, recall and F1 = 2 TP/(2 TP + FP + FN) of the classes that occur; 0 where nothing is right."""
    return tuple(
        (str(name), int(n), float(hit / max(said, 1)), float(hit / n), float(2.0 * hit / (n + said)))
        for name, n, said, hit in zip(names, counts, guesses, right, strict=True)
        if n
    )


def _balance(scores: np.ndarray, place: np.ndarray, each: Sequence[Any]) -> dict[str, float]:
    """Measures that a frequent class does not decide: the mean recall; of two classes AUC and average precision."""
    found = {"balanced accuracy": float(np.mean([recall for *_, recall, _ in each]))}
    if scores.shape[1] == 2 and len(each) == 2:
        found["AUC"], found["average precision"] = _areas(place, scores[:, 1] - scores[:, 0])
    return found


def _areas(positive: np.ndarray, f: np.ndarray) -> tuple[float, float]:
    """Areas under the curves of true over false positives, and of precision over recall in steps; ties are one step."""
    order = np.argsort(-f)
    ends = np.flatnonzero(np.diff(f[order], append=np.inf))
    hits = np.cumsum(positive[order])[ends]
    P, N, rises = hits[-1], len(f) - hits[-1], np.diff(hits, prepend=0)
    false = ends + 1 - hits
    auc = ((hits - 0.5 * rises) / P * (np.diff(false, prepend=0) / N)).sum()
    return float(auc), float((rises / P * (hits / (ends + 1))).sum())


def positions(model: Model, examples: Examples) -> np.ndarray:
    """Where the labels stand among the classes; a file may write them otherwise than the training data.

    Raises
    ------
    DataFileError
        Labels that the model does not know.
    """
    if model.labels:
        return multilabel.aligned(examples, model.labels)
    y, classes = examples.y, model.classifier.classes_
    assert y is not None
    own, place = np.unique(y, return_inverse=True)
    if (unknown := np.setdiff1d(own.astype(str), classes.astype(str))).size:
        raise DataFileError(
            f"label(s) {listed(unknown.tolist())} of {examples.source} are none of the classes that the model "
            f"was trained on, {listed(model.names.tolist())}; leave these examples out"
        )
    order = {str(name): i for i, name in enumerate(classes.tolist())}
    return np.array([order[str(label)] for label in own.tolist()])[place]


def _log_loss(model: Model, X: object, place: np.ndarray) -> float | None:
    if not hasattr(model.estimator, "predict_proba"):
        return None
    own = in_blocks(model.estimator.predict_proba, X)[np.arange(len(place)), place]
    least = np.finfo(own.dtype).eps
    return float(-np.log(np.clip(own, least, 1.0 - least)).mean())


def _confused(
    names: np.ndarray, place: np.ndarray, guessed: np.ndarray
) -> tuple[tuple[str, str, int], ...]:
    """The most frequent errors: true class, predicted class, how often."""
    wrong, m = place != guessed, len(names)
    pairs, counts = np.unique(place[wrong] * m + guessed[wrong], return_counts=True)
    found = [(str(names[p // m]), str(names[p % m]), int(n)) for p, n in zip(pairs, counts, strict=True)]
    return tuple(sorted(found, key=lambda each: (-each[2], *each[:2]))[:CONFUSED])


def blocks(measured: Mapping[str, Measured]) -> list[Block]:
    """Shares in percent of each part, and what is confused in the last of them."""
    first = next(iter(measured.values()))
    names = [f"top-{k}" if isinstance(k, int) else str(k) for k in first.shares]
    if first.queries is not None:
        names = ["queries", *(f"mean {each}" for each in names)]
    more = list(dict.fromkeys(each for part in measured.values() for each in part.balance))
    columns = [*names, *more, *(["log-loss"] if first.log_loss is not None else [])]
    name, last = list(measured.items())[-1]
    rows: list[Sequence[str | Cell]] = []
    for part_name, part in measured.items():
        cells = [] if first.queries is None else [str(part.queries or 1)]
        cells += [f"{100 * share:.2f}" for share in part.shares.values()]
        cells += [f"{100 * part.balance[each]:.2f}" if each in part.balance else "-" for each in more]
        loss = [] if part.log_loss is None else [f"{part.log_loss:.4f}"]
        rows.append((part_name, str(part.examples), *cells, *loss))
    if last.constant:
        cells = [f"{100 * share:.2f}" for share in last.constant.values()]
        blank = [""] * (len(columns) - len(cells))
        kept = (f"always the most frequent ({name})", str(last.examples), *cells, *blank)
        rows.append([Cell(text, "dim") for text in kept])
    if last.random is not None:
        cells = ["" if first.queries is None else str(last.queries or 1), f"{100 * last.random:.2f}"]
        kept = (f"random order ({name})", str(last.examples), *cells[first.queries is None :])
        rows.append([Cell(text, "dim") for text in kept])
    title = "Accuracy in percent" if isinstance(next(iter(first.shares)), int) else "In percent"
    shown: list[Block] = [table(title, ("", "examples", *columns), rows, ("examples", *columns))]
    if last.constant and last.shares[1] <= last.constant[1]:
        shown.append(Paragraph(
            f"On {name} the model is no better than the answer {last.most_frequent!r} to everything: look at balanced "
            "accuracy and F1; `refsolve train --class-weight balanced` weighs rare classes.", "warn"))  # fmt: skip
    if "AUC" in last.balance:
        shown.append(Paragraph(f"AUC and average precision are those of {last.classes[1][0]!r}."))
    if last.classes:
        least = sorted(last.classes, key=lambda row: row[-1])[:CLASSES]
        order = [row for row in last.classes if row in least]
        columns = ["class", "examples", "precision", "recall", "F1"]
        each = [(label, str(n), *(f"{100 * share:.2f}" for share in figures)) for label, n, *figures in order]
        left = len(last.classes) - len(order)
        note = f"The {len(order)} of least F1; {left} more stand in the JSON report." if left else ""
        shown.append(table(f"By class, in percent ({name})", columns, each, columns[1:], note))
    if last.labels:
        columns = ["label", "examples", "F1", "AP"]
        each = [(label, str(count), f"{100 * f1:.2f}", "-" if ap is None else f"{100 * ap:.2f}")
                for label, count, f1, ap in last.labels]  # fmt: skip
        shown.append(table(f"By label, in percent ({name})", columns, each, columns[1:]))
    if last.confused:
        errors = [(true, said, str(count)) for true, said, count in last.confused]
        heads = ("true class", "predicted", "examples")
        shown.append(table(f"Most frequent errors ({name})", heads, errors, heads[2:]))
    return shown
