"""Table 1 and the text about it: what follows from the printed numbers alone."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from verification.paper_statements import Trial
from verification.paper_statements._printed import printed
from verification.paper_statements._rational import Vector
from verification.paper_statements.lapin_2015 import stated

COLUMNS = (1, 2, 3, 4, 5, 10)

#: Top-k accuracies in percent of the top-1 SVM (alpha and beta are one), and of k = 10.
PRINTED = printed("lapin_2015", "table_1.csv")

#: Words about each data set: its accuracies by method -> whether they are true of it.
Words = Callable[[dict[str, Vector]], bool]


def _check(trial: Trial, *, gains: dict[str, Fraction], words: Words) -> None:
    fifth = COLUMNS.index(5)
    half = Fraction(1, 20)  # gains are printed to one decimal
    for name, gain in gains.items():
        found = PRINTED[name]["alpha"][fifth] - PRINTED[name]["top-1"][fifth]
        trial.exactly(abs(found - gain) <= half, "another gain", data=name, gain=found)
    for name, rows in PRINTED.items():
        trial.exactly(words(rows), "the words do not hold", data=name)


def later(rows: dict[str, Vector]) -> bool:
    """Both losses with k = 10 are better than top-1 for every k >= 2."""
    return all(
        min(rows["alpha"][j], rows["beta"][j]) > rows["top-1"][j] for j in range(1, len(COLUMNS))
    )


def first_too(rows: dict[str, Vector]) -> bool:
    """The same from k = 1 on."""
    return later(rows) and min(rows["alpha"][0], rows["beta"][0]) > rows["top-1"][0]


TABLE_1 = stated(
    "Table 1",
    check=_check,
    says={
        "gains": {"Caltech": Fraction("2.6"), "Indoor": Fraction("1.2"), "SUN": Fraction("2.5")},
        "words": later,
    },
    wrong={
        "gains of k = 20": {"gains": {"Caltech": Fraction("3.4")}},
        "top-1 accuracy too": {"words": first_too},
    },
)

# ------------------------------------------------------------------- other k, and other methods

#: The same with k = 20.
TWENTY = printed("lapin_2015", "table_1_twenty.csv")
#: The best of each kind of baseline; W++ was not run on SUN.
BASELINES = printed("lapin_2015", "table_1_baselines.csv")

#: (data set, method, k)
Cell = tuple[str, str, int]


def _check_twenty(trial: Trial, *, but: Sequence[Cell]) -> None:
    found = {
        (name, loss, COLUMNS[j]): (row[j], PRINTED[name]["top-1"][j])
        for name, rows in TWENTY.items()
        for loss, row in rows.items()
        for j in range(1, len(COLUMNS))
        if row[j] <= PRINTED[name]["top-1"][j]
    }
    trial.exactly(set(found) == set(but), "no improvement on top-1 SVM", cells=found)


CHOICES = stated("Table 1, choices of k", check=_check_twenty)


def _check_baselines(trial: Trial, *, but: Sequence[Cell]) -> None:
    found = {}
    for name, methods in BASELINES.items():
        ours = [*PRINTED[name].values(), *TWENTY[name].values()]
        for j in range(1, len(COLUMNS)):
            best = max(row[j] for row in ours)
            for method, row in methods.items():
                if row[j] >= best:
                    found[name, method, COLUMNS[j]] = (row[j], best)
    trial.exactly(set(found) == set(but), "a baseline is better", cells=found)


CONSISTENT = stated("Table 1, baselines", check=_check_baselines)
