"""Table 2: the accuracies on the circle beside the best that a linear classifier can have."""

from fractions import Fraction

from verification.benchmarks import circle, circle_best
from verification.paper_statements import Trial
from verification.paper_statements._rational import vector
from verification.paper_statements.lapin_2016 import stated

#: Printed top-1 and top-2 accuracies in percent; the models of the two columns differ.
CELLS = {
    "SVM-OVA": vector("54.3", "85.8"),
    "LR-OVA": vector("54.7", "81.7"),
    "SVM-Multi": vector("58.9", "89.3"),
    "LR-Multi": vector("54.7", "81.7"),
    "top-1 SVM_1": vector("65.7", "83.9"),
    "top-2 SVM_0": vector("54.4", "87.1"),
    "top-2 SVM_1": vector("54.5", "87.0"),
    "top-2 Ent": vector("54.6", "87.6"),
    "top-2 Ent_tr": vector("58.4", "96.1"),
}
TEST_POINTS = 200_000


def _check_best(trial: Trial, *, reading: str, near: Fraction) -> None:
    best = circle_best.linear(circle.READINGS[reading])
    for name, row in CELLS.items():
        for accuracy, most in zip(row, best, strict=True):
            # Four standard errors of a share of the test points, squared, and the rounding.
            excess = accuracy / 100 - most - Fraction(1, 2000)
            noise = 16 * most * (1 - most) / TEST_POINTS
            trial.exactly(
                excess <= 0 or excess**2 <= noise,
                "no linear classifier is that good",
                method=name,
                printed=accuracy,
                best=100 * most,
            )
    gap = 100 * best[1] - CELLS["top-2 Ent_tr"][1]
    trial.exactly(0 <= gap <= near, "the truncated loss is not that close", gap=gap)


BEST = stated(
    "Table 2",
    check=_check_best,
    says={"reading": "segments", "near": Fraction(2)},
    wrong={"uniform mass": {"reading": "uniform"}, "within a point": {"near": Fraction(1)}},
)

#: Each top-2 loss and the loss that it is for one guess.
EXTENDS = {
    "top-2 SVM_0": "SVM-Multi",
    "top-2 SVM_1": "top-1 SVM_1",
    "top-2 Ent": "LR-Multi",
    "top-2 Ent_tr": "LR-Multi",
}


def _check_gain(trial: Trial, *, extends: dict[str, str]) -> None:
    worse = {
        loss: (CELLS[loss][1], CELLS[single][1])
        for loss, single in extends.items()
        if CELLS[loss][1] <= CELLS[single][1]
    }
    trial.exactly(not worse, "a top-2 loss has the lower top-2 accuracy", accuracies=worse)


GAIN = stated(
    "Table 2, top-2 losses",
    check=_check_gain,
    says={"extends": EXTENDS},
    right={"extends": {k: v for k, v in EXTENDS.items() if k != "top-2 SVM_0"}},
)

#: Top-1 and top-2 accuracies under the drawings of figure 2.
DRAWN = {"top-1 SVM_1": vector("65.7", "81.3"), "top-2 Ent_tr": vector("29.4", "96.1")}


def _check_drawn(trial: Trial, *, chosen: dict[str, int]) -> None:
    for name, column in chosen.items():
        drawn, table = DRAWN[name], CELLS[name]
        trial.exactly(drawn[column] == table[column], "not the model of the table", method=name)
        trial.exactly(
            drawn[1 - column] < table[1 - column], "tuned for the other column, too", method=name
        )
    trial.exactly(
        DRAWN["top-1 SVM_1"][0] > DRAWN["top-2 Ent_tr"][0]
        and DRAWN["top-1 SVM_1"][1] < DRAWN["top-2 Ent_tr"][1],
        "one of the drawn models is better in both",
    )


FIGURE = stated(
    "Figure 2",
    check=_check_drawn,
    says={"chosen": {"top-1 SVM_1": 0, "top-2 Ent_tr": 1}},
    wrong={"columns exchanged": {"chosen": {"top-1 SVM_1": 1, "top-2 Ent_tr": 0}}},
)
