"""Table 4, and table 5 of the arXiv version: what follows from the printed numbers alone."""

from collections.abc import Mapping, Sequence

from verification.paper_statements import Trial
from verification.paper_statements._printed import printed
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.table_3 import GUESSES, TABLE_3

# ----------------------------------------------------------------------------------------- Table 4

#: Classes and training examples as printed: K and M are rounded.
SIZES = {
    "ALOI": (1000, 54_000),
    "Caltech 101": (101, 4100),
    "CUB": (202, 5994),
    "Flowers": (102, 2040),
    "FMD": (10, 500),
    "ILSVRC 2012": (1000, 1_300_000),
    "Indoor 67": (67, 5354),
    "Letter": (26, 10_500),
    "News 20": (20, 15_900),
    "Places 205": (205, 2_400_000),
    "SUN 397": (397, 19_900),
}


def _check_sizes(
    trial: Trial, *, classes: tuple[int, int], examples: tuple[int, int], named: Mapping[str, int]
) -> None:
    trial.exactly(set(SIZES) == set(TABLE_3), "Table 3 has other data sets", names=set(SIZES))
    for place, wanted in enumerate((classes, examples)):
        values = [row[place] for row in SIZES.values()]
        found = (min(values), max(values))
        trial.exactly(found == wanted, "another range", found=found, stated=wanted)
    wrong = {name: SIZES[name][0] for name, m in named.items() if SIZES[name][0] != m}
    trial.exactly(not wrong, "another number of classes than its name says", classes=wrong)


_NAMED = {"Caltech 101": 101, "Indoor 67": 67, "News 20": 20, "Places 205": 205, "SUN 397": 397}

TABLE_4 = stated(
    "Table 4",
    check=_check_sizes,
    says={"classes": (10, 1000), "examples": (500, 2_400_000), "named": _NAMED},
    wrong={
        "from 20 classes on": {"classes": (20, 1000)},
        "up to a million examples": {"examples": (500, 1_000_000)},
        "CUB-200": {"named": {**_NAMED, "CUB": 200}},
    },
)

# ------------------------------------------------------------------- Table 5 of the arXiv version

#: Top-1, 3, 5 and 10 accuracy; (FT) is fine-tuned.
TABLE_5 = printed("lapin_2016", "table_5.csv")


def _check_tuned(
    trial: Trial, *, best: Mapping[str, tuple[str, int]], improved: Sequence[int]
) -> None:
    for data, (name, columns) in best.items():
        rows = TABLE_5[data]
        for j in range(columns):
            most = max(row[j] for row in rows.values())
            trial.exactly(rows[name][j] == most, "another one is best", data=data, k=GUESSES[j])
    for data, rows in TABLE_5.items():
        low = [
            (name, GUESSES[j])
            for name, row in rows.items()
            for j in improved
            if name != "softmax" and row[j] <= rows["softmax"][j]
        ]
        trial.exactly(not low, "no better than the reference", data=data, cells=low)


TUNED = stated(
    "Table 5 of the arXiv version",
    check=_check_tuned,
    says={
        "best": {"Places 205": ("top-5 SVM_1 (FT)", 3), "ILSVRC 2012": ("softmax (FT)", 4)},
        "improved": (0, 1, 2),
    },
    wrong={
        "top-10 on Places too": {"best": {"Places 205": ("top-5 SVM_1 (FT)", 4)}},
        "top-5 SVM_1 on both": {"best": {"ILSVRC 2012": ("top-5 SVM_1 (FT)", 3)}},
        "improved for k = 10 too": {"improved": (0, 1, 2, 3)},
    },
)
