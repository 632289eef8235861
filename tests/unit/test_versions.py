"""Version constants: what each covers is compared with tests/golden/versions.json, on small fixed input.

Rules that cost a corpus pass, a training or a forward pass run again only when their constant is raised. Whoever
changes what they give must raise it. `python tests/unit/test_versions.py` writes the file after that.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from prasanga.base.io import digest_of
from prasanga.embeddings.settings import VECTORS_VERSION
from prasanga.likelihoods.stage import SCORES_VERSION
from prasanga.models.packaged import CHECKS_VERSION
from prasanga.pairs.reading import PAIRS_VERSION
from prasanga.sentences.files import SENTENCES_VERSION
from prasanga.static import STATIC_VERSION

GOLDEN = Path(__file__).parents[1] / "golden/versions.json"
INPUTS = GOLDEN.with_suffix("")


def find_sentences(folder: Path) -> dict[str, Any]:
    """Forms, sentences and segments, and the sentences of templates."""
    from prasanga.lexicon import forms_table, load_lexicon, load_templates
    from prasanga.samples import cut_segments, draw, fill_templates, parse_length
    from prasanga.sentences import SENTENCE_SCHEMA, ExtractionReport, Shard, extract_shard

    lexicon = load_lexicon(INPUTS / "words", INPUTS / "groups.yaml")
    templates = load_templates(INPUTS / "templates.yaml")
    shard = Shard(str(INPUTS / "text.txt"), "text.txt", "blank-line")
    options: dict[str, Any] = {"normalization": "bangla", "language": "bn", "before": 1, "after": 1}
    report = ExtractionReport()
    batches = extract_shard(shard, lexicon=lexicon, report=report, **options)
    sentences = pa.Table.from_batches(list(batches), SENTENCE_SCHEMA)
    found = {
        "forms": _digest(forms_table(lexicon)),
        "templates": _digest(fill_templates(lexicon, ["C1"], templates)),
        "sentences": _digest(sentences),
        "counts": report.as_dict(),
    }
    pl.DataFrame(sentences).write_parquet(folder / "sentences.parquet")
    lengths = [parse_length(length) for length in ("5", ">9")]
    drawn = draw([folder / "sentences.parquet"], lengths=lengths, pool="per_length", contexts_per_stimulus=2, seed=47)
    with cut_segments(drawn) as segments:
        for length in lengths:
            rows = pa.Table.from_batches(list(segments.batches(length, {"গোলাপ", "মা"})))
            found[f"segments {length.label}"] = _digest(rows)
    return found


def train_vectors(folder: Path) -> dict[str, Any]:
    """The sentences of a corpus as words, and two trainings on them."""
    from prasanga.sentences import Shard
    from prasanga.static.training import train, write_sentences
    from prasanga.text import normalizer

    (folder / "text.txt").write_text((INPUTS / "text.txt").read_text(encoding="utf-8") * 3, encoding="utf-8")
    shards = [Shard(str(folder / "text.txt"), "text.txt", "blank-line")]
    write_sentences(shards, folder / "sentences.txt", normalizer("bangla"), language="bn")
    found: dict[str, Any] = {"sentences": digest_of((folder / "sentences.txt").read_text(encoding="utf-8"))}
    for method in ("word2vec", "glove"):
        options = {"dimensions": 3, "window": 2, "minimum_count": 3, "epochs": 2, "seed": 3}
        trained = train(folder / "sentences.txt", method=method, **options)
        found[method] = {"words": digest_of(list(trained.words)), "first": trained.vectors[0].tolist()}
    return found


def embed(folder: Path) -> dict[str, Any]:
    """Vectors of words and of sentences, by an encoder and a decoder."""
    from tiny_models import SENTENCES, build

    from prasanga.embeddings import load_encoder

    spans = [next(re.finditer(r"\S+", text)).span() for text in SENTENCES]
    found = {}
    for kind in ("bert", "llama"):
        encoder = load_encoder(build(kind, folder / kind), device="cpu", dtype="float32")
        found[f"{kind}, words"] = encoder.embed(SENTENCES, spans)[:, :2].tolist()
        found[f"{kind}, sentences"] = encoder.encode(SENTENCES, pooling="last")[:, :2].tolist()
    return found


def score(folder: Path) -> dict[str, Any]:
    """Scores of pairs by models of two kinds, and of a word in a sentence."""
    from tiny_models import SENTENCES, build

    from prasanga.likelihoods import score_log_probability, score_pairs
    from prasanga.pairs import read_pairs

    pairs = read_pairs(INPUTS / "pairs.csv", "bn")
    found: dict[str, Any] = {}
    for kind, measure in (("bert", "p_unmodified"), ("llama", "causal")):
        model = build(kind, folder / kind)
        scores = score_pairs(model, pairs, measure=measure, device="cpu", dtype="float32")
        found[kind] = scores.select("score_first", "score_second").row(0)
    words = [match.span() for match in re.finditer(r"\S+", SENTENCES[0])]
    scored = score_log_probability(folder / "bert", [(SENTENCES[0], words[0], words[2])], device="cpu", dtype="float32")
    return {**found, "word in a sentence": scored.select("fill", "prior").row(0)}


def read_pairs_file(_folder: Path) -> dict[str, Any]:
    """Pairs of a file in two languages, and what is odd about them."""
    from prasanga.pairs import read_pair_file

    found = read_pair_file(INPUTS / "pairs.csv")
    return {"pairs": _digest(found.pairs), "oddities": _digest(found.oddities)}


def check(folder: Path) -> dict[str, Any]:
    """The report on a model, and on what its tokenizer makes of forms."""
    from tiny_models import build

    from prasanga.models import audit_tokenizer, check_model, load_tokenizer

    model = build("bert-without-marks", folder / "model")
    report = check_model(model)
    forms = pl.DataFrame({"form": ["গোলাপ", "গোলাপের", "মা", "📚"], "stimulus": ["গোলাপ", "গোলাপ", "মা", "বই"]})
    audit = audit_tokenizer(load_tokenizer(model), forms)
    report.pop("identity")  # digests of weights, which a library may draw differently
    return {"report": digest_of(report), "summary": audit.summary, "words": _digest(audit.table)}


CONSTANTS: dict[str, tuple[int, str, Callable[[Path], dict[str, Any]]]] = {
    "SENTENCES_VERSION": (SENTENCES_VERSION, "prasanga.sentences.files", find_sentences),
    "STATIC_VERSION": (STATIC_VERSION, "prasanga.static", train_vectors),
    "VECTORS_VERSION": (VECTORS_VERSION, "prasanga.embeddings.settings", embed),
    "SCORES_VERSION": (SCORES_VERSION, "prasanga.likelihoods.stage", score),
    "PAIRS_VERSION": (PAIRS_VERSION, "prasanga.pairs.reading", read_pairs_file),
    "CHECKS_VERSION": (CHECKS_VERSION, "prasanga.models.packaged", check),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_another_output_needs_another_version(name: str, tmp_path: Path) -> None:
    version, module, make = CONSTANTS[name]
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))[name]
    found = dict(_leaves(json.loads(json.dumps(make(tmp_path)))))
    expected = dict(_leaves(golden["output"]))
    keys = dict.fromkeys([*expected, *found])
    changed = [key for key in keys if not _is_same(found.get(key), expected.get(key))]
    write = "and write the new output: python tests/unit/test_versions.py"
    raised = f"raise {name} in {module} to {golden['version'] + 1}"
    assert not changed or version > golden["version"], (
        f"{', '.join(changed)} changed. If this is meant, {raised} {write}"
    )
    assert version == golden["version"], f"{name} is another number now, {write}"


def _leaves(value: Any, key: str = "") -> Any:
    """Yield the plain values of nested mappings and lists, each with where it is."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield key, value
        return
    for inner, each in items:
        yield from _leaves(each, f"{key}.{inner}" if key else str(inner))


def _is_same(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        return bool(found == pytest.approx(expected, rel=1e-3, abs=1e-4))
    return bool(found == expected)


def _digest(table: Any) -> str:
    """A digest of a table's names and values."""
    return digest_of(pl.DataFrame(table).to_dict(as_series=False))


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    written = {}
    for constant, (number, _, output) in CONSTANTS.items():
        with tempfile.TemporaryDirectory() as place:
            written[constant] = {"version": number, "output": output(Path(place))}
    GOLDEN.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
