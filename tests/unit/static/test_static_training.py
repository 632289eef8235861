"""Trainings of static vectors: the corpus as words, word2vec, GloVe against its definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_table
from prasanga.static import (
    Tokens,
    Trained,
    read_trained,
    sentences_of,
    spool,
    train_glove,
    train_word2vec,
    trained_table,
)
from prasanga.static.training import (
    ENTRY,
    LONGEST,
    Entries,
    compiled_update,
    count_pairs,
    fit,
    has_capitals,
    train_on_texts,
)
from prasanga.text import normalizer

DOMAINS = [[f"{name}{i}" for i in range(20)] for name in ("tea", "river")]


def toy_corpus(path: Path) -> Tokens:
    """Sentences about tea and sentences about rivers; a sixth of their words are from the other list."""
    rng = np.random.default_rng(4)
    domains = rng.integers(2, size=1500)
    of_words = domains[:, None] ^ (rng.random((1500, 6)) < 1 / 6)
    return spool(
        ([DOMAINS[d][i] for d, i in zip(row, rng.integers(20, size=6), strict=True)] for row in of_words.astype(int)),
        path,
    )


def nearness(trained: Trained, first: int, second: int) -> float:
    """Mean cosine of the words of two domains, a word with itself left out."""
    places = [[trained.words.index(word) for word in domain] for domain in DOMAINS]
    units = trained.vectors / np.linalg.norm(trained.vectors, axis=1, keepdims=True)
    cosines = units[places[first]] @ units[places[second]].T
    return float(cosines[~np.eye(20, dtype=bool)].mean())


def assert_words_of_like_contexts_are_near(trained: Trained) -> None:
    assert nearness(trained, 0, 0) > nearness(trained, 0, 1) + 0.15
    assert nearness(trained, 1, 1) > nearness(trained, 0, 1) + 0.15


def test_a_corpus_is_sentences_of_the_studys_words() -> None:
    texts = ["মা-কে দেখি। বাগানে ফুল!", "উদ্‌যোগ (২০২০)", "...", "Tea"]
    normalize = normalizer("bangla")
    assert list(sentences_of(texts, normalize)) == [["মা", "কে", "দেখি"], ["বাগানে", "ফুল"], ["উদ্যোগ", "২০২০"], ["Tea"]]
    assert list(sentences_of(["The Rose. A"], normalizer("nfkc"), lower=True)) == [["the", "rose"], ["a"]]
    assert [has_capitals(language) for language in ("bn", "hi", "en")] == [False, False, True]
    assert [len(s) for s in sentences_of(["ক " * (LONGEST + 3)], normalizer("none"))] == [LONGEST, 3]


def test_words_are_counted_and_sentences_read_again(tmp_path: Path) -> None:
    tokens = spool([["b", "a"], ["c", "b"], ["c"]], tmp_path / "tokens")
    assert list(tokens.counts.items()) == [("b", 2), ("c", 2), ("a", 1)]
    assert (tokens.n_sentences, tokens.n_words, tokens.frequent(2)) == (3, 5, {"b": 2, "c": 2})
    assert list(tokens) == list(tokens) == [["b", "a"], ["c", "b"], ["c"]]


def test_word2vec_gives_the_same_numbers_again_and_words_of_like_contexts_are_near(tmp_path: Path) -> None:
    tokens = toy_corpus(tmp_path / "tokens")
    options = {"dimensions": 16, "window": 3, "minimum_count": 2, "epochs": 15, "seed": 5}
    first, again, other = (train_word2vec(tokens, **{**options, "seed": seed}) for seed in (5, 5, 6))
    assert first.words == tuple(tokens.counts)
    assert first.counts.tolist() == list(tokens.counts.values())
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert first.vectors.shape == (40, 16)
    assert first.vectors.dtype == np.float32
    assert_words_of_like_contexts_are_near(first)


def test_nearness_is_counted_by_one_over_the_distance_within_sentences(tmp_path: Path) -> None:
    sentences = [["a", "x", "b", "a"], ["b"], ["a", "b", "c"]]  # x has no place: a b a
    entries = count_pairs(sentences, ["a", "b", "c"], 2, tmp_path, np.random.default_rng(0))
    found = np.fromfile(entries.paths[0], dtype=ENTRY)
    matrix = np.zeros((3, 3))
    matrix[found["row"], found["column"]] = found["count"]
    # a with itself at distance 2, on both sides; a with b twice at 1, and once more; a with c at 2; b with c at 1
    assert matrix.tolist() == [[1.0, 3.0, 0.5], [3.0, 0.0, 1.0], [0.5, 1.0, 0.0]]
    assert entries.n_entries == found.size == 7


def test_counts_do_not_depend_on_how_much_is_counted_at_a_time(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(40)]
    sentences = [rng.choice(words, rng.integers(1, 12)).tolist() for _ in range(300)]
    matrices = []
    for size in (1 << 20, 64):
        folder = tmp_path / str(size)
        folder.mkdir()
        entries = count_pairs(sentences, words, 3, folder, np.random.default_rng(0), pairs_at_a_time=size)
        found = np.concatenate([np.fromfile(path, dtype=ENTRY) for path in entries.paths])
        matrix = np.zeros((40, 40))
        np.add.at(matrix, (found["row"], found["column"]), found["count"])
        assert found.size == np.count_nonzero(matrix)
        assert (len(entries.paths) == 1) == (size > 64)
        matrices.append(matrix)
    assert len(entries.paths) > 5
    np.testing.assert_allclose(matrices[0], matrices[1], rtol=1e-6)
    np.testing.assert_array_equal(matrices[1], matrices[1].T)
    plain = np.zeros((40, 40))
    for sentence in sentences:
        ids = [words.index(word) for word in sentence]
        for i, left in enumerate(ids):
            for distance in (1, 2, 3):
                if i + distance < len(ids):
                    plain[left, ids[i + distance]] += 1 / distance
                    plain[ids[i + distance], left] += 1 / distance
    np.testing.assert_allclose(matrices[0], plain, rtol=1e-6)


def plain_update(
    rows: Any, columns: Any, weights: Any, logs: Any, parameters: np.ndarray, squares: np.ndarray, rate: float
) -> float:
    """GloVe's updates as they are written down: one count after the other, whole vectors at a time."""
    loss = 0.0
    for i, j, weight, log in zip(rows, columns, weights, logs, strict=True):
        w, c = parameters[0, i].copy(), parameters[1, j].copy()
        error = w[:-1] @ c[:-1] + w[-1] + c[-1] - log
        loss += 0.5 * weight * error**2
        of_w = rate * weight * error * np.append(c[:-1], 1.0)
        of_c = rate * weight * error * np.append(w[:-1], 1.0)
        parameters[0, i] -= of_w / np.sqrt(squares[0, i])
        parameters[1, j] -= of_c / np.sqrt(squares[1, j])
        squares[0, i] += of_w**2
        squares[1, j] += of_c**2
    return loss


@pytest.mark.parametrize("dimensions", [2, 7, 12])
def test_the_compiled_updates_of_glove_are_those_of_the_definition(dimensions: int) -> None:
    rng = np.random.default_rng(2)
    n_words, n = 6, 200
    rows, columns = rng.integers(n_words, size=(2, n)).astype(np.int32)
    weights, logs = rng.random(n), rng.normal(size=n)
    start = rng.normal(size=(2, n_words, dimensions + 1)) / 2
    results = []
    for step in (compiled_update(), plain_update):
        parameters, squares = start.copy(), np.ones_like(start)
        losses = [step(rows, columns, weights, logs, parameters, squares, np.float64(0.05)) for _ in range(3)]
        results.append((parameters, squares, losses))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-10, atol=1e-13)


def test_glove_learns_the_counts_and_gives_the_same_numbers_again(tmp_path: Path) -> None:
    tokens = toy_corpus(tmp_path / "tokens")
    options = {"dimensions": 10, "window": 3, "minimum_count": 2, "epochs": 40}
    first, again, other = (train_glove(tokens, **options, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert first.words == tuple(tokens.counts)
    assert first.vectors.shape == (40, 10)
    losses = first.report["losses"]
    assert len(losses) == 40
    assert losses[-1] < losses[10] < losses[0] / 2
    assert_words_of_like_contexts_are_near(first)


def test_glove_reaches_the_logarithms_of_counts_that_have_a_solution(tmp_path: Path) -> None:
    # log X = b_i + b_j exactly: the loss can become zero
    counts = 100 * np.outer([2.0, 5.0, 9.0], [2.0, 5.0, 9.0])
    entries = np.array([(i, j, counts[i, j]) for i in range(3) for j in range(3)], dtype=ENTRY)
    entries.tofile(tmp_path / "entries")
    _, losses = fit(Entries([tmp_path / "entries"], 9), 3, 4, epochs=2000, rng=np.random.default_rng(0))
    assert losses[-1] < 1e-6 < losses[0]


def test_too_little_text_says_so(tmp_path: Path) -> None:
    tokens = spool([["ফুল", "ফুল"], ["মা"]], tmp_path / "tokens")
    for train in (train_word2vec, train_glove):
        with pytest.raises(InputError, match=r"minimum_count: 2, but 1 of .*'ফুল' with 2.*smaller"):
            train(tokens, minimum_count=2)
    with pytest.raises(InputError, match="no words at all"):
        train_word2vec(spool([], tmp_path / "none"))
    apart = spool([["ফুল"], ["মা"]], tmp_path / "apart")
    with pytest.raises(InputError, match="no two of the corpus's 2 words"):
        train_glove(apart, minimum_count=1)


def test_the_file_of_a_training_gives_its_words_back(tmp_path: Path) -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    trained = Trained(("ক", "খ", "গ"), np.array([9, 4, 2]), vectors)
    write_table(tmp_path / "t.parquet", trained_table(trained), {"method": "glove"})
    result = read_trained(tmp_path / "t.parquet", ["গ", "ক", "নেই"])
    assert (result.method, result.dimensions, result.n_words) == ("glove", 2, 3)
    assert {word: (found.vector.tolist(), found.occurrences) for word, found in result.found.items()} == {
        "ক": ([0.0, 1.0], 9),
        "গ": ([4.0, 5.0], 2),
    }


def test_texts_are_trained_on_as_their_sentences(tmp_path: Path) -> None:
    texts = ["The tea is hot. The river is wide.", "Tea is hot, tea is good."] * 4
    options = {"dimensions": 4, "window": 2, "minimum_count": 2, "epochs": 2, "seed": 3}
    tokens = spool(sentences_of(texts, normalizer("nfkc"), lower=True), tmp_path / "tokens")
    for method, train in (("word2vec", train_word2vec), ("glove", train_glove)):
        found = train_on_texts(iter(texts), normalizer("nfkc"), language="en", method=method, **options)
        expected = train(tokens, **options)
        assert found.words == expected.words
        assert found.words[0] == "is"
        np.testing.assert_array_equal(found.vectors, expected.vectors)
    with pytest.raises(InputError, match=r"train.method: 'elmo' is unknown. Write word2vec or glove\."):
        train_on_texts(texts, normalizer("nfkc"), language="en", method="elmo")
