"""What the papers' programs do, on a small study: every convention of `preset: paper`, by one run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from likelihoods_study import CONFIG, TINY, prepare_likelihoods, read_yaml, write_yaml
from shared_studies import shared_study
from small_study import Study

from prasanga.base.config import complete, read_schema
from prasanga.text.words import WORD

pytestmark = pytest.mark.workflow

#: The preset says all else; `seat.unit`, `log_probability.exchanged` and the rest are not written.
PRESET = {
    **CONFIG,
    "preset": "paper",
    "samples": {"lengths": [9, ">75"], "contexts_per_stimulus": 4},
    "models": {
        "masks": {"train": TINY},
        "rewrites": {"kind": "encoder-decoder", "train": {**TINY, "seed": 3}, "stages": ["likelihoods"]},
    },
    "associations": {"n_samples": [40, 1000], "n_resamples": 20, "n_shuffles": 0, "random_twin": False},
    "seat": {"categories": ["C5"]},
    "pairs": {"sets": {"clocks": {"path": "clocks.csv"}}, "n_resamples": 50},
    "log_probability": {"categories": ["C5", "C6"]},
    "comparison": {"paper": "sadhu2024", "models": {"masks": "banglabert_large_generator"}},
}


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


def test_every_convention_of_the_preset_is_a_column_of_what_it_made(program: Study, project_root: Path) -> None:
    ceat, seat = table(program, "associations/ceat"), table(program, "associations/seat")
    pairs, bias = table(program, "likelihoods/bias_percentages"), table(program, "likelihoods/log_probability")
    found = {
        "sentences.match": ceat["match"],
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
    }
    schema = read_schema(project_root / "workflow/schemas/config.schema.yaml")
    preset = complete({"preset": "paper", "models": {"any": {"path": "m"}}}, schema)
    for key, values in found.items():
        wanted = preset
        for part in key.split("."):
            wanted = wanted[part]
        assert values.unique().to_list() == [wanted], key
    assert ceat["effect_size"].null_count() == 0
    # what is exchanged is no convention of a row, but of a category
    assert {row["category"]: row["exchanged"] for row in bias.iter_rows(named=True)} == {"C5": False, "C6": True}
    # the papers' p are those of sentences
    assert seat["p_sentences"].null_count() == bias["p_sentences"].null_count() == 0


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
