// A certificate that turns red: move the multipliers of a projection onto the simplex, a top-k simplex or the
// cone, or the point, and see whether they are feasible, what lower bound they prove, and how far the optimum can be.
import { constraints, judge } from "../certificate.mjs";
import { multipliers, project, sum } from "../simplex.mjs";
import { SETS, multipliers as capped } from "../topk.mjs";
import { View } from "./solid.mjs";
import { Stage, fmt, path, set, sv, tiny, vec } from "./stage.mjs";

const [K, R, ASKED] = [2, 1, 1e-4];
const NAMES = { simplex: "simplex", alpha: "top-2 simplex, alpha", beta: "top-2 simplex, beta", cone: "top-2 cone" };
const POINTS = { simplex: [0.9, 0.5, -0.3], alpha: [0.9, -0.2, 0.5], beta: [0.9, -0.2, 0.7], cone: [1.2, -0.4, 0.5] };
const FRONT = [Math.PI / 4, Math.asin(1 / Math.sqrt(3))]; // the simplex, seen at right angles

// The projection of a and the multipliers that prove it, in the order of the constraints.
function solve(kind, a) {
  if (kind === "simplex") {
    const best = project({ a });
    const { t, n } = multipliers(a, best);
    return { best, right: [t, ...n] };
  }
  const best = SETS[kind]({ a, k: K, r: R });
  const { lambda, mu, nu } = capped(kind, a.map((v, i) => v - best[i]), K);
  return { best, right: [...(kind === "cone" ? [] : [lambda]), ...mu, ...nu] };
}

export function create(root, { set: kind = "simplex", a = POINTS[kind] } = {}) {
  const stage = new Stage(root, "A certificate");
  const picture = stage.panel(330, 320, "The set with the point x, and the ball around it that must hold the optimum");
  const view = new View(stage, picture, { scale: 165, middle: 1 / 3 });
  const ball = picture.appendChild(sv("circle", { class: "ball" }));
  const cross = picture.appendChild(sv("path", { class: "cross" }));
  const scale = stage.panel(330, 120, "The lower bound that the multipliers prove and the value of x on one axis");
  const along = (v) => 20 + 290 * Math.max(0, Math.min(1, (v - optimum + 0.35) / 0.7));
  scale.append(sv("path", { class: "axis", d: path([[10, 70], [320, 70]], false) }));
  scale.append(sv("path", { class: "cross", d: path([[165, 58], [165, 82]], false) }));
  scale.append(sv("text", { x: 165, y: 100, "text-anchor": "middle" }, "optimum"));
  const span = scale.appendChild(sv("path", { class: "span" }));
  const marks = ["bound D", "value P"].map((text, i) => {
    const mark = scale.appendChild(sv("path", { class: i ? "mark" : "mark bound" }));
    return [mark, scale.appendChild(sv("text", { "text-anchor": "middle" }, text))];
  });

  let rules, best, right, optimum, x, l;
  const sliders = {}; // one for each constraint of any of the sets
  function choose(name) {
    [kind, a] = [name, name === kind ? a : POINTS[name]];
    rules = constraints(kind, 3, K, R);
    ({ best, right } = solve(kind, a));
    optimum = 0.5 * sum(best.map((v, i) => (v - a[i]) ** 2));
    [x, l] = [[...best], [...right]];
    Object.assign(view, { scale: kind === "simplex" ? 165 : kind === "cone" ? 105 : 200 });
    view.turn(...(kind === "simplex" ? FRONT : [0.55, 0.36]));
    for (const { row } of Object.values(sliders)) row.hidden = true;
    rules.forEach(({ equality, name: rule }, j) => {
      const letter = equality ? "t" : rule.startsWith("⟨") ? "λ" : rule.endsWith("0") ? "ν" : "μ";
      sliders[rule] ??= stage.slider({
        label: `${letter} of ${rule}`, min: -0.6, max: 1, step: 0.01, value: 0,
        change: (v) => (l = l.map((u, i) => (rules[i].name === rule ? v : u))),
      }); // prettier-ignore
      sliders[rule].row.hidden = false;
      sliders[rule].put(l[j]);
    });
  }
  stage.choice({ label: "set", options: NAMES, value: kind, change: choose });
  // the sum of a point of the simplex stays 1
  const near = (p) => {
    const off = kind === "simplex" ? (R - sum(p)) / 3 : 0;
    x = p.map((v) => Math.max(-0.6, Math.min(1.4, v + off)));
    if (off) x[2] = R - x[0] - x[1];
  };
  const handle = stage.handle(picture, {
    label: "The point x that is to be certified; left and right move x₁, up and down x₃, page up and down x₂",
    move: (px, py) => near(view.under(x, px, py)),
    nudge: ([d0, d1, d2]) => near([x[0] + 0.02 * d0, x[1] + 0.02 * d2, x[2] + 0.02 * d1]),
    value: () => x[0],
    text: () => `x = ${vec(x)}`,
  });
  choose(kind);
  stage.button("multipliers of the projection", () => {
    l = [...right];
    rules.forEach(({ name }, j) => sliders[name].put(l[j]));
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
    view.draw(kind, K, R);
    const [[px, py], [bx, by]] = [view.onto(x), view.onto(best)];
    handle.put(px, py);
    set(cross, { d: `M${bx - 6},${by - 6}l12,12m0,-12l-12,12` });
    const proves = !found.off.length && !found.wrong.length;
    set(ball, { cx: px, cy: py, r: proves ? view.scale * found.within : 0, class: found.ok ? "ball good" : "ball" });
    const [d, p] = [along(found.dual), along(found.primal)];
    set(span, { d: path([[d, 70], [p, 70]], false), class: found.ok ? "span good" : "span" });
    [d, p].forEach((at, i) => {
      set(marks[i][0], { d: `M${at},70l-7,-13h14Z` });
      set(marks[i][1], { x: Math.max(32, Math.min(298, at)), y: i ? 22 : 44 });
    });
    stage.show([
      [found.verdict, "", found.ok ? "wide verdict good" : "wide verdict bad"],
      ["a, to be projected", vec(a)],
      ["x", vec(x)],
      ["x feasible", found.off.length ? `✗ ${found.off.join(", ")}` : "✓", found.off.length ? "bad" : "good"],
      ["multipliers feasible", found.wrong.length ? `✗ ${found.wrong.length} negative` : "✓", found.wrong.length ? "bad" : "good"],
      ["value P = ½‖x − a‖²", fmt(found.primal, 4)],
      ["bound D", fmt(found.dual, 4)],
      ["gap P − D", tiny(found.gap), found.ok ? "good" : "bad"],
    ]);
    return { kind, a, k: K, r: R, x, multipliers: l, ...found };
  }, () => look().verdict);
}
