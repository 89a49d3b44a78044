// min 1/2 ||x - a||^2 subject to <c_j,x> <= b_j (or = b_j): every multiplier l with l_j >= 0 at the
// inequalities proves the bound D(l) = <w,a> - 1/2 ||w||^2 - <l,b>, w = sum_j l_j c_j, for all x.
import { dot, sum } from "./simplex.mjs";

const row = (d, make) => Array.from({ length: d }, (_, i) => make(i));
const SUBSCRIPTS = "₁₂₃₄₅₆₇₈₉";

// The constraints of a set in R^d as {c, b, equality, name}.
export function constraints(set, d, k, r) {
  const all = (v) => row(d, () => v);
  const only = (i, v) => row(d, (j) => (i === j ? v : 0));
  const total = { c: all(1), b: r, equality: set === "simplex", name: set === "simplex" ? "⟨1,x⟩ = r" : "⟨1,x⟩ ≤ r" };
  const caps = row(d, (i) =>
    set === "beta"
      ? { c: only(i, 1), b: r / k, name: `x${SUBSCRIPTS[i]} ≤ r/k` }
      : { c: only(i, 1).map((v) => v - 1 / k), b: 0, name: `x${SUBSCRIPTS[i]} ≤ s/k` },
  );
  const signs = row(d, (i) => ({ c: only(i, -1), b: 0, name: `x${SUBSCRIPTS[i]} ≥ 0` }));
  return [...(set === "cone" ? [] : [total]), ...(set === "simplex" || k === 1 ? [] : caps), ...signs];
}

export function judge(a, constraints, x, multipliers) {
  const w = a.map((_, i) => sum(constraints.map(({ c }, j) => multipliers[j] * c[i])));
  const primal = 0.5 * sum(x.map((v, i) => (v - a[i]) ** 2));
  const dual = dot(w, a) - 0.5 * dot(w, w) - sum(constraints.map(({ b }, j) => multipliers[j] * b));
  const slack = constraints.map(({ c, b }) => b - dot(c, x));
  const outside = constraints.map(({ equality }, j) => Math.max(0, equality ? Math.abs(slack[j]) : -slack[j]));
  const wrong = constraints.map(({ equality }, j) => !equality && multipliers[j] < 0);
  return { primal, dual, gap: primal - dual, outside, wrong, w };
}
