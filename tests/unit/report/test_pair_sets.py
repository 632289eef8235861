"""What sets of pairs hold and what is odd about them, on the page."""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl
import pytest
from page_parts import lines_of, names_of, part_of, plain, sheet_of
from planted_pairs import planted_scores

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import bias_percentage
from prasanga.pairs import statistics
from prasanga.pairs.layouts import RawPair
from prasanga.pairs.reading import oddities
from prasanga.report.section import Section
from prasanga.report.sections.likelihoods import pairs
from prasanga.report.study import Results

PAIRS = [
    ("1", "en", "age", "stereo", "a b c", "a b d", "inherited"),
    ("2", "en", "age", "antistereo", "a b .", "a", "inherited"),
    ("3", "en", "caste", "stereo", "a b c d", "a b c e", "tuples"),
    ("1", "hi", "age", "stereo", "क", "ख", "inherited"),
]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0"/></svg>'


@pytest.fixture
def described() -> pl.DataFrame:
    names = ("pair_id", "language", "bias_type", "label", "first", "second", "origin")
    return statistics(pl.DataFrame(PAIRS, schema=names, orient="row")).with_columns(set=pl.lit("demo"))


@pytest.fixture
def odd() -> pl.DataFrame:
    long = "x" * 100
    raw = [
        RawPair(str(n), n, language, "age", "stereo", first, second, "first", "second")
        for n, (language, first, second) in enumerate(
            [
                ("en", "Same.", "Same."),
                ("en", "He  ran.", "She ran."),
                ("hi", long, long),
                *[("hi", "क  ख", "क ग")] * 4,
            ],
            start=1,
        )
    ]
    return oddities(raw, ("bias_type", "label"))


def sets_of(statistics: pl.DataFrame, **oddities: pl.DataFrame) -> Section:
    section = pairs({}, Results(pair_statistics=statistics, pair_oddities=oddities))
    return part_of(section, "What the sets hold")


def test_the_numbers_of_table_6(described: pl.DataFrame) -> None:
    section = sets_of(described)
    assert [plain(part.title) for part in section.parts] == ["English 3 pairs", "Hindi 1 pair"]
    english, hindi = (sheet_of(section, f"What the pairs consist of, {name}") for name in ("English", "Hindi"))
    assert names_of(hindi) == ["all pairs"]
    assert names_of(english) == ["all pairs", "inherited", "from tuples"]
    assert lines_of(english) == [
        ["Pairs", "3", "2", "1"],
        ["Words in a sentence, mean", "3.00", "2.50", "4.00"],
        ["Labelled stereo", "66.7 % (2)", "50.0 % (1)", "100.0 % (1)"],
        ["Labelled antistereo", "33.3 % (1)", "50.0 % (1)", "0.0 % (0)"],
        ["Age", "66.7 % (2)", "100.0 % (2)", "–"],
        ["Caste", "33.3 % (1)", "–", "100.0 % (1)"],
    ]


def test_oddities_are_counted_by_kind_with_the_first_of_each(described: pl.DataFrame, odd: pl.DataFrame) -> None:
    part = part_of(sets_of(described, demo=odd), "demo")
    assert plain(part.title) == f"demo {len(odd)} oddities of 5 kinds"
    rows = lines_of(part.sheets[0])
    kinds = [line for line in rows if line[0]]
    assert [line[0].split()[0] for line in kinds] == [
        "identical-sentences",
        "duplicated-pair",
        "several-blanks",
        "other-script",
        "small-first-letter",
    ]
    assert kinds[2][1] == "1 English, 4 Hindi"
    start = rows.index(kinds[2])
    assert rows.index(kinds[3]) - start == 3
    assert rows[0][2:] == ["1, en, first / second", "Same.", "kept, cannot be scored"]
    assert rows[1][3] == f"{'x' * 59}…"
    # a block for each kind
    assert [row.block is not None for row in part.sheets[0].rows] == [bool(line[0]) for line in rows]
    with pytest.raises(InputError, match=r"oddities of the set demo: the table has no column kind; .*pairs stage"):
        sets_of(described, demo=odd.drop("kind"))
    with pytest.raises(InputError, match="statistics of pairs: the table has no column set"):
        sets_of(described.drop("set"))


def test_the_section_shows_the_sets_with_scores_and_without(
    render_beside: Callable[..., str], described: pl.DataFrame, odd: pl.DataFrame
) -> None:
    clean = odd.clear()
    hostile = odd.with_columns(found=pl.lit("<script>"))
    sets = {"pair_statistics": described, "pair_oddities": {"demo": hostile, "clean": clean}}
    bias = bias_percentage(planted_scores("bert", "hi", 0.9), n_resamples=0)
    for more, scored in (({}, False), ({"bias_percentages": bias}, True)):
        page = render_beside(**sets, **more, files=["data/pair_statistics.csv"])
        assert "&lt;script&gt;" in page
        body = page.partition('<section id="pairs"')[2].partition("</section>")[0]
        assert body.count("<tr") == body.count("</tr>")
        assert body.count("<details") == body.count("</details>")
        text = " ".join(re.sub(r"<[^>]+>", " ", body).split())
        assert ("No model of the study has scored them." in text) is not scored
        assert ("Bias percentage by bias type" in text) is scored
        assert "Words in a sentence, mean 3.00 2.50 4.00" in text
        assert "several-blanks several blanks between words 1 English, 4 Hindi" in text
        assert "Nothing is odd about the set clean." in text
        assert '<a href="data/pair_statistics.csv" download>CSV</a>' in body
        assert '<article class="view" id="method-pairs" aria-label="Sentence pairs"' in page
