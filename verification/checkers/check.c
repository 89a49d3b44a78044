/* check.c: does a .cert file prove what it claims? docs/certificate_files.md describes the file and the formulas.
   cc -O2 -frounding-math -o check check.c -lm    (gcc, -O3 -march=native: faster)
   ./check FILE.cert ...    a line per file, "accepted bound=... claimed=..." or "refused: reason"; exit 0 if none is
   C99, one file, nothing but libc. Sums are rounded upwards: what must be a lower bound is the negative of an upper.
   Matrix products are off by at most gamma_n sum |terms|, gamma_n = n U/(1 - n U). Of libm only sqrt is believed. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define U 2.220446049250313e-16 /* one rounding in any direction, relative */
#define TINY 1e-290             /* more than all underflow */
#define BIG 1e150               /* no number of a file is larger */
#define OFF 1e-9                /* a dual block further from its domain is refused, not repaired */
#define EACH(i, n) for (size_t i = 0; i < (n); i++)
#define ENTRIES(e, M, row) for (size_t e = (M).start[row]; e < (M).start[(row) + 1]; e++)
#ifdef __AVX512F__ /* what a product holds in registers */
enum { BLOCK = 128, ROWS = 8, WIDE = 24 };
#else
enum { BLOCK = 128, ROWS = 4, WIDE = 8 };
#endif
/* ---- refusals and memory: whatever a file makes us take is given back after it */
static jmp_buf ending; static const char *reason; static void *taken[99]; static int takes;
static void need(int good, const char *why) { if (!good) { reason = why; longjmp(ending, 1); } }
static void *take(size_t count, size_t size) { /* zeros, aligned as vectors want it */
    void *got = count < SIZE_MAX / 2 / size && takes < 99 ? calloc(count * size + 64, 1) : NULL;
    need(got != NULL, "no memory"); taken[takes++] = got; return (void *)(((uintptr_t)got + 63) & ~(uintptr_t)63);
}
static size_t less(size_t a, size_t b) { return a < b ? a : b; }
static double *zeros(size_t count) { return take(count, sizeof(double)); }
/* ---- the file, and the JSON of its header; nothing has more parts than the file has bytes */
static FILE *file; static char *bytes, *header, *tail; static size_t length, base;
static const char *find(const char *from, const char *to, const char *key) { /* its value, or NULL */
    char quoted[40]; sprintf(quoted, "\"%.30s\":", key);
    const char *p = strstr(from, quoted), *q = p ? strstr(p + 1, quoted) : NULL; if (!p || p >= to) return NULL;
    need(!q || q >= to, "a key of the header is there twice");
    return p + strlen(quoted) + strspn(p + strlen(quoted), " ");
}
static void scan(const char *p, const char *format, char *out) { /* a text, and what ends it */
    char end = 0; int found = p ? sscanf(p, format, out, &end) : 0;
    need(found == 2 && end == '"', "a text of the header is missing, or too long");
}
/* ---- numbers: decimal ones as JSON has them, or hexadecimal ones like -0x1.8p+1; read to the nearest double */
enum { DECIMAL = 1, HEXADECIMAL = 2 };
static const char MALFORMED[] = "a number is missing, or malformed";
static const char *digits(const char *p, int hex) { /* the end of one or more */
    size_t many = strspn(p, hex ? "0123456789abcdefABCDEF" : "0123456789");
    return need(many > 0, MALFORMED), p + many;
}
static double number(const char **text, int kinds) { /* and what follows it */
    const char *p = *text + (**text == '-'), *first = p; char *end;
    int hex = *p == '0' && (p[1] | 32) == 'x', mode = fegetround();
    need(kinds & (hex ? HEXADECIMAL : DECIMAL), MALFORMED);
    p = digits(hex ? p + 2 : p, hex);
    need(hex || *first != '0' || p == first + 1, MALFORMED);
    if (*p == '.') p = digits(p + 1, hex);
    if ((*p | 32) == (hex ? 'p' : 'e')) p = digits(p + 1 + (p[1] == '+' || p[1] == '-'), 0);
    else need(!hex, MALFORMED);
    fesetround(FE_TONEAREST); double v = strtod(*text, &end); fesetround(mode);
    return need(end == p, MALFORMED), *text = p, v;
}
static double said(const char *p, int kinds) { /* a number of the header; a hexadecimal one is a text */
    int quoted = p && *p == '"', kind = quoted ? HEXADECIMAL : DECIMAL; need(p && kinds & kind, MALFORMED);
    p += quoted; double v = number(&p, kind);
    need(!quoted || *p++ == '"', MALFORMED); p += strspn(p, " ");
    return need(*p && strchr(",}", *p), MALFORMED), v;
}
/* The words of the problem, " NAME=VALUE" in a given order. */
static const char *words;
static const char *value(const char *name) {
    size_t size = strlen(name);
    need(*words == ' ' && !strncmp(words + 1, name, size) && words[size + 1] == '=', "the problem lacks a parameter");
    return words + size + 2;
}
static double parameter(const char *name) {
    const char *p = value(name); double v = number(&p, DECIMAL | HEXADECIMAL); words = p;
    return need((!*p || *p == ' ') && isfinite(v), "a parameter of the problem is no finite number"), v;
}
static void named(const char *name, char out[40]) {
    const char *p = value(name); size_t size = strcspn(p, " "); need(size > 0 && size < 40, "an unknown name");
    memcpy(out, p, size); out[size] = 0; words = p + size;
}
static size_t whole(double v) { return need(v >= 0 && v <= (double)length && v == floor(v), "no size"), (size_t)v; }
/* ---- hashes: words 4 l to 4 l + 3 of each 64 bytes go to hash l of 16, so that loops over l are done at once. The end
   is the SHA-256 of the 16 one after the other. What is added is filled with zeros to a multiple of 1024 bytes. */
enum { HASHES = 16 }; static uint32_t state[8][HASHES], prime[64]; static uint64_t hashed; /* bytes, by each */
static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint32_t swapped(uint32_t x) { return (turn(x, 8) & 0xff00ff00) | (turn(x, 24) & 0xff00ff); }
static uint32_t turns(uint32_t x, int a, int b, int c) { return turn(x, a) ^ turn(x, b) ^ turn(x, c); }
static uint32_t shift(uint32_t x, int a, int b, int c) { return turn(x, a) ^ turn(x, b) ^ x >> c; }
static uint32_t fraction(double x) { return (uint32_t)((x - floor(x)) * 4294967296.0); }
static void sha_start(void) { /* constants: fractions of the square and cube roots of primes */
    hashed = 0;
    for (int p = 2, n = 0, i; n < 64; p++) {
        for (i = 2; p % i; i++) {}
        if (i < p) continue;
        EACH(l, n < 8 ? HASHES : 0) state[n][l] = fraction(sqrt(p));
        prime[n++] = fraction(cbrt(p));
    }
}
static void sha_add(const void *data, size_t size) {
    const char *p = data; uint32_t w[64][HASHES], v[8][HASHES], x[HASHES], y[HASHES];
    for (size_t some; size > 0; p += some, size -= some, hashed += 64) {
        some = less(size, sizeof *w * 16); memset(w, 0, sizeof *w * 16); memcpy(w, p, some); memcpy(v, state, sizeof v);
        EACH(i, 16) EACH(l, HASHES) w[i][l] = swapped(w[i][l]);
        for (int i = 16; i < 64; i++) EACH(l, HASHES)
            w[i][l] = w[i - 16][l] + shift(w[i - 15][l], 7, 18, 3) + w[i - 7][l] + shift(w[i - 2][l], 17, 19, 10);
        EACH(i, 64) {
            EACH(l, HASHES) {
                uint32_t a = v[0][l], b = v[1][l], c = v[2][l], e = v[4][l], f = v[5][l], g = v[6][l];
                y[l] = ((a & b) ^ (a & c) ^ (b & c)) + turns(a, 2, 13, 22);
                x[l] = ((e & f) ^ (~e & g)) + turns(e, 6, 11, 25) + v[7][l] + prime[i] + w[i][l];
            }
            for (int j = 7; j > 0; j--) memcpy(v[j], v[j - 1], sizeof *v);
            EACH(l, HASHES) { v[0][l] = x[l] + y[l]; v[4][l] += x[l]; }
        }
        EACH(i, 8) EACH(l, HASHES) state[i][l] += v[i][l];
    }
}
static void sha_end(char out[65]) {
    uint32_t all[8 * HASHES][HASHES] = {{0}}, last[16][HASHES] = {{0}}; /* the same end for each: a bit, the length */
    for (int again = 0; again < 2; again++) {
        EACH(l, HASHES) { last[0][l] = 128; last[14][l] = swapped(hashed >> 29); last[15][l] = swapped(hashed << 3); }
        sha_add(last, sizeof last); EACH(i, 8 * HASHES) all[i][0] = swapped(state[i % 8][i / 8]);
        if (!again) { sha_start(); sha_add(all, sizeof all); }
    }
    EACH(i, 8) sprintf(out + 8 * i, "%08x", (unsigned)state[i][0]);
}
/* ---- arrays: reals of at most some size, or whole numbers from 0 to a limit */
struct array { size_t rows, cols, count; const double *real; const size_t *whole; };
static struct array array(const char *name, int is_data, double limit) {
    const char *entry = find(header, tail, name), *to = entry ? strchr(entry, '}') : NULL, *shape, *at;
    struct array a = {0}; double rows = 0, cols = 1, offset = 0; char type[4] = "", text[80]; if (!entry) return a;
    need(*entry == '{' && to, "the header is no JSON"); shape = find(entry, to, "shape");
    scan(find(entry, to, "dtype"), "\"%3[^\"]%c", type); offset = said(find(entry, to, "offset"), DECIMAL);
    need(*type == '<' && strchr("fi", type[1]) && strchr("48", type[2]) && type[2], "an array has an unknown dtype");
    int wide = type[2] == '8'; size_t bad = 0, unit = wide ? 8 : 4, *wholes = NULL; double *reals = NULL;
    need(shape && *shape == '[', "a shape is no pair of sizes"); shape += 1 + strspn(shape + 1, " ");
    rows = number(&shape, DECIMAL); shape += strspn(shape, " ");
    if (*shape == ',') { shape += 1 + strspn(shape + 1, " "); cols = number(&shape, DECIMAL); }
    need(shape[strspn(shape, " ")] == ']', "a shape is no pair of sizes");
    need(fmod(offset, 8) == 0, "an offset is no multiple of 8");
    a.rows = whole(rows); a.cols = whole(cols); a.count = a.rows * a.cols; at = bytes + base + whole(offset);
    need((double)base + offset + rows * cols * (double)unit <= (double)length, "an array ends after the file");
    sprintf(text, "%.20s %s %zu %zu", name, type, a.rows, a.cols);
    if (is_data) { sha_add(text, strlen(text)); sha_add(at, a.count * unit); }
    if (type[1] == 'f') a.real = reals = wide ? (double *)at : zeros(a.count);
    else a.whole = wholes = take(a.count, sizeof *wholes);
    EACH(i, a.real ? a.count : 0) { if (!wide) reals[i] = ((const float *)at)[i]; bad += !(fabs(reals[i]) <= limit); }
    EACH(i, a.real ? 0 : a.count) {
        int64_t v = wide ? ((const int64_t *)at)[i] : ((const int32_t *)at)[i];
        wholes[i] = (size_t)v; bad += v < 0 || (double)v > limit;
    }
    return need(!bad, "a number is nan, infinite or out of its range"), a;
}
static const double *vector(const char *name, int is_data, size_t count, double limit) {
    struct array a = array(name, is_data, limit);
    return need(a.real && a.count == count, "an array is missing, or its shape does not fit"), a.real;
}
/* NAME, dense, without an index; or NAME.indptr, .indices, .data. With cols = 0 a dense one says how many. */
struct matrix { size_t rows, cols; const double *data; const size_t *index, *start; };
static struct matrix matrix(const char *name, size_t cols, int is_data) {
    struct array all = array(name, is_data, BIG), part[3]; char text[32]; size_t *start;
    struct matrix M = {all.rows, cols ? cols : all.cols, all.real, NULL, NULL};
    if (M.data) {
        need(M.cols && M.cols == all.cols, "shapes do not fit"); M.start = start = take(M.rows + 1, sizeof *start);
        EACH(i, M.rows + 1) start[i] = i * M.cols;
        return M;
    }
    EACH(i, 3) {
        sprintf(text, "%.20s.%s", name, i == 0 ? "indptr" : i == 1 ? "indices" : "data");
        part[i] = array(text, is_data, i == 1 ? (double)cols - 1 : BIG);
    }
    M.start = part[0].whole; M.index = part[1].whole; M.data = part[2].real; M.rows = part[0].count - 1;
    need(cols && M.start && M.index && M.data && part[0].count, "a matrix is missing");
    need(!M.start[0] && M.start[M.rows] == part[2].count && part[1].count == part[2].count, "indptr does not fit");
    EACH(i, M.rows) need(M.start[i] <= M.start[i + 1] && M.start[i + 1] - M.start[i] <= cols, "indptr falls, or jumps");
    return M;
}
static size_t column(struct matrix M, size_t row, size_t e) { return M.index ? M.index[e] : e - M.start[row]; }
/* ---- bounds: the rounding is upwards from here on */
static double most(double a, double b) { return a > b || a != a ? a : b; } /* nan stays */
static double least(double a, double b) { return a < b || a != a ? a : b; }
static double gamma_n(double n) { return n * U / -(n * U - 1); }
static double norm(const double *x, size_t n) { double s = 0; EACH(j, n) s += x[j] * x[j]; return sqrt(s); }
/* At least e^x. With n near x/log 2 and |r| < .3467, x = n log 2 + r but for .8 U (n times the first part of log 2 is
   exact); Taylor's polynomial of degree 13 errs by .02 U, its evaluation by less than U sum of (2 i + 1) |r|^i / i! <
   2.6 U; over e^r > .707 that is less than 5 U, in any rounding. */
static double exp_up(double x) {
    static const double c[] = {1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
                               1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, .5, 1, 1};
    double v = most(x, -708), n = v * 1.4426950408889634 - .5 + 0x1.8p52, p = c[0]; uint64_t power;
    memcpy(&power, &n, 8); power = (power + 1023) << 52; n -= 0x1.8p52; /* its last bits were n */
    double r = v - n * 0x1.62e42fefap-1 - n * 0x1.cf79abc9e3b3ap-40;
    for (int i = 1; i < 14; i++) p = c[i] + r * p;
    memcpy(&n, &power, 8); return x < 709 ? p * n * (1 + 8 * U) + TINY : x + INFINITY; /* n: 2^n */
}
/* At least log x for x > TINY, whatever log returns: log(x e^-l) <= x e^-l - 1. */
static double log_up(double x) { double l = log(x); return l + (x * exp_up(-l) - 1); }
static double x_log_x(double x) { return x > TINY ? x * log_up(x) : 0; }
/* c (m, cols) += p (m, n) q, which is packed in panels of columns */
static void matmul(double *c, const double *p, size_t m, const double *q, size_t cols, size_t n) {
    for (size_t j = 0; j < cols; j += WIDE, q += n * WIDE)
        for (size_t i = 0; i < m; i += ROWS) {
            double sum[ROWS][WIDE] = {{0}}; const double *x[ROWS], *w = q;
            EACH(r, ROWS) x[r] = p + less(i + r, m - 1) * n;
            for (size_t l = 0; l < n; l++, w += WIDE) EACH(r, ROWS) EACH(v, WIDE) sum[r][v] += x[r][l] * w[v];
            EACH(r, less(ROWS, m - i)) EACH(v, less(WIDE, cols - j)) c[(i + r) * cols + j + v] += sum[r][v];
        }
}
static void pack(double *q, const double *a, size_t rs, size_t cs, size_t rows, size_t cols, size_t width) {
    for (size_t j = 0; j < cols; j += width)
        EACH(l, rows) for (size_t v = j; v < j + width; v++) *q++ = v < cols ? a[l * rs + v * cs] : 0;
}
/* ---- losses of margins z_j over d classes: a generator; b: beta, o: one-vs-all */
static int kind, beta; static size_t d, k; static double soft, *top, *logs; /* hinge, quadratic or entropy */
static const char LOSSES[] = " hinge:h hinge+beta:hb hinge+ova:ho quadratic:q quadratic+beta:qb quadratic+ova:qo "
    "entropy:e entropy+beta:eb entropy+ova:eo ";
static const char SETS[] = " simplex:=n capped_simplex:=c topk_simplex_alpha:<s topk_simplex_beta:<k topk_cone:-s "
    "box:nr knapsack:=h bipartite_simplex:yn l1_ball:1n "; /* rows and caps */
static const char *flags(const char *known, const char *name) {
    char spaced[48]; sprintf(spaced, " %s:", name); known = strstr(known, spaced);
    return need(known != NULL, "an unknown loss or set"), known + strlen(spaced);
}
static void largest(const double *z) { /* the k largest, falling, in top */
    for (size_t j = 0, many = 0, i; j < d; j++) {
        if (many == k && z[j] <= top[k - 1]) continue;
        for (i = many < k ? many++ : k - 1; i > 0 && top[i - 1] < z[j]; i--) top[i] = top[i - 1];
        top[i] = z[j];
    }
}
static double share(double rest, double cap) { /* the most t <= cap, k t <= rest + sum of min(top, t), rounded down */
    EACH(u, k) { rest = -(-rest - top[k - 1 - u]); cap = least(cap, -(-rest / (double)(u + 1))); }
    return cap;
}
/* Upper bound on the loss at z; about the p that attains it, its sum, upper bounds on its logarithms (p is e^v / t but
   for less than 20 roundings). By weak duality, for every tau: with (z - tau)_+ as multipliers of the caps it is that
   for k = 1 at min(z, tau) + more, plus extra; the sum of multipliers over k is inside (alpha) or outside (beta). */
static double simplest(const double *z, double tau, double *p, double *sum) {
    double extra = 0, all = 0, squares = 0; *sum = 0;
    if (tau < top[0]) EACH(j, d) extra += most(z[j] - tau, 0) / (double)k;
    double more = beta ? 0 : extra, high = most(least(top[0], tau) + more, 0), t = most(high - soft, 0); extra -= more;
    if (kind == 'h') return high + extra;
    if (kind == 'e') {
        EACH(j, d) { logs[j] = least(z[j], tau) + more - high; p[j] = exp_up(logs[j]); }
        EACH(j, d) *sum += p[j];
        all = *sum + exp_up(-high); t = log_up(1 / all); *sum /= all;
        EACH(j, d) { p[j] /= all; logs[j] = most(logs[j] + 20 * U, -590) + t; }
        return high + log_up(all) + extra;
    }
    for (int round = 0; round < 100; round++) { /* t >= 0: sum of p = (v - t)_+ / soft at most 1 */
        size_t many = 0; *sum = 0;
        EACH(j, d) { p[j] = most(least(z[j], tau) + more - t, 0); *sum += p[j]; many += p[j] > 0; }
        if (*sum <= soft * (1 + 4 * U)) break;
        t += (*sum - soft) / (double)many;
    }
    EACH(j, d) { squares += p[j] * p[j]; p[j] /= soft; }
    *sum /= soft; return t + squares / soft / 2 + extra;
}
static double loss(const double *z, double *p) { /* the best tau has p = cap where z > tau */
    largest(z); double low = top[k - 1], up = top[0], tau = INFINITY, sum, v = 0, base = beta ? most(low, -700) : low;
    if (k > 1 && kind == 'h') tau = beta ? most(low, 0) : low;
    if (k > 1 && kind == 'e') { /* k e^tau is the sum of e^min(z, tau), and of 1 if beta; over e^base */
        EACH(j, d) v += exp_up(least(z[j], low) - base);
        EACH(j, k) { v -= exp_up(low - base); top[j] = exp_up(top[j] - base); }
        tau = base + log(share(v + (beta ? exp_up(-base) : 0), INFINITY)); top[0] = up;
    }
    for (int round = 0; k > 1 && kind == 'q' && round < 100 && up > low; round++) {
        tau = round ? low + (up - low) / 2 : up; v = 0; if (round && (tau <= low || tau >= up)) break;
        simplest(z, tau, p, &sum); EACH(j, d) v = most(v, p[j]); int over = (double)k * v > (beta ? 1 : sum);
        *(over ? &up : &low) = tau;
    }
    return simplest(z, tau, p, &sum);
}
static double repair(double *x) { /* moves x into the dual set; returns the largest move */
    double sum = 0, moved = 0, rest = 0, same = 0, cap = beta && k > 1 ? -(-1 / (double)k) : INFINITY;
    EACH(j, d) { moved = most(moved, most(-x[j], x[j] - cap)); x[j] = least(most(x[j], 0), cap); sum += x[j]; }
    EACH(j, sum > 1 ? d : 0) x[j] = -(-x[j] * -(-1 / sum));
    moved = most(moved, sum - 1); if (beta || k == 1) return moved;
    largest(x); /* rest: what is not among them, as a negative number */
    EACH(j, d) { rest -= x[j] < top[k - 1] ? x[j] : 0; same += x[j] >= top[k - 1]; }
    cap = share(-(rest + -(same - (double)k) * top[k - 1]), cap);
    EACH(j, d) { moved = most(moved, x[j] - cap); x[j] = least(x[j], cap); }
    return moved;
}
/* Upper bound on L(z) + L*(p) - <z, p>, p moved into the dual set first; z may be off by slip. */
static double fenchel(const double *z, double *p, double *own, double slip, double *bound, double *total) {
    double sum = 0, rest = 1, more = 0, gap = loss(z, own ? own : p);
    *bound += gap; need(repair(p) <= OFF || !own, "a dual block lies outside its domain");
    EACH(j, d) {
        sum += p[j]; rest -= p[j]; gap += (2 * slip - z[j]) * p[j];
        if (kind == 'e') more += own ? x_log_x(p[j]) : p[j] * logs[j];
        if (kind == 'q') more += soft / 2 * (p[j] * p[j]);
    }
    if (kind == 'e') more += most(x_log_x(rest), x_log_x(-(sum - 1)));
    return *total += sum, most(gap + more, 0);
}
/* ---- kinds of problems; numbers that are not certain are pairs, at most s[0] and at least -s[1] */
typedef double pair[2]; static double claimed, allowed, violation; static size_t assumed;
static void add(pair s, double a, double b) { s[0] += a * b; s[1] += -a * b; }
static double part(double r, double far, double curve) { /* most of r t - curve/2 t^2, 0 <= t <= far; nan stays */
    double ends = r > 0 ? r * most(far, 0) : 0 * r; return r > 0 && curve > 0 ? least(r * r / (2 * curve), ends) : ends;
}
static double erm(void) {
    char name[40], text[40], mode[16]; int ova, is_free, none, given; double cost, r, v;
    double gap = 0, risk = 0, widest = 0, wrong = 0, off = 0, far = 0, loose = 0;
    named("loss", name); r = parameter("k"); soft = parameter("gamma"); cost = parameter("cost");
    named("intercept", text); need(!*words, "the problem has more parameters");
    const char *known = flags(LOSSES, name); kind = known[0]; beta = known[1] == 'b'; ova = known[1] == 'o';
    is_free = !strcmp(text, "free"); none = !strcmp(text, "none");
    need((is_free && !ova) || none || !strcmp(text, "feature"), "an intercept for which no bound is known");
    need((kind == 'q' ? soft > 0 : soft == 0) && cost >= 0, "gamma or cost does not fit");
    struct matrix W = matrix("W", 0, 0), X = matrix("X", W.cols, 1), A = X; size_t m = W.rows, w = W.cols, n = X.rows;
    struct array y = array("y", 1, (double)m - 1); need(y.whole && y.count == n && m >= 2 && n, "labels do not fit");
    const double *mass = vector("mass", 1, n, BIG), *b = none ? NULL : vector("b", 0, m, BIG);
    need(b || !array("b", 0, BIG).real, "an intercept that the problem does not have");
    d = ova ? 1 : m - 1; k = whole(r); need(k >= 1 && k <= d, "k does not fit the loss");
    scan(find(header, tail, "dual"), "\"%15[^\"]%c", mode); given = !strcmp(mode, "given");
    need(given || (kind != 'h' && !strcmp(mode, "gradient")), "the loss has no such dual");
    if (given) { A = matrix("A", m, 0); need(A.rows == n, "shapes do not fit"); }
    double *F = zeros(BLOCK * m), *V = zeros(m * w), *Q = zeros(w * (m + WIDE)), *B = zeros(BLOCK * (w + WIDE));
    double *z = zeros(m), *p = zeros(m), *own = zeros(m), *spread = zeros(m), *sizes = zeros(m), *sums = zeros(m);
    double *scarce = zeros(m), *lengths = zeros(m), *T = zeros(BLOCK * m); top = zeros(m); logs = zeros(m);
    pack(Q, W.data, 1, w, w, m, X.index ? m : WIDE); v = norm(W.data, m * w); risk = v * v / 2; /* or transposed */
    EACH(j, m) widest = most(widest, norm(W.data + j * w, w) + (b ? fabs(b[j]) : 0));
    for (size_t at = 0, rows, some = 0; at < n; at += rows, some = 0) {
        rows = less(BLOCK, n - at); memset(F, 0, rows * m * sizeof *F);
        if (!X.index) matmul(F, X.data + at * w, rows, Q, m, w);
        for (size_t l = at; l < at + rows; l++) {
            double *f = F + (l - at) * m, C = mass[l], total = 0, bound = 0, apart = 0; size_t mine = y.whole[l];
            double size = norm(X.data + X.start[l], X.start[l + 1] - X.start[l]), reach = (size + 2) * widest + cost;
            double slip = (2 * gamma_n((double)w + 4) + 8 * U) * reach + TINY;
            EACH(j, m) { own[j] = 0; f[j] += b ? b[j] : 0; }
            if (X.index) ENTRIES(e, X, l) EACH(j, m) f[j] += X.data[e] * Q[X.index[e] * m + j];
            if (given) ENTRIES(e, A, l) own[column(A, l, e)] += A.data[e];
            EACH(j, m) {
                need(C > 0 || (C == 0 && own[j] == 0), "a mass is negative, or a row without it has a dual");
                v = C > 0 ? own[j] / C : 0; total += v; p[j] = ova && j == mine ? v : -v;
                z[j] = (!ova ? f[j] - f[mine] : j == mine ? -f[j] : f[j]) + cost + slip;
            }
            need(ova || fabs(total) <= OFF, "a dual block does not sum to 0"); total = 0;
            if (!ova) { z[mine] = z[m - 1]; p[mine] = p[m - 1]; } /* the truth gives way to the last */
            EACH(j, ova ? m : 1) apart += fenchel(z + j, p + j, given ? own : NULL, slip, &bound, &total);
            if (!ova) { p[m - 1] = p[mine]; p[mine] = -total; }
            if (C > 0) { gap += C * apart; risk += C * bound; }
            if (C > scarce[mine]) { scarce[mine] = C; lengths[mine] = size; }
            EACH(j, m) { /* the block of A: C p, and its sum at the truth */
                f[j] = v = C * (ova && j == mine ? p[j] : -p[j]); some += v != 0;
                spread[j] += fabs(v) * size; sizes[j] += fabs(v); sums[j] += v;
            }
        }
        if (!X.index && 8 * some > rows * m) {
            pack(B, X.data + at * w, w, 1, rows, w, WIDE); pack(T, F, 1, m, m, rows, rows); matmul(V, T, m, B, w, rows);
        } else EACH(j, m) EACH(l, rows) if (F[l * m + j] != 0)
            ENTRIES(e, X, at + l) V[j * w + column(X, at + l, e)] += F[l * m + j] * X.data[e];
    }
    double miss = gamma_n((double)(m + 16) + BLOCK + (double)n), ends[2] = {-INFINITY, -INFINITY};
    EACH(j, m * w) { v = most(V[j] - W.data[j], W.data[j] - V[j]); wrong += v * v; }
    EACH(j, m) {
        double rough = miss * sizes[j], apart = b ? most(b[j] - sums[j], sums[j] - b[j]) : 0;
        off += spread[j] * miss * spread[j] * miss;
        if (b && !is_free) { wrong += apart * apart; off += rough * rough; }
        if (!is_free) continue; /* the range of an optimal b: by the example of most mass of each class */
        far = most(far, (double)k * (risk / scarce[j] + soft / 2 + 2 * sqrt(risk) * lengths[j]));
        ends[0] = most(ends[0], b[j]); ends[1] = most(ends[1], -b[j]); loose += fabs(sums[j]) + rough;
    }
    miss = sqrt(wrong) + sqrt(off) + TINY;
    return gap + miss * miss / 2 + (is_free ? loose / 2 * (far + ends[0] + ends[1]) : 0);
}
/* For x in the set, g = x - a + rho sum(x) and t = g + the rows times their multipliers, f(x) - min f <= sum of
   t (x - low), -t (high - x) or t^2 / 2 where there is no bound + what rows leave. Caps that are shares of the sum hand
   (-t)_+ / k on to its multiplier. Of the l1 ball the part with x's signs; (|g| - nu)_+^2 / 2 pays for the others. */
static double projection(void) {
    char name[40]; double r, limit, rho, gap = 0;
    named("set", name); k = whole(parameter("k")); r = parameter("r"); limit = parameter("cap"); rho = parameter("rho");
    need(!*words && rho >= 0, "the problem has more parameters, or rho is negative");
    need(k >= 1, "k is 0"); d = array("a", 0, BIG).count;
    const char *known = flags(SETS, name), row = known[0], cap = known[1]; size_t rows = row == 'y' ? 2 : row != 'n';
    const double *a = vector("a", 1, d, BIG), *low = NULL, *tall = NULL;
    const double *b = row == 'y' ? vector("y", 1, d, 1) : cap == 'h' ? vector("b", 1, d, BIG) : NULL;
    if (cap == 'h') { low = vector("low", 1, d, INFINITY); tall = vector("high", 1, d, INFINITY); }
    const double *x = vector("x", 0, d, BIG), *nu = vector("multipliers", 0, rows, BIG);
    double *y = zeros(d), *c[2] = {zeros(d), zeros(d)}; pair s = {0}, passed = {0}, high = {INFINITY, -INFINITY};
    EACH(j, d) {
        need(row != 'y' || b[j] == 0 || b[j] == 1, "y is no indicator"); y[j] = row == '1' ? fabs(x[j]) : x[j];
        add(s, 1, x[j]); c[1][j] = b ? b[j] : 1; c[0][j] = row == 'y' ? 1 - 2 * b[j] : c[1][j];
    }
    if (cap == 's') { high[0] = s[0] / (double)k; high[1] = s[1] / (double)k; }
    if (cap == 'k') { high[0] = r / (double)k; high[1] = -r / (double)k; }
    if (cap == 'r' || cap == 'c') { high[0] = cap == 'r' ? r : limit; high[1] = -high[0]; }
    EACH(j, d) {
        int flip = row == '1' && (x[j] < 0 || (x[j] == 0 && a[j] < 0));
        pair g = {x[j] - a[j] + rho * s[0], a[j] - x[j] + rho * s[1]}, t = {g[flip], g[!flip]};
        double deep = low ? low[j] : 0, other = row == '1' ? most(t[0] - nu[0], 0) : 0; t[0] = other > 0 ? nu[0] : t[0];
        EACH(i, rows) add(t, nu[i], c[i][j]);
        if (tall) { high[0] = tall[j]; high[1] = -tall[j]; }
        gap += part(t[0], y[j] - deep, deep == -INFINITY) + part(t[1], high[0] - y[j], high[0] == INFINITY);
        violation = most(violation, most(deep - y[j], y[j] + high[1])); gap += other * other / 2;
        passed[0] += most(t[1], 0) / (double)k; passed[1] += most(-t[0], 0) / -(double)k;
    }
    EACH(i, rows) {
        int equation = row == '=' || (row == 'y' && !i); double bound = row == 'y' && !i ? 0 : r, size = 0, no;
        pair over = {-bound, bound}, v = {nu[i], -nu[i]};
        EACH(j, d) { add(over, c[i][j], y[j]); size += c[i][j] * c[i][j]; }
        if (cap == 's') { v[0] += passed[0]; v[1] += passed[1]; }
        no = equation ? 0 : most(most(v[1], row == '-' ? v[0] : 0), 0); gap += no * no / 2 * size; /* no multiplier */
        if (row == '-') continue;
        violation = most(violation, equation ? most(over[0], over[1]) : over[0]);
        gap += v[0] > 0 ? v[0] * (equation ? over[1] : most(over[1], 0)) : equation ? v[1] * over[0] : 0;
    }
    return gap;
}
/* ---- programs: rows in the zero cone, >= 0, in second-order, exponential, semidefinite and power cones, in this order */
static size_t zero, nonneg, exps, cones, squares, powers; static const size_t *soc, *psd, *power; static pair *weights;
/* The matrix in the lower half of L, of order n, is positive definite: a Cholesky factorisation goes through though more
   than it can err is taken off the diagonal a. It gives R R' = A + E, |E_ij| <= g/(1 - g) sqrt(a_i a_j), g = gamma_{n+1},
   in any rounding (Higham, Accuracy and Stability, Theorem 10.3), so that |x'E x| <= n gamma_{n+2} sum of a_i x_i^2; what
   underflows is less than U sqrt(a_i a_j) where pivots are above TINY. */
static int definite(double *L, size_t n) {
    double slack = (double)n * gamma_n((double)n + 2) + 4 * U;
    EACH(t, n) EACH(l, t + 1) {
        double *row = L + t * n, *other = L + l * n, v = row[l];
        if (l == t) v -= slack * fabs(v);
        EACH(i, l) v -= row[i] * other[i];
        if (l == t && !(v > TINY)) return 0;
        row[l] = l == t ? sqrt(v) : v / other[l];
    }
    return 1;
}
/* The matrix M of order n is positive semidefinite, and no operation of Bareiss' elimination is rounded. */
static int semidefinite_exactly(double *M, size_t n) {
    double previous = 1;
    for (size_t left = n; left > 0; left--) {
        size_t best = 0;
        EACH(i, left) {
            if (M[i * (n + 1)] < 0) return 0;
            if (M[i * (n + 1)] > M[best * (n + 1)]) best = i;
        }
        double pivot = M[best * (n + 1)];
        EACH(i, left) { /* the pivot comes last; without one everything is to be 0 */
            double v = M[best * n + i]; M[best * n + i] = M[(left - 1) * n + i]; M[(left - 1) * n + i] = v;
        }
        EACH(i, left) {
            double v = M[i * n + best]; M[i * n + best] = M[i * n + left - 1]; M[i * n + left - 1] = v;
            if (pivot == 0) EACH(j, left) if (M[i * n + j] != 0) return 0;
        }
        EACH(i, left - 1) EACH(j, left - 1) {
            pair v = {0}, back = {0}; double *at = M + i * n + j;
            add(v, pivot, *at); add(v, -M[i * n + left - 1], M[(left - 1) * n + j]);
            *at = v[0] / previous; add(back, *at, previous);
            if (v[0] != -v[1] || back[0] != v[0] || back[1] != v[1] || !isfinite(v[0])) return 0;
        }
        previous = pivot > 0 ? pivot : 1;
    }
    return 1;
}
/* Every symmetric matrix between the pairs m, its upper triangle by columns, is positive semidefinite with `raised` added
   to the diagonal. Rows without entries beside the diagonal are compared; what is not certain of an entry is taken off
   both of its diagonals, since 2 |e x_i x_j| <= |e| (x_i^2 + x_j^2). A singular one needs exact arithmetic. */
static int semidefinite(pair *m, size_t n, double raised, double *L, size_t *at) {
    size_t size = 0, e = 0;
    EACH(j, n) at[j] = 0;
    EACH(j, n) EACH(i, j + 1) {
        if (i < j && (m[e][0] != 0 || m[e][1] != 0)) at[i] = at[j] = 1;
        e++;
    }
    EACH(j, n) {
        if (at[j]) at[j] = ++size;
        else if (!(-(m[j * (j + 3) / 2][1] - raised) >= 0)) return 0;
    }
    e = 0;
    EACH(j, n) EACH(i, j + 1) {
        if (at[i] && at[j]) L[(at[j] - 1) * size + at[i] - 1] = i < j ? m[e][0] : -(m[e][1] - raised);
        e++;
    }
    e = 0;
    EACH(j, n) EACH(i, j + 1) {
        double apart = m[e][0] + m[e][1];
        if (i < j && apart > 0) EACH(side, 2) {
            double *own = L + ((side ? at[j] : at[i]) - 1) * (size + 1); *own = -(apart - *own);
        }
        e++;
    }
    if (definite(L, size)) return 1;
    e = 0;
    EACH(j, n) EACH(i, j + 1) {
        if (m[e][0] != -m[e][1] || raised != 0) return 0;
        if (at[i] && at[j]) L[(at[j] - 1) * size + at[i] - 1] = L[(at[i] - 1) * size + at[j] - 1] = m[e][0];
        e++;
    }
    return semidefinite_exactly(L, size);
}
/* x_1^a_1 ... x_n^a_n >= z for x >= 0 and weights a of sum 1, by logarithms. */
static int product_reaches(const double *x, pair *a, size_t n, double z) {
    double low = INFINITY, logs = 0;
    EACH(i, n) low = least(low, x[i]);
    if (z <= low || z <= 0) return 1;
    if (!(low > TINY)) return 0;
    EACH(i, n) {
        double v = log_up(1 / x[i]);
        logs += v * (v > 0 ? a[i][0] : -a[i][1]);
    }
    return logs + log_up(z) <= 0;
}
/* A point of a power cone is near: x >= 0 after changes of `room` at most, which also lower the last entry or raise x. */
static int powered(pair *s, pair *a, size_t n, double room, double *x) {
    double z = most(s[n][0], s[n][1]), left = room;
    EACH(i, n) { x[i] = most(-s[i][1], 0); left = -(-left + most(s[i][1], 0)); }
    if (!(left >= 0)) return 0;
    if (product_reaches(x, a, n, z - left)) return 1;
    EACH(i, n) x[i] = -(-x[i] + -left / (double)n);
    return product_reaches(x, a, n, z);
}
/* How far a point is at most outside the cones; of the last two kinds what is allowed is tried. */
static double outside(pair *s, double allowed) {
    double far = 0; size_t i = zero + nonneg; EACH(j, i) far = most(far, j < zero ? most(s[j][0], s[j][1]) : s[j][1]);
    EACH(c, cones) {
        double squares = 0; pair *head = s + i;
        for (size_t j = 1; j < soc[c]; j++) squares += most(head[j][0], head[j][1]) * most(head[j][0], head[j][1]);
        far = most(far, sqrt(squares) + head[0][1]); i += soc[c];
    }
    EACH(c, exps) { /* y e^(x/y) <= z: convex in y, so that its ends decide */
        double x = s[i][0], minus = s[i + 2][1], y = s[i + 1][0], larger = 0, smaller = 0;
        double off = most(x, 0) + most(y, s[i + 1][1]) + most(minus, 0); /* to (x, 0, z); or a larger z, a smaller x */
        for (int e = 0; e < 2; e++, y = -s[i + 1][1]) {
            larger = most(larger, y > 0 ? y * exp_up(x / y) + minus : INFINITY);
            smaller = most(smaller, y > 0 && minus < 0 ? x + y * log_up(y / -minus) : INFINITY);
        }
        far = most(far, least(off, least(larger, smaller))); i += 3;
    }
    size_t order = 0, longest = 0;
    EACH(c, squares) order = psd[c] > order ? psd[c] : order;
    EACH(c, powers) longest = power[c] > longest ? power[c] : longest;
    double *L = zeros(order * order), *x = zeros(longest); size_t *at = take(order, sizeof *at); pair *a = weights;
    EACH(c, squares) { /* to a matrix with more on its diagonal */
        if (!semidefinite(s + i, psd[c], 0, L, at))
            far = most(far, semidefinite(s + i, psd[c], allowed, L, at) ? allowed : INFINITY);
        i += psd[c] * (psd[c] + 1) / 2;
    }
    EACH(c, powers) {
        size_t n = power[c] - 1;
        if (!powered(s + i, a, n, 0, x)) far = most(far, powered(s + i, a, n, allowed, x) ? allowed : INFINITY);
        i += n + 1; a += n;
    }
    return far;
}
/* P - diag(curve) is positive semidefinite. Where P is only diagonal, it is compared. */
static void curved(struct matrix P, const double *curve) {
    size_t n = P.rows, *used = take(n, sizeof n), *at = take(n, sizeof n), size = 0, j; double *own = zeros(n), *L;
    EACH(i, n) ENTRIES(e, P, i) {
        j = column(P, i, e); need(used[j] <= i, "an entry of P is there twice"); used[j] = i + 1;
        if (i == j) own[i] = P.data[e]; else if (P.data[e] != 0) at[i] = at[j] = 1;
    }
    EACH(i, n) if (at[i]) { used[size] = i; at[i] = size++; }
        else need(curve[i] <= own[i], "the curvature is more than that of P");
    L = zeros(size * size);
    EACH(t, size) ENTRIES(e, P, used[t]) L[t * size + at[column(P, used[t], e)]] += P.data[e];
    EACH(t, size) {
        EACH(l, t) need(L[t * size + l] == L[l * size + t], "P is not symmetric");
        L[t * (size + 1)] = -(curve[used[t]] - L[t * (size + 1)]);
    }
    need(definite(L, size), "the curvature is not certain");
}
static void multiply(pair *out, struct matrix M, const double *v, double sign, int turned) { /* += sign M v, or M'v */
    EACH(i, M.rows) ENTRIES(e, M, i)
        add(out[turned ? column(M, i, e) : i], sign * M.data[e], v[turned ? i : column(M, i, e)]);
}
/* Sizes of cones by the name of their array, and the rows that they have. */
static size_t cones_of(const char *name, size_t m, const size_t **sizes, size_t *rows) {
    struct array found = array(name, 1, (double)m); *sizes = found.whole;
    EACH(c, found.count) {
        size_t size = found.whole ? found.whole[c] : 0; int triangle = *name == 'p' && name[1] == 's';
        need(size > 0 && (*rows += triangle ? size * (size + 1) / 2 : size) <= m, "shapes do not fit");
    }
    return found.count;
}
/* Weights of power cones; the last of a cone is what the others leave of 1. */
static void weigh(void) {
    size_t given = 0, all = 0;
    EACH(c, powers) { need(power[c] > 2, "a power cone of one weight"); given += power[c] - 2; all += power[c] - 1; }
    const double *a = powers ? vector("weights", 1, given, 1) : NULL; pair *to = weights = take(all, sizeof *weights);
    EACH(c, powers) {
        pair left = {1, -1};
        for (size_t i = 2; i < power[c]; i++, a++, to++) {
            need(*a > 0, "a weight is not positive");
            (*to)[0] = *a; (*to)[1] = -*a; add(left, -1, *a);
        }
        need(left[1] < 0, "no weight is left"); (*to)[0] = left[0]; (*to++)[1] = left[1];
    }
}
static double cone(void) {
    char claim[16]; double gap = 0; int none, ray;
    zero = whole(parameter("zero")); nonneg = whole(parameter("nonneg")); exps = whole(parameter("exp"));
    need(!*words, "the problem has more parameters");
    scan(find(header, tail, "claim"), "\"%15[^\"]%c", claim); none = !strcmp(claim, "infeasible");
    ray = !strcmp(claim, "unbounded"); need(none || ray || !strcmp(claim, "optimal"), "an unknown claim");
    need((!none && !ray) || claimed < 0, "the claim does not follow from its bound");
    size_t n = array("q", 0, BIG).count, m, total = zero + nonneg + 3 * exps; const double *q = vector("q", 1, n, BIG);
    struct matrix P = matrix("P", n, 1), A = matrix("A", n, 1); m = A.rows; const double *b = vector("b", 1, m, BIG);
    cones = cones_of("soc", m, &soc, &total); size_t first = total - 3 * exps, next = total;
    squares = cones_of("psd", m, &psd, &total); powers = cones_of("power", m, &power, &total); weigh();
    struct array lo, hi;
    lo = array("lo", 1, INFINITY); hi = array("hi", 1, INFINITY); need(n && P.rows == n, "shapes do not fit");
    need((!lo.count || lo.count == n) && (!hi.count || hi.count == n) && total == m, "shapes do not fit");
    pair *range = take(n, sizeof *range), *s = take(m, sizeof *s), *t = take(m, sizeof *t), *r = take(n, sizeof *r);
    EACH(j, n) { range[j][0] = hi.real ? hi.real[j] : INFINITY; range[j][1] = lo.real ? -lo.real[j] : INFINITY; }
    EACH(j, n) {
        double high = range[j][0], low = -range[j][1]; assumed += high < INFINITY || low > -INFINITY;
        need(low <= high && low < INFINITY && high > -INFINITY, "an assumed range is empty");
    }
    const double *x = none ? zeros(n) : vector("x", 0, n, BIG), *z = vector(ray ? "ray" : "z", 0, ray ? n : m, BIG);
    EACH(i, m) add(s[i], 1, b[i]);
    multiply(s, A, x, -1, 0); if (!none) violation = outside(s, allowed);
    if (ray) { /* P ray = 0, q'ray < 0, -A ray in the cones */
        pair slope = {0}; multiply(r, P, z, 1, 0); multiply(t, A, z, -1, 0);
        EACH(j, n) { need(r[j][0] <= 0 && r[j][1] <= 0, "the ray is not straight"); add(slope, q[j], z[j]); }
        return need(outside(t, 0) <= 0, "the ray leaves the cones"), slope[0];
    }
    for (size_t i = zero; i < m; i++) add(t[i], 1, z[i]);
    /* (u, v, w) is in the dual of the exponential cone if (u - v, -u, w) is in the cone */
    for (size_t i = first; i < next; i += 3) { add(t[i], -1, z[i + 1]); t[i + 1][0] = -z[i]; t[i + 1][1] = z[i]; }
    /* z_ij and 2 z_ii are twice the matrix; u is in the dual of a power cone if u_i/a_i is in the cone */
    EACH(c, squares) EACH(j, psd[c]) { next += j; add(t[next], 1, z[next]); next++; }
    for (size_t c = 0, e = 0; c < powers; c++, next++)
        for (size_t i = 1; i < power[c]; i++, next++, e++) {
            t[next][0] = z[next] / -weights[e][1]; t[next][1] = -z[next] / weights[e][0];
        }
    need(outside(t, 0) <= 0, "the multipliers are outside the dual cone");
    const double *curve = none ? x : vector("curvature", 0, n, BIG); /* x is 0 */
    if (!none) { curved(P, curve); multiply(r, P, x, 1, 0); EACH(j, n) add(r[j], 1, q[j]); }
    multiply(r, A, z, 1, 1);
    EACH(i, m) { /* rows of one entry are ranges */
        size_t entries = 0, only = 0, j; gap += z[i] > 0 ? z[i] * s[i][0] : -z[i] * s[i][1];
        ENTRIES(e, A, i) if (A.data[e] != 0) { entries++; only = e; }
        if (entries != 1 || i >= zero + nonneg) continue;
        j = column(A, i, only); if (A.data[only] > 0 || i < zero) range[j][0] = least(range[j][0], b[i] / A.data[only]);
        if (A.data[only] < 0 || i < zero) range[j][1] = least(range[j][1], -b[i] / A.data[only]);
    }
    EACH(j, n) {
        double below = x[j] + range[j][1], over = range[j][0] - x[j], far = most(most(below, over), 0);
        gap += most(part(r[j][0], below, curve[j]), part(r[j][1], over, curve[j]));
        if (curve[j] < 0) gap += -curve[j] / 2 * (far * far);
    }
    return gap;
}
static void check(const char *path) {
    static const char *const names[] = {"erm", "projection", "cone"}; static char why[120];
    static double (*const kinds[])(void) = {erm, projection, cone};
    char problem[160], sha[70], found[65]; double bound = 0; int known = 0;
    uint16_t one = 1; volatile double third = 1.0 / 3;
    need(*(char *)&one == 1 && -(-third * third) < third * third, "big-endian, or -frounding-math forgotten");
    file = fopen(path, "rb"); long size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
    need(size >= 0, "a file cannot be opened"); rewind(file); length = (size_t)size; bytes = take(length, 1);
    need(fread(bytes, 1, length, file) == length, "a file cannot be read");
    need(length > 32 && !memcmp(bytes, "refsolve-cert 1 ", 16) && bytes[31] == '\n' &&
         strspn(bytes + 16, "0123456789") == 15, "no certificate of version 1");
    base = 32 + whole(strtod(bytes + 16, NULL));
    need(base <= length && base <= 1 << 20 && base % 64 == 0, "the header is too long or not aligned");
    header = memcpy(take(base, 1), bytes + 32, base - 32); tail = header + strlen(header);
    need(tail == header + base - 32 && *header == '{' && !strchr(header, '\\'), "the header is no plain JSON");
    violation = 0; assumed = 0;
    scan(find(header, tail, "problem"), "\"%159[^\"]%c", problem); const char *p = find(header, tail, "violation");
    scan(find(header, tail, "sha256"), "\"%69[^\"]%c", sha); claimed = said(find(header, tail, "bound"), DECIMAL | HEXADECIMAL);
    allowed = said(p ? p : "0,", DECIMAL | HEXADECIMAL);
    need(isfinite(claimed) && isfinite(allowed), "a claim is infinite"); sha_start(); sha_add(problem, strlen(problem));
    size_t word = strcspn(problem, " "); words = problem + word;
    EACH(i, 3) if (strlen(names[i]) == word && !strncmp(problem, names[i], word)) { known = 1; bound = kinds[i](); }
    need(known, "an unknown kind of problem"); sha_end(found);
    need(!strcmp(found, sha), "the data has another sha256");
    fesetround(FE_TONEAREST); /* or what is printed is another number */
    sprintf(why, "the bound is %.17g, claimed is %.17g", bound, claimed); need(bound <= claimed, why);
    need(violation <= allowed, "constraints fail by more than is claimed");
    printf("accepted bound=%.17g claimed=%.17g violation=%.17g", bound, claimed, violation);
    printf(assumed ? " assuming %zu ranges\n" : "\n", assumed);
}
int main(int count, char **names) {
    volatile int bad = count < 2;
    for (volatile int i = 1; i < count; i++) {
        fesetround(FE_UPWARD); if (!setjmp(ending)) check(names[i]); else { bad = 1; printf("refused: %s\n", reason); }
        while (takes) free(taken[--takes]);
        if (file) { fclose(file); file = NULL; }
    }
    return bad;
}
