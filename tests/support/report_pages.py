"""The page of a small made-up study with what is awkward on a page: numbers that are not there, long names, markup."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from loss_columns import losses
from report_tables import SCHEMA, arrange_ceat, estimate, fill_columns
from tables import read_data

from prasanga.config import complete
from prasanga.report import page
from prasanga.report.study import Results

LONG = "a-model-with-a-very-long-name-that-somebody-really-gave-it-xlarge-v2"
HOSTILE = "<script>document.title = 'hostile'</script><img src=x onerror=\"document.title = 'hostile'\">"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><defs><style>*{stroke-linejoin: round}</style></defs>'
    '<path d="M 0 0 L 90 30" style="fill: none; stroke: #22262b"/></svg>'
)
ROOT = Path(__file__).parents[2]
CONFIG = complete(
    {
        **yaml.safe_load((ROOT / "tests/golden/every/study.yaml").read_text(encoding="utf-8")),
        "title": "A study of words",
        "note": "Means nothing.",
        "models": {
            "wide_1": {"train": {"hidden_size": 96, "seed": 1}},
            LONG: {"path": f"hub/{LONG}", "revision": "abc"},
        },
    }
)
CATEGORIES = read_data(__file__, "categories")


def estimates() -> pl.DataFrame:
    """Three categories, two models, one with a very long name, two lengths, both modes; one effect is not there."""
    rows = []
    for category, base in (("C10", -0.3), ("C1", 0.9), ("C4", 0.1)):
        for model, factor in (("wide_1", 1.0), (LONG, -1.7)):
            for length, step in ((">75", 0.1), ("9", 0.0)):
                for mode, noise in (("random", 0.0041), ("fixed", 0.0)):
                    effect: float | None = base * factor + step + noise
                    changes: dict[str, Any] = {"p_association": 0.00012 if abs(base) > 0.8 else 0.4}
                    if (category, model, length) == ("C10", LONG, "9"):
                        effect, changes = (
                            None,
                            {"lost": losses("গোলাপ: no contexts; not computed: too few stimuli"), "n_x": 1},
                        )
                    if (category, model, length) == ("C4", "wide_1", "9"):
                        changes |= {"ci_low": float("-inf"), "twin_effect_size": float("nan"), "contexts_min": 2}
                    rows.append(estimate(category, model, length, mode, effect, **changes))
    return arrange_ceat(pl.DataFrame(rows, schema=SCHEMA))


def coverage() -> pl.DataFrame:
    """Twelve stimuli at two lengths; the last has no context at the longer one."""
    stimuli = ["গোলাপ", "মশা", "শান্তি", "দুঃখ", *(f"শব্দ{n}" for n in range(8))]
    rows = []
    for n, stimulus in enumerate(stimuli):
        for length, share in (("9", 3), (">75", 1)):
            eligible = 0 if (n, length) == (11, ">75") else (97 * (n + 1)) % 1000 * share + 2
            reason = "" if eligible else "no-context-long-enough"
            rows.append((stimulus, length, 4000 + n, 3500 + n, eligible, min(eligible, 1200), reason))
    names = ["stimulus", "segment_length", "occurrences", "contexts", "eligible", "sampled", "reason"]
    return fill_columns("coverage", pl.DataFrame(rows, schema=names, orient="row")).fill_null(0)


def audit() -> dict[str, pl.DataFrame]:
    """Hits of one stimulus, one of them in a sentence with markup."""
    hits = ("stimulus", "rank", "left", "form", "right", "source", "offset", "occurrence_id")
    return {
        "audit_forms": pl.DataFrame(
            [("গোলাপ", "গোলাপ", "a.txt", 10), ("গোলাপ", "গোলাপের", "b.txt", 1500), ("মশা", "মশা", "a.txt", 60)],
            schema=["stimulus", "form", "source", "occurrences"],
            orient="row",
        ),
        "concordance": pl.DataFrame(
            [
                ("গোলাপ", 1, f"লাল {HOSTILE} ", "গোলাপের", " গন্ধ", "b.txt", 3, "o1"),
                ("মশা", 1, "একটা ", "মশা", HOSTILE, "a.txt", 8, "o4"),
            ],
            schema=hits,
            orient="row",
        ),
        "suffixes": pl.DataFrame(
            [("thing_consonant", "singular", "genitive", "ের", "suffix", 1, 1, 1520, f"গোলাপের 1520 {HOSTILE}")],
            schema=["group", "number", "case", "suffix", "kind", "stimuli", "forms", "occurrences", "examples"],
            orient="row",
        ),
        "context_lengths": pl.DataFrame(
            {"at_least": [1, 9, 75], "at_most": [8, 74, None], "contexts": [100, 300, 0]},
            schema={"at_least": pl.Int32, "at_most": pl.Int32, "contexts": pl.Int64},
        ),
    }


def write_page(
    path: Path, ceat: pl.DataFrame | None = None, *, config: Mapping[str, Any] | None = None, **results: Any
) -> Path:
    """Write the page of the study with these estimates; config and all other results as above, or as given."""
    given: dict[str, Any] = {
        "ceat": estimates() if ceat is None else ceat,
        "figures": {"sample_modes": SVG},
        "files": [f"figures/{name}" for name in ("sample_modes.svg", "sample_modes.pdf", "column/sample_modes.pdf")],
        "coverage": coverage(),
        **audit(),
        "categories": CATEGORIES,
    }
    text = page.render_page(
        config={**CONFIG, **(config or {})}, results=Results(**{**given, **results}), made_from={"fingerprint": "f"}
    )
    path.write_text(text, encoding="utf-8")
    return path
