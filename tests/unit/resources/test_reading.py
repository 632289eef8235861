"""The page on the data says of the hits that were read what their table says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from shipped import lexicon_of

from prasanga.sentences import Matcher
from prasanga.text import normalizer


@pytest.fixture(scope="module")
def reading(project_root: Path) -> pl.DataFrame:
    return pl.read_csv(project_root / "docs/measured/reading.csv")


def counts(hits: pl.DataFrame) -> tuple[int, int, int]:
    return tuple(hits.filter(verdict=verdict).height for verdict in ("right", "near", "wrong"))  # type: ignore[return-value]


def test_the_page_has_the_counts_of_the_table(project_root: Path, reading: pl.DataFrame) -> None:
    page = (project_root / "docs/data_statement.md").read_text(encoding="utf-8")
    each, every = (reading.filter(sample=name) for name in ("each file", "all files"))
    both = pl.concat([each, every]).filter(~pl.col("text").is_in(["bn_prose_pd", "bn_techdocs_ccby"]))
    for name, hits in (
        ("25 from each text", each),
        ("at random from all texts", every),
        ("of both, but for novels and manuals", both),
        ("150 more at random, with all the neighbors below", reading.filter(sample="150 more")),
    ):
        right, near, wrong = counts(hits)
        row = f"| {name} | {hits.height} | {right} | {near} | {wrong} | {100 * right / hits.height:.1f}% |"
        assert row in page
    over = reading.filter(sample="passed over")
    for word, form in (("ভাই", "ভাই"), ("ছুটিতে", "ছুটি"), ("বাঁশি", "বাঁশি")):
        of_word, (right, _, wrong) = over.filter(word=form), counts(reading.filter(sample=f"left: {word}"))
        assert f"| {word} | {of_word.height} | {counts(of_word)[2]} | {wrong} | {right} |" in page
    assert f"| all words with neighbors | {over.height} | {counts(over)[2]} | | |" in page
    assert f"right in {100 * counts(over)[2] / over.height:.1f}% of the hits that it removes" in page
    for word, share in (("সংসার", 47), ("বাবা", 75), ("মা", 80)):
        of_word = reading.filter(sample=f"word: {word}")
        assert round(100 * counts(of_word)[0] / of_word.height) == share
        assert f"({share}%)" in page


def test_every_wrong_hit_says_why(reading: pl.DataFrame) -> None:
    assert set(reading["verdict"]) == {"right", "near", "wrong"}
    assert reading.filter(pl.col("verdict") != "right")["reason"].null_count() == 0


@pytest.mark.parametrize("language", ["bn", "hi"])
def test_what_was_passed_over_is_passed_over(shared: Path, reading: pl.DataFrame, language: str) -> None:
    """In the texts themselves, where they are: the table has the word, the form and the line, and not the sentence."""
    matcher = Matcher(lexicon_of(language))
    normalize = normalizer({"bn": "bangla", "hi": "nukta"}[language]).one
    over = reading.filter(pl.col("sample") == "passed over", pl.col("text").str.starts_with(language))
    for (text, line), rows in over.group_by("text", "line", maintain_order=True):
        with (shared / f"corpora/{text}.txt").open(encoding="utf-8", newline="\n") as file:
            content = normalize(next(each for number, each in enumerate(file, 1) if number == line))
        found = [match for match in matcher.find(content) if match.form in set(rows["form"])]
        # a word may stand there once more, as itself
        assert len(found) <= sum(content.count(form) for form in set(rows["form"])) - rows.height
