"""Wrong certificates: the trusted core with one piece of one function replaced by another.

Each is a mistake that a certificate can make without looking wrong: a lost term, another sign, a weight
or a constraint forgotten, a repair that leaves the set, a support function of another set, a bound that is
too good by a constant.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    """A function ``module:name`` of the core, the piece ``right`` of its text, and what stands there instead."""

    name: str
    target: str
    right: str
    wrong: str
    defect: str


#: The wrong certificates by name.
WRONG: dict[str, Wrong] = {}


def wrong_certificate(name: str, target: str, right: str, wrong: str, defect: str) -> None:
    """Add one; ``target`` is given without ``refsolve.``."""
    WRONG[name] = Wrong(name, f"refsolve.{target}", right, wrong, defect)


# ---- sets

wrong_certificate(
    "support_by_the_largest", "sets.topk_simplex_alpha:support",
    "f.positive(f.top_sum(w, k)) / k", "f.positive(w.max(axis=-1))",
    "The support function of the simplex, in the place of that of the top-k simplex: max for a mean.",
)  # fmt: skip
wrong_certificate(
    "support_of_both_signs", "sets.box:support", "f.positive(w)", "abs(w)",
    "The support function of the symmetric box.",
)  # fmt: skip
wrong_certificate(
    "support_with_the_caps_of_alpha", "sets.topk_simplex_beta:support",
    "f.top_sum(f.positive(w), k)", "f.positive(f.top_sum(w, k))",
    "The support function of the alpha set, where the mean may be negative, for the beta set.",
)  # fmt: skip
wrong_certificate(
    "residual_without_the_sum", "sets.topk_simplex_alpha:residual",
    "slack.sum(axis=-1) + sums / k", "slack.sum(axis=-1)",
    "The term of the bound on the sum is lost.",
)  # fmt: skip
wrong_certificate(
    "residual_without_the_caps", "sets.topk_simplex_beta:residual",
    "f.positive(f.column(r) / k - x) * f.positive(w - t) + x", "x",
    "What entries below their caps lose is lost.",
)  # fmt: skip
wrong_certificate(
    "residual_of_one_side", "sets.bipartite_simplex:residual", "lost.sum(axis=-1) + rest", "rest",
    "Mass on entries that are not the largest of their side costs nothing.",
)  # fmt: skip
wrong_certificate(
    "residual_inside_is_free", "sets.box:residual", "+ x * f.positive(-w)", "",
    "Mass where w is negative costs nothing.",
)  # fmt: skip
wrong_certificate(
    "repair_without_the_sum", "sets.topk_simplex_alpha:repair", "return f.lower_sum(x, r)", "return x",
    "The repair leaves the set: the sum is not lowered.",
)  # fmt: skip
wrong_certificate(
    "repair_without_the_caps", "sets.topk_simplex_beta:repair",
    "np.clip(x, 0, f.column(r) / k)", "f.positive(x)",
    "The repair leaves the set: entries keep what exceeds their caps.",
)  # fmt: skip
wrong_certificate(
    "repair_of_one_side", "sets.bipartite_simplex:repair",
    "np.minimum(np.minimum(low, high), r)", "np.minimum(np.maximum(low, high), r)",
    "The repair leaves the set: the sums of the two sides differ.",
)  # fmt: skip
wrong_certificate(
    "violation_without_the_caps", "sets.topk_simplex_alpha:violation",
    "np.maximum((-x).max(axis=-1), x.max(axis=-1) - s / k)", "(-x).max(axis=-1)",
    "Entries above their caps count as feasible.",
)  # fmt: skip
wrong_certificate(
    "radius_too_small", "sets.topk_simplex_alpha:radius", "np.ones((), a.dtype) / d", "1.0",
    "The part of the set that is looked at is too small to hold the solution.",
)  # fmt: skip

# ---- projections

PROJECTION = "proofs.projection:projection"
wrong_certificate(
    "gap_without_the_quadratic", "proofs.projection:projection_gap",
    "return quadratic / 2 + module", "return module",
    "What the dual point misses of the gradient is lost.",
)  # fmt: skip
wrong_certificate(
    "bias_out_of_the_gradient", "proofs.projection:projection_gap", "g = x - a + rho * s", "g = x - a",
    "The gradient of rho/2 <1,x>^2 is forgotten.",
)  # fmt: skip
wrong_certificate(
    "quadratic_of_the_mean", "proofs.projection:projection_gap", "((e - e.mean()) ** 2).sum() + ", "",
    "Of what the dual point misses only the mean counts.",
)  # fmt: skip
wrong_certificate(
    "distance_without_the_two", PROJECTION, "np.sqrt(2 * gap)", "np.sqrt(gap)",
    "sqrt(gap) for sqrt(2 gap/mu).",
)  # fmt: skip
wrong_certificate(
    "distance_of_the_repaired", PROJECTION, "norm(given - repaired) + np.sqrt(2 * gap)", "np.sqrt(2 * gap)",
    "The distance of the repaired point is claimed for the one that was given.",
)  # fmt: skip
wrong_certificate(
    "stale_proposal", PROJECTION, "norm(given - proposal) + np.sqrt(better)", "norm(repaired - proposal)",
    "The way to the proposal starts at another point than the one that was given.",
)  # fmt: skip
wrong_certificate(
    "feasible_by_decree", PROJECTION, "abs(float(violation))", "0.0",
    "The violation is not reported.",
)  # fmt: skip
wrong_certificate(
    "scale_of_the_squares", PROJECTION, "float(abs(a).max()) * size", "float((a * a).sum()) * size",
    "The gap is judged by the wrong quantity.",
)  # fmt: skip
wrong_certificate(
    "value_without_the_bias", PROJECTION, " + rho * s**2) / 2", ") / 2",
    "rho/2 <1,x>^2 is missing in the value.",
)  # fmt: skip
wrong_certificate(
    "size_of_one_side", "proofs.projection:projection_size",
    "module.support(ones, **params), ", "",
    "r for the largest sum, also where every entry, or each side, may have it.",
)  # fmt: skip
wrong_certificate(
    "rounded_inwards", "proofs.certificate:up", "(1 + 2.0**-50)", "(1 - 2.0**-50)",
    "Bounds are rounded to smaller numbers.",
)  # fmt: skip
wrong_certificate(
    "root_without_its_slope", "proofs.projection:function_value",
    "residual = w + np.log(w) - t", "residual = w - np.exp(t - w)",
    "The residual of another equation, in other units.",
)  # fmt: skip

# ---- losses

wrong_certificate(
    "number_above_is_right", "proofs.certificate:number_error",
    ", float(given - low), float(high - given)",
    ", float(high - given)", "Numbers that are too large are right.",
)  # fmt: skip
wrong_certificate(
    "value_without_its_weight", "margin_certificates:loss_value",
    "number_error(value, weight * lower", "number_error(value, lower",
    "The lower bound forgets the weight.",
)  # fmt: skip
wrong_certificate(
    "costs_forgotten", "proofs.families:Multiclass.margins",
    "others(scores - own, y) + costs", "others(scores - own, y)",
    "The margins are without their costs.",
)  # fmt: skip
wrong_certificate(
    "truth_not_flipped", "proofs.families:OneVsAll.signs", "[..., None], -1, 1)", "[..., None], 1, 1)",
    "The ground truth is one more wrong class.",
)  # fmt: skip
wrong_certificate(
    "pull_without_the_sum", "proofs.families:Multiclass.pull", "x + x.sum(axis=-1, keepdims=True)", "x",
    "MM' is taken for the identity.",
)  # fmt: skip
wrong_certificate(
    "block_of_the_wrong_sign", "proofs.families:Multiclass.block",
    "np.insert(-x, y, total, axis=-1)", "np.insert(-x, y, -total, axis=-1)",
    "The entry of the ground truth has the wrong sign.",
)  # fmt: skip
wrong_certificate(
    "conjugate_without_half", "generators.quadratic:Quadratic.value",
    "self.gamma * (x * x).sum(axis=-1) / 2", "self.gamma * (x * x).sum(axis=-1)",
    "gamma ||x||^2 for its half.",
)  # fmt: skip
wrong_certificate(
    "divergence_lost", "generators.quadratic:Quadratic.gap", "through + self.divergence(x, p)", "through",
    "What x is away from the maximiser costs nothing.",
)  # fmt: skip
wrong_certificate(
    "modulus_too_large", "generators.quadratic:Quadratic.modulus", "return self.gamma", "return 4 * self.gamma",
    "The conjugate is taken for four times as convex as it is.",
)  # fmt: skip
wrong_certificate(
    "caps_are_free", "generators.entropic:Entropic.gap", "total + _slack(domain, x, p)", "total",
    "What the caps leave is lost.",
)  # fmt: skip
wrong_certificate(
    "complement_is_free", "generators.entropic:Entropic.gap",
    "total = total + logs.divergence(rest, p.rest, p.log_rest).sum(axis=-1)", "pass",
    "The divergence of 1 - s is lost.",
)  # fmt: skip
wrong_certificate(
    "entropy_without_the_rest", "generators.entropic:Entropic.value",
    "found if rest is None else found + logs.xlogx(rest).sum(axis=-1)", "found",
    "(1-s) log(1-s) is missing.",
)  # fmt: skip
wrong_certificate(
    "gradient_without_its_weight", "margin_certificates:gradient", "gap = weight * loss", "gap = loss",
    "The gap forgets the weight.",
)  # fmt: skip
wrong_certificate(
    "unbalanced_gradient", "margin_certificates:gradient",
    "max(loss.family.unbalance(given), weight * loss.violation(raw))",
    "weight * loss.violation(raw)", "Whether <1,g> = 0 is not looked at.",
)  # fmt: skip
wrong_certificate(
    "conjugate_of_the_wrong_sign", "margin_certificates:conjugate", "exact = own - c @ x", "exact = own + c @ x",
    "<c,x> has the wrong sign.",
)  # fmt: skip
wrong_certificate(
    "infinite_everywhere", "margin_certificates:conjugate", "value == np.inf and violation > x.size * DOMAIN_SLACK",
    "value == np.inf", "+inf is right inside of the domain, too.",
)  # fmt: skip
wrong_certificate(
    "prox_without_the_two", "margin_certificates:prox", "square = ((point - v + t * x) ** 2).sum() / (2 * t)",
    "square = ((point - v + t * x) ** 2).sum() / (4 * t)", "A quarter of the square for its half.",
)  # fmt: skip
wrong_certificate(
    "prox_without_its_step", "margin_certificates:prox",
    "min(np.sqrt(2 * t * gap), through)", "min(np.sqrt(gap / 2), through)",
    "The strong convexity is not that of the step.",
)  # fmt: skip
wrong_certificate(
    "mass_without_the_weight", "margin_certificates:update_data", " * Real(WEIGHT.check(sample_weight))", "",
    "The radius of the dual set forgets the weight.",
)  # fmt: skip
wrong_certificate(
    "update_loses_the_step", "margin_certificates:sdca_update", "bound + beta / 2 * loss.square(x - better)", "bound",
    "The gap by the proposal's dual point lacks the way to the proposal.",
)  # fmt: skip
wrong_certificate(
    "violation_in_other_units", "margin_certificates:sdca_update", "mass * loss.violation(raw / mass))",
    "loss.violation(raw / mass))", "The violation is that of the block in units of its mass.",
)  # fmt: skip

# ---- rankings

wrong_certificate(
    "order_is_free", "_ranking_proof:lacking", "total = order_cost(query, inversions)", "total = Real(0)",
    "An order within the classes that is not that of the scores costs nothing.",
)  # fmt: skip
wrong_certificate(
    "flows_not_repaired", "_ranking_proof:repair_flows", "np.maximum(np.maximum(u[k], last + h[k]), 0)",
    "np.maximum(u[k], 0)", "Flows that violate their inequalities are believed.",
)  # fmt: skip

# ---- trained models

ERM = "proofs.erm:Problem.prove"
wrong_certificate(
    "drift_lost", ERM, "residuals, apart / 2, named", "residuals, real(0), named",
    "1/2 ||W - X'A'||^2 is lost.",
)  # fmt: skip
wrong_certificate(
    "residuals_without_weights", ERM, "residuals[rows] = mass * terms", "residuals[rows] = terms",
    "The weights of the examples are forgotten.",
)  # fmt: skip
wrong_certificate(
    "dual_with_costs_of_the_wrong_sign", ERM, "(costs * q).sum(axis=1) - one", "-(costs * q).sum(axis=1) - one",
    "<c, x> has the wrong sign in D.",
)  # fmt: skip
wrong_certificate(
    "max_for_sum", "proofs.model:Proof.gap", "self.residuals.sum()", "self.residuals.max()",
    "The worst example for all of them.",
)  # fmt: skip
wrong_certificate(
    "distance_without_lambda", "models.multiclass_erm:certificate",
    'np.sqrt(2 * found["gap"] / data.lam)', 'np.sqrt(2 * found["gap"])',
    "The modulus 1 for lambda.",
)  # fmt: skip
RANKED = "proofs.ranking_model:Dual.prove"
wrong_certificate(
    "rankings_believed", RANKED, "drift = ((w - self.v) ** 2).sum() / 2", "drift = Real(0)",
    "1/2 ||w - v||^2 of the rankings' v is lost.",
)  # fmt: skip
wrong_certificate(
    "rankings_are_all_worst", RANKED, "self.weights * np.maximum(0, value - self.offsets - cuts)", "0 * self.weights",
    "Weights on rankings that are not most violated cost nothing.",
)  # fmt: skip
PLUS = "proofs.svm_plus:Problem.gap_of"
wrong_certificate(
    "balance_forgotten", "proofs.multipliers:Multipliers.repaired",
    "balanced(alpha, self.up) if balance else alpha\n", "alpha\n",
    "The constraint of a free bias, <alpha,y> = 0, is ignored.",
)  # fmt: skip
wrong_certificate(
    "box_forgotten", "proofs.multipliers:Multipliers.repaired", "alpha = np.minimum(alpha, self.cost)", "pass",
    "Multipliers may exceed the costs of their examples.",
)  # fmt: skip
wrong_certificate(
    "sum_forgotten", "proofs.multipliers:Multipliers.repaired",
    "rest * ((total - mass) / rest.sum())", "beta",
    "The constraint of a free rho, sum (alpha + beta) = C n, is ignored.",
)  # fmt: skip
wrong_certificate(
    "dual_without_the_loss", "proofs.multipliers:Multipliers.lower",
    "(alpha * alpha / self.cost).sum() if self.squared else 0", "0",
    "alpha^2/(2 C) is missing in D.",
)  # fmt: skip
wrong_certificate(
    "margins_lost", PLUS, "alpha * np.maximum(0, xi - need)", "0 * alpha",
    "Complementarity of the margins is lost.",
)  # fmt: skip
wrong_certificate(
    "slacks_lost", PLUS, "residuals, (drift, hidden) = margins + slacks", "residuals, (drift, hidden) = margins",
    "Complementarity of xi >= 0 is lost.",
)  # fmt: skip
wrong_certificate(
    "model_believed", PLUS, "drift, error = drift + square / 2, error + hidden", "error = error + hidden",
    "1/2 ||w - sum alpha_i y_i x_i||^2 is lost.",
)  # fmt: skip
wrong_certificate(
    "rho_not_raised", "proofs.svm_plus:Problem.feasible",
    "max(self.real(0), lacking + slip.max() if lacking > -slip.max() else 0)", "self.real(0)",
    "A model that violates its margins is taken for feasible.",
)  # fmt: skip
wrong_certificate(
    "correction_believed", "proofs.svm_plus:Problem._drift",
    "(self.cost * apart * apart).sum() / 2 + whole", "whole",
    "What the slacks miss of those of the multipliers is lost.",
)  # fmt: skip
wrong_certificate(
    "one_view_believed", "proofs.two_views:Problem.prove", "drift += away", "drift = away",
    "What the model of the view A misses is lost.",
)  # fmt: skip
wrong_certificate(
    "disagreement_of_one_sign", "proofs.two_views:Problem.prove",
    "np.where(alpha[2] * t < 0, 2 * abs(t), 0) + ", "",
    "Multipliers of a disagreement of the other sign cost nothing.",
)  # fmt: skip
wrong_certificate(
    "views_not_balanced", "proofs.two_views:Problem.repaired",
    "np.array([self._towards(a, total), self._towards(b, -total), beta])", "np.array([a, b, beta])",
    "The constraints of the two biases are ignored.",
)  # fmt: skip

# ---- what whoever calls the core repairs already, so that only the core itself shows it

VIEWS = "proofs.two_views:Problem"
wrong_certificate(
    "disagreement_without_its_price", f"{VIEWS}.repaired",
    "np.clip(alpha[2], -self.bounds[2], self.bounds[2])", "alpha[2].copy()",
    "Multipliers of the disagreement may exceed D.",
)  # fmt: skip
wrong_certificate(
    "views_without_their_boxes", f"{VIEWS}.repaired",
    "np.clip(alpha[:2], 0, self.bounds[:2])", "np.maximum(alpha[:2], 0)",
    "Multipliers of the views may exceed C_A and C_B.",
)  # fmt: skip
wrong_certificate(
    "free_disagreement_lost", f"{VIEWS}.lower", " - self.free * abs(alpha[2])", "",
    "eps |beta| is missing in D.",
)  # fmt: skip
wrong_certificate(
    "wide_margins_are_free", f"{VIEWS}.prove", " + alpha[:2] * down", "",
    "Multipliers of margins above 1 cost nothing.",
)  # fmt: skip
wrong_certificate(
    "penalised_bias_believed", PLUS, "drift + apart**2 / 2, error", "drift, error",
    "1/2 (b - sum alpha_i y_i)^2 is lost.",
)  # fmt: skip
wrong_certificate(
    "bias_without_its_price", "proofs.svm_plus:Problem.objective",
    'b * b / 2 if self.bias == "penalised" else 0', "0",
    "1/2 b^2 is missing in P.",
)  # fmt: skip
wrong_certificate(
    "bias_out_of_the_kernel", "proofs.multipliers:Multipliers.lower",
    '(alpha * self.y).sum() ** 2 if self.bias == "penalised" else 0', "0",
    "1/2 <alpha,y>^2 is missing in D.",
)  # fmt: skip
RANKS = "proofs.ranking_model:Dual.__init__"
wrong_certificate(
    "rankings_beyond_C", RANKS, "lam * (self.C / total) if total > C else lam", "lam",
    "Weights of rankings may sum to more than C.",
)  # fmt: skip
wrong_certificate(
    "reference_forgotten", RANKS, "self.C * self.fixed + self.mu", "self.mu",
    "The ranking that a step of the ramp fixes is missing in v.",
)  # fmt: skip
wrong_certificate(
    "rows_of_the_model", RANKED, "scores if self.rows is None else every[self.rows]", "scores",
    "Every cut scores the bags by the rows that the model prefers, not by its own.",
)  # fmt: skip
wrong_certificate(
    "right_ranking_is_free", RANKED,
    "np.maximum(Real(0), self.C - self.weights.sum()) * value", "0 * value",
    "Weight on the right ranking costs nothing where it is not the worst.",
)  # fmt: skip
wrong_certificate(
    "ramp_is_the_hinge", RANKED, " - (self.fixed * scores).sum()", "",
    "The score of the fixed ranking is missing in P.",
)  # fmt: skip
wrong_certificate(
    "easy_margins_believed", "proofs.ranking_model:Easy.repair", "t = 1 / least", "t = 1 / least * least",
    "A model whose easy examples have margins below 1 is taken for feasible.",
)  # fmt: skip
wrong_certificate(
    "easy_multipliers_unbalanced", "proofs.ranking_model:Easy.balanced",
    "balanced(mu[inside], self.signs[inside] > 0)", "mu[inside]",
    "The constraint of the free b of the easy examples is ignored.",
)  # fmt: skip
wrong_certificate(
    "outside_the_domain_believed", "proofs.erm:Problem._dual",
    "one.repair(given / np.where(mass > 0, mass, 1))", "given / np.where(mass > 0, mass, 1)",
    "Dual points outside of the conjugate's domain are believed.",
)  # fmt: skip
wrong_certificate(
    "forces_not_balanced", "proofs.pointwise_risk:Balance.meet",
    "x[row] += t / self.weight[row] * move", "pass",
    "The constraint of the scores of a pointwise risk is ignored.",
)  # fmt: skip
wrong_certificate(
    "order_of_scores_is_free", "proofs.pointwise_risk:Balance.prove",
    "mu * (g[self.pair[1]] - g[self.pair[0]])", "Real(0)",
    "Complementarity of g_i <= g_j is lost.",
)  # fmt: skip
