"""Errata of the papers and defects seen in other libraries; each that is a computation has its mutant.

A mutant names in ``ERRATA`` those that it implements as printed. What is no computation says why
there is no mutant: a statement about a method is tried in the ledger of claims, not in a solver.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Erratum:
    """One row: where it stands, what is printed (or done), what is right.

    ``excuse`` says why no wrong solver can be made of it; empty where there must be one.
    """

    where: str
    printed: str
    right: str
    excuse: str = ""


LAPIN_2015 = {
    "lapin_2015/proposition_3": Erratum(
        "Lapin et al. 2015, Proposition 3 and (3), (4); 2016, (6)",
        "the top-k sum runs over all m margins, the ground truth's zero among them",
        "over the m - 1 other classes: only that loss has the published conjugate, dual and update",
    ),
    "lapin_2015/theorem_1": Erratum(
        "Lapin et al. 2015, Theorem 1",
        "the dual objective is +inf outside of its domain",
        "-inf: it is maximised",
    ),
    "lapin_2015/before_equation_3": Erratum(
        "Lapin et al. 2015, before (3)",
        "psi_k > 0 exactly if the k-th largest of all scores exceeds f_y - 1",
        "the k-th largest of the other classes' scores",
        "a remark on where a nonconvex loss is 0; the ledger refutes it",
    ),
    "lapin_2015/after_equation_3": Erratum(
        "Lapin et al. 2015, after (3)",
        "alpha < beta strictly unless the k largest scores are equal",
        "unless the k largest of a + c are equal, or the loss is 0",
        "a remark on two losses, of which each is computed as it stands; the ledger refutes it",
    ),
    "lapin_2015/lemma_3": Erratum(
        "Lapin et al. 2015, Lemma 3",
        "(k-1)(d-k+1) partitions; the constant case without its condition",
        "k(d-k) of them, |U| = 0 too; constant iff 0 < S_k(a)/(k + rho k^2) <= a_[k] - a_[k+1]",
    ),
    "lapin_2015/lemma_4": Erratum(
        "Lapin et al. 2015, Lemma 4 and (7)",
        "strict inequalities; where no partition fits, the solution is 0",
        "0 iff S_k(a) <= 0, for every rho >= 0; elsewhere the fall-back hides failures of rounding",
    ),
    "lapin_2015/lemma_5": Erratum(
        "Lapin et al. 2015, Lemma 5",
        "the multiplier of s <= r is t + k p - rho r",
        "t + p/k - rho r, at the solution with s = r",
    ),
}
LAPIN_2016 = {
    "lapin_2016/strict_error": Erratum(
        "Lapin et al. 2016, (1) and Lemma 1; 2015, err_k",
        "an error needs k strictly larger scores; optimal are scores whose k largest have p_y >= p_[k]",
        "k scores that are at least as large: W = 0 would make no error; with tied p_y the k largest "
        "scores can leave a larger p_y out",
        "the error is a metric; the kit verifies solvers, and the tests of fast.metrics count ties",
    ),
    "lapin_2016/regulariser": Erratum(
        "Lapin et al. 2016, section 2 beside (16)",
        "lambda ||W||^2",
        "lambda/2 ||W||^2, as in the dual",
    ),
    "lapin_2016/multiplier_sign": Erratum(
        "Lapin et al. 2016, arXiv version, (25)",
        "the multiplier of s <= 1 has the wrong sign in the conditions of optimality",
        "the other sign",
        "that multiplier is 0 at every solution: a solver with either sign returns the same point",
    ),
    "lapin_2016/proposition_10": Erratum(
        "Lapin et al. 2016, arXiv version, Proposition 10",
        "an argmin over R^m",
        "there is none for k >= 2; true for values in R with +inf added",
        "the limit is not attained, so that no point can be returned for it",
    ),
    "lapin_2016/smooth_losses_are_no_bounds": Erratum(
        "Lapin et al. 2016, the smooth losses",
        "taken for upper bounds on the top-k error, as section 2.1 asks of surrogates",
        "where the error is 1 their infimum is 1 - gamma/(2k)",
    ),
    "lapin_2016/circle": Erratum(
        "Lapin et al. 2016, section 4",
        "class-conditional probabilities on the circle",
        "probabilities of the classes given the segment, with unknown masses of the segments",
        "a description of data, reproduced by `refsolve reproduce circle`",
    ),
    "lapin_2016/calibration_for_k": Erratum(
        "Lapin et al. 2016, Table 1",
        "calibration of the top-k hinges for k > 1 is open",
        "they are not calibrated: a constant is optimal where the best k classes are clear",
        "a property of the loss's minimiser, refuted in the ledger",
    ),
    "lapin_2016/unguarded_newton": Erratum(
        "Lapin et al. 2016, arXiv version, section 3",
        "Newton's method for the entropies' systems without a bracket",
        "it leaves the domain once 1 - s is small; keep a bracket",
    ),
    "lapin_2016/tails_by_subtraction": Erratum(
        "implementations of Lapin et al. 2016, arXiv version, (16)-(20)",
        "the sum over M is the sum over all minus that over U",
        "add it up by itself: the difference cancels",
    ),
    "lapin_2016/lambertw_overflow": Erratum(
        "implementations of Lapin et al. 2016, V(t)",
        "W(e^t) as lambertw(exp(t))",
        "exp overflows from t = 710 on: solve w + log w = t",
    ),
    "lapin_2016/one_householder_step": Erratum(
        "Lapin et al. 2016, arXiv version, section 3",
        "one Householder step gives V(t) in single precision, two in double",
        "two are needed for either on (-2, 4), but for t near 1, where t - log t is V(t) itself",
    ),
    "lapin_2016/table_3": Erratum(
        "Lapin et al. 2016, section 5 on Table 3",
        "softmax is above multiclass SVM for all k > 1, on all data sets",
        "but for Indoor 67: below it for k = 3, equal for k = 10",
        "a remark on printed accuracies; the ledger refutes it",
    ),
}
MOHAPATRA_2014 = {
    "mohapatra_2014/algorithm_1": Erratum(
        "Mohapatra et al. 2014, Algorithm 1, (7), (8)",
        "the best rank is sought among 1..P",
        "among 1..P+1: a negative may stand below all positives",
    ),
    "mohapatra_2014/proposition_1": Erratum(
        "Mohapatra et al. 2014, Proposition 1",
        "unimodal on 1..min(P, j), and a search that relies on it",
        "concave on 1..min(P, j) + 1, but not always beyond",
    ),
    "mohapatra_2014/section_3_2": Erratum(
        "Mohapatra et al. 2014, section 3.2",
        "opt_k >= opt_j for k < j",
        "the other way round: the ranks rise with j",
    ),
    "mohapatra_2014/second_property": Erratum(
        "Mohapatra et al. 2014, section 3.2",
        "the joint feature depends on the numbers of negatives above and below each positive only",
        "on which negatives they are, too, if the negatives are not in the order of their scores",
        "a remark on rankings that no algorithm of the paper returns; the ledger refutes it",
    ),
    "mohapatra_2014/algorithm_3": Erratum(
        "Mohapatra et al. 2014, Algorithm 3",
        "the negatives below the selected score are searched",
        "those above it",
    ),
    "mohapatra_2014/selection_cost": Erratum(
        "Mohapatra et al. 2014, Algorithm 3",
        "selection in the full list each time",
        "in a shrinking range, else O(N log N)",
        "a matter of time, not of the answer",
    ),
    "mohapatra_2014/equation_5": Erratum(
        "Mohapatra et al. 2014, (5)",
        "j/(j+k) - (j-1)/(j+k-1)",
        "k/((j+k)(j+k-1)), which does not cancel",
    ),
    "mohapatra_2014/ties": Erratum(
        "Mohapatra et al. 2014, AP of tied scores",
        "not defined",
        "the loss bounds the worst order of the ties",
    ),
    "mohapatra_2014/equation_10": Erratum(
        "Mohapatra et al. 2014, (10)",
        "easy samples have a margin > 1",
        "a margin >= 1: over the open set the infimum is not attained",
    ),
    "mohapatra_2014/easy_samples": Erratum(
        "Mohapatra et al. 2014, section 3.3",
        "the easy samples are the top k % by score",
        "by margin y f: raw scores keep positives only",
    ),
    "mohapatra_2014/speed": Erratum(
        "Mohapatra et al. 2014, section 4.1",
        "a speed-up of 5 to 10",
        "2.4 to 22.5 in its own table",
        "a matter of time, not of the answer",
    ),
}
XU_2016 = {
    "xu_2016/nonnegative_slack": Erratum(
        "Xu et al. 2016, section 3",
        "xi >= 0 is easily removed",
        "without it the problem is another one",
    ),
    "xu_2016/number_of_variables": Erratum(
        "Xu et al. 2016, section 3",
        "n variables thanks to the squared slack",
        "thanks to dropping xi >= 0",
        "a remark on the size of a problem; either size has the same solution",
    ),
    "xu_2016/footnote_1": Erratum(
        "Xu et al. 2016, footnote 1",
        "the correcting function y(v'z + rho) is easily put in its place",
        "feasibility changes: the kernel is K + Q without y y'",
    ),
    "xu_2016/collapse": Erratum(
        "Xu et al. 2016, (1) and (3); what users of SVM+ expect",
        "nothing is said of a Z without information: one takes it for an SVM",
        "with a linear correcting function w = 0 is optimal exactly",
    ),
    "xu_2016/box": Erratum(
        "Xu et al. 2016, Algorithm 1; packages for SVM+",
        "an SVM solver with its own C as a box",
        "the box must be inactive: (C n + lambda)/2 is enough",
    ),
    "xu_2016/correcting_kernel": Erratum(
        "Xu et al. 2016, any kernel in (5), beside K~ of (2); packages for SVM+",
        "any kernel k(z, z') takes the place of K~",
        "k(z, z') + 1, as (5) itself has for the linear kernel: the correcting function's own bias",
    ),
    "xu_2016/bias": Erratum(
        "Xu et al. 2016, (14); packages for SVM+",
        "b is not defined; packages average it over all points",
        "b from the support vectors",
    ),
    "xu_2016/cancellation": Erratum(
        "Xu et al. 2016, (5)",
        "Q as a difference of nearly equal matrices",
        "by a factorisation: Q = FF'",
    ),
    "xu_2016/degenerate_input": Erratum(
        "Xu et al. 2016, one class, indefinite kernels, weights of 0",
        "not mentioned",
        "the first two are errors, as the dual is unbounded; an example of weight 0 is none at all",
    ),
    "xu_2016/table_4": Erratum(
        "Xu et al. 2016, Table 4",
        "SVM2+ is a hundred times faster",
        "than a general QP solver on the other problem; with the right solvers they cost the same",
        "a matter of time, not of the answer",
    ),
}
LIBRARIES = {
    "libsdca/count_for_share": Erratum(
        "libsdca 2016, top-k entropy prox", "|U| is passed where |U|/k is meant", "the share |U|/k"
    ),
    "libsdca/zero_rows": Erratum(
        "libsdca 2016",
        "examples with x_i = 0 are skipped",
        "they have a dual block too, else the gap never closes",
    ),
    "libsdca/single_precision_drift": Erratum(
        "libsdca 2016",
        "W in float32 beside A, never rebuilt",
        "W drifts from X'A until the gap is negative",
    ),
    "libsdca/absolute_epsilons": Erratum(
        "libsdca 2016, search on the cone",
        "absolute epsilons",
        "no literal is right at every scale",
    ),
    "libsdca/shifted_labels": Erratum(
        "libsdca 2016",
        "labels without class 0 are silently shifted",
        "an error, or the classes as they are",
        "in the kit's problems every class 0..m-1 occurs; the tests of fast's estimators use others",
    ),
    "libsdca/tests": Erratum(
        "libsdca 2016",
        "its tests of the prox look at feasibility, those of the solver at k = 1",
        "a certificate at every k",
        "a defect of tests: these mutants are the answer to it",
    ),
    "liblinear/tolerance": Erratum(
        "liblinear and others",
        "the tolerance of the stopping rule is taken for a bound on the suboptimality",
        "only a duality gap is one",
    ),
    "libsvm/single_precision_cache": Erratum(
        "LIBSVM", "kernel values in float32", "the gap has a floor at 4e-5 or more"
    ),
    "svm_plus_packages/last_class_wins": Erratum(
        "packages for SVM+",
        "of several positive classes the last is predicted",
        "the one with the largest score",
        "a defect of prediction; the kit judges the trained model, the tests of fast the prediction",
    ),
    "ap_libraries/averaged_ties": Erratum(
        "libraries for average precision", "ties are averaged", "the worst order is bounded"
    ),
    "ap_libraries/negative_losses": Erratum(
        "libraries for average precision",
        "a loss that can be negative",
        "Delta + <s, Psi(R)> - <s, Psi(R*)> is at least 0 at its maximum",
    ),
    "ap_libraries/ranking_matrices": Erratum(
        "libraries for average precision",
        "n x n matrices of rankings",
        "two sorted lists",
        "a matter of memory, not of the answer",
    ),
    "cvxpy/checks": Erratum(
        "checks of cvxpy and qpsolvers",
        "signs of multipliers unchecked, complementarity summed with its sign",
        "each sign, each product",
        "a defect of checks: these mutants are the answer to it",
    ),
}
ERRATA: dict[str, Erratum] = {**LAPIN_2015, **LAPIN_2016, **MOHAPATRA_2014, **XU_2016, **LIBRARIES}


def mutants_of(key: str) -> tuple[str, ...]:
    """Names of the mutants that implement an erratum."""
    from verification import mutants

    return tuple(m.name for m in mutants.discover().values() if key in m.errata)


def problems() -> list[str]:
    """What is wrong with the table: errata without a mutant, stale excuses, unknown keys."""
    from verification import mutants

    found = []
    for key, erratum in ERRATA.items():
        names = mutants_of(key)
        if not names and not erratum.excuse:
            found.append(f"{key}: no mutant, and no reason why there is none")
        if names and erratum.excuse:
            found.append(f"{key}: has an excuse, and a mutant: {', '.join(names)}")
    for mutant in mutants.discover().values():
        found += [f"{mutant.name}: unknown {key}" for key in mutant.errata if key not in ERRATA]
    return found
