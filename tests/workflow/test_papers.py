"""What the papers' programs do, on a small study: every convention of `preset: paper`, by one run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scoring_models
import tiny_models
import yaml
from likelihoods_study import CLOCKS, CONFIG, prepare_likelihoods, read_yaml, write_yaml
from safetensors.numpy import load_file, save_file
from shared_studies import shared_study
from small_study import CONFIGS, Study, run_prasanga
from tables import read_data

from prasanga.config import complete
from prasanga.extras.papers import CHANGES
from prasanga.report.comparison import PAPERS, read_percentages, read_published
from prasanga.schema import describe_losses
from prasanga.text.words import WORD

pytestmark = pytest.mark.workflow

PRESET = {**CONFIG, **CONFIGS["program"]}


@pytest.fixture(scope="module")
def program(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """The study, run to its end."""

    def finish(destination: Path) -> Study:
        study = prepare_likelihoods(project_root, destination)
        write_yaml(study, "config.yaml", PRESET)
        write_lines(study)
        study.run("all", "likelihoods")
        return study

    study = shared_study(tmp_path_factory, "program", finish)
    yield study
    shutil.rmtree(study.root)


def write_lines(study: Study) -> None:
    """Three lines for each word, which begins the second; and one in which it stands elsewhere, and is not found."""
    sets = read_yaml(study, "words/categories.yaml")["categories"]["C5"]
    words = [word["stimulus"] for side in (*sets["targets"], *sets["attributes"]) for word in words_of(study, side)]
    lines = [
        f"আজ বিকালে নদীর ধারে {time} অনেক লোকের মেলা বসেছিল।\n{word} নিয়ে সেখানে কথা হলো।\nপরে সবাই ঘরে ফিরে গেল।\n\n"
        f"সবাই {time} {word} দেখে চুপ ছিল।\n\n"
        for word in words
        for time in ("দুপুরে", "সন্ধ্যায়", "ভোরে")
    ]
    with (study.root / "texts/demo.txt").open("a", encoding="utf-8") as file:
        file.write("\n\n" + "".join(lines))


def words_of(study: Study, word_set: str) -> list[dict[str, str]]:
    words: list[dict[str, str]] = read_yaml(study, f"words/{word_set}.yaml")["words"]
    return words


def table(study: Study, name: str) -> pl.DataFrame:
    return pl.read_parquet(study.root / f"results/{name}.parquet")


def test_every_convention_of_the_preset_is_a_column_of_what_it_made(program: Study) -> None:
    ceat, seat = table(program, "associations/ceat"), table(program, "associations/seat")
    pairs, bias = table(program, "likelihoods/bias_percentages"), table(program, "likelihoods/log_probability")
    found = {
        "sentences.match": ceat["match"],
        "sentences.neighbours": ceat["neighbours"],
        "samples.pool": ceat["pool"],
        "samples.window": ceat["window"],
        "models.any.pieces": ceat["pieces"],
        "associations.draws": ceat["draws"],
        "associations.alternative": pl.concat([ceat["alternative"], seat["alternative"], bias["alternative"]]),
        "associations.statistic": pl.concat([ceat["statistic"], seat["statistic"], bias["statistic"]]),
        "seat.unit": seat["unit"],
        "pairs.punctuation": pairs["punctuation"],
        "pairs.ties": pairs["ties"],
        "pairs.encoder_decoder": pairs.filter(model="rewrites")["measure"],
        "log_probability.pieces": bias["pieces"],
        "log_probability.aggregation": bias["aggregation"],
    }
    preset = complete({"preset": "paper", "models": {"any": {"path": "m"}}})
    for key, values in found.items():
        wanted = preset
        for part in key.split("."):
            wanted = wanted[part]
        assert values.unique().to_list() == [wanted], key
    assert ceat["effect_size"].null_count() == 0
    # what is exchanged is no convention of a row, but of a category
    assert {row["category"]: row["exchanged"] for row in bias.iter_rows(named=True)} == {"C5": False, "C6": True}
    # the papers' p are those of sentences
    assert seat["p_sentences"].null_count() == 0
    # the logits of a model that is hardly trained add up to less than 0, and have no logarithm
    assert all("(negative-sum)" in describe_losses(losses) for losses in bias["lost"].to_list())


def test_texts_and_segments_are_those_of_the_papers_program(program: Study) -> None:
    sentences = table(program, "sentences/demo")
    assert sentences.select("before", "after").unique().rows() == [(1, 1)]
    assert {row["text"][: row["start"]].rstrip()[-1:] for row in sentences.iter_rows(named=True)} == {"।"}
    segments = pl.concat(map(pl.read_parquet, (program.root / "results/samples").glob("*/*.parquet")))
    counted = {
        key[0]: {len(WORD.findall(text)) for text in part["text"]} for key, part in segments.group_by("segment_length")
    }
    # 9 words are 8 where as many stand around the target; >75 is every text, whole
    assert counted["9"] == {8}
    assert max(counted[">75"]) < 75
    assert set(segments.filter(segment_length=">75")["text"]) <= set(sentences["text"])
    # a supplement to what stands first in its line: the same words elsewhere are no hits
    assert not sentences["text"].str.contains("চুপ ছিল").any()


def test_both_numbers_of_draws_stand_beside_the_paper_in_one_run(program: Study) -> None:
    """The published N are 1000 and 5000; of 40 and 1000 draws, the latter stand beside Table 6, the former nowhere."""
    tables = {path.name for path in (program.root / "results/report/tables").glob("sadhu_table[56].csv")}
    assert tables == {"sadhu_table5.csv", "sadhu_table6.csv"}
    rows = pl.read_csv(program.root / "results/report/comparison.csv").filter(method="ceat")
    assert set(rows["table"].cast(str)) == {"6"}
    assert set(rows["n_samples"]) == {1000}
    ceat = table(program, "associations/ceat")
    assert set(ceat["n_samples"]) == {1000}


# A whole paper, with models of the right families and a corpus of the right layout.

QUICK: dict[str, Any] = {
    "embeddings": {"buckets": 1, "unknown": "keep", "audit": {"unknown": 1, "marks_lost": 1, "identical": 1}},
    "associations": {"n_resamples": 20, "n_shuffles": 0, "n_permutations": 200, "random_twins": 0},
    "calibration": {"repetitions": 0},
    "report": {"formats": ["svg"], "widths": ["page"]},
}
FAMILY_OF = read_data(__file__, "families")


def stand_in(folder: Path, model: str) -> dict[str, Any]:
    """What `changes.yaml` says of a model: the path of a tiny one of the right family."""
    family = FAMILY_OF.get(model, model)
    place = folder / "models" / family
    if not place.exists():
        scored = family in scoring_models.FAMILIES
        (scoring_models if scored else tiny_models).build(family, place, positions=512)
        # a constant changes no probability, and gives sums of logits a logarithm
        weights = place / "model.safetensors"
        moved = {name: value + 50 * name.endswith("lm_head.bias") for name, value in load_file(weights).items()}
        save_file(moved, weights, {"format": "pt"})
    return {"path": str(place), "revision": None, "dtype": "float32", "tokenizer": None}


def write_corpus(folder: Path, project_root: Path) -> None:
    """A text in which each word of C1 to C9 begins a line twice."""
    stimuli = project_root / "resources/stimuli/bn"
    categories = yaml.safe_load((stimuli / "categories.yaml").read_text(encoding="utf-8"))["categories"]
    chosen = [categories[f"C{number}"] for number in range(1, 10)]
    names = {name: None for category in chosen for name in (*category["targets"], *category["attributes"])}
    listed = [yaml.safe_load((stimuli / f"{name}.yaml").read_text(encoding="utf-8"))["words"] for name in names]
    lines = "".join(
        f"আজ বিকালে নদীর ধারে {time} অনেক লোকের মেলা বসেছিল।\n{word} নিয়ে সেখানে কথা হলো।\nপরে সবাই ঘরে ফিরে গেল।\n\n"
        for word in dict.fromkeys(word["stimulus"] for words in listed for word in words)
        for time in ("দুপুরে", "ভোরে")
    )
    (folder / "corpora/bangla2b").mkdir(parents=True)
    (folder / "corpora/bangla2b/part.txt").write_text(lines, encoding="utf-8")


def study_of(paper: str, project_root: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((project_root / f"config/{paper}.yaml").read_text(encoding="utf-8"))
    return found


@pytest.mark.long
@pytest.mark.parametrize("paper", PAPERS)
def test_a_whole_paper_comes_to_a_dossier(paper: str, project_root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dossier"
    folder.mkdir()
    models = {model: stand_in(tmp_path, model) for model in study_of(paper, project_root)["models"]}
    changes: dict[str, Any] = {**QUICK, "models": models}
    if paper == "sadhu2024":
        write_corpus(folder, project_root)
        changes["associations"] = {**QUICK["associations"], "n_samples": [1000, 3000]}
        small = {"dimensions": 8, "minimum_count": 1, "epochs": 1}
        changes["static"] = {"vectors": {name: {"train": small} for name in ("word2vec", "glove")}}
    else:
        (folder / "corpora/IndiBias").mkdir(parents=True)
        (folder / "corpora/IndiBias/IndiBias_v1_sample.csv").write_text(CLOCKS, encoding="utf-8")
    (folder / CHANGES).write_text(yaml.safe_dump(changes), encoding="utf-8")
    done = run_prasanga(tmp_path, "reproduce", paper, "--directory", str(folder), "--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    cells = pl.read_csv(folder / "dossier.csv", infer_schema_length=None)
    published = project_root / "resources/published"
    printed = [*read_published(published, paper)["effect_size"], *read_percentages(published, paper)["percentage"]]
    assert cells["published"].to_list() == printed
    # every number is measured but those that the paper prints twice, or of bias types that the few pairs here have not
    without = cells.filter(pl.col("model").is_null())
    assert set(without.select("method", "reasons").rows()) == {
        ("ceat", "repeated") if paper == "sadhu2024" else ("pairs", "not asked for")
    }
    differ = cells.filter(pl.col("verdict") != "agrees", pl.col("model").is_not_null(), pl.col("method") != "weat")
    assert differ["reasons"].str.contains("stand-in").all()
    assert f"- *stand-in* ({differ.height}):" in (folder / "dossier.md").read_text(encoding="utf-8")
    tables = {path.name for path in (folder / "results/report/tables").glob("s*_table*.csv")}
    wanted = (4, 5, 6) if paper == "sadhu2024" else (2, 3, 4, 9)
    assert tables >= {f"{paper[:-4]}_table{number}.csv" for number in wanted}


@pytest.mark.long
def test_a_model_that_fails_leaves_the_results_of_the_others(project_root: Path, tmp_path: Path) -> None:
    """One model is missing from the beginning, one has no weights, and another's turn out not to be numbers."""
    folder = tmp_path / "dossier"
    folder.mkdir()
    models = study_of("sahoo2024", project_root)["models"]
    changes: dict[str, Any] = {**QUICK, "models": dict.fromkeys(models), "seat": {"categories": ["GR1", "GC1"]}}
    changes["models"] |= {model: stand_in(tmp_path, model) for model in ("xlm-roberta", "muril", "bloom")}
    changes["models"]["bernice"] = {"path": "models/not/there"}
    (tmp_path / "models/bloom/model.safetensors").unlink()
    weights = tmp_path / "models/muril/model.safetensors"
    save_file({name: value * np.nan for name, value in load_file(weights).items()}, weights, {"format": "pt"})
    (folder / CHANGES).write_text(yaml.safe_dump(changes), encoding="utf-8")
    stopped = run_prasanga(tmp_path, "reproduce", "sahoo2024", "--directory", str(folder))
    assert stopped.returncode == 1
    assert "Missing: IndiBias, the public sample, bernice, bloom. Get them" in stopped.stderr
    assert not (folder / "results").exists()
    done = run_prasanga(tmp_path, "reproduce", "sahoo2024", "--directory", str(folder), "--keep-going", "--cores", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Left out: muril." in done.stderr
    cells = pl.read_csv(folder / "dossier.csv", infer_schema_length=None)
    measured = cells.filter(pl.col("measured").is_not_null())
    assert set(measured.select("model", "category").rows()) == {("xlm-roberta", "GR1"), ("xlm-roberta", "GC1")}
    assert set(cells.filter(published_model="Muril", category="GR1")["reasons"]) == {"not finished"}
    text = (folder / "dossier.md").read_text(encoding="utf-8")
    states = dict(re.findall(r"^\| (xlm-roberta|muril|bernice|bloom) \| [^|]* \| ([^|]*) \|$", text, re.MULTILINE))
    assert states == {
        **{"xlm-roberta": "there", "muril": "failed in the run"},
        **{"bernice": "missing", "bloom": "cannot be used"},
    }
