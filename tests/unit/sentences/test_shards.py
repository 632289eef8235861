"""Which files a corpus consists of."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.errors import InputError
from prasanga.sentences.shards import Shard, find_shards


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name in ("news/a.txt", "news/b.txt.gz", "books/a.txt", "loose.bn"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text")
    return tmp_path


def test_names_follow_the_paths(corpus: Path) -> None:
    shards = find_shards(
        corpus, [{"files": "**/*.txt*", "documents": "line"}, {"files": "loose.bn", "documents": "file"}]
    )
    assert shards == {
        "books-a": Shard(f"{corpus}/books/a.txt", "books/a.txt", "line"),
        "news-a": Shard(f"{corpus}/news/a.txt", "news/a.txt", "line"),
        "news-b": Shard(f"{corpus}/news/b.txt.gz", "news/b.txt.gz", "line"),
        "loose": Shard(f"{corpus}/loose.bn", "loose.bn", "file"),
    }


def test_folders_are_no_files(corpus: Path) -> None:
    assert set(find_shards(corpus, [{"files": "*", "documents": "line"}])) == {"loose"}


def test_links_to_folders_are_followed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "c.txt").write_text("text")
    (corpus / "link").symlink_to(elsewhere)
    assert set(find_shards(corpus, [{"files": "link/*.txt", "documents": "line"}])) == {"link-c"}


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        pytest.param(["*.text"], r"no file fits '\*\.text' under corpus\.root", id="none"),
        pytest.param(["news/a.txt", "news/*.txt"], r"'news/a\.txt' is named by two patterns", id="twice"),
        pytest.param(["news/a.txt", "news-a.txt"], r"'news-a\.txt' is named like 'news/a\.txt'", id="same name"),
    ],
)
def test_what_is_refused(corpus: Path, patterns: list[str], message: str) -> None:
    (corpus / "news-a.txt").write_text("text")
    with pytest.raises(InputError, match=message):
        find_shards(corpus, [{"files": pattern, "documents": "line"} for pattern in patterns])
