"""What the page says of embeddings: what was lost and why, what the models are, and what no file tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prasanga.report.embedded import Count, Embedded, Loss, Precision, embedded_section
from prasanga.report.study import EmbeddingFiles, left_out_of, read_embedding_files
from prasanga.report.tokenizers import describe_tokenizer

GLOSSES = {"গোলাপ": "rose", "মশা": "mosquito"}


@pytest.fixture
def section(embedding_files: EmbeddingFiles) -> Embedded:
    return embedded_section(embedding_files, GLOSSES)


def test_what_a_model_is(section: Embedded) -> None:
    bert, gpt, last = section.models
    assert bert == (
        "bert",
        "hub/bert at c0ffee, which the config does not pin",
        "encoder",
        "334.1 million",
        "1024",
        "512",
        "24 of 24, the last",
        "mean of all",
        "bfloat16",
        "float16",
        "strip_accents: false",
        "none",
    )
    assert gpt.source == "models/gpt, folder with sha256 abababababababab…"
    assert gpt.longest == "no limit"
    assert (gpt.layer, last.layer) == ("6 of 12", "12 of 12, the last")
    assert (gpt.kind, gpt.pieces, gpt.quantization, gpt.tokenizer) == ("decoder", "last", "int8", "none")
    assert section.decoders == ["gpt-layer6", "gpt-layer12"]
    assert section.encoder_decoders == []


def test_vectors_are_counted_by_length_from_short_to_long(section: Embedded) -> None:
    assert section.lengths == ["9", ">75"]
    bert, gpt, _ = section.vectors
    assert (bert.cells, bert.total, bert.size) == ([Count(100, 0, 0), Count(60, 0, 7)], Count(160, 0, 7), "4.4 MB")
    assert (gpt.cells, gpt.total) == ([Count(95, 5, 0), Count(59, 1, 0)], Count(154, 6, 0))


def test_every_dropped_target_has_its_reason_and_layers_of_one_model_are_told_once(section: Embedded) -> None:
    why = "the tokenizer does not know a piece of it"
    assert section.left_out == [
        Loss("মশা", "mosquito", "gpt", why, [4, 0], 4),
        Loss("গোলাপ", "rose", "gpt", why, [1, 1], 2),
    ]
    assert section.cut == [Loss("মশা", "mosquito", "bert", "more pieces than the model reads", [0, 7], 7)]
    assert section.summary == "6 of 320 targets were left out, 7 contexts were cut to fit the model."
    assert section.missing == []


def test_a_reason_of_another_name_is_shown_as_it_is(embedding_files: EmbeddingFiles) -> None:
    reasons = {"left_out": {"মশা": {"lost at sea": 2, "unknown": 3}}}
    lists = {("bert", "9"): {**embedding_files.lists["bert", "9"], **reasons}}
    found = embedded_section(embedding_files._replace(lists=lists), {}).left_out
    assert [(loss.reason, loss.total) for loss in found] == [
        ("the tokenizer does not know a piece of it", 3),
        ("lost at sea", 2),
    ]


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
    assert embedded_section(files, {}).summary == sentence


def test_what_was_kept_with_unknown_pieces_is_said(embedding_files: EmbeddingFiles) -> None:
    lists = {("bert", "9"): {"n_segments": 258, "left_out": {}, "cut": {}, "unknown": {"মশা": 200, "গোলাপ": 10}}}
    files = embedding_files._replace(studied={"bert": embedding_files.studied["bert"]}, lists=lists)
    summary = embedded_section(files, {}).summary
    assert summary.startswith("Nothing was dropped: all 258 targets")
    assert summary.endswith(" 210 have a piece that the tokenizer does not know, and were kept as the config says.")


def test_the_difference_to_float32(section: Embedded) -> None:
    assert section.precisions[:2] == [
        Precision("bert", "1,024", "0.9998700", "0.9971234", "0.9999999", ""),
        Precision("gpt-layer6", "–", "–", "–", "–", "the model ran in float32"),
    ]


def test_what_no_file_tells_is_said(embedding_files: EmbeddingFiles) -> None:
    old = {("bert", "9"): {"n_segments": 5, "made_from": {}}}
    section = embedded_section(EmbeddingFiles(embedding_files.studied, old, {}, {}, {}, {}), {})
    assert section.missing == [
        "No list of vectors is there for gpt-layer6, gpt-layer12.",
        "What was left out or cut is not said in the lists of bert.",
        "The check of the model is not there for bert, gpt: its kind and its number of parameters are not known.",
        "The comparison with float32 is not there for bert, gpt-layer6, gpt-layer12.",
        "The audit of the tokenizer is not there for bert, gpt.",
    ]
    assert section.summary == ""
    bert = section.models[0]
    assert (bert.kind, bert.parameters, bert.layer, bert.precision) == (
        "not known",
        "not known",
        "−1, the last",
        "auto",
    )
    assert bert.source == "hub/bert at main"
    assert section.vectors[0].cells == [Count(5, None, None)]
    assert (section.tokenizers, section.precisions) == ([], [])


def test_lists_tell_of_models_that_nothing_else_tells_of(embedding_files: EmbeddingFiles) -> None:
    section = embedded_section(embedding_files._replace(reports={}, precisions={}), {})
    assert (section.models[0].source, section.models[0].precision) == ("hub/bert at older", "bfloat16")


def test_trained_models_and_code_of_their_own_are_named() -> None:
    own_code = {"path": "hub/own", "revision": "main", "layer": -1, "remote_code": True}
    studied = {"tiny": {"train": {"seed": 1}, "layer": 0}, "own": own_code}
    tiny, own = embedded_section(EmbeddingFiles(studied, {}, {}, {}, {}, {}), {}).models
    assert (tiny.source, tiny.layer) == ("trained in this study", "0, the input embeddings")
    assert own.source == "hub/own at main, with Python code of its own"


def test_a_tokenizer_in_numbers_examples_and_stimuli(embedding_files: EmbeddingFiles) -> None:
    summary, table = embedding_files.audits["bert"], embedding_files.audit_tables["bert"]
    found = describe_tokenizer("bert", summary, table, GLOSSES)
    assert (found.forms, found.stimuli, found.pieces, found.damaged) == (1000, 2, 1.75, 1)
    assert found.shares == ["1.25 %", "0 %", "50 %"]
    assert found.examples == [
        ("Pieces that it does not know", ["মশার -> [UNK]"]),
        ("The same pieces for two stimuli", ["ফুল (ফুল) and ফল (ফল)"]),
    ]
    damage = "মশার -> [UNK]; মশা (মশা) and মাছি (মাছি)"
    assert found.rows[0] == ("মশা", "mosquito", 400, 2.125, 5, 12, 0, "মাছি", damage)
    assert found.rows[1].stimulus == "গোলাপ"
    assert describe_tokenizer("bert", summary, None, {}).rows == []


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
