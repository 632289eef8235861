"""What is known of a study before any job runs: what it measures, what each job depends on, which files it makes."""

from __future__ import annotations

import copy
import json
import os
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.methods import FAMILY, METHODS
from prasanga.plan import StudyPlan
from prasanga.plan.jobs import Files, Settings
from prasanga.plan.runs import (
    begin_config,
    finish_config,
    list_unnoticed_changes,
    require_config_of_results,
    require_inputs,
    require_results,
)
from prasanga.report.paper_tables import plan_comparison, plan_products

Config = dict[str, Any]
Planned = Callable[..., StudyPlan]


@pytest.fixture(scope="module")
def demo(project_root: Path) -> Config:
    """The demo's config, as it is written."""
    config: Config = yaml.safe_load((project_root / "tests/golden/every/study.yaml").read_text(encoding="utf-8"))
    return config


@pytest.fixture
def planned(project_root: Path, demo: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Plan the demo with some of its keys changed, in a folder of its own."""
    return planner(project_root, demo, tmp_path, monkeypatch)


def planner(project_root: Path, demo: Config, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    (folder / "resources").symlink_to(project_root / "resources")
    monkeypatch.chdir(folder)

    def plan(changes: Mapping[str, Any] | None = None, *, from_results: bool = False) -> StudyPlan:
        config = merged(demo, changes or {})
        return StudyPlan.from_config(complete(config), from_results=from_results)

    return plan


def merged(config: Mapping[str, Any], changes: Mapping[str, Any]) -> Config:
    """Return a config with some keys changed, those below them too; None takes a key out."""
    result = copy.deepcopy(dict(config))
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def test_texts_models_and_pairs_that_cannot_be_used_are_in_one_message(planned: Planned, tmp_path: Path) -> None:
    for name, text in (("a.txt", "ফুল।"), ("b.jsonl", '{"body": "ফুল।", "id": "1"}')):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pairs.csv").write_text("good,bad\nx,y\n", encoding="utf-8")
    (tmp_path / "vectors.txt").write_bytes(b"PK\3\4")
    headless = tmp_path / "headless"
    headless.mkdir()
    config = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "num_hidden_layers": 1}
    (headless / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (headless / "tokenizer.json").write_text("{}", encoding="utf-8")
    weights = {"embeddings.word_embeddings.weight": np.zeros((4, 8), dtype=np.float32)}
    save_file(weights, headless / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / "results/models/half").mkdir(parents=True)  # of a training that was killed: the job begins again
    changes = {
        "corpus": {"root": ".", "texts": [{"files": "[ab].*"}]},
        "models": {
            "mine": {"path": "headless", "kind": "encoder"},
            "half": {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 4, "seed": 1}},
        },
        "static": {"vectors": {"own": {"path": "vectors.txt"}}},
        "pairs": {"sets": {"mine": {"path": "pairs.csv"}}},
    }
    study = planned(changes)
    for _ in range(2):  # what is known of pairs is kept
        with pytest.raises(InputError) as told:
            require_inputs(study, Settings(study))
        first, *faults = str(told.value).splitlines()
        assert first == "4 inputs cannot be used."
        named = (("b.jsonl", "body"), ("headless", "head"), ("vectors.txt", "an archive"), ("pairs.csv", "good"))
        for fault, words in zip(faults, named, strict=True):
            assert all(word in fault for word in words), fault
    (tmp_path / "b.jsonl").unlink()
    study = planned({**changes, "models": {}, "static": {}, "pairs": {"sets": {}}})
    require_inputs(study, Settings(study))


def write(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()


def test_layers_are_measured_one_by_one_and_embedded_by_the_first(planned: Planned) -> None:
    study = planned({"models": {"tiny-wide": {"layer": [-1, 1]}}, "embeddings": {"buckets": 2}})
    last, first = "tiny-wide-layer-last", "tiny-wide-layer1"
    assert list(study.embedded.models) == ["tiny-narrow", last, first]
    files = Files(study)
    lengths = ("9", "25", "75", "over75")
    assert files.first_layer(first, bucket="01") == [f"results/embeddings/{last}/{each}/01.parquet" for each in lengths]
    assert files.first_layer(last, bucket="01") == []
    assert files.first_layer(f"{first}-random", bucket="01")[0] == f"results/embeddings/{last}-random/9/01.parquet"


def settings_of(study: StudyPlan) -> dict[str, Any]:
    """What every job of a study depends on."""
    settings = Settings(study)
    shard = study.texts.shards[min(study.texts.shards)]
    return {
        "forms": study.words.lexicon.forms,
        "sentences": settings.shard(shard),
        "samples": settings.sampling(),
        "training": settings.training("tiny-narrow"),
        "check": settings.check("tiny-narrow"),
        "vectors": settings.embedding("tiny-narrow"),
        "vectors of sentences": settings.sentence_embedding("tiny-narrow"),
        "cutting": settings.whole_corpus("language", "normalization", "replacements"),
        "words of static": settings.static_reading("glove"),
        "ceat": settings.ceat("tiny-narrow"),
        "ceat of a twin": settings.ceat("tiny-narrow-random"),
        "seat": settings.seat("tiny-narrow"),
        "weat": settings.weat("glove"),
        "pairs": settings.pair_set("demo"),
        "scores": settings.pair_scores("tiny-narrow"),
        "structures": settings.sentence_scores("structures", "tiny-narrow"),
        "log_probability": settings.log_probability("tiny-narrow"),
        "categories": study.words.chosen["ceat"],
    }


@pytest.fixture(scope="module")
def of_demo(project_root: Path, demo: Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every job of the demo depends on."""
    with pytest.MonkeyPatch.context() as patch:
        return settings_of(planner(project_root, demo, tmp_path_factory.mktemp("demo"), patch)())


@pytest.mark.parametrize(("what", "changes", "concerned"), read_cases(__file__, "concerned"))
def test_a_change_of_the_config_changes_what_depends_on_it(
    of_demo: dict[str, Any], planned: Planned, what: str, changes: Config, concerned: list[str]
) -> None:
    after = settings_of(planned(changes))
    assert {name for name in of_demo if of_demo[name] != after[name]} == set(concerned), what


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"models": {"tiny-wide": {"layer": 1}}}, {"layer", "layers"}),
        ({"samples": {"pool": "per_length"}}, {"pool"}),
        ({"normalization": {"bn": "nfc"}}, {"normalization"}),
        ({"seed": 48}, {"seed"}),
        ({"associations": {"n_samples": 5}, "embeddings": {"buckets": 3}}, set()),
    ],
)
def test_vectors_at_hand_must_be_of_this_model_sample_and_text(
    planned: Planned, changes: Config, keys: set[str]
) -> None:
    before, after = (
        Settings(planned(changed)).cached()["results/embeddings/tiny-wide/9.json"] for changed in ({}, changes)
    )
    assert {key for key in before if before[key] != after[key]} == keys


def test_which_entry_names_a_file_changes_nothing_of_its_sentences(planned: Planned) -> None:
    texts = [
        {"files": f"resources/demo/corpus/bn/{part}*.txt", "documents": "blank-line"} for part in ("[a-m]", "[n-z]")
    ]
    one, other = (planned({"corpus": {"texts": order}}) for order in (texts, texts[::-1]))
    for name, shards in one.texts.shards.items():
        others = other.texts.shards[name]
        assert [1 - shard.text for shard in shards] == [shard.text for shard in others]
        assert Settings(one).shard(shards) == Settings(other).shard(others)
    assert Settings(one).release()["of_table"] != Settings(other).release()["of_table"]


def plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and plain(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(plain, value))
    return value is None or type(value) in (int, float, str, bool)


def test_parameters_are_values_that_snakemake_compares(planned: Planned) -> None:
    """It passes over paths, named tuples and numbers of numpy without a word."""
    study = planned()
    for name, value in {**settings_of(study), "page": Settings(study).page()}.items():
        assert plain(value), name


def test_many_lengths_have_a_name_that_a_file_can_have(planned: Planned) -> None:
    few, many, others = (
        planned({"samples": {"lengths": list(lengths)}}).drawn for lengths in ([9, ">75"], range(1, 120), range(1, 121))
    )
    assert few == "results/samples/9-over75.of1.json"
    assert len(Path(many).name) < 60
    assert many != others


def test_a_study_has_the_results_that_it_asks_for(planned: Planned) -> None:
    everything = Files(planned()).results
    without = {"seat": {"categories": []}, "pairs": {"sets": {"demo": None}}, "static": {"vectors": {"glove": None}}}
    less = Files(planned({**without, "log_probability": {"traits": [], "categories": []}}))
    assert set(everything) - set(less.results) == {
        *("seat", "seat_strength", "log_probability", "log_probability_strength"),
        *("structures", "structure_differences", "traits"),
        *("bias_percentages", "pair_differences", "pair_statistics", "pair_strength"),
    }
    assert less.missing == []


def test_cached_results_of_earlier_versions_have_no_strength_of_log_probability_bias(planned: Planned) -> None:
    study = planned({"embeddings": {"source": "cached"}})
    files = Files(study)
    assert (files.terms, "log_probability_strength" in files.results, "log_probability" in files.results) == ({}, 0, 1)
    assert not any("log_probability_strength" in name for name in files.data())
    (sentence,) = files.missing
    assert sentence.startswith("results/likelihoods/log_probability/tiny-")
    assert ".terms.parquet is missing, so the strength of log-probability bias is left out." in sentence
    write(*(path for lists in Files(planned()).terms.values() for paths in lists for path in paths))
    files = Files(study)
    assert (files.missing, "log_probability_strength" in files.results) == ([], True)


def test_figures_are_drawn_from_the_tables_that_are_there(planned: Planned) -> None:
    seat, part = "results/associations/seat.parquet", "results/associations/ceat/tiny-narrow.parquet"
    write(seat, part, "results/lexicon/forms.parquet")
    files = Files(planned(from_results=True))
    assert files.results == {"seat": seat}
    assert (
        "results/associations/ceat.parquet is missing. `snakemake results/associations/ceat.parquet` makes it."
        in files.missing
    )
    assert any(sentence.startswith("results/pairs/statistics.parquet is missing.") for sentence in files.missing)
    assert (files.shown()["forms"], files.shown()["categories"]) == (["results/lexicon/forms.parquet"], [])
    assert files.data() == {}, "nobody brought them"
    require_results(files)
    Path(seat).unlink()
    with pytest.raises(InputError, match=r"this study has no results/associations/ceat[.]parquet or "):
        require_results(Files(planned(from_results=True)))


HERE = Path(__file__).parent
STUDIES: dict[str, Config] = {
    "every": {},
    "sentences": {"categories": [], "static": {"vectors": {"word2vec": None, "glove": None}}},
    "hidden": {"report": {"texts": "hidden"}, "embeddings": {"buckets": 2}, "associations": {"n_samples": [10, 20]}},
    "text": {"seat": {"categories": []}, "pairs": {"sets": {"demo": None}}, "log_probability": {"categories": []}},
}
"""What studies change of the one with every method; without `categories` no text is read."""


@pytest.mark.parametrize("name", STUDIES)
def test_the_files_of_a_study_are_these(planned: Planned, name: str) -> None:
    """Which tables are gathered from which, and what page, copies, summary and cards are made from."""
    study = planned(STUDIES[name])
    files = Files(study)
    assert study.drawn == f"results/samples/{'-'.join(study.labels)}.of{len(study.buckets)}.json"
    found = {
        "measured": {method.name: [*map(list, study.find_measured(method))] for method in METHODS},
        "gathered": {method.name: files.gathered(method) for method in FAMILY if study.asks_for(method)},
        "tables": files.gathered_tables(),
        "sentences": files.texts_measured(),
        "shown": files.shown(),
        "data": files.data(),
        "numbers": files.tables_of_numbers(),
        "records": files.records(),
        "products": {
            name: list(each) for name, each in plan_products(study.config, files.results, files.data(), {}).items()
        },
    }
    golden = HERE / f"files_of_{name}.json"
    if os.environ.get("WRITE_GOLDEN"):
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(golden.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("paper", "table", "name"),
    [("sadhu2024", "structures", "structures"), ("sahoo2024", "pair_statistics", "statistics")],
)
def test_what_else_a_paper_has_numbers_of_is_compared(planned: Planned, paper: str, table: str, name: str) -> None:
    study = planned()
    results = Files(study).results
    described = plan_products(study.config, results, {}, {"paper": paper})["described"]
    assert described.sources == {"path": results[table]}
    assert described.files == [f"results/report/comparison_{name}.{ending}" for ending in ("csv", "md")]
    without = {key: path for key, path in results.items() if key != table}
    assert "described" not in plan_products(study.config, without, {}, {"paper": paper})


@pytest.mark.parametrize(("texts", "is_there"), [("shown", True), ("hidden", False)])
def test_drawn_sentences_are_beside_the_page_unless_texts_are_hidden(
    planned: Planned, texts: str, is_there: bool
) -> None:
    changes = {"log_probability": {"s5_from_corpus": True}, "report": {"texts": texts}}
    assert ("drawn_sentences.csv" in Files(planned(changes)).data()) == is_there
    assert "drawn_sentences.csv" not in Files(planned({"report": {"texts": texts}})).data()


def test_buckets_follow_from_the_words_of_the_study_and_their_contexts(planned: Planned) -> None:
    assert len(planned().buckets) == 1
    many = {"samples": {"contexts_per_stimulus": 8_000}}
    one, all_nine = planned({**many, "categories": ["C1"]}), planned(many)
    assert 1 < len(one.buckets) < len(all_nine.buckets)
    assert planned({**many, "embeddings": {"buckets": 7}}).buckets == [f"0{number}" for number in range(7)]


@pytest.mark.parametrize(("changes", "said"), read_cases(__file__, "mistakes"))
def test_mistakes_are_told_before_any_job(planned: Planned, changes: Config, said: str) -> None:
    with pytest.raises(InputError) as told:
        planned(changes)
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("fruits", "said"),
    [(["কাঁঠাল", "আম"], "has no class of word"), (["কাঁঠাল"], "the set 'fruits' of the category M1 has 1 word")],
)
def test_words_that_make_no_sentences_or_sets_are_told_before_any_job(
    planned: Planned, fruits: list[str], said: str
) -> None:
    words = [{"stimulus": word, "group": "thing_consonant"} for word in fruits]
    own = {"targets": {"fruits": words, "two": ["গোলাপ", "মা"]}, "attributes": ["pleasant", "unpleasant"]}
    with pytest.raises(InputError) as told:
        planned({"categories": {"M1": own}, "seat": {"categories": ["M1"]}})
    assert said in str(told.value)


def test_a_comparison_names_models_of_the_study_and_of_the_paper(project_root: Path) -> None:
    def compare(**models: str) -> str:
        config = complete({"comparison": {"paper": "sadhu2024", "models": models}})
        return plan_comparison(config, project_root / "resources/published", ["tiny-wide"], {"ceat": "a"})[1]

    assert compare(**{"tiny-wide": "muril_large_cased"}) == ""
    with pytest.raises(InputError, match=r"`comparison\.models` .*'tiny2'"):
        compare(tiny2="muril_large_cased")
    with pytest.raises(InputError, match=r"`comparison\.models` has 'bert'.*muril_large_cased"):
        compare(**{"tiny-wide": "bert"})


def test_a_packaged_model_is_planned_without_its_package(planned: Planned) -> None:
    models = {"e5": {"package": "multilingual-e5-small", "stages": ["embeddings"]}}
    study = planned({"models": {**models, "smollm2": {"package": "smollm2-135m-instruct", "stages": ["likelihoods"]}}})
    assert study.config["models"]["e5"]["cards"] == 1
    assert "smollm2" not in study.scored.masked.models
    files = Files(study)
    folder = "results/models/multilingual-e5-small"
    assert files.model("e5")[1::3] == [f"{folder}/model.safetensors", f"{folder}/package.json"]
    assert files.model("tiny-wide")[-1] == "results/models/tiny-wide/training.json"
    part = StudyPlan.from_config(study.config, "results/bn")
    assert part.find_model("e5") == folder, "languages share it"
    assert part.find_model("tiny-wide") == "results/bn/models/tiny-wide"


@pytest.mark.parametrize(("changes", "said"), read_cases(__file__, "changed_configs"))
def test_figures_are_drawn_under_the_config_that_made_the_results(
    demo: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: Config, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    made = complete(demo)
    require_config_of_results(made)  # nothing is kept: results of an older version
    begin_config(made)
    require_config_of_results(made)  # an unfinished study is drawn as well
    finish_config()
    assert complete(yaml.safe_load((tmp_path / "results/config.yaml").read_text("utf-8"))) == made
    asked = complete(merged(demo, changes))
    if not said:
        require_config_of_results(asked)
        return
    with pytest.raises(InputError, match="was made with another config") as refused:
        require_config_of_results(asked)
    assert said in str(refused.value)
    assert "`snakemake figures --configfile results/config.yaml`" in str(refused.value)


def test_a_change_that_snakemake_cannot_notice_is_told(
    demo: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made, other = complete(demo), complete(merged(demo, {"seed": 48}))
    assert list(list_unnoticed_changes(other)) == [], "no results"
    begin_config(made)
    finish_config()
    notes = tmp_path / ".snakemake/metadata"
    notes.mkdir(parents=True)
    (notes / b64encode(b"results/report/index.html").decode()).touch()  # the page was drawn here
    (sentence,) = list_unnoticed_changes(made)
    assert sentence.startswith("results/ came without the folder .snakemake of its run.")
    (sentence,) = list_unnoticed_changes(other)
    assert "another config: seed (47 there, 48 here). results/ came without" in sentence
    (notes / b64encode(b"results/lexicon/forms.parquet").decode()).touch()
    assert list(list_unnoticed_changes(other)) == []


def test_tables_of_two_configs_are_not_drawn(demo: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made, other = complete(demo), complete(merged(demo, {"seed": 48}))
    begin_config(made)
    finish_config()
    begin_config(other)  # began and was stopped
    for asked in (made, other):
        begin_config(asked)
        with pytest.raises(InputError, match="may mix two configs"):
            require_config_of_results(asked)
    finish_config()
    require_config_of_results(other)
    with pytest.raises(InputError, match="made with another config"):
        require_config_of_results(made)


def test_a_quick_look_is_taken_at_few_files_and_at_none_that_no_method_reads(planned: Planned, tmp_path: Path) -> None:
    study = planned()
    paths = sorted(shard.path for shards in study.texts.shards.values() for shard in shards)
    assert [(shard.path, shard.start, shard.end) for shard in study.texts.sampled_files()] == [
        (p, 0, None) for p in paths
    ]
    sampled = Settings(study).sampled_forms()
    assert [shard["size"] for shard in sampled["shards"]] == [Path(path).stat().st_size for path in paths]
    no_text = Settings(planned({"categories": []})).sampled_forms()
    assert no_text["shards"] == [], "sentences of templates are all that it reads"
    for number in range(130):
        tmp_path.joinpath(f"{number:03}.txt").write_text(f"{number} ফুল\n", encoding="utf-8")
    many = planned({"corpus": {"root": str(tmp_path), "texts": [{"files": "*.txt"}]}})
    looked_at = [Path(shard.path).name for shard in many.texts.sampled_files()]
    assert looked_at == [f"{number:03}.txt" for number in range(0, 130, 3)]


def test_small_files_of_an_entry_share_a_job_and_parts_of_a_file_have_their_own(
    planned: Planned, tmp_path: Path
) -> None:
    for name in ("a1", "a2", "b1", "b2"):
        (tmp_path / f"{name}.txt").write_text(f"{name} ফুল\n", encoding="utf-8")
    (tmp_path / "b2.txt").write_bytes(b"x\n" * 1_250_000)
    texts = [{"files": "a*.txt"}, {"files": "b*.txt"}]
    study = planned({"corpus": {"root": str(tmp_path), "texts": texts, "shard_megabytes": 1}})
    read = [[(Path(shard.path).stem, shard.is_whole) for shard in shards] for shards in study.texts.shards.values()]
    assert read == [[("a1", True), ("a2", True)], [("b1", True)], *[[("b2", False)]] * (len(read) - 2)]
    assert len(read) > 3
    assert "more" not in Settings(study).shard(next(iter(reversed(study.texts.shards.values()))))


def test_a_job_of_a_model_has_all_lengths_and_the_random_copies_of_a_small_study(planned: Planned) -> None:
    small, large = (planned({"embeddings": {"shard_size": size}}) for size in (10**6, 5000))
    vectors = Files(small).fill_lengths("results/embeddings/{model}/{length}/00.parquet")
    lengths = ("9", "25", "75", "over75")
    names = ("{model}", "{model}-random")
    assert vectors == [f"results/embeddings/{name}/{length}/00.parquet" for name in names for length in lengths]
    assert small.embedded.jobs == ["tiny-narrow", "tiny-wide"]
    assert small.embedded.job_of("tiny-wide") == ["tiny-wide", "tiny-wide-random"]
    assert len(large.buckets) > 1
    assert large.embedded.jobs == ["tiny-narrow", "tiny-wide", "tiny-narrow-random", "tiny-wide-random"]
    assert large.embedded.job_of("tiny-wide") == ["tiny-wide"]
    # where only some models have copies, every job is one of its own
    some = planned({"models": {"tiny-wide": {"random_twins": 0}}})
    assert some.embedded.jobs == ["tiny-narrow", "tiny-wide", "tiny-narrow-random"]
    assert Files(some).segments_read() == [f"results/samples/{length}/00.parquet" for length in lengths]
