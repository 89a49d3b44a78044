"""The printed tables, and section 4.2."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product

from verification.benchmarks import ap_paper
from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import ZERO, Labels, draw_samples
from verification.paper_statements._rational import Vector, draw_vector, vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.losses import hinge

# ==========================================================================================
# Section 4.2, latent AP-SVM: which candidate of a positive or negative serves the loss best.
# ==========================================================================================


def _draw(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=4)
    bags = [draw_vector(rng, int(rng.integers(1, 4)), 1, 4) for _ in given["labels"]]
    others = [[v + w for v, w in zip(bag, draw_vector(rng, 3, 1, 4), strict=False)] for bag in bags]
    return {"labels": given["labels"], "bags": bags, "others": others}


#: Scores of the candidates of one sample -> score of the sample
Pick = Callable[[Sequence[Fraction]], Fraction]


def _check(
    trial: Trial,
    *,
    labels: Labels,
    bags: list[Vector],
    others: list[Vector],
    positive: Pick,
    fixed: bool,
) -> None:
    def loss(bags: list[Vector], chosen: tuple[int, ...] | None) -> Fraction:
        """L; negatives take their best candidate, positives the chosen one if there is one."""
        return hinge(
            labels,
            [
                bag[chosen[i]] if label and chosen is not None else max(bag)
                for i, (label, bag) in enumerate(zip(labels, bags, strict=True))
            ],
        )

    choices = list(
        product(*(range(len(bag)) if y else (0,) for y, bag in zip(labels, bags, strict=True)))
    )
    picked = tuple(
        bag.index(positive(bag)) if y else 0 for y, bag in zip(labels, bags, strict=True)
    )
    least = min(loss(bags, chosen) for chosen in choices)
    found = loss(bags, picked)
    trial.exactly(found == least, "another choice has a smaller loss", loss=found, least=least)
    middle = [
        [(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(bags, others, strict=True)
    ]
    ends = [loss(points, picked if fixed else None) for points in (bags, others)]
    value = loss(middle, picked if fixed else None)
    trial.exactly(value <= sum(ends, ZERO) / 2, "not convex", value=value, ends=ends)


LATENT = stated(
    "Section 4.2, latent choice",
    draw=_draw,
    check=_check,
    says={"positive": max, "fixed": True},
    wrong={
        "the smallest score": {"positive": min},
        "the first candidate": {"positive": lambda bag: bag[0]},
        "the positives' maximum inside as well": {"fixed": False},
    },
)


# ==========================================================================================
# Tables 1 to 3 and the text about them: what follows from the printed numbers alone.
# ==========================================================================================

METHODS = ("binary SVM", "AP-SVM", "k=25%", "k=50%", "k=75%")

#: Table 1, test AP in percent, columns as in METHODS.
TABLE_1 = {name: vector(*map(str, row)) for name, row in ap_paper.TEST_AP.items()}

#: Tables 2 (seconds in all) and 3 (milliseconds an iteration), by the names of the paper.
TIMES = {
    name: vector(*map(str, times))
    for name, times in zip(
        ("binary SVM", "AP-SVM", "SEARCH", "SELECT", "APPX", "ALL"),
        ap_paper.TIMES.values(),
        strict=True,
    )
}
OURS = ("SEARCH", "SELECT", "APPX", "ALL")


# --------------------------------------------------------------------------------------- Table 1


def _check_better(trial: Trial, *, better: str, worse: str, but: Sequence[str]) -> None:
    a, b = METHODS.index(better), METHODS.index(worse)
    found = [name for name, row in TABLE_1.items() if row[a] <= row[b]]
    trial.exactly(
        set(found) == set(but),
        f"{better} is not better than {worse} in these classes, contrary to what is stated",
        classes=[(name, TABLE_1[name][a], TABLE_1[name][b]) for name in found],
    )


OUTPERFORMS_PRINTED = stated("Table 1, AP-SVM and binary SVM", check=_check_better)


def _check_not_worse(trial: Trial, *, column: int, at_least: Sequence[str]) -> None:
    worse = [(name, row[1], row[column]) for name, row in TABLE_1.items() if row[column] < row[1]]
    trial.exactly(
        set(TABLE_1) - {name for name, *_ in worse} == set(at_least),
        "AP-SVM-APPX has less than AP-SVM in some classes",
        classes=worse,
    )


NOT_WORSE_PRINTED = stated("Table 1, AP-SVM-APPX and AP-SVM", check=_check_not_worse)


def means() -> Vector:
    """Mean AP over the classes, by method."""
    return [sum(column, ZERO) / len(TABLE_1) for column in zip(*TABLE_1.values(), strict=True)]


def _check_means(trial: Trial, *, falling: Mapping[str, str], losing: Mapping[str, int]) -> None:
    mean = dict(zip(METHODS, means(), strict=True))
    found = [mean[name] for name in falling]
    trial.exactly(
        all(a > b for a, b in pairwise(found)), "the means are in another order", means=mean
    )
    trial.exactly(
        all(
            abs(mean[name] - Fraction(value)) <= Fraction(1, 20) for name, value in falling.items()
        ),
        "a mean is another",
        means=mean,
    )
    below = {
        name: sum(row[i] < row[0] for row in TABLE_1.values()) for i, name in enumerate(METHODS)
    }
    trial.exactly(
        all(below[name] == count for name, count in losing.items()),
        "another number of classes below the binary SVM",
        below=below,
    )


MEANS = stated(
    "Table 1, means",
    check=_check_means,
    says={
        "falling": {
            "AP-SVM": "51.2",
            "k=25%": "50.9",
            "k=50%": "50.3",
            "k=75%": "49.2",
            "binary SVM": "47.9",
        },
        "losing": {"AP-SVM": 1, "k=25%": 2, "k=50%": 2, "k=75%": 3},
    },
    wrong={
        "k = 75% best": {"falling": {"k=75%": "49.2", "AP-SVM": "51.2"}},
        "k = 50% without loss": {"falling": {"k=50%": "51.2"}},
        "never below the binary SVM": {"losing": {"AP-SVM": 0}},
    },
)

# --------------------------------------------------------------------------------- Tables 2 and 3


def _speedups(table: int) -> dict[str, Fraction]:
    return {name: TIMES["AP-SVM"][table - 2] / TIMES[name][table - 2] for name in OURS}


def _check_speedups(trial: Trial, *, low: Fraction, high: Fraction) -> None:
    found = _speedups(2)
    trial.exactly(
        all(low <= v <= high for v in found.values()),
        "a factor of Table 2 is outside",
        factors={name: str(round(float(v), 1)) for name, v in found.items()},
    )


SPEEDUP_PRINTED = stated("Table 2, factors", check=_check_speedups)


def iterations(name: str) -> tuple[Fraction, Fraction]:
    """Bounds on Table 2 over Table 3, from what rounding to the printed digits leaves open."""
    seconds, each = TIMES[name]
    off, off_each = Fraction(1, 20_000), Fraction(1, 2000)
    return 1000 * (seconds - off) / (each + off_each), 1000 * (seconds + off) / (each - off_each)


def _check_iterations(trial: Trial, *, methods: Sequence[str]) -> None:
    bounds = {name: iterations(name) for name in methods}
    low, high = max(b[0] for b in bounds.values()), min(b[1] for b in bounds.values())
    trial.exactly(
        low <= high,
        "the numbers of iterations differ by more than rounding",
        iterations={name: str(round(float(sum(b)) / 2, 1)) for name, b in bounds.items()},
    )


ITERATIONS = stated("Tables 2 and 3, iterations", check=_check_iterations)

#: (times of all methods) -> whether a comparison in the text holds
Comparison = Callable[[dict[str, Vector]], bool]


def _check_times(trial: Trial, *, holds: Sequence[Comparison]) -> None:
    trial.exactly(all(test(TIMES) for test in holds), "a comparison does not hold", times=TIMES)


TIMES_TEXT = stated(
    "Tables 2 and 3, binary SVM",
    check=_check_times,
    says={
        "holds": (
            lambda times: 20 * times["binary SVM"][1] < times["AP-SVM"][1],
            *(
                lambda times, name=name: times[name][0] < times["binary SVM"][0]
                for name in ("SEARCH", "SELECT", "ALL")
            ),
        )
    },
    wrong={
        "APPX too": {"holds": (lambda times: times["APPX"][0] < times["binary SVM"][0],)},
        "a step of ALL is cheaper": {
            "holds": (lambda times: times["ALL"][1] < times["binary SVM"][1],)
        },
    },
)


def _check_detection(trial: Trial, *, low: Fraction, high: Fraction) -> None:
    factor = Fraction("6.237") / Fraction("0.3302")
    trial.exactly(low < factor < high, "the factor is another", factor=factor)


DETECTION = stated("Section 4.2, factor", check=_check_detection)
