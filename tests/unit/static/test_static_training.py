"""Trainings on a corpus of words: word2vec by gensim, and GloVe against its definition."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.sentences import Shard
from prasanga.static import Trained, read_trained, train_glove, train_word2vec, trained_table, write_sentences
from prasanga.static.training import count_neighbours, fit_glove, train, update_glove
from prasanga.text import WORD, fold, normalizer, split_sentences

DOMAINS = [[f"{name}{i}" for i in range(20)] for name in ("tea", "river")]


def write_corpus(folder: Path, texts: Iterable[str], language: str = "bn", normalization: str = "bangla") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "text.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    shards = [Shard(str(folder / "text.txt"), "text.txt", "line")]
    write_sentences(shards, folder / "corpus.txt", normalizer(normalization), language=language)
    return folder / "corpus.txt"


def write_toy_corpus(folder: Path) -> Path:
    """Sentences about tea and sentences about rivers; a sixth of their words are from the other list."""
    rng = np.random.default_rng(4)
    domains = rng.integers(2, size=1500)
    chosen = (domains[:, None] ^ (rng.random((1500, 6)) < 1 / 6)).astype(int)
    lines = [" ".join(DOMAINS[d][i] for d, i in zip(row, rng.integers(20, size=6), strict=True)) for row in chosen]
    return write_corpus(folder, lines, normalization="none")


def nearness(trained: Trained, first: int, second: int) -> float:
    """Mean cosine of the words of two domains, without a word's cosine with itself."""
    places = [[trained.words.index(word) for word in domain] for domain in DOMAINS]
    units = trained.vectors / np.linalg.norm(trained.vectors, axis=1, keepdims=True)
    cosines = units[places[first]] @ units[places[second]].T
    return float(cosines[~np.eye(20, dtype=bool)].mean())


def test_a_corpus_is_sentences_of_the_studys_words(tmp_path: Path) -> None:
    texts = ["মা-কে দেখি। বাগানে ফুল!", "উদ্\u200cযোগ (২০২০)", "...", "\u200c", "Tea"]
    assert write_corpus(tmp_path / "bn", texts).read_text() == "মা কে দেখি\nবাগানে ফুল\nউদ্যোগ ২০২০\nTea\n"
    assert write_corpus(tmp_path / "en", ["The Rose. A"], "en", "nfkc").read_text() == "the rose\na\n"


def test_the_sentences_of_real_text_are_those_of_the_definition(project_root: Path, tmp_path: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(project_root.glob("resources/demo/corpus/bn/*.txt"))]
    lines = [line for text in texts for line in text.splitlines()]
    expected = []
    for line in map(fold, normalizer("bangla")(lines)):
        expected += [WORD.findall(line, start, end) for start, end in split_sentences(line)]
    found = write_corpus(tmp_path, lines).read_text().splitlines()
    assert [line.split(" ") for line in found] == [words for words in expected if words]


@pytest.mark.parametrize("method", ["word2vec", "glove"])
def test_words_with_similar_contexts_are_near_and_a_seed_gives_the_same_numbers(tmp_path: Path, method: str) -> None:
    corpus = write_toy_corpus(tmp_path)
    options: dict[str, Any] = {"dimensions": 16, "window": 3, "minimum_count": 2, "epochs": 30}
    first, again, other = (train(corpus, method=method, **options, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert (first.vectors.shape, first.vectors.dtype) == ((40, 16), np.float32)
    assert sorted(first.words) == sorted(word for domain in DOMAINS for word in domain)
    text = corpus.read_text().split()
    assert {word: text.count(word) for word in first.words} == dict(zip(first.words, first.counts, strict=True))
    assert first.counts.tolist() == sorted(first.counts, reverse=True)
    assert nearness(first, 0, 0) > nearness(first, 0, 1) + 0.15
    assert nearness(first, 1, 1) > nearness(first, 0, 1) + 0.15


def test_neighbours_are_counted_by_one_over_the_distance_within_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    # a with itself at distance 2, on both sides; a with b twice at 1, and once more; a with c at 2; b with c at 1
    found = count_neighbours([["a", "b", "a"], ["b"], ["a", "rare", "b", "c"]], ["a", "b", "c"], 2)
    assert found.toarray().tolist() == [[1.0, 3.0, 0.5], [3.0, 0.0, 1.0], [0.5, 1.0, 0.0]]
    rng = np.random.default_rng(1)
    sentences = [list(map(str, rng.integers(40, size=rng.integers(1, 12)))) for _ in range(300)]
    expected = np.zeros((40, 40))
    for sentence in sentences:
        for i, left in enumerate(sentence):
            for j, right in enumerate(sentence):
                if 0 < abs(i - j) <= 3:
                    expected[int(left), int(right)] += 1 / abs(i - j)
    monkeypatch.setattr("prasanga.static.training._SENTENCES_PER_BATCH", 7)
    np.testing.assert_allclose(count_neighbours(sentences, list(map(str, range(40))), 3).toarray(), expected)


def plain_update(
    order: Any, rows: Any, columns: Any, weights: Any, logs: Any, parameters: Any, squares: Any, rate: float
) -> float:
    """GloVe's updates as they are defined: one count after the other, whole vectors at a time."""
    loss = 0.0
    for entry in order:
        i, j, weight, log = rows[entry], columns[entry], weights[entry], logs[entry]
        w, c = parameters[0, i].copy(), parameters[1, j].copy()
        error = w[:-1] @ c[:-1] + w[-1] + c[-1] - log
        loss += 0.5 * weight * error**2
        slope_w = rate * weight * error * np.append(c[:-1], 1.0)
        slope_c = rate * weight * error * np.append(w[:-1], 1.0)
        parameters[0, i] -= slope_w / np.sqrt(squares[0, i])
        parameters[1, j] -= slope_c / np.sqrt(squares[1, j])
        squares[0, i] += slope_w**2
        squares[1, j] += slope_c**2
    return loss


@pytest.mark.parametrize("dimensions", [2, 7, 12])
def test_the_compiled_updates_of_glove_are_those_of_the_definition(dimensions: int) -> None:
    rng = np.random.default_rng(2)
    n_words, n = 6, 200
    rows, columns = rng.integers(n_words, size=(2, n)).astype(np.int32)
    weights, logs = rng.random(n), rng.normal(size=n)
    start, order = rng.normal(size=(2, n_words, dimensions + 1)) / 2, rng.permutation(n)
    results = []
    for step in (update_glove, plain_update):
        parameters, squares = start.copy(), np.ones_like(start)
        losses = [step(order, rows, columns, weights, logs, parameters, squares, np.float64(0.05)) for _ in range(3)]
        results.append((parameters, squares, losses))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-10, atol=1e-13)


def test_glove_reaches_the_logarithms_of_counts_that_have_a_solution() -> None:
    # log X = b_i + b_j exactly: the loss can become zero
    counts = 100 * np.outer([2.0, 5.0, 9.0], [2.0, 5.0, 9.0])
    rows, columns = (index.ravel() for index in np.indices((3, 3)))
    rng = np.random.default_rng(0)
    vectors, losses = fit_glove(rows, columns, counts.ravel(), 3, 4, epochs=2000, rng=rng)
    assert losses[-1] < 1e-6 < losses[0]
    assert vectors.shape == (3, 4)


@pytest.mark.parametrize(
    ("texts", "minimum_count", "message"),
    [
        (["ফুল ফুল", "মা"], 2, r"minimum_count: 2, but 1 of .*'ফুল' with 2.*smaller"),
        (["..."], 1, "it has no words"),
    ],
)
def test_too_little_text_says_so(tmp_path: Path, texts: list[str], minimum_count: int, message: str) -> None:
    corpus = write_corpus(tmp_path, texts)
    for trains in (train_word2vec, train_glove):
        with pytest.raises(InputError, match=message):
            trains(corpus, minimum_count=minimum_count)


def test_words_that_are_never_near_each_other_have_no_glove(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no two of the corpus's 2 words"):
        train_glove(write_corpus(tmp_path, ["ফুল", "মা"]), minimum_count=1)


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
