// A function of one number, the line of some slope that touches it from below, its conjugate over all slopes,
// and the conjugate of that: a point x and a slope g that are dragged show the residual of Fenchel and Young.
import { FUNCTIONS, curve, tangent } from "../conjugates.mjs";
import { clip } from "../simplex.mjs";
import { Stage, fmt, path, set, sv, tiny } from "./stage.mjs";

const NAMES = {
  hinge: "hinge: max{0, 1 − x}", logistic: "logistic: log(1 + exp(−x))", square: "square: ½x²",
  hump: "two parabolas: min{(x−1)², (x+1)²}",
}; // prettier-ignore
const [SIZE, EDGE, RANGE] = [340, 26, 2.5];
const [LOW, HIGH] = [-1.6, 3.4];
const UNIT = (SIZE - 2 * EDGE) / (2 * RANGE);
const onto = ([u, v]) => [SIZE / 2 + u * UNIT, SIZE - EDGE - (v - LOW) * UNIT];
const from = (x) => clip((x - SIZE / 2) / UNIT, -RANGE, RANGE);

function panel(stage, label, axis) {
  const svg = stage.panel(SIZE, SIZE, label);
  svg.append(sv("path", { class: "axis", d: path([onto([-RANGE, 0]), onto([RANGE, 0])], false) }));
  svg.append(sv("path", { class: "axis", d: path([onto([0, LOW]), onto([0, HIGH])], false) }));
  for (const v of [-2, -1, 1, 2]) {
    svg.append(sv("text", { class: "small", x: onto([v, 0])[0], y: onto([v, 0])[1] + 28, "text-anchor": "middle" }, fmt(v, 0)));
  }
  svg.append(sv("text", { class: "strong", x: SIZE - 14, y: onto([0, 0])[1] - 14, "text-anchor": "end" }, axis));
  return svg;
}

export function create(root, { f: name = "hump", x = 0.4 } = {}) {
  const stage = new Stage(root, "A function and its conjugate");
  const left = panel(stage, "The function over x, its biconjugate and the line of slope g that touches it from below", "x");
  const right = panel(stage, "The conjugate over the slopes g", "g");
  let own = null; // a slope of the reader's own; without one, that at x
  const slope = () => own ?? FUNCTIONS[name].slope(x);
  const hull = left.appendChild(sv("path", { class: "before", "stroke-dasharray": "6 4" }));
  const graph = left.appendChild(sv("path", { class: "contour", "stroke-width": 2 }));
  const line = left.appendChild(sv("path", { class: "level" }));
  const gap = left.appendChild(sv("path", { class: "gapline", "stroke-width": 4 }));
  const dual = right.appendChild(sv("path", { class: "before" }));
  const mark = right.appendChild(sv("circle", { class: "image", r: 5 }));
  const say = () => {
    const found = tangent(FUNCTIONS[name], x, slope());
    return `x = ${fmt(x, 2)}, slope g = ${fmt(slope(), 2)}, conjugate ${fmt(found.conjugate)}, residual ${tiny(found.residual)}`;
  };
  const moveX = (v) => {
    x = clip(v, -RANGE, RANGE);
    own = null;
  };
  const moveG = (v) => (own = clip(v, -RANGE, RANGE));
  const point = stage.handle(left, {
    label: "The point x", move: (u) => moveX(from(u)), nudge: ([dx, dy]) => moveX(x + 0.05 * (dx + dy)),
    value: () => x, text: say,
  }); // prettier-ignore
  const turn = stage.handle(right, {
    label: "The slope g of the line", move: (u) => moveG(from(u)), nudge: ([dx, dy]) => moveG(slope() + 0.05 * (dx + dy)),
    value: slope, text: say, kind: "dualpoint",
  }); // prettier-ignore
  stage.choice({
    label: "function", options: NAMES, value: name,
    change: (v) => {
      name = v;
      own = null;
    },
  }); // prettier-ignore
  stage.button("slope of f at x", () => (own = null));

  stage.start(() => {
    const f = FUNCTIONS[name];
    const g = slope();
    const found = tangent(f, x, g);
    const draw = (h) => path(curve(h, -RANGE, RANGE).map(onto), false);
    set(graph, { d: draw(f.value) });
    set(hull, { d: draw(f.biconjugate) });
    set(dual, { d: draw(f.conjugate) });
    const proves = Number.isFinite(found.line);
    set(line, { d: proves ? path([-RANGE, RANGE].map((u) => onto([u, g * u - found.conjugate])), false) : "" });
    set(gap, { d: proves ? path([onto([x, found.line]), onto([x, found.value])], false) : "" });
    const at = onto([g, proves ? found.conjugate : HIGH]);
    set(mark, { cx: at[0], cy: at[1], visibility: proves ? "visible" : "hidden" });
    point.put(...onto([x, 0]));
    turn.put(...onto([g, 0]));
    stage.show([
      ["point x", fmt(x, 2)],
      ["f(x), black", fmt(found.value)],
      ["slope g", fmt(g, 2)],
      ["conjugate f*(g), right", fmt(found.conjugate)],
      ["line gx − f*(g), orange", fmt(found.line)],
      ["biconjugate f**(x), dashed", fmt(found.biconjugate)],
      ["residual f(x) + f*(g) − gx", tiny(Math.max(found.residual, 0)), found.residual > 1e-9 ? "bad" : "good"],
    ]);
    return { name, x, g, ...found };
  }, say);
}
