"""The ledger: results that are moved keep what made them, and never pass for what they are not."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_text
from prasanga.provenance.check import check_results
from prasanga.provenance.ledger import (
    BEFORE,
    LEDGER,
    Circumstances,
    last_planned,
    read_ledger,
    remember_plan,
    synchronize,
)

KEY = "results/tables/ceat.csv"


def note_of(root: Path, key: str = KEY) -> Path:
    return root / ".snakemake/metadata" / urlsafe_b64encode(key.encode()).decode()


def read_note(root: Path, key: str = KEY) -> dict[str, object]:
    note: dict[str, object] = json.loads(note_of(root, key).read_text())
    return note


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder in which Snakemake has made one file, and noted it."""
    root = tmp_path / "study"
    result = root / KEY
    result.parent.mkdir(parents=True)
    result.write_text("effect\n0.5\n")
    note = note_of(root)
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"rule": "gather", "params": ["n 1000"], "endtime": result.stat().st_mtime}))
    synchronize(root)
    return root


def moved(study: Path, *, keep_times: bool) -> Path:
    """The results in a new place, without Snakemake's folder."""
    clone = study.with_name("clone")
    shutil.copytree(study / "results", clone / "results", copy_function=shutil.copy2 if keep_times else shutil.copyfile)
    return clone


@pytest.mark.parametrize("keep_times", [True, False])
def test_a_moved_result_gets_its_note_back(study: Path, keep_times: bool) -> None:
    clone = moved(study, keep_times=keep_times)
    done = synchronize(clone)
    assert (done.restored, done.unknown) == (1, 0)
    assert read_note(clone)["params"] == ["n 1000"]
    assert read_note(clone)["rule"] == "gather"


def test_a_result_that_was_changed_on_the_way_is_made_again(study: Path) -> None:
    clone = moved(study, keep_times=True)
    (clone / KEY).write_text("effect\n0.6\n")
    done = synchronize(clone)
    assert (done.restored, done.unknown) == (0, 1)
    assert read_note(clone)["params"] == ["nothing says what made this file"]


def test_a_result_that_was_cut_short_is_made_again_though_its_time_is_as_it_was(study: Path) -> None:
    before = (study / "results/provenance.jsonl").read_text()
    time = (study / KEY).stat().st_mtime_ns
    (study / KEY).write_text("effect\n0.")
    os.utime(study / KEY, ns=(time, time))
    assert synchronize(study).unknown == 1
    assert read_note(study)["rule"] == ""
    assert (study / "results/provenance.jsonl").read_text() == before


def test_a_result_from_elsewhere_is_made_again_and_stays_so_until_it_is(study: Path) -> None:
    other = study / "results/other.txt"
    other.write_text("?")
    for _ in range(2):
        synchronize(study)
        assert read_note(study, "results/other.txt")["params"] == ["nothing says what made this file"]
    assert "other.txt" not in (study / "results/provenance.jsonl").read_text()


def test_the_ledger_follows_a_rerun(study: Path) -> None:
    (study / KEY).write_text("effect\n0.7\n")
    note = {"rule": "gather", "params": ["n 2000"], "endtime": (study / KEY).stat().st_mtime}
    note_of(study).write_text(json.dumps(note))
    synchronize(study)
    clone = moved(study, keep_times=False)
    synchronize(clone)
    assert read_note(clone)["params"] == ["n 2000"]


def test_a_note_that_does_not_speak_of_the_file_does_not_reach_the_ledger(study: Path) -> None:
    """A kill between the writing of a file and Snakemake's note leaves the old note beside new content."""
    (study / KEY).write_text("effect\n0.9999\n")
    os.utime(study / KEY, (2_000_000_000, 2_000_000_000))
    synchronize(study)
    clone = moved(study, keep_times=False)
    assert synchronize(clone).unknown == 1


def test_an_older_backup_over_newer_results_is_known_for_what_it_is(study: Path, tmp_path: Path) -> None:
    """Snakemake's note speaks of the newer file; the ledger that came with the backup speaks of the older one."""
    backup = tmp_path / "backup"
    shutil.copytree(study / "results", backup)
    (study / KEY).write_text("effect\n0.8\n")
    os.utime(study / KEY, (1_900_000_000, 1_900_000_000))
    note_of(study).write_text(json.dumps({"rule": "gather", "params": ["n 5000"], "endtime": 1_900_000_000.0}))
    synchronize(study)
    shutil.rmtree(study / "results")
    shutil.copytree(backup, study / "results")
    synchronize(study)
    assert read_note(study)["params"] == ["n 1000"]


def test_nothing_is_done_while_another_run_holds_the_lock(study: Path) -> None:
    lock = study / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir()
    lock.write_text(KEY)
    (study / "results/new.txt").write_text("?")
    assert synchronize(study).unknown == 0
    assert synchronize(study, own_run=True).unknown == 1


def test_touching_a_result_changes_nothing(study: Path) -> None:
    os.utime(study / KEY, (2_000_000_000, 2_000_000_000))
    synchronize(study)
    clone = moved(study, keep_times=False)
    assert synchronize(clone).restored == 1


def test_a_file_that_a_job_is_writing_is_left_alone(study: Path) -> None:
    key = "results/running.txt"
    (study / key).write_text("half")
    mark = study / ".snakemake/incomplete" / note_of(study, key).name
    mark.parent.mkdir()
    mark.write_text("{}")
    assert synchronize(study).unknown == 0
    assert not note_of(study, key).exists()


@pytest.mark.parametrize("name", ["x.parquet", "x.json", "x.csv", LEDGER])
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "nowhere"])
def test_what_is_no_file_among_results_is_refused_and_not_waited_for(study: Path, name: str, kind: str) -> None:
    path = study / "results" / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(kind)
    for use in (lambda: synchronize(study), lambda: check_results(study / "results", root=study)):
        with pytest.raises(InputError, match=rf"{name}: no file, but a pipe, a device or a link to nothing\. Delete"):
            use()


def test_store_ledger_and_temporary_files_are_no_results(study: Path) -> None:
    for name in ("store/key/part.parquet", ".x.tmp"):
        path = study / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert synchronize(study).unknown == 0


def test_what_a_killed_job_left_in_a_folder_of_its_own_is_no_result(study: Path) -> None:
    left = study / "results/models/.tiny.host.12.abcd.tmp/model.safetensors"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    assert synchronize(study).unknown == 0


def test_a_file_that_cannot_be_read_now_is_said_and_not_made_again(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    table = study / "results/tables/ceat.parquet"
    table.write_bytes(b"PAR1")
    note = json.dumps({"rule": "gather", "params": ["n 1000"], "endtime": table.stat().st_mtime})
    note_of(study, "results/tables/ceat.parquet").write_text(note)
    monkeypatch.setattr("prasanga.provenance.ledger.require_whole", refuse)
    with pytest.raises(InputError, match=r"ceat\.parquet: cannot be read \(Permission denied\)\. Let yourself read it"):
        synchronize(study)
    assert note_of(study, "results/tables/ceat.parquet").read_text() == note


@pytest.mark.parametrize("name", ["ceat.tsv", "ceat.svg", "index.html"])
def test_a_text_that_is_damaged_before_the_ledger_knows_it_is_made_again(
    study: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Size and time are as they were: only the digest that was taken when the file was written tells."""
    monkeypatch.chdir(study)
    for number, content in enumerate(("effect\n0.5\n", "effect\n0.7\n")):
        key = f"results/tables/{number}{name}"
        write_text(key, "effect\n0.5\n")
        time = Path(key).stat().st_mtime
        note_of(study, key).write_text(json.dumps({"rule": "gather", "params": ["n 1000"], "endtime": time}))
        Path(key).write_text(content)
        os.utime(key, (time, time))
    assert synchronize(study).unknown == 1
    known = read_ledger(study / "results" / LEDGER).entries
    assert f"results/tables/0{name}" in known
    assert f"results/tables/1{name}" not in known
    assert read_note(study, f"results/tables/1{name}")["rule"] == ""
    assert list((study / ".snakemake/prasanga/written").iterdir())
    synchronize(study, own_run=True)
    assert not list((study / ".snakemake/prasanga/written").iterdir())


def test_a_line_without_one_of_its_keys_counts_as_absent(study: Path) -> None:
    """`{"definitions": ...}` without `code` was a KeyError."""
    ledger = study / "results" / LEDGER
    before = read_ledger(ledger).entries
    with ledger.open("a") as file:
        file.write('{"definitions": {"a": "b"}}\n{"circumstances": {}}\n{"code": "a"}\n{"path": "results/x"}\n[]\n')
    assert read_ledger(ledger).entries == before


def test_a_damaged_ledger_counts_as_absent_line_by_line(study: Path) -> None:
    ledger = study / "results/provenance.jsonl"
    ledger.write_text('{"path": "cut sho\n' + ledger.read_text())
    clone = moved(study, keep_times=True)
    assert synchronize(clone).restored == 1


def test_long_names_are_noted_where_snakemake_looks(tmp_path: Path) -> None:
    key = "results/" + "/".join(["a-long-folder-name"] * 15) + "/x.txt"
    path = tmp_path / key
    path.parent.mkdir(parents=True)
    path.write_text("x")
    synchronize(tmp_path)
    code = urlsafe_b64encode(key.encode()).decode()
    assert len(code) > 254
    assert (tmp_path / ".snakemake/metadata" / f"@{code[:254]}" / code[254:]).is_file()


def test_nothing_to_do_without_results(tmp_path: Path) -> None:
    assert synchronize(tmp_path).restored == 0
    assert not (tmp_path / "results").exists()


def test_results_of_before_1970_are_known_as_long_as_they_are_there(study: Path) -> None:
    before = (study / "results" / LEDGER).read_text().count("\n")
    shutil.rmtree(study / ".snakemake")
    os.utime(study / KEY, (-315_619_200, -315_619_200))
    for _ in range(3):
        assert synchronize(study).unknown == 0
        shutil.rmtree(study / ".snakemake")
    assert (study / "results" / LEDGER).read_text().count("\n") == before
    assert synchronize(study).restored == 1
    assert read_note(study)["endtime"] == -315_619_200


def test_a_ledger_that_becomes_shorter_is_kept(study: Path) -> None:
    ledger = study / "results" / LEDGER
    ledger.write_text(ledger.read_text() + "cut short {\n")
    long = ledger.read_text()
    (study / KEY).write_text("effect\n0.7\n")
    os.utime(study / KEY, (1, 1))
    (study / "results/b.csv").write_text("1\n")
    (study / KEY).unlink()
    synchronize(study)
    assert (study / "results" / BEFORE).read_text() == long
    assert KEY not in ledger.read_text()
    ledger.write_text("\n")
    synchronize(study)
    assert (study / "results" / BEFORE).read_text() == long


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\u0085", "\x0b", "\x1c"])
def test_what_unicode_calls_an_end_of_a_line_ends_no_line(tmp_path: Path, end: str) -> None:
    said = Circumstances(config={"title": f"a{end}b"})
    path = tmp_path / f"results/a{end}b.csv"
    path.parent.mkdir()
    path.write_text("1\n")
    note = note_of(tmp_path, f"results/a{end}b.csv")
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"rule": "r", "params": [f"x{end}"], "endtime": path.stat().st_mtime}))
    remember_plan(tmp_path / ".snakemake", said)
    assert [each for _, each in last_planned(tmp_path / ".snakemake")] == [said]
    synchronize(tmp_path, own_run=True, circumstances=said)
    ledger = read_ledger(tmp_path / "results" / LEDGER)
    assert list(ledger.entries) == [f"results/a{end}b.csv"]
    assert list(ledger.circumstances.values()) == [said]


def test_a_time_that_no_date_has_is_told(study: Path) -> None:
    memory = Path("/dev/shm")  # a file system that keeps such times
    if not os.access(memory, os.W_OK):
        pytest.skip(f"{memory} is not there")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        copied = shutil.copytree(study, Path(folder, "study"))
        os.utime(copied / KEY, (260_000_000_000, 260_000_000_000))
        before = (copied / "results" / LEDGER).read_text()
        with pytest.raises(InputError, match=r"its time is of no year .*\. Write `touch "):
            synchronize(copied)
        assert (copied / "results" / LEDGER).read_text() == before


def test_a_file_whose_name_is_no_text_is_no_result(study: Path) -> None:
    (study / "results" / os.fsdecode(b"a\xff.csv")).write_text("1\n")
    done = synchronize(study)
    assert (done.restored, done.unknown) == (0, 0)
    assert list(read_ledger(study / "results" / LEDGER).entries) == [KEY]
