"""How numbers are written, the same in tables, sentences and on the page."""

from __future__ import annotations

import math

from prasanga.report.grid import is_number

MISSING = "–"
MINUS = "\N{MINUS SIGN}"


def signed(value: float | None, decimals: int = 3, *, minus: str = "-") -> str:
    """A number with its sign; what rounds to zero has none. A dash for null, NaN and infinite."""
    if value is None or not is_number(value):
        return MISSING
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else minus) + text


def plain(value: float | None, decimals: int = 3) -> str:
    """A number without a plus; in exponents where it would round to zero, a dash where there is none."""
    if value is None or not is_number(value):
        return MISSING
    if isinstance(value, int):
        return f"{value}"
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        return "0" if value == 0 else f"{value:.1e}".replace("-", MINUS)
    return text.replace("-", MINUS)


def probability(p: float | None) -> str:
    """A p as ".032", "< .001" or "1"; a dash where there is none."""
    if p is None or not is_number(p):
        return MISSING
    if p < 0.001:
        return "< .001"
    return "1" if p >= 0.9995 else f"{p:.3f}"[1:]


def equals_probability(p: float | None) -> str:
    """A p for use after its name: "= .032", "< .001"."""
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def from_log(log_p: float | None) -> str:
    """A p from its natural logarithm, as "< 1e−12" where it is too small to be written out."""
    if log_p is None or not is_number(log_p):
        return MISSING
    exponent = log_p / math.log(10)
    return probability(math.exp(log_p)) if exponent > -3 else f"< 1e{MINUS}{math.floor(-exponent)}"
