// The arithmetic of the interactive figures, as a solver that speaks protocol v1: node solver.mjs
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { LOSSES, block, others } from "../course/js/losses.mjs";
import { lossAugmented } from "../course/js/ranking.mjs";
import { project } from "../course/js/simplex.mjs";
import { alpha, beta, cone } from "../course/js/topk.mjs";

// Scores of the classes; costs c and weight w are optional.
const value = (loss) => ({ scores, y, costs, sample_weight, ...params }) =>
  (sample_weight ?? 1) * loss.value(others(scores, y, costs ?? loss.costs), params);
const gradient = (loss) => ({ scores, y, costs, sample_weight, ...params }) =>
  block(loss.point(others(scores, y, costs ?? loss.costs), params), y, sample_weight ?? 1);

const SOLVERS = {
  "simplex.projection": project,
  "topk_simplex_alpha.projection": alpha,
  "topk_simplex_beta.projection": beta,
  "topk_cone.projection": cone,
  "average_precision.value": ({ scores, y }) => lossAugmented(scores, y).value,
};
for (const [name, loss] of Object.entries(LOSSES)) {
  SOLVERS[`${name}.value`] = value(loss);
  SOLVERS[`${name}.gradient`] = gradient(loss);
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

if (import.meta.url === pathToFileURL(process.argv[1]).href) serve(SOLVERS);
