"""The printed tables: 3, 4 and 5, and 6 to 24 of the longer version."""

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from itertools import combinations

from verification.paper_statements import Trial
from verification.paper_statements._printed import printed
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ZERO
from verification.paper_statements.lapin_2016 import stated

# ==========================================================================================
# Table 3 and the text about it: what follows from the printed numbers alone.
# ==========================================================================================

#: Guesses of the columns; FMD has no last one.
GUESSES = (1, 3, 5, 10)

#: Top-k accuracy in percent for k in GUESSES by data set and method; for k = 3, 5, 10 alone those
#: of the smooth top-k hinge (gamma = 1) and the top-k entropy with that same k. One-vs-all SVM and
#: logistic regression where the text calls them worse.
TABLE_3 = printed("lapin_2016", "table_3.csv")

#: (data set, k)
Cell = tuple[str, int]


# ------------------------------------------------------------------ softmax and multiclass SVM


def _check_softmax(trial: Trial, *, but: Sequence[Cell]) -> None:
    found = {
        (name, k): (svm, softmax)
        for name, rows in TABLE_3.items()
        for k, svm, softmax in zip(GUESSES, rows["multiclass SVM"], rows["softmax"], strict=False)
        if k > 1 and softmax <= svm
    }
    trial.exactly(
        set(found) == set(but),
        "softmax is not above multiclass SVM in these cells, contrary to what is stated",
        cells=found,
    )


SOFTMAX_PRINTED = stated("Table 3, softmax and multiclass SVM", check=_check_softmax)

# ----------------------------------------------------------------------- losses with their own k


def differences(loss: str) -> Vector:
    """Accuracy of the loss with k guesses less that of softmax, by data set and k = 3, 5, 10."""
    return [
        own - softmax
        for rows in TABLE_3.values()
        for own, softmax in zip(rows[loss], rows["softmax"][1:], strict=True)
    ]


def _check_own(trial: Trial, *, better: Mapping[str, int]) -> None:
    for loss, count in better.items():
        found = differences(loss)
        signs = [sum(v > 0 for v in found), sum(v == 0 for v in found), sum(v < 0 for v in found)]
        trial.exactly(
            signs[0] == count,
            f"the {loss} is better than softmax in another number of cells",
            better_equal_worse=signs,
        )


OWN_PRINTED = stated("Table 3, losses with their own k", check=_check_own)


def _check_means(
    trial: Trial, *, means: Mapping[str, Mapping[str, Fraction]], without: Sequence[str]
) -> None:
    cells = [name for name, rows in TABLE_3.items() for _ in rows["entropy"]]
    for loss, said in means.items():
        found = differences(loss)
        kept = [v for v, name in zip(found, cells, strict=True) if name not in without]
        for words, values in (("all", found), ("rest", kept)):
            mean = sum(values, ZERO) / len(values)
            trial.exactly(
                abs(mean - said[words]) <= Fraction(1, 2000), "another mean", loss=loss, mean=mean
            )


OWN_MEANS = stated("Table 3, losses with their own k, means", check=_check_means)

# ------------------------------------------------------------------------------- top-1, one-vs-all


def _check_words(
    trial: Trial, *, worse: Sequence[str], first: Mapping[str, int], columns: tuple[str, str]
) -> None:
    for name in worse:
        for method, column in zip(("SVM", "logistic"), columns, strict=True):
            single = TABLE_3[name][f"one-vs-all {method}"]
            trial.exactly(
                all(a < b for a, b in zip(single, TABLE_3[name][column], strict=True)),
                "one-vs-all is not worse for every k",
                data=name,
                one_vs_all=single,
            )
    tops = [(rows["multiclass SVM"][0], rows["softmax"][0]) for rows in TABLE_3.values()]
    wins = {"SVM": sum(a > b for a, b in tops), "softmax": sum(b > a for a, b in tops)}
    trial.exactly(wins == dict(first), "another number of data sets is won", wins=wins)


WORDS = stated("Table 3, top-1 and one-vs-all", check=_check_words)


# ==========================================================================================
# Table 4, and table 5 of the arXiv version: what follows from the printed numbers alone.
# ==========================================================================================

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

TABLE_4 = stated("Table 4", check=_check_sizes)

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


TUNED = stated("Table 5 of the arXiv version", check=_check_tuned)


# ==========================================================================================
# Tables 6 to 24 of the longer version: what they say of the sentence about them, and of Table 3.
#
# Ten columns, top-1 to top-10, of up to 37 methods. Of Table 14 (FMD) the first five are kept: in our copy
# of the text the others are out of order.
# ==========================================================================================

Table = dict[str, Vector]  # accuracies by method


def _printed() -> dict[int, tuple[str, Table]]:
    text = (
        files("verification.paper_statements.lapin_2016")
        .joinpath("tables_6_24.csv")
        .read_text("utf-8")
    )
    found: dict[int, tuple[str, Table]] = {}
    for number, data, method, *cells in list(csv.reader(text.splitlines()))[1:]:
        found.setdefault(int(number), (data, {}))[1][method] = vector(*filter(None, cells))
    return found


#: The data set, and accuracies in percent by method, of each table.
TABLES = _printed()
#: The table of each data set of Table 3.
MAIN = {
    "ALOI": 6, "Letter": 7, "News 20": 8, "Caltech 101": 9, "CUB": 12, "Flowers": 13, "FMD": 14,
    "Indoor 67": 17, "SUN 397": 20, "Places 205": 22, "ILSVRC 2012": 24,
}  # fmt: skip
#: Further results: the table, and that of the same images in Table 3. The last two, kernels of Caltech
#: images, stand beside outlines of them.
FURTHER = {15: 17, 16: 17, 18: 20, 19: 20, 21: 22, 23: 24, 10: 9, 11: 9}
KERNELS = (10, 11)

# -------------------------------------------------------------------------------- against Table 3


def method_of(name: str, k: int) -> str:
    """What the longer tables call a row of `TABLE_3` in the column of k guesses."""
    return {
        "one-vs-all SVM": "SVM-OVA",
        "one-vs-all logistic": "LR-OVA",
        "multiclass SVM": "top-1 SVM alpha",
        "softmax": "top-1 Ent",
        "smooth hinge": f"smooth top-{k} SVM alpha",
        "entropy": f"top-{k} Ent",
    }[name]


def _check_same(trial: Trial, *, but: Sequence[tuple[str, str, int]]) -> None:
    found = {}
    for data, rows in TABLE_3.items():
        table = TABLES[MAIN[data]][1]
        for name, cells in rows.items():
            ks = GUESSES[1:] if name in ("smooth hinge", "entropy") else GUESSES
            for k, cell in zip(ks, cells, strict=False):
                longer = table[method_of(name, k)]
                if k <= len(longer) and longer[k - 1] != cell:
                    found[data, name, k] = cell, longer[k - 1]
    trial.exactly(set(found) == set(but), "other cells differ", cells=found)


SAME_PRINTED = stated(
    "Tables 6, 7, 8, 9, 12, 13, 14, 17, 20, 22 and 24 of the arXiv version, and Table 3",
    check=_check_same,
)

# ------------------------------------------------------------------------- the ranking of the losses


def agreement(one: Vector, other: Vector) -> Fraction:
    """Pairs in the same order less those in the opposite one, as a share of both (Goodman and Kruskal)."""
    signs = [
        ((a > b) - (a < b)) * ((c > d) - (c < d))
        for (a, c), (b, d) in combinations(list(zip(one, other, strict=True)), 2)
    ]
    return Fraction(sum(signs), sum(map(abs, signs)))


def rankings(further: int) -> Vector:
    """Agreement of a further table with its main one, column by column, on the methods of both."""
    ours, main = TABLES[further][1], TABLES[FURTHER[further]][1]
    both = [name for name in ours if name in main]
    return [
        agreement([ours[name][j] for name in both], [main[name][j] for name in both])
        for j in range(10)
    ]


def _check_rankings(trial: Trial, *, tables: Sequence[int], but: Sequence[tuple[int, int]]) -> None:
    found = {
        (number, k): value
        for number in tables
        for k, value in enumerate(rankings(number), 1)
        if value <= 0
    }
    trial.exactly(set(found) == set(but), "another ranking in these cells", cells=found)


_REVERSED = tuple((number, k) for number in KERNELS for k in range(2, 11))

RANKINGS_PRINTED = stated(
    "Tables 10, 11, 15, 16, 18, 19, 21 and 23 of the arXiv version", check=_check_rankings
)
RANKINGS = RANKINGS_PRINTED.corrected()

# ------------------------------------------------------------------------ softmax and multiclass SVM


def _check_trend(trial: Trial, *, but: Mapping[int, Sequence[int]]) -> None:
    found: dict[int, list[int]] = {}
    for number, (_, table) in TABLES.items():
        pairs = list(zip(table["top-1 SVM alpha"], table["top-1 Ent"], strict=True))
        below = [k for k, (svm, softmax) in enumerate(pairs, 1) if k > 1 and softmax <= svm]
        if below:
            found[number] = below
    wanted = {number: list(ks) for number, ks in but.items()}
    trial.exactly(found == wanted, "softmax is not above multiclass SVM", tables=found)


TREND_PRINTED = stated(
    "Tables 10, 11, 17, 18 and 24 of the arXiv version, softmax",
    check=_check_trend,
    says={"but": {}},
    right={"but": {10: range(2, 11), 11: range(2, 11), 17: (2, 3, 10), 18: (2,), 24: (2,)}},
)
