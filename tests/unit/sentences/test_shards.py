"""Which files a corpus consists of, how they are read, and into which parts they are cut."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.sentences.corpus import Shard
from prasanga.sentences.files import find_shards, require_apart

LARGE = 10**9


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name in ("news/a.txt", "news/b.txt.gz", "books/a.txt", "loose.bn"):
        write(tmp_path / name)
    return tmp_path


SIGNATURES = {".parquet": b"PAR1", ".arrow": b"ARROW1\0\0", ".csv": b"word,sentence\n", ".tsv": b"word\tsentence\n"}


def write(path: Path, content: str = "text") -> Path:
    """A text, behind the first bytes of its format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = next((ending for ending in path.suffixes if ending in SIGNATURES), "")
    path.write_bytes(SIGNATURES.get(kind, b"") + content.encode())
    return path


def dataset(folder: Path, names: list[str], **state: Any) -> Path:
    """A folder as `datasets.save_to_disk` writes it, with its files in the order of `names`."""
    for name in names:
        write(folder / name)
    write(folder / "dataset_info.json", "{}")
    write(folder / "state.json", json.dumps({"_data_files": [{"filename": name} for name in names], **state}))
    return folder


def sources(root: Path, *files: str, **keys: Any) -> list[str]:
    return [shard.source for shard in find_shards(root, [{"files": name, **keys} for name in files], LARGE).values()]


def formats(root: Path, *files: str, **keys: Any) -> dict[str, str]:
    found = find_shards(root, [{"files": name, **keys} for name in files], LARGE).values()
    return {shard.source: shard.format for shard in found}


def test_names_follow_the_paths(corpus: Path) -> None:
    texts = [{"files": "**/*.txt*", "documents": "line"}, {"files": "loose.bn", "documents": "file"}]
    found = {name: shard._replace(size=None) for name, shard in find_shards(corpus, texts, LARGE).items()}
    assert found == {
        "books-a": Shard(f"{corpus}/books/a.txt", "books/a.txt", "line", text=0),
        "news-a": Shard(f"{corpus}/news/a.txt", "news/a.txt", "line", text=0),
        "news-b": Shard(f"{corpus}/news/b.txt.gz", "news/b.txt.gz", "line", text=0),
        "loose": Shard(f"{corpus}/loose.bn", "loose.bn", "file", text=1),
    }


def test_a_file_is_either_of_the_corpus_or_of_the_supplement(corpus: Path) -> None:
    books, news = (find_shards(corpus, [{"files": f"{folder}/*"}], LARGE) for folder in ("books", "news"))
    require_apart(books, news)
    with pytest.raises(InputError, match=r"corpus.supplement: the file 'news/a.txt' is also in `corpus.texts`"):
        require_apart(books | news, news)


def test_what_the_reader_of_a_format_needs_is_passed_on(corpus: Path) -> None:
    (corpus / "a.csv").write_text("Sentences,WEAT word\n", encoding="utf-8")
    text = {"files": "a.csv", "field": "body", "columns": {"stimulus": "WEAT word", "sentence": "Sentences"}}
    (shard,) = find_shards(corpus, [text], LARGE).values()
    assert (shard.format, shard.field, shard.columns) == ("extracted", "body", ("WEAT word", "Sentences"))


ENDINGS = """a.txt:text a.hi.xz:text a.gz:text a:text a.dat:text a.jsonl:jsonl a.ndjson.zst:jsonl A.JSONL.GZ:jsonl
a.parquet:parquet a.arrow:dataset a.csv:extracted a.tsv.xz:extracted a.pkl:pickle a.pickle.gz:pickle"""


@pytest.mark.parametrize(("name", "its_format"), [pair.split(":") for pair in ENDINGS.split()])
def test_the_format_goes_by_the_ending_unless_it_is_said(corpus: Path, name: str, its_format: str) -> None:
    write(corpus / name)
    assert formats(corpus, name) == {name: its_format}
    (shard,) = find_shards(corpus, [{"files": name}], LARGE)
    assert shard.lower() == "a" if name != "a.dat" else "a.dat"


def test_a_folder_has_files_of_words_if_it_is_said_and_pickles_only_then(corpus: Path) -> None:
    for name in ("released/a.txt", "released/b.txt.gz", "released/c.pkl"):
        write(corpus / name)
    assert formats(corpus, "released") == {"released/a.txt": "text", "released/b.txt.gz": "text"}
    assert formats(corpus, "released", format="word") == {"released/a.txt": "word", "released/b.txt.gz": "word"}
    assert formats(corpus, "released", format="pickle") == {"released/c.pkl": "pickle"}


def test_links_to_folders_are_followed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(elsewhere / "c.txt")
    (corpus / "link").symlink_to(elsewhere)
    assert set(find_shards(corpus, [{"files": "link/*.txt"}], LARGE)) == {"link-c"}
    assert set(find_shards(corpus, [{"files": "link"}], LARGE)) == {"link-c"}


@pytest.mark.parametrize("files", ["../other/*.txt", "news/../../x.txt", "/data/../etc/*"])
def test_patterns_do_not_climb(corpus: Path, files: str) -> None:
    with pytest.raises(InputError, match=r"leads out of corpus\.root"):
        find_shards(corpus, [{"files": files}], LARGE)


def test_names_of_any_length_are_names_of_files(corpus: Path) -> None:
    for last in "ab":
        write(corpus / ("x" * 240 + last + ".txt"))
    names = list(find_shards(corpus, [{"files": "*.txt"}], LARGE))
    assert len(set(names)) == 2
    assert all(len(name) < 140 for name in names)


def test_absolute_paths(corpus: Path) -> None:
    (shard,) = find_shards("elsewhere", [{"files": f"{corpus}/loose.bn"}], LARGE).values()
    assert shard.path == shard.source == f"{corpus}/loose.bn"
    assert sources(Path("elsewhere"), f"{corpus}/**/*.txt") == [f"{corpus}/books/a.txt", f"{corpus}/news/a.txt"]


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_is_no_text(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "endless.txt"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"'endless.txt' is a pipe or a device. Put a file there"):
        sources(tmp_path, "*.txt")


def test_names_in_bangla_are_told_apart(corpus: Path) -> None:
    write(corpus / "খবর.txt")
    write(corpus / "বই.txt")
    names = list(find_shards(corpus, [{"files": "*.txt"}], LARGE))
    assert len(set(names)) == 2
    assert all(name.isascii() and name for name in names)


# ---- folders


def test_a_folder_is_all_files_with_a_known_ending_that_are_not_hidden(corpus: Path) -> None:
    for name in ("news/README.md", "news/.hidden.txt", "news/.git/x.txt", "news/2020/c.jsonl", "news/2020/d.tar.gz"):
        write(corpus / name)
    assert sources(corpus, "news") == ["news/a.txt", "news/b.txt.gz", "news/2020/c.jsonl"]
    assert sources(corpus, "news/", format="jsonl") == ["news/2020/c.jsonl"]
    assert sources(corpus, ".", format="text") == ["loose.bn", "books/a.txt", "news/a.txt", "news/b.txt.gz"]


@pytest.mark.parametrize("files", [".", "**/*.txt", "**", "*/**/*.txt", "**/**/**/*.txt"])
def test_a_file_counts_once_however_many_links_lead_to_it(corpus: Path, files: str) -> None:
    for name, target in (("p", "."), ("q", "."), ("a", "news"), ("news/up", ".."), ("news/b.txt", "a.txt")):
        (corpus / name).symlink_to(target)
    (corpus / "books/news").symlink_to("../news")
    told: list[str] = []
    shards = find_shards(corpus, [{"files": files, "format": "text"}], LARGE, tell=told.append)
    found = [shard.source for shard in shards.values() if shard.source.endswith(".txt")]
    assert sorted(found) == ["books/a.txt", "news/a.txt"]
    assert len(told) == 1
    assert re.match(r"corpus.texts: the file '.*' is '.*' by a link.*, and counts once.", told[0])


def test_a_folder_without_text(corpus: Path) -> None:
    write(corpus / "pictures" / "a.png")
    with pytest.raises(InputError, match=r"no text in the folder 'pictures' under corpus\.root.*\.jsonl"):
        find_shards(corpus, [{"files": "pictures"}], LARGE)
    with pytest.raises(InputError, match="no file of the format parquet in the folder"):
        find_shards(corpus, [{"files": "news", "format": "parquet"}], LARGE)


# ---- data sets


def test_a_saved_data_set_is_its_files(corpus: Path) -> None:
    dataset(corpus / "wiki", ["data-00001-of-00002.arrow", "data-00000-of-00002.arrow"])
    write(corpus / "wiki" / "cache-1234.arrow")
    expected = ["wiki/data-00000-of-00002.arrow", "wiki/data-00001-of-00002.arrow"]
    assert sources(corpus, "wiki") == sources(corpus, "wiki", format="dataset") == expected
    assert sources(corpus, "w*", format="dataset") == expected
    assert set(formats(corpus, "wiki").values()) == {"dataset"}
    shards = find_shards(corpus, [{"files": "."}], LARGE)
    assert "wiki-data-00000-of-00002" in shards
    assert "wiki-cache-1234" not in shards


def test_a_data_set_without_its_state(corpus: Path) -> None:
    dataset(corpus / "wiki", ["data-00001-of-00002.arrow", "data-00000-of-00002.arrow"])
    (corpus / "wiki" / "state.json").unlink()
    assert sources(corpus, "wiki") == ["wiki/data-00000-of-00002.arrow", "wiki/data-00001-of-00002.arrow"]


def test_damaged_data_sets(corpus: Path) -> None:
    folder = dataset(corpus / "wiki", ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"])
    (folder / "data-00001-of-00002.arrow").unlink()
    with pytest.raises(InputError, match=r"wiki/state\.json: the data set lacks the file 'data-00001-of-00002\.arrow'"):
        sources(corpus, "wiki")
    write(folder / "state.json", "{")
    with pytest.raises(InputError, match=r"state\.json: the data set cannot be read"):
        sources(corpus, "wiki")
    dataset(folder, ["data-00000-of-00002.arrow"], _indices_data_files=[{"filename": "indices.arrow"}])
    with pytest.raises(InputError, match="flatten_indices"):
        sources(corpus, "wiki")


# ---- parts


@pytest.mark.parametrize(("size", "ranges"), read_cases(__file__, "parts_of_text"))
def test_parts_of_plain_text(tmp_path: Path, size: int, ranges: list[list[int | None]]) -> None:
    write(tmp_path / "a.txt", "x" * size)
    shards = find_shards(tmp_path, [{"files": "a.txt"}], 100)
    assert [[shard.start, shard.end] for shard in shards.values()] == ranges
    assert {shard.source for shard in shards.values()} == {"a.txt"}
    names = [f"a.part{i:04d}" for i in range(len(ranges))] if len(ranges) > 1 else ["a"]
    assert list(shards) == names


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt", "a.jsonl", "a.parquet", "a.csv", "a.arrow"])
def test_nothing_else_is_cut(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "x" * 1_000)
    if name.startswith("a.txt"):  # whatever a compressed file is called
        (tmp_path / name).write_bytes(gzip.compress(bytes(range(65, 91)) * 40, 0))
    assert list(find_shards(tmp_path, [{"files": name}], 100)) == ["a"]


# ---- errors


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        pytest.param(["*.text"], r"no file fits '\*\.text' under corpus\.root", id="none"),
        pytest.param(["absent.txt"], r"no file fits 'absent\.txt'", id="absent"),
        pytest.param(["news/a.txt", "news/*.txt"], r"'news/a\.txt' is named by two patterns", id="twice"),
        pytest.param(["news", "./news/a.txt"], r"'news/a\.txt' is named by two patterns", id="folder and file"),
        pytest.param(["news/a.txt", "news-a.txt"], r"'news-a\.txt' is named like 'news/a\.txt'", id="same name"),
        pytest.param(["loose.bn", "loose.jsonl"], r"'loose\.jsonl' is named like 'loose\.bn'", id="other ending"),
    ],
)
@pytest.mark.parametrize("shard_bytes", [1, LARGE])
def test_what_is_refused(corpus: Path, patterns: list[str], message: str, shard_bytes: int) -> None:
    write(corpus / "news-a.txt")
    write(corpus / "loose.jsonl")
    with pytest.raises(InputError, match=message):
        find_shards(corpus, [{"files": pattern} for pattern in patterns], shard_bytes)


def test_a_file_that_disappears(corpus: Path) -> None:
    """A link without a goal is what a file that vanished between two looks at it looks like."""
    (corpus / "gone.txt").symlink_to(corpus / "nowhere")
    with pytest.raises(InputError, match=r"gone\.txt' is unreachable \(No such file"):
        find_shards(corpus, [{"files": "gone.txt"}], LARGE)
    with pytest.raises(InputError, match=r"gone\.txt' is unreachable \(No such file"):
        find_shards(corpus, [{"files": "."}], LARGE)


def test_a_file_out_of_reach(corpus: Path, tmp_path: Path) -> None:
    """As a folder above that may not be searched, which never holds root back."""
    (corpus / "circle").symlink_to("circle")
    for root in (corpus, tmp_path / ("n" * 256)):
        for files in ("n" * 256, "circle/a/../b.txt", f"{'n/' * 2100}a.txt"):
            with pytest.raises(InputError, match=r"corpus\.(texts|root)"):
                find_shards(root, [{"files": files}], LARGE)
    with pytest.raises(InputError, match=r"^corpus\.supplement: '.*nnn' is unreachable \(File name too long\)"):
        find_shards(corpus, [{"files": "n" * 256}], LARGE, "corpus.supplement")


@pytest.mark.parametrize("files", ["*.txt", "."])
def test_a_name_that_snakemake_would_fill_in(tmp_path: Path, files: str) -> None:
    write(tmp_path / "a{shard}.txt")
    with pytest.raises(InputError, match=r"'a\{shard\}.txt': its name has braces, .* Rename it without"):
        sources(tmp_path, files)


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    try:
        with open(path, "w"):  # noqa: PTH123 - a name of bytes
            pass
    except OSError:
        pytest.skip("this file system takes no such names")
    with pytest.raises(InputError, match=r"the name of the file '\\udcff' is not UTF-8"):
        find_shards(tmp_path, [{"files": "*.txt"}], LARGE)
