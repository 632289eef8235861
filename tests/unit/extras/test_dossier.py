"""The study of a paper and its dossier: a row per published number, ours, and the named reason for a difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.config import read_config, split_languages
from prasanga.extras.dossier import DOSSIER_SCHEMA, write_dossier
from prasanga.extras.papers import CHANGES, Needed, find_failed, prepare
from prasanga.report.comparison import PAPERS, read_percentages, read_published
from prasanga.schema import TABLES


@pytest.fixture
def published(project_root: Path) -> Path:
    return project_root / "resources/published"


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of an empty hub, which is not asked; a folder is a model."""
    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("prasanga.extras.papers.check_files", lambda path, **_: require_name(path))
    return cache


def require_name(path: Path) -> None:
    if path.name == "broken":
        raise InputError(f"model {path}: it is broken.")


def compared(
    method: str, category: str, table: str, theirs: str, numbers: tuple[float, float | None], **more: Any
) -> Any:
    """A row of a study's comparison: the published number and ours, with an interval of 0.1 around ours."""
    printed, measured = numbers
    around = {} if measured is None else {"ci_low": measured - 0.05, "ci_high": measured + 0.05}
    inside = None if measured is None else around["ci_low"] <= printed <= around["ci_high"]
    return {
        "paper": "",
        **{"method": method, "category": category, "table": table, "published_model": theirs, "language": "bn"},
        **{"published": printed, "measured": measured, "published_inside": inside, **around},
        "difference": None if measured is None else measured - printed,
        **more,
    }


def write_comparison(folder: Path, *rows: dict[str, Any]) -> None:
    path = folder / "results/report/comparison.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = dict(TABLES["comparison"].polars)
    pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema, orient="row").write_csv(path)


def write_changes(folder: Path, changes: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / CHANGES).write_text(yaml.safe_dump(changes), encoding="utf-8")


def written(folder: Path, paper: str, project_root: Path) -> pl.DataFrame:
    write_dossier(folder, paper, project_root, prepare(folder, paper, project_root))
    return pl.read_csv(folder / "dossier.csv", schema_overrides=DOSSIER_SCHEMA)


def cache_model(hub: Path, path: str, revision: str, *files: str) -> None:
    """Put a model into the cache of the hub, as `hf download` does."""
    folder = hub / f"models--{path.replace('/', '--')}"
    for name in ("config.json", *files):
        (folder / "snapshots" / revision).mkdir(parents=True, exist_ok=True)
        (folder / "snapshots" / revision / name).touch()
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs/main").write_text(revision, encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_study_of_a_paper_is_its_config(tmp_path: Path, paper: str, project_root: Path) -> None:
    prepare(tmp_path, paper, project_root)
    study = tmp_path / "study.yaml"
    assert read_config(study) == read_config(project_root / f"config/{paper}.yaml")
    before = study.stat().st_mtime_ns
    prepare(tmp_path, paper, project_root)  # what is as it was is not written again
    assert study.stat().st_mtime_ns == before
    with pytest.raises(InputError, match=r"paper 'sadhu' is not known\. Write sadhu2024 or sahoo2024\."):
        prepare(tmp_path, "sadhu", project_root)


def test_changes_are_merged_into_the_config(tmp_path: Path, project_root: Path) -> None:
    prepare(tmp_path, "sadhu2024", project_root)
    assert (tmp_path / CHANGES).read_text(encoding="utf-8").startswith("# Changes to the config")
    models = {"muril": None, "xlm-roberta": {"path": "mine", "revision": None}}
    write_changes(tmp_path, {"models": models, "samples": {"lengths": [9]}})
    prepare(tmp_path, "sadhu2024", project_root)
    config = read_config(tmp_path / "study.yaml")
    assert "muril" not in config["models"]
    assert "muril" not in config["comparison"]["models"]
    assert (config["models"]["xlm-roberta"]["path"], config["models"]["xlm-roberta"]["kind"]) == ("mine", "encoder")
    assert config["samples"] == {"lengths": [9], "contexts_per_stimulus": 1200}
    write_changes(tmp_path, {"sadhu2024_seat": {}})
    with pytest.raises(InputError, match=r"study\.yaml, line \d+: unknown key `sadhu2024_seat`"):
        prepare(tmp_path, "sadhu2024", project_root)


def test_the_list_names_the_state_of_every_model(
    tmp_path: Path, hub: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    full = "0123456789" * 4
    (folder / "models/mine").mkdir(parents=True)
    (folder / "models/broken").mkdir()
    models = {
        "bloom": {"path": "models/broken"},
        "bernice": {"path": "models/mine"},
        "mbart": {"path": "models/gone/it"},
        "muril": {"revision": full, "weights_sha256": {"pytorch_model.bin": "a" * 64}},
        "mgpt": {"weights_sha256": {"pytorch_model.bin": "a" * 64}},
    }
    write_changes(folder, {"models": models})
    cache_model(hub, "meta-llama/Llama-2-7b-hf", full, "model.safetensors.index.json", "model-00001-of-1.safetensors")
    cache_model(hub, "google/muril-base-cased", full, "pytorch_model.bin")
    cache_model(hub, "ai4bharat/IndicBERTv2-MLM-only", full)  # without weights
    items = {item.name: item for item in prepare(folder, "sahoo2024", project_root) if item.is_model}
    assert {name: item.state for name, item in items.items()} == read_data(__file__, "states_of_models")
    assert {name for name, item in items.items() if item.stops} == {
        name for name, item in items.items() if item.state != "there"
    }
    assert items["xlm-roberta"].get == "hf download FacebookAI/xlm-roberta-base"
    assert items["mt5"].get == "prasanga models pin"
    assert items["mistral"].get.startswith("accept the terms on https://huggingface.co/mistralai/Mistral-7B-v0.1")
    assert items["bloom"].get == f"model {folder}/models/broken: it is broken."
    assert items["mbart"].get == "no folder models/gone/it"
    assert items["mt5"].needed_for == "Table 2, Table 3, Table 4, Table 9"
    assert items["llama-2"].needed_for == "Table 3, Table 4, Table 9"
    assert items["indicbert-v2"].needed_for == "no printed number"
    # where there is a network, the run fetches what is missing and has no fault
    monkeypatch.setattr("prasanga.extras.papers.reaches_hub", lambda: True)
    items = {item.name: item for item in prepare(folder, "sahoo2024", project_root)}
    assert [name for name, item in items.items() if item.state == "on the hub"] == [
        *("xlm-roberta", "indicbert-v2", "mgpt")
    ]


def test_the_authors_files_are_taken_where_they_are(tmp_path: Path, project_root: Path) -> None:
    def prepared(**options: Any) -> tuple[dict[str, Needed], dict[str, Any]]:
        items = prepare(tmp_path, "sadhu2024", project_root, **options)
        return {item.name: item for item in items if not item.is_model}, read_config(tmp_path / "study.yaml")

    write_changes(tmp_path, {"models": {"muril": {"path": "/"}}})
    items, config = prepared()
    assert [item.name for item in items.values() if item.stops] == ["Bangla2B+, a corpus"]
    assert items["the authors' words"].state == "missing; our words are used"
    assert "lexicon" not in config
    _, config = prepared(keep_going=True)
    assert config["categories"] == []
    assert not {"corpus", "static"} & config.keys()
    assert list(config["models"]) == ["muril"]
    printed = {item.name: item.needed_for for item in prepare(tmp_path, "sadhu2024", project_root)}
    assert printed["banglabert-generator"] == "Table 4, Table 5, Table 6, Figure 2, Figure 11"
    assert config["comparison"]["models"] == {"muril": "muril_large_cased"}

    # the authors' words do not go with our templates: SEAT then waits for theirs
    (tmp_path / "corpora/bangla2b").mkdir(parents=True)
    (tmp_path / "corpora/BanglaContextualBias/CeatDataCollection").mkdir(parents=True)
    items, config = prepared()
    assert {name: item.state for name, item in items.items()} == {
        "Bangla2B+, a corpus": "there",
        "the authors' words": "there",
        "the authors' SEAT templates": "missing",
        "the authors' log-probability templates": "missing",
        "the authors' traits": "missing; our traits are used",
    }
    assert [item.stops for item in items.values()] == [False, False, True, True, False]
    assert config["lexicon"]["stimuli"].endswith("CeatDataCollection/CEAT_Categories")
    assert config["seat"]["categories"] == config["log_probability"]["categories"] == []
    (tmp_path / "corpora/seat_bn_data/templates").mkdir(parents=True)
    items, config = prepared()
    assert items["the authors' SEAT templates"].state == "there"
    assert config["seat"]["templates"] == "corpora/seat_bn_data/templates"
    assert len(config["seat"]["categories"]) == 9
    assert config["corpus"]["root"] == "corpora/bangla2b"


def write_all_there(folder: Path, project_root: Path, **changes: Any) -> list[str]:
    """Put a folder in the place of each model of IndiBias, and return their names."""
    models = list(read_config(project_root / "config/sahoo2024.yaml")["models"])
    write_changes(folder, {"models": {name: {"path": "/"} for name in models}, **changes})
    prepare(folder, "sahoo2024", project_root)
    return models


def uses(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the stages of each model in each language of the study."""
    parts = split_languages(read_config(folder / "study.yaml"))
    return {
        language: {name: each.get("stages", ["embeddings", "likelihoods"]) for name, each in own["models"].items()}
        for language, own in parts.items()
    }


@pytest.mark.parametrize("languages", [["hi", "en"], {"hi": {"models": {"mgpt": {"dtype": "float32"}}}, "en": {}}])
def test_failed_models_lose_the_use_that_failed_in_the_language_where_it_failed(
    tmp_path: Path, project_root: Path, languages: Any
) -> None:
    write_all_there(tmp_path, project_root, languages=languages)
    before = uses(tmp_path)
    failed = find_failed(
        tmp_path,
        [
            *("results/hi/models/mt5.json", "results/en/models/mt5.json", "results/associations/seat/mistral.parquet"),
            *("results/hi/likelihoods/pairs/indibias/mgpt.parquet", "results/likelihoods/pairs/indibias/muril.parquet"),
            *("results/hi/embeddings/bloom/templates.json", "results/hi/embeddings/bloom/templates/00.parquet"),
            *("results/hi/models/mbart.json", "results/hi/models/bernice.tokenizer.json"),  # the latter is of all
            *("results/report/index.html", "benchmark.txt"),
        ],
    )
    assert failed == {
        *(("mt5", "", "hi"), ("mt5", "", "en"), ("mistral", "embeddings", ""), ("mgpt", "likelihoods", "hi")),
        *(("muril", "likelihoods", ""), ("bloom", "embeddings", "hi"), ("mbart", "", "hi")),
    }
    items = {item.name: item for item in prepare(tmp_path, "sahoo2024", project_root, failed=failed)}
    assert {item.name for item in items.values() if item.state == "failed in the run"} == {name for name, *_ in failed}
    assert items["bloom"].get == "see the log; left out: embeddings in hi"
    left, study = uses(tmp_path), read_config(tmp_path / "study.yaml")
    assert left["hi"] == {
        **{name: stages for name, stages in before["hi"].items() if name not in ("mt5", "mbart")},
        **{"mgpt": ["embeddings"], "muril": ["embeddings"], "bloom": ["likelihoods"]},
    }
    assert left["en"] == {
        **{name: stages for name, stages in before["en"].items() if name not in ("mt5", "mistral")},
        "muril": ["embeddings"],
    }
    dtype = "bfloat16" if isinstance(languages, list) else "float32"
    assert {part: own["models"]["mgpt"]["dtype"] for part, own in split_languages(study).items()} == {
        **{"hi": dtype, "en": "bfloat16"},
    }
    assert not {"mt5", "mbart"} & split_languages(study)["hi"]["comparison"]["models"].keys()


@pytest.mark.parametrize("stages", [("",), ("embeddings", "likelihoods")])
def test_a_language_without_models_is_left_out(tmp_path: Path, project_root: Path, stages: tuple[str, ...]) -> None:
    names = write_all_there(tmp_path, project_root)
    failed = {(name, stage, "hi") for name in names for stage in stages}
    items = prepare(tmp_path, "sahoo2024", project_root, failed=failed)
    assert [item[:4] for item in items if item.state == "left out"] == [
        ("language hi", "its numbers", "left out", "no model is left")
    ]
    study = read_config(tmp_path / "study.yaml")
    assert (study["languages"], list(study["models"])) == (["en"], names)
    assert study["models"]["mbart"]["tokenizer"] == {"src_lang": "en_XX"}
    # without models at all, the study stays as it was
    failed |= {(name, "", "en") for name in names}
    assert not [item for item in prepare(tmp_path, "sahoo2024", project_root, failed=failed) if item.stops][1:]
    assert list(read_config(tmp_path / "study.yaml")["languages"]) == ["en", "hi"]


def test_a_language_of_which_only_llama_is_there_is_the_whole_study(
    tmp_path: Path, hub: Path, project_root: Path
) -> None:
    cache_model(hub, "meta-llama/Llama-2-7b-hf", "a" * 40, "model.safetensors")
    folder = tmp_path / "study"
    write_changes(folder, {"models": {"mbart": None}})  # and so what differs of it in each language
    assert "language hi" in {item.name for item in prepare(folder, "sahoo2024", project_root, keep_going=True)}
    study = read_config(folder / "study.yaml")
    assert (study["languages"], list(study["models"])) == (["en"], ["llama-2"])
    assert "pairs" not in study  # llama-2 is asked for embeddings only


@pytest.mark.parametrize("language", ["hi", "en"])
def test_pairs_are_not_scored_in_a_language_whose_models_cannot(
    tmp_path: Path, project_root: Path, language: str
) -> None:
    names = write_all_there(tmp_path, project_root)
    prepare(tmp_path, "sahoo2024", project_root, failed={(name, "likelihoods", language) for name in names})
    parts = split_languages(read_config(tmp_path / "study.yaml"))
    assert {part for part, own in parts.items() if "pairs" in own} == {"hi", "en"} - {language}


@pytest.mark.parametrize(
    ("files", "state"),
    [
        (["model.safetensors"], "there"),
        (["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"], "there"),
        (["model-00001-of-00002.safetensors", "model.safetensors.index.json"], "missing"),
        ([f"pytorch_model-0000{number}-of-00006.bin" for number in range(1, 7)], "there"),
        (["pytorch_model-00001-of-00006.bin", "pytorch_model.bin.index.json"], "missing"),
        (["model-00001-of-00006.safetensors", "pytorch_model.bin"], "there"),
    ],
)
def test_half_a_download_is_not_there(
    tmp_path: Path, hub: Path, project_root: Path, files: list[str], state: str
) -> None:
    cache_model(hub, "FacebookAI/xlm-roberta-base", "a" * 40, *files)
    items = {item.name: item.state for item in prepare(tmp_path / "study", "sahoo2024", project_root)}
    assert items["xlm-roberta"] == state


def test_there_is_a_row_for_every_published_number(tmp_path: Path, project_root: Path, published: Path) -> None:
    for paper in PAPERS:
        cells = written(tmp_path / paper, paper, project_root)
        printed = [*read_published(published, paper)["effect_size"], *read_percentages(published, paper)["percentage"]]
        assert cells["published"].to_list() == printed
        # nothing has run: nothing is measured, and each row says why
        assert set(cells["verdict"]) == {"not measured"}
        assert set(cells["reasons"]) <= {"not finished", "repeated"}
        assert cells.filter(reasons="repeated").height == (9 if paper == "sadhu2024" else 0)


def test_numbers_stand_beside_ours_with_the_reason_where_they_differ(tmp_path: Path, project_root: Path) -> None:
    changes = {"models": {"muril": {"path": "mine", "revision": None}}}
    write_changes(tmp_path, {**changes, "seed": 5})
    ceat = {"segment_length": "9", "sample_mode": "fixed"}
    discriminator = {"model": "banglabert-discriminator", **ceat}
    write_comparison(
        tmp_path,
        compared("ceat", "C1", "5", "banglabert_large_generator", (1.225, 1.2), model="banglabert-generator", **ceat),
        compared("ceat", "C2", "5", "banglabert_large_generator", (-0.226, 0.3), model="banglabert-generator", **ceat),
        compared("ceat", "C1", "5", "muril_large_cased", (1.193, 0.1), model="muril", **ceat),
        compared("ceat", "C2", "5", "muril_large_cased", (0.477, None), model="muril", note="no number: x", **ceat),
        compared("weat", "C1", "4", "glove", (1.27, 0.1), model="glove"),
        compared("seat", "C1", "4", "banglabert_large_discriminator", (0.89, 0.1), model="banglabert-discriminator"),
        compared("ceat", "C1", "Figure 1", "banglabert_large_discriminator", (0.57943, 0.1), **discriminator),
    )
    cells = written(tmp_path, "sadhu2024", project_root)

    def cell(table: str, method: str, category: str, model: str) -> dict[str, Any]:
        found = cells.filter(table=table, method=method, category=category, published_model=model)
        return (
            found.filter(pl.col("sample_mode").is_null() | (pl.col("sample_mode") == "fixed"))
            .filter(pl.col("segment_length").is_null() | (pl.col("segment_length") == "9"))
            .row(0, named=True)
        )

    agrees = cell("5", "ceat", "C1", "banglabert_large_generator")
    assert (agrees["verdict"], agrees["reasons"], agrees["measured"]) == ("agrees", None, 1.2)
    assert (agrees["ci_low"], agrees["ci_high"]) == (pytest.approx(1.15), pytest.approx(1.25))
    generator = cell("5", "ceat", "C2", "banglabert_large_generator")
    assert (generator["verdict"], generator["reasons"]) == ("differs", "own words; own settings")
    assert generator["difference"] == pytest.approx(0.526)
    assert cell("5", "ceat", "C1", "muril_large_cased")["reasons"] == (
        "model in doubt; stand-in; own words; own settings"
    )
    lost = cell("5", "ceat", "C2", "muril_large_cased")
    assert lost["verdict"] == "not measured"
    assert lost["reasons"] == "model in doubt; stand-in; own words; own settings; few words"
    assert cell("4", "weat", "C1", "glove")["reasons"] == "model in doubt; own words; own vectors; own settings"
    seat = cell("4", "seat", "C1", "banglabert_large_discriminator")
    assert seat["reasons"] == "number in doubt; own words; own settings"
    figure = cell("Figure 1", "ceat", "C1", "banglabert_large_discriminator")
    assert figure["reasons"] == "number in doubt; own words; own settings"
    assert cell("4", "log_probability_bias", "C1", "banglabert_large_generator")["reasons"] == "not finished"

    text = (tmp_path / "dossier.md").read_text(encoding="utf-8")
    assert text.startswith("# Sadhu et al. (2024), number by number\n")
    assert "Different from the paper's config: `models.muril.path`, `models.muril.revision`, `seed`." in text
    assert "| Table 5 | ceat | 288 | 1 | 2 | 0 | 285 |" in text
    line = "| C2 | bn | banglabert\\_large\\_generator | fixed, 9 | −0.226 | +0.300 | +0.250 to +0.350 | differs |"
    assert f"{line} own words; own settings |" in text
    assert "- *stand-in* (2): another model replaces the paper's." in text
    assert "## Figure 1: ceat" in text

    # with the authors' words and no other changes, nothing that is known explains the difference
    write_changes(tmp_path, changes)
    (tmp_path / "corpora/BanglaContextualBias/CeatDataCollection").mkdir(parents=True)
    cells = written(tmp_path, "sadhu2024", project_root)
    assert cell("5", "ceat", "C2", "banglabert_large_generator")["reasons"] == "unexplained"


def test_percentages_are_part_of_it(tmp_path: Path, project_root: Path, published: Path) -> None:
    first = read_percentages(published, "sahoo2024").row(0, named=True)
    pairs = {"language": first["language"], "model": "muril", "set": "indibias"}
    numbers = (first["percentage"], 70.0)
    write_comparison(tmp_path, compared("pairs", first["bias_type"], "2", first["model"], numbers, **pairs))
    cells = written(tmp_path, "sahoo2024", project_root)
    (row,) = cells.filter(pl.col("measured").is_not_null()).to_dicts()
    assert (row["category"], row["published"], row["measured"]) == (first["bias_type"], first["percentage"], 70.0)
    assert (row["verdict"], row["reasons"], row["model"]) == ("differs", "sample of pairs", "muril")
    # the same model and type of another language has no number
    others = cells.filter(method="pairs", category=first["bias_type"], published_model=first["model"])
    assert sorted(others["verdict"]) == ["differs", "not measured"]
