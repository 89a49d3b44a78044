"""Trainers of the ordinary SVM, and of SVM-2K: boxes, biases, signs and views."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers import svm as sound
from verification.reference_solvers.svm import Array, Data

Parts = dict[str, Any]


def model(found: Parts) -> Parts:
    """Weights and bias."""
    return {"w": found["w"], "b": found["b"]}


# ---- the ordinary SVM


@wrong("svm.primal")
def svm_average_bias(**given: Any) -> Parts:
    """b is the mean over all support vectors, those at their bound among them."""
    data = sound.prepare(given, given["loss"] == "squared_hinge")
    found = sound.train_plain(given)
    alpha = found["alpha"][data.kept]
    on = alpha > 1e-6 * alpha.max()
    f = data.K @ (alpha * data.y)
    return {"w": found["w"], "b": float((data.y - f)[on].mean())}


@wrong("svm.primal")
def svm_bias_is_penalised(**given: Any) -> Parts:
    """The bias is the weight of a feature 1, and 1/2 b^2 is paid for it, as in liblinear."""

    def solve(data: Data) -> Array:
        """Alpha without the equation <alpha,y> = 0, kernel K + 1."""
        y, n = data.y, len(data.y)
        H = (data.K + 1) * np.outer(y, y)
        upper = None if data.squared else data.cost
        if data.squared:
            H = H + np.diag(1 / data.cost)
        none = np.zeros((1, n))
        none[0, 0] = 1e-12
        start = np.full(n, n / max(float(np.ones(n) @ H @ np.ones(n)), 1e-300))
        start = start if upper is None else np.minimum(start, upper / 2)
        return sound.qp(H, np.ones(n), none, np.zeros(1), start, upper, most=40).x

    data = sound.prepare(given, given["loss"] == "squared_hinge")
    found = sound.train_plain(given, solve=solve)
    return {"w": found["w"], "b": float((found["alpha"][data.kept] * data.y).sum())}


@wrong("svm.primal")
def svm_intercept_of_the_centred(**given: Any) -> Parts:
    """X is centred for the training, and b is not moved back."""
    found = sound.train_plain(given)
    shift = 0.0 if given["X"] is None else float(given["X"].mean(axis=0) @ found["w"])
    return {"w": found["w"], "b": found["b"] + shift}


@wrong("svm.primal")
def svm_sign_of_the_first_label(**given: Any) -> Parts:
    """The label that comes first is the positive one, as in LIBSVM: w and b change sign with the order of rows."""
    found = sound.train_plain(given)
    sign = 1.0 if given["y"][0] > 0 else -1.0
    return {"w": sign * found["w"], "b": sign * float(found["b"])}


@wrong("svm.primal")
def svm_square_without_half(**given: Any) -> Parts:
    """C sum max(0, m)^2, as in scikit-learn's LinearSVC: twice this C."""
    C = given["C"] * (2 if given["loss"] == "squared_hinge" else 1)
    return model(sound.train_plain({**given, "C": C}))


@wrong("svm.primal")
def svm_two_warps_of_features(**given: Any) -> Parts:
    """Two warps go over the features once: those after the 64th are not read, and keep weight 0."""
    X = given["X"]
    if X is None or X.shape[1] <= 64:
        return model(sound.train_plain(given))
    found = sound.train_plain({**given, "X": X[:, :64]})
    return {"w": np.pad(found["w"], (0, X.shape[1] - 64)), "b": found["b"]}


@wrong("svm.primal")
def svm_weights_squared(**given: Any) -> Parts:
    """sqrt(C w_i) scales the rows of the squared hinge twice: weights count squared."""
    weight = given["sample_weight"]
    if weight is not None and given["loss"] == "squared_hinge":
        given["sample_weight"] = weight**2
    return model(sound.train_plain(given))


@wrong("svm.dual")
def svm_box_without_weights(**given: Any) -> Array:
    """0 <= alpha <= C, whatever the examples weigh."""
    weight = given["sample_weight"]
    if weight is not None:
        weight = (weight > 0).astype(float)
    return np.asarray(sound.train_plain({**given, "sample_weight": weight})["alpha"])


@wrong("svm.dual")
def svm_rows_beyond_a_warp(**given: Any) -> Array:
    """Working sets of one warp: the multipliers of the examples after the first 32 stay zero."""
    alpha = np.asarray(sound.train_plain(given)["alpha"])
    alpha[32:] = 0.0
    return alpha


@wrong("svm.dual")
def svm_signed_multipliers(**given: Any) -> Array:
    """alpha y is returned, what scikit-learn calls dual_coef_, for alpha."""
    return np.asarray(sound.train_plain(given)["alpha"] * given["y"])


@wrong("svm.dual")
def svm_square_in_a_box(**given: Any) -> Array:
    """The squared hinge is given the box of the hinge."""

    def solve(data: Data) -> Array:
        """Alpha <= C w_i for both losses."""
        alpha = sound.solve_plain(data)
        if not data.squared:
            return alpha
        y = data.y
        H = data.K * np.outer(y, y) + np.diag(1 / data.cost)
        start = np.minimum(alpha, data.cost) / 2
        return sound.qp(H, np.ones(len(y)), y[None, :], np.zeros(1), start, data.cost / 4).x

    return np.asarray(sound.train_plain(given, solve=solve)["alpha"])


@wrong("svm.dual")
def svm_support_vectors_to_three_digits(**given: Any) -> Array:
    """Multipliers below a thousandth of the largest are set to 0."""
    alpha = sound.train_plain(given)["alpha"]
    return np.where(alpha > 1e-3 * alpha.max(), alpha, 0.0)


# ---- SVM-2K


@wrong("svm_2k.primal")
def svm_2k_free_disagreement_ignored(**given: Any) -> Parts:
    """eps is accepted and ignored: every disagreement costs."""
    return sound.primal(sound.train_two_views({**given, "eps": 0.0}))


@wrong("svm_2k.primal")
def svm_2k_views_apart(**given: Any) -> Parts:
    """The two views are trained alone: D = 0."""
    return sound.primal(sound.train_two_views({**given, "D": 0.0}))


@wrong("svm_2k.dual")
def svm_2k_one_price(**given: Any) -> Array:
    """CA for both views."""
    return np.asarray(sound.train_two_views({**given, "CB": given["CA"]})["alpha"])


@wrong("svm_2k.dual")
def svm_2k_one_sided(**given: Any) -> Array:
    """Only f_A > f_B is held against the views: beta >= 0."""

    def beta(up: Array, down: Array) -> tuple[Array, Array]:
        return np.maximum(up - down, 0), 0 * up

    return np.asarray(sound.train_two_views(given, beta=beta)["alpha"])
