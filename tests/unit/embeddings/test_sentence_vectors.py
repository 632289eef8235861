"""The vector of a sentence, or of a word at its place among the words, by values worked out by hand."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from plain_embedding import PlainEmbedder
from segment_files import FULL_PRECISION, write_segments
from tables import read_cases
from tiny_models import FAMILIES

from prasanga.base.errors import InputError
from prasanga.base.io import Store, made_from
from prasanga.embeddings import embed_shards, list_shards, load_encoder, settle_sentence_vector
from prasanga.embeddings.pooling import Pooling, read_inputs
from prasanga.embeddings.settings import COLUMNS
from prasanga.embeddings.stage import ShardFiles, VectorSource
from prasanga.models import check_files, check_model

TinyModel = Callable[..., Path]
Plain = Callable[..., PlainEmbedder]
KEY = "0123456789abcdef0123456789abcdef"
SETTINGS = replace(FULL_PRECISION, pieces="first")


def model_with_pooling(tiny_model: TinyModel, folder: Path, pooling: str) -> Path:
    shutil.copytree(tiny_model("bert"), folder / "model")
    (folder / "model/1_Pooling").mkdir()
    (folder / "model/1_Pooling/config.json").write_text(pooling, encoding="utf-8")
    return folder / "model"


@pytest.mark.parametrize(("pooling", "expected"), read_cases(__file__, "poolings"))
def test_a_model_for_sentences_has_its_own_pooling(
    tiny_model: TinyModel, tmp_path: Path, pooling: dict[str, object], expected: str
) -> None:
    folder = model_with_pooling(tiny_model, tmp_path, json.dumps(pooling))
    report = check_model(folder, sentence_vector="auto")
    assert report["sentence_vector"] == expected
    auto = replace(SETTINGS, sentence_vector="auto")
    assert settle_sentence_vector(auto, report).sentence_vector == expected
    assert settle_sentence_vector(replace(auto, sentence_vector="last"), report).sentence_vector == "last"


@pytest.mark.parametrize(("pooling", "found"), read_cases(__file__, "unknown_poolings"))
def test_a_pooling_that_is_not_known_is_refused_with_what_to_write(
    tiny_model: TinyModel, tmp_path: Path, pooling: object, found: str
) -> None:
    """In the layout of sentence-transformers since 5.4, and in that before. Who says how is not stopped."""
    folder = model_with_pooling(tiny_model, tmp_path, pooling if pooling == "{" else json.dumps(pooling))
    said = (
        f"model {folder}: 1_Pooling/config.json has {found}; allowed is one of the modes cls, mean, lasttoken. Name the"
        " vector of a sentence under this model in the config: `sentence_vector: mean`, or cls, mean, last, word;"
        " that is pooled, and no more."
    )
    with pytest.raises(InputError) as error:
        check_model(folder, sentence_vector="auto")
    assert str(error.value) == said
    report = check_model(folder)
    assert report["sentence_vector"] is None
    for asked in ("mean", "cls", "last", "word"):
        report = check_model(folder, sentence_vector=asked)
        assert settle_sentence_vector(replace(SETTINGS, sentence_vector=asked), report).sentence_vector == asked
    assert settle_sentence_vector(SETTINGS, report) == SETTINGS


def listing(*kinds: str) -> dict[str, object]:
    """The files that list these modules, by the names of sentence-transformers before 5.4 and since."""
    places = {"Pooling": "sentence_transformers.sentence_transformer.modules.pooling.", "Mine": "custom_st."}
    types = [f"{places.get(kind, 'sentence_transformers.models.')}{kind}" for kind in kinds]
    rows = [{"idx": i, "path": f"{i}_{kind}" if i else "", "type": types[i]} for i, kind in enumerate(kinds)]
    return {"modules.json": rows, "1_Pooling/config.json": {"pooling_mode": "mean"}}


PROMPTS = {"prompts": {"query": "query: ", "none": ""}}
CASED = {"sentence_bert_config.json": {"max_seq_length": 128, "do_lower_case": True}}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (listing("Transformer", "Pooling"), "mean"),
        (listing("Transformer", "Pooling", "Normalize"), "mean"),
        (listing("Transformer", "Pooling", "Dense", "Normalize"), r"modules\.json has 2_Dense \(Dense\), which is not"),
        (listing("Transformer", "Pooling", "LayerNorm"), r"modules\.json has 2_LayerNorm \(LayerNorm\)"),
        (listing("Transformer", "WeightedLayerPooling"), r"modules\.json has 1_WeightedLayerPooling"),
        ({"modules.json": listing("Transformer", "Pooling")["modules.json"]}, r"no 1_Pooling/config\.json\. Fetch it"),
        (listing("Router"), r"modules\.json has Router \(Router\)"),
        (listing("Mine", "Pooling"), r"modules\.json has custom_st\.Mine \(custom_st\.Mine\)"),
        (
            {"config_sentence_transformers.json": {**PROMPTS, "default_prompt_name": "query"}},
            r"prompt 'query: ', which",
        ),
        ({"config_sentence_transformers.json": {**PROMPTS, "default_prompt_name": "none"}}, None),
        ({"config_sentence_transformers.json": {**PROMPTS, "default_prompt_name": None}}, None),
        (CASED, r"has do_lower_case, the tokenizer has not\. Write tokenizer: \{do_lower_case: true\}"),
        ({**CASED, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True}}, None),
    ],
)
def test_what_sentence_transformers_would_do_is_done_or_refused(
    tiny_model: TinyModel, tmp_path: Path, files: dict[str, object], found: str | None
) -> None:
    folder = model_with_pooling(tiny_model, tmp_path, "")
    (folder / "1_Pooling/config.json").unlink()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    if found in ("mean", None):
        check_files(folder, sentence_vector="auto")
        assert check_model(folder, sentence_vector="auto")["sentence_vector"] == found
        return
    for check in (check_files, check_model):
        with pytest.raises(InputError, match=rf"model {folder}: .*{found}.* `sentence_vector: mean`"):
            check(folder, sentence_vector="auto")
        check(folder, sentence_vector="cls")
    assert re.search(found, check_model(folder)["unknown_pooling"])


@pytest.mark.parametrize(("asked", "pooling"), read_cases(__file__, "asked_poolings"))
def test_what_the_config_says_is_what_is_pooled(asked: str | None, pooling: str) -> None:
    assert str(replace(SETTINGS, sentence_vector=asked).pooling) == pooling


@pytest.mark.parametrize("asked", ["auto", "middle"])
def test_what_is_not_settled_has_no_pooling(asked: str) -> None:
    with pytest.raises(InputError, match=rf"pooling is '{asked}'; write one of cls, mean, last"):
        _ = replace(SETTINGS, sentence_vector=asked).pooling


@pytest.mark.parametrize("kind", FAMILIES)
def test_every_family_settles(tiny_model: TinyModel, kind: str) -> None:
    report = check_model(tiny_model(kind))
    settled = settle_sentence_vector(replace(SETTINGS, sentence_vector="auto"), report).sentence_vector
    assert settled == {"mbart": "mean", "mt5": "mean"}.get(kind, "last" if FAMILIES[kind].causal else "cls")
    for asked in ("mean", "last", "word", "position"):
        assert settle_sentence_vector(replace(SETTINGS, sentence_vector=asked), report).sentence_vector == asked
    assert settle_sentence_vector(SETTINGS, report) == SETTINGS


@pytest.mark.parametrize(("kind", "begins", "asked", "message"), read_cases(__file__, "first_positions"))
def test_a_first_position_that_says_nothing_is_refused(kind: str, begins: bool, asked: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        settle_sentence_vector(replace(SETTINGS, sentence_vector=asked), {"kind": kind, "begins_with_special": begins})


@pytest.mark.parametrize(
    ("kind", "special"), [("bert", 1), ("xlm-roberta", 1), ("mbart", 0), ("gpt2", 0), ("llama", 1), ("llama3", 1)]
)
def test_the_place_of_a_word_if_every_word_were_one_piece(
    tiny_model: TinyModel, plain: Plain, kind: str, special: int
) -> None:
    text = "মায়ের হাতে একটি লাল “গোলাপ” ছিল"
    words = text.split()
    spans = [(0, 6), (7, 11), (17, 20), (22, 27), (29, 32)]
    assert [text[slice(*span)] for span in spans] == ["মায়ের", "হাতে", "লাল", "গোলাপ", "ছিল"]
    assert [words.index(next(w for w in words if text[slice(*span)] in w)) for span in spans] == [0, 1, 3, 4, 5]
    encoder = load_encoder(tiny_model(kind), device="cpu")
    found = encoder.embed([text] * 5, spans, pieces="position")
    states = plain(kind).states(plain(kind).tokenize(text)[0])[-1]
    np.testing.assert_allclose(found, states[[special + i for i in (0, 1, 3, 4, 5)]], atol=1e-5)


def test_at_a_place_the_piece_that_stands_there_is_the_unknown_one(tiny_model: TinyModel) -> None:
    """The vector is that piece's: an unknown target elsewhere does not spoil it, and an unknown piece there does."""
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    text = "মায়ের ☃ গোলাপ ছিল"  # pieces: [CLS] মা ##য় ##ের [UNK] গোলাপ ছিল
    spans = {"মায়ের": (0, 6), "☃": (7, 8), "গোলাপ": (9, 14), "ছিল": (15, 18)}
    assert all(text[slice(*span)] == word for word, span in spans.items())
    counts = {
        positions: read_inputs(
            encoder.loaded, None, [text] * 4, list(spans.values()), Pooling("target", positions)
        ).n_unknown.tolist()
        for positions in ("all", "position")
    }
    # words 0 to 3 stand at places 1 to 4: মা, ##য়, ##ের, and [UNK] in the place of ছিল
    assert counts == {"all": [0, 1, 0, 0], "position": [0, 0, 0, 1]}


def test_a_text_cut_to_fit_keeps_the_piece_at_the_place(tiny_model: TinyModel, plain: Plain) -> None:
    words = [["গোলাপ", "ছিল"][i % 2] for i in range(60)]
    text = " ".join(words)
    start = len(" ".join(words[:50])) + 1
    encoder = load_encoder(tiny_model("bert", 40), device="cpu")
    found = encoder.embed([text], [(start, start + 5)], pieces="position")
    ids = plain("bert", 40).tokenize(text)[0]
    assert len(ids) == 62  # every word is one piece, so that word 50 is at place 51
    kept = [ids[0], *ids[23:61], ids[61]]  # 38 of them fit, the last ones
    np.testing.assert_allclose(found[0], plain("bert", 40).states(kept)[-1][1 + 51 - 23], atol=1e-5)


def shard(
    tmp_path: Path, folder: Path, texts: list[str], spans: list[tuple[int, int]], asked: str, unknown: Any = "leave-out"
) -> Any:
    items = [(text[slice(*span)], text, span) for text, span in zip(texts, spans, strict=True)]
    segments = write_segments(tmp_path / "templates.parquet", items, "templates")
    made = ShardFiles(segments, tmp_path / "00.parquet", tmp_path / "00.left_out.tsv", {"stage": "embeddings"})
    source = VectorSource([Store(tmp_path / "store", KEY, COLUMNS)], lambda: load_encoder(folder, device="cpu"))
    settings = replace(SETTINGS, sentence_vector=asked, unknown=unknown)
    return embed_shards([made], [source], settings, width=32)[0]


# A joiner by itself is a word to white space, and nothing to BERT's normalizer: the text has two words and one piece.
BEYOND, BEYOND_SPAN = "\u200d গোলাপ", (2, 7)


def test_a_target_beyond_the_pieces_is_left_out_with_its_reason(tmp_path: Path, tiny_model: TinyModel) -> None:
    texts, spans = [BEYOND, "গোলাপ ছিল", "গোলাপ ☃"], [BEYOND_SPAN, (0, 5), (6, 7)]
    report = shard(tmp_path, tiny_model("muril"), texts, spans, "position")
    assert report["embedded"] == 3
    table = pq.read_table(tmp_path / "00.parquet")
    assert table.column("occurrence_id").to_pylist() == ["o1"]
    assert json.loads(made_from(tmp_path / "00.parquet")["left_out"]) == {"গোলাপ": {"position": 1}, "☃": {"unknown": 1}}
    lines = (tmp_path / "00.left_out.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[1:] for line in lines[1:]] == [
        ["o0", "গোলাপ", "গোলাপ", "no piece at the position that the target has among the words"],
        ["o2", "☃", "☃", "1 of 1 pieces unknown to the tokenizer"],
    ]
    again = shard(tmp_path, tiny_model("muril"), texts, spans, "position", unknown="keep")
    assert again["embedded"] == 0
    # unknown pieces may be kept, a vector of nothing may not
    assert pq.read_table(tmp_path / "00.parquet").column("occurrence_id").to_pylist() == ["o1", "o2"]
    list_shards([tmp_path / "00.parquet"], tmp_path / "templates.json")
    assert json.loads((tmp_path / "templates.json").read_text())["left_out"] == {"গোলাপ": {"position": 1}}
