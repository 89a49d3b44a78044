"""Wrong certificates of sets, projections and losses."""

from __future__ import annotations

from verification.selftest.certificates.patches import wrong_certificate

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
