"""Figures for papers and the page: `registry` lists them, `canvas` is what they are drawn on; their colours stand here.

Nothing is imported here: whoever wants a colour does not wait for matplotlib, and the page gives colours a dark
counterpart. The colours of the models are those of Okabe and Ito (2008), which people with any of the common forms of
colour blindness tell apart, without the yellow that vanishes on white and with black last. Marker shapes differ
besides.
"""

from __future__ import annotations

INK = "#22262b"
MUTED = "#6a7078"
LINE = "#d9dce0"
PAPER = "#fefefe"
"""Inside of open markers. Not quite white, so that nothing else in a figure has it."""

MODELS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4b4f55")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
"""Their number shares no factor with that of the colours, so that 70 models look different."""

COUNTS = ("#b2e2e2", "#73c0d1", "#4499c0", "#3270a9", "#2e468d", "#2b2061")
"""Few to many. Lightness falls in equal steps of OKLab (Ottosson 2020), from 0.88 to 0.30, so that the order is seen
without colour too."""

VARIABLES = {INK: "--ink", MUTED: "--muted", LINE: "--line", PAPER: "--surface"} | {
    colour: f"--{name}-{number}"
    for name, colours in (("model", MODELS), ("count", COUNTS))
    for number, colour in enumerate(colours, start=1)
}
"""Colour -> the variable of the page's style sheet that stands for it."""
