"""Wrong certificates of rankings and trained models."""

from __future__ import annotations

from verification.selftest.certificates.patches import wrong_certificate

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
