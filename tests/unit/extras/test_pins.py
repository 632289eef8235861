"""`prasanga models pin`: full commits and digests of pickles, from a small hub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from prasanga.cli import app
from prasanga.config import read_config
from prasanga.extras.papers import CHANGES, prepare

MAIN, OLDER = "abcdef0123" * 4, "7604cf1" + "0" * 33
DIGEST = "5" * 64
PICKLED = ["config.json", "pytorch_model.bin", "training_args.bin"]
FILES = {
    "google/muril-large-cased": PICKLED,
    "FacebookAI/xlm-roberta-large": ["config.json", "model.safetensors", "pytorch_model.bin"],
    "csebuetnlp/banglabert_large": PICKLED,
    "ai/shards": ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"],
}
STUDY = """\
# a study with comments
models:
  old:  # the large one
    path: google/muril-large-cased  # on the hub
    revision: 7604cf1
    dtype: bfloat16
  new: {path: FacebookAI/xlm-roberta-large, revision: null}
  shards: {path: ai/shards, dtype: float32}
  mine:
    path: mine
  lost: {path: nobody/nothing, revision: null}
# the end
"""


class _Hub(BaseHTTPRequestHandler):
    """Answers as the hub does, with two commits of each model."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix("/api/models/")
        name, rest = "/".join(path.split("/")[:2]), path.split("/")[2:]
        answer: Any = {"error": "Repository not found"}
        if name in FILES and rest[:1] == ["commits"]:
            when = {"date": "2024-01-01T00:00:00.000Z", "authors": [], "title": "", "message": ""}
            answer = [{"id": commit, **when} for commit in (MAIN, OLDER)]
        elif name in FILES:
            lfs = {"sha256": DIGEST, "size": 9, "pointerSize": 9}
            files = [
                {"rfilename": file, "size": 9} | ({} if file == "config.json" else {"lfs": lfs}) for file in FILES[name]
            ]
            answer = {"id": name, "sha": rest[1] if rest else MAIN, "siblings": files}
        self.send_response(404 if "error" in answer else 200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    yield
    server.shutdown()


def pin(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["models", "pin", *map(str, arguments)])


def test_a_hub_that_cannot_be_reached_is_no_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    (tmp_path / "study.yaml").write_text("models: {new: {path: FacebookAI/xlm-roberta-large}}\n", encoding="utf-8")
    done = pin(tmp_path)
    assert (done.exit_code, "defect" in done.output) == (1, False)
    assert "new\tnot found\t" in done.output


def test_the_commits_and_digests_of_a_study_are_printed(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "mine").mkdir()
    done = pin(tmp_path)
    assert done.exit_code == 1  # of one model nothing is known
    rows = [line.split("\t") for line in done.output.splitlines() if "\t" in line][1:]
    assert [row[:3] for row in rows[:3]] == [
        ["old", OLDER, "pytorch_model.bin"],
        ["new", MAIN, ""],
        ["shards", MAIN, ", ".join(FILES["ai/shards"])],
    ]
    assert rows[3][:2] == ["lost", "not found"]
    said, _, keys = done.stdout.partition(":\n\n")
    assert said.endswith(f"Write these keys into {tmp_path / 'study.yaml'}")
    assert yaml.safe_load(keys)["models"] == {
        "old": {"revision": OLDER, "weights_sha256": {"pytorch_model.bin": DIGEST}},
        "new": {"revision": MAIN},
        "shards": {"revision": MAIN, "weights_sha256": dict.fromkeys(FILES["ai/shards"], DIGEST)},
    }
    assert (tmp_path / "study.yaml").read_text(encoding="utf-8") == STUDY


@pytest.mark.parametrize(
    ("text", "pinned"),
    [
        ("seed: 1\n", None),
        ("models:\n", None),
        ("models:\n  m:\n    path: google/muril-large-cased\n    revision:\n    weights_sha256:\n", MAIN),
    ],
)
def test_a_study_with_keys_that_are_empty_or_absent_is_pinned(tmp_path: Path, text: str, pinned: str | None) -> None:
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    done = pin(tmp_path)
    assert done.exit_code == 0, done.output
    keys = yaml.safe_load(done.stdout.partition(":\n\n")[2])
    assert keys == (pinned and {"models": {"m": {"revision": pinned, "weights_sha256": {PICKLED[1]: DIGEST}}}})


def test_a_short_commit_that_the_hub_has_not_is_left_as_it_is(tmp_path: Path) -> None:
    text = "models:\n  m: {path: google/muril-large-cased, revision: 1234567}\n"
    (tmp_path / "study.yaml").write_text(text.replace("1234567", "'1234567'"), encoding="utf-8")
    done = pin(tmp_path)
    assert done.exit_code == 1
    assert "no commit of google/muril-large-cased begins with 1234567" in " ".join(done.output.split())
    assert read_config(tmp_path / "study.yaml")["models"]["m"]["revision"] == "1234567"


def test_pins_of_a_paper_are_changes_and_models_that_were_left_out_are_pinned_as_well(
    tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {"banglabert-generator": None, "muril-base": None, "xlm-roberta": {"dtype": "float32"}}
    (tmp_path / CHANGES).write_text(f"# mine\n{yaml.safe_dump({'models': models})}", encoding="utf-8")
    monkeypatch.setattr("prasanga.extras.papers.reaches_hub", lambda: True)
    prepare(tmp_path, "sadhu2024", project_root, keep_going=True)
    assert list(read_config(tmp_path / "study.yaml")["models"]) == ["xlm-roberta"]
    done = pin(tmp_path)
    assert done.exit_code == 1  # the hub here has no commit 5b0713e
    changes = (tmp_path / CHANGES).read_text(encoding="utf-8")
    assert changes.startswith("# mine\n")
    assert yaml.safe_load(changes)["models"] == {
        **models,
        "xlm-roberta": {"dtype": "float32", "revision": MAIN},
        "muril": {"revision": OLDER, "weights_sha256": {"pytorch_model.bin": DIGEST}},
    }
    states = {item.name: item.state for item in prepare(tmp_path, "sadhu2024", project_root) if item.is_model}
    assert states == {
        "banglabert-discriminator": "needs a full commit, needs a digest",
        "muril": "on the hub",
        "xlm-roberta": "on the hub",
    }
