// The top-k simplex of either kind in three dimensions, turned by hand, and the projection of a point
// that is dragged, with its dual variable and its gap.
import { solid } from "./solid.mjs";

const SETS = { alpha: "alpha: xᵢ ≤ s/k", beta: "beta: xᵢ ≤ r/k" };

export function create(root, options = {}) {
  solid(root, "Top-k simplex", SETS, { a: [0.85, 0.1, 0.6], ...options });
}
