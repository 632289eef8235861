"""Pairs scored by tiny models of every family: the plain computation's numbers, whatever the batch."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tiny_models
from plain_scores import PlainScorer
from scoring_models import FAMILIES, KINDS, build
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.likelihoods.engine import Query, Scorer
from prasanga.likelihoods.scoring import WEIGHTED
from prasanga.pairs import align_spans
from prasanga.pairs.preferences import REASONS, SCORES

PAIRS = [
    ("bn", "মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।", "বাবার হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।"),
    ("bn", "দুঃখের দিনেও তিনি ক্ষমাশীল আর সৎ মানুষ ছিলেন।", "চাঁদের দিনেও তিনি সৎ মানুষ ছিলেন।"),
    ("bn", "বিজ্ঞানীরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।", "মায়েরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।"),
    ("en", "Rahim reads every evening, quietly.", "Rahim reads, every evening."),
]


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
    def get(family: str) -> Scorer:
        return load_scorer(folder(family))

    return get


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
    if measure in ("aul", *WEIGHTED):
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
        "encoder": ["p_unmodified", "p_modified", "aul", "aula", "aula_renormalized"],
        "decoder": ["causal"],
        "encoder-decoder": ["infill", "causal"],
    }
    return [(family, measure) for family in FAMILIES for measure in measures[KINDS[family]]]


@pytest.mark.parametrize(("family", "measure"), cases())
def test_scores_are_those_of_one_copy_at_a_time(
    folder: Callable[[str], Path], scorer: Callable[..., Scorer], family: str, measure: str
) -> None:
    loaded = scorer(family)
    found = score_pairs(loaded, table(PAIRS), measure=measure, unknown="keep")
    plain = PlainScorer(folder(family), KINDS[family], attentions=measure in WEIGHTED)

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
            if measure in WEIGHTED:
                mean = getattr(plain, measure)(text)
            assert row[f"score_{side}"] == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize(("family", "measure"), cases())
def test_a_pair_is_left_out_if_one_of_its_queries_is_longer_than_the_model_takes(
    scorer: Callable[..., Scorer], monkeypatch: pytest.MonkeyPatch, family: str, measure: str
) -> None:
    loaded = scorer(family)
    run, asked = loaded.log_probabilities, []

    def log_probabilities(queries: Sequence[Query], **named: Any) -> Any:
        asked.extend(queries)
        return run(queries, **named)

    monkeypatch.setattr(loaded, "log_probabilities", log_probabilities)
    of_a_long_word = ("bn", "মহাকাশযানেরযন্ত্রপাতিপরীক্ষাকরছেন মা", "মহাকাশযানেরযন্ত্রপাতিপরীক্ষাকরছেন বাবা")
    for pair in (*PAIRS[:3], of_a_long_word):
        asked.clear()
        score_pairs(loaded, table([pair]), measure=measure, unknown="keep")
        longest = max(len(ids) for query in asked for ids in (query.ids, query.decoder_ids))
        for most, reason in ((longest, None), (longest - 1, "too-long")):
            monkeypatch.setattr(loaded, "max_pieces", most)
            found = score_pairs(loaded, table([pair]), measure=measure, unknown="keep")
            assert found["left_out"].to_list() == [reason]
        monkeypatch.setattr(loaded, "max_pieces", None)


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


def test_punctuation_counts_where_it_belongs_to_its_word(scorer: Callable[..., Scorer]) -> None:
    pair = table([("bn", "মায়ের হাতে গোলাপ।", "বাবার হাতে গোলাপ।")])
    apart = score_pairs(scorer("bert"), pair, unknown="keep")
    joined = score_pairs(scorer("bert"), pair, punctuation="with-word", unknown="keep")
    assert joined["n_first"][0] == apart["n_first"][0] + 1  # the danda
    assert joined["score_first"][0] != apart["score_first"][0]


LONG = " গোলাপ" * 130
LEFT_OUT = [*read_cases(__file__, "left_out"), ("bert", f"মায়ের হাতে{LONG}", f"বাবার হাতে{LONG}", "too-long")]


@pytest.mark.parametrize("family", dict.fromkeys(row[0] for row in LEFT_OUT))
def test_what_cannot_be_scored_is_left_out_with_its_reason(scorer: Callable[..., Scorer], family: str) -> None:
    rows = [row[1:] for row in LEFT_OUT if row[0] == family]
    pairs = table([("bn", first, second) for first, second, _ in rows])
    found = score_pairs(scorer(family), pairs, unknown="keep")
    assert found["left_out"].to_list() == [reason for *_, reason in rows]
    for column in ("score_first", "score_second", "n_first", "n_second"):
        assert found[column].is_null().to_list() == found["left_out"].is_not_null().to_list()


def test_unknown_pieces_are_scored_if_asked_for(scorer: Callable[..., Scorer]) -> None:
    pairs = table([("bn", "মায়ের हाथ", "বাবার हाथ"), ("bn", "মায়ের [UNK] গোলাপ", "বাবার [UNK] গোলাপ")])
    assert score_pairs(scorer("bert"), pairs)["left_out"].to_list() == ["unknown-piece"] * 2
    kept = score_pairs(scorer("bert"), pairs, unknown="keep")
    assert kept["left_out"].to_list() == [None, None]
    assert kept["n_first"][0] == 1


def _changed(folder: Path, to: Path, settings: dict[str, Any], config: dict[str, Any]) -> Path:
    shutil.copytree(folder, to)
    for name, more in (("tokenizer_config.json", settings), ("config.json", config)):
        (to / name).write_text(json.dumps(json.loads((to / name).read_text()) | more))
    return to


def test_a_sentence_of_one_piece_has_nothing_to_be_scored_by_a_model_without_a_beginning(
    folder: Callable[[str], Path], tmp_path: Path
) -> None:
    nothing = {"bos_token": None, "eos_token": None}
    bare = load_scorer(_changed(folder("gpt2"), tmp_path / "bare", nothing, {}))
    assert bare.tokenizer.bos_token_id is bare.tokenizer.eos_token_id is None
    found = score_pairs(bare, table([("en", "a", "b"), ("en", "a c", "b c")]))
    assert found["left_out"].to_list() == ["nothing-scored", None]
    assert found["n_first"].to_list() == [None, len(bare.tokenizer("a c")["input_ids"]) - 1]


def test_a_table_that_is_scored_already_is_scored_again_and_says_how(scorer: Callable[..., Scorer]) -> None:
    choices: dict[str, Any] = {"pieces": "left-to-right", "punctuation": "with-word", "unknown": "keep"}
    once = score_pairs(scorer("bert"), table(PAIRS), reduction="sum", name="earlier", **choices)
    assert once.select(*choices, "reduction", "model").unique().to_dicts() == [
        {**choices, "reduction": "sum", "model": "earlier"}
    ]
    twice = score_pairs(scorer("bert"), once, unknown="keep")
    assert twice.columns == once.columns == ["language", "first", "second", *SCORES]
    assert twice.equals(score_pairs(scorer("bert"), table(PAIRS), unknown="keep"))
    empty = score_pairs(scorer("bert"), once[:0])
    assert (empty.height, empty.schema) == (0, once.schema)


def test_every_reason_has_its_sentence_in_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "pairs.md").read_text(encoding="utf-8")
    for code, sentence in REASONS.items():
        assert f"| `{code}` | {sentence} |" in page


def test_text_is_normalized_before_it_is_aligned_and_read(scorer: Callable[..., Scorer]) -> None:
    composed, apart = "\u09a8\u09df", "\u09a8\u09af\u09bc"  # one word in two spellings
    pair = table([("bn", f"মায়ের হাতে {composed}", f"বাবার হাতে {apart}")])
    plainly = score_pairs(scorer("bert"), pair, unknown="keep", normalization={"bn": "bangla"})
    expected = score_pairs(scorer("bert"), table([("bn", f"মায়ের হাতে {apart}", f"বাবার হাতে {apart}")]), unknown="keep")
    assert plainly["score_first"].to_list() == pytest.approx(expected["score_first"].to_list())
    assert plainly["first"].to_list() == pair["first"].to_list()


@pytest.mark.parametrize(("family", "arguments", "message"), read_cases(__file__, "refused"))
def test_what_a_model_cannot_give_is_refused(
    scorer: Callable[..., Scorer], family: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        score_pairs(scorer(family), table(PAIRS), **arguments)


def test_a_masked_score_needs_a_mask(tmp_path: Path) -> None:
    bare = tiny_models.build("xlm-roberta", tmp_path / "bare")
    with pytest.raises(InputError, match="lacks a mask piece"):
        score_pairs(bare, table(PAIRS))
    assert all(map(math.isfinite, score_pairs(bare, table(PAIRS), measure="aul")["score_first"]))


def test_a_language_that_a_model_has_no_piece_for_is_told(scorer: Callable[..., Scorer]) -> None:
    pair = table([("ta", "மா a", "மா b")])
    with pytest.raises(InputError, match="the tokenizer has no piece for the language ta"):
        score_pairs(scorer("mbart"), pair)
    assert score_pairs(scorer("bert"), pair).height == 1  # which is told no language


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(({name: [None, "a"]}, f"row 0 has no {name}") for name in ("language", "first", "second")),
        ({"second": None}, "lacks the column second"),
    ],
)
def test_pairs_that_cannot_be_read_are_named(
    scorer: Callable[..., Scorer], change: dict[str, Any], message: str
) -> None:
    pairs: dict[str, Any] = {"pair_id": ["a", "b"], "language": ["bn"] * 2, "first": ["মা"] * 2, "second": ["বাবা"] * 2}
    with pytest.raises(InputError, match=message):
        score_pairs(scorer("bert"), pl.DataFrame({k: v for k, v in (pairs | change).items() if v is not None}))
