// The arithmetic of the interactive figures, as a solver that speaks protocol v1: node solver.mjs
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { LOSSES, block, others } from "../course/js/losses.mjs";
import { lossAugmented } from "../course/js/ranking.mjs";
import { dot, project } from "../course/js/simplex.mjs";
import { alpha, beta, cone } from "../course/js/topk.mjs";

// What is asked of a loss; costs c (of all classes, or of the others) and weight w are optional.
const weight = ({ sample_weight }) => sample_weight ?? 1;
const shift = (loss, z, costs) => costs ?? z.map(() => loss.costs);
const OPERATIONS = {
  value: (loss, { scores, y, costs, ...rest }) =>
    weight(rest) * loss.value(others(scores, y, costs ?? loss.costs), rest),
  gradient: (loss, { scores, y, costs, ...rest }) =>
    block(loss.point(others(scores, y, costs ?? loss.costs), rest), y, weight(rest)),
  conjugate: (loss, { x, costs, ...rest }) =>
    loss.conjugate(x, rest, 2 * (x.length + 2) * Number.EPSILON) - dot(shift(loss, x, costs), x),
  prox: (loss, { v, costs, t = 1, ...rest }) => loss.prox(v, shift(loss, v, costs), t, rest),
  sdca_update: (loss, { q, y, k_ii, C = 1, costs, ...rest }) =>
    block(loss.update(others(q, y, costs ?? loss.costs), C * weight(rest), k_ii, rest), y, -1),
};

const SOLVERS = {
  "simplex.projection": project,
  "topk_simplex_alpha.projection": alpha,
  "topk_simplex_beta.projection": beta,
  "topk_cone.projection": cone,
  "average_precision.value": ({ scores, y }) => lossAugmented(scores, y).value,
};
for (const [name, loss] of Object.entries(LOSSES)) {
  for (const [operation, call] of Object.entries(OPERATIONS)) {
    SOLVERS[`${name}.${operation}`] = (given) => call(loss, given);
  }
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
