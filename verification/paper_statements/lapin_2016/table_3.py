"""Table 3 and the text about it: what follows from the printed numbers alone."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from verification.paper_statements import Trial
from verification.paper_statements._printed import printed
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ZERO
from verification.paper_statements.lapin_2016 import stated

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


SOFTMAX_PRINTED = stated(
    "Table 3, softmax and multiclass SVM",
    check=_check_softmax,
    says={"but": ()},
    right={"but": (("Indoor 67", 3), ("Indoor 67", 10))},
)

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


OWN_PRINTED = stated(
    "Table 3, losses with their own k",
    check=_check_own,
    says={"better": {"smooth hinge": 32, "entropy": 32}},
    right={"better": {"smooth hinge": 10, "entropy": 15}},
)


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


OWN_MEANS = stated(
    "Table 3, losses with their own k, means",
    check=_check_means,
    says={
        "means": {
            "smooth hinge": {"all": Fraction("-0.003"), "rest": Fraction("-0.114")},
            "entropy": {"all": Fraction("0.109"), "rest": Fraction("0.021")},
        },
        "without": ("Letter",),
    },
    wrong={
        "without ALOI": {"without": ("ALOI",)},
        "a gain of the smooth hinge": {
            "means": {"smooth hinge": {"all": Fraction("0.1"), "rest": ZERO}}
        },
    },
)

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


WORDS = stated(
    "Table 3, top-1 and one-vs-all",
    check=_check_words,
    says={
        "worse": ("ALOI", "Letter"),
        "first": {"SVM": 5, "softmax": 6},
        "columns": ("multiclass SVM", "softmax"),
    },
    wrong={
        "on News 20 too": {"worse": ("ALOI", "Letter", "News 20")},
        "softmax on all": {"first": {"SVM": 0, "softmax": 11}},
    },
)
