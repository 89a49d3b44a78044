// Dual coordinate ascent on 1/2 ||W||^2 + C sum of loss(z_i), z_ij = <w_j - w_y, x_i> + c.
import { block, others } from "./losses.mjs";
import { dot, sum } from "./simplex.mjs";

export class Ascent {
  constructor({ X, y, m, C, loss, params = {} }) {
    Object.assign(this, { X, y, m, C, loss, params });
    this.blocks = X.map(() => new Array(m - 1).fill(0)); // C x_i
    this.W = Array.from({ length: m }, () => X[0].map(() => 0));
    this.next = 0;
  }

  add(i, x, sign) {
    block(x, this.y[i], -sign).forEach((a, j) => {
      this.W[j] = this.W[j].map((w, t) => w + a * this.X[i][t]);
    });
  }

  z(i) {
    return others(this.W.map((w) => dot(w, this.X[i])), this.y[i], this.loss.costs);
  }

  // An example moves; its block stays, and the dual point feasible.
  move(i, x) {
    this.add(i, this.blocks[i], -1);
    this.X[i] = x;
    this.add(i, this.blocks[i], 1);
  }

  // Replace the block of one example by the best one; what is projected, before and after.
  step() {
    const i = this.next;
    const before = this.blocks[i];
    this.add(i, before, -1);
    const b = this.z(i);
    const kii = dot(this.X[i], this.X[i]);
    const after = this.loss.update(b, this.C, kii, this.params);
    const den = this.loss.den?.(this.C, kii, this.params); // of the hinges, whose update is a projection
    this.add(i, after, 1);
    this.blocks[i] = after;
    this.next = (i + 1) % this.X.length;
    return { i, target: den && b.map((v) => v / den), before, after };
  }

  // P - D as a sum of Fenchel-Young terms >= 0.
  certificate() {
    const { C, loss, params } = this;
    const half = 0.5 * sum(this.W.map((w) => dot(w, w)));
    let [primal, dual, gap] = [half, -half, 0];
    this.blocks.forEach((block, i) => {
      const z = this.z(i);
      const x = block.map((v) => v / C);
      const value = loss.value(z, params);
      const conjugate = loss.conjugate(x, params, 1e-12);
      primal += C * value;
      dual += C * (loss.costs * sum(x) - conjugate);
      gap += C * (value + conjugate - dot(z, x));
    });
    return { primal, dual, gap };
  }
}
