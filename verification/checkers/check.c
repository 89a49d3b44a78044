/* check.c: does a .cert file prove what it claims? docs/travelling.md describes the file and formulas.
   cc -O2 -frounding-math -o check check.c -lm    (-O3 -march=native makes it faster)
   ./check FILE.cert ...    a line per file, "accepted bound=... claimed=..." or "refused: reason";
                            exit status 0 if all are accepted
   C99, one file, nothing but libc. All sums are rounded upwards (what must be a lower bound is the
   negative of an upper one); matrix products are bounded by |error| <= gamma_n sum |terms|, gamma_n =
   n U/(1 - n U), in whatever direction they round. Assumption: exp and log of libm are off by at
   most 4 units in the last place in every rounding direction (glibc: less than 2). */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#pragma STDC FENV_ACCESS ON
#define U 2.220446049250313e-16 /* one rounding in any direction, relative */
#define TINY 1e-290             /* more than all underflow */
#define OFF 1e-9                /* a dual block further from its domain is refused, not repaired */
#define BLOCK 128               /* rows at once */
#if !defined __GNUC__ /* no vectors: as good, but slow */
typedef double vec; enum { LANES = 1, VECS = 4, ROWS = 4 };
#elif defined __AVX512F__
typedef double vec __attribute__((vector_size(64), may_alias)); enum { LANES = 8, VECS = 3, ROWS = 8 };
#else
typedef double vec __attribute__((vector_size(32), may_alias)); enum { LANES = 4, VECS = 2, ROWS = 4 };
#endif
enum { WIDE = LANES * VECS };

/* ---- memory and refusals: whatever a file makes us take is given back after it */
static jmp_buf ending; static const char *reason; static void *taken[64]; static int takes;
static void need(int good, const char *why) { if (!good) reason = why, longjmp(ending, 1); }
static void *take(size_t count, size_t size) {
    need(!size || count <= ((size_t)-1 >> 1) / size, "sizes overflow");
    need(takes < 64 && (taken[takes] = calloc(count * size + 64, 1)), "no memory");
    return (void *)(((uintptr_t)taken[takes++] + 63) & ~(uintptr_t)63); /* as vectors want it */
}

/* ---- files, JSON, hashes */
static unsigned char *bytes; static size_t length, base; static const char *header;
static void load(const char *path) {
    FILE *file = fopen(path, "rb"); long size = -1; size_t got = 0;
    need(file != NULL, "a file cannot be opened");
    if (!fseek(file, 0, SEEK_END)) size = ftell(file), rewind(file);
    bytes = taken[takes++] = size < 0 ? NULL : malloc((size_t)size + 1), length = (size_t)size;
    if (bytes) got = fread(bytes, 1, length, file);
    fclose(file), need(bytes && got == length, "a file cannot be read");
}
static const char *find(const char *from, const char *to, const char *key) { /* the value; no key is there twice */
    char quoted[40]; const char *p, *again;
    sprintf(quoted, "\"%.30s\":", key), p = strstr(from, quoted);
    if (!p || p >= to) return NULL;
    again = strstr(p + 1, quoted); need(!again || again >= to, "a key of the header is there twice");
    return p + strlen(quoted) + strspn(p + strlen(quoted), " ");
}
static void word(const char *p, char *out, size_t size) {
    size_t length = p && *p == '"' ? strcspn(p + 1, "\"") : size;
    need(length < size, "a text of the header is missing or too long");
    memcpy(out, p + 1, length), out[length] = 0;
}
static double number(const char *p) {
    char *end = NULL; double value;
    fesetround(FE_TONEAREST), value = p ? strtod(p, &end) : 0, fesetround(FE_UPWARD);
    need(p && end != p && strchr(",}", *end) && isfinite(value), "a number of the header is missing or not finite");
    return value;
}
/* Words 4 l to 4 l + 3 of each 64 bytes go to hash l of 16: loops over l are done at once. The end is the
   SHA-256 of the 16 one after the other. What is added is filled with zeros to a multiple of 1024 bytes. */
enum { HASHES = 16 }; static uint32_t state[8][HASHES], prime[64]; static uint64_t hashed_bytes;
static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint32_t swapped(uint32_t x) { return (turn(x, 8) & 0xff00ff00) | (turn(x, 24) & 0x00ff00ff); }
static void chunk(const void *data) {
    uint32_t w[64][HASHES], v[8][HASHES]; int i, l;
    memcpy(w, data, 64 * HASHES), memcpy(v, state, sizeof v);
    for (i = 0; i < 16; i++)
        for (l = 0; l < HASHES; l++) w[i][l] = swapped(w[i][l]);
    for (; i < 64; i++)
        for (l = 0; l < HASHES; l++) {
            uint32_t x = w[i - 15][l], y = w[i - 2][l];
            w[i][l] = w[i - 16][l] + w[i - 7][l] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
        }
    for (i = 0; i < 64; i++) { /* instead of moving the eight words, their names turn */
        uint32_t *a = v[-i & 7], *b = v[(1 - i) & 7], *c = v[(2 - i) & 7], *d = v[(3 - i) & 7];
        uint32_t *e = v[(4 - i) & 7], *f = v[(5 - i) & 7], *g = v[(6 - i) & 7], *h = v[(7 - i) & 7];
#pragma GCC ivdep
        for (l = 0; l < HASHES; l++) {
            uint32_t x = h[l] + (turn(e[l], 6) ^ turn(e[l], 11) ^ turn(e[l], 25)) + ((e[l] & f[l]) ^ (~e[l] & g[l])) + prime[i] + w[i][l];
            d[l] += x, h[l] = x + (turn(a[l], 2) ^ turn(a[l], 13) ^ turn(a[l], 22)) + ((a[l] & b[l]) ^ (a[l] & c[l]) ^ (b[l] & c[l]));
        }
    }
    for (i = 0; i < 8; i++)
        for (l = 0; l < HASHES; l++) state[i][l] += v[i][l];
}
static uint32_t fraction(double x) { return (uint32_t)((x - floor(x)) * 4294967296.0); }
static void sha_start(void) { /* constants: fractions of the square and cube roots of primes */
    int p, i, n = 0;
    fesetround(FE_TONEAREST), hashed_bytes = 0;
    for (p = 2; n < 64; p++) {
        for (i = 2; i * i <= p && p % i; i++) {}
        if (i * i <= p) continue;
        for (i = 0; n < 8 && i < HASHES; i++) state[n][i] = fraction(sqrt(p));
        prime[n++] = fraction(cbrt(p));
    }
    fesetround(FE_UPWARD);
}
static void sha_add(const void *data, size_t size) {
    const unsigned char *p = data; unsigned char rest[64 * HASHES] = {0};
    for (; size >= sizeof rest; size -= sizeof rest, p += sizeof rest) chunk(p), hashed_bytes += 64;
    if (size) memcpy(rest, p, size), chunk(rest), hashed_bytes += 64;
}
static void sha_pad(void) { /* the same end for each hash: a bit, and the length in bits */
    uint32_t last[16][HASHES] = {{0}}; int l;
    for (l = 0; l < HASHES; l++)
        last[0][l] = 128, last[14][l] = swapped((uint32_t)(hashed_bytes >> 29)), last[15][l] = swapped((uint32_t)(hashed_bytes << 3));
    chunk(last);
}
static void sha_end(char out[65]) {
    uint32_t all[8 * HASHES][HASHES] = {{0}}; int i;
    sha_pad();
    for (i = 0; i < 8 * HASHES; i++) all[i][0] = swapped(state[i % 8][i / 8]);
    sha_start(), sha_add(all, sizeof all), sha_pad();
    for (i = 0; i < 8; i++) sprintf(out + 8 * i, "%08x", (unsigned)state[i][0]);
}

/* ---- arrays */
struct array { const void *at; size_t rows, cols, count; char type[4]; };
static struct array array(const char *name, int hashed) {
    struct array a = {0};
    const char *entry = find(header, header + strlen(header), name), *p, *to = entry ? strchr(entry, '}') : NULL;
    unsigned long long rows = 0, cols = 1; char text[80]; double value; int end = 0; size_t unit, room = length - base;
    if (!entry) return a;
    need(*entry == '{' && to, "the header is no JSON");
    word(find(entry, to, "dtype"), a.type, sizeof a.type);
    need(a.type[0] == '<' && strchr("fi", a.type[1]) && strchr("48", a.type[2]) && a.type[2], "an array has an unknown dtype");
    unit = (size_t)(a.type[2] - '0'), p = find(entry, to, "shape");
    if (p) sscanf(p, "[%llu ]%n", &rows, &end);
    if (p && !end) sscanf(p, "[%llu ,%llu ]%n", &rows, &cols, &end);
    need(end && rows < 1e15 && cols < 1e15 && (double)rows * (double)cols < 1e15, "a shape is no pair of sizes");
    a.rows = (size_t)rows, a.cols = (size_t)cols, a.count = a.rows * a.cols;
    value = number(find(entry, to, "offset"));
    need(value >= 0 && value < 1e15 && fmod(value, 8) == 0, "an offset is no multiple of 8");
    need((size_t)value <= room && a.count <= (room - (size_t)value) / unit, "an array ends after the file");
    a.at = bytes + base + (size_t)value;
    if (hashed) sprintf(text, "%.20s %s %zu %zu", name, a.type, a.rows, a.cols), sha_add(text, strlen(text)), sha_add(a.at, a.count * unit);
    return a;
}
static const double *reals(struct array a, double limit) { /* in double, none beyond the limit */
    const double *v = a.at; double *wide; size_t i, bad = 0;
    need(a.at && a.type[1] == 'f', "an array is missing, or has no real numbers");
    if (a.type[2] == '4')
        for (v = wide = take(a.count, sizeof *wide), i = 0; i < a.count; i++) wide[i] = ((const float *)a.at)[i];
    for (i = 0; i < a.count; i++) bad += !(fabs(v[i]) <= limit);
    need(!bad, "an array has nan, inf or numbers beyond 1e150");
    return v;
}
static const double *vector(const char *name, int hashed, size_t count, double limit) {
    struct array a = array(name, hashed);
    return need(a.count == count, "shapes do not fit"), reals(a, limit);
}
static const int64_t *wholes(struct array a, int64_t low, int64_t high) {
    int64_t *out = take(a.count, sizeof *out); size_t i;
    need(a.at && a.type[1] == 'i', "an array is missing, or has no whole numbers");
    for (i = 0; i < a.count; i++) {
        out[i] = a.type[2] == '8' ? ((const int64_t *)a.at)[i] : ((const int32_t *)a.at)[i];
        need(out[i] >= low && out[i] <= high, "a whole number is out of range");
    }
    return out;
}
struct matrix { size_t rows, cols; const double *dense, *data; const int64_t *index, *start; };
static struct matrix matrix(const char *name, size_t cols, int hashed) { /* dense, or NAME.data/.indices/.indptr */
    struct matrix M = {0};
    struct array a = array(name, hashed), index, start; char part[32]; size_t i;
    if (a.at) {
        M.rows = a.rows, M.cols = a.cols, M.dense = reals(a, 1e150);
        return need(!cols || a.cols == cols, "shapes do not fit"), M;
    }
    sprintf(part, "%s.indptr", name), start = array(part, hashed);
    sprintf(part, "%s.indices", name), index = array(part, hashed);
    sprintf(part, "%s.data", name), a = array(part, hashed);
    need(a.at && index.at && start.count >= 1 && index.count == a.count, "a matrix is missing, or shapes do not fit");
    M.rows = start.count - 1, M.cols = cols, M.data = reals(a, 1e150), M.index = wholes(index, 0, (int64_t)cols - 1);
    M.start = wholes(start, 0, (int64_t)a.count);
    for (i = 0; i < M.rows; i++) need(M.start[i] <= M.start[i + 1], "indptr falls");
    return need(M.start[0] == 0 && M.start[M.rows] == (int64_t)a.count, "indptr does not span the data"), M;
}

/* ---- bounds: the rounding is upwards from here on */
static double gamma_n(double n) { return n * U / -(n * U - 1.0); }
static double most(double a, double b) { return a > b || a != a ? a : b; } /* nan stays */
static double exp_up(double x) { return exp(x) * (1 + 5 * U) + TINY; }
static double log_up(double x) { double l = log(x); return l + 5 * U * fabs(l); }
static double x_log_x(double x) { return x > 0 ? x * log_up(x) : 0; }
static double lower(double a, double b) { return -(-a * b); } /* a b, rounded down */

/* c (rows, cols) += p q, both packed in panels: of ROWS rows and of WIDE columns */
static void product(double *c, size_t ldc, const double *p, size_t rows, const double *q, size_t cols, size_t inner) {
    size_t i, j, l, r, v, width;
    for (j = 0; j < cols; j += WIDE, q += inner * WIDE)
        for (width = cols - j < WIDE ? cols - j : WIDE, i = 0; i < rows; i += ROWS) {
            vec sum[ROWS][VECS];
            const double *x = p + i * inner, *out = (const double *)sum; const vec *w = (const vec *)q;
            memset(sum, 0, sizeof sum);
            for (l = 0; l < inner; l++, x += ROWS, w += VECS) {
#pragma GCC unroll 8
                for (r = 0; r < ROWS; r++)
#pragma GCC unroll 4
                    for (v = 0; v < VECS; v++) sum[r][v] += x[r] * w[v];
            }
            for (r = 0; r < ROWS && i + r < rows; r++)
                for (v = 0; v < width; v++) c[(i + r) * ldc + j + v] += out[r * WIDE + v];
        }
}
static void pack(double *q, const double *a, size_t rs, size_t cs, size_t inner, size_t cols, size_t width) {
    size_t j, l, v; /* element (l, j) of (inner, cols) at a[l rs + j cs], in panels of some columns */
    for (j = 0; j < cols; j += width)
        for (l = 0; l < inner; l++)
            for (v = 0; v < width; v++) *q++ = j + v < cols ? a[l * rs + (j + v) * cs] : 0;
}

/* ---- losses of margins z_j over d classes */
enum { HINGE, QUADRATIC, ENTROPY };
static const struct { const char *name; int generator, beta, ova; } LOSSES[] = {
    {"multiclass_hinge", HINGE, 0, 0}, {"topk_hinge_alpha", HINGE, 0, 0}, {"topk_hinge_beta", HINGE, 1, 0},
    {"smooth_topk_hinge_alpha", QUADRATIC, 0, 0}, {"smooth_topk_hinge_beta", QUADRATIC, 1, 0},
    {"softmax", ENTROPY, 0, 0}, {"topk_entropy_alpha", ENTROPY, 0, 0}, {"topk_entropy_beta", ENTROPY, 1, 0},
    {"ova_hinge", HINGE, 0, 1}, {"ova_smooth_hinge", QUADRATIC, 0, 1}, {"ova_logistic", ENTROPY, 0, 1}};
static int kind, beta; static size_t d, k; static double soft, *top;
static void largest(const double *z) { /* the k largest, falling, in top */
    size_t j, i, many = 0;
    for (j = 0; j < d; j++) {
        if (many == k && z[j] <= top[k - 1]) continue;
        for (i = many < k ? many++ : k - 1; i > 0 && top[i - 1] < z[j]; i--) top[i] = top[i - 1];
        top[i] = z[j];
    }
}
static double above(const double *z, double tau) { /* sum of (z - tau)_+ */
    double sum = 0; size_t j;
    for (j = 0; j < d; j++) sum += most(z[j] - tau, 0);
    return sum;
}
/* Upper bound on the loss for k = 1 at v = min(z, tau) + more; about its maximiser p, upper bounds on the
   logarithms of p in logs (entropy only: exp_up(v) / t is e^v / t but for less than 16 roundings), the sum of p. */
static double simplest(const double *z, double tau, double more, double *p, double *logs, double *sum) {
    double high = most((top[0] < tau ? top[0] : tau) + more, 0), t, low, total = 0, squares = 0; size_t j, many; int round;
    *sum = 0;
    if (kind == HINGE) return high;
    if (kind == ENTROPY) {
        for (j = 0; j < d; j++) logs[j] = (z[j] < tau ? z[j] : tau) + more - high, total += p[j] = exp_up(logs[j]);
        for (t = total + exp_up(-high), low = 5 * U * fabs(log(t)) - log(t), j = 0; j < d; j++)
            p[j] /= t, logs[j] = (logs[j] > -600 ? logs[j] + 16 * U : -590) + low;
        return *sum = total / t, high + log_up(t);
    }
    for (t = most(high - soft, 0), round = 0; round < 100; round++, t += (total - soft) / (double)many) {
        for (total = 0, many = 0, j = 0; j < d; j++) /* t >= 0: sum of p = (v - t)_+ / soft at most 1 */
            p[j] = most((z[j] < tau ? z[j] : tau) + more - t, 0), total += p[j], many += p[j] > 0;
        if (total <= soft * (1 + 4 * U)) break;
    }
    for (j = 0; j < d; j++) squares += p[j] * p[j], p[j] /= soft;
    return *sum = total / soft, t + squares / soft / 2;
}
/* Upper bound on the loss at z, and about the point p of the dual set that attains it. Every bound is
   weak duality: with lambda = (z - tau)_+ as multipliers of the caps a loss for k > 1 is at most that for
   k = 1 at min(z, tau), plus the sum of lambda over k, inside (alpha) or outside (beta), for every tau.
   The best tau has p = cap where z > tau. */
static double loss(const double *z, double *p, double *logs) {
    double low, up, tau = INFINITY, sum, rest = 0, v; size_t j, same = 0; int round, over;
    largest(z), low = top[k - 1], up = top[0];
    if (k > 1 && kind == HINGE) tau = beta ? most(low, 0) : low;
    if (k > 1 && kind == ENTROPY) { /* what tau does not change, over e^low */
        for (rest = beta ? exp(-low < 700 ? -low : 700) : 0, j = 0; j < d; j++)
            rest += z[j] < low ? exp(z[j] - low) : 0, same += z[j] >= low;
        rest += (double)(same - k), up = up < low + 700 ? up : low + 700;
    }
    for (round = 0; k > 1 && kind != HINGE && round < 100 && up > low; round++) {
        tau = round ? low + (up - low) / 2 : up;
        if (round && (tau <= low || tau >= up)) break;
        if (kind == ENTROPY) {
            for (v = rest, j = 0; j < k; j++) v += exp((top[j] < tau ? top[j] : tau) - top[k - 1]);
            over = (double)k * exp(tau - top[k - 1]) > v;
        } else {
            simplest(z, tau, beta ? 0 : above(z, tau) / (double)k, p, logs, &sum);
            for (v = 0, j = 0; j < d; j++) v = most(v, p[j]);
            over = (double)k * v > (beta ? 1 : sum);
        }
        if (!over && !round) break;
        *(over ? &up : &low) = tau;
    }
    v = k > 1 && tau < top[0] ? above(z, tau) / (double)k : 0;
    return simplest(z, tau, beta ? 0 : v, p, logs, &sum) + (beta ? v : 0);
}
/* Moves x into the dual set; returns the largest move. */
static double repair(double *x) {
    double sum = 0, moved = 0, cap = INFINITY, rest, v = beta && k > 1 ? lower(1, -(-1 / (double)k)) : INFINITY; size_t j, u, same = 0;
    for (j = 0; j < d; j++) {
        if (x[j] < 0) moved = most(moved, -x[j]), x[j] = 0;
        else if (x[j] > v) moved = most(moved, x[j] - v), x[j] = v;
        sum += x[j];
    }
    if (sum > 1)
        for (moved = most(moved, sum - 1), v = -(-1 / sum), j = 0; j < d; j++) x[j] = lower(x[j], v);
    if (beta || k == 1) return moved;
    largest(x);
    for (rest = 0, j = 0; j < d; j++) /* minus the sum without the k largest, rounded upwards */
        rest -= x[j] < top[k - 1] ? x[j] : 0, same += x[j] >= top[k - 1];
    rest -= (double)(same - k) * top[k - 1];
    for (u = k; u > 0; u--) rest -= top[u - 1], v = -(rest / (double)(k - u + 1)), cap = v < cap ? v : cap;
    for (j = 0; j < d; j++)
        if (x[j] > cap) moved = most(moved, x[j] - cap), x[j] = cap;
    return moved;
}
/* Upper bound on L(z) + L*(p) - <z, p>, p moved into the dual set first; z may be off by slip. */
static double fenchel(const double *z, double *p, double *own, double *logs, int given, double slip, double *bound, double *total) {
    double sum = 0, low = 0, squares = 0, all = 0, inner = 0; size_t j;
    *bound = loss(z, given ? own : p, logs);
    need(repair(p) <= OFF || !given, "a dual block lies outside its domain");
    for (j = 0; j < d; j++) sum += p[j], low -= p[j], squares += p[j] * p[j], inner += -z[j] * p[j];
    for (j = 0; kind == ENTROPY && j < d; j++) all += given ? x_log_x(p[j]) : p[j] * logs[j];
    all += kind == ENTROPY ? most(x_log_x(1 + low), x_log_x(-(sum - 1))) : kind == QUADRATIC ? soft / 2 * squares : 0;
    *total = sum;
    return most(*bound + all + 2 * slip * sum + inner, 0);
}
static double norm(const double *x, size_t n) {
    double sum = 0;
    for (; n > 0; n--) sum += x[n - 1] * x[n - 1];
    return sqrt(sum);
}

static double erm(const char *problem) {
    char name[40], text[16], mode[16]; struct array labels;
    struct matrix X, A = {0}, W;
    const double *mass, *b; const int64_t *y; size_t n, m, w, i, j, l, rows, at, some;
    int ova, free_b, given, many, end = 0;
    double cost, gap = 0, risk = 0, widest = 0, tallest = 0, wrong = 0, off = 0, miss, ends[2] = {INFINITY, -INFINITY}, far = 0, loose = 0, P;
    double *F, *V, *Wp, *Xp, *Ap, *Wt = NULL, *z, *p, *own, *logs, *spread, *column, *sizes, *scarce, *lengths;
    i = (size_t)sscanf(problem, "erm loss=%39s k=%zu gamma=%lf cost=%lf intercept=%15s%n", name, &k, &soft, &cost, text, &end);
    fesetround(FE_UPWARD); need(i == 5 && !problem[end] && isfinite(soft + cost), "the problem lacks a parameter");
    for (i = 0; need(i < sizeof LOSSES / sizeof *LOSSES, "an unknown loss"), strcmp(LOSSES[i].name, name); i++) {}
    kind = LOSSES[i].generator, beta = LOSSES[i].beta, ova = LOSSES[i].ova, free_b = !strcmp(text, "free");
    need(free_b || !strcmp(text, "none") || !strcmp(text, "feature"), "an unknown kind of intercept");
    need(!free_b || !ova, "no bound is known for a free intercept of this loss");
    need((kind == QUADRATIC ? soft > 0 : soft == 0) && cost >= 0, "gamma or the cost does not fit the loss");
    W = matrix("W", 0, 0), need(W.dense != NULL, "W must be dense"), w = W.cols, m = W.rows, X = matrix("X", w, 1), n = X.rows;
    labels = array("y", 1), need(labels.count == n && m >= 2 && n, "shapes do not fit"), y = wholes(labels, 0, (int64_t)m - 1);
    mass = vector("mass", 1, n, 1e150), b = strcmp(text, "none") ? vector("b", 0, m, 1e150) : NULL;
    need(b || !array("b", 0).at, "an intercept that the problem does not have");
    d = ova ? 1 : m - 1, need(k >= 1 && k <= d, "k does not fit the loss");
    word(find(header, header + strlen(header), "dual"), mode, sizeof mode); given = !strcmp(mode, "given");
    need(given || (kind != HINGE && !strcmp(mode, "gradient")), "the loss has no such dual");
    if (given) A = matrix("A", m, 0), need(A.rows == n, "shapes do not fit");
    F = take(BLOCK * m, sizeof *F), V = take(m * w, sizeof *V), top = take(m + 1, sizeof *top);
    z = take(9 * m, sizeof *z), p = z + m, own = p + m, logs = own + m, spread = logs + m, column = spread + m, sizes = column + m;
    scarce = sizes + m, lengths = scarce + m;
    Wp = take(X.dense ? w * (m + WIDE) : 0, sizeof *Wp), Xp = take(X.dense ? BLOCK * (w + WIDE) : 0, sizeof *Xp);
    Ap = take(X.dense ? (BLOCK + ROWS) * (w + m + WIDE) : 0, sizeof *Ap);
    if (X.dense) pack(Wp, W.dense, 1, w, w, m, WIDE); else Wt = take(m * w, sizeof *Wt);
    for (j = 0; j < m; j++) {
        widest = most(widest, norm(W.dense + j * w, w)), scarce[j] = INFINITY, tallest = most(tallest, b ? fabs(b[j]) : 0);
        for (l = 0; Wt && l < w; l++) Wt[l * m + j] = W.dense[j * w + l];
    }
    for (i = 0; i < n; i += rows) {
        rows = n - i < BLOCK ? n - i : BLOCK, many = 0; memset(F, 0, rows * m * sizeof *F);
        if (X.dense) pack(Ap, X.dense + i * w, 1, w, w, rows, ROWS), product(F, m, Ap, rows, Wp, m, w);
        for (l = 0; l < rows; l++) {
            size_t row = i + l, mine = (size_t)y[row];
            double *f = F + l * m, C = mass[row], size, slip, total = 0, more, bound = 0, v;
            int64_t e, first = X.dense ? 0 : X.start[row], last = X.dense ? 0 : X.start[row + 1];
            size = X.dense ? norm(X.dense + row * w, w) : norm(X.data + first, (size_t)(last - first));
            need(C >= 0, "a mass is negative"); need(last - first <= (int64_t)w, "a row has more entries than columns");
            for (e = first; e < last; e++)
                for (v = X.data[e], j = 0; j < m; j++) f[j] += v * Wt[(size_t)X.index[e] * m + j];
            for (j = 0; b && j < m; j++) f[j] += b[j];
            slip = 2 * gamma_n((double)w + 4) * size * widest + 8 * U * (size * widest + 2 * tallest + cost) + TINY;
            for (j = at = 0; j < m; j++)
                if (ova || j != mine) z[at++] = (ova ? j == mine ? -f[j] : f[j] : f[j] - f[mine]) + cost + slip;
            if (given) {
                for (j = 0; j < m; j++) own[j] = A.dense ? A.dense[row * m + j] : 0;
                for (e = A.dense ? 0 : A.start[row]; !A.dense && e < A.start[row + 1]; e++) own[A.index[e]] += A.data[e];
                for (j = at = 0; j < m; j++) {
                    need(C > 0 || own[j] == 0, "a row without mass has a dual");
                    total += v = C > 0 ? own[j] / C : 0;
                    if (ova || j != mine) p[at++] = ova && j == mine ? v : -v;
                }
                need(ova || fabs(total) <= OFF, "a dual block does not sum to 0");
            }
            for (v = 0, j = 0; j < (ova ? m : 1); j++) v += fenchel(z + j, p + j, own, logs, given, slip, &more, &total), bound += more;
            if (C > 0) gap += C * v, risk += C * bound;
            if (C > 0 && 1 / C < scarce[mine]) scarce[mine] = 1 / C, lengths[mine] = size;
            for (j = at = some = 0; j < m; j++) /* the block: C x, and its sum at the ground truth */
                f[j] = C * (!ova && j == mine ? total : ova && j == mine ? p[at++] : -p[at++]);
            for (j = 0; j < m; j++) spread[j] += fabs(f[j]) * size, column[j] += f[j], sizes[j] += fabs(f[j]), some += f[j] != 0;
            for (e = first; e < last; e++)
                for (v = X.data[e], j = 0; j < m; j++) V[(size_t)X.index[e] * m + j] += v * f[j];
            many |= X.dense && 8 * some > m;
            for (j = 0; X.dense && 8 * some <= m && j < m; j++)
                for (v = f[j], f[j] = 0, e = 0; v != 0 && e < (int64_t)w; e++) V[j * w + (size_t)e] += v * X.dense[row * w + (size_t)e];
        }
        if (!many) continue;
        pack(Xp, X.dense + i * w, w, 1, rows, w, WIDE), pack(Ap, F, m, 1, rows, m, ROWS);
        product(V, w, Ap, m, Xp, w, rows);
    }
    miss = gamma_n((double)(m + 16) + BLOCK + (double)n);
    for (j = 0; j < m; j++) {
        double rough = gamma_n((double)(n + m + 16)) * sizes[j], apart = b ? most(b[j] - column[j], column[j] - b[j]) : 0;
        for (l = 0; l < w; l++) {
            double v = V[X.dense ? j * w + l : l * m + j], u = W.dense[j * w + l], apart = most(u - v, v - u);
            wrong += apart * apart;
        }
        off += spread[j] * miss * spread[j] * miss;
        if (b && !free_b) wrong += apart * apart, off += rough * rough;
        if (!free_b) continue; /* range of an optimal b: from one example per class, the one of largest mass */
        P = risk + norm(W.dense, m * w) * norm(W.dense, m * w) / 2;
        far = most(far, (double)k * (P * scarce[j] + soft / 2 + 2 * sqrt(P) * lengths[j]));
        ends[0] = b[j] < ends[0] ? b[j] : ends[0], ends[1] = most(ends[1], b[j]), loose += fabs(column[j]) + rough;
    }
    miss = sqrt(wrong) + sqrt(off) + TINY;
    return gap + miss * miss / 2 + (free_b ? loose / 2 * (far + (ends[1] - ends[0])) : 0);
}

/* ---- projections: for x in the set, g = x - a + rho sum(x) and t = g + the rows times their multipliers,
   f(x) - min f <= sum of t (x - low), -t (high - x) or t^2 / 2 where there is no bound + what rows leave.
   Caps that are shares of the sum hand (-t)_+ / k on to its multiplier. Pairs: at most u, at least -v. */
static const struct { const char *name; char cap, row; } SETS[] = {
    {"simplex", 0, '='}, {"capped_simplex", 'c', '='}, {"topk_simplex_alpha", 's', '<'}, {"topk_simplex_beta", 'k', '<'},
    {"topk_cone", 's', '-'}, {"box", 'r', 0}, {"knapsack", 'h', '='}, {"bipartite_simplex", 0, 'y'}, {"l1_ball", 0, '1'}};
static double projection(const char *problem, double *off) {
    char name[40], cap, row; int end = 0; size_t i, j, rows; struct array point; double *y, *c[2];
    const double *a, *x, *nu, *b = NULL, *low = NULL, *tall = NULL;
    double r, limit, rho, gap = 0, far = 0, high, least, s[2] = {0, 0}, passed[2] = {0, 0};
    i = (size_t)sscanf(problem, "projection set=%39s k=%zu r=%lf cap=%lf rho=%lf%n", name, &k, &r, &limit, &rho, &end);
    fesetround(FE_UPWARD); need(i == 5 && !problem[end] && k >= 1 && rho >= 0 && isfinite(rho + r + limit), "the problem lacks a parameter");
    for (i = 0; need(i < sizeof SETS / sizeof *SETS, "an unknown set"), strcmp(SETS[i].name, name); i++) {}
    cap = SETS[i].cap, row = SETS[i].row, rows = row == 'y' ? 2 : row != 0;
    point = array("a", 1), d = point.count, a = reals(point, 1e150);
    if (cap == 'h') b = vector("b", 1, d, 1e150), low = vector("low", 1, d, INFINITY), tall = vector("high", 1, d, INFINITY);
    if (row == 'y') b = vector("y", 1, d, 1);
    x = vector("x", 0, d, 1e150), nu = vector("multipliers", 0, rows, 1e150);
    y = take(3 * d, sizeof *y), c[0] = y + d, c[1] = c[0] + d;
    for (j = 0; j < d; s[0] += x[j], s[1] -= x[j], j++) {
        y[j] = row == '1' ? fabs(x[j]) : x[j], c[0][j] = row == 'y' ? 1 - 2 * b[j] : b ? b[j] : 1, c[1][j] = row == 'y' ? b[j] : 0;
        need(row != 'y' || b[j] == 0 || b[j] == 1, "y is no indicator");
    }
    high = cap == 's' ? s[0] / (double)k : cap == 'k' ? r / (double)k : cap == 'r' ? r : cap == 'c' ? limit : INFINITY;
    least = cap == 's' ? -(s[1] / (double)k) : cap == 'k' ? -(-r / (double)k) : high;
    for (j = 0; j < d; j++) {
        int flip = row == '1' && (x[j] < 0 || (x[j] == 0 && a[j] < 0)); /* of the l1 ball the part with the signs of x */
        double g[2] = {x[j] - a[j] + rho * s[0], a[j] - x[j] + rho * s[1]}, u = g[flip], v = g[!flip], deep = low ? low[j] : 0;
        if (row == '1') gap += most(u - nu[0], 0) * most(u - nu[0], 0) / 2, u = u < nu[0] ? u : nu[0]; /* the other sign */
        for (i = 0; i < rows; i++) u += nu[i] * c[i][j], v += -nu[i] * c[i][j];
        if (tall) high = least = tall[j];
        gap += 0 * (u + v); /* nan if they are not finite */
        if (u > 0) gap += u * (deep == -INFINITY ? u / 2 : most(y[j] - deep, 0));
        if (v > 0) gap += v * (high == INFINITY ? v / 2 : most(high - y[j], 0));
        far = most(far, most(deep - y[j], y[j] - least)), passed[0] += most(v, 0), passed[1] -= most(-u, 0);
    }
    for (i = 0; i < rows; i++) {
        int equation = row == '=' || (row == 'y' && !i);
        double over = row == 'y' && !i ? 0 : -r, under = -over, squares = 0, v = nu[i], w = -nu[i];
        for (j = 0; j < d; j++) over += c[i][j] * y[j], under += -c[i][j] * y[j], squares += c[i][j] * c[i][j];
        if (cap == 's') v += passed[0] / (double)k, w += passed[1] / (double)k;
        if (!equation) w = most(most(w, row == '-' ? v : 0), 0), gap += w * w / 2 * squares; /* no multiplier of it */
        if (row == '-') continue;
        far = most(far, equation ? most(over, under) : over), under = equation ? under : most(under, 0);
        gap += equation && w > 0 ? w * over : v > 0 ? v * under : 0;
    }
    return *off = far, gap;
}

static void check(const char *path) {
    char problem[160], sha_claimed[72], sha_found[65]; static char said[120];
    const char *end, *p; uint16_t one = 1; volatile double third = 1.0 / 3; double claimed, bound, allowed, violation = 0; size_t head;
    need(*(unsigned char *)&one == 1 && lower(third, third) < third * third, "big-endian, or -frounding-math forgotten");
    load(path), need(length > 32 && !memcmp(bytes, "refsolve-cert 1 ", 16) && bytes[31] == '\n' &&
         strspn((const char *)bytes + 16, "0123456789") == 15, "no certificate of version 1");
    head = (size_t)strtoull((const char *)bytes + 16, NULL, 10), base = 32 + head;
    need(head && head <= 1 << 20 && base <= length && base % 64 == 0, "the header is too long or not aligned");
    header = memcpy(take(head + 1, 1), bytes + 32, head), end = header + head;
    need(strlen(header) == head && *header == '{' && !strchr(header, '\\'), "the header is no JSON without escapes");
    word(find(header, end, "problem"), problem, sizeof problem);
    word(find(header, end, "sha256"), sha_claimed, sizeof sha_claimed);
    claimed = number(find(header, end, "bound")); sha_start(), sha_add(problem, strlen(problem));
    p = find(header, end, "violation"), allowed = p ? number(p) : 0;
    need(!strncmp(problem, "erm ", 4) || !strncmp(problem, "projection ", 11), "an unknown kind of problem");
    fesetround(FE_TONEAREST); /* while parameters are read */
    bound = *problem == 'e' ? erm(problem) : projection(problem, &violation), sha_end(sha_found);
    need(!strcmp(sha_found, sha_claimed), "the data has another sha256");
    sprintf(said, "the bound is %.17g, claimed is %.17g", bound, claimed); need(bound <= claimed, said);
    need(violation <= allowed, "constraints fail by more than is claimed");
    printf("accepted bound=%.17g claimed=%.17g violation=%.17g\n", bound, claimed, violation);
}

int main(int count, char **names) {
    volatile int i, failed = count < 2;
    for (i = 1; i < count; i++) {
        fesetround(FE_UPWARD);
        if (setjmp(ending)) failed = 1, printf("refused: %s\n", reason); else check(names[i]);
        for (; takes; takes--) free(taken[takes - 1]);
    }
    return failed;
}
