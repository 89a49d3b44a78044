"""Tables 1 to 4 and the text about them: what follows from the printed numbers alone."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from verification.paper_statements import Claim, Trial
from verification.paper_statements._rational import Vector, vector

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


SIZES = Claim(
    number="Table 1",
    section="4.1",
    statement="ten training images a class: 1020 for 101 categories and background, 760 for 76 "
    "queries; at most 50 test images a class, exactly 50 on WebQueries",
    method="the printed numbers",
    check=_check_sizes,
    says={"train": 10, "test": (50, 50), "classes": (102, 76)},
    wrong={
        "101 classes": {"classes": (101, 76)},
        "20 test images": {"test": (20, 50)},
        "9 training images": {"train": 9},
    },
    voice="asserted",
)


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


RUNS = Claim(
    number="Table 2, one test set",
    section="4.2",
    statement="each accuracy is the share of the 2995 or 3800 test images of Table 1 that is "
    "classified correctly",
    method="all whole numbers of images within the rounding",
    expected="refuted",
    check=_check_runs,
    says={"runs": 1},
    right={"runs": 10},
    note="Five of eight are no k/m to two digits. So they are means, over splits or classes; the "
    "paper does not say which, and gives no error bars.",
    voice="implied",
    quote="The classification accuracy is used as the performance measurement.",
    witness="words",
)


def _check_order(trial: Trial, *, order: Sequence[str]) -> None:
    for i, data in enumerate(DATA):
        values = [TABLE_2[name][i] for name in order]
        trial.exactly(
            all(a > b for a, b in pairwise(values)), f"another order on {data}", accuracies=values
        )


ORDER = Claim(
    number="Table 2, order",
    section="4.2",
    statement="SVM2+ is above SVM1+, that above SVM, and SVM2K below all, on both data sets",
    method="the printed numbers",
    check=_check_order,
    says={"order": ("SVM2+", "SVM1+", "SVM", "SVM2K")},
    wrong={
        "SVM2K above SVM": {"order": ("SVM2+", "SVM1+", "SVM2K", "SVM")},
        "SVM1+ best": {"order": ("SVM1+", "SVM2+", "SVM", "SVM2K")},
    },
    voice="asserted",
)


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


ERROR = Claim(
    number="Table 2, standard errors",
    section="4.2",
    statement="SVM2+, SVM1+ and SVM differ by less than one standard error of the difference of "
    "two accuracies measured on m images",
    method="binomial variances from the printed numbers, rational",
    expected="repaired",
    check=_check_error,
    says={"errors": Fraction(1), "pairs": (("SVM2+", "SVM1+"), ("SVM1+", "SVM"), ("SVM2+", "SVM"))},
    wrong={
        "a third of one": {"errors": Fraction(1, 3)},
        "SVM2K too": {"pairs": (("SVM2+", "SVM2K"),)},
    },
    note="For one independent test set each. Paired tests or several splits would be sharper; "
    "without them the tables do not show that the privileged information helps.",
)

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


RATIO = Claim(
    number="Table 4",
    section="4.2",
    statement="the speedups 110.6 and 92.5 are the quotients 867.6/7.847 and 189.0/2.044 of "
    "Table 3",
    method="quotients with the intervals that rounding leaves",
    check=_check_ratio,
    says={"over": "SVM1+", "under": "SVM2+", "said": TABLE_4},
    wrong={
        "against SVM2K": {"over": "SVM2K"},
        "against SVM": {"under": "SVM"},
        "a hundred on both": {"said": vector(100, 100)},
    },
    voice="asserted",
)


def _check_solvers(trial: Trial, *, power: int, rest: Mapping[str, Fraction]) -> None:
    for name, value in zip(DATA, TABLE_4, strict=True):
        left = value / 2**power
        trial.exactly(left >= rest[name], f"less is left on {name}", left=left)


SOLVERS = Claim(
    number="Table 4, what it compares",
    section="4.2",
    statement="halving the variables saves at most a factor 2^3 = 8 at cubic cost; factors of 13.8 "
    "and 11.5 are left to the solvers, Mosek against LIBSVM",
    method="the printed numbers",
    expected="repaired",
    check=_check_solvers,
    says={"power": 3, "rest": {"Caltech101": Fraction("13.8"), "WebQueries": Fraction("11.5")}},
    wrong={
        "nothing left: cost n^7": {
            "power": 7,
            "rest": {"Caltech101": Fraction(1), "WebQueries": Fraction(1)},
        },
        "all of it left": {"power": 3, "rest": dict(zip(DATA, TABLE_4, strict=True))},
    },
    note="SVM1+ without xi >= 0 has n variables too, and one class's Q can serve all. A ratio "
    "means little without the name of the SVM1+ solver.",
)


def _check_same(trial: Trial, *, under: str, low: Fraction, high: Fraction) -> None:
    for (least, most), name in zip(quotients("SVM2+", under), DATA, strict=True):
        trial.exactly(low <= least and most <= high, f"outside on {name}", least=least, most=most)


SAME = Claim(
    number="Table 3",
    section="4.2",
    statement="with the same solver and size, SVM2+ takes between 0.43 and 1.03 of the SVM's time: "
    "less than half on Caltech101, 2% more on WebQueries",
    method="quotients with the intervals that rounding leaves",
    check=_check_same,
    says={"under": "SVM", "low": Fraction("0.43"), "high": Fraction("1.03")},
    wrong={"never more": {"high": Fraction(1)}, "SVM1+ as well": {"under": "SVM1+"}},
    note="Q costs extra, and yet SVM2+ is the faster one on Caltech101: the times depend on C, chosen "
    "for each method, as much as on the method.",
    voice="implied",
)
