"""Loss-augmented inference for average precision on sorted scores: where each negative belongs.

With P positives s_1 >= s_2 >= ... and N negatives t_1 >= t_2 >= ..., placing the j-th negative right
above the i-th positive (i = P + 1: below all) gains delta_j(i) = sum_{k >= i} h_k(j),

    h_k(j) = (1/P) k/((j + k)(j + k - 1)) - 2 (s_k - t_j)/(P N),

and opt_j, the largest maximiser i, is non-decreasing in j because h_k(j) falls with j. All methods
return counts: c_k = #{j: opt_j <= k}, the negatives above the k-th positive, non-decreasing in k.

``s`` holds the positives in descending order, ``t`` the largest negatives in *ascending* order (as
they come from a sort); the other negatives, ``size`` less those in ``t``, must have opt_j = P + 1.

Signs are exact, so that every method returns the same counts: a float64 comparison decides where
its error bound allows, and two or more words of it (``exact``) where not.
"""

from fast._numba import kernel
from fast.ranking import discounted as discounted
from fast.ranking.exact import scan_exactly, sign_of_slope

DIVIDE, GREEDY, SEARCH, SELECT, ALL = range(5)
NUMBERS = {
    "divide_and_conquer": DIVIDE, "greedy": GREEDY, "search": SEARCH, "select": SELECT, "all": ALL
}  # fmt: skip
STACK = 128  # parts that may wait: one per halving of the negatives
_UNIT = 2.3e-16
_AHEAD = 32


@kernel(forceinline=True)
def rises(k, j, size, s, t):
    """h_k(j) > 0, for N = size and scores s of the positive, t of the negative."""
    m = float(j + k)
    left = 0.5 * size * k
    right = (s - t) * (m * (m - 1.0))
    d = left - right
    if abs(d) > 1e-15 * left:
        return d > 0.0
    return sign_of_slope(float(k), m, size, s, t) > 0


@kernel
def first_rising(j, low, high, size, s, t):
    """First i in low..high - 1 with h_i(j) > 0, else high; h rises with i <= j."""
    while low < high:
        middle = (low + high) >> 1
        if rises(middle, j, size, s[middle - 1], t):
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def scan(j, low, high, size, s, t):
    """Largest maximiser of delta_j over low..high, by running sums from the right.

    ``lead`` is delta_j(i) - delta_j(best); its error is at most ``unit * weight``.
    """
    unit = _UNIT * (high - low + 4)
    half = 0.5 * size
    best = high
    lead = 0.0
    weight = 0.0
    for i in range(high - 1, low - 1, -1):
        m = float(j + i)
        gain = half * i / (m * (m - 1.0))
        cost = s[i - 1] - t
        lead += gain - cost
        weight += gain + abs(cost)
        if lead > -unit * weight:
            if lead <= unit * weight:
                return scan_exactly(j, low, high, size, s, t)
            best = i
            lead = 0.0
            weight = 0.0
    return best


@kernel
def try_all(j, size, s, t):
    """opt_j by the sums for all ranks, in one tight loop where no two are near each other."""
    p = s.shape[0]
    half = 0.5 * size
    terms = half * p / j + p * max(abs(s[0] - t), abs(s[p - 1] - t))  # at least the sum of all
    room = 2.0 * _UNIT * (p + 4) * terms
    best = p + 1
    lead = 0.0
    top = 0.0
    bar = -room
    for i in range(p, 0, -1):
        m = float(j + i)
        lead += half * i / (m * (m - 1.0)) - (s[i - 1] - t)
        if lead > bar:
            if lead <= top + room:
                return scan(j, 1, p + 1, size, s, t)
            best = i
            top = lead
            bar = top - room
    return best


@kernel
def place(j, low, high, size, s, t):
    """opt_j, known to lie in low..high.

    delta_j is concave on 1..j + 1: bisection on the sign of h. Beyond, and for the comparison of
    both parts, sums.
    """
    if high <= j + 1:
        return first_rising(j, low, high, size, s, t)
    if low <= j:
        low = first_rising(j, low, j + 1, size, s, t)
    return scan(j, low, high, size, s, t)


@kernel
def run(method, s, t, size, counts, stack, table):
    """Write the counts by the method of this number; ``stack`` is (STACK, 4) integers, ``table`` that of the loss."""
    p, last = s.shape[0], t.shape[0]
    n = float(size)
    counts[:] = 0
    plain = table.shape[1] == 0  # average precision
    if method == DIVIDE:
        if plain and walk(s, t, n, counts):
            return
        counts[:] = 0
        halve(s, t, n, counts, stack, 1, last, 1, p + 1, True, table)
    elif method == ALL:
        share(s, t, n, counts, stack, table)
    else:
        for j in range(1, last + 1):
            v = t[last - j]
            # Yue et al. 2007 try every rank of every negative; Mohapatra et al. 2014, Alg. 2, search.
            if not plain:
                i = discounted.place(j, 1, p + 1, n, s, v, table)
            else:
                i = try_all(j, n, s, v) if method == GREEDY else place(j, 1, p + 1, n, s, v)
            add(counts, i, 1)
    for k in range(1, p):
        counts[k] += counts[k - 1]


@kernel(forceinline=True)
def add(counts, i, number):
    """Note that ``number`` negatives have rank i."""
    if i <= counts.shape[0]:
        counts[i - 1] += number


@kernel
def walk(s, t, size, counts):
    """Write c_k = #{j: h_k(j) > 0} as long as that does not fall with k; else returns False.

    In terms of counts L is a sum of concave functions of c_k, whose slopes are h_k, under
    c_1 <= c_2 <= ...: if the maximisers of the terms are in order, they are the solution. From c_k
    on one looks for c_{k + 1} in blocks, then in steps that double, then by bisection.
    """
    p, n = s.shape[0], t.shape[0]
    c = 0
    for k in range(1, p + 1):
        v = s[k - 1]
        if c and not rises(k, c, size, v, t[n - c]):
            return False
        found = _rising(k, c, size, v, t)
        c += found
        if found == _AHEAD:
            step = _AHEAD
            while c + step <= n and rises(k, c + step, size, v, t[n - c - step]):
                c += step
                step *= 2
            high = min(c + step, n + 1)  # c rises (or is passed), high does not
            low = c + 1
            while low < high:
                middle = (low + high) >> 1
                if rises(k, middle, size, v, t[n - middle]):
                    low = middle + 1
                else:
                    high = middle
            c = low - 1
        counts[k - 1] = c
    return True


@kernel(forceinline=True)
def _rising(k, c, size, s, t):
    """How many of the next _AHEAD negatives after c have h_k > 0: a first part of them."""
    n = t.shape[0]
    left = 0.5 * size * k
    ahead = min(_AHEAD, n - c)
    if ahead == _AHEAD:
        near = t[n - c - _AHEAD : n - c]
        sure = doubt = 0
        last = float(c + _AHEAD + k)
        for i in range(_AHEAD):
            m = last - i
            right = (s - near[i]) * (m * (m - 1.0))
            sure += right < left * (1.0 - 1e-15)
            doubt += right <= left * (1.0 + 1e-15)
        if sure == doubt:
            return sure
    found = 0
    while found < ahead and rises(k, c + found + 1, size, s, t[n - c - found - 1]):
        found += 1
    return found


@kernel
def halve(s, t, size, counts, stack, first, last, low, high, narrow, table):
    """Divide and conquer: the rank of the middle negative bounds those of both halves.

    The recursion of Mohapatra et al. (CVPR 2018, arXiv 1604.08269), which finds the middle by selection and tries
    all ranks in question; here negatives are sorted, and `place` bisects for average precision. A part whose
    negatives all have the same rank is not looked at. On the stack are the parts that
    wait: first and last negative, lowest and highest rank. ``narrow``: ranks are searched between these.
    """
    n = t.shape[0]
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = first, last, low, high
    depth = 1
    while depth:
        depth -= 1
        first, last = stack[depth, 0], stack[depth, 1]
        low, high = stack[depth, 2], stack[depth, 3]
        while first <= last:
            if low == high:
                add(counts, low, last - first + 1)
                break
            j = (first + last) >> 1
            begin, end = (low, high) if narrow else (1, s.shape[0] + 1)
            if table.shape[1]:
                i = discounted.place(j, begin, end, size, s, t[n - j], table)
            else:
                i = place(j, begin, end, size, s, t[n - j])
            add(counts, i, 1)
            stack[depth, 0], stack[depth, 1] = j + 1, last
            stack[depth, 2], stack[depth, 3] = i, high
            depth += 1
            last = j - 1
            high = i


@kernel
def share(s, t, size, counts, stack, table):
    """Alg. 2 for some negatives: what lies between two of the same rank shares it."""
    p, n = s.shape[0], t.shape[0]
    if n == 0:
        return
    left = place(1, 1, p + 1, size, s, t[n - 1])
    add(counts, left, 1)
    if n == 1:
        return
    right = place(n, 1, p + 1, size, s, t[0])
    add(counts, right, 1)
    halve(s, t, size, counts, stack, 2, n - 1, left, right, False, table)
