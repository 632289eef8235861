"""Scores that are kept: each row is scored once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scoring_models import build

from prasanga.base.errors import InputError
from prasanga.base.io import Store
from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.likelihoods.engine import Scorer
from prasanga.likelihoods.scoring import score_sentences
from prasanga.likelihoods.stage import PAIRS, SENTENCES, add_scores, cached, deal_rows, open_store
from prasanga.pairs.preferences import SCORES, SPANS

WORDS = ("Rahim", "Rahima", "Karim", "Karima", "a teacher", "the old neighbour")
SETTINGS = {"reduction": "mean"}
Kind = Any


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Scorer:
    return load_scorer(build("bert", tmp_path_factory.mktemp("bert")))


def pairs_of(rows: Sequence[tuple[str, str, str]]) -> pl.DataFrame:
    texts = pl.DataFrame(rows, schema=dict.fromkeys(("language", "first", "second"), pl.String), orient="row")
    return texts.with_row_index("pair_id").with_columns(bias_type=pl.lit("age"), label=pl.lit("stereo"))


def a_set() -> pl.DataFrame:
    """31 pairs of sentences of many lengths; the last is in the first block as well, under another name."""
    rows = [
        ("en", *(f"{who} reads{' every evening' * (n % 4)} at home." for who in both))
        for n, both in enumerate(itertools.permutations(WORDS, 2))
    ]
    return pairs_of([*rows, rows[1]])


def sentences() -> pl.DataFrame:
    rows = []
    for n, (first, second) in enumerate(itertools.permutations(WORDS, 2)):
        text = f"{first} sees{' and hears' * (n % 3)} {second}."
        rows.append((text, [0, len(first)], [len(text) - 1 - len(second), len(text) - 1]))
    return pl.DataFrame(rows, schema=SPANS, orient="row")


def rows_of(kind: Kind) -> pl.DataFrame:
    return a_set() if kind.what == "pairs" else sentences()


def asking(kind: Kind, scorer: Scorer) -> Callable[[pl.DataFrame], pl.DataFrame]:
    if kind.what == "pairs":
        return lambda rows: score_pairs(scorer, rows, unknown="keep", name="m")
    return lambda rows: score_sentences(scorer, rows, pieces="all")


def opened(root: Path, settings: dict[str, Any] = SETTINGS, kind: Kind = PAIRS, **more: Any) -> Store:
    return open_store(kind, root, settings, **{"identity": {"sha256": "a"}, "dtype": "float32", **more})


def test_only_new_pairs_are_scored_and_the_order_is_that_of_the_set(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def score(pairs: pl.DataFrame) -> pl.DataFrame:
        """Score a pair by the length of its first sentence."""
        asked.append(pairs["first"].to_list())
        length = pl.col("first").str.len_chars().cast(pl.Float64)
        left_out = pl.when(pl.col("first") == pl.col("second")).then(pl.lit("identical"))
        nothing = [pl.lit(None).alias(name) for name in SCORES if name not in pairs.columns]
        return pairs.with_columns(nothing).with_columns(score_first=-length, left_out=left_out, model=pl.lit("m"))

    def scored(*rows: tuple[str, str, str], store: Store | None = None) -> pl.DataFrame:
        pairs = pairs_of(rows).with_columns(score_first=7.0)  # which is replaced
        return add_scores(pairs, cached(PAIRS, store or opened(tmp_path), pairs, score))

    found = scored(("en", "a", "bb"), ("en", "ccc", "d"), ("en", "a", "bb"))
    assert asked == [["a", "ccc"]]  # the third is the first once more
    assert found.columns == ["pair_id", "language", "first", "second", "bias_type", "label", *SCORES]
    assert found["score_first"].to_list() == [-1.0, -3.0, -1.0]
    second = [("en", "eeee", "f"), ("en", "ccc", "d"), ("hi", "a", "bb"), ("en", "g", "g")]
    found = scored(*second)
    assert asked[1:] == [["eeee", "a", "g"]]  # in another language it is another pair
    assert found["pair_id"].to_list() == [0, 1, 2, 3]
    assert found["score_first"].to_list() == [-4.0, -3.0, -1.0, -1.0]
    assert found["left_out"].to_list() == [None, None, None, "identical"]
    scored(*second)
    in_clusters = pairs_of(second).with_columns(cluster=pl.lit("t1"))  # which changes no text
    assert cached(PAIRS, opened(tmp_path), in_clusters, score).height == 4
    assert len(asked) == 2
    scored(*second, store=opened(tmp_path, {"reduction": "sum"}))
    assert len(asked) == 3
    assert scored().schema == found.schema


def test_another_model_or_choice_has_another_key(tmp_path: Path) -> None:
    keys = [
        opened(tmp_path).key,
        opened(tmp_path, {"reduction": "sum"}).key,
        opened(tmp_path, identity={"sha256": "b"}).key,
        opened(tmp_path, dtype="bfloat16").key,
        opened(tmp_path, kind=SENTENCES).key,
    ]
    assert len({*keys}) == 5
    of_study = {"which": {"model": "elsewhere", "files": {}}, "name": "m", "aggregation": "mean"}
    assert opened(tmp_path, {**SETTINGS, **of_study}).key == opened(tmp_path, {**SETTINGS, "which": {}}).key


@pytest.mark.parametrize("kind", [PAIRS, SENTENCES], ids=["pairs", "sentences"])
def test_rows_that_are_kept_run_nothing_again(kind: Kind, scorer: Scorer, tmp_path: Path) -> None:
    kind, rows = kind._replace(block=4), rows_of(kind)
    store, ask = opened(tmp_path, kind=kind), asking(kind, scorer)
    once = cached(kind, store, rows, ask)
    assert len(once) == 30
    passes = scorer.passes
    again = cached(kind, opened(tmp_path, kind=kind), rows[::-1], ask)
    assert add_scores(rows, again).equals(add_scores(rows, once))
    assert scorer.passes == passes


def test_a_job_that_ends_early_goes_on_with_its_block(scorer: Scorer, tmp_path: Path) -> None:
    kind, pairs, sizes = PAIRS._replace(block=4), a_set(), list[int]()
    whole = cached(kind, opened(tmp_path / "whole"), pairs, asking(kind, scorer))

    def failing_at(last: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
        def score(missing: pl.DataFrame) -> pl.DataFrame:
            if len(sizes) == last:
                raise InputError("the machine goes down")
            sizes.append(len(missing))
            return asking(kind, scorer)(missing)

        return score

    store = opened(tmp_path / "cut")
    with pytest.raises(InputError, match="goes down"):
        cached(kind, store, pairs, failing_at(3))
    assert sizes == [4, 4, 4]
    found = cached(kind, store, pairs, failing_at(-1))
    assert sizes[3:] == [4, 4, 4, 4, 2]
    assert add_scores(pairs, found).equals(add_scores(pairs, whole))


def test_sentences_are_dealt_to_twins_by_what_they_have_in_common() -> None:
    pairs, which = a_set(), {"twins": [5, 6, 7]}
    dealt = deal_rows(pairs, which)  # every twin scores all pairs
    assert dealt["twin"].to_list() == [0, 1, 2] * 31
    assert dealt.filter(twin=2).drop("twin").equals(pairs)
    assert deal_rows(pairs, {}).equals(pairs)
    traits = pl.DataFrame({"polarity": list("pppppnn"), "trait": list("aabbcad")})
    assert deal_rows(traits, which)["twin"].to_list() == [0, 0, 1, 1, 2, 0, 1]
    rows = [
        (category, attribute, template, target)
        for category, templates in (("C1", "vwxyz"), ("C2", "st"))
        for attribute, template, target in itertools.product("ab", templates, "cd")
    ]
    words = pl.DataFrame(rows, schema=["category", "attribute_word", "template", "target"], orient="row")
    dealt = deal_rows(words, which).select("category", "template", "twin").unique(maintain_order=True)
    assert dealt["twin"].to_list() == [0, 1, 2, 0, 1, 0, 1]
