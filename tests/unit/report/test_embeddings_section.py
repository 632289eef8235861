"""What the page says of embeddings: what was lost and why, what the models are, and what no file tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from page_parts import lines_of, numbers_of, part_of, plain, said_in, sheet_of

from prasanga.report.page import methods
from prasanga.report.section import Section
from prasanga.report.sections.texts import embeddings
from prasanga.report.study import EmbeddingFiles, Results, left_out_of, read_embedding_files

GLOSSES = {"গোলাপ": "rose", "মশা": "mosquito"}
WHY = "the tokenizer does not know a piece of it"


def section_of(files: EmbeddingFiles, glosses: dict[str, str] | None = None) -> Section:
    section = embeddings(Results(embeddings=files, categories={"glosses": glosses or {}}))
    assert section is not None
    return section


@pytest.fixture
def section(embedding_files: EmbeddingFiles) -> Section:
    return section_of(embedding_files, GLOSSES)


def models_of(section: Section) -> list[dict[str, str]]:
    sheet = sheet_of(section, "Models, and how")
    return [numbers_of(sheet, row) for row in sheet.rows]


def test_what_a_model_is(section: Section) -> None:
    bert, gpt, last = models_of(section)
    assert bert == {
        "Kind": "encoder",
        "Weights": "hub/bert at c0ffee, which the config does not pin",
        "Parameters": "334.1 million",
        "Dimensions": "1024",
        "Reads pieces": "512",
        "Layer": "24 of 24, the last",
        "Pieces of the target": "mean of all",
        "Run in": "bfloat16",
        "Kept in": "float16",
        "Tokenizer options": "strip_accents: false",
        "Quantization": "none",
    }
    assert gpt["Weights"] == "models/gpt, folder with sha256 abababababababab…"
    assert gpt["Reads pieces"] == "no limit"
    assert (gpt["Layer"], last["Layer"]) == ("6 of 12", "12 of 12, the last")
    shown = [gpt[name] for name in ("Kind", "Pieces of the target", "Quantization", "Tokenizer options")]
    assert shown == ["decoder", "last", "int8", "none"]
    said = said_in(section)
    assert "gpt-layer6, gpt-layer12: a decoder reads from left to right" in said
    assert "vectors are those of the encoder" not in said


def test_an_encoder_decoder_is_said_to_be_one(embedding_files: EmbeddingFiles) -> None:
    both = {**embedding_files.reports["bert"], "kind": "encoder-decoder"}
    section = section_of(embedding_files._replace(reports={**embedding_files.reports, "bert": both}))
    assert "bert: vectors are those of the encoder; the decoder is not used." in said_in(section)


def test_vectors_are_counted_by_length_from_short_to_long(section: Section) -> None:
    sheet = sheet_of(section, "Vectors by segment length")
    assert [name for _, name in sheet.columns] == ["9 words", ">75 words", "In all", "On disk"]
    bert, gpt, _ = lines_of(sheet)
    assert bert == ["bert", "100", "60 7 cut", "160 7 cut", "4.4 MB"]
    assert gpt[:4] == ["gpt-layer6", "95 5 left out", "59 1 left out", "154 6 left out"]


def test_every_dropped_target_has_its_reason_and_layers_of_one_model_are_told_once(section: Section) -> None:
    assert lines_of(sheet_of(section, "Targets left out")) == [
        ["মশা", "mosquito", "gpt", WHY, "4", "0", "4"],
        ["গোলাপ", "rose", "gpt", WHY, "1", "1", "2"],
    ]
    assert lines_of(sheet_of(section, "Contexts cut to fit the model")) == [
        ["মশা", "mosquito", "bert", "more pieces than the model reads", "0", "7", "7"]
    ]
    sentence = "6 of 320 targets were left out, 7 contexts were cut to fit the model."
    assert plain(section.text[0]) == sentence
    assert "not there" not in " ".join(map(plain, section.text))


def test_a_reason_of_another_name_is_shown_as_it_is(embedding_files: EmbeddingFiles) -> None:
    reasons = {"left_out": {"মশা": {"lost at sea": 2, "unknown": 3}}}
    lists = {("bert", "9"): {**embedding_files.lists["bert", "9"], **reasons}}
    found = sheet_of(section_of(embedding_files._replace(lists=lists)), "Targets left out")
    assert [(line[3], line[-1]) for line in lines_of(found)] == [(WHY, "3"), ("lost at sea", "2")]


@pytest.mark.parametrize(
    ("left_out", "cut", "sentence"),
    [
        ({}, {}, "Nothing was dropped: all 1,234 targets have their vectors, each from its whole segment."),
        ({}, {"মশা": 2}, "No target was left out, 2 contexts were cut to fit the model."),
        ({"মশা": {"unknown": 1}}, {}, "1 of 1,235 targets were left out, no context was cut."),
    ],
)
def test_the_sentence_on_top(
    embedding_files: EmbeddingFiles, left_out: dict[str, Any], cut: dict[str, int], sentence: str
) -> None:
    lists = {("bert", "9"): {"n_segments": 1234, "left_out": left_out, "cut": cut}}
    files = embedding_files._replace(studied={"bert": embedding_files.studied["bert"]}, lists=lists)
    assert plain(section_of(files).text[0]) == sentence


def test_what_was_kept_with_unknown_pieces_is_said(embedding_files: EmbeddingFiles) -> None:
    lists = {("bert", "9"): {"n_segments": 258, "left_out": {}, "cut": {}, "unknown": {"মশা": 200, "গোলাপ": 10}}}
    files = embedding_files._replace(studied={"bert": embedding_files.studied["bert"]}, lists=lists)
    summary = plain(section_of(files).text[0])
    assert summary.startswith("Nothing was dropped: all 258 targets")
    assert summary.endswith(" 210 have a piece that the tokenizer does not know, and were kept as the config says.")


def test_the_difference_to_float32(section: Section) -> None:
    assert lines_of(sheet_of(section, "Cosine between"))[:2] == [
        ["bert", "1,024", "0.9998700", "0.9971234", "0.9999999", ""],
        ["gpt-layer6", "–", "–", "–", "–", "the model ran in float32"],
    ]


def test_what_no_file_tells_is_said(embedding_files: EmbeddingFiles) -> None:
    old = {("bert", "9"): {"n_segments": 5, "made_from": {}}}
    section = section_of(EmbeddingFiles(embedding_files.studied, old, {}, {}, {}, {}))
    assert section.text == [
        "No list of vectors is there for gpt-layer6, gpt-layer12.",
        "What was left out or cut is not said in the lists of bert.",
        "The check of the model is not there for bert, gpt: its kind and its number of parameters are not known.",
        "The comparison with float32 is not there for bert, gpt-layer6, gpt-layer12.",
        "The audit of the tokenizer is not there for bert, gpt.",
    ]
    bert = models_of(section)[0]
    names = ("Kind", "Parameters", "Layer", "Run in", "Weights")
    assert [bert[name] for name in names] == ["not known", "not known", "−1, the last", "auto", "hub/bert at main"]
    assert lines_of(sheet_of(section, "Vectors by segment length"))[0] == ["bert", "5", "5", "not known"]
    assert section.parts == []


def test_lists_tell_of_models_that_nothing_else_tells_of(embedding_files: EmbeddingFiles) -> None:
    bert = models_of(section_of(embedding_files._replace(reports={}, precisions={})))[0]
    assert (bert["Weights"], bert["Run in"]) == ("hub/bert at older", "bfloat16")


def test_trained_models_and_code_of_their_own_are_named() -> None:
    own_code = {"path": "hub/own", "revision": "main", "layer": -1, "remote_code": True}
    studied = {"tiny": {"train": {"seed": 1}, "layer": 0}, "own": own_code}
    tiny, own = models_of(section_of(EmbeddingFiles(studied, {}, {}, {}, {}, {})))
    assert (tiny["Weights"], tiny["Layer"]) == ("trained in this study", "0, the input embeddings")
    assert own["Weights"] == "hub/own at main, with Python code of its own"


def test_a_tokenizer_in_numbers_examples_and_stimuli(section: Section) -> None:
    bert, _ = lines_of(sheet_of(section, "What the tokenizers make"))
    assert bert == ["bert", "1,000", "4,000", "850", "1.75", "1.25 %", "0 %", "50 %"]
    audit = part_of(section, "Audit of the tokenizers")
    part = part_of(audit, "bert 1 of 2 stimuli with a form that comes out damaged")
    assert part.items == [
        "Pieces that it does not know: মশার -> [UNK]",
        "The same pieces for two stimuli: ফুল (ফুল) and ফল (ফল)",
    ]
    damage = "মশার -> [UNK]; মশা (মশা) and মাছি (মাছি)"
    first, second = lines_of(part.sheets[0])
    assert first == ["মশা", "mosquito", "ম + শা", "400", "50", "2.12", "5", "12", "0", "মাছি", damage]
    assert second[0] == "গোলাপ"
    assert part_of(audit, "gpt examples; the table by stimulus is not there").sheets == ()


def test_left_out_by_stimulus_and_length(embedding_files: EmbeddingFiles) -> None:
    assert left_out_of(embedding_files) == {
        ("মশা", "9"): {"gpt": 4},
        ("গোলাপ", "9"): {"gpt": 1},
        ("গোলাপ", ">75"): {"gpt": 1},
    }
    assert left_out_of(embedding_files._replace(lists={})) == {}


def test_files_are_told_apart_by_their_names(tmp_path: Path, embedding_files: EmbeddingFiles) -> None:
    table = embedding_files.audit_tables["bert"]
    folders = {
        "embeddings/v.1": ("9.json", "over75.json", "precision.json"),
        "models": ("v.1.json", "v.1.tokenizer.json"),
    }
    for folder, names in folders.items():
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).write_text(json.dumps({"is": name}))
    table.write_parquet(tmp_path / "models/v.1.tokenizer.parquet")
    found = read_embedding_files({}, [str(path) for path in tmp_path.rglob("*.*") if path.is_file()])
    assert found.lists == {("v.1", "9"): {"is": "9.json"}, ("v.1", ">75"): {"is": "over75.json"}}
    assert found.precisions == {"v.1": {"is": "precision.json"}}
    assert found.reports == {"v.1": {"is": "v.1.json"}}
    assert found.audits == {"v.1": {"is": "v.1.tokenizer.json"}}
    assert found.audit_tables["v.1"].equals(table)
    assert read_embedding_files({}, []) == EmbeddingFiles({}, {}, {}, {}, {}, {})


def test_the_list_of_models_has_the_size_of_their_vectors(embedding_files: EmbeddingFiles) -> None:
    config = {"models": {"bert": {"path": "hub/bert"}, "new": {"path": "hub/new"}}}
    section = methods(config, Results(embeddings=embedding_files))
    sheet = sheet_of(section, "Models measured")
    sizes = {plain(row.labels[0]): numbers_of(sheet, row)["Dimensions"] for row in sheet.rows}
    assert sizes == {"bert": "1024", "new": "not known"}
    without = sheet_of(methods(config, Results()), "Models measured")
    assert {numbers_of(without, row)["Dimensions"] for row in without.rows} == {"not known"}
