"""Which suffix brought how many hits: one that brings many, or all of them for one word, may make another word."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pyarrow as pa

from prasanga.text import fold

SUFFIX_SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            **dict.fromkeys(("group", "number", "case", "suffix", "kind"), pa.string()),
            **dict.fromkeys(("stimuli", "forms", "occurrences"), pa.int64()),
            "examples": pa.string(),
        }.items()
    ]
)
"""One row per suffix of a group and its reading, sorted by group and, the most frequent first, occurrences.

`kind` is `stem` (no suffix), `suffix`, `altered stem` (the form does not begin with the stem, and stands whole in the
place of the suffix), `irregular` (the same, for a form listed by itself), or `not in the lexicon`. `stimuli` and
`forms` count those that occur; `examples` are the three forms that occur most often, each with its number. A suffix
that the lexicon has and the text has not has 0 occurrences."""

_IRREGULAR = "irregular"


def folded(name: str) -> pl.Expr:
    """A column of forms as the matcher compares them."""
    return pl.col(name).str.replace_all("\u200c", "", literal=True).str.replace_all("\u2010", "-", literal=True)


def count_suffixes(form_counts: pa.Table, lexicon_forms: pa.Table) -> pa.Table:
    """Count what each suffix of each group brought (`SUFFIX_SCHEMA`); the occurrences add up to those of the forms.

    Args:
        form_counts: from `count_forms`.
        lexicon_forms: the table of surface forms of the lexicon stage.
    """
    found = pl.DataFrame(form_counts).group_by("stimulus", "form").agg(pl.col("occurrences").sum())
    listed = pl.DataFrame(lexicon_forms).with_columns(form=folded("form"))
    listed = listed.unique(["stimulus", "form"], keep="first", maintain_order=True)
    bare = pl.col("number").eq("singular") & pl.col("case").eq("nominative") & pl.col("emphatic").eq("")
    stems = listed.filter(bare & ~pl.col("hyphenated") & pl.col("group").ne(_IRREGULAR))
    rows = found.join(
        listed.filter("counted").select("stimulus", "form", "group", "number", "case", known=True),
        on=["stimulus", "form"],
        how="full",
        coalesce=True,
    ).with_columns(pl.col("occurrences").fill_null(0), pl.col("group", "number", "case").fill_null(""))
    rows = rows.with_columns(_suffixes(rows, stems)).with_columns(
        suffix=pl.coalesce("suffix", "form"),
        kind=pl.when(pl.col("known").is_null())
        .then(pl.lit("not in the lexicon"))
        .when(pl.col("suffix") == "")
        .then(pl.lit("stem"))
        .when(pl.col("suffix").is_not_null())
        .then(pl.lit("suffix"))
        .when(pl.col("group") == _IRREGULAR)
        .then(pl.lit("irregular"))
        .otherwise(pl.lit("altered stem")),
    )
    occurs = pl.col("occurrences") > 0
    example = pl.format("{} {}", "form", "occurrences").filter(occurs).head(3).str.join(", ")
    suffixes = (
        rows.sort("occurrences", "form", "stimulus", descending=[True, False, False])
        .group_by("group", "number", "case", "suffix", "kind", maintain_order=True)
        .agg(
            stimuli=pl.col("stimulus").filter(occurs).n_unique(),
            forms=pl.col("form").filter(occurs).n_unique(),
            occurrences=pl.col("occurrences").sum(),
            examples=example,
        )
    )
    order = ["group", "occurrences", "suffix", "number", "case", "kind"]
    suffixes = suffixes.sort(order, descending=[name == "occurrences" for name in order])
    return suffixes.select(SUFFIX_SCHEMA.names).to_arrow().cast(SUFFIX_SCHEMA)


def _suffixes(rows: pl.DataFrame, stems: pl.DataFrame) -> pl.Series:
    """Each form without the longest spelling of its stimulus that it begins with; null where it begins with none."""
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for stimulus, form in stems.select("stimulus", "form").iter_rows():
        spellings[stimulus].add(form)
    suffixes: list[str | None] = []
    for stimulus, form in rows.select("stimulus", "form").iter_rows():
        begun = [stem for stem in (fold(stimulus), *spellings[stimulus]) if form.startswith(stem)]
        suffixes.append(form.removeprefix(max(begun, key=len)) if begun else None)
    return pl.Series("suffix", suffixes, pl.String)
