"""Pairs scored by tiny models of every family: the plain computation's numbers, whatever the batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tiny_models
import torch
from plain_scores import PlainScorer
from scoring_models import FAMILIES, KINDS, build

from prasanga.errors import InputError
from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.likelihoods.engine import Scorer
from prasanga.pairs import align_spans

PAIRS = [
    ("bn", "মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।", "বাবার হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।"),
    ("bn", "দুঃখের দিনেও তিনি ক্ষমাশীল আর সৎ মানুষ ছিলেন।", "চাঁদের দিনেও তিনি সৎ মানুষ ছিলেন।"),
    ("bn", "বিজ্ঞানীরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।", "মায়েরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।"),
    ("en", "Rahim reads every evening, quietly.", "Rahim reads, every evening."),
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`folder(family)`: a tiny model."""

    @cache
    def get(family: str) -> Path:
        return build(family, tmp_path_factory.mktemp(family))

    return get


@pytest.fixture(scope="module")
def scorer(folder: Callable[[str], Path]) -> Callable[..., Scorer]:
    """`scorer(family)`: the same, loaded."""

    @cache
    def get(family: str, attentions: bool) -> Scorer:
        return load_scorer(folder(family), attentions=attentions)

    return lambda family, attentions=False: get(family, attentions)


def table(pairs: list[tuple[str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(pairs, schema=["language", "first", "second"], orient="row")


def wanted_scores(
    plain: PlainScorer, family: str, measure: str, language: str, text: str, words: list[Any]
) -> list[float]:
    """The plain log-probabilities of the scored pieces of a sentence; what comes before it is written down here."""
    ids = plain.tokenizer.convert_tokens_to_ids
    if family == "mbart":
        plain.tokenizer.src_lang = {"bn": "bn_IN", "en": "en_XX"}[language]
    if measure in ("p_unmodified", "p_modified"):
        return plain.masked(text, words)
    if measure in ("aul", "aula"):
        return plain.unmasked(text)
    if family == "mt5":
        if measure == "infill":
            return plain.infilled(text, words, ids("<extra_id_0>"), [1, ids("<extra_id_0>")])
        return plain.written_by_decoder(text, [ids("</s>")], [1])
    if family == "mbart":
        code = ids(plain.tokenizer.src_lang)
        if measure == "infill":
            return plain.infilled(text, words, ids("<mask>"), [2, code])
        return plain.written_by_decoder(text, plain.tokenizer("")["input_ids"], [2, code])
    first = {"gpt2": "<|endoftext|>", "bloom": "<|endoftext|>", "llama": "<s>", "mistral": "<s>"}[family]
    return plain.written(text, [ids(first)])


def cases() -> list[tuple[str, str]]:
    measures = {
        "encoder": ["p_unmodified", "p_modified", "aul", "aula"],
        "decoder": ["causal"],
        "encoder-decoder": ["infill", "causal"],
    }
    return [(family, measure) for family in FAMILIES for measure in measures[KINDS[family]]]


@pytest.mark.parametrize(("family", "measure"), cases())
def test_scores_are_those_of_one_copy_at_a_time(
    folder: Callable[[str], Path], scorer: Callable[..., Scorer], family: str, measure: str
) -> None:
    aula = measure == "aula"
    loaded = scorer(family, attentions=aula)
    found = score_pairs(loaded, table(PAIRS), measure=measure, unknown="keep")
    plain = PlainScorer(folder(family), KINDS[family], attentions=aula)

    assert found["measure"].unique().to_list() == [measure]
    assert found["kind"].unique().to_list() == [KINDS[family]]
    for (language, *texts), row in zip(PAIRS, found.iter_rows(named=True), strict=True):
        spans = align_spans(*texts)
        halves = ("modified" if measure == "p_modified" else "unmodified",) * 2
        if measure == "p_modified" and language == "en":  # the second sentence has nothing that the first has not
            assert row["left_out"] == "nothing-modified"
            continue
        assert row["left_out"] is None
        for side, half, text in zip(("first", "second"), halves, texts, strict=True):
            values = wanted_scores(plain, family, measure, language, text, getattr(spans, f"{half}_{side}"))
            assert row[f"n_{side}"] == len(values)
            mean = sum(values) / len(values)
            if aula:
                weights = plain.attended(text)
                mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
            assert row[f"score_{side}"] == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
def test_left_to_right_shows_the_earlier_pieces_of_a_word(
    folder: Callable[[str], Path], scorer: Callable[..., Scorer], family: str
) -> None:
    found = score_pairs(scorer(family), table(PAIRS[:1]), pieces="left-to-right", reduction="sum", unknown="keep")
    plain = PlainScorer(folder(family), "encoder")
    spans = align_spans(*PAIRS[0][1:])
    values = plain.masked(PAIRS[0][1], spans.unmodified_first, left_to_right=True)

    assert found["score_first"].to_list() == [pytest.approx(sum(values), abs=1e-3)]
    assert plain.masked(PAIRS[0][1], spans.unmodified_first) != values  # some word has several pieces


@pytest.mark.parametrize("family", ["bert", "mbart", "gpt2"])
def test_sum_and_mean_differ_by_the_number_of_pieces(scorer: Callable[..., Scorer], family: str) -> None:
    total, mean = (score_pairs(scorer(family), table(PAIRS), reduction=how, unknown="keep") for how in ("sum", "mean"))
    for side in ("first", "second"):
        per_piece = (total[f"score_{side}"] / total[f"n_{side}"]).to_list()
        assert per_piece == pytest.approx(mean[f"score_{side}"].to_list(), rel=1e-9)


@pytest.mark.parametrize("family", ["xlm-roberta", "mt5", "bloom"])
@pytest.mark.parametrize("budget", [1, 40, 100_000])
def test_the_size_of_batches_changes_nothing(
    folder: Callable[[str], Path], scorer: Callable[..., Scorer], family: str, budget: int
) -> None:
    whole = score_pairs(scorer(family), table(PAIRS), unknown="keep")
    other = score_pairs(folder(family), table(PAIRS[::-1]), unknown="keep", pieces_per_batch=budget)[::-1]
    assert other["score_first"].to_list() == pytest.approx(whole["score_first"].to_list(), abs=1e-5)
    assert other["score_second"].to_list() == pytest.approx(whole["score_second"].to_list(), abs=1e-5)


def test_punctuation_counts_where_it_belongs_to_its_word(scorer: Callable[..., Scorer]) -> None:
    pair = table([("bn", "মায়ের হাতে গোলাপ।", "বাবার হাতে গোলাপ।")])
    apart = score_pairs(scorer("bert"), pair, unknown="keep")
    joined = score_pairs(scorer("bert"), pair, punctuation="with-word", unknown="keep")
    assert joined["n_first"][0] == apart["n_first"][0] + 1  # the danda
    assert joined["score_first"][0] != apart["score_first"][0]


def test_what_cannot_be_scored_is_left_out_with_its_reason(scorer: Callable[..., Scorer]) -> None:
    pairs = [
        ("bn", "মায়ের হাতে গোলাপ।", "মায়ের হাতে গোলাপ।"),
        ("bn", "মায়ের হাতে গোলাপ", "মায়ের হাতে গোলাপ।"),
        ("bn", "মায়ের", "বাবার"),
        ("bn", "মায়ের हाथ", "বাবার हाथ"),
        ("bn", "মায়ের হাতে" + " গোলাপ" * 130, "বাবার হাতে" + " গোলাপ" * 130),
        ("bn", "মায়ের হাতে গোলাপ।", "বাবার হাতে গোলাপ।"),
    ]
    found = score_pairs(scorer("bert"), table(pairs))
    reasons = ["identical", "nothing-modified", "nothing-unmodified", "unknown-piece", "too-long", None]
    assert found["left_out"].to_list() == reasons
    for column in ("score_first", "score_second", "n_first", "n_second"):
        assert [value is None for value in found[column]] == [True] * 5 + [False]


def test_unknown_pieces_are_scored_if_asked_for(scorer: Callable[..., Scorer]) -> None:
    pair = table([("bn", "মায়ের हाथ", "বাবার हाथ")])
    assert score_pairs(scorer("bert"), pair)["left_out"].to_list() == ["unknown-piece"]
    kept = score_pairs(scorer("bert"), pair, unknown="keep")
    assert kept["left_out"].to_list() == [None]
    assert kept["n_first"].to_list() == [1]


def test_a_word_that_the_tokenizer_drops_leaves_the_pair_out(scorer: Callable[..., Scorer]) -> None:
    accent = "\u0301"  # ALBERT strips it, and nothing is left of the word
    pairs = [
        ("en", f"Rahim reads {accent}", f"quietly reads {accent}"),
        ("en", f"Rahim reads {accent}", "Rahim reads a"),
    ]
    found = score_pairs(scorer("albert"), table(pairs), unknown="keep")
    assert found["left_out"].to_list() == ["dropped-word", "dropped-word"]


def test_sentences_that_are_one_to_the_tokenizer_are_left_out(scorer: Callable[..., Scorer]) -> None:
    """The tokenizer strips vowel signs, so that flower (ফুল) and fruit (ফল) are one."""
    found = score_pairs(scorer("albert"), table([("bn", "লাল ফুল ছিল", "লাল ফল ছিল")]), unknown="keep")
    assert found["left_out"].to_list() == ["identical-pieces"]


def test_text_is_normalized_before_it_is_aligned_and_read(scorer: Callable[..., Scorer]) -> None:
    composed, apart = "\u09a8\u09df", "\u09a8\u09af\u09bc"  # one word in two spellings
    pair = table([("bn", f"মায়ের হাতে {composed}", f"বাবার হাতে {apart}")])
    plainly = score_pairs(scorer("bert"), pair, unknown="keep", normalization={"bn": "bangla"})
    expected = score_pairs(scorer("bert"), table([("bn", f"মায়ের হাতে {apart}", f"বাবার হাতে {apart}")]), unknown="keep")
    assert plainly["score_first"].to_list() == pytest.approx(expected["score_first"].to_list())
    assert plainly["first"].to_list() == pair["first"].to_list()


def test_a_set_without_pairs_has_a_table_without_rows(scorer: Callable[..., Scorer]) -> None:
    found = score_pairs(scorer("bert"), table(PAIRS[:0]))
    assert found.height == 0
    assert found.schema["score_first"] == pl.Float64


@pytest.mark.parametrize(
    ("family", "arguments", "message"),
    [
        ("gpt2", {"measure": "p_modified"}, "is of the kind decoder, and p_modified is a measure of the kind encoder"),
        ("bert", {"measure": "infill"}, "Write measure: p_unmodified or p_modified or aul or aula"),
        ("bert", {"measure": "pll"}, "measure is 'pll'. Allowed: p_unmodified, p_modified, aul, aula, causal, infill"),
        ("bert", {"reduction": "median"}, "reduction is 'median'; write mean or sum"),
        ("bert", {"pieces": "first"}, "pieces is 'first'; write all or left-to-right"),
        ("bert", {"unknown": "drop"}, "unknown is 'drop'; write leave-out or keep"),
        ("mbart", {"language_codes": {"bn": "bn_BD"}}, "language_codes has bn: bn_BD, which is no piece"),
    ],
)
def test_what_a_model_cannot_give_is_refused(
    scorer: Callable[..., Scorer], family: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(").replace(".", r"\.")):
        score_pairs(scorer(family), table(PAIRS), **arguments)


def test_a_model_of_another_kind_than_asked_for_is_refused(folder: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match="kind is decoder, but this is an encoder"):
        score_pairs(folder("bert"), table(PAIRS), family="decoder")


def test_a_masked_score_needs_a_mask(tmp_path: Path) -> None:
    bare = tiny_models.build("xlm-roberta", tmp_path / "bare")
    with pytest.raises(InputError, match="has no mask piece"):
        score_pairs(bare, table(PAIRS))
    assert all(map(math.isfinite, score_pairs(bare, table(PAIRS), measure="aul")["score_first"]))


def test_a_missing_column_is_named(scorer: Callable[..., Scorer]) -> None:
    with pytest.raises(InputError, match="no column 'second'"):
        score_pairs(scorer("bert"), table(PAIRS).drop("second"))
