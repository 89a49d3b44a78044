"""Signs of h_k(j) and of its sums where float64 alone can't tell them from 0."""

from fast._numba import kernel

_SPLIT = 134217729.0  # 2^27 + 1
_TIE = 1e-26  # differences below this part of their terms are ties: 16 digits of two words remain


@kernel
def two_sum(a, b):
    """Return a + b rounded, and the error of that."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def two_product(a, b):
    """Return a * b rounded, and the error of that; for magnitudes below 1e150."""
    total = a * b
    high = _SPLIT * a
    a_high = high - (high - a)
    a_low = a - a_high
    high = _SPLIT * b
    b_high = high - (high - b)
    b_low = b - b_high
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def add_pairs(a_high, a_low, b_high, b_low):
    """Sum of two numbers of two words each."""
    high, error = two_sum(a_high, b_high)
    low, rest = two_sum(a_low, b_low)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + rest)


@kernel
def sign_of_slope(k, m, size, s, t):
    """Sign of h_k(m - k): of N k/2 - (s - t) m (m - 1), exact while m (m - 1) < 2^53.

    For numbers whose rounded difference is tiny; the exact one is the sum of five numbers, which
    are added one by one to words e1, ..., e5 without error (Shewchuk 1997, grow-expansion): the
    leading nonzero word carries the sign.
    """
    high, low = two_sum(s, -t)
    square = m * (m - 1.0)
    a, b = two_product(high, square)
    c, d = two_product(low, square)
    q, e1 = two_sum(0.5 * size * k, -a)
    e2 = q
    q, e1 = two_sum(-b, e1)
    e3, e2 = two_sum(q, e2)
    q, e1 = two_sum(-c, e1)
    q, e2 = two_sum(q, e2)
    e4, e3 = two_sum(q, e3)
    q, e1 = two_sum(-d, e1)
    q, e2 = two_sum(q, e2)
    q, e3 = two_sum(q, e3)
    e5, e4 = two_sum(q, e4)
    for e in (e5, e4, e3, e2, e1):
        if e != 0.0:
            return 1 if e > 0.0 else -1
    return 0


@kernel
def scan_exactly(j, low, high, size, s, t):
    """Largest maximiser of delta_j over low..high with sums of about 31 digits.

    What is below 1e-26 of the sum of the terms' magnitudes counts as a tie, as an exact one is.
    """
    best = high
    lead_high = 0.0
    lead_low = 0.0
    weight = 0.0
    for i in range(high - 1, low - 1, -1):
        m = float(j + i)
        square, square_low = two_product(m, m - 1.0)
        number = 0.5 * size * i
        gain = number / square
        a, b = two_product(gain, square)
        gain_low = (((number - a) - b) - gain * square_low) / square
        cost, cost_low = two_sum(s[i - 1], -t)
        high_word, low_word = add_pairs(gain, gain_low, -cost, -cost_low)
        lead_high, lead_low = add_pairs(lead_high, lead_low, high_word, low_word)
        weight += gain + abs(cost)
        if lead_high > _TIE * weight:
            best = i
            lead_high = 0.0
            lead_low = 0.0
            weight = 0.0
    return best
