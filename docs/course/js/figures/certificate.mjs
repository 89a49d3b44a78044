// A certificate that turns red: move the multipliers of a projection onto the simplex, or the point, and
// see whether they are feasible, what lower bound they prove, and how far the optimum can be.
import { constraints, judge } from "../certificate.mjs";
import { dot, multipliers, project, sum } from "../simplex.mjs";
import { Stage, fmt, path, set, sv, tiny, vec } from "./stage.mjs";

const [SCALE, CENTRE] = [165, [165, 165]];
const U = [[-Math.SQRT1_2, Math.SQRT1_2, 0], [-1, -1, 2].map((v) => v / Math.sqrt(6))];
const onto = (x) => [CENTRE[0] + SCALE * dot(x, U[0]), CENTRE[1] - SCALE * dot(x, U[1])];
const ASKED = 1e-4;

export function create(root, { a = [0.9, 0.5, -0.3] } = {}) {
  const stage = new Stage(root, "A certificate");
  const rules = constraints("simplex", a.length, 1, 1);
  const best = project({ a });
  const { t, n } = multipliers(a, best);
  const optimum = 0.5 * sum(best.map((v, i) => (v - a[i]) ** 2));
  let x = [...best];
  let l = [t, ...n];

  const plane = stage.panel(330, 300, "The simplex with the point x, and the ball around it that must hold the optimum");
  const corners = [0, 1, 2].map((i) => onto([0, 1, 2].map((j) => (i === j ? 1 : 0))));
  plane.append(sv("path", { class: "set", d: path(corners) }));
  corners.forEach(([px, py], i) => {
    const [dx, dy] = [[-4, 17], [4, 17], [0, -9]][i];
    plane.append(sv("text", { x: px + dx, y: py + dy, "text-anchor": "middle" }, `x${"₁₂₃"[i]} = 1`));
  });
  const ball = plane.appendChild(sv("circle", { class: "ball" }));
  const [bx, by] = onto(best);
  plane.append(sv("path", { class: "cross", d: `M${bx - 6},${by - 6}l12,12m0,-12l-12,12` }));
  const inPlane = (p) => a.map((_, i) => 1 / 3 + p[0] * U[0][i] + p[1] * U[1][i]);
  const near = (p) => {
    const length = Math.hypot(...p);
    return inPlane(length > 0.9 ? p.map((v) => (0.9 * v) / length) : p);
  };
  const handle = stage.handle(plane, {
    label: "The point x that is to be certified",
    move: (px, py) => (x = near([(px - CENTRE[0]) / SCALE, (CENTRE[1] - py) / SCALE])),
    nudge: ([dx, dy]) => (x = near([dot(x, U[0]) + 0.02 * dx, dot(x, U[1]) + 0.02 * dy])),
    value: () => x[0],
    text: () => `x = ${vec(x)}`,
  });

  const scale = stage.panel(330, 120, "The lower bound that the multipliers prove and the value of x on one axis");
  const along = (v) => 20 + 290 * Math.max(0, Math.min(1, (v - optimum + 0.35) / 0.7));
  scale.append(sv("path", { class: "axis", d: path([[10, 70], [320, 70]], false) }));
  scale.append(sv("path", { class: "cross", d: path([[along(optimum), 58], [along(optimum), 82]], false) }));
  scale.append(sv("text", { x: along(optimum), y: 100, "text-anchor": "middle" }, "optimum"));
  const span = scale.appendChild(sv("path", { class: "span" }));
  const marks = ["bound D", "value P"].map((text, i) => {
    const mark = scale.appendChild(sv("path", { class: i ? "mark" : "mark bound" }));
    return [mark, scale.appendChild(sv("text", { "text-anchor": "middle" }, text))];
  });

  const sliders = rules.map(({ equality, name }, j) =>
    stage.slider({
      label: `${equality ? "t of" : "ν of"} ${name}`, min: -0.6, max: 1, step: 0.01, value: l[j],
      change: (v) => (l = l.map((u, i) => (i === j ? v : u))),
    })); // prettier-ignore
  stage.button("multipliers of the projection", () => {
    l = [t, ...n];
    sliders.forEach((slider, j) => slider.put(l[j]));
  });
  stage.button("x = projection", () => (x = [...best]));

  const look = () => {
    const found = judge(a, rules, x, l);
    const off = rules.filter((_, j) => found.outside[j] > 1e-9).map(({ name }) => name);
    const wrong = rules.filter((_, j) => found.wrong[j]).map(({ name }) => name);
    const within = Math.sqrt(2 * Math.max(0, found.gap));
    let verdict = `✓ Certified: no point is better by more than ${tiny(ASKED)}, and the optimum is within ${fmt(Math.sqrt(2 * ASKED))} of x.`;
    if (off.length) verdict = `✗ No candidate: x breaks ${off.join(", ")}.`;
    else if (wrong.length)
      verdict = `✗ No proof: the multiplier of ${wrong.join(", ")} is negative${found.dual > optimum + 1e-9 ? "; its “bound” lies above the optimum" : ""}.`;
    else if (found.gap > ASKED)
      verdict = `✗ A proof, but too weak: the optimum lies between D and P, within ${fmt(within)} of x.`;
    return { ...found, off, wrong, within, verdict, ok: verdict.startsWith("✓") };
  };
  stage.start(() => {
    const found = look();
    handle.put(...onto(x));
    const proves = !found.off.length && !found.wrong.length;
    set(ball, { cx: onto(x)[0], cy: onto(x)[1], r: proves ? SCALE * found.within : 0, class: found.ok ? "ball good" : "ball" });
    const [d, p] = [along(found.dual), along(found.primal)];
    set(span, { d: path([[d, 70], [p, 70]], false), class: found.ok ? "span good" : "span" });
    [d, p].forEach((at, i) => {
      set(marks[i][0], { d: `M${at},70l-7,-13h14Z` });
      set(marks[i][1], { x: Math.max(32, Math.min(298, at)), y: i ? 22 : 44 });
    });
    stage.show([
      [found.verdict, "", found.ok ? "wide verdict good" : "wide verdict bad"],
      ["x", vec(x)],
      ["x feasible", found.off.length ? `✗ ${found.off.join(", ")}` : "✓", found.off.length ? "bad" : "good"],
      ["multipliers feasible", found.wrong.length ? `✗ ${found.wrong.length} negative` : "✓", found.wrong.length ? "bad" : "good"],
      ["value P = ½‖x − a‖²", fmt(found.primal, 4)],
      ["bound D(t, ν)", fmt(found.dual, 4)],
      ["gap P − D", tiny(found.gap), found.ok ? "good" : "bad"],
    ]);
    return { a, x, multipliers: l, ...found };
  }, () => look().verdict);
}
