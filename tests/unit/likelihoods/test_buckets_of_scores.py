"""Pairs and sentences in buckets: whatever their number, the same scores to the last digit, each computed once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scoring_models import build

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_table
from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.likelihoods.engine import Scorer
from prasanga.likelihoods.log_probability import LogProbabilityItem, Score, score_items
from prasanga.likelihoods.stage import (
    PAIRS,
    SENTENCES,
    Asked,
    Job,
    deal_pairs,
    open_scores,
    score_missing,
    score_rows,
    set_table,
    with_scores,
)

WORDS = ("Rahim", "Rahima", "Karim", "Karima", "a teacher", "the old neighbour")
WHICH: dict[str, Any] = {"model": "m", "options": {}}
SETTINGS: dict[str, Any] = {
    **{
        "which": WHICH,
        "measures": {"encoder": "p_unmodified"},
        "reduction": "mean",
        "pieces": "all",
        "punctuation": "apart",
    },
    **{"unknown": "keep", "normalization": None, "language_codes": None, "name": "m"},
}


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Scorer:
    return load_scorer(build("bert", tmp_path_factory.mktemp("bert")))


def a_set() -> pl.DataFrame:
    """31 pairs of sentences of many lengths; the last stands in the first block as well, under another name."""
    rows = [
        (
            "en",
            f"{first} reads{' every evening' * (n % 4)} at home.",
            f"{second} reads{' every evening' * (n % 4)} at home.",
        )
        for n, (first, second) in enumerate(itertools.permutations(WORDS, 2))
    ]
    pairs = pl.DataFrame([*rows, rows[1]], schema=["language", "first", "second"], orient="row")
    return pairs.with_row_index("pair_id").with_columns(bias_type=pl.lit("age"), label=pl.lit("stereo"))


def sentences() -> tuple[pl.DataFrame, list[LogProbabilityItem]]:
    items = []
    for n, (first, second) in enumerate(itertools.permutations(WORDS, 2)):
        text = f"{first} sees{' and hears' * (n % 3)} {second}."
        items.append(LogProbabilityItem(text, (0, len(first)), (len(text) - 1 - len(second), len(text) - 1)))
    rows = [(item.text, *item.target, *item.attribute) for item in items]
    return pl.DataFrame(rows, schema=list(SENTENCES.row), orient="row"), items


def in_buckets(
    asked: Asked, rows: pl.DataFrame, root: Path, of: int, scorer: Scorer, *, only: int | None = None
) -> pl.DataFrame:
    """The scores of all rows, by so many jobs that share what is kept; or those of one bucket."""
    parts = [
        score_missing(
            asked,
            rows,
            open_scores(asked, root, SETTINGS, {"sha256": "a"}, "float32"),
            lambda missing: asked.score(scorer, missing, SETTINGS),
            (number, of),
        )
        for number in (range(of) if only is None else [only])
    ]
    return pl.concat(parts)


@pytest.mark.parametrize("asked", [PAIRS, SENTENCES], ids=["pairs", "sentences"])
def test_the_number_of_buckets_changes_no_digit_and_runs_nothing_again(
    asked: Asked, scorer: Scorer, tmp_path: Path
) -> None:
    asked = asked._replace(block=4)
    rows = a_set() if asked.what == "pairs" else sentences()[0]
    one = in_buckets(asked, rows, tmp_path / "one", 1, scorer)
    assert len(one) == 30
    for of in (2, 3, 8, 11):  # there are 8 blocks, so that some of 11 buckets are empty
        assert in_buckets(asked, rows, tmp_path / str(of), of, scorer).equals(one), of
    passes = scorer.report.passes
    for of in (1, 3):
        found = in_buckets(asked, rows, tmp_path / "2", of, scorer)
        assert with_scores(asked, rows, found).equals(with_scores(asked, rows, one))
    assert scorer.report.passes == passes


def test_scores_in_blocks_are_those_of_the_library(scorer: Scorer, tmp_path: Path) -> None:
    rows, items = sentences()
    table = with_scores(SENTENCES, rows, in_buckets(SENTENCES._replace(block=7), rows, tmp_path, 3, scorer))
    names = Score._fields
    for found, wanted in zip(table.select(names).rows(), score_items(scorer, items), strict=True):
        assert found[2:] == wanted[2:]
        assert found[:2] == pytest.approx(wanted[:2], abs=1e-5)
    pairs = a_set()
    table = set_table(pairs, in_buckets(PAIRS._replace(block=7), pairs, tmp_path, 3, scorer), "mine", "m")
    wanted_table = score_pairs(scorer, pairs, unknown="keep", name="m").with_columns(set=pl.lit("mine"))
    assert table.columns == wanted_table.columns
    for name in table.columns:
        of_table, expected = table[name].to_list(), wanted_table[name].to_list()
        assert of_table == (pytest.approx(expected, abs=1e-5) if name.startswith("score") else expected), name


def test_a_job_that_ends_early_goes_on_with_its_block(scorer: Scorer, tmp_path: Path) -> None:
    asked, pairs = PAIRS._replace(block=4), a_set()
    whole = in_buckets(asked, pairs, tmp_path / "whole", 1, scorer)
    store = open_scores(asked, tmp_path / "cut", SETTINGS, {"sha256": "a"}, "float32")
    sizes: list[int] = []

    def failing_at(last: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
        def score(missing: pl.DataFrame) -> pl.DataFrame:
            if len(sizes) == last:
                raise InputError("the machine goes down")
            sizes.append(len(missing))
            return asked.score(scorer, missing, SETTINGS)

        return score

    with pytest.raises(InputError, match="goes down"):
        score_missing(asked, pairs, store, failing_at(3))
    assert sizes == [4, 4, 4]
    found = score_missing(asked, pairs, store, failing_at(-1))
    assert sizes[3:] == [4, 4, 4, 4, 2]
    assert with_scores(asked, pairs, found).equals(with_scores(asked, pairs, whole))


@pytest.mark.parametrize(("files", "said"), [((0, 1), "10 have no score"), ((0, 1, 2, 3), "10 scores are of others")])
def test_buckets_of_an_earlier_number_are_refused(
    scorer: Scorer, tmp_path: Path, files: tuple[int, ...], said: str
) -> None:
    """A file that is missing, or left from before, would make a table with holes or with pairs that stand twice."""
    asked, pairs = PAIRS._replace(block=2), a_set()
    tables = {
        number: in_buckets(asked, pairs, tmp_path / "kept", 3, scorer, only=number if number < 3 else 0)
        for number in range(4)
    }
    paths = [tmp_path / f"{number:02d}.parquet" for number in range(4)]
    for number, path in enumerate(paths):
        write_table(path, tables[number].to_arrow(), {"stage": "likelihoods", "code": "a"})
    job = Job(tmp_path / "none", tmp_path / "kept", 1)

    def gathered(numbers: Sequence[int]) -> pl.DataFrame:
        return score_rows(asked, pairs, "mine", SETTINGS, job, buckets=[paths[number] for number in numbers])

    with pytest.raises(InputError, match=rf"of 30 pairs .*{said}.* Delete the folder and run again"):
        gathered(files)
    with pytest.raises(InputError, match="of 2 pairs 0 have no score in its 3 buckets, and 28 scores"):
        score_rows(asked, pairs[:2], "mine", SETTINGS, job, buckets=paths[:3])
    assert set_table(pairs, gathered([0, 1, 2]), "mine", "m")["kind"].to_list() == ["encoder"] * 31


def test_twins_score_the_pairs_that_are_dealt_to_them(scorer: Scorer, tmp_path: Path) -> None:
    pairs = a_set()
    settings = {**SETTINGS, "which": {**WHICH, "twins": [5, 6, 7]}}
    dealt = deal_pairs(pairs, settings["which"])
    assert dealt["twin"].to_list() == [turn % 3 for turn in range(31)]
    assert deal_pairs(pairs, WHICH).columns == pairs.columns
    scores = [
        in_buckets(PAIRS, dealt.filter(twin=twin), tmp_path, 1, scorer).with_columns(
            twin=pl.lit(twin, pl.Int32), score_first=pl.lit(float(twin))
        )
        for twin in range(3)
    ]
    table = set_table(dealt, pl.concat(scores), "mine", "m")
    assert table["pair_id"].to_list() == pairs["pair_id"].to_list()
    assert table["score_first"].to_list() == [float(turn % 3) for turn in range(31)]
    assert table.columns[-2:] == ["set", "twin"]
