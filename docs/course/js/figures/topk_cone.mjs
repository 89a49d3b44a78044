// The top-k cone in three dimensions, turned by hand, and the projection of a point that is dragged:
// what is left of the point, its dual variable, lies in the polar cone.
import { solid } from "./solid.mjs";

export function create(root, options = {}) {
  solid(root, "Top-k cone", { cone: "cone" }, { a: [1.2, -0.2, 0.5], scale: 105, reach: 1.6, middle: 0.45, ...options });
}
