// check.js: does a .cert file prove what it claims? docs/travelling.md describes the file and formulas.
//
//   node check.js FILE.cert ...   a line per file, "accepted bound=... claimed=..." or "refused: reason";
//                                 exit status 0 if all are accepted
//   in a page: checkCertificate(bytes, name => bytes of a file beside it) returns {bound, claimed} or throws
//
// No dependency, and no directed rounding: each number comes with a bound on its error. A sum of n terms
// in any order is off by at most gamma_n = n U/(1 - n U) times the sum of their sizes, U = 2^-53, and
// Math.exp, log and log1p are assumed to be off by at most 4 units in the last place.
"use strict";
(() => {
const U = 2 ** -53, TINY = 1e-290, OFF = 1e-9;
const gamma = n => (n * U) / (1 - n * U);
const refuse = why => { throw new Error(why); };
const need = (condition, why) => condition || refuse(why);

// ---- hashes

const K = [], H = [];
for (let p = 2; K.length < 64; p++) {
  let i = 2;
  while (i * i <= p && p % i) i++;
  if (i * i <= p) continue;
  const fraction = x => ((x - Math.floor(x)) * 2 ** 32) | 0;
  if (H.length < 8) H.push(fraction(Math.sqrt(p)));
  K.push(fraction(Math.cbrt(p)));
}

/** Words 4 l to 4 l + 3 of each 64 bytes go to hash l of 16; the end is the SHA-256 of the 16 one after the other. */
class Sha256 {
  constructor() { this.h = Array.from({ length: 16 }, () => Int32Array.from(H)); this.size = 0; this.w = new Int32Array(64); }
  chunk(state, b, at, step) {
    const w = this.w, turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let i = 0; i < 16; i++, at += step) w[i] = (b[at] << 24) | (b[at + 1] << 16) | (b[at + 2] << 8) | b[at + 3];
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15], y = w[i - 2];
      w[i] = (w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0;
    }
    let [a, b1, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const x = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const y = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b1) ^ (a & c) ^ (b1 & c))) | 0;
      h = g; g = f; f = e; e = (d + x) | 0; d = c; c = b1; b1 = a; a = (x + y) | 0;
    }
    [a, b1, c, d, e, f, g, h].forEach((v, i) => { state[i] += v; });
  }
  add(bytes) { // filled with zeros to a multiple of 1024
    for (let at = 0; at < bytes.length; at += 1024) {
      let part = bytes.subarray(at, at + 1024);
      if (part.length < 1024) { part = new Uint8Array(1024); part.set(bytes.subarray(at)); }
      this.h.forEach((state, l) => this.chunk(state, part, 4 * l, 64));
      this.size += 64;
    }
    return this;
  }
  end(state, size) {
    const tail = new DataView(new ArrayBuffer(64));
    tail.setUint8(0, 128);
    tail.setBigUint64(56, BigInt(size * 8));
    this.chunk(state, new Uint8Array(tail.buffer), 0, 4);
  }
  hex() {
    const all = new DataView(new ArrayBuffer(512)), state = Int32Array.from(H);
    this.h.forEach((h, l) => { this.end(h, this.size); h.forEach((v, i) => all.setInt32(32 * l + 4 * i, v)); });
    for (let at = 0; at < 512; at += 64) this.chunk(state, new Uint8Array(all.buffer), at, 4);
    this.end(state, 512);
    return Array.from(state, v => (v >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

// ---- the file

const UNITS = { "<f8": 8, "<f4": 4, "<i8": 8, "<i4": 4 };

class File {
  constructor(bytes, beside) {
    const start = String.fromCharCode(...bytes.subarray(0, 32)), found = /^refsolve-cert 1 (\d{15})\n$/.exec(start);
    need(found, "no certificate of version 1");
    const head = Number(found[1]);
    need(head <= 2 ** 20 && head <= bytes.length - 32 && (32 + head) % 64 === 0, "the header is too long or not aligned");
    const text = new TextDecoder().decode(bytes.subarray(32, 32 + head)), count = v => (v !== null && typeof v === "object" && !Array.isArray(v) ? Object.values(v).reduce((n, x) => n + 1 + count(x), 0) : 0);
    try { this.header = JSON.parse(text); } catch { refuse("the header is no JSON"); }
    need(!text.includes("\\") && text.split('":').length - 1 === count(this.header), "a key of the header is there twice, or one has an escape");
    need(typeof this.header.problem === "string" && this.header.problem.length < 160, "the problem is missing");
    need(this.header.arrays && typeof this.header.arrays === "object", "the arrays are missing");
    this.bytes = bytes.subarray(32 + head);
    this.beside = beside;
    this.sha = new Sha256().add(new TextEncoder().encode(this.header.problem));
  }
  array(name, hashed = false) {
    if (!Object.hasOwn(this.header.arrays, name)) return null;
    const { dtype, shape, offset, file } = this.header.arrays[name], unit = UNITS[dtype];
    need(unit, "an array has an unknown dtype");
    const size = v => Number.isSafeInteger(v) && v >= 0;
    need(Array.isArray(shape) && [1, 2].includes(shape.length) && shape.every(size), "a shape is no pair of sizes");
    need(size(offset) && offset % 8 === 0, "an offset is no multiple of 8");
    need(file === undefined || (typeof file === "string" && !/[/\\]/.test(file)), "a file beside it has a folder");
    const from = file === undefined ? this.bytes : this.beside(file), count = shape.reduce((a, b) => a * b, 1);
    need(count <= (from.length - offset) / unit, "an array ends after the file");
    const raw = from.slice(offset, offset + count * unit); // a copy, so that it is aligned
    if (hashed) this.sha.add(new TextEncoder().encode(`${name} ${dtype} ${shape[0]} ${shape[1] ?? 1}`)).add(raw);
    return { raw, real: dtype[1] === "f", unit, count, shape };
  }
  reals(a) {
    need(a, "an array is missing");
    need(a.real, "an array must have real numbers");
    const v = a.unit === 8 ? new Float64Array(a.raw.buffer) : Float64Array.from(new Float32Array(a.raw.buffer));
    need(v.every(x => Math.abs(x) <= 1e150), "an array has nan, inf or numbers beyond 1e150");
    return v;
  }
  wholes(a, low, high) {
    need(a && !a.real, "an array must have whole numbers");
    let v = new Int32Array(a.raw.buffer);
    if (a.unit === 8) {
      need(v.every((x, i) => i % 2 === 0 || x === v[i - 1] >> 31), "a whole number is out of range");
      v = v.filter((_, i) => i % 2 === 0);
    }
    need(v.every(x => x >= low && x <= high), "a whole number is out of range");
    return v;
  }
  matrix(name, cols, hashed = false) { // as rows: entry(i, (column, value) => ...)
    const a = this.array(name, hashed);
    if (a) {
      need(a.shape.length === 2 && (cols === null || a.shape[1] === cols), "shapes do not fit");
      const v = this.reals(a), w = a.shape[1];
      return { rows: a.shape[0], cols: w, v, each: (i, f) => { for (let j = 0; j < w; j++) f(j, v[i * w + j]); } };
    }
    const parts = ["indptr", "indices", "data"].map(part => this.array(`${name}.${part}`, hashed));
    need(parts.every(Boolean) && cols !== null, "a matrix is missing");
    const data = this.reals(parts[2]), index = this.wholes(parts[1], 0, cols - 1), at = this.wholes(parts[0], 0, data.length);
    need(at.length >= 1 && index.length === data.length, "shapes do not fit");
    need(at.every((x, i) => i === 0 || (x >= at[i - 1] && x - at[i - 1] <= cols)), "indptr falls, or a row is too long");
    need(at[0] === 0 && at[at.length - 1] === data.length, "indptr does not span the data");
    return { rows: at.length - 1, cols, v: null, each: (i, f) => { for (let e = at[i]; e < at[i + 1]; e++) f(index[e], data[e]); } };
  }
}

// ---- losses: [value, size, p], an upper bound but for gamma(n) size, and about the maximiser

const sum = (v, f) => { let s = 0; for (let j = 0; j < v.length; j++) s += f(v[j]); return s; };
const above = (z, tau) => (tau === Infinity ? 0 : sum(z, v => Math.max(v - tau, 0)));
const softplus = v => (v > 0 ? v + Math.log1p(Math.exp(-v)) : Math.log1p(Math.exp(v)));
const sigmoid = v => (v > 0 ? 1 / (1 + Math.exp(-v)) : Math.exp(v) / (1 + Math.exp(v)));
const xlogx = x => (x > 0 ? x * Math.log(x) : 0);
const falling = z => Float64Array.from(z).sort().reverse();

/** t with the sum of clip(z - t, 0, high) = total, by bisection. */
function cut(z, high, total, low, up) {
  for (let i = 0; i < 100; i++) {
    const t = low + (up - low) / 2;
    if (t <= low || t >= up) break;
    if (sum(z, v => Math.min(Math.max(v - t, 0), high)) > total) low = t; else up = t;
  }
  return up;
}

// With multipliers (z - tau)_+ of the caps, a loss for k > 1 is at most the one for k = 1 at min(z, tau),
// plus their sum over k: inside (alpha) or outside (beta). Any tau gives a bound.
const GENERATORS = {
  hinge(z, { k, beta }) {
    const kth = falling(z)[k - 1], tau = beta ? Math.max(kth, 0) : kth, extra = above(z, tau) / k;
    return [Math.max(tau + extra, 0), Math.abs(tau) + extra, null];
  },
  entropy(z, { k, beta }) {
    const top = falling(z), kth = top[k - 1];
    let tau = Infinity, u = 0;
    if (k > 1) {
      const tails = [sum(top.subarray(k - 1), v => Math.exp(v - kth)) + (beta ? Math.exp(Math.min(-kth, 700)) : 0)];
      for (let i = k - 2; i >= 0; i--) tails.unshift(tails[0] + Math.exp(Math.min(top[i] - kth, 690)));
      while (u < k - 1 && (k - u) * Math.exp(Math.min(top[u] - kth, 690)) > tails[u]) u++;
      if (u > 0) tau = kth + Math.log(tails[u] / (k - u));
    }
    const extra = above(z, tau) / k, high = Math.min(top[0], tau), e = z.map(v => Math.exp(Math.min(v, tau) - high));
    const total = sum(e, v => v), v = high + Math.log(total) + (beta ? 0 : extra), s = sigmoid(v);
    return [softplus(v) + (beta ? extra : 0), 4 * (Math.abs(high) + extra + 2 + Math.log(z.length)) + (Number.isFinite(tau) ? Math.abs(tau) : 0), e.map(x => (x * s) / total)];
  },
  quadratic(z, { k, beta, soft }) {
    const top = falling(z), kth = top[k - 1], zero = [0, 0, z.map(() => 0)];
    const spread = sum(top.subarray(0, k), Math.abs);
    if (top[0] <= 0) return zero;
    let tau = Infinity, t = 0, mass = above(z, 0);
    if (beta && k > 1) {
      tau = soft / k;
      mass = sum(z, v => Math.min(Math.max(v, 0), tau));
    } else if (k > 1) {
      if (kth + above(z, kth) / k <= 0) return [0, spread, zero[2]];
      if (top[0] > mass / k) {
        let low = kth, up = top[0];
        for (let i = 0; i < 60; i++) {
          tau = low + (up - low) / 2;
          const more = above(z, tau) / k;
          if (sum(z, v => Math.max(Math.min(v, tau) + more, 0)) > k * (tau + more)) low = tau; else up = tau;
        }
        mass = k * tau + above(z, tau);
      }
    }
    if (mass > soft) {
      t = cut(z, soft / k, soft, kth - soft / k, top[0]);
      tau = k > 1 ? t + soft / k : Infinity;
    }
    const extra = above(z, tau) / k, inside = beta ? 0 : extra, start = mass > soft ? Math.max(t + inside, 0) : 0;
    const p = z.map(v => Math.max(Math.min(v, tau) + inside - start, 0)), squares = sum(p, v => v * v) / (2 * soft);
    const size = 2 * (Math.abs(top[0]) + Math.abs(t) + extra + start) * (1 + sum(p, v => v) / soft);
    return [start + squares + (beta ? extra : 0), size + squares + (Number.isFinite(tau) ? Math.abs(tau) : 0), p.map(v => v / soft)];
  },
};

const ONE = { // one class against the rest
  hinge: z => [Math.max(z, 0), 0],
  entropy: z => [softplus(z), sigmoid(z)],
  quadratic(z, { soft }) {
    const t = Math.max(z - soft, 0);
    return z <= 0 ? [0, 0] : [t + (z - t) ** 2 / (2 * soft), Math.min(z / soft, 1)];
  },
};

/** Upper bound on the conjugate, but for gamma(n) size, and the sum of x. */
function conjugate(x, { generator, soft, ova }) {
  const s = sum(x, v => v), rest = Math.max(1 - s, 0), squares = sum(x, v => v * v);
  if (generator === "hinge") return [0, 0, s];
  if (generator === "quadratic") return [(soft / 2) * squares, (soft / 2) * squares, s];
  if (ova) return [sum(x, v => xlogx(v) + xlogx(1 - v)), sum(x, v => -xlogx(v) - xlogx(1 - v) + v), s];
  const logs = sum(x, xlogx), off = gamma(x.length + 2) * s; // 1 - s is off by that much
  const last = Math.max(xlogx(rest + off), xlogx(Math.max(rest - off, 0)));
  return [logs + last, -logs + Math.abs(last) + s, s];
}

/** x moved into the dual set, and by how much. */
function repair(x, { k, beta, ova }) {
  const d = x.length, shrink = 1 - 4 * gamma(d + 4);
  let moved = 0;
  const lower = (j, cap) => { moved = Math.max(moved, x[j] - cap); x[j] = Math.min(x[j], cap); };
  for (let j = 0; j < d; j++) {
    if (x[j] < 0) { moved = Math.max(moved, -x[j]); x[j] = 0; }
    if (ova) lower(j, 1);
    else if (beta && k > 1 && x[j] * k > shrink) lower(j, shrink / k);
  }
  if (ova) return moved;
  const s = sum(x, v => v);
  if (s > shrink) {
    moved = Math.max(moved, s - 1);
    for (let j = 0; j < d; j++) x[j] *= shrink / s;
  }
  if (beta || k === 1) return moved;
  const top = falling(x);
  let tail = 0, cap = Infinity;
  for (let j = d - 1; j >= k; j--) tail += top[j];
  for (let u = k - 1; u >= 0; u--) { tail += top[u]; cap = Math.min(cap, tail / (k - u)); }
  for (let j = 0; j < d; j++) if (x[j] > cap * shrink) lower(j, cap * shrink);
  return moved;
}

const LOSSES = {
  multiclass_hinge: ["hinge"], topk_hinge_alpha: ["hinge"], topk_hinge_beta: ["hinge", "beta"],
  smooth_topk_hinge_alpha: ["quadratic"], smooth_topk_hinge_beta: ["quadratic", "beta"],
  softmax: ["entropy"], topk_entropy_alpha: ["entropy"], topk_entropy_beta: ["entropy", "beta"],
  ova_hinge: ["hinge", "ova"], ova_smooth_hinge: ["quadratic", "ova"], ova_logistic: ["entropy", "ova"],
};

// ---- a linear model: P - D <= sum of C (L(z) + L*(x) - <z, x>) + 1/2 ||W - A'X||^2

function erm(file) {
  const words = Object.fromEntries(file.header.problem.split(" ").slice(1).map(word => word.split("=")));
  const number = name => { need(words[name] && Number.isFinite(Number(words[name])), "the problem lacks a parameter"); return Number(words[name]); };
  need(Object.hasOwn(LOSSES, words.loss), "an unknown loss");
  const [generator, ...flags] = LOSSES[words.loss];
  const one = { generator, k: number("k"), soft: number("gamma"), beta: flags.includes("beta"), ova: flags.includes("ova") };
  const cost = number("cost"), free = words.intercept === "free", { ova } = one;
  need(["none", "feature", "free"].includes(words.intercept), "an unknown kind of intercept");
  need(!free || !ova, "no bound is known for a free intercept of this loss");
  need(generator === "quadratic" ? one.soft > 0 : one.soft === 0, "gamma does not fit the loss");
  need(cost >= 0, "the cost is negative");
  const Wm = file.matrix("W", null), W = Wm.v, m = Wm.rows, w = Wm.cols, X = file.matrix("X", w, true), n = X.rows;
  const labels = file.array("y", true), masses = file.array("mass", true);
  need(labels && masses && labels.count === n && masses.count === n, "shapes do not fit");
  need(m >= 2 && n > 0, "fewer than two classes, or no rows");
  const y = file.wholes(labels, 0, m - 1), mass = file.reals(masses);
  const b = words.intercept === "none" ? null : file.reals(file.array("b"));
  need(!b || b.length === m, "shapes do not fit");
  const d = ova ? m : m - 1, gradient = file.header.dual === "gradient";
  need(Number.isInteger(one.k) && one.k >= 1 && one.k <= d && (one.k === 1 || !ova), "k does not fit the loss");
  need(gradient ? generator !== "hinge" : file.header.dual === "given", "the loss has no such dual");
  const A = gradient ? null : file.matrix("A", m);
  need(!A || A.rows === n, "shapes do not fit");
  const V = new Float64Array(m * w), f = new Float64Array(m), zeros = () => new Float64Array(m);
  const spread = zeros(), column = zeros(), sizes = zeros(), lengths = zeros(), scarce = zeros().fill(Infinity);
  const norm = v => Math.sqrt(sum(v, x => x * x)) * (1 + gamma(v.length + 4));
  let gap = 0, risk = 0, widest = 0;
  for (let j = 0; j < m; j++) widest = Math.max(widest, norm(W.subarray(j * w, (j + 1) * w)));
  const columns = [], values = [];
  for (let i = 0; i < n; i++) {
    const C = mass[i], mine = y[i];
    need(C >= 0, "a mass is negative");
    columns.length = values.length = 0;
    X.each(i, (j, v) => { if (v !== 0) { columns.push(j); values.push(v); } });
    const size = norm(values);
    let big = 0;
    for (let j = 0; j < m; j++) {
      let s = b ? b[j] : 0;
      for (let e = 0; e < columns.length; e++) s += values[e] * W[j * w + columns[e]];
      f[j] = s;
      big = Math.max(big, Math.abs(s), b ? Math.abs(b[j]) : 0);
    }
    const slip = 2 * gamma(w + 8) * (size * widest + big) + 16 * U * (big + cost) + TINY;
    const z = ova ? f.map((v, j) => (j === mine ? -v : v) + cost) : f.filter((_, j) => j !== mine).map(v => v - f[mine] + cost);
    let bound, off, x;
    if (ova) {
      const each = Array.from(z, v => ONE[generator](v + slip, one));
      bound = sum(each, v => v[0]); off = bound + sum(z, Math.abs); x = Float64Array.from(each, v => v[1]);
    } else [bound, off, x] = GENERATORS[generator](z.map(v => v + slip), one);
    if (A) {
      const a = zeros();
      A.each(i, (j, v) => { a[j] += v; });
      need(C > 0 || a.every(v => v === 0), "a row without mass has a dual");
      for (let j = 0; C > 0 && j < m; j++) a[j] /= C;
      need(ova || Math.abs(sum(a, v => v)) <= OFF, "a dual block does not sum to 0");
      x = ova ? a.map((v, j) => (j === mine ? v : -v)) : a.filter((_, j) => j !== mine).map(v => -v);
    }
    need(repair(x, one) <= OFF, "a dual block lies outside its domain");
    const [dual, rough, total] = conjugate(x, one);
    let inner = 0, reach = 0;
    for (let j = 0; j < d; j++) { inner += z[j] * x[j]; reach += Math.abs(z[j]) * x[j]; }
    const error = gamma(2 * m + 64) * (off + Math.abs(bound) + rough + reach + TINY) + slip * total;
    bound += gamma(2 * m + 64) * (off + Math.abs(bound));
    if (C > 0) { gap += C * Math.max(bound + dual - inner + error, 0); risk += C * bound; }
    if (C > 0 && 1 / C < scarce[mine]) { scarce[mine] = 1 / C; lengths[mine] = size; }
    for (let j = 0, at = 0; j < m; j++) {
      const block = C * (ova ? (j === mine ? x[j] : -x[j]) : j === mine ? total : -x[at++]);
      if (block === 0) continue;
      spread[j] += Math.abs(block) * size; column[j] += block; sizes[j] += Math.abs(block);
      for (let e = 0; e < columns.length; e++) V[j * w + columns[e]] += block * values[e];
    }
  }
  const miss = gamma(n + m + 64), P = (risk + norm(W) ** 2) * (1 + miss);
  let wrong = 0, off = 0, far = 0, loose = 0;
  for (let j = 0; j < m; j++) {
    for (let l = j * w; l < (j + 1) * w; l++) wrong += (W[l] - V[l]) ** 2;
    off += (spread[j] * miss) ** 2;
    if (free) {
      loose += Math.abs(column[j]) + miss * sizes[j];
      far = Math.max(far, one.k * (P * scarce[j] + one.soft / 2 + 2 * Math.sqrt(P) * lengths[j]));
    } else if (b) { wrong += (b[j] - column[j]) ** 2; off += (sizes[j] * miss) ** 2; }
  }
  const apart = (Math.sqrt(wrong) + Math.sqrt(off)) * (1 + gamma(m * w + m + 16)) + TINY;
  if (free) gap += (loose / 2) * (far + Math.max(...b) - Math.min(...b)) * (1 + gamma(m + 99));
  return (gap * (1 + gamma(n + 16)) + (apart * apart) / 2) * (1 + 8 * U);
}

const KINDS = { erm };

function check(bytes, beside = () => refuse("a file beside it cannot be opened")) {
  const file = new File(bytes, beside), claimed = file.header.bound, kind = file.header.problem.split(" ")[0];
  need(typeof claimed === "number" && Number.isFinite(claimed), "a number of the header is missing or not finite");
  need(Object.hasOwn(KINDS, kind), "an unknown kind of problem");
  const bound = KINDS[kind](file);
  need(file.sha.hex() === file.header.sha256, "the data has another sha256");
  need(bound <= claimed, `the bound is ${bound}, claimed is ${claimed}`);
  return { bound, claimed };
}

globalThis.checkCertificate = check;
if (typeof process !== "undefined" && typeof require !== "undefined" && require.main === module) {
  const fs = require("fs"), path = require("path"), read = name => new Uint8Array(fs.readFileSync(name));
  for (const name of process.argv.slice(2)) {
    try {
      const { bound, claimed } = check(read(name), other => read(path.join(path.dirname(name), other)));
      console.log(`accepted bound=${bound} claimed=${claimed}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`refused: ${error.message}`);
    }
  }
  if (process.argv.length < 3) { console.error("usage: node check.js FILE.cert ..."); process.exitCode = 1; }
}
})();
