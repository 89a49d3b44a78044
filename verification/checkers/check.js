// check.js: does a .cert file prove what it claims? docs/certificate_files.md describes the file and formulas.
//
//   node check.js FILE.cert ...   a line per file, "accepted bound=... claimed=..." or "refused: reason";
//                                 exit status 0 if all are accepted
//   in a page: checkCertificate(bytes) returns {bound, claimed, violation, assumed} or throws
//
// No dependency, and no directed rounding. Models: a sum of n terms in any order is off by at most gamma_n =
// n U/(1 - n U) times the sum of their sizes, U = 2^-53. Projections and programs: each operation that is not
// exact is raised by two roundings. Math.exp and log are assumed to be off by at most 4 units in the last place.
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

// ---- numbers: decimal ones as JSON has them, or hexadecimal ones like -0x1.8p+1; read to the nearest double
const DECIMAL = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const HEXADECIMAL = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]+)$/i;

function hexadecimal(text) { // NaN if it is none
  const found = HEXADECIMAL.exec(text);
  if (!found) return NaN;
  const [, sign, whole, part = "", power] = found, digits = BigInt(`0x${whole}${part}`), bits = digits.toString(2).length;
  if (digits === 0n) return sign ? -0 : 0;
  const least = Number(power) - 4 * part.length, top = least + bits; // digits 2^least < 2^top
  if (top > 1024 || top < -1074) return (sign ? -1 : 1) * (top > 1024 ? Infinity : 0);
  const last = Math.max(top - 53, -1074), cut = BigInt(Math.max(last - least, 0)); // 2^last is a unit in the last place
  let kept = digits >> cut;
  const rest = digits - (kept << cut), half = cut > 0n ? 1n << (cut - 1n) : 1n;
  if (rest > half || (rest === half && kept & 1n)) kept += 1n;
  const power2 = Math.max(last, least), first = Math.max(power2, -1000); // kept < 2^54, in two exact steps
  return (sign ? -1 : 1) * Number(kept) * 2 ** first * 2 ** (power2 - first);
}
const numeral = text => (DECIMAL.test(text) ? Number(text) : hexadecimal(text));

// ---- the file
const UNITS = { "<f8": 8, "<f4": 4, "<i8": 8, "<i4": 4 };

class File {
  constructor(bytes) {
    const start = String.fromCharCode(...bytes.subarray(0, 32)), found = /^refsolve-cert 1 (\d{15})\n$/.exec(start);
    need(found, "no certificate of version 1");
    const head = Number(found[1]);
    need(head <= 2 ** 20 && head <= bytes.length - 32 && (32 + head) % 64 === 0, "the header is too long or not aligned");
    const text = new TextDecoder().decode(bytes.subarray(32, 32 + head)), plain = v => v !== null && typeof v === "object" && !Array.isArray(v);
    const count = v => (plain(v) ? Object.values(v).reduce((n, x) => n + 1 + count(x), 0) : 0);
    try { this.header = JSON.parse(text); } catch { refuse("the header is no JSON"); }
    need(!text.includes("\\") && text.split('":').length - 1 === count(this.header), "a key of the header is there twice, or one has an escape");
    need(typeof this.header.problem === "string" && this.header.problem.length < 160, "the problem is missing");
    need(this.header.arrays && typeof this.header.arrays === "object", "the arrays are missing");
    this.bytes = bytes.subarray(32 + head);
    this.sha = new Sha256().add(new TextEncoder().encode(this.header.problem));
    this.words = {};
  }
  /** The words of the problem, NAME=VALUE in this order and no others. */
  parameters(...names) {
    const found = this.header.problem.split(" ").slice(1).map(word => word.split("="));
    const right = ([name, value, more], i) => name === names[i] && value && more === undefined;
    need(found.length === names.length && found.every(right), "the problem lacks a parameter, or has more of them");
    this.words = Object.fromEntries(found);
  }
  number(name, whole = false) {
    const v = numeral(this.words[name]);
    need(Number.isFinite(v) && (!whole || (Number.isSafeInteger(v) && v >= 0)), "a parameter of the problem is no such number");
    return v;
  }
  /** A number of the header; a hexadecimal one is a text. */
  said(name, missing) {
    const v = this.header[name] ?? (name in this.header ? NaN : missing), number = typeof v === "string" ? hexadecimal(v) : v;
    need(typeof number === "number" && Number.isFinite(number), "a number of the header is missing or not finite");
    return number;
  }
  array(name, hashed = false) {
    if (!Object.hasOwn(this.header.arrays, name)) return null;
    const { dtype, shape, offset } = this.header.arrays[name], unit = UNITS[dtype];
    need(unit, "an array has an unknown dtype");
    const size = v => Number.isSafeInteger(v) && v >= 0;
    need(Array.isArray(shape) && [1, 2].includes(shape.length) && shape.every(size), "a shape is no pair of sizes");
    need(size(offset) && offset % 8 === 0, "an offset is no multiple of 8");
    const count = shape.reduce((a, b) => a * b, 1);
    need(count <= (this.bytes.length - offset) / unit, "an array ends after the file");
    const raw = this.bytes.slice(offset, offset + count * unit); // a copy, so that it is aligned
    if (hashed) this.sha.add(new TextEncoder().encode(`${name} ${dtype} ${shape[0]} ${shape[1] ?? 1}`)).add(raw);
    return { raw, real: dtype[1] === "f", unit, count, shape };
  }
  reals(a, count = null, limit = 1e150) {
    need(a && a.real, "an array is missing, or has no real numbers");
    const v = a.unit === 8 ? new Float64Array(a.raw.buffer) : Float64Array.from(new Float32Array(a.raw.buffer));
    need(v.every(x => Math.abs(x) <= limit), "an array has nan, inf or numbers beyond 1e150");
    need(count === null || v.length === count, "shapes do not fit");
    return v;
  }
  wholes(a, low, high) {
    need(a && !a.real, "an array is missing, or has no whole numbers");
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
const xlogx = x => (x > 0 ? x * Math.log(x) : 0);
const falling = z => Float64Array.from(z).sort().reverse();

/** The loss for k = 1 at v = min(z, tau) + more. */
function simplest(z, tau, more, { generator, soft }) {
  const v = z.map(x => Math.min(x, tau) + more), known = Number.isFinite(tau) ? Math.abs(tau) : 0;
  const high = v.reduce((a, b) => Math.max(a, b), 0);
  if (generator === "hinge") return [high, high + known + more, v];
  if (generator === "entropy") {
    const e = v.map(x => Math.exp(x - high)), t = sum(e, x => x) + Math.exp(-high);
    return [high + Math.log(t), 4 * (high + more + 2 + Math.log(z.length)) + known, e.map(x => x / t)];
  }
  let t = Math.max(high - soft, 0), total = 0, p;
  for (let round = 0; round < 100; round++) { // p = (v - t)_+ / soft, t >= 0, the sum of p at most 1
    p = v.map(x => Math.max(x - t, 0));
    total = sum(p, x => x);
    if (total <= soft * (1 + 8 * U)) break;
    t += (total - soft) / p.filter(x => x > 0).length;
  }
  const squares = sum(p, x => x * x) / (2 * soft);
  return [t + squares, 2 * (high + t + more + known) * (1 + total / soft) + squares, p.map(x => x / soft)];
}

// With multipliers (z - tau)_+ of the caps, a loss for k > 1 is at most the one for k = 1 at min(z, tau), plus
// their sum over k: inside (alpha) or outside (beta). Any tau gives a bound; the best has p = cap where z > tau.
function loss(z, one) {
  const { k, beta, generator } = one, top = falling(z), kth = top[k - 1];
  let tau = Infinity;
  if (k > 1 && generator === "hinge") tau = beta ? Math.max(kth, 0) : kth;
  else if (k > 1) {
    const rest = sum(top.subarray(k), v => Math.exp(v - kth)) + (beta ? Math.exp(Math.min(-kth, 700)) : 0);
    const over = t => {
      if (generator === "entropy") return k * Math.exp(t - kth) > rest + sum(top.subarray(0, k), v => Math.exp(Math.min(v, t) - kth));
      const p = simplest(z, t, beta ? 0 : above(z, t) / k, one)[2];
      return k * p.reduce((a, b) => Math.max(a, b)) > (beta ? 1 : sum(p, v => v));
    };
    let low = kth, up = Math.min(top[0], kth + 700);
    for (let round = 0; round < 100; round++) {
      tau = round ? low + (up - low) / 2 : up;
      if (round && (tau <= low || tau >= up)) break;
      if (over(tau)) up = tau; else if (round) low = tau; else break;
    }
  }
  const extra = above(z, tau) / k, [value, size, p] = simplest(z, tau, beta ? 0 : extra, one);
  return [value + (beta ? extra : 0), size + extra, p];
}
/** Upper bound on the conjugate, but for gamma(n) size, and the sum of x. */
function conjugate(x, { generator, soft }) {
  const s = sum(x, v => v), rest = Math.max(1 - s, 0), squares = sum(x, v => v * v);
  if (generator === "hinge") return [0, 0, s];
  if (generator === "quadratic") return [(soft / 2) * squares, (soft / 2) * squares, s];
  const logs = sum(x, xlogx), off = gamma(x.length + 2) * s; // 1 - s is off by that much
  const last = Math.max(xlogx(rest + off), xlogx(Math.max(rest - off, 0)));
  return [logs + last, -logs + Math.abs(last) + s, s];
}
/** x moved into the dual set, and by how much. */
function repair(x, { k, beta }) {
  const d = x.length, shrink = 1 - 4 * gamma(d + 4);
  let moved = 0;
  const lower = (j, cap) => { moved = Math.max(moved, x[j] - cap); x[j] = Math.min(x[j], cap); };
  for (let j = 0; j < d; j++) {
    if (x[j] < 0) { moved = Math.max(moved, -x[j]); x[j] = 0; }
    if (beta && k > 1 && x[j] * k > shrink) lower(j, shrink / k);
  }
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

// ---- a linear model: P - D <= sum of C (L(z) + L*(x) - <z, x>) + 1/2 ||W - A'X||^2

function erm(file) {
  file.parameters("loss", "k", "gamma", "cost", "intercept");
  const { words } = file, number = name => file.number(name);
  need(/^(hinge|quadratic|entropy)(\+beta|\+ova)?$/.test(words.loss), "an unknown loss");
  const [generator, flag] = words.loss.split("+");
  const one = { generator, k: number("k"), soft: number("gamma"), beta: flag === "beta", ova: flag === "ova" };
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
  const d = ova ? 1 : m - 1, gradient = file.header.dual === "gradient";
  need(Number.isInteger(one.k) && one.k >= 1 && one.k <= d, "k does not fit the loss");
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
    let bound = 0, off = 0, dual = 0, rough = 0, total = 0, x = new Float64Array(z.length);
    if (A) {
      const a = zeros();
      A.each(i, (j, v) => { a[j] += v; });
      need(C > 0 || a.every(v => v === 0), "a row without mass has a dual");
      for (let j = 0; C > 0 && j < m; j++) a[j] /= C;
      need(ova || Math.abs(sum(a, v => v)) <= OFF, "a dual block does not sum to 0");
      x = ova ? a.map((v, j) => (j === mine ? v : -v)) : a.filter((_, j) => j !== mine).map(v => -v);
    }
    for (let at = 0; at < z.length; at += d) {
      const [value, size, own] = loss(z.subarray(at, at + d).map(v => v + slip), one), p = A ? x.subarray(at, at + d) : own;
      need(repair(p, one) <= OFF || !A, "a dual block lies outside its domain");
      const [starred, unsure, s] = conjugate(p, one);
      x.set(p, at); bound += value; off += size; dual += starred; rough += unsure; total += s;
    }
    let inner = 0, reach = 0;
    for (let j = 0; j < z.length; j++) { inner += z[j] * x[j]; reach += Math.abs(z[j]) * x[j]; }
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

// ---- other kinds: numbers as pairs, at most up and at least -down, each operation rounded upwards

const wide = v => v + Math.abs(v) * 2 * U + 5e-324;
const add = (a, b) => { const s = a + b, c = s - a; return a - (s - c) + (b - c) > 0 ? wide(s) : s; }; // exact where the error is 0
const times = (a, b) => { // the same, and 0 times infinity is 0
  if (a === 0 || b === 0) return 0;
  const p = a * b, half = v => { const c = 134217729 * v, h = c - (c - v); return [h, v - h]; }, [[a1, a2], [b1, b2]] = [half(a), half(b)];
  return Math.abs(p) > 1e-200 && a1 * b1 - p + a1 * b2 + a2 * b1 + a2 * b2 <= 0 ? p : wide(p);
};
const over = (a, b) => (a === 0 ? 0 : wide(a / b));
const dot = (a, b, sign = 1) => { let s = 0; for (let j = 0; j < a.length; j++) s = add(s, times(sign * a[j], b[j])); return s; };
const expUp = v => wide(Math.exp(v) * (1 + 16 * U)) + TINY, logUp = v => wide(Math.log(v) + 16 * U * Math.abs(Math.log(v)));

/** Most of r (x - y) - d/2 (x - y)^2 over y in [low, high] and r in [-down, up]. */
function cost(up, down, x, low, high, d) {
  const most = Math.max(up, down, 0), below = add(x, -low), over = add(high, -x), far = Math.max(below, over);
  let ends = Math.max(up > 0 ? times(up, Math.max(below, 0)) : 0, down > 0 ? times(down, Math.max(over, 0)) : 0);
  if (d < 0) ends = add(ends, times(-d / 2, times(far, far)));
  return (d > 0 ? Math.min(ends, wide(times(most, most) / (2 * d))) : ends) + 0 * most; // nan if r is nan or infinite
}

const SETS = { // what bounds an entry from above, and what the sum obeys
  simplex: ["", "="], capped_simplex: ["cap", "="], topk_simplex_alpha: ["share", "<"], topk_simplex_beta: ["r/k", "<"],
  topk_cone: ["share", ""], box: ["r", null], knapsack: ["high", "b"], bipartite_simplex: ["", "y"], l1_ball: ["", "signs"],
};

/** f(x) - min f <= sum of t (x - low), -t (high - x) or, without a bound, t^2 / 2, and what rows leave: check.c says more. */
function projection(file) {
  file.parameters("set", "k", "r", "cap", "rho");
  need(Object.hasOwn(SETS, file.words.set), "an unknown set");
  const [top, kind] = SETS[file.words.set], k = file.number("k", true), [r, cap, rho] = ["r", "cap", "rho"].map(name => file.number(name));
  need(k >= 1 && rho >= 0, "the problem lacks a parameter");
  const a = file.reals(file.array("a", true)), d = a.length, read = (name, limit) => file.reals(file.array(name, true), d, limit);
  const b = kind === "b" ? read("b") : kind === "y" ? read("y") : a.map(() => 1);
  const low = kind === "b" ? read("low", Infinity) : a.map(() => 0), tall = kind === "b" ? read("high", Infinity) : null;
  need(kind !== "y" || b.every(v => v === 0 || v === 1), "y is no indicator");
  const x = file.reals(file.array("x"), d), y = kind === "signs" ? x.map(Math.abs) : x, rows = [];
  if (kind === "y") rows.push([b.map(v => 1 - 2 * v), 0, true], [b, r, false]);
  else if (kind !== null) rows.push([b, kind === "" ? Infinity : r, kind === "=" || kind === "b"]);
  const nu = file.reals(file.array("multipliers"), rows.length), s = [1, -1].map(sign => dot(x.map(() => sign), x));
  const share = top === "share", ends = { share: s.map(v => wide(v / k)), "r/k": [wide(r / k), wide(-r / k)], r: [r, -r], cap: [cap, -cap] }[top];
  let gap = 0, off = 0, more = 0, less = 0;
  for (let j = 0; j < d; j++) {
    const g = [add(add(x[j], -a[j]), times(rho, s[0])), add(add(a[j], -x[j]), times(rho, s[1]))];
    let [up, down] = kind === "signs" && (x[j] < 0 || (x[j] === 0 && a[j] < 0)) ? [g[1], g[0]] : g;
    if (kind === "signs") { // of the l1 ball the part with the signs of x, and what the other sign may gain
      const far = Math.max(add(up, -nu[0]), 0);
      gap = add(gap, times(far, far) / 2);
      up = Math.min(up, nu[0]);
    }
    rows.forEach(([c], i) => { up = add(up, times(nu[i], c[j])); down = add(down, times(-nu[i], c[j])); });
    const high = tall ? [tall[j], -tall[j]] : ends ?? [Infinity, -Infinity];
    gap = add(gap, cost(up, 0, y[j], low[j], 0, low[j] === -Infinity ? 1 : 0));
    gap = add(gap, cost(0, down, y[j], 0, high[0], high[0] === Infinity ? 1 : 0));
    off = Math.max(off, add(low[j], -y[j]), add(y[j], high[1]));
    more = add(more, Math.max(down, 0));
    less = add(less, -Math.max(-up, 0));
  }
  rows.forEach(([c, limit, equation], i) => {
    const v = add(nu[i], share ? wide(more / k) : 0), w = add(-nu[i], share ? wide(less / k) : 0);
    const up = add(dot(c, y), -limit), down = add(dot(c, y, -1), limit);
    const bad = equation ? 0 : Math.max(w, limit === Infinity ? v : 0, 0); // no multiplier of an inequality
    gap = add(gap, times(times(bad, bad) / 2, dot(c, c)));
    if (limit === Infinity) return;
    off = Math.max(off, up, equation ? down : 0);
    gap = add(gap, equation && w > 0 ? times(w, up) : v > 0 ? times(v, equation ? down : Math.max(down, 0)) : 0);
  });
  return [gap, off];
}
/**
 * Whether a matrix, the lower half of rows of n numbers, is positive definite: a Cholesky factorisation goes through though
 * more than it can err, n gamma(n + 2) of each entry of the diagonal, is taken off it: see check.c.
 */
function definite(L, n) {
  const slack = n * gamma(n + 2) + 8 * U;
  for (let t = 0; t < n; t++) {
    for (let l = 0; l <= t; l++) {
      let v = L[t * n + l];
      if (l === t) v -= slack * Math.abs(v);
      for (let i = 0; i < l; i++) v -= L[t * n + i] * L[l * n + i];
      if (l === t && !(v > TINY)) return false;
      L[t * n + l] = l === t ? Math.sqrt(v) : v / L[l * n + l];
    }
  }
  return true;
}
/** Whether a matrix, as rows, is positive semidefinite, and no operation of Bareiss' elimination is rounded. */
function semidefiniteExactly(M) {
  let previous = 1;
  while (M.length) {
    const diagonal = M.map((row, i) => row[i]), pivot = Math.max(...diagonal), k = diagonal.indexOf(pivot);
    if (Math.min(...diagonal) < 0) return false;
    if (pivot === 0) return M.every(row => row.every(v => v === 0));
    const others = [...M.keys()].filter(i => i !== k);
    let exact = true;
    const entry = (i, j) => {
      const [up, down] = [1, -1].map(sign => add(times(sign * pivot, M[i][j]), times(-sign * M[i][k], M[k][j])));
      const v = up / previous;
      exact &&= up === -down && times(v, previous) === up && times(-v, previous) === down && Number.isFinite(up);
      return v;
    };
    const rest = others.map(i => others.map(j => entry(i, j)));
    if (!exact) return false;
    [M, previous] = [rest, pivot];
  }
  return true;
}
/**
 * Whether every symmetric matrix between -down and up, the upper triangle by columns, is positive semidefinite with
 * `raised` on its diagonal. What is not certain of an entry is taken off both of its diagonals; a singular one needs exact
 * arithmetic.
 */
function semidefinite(up, down, n, raised) {
  const at = new Map(), place = (i, j) => (j * (j + 1)) / 2 + i, diagonal = [];
  for (let j = 0; j < n; j++) {
    diagonal.push(-add(down[place(j, j)], -raised));
    for (let i = 0; i < j; i++) if (up[place(i, j)] !== 0 || down[place(i, j)] !== 0) at.set(i, 0).set(j, 0);
  }
  if (!diagonal.every((v, j) => at.has(j) || v >= 0)) return false;
  const used = [...at.keys()].sort((a, b) => a - b), size = used.length, L = new Float64Array(size * size);
  used.forEach((j, to) => used.slice(0, to).forEach((i, from) => {
    const e = place(i, j), apart = add(up[e], down[e]);
    L[to * size + from] = up[e];
    if (apart > 0) for (const own of [i, j]) diagonal[own] = -add(apart, -diagonal[own]);
  }));
  used.forEach((j, to) => { L[to * (size + 1)] = diagonal[j]; });
  if (definite(L, size)) return true;
  const exact = raised === 0 && up.every((v, e) => v === -down[e]);
  return exact && semidefiniteExactly(used.map(j => used.map(i => up[place(Math.min(i, j), Math.max(i, j))])));
}
/** Whether x_1^a_1 ... x_n^a_n >= z for x >= 0 and weights of sum 1, by logarithms. */
function reaches(x, weights, z) {
  const low = Math.min(...x);
  if (z <= low || z <= 0) return true;
  if (!(low > TINY)) return false;
  let logs = logUp(z);
  x.forEach((v, i) => { const minus = logUp(wide(1 / v)); logs = add(logs, times(minus, minus > 0 ? weights[i][0] : -weights[i][1])); });
  return logs <= 0;
}
/** Whether x >= 0 and the product of powers >= |z| after changes of `room` at most, that lower |z| or raise x. */
function powered(up, down, weights, room) {
  const n = weights.length, z = Math.max(up[n], down[n]), x = Array.from(down.subarray(0, n), v => Math.max(-v, 0));
  const left = -x.reduce((s, _, i) => add(s, Math.max(down[i], 0)), -room);
  return left >= 0 && (reaches(x, weights, add(z, -left)) || reaches(x.map(v => -add(-v, wide(-left / n))), weights, z));
}
/** How far a point, between -down and up, is at most outside the cones; of the last two kinds what is allowed is tried. */
function outside({ zero, nonneg, soc, exp, psd, powers }, up, down, allowed = 0) {
  let far = 0, i = 0;
  for (; i < zero + nonneg; i++) far = Math.max(far, down[i], i < zero ? up[i] : 0);
  for (const size of soc) {
    let squares = 0;
    for (let j = i + 1; j < i + size; j++) { const v = Math.max(up[j], down[j]); squares = add(squares, times(v, v)); }
    far = Math.max(far, add(squares && wide(Math.sqrt(squares)), down[i]));
    i += size;
  }
  for (let e = 0; e < exp; e++, i += 3) { // y exp(x/y) <= z: convex in y, so that the ends of y decide
    const [x, z, ys] = [up[i], -down[i + 2], [-down[i + 1], up[i + 1]]];
    let least = add(add(Math.max(x, 0), Math.max(up[i + 1], down[i + 1])), Math.max(-z, 0)); // to (x, 0, z)
    if (ys[0] > 0) least = Math.min(least, Math.max(0, ...ys.map(y => add(times(y, expUp(wide(x / y))), -z)))); // to a larger z
    if (ys[0] > 0 && z > 0) least = Math.min(least, Math.max(0, ...ys.map(y => add(x, times(y, logUp(wide(y / z))))))); // a smaller x
    far = Math.max(far, least);
  }
  const near = (size, inside) => {
    const sides = [up, down].map(side => side.subarray(i, i + size));
    if (!inside(...sides, 0)) far = Math.max(far, inside(...sides, allowed) ? allowed : Infinity);
    i += size;
  };
  for (const order of psd) near((order * (order + 1)) / 2, (high, low, room) => semidefinite(high, low, order, room));
  for (const weights of powers) near(weights.length + 1, (high, low, room) => powered(high, low, weights, room));
  return far;
}
function cone(file) {
  file.parameters("zero", "nonneg", "exp");
  const K = Object.fromEntries(["zero", "nonneg", "exp"].map(name => [name, file.number(name, true)])), { claim } = file.header;
  const q = file.reals(file.array("q", true)), n = q.length, P = file.matrix("P", n, true), A = file.matrix("A", n, true);
  const b = file.reals(file.array("b", true), A.rows), m = b.length, zeros = count => new Float64Array(count);
  const sizes = (name, least) => { const v = file.array(name, true); return v ? file.wholes(v, least, m) : new Int32Array(0); };
  K.soc = sizes("soc", 1); K.psd = sizes("psd", 1);
  const power = sizes("power", 3), given = power.length ? file.reals(file.array("weights", true), sum(power, v => v - 2), 1) : [];
  need(given.every(v => v > 0), "a weight is not positive");
  let next = 0;
  K.powers = Array.from(power, size => { // pairs; the last is what the others leave of 1
    const first = Array.from(given.subarray(next, next += size - 2), v => [v, -v]);
    const left = [1, -1].map((one, side) => first.reduce((s, v) => add(s, v[1 - side]), one));
    need(left[1] < 0, "no weight is left");
    return [...first, left];
  });
  const first = K.zero + K.nonneg + sum(K.soc, v => v), rest = sum(K.psd, v => (v * (v + 1)) / 2) + sum(power, v => v);
  need(P.rows === n && first + 3 * K.exp + rest === m, "shapes do not fit");
  const [low, high] = ["lo", "hi"].map((name, i) => {
    const v = file.array(name, true);
    return v ? file.reals(v, n, Infinity) : zeros(n).fill(i ? Infinity : -Infinity);
  });
  need(low.every((v, i) => v <= high[i] && v < Infinity && high[i] > -Infinity), "an assumed range is empty");
  const assumed = low.filter((v, i) => v !== -Infinity || high[i] !== Infinity).length;
  const product = (M, v, sign, turned, up = zeros(turned ? n : M.rows), down = up.map(() => 0)) => {
    for (let i = 0; i < M.rows; i++) M.each(i, (j, e) => {
      const [to, from] = turned ? [j, i] : [i, j];
      up[to] = add(up[to], times(sign * e, v[from])); down[to] = add(down[to], times(-sign * e, v[from]));
    });
    return [up, down];
  };
  need(["optimal", "infeasible", "unbounded"].includes(claim), "an unknown claim");
  const x = claim === "infeasible" ? zeros(n) : file.reals(file.array("x"), n), s = product(A, x, -1, false, b.slice(), b.map(v => -v));
  const off = claim === "infeasible" ? 0 : outside(K, ...s, file.said("violation", 0));
  if (claim === "unbounded") { // Pd = 0, q'd < 0, -Ad in the cones
    const ray = file.reals(file.array("ray"), n), still = product(P, ray, 1, false);
    need(still.every(side => side.every(v => v <= 0)), "the direction is not straight");
    need(outside(K, ...product(A, ray, -1, false)) <= 0, "the direction leaves the cones");
    return [dot(q, ray), off, assumed];
  }
  const z = file.reals(file.array("z"), m), up = Float64Array.from(z), down = z.map(v => -v);
  up.fill(0, 0, K.zero); down.fill(0, 0, K.zero);
  for (let i = first; i < first + 3 * K.exp; i += 3) { // (u, v, w) is in the dual of the exponential cone if (u - v, -u, w) is in the cone
    up[i] = add(z[i], -z[i + 1]); down[i] = add(z[i + 1], -z[i]); up[i + 1] = -z[i]; down[i + 1] = z[i];
  }
  next = first + 3 * K.exp;
  for (const order of K.psd) // z_ij and 2 z_ii are twice the matrix
    for (let j = 0; j < order; j++, next++) { next += j; up[next] = 2 * z[next]; down[next] = -2 * z[next]; }
  for (const weights of K.powers) { // u is in the dual of a power cone if u_i/a_i is in the cone
    weights.forEach(([high, low]) => { up[next] = over(z[next], -low); down[next] = over(-z[next], high); next++; });
    next++;
  }
  need(outside(K, up, down) <= 0, "the multipliers are outside the dual cone");
  const none = claim === "infeasible", d = none ? zeros(n) : file.reals(file.array("curvature"), n);
  if (!none) curved(P, d);
  const r = product(A, z, 1, true, ...(none ? [zeros(n), zeros(n)] : product(P, x, 1, false, q.slice(), q.map(v => -v))));
  for (let i = 0; i < K.zero + K.nonneg; i++) { // rows of one entry are ranges
    const entries = [];
    A.each(i, (j, e) => { if (e !== 0) entries.push([j, e]); });
    if (entries.length !== 1) continue;
    const [[j, e]] = entries, limit = wide(b[i] / e), other = -wide(-b[i] / e);
    if (e > 0 || i < K.zero) high[j] = Math.min(high[j], limit);
    if (e < 0 || i < K.zero) low[j] = Math.max(low[j], other);
  }
  let gap = 0;
  for (let i = 0; i < m; i++) gap = add(gap, z[i] > 0 ? times(z[i], s[0][i]) : times(-z[i], s[1][i]));
  for (let j = 0; j < n; j++) gap = add(gap, cost(r[0][j], r[1][j], x[j], low[j], high[j], d[j]));
  return [gap, off, assumed];
}
/** P - diag(d) is positive semidefinite; where P is only diagonal, it is compared. */
function curved(P, d) {
  const n = d.length, G = Array.from({ length: n }, () => new Map());
  for (let i = 0; i < n; i++) P.each(i, (j, e) => { need(!G[i].has(j), "an entry of P is there twice"); G[i].set(j, e); });
  const used = [...G.keys()].filter(i => [...G[i].keys()].some(j => j !== i)), diagonal = G.map((row, i) => row.get(i) ?? 0);
  need(d.every((v, i) => used.includes(i) || v <= diagonal[i]), "the curvature is more than that of P");
  const many = used.length, L = new Float64Array(many * many);
  used.forEach((i, at) => {
    need([...G[i]].every(([j, e]) => G[j].get(i) === e), "P is not symmetric");
    used.slice(0, at).forEach((j, to) => { L[at * many + to] = G[i].get(j) ?? 0; });
    L[at * (many + 1)] = -add(d[i], -diagonal[i]);
  });
  need(definite(L, many), "the curvature is not certain");
}

const KINDS = { erm: file => [erm(file)], projection, cone };

function check(bytes) {
  const file = new File(bytes), { claim } = file.header, kind = file.header.problem.split(" ")[0];
  const claimed = file.said("bound"), allowed = file.said("violation", 0);
  need(Object.hasOwn(KINDS, kind), "an unknown kind of problem");
  const [bound, violation = 0, assumed = 0] = KINDS[kind](file);
  need(file.sha.hex() === file.header.sha256, "the data has another sha256");
  need(bound <= claimed, `the bound is ${bound}, claimed is ${claimed}`);
  need(violation <= allowed, `constraints fail by ${violation}, claimed is ${allowed}`);
  need(kind !== "cone" || claim === "optimal" || claimed < 0, "the claim does not follow from its bound");
  return { bound, claimed, violation, assumed };
}

globalThis.checkCertificate = check;
if (typeof process !== "undefined" && typeof require !== "undefined" && require.main === module) {
  const fs = require("fs");
  for (const name of process.argv.slice(2)) {
    try {
      const { bound, claimed, violation, assumed } = check(new Uint8Array(fs.readFileSync(name)));
      console.log(`accepted bound=${bound} claimed=${claimed} violation=${violation}${assumed ? ` assuming ${assumed} ranges` : ""}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`refused: ${error.message}`);
    }
  }
  if (process.argv.length < 3) process.exitCode = 1;
}
})();
