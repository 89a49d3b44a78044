"""What the docstrings of all projections share."""

from collections.abc import Callable

from fast._docs import Entry, Function, with_sections

_PARAMETERS = {
    "a": (
        "array_like, shape (d,) or (n, d)",
        "A vector, or one per row; float64, float32 or integers (computed as float64). Never changed.",
    ),
    "y": (
        "array_like of 0 and 1, as ``a`` in shape",
        "Indicator of P; N holds the other entries. Where one of them is empty, only 0 is in the set.",
    ),
    "k": ("int", "At least 1. Beyond d, where entries may not exceed s/k, only 0 is in the set."),
    "r": ("float or array_like, shape (n,), default 1.0", "Radius >= 0."),
    "rho": (
        "float or array_like, shape (n,), default 0.0",
        "Weight >= 0 of the squared sum; no factor 1/2 on either term.",
    ),
}
_RETURNS = ("ndarray", "The projections, as ``a`` in shape and dtype (float64 for integers).")
_RAISES = (
    "fast.errors.InvalidParameterError",
    (
        "A nan, infinite or huge (> 1e300) entry, a parameter out of range, shapes that do not match;\n"
        "its subclass InvalidTypeError for anything but real numbers."
    ),
)


def documented(function: Function) -> Function:
    """Append the numpydoc sections of a projection."""
    return documented_with()(function)


def documented_with(**own: Entry) -> Callable[[Function], Function]:
    """The same for a set with parameters of its own: (type, text) of each."""
    return lambda function: with_sections(function, {**_PARAMETERS, **own}, _RETURNS, _RAISES)
