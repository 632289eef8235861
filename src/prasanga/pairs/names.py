"""Names that reading, scoring and the page share."""

from __future__ import annotations

#: Languages of pairs.
LANGUAGES = ("bn", "hi", "en")

#: Labels, and what they say of a pair: whether its first sentence is the stereotypical one, or its second.
LABELS = ("stereo", "antistereo")

#: In place of a bias type or an origin: all pairs. No file may use it for a type or origin of its own.
OVERALL = "all"

#: With fewer pairs a percentage says little: its bootstrap interval holds its level in as few as half of all cases.
FEWEST_PAIRS = 20
