"""The boundary of trust: what a study's folder, its config and the environment may do (docs/trust.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prasanga.base.errors import InputError
from prasanga.base.places import (
    BESIDE,
    list_store,
    require_cache,
    require_own_folders,
)
from prasanga.cli import app
from prasanga.cli.running import make_environment, work
from prasanga.config import list_outside
from prasanga.extras.studies import read_summary

OUTSIDE = {
    "corpus": {
        "texts": [
            *({"files": name} for name in ("texts/*.txt", "hf://datasets/a/b/*.parquet", "https://10.0.0.1/x.parquet")),
            *({"files": name} for name in ("s3://b/x.parquet", "ftp://b/x.parquet", "/etc/*.conf", "results/**")),
        ]
    },
    "lexicon": {"stimuli": ["own", "../words"]},
    "models": {
        "hub": {"path": "owner/name", "remote_code": True},
        "etc": {"path": "/etc"},
        "own": {"path": "models/own", "weights_sha256": {"a.bin": "0" * 64}},
        "packaged": {"package": "multilingual-e5-small"},
    },
    "pairs": {"sets": {"p": {"path": "a[b]/../link/pairs.csv"}, "own": {"path": "own/pairs.csv"}}},
    "categories": {"V": {side: {"a": f"/{side}.yaml", "b": ["x"]} for side in ("targets", "attributes")}},
    "title": "https://nothing.org and /etc/passwd",
}
SAID = [
    ("models.hub.remote_code", "True", "RUNS CODE"),
    ("corpus.texts.0.files", ".hidden/a.txt", "reads /etc/passwd"),
    ("corpus.texts.1.files", "hf://datasets/a/b/*.parquet", "read from the Hugging Face hub, with your token"),
    ("corpus.texts.2.files", "https://10.0.0.1/x.parquet", "requested from that server, also inside your network"),
    ("corpus.texts.3.files", "s3://b/x.parquet", "read from S3 (or AWS_ENDPOINT_URL), with your AWS credentials"),
    ("corpus.texts.4.files", "ftp://b/x.parquet", "refused"),
    ("corpus.texts.5.files", "/etc/*.conf", "reads /etc"),
    *((f"categories.V.{side}.a", f"/{side}.yaml", f"reads /{side}.yaml") for side in ("targets", "attributes")),
    ("lexicon.stimuli.1", "../words", "reads {parent}/words"),
    ("models.hub.path", "owner/name", "fetched from the Hugging Face hub (or HF_ENDPOINT), with your token"),
    ("models.own.weights_sha256.a.bin", "0" * 64, "opens a pickle, for tensors only"),
    ("models.etc.path", "/etc", "reads /etc"),
    ("models.packaged.package", "multilingual-e5-small", "fetched from the Python package index (or PIP_INDEX_URL)"),
    ("pairs.sets.p.path", "a[b]/../link/pairs.csv", "reads {parent}/pairs.csv"),
]


@pytest.mark.parametrize("name", ["study/study.yaml", "study.yml"])  # the folder of study.yml is study
def test_a_strangers_config_is_listed_with_what_it_reaches_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / "study"
    for inner in ("texts", ".hidden", "own/closed", "models/own", "results", "a[b]"):
        (folder / inner).mkdir(parents=True)
    (folder / "own/closed").chmod(0)  # on a disk, `lost+found`
    (folder / "texts/a").symlink_to("../.hidden")
    (folder / ".hidden/a.txt").symlink_to("/etc/passwd")
    (folder / "link").symlink_to("..")
    (folder / "results/store").symlink_to(tmp_path / BESIDE / "vectors")  # the study's own
    (folder / "yaml.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    (tmp_path / name).write_text(json.dumps(OUTSIDE), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rows = list_outside(Path(name), folder)
    assert rows[0][2].startswith("RUNS CODE")
    assert sorted(row[:2] for row in rows) == sorted([key, value] for key, value, _ in SAID)
    for row, (_, _, said) in zip(sorted(rows), sorted(SAID), strict=True):
        assert row[2].startswith(said.format(parent=tmp_path))
    done = CliRunner().invoke(app, ["config", name])
    assert (done.exit_code, done.output.count("\n")) == (0, len(SAID) + 2)
    assert f"Nothing else outside {folder}, but " in done.output


LINKS = (
    *(".snakemake", "results", "logs", "benchmarks", ".snakemake/prasanga", ".snakemake/locks", "results/report/data"),
    *(".snakemake/prasanga/running", "logs/pairs/a.log"),
)


@pytest.mark.parametrize("name", LINKS)
def test_nothing_is_written_or_deleted_through_links(tmp_path: Path, name: str) -> None:
    study, link = tmp_path / "study", tmp_path / "study" / name
    link.parent.mkdir(parents=True)
    (tmp_path / "victim").mkdir()
    require_own_folders(study)
    link.symlink_to(tmp_path / ("victim" if not name.endswith(("running", ".log")) else "nothing"))
    with pytest.raises(InputError, match=rf"{link} is a link to {tmp_path}.*Delete the link: `rm {link}`"):
        require_own_folders(study)
    if link.is_dir():  # a user's own link to a larger disk, and a stranger's below it
        (tmp_path / "victim/.prasanga-results").touch()
        require_own_folders(study)
        (tmp_path / "victim/inner").symlink_to("/etc")
        with pytest.raises(InputError, match=f"{link}/inner is a link to /etc"):
            require_own_folders(study)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [(".snakemake/pip-deployments", "Delete it: `rm -r {}`"), (".numba_config.yaml", "Move it to another folder")],
)
def test_what_snakemake_and_numba_would_take_from_a_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, remedy: str
) -> None:
    """Snakemake imports whatever has the name of a plugin there; numba's settings change last digits."""
    code = tmp_path / "theirs" / name
    code.mkdir(parents=True)
    for study, here in ((tmp_path / "theirs", tmp_path), (tmp_path / "mine", tmp_path / "theirs")):
        monkeypatch.chdir(here)
        with pytest.raises(InputError, match=f"^{code}: .* from there, .*{remedy.format(code)}"):
            work(study)


def test_stores_delete_nothing_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study/results").mkdir(parents=True)
    (tmp_path / "victim/key").mkdir(parents=True)
    for name in ("victim/precious", "victim/key/a.parquet"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path / "study")
    Path("results/store").symlink_to(tmp_path / "victim")
    assert list_store(Path()) == [], "a folder without key.json is no part of a store, and is not pruned"
    assert (tmp_path / "victim/precious").exists()


def test_variables_that_redirect_a_run_are_named_or_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        **{"SNAKEMAKE_PROFILE": "slurm", "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "secret", "HF_ENDPOINT": "https://x.org"},
        **{"PYTHONPATH": f".:lib::{tmp_path}", "PYTHONUTF8": "0"},
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("prasanga.cli.show_plan", lambda *_, **__: None)
    (tmp_path / "study.yaml").touch()
    said = CliRunner().invoke(app, ["plan", str(tmp_path)]).output
    for name in (
        "SNAKEMAKE_PROFILE (ignored",
        "SNAKEMAKE_STORAGE_S3_SECRET_KEY (op",
        "HF_ENDPOINT (m",
        "PYTHONPATH (P",
    ):
        assert f"From your environment: {name}" in said
    assert "secret" not in said
    environment = make_environment()
    assert "SNAKEMAKE_PROFILE" not in environment
    assert (environment["PYTHONPATH"], environment["PYTHONUTF8"]) == (str(tmp_path), "1")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/etc/passwd")
    with pytest.raises(InputError, match=r"^/etc/passwd/.cache: .*`export XDG_CACHE_HOME="):
        require_cache()


def test_in_an_old_locale_names_in_bangla_are_read(tmp_path: Path) -> None:
    (tmp_path / "মডেল.yaml").write_text("study: a", encoding="utf-8")
    line = [sys.executable, "-c", "from prasanga.cli import main; main()", "open", "মডেল.yaml"]
    old = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(line, env=old, cwd=tmp_path, capture_output=True, check=False)
    assert done.stderr.decode().startswith(f"{tmp_path}/মডেল/results/report/index.html: there is no page yet")


def test_a_summary_with_half_of_a_character_is_refused(tmp_path: Path, project_root: Path) -> None:
    summary = json.loads((project_root / "docs/examples/demo.json").read_text(encoding="utf-8"))
    (tmp_path / "a.json").write_text(json.dumps({**summary, "study": "a\ud800"}), encoding="utf-8")
    with pytest.raises(InputError, match="not a readable summary of a study"):
        read_summary(tmp_path / "a.json")
