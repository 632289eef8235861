"""Every view of the page, as text, is the one in `golden/`: headings, prose, findings, tables, notes and layouts.

`python tests/unit/report/test_views.py` writes the files anew, from tables of the study `every` in tests/golden.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

from page_parts import plain  # noqa: E402
from report_pages import CONFIG  # noqa: E402

from prasanga.report.comparison import (  # noqa: E402
    compare,
    compare_described,
    compare_pairs,
    read_percentages,
    read_published,
    render_comparison,
)
from prasanga.report.page import page_views  # noqa: E402
from prasanga.report.paper_tables import layouts_of, render_layout  # noqa: E402
from prasanga.report.section import Section  # noqa: E402
from prasanga.report.sheet import sheet_to_markdown  # noqa: E402
from prasanga.report.study import Results  # noqa: E402
from prasanga.schema import TABLES, Loss, Reason, loss_columns  # noqa: E402

GOLDEN = Path(__file__).parent / "golden"
PUBLISHED = ROOT / "resources/published"
MODELS = {"tiny-narrow": "muril_large_cased", "word2vec": "word2vec"}
SHOWN = ("C1", "C2", "GR1", "GR2")
LAYOUTS = ("sadhu_table2", "sadhu_table4", "sadhu_table6", "sahoo_table2", "sahoo_table3")
VIEWS = ("method-ceat", "method-seat", "method-weat", "method-log_probability", "method-structures", "method-pairs")


def read_table(name: str) -> pl.DataFrame:
    """A table of the study, of a few categories, with a column for everything that the registry names."""
    table = pl.read_parquet(ROOT / "tests/golden/every" / f"{name}.parquet")
    if "category" in table.columns:
        table = table.filter(pl.col("category").is_in(SHOWN))
    missing = {key: kind for key, kind in TABLES[name].polars.items() if key not in table.columns}
    return table.with_columns(**{key: pl.lit(None, dtype=kind) for key, kind in missing.items()})


def lose_an_effect(table: pl.DataFrame) -> pl.DataFrame:
    """The table without the effect of its last row, which says why."""
    losses = [
        Loss("insects", "মশা", Reason.NO_CONTEXTS, "no contexts"),
        Loss("insects", None, Reason.TOO_FEW_WORDS, "has 1 word, and 2 are needed"),
    ]
    row = {**table.rows(named=True)[-1], **loss_columns(losses), "effect_size": None, "ci_low": None, "n_x": 1}
    return pl.concat([table.head(-1), pl.DataFrame([row], schema=table.schema)])


def read_results() -> Results:
    """The results of the study, with a comparison."""
    names = ("differences", "settling", "convergence", "structures", "structure_differences", "traits")
    names += ("bias_percentages", "pair_differences", "weat", "log_probability")
    tables = {name: read_table(name) for name in names}
    tables["traits"] = tables["traits"].head(24)
    tables |= {name: lose_an_effect(read_table(name)) for name in ("ceat", "seat")}
    # these files are from before the study had probabilities
    spread = tables["structures"].with_columns(probability_mean="mean", probability_variance="variance")
    described, both = compare_described(spread, PUBLISHED, "sadhu2024", MODELS)
    text = render_comparison("sadhu2024", compare_both(tables))[0]
    return Results(
        **tables,
        comparison=pl.read_csv(text.encode(), infer_schema_length=None),
        **{described: both},
        files=[*(f"tables/{name}.csv" for name in LAYOUTS), "comparison.md", "figures/settling.pdf"],
    )


def compare_both(tables: dict[str, pl.DataFrame]) -> list[pl.DataFrame]:
    """The comparison of the study with both papers."""
    effects = {name: tables[name] for name in ("ceat", "weat")}
    published = read_published(PUBLISHED, "sadhu2024")
    percentages, named = read_percentages(PUBLISHED, "sahoo2024"), {"tiny-decoder": "mGPT"}
    return [
        compare(effects, published, models=MODELS, language="bn"),
        compare_pairs(tables["bias_percentages"], percentages, models=named),
    ]


def as_text(section: Section, depth: int = 1) -> Iterator[str]:
    """A section as Markdown."""
    yield f"{'#' * depth} {plain(section.title)}\n"
    yield from (f"{plain(text)}\n" for text in (*section.text, *section.key))
    yield from (f"* {plain(text)}" for text in (*section.findings, *section.items))
    yield from (f"{plain(term)}: {plain(meaning)}" for term, meaning in section.definitions)
    for sheet in section.sheets:
        yield f"\n{plain(sheet.caption)} [{sheet.look}; hidden: {len(sheet.hidden)}]\n"
        yield re.sub("<[^>]+>", "", sheet_to_markdown(sheet).replace("\\<", "<"))
    yield from (f"Note: {plain(note)}" for note in section.notes)
    yield from (f"File: {path} {what}" for path, what in section.files)
    for part in section.parts:
        yield from as_text(part, depth + 1)


def write_views() -> dict[str, str]:
    """The text of each golden file by its name."""
    results, config = read_results(), {**CONFIG, "comparison": {"paper": "sadhu2024", "models": MODELS}}
    found = {
        f"{view.id}.md": "\n".join(line for section in view.contents for line in as_text(section))
        for view in page_views(config=config, results=results, made_from={})
        if view.id in (*VIEWS, "methods-compared", "paper")
    }
    tables = {"ceat": results["ceat"], "seat": results["seat"], "weat": results["weat"]}
    tables |= {"log_probability_bias": results["log_probability"], "pairs": results["bias_percentages"]}
    for name in LAYOUTS:
        for preset in ("recommended", "paper")[name == "sadhu_table2" :]:
            layout = render_layout(name, tables, preset=preset)
            found[f"{name}.{preset}.csv"], found[f"{name}.{preset}.tex"] = layout.csv, layout.tex
    found["ceat.csv"], _, found["ceat.tex"] = render_layout("ceat", tables)
    found["comparison.csv"], found["comparison.md"] = render_comparison(
        "sadhu2024", compare_both({**tables, "bias_percentages": tables["pairs"]})
    )
    return found


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return write_views()


def test_every_view_has_its_file(written: dict[str, str]) -> None:
    assert sorted(written) == sorted(path.name for path in GOLDEN.iterdir())
    assert "sadhu_table6" in layouts_of({**CONFIG, "associations": {**CONFIG["associations"], "n_samples": 1000}})


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_a_view_is_the_golden_one(written: dict[str, str], name: str) -> None:
    assert written[name] == (GOLDEN / name).read_text(encoding="utf-8"), "see the head of this file"


if __name__ == "__main__":
    for file, text in write_views().items():
        (GOLDEN / file).write_text(text, encoding="utf-8")
