"""One study with CEAT, SEAT, WEAT, their controls and differences, and a paper beside them.

The study is as small as it can be: one model that is hardly trained, and vectors of a few numbers. What it comes to is
compared with what the library's plain functions give for the vectors that lie in its results.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml
from associations_study import ABSENT, measured_associations
from shared_studies import shared_study
from small_study import Study

from prasanga.associations import seat, weat
from prasanga.associations.estimates import CategoryWords, category_of, select_words
from prasanga.embeddings.shards import read_embeddings
from prasanga.schema import describe_losses
from prasanga.static import read_looked_up
from prasanga.stats.crossed import contributions
from prasanga.stats.permutation import PermutationTest, Units, benjamini_hochberg, holm

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """The study, run to its end. Tests that change it take a copy (`study`)."""

    finish = partial(measured_associations, project_root)
    study = shared_study(tmp_path_factory, "associations", finish)
    yield study
    shutil.rmtree(study.root)


def table(study: Study, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(study.root / f"results/associations/{name}.parquet").to_pylist()
    return rows


def read_category(study: Study, name: str) -> CategoryWords:
    """A category with its words, pairs and clusters."""
    return category_of(name, json.loads((study.root / "results/lexicon/categories.json").read_text("utf-8"))[name])


def sets_of(study: Study, category: str) -> tuple[tuple[str, ...], ...]:
    """The words of X, Y, A and B."""
    return read_category(study, category).sets


def judge_units(units: Units, scores: np.ndarray) -> PermutationTest:
    """The test of a side with its pairs and clusters."""
    how = {"alternative": "two-sided", "n_resamples": 100_000, "statistic": "studentized", "noise": 1e-13}
    return units.test(scores, rng=np.random.default_rng(0), **how)  # type: ignore[arg-type]


def closed(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-9, abs=1e-12)


ADJUSTED = ("difference_adjusted", "adjusted_low", "adjusted_high", "effect_adjusted")
UNKNOWN = "not adjusted: corpus frequency is not known, number of pieces is not known"


# What was measured.


def test_the_results_are_exactly_these(finished: Study) -> None:
    folders = ("associations/", "calibration/", "report/", "static/")
    finished.check_results("associations", *folders, "samples/templates.parquet")


def test_p_is_corrected_over_all_methods(finished: Study) -> None:
    tables = {method: table(finished, method) for method in ("ceat", "seat", "weat")}
    rows = [row for rows in tables.values() for row in rows]
    assert all(row["p_association"] == max(row["p_stimuli"], row["p_attributes"]) for row in rows)
    # CEAT at single lengths is not tested
    tested = [row for row in rows if row.get("segment_length", "mean") == "mean"]
    p = [row["p_association"] for row in tested]
    assert {row["n_tests"] for row in tested} == {len(p)} == {1 + 2 + 6}
    assert {row[name] for row in rows if row not in tested for name in ("n_tests", "p_association_holm")} == {None}
    assert [row["p_association_holm"] for row in tested] == pytest.approx(holm(p))
    assert [row["p_association_bh"] for row in tested] == pytest.approx(benjamini_hochberg(p))
    for method, of_method in tables.items():
        as_csv = pl.read_csv(finished.root / f"results/associations/{method}.csv")
        expected = [row["p_association_holm"] for row in of_method]
        assert as_csv["p_holm"].drop_nulls().to_list() == pytest.approx([p for p in expected if p is not None])
        assert as_csv["p_holm"].is_null().to_list() == [p is None for p in expected]


def test_twins_stand_beside_their_model_and_are_no_rows(finished: Study) -> None:
    ceat, seats = table(finished, "ceat"), table(finished, "seat")
    assert {row["model"] for row in (*ceat, *seats)} == {"tiny"}
    assert [row["segment_length"] for row in ceat] == ["mean", "9", "25"]
    assert [row["category"] for row in seats] == ["C1", "GA1"]
    key = ("category", "segment_length")
    rows = [*table(finished, "ceat/tiny-random"), *table(finished, "seat/tiny-random")]
    assert {row["twin"] for row in rows} == set(range(8))
    for row in (*ceat, *seats):
        twins = [twin for twin in rows if all(twin.get(name) == row.get(name) for name in key)]
        assert len(twins) == 8
        same = [
            twin["effect_size"]
            for twin in twins
            if twin["effect_size"] is not None and all(3 * twin[f"n_{n}"] >= 2 * row[f"n_{n}"] for n in "xyab")
        ]
        assert row["n_twins"] == len(same) > 1
        assert row["twin_effect_size"] == pytest.approx(sum(same) / len(same))
        assert row["twin_difference"] == pytest.approx(row["effect_size"] - row["twin_effect_size"])
        assert (row["p_twins"] is None) == (row["ci_low"] is None)
    # each context is read by one twin at most, so that all of them read no more than the model
    for length in ("9", "25", "templates"):
        of_model, of_twins = (
            pl.read_parquet(finished.root / f"results/embeddings/{name}/{length}/*.parquet").select(
                "stimulus", "occurrence_id"
            )
            for name in ("tiny", "tiny-random")
        )
        assert of_twins.is_duplicated().sum() == 0
        assert len(of_twins.join(of_model, on=["stimulus", "occurrence_id"])) == len(of_twins) <= len(of_model)
    # what is not shown of a twin is not computed
    for twin in rows:
        assert (twin["shuffled_low"], twin["n_resamples"]) == (None, 0)
    assert {row["twin_effect_size"] for row in table(finished, "weat")} == {None}  # vectors have no twins
    assert {row["model"] for row in table(finished, "ceat_differences")} == {"tiny"}


def test_seat_is_that_of_the_stored_sentences(finished: Study) -> None:
    vectors = read_embeddings(finished.root / "results/embeddings/tiny/templates.json")
    sentences = pl.read_parquet(finished.root / "results/samples/templates.parquet")
    for row in table(finished, "seat"):
        sets = sets_of(finished, row["category"])
        items = [[vectors[word][1] for word in words] for words in sets]
        expected = seat(*items)
        assert closed(row["effect_size"], expected.effect_size)
        targets, attributes = read_category(finished, row["category"]).units(sets)
        of_targets = judge_units(targets, expected.cosines.word_scores())
        of_attributes = judge_units(attributes, contributions(expected.cosines))
        assert closed(row["p_stimuli"], of_targets.p_value)
        assert row["p_attributes"] == pytest.approx(of_attributes.p_value, abs=0.12)  # 200 are drawn
        assert row["p_association"] == max(row["p_stimuli"], row["p_attributes"])
        assert row["p_stimuli_exact"]
        n_x, n_y = targets.sizes
        assert row["n_partitions"] == (2**n_x if row["category"] == "GA1" else math.comb(n_x + n_y, n_x))
        assert [row[f"n_{side}"] for side in "xyab"] == [n_x, n_y, *attributes.sizes]
        for side, words in zip("xyab", sets, strict=True):
            listed = sentences.filter(pl.col("stimulus").is_in(words))
            assert row[f"n_sentences_{side}"] == len(listed) == 8 * len(words)
            ids = {each for word in words for each in vectors[word][0]}
            assert ids == set(listed["occurrence_id"])
        assert row["sentence_vector"] == "cls"
        assert describe_losses(row["lost"]) == ""
        scores = {
            each["stimulus"]: each["association"]
            for each in table(finished, "seat_words")
            if each["category"] == row["category"] and each["role"] in "xy"
        }
        assert [scores[word] for words in sets[:2] for word in words] == pytest.approx(list(expected.word_scores))


def test_weat_is_that_of_the_stored_vectors(finished: Study) -> None:
    rows = table(finished, "weat")
    assert [(row["model"], row["category"]) for row in rows] == [
        (name, category) for name in ("given", "glove", "word2vec") for category in ("C1", "C5")
    ]
    for row in rows:
        vectors, missing = read_looked_up(finished.root / f"results/static/{row['model']}.parquet")
        category = read_category(finished, row["category"])
        used, partners = select_words(category, vectors)
        targets, attributes = category.units(used)
        assert [row[f"n_{side}"] for side in "xyab"] == [*targets.sizes, *attributes.sizes]
        expected = weat(*([vectors[word] for word in words] for words in used))
        assert closed(row["effect_size"], expected.effect_size)
        test = judge_units(targets, expected.cosines.word_scores())
        assert row["p_stimuli_exact"] == test.exact
        # 200 are drawn of sets of different sizes with more partitions than can be gone through
        assert row["p_stimuli"] == pytest.approx(test.p_value, abs=1e-12 if row["p_stimuli_exact"] else 0.12)
        lost = describe_losses(row["lost"])
        for word in category.words:
            assert (f"{word}: {missing.get(word)}" in lost) == (word not in vectors)
        assert all(f"{loss.word}: {loss.detail}" in lost for loss in partners)
        assert row["vectors"] == ("given.txt" if row["model"] == "given" else "the study's corpus")
        assert row["method"] == ("word2vec" if row["model"] != "glove" else "glove")


def test_a_file_of_vectors_is_looked_up_by_all_forms(finished: Study) -> None:
    rows = {row["stimulus"]: row for row in pq.read_table(finished.root / "results/static/given.parquet").to_pylist()}
    assert ABSENT in next(describe_losses(row["lost"]) for row in table(finished, "weat") if row["model"] == "given")
    assert rows[ABSENT]["vector"] is None
    assert rows["গোলাপ"]["forms"] == ["গোলাপ", "গোলাপের"]
    lines = (finished.root / "given.txt").read_text(encoding="utf-8").splitlines()[1:]
    numbers = {line.split(" ")[0]: np.array(line.split(" ")[1:], dtype=np.float64) for line in lines}
    assert rows["গোলাপ"]["vector"] == pytest.approx((numbers["গোলাপ"] + numbers["গোলাপের"]) / 2, abs=1e-6)
    assert rows["শাপলা"]["vector"] == pytest.approx(numbers["শাপলা"], abs=1e-6)


def test_lengths_are_compared_in_pairs(finished: Study) -> None:
    effects = {row["segment_length"]: row for row in table(finished, "ceat")}
    found = table(finished, "ceat_differences")
    assert [(row["kind"], row["first"], row["second"]) for row in found] == [("length", "9", "25")]
    for row in found:
        short, long = (effects[length]["effect_size"] for length in ("9", "25"))
        assert closed(effects["mean"]["effect_size"], (short + long) / 2)
        assert closed(row["difference"], long - short)
        assert row["ci_low"] < row["ci_high"], row["note"]
    settled = table(finished, "ceat_settling")
    for row, difference in zip(settled, found, strict=True):
        distance = abs(difference["difference"])
        assert (row["longest"], row["band"]) == ("25", 0.1)
        assert closed(row["largest_distance"], distance)
        assert row["settled_length"] == ("9" if distance <= 0.1 else None)
    steps = table(finished, "ceat_convergence")
    assert {row["model"] for row in steps} == {"tiny"}
    for length, row in effects.items():
        if length == "mean":
            continue
        mine = [step for step in steps if step["segment_length"] == length]
        assert [step["n"] for step in mine] == sorted(step["n"] for step in mine)
        assert mine[-1]["n"] == row["n_samples"] == 60
        assert closed(mine[-1]["effect_size"], row["effect_size"])
        assert closed(mine[-1]["effect_random"], row["effect_random"])


def test_the_study_stands_beside_the_paper(finished: Study, project_root: Path) -> None:
    def keyed(rows: Iterable[Mapping[str, Any]], method: str | None = None) -> dict[tuple[str, ...], Mapping[str, Any]]:
        key = ("category", "model", "sample_mode", "segment_length")
        return {(method or row["method"], *(row.get(name, "") for name in key)): row for row in rows}

    with (finished.root / "results/report/comparison.csv").open(encoding="utf-8", newline="") as file:
        compared = keyed(csv.DictReader(file))
    with (project_root / "resources/published/sadhu2024.csv").open(encoding="utf-8", newline="") as file:
        # our 60 draws are nearer to 1000 than to 5000
        published = keyed(row for row in csv.DictReader(file) if row["n_samples"] in ("", "1000"))
    ceat = table(finished, "ceat")
    random = [row | {"sample_mode": "random", "effect_size": row["effect_random"]} for row in ceat]
    ours = {**keyed([*ceat, *random], "ceat"), **keyed(table(finished, "weat"), "weat")}
    assert set(compared) == {
        *(("ceat", "C1", "tiny", mode, length) for mode in ("fixed", "random") for length in ("9", "25")),
        *(("weat", category, name, "", "") for category in ("C1", "C5") for name in ("word2vec", "glove")),
    }
    for cell, row in compared.items():
        printed = float(published[(*cell[:2], row["published_model"], *cell[3:])]["effect_size"])
        effect = ours[cell]["effect_size"]
        assert row["published_model"] == {"tiny": "banglabert_large_generator"}.get(cell[2], cell[2])
        assert float(row["published"]) == printed
        assert closed(float(row["measured"]), effect)
        assert closed(float(row["difference"]), effect - printed)
        assert row["same_sign"] == str(effect * printed > 0).lower()
    with (finished.root / "results/report/tables/sadhu_table4.csv").open(encoding="utf-8", newline="") as file:
        heads = " ".join(next(csv.reader(file)))
    assert all(f"{method.upper()} {name}" in heads for method, _, name, *_ in ours), heads


def test_the_page_shows_every_method(finished: Study) -> None:
    page = (finished.root / "results/report/index.html").read_text(encoding="utf-8")
    for words in ("SEAT: words in neutral sentences", "WEAT: static vectors", "word2vec", "glove", "given"):
        assert words in page, words
    assert "tiny-random" not in page


# What a change runs again.

CHANGES = yaml.safe_load(Path(__file__).with_name("changes_of_associations.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("change", [name for name, what in CHANGES.items() if "make" in what])
def test_a_change_runs_what_depends_on_it(study: Study, change: str) -> None:
    method, *arguments = CHANGES[change]["make"]
    getattr(study, method)(*arguments)
    assert study.plan() == CHANGES[change]["runs"]


@pytest.mark.long
def test_everything_is_redrawn_from_the_cache(study: Study, no_torch: dict[str, str]) -> None:
    before = {method: table(study, method) for method in ("ceat", "seat", "weat")}
    results = (f"results/{name}" for name in ("samples", "sentences", "models", "store"))
    gone = ("texts", "resources/demo", *results, ".snakemake")
    for folder in (*gone, "results/report", "results/associations/seat", "results/associations/weat"):
        shutil.rmtree(study.root / folder)
    associations, static = study.root / "results/associations", study.root / "results/static"
    for path in (
        *associations.glob("*.*"),
        *static.glob("*.vectors.parquet"),
        static / "corpus.txt",
        study.root / "given.txt",
    ):
        path.unlink()
    study.configure({"embeddings": {"source": "cached"}})
    plan = study.plan("figures", environment=no_torch)
    assert plan == CHANGES["vectors alone"]["runs"]
    # the page from a cache: test_cached
    study.run(*(f"results/associations/{method}.parquet" for method in before), environment=no_torch)
    # how often a word stands in the corpus, and of how many pieces it is, came with the samples and the models
    for method, rows in before.items():
        for row in rows:
            row |= {**dict.fromkeys(ADJUSTED), "adjusted_note": UNKNOWN}
        assert table(study, method) == rows
