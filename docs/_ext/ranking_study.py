"""The measurements behind "When AP-SVM is the wrong choice": every third letter against the others."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from figures import BLUE, GREEN, GREY, ORANGE, Picture, show
from markup import Html, table

from verification.benchmarks import ap_classes

METHODS = ("binary SVM", "AP-SVM", "logistic regression", "ramp")
COLOURS = (GREY, BLUE, ORANGE, GREEN)
GRID, TOL = (10.0, 100.0, 1e3, 1e4), 1e-4


def measure() -> dict[str, Any]:
    """Per letter and method: test AP of the model that validation prefers, its C, CPU s of all C."""
    ap_classes.compile_trainers()
    letters = {}
    for label in range(0, 26, 3):
        found = ap_classes.run_class("letter", label, methods=METHODS, grid=GRID)
        assert found.worst_gap <= TOL
        letters[found.name] = [
            [
                round(100 * found.chosen[m].test, 3),
                found.chosen[m].C,
                round(sum(fit.seconds for fit in found.fits if fit.method == m), 3),
            ]
            for m in METHODS
        ]
    return {"letters": letters}


def column(record: dict[str, Any], j: int) -> np.ndarray:
    """(letters, methods): AP, C or seconds."""
    return np.array([[cell[j] for cell in row] for row in record["letters"].values()])


def means(record: dict[str, Any]) -> dict[str, float]:
    """Mean test AP by method."""
    return dict(zip(METHODS, column(record, 0).mean(axis=0).tolist(), strict=True))


def figure(record: dict[str, Any]) -> Picture:
    """AP by letter, hardest first, and what the models cost."""
    drawn, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), width_ratios=(2, 1))
    ap, names = column(record, 0), list(record["letters"])
    order = ap[:, 2].argsort()
    place = np.arange(len(names))
    for j, (name, colour) in enumerate(zip(METHODS, COLOURS, strict=True)):
        left.bar(place + 0.2 * (j - 1.5), ap[order, j], width=0.2, color=colour, label=name)
        right.bar(j, column(record, 2)[:, j].mean(), color=colour)
    left.set(ylabel="test AP, %", ylim=(0, 135), yticks=range(0, 101, 20))
    left.set_xticks(place, [names[i] for i in order])
    left.legend(fontsize=8, ncols=2, loc="upper center")
    right.set(ylabel="seconds for the whole grid, mean", yscale="log")
    right.set_xticks(range(len(METHODS)), [m.replace(" ", "\n") for m in METHODS], fontsize=8)
    return show(
        drawn,
        "Left: test AP of each letter against the rest, hardest first. Right: what the four values"
        " of C cost together, on one thread.",
    )


def ap_table(record: dict[str, Any]) -> Html:
    """Test AP, a row per letter and the mean."""
    rows = [(name, *(f"{cell[0]:.1f}" for cell in row)) for name, row in record["letters"].items()]
    rows.append(("<b>mean</b>", *(f"<b>{value:.1f}</b>" for value in means(record).values())))
    return table(("test AP, %", *METHODS), rows)


def again(record: dict[str, Any], name: str = "D") -> None:
    """The chosen models of one letter once more: certified, and as recorded."""
    row = record["letters"][name]
    label = ap_classes.names("letter").index(name)
    for method, (ap, C, _) in zip(METHODS, row, strict=True):
        found = ap_classes.run_class("letter", label, methods=(method,), grid=(C,))
        test = 100 * found.chosen[method].test
        print(f"{name}, {method}, C = {C:g}: AP {test:.1f} %, gap {found.worst_gap:.0e}")
        assert found.worst_gap <= TOL
        assert abs(test - ap) < 0.5
