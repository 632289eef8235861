"""A corpus cut to numbers of words, and trainings on it: word2vec and GloVe, each against its definition."""

from __future__ import annotations

import math
import multiprocessing
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_table
from prasanga.base.progress import progress
from prasanga.sentences import Shard
from prasanga.static import CutCorpus, Trained, cut_corpus, read_trained, train_glove, train_word2vec, trained_table
from prasanga.static.cutting import ENTRY, LONGEST, Entries, Words, count_pairs
from prasanga.static.training import (
    NEGATIVE,
    alias_table,
    deal,
    fit,
    skip_grams,
    train,
    update_glove,
    update_skip_grams,
)
from prasanga.text import WORD, fold, normalizer, split_sentences

DOMAINS = [[f"{name}{i}" for i in range(20)] for name in ("tea", "river")]


def cut(folder: Path, texts: Iterable[str], language: str = "bn", **options: Any) -> CutCorpus:
    """Cut texts, which stand in a file of lines."""
    folder.mkdir(exist_ok=True)
    (folder / "text.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    shards = [Shard(str(folder / "text.txt"), "text.txt", "line")]
    places = (folder / "sentences.parquet", folder / "words.parquet")
    return cut_corpus(shards, *places, normalizer(options.pop("normalization", "bangla")), language=language, **options)


def sentences_of(corpus: CutCorpus, n: int = 1 << 31) -> list[list[str]]:
    """The sentences as words."""
    words = corpus.first_words(n)
    with progress("reading") as done:
        parts = list(corpus.parts(n, 1000, done))
    return [
        [words[number] for number in part.numbers[start:end]]
        for part in parts
        for start, end in zip(part.bounds[:-1], part.bounds[1:], strict=True)
    ]


def numbered(sentences: Sequence[Sequence[int]]) -> Words:
    """Sentences of numbers as a part of a corpus."""
    lengths = [len(sentence) for sentence in sentences]
    return Words(np.array([number for each in sentences for number in each], np.uint32), np.cumsum([0, *lengths]))


def toy_corpus(folder: Path, n: int = 1500, words: int = 20) -> CutCorpus:
    """Sentences about tea and sentences about rivers; a sixth of their words are from the other list."""
    rng = np.random.default_rng(4)
    domains = rng.integers(2, size=n)
    of_words = (domains[:, None] ^ (rng.random((n, 6)) < 1 / 6)).astype(int)
    names = ("tea", "river")
    lines = [
        " ".join(f"{names[d]}{i}" for d, i in zip(row, rng.integers(words, size=6), strict=True)) for row in of_words
    ]
    return cut(folder, lines, normalization="none")


def nearness(trained: Trained, first: int, second: int) -> float:
    """Mean cosine of the words of two domains, a word with itself left out."""
    places = [[trained.words.index(word) for word in domain] for domain in DOMAINS]
    units = trained.vectors / np.linalg.norm(trained.vectors, axis=1, keepdims=True)
    cosines = units[places[first]] @ units[places[second]].T
    return float(cosines[~np.eye(20, dtype=bool)].mean())


def assert_words_of_like_contexts_are_near(trained: Trained) -> None:
    assert nearness(trained, 0, 0) > nearness(trained, 0, 1) + 0.15
    assert nearness(trained, 1, 1) > nearness(trained, 0, 1) + 0.15


def test_a_corpus_is_sentences_of_the_studys_words(tmp_path: Path) -> None:
    texts = ["মা-কে দেখি। বাগানে ফুল!", "উদ্\u200cযোগ (২০২০)", "...", "\u200c", "Tea"]
    corpus = cut(tmp_path / "bn", texts)
    assert sentences_of(corpus) == [["মা", "কে", "দেখি"], ["বাগানে", "ফুল"], ["উদ্যোগ", "২০২০"], ["Tea"]]
    assert (corpus.n_sentences, corpus.n_words) == (4, 8)
    english = cut(tmp_path / "en", ["The Rose. A"], "en", normalization="nfkc")
    assert sentences_of(english) == [["the", "rose"], ["a"]]
    long = cut(tmp_path / "long", ["ক " * (LONGEST + 3)], normalization="none")
    assert [len(sentence) for sentence in sentences_of(long)] == [LONGEST, 3]


def test_words_are_numbered_by_their_counts_and_rare_ones_left_out(tmp_path: Path) -> None:
    corpus = cut(tmp_path, ["b a", "c b", "c"])
    assert corpus.first_words(9) == ("b", "c", "a")
    assert corpus.counts.tolist() == [2, 2, 1]
    assert [corpus.frequent(count) for count in (1, 2)] == [3, 2]
    assert sentences_of(corpus) == [["b", "a"], ["c", "b"], ["c"]]
    assert sentences_of(corpus, 2) == [["b"], ["c", "b"], ["c"]]


def test_a_corpus_is_the_same_in_parts_and_by_several_processes(project_root: Path, tmp_path: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(project_root.glob("resources/demo/corpus/bn/*.txt"))]
    lines = [line for text in texts for line in text.splitlines()]
    corpora = [
        cut(tmp_path / name, lines, **options)
        for name, options in (
            ("whole", {}),
            ("parts", {"part_bytes": 40_000}),
            ("processes", {"part_bytes": 40_000, "processes": 2}),
        )
    ]
    for corpus in corpora[1:]:
        assert corpus.sentences.read_bytes() == corpora[0].sentences.read_bytes()
        assert corpus.words.read_bytes() == corpora[0].words.read_bytes()
    plain = []
    for line in normalizer("bangla")(lines):
        folded = fold(line)
        plain += [WORD.findall(folded, start, end) for start, end in split_sentences(folded)]
    plain = [words for words in plain if words]
    assert sentences_of(corpora[0]) == plain
    counts = Counter(word for words in plain for word in words)
    assert corpora[0].first_words(1 << 31) == tuple(sorted(counts, key=lambda word: (-counts[word], word)))


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_wrong_with_a_file_is_told_by_whichever_process_reads_it(tmp_path: Path, processes: int) -> None:
    (tmp_path / "good.txt").write_text("ফুল ফোটে।\n", encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes("ফুল\n".encode() + b"\xff\xfe\n")
    shards = [Shard(str(tmp_path / name), name, "line") for name in ("good.txt", "bad.txt")]
    places = (tmp_path / "sentences", tmp_path / "words")
    with pytest.raises(InputError, match=r"bad\.txt: not UTF-8 at byte 10"):
        cut_corpus(shards, *places, normalizer("none"), language="bn", processes=processes)
    assert not any(place.exists() for place in places)
    assert not multiprocessing.active_children(), "the others end as well"
    corpus = cut_corpus(shards, *places, normalizer("none"), language="bn", processes=processes, errors="skip-line")
    assert sentences_of(corpus) == [["ফুল", "ফোটে"], ["ফুল"]]


def test_word2vec_gives_the_same_numbers_again_and_words_of_like_contexts_are_near(tmp_path: Path) -> None:
    corpus = toy_corpus(tmp_path)
    options: dict[str, Any] = {"dimensions": 16, "window": 3, "minimum_count": 2, "epochs": 30}
    first, again, other = (train_word2vec(corpus, **options, seed=seed) for seed in (5, 5, 6))
    assert first.words == corpus.first_words(40)
    assert first.counts.tolist() == corpus.counts.tolist()
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert first.vectors.shape == (40, 16)
    assert first.vectors.dtype == np.float32
    assert first.report["n_sentences"] == 1500
    assert_words_of_like_contexts_are_near(first)


def test_threads_change_no_bit_of_a_training_in_several_blocks(tmp_path: Path) -> None:
    corpus = toy_corpus(tmp_path, n=20_000, words=1100)
    assert deal(2200, np.random.default_rng(0)).max() == 1
    for trains in (train_word2vec, train_glove):
        one, two, many = (
            trains(corpus, dimensions=12, window=3, minimum_count=2, epochs=8, seed=3, threads=threads)
            for threads in (1, 2, 5)
        )
        np.testing.assert_array_equal(one.vectors, two.vectors)
        np.testing.assert_array_equal(one.vectors, many.vectors)
        assert one.report == two.report
        if trains is train_word2vec:  # GloVe learns nothing of pairs that all come once
            domain = np.array([word.startswith("tea") for word in one.words])
            units = one.vectors / np.linalg.norm(one.vectors, axis=1, keepdims=True)
            near = np.argsort(-(units @ units.T), axis=1)[:, 1:6]
            assert np.mean(domain[near] == domain[:, None]) > 0.98


def test_blocks_have_neighbours_in_frequency_apart() -> None:
    dealt = deal(40_000, np.random.default_rng(1))
    assert all(sorted(dealt[first : first + 32]) == list(range(32)) for first in range(0, 40_000, 32))
    assert deal(200, np.random.default_rng(1)).tolist() == [0] * 200
    assert np.bincount(deal(3000, np.random.default_rng(1))).tolist() == [1500, 1500]


def pairs_of(part: Words, window: int, kept: Any, block: Any, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a part, and where each block of them ends."""
    n = len(kept)
    limit, other = np.empty(n, np.float32), np.empty(n, np.int32)
    alias_table(np.ones(n), limit, other)
    of_block = np.array(block, np.int32)
    at = np.zeros((max(block) + 1) ** 2, np.int64)
    arguments = (np.array(kept, float), limit, other, of_block, max(block) + 1, seed)
    skip_grams(part.numbers, part.bounds, 0, len(part.bounds) - 1, window, *arguments, at, np.empty((0, 2), np.int32))
    pairs = np.empty((at.sum(), 2), np.int32)
    at[:] = [0, *np.cumsum(at)[:-1]]
    skip_grams(part.numbers, part.bounds, 0, len(part.bounds) - 1, window, *arguments, at, pairs)
    return pairs, at


def test_pairs_of_skip_gram_are_those_of_words_within_the_window_of_one_sentence() -> None:
    # a window of 1 is 1 at each word; word 4 is thinned out altogether, and makes no distance
    pairs, _ = pairs_of(numbered([[0, 4, 1, 2], [3, 0]]), 1, [1, 1, 1, 1, 0], [0] * 5)
    near = pairs[pairs[:, 1] >= 0].tolist()
    assert sorted(near) == sorted([[1, 0], [0, 1], [2, 1], [1, 2], [0, 3], [3, 0]])
    assert len(pairs) - len(near) <= NEGATIVE * len(near)
    # in windows of 1 to 3, a word at distance d is near in (4 - d) / 3 of the draws
    sentence = list(range(9)) * 400
    pairs, _ = pairs_of(numbered([sentence]), 3, [1.0] * 9, [0] * 9)
    near = pairs[pairs[:, 1] >= 0]
    shares = [np.sum((near[:, 1] - near[:, 0]) % 9 == d) / len(sentence) for d in (1, 2, 3, 4)]
    np.testing.assert_allclose(shares, [1, 2 / 3, 1 / 3, 0], atol=0.03)
    # frequent words are thinned out by chance
    pairs, _ = pairs_of(numbered([[0, 1] * 5000]), 1, [0.3, 1.0], [0, 0])
    assert np.mean(pairs[pairs[:, 1] >= 0][:, 0] == 0) < 0.3


def test_pairs_stand_in_the_blocks_of_their_words_and_negative_ones_are_drawn_from_all() -> None:
    block = [0, 1, 0, 1, 0, 1, 0, 1]
    rng = np.random.default_rng(2)
    part = numbered([rng.integers(8, size=50).tolist() for _ in range(200)])
    pairs, ends = pairs_of(part, 2, [1.0] * 8, block)
    target = np.where(pairs[:, 1] < 0, -1 - pairs[:, 1], pairs[:, 1])
    expected = np.repeat(np.arange(4), np.diff([0, *ends]))
    np.testing.assert_array_equal(np.array(block)[pairs[:, 0]] * 2 + np.array(block)[target], expected)
    negative = pairs[:, 1] < 0
    drawn = np.bincount(target[negative], minlength=8) / negative.sum()
    np.testing.assert_allclose(drawn, 1 / 8, atol=0.01)
    # of five, an eighth is the near word itself and is passed over
    assert negative.sum() / (~negative).sum() == pytest.approx(NEGATIVE * 7 / 8, rel=0.02)


def test_an_item_is_drawn_by_its_weight() -> None:
    weights = np.array([5.0, 0.1, 2.0, 0.0, 7.9])
    limit, other = np.empty(5, np.float32), np.empty(5, np.int32)
    alias_table(weights, limit, other)
    shares = limit / 5
    np.add.at(shares, other, (1 - limit) / 5)
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=1e-6)


def test_updates_of_skip_gram_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    start = rng.normal(size=(2, 6, 7))
    pairs = rng.integers(6, size=(100, 2)).astype(np.int32)
    pairs[::3, 1] = -1 - pairs[::3, 1]
    inputs, outputs = start.copy()
    update_skip_grams(pairs, inputs, outputs, np.float64(0.05))
    vectors, near = start.copy()
    for word, other in pairs.tolist():
        target, label = (other, 1.0) if other >= 0 else (-1 - other, 0.0)
        step = 0.05 * (label - 1 / (1 + math.exp(-vectors[word] @ near[target])))
        before = vectors[word].copy()
        vectors[word] += step * near[target]
        near[target] += step * before
    np.testing.assert_allclose(inputs, vectors, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(outputs, near, rtol=1e-10, atol=1e-13)


def test_nearness_is_counted_by_one_over_the_distance_within_sentences(tmp_path: Path) -> None:
    entries = count_pairs([numbered([[0, 1, 0], [1], [0, 1, 2]])], np.zeros(3, np.int32), 2, tmp_path)
    found = np.fromfile(entries.paths[0], dtype=ENTRY)
    matrix = np.zeros((3, 3))
    matrix[found["row"], found["column"]] = found["count"]
    # a with itself at distance 2, on both sides; a with b twice at 1, and once more; a with c at 2; b with c at 1
    assert matrix.tolist() == [[1.0, 3.0, 0.5], [3.0, 0.0, 1.0], [0.5, 1.0, 0.0]]
    assert entries.n_entries == found.size == 7
    assert [path.name for path in tmp_path.iterdir()] == ["entries-0"]


def test_counts_do_not_depend_on_how_much_is_counted_at_a_time(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sentences = [rng.integers(40, size=rng.integers(1, 12)).tolist() for _ in range(300)]
    block = rng.integers(3, size=40).astype(np.int32)
    matrices = []
    for size in (300, 3):  # 100 parts are merged in two levels
        folder = tmp_path / str(size)
        folder.mkdir()
        parts = [numbered(sentences[first : first + size]) for first in range(0, 300, size)]
        entries = count_pairs(parts, block, 3, folder, pairs_at_a_time=64)
        matrix = np.zeros((40, 40))
        for number, path in enumerate(entries.paths):
            found = np.fromfile(path, dtype=ENTRY)
            np.add.at(matrix, (found["row"], found["column"]), found["count"])
            np.testing.assert_array_equal(block[found["row"]] * 3 + block[found["column"]], number)
        assert entries.n_entries == np.count_nonzero(matrix)
        assert sorted(folder.iterdir()) == sorted(entries.paths)
        matrices.append(matrix)
    np.testing.assert_allclose(matrices[0], matrices[1], rtol=1e-6)
    np.testing.assert_array_equal(matrices[1], matrices[1].T)
    plain = np.zeros((40, 40))
    for sentence in sentences:
        for i, left in enumerate(sentence):
            for distance in (1, 2, 3):
                if i + distance < len(sentence):
                    plain[left, sentence[i + distance]] += 1 / distance
                    plain[sentence[i + distance], left] += 1 / distance
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
    for step in (update_glove, plain_update):
        parameters, squares = start.copy(), np.ones_like(start)
        losses = [step(rows, columns, weights, logs, parameters, squares, np.float64(0.05)) for _ in range(3)]
        results.append((parameters, squares, losses))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-10, atol=1e-13)


def test_glove_learns_the_counts_and_gives_the_same_numbers_again(tmp_path: Path) -> None:
    corpus = toy_corpus(tmp_path)
    options: dict[str, Any] = {"dimensions": 10, "window": 3, "minimum_count": 2, "epochs": 40}
    first, again, other = (train_glove(corpus, **options, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert first.words == corpus.first_words(40)
    assert first.vectors.shape == (40, 10)
    losses = first.report["losses"]
    assert len(losses) == 40
    assert losses[-1] < losses[10] < losses[0] / 2
    assert_words_of_like_contexts_are_near(first)


@pytest.mark.parametrize("block", [[0, 0, 0], [0, 1, 0], [2, 0, 1]])
def test_glove_reaches_the_logarithms_of_counts_that_have_a_solution(tmp_path: Path, block: list[int]) -> None:
    # log X = b_i + b_j exactly: the loss can become zero
    counts = 100 * np.outer([2.0, 5.0, 9.0], [2.0, 5.0, 9.0])
    entries = np.array([(i, j, counts[i, j]) for i in range(3) for j in range(3)], dtype=ENTRY)
    n_blocks, of_word = max(block) + 1, np.array(block)
    dealt = of_word[entries["row"]] * n_blocks + of_word[entries["column"]]
    paths = [tmp_path / f"entries-{number}" for number in range(n_blocks**2)]
    for number, path in enumerate(paths):
        entries[dealt == number].tofile(path)
    vectors, losses = fit(Entries(paths, 9), 3, 4, epochs=2000, rng=np.random.default_rng(0), threads=2)
    assert losses[-1] < 1e-6 < losses[0]
    assert vectors.shape == (3, 4)


def test_too_little_text_says_so(tmp_path: Path) -> None:
    corpus = cut(tmp_path / "one", ["ফুল ফুল", "মা"])
    for trains in (train_word2vec, train_glove):
        with pytest.raises(InputError, match=r"minimum_count: 2, but 1 of .*'ফুল' with 2.*smaller"):
            trains(corpus, minimum_count=2)
    with pytest.raises(InputError, match="no words at all"):
        train_word2vec(cut(tmp_path / "none", ["..."]))
    with pytest.raises(InputError, match="no two of the corpus's 2 words"):
        train_glove(cut(tmp_path / "apart", ["ফুল", "মা"]), minimum_count=1)


def test_a_training_is_called_by_its_method(tmp_path: Path) -> None:
    corpus = cut(tmp_path, ["The tea is hot. The river is wide.", "Tea is hot, tea is good."] * 4, "en")
    options: dict[str, Any] = {"dimensions": 4, "window": 2, "minimum_count": 2, "epochs": 2, "seed": 3}
    for method, trains in (("word2vec", train_word2vec), ("glove", train_glove)):
        found, expected = train(corpus, method=method, **options), trains(corpus, **options)
        assert found.words == expected.words
        assert found.words[0] == "is"
        np.testing.assert_array_equal(found.vectors, expected.vectors)
    with pytest.raises(InputError, match=r"train.method: 'elmo' is unknown. Write word2vec or glove\."):
        train(corpus, method="elmo")


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
