"""`refsolve reproduce svmplus` as a document: the paper's ratio, what becomes of it, and the digits."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from verification.benchmarks import svmplus_digits as grid
from verification.benchmarks.records import Record, Section, document
from verification.benchmarks.svmplus_digits import BASE, Splits
from verification.benchmarks.svmplus_paper import ratios
from verification.report.document import Cell, Document


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{v:g}" for v in values)


SECTIONS = {
    "ratios": Section(
        "How much faster SVM2+ is",
        "Seconds of SVM1+ over seconds of SVM2+. The paper compares a general solver of quadratic programs in 2n "
        "variables with LIBSVM: the ratio measures the solvers, not the models. Other data, of the paper's sizes.",
    ),
    "seconds": Section(
        "Seconds of training",
        "CPU seconds of one thread, multiplied up where not all classes were timed. Relative duality gaps, "
        "recomputed; Clarabel's multipliers are judged against our model. C = lam = 1; the matrices of the linear "
        "kernels are given to all.",
    ),
    "accuracies": Section(
        "Digits: test accuracy",
        f"Random splits, {grid.TRAIN} training images and up to {grid.TEST} test images per class; X: 4 x 4 means, "
        "Z: the 8 x 8 images, in training only (noise: standard normal, as wide). +-: standard errors; coloured "
        "beyond two. The last row has the full images at prediction too: what Z would be worth.",
    ),
    "choices": Section(
        "Digits: what was chosen",
        f"{grid.FOLDS}-fold cross-validation on the training images, the same folds for all; C of {_list(grid.CS)}, "
        f"lam of {_list(grid.LAMS)}, free slack of {_list(grid.DELTAS)}; SVM-2K: disagreement of "
        f"{_list(grid.SHARES)} C. Relative duality gaps recomputed. SVM: squared hinge. w = 0: classes, over all "
        "splits.",
    ),
}


def made(speeds: Sequence[Sequence[Record]], splits: Splits | None) -> Document:
    """Positive iff every model that is reported is certified."""
    measured = {
        "ratios": [ratios(found) for found in speeds],
        "seconds": [record for found in speeds for record in found],
        "accuracies": [] if splits is None else accuracies(splits),
        "choices": [] if splits is None else choices(splits),
    }
    data = {"digits": None if splits is None else digits_data(splits)}
    title = "Xu et al. 2016: Tables 3 and 4 on the same shapes, Table 2 on digits"
    good = "every model is certified"
    return document(title, SECTIONS, measured, good=good, data=data)


def digits_data(splits: Splits) -> dict[str, Any]:
    """Accuracies by method, what was chosen, and the worst gap."""
    return {
        "seeds": list(splits.seeds),
        "worst_gap": splits.worst_gap,
        "accuracies": {name: values.tolist() for name, values in splits.accuracies.items()},
        "chosen": {name: [o.chosen for o in found] for name, found in splits.outcomes.items()},
    }


def accuracies(splits: Splits) -> list[Record]:
    """Mean test accuracy with standard errors, and the difference to the SVM on the same splits."""
    records = []
    for name in splits.accuracies:
        figures: dict[str, Any] = {
            "% test": f"{100 * splits.mean(name):.2f}",
            "+-": f"{100 * splits.error(name):.2f}",
        }
        if name != BASE and BASE in splits.accuracies:
            mean, error = splits.ahead(name)
            tone = "" if not abs(mean) > 2 * error else "good" if mean > 0 else "bad"
            better, worse = splits.won(name)
            figures |= {
                f"points ahead of {BASE}": Cell(f"{100 * mean:+.2f}", tone),
                "+- ": f"{100 * error:.2f}",
                "better, equal, worse": (better, len(splits.seeds) - better - worse, worse),
            }
        records.append(Record({"method": name}, figures))
    return records


def choices(splits: Splits) -> list[Record]:
    """What cross-validation chose most often, collapsed classes, worst gaps."""
    records = []
    for name, found in splits.outcomes.items():
        counts = Counter(", ".join(f"{k} = {v:g}" for k, v in o.chosen.items()) for o in found)
        often, times = counts.most_common(1)[0]
        figures = {
            "settings tried": len(grid.METHODS[name].grid),
            "chosen most often": f"{often} ({times} of {len(found)})",
            "w = 0": sum(o.collapsed for o in found),
            "worst_gap": max(o.gap for o in found),
        }
        records.append(Record({"method": name}, figures, most={"worst_gap": grid.TOL}))
    return records
