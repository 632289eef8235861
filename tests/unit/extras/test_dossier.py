"""The dossier of a paper: a row for each published number, ours, and the named reason where they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from prasanga.base.errors import InputError
from prasanga.config import complete, read_config
from prasanga.extras.dossier import CHANGES, DOSSIER_SCHEMA, STUDIES, prepare, write_dossier
from prasanga.report.comparison import PAPERS, read_percentages, read_published
from prasanga.schema import TABLES


@pytest.fixture
def configs(project_root: Path) -> Path:
    return project_root / "config"


@pytest.fixture
def published(project_root: Path) -> Path:
    return project_root / "resources/published"


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


def write_comparison(place: Path, name: str, *rows: dict[str, Any]) -> None:
    path = place / f"results/report/{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = dict(TABLES["comparison"].polars)
    pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema, orient="row").write_csv(path)


def written(folder: Path, paper: str, configs: Path, published: Path) -> pl.DataFrame:
    write_dossier(folder, paper, prepare(folder, paper, configs), configs, published)
    return pl.read_csv(folder / "dossier.csv", schema_overrides=DOSSIER_SCHEMA)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_studies_of_a_paper_are_its_configs_in_folders_of_their_own(
    tmp_path: Path, paper: str, configs: Path
) -> None:
    studies = prepare(tmp_path, paper, configs)
    assert [study.name for study, _ in studies] == [study.name for study in STUDIES[paper]]
    assert {study.name for study in STUDIES[paper]} == {path.stem for path in configs.glob(f"{paper}*.yaml")}
    for study, place in studies:
        assert place == tmp_path / study.name
        config, original = read_config(place / "study.yaml"), read_config(configs / f"{study.name}.yaml")
        complete(config)
        assert config["models"] == original["models"]
        assert ("corpus" in config) == ("corpus" in original and not study.method)
        if "corpus" in config:
            assert config["corpus"]["root"] == f"../{original['corpus']['root']}"
    before = {place: (place / "study.yaml").stat().st_mtime_ns for _, place in studies}
    prepare(tmp_path, paper, configs)  # what is as it was is not written again
    assert {place: (place / "study.yaml").stat().st_mtime_ns for _, place in studies} == before


def test_changes_are_laid_over_the_configs(tmp_path: Path, configs: Path) -> None:
    prepare(tmp_path, "sadhu2024", configs)
    assert (tmp_path / CHANGES).read_text(encoding="utf-8").startswith("# Changes to the configs")
    changes = {
        "sadhu2024": {"models": {"muril": None, "xlm-roberta": {"path": "mine"}}, "associations": {"n_samples": 9}}
    }
    (tmp_path / CHANGES).write_text(yaml.safe_dump(changes), encoding="utf-8")
    (study, place), *others = prepare(tmp_path, "sadhu2024", configs)
    config = read_config(place / "study.yaml")
    assert list(config["models"]) == ["banglabert-generator", "banglabert-discriminator", "xlm-roberta"]
    assert (config["models"]["xlm-roberta"]["path"], config["models"]["xlm-roberta"]["kind"]) == ("mine", "encoder")
    assert config["associations"] == {"n_samples": 9, "sample_modes": ["fixed", "random"]}
    assert study.name == "sadhu2024"
    assert all(read_config(each / "study.yaml")["study"] == name.name for name, each in others)
    (tmp_path / CHANGES).write_text("sadhu: {}", encoding="utf-8")
    with pytest.raises(InputError, match=r"'sadhu' is no study of this paper\. Allowed: sadhu2024, sadhu2024_seat"):
        prepare(tmp_path, "sadhu2024", configs)


def test_there_is_a_row_for_every_published_number(tmp_path: Path, configs: Path, published: Path) -> None:
    for paper in PAPERS:
        cells = written(tmp_path / paper, paper, configs, published)
        printed = [*read_published(published, paper)["effect_size"], *read_percentages(published, paper)["percentage"]]
        assert cells["published"].to_list() == printed
        # no study has run: nothing is measured, and each row says why
        assert set(cells["verdict"]) == {"not measured"}
        assert set(cells["reasons"]) <= {"not finished", "repeated"}
        assert cells.filter(reasons="repeated").height == (9 if paper == "sadhu2024" else 0)


def test_numbers_stand_beside_ours_with_the_reason_where_they_differ(
    tmp_path: Path, configs: Path, published: Path
) -> None:
    changes = {"sadhu2024": {"models": {"muril": {"path": "mine", "revision": None}}}, "sadhu2024_figure1": {"seed": 5}}
    tmp_path.joinpath(CHANGES).write_text(yaml.safe_dump(changes), encoding="utf-8")
    places = {study.name: place for study, place in prepare(tmp_path, "sadhu2024", configs)}
    ceat = {"segment_length": "9", "sample_mode": "fixed"}
    write_comparison(
        places["sadhu2024"],
        "comparison",
        compared("ceat", "C1", "5", "banglabert_large_generator", (1.225, 1.2), model="banglabert-generator", **ceat),
        compared("ceat", "C2", "5", "banglabert_large_generator", (-0.226, 0.3), model="banglabert-generator", **ceat),
        compared("ceat", "C1", "5", "muril_large_cased", (1.193, 0.1), model="muril", **ceat),
        compared("ceat", "C2", "5", "muril_large_cased", (0.477, None), model="muril", note="no number: x", **ceat),
        compared("weat", "C1", "4", "glove", (1.27, 0.1), model="glove"),
    )
    write_comparison(
        places["sadhu2024_seat"],
        "comparison_seat",
        compared("seat", "C1", "4", "banglabert_large_discriminator", (0.89, 0.1), model="banglabert-discriminator"),
    )
    discriminator = {"model": "banglabert-discriminator", **ceat}
    write_comparison(
        places["sadhu2024_figure1"],
        "comparison",
        # also in Table 6, where the first study has nothing
        compared("ceat", "C1", "6", "banglabert_large_discriminator", (0.532, 0.1), **discriminator),
        compared("ceat", "C1", "Figure 1", "banglabert_large_discriminator", (0.57943, 0.1), **discriminator),
    )
    cells = written(tmp_path, "sadhu2024", configs, published)

    def cell(table: str, method: str, category: str, model: str) -> dict[str, Any]:
        found = cells.filter(table=table, method=method, category=category, published_model=model)
        return (
            found.filter(pl.col("sample_mode").is_null() | (pl.col("sample_mode") == "fixed"))
            .filter(pl.col("segment_length").is_null() | (pl.col("segment_length") == "9"))
            .row(0, named=True)
        )

    agrees = cell("5", "ceat", "C1", "banglabert_large_generator")
    assert (agrees["verdict"], agrees["reasons"], agrees["measured"]) == ("agrees", None, 1.2)
    assert (agrees["ci_low"], agrees["ci_high"], agrees["study"]) == (
        pytest.approx(1.15),
        pytest.approx(1.25),
        "sadhu2024",
    )
    generator = cell("5", "ceat", "C2", "banglabert_large_generator")
    assert (generator["verdict"], generator["reasons"]) == ("differs", "unexplained")
    assert generator["difference"] == pytest.approx(0.526)
    assert cell("5", "ceat", "C1", "muril_large_cased")["reasons"] == "model in doubt; stand-in"
    lost = cell("5", "ceat", "C2", "muril_large_cased")
    assert (lost["verdict"], lost["reasons"]) == ("not measured", "model in doubt; stand-in; few words")
    assert cell("4", "weat", "C1", "glove")["reasons"] == "model in doubt; own vectors"
    seat = cell("4", "seat", "C1", "banglabert_large_discriminator")
    assert (seat["study"], seat["reasons"]) == ("sadhu2024_seat", "number in doubt; own words")
    assert cell("6", "ceat", "C1", "banglabert_large_discriminator")["study"] == "sadhu2024_figure1"
    figure = cell("Figure 1", "ceat", "C1", "banglabert_large_discriminator")
    assert figure["reasons"] == "number in doubt; own settings"
    assert cell("4", "log_probability_bias", "C1", "banglabert_large_generator")["reasons"] == "not finished"
    assert cell("5", "ceat", "C3", "xlm_roberta_large")["reasons"] == "not finished"

    text = (tmp_path / "dossier.md").read_text(encoding="utf-8")
    assert text.startswith("# Sadhu et al. (2024), number by number\n")
    assert "| sadhu2024\\_log\\_probability | not finished |  |" in text
    assert "| sadhu2024 | 5 numbers beside the paper's | models.muril.path, models.muril.revision |" in text
    assert "| Table 5 | ceat | 288 | 1 | 2 | 0 | 285 |" in text
    line = "| C2 | bn | banglabert\\_large\\_generator | fixed, 9 | −0.226 | +0.300 | +0.250 to +0.350 | differs |"
    assert f"{line} unexplained |" in text
    assert "- *stand-in* (2): another model stands in for the paper's." in text
    assert "## Figure 1: ceat" in text


def test_percentages_are_part_of_it(tmp_path: Path, configs: Path, published: Path) -> None:
    places = {study.name: place for study, place in prepare(tmp_path, "sahoo2024", configs)}
    first = read_percentages(published, "sahoo2024").row(0, named=True)
    pairs = {"language": first["language"], "model": "muril", "set": "indibias"}
    numbers = (first["percentage"], 70.0)
    write_comparison(
        places["sahoo2024_pairs"],
        "comparison",
        compared("pairs", first["bias_type"], "2", first["model"], numbers, **pairs),
    )
    cells = written(tmp_path, "sahoo2024", configs, published)
    (row,) = cells.filter(pl.col("measured").is_not_null()).to_dicts()
    assert (row["category"], row["published"], row["measured"]) == (first["bias_type"], first["percentage"], 70.0)
    assert (row["verdict"], row["reasons"], row["study"]) == ("differs", "sample of pairs", "sahoo2024_pairs")
    # the same model and type of another language has no number
    others = cells.filter(method="pairs", category=first["bias_type"], published_model=first["model"])
    assert sorted(others["verdict"]) == ["differs", "not asked for"] or "not measured" in set(others["verdict"])
