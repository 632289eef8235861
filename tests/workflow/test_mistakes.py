"""What a tired person types, and what they are told: a sentence that names the place, and no traceback."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from small_study import Study

pytestmark = pytest.mark.workflow


def corpus_line(study: Study, data: bytes) -> None:
    path = study.root / "resources/demo/corpus/bn/news.txt"
    path.write_bytes(path.read_bytes() + data)


def model_for_sentences(study: Study, pooling: str) -> None:
    folder = study.root / "models/mine"
    shutil.copytree(study.root / "results/models/tiny-a", folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(pooling, encoding="utf-8")
    study.configure({"models": {"mine": {"path": "models/mine"}}, "seat": {"categories": ["C1"]}})


# One of each place that refuses: config, word lists, corpus, model. What each says is tested with its reader.
MISTAKES: dict[str, tuple[Callable[[Study], object], str, tuple[str, ...]]] = {
    "a typo in a key": (
        lambda s: s.configure({"asociations": {"n_samples": 10}}),
        "",
        ("unknown key `asociations`", "Did you mean `associations`?"),
    ),
    "a pattern that fits no file": (
        lambda s: s.configure({"corpus": {"texts": [{"files": "texts/*.txt"}]}}),
        "",
        ("corpus.texts: no file fits 'texts/*.txt'", "corpus.root"),
    ),
    "a model that is nowhere": (
        lambda s: s.configure({"models": {"mine": {"path": "models/mine"}}}),
        "embeddings",
        ("models/mine", "folder", "hub"),
    ),
    "a pooling that is not known": (
        lambda s: model_for_sentences(s, '{"embedding_dimension": 16, "pooling_mode": "max", "include_prompt": true}'),
        "results/models/mine.json",
        ('1_Pooling/config.json has pooling_mode: "max"', "cls, mean, lasttoken", "`sentence_vector: mean`"),
    ),
    "a group that does not exist": (
        lambda s: s.edit("resources/stimuli/bn/flowers.yaml", "group: thing_consonant", "group: thing_consonants"),
        "results/lexicon/forms.parquet",
        ("flowers.yaml", "thing_consonants", "thing_consonant"),
    ),
    "a word list that is not YAML": (
        lambda s: s.append("resources/stimuli/bn/flowers.yaml", "\n  - {stimulus: [\n"),
        "results/lexicon/forms.parquet",
        ("flowers.yaml", "line"),
    ),
    "bytes that are not UTF-8": (
        lambda s: corpus_line(s, b"\xff\xfe\n"),
        "sentences",
        ("news.txt", "UTF-8", "skip-line"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_explained(study: Study, mistake: str) -> None:
    make, target, words = MISTAKES[mistake]
    make(study)
    done = study.snakemake(*([target] if target else []))
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    for word in words:
        assert word in printed, printed[-3000:]
    assert "Traceback" not in printed, printed[-3000:]
