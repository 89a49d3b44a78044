// Average precision, its structured bound, and the ranking that attains it; y_i is 1 for positives.

// 1 - AP where c_k negatives stand above the k-th positive, in rising order.
export const delta = (counts) =>
  counts.reduce((s, c, k) => s + c / (k + 1 + c), 0) / counts.length;

// Positives and negatives by falling score, ties in input order.
export function split(scores, y) {
  const order = scores.map((_, i) => i).sort((i, j) => scores[j] - scores[i] || i - j);
  return [order.filter((i) => y[i] > 0), order.filter((i) => !(y[i] > 0))];
}

// AP of the scores, the worst order of ties.
export function averagePrecision(scores, y) {
  const [pos, neg] = split(scores, y);
  return 1 - delta(pos.map((i) => neg.filter((j) => scores[j] >= scores[i]).length));
}

// max over rankings R of (1 - AP)(R) + <a(R), s>. A negative j takes its best rank among the
// positives by itself: above those from i on, delta_j(i) = sum over k >= i of h_k(j), with
// h_k(j) = k/(P (j+k)(j+k-1)) - 2 (s_k - s_j)/(P N); below all is delta_j(P + 1) = 0.
export function lossAugmented(scores, y) {
  const [pos, neg] = split(scores, y);
  const P = pos.length;
  const N = neg.length;
  const unit = 2 / (P * N);
  const ranks = neg.map((index, at) => {
    const j = at + 1;
    let [best, rank, total] = [0, P, 0];
    for (let k = P; k >= 1; k--) {
      total += k / (P * (j + k) * (j + k - 1)) - unit * (scores[pos[k - 1]] - scores[index]);
      if (total > best) [best, rank] = [total, k - 1];
    }
    return rank; // so many positives stay above it
  });
  const counts = pos.map((_, k) => ranks.filter((rank) => rank <= k).length);
  const coefficients = scores.map(() => 0);
  pos.forEach((i, k) => (coefficients[i] = 0 - unit * counts[k]));
  neg.forEach((i, j) => (coefficients[i] = unit * (P - ranks[j])));
  // they sum to 0: scores are taken from the middle positive, which keeps the digits of large ones
  const middle = scores[pos[Math.floor(P / 2)]];
  const gain = coefficients.reduce((s, c, i) => s + c * (scores[i] - middle), 0);
  const loss = delta(counts);
  const order = [];
  let next = 0;
  pos.forEach((i, k) => {
    while (next < counts[k]) order.push(neg[next++]);
    order.push(i);
  });
  order.push(...neg.slice(next));
  return { value: Math.max(0, loss + gain), loss, counts, coefficients, order };
}
