"""Models that write are trained as masked ones are: the same bits every time, and something is learnt."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tables import read_data
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from prasanga.likelihoods.engine import Scorer, load_scorer
from prasanga.likelihoods.scoring import SentenceQueries
from prasanga.models import check_model
from prasanga.models.heads import load_with_head
from prasanga.models.pieces import overlapping, read_pieces
from prasanga_calibration import train_model
from prasanga_calibration.training import SENTINELS, hide_words, piece_id, places_of, read_stream, train_byte_tokenizer

WHERE, WHAT = ("ঘরে", "বাগানে", "মাঠে"), ("ফুল", "চাঁদ", "পাখি", "নদী")
TEXTS = [f"{who} {where} {what} দেখে।" for who in ("মা", "বাবা", "রহিম") for where in WHERE for what in WHAT]
SMALL: dict[str, Any] = {**read_data(__file__, "small_training"), "vocabulary_size": 400}
# In these any word says which sentence it is.
SENTENCES = [
    "মা সকালে রান্নাঘরে ভাত রাঁধেন।",
    "রহিম বিকেলে মাঠে বল খেলে।",
    "দাদু রোজ বাগানে গাছে জল দেন।",
    "মেয়েটি রাতে ছাদে তারা দেখে।",
    "শিক্ষক ক্লাসে নতুন কবিতা পড়ান।",
    "মাঝি ভোরে নদীতে নৌকা বায়।",
]
LEARNING = {**SMALL, "hidden_size": 32, "steps": 150, "learning_rate": 1e-2}
FILLING = {**SMALL, "hidden_size": 64, "heads": 4, "vocabulary_size": 450, "steps": 300, "learning_rate": 4e-3}
LEARNT = {"decoder": (TEXTS, LEARNING), "encoder-decoder": (SENTENCES, FILLING)}
FILES = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "training.json"}
WRITING = ("decoder", "encoder-decoder")
FOREIGN = "लड़की ने Rose, ক্ষমা\u200d য়ো 🌙 कहा।"


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    """Folder and report of a model of each kind."""
    found = {}
    for kind, (texts, settings) in LEARNT.items():
        folder = tmp_path_factory.mktemp(kind)
        found[kind] = (folder, train_model(texts, folder, kind=kind, seed=3, **settings))
    return found


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", ["encoder", *WRITING])
def test_two_runs_write_the_same_bytes_whatever_the_threads(kind: str, tmp_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        train_model(TEXTS, tmp_path / "one", kind=kind, seed=3, **SMALL)
        torch.set_num_threads(2)
        torch.rand(5)  # somebody else's use of the global generator changes nothing
        train_model(TEXTS, tmp_path / "two", kind=kind, seed=3, **SMALL)
        assert torch.get_num_threads() == 2
        assert not torch.are_deterministic_algorithms_enabled()
    finally:
        torch.set_num_threads(before)
    train_model(TEXTS, tmp_path / "three", kind=kind, seed=4, **SMALL)
    one, other = digests(tmp_path / "one"), digests(tmp_path / "three")
    assert one == digests(tmp_path / "two")
    assert one.keys() == FILES
    assert one["tokenizer.json"] == other["tokenizer.json"]
    assert one["model.safetensors"] != other["model.safetensors"]


@pytest.mark.parametrize("kind", WRITING)
def test_it_learns_and_reports_its_losses(learnt: dict[str, tuple[Path, Any]], kind: str) -> None:
    folder, report = learnt[kind]
    written = json.loads((folder / "training.json").read_text())
    assert (written["kind"], written["losses"]) == (kind, list(report.losses))
    # The frequencies of the pieces alone, without a look at the context, reach no less than their entropy.
    assert report.losses[0] > report.entropy + 0.5
    assert report.losses[-1] < report.entropy - 0.7
    assert written["entropy"] == report.entropy


@pytest.mark.parametrize("kind", WRITING)
def test_transformers_loads_it_as_it_was_trained(learnt: dict[str, tuple[Path, Any]], kind: str) -> None:
    folder, _ = learnt[kind]
    loader = AutoModelForCausalLM if kind == "decoder" else AutoModelForSeq2SeqLM
    model, report = loader.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.is_fast
    assert tokenizer.model_max_length == 512
    assert model.config.pad_token_id == tokenizer.pad_token_id == 0
    assert model.config.eos_token_id == tokenizer.eos_token_id
    texts, settings = LEARNT[kind]
    trained = train_byte_tokenizer(texts, settings["vocabulary_size"], sentinels=kind != "decoder")
    for text in (TEXTS[5], FOREIGN):
        assert tokenizer(text)["input_ids"] == trained.encode(text).ids
    if kind == "decoder":
        assert model.config.bos_token_id == tokenizer.bos_token_id == 1
        assert tokenizer("মা")["input_ids"][0] == 1
    else:
        assert model.config.decoder_start_token_id == 0
        assert tokenizer("মা")["input_ids"][-1] == tokenizer.eos_token_id == 1
        assert tokenizer("মা <extra_id_0> দেখে")["input_ids"].count(tokenizer.convert_tokens_to_ids("<extra_id_0>")) == 1


@pytest.mark.parametrize("kind", WRITING)
def test_the_likelihood_stage_can_use_it(learnt: dict[str, tuple[Path, Any]], kind: str) -> None:
    folder, _ = learnt[kind]
    asked = check_model(folder, stages=["embeddings", "likelihoods"], masked=["encoder", "encoder-decoder"])
    assert (asked["kind"], asked["head"]) == (kind, True)
    assert asked["mask"] == (None if kind == "decoder" else "<extra_id_0>")
    loaded = load_with_head(folder, device="cpu")
    assert (loaded.kind, loaded.max_pieces) == (kind, 512)


def test_every_letter_has_pieces_and_spans_of_whole_characters() -> None:
    tokenizer = train_byte_tokenizer(TEXTS, 400)
    encoded = tokenizer.encode(FOREIGN)
    assert tokenizer.decode(encoded.ids) == FOREIGN
    covered = {place for start, end in encoded.offsets for place in range(start, end)}
    assert {place for place, letter in enumerate(FOREIGN) if not letter.isspace()} <= covered
    assert not any(FOREIGN[start:end].startswith(" ") for start, end in encoded.offsets[1:])
    assert tokenizer.token_to_id("<unk>") is None
    assert encoded.ids[0] == piece_id(tokenizer, "<s>")


def test_a_letter_and_its_marks_stay_in_one_word() -> None:
    tokenizer = train_byte_tokenizer(TEXTS, 400)
    words = tokenizer.pre_tokenizer.pre_tokenize_str("ক্ষ\u200dমা, काँ 12টা।")
    assert [span for _, span in words] == [(0, 6), (6, 7), (7, 11), (11, 14), (14, 16), (16, 17)]


def test_windows_begin_where_texts_do_or_anywhere() -> None:
    tokenizer = train_byte_tokenizer(TEXTS, 400)
    stream = read_stream(tokenizer, TEXTS)
    begin, end = piece_id(tokenizer, "<s>"), piece_id(tokenizer, "</s>")
    assert [stream.pieces[place] for place in stream.texts] == [begin] * len(TEXTS)
    assert (stream.pieces == end).sum() == len(TEXTS)
    first = tokenizer.encode(TEXTS[0])
    assert stream.pieces[: len(first.ids) + 1].tolist() == [*first.ids, end]
    # <s>, four words, the danda, </s>
    assert stream.starts[: len(first.ids) + 1].sum() == 7
    places = places_of(np.random.default_rng(1), stream, rows=2000, length=9)
    assert places.shape == (2000, 9)
    assert (np.diff(places) % len(stream.pieces) == 1).all()
    at_a_text = (stream.pieces[places[:, 0]] == begin).mean()
    assert at_a_text == pytest.approx(0.5 + 0.5 * len(TEXTS) / len(stream.pieces), abs=0.04)


def test_hidden_words_are_whole_and_can_be_put_back() -> None:
    tokenizer = train_byte_tokenizer(TEXTS, 400, sentinels=True)
    stream = read_stream(tokenizer, TEXTS)
    sentinels = [piece_id(tokenizer, sentinel) for sentinel in SENTINELS]
    end, rng = piece_id(tokenizer, "</s>"), np.random.default_rng(2)
    hidden, ordinary = 0, 0
    for _ in range(300):
        places = places_of(rng, stream, rows=1, length=40)[0]
        pieces, starts = stream.pieces[places], stream.starts[places]
        made = hide_words(rng, pieces, starts, tokenizer)
        assert made.read[-1] == made.written[-1] == end
        runs: dict[int, list[int]] = {}
        for piece in made.written[:-1]:
            if piece in sentinels:
                runs[piece] = []
            else:
                runs[list(runs)[-1]].append(piece)
        assert list(runs) == sentinels[: len(runs)]
        assert runs.pop(sentinels[len(runs) - 1]) == []  # the last one closes
        assert all(runs.values())
        back = [piece for one in made.read[:-1] for piece in (runs[one] if one in sentinels else [one])]
        assert back == pieces.tolist()
        # A run begins where a word does, or where the window does, and ends before one.
        place = 0
        for one in made.read[:-1]:
            if one in sentinels:
                assert starts[place] or place == 0
                place += len(runs[one])
                assert place == len(pieces) or starts[place]
            else:
                place += 1
        hidden += sum(map(len, runs.values()))
        ordinary += int((pieces > sentinels[-1]).sum())
    assert 0.22 < hidden / ordinary < 0.29  # a quarter of the words


def _probability(scorer: Scorer, queries: SentenceQueries, sentence: str, word: str) -> float:
    pieces = queries.read([sentence])[sentence]
    start = sentence.index(word)
    (query,) = queries.queries(pieces, [(start, start + len(word))])
    return float(scorer.log_probabilities([query])[0].sum())


def test_infill_asks_what_the_encoder_decoder_was_trained_for(learnt: dict[str, tuple[Path, Any]]) -> None:
    scorer = load_scorer(learnt["encoder-decoder"][0], device="cpu")
    queries = SentenceQueries(scorer.model, "infill", language="bn")
    sentence, word = SENTENCES[0], "ভাত"
    start = sentence.index(word)
    pieces = read_pieces(scorer.tokenizer, [sentence])[sentence]
    own = overlapping(pieces, start, start + len(word))
    (query,) = queries.queries(pieces, [(start, start + len(word))])
    first = scorer.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    ids = [pieces.ids[place] for place in own]
    assert query.ids == (*pieces.ids[: own[0]], first, *pieces.ids[own[-1] + 1 :])
    assert query.decoder_ids == (0, first, *ids[:-1])
    # What is cooked is what was cooked in the text, and not what was played with, looked at or read.
    words = [sentence.split()[2] for sentence in SENTENCES]
    asked = [
        [_probability(scorer, queries, sentence.replace(own, word), word) for word in words]
        for sentence, own in zip(SENTENCES, words, strict=True)
    ]
    values = np.array(asked)
    assert values.argmax(axis=1).tolist() == list(range(6))
    right = np.eye(6, dtype=bool)
    assert values[right].mean() > values[~right].mean() + 2


@pytest.mark.parametrize("kind", WRITING)
def test_a_sentence_like_the_text_is_more_probable(learnt: dict[str, tuple[Path, Any]], kind: str) -> None:
    scorer = load_scorer(learnt[kind][0], device="cpu")
    queries = SentenceQueries(scorer.model, "causal", language="bn")
    plain = LEARNT[kind][0][3]
    mixed = " ".join(reversed(plain.removesuffix("।").split())) + "।"
    read = queries.read([plain, mixed])
    values = scorer.log_probabilities([next(iter(queries.queries(read[text], []))) for text in (plain, mixed)])
    assert values[0].mean() > values[1].mean() + 1
