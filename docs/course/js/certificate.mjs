// min 1/2 ||x - a||^2 subject to <c_j,x> <= b_j (or = b_j): every multiplier l with l_j >= 0 at the
// inequalities proves the bound D(l) = <w,a> - 1/2 ||w||^2 - <l,b>, w = sum_j l_j c_j, for all x.
import { dot, sum } from "./simplex.mjs";

// Constraints {c, b, equality, name} of a set in R^3.
const unit = (d, i) => Array.from({ length: d }, (_, j) => (i === j ? 1 : 0));
const each = (d, make) => Array.from({ length: d }, (_, i) => make(i));
const below = (d) => each(d, (i) => ({ c: unit(d, i).map((v) => 0 - v), b: 0, name: `x${i + 1} ≥ 0` }));

export const simplex = (d, r) => [
  { c: each(d, () => 1), b: r, equality: true, name: `sum = ${r}` },
  ...below(d),
];
export const topk = (d, k, r) => [
  { c: each(d, () => 1), b: r, name: `sum ≤ ${r}` },
  ...each(d, (i) => ({ c: unit(d, i).map((v) => v - 1 / k), b: 0, name: `x${i + 1} ≤ s/${k}` })),
  ...below(d),
];

export function judge(a, constraints, x, multipliers) {
  const w = a.map((_, i) => sum(constraints.map(({ c }, j) => multipliers[j] * c[i])));
  const primal = 0.5 * sum(x.map((v, i) => (v - a[i]) ** 2));
  const dual = dot(w, a) - 0.5 * dot(w, w) - sum(constraints.map(({ b }, j) => multipliers[j] * b));
  const slack = constraints.map(({ c, b }) => b - dot(c, x));
  const outside = constraints.map(({ equality }, j) => Math.max(0, equality ? Math.abs(slack[j]) : -slack[j]));
  const wrong = constraints.map(({ equality }, j) => !equality && multipliers[j] < 0);
  return { primal, dual, gap: primal - dual, outside, wrong, w };
}
