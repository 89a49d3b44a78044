// A wrong twin of solver.mjs: sort() without a comparison orders numbers as words, 10 before 9.
import { serve } from "./solver.mjs";

function project({ a, r = 1 }) {
  const top = Math.max(...a);
  const b = a.map((v) => top - v).sort();
  let u = 0;
  let sum = 0;
  for (let n = 1; n <= b.length && (n === 1 || b[n - 1] < u); n++) {
    sum += b[n - 1];
    u = (r + sum) / n;
  }
  return a.map((v) => Math.max(0, u - (top - v)));
}

serve({ "simplex.projection": project });
