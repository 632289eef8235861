"""The store that studies share: which folder it is, what is told of it, and that nothing is lost that results need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from prasanga.base.errors import InputError
from prasanga.base.io import Store
from prasanga.base.places import BESIDE, installation, link_store, list_store, require_store, store_beside
from prasanga.cli import app
from prasanga.cli.running import STORE, make_environment

COLUMNS = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("value", pa.int64())])


def write(root: Path, path: str, text: str = "") -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    return root / path


def prasanga(*arguments: str | Path, **keywords: Any) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], **keywords)
    return done.exit_code, done.output


@pytest.fixture
def keep(tmp_path: Path) -> Callable[..., Path]:
    """Keeps two rows of a key in the store of the test, as a job does; returns the file that they are in."""

    def make(what: str, key: str, model: str, *, old: bool = False) -> Path:
        describes = {"model": model, "layer": 3} if what == "vectors" else {"settings": {"which": {"model": model}}}
        store = Store(tmp_path / BESIDE / what / key, key, COLUMNS.names, describes)
        store.add_rows(pa.table({"id": [key * 32, "0" * 32], "value": [1, 2]}, COLUMNS))
        (shard,) = store.folder.glob("*.parquet")
        if old:
            os.utime(shard, (time.time() - 100 * 86400,) * 2)
        return shard

    return make


def test_studies_share_a_store_and_keep_what_they_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "shared"
    for name in ("one", "two", "old"):
        (tmp_path / name).mkdir()
    write(tmp_path / "old", "results/store/a.parquet", "its own")
    for name in ("one", "two", "old", "one"):
        monkeypatch.chdir(tmp_path / name)
        link_store(str(store))
    write(tmp_path / "one", "results/store/key/a.parquet", "a vector")
    write(tmp_path / "two", "results/likelihoods/kept/b.parquet", "a score")
    assert (tmp_path / "two/results/store/key/a.parquet").read_text(encoding="utf-8") == "a vector"
    assert (store / "scores/b.parquet").read_text(encoding="utf-8") == "a score"
    assert not (tmp_path / "old/results/store").is_symlink()
    assert (tmp_path / "old/results/likelihoods/kept/b.parquet").is_file()
    monkeypatch.chdir(tmp_path / "two")
    link_store("")
    assert (tmp_path / "two/results/store").is_symlink(), "a plan without the variable changes nothing"
    link_store(str(tmp_path / "other"))
    assert (tmp_path / "two/results/store").resolve() == (tmp_path / "other/vectors").resolve()
    with pytest.raises(InputError, match="this store cannot be used"):
        link_store(str(tmp_path / "old/results/store/a.parquet"))


def test_the_store_lies_beside_the_study_unless_it_has_kept_vectors_before(tmp_path: Path) -> None:
    for name in ("new", "own", "other"):
        (tmp_path / name).mkdir()
    write(tmp_path / "own", "results/store/a.parquet")
    assert store_beside(tmp_path / "own") == tmp_path / ".prasanga-store", "for its scores"
    write(tmp_path / "own", "results/likelihoods/kept/a.parquet")
    (tmp_path / "other/results").mkdir()
    (tmp_path / "other/results/store").symlink_to(tmp_path / "own")
    assert store_beside(tmp_path / "new") == tmp_path / ".prasanga-store"
    assert store_beside(tmp_path / "own") is None
    assert store_beside(tmp_path / "other") is None
    assert store_beside(installation()) is None, "the results of a checkout are its own"


def test_a_relative_path_is_that_from_where_the_command_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "study/study.yaml", "study: mine\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRASANGA_STORE", "shared")
    seen = []
    for name in ("work", "show_plan"):
        monkeypatch.setattr(f"prasanga.cli.{name}", lambda *_, **__: seen.append(make_environment()[STORE]))
    for command in ("run", "plan", "figures"):
        assert prasanga(command, "study")[0] == 0
        monkeypatch.setenv("PRASANGA_STORE", "shared")
    assert prasanga("run", "study", "--store", "other")[0] == 0
    assert seen == [str(tmp_path / name) for name in ("shared", "shared", "shared", "other")]
    with pytest.raises(InputError, match=r"PRASANGA_STORE is 'shared', a relative path.*prasanga run --store"):
        link_store("shared")


def test_a_store_that_cannot_be_written_is_told_before_any_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    require_store()
    assert list((tmp_path / "results/store").iterdir()) == [], "the probe leaves nothing"
    monkeypatch.setattr("prasanga.base.places.os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(
        InputError, match=r"results/store: the store for vectors and scores cannot be written \(No space left\)"
    ):
        require_store()


def test_what_is_kept_is_listed_by_model(keep: Callable[..., Path], tmp_path: Path) -> None:
    keep("vectors", "b", "hub/b")
    keep("vectors", "a", "hub/a")
    keep("scores", "c", "hub/c")
    found = [(kept.what, kept.model) for kept in list_store(tmp_path / BESIDE)]
    assert found == [("scores", "hub/c"), ("vectors", "hub/a"), ("vectors", "hub/b")]
    status, said = prasanga("store", "list", "-d", tmp_path)
    assert status == 0
    rows = [line.split("\t") for line in said.splitlines() if "\t" in line]
    assert [row[1] for row in rows] == ["model", "hub/c", "hub/a", "hub/b"]
    status, said = prasanga("store", "list", "-d", tmp_path / BESIDE / "vectors/a")
    assert (status, "not a store" in said) == (2, True)


def test_only_old_vectors_are_deleted_and_after_a_question(keep: Callable[..., Path], tmp_path: Path) -> None:
    old = keep("vectors", "a", "hub/a", old=True)
    stay = [keep("vectors", "b", "hub/b"), keep("scores", "d", "hub/d", old=True)]
    status, said = prasanga("store", "prune", "-d", tmp_path, input="n\n")
    assert (status, "hub/a" in said, "hub/b" in said) == (0, True, False)
    assert old.exists()
    assert "MB freed." in prasanga("store", "prune", "-d", tmp_path, "--yes")[1]
    assert not old.parent.exists()
    assert all(path.exists() for path in stay)
    assert prasanga("store", "prune", "-d", tmp_path)[1].startswith("Nothing to delete")


def test_a_study_that_was_moved_away_from_its_store_uses_the_one_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study/results").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "study")
    for store, place in ((str(store_beside(Path())), tmp_path / BESIDE / "vectors"), ("", Path("results/store"))):
        Path("results/store").symlink_to("/scratch/purged/vectors")
        [said] = link_store(store)
        assert said.startswith("results/store led to /scratch/purged/vectors, which is missing. It is now ")
        assert Path("results/store").resolve() == place.absolute()
        assert link_store(store) == []
        Path("results/store").unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["results", "logs", "results/store", "results/likelihoods/kept"])
def test_a_folder_that_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, name)
    with pytest.raises(InputError, match=rf"{name} is not a folder, but a study keeps .*`rm {tmp_path / name}`"):
        link_store("")
