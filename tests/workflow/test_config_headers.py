"""The commands in the comments of the configs run as they are typed. Models of the hub are planned, and not fetched."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from forks import run_snakemake
from small_study import Study, copy_code
from tables import read_data
from typer.testing import CliRunner

from prasanga.cli import app

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "config.yaml", *sorted((ROOT / "config").glob("*.yaml"))]
CONFIGS = {path.stem: path.read_text(encoding="utf-8") for path in FILES}
#: A command has a line of its own, indented, or is between backticks.
COMMAND = re.compile(r"^ {4,}((?:snakemake|prasanga) .+)$|`((?:snakemake|prasanga)(?: [^`]+)?)`", re.MULTILINE)


def commands(program: str) -> list[tuple[str, str]]:
    """Name of the config and command, of each in its comments."""
    found = []
    for name, text in CONFIGS.items():
        comments = "\n".join(line[2:] for line in text.splitlines() if line.startswith("# "))
        found += [(name, "".join(groups)) for groups in COMMAND.findall(comments)]
    return [(name, command) for name, command in found if command.split()[0] == program]


#: What a reader is told to bring.
BROUGHT = read_data(__file__, "brought")
READ_TEXT = {"extract_sentences", "audit_sentences", "draw_samples", "embed_segments", "measure_ceat"}


@pytest.fixture
def checkout(project_root: Path, tmp_path: Path) -> Study:
    return copy_code(project_root, tmp_path / "tree", link_source=True)


def typed(study: Study, command: str) -> dict[str, int]:
    """{rule: number of jobs} that a line plans; `--dry-run` is added, before what comes after `--`."""
    line, dashes, targets = command.partition(" -- ")
    done = run_snakemake(study.root, shlex.split(f"{line} --dry-run{dashes}{targets}")[1:])
    assert done.returncode == 0, done.stdout + done.stderr
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.MULTILINE)}


@pytest.mark.parametrize(("name", "command"), commands("snakemake"))
def test_a_command_of_snakemake_plans_what_the_config_is_for(checkout: Study, name: str, command: str) -> None:
    path, text = BROUGHT[name]
    (checkout.root / path).parent.mkdir(parents=True)
    (checkout.root / path).write_text(text, encoding="utf-8")
    plan = typed(checkout, command)
    rules = {rule.removeprefix("en_").removeprefix("hi_") for rule in plan}
    assert {"measure_seat", "write_page"} <= rules
    if name == "sahoo2024":
        assert "score_pairs" in rules
        assert not READ_TEXT & rules
    else:
        assert {"measure_ceat", "measure_weat", "score_log_probability", "score_structures"} <= rules


@pytest.mark.parametrize(("name", "command"), commands("prasanga"))
def test_a_command_of_ours_starts_the_config_that_it_speaks_of(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the run itself, and the packages that it would fetch."""
    started: list[Path] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRASANGA_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("prasanga.cli.work", lambda folder, *_, **__: started.append(folder))
    monkeypatch.setattr("prasanga.models.packaged.fetch", lambda _: tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    asked = shlex.split(command)[1]
    if asked == "models":
        (tmp_path / "study.yaml").write_text(CONFIGS[name], encoding="utf-8")
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    studies = [yaml.safe_load((folder / "study.yaml").read_text(encoding="utf-8"))["study"] for folder in started]
    if asked == "demo":
        assert done.exit_code == 0, done.output
        assert studies == ["demo"]
    elif asked == "models":
        rows = [line.split("\t")[:2] for line in done.output.splitlines() if "\t" in line]
        assert rows[1:] == [[model, "not found"] for model in yaml.safe_load(CONFIGS[name])["models"]]
    else:
        assert asked == "reproduce"
        assert f"Run these commands in {tmp_path}/reproduce-{name}" in done.output
        assert not started  # models are missing


def test_commands_were_found() -> None:
    assert [name for name, _ in commands("snakemake")] == ["sadhu2024", "sahoo2024"]
    assert {command for _, command in commands("prasanga")} == {
        "prasanga demo",
        *("prasanga reproduce sadhu2024", "prasanga reproduce sahoo2024", "prasanga models pin"),
    }
