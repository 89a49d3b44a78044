"""SVM2+ "by any SVM solver" (Xu et al. 2016, Algorithm 1): LIBSVM on the deformed kernel, right and wrong.

A recipe is a kernel matrix M and a box for LIBSVM, which minimises 1/2 <a, (M yy') a> - sum a over
<a, y> = 0, 0 <= a <= box. The right one, `fast.models.svm_plus_squared_hinge.deformed_problem`, is
M = K + Q yy' with a box that does not bind; the others are how people get it wrong. What LIBSVM
returns is taken as it is: P* is bounded by the certificate of its multipliers, and their own
D(a) = sum a - 1/2 <a, H a> may fall short of it by at most the tolerance.

LIBSVM holds its kernel in float32, H~ = H (1 + 2^-24 t), |t| <= 1 entry by entry. If it stops, then
H~ a is within eps = `EPSILON` of 1 - b y wherever a > 0, and not below it elsewhere. With
eta = eps + 2^-24 max_i sum_j |H_ij| a_j the same holds of H a, so that m >= 1 - eta,
q = <a, H a> <= (1 + eta) sum a, and with P* <= q/(2 m^2)

    (P* - D(a))/P* <= 1 - (1 - eta)^3/(1 + eta):

LIBSVM's own error bound, which is the tolerance where it is above 1e-3.

A wrong recipe *matters* where its optimum is worse than the tolerance by exact effect: the optimum
within a box is bounded from above by its dual, with another matrix it is computed in float64; and
where the right one passes. There it has to be caught.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from verification.benchmarks.records import Record, Section
from verification.certificates.plus_model import of_multipliers, problem

Array = np.ndarray[Any, Any]


class Effort(NamedTuple):
    """Instances, and most steps of LIBSVM with the right recipe; wrong ones take at most `STEPS`."""

    instances: int
    steps: int


STEPS = 30_000
#: Of `refsolve verify --all --thorough`, and without.
EFFORT = {"thorough": Effort(2000, 10 * STEPS), "quick": Effort(200, STEPS)}
KINDS = ("linear", "RBF", "polynomial", "precomputed")
LARGEST = 300
TOLERANCE, EPSILON = 1e-3, 1e-4
#: Of the instances where a wrong recipe matters, at least this share is caught.
SHARE = 0.9
#: The right recipe may run out of steps, or have a bound above `HOPELESS`, on this share of all.
UNBOUNDED, HOPELESS = 0.15, 0.5


SECTION = Section(
    "SVM2+ by LIBSVM, recipes",
    "Relative gap of LIBSVM's multipliers as returned, beside 1e-3 or, above that, the bound that follows from its "
    "kernel in float32. A wrong recipe matters where its exact optimum is worse than that.",
)


class Data(NamedTuple):
    """One problem: kernels (n, n), labels, prices, weights > 0."""

    K: Array
    Kz: Array
    y: Array
    C: float
    lam: float
    weight: Array


def kernel(rng: np.random.Generator, X: Array, kind: str) -> Array:
    """A positive semidefinite kernel between rows."""
    if kind == "linear":
        return X @ X.T
    if kind == "RBF":
        return np.exp(-(10.0 ** rng.uniform(-1.5, 0.5)) * cdist(X, X, "sqeuclidean"))
    if kind == "polynomial":
        return (1 + X @ X.T / X.shape[1]) ** int(rng.integers(2, 4))
    factor = rng.standard_normal((len(X), int(rng.integers(1, len(X) + 1))))
    laplace = np.exp(-cdist(X, X, "cityblock"))  # as other libraries compute it: a sum of two
    return laplace + factor @ factor.T / factor.shape[1]


def draw(seed: int, index: int) -> Data:
    """Instance ``index``: n to 300, all pairs of kernels in turn, C/lam from 1e-5 to 1e5."""
    rng = np.random.default_rng([seed, 11, index])
    n = round(10 ** rng.uniform(np.log10(4), np.log10(LARGEST)))
    X, Z = (
        10 ** rng.uniform(-1, 0.5) * rng.standard_normal((n, int(rng.integers(1, 6)))) for _ in "XZ"
    )
    f = X[:, 0] + rng.choice([0.0, 0.3, 1.0]) * X.std() * rng.standard_normal(n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if rng.random() < 0.5:  # z knows how hard an example is
        Z[:, 0] = abs(f - np.median(f))
    lam = 10 ** rng.uniform(-2, 2)
    weight = 10 ** rng.uniform(-1.5, 0.5, n) if rng.random() < 0.5 else np.ones(n)
    main, other = KINDS[index % 4], KINDS[index // 4 % 4]
    ratio = 10 ** rng.uniform(-5, 5)
    return Data(kernel(rng, X, main), kernel(rng, Z, other), y, lam * ratio, lam, weight)


class Recipe(NamedTuple):
    """What LIBSVM is given: a matrix, and a box for each multiplier."""

    matrix: Array
    box: Array


def right(data: Data) -> Recipe:
    """The documented recipe of `fast`."""
    from fast.models.svm_plus_squared_hinge import deformed_problem

    given: dict[str, Any] = {"Kz": data.Kz, "sample_weight": data.weight}
    found = deformed_problem(data.K, data.y, data.C, data.lam, **given)
    return Recipe(found.kernel, np.full(len(data.y), found.box))


def with_q(data: Data, Q: Array) -> Recipe:
    """The right recipe with another Q."""
    M = data.K + Q * np.outer(data.y, data.y)
    return Recipe(M, np.full(len(data.y), 0.5 * (data.C * data.weight.sum() + data.lam)))


def box_c(data: Data) -> Recipe:
    """C-SVC at the same C (and weights)."""
    return Recipe(right(data).matrix, data.C * data.weight)


def box_cn(data: Data) -> Recipe:
    """A box that looks large enough."""
    return Recipe(right(data).matrix, np.full(len(data.y), data.C * data.weight.sum()))


def solved(data: Data, Kt: Array, weighted: Array) -> Array:
    """(lam I + weighted)^-1 Kt."""
    return np.linalg.solve(data.lam * np.eye(len(Kt)) + weighted, Kt)


def without_one(data: Data) -> Recipe:
    """The kernel k(z, z') in the place of k(z, z') + 1."""
    Q = solved(data, data.Kz, data.C * data.Kz * data.weight)
    return with_q(data, 0.5 * (Q + Q.T))


def without_labels(data: Data) -> Recipe:
    """K + Q: LIBSVM's own factor yy' then comes to Q, too."""
    Q = (right(data).matrix - data.K) * np.outer(data.y, data.y)
    return Recipe(data.K + Q, right(data).box)


def unsymmetrised(data: Data) -> Recipe:
    """Weights on the wrong side of the kernel, and Q left as it comes: it is not symmetric."""
    Kt = data.Kz + 1
    return with_q(data, solved(data, Kt, data.C * data.weight[:, None] * Kt))


def as_printed(data: Data) -> Recipe:
    """(5) as it stands, a difference, left as it comes."""
    Kt, diagonal = data.Kz + 1, data.lam / data.C / data.weight
    return with_q(data, (Kt - Kt @ np.linalg.solve(np.diag(diagonal) + Kt, Kt)) / data.lam)


RIGHT = "right"
WRONG: dict[str, Callable[[Data], Recipe]] = {
    "box C": box_c,
    "box Cn": box_cn,
    "without + 1": without_one,
    "K + Q": without_labels,
    "Q not symmetric": unsymmetrised,
    "(5) as printed": as_printed,
}
BOXES = ("box C", "box Cn")
#: The paper's own: it need not matter anywhere. It loses digits of Q, which the optimum hardly feels.
HARMLESS = ("(5) as printed",)


class Answer(NamedTuple):
    """Multipliers, whether LIBSVM stopped by itself, and its own bound of their relative gap."""

    alpha: Array
    stopped: bool
    bound: float

    @property
    def bounded(self) -> bool:
        """Whether the bound holds, and says something."""
        return self.stopped and self.bound < HOPELESS

    @property
    def limit(self) -> float:
        """The gap that is allowed: 1e-3, or a bound above it."""
        return max(TOLERANCE, self.bound) if self.bounded else TOLERANCE


def by_libsvm(recipe: Recipe, y: Array, steps: int) -> Answer:
    """LIBSVM, in units of the largest diagonal entry."""
    from sklearn.svm import SVC

    unit = float(recipe.matrix.diagonal().max())
    options: dict[str, Any] = {"tol": EPSILON, "max_iter": steps, "shrinking": False}
    model = SVC(C=1.0, kernel="precomputed", **options)
    with warnings.catch_warnings(action="ignore"):  # it is asked below how far it came
        model.fit(recipe.matrix / unit, y, sample_weight=recipe.box * unit)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0]) / unit
    eta = EPSILON + 2.0**-24 * float((np.abs(recipe.matrix) @ alpha).max())
    bound = 1 - (1 - eta) ** 3 / (1 + eta) if eta < 1 else np.inf
    return Answer(alpha, model.fit_status_ == 0, bound)


def in_float64(recipe: Recipe, y: Array) -> Array | None:
    """The optimum of a recipe whose box does not bind; None where there is none to be had."""
    from fast.svm_plus import smo

    H = recipe.matrix * np.outer(y, y)
    with np.errstate(all="ignore"):  # without a solution it goes to infinity
        alpha = smo.solve(H, y, 1e-6, max_iter=30_000 + 200 * len(y)).alpha
        g = H.T @ alpha
        S, q, m = alpha.sum(), alpha @ g, 0.5 * (g[y > 0].min() + g[y < 0].min())
        done = q > 0 and m > 0 and abs(1 - S * m / q) < 1e-4
    return alpha * (S / q) if done else None


def above_box(recipe: Recipe, y: Array, alpha: Array) -> float:
    """An upper bound of what any multipliers within the box attain: 1/2 q + sum box slack, best b."""
    g = (recipe.matrix * np.outer(y, y)) @ alpha
    short, sign = 1 - g, y[:, None]
    cost = recipe.box @ np.maximum(0, short[:, None] - sign * (y * short))  # at b = y_i (1 - g_i)
    return float(0.5 * alpha @ g + cost.min())


class Truth:
    """The right problem: P* between bounds, and what multipliers are worth in it."""

    def __init__(self, data: Data) -> None:
        from fast.models.svm_plus_squared_hinge import train_kernel

        given: dict[str, Any] = {"Kz": data.Kz, "sample_weight": data.weight}
        self.problem = problem(
            data.y, loss="squared_hinge", C=data.C, lam=data.lam, K=data.K, **given
        )
        self.H = right(data).matrix * np.outer(data.y, data.y)
        with warnings.catch_warnings(action="ignore"):  # what it found is certified anew
            found = train_kernel(data.K, data.y, data.C, data.lam, tol=1e-6, **given)
        proof = of_multipliers(self.problem, found.alpha)
        self.primal, self.dual = proof.primal, proof.dual
        self.seen: dict[bytes, float] = {}  # a box that does not bind changes nothing

    def gap(self, alpha: Array) -> float:
        """Certified relative gap of multipliers as they are."""
        key = alpha.tobytes()
        if key not in self.seen:
            self.seen[key] = self._gap(alpha)
        return self.seen[key]

    def _gap(self, alpha: Array) -> float:
        proof, S = of_multipliers(self.problem, alpha), float(alpha.sum())
        if not np.isfinite(proof.gap) or not proof.dual > 0:
            return np.inf
        value = S - S * S / (4 * proof.dual)  # S - q/2, as S^2/(2 q) is the certified dual
        return max(0.0, 1 - value / min(proof.primal, self.primal))

    def loss(self, alpha: Array) -> float:
        """By how much D(alpha) misses the optimum at least, relative to it."""
        return 1 - float(alpha.sum() - 0.5 * alpha @ self.H @ alpha) / self.dual

    def effect(self, name: str, recipe: Recipe, answer: Answer, y: Array) -> float | None:
        """Relative loss by the exact optimum of a wrong recipe, from below; None if it is not known."""
        if name in BOXES:
            return 1 - above_box(recipe, y, answer.alpha) / self.dual
        alpha = in_float64(recipe, y)
        return None if alpha is None else self.loss(alpha)


@dataclass
class Row:
    """What became of one recipe.

    Attributes
    ----------
    instances : how many.
    close, bounded, unbounded : within 1e-3; above it and within LIBSVM's own bound; without a bound,
        as LIBSVM ran out of steps or float32 allows any error.
    worst : largest gap within its bound.
    unknown, matters, caught : where the right recipe passes, and the optimum of this one is not
        known, it matters, and it was found out there.
    objection : what is wrong.
    """

    recipe: str
    instances: int = 0
    close: int = 0
    bounded: int = 0
    unbounded: int = 0
    worst: float = 0.0
    unknown: int = 0
    matters: int = 0
    caught: int = 0
    objection: str = ""

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return self.instances > 0 and not self.objection

    def add(self, index: int, gap: float, answer: Answer) -> bool:
        """Count an answer; whether it passes."""
        self.instances += 1
        if gap <= TOLERANCE:
            self.close += 1
        elif answer.bounded and gap <= answer.limit:
            self.bounded += 1
        elif not answer.bounded:
            self.unbounded += 1
            return False
        else:
            if self.recipe == RIGHT:
                self.objection = f"instance {index}: gap {gap:.3g}, bound {answer.limit:.3g}"
            return False
        self.worst = max(self.worst, gap)
        return True

    def conclude(self) -> None:
        """Judge the whole."""
        if self.recipe == RIGHT and self.unbounded > UNBOUNDED * self.instances:
            self.objection = self.objection or f"no bound on {self.unbounded} of {self.instances}"
        elif self.recipe != RIGHT and self.caught < SHARE * max(
            self.matters, self.recipe not in HARMLESS
        ):
            self.objection = f"caught on {self.caught} of {self.matters} where it matters"

    @property
    def record(self) -> Record:
        """The row of a table."""
        figures: dict[str, Any] = {
            "instances": self.instances,
            "to_1e-3": self.close,
            "to_its_bound": self.bounded,
            "no_bound": self.unbounded,
            "worst": self.worst,
        }
        if self.recipe != RIGHT:
            figures |= {"unknown": self.unknown, "matters": self.matters, "caught": self.caught}
        least = {"instances": 1.0}
        return Record({"recipe": self.recipe}, figures, least, objection=self.objection)


def run(
    effort: Effort,
    seed: int = 0,
    recipe: Callable[[Data], Recipe] = right,
    wrong: dict[str, Callable[[Data], Recipe]] | None = None,
    gap: Callable[[Truth, Array], float] = Truth.gap,
) -> list[Row]:
    """A row for the right recipe and for each wrong one; others can be put in their places."""
    recipes = {RIGHT: recipe, **(WRONG if wrong is None else wrong)}
    rows = {name: Row(name) for name in recipes}
    for index in range(effort.instances):
        data = draw(seed, index)
        truth, limit, passes = Truth(data), TOLERANCE, False
        for name, make in recipes.items():
            made = make(data)
            most = effort.steps if name == RIGHT else min(effort.steps, STEPS)
            answer = by_libsvm(made, data.y, most)
            found = gap(truth, answer.alpha)
            good = rows[name].add(index, found, answer)
            if name == RIGHT:
                passes = good
                limit = answer.limit
            elif passes:
                effect = truth.effect(name, made, answer, data.y)
                rows[name].unknown += effect is None
                if effect is not None and effect > limit:
                    rows[name].matters += 1
                    rows[name].caught += found > limit
    for row in rows.values():
        row.conclude()
    return list(rows.values())


def records(effort: Effort, seed: int = 0) -> list[Record]:
    """The rows of `run` as records."""
    return [row.record for row in run(effort, seed)]
