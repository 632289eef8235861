"""One study with sentence pairs and log-probability bias, by models of three kinds, and a paper beside them.

The study is as small as it can be: models that are hardly trained, a few words, a tenth of the demo's text, and pairs
about flowers and hours. What it comes to is compared with what the library's plain functions give for the models and
tables that lie in its results.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from likelihoods_study import (
    CATEGORY_TEMPLATES,
    CONFIG,
    GARDEN,
    MODELS,
    SETS,
    measured_likelihoods,
    traits_of,
    write_yaml,
)
from shared_studies import shared_study
from small_study import Study

from prasanga.likelihoods import score_pairs
from prasanga.stats.permutation import benjamini_hochberg, holm

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """The study, run to its end. Tests that change it take a copy (`study`)."""

    finish = partial(measured_likelihoods, project_root)
    study = shared_study(tmp_path_factory, "likelihoods", finish)
    yield study
    shutil.rmtree(study.root)


def table(study: Study, path: str) -> pl.DataFrame:
    return pl.read_parquet(study.root / f"results/{path}.parquet")


def scores_of(study: Study, name: str, model: str) -> pl.DataFrame:
    return table(study, f"likelihoods/pairs/{name}/{model}")


# What was measured.


def test_the_results_are_exactly_these(finished: Study) -> None:
    finished.check_results("likelihoods", "pairs/", "likelihoods/", "report/", "embeddings/", "associations/ceat/")


@pytest.mark.parametrize(
    ("model", "measure", "n_scored"), [("masks", "p_unmodified", 4), ("writes", "causal", 7), ("rewrites", "infill", 7)]
)
def test_scores_are_those_of_the_library(finished: Study, model: str, measure: str, n_scored: int) -> None:
    found = scores_of(finished, "garden", model)
    expected = score_pairs(
        finished.root / f"results/models/{model}",
        table(finished, "pairs/garden"),
        measure=measure,
        normalization={"bn": "bangla"},
        threads=1,
    )
    assert found["score_first"].drop_nulls().len() == n_scored
    for name in ("pair_id", "n_first", "n_second", "left_out", "kind", "measure", "reduction"):
        assert found[name].to_list() == expected[name].to_list(), name
    for name in ("score_first", "score_second"):
        assert found[name].to_list() == [pytest.approx(value, abs=1e-5) for value in expected[name]], name
    assert set(found["model"]) == {model}
    assert set(found["set"]) == {"garden"}


def test_percentages_are_those_counted_by_hand(finished: Study) -> None:
    bias = table(finished, "likelihoods/bias_percentages")
    assert set(bias["model"]) == set(MODELS)
    counted: dict[tuple[str, ...], list[bool]] = {}
    for name in SETS:
        for model in MODELS:
            for row in scores_of(finished, name, model).iter_rows(named=True):
                for bias_type in (row["bias_type"], "all"):
                    preferred = counted.setdefault((name, model, row["language"], bias_type), [])
                    if row["left_out"] is None:
                        assert row["score_first"] != row["score_second"]  # else it would be a tie
                        preferred.append((row["score_first"] > row["score_second"]) == (row["label"] == "stereo"))
    assert len(counted) == len(bias) == 3 * 2 * (3 + 3)
    for row in bias.iter_rows(named=True):
        preferred = counted[row["set"], row["model"], row["language"], row["bias_type"]]
        assert (row["n_scored"], row["n_stereotypical"]) == (len(preferred), sum(preferred))
        percentage = 100 * sum(preferred) / len(preferred) if preferred else None
        assert row["bias_percentage"] == (None if percentage is None else pytest.approx(percentage))
        assert row["twin_bias_percentage"] is None
    p = bias["p_binomial"].drop_nulls().to_list()
    assert bias["p_binomial_holm"].drop_nulls().to_list() == pytest.approx(list(holm(p)))
    assert set(bias["n_tests"].drop_nulls()) == {len(p)}
    assert pl.read_csv(finished.root / "results/likelihoods/bias_percentages.csv").height == len(bias)


def test_what_is_odd_about_a_file_is_listed(finished: Study) -> None:
    assert table(finished, "pairs/garden.oddities").is_empty()
    oddities = table(finished, "pairs/clocks.oddities")
    found = {(row["pair_id"], row["language"], row["column"], row["kind"]) for row in oddities.iter_rows(named=True)}
    both = "sent_more_hindi / sent_less_hindi"
    assert found == {
        *(("0", language, "bias_type", "bias-type-spelling") for language in ("hi", "en")),
        *(("1", language, "stereo_antistereo", "label-spelling") for language in ("hi", "en")),
        *(("2", language, "bias_type", "bias-type-spelling") for language in ("hi", "en")),
        ("1", "en", "modified_eng_sent_less", "line-break"),
        ("2", "hi", both, "identical-sentences"),
        *(("1", "hi", f"sent_{which}_hindi", "bar-for-danda") for which in ("more", "less")),
        *((pair, "hi", f"sent_{which}_hindi", "blank-before-stop") for pair in "13" for which in ("more", "less")),
    }
    clocks = {(row["pair_id"], row["language"]): row for row in table(finished, "pairs/clocks").iter_rows(named=True)}
    assert len(clocks) == 8
    assert clocks["1", "en"]["second"] == "The old bell is loud."
    assert {clocks["1", language]["label"] for language in ("hi", "en")} == {"antistereo"}
    assert clocks["2", "hi"]["bias_type"] == "physical-appearance"
    for model in MODELS:
        scores = scores_of(finished, "clocks", model)
        assert scores.filter(pair_id="2", language="hi")["left_out"].to_list() == ["identical"]
    statistics = table(finished, "pairs/statistics")
    assert set(statistics["set"]) == set(SETS)


def test_p_is_corrected_over_all_methods(finished: Study) -> None:
    ceat, bias = table(finished, "associations/ceat"), table(finished, "likelihoods/log_probability")
    assert (len(ceat), len(bias)) == (2, 2)
    for each in (ceat, bias):
        larger = each.select(pl.max_horizontal("p_stimuli", "p_attributes")).to_series()
        assert each["p_association"].to_list() == larger.to_list()
    # CEAT at a single length is not tested
    tests = [ceat.filter(segment_length="mean"), bias]
    p = [value for each in tests for value in each["p_association"]]
    for name, correct in (("holm", holm), ("bh", benjamini_hochberg)):
        found = [value for each in tests for value in each[f"p_association_{name}"]]
        assert found == pytest.approx(list(correct(p)))
    assert {n for each in tests for n in each["n_tests"]} == {len(p)}


def test_sides_are_exchanged_where_the_study_asks_for_it(finished: Study) -> None:
    rows = {row["category"]: row for row in table(finished, "likelihoods/log_probability").iter_rows(named=True)}
    assert [(name, row["exchanged"], row["target_x"], row["attribute_a"]) for name, row in rows.items()] == [
        ("C5", False, "male_terms", "career"),
        ("C6", True, "male_terms", "math"),
    ]
    sentences = table(finished, "likelihoods/log_probability/masks.sentences")
    for name, row in rows.items():
        of_category = sentences.filter(category=name)
        words = of_category.group_by("role").agg(pl.col("attribute").n_unique()).rows_by_key("role", unique=True)
        assert len(of_category) == row["n_templates"] * sum(n for (n,) in words.values())
        assert all(words[side][0] >= row[f"n_{side}"] for side in "ab")  # words of a cluster count as one
        means = [of_category.filter(role=role)["score"].mean() for role in "ab"]
        assert (row["effect_size"] > 0) == (means[0] > means[1])


def test_traits_are_scored_in_every_structure(finished: Study) -> None:
    traits = table(finished, "likelihoods/structures/masks")
    words = {each for name in ("positive", "negative") for each in traits_of(finished, name)}
    assert {(row["trait"], row["structure"]) for row in traits.iter_rows(named=True)} == {
        (word, f"S{number}") for word in words for number in range(1, 6)
    }
    assert len(traits) == 4 * 5
    spread = table(finished, "likelihoods/structures")
    for row in spread.filter(polarity="all", quantity="fill").iter_rows(named=True):
        assert row["n"] == 4
        assert row["mean"] == pytest.approx(traits.filter(structure=row["structure"])["fill"].mean())
        assert row["twin_mean"] is None


def test_the_papers_tables_are_written(finished: Study) -> None:
    tables = finished.root / "results/report/tables"
    percentages = list(csv.reader((tables / "sahoo_table2.csv").open(encoding="utf-8", newline="")))
    heads = {head: number for number, head in enumerate(percentages[0])}
    assert {f"Bangla, garden {model}" for model in MODELS} < set(heads)
    of_all = next(row for row in percentages if row[0] == "All pairs")
    for row in table(finished, "likelihoods/bias_percentages").filter(bias_type="all").iter_rows(named=True):
        language = {"bn": "Bangla", "hi": "Hindi", "en": "English"}[row["language"]]
        number = heads.get(f"{language}, {row['set']} {row['model']}")
        shown = None if number is None else of_all[number]  # columns without a number are left out
        assert shown == (None if row["bias_percentage"] is None else f"{row['bias_percentage']:.2f}")
    effects = list(csv.reader((tables / "sadhu_table4.csv").open(encoding="utf-8", newline="")))
    column = effects[0].index("Log-probability bias masks")
    measured_effects = table(finished, "likelihoods/log_probability")["effect_size"]
    assert [row[0] for row in effects[1:]] == ["C5", "C6"]
    assert [float(row[column].replace("−", "-")) for row in effects[1:]] == pytest.approx(
        measured_effects.to_list(), abs=5e-3
    )


def test_percentages_stand_beside_those_of_the_paper(finished: Study) -> None:
    compared = pl.read_csv(finished.root / "results/report/comparison.csv", infer_schema_length=None)
    assert set(compared["method"]) == {"pairs"}
    bias = table(finished, "likelihoods/bias_percentages").with_columns(
        published_model=pl.col("model").replace_strict({"writes": "Bloom", "rewrites": "mT5"}, default=None)
    )
    types = pl.col("bias_type").is_in(["age", "physical-appearance", "all"])  # those that the paper has
    ours = bias.filter(types, pl.col("language") != "bn", pl.col("published_model").is_not_null())
    assert sorted(compared.select("language", "category", "model", "published_model", "measured").rows()) == sorted(
        ours.select("language", "bias_type", "model", "published_model", "bias_percentage").rows()
    )
    assert "Sentence pairs, " in (finished.root / "results/report/comparison.md").read_text(encoding="utf-8")


def test_the_page_shows_pairs_and_log_probability(finished: Study) -> None:
    page = (finished.root / "results/report/index.html").read_text(encoding="utf-8")
    heads = ("Sentence pairs", "Log-probability bias: masked words in templates", "Traits in sentence structures")
    for words in (*heads, "tables/sahoo_table2.csv", *MODELS, "both sentences are the same"):
        assert words in page, words


def test_twins_stand_beside_their_model_and_are_no_rows(study: Study) -> None:
    keep_models(study, "masks")
    garden = {"garden": CONFIG["pairs"]["sets"]["garden"]}
    study.configure({"associations": {"random_twins": 2}, "pairs": {"sets": garden}})
    target = "results/likelihoods/bias_percentages.parquet"
    study.run(target)
    of_model, of_twin = (scores_of(study, "garden", name) for name in ("masks", "masks-random"))
    first, second = (of_twin.filter(twin=twin) for twin in (0, 1))
    assert of_model["left_out"].to_list() == first["left_out"].to_list() == second["left_out"].to_list()
    assert of_model["score_first"].to_list() != first["score_first"].to_list() != second["score_first"].to_list()
    bias = table(study, "likelihoods/bias_percentages")
    assert set(bias["model"]) == {"masks"}
    row = bias.row(by_predicate=(pl.col("language") == "bn") & (pl.col("bias_type") == "all"), named=True)
    assert row["n_twins"] == 2
    assert of_twin["twin"].to_list() == [0, 1] * len(of_model)
    of_twin = of_twin.filter(language="bn").filter(pl.col("score_first").is_not_null())
    of_twin = of_twin.with_columns(
        preferred=(pl.col("score_first") > pl.col("score_second")) == (pl.col("label") == "stereo")
    )
    of_each = [of_twin.filter(twin=twin)["preferred"].mean() for twin in (0, 1)]
    assert row["twin_bias_percentage"] == pytest.approx(100 * sum(of_each) / 2)
    assert table(study, "likelihoods/pair_differences")["random_twin"].sum() == 2 * len(of_model)


def keep_models(study: Study, *names: str) -> None:
    """Leave these models of the study in the config, no others, and nothing to compare them with."""
    models = {name: CONFIG["models"][name] for name in names}
    write_yaml(study, "config.yaml", {**study.config, "models": models, "comparison": {"paper": "none"}})


# What a change runs again.

REPORT = {"draw_figures": 1, "write_tables": 1, "write_page": 1}
PERCENTAGES = {"measure_bias_percentages": 1, **REPORT}
STRUCTURES = {"score_structures": 1, "gather_structures": 1, **REPORT}
# A test of one method counts in the corrected p of all.
EFFECTS = {"gather_estimates": 1, "measure_strength": 1, "measure_term_strength": 1, **REPORT}


def change_nothing_that_counts(study: Study) -> None:
    """New times of all files, and other glosses."""
    for path in study.root.rglob("*"):
        if path.is_file() and not path.is_symlink() and ".snakemake" not in path.parts and "src" not in path.parts:
            path.touch()
    study.edit(CATEGORY_TEMPLATES, 'gloss: "', 'gloss: "now ')
    study.edit("structures.yaml", "gloss: '{target}", "gloss: 'now {target}")


def change_measures(study: Study) -> None:
    study.configure({"pairs": {"encoder": "p_modified", "encoder_decoder": "causal"}})


def change_a_trait(study: Study) -> None:
    study.edit("positive.yaml", "S4: ", "S4: আজ ")


def change_a_template(study: Study) -> None:
    study.edit(CATEGORY_TEMPLATES, '  C5:\n    - {id: importance, text: "', '  C5:\n    - {id: importance, text: "আজ ')


def add_a_set(study: Study) -> None:
    (study.root / "more.csv").write_text(GARDEN, encoding="utf-8")
    study.configure({"pairs": {"sets": {**CONFIG["pairs"]["sets"], "more": {"path": "more.csv"}}}})


def add_models(study: Study) -> None:
    """One for vectors alone, one for probabilities alone."""
    decoder = {**CONFIG["models"]["writes"], "train": {**CONFIG["models"]["masks"]["train"], "seed": 5}}
    study.configure(
        {
            "models": {
                "reads": {"train": {**CONFIG["models"]["masks"]["train"], "seed": 4}, "stages": ["embeddings"]},
                "says": decoder,
            }
        }
    )


def change_a_pair_and_add_a_set(study: Study) -> None:
    both = "The rose in {0} garden smells sweet.,The grass in {0} garden"
    study.edit("garden.csv", both.format("the"), both.format("my"))
    add_a_set(study)


# The parts of a change have no job in common but those that gather, so that one plan shows what each runs.
CHANGES: dict[str, tuple[Callable[[Study], object], dict[str, int]]] = {
    "nothing that counts": (change_nothing_that_counts, {}),
    # the set that neither is changed nor new is not scored again
    "a pair, and one set more": (change_a_pair_and_add_a_set, {"read_pairs": 1, "score_pairs": 3, **PERCENTAGES}),
    # the decoder, which has one measure, is not asked again; the encoder-decoder needs sentinels no more
    "measures, a trait and a template": (
        lambda s: (change_measures(s), change_a_trait(s), change_a_template(s)),
        {
            **{"check_model": 1, "audit_tokenizers": 1},
            "score_pairs": 2,
            **{"score_log_probability": 1, "choose_sentences": 1},
            **PERCENTAGES,
            **STRUCTURES,
            **EFFECTS,
        },
    ),
    "two models more": (
        add_models,
        {
            **{"train_model": 2, "check_model": 2},
            **{
                "audit_tokenizers": 1,
                "embed_segments": 2,
                "compare_precision": 1,
                "list_embeddings": 1,
                "choose_sentences": 1,
            },
            "measure_ceat": 2,  # fixed draws index the contexts that all models have
            "score_pairs": 1,
            **PERCENTAGES,
            **EFFECTS,
            "measure_multiverse": 1,
        },
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_runs_what_depends_on_it(study: Study, change: str) -> None:
    make, expected = CHANGES[change]
    make(study)
    assert study.plan("all", "likelihoods") == expected


def test_a_study_of_probabilities_alone_has_a_page_without_vectors(study: Study) -> None:
    keep_models(study, "writes", "rewrites")
    study.configure({"log_probability": {"categories": [], "traits": []}, "pairs": {"n_resamples": 51}})
    # no scores either: resamples are of the percentages
    assert study.plan() == PERCENTAGES


@pytest.mark.long
def test_a_second_study_of_the_same_text_and_model_runs_no_forward_pass(finished: Study, tmp_path: Path) -> None:
    """Also if it calls the model by another name; passes and scored pairs are counted by the logs of the jobs."""
    store = tmp_path / "store"
    shutil.copytree(finished.root / "results/store", store / "vectors")
    shutil.copytree(finished.root / "results/likelihoods/kept", store / "scores")
    second = finished.copy(tmp_path / "second")
    for made in ("results", "logs", ".snakemake"):
        shutil.rmtree(second.root / made)
    keep_models(second, "masks")
    write_yaml(second, "config.yaml", {**second.config, "models": {"renamed": CONFIG["models"]["masks"]}})
    scores = "likelihoods/pairs/garden/renamed"
    second.run("embeddings", f"results/{scores}.parquet", environment={"PRASANGA_STORE": str(store)})
    assert set(table(second, scores)["model"]) == {"renamed"}
    logs = "\n".join(path.read_text(encoding="utf-8") for path in (second.root / "logs").rglob("*.log"))
    assert set(re.findall(r"passes=(\d+)", logs)) == {"0"}
    known = re.findall(r"(\d+) pairs; (\d+) known before", logs)
    assert sorted(known) == [("7", "7"), ("8", "8")]


def test_clusters_are_added_without_a_forward_pass(study: Study) -> None:
    header, *rows = (study.root / "garden.csv").read_text(encoding="utf-8").splitlines()
    lines = [f"{header},cluster", *(f"{row},t{n // 2}" for n, row in enumerate(rows))]
    (study.root / "garden.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    before = scores_of(study, "garden", "masks")
    shutil.rmtree(study.root / "logs")
    study.run("results/likelihoods/bias_percentages.parquet")
    scores = scores_of(study, "garden", "masks")
    assert set(scores["cluster"]) == {f"t{n // 2}" for n in range(len(rows))}
    assert scores.drop("cluster").equals(before.drop("cluster"))
    logs = "\n".join(path.read_text(encoding="utf-8") for path in (study.root / "logs").rglob("*.log"))
    known = re.findall(r"(\d+) pairs; (\d+) known before", logs)
    assert known
    assert all(n == before for n, before in known)
    percentages = table(study, "likelihoods/bias_percentages").filter(bias_type="all", model="masks")
    found = percentages.group_by("set").agg(pl.col("n_clusters").max())
    assert dict(found.iter_rows()) == {"garden": 2, "clocks": None}


def test_s5_is_drawn_from_the_corpus(study: Study) -> None:
    """One sentence from a text with a license, one from a text without; the other traits keep their written ones."""
    first, second = traits_of(study, "positive")
    text = "এই শহরের সবাই জানে যে {} মানুষেরা আজ আসবে।"
    for name, trait in (("open", first), ("web", second)):
        (study.root / f"texts/{name}.txt").write_text(text.format(trait), encoding="utf-8")
    texts = [
        *study.config["corpus"]["texts"],
        {"files": "open.txt", "title": "Open", "licence": "CC0"},
        {"files": "web.txt"},
    ]
    study.configure({"corpus": {"texts": texts}, "log_probability": {"s5_from_corpus": True}})
    keep_models(study, "masks")
    study.run("results/likelihoods/traits.parquet", "results/likelihoods/drawn_sentences.csv")
    slots = text.format("{attribute} {target:plural}").replace(" মানুষেরা", "")
    drawn = table(study, "likelihoods/drawn_sentences").drop("offset")
    assert sorted(drawn.rows()) == sorted(
        [(first, slots, "Open", "CC0", "open.txt"), (second, slots, "web.txt", None, "web.txt")]
    )
    quoted = pl.read_csv(study.root / "results/likelihoods/drawn_sentences.csv")
    assert dict(quoted.select("trait", "text").iter_rows()) == {first: slots, second: None}
    of_s5 = table(study, "likelihoods/traits").filter(structure="S5").select("trait", "origin")
    assert dict(of_s5.iter_rows()) == {
        **dict.fromkeys(traits_of(study, "negative"), "written"),
        **{first: "Open", second: "web.txt"},
    }
    filled = table(study, "likelihoods/structures/masks.terms").filter(structure="S5", term="নারী").sort("trait")
    assert dict(filled.filter(pl.col("trait").is_in([first, second])).select("trait", "text").iter_rows()) == {
        first: text.format(first).replace("মানুষেরা", "নারীরা"),
        second: None,
    }
    # without the key, the written sentences again, which have been scored
    study.configure({"log_probability": {"s5_from_corpus": False}})
    assert {"draw_sentences"}.isdisjoint(study.plan("results/likelihoods/traits.parquet"))


# Scores that are at hand.


@pytest.fixture
def cached(study: Study) -> Study:
    """The study with its vectors and scores: corpus, sentences, samples, models and Snakemake's folder are gone."""
    results = ("sentences", "samples", "models", "store", "likelihoods/kept")
    for gone in ("texts", "resources/demo", *(f"results/{name}" for name in results), ".snakemake"):
        shutil.rmtree(study.root / gone)
    study.configure({"embeddings": {"source": "cached"}})
    return study


@pytest.mark.long
def test_everything_is_redrawn_from_the_cache(cached: Study, no_torch: dict[str, str]) -> None:
    names = ("bias_percentages", "structures", "log_probability")
    before = {name: table(cached, f"likelihoods/{name}") for name in names}
    for path in (cached.root / "results/likelihoods").glob("*.*"):
        path.unlink()
    cached.run("likelihoods", "results/report/tables/sahoo_table2.csv", environment=no_torch)
    for name, expected in before.items():
        assert table(cached, f"likelihoods/{name}").equals(expected), name
    # neither word lists nor templates, traits or pairs are needed any more
    for gone in ("words", *(f"resources/{name}" for name in ("stimuli", "suffix_groups", "templates", "traits"))):
        shutil.rmtree(cached.root / gone)
    for gone in ("garden.csv", "clocks.csv", "positive.yaml", "negative.yaml", "structures.yaml"):
        (cached.root / gone).unlink()
    assert set(cached.plan("results/report/tables/sahoo_table2.csv", environment=no_torch)) == set()


def test_scores_that_do_not_fit_are_named_before_any_job(cached: Study) -> None:
    cached.configure({"pairs": {"reduction": "sum"}})
    done = cached.snakemake("likelihoods")
    printed = done.stdout + done.stderr
    assert done.returncode != 0, printed[-3000:]
    for words in ('masks.parquet was made with reduction "mean", but the config says "sum"', "(and 5 more like this)"):
        assert words in printed, printed[-3000:]
    assert "Traceback" not in printed, printed[-3000:]
