"""Tables 1 to 4 and the text about them: what follows from the printed numbers alone."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from verification.paper_statements import Trial
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.xu_2016 import stated

DATA = ("Caltech101", "WebQueries")
#: Table 1: training images, test images, classes.
TABLE_1 = ((1020, 2995, 102), (760, 3800, 76))
#: Table 2, test accuracy in percent.
TABLE_2 = {
    "SVM": vector("85.41", "53.74"),
    "SVM2K": vector("84.82", "53.21"),
    "SVM1+": vector("85.79", "54.30"),
    "SVM2+": vector("86.20", "54.43"),
}
#: Table 3, seconds of CPU time of training all classes.
TABLE_3 = {
    "SVM": ("17.86", "1.997"),
    "SVM2K": ("732.8", "80.79"),
    "SVM1+": ("867.6", "189.0"),
    "SVM2+": ("7.847", "2.044"),
}
TABLE_4 = vector("110.6", "92.5")


def rounded(text: str) -> tuple[Fraction, Fraction]:
    """What a printed number can have been before rounding."""
    unit = Fraction(1, 10 ** len(text.partition(".")[2]))
    return Fraction(text) - unit / 2, Fraction(text) + unit / 2


def quotients(over: str, under: str) -> list[tuple[Fraction, Fraction]]:
    """Bounds on the quotient of two rows of Table 3."""
    found = []
    for top, bottom in zip(TABLE_3[over], TABLE_3[under], strict=True):
        (a, b), (c, d) = rounded(top), rounded(bottom)
        found.append((a / d, b / c))
    return found


# ---------------------------------------------------------------------------------- Tables 1 and 2


def _check_sizes(trial: Trial, *, train: int, test: Sequence[int], classes: Sequence[int]) -> None:
    for (n, m, count), each, right in zip(TABLE_1, test, classes, strict=True):
        trial.exactly(
            (n, count) == (train * right, right), "another number of training images", n=n
        )
        trial.exactly(m <= each * count, "more test images than that", m=m)
    trial.exactly(TABLE_1[1][1] == test[1] * classes[1], "another number of test images")


SIZES = stated("Table 1", check=_check_sizes)


def _check_runs(trial: Trial, *, runs: int) -> None:
    none = []
    for name, values in TABLE_2.items():
        for (_, m, _), value in zip(TABLE_1, values, strict=True):
            low, high = (
                (value + e) * m * runs / 100 for e in (Fraction(-1, 200), Fraction(1, 200))
            )
            if ceil(low) > high:
                none.append((name, value))
    trial.exactly(not none, "no number of correct test images gives these", accuracies=none)


RUNS = stated("Table 2, one test set", check=_check_runs)


def _check_order(trial: Trial, *, order: Sequence[str]) -> None:
    for i, data in enumerate(DATA):
        values = [TABLE_2[name][i] for name in order]
        trial.exactly(
            all(a > b for a, b in pairwise(values)), f"another order on {data}", accuracies=values
        )


ORDER = stated("Table 2, order", check=_check_order)


def _check_error(trial: Trial, *, errors: Fraction, pairs: Sequence[tuple[str, str]]) -> None:
    for better, worse in pairs:
        for i, (_, m, _) in enumerate(TABLE_1):
            p, q = (TABLE_2[name][i] / 100 for name in (better, worse))
            variance = (p * (1 - p) + q * (1 - q)) / m
            trial.exactly(
                (p - q) ** 2 <= errors**2 * variance,
                f"{better} differs from {worse} by more than that on {DATA[i]}",
                squared_difference=(p - q) ** 2,
                variance=variance,
            )


ERROR = stated("Table 2, standard errors", check=_check_error)

# ---------------------------------------------------------------------------------- Tables 3 and 4


def _check_ratio(trial: Trial, *, over: str, under: str, said: Vector) -> None:
    for (low, high), value in zip(quotients(over, under), said, strict=True):
        off = Fraction(1, 20)
        trial.exactly(
            low - off <= value <= high + off,
            "the quotient of Table 3 is another",
            least=low,
            most=high,
            said=value,
        )


RATIO = stated(
    "Table 4",
    check=_check_ratio,
    says={"over": "SVM1+", "under": "SVM2+", "said": TABLE_4},
    wrong={
        "against SVM2K": {"over": "SVM2K"},
        "against SVM": {"under": "SVM"},
        "a hundred on both": {"said": vector(100, 100)},
    },
)


def _check_solvers(trial: Trial, *, power: int, rest: Mapping[str, Fraction]) -> None:
    for name, value in zip(DATA, TABLE_4, strict=True):
        left = value / 2**power
        trial.exactly(left >= rest[name], f"less is left on {name}", left=left)


SOLVERS = stated("Table 4, what it compares", check=_check_solvers)


def _check_same(trial: Trial, *, under: str, low: Fraction, high: Fraction) -> None:
    for (least, most), name in zip(quotients("SVM2+", under), DATA, strict=True):
        trial.exactly(low <= least and most <= high, f"outside on {name}", least=least, most=most)


SAME = stated("Table 3", check=_check_same)
