"""Which vector a stimulus gets, and why it gets none; which vectors a study has."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import prasanga
from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.lexicon import Lexicon, Stimulus, SurfaceForm
from prasanga.plan.models import EPOCHS, complete_training, estimate_training, find_vectors
from prasanga.static import (
    Spellings,
    Trained,
    WordVectors,
    look_up,
    look_up_stimuli,
    read_looked_up,
    spellings_of,
    train_glove,
    train_word2vec,
    trained_table,
    wanted_spellings,
)
from prasanga.static.vectors import Found


def vectors(
    found: dict[str, tuple[list[float], int | None]], subwords: dict[str, list[float]] | None = None
) -> WordVectors:
    made = {word: Found(word, np.array(vector, np.float32), count) for word, (vector, count) in found.items()}
    pieces = {word: np.array(vector, np.float32) for word, vector in (subwords or {}).items()}
    return WordVectors(made, "glove", 2, 10, subwords=pieces)


FLOWER = Spellings("ফুল", (), ("ফুল", "ফুলের", "ফুলকে"))
LILY = Spellings("বেলি", ("বেলী",), ("বেলি", "বেলির", "বেলী", "বেলীর"))


def row(stimulus: Spellings, given: WordVectors, forms: str = "dictionary") -> dict[str, Any]:
    (found,) = look_up([stimulus], given, forms).to_pylist()
    return found


def test_a_word_is_taken_as_it_stands_or_as_its_first_variant() -> None:
    both = vectors({"বেলি": ([1, 2], 7), "বেলী": ([3, 4], 9)})
    assert row(LILY, both) == {
        "stimulus": "বেলি",
        "forms": ["বেলি"],
        "count": 7,
        "n_forms": 1,
        "source": "word",
        "vector": [1.0, 2.0],
        "reason": None,
    }
    variant = row(LILY, vectors({"বেলী": ([3, 4], None), "বেলির": ([5, 6], None)}))
    assert (variant["source"], variant["forms"], variant["vector"], variant["count"]) == (
        "variant",
        ["বেলী"],
        [3, 4],
        None,
    )


def test_the_mean_over_forms_is_weighted_by_counts_where_they_are_known() -> None:
    weighted = row(FLOWER, vectors({"ফুল": ([1, 0], 1), "ফুলের": ([0, 1], 3)}), "pooled")
    assert (weighted["vector"], weighted["n_forms"], weighted["count"]) == ([0.25, 0.75], 2, 4)
    assert (weighted["source"], weighted["forms"]) == ("forms", ["ফুল", "ফুলের"])
    plain = row(FLOWER, vectors({"ফুল": ([1, 0], None), "ফুলের": ([0, 1], None), "ফুলকে": ([2, 2], None)}), "pooled")
    assert plain["vector"] == [1.0, 1.0]
    assert plain["count"] is None


def test_one_word_of_the_file_is_pooled_once_whatever_leads_to_it() -> None:
    name = Spellings("Rose", (), ("Rose", "rose", "Roses"))
    assert row(name, vectors({"rose": ([1, 0], 5), "roses": ([0, 1], 5)}), "pooled")["forms"] == ["rose", "roses"]
    assert row(name, vectors({"rose": ([1, 0], 5), "Rose": ([0, 1], 5)}))["forms"] == ["Rose"]


def test_a_word_without_a_vector_has_a_row_and_a_reason(tmp_path: Path) -> None:
    two = Spellings("বড় ভাই", (), ("বড় ভাই", "বড় ভাইয়ের"))
    zero = Spellings("শূন্য")
    given = vectors({"বড়": ([1, 1], None), "ভাই": ([1, 1], None), "শূন্য": ([0, 0], 4)})
    table = look_up([FLOWER, LILY, two, zero], given)
    assert table["reason"].to_pylist() == [
        "out of vocabulary",
        "out of vocabulary: neither it nor one of its 1 variants",
        "out of vocabulary: several words, which the vectors do not have as one",
        "out of vocabulary: its vector is zero in every number",
    ]
    assert table["vector"].to_pylist() == [None] * 4
    assert row(FLOWER, given, "pooled")["reason"] == "out of vocabulary: none of its 3 forms"
    found = look_up([FLOWER, two], vectors({"বড়_ভাই": ([1, 2], None)}))
    assert found["forms"].to_pylist() == [[], ["বড়_ভাই"]]
    write_table(tmp_path / "t.parquet", found, {})
    read, missing = read_looked_up(tmp_path / "t.parquet")
    assert {word: vector.tolist() for word, vector in read.items()} == {"বড় ভাই": [1.0, 2.0]}
    assert missing == {"ফুল": "out of vocabulary"}


def test_pieces_of_words_come_last_and_are_named() -> None:
    given = vectors({"বেলী": ([1, 2], 3)}, {"বেলি": [5, 6], "ফুল": [7, 8]})
    assert row(LILY, given)["source"] == "variant"
    found = row(FLOWER, given, "pooled")
    assert (found["source"], found["vector"], found["forms"], found["n_forms"]) == ("subwords", [7, 8], [], 0)


def test_what_is_asked_of_a_file_is_what_is_looked_up() -> None:
    assert wanted_spellings([LILY], "dictionary") == ["বেলি", "বেলী"]
    assert set(wanted_spellings([LILY], "pooled")) == {"বেলি", "বেলী", "বেলির", "বেলীর"}
    assert wanted_spellings([Spellings("New York")], "dictionary") == ["New York", "new york", "New_York", "new_york"]


def test_spellings_are_those_that_count_for_the_stimulus() -> None:
    lexicon = Lexicon(
        "bn",
        (Stimulus("তারা", variants=("তাঁরা", "সে")), Stimulus("সে"), Stimulus("শুধু", variants=("শুধুই",))),
        {},
        tuple(SurfaceForm(form, name) for form, name in [("তারা", "তারা"), ("তাঁরা", "তারা"), ("সে", "সে"), ("তারার", "তারা")]),
        resolutions={"তারার": ("সে",)},
    )
    assert spellings_of(lexicon) == [
        Spellings("তারা", ("তাঁরা",), ("তারা", "তাঁরা")),
        Spellings("সে", (), ("সে",)),
        Spellings("শুধু", ("শুধুই",), ()),
    ]


def test_vectors_are_sorted_by_where_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "v.txt"
    file.write_text("a 1 2\n", encoding="utf-8")
    gone = str(tmp_path / "gone")
    write_table("results/static/kept.parquet", pa.table({"stimulus": ["ফুল"]}), {"inputs": json.dumps({gone: "0f"})})
    asked = {"own": {"train": {"method": "glove"}}, "file": {"path": str(file)}, "kept": {"path": gone}}
    assert find_vectors(asked, "results", cached=True) == {"file": str(file)}
    with pytest.raises(InputError, match="no such file"):
        find_vectors(asked, "results", cached=False)
    with pytest.raises(InputError, match=r"`static.vectors.kept.path` is 'other.txt', but there is no such file"):
        find_vectors({**asked, "kept": {"path": "other.txt"}}, "results", cached=True)


def test_static_vectors_need_no_torch_and_planning_no_compiler() -> None:
    for module, unwanted in (("prasanga.static", ("torch", "gensim")), ("prasanga.associations.effects", ("torch",))):
        code = f"import sys, {module}; sys.exit(any(name in sys.modules for name in {unwanted!r}))"
        environment = {"PYTHONPATH": str(Path(prasanga.__file__).parents[1])}
        assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0, module


def test_passes_suit_the_method_where_none_are_given() -> None:
    assert complete_training({"method": "glove", "epochs": None, "dimensions": 3}) == {
        "dimensions": 3,
        "epochs": 25,
        "method": "glove",
    }
    assert complete_training({"method": "word2vec", "epochs": None})["epochs"] == 5
    assert complete_training({"method": "glove", "epochs": 7})["epochs"] == 7
    # another order is no other training
    assert list(complete_training({"method": "glove", "epochs": 7, "dimensions": 3})) == [
        "dimensions",
        "epochs",
        "method",
    ]
    for method, train in (("word2vec", train_word2vec), ("glove", train_glove)):
        assert inspect.signature(train).parameters["epochs"].default == EPOCHS[method]


def test_a_training_is_given_more_for_a_larger_corpus() -> None:
    assert estimate_training(0.2) == {"mem_mb": 1025, "runtime": 60}
    assert estimate_training(27_500) == {"mem_mb": 30_958, "runtime": 2810}


def test_words_come_from_a_training_or_from_a_file(tmp_path: Path) -> None:
    trained = Trained(("বেলী", "ফুল"), np.array([9, 3]), np.array([[3, 4], [1, 2]], np.float32))
    write_table(tmp_path / "t.parquet", trained_table(trained), {"method": "glove"})
    (tmp_path / "v.txt").write_text("ফুল 1.0 2.0\nবেলী 3.0 4.0\nফুল 5.0 6.0\n", encoding="utf-8")
    sources: list[dict[str, Any]] = [
        {"trained": tmp_path / "t.parquet"},
        {"file": tmp_path / "v.txt", "normalization": "bangla"},
    ]
    for source, counts in zip(sources, ([3, 9], [None, None]), strict=True):
        table, method = look_up_stimuli([FLOWER, LILY, Spellings("নেই")], "dictionary", **source)
        assert table["vector"].to_pylist() == [[1, 2], [3, 4], None]
        assert table["count"].to_pylist() == [*counts, None]
        assert method == "glove"
