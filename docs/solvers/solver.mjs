// Projection onto the simplex and the softmax loss, as a solver that speaks protocol v1: node solver.mjs
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// argmin ||x - a|| over {x >= 0, <1,x> = r}: x = (u - b)_+ with b = max a - a, where n entries
// with the sum B of their b are above zero, and u = (r + B)/n.
export function project({ a, r = 1 }) {
  const top = a.reduce((most, v) => Math.max(most, v));
  const b = a.map((v) => top - v).sort((v, w) => v - w);
  let u = 0;
  let sum = 0;
  for (let n = 1; n <= b.length && (n === 1 || b[n - 1] < u); n++) {
    sum += b[n - 1];
    u = (r + sum) / n;
  }
  return a.map((v) => Math.max(0, u - (top - v)));
}

// w log(1 + sum over j != y of exp(f_j - f_y + c_j)); costs c and weight w are optional
export function softmax({ scores, y, costs, sample_weight }) {
  const u = scores.map((f, j) => f - scores[y] + (costs ? costs[j] : 0));
  u[y] = 0;
  const top = u.indexOf(u.reduce((most, v) => Math.max(most, v)));
  const rest = u.reduce((sum, v, j) => (j === top ? sum : sum + Math.exp(v - u[top])), 0);
  return (sample_weight ?? 1) * (u[top] + Math.log1p(rest));
}

// Numbers that JSON has no names for are strings in the protocol.
const special = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const read = (v) => (typeof v === "string" && v in special ? special[v] : v);
const write = (_, v) =>
  typeof v !== "number" || Number.isFinite(v) ? v : Number.isNaN(v) ? "nan" : v > 0 ? "inf" : "-inf";

function answer({ id, problem, params, arrays }, solvers) {
  const given = {};
  for (const [name, v] of Object.entries(params)) given[name] = read(v);
  for (const [name, v] of Object.entries(arrays)) {
    if (!v.values || v.shape.length !== 1) return { id, status: "unsupported", message: "vectors only" };
    given[name] = v.values.map(read);
  }
  return { id, x: solvers[problem](given), status: "optimal" };
}

export function serve(solvers) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    console.log(JSON.stringify(answer(JSON.parse(line), solvers), write));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  serve({ "simplex.projection": project, "softmax.value": softmax });
}
