"""Trainers over rankings: AP-SVM, with easy examples, a ramp or latent candidates, and the binary SVM."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.models import ap_ramp, ap_svm, ap_svm_appx, binary_svm, latent_ap_svm
from verification.reference_solvers import ap_training as sound
from verification.reference_solvers import rankings as ranking
from verification.reference_solvers.ap_training import Parts
from verification.reference_solvers.projections import Array

PRIMAL, DUAL, RAMP = "ap_svm.primal", "ap_svm.dual", "ap_ramp.primal"
EASY, LATENT = "ap_svm_appx.primal", "latent_ap_svm.primal"
BINARY = "binary_svm.primal"


def of(found: Parts, *names: str) -> Parts:
    """Some parts of the answer; w if none is named."""
    return {name: found[name] for name in names or ("w",)}


# ---- another C, other data, another tolerance


@wrong(PRIMAL)
def ap_train_c_times_n(y: Array, C: float, **given: Any) -> Parts:
    """C multiplies the sum over the examples: n times as much."""
    return of(sound.train(y=y, C=C * len(y), **given))


@wrong(PRIMAL)
def ap_train_regularised_twice(C: float, **given: Any) -> Parts:
    """The regulariser is ||w||^2 where the objective has half of it."""
    return of(sound.train(C=C / 2, **given))


@wrong(PRIMAL)
def ap_train_sums_queries(y: Array, C: float, groups: Array | None = None, **given: Any) -> Parts:
    """The losses of the queries are summed, not averaged."""
    return of(sound.train(y=y, C=C * len(sound.queries(y, groups)), groups=groups, **given))


@wrong(PRIMAL)
def ap_train_ignores_queries(groups: Array | None = None, **given: Any) -> Parts:
    """All queries are ranked as one."""
    return of(sound.train(**given))


@wrong(PRIMAL)
def ap_train_psi_without_two(X: Array, **given: Any) -> Parts:
    """The joint feature has 1/(PN) where the inversions of a pair count twice, from +1 to -1."""
    return of(sound.train(X / 2, **given))


@wrong(PRIMAL)
def ap_train_stops_early(tol: float = 1e-6, **given: Any) -> Parts:
    """Stops at a gap of 1e-2 and says nothing of it."""
    return of(sound.train(tol=1e-2, **given))


@wrong(PRIMAL)
def ap_train_claims_an_early_pair(tol: float = 1e-6, **given: Any) -> Parts:
    """Stops at a gap of 1e-3 and returns the pair as a certificate of 1e-6."""
    return sound.train(tol=1e-3, **given)


@wrong(PRIMAL)
def ap_train_averages_iterates(**given: Any) -> Parts:
    """Returns the average of its iterates with the rankings of the last one."""
    seen: list[Array] = []

    def keep(state: Any) -> bool:
        seen.append(np.array(state.w))
        return False

    found = sound.train(**given, report=keep)
    return found | {"w": np.mean(seen, axis=0) if seen else found["w"]}


@wrong(PRIMAL, erratum="mohapatra_2014/ties")
def ap_train_best_order_of_ties(X: Array, **given: Any) -> Parts:
    """Ties count for the positives: at w = 0 it sees no loss and is content."""
    return {"w": np.zeros(X.shape[1])}


# ---- another inference


@wrong(PRIMAL)
def ap_train_hinge_over_pairs(**given: Any) -> Parts:
    """Averages the hinge over the pairs of a positive and a negative: the area under the ROC curve."""

    def infer(scores: Array, y: Array) -> ranking.Answer:
        up, down = scores[y > 0], scores[y <= 0]
        slack = 1.0 - up[:, None] + down[None, :]
        active = slack > 0
        coefficients = np.zeros(len(y))
        coefficients[y > 0] = -active.sum(axis=1) / slack.size
        coefficients[y <= 0] = active.sum(axis=0) / slack.size
        return float(slack[active].sum()) / slack.size, active.sum(axis=1), coefficients

    return of(sound.train(**given, infer=infer))


@wrong(PRIMAL)
def ap_train_psi_not_normalised(**given: Any) -> Parts:
    """The joint feature is the sum over the pairs, without 1/(PN), in each query."""

    def infer(scores: Array, y: Array) -> ranking.Answer:
        pairs = float((y > 0).sum() * (y <= 0).sum())
        value, counts, coefficients = ranking.infer(pairs * scores, y)
        return value, counts, pairs * coefficients

    return of(sound.train(**given, infer=infer))


@wrong(PRIMAL, erratum="mohapatra_2014/algorithm_1")
def ap_train_without_the_last_rank(**given: Any) -> Parts:
    """Inference seeks ranks among 1..P only: every negative stands above some positive."""

    def ranks(table: Array) -> Array:
        values = ranking.suffix_sums(table)[:, -2::-1]
        return np.asarray(values.shape[1] - values.argmax(axis=1))

    def infer(scores: Array, y: Array) -> ranking.Answer:
        return ranking.infer(scores, y, ranks=ranks)

    return of(sound.train(**given, infer=infer))


# ---- the dual


@wrong(DUAL)
def ap_train_counts_one_side(y: Array, **given: Any) -> Parts:
    """Rankings hold the negatives above each positive, and zeros for the negatives."""
    found = sound.train(y=y, **given)
    return {"rankings": found["rankings"] * (y > 0), "weights": found["weights"]}


@wrong(DUAL)
def ap_train_negative_weights(y: Array, C: float, **given: Any) -> Parts:
    """Moves weight between rankings without minding the sign."""
    found = sound.train(y=y, C=C, **given)
    right = np.zeros((1, len(y)), dtype=np.int64)
    rankings = np.vstack([found["rankings"], found["rankings"][:1], right])
    return {"rankings": rankings, "weights": np.append(found["weights"], [C, -C])}


@wrong(DUAL)
def ap_train_weights_sum_to_one(C: float, **given: Any) -> Parts:
    """The weights of the rankings are those of the simplex, without the factor C."""
    found = sound.train(C=C, **given)
    return {"rankings": found["rankings"], "weights": found["weights"] / C}


# ---- easy examples


@wrong(EASY)
def ap_train_counts_the_easy(X: Array, y: Array, easy: Array, **given: Any) -> Parts:
    """P and N of the joint feature count the easy examples too."""
    hard = y[~easy]
    mine, all_of_them = hard.sum() * (len(hard) - hard.sum()), y.sum() * (len(y) - y.sum())
    share = mine / all_of_them if mine else 1.0
    return of(ap_svm_appx.TASK.train(np.where(easy[:, None], X, share * X), y, easy, **given))


@wrong(EASY, erratum="mohapatra_2014/easy_samples")
def ap_train_easy_by_score(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """Keeps the half of the easy examples with the highest scores, which are positives, not margins."""
    scores = X @ binary_svm.TASK.train(X, y, C, False, 1e-2)["w"]
    chosen = np.flatnonzero(easy)
    kept = np.zeros(len(y), dtype=bool)
    kept[chosen[np.argsort(-scores[chosen], kind="stable")][: (len(chosen) + 1) // 2]] = True
    return of(ap_svm_appx.TASK.train(X, y, kept, C, tol))


@wrong(EASY)
def ap_train_forgets_the_easy(X: Array, y: Array, easy: Array, **given: Any) -> Parts:
    """The easy examples are left out of the ranking, and their constraints forgotten."""
    hard = ~easy
    if not hard.any():
        return {"w": 0.0 * X[0]}
    return of(ap_svm_appx.TASK.train(X[hard], y[hard], easy[hard], **given))


@wrong(EASY)
def ap_train_ranks_the_easy(X: Array, y: Array, easy: Array, **given: Any) -> Parts:
    """The easy examples are ranked with the others besides being constraints."""
    twice, labels = np.vstack([X, X[easy]]), np.append(y, y[easy])
    mask = np.append(np.zeros(len(y), dtype=bool), np.ones(int(easy.sum()), dtype=bool))
    return of(ap_svm_appx.TASK.train(twice, labels, mask, **given))


@wrong(EASY, erratum="mohapatra_2014/equation_10")
def ap_train_strict_margin(X: Array, y: Array, easy: Array, **given: Any) -> Parts:
    """A strict constraint, y f > 1, made of 1 and a little more."""
    return of(ap_svm_appx.TASK.train(np.where(easy[:, None], X / 1.001, X), y, easy, **given))


@wrong("ap_svm_appx.dual")
def ap_train_unbalanced_easy(y: Array, **given: Any) -> Parts:
    """The multipliers of the easy examples leave out their balance, as if there were no bias."""
    found = ap_svm_appx.TASK.train(y=y, **given)
    mu = np.where(y > 0, 2 * found["mu"], found["mu"])
    return of(found, "rankings", "weights") | {"mu": mu}


# ---- the ramp


@wrong(RAMP)
def ap_train_ramp_adds_the_score(**given: Any) -> Parts:
    """Adds the score of the predicted ranking where the ramp subtracts it."""

    def plain(up: Array, down: Array) -> Array:
        return -2.0 * (up[None, :] - down[:, None]) / (len(up) * len(down))

    def infer(scores: Array, labels: Array) -> ranking.Answer:
        value, counts, coefficients = ranking.infer(scores, labels)
        predicted, _, slopes = ranking.infer(scores, labels, loss=lambda counts: 0.0, gains=plain)
        return value + predicted, counts, coefficients + slopes

    return of(sound.train(**given, infer=infer))


@wrong(RAMP)
def ap_train_ramp_claims_the_bound(tol: float = 1e-6, **given: Any) -> Parts:
    """Claims the convex bound of its first step as the objective of the ramp."""
    w = ap_ramp.TASK.train(**given, tol=tol)["w"]
    return {"w": w, "objectives": np.array([ap_svm.TASK.upper(given, {"w": w})])}


@wrong(RAMP)
def ap_train_ramp_one_step(y: Array, **given: Any) -> Parts:
    """Takes one convex step, which is the AP-SVM, and returns it with its certificate."""
    return ap_svm.TASK.train(y=y, **given) | {"reference": np.zeros(len(y), dtype=np.int64)}


# ---- latent candidates


@wrong(LATENT)
def ap_train_latent_averages_candidates(X: Array, bags: Array, y: Array, **given: Any) -> Parts:
    """A bag is the mean of its candidates."""
    means = np.stack([X[bags == i].mean(axis=0) for i in range(len(y))])
    return of(latent_ap_svm.TASK.train(means, np.arange(len(y)), y, **given))


def first_only(side: Array, X: Array, bags: Array, **given: Any) -> Parts:
    """Train with the first candidate alone in the bags of ``side``, which is given by row."""
    first = np.unique(bags, return_index=True)[1]
    kept = np.flatnonzero(~side | np.isin(np.arange(len(bags)), first))
    return of(latent_ap_svm.TASK.train(X[kept], bags[kept], **given))


@wrong(LATENT)
def ap_train_latent_fixes_negatives(X: Array, bags: Array, y: Array, **given: Any) -> Parts:
    """Negative bags are fixed at a candidate too, as if they were positive."""
    return first_only(y[bags] <= 0, X, bags, y=y, **given)


@wrong(LATENT)
def ap_train_latent_keeps_the_first(X: Array, bags: Array, y: Array, **given: Any) -> Parts:
    """Positive bags keep their first candidate: one step, from a choice that nobody made."""
    return first_only(y[bags] > 0, X, bags, y=y, **given)


@wrong(LATENT)
def ap_train_latent_sorts_the_bags(bags: Array, **given: Any) -> Parts:
    """The bags are sorted and the rows are not: right only where the candidates of a bag stand together."""
    return of(latent_ap_svm.TASK.train(bags=np.sort(bags), **given))


# ---- the binary SVM


@wrong("binary_svm.dual", fixed={"bias": False})
def ap_train_box_of_c(y: Array, C: float, **given: Any) -> Parts:
    """The box of the dual is C, not C/n."""
    return of(binary_svm.TASK.train(y=y, C=C * len(y), **given), "alpha")


@wrong(BINARY, fixed={"bias": True})
def ap_train_forgets_the_bias(bias: bool | str = False, **given: Any) -> Parts:
    """The bias is left out."""
    return of(binary_svm.TASK.train(bias=False, **given), "w", "b")


@wrong(BINARY, fixed={"bias": "free"})
def ap_train_penalises_the_bias(
    X: Array, y: Array, C: float, bias: bool | str = False, tol: float = 1e-6
) -> Parts:
    """A bias that is free is regularised with the weights."""
    # the bias as the weight of a constant feature; roughly trained, which is cheaper
    return of(binary_svm.TASK.train(X, y, C, True, 1e-3), "w", "b")


@wrong(BINARY, fixed={"bias": False})
def ap_train_sums_the_hinge(y: Array, C: float, **given: Any) -> Parts:
    """C multiplies the sum of the hinges of the binary SVM, not their mean."""
    return of(binary_svm.TASK.train(y=y, C=C * len(y), **given), "w", "b")
