"""What was changed runs again, and what was not does not."""

from __future__ import annotations

import re
import shutil
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from edited_code import edit_definition
from small_study import Study, copy_code

pytestmark = pytest.mark.workflow

STATISTICS = {"measure_ceat": 2, "gather_estimates": 1}
REPORT = {"draw_figures": 1, "write_tables": 1, "write_page": 1}
COSTLY = {
    *("compile_forms", "audit_tokenizers", "extract_sentences", "draw_samples"),
    *("train_model", "check_model", "embed_segments"),
}
"""Rules of a corpus pass, a training or a forward pass, and those that they wait for."""
_long = partial(pytest.param, marks=pytest.mark.long)


def fresh_clone(study: Study, destination: Path, *, notes: bool, keep_times: bool) -> Study:
    """New sources (newer than any result), with the results restored beside them."""
    copy_code(study.root, destination)
    shutil.copyfile(study.root / "config.yaml", destination / "config.yaml")
    restored = ["results", *([".snakemake"] if notes else [])]
    for name in restored:
        copy = shutil.copy2 if keep_times else shutil.copyfile
        shutil.copytree(study.root / name, destination / name, copy_function=copy, dirs_exist_ok=True)
    return Study(destination)


def embedded(study: Study) -> dict[str, tuple[int, int]]:
    """{model/length/bucket: (vectors used again, vectors computed)} of each embedding job, by its log."""
    found = {}
    for log in (study.root / "logs/embeddings").rglob("[0-9][0-9].log"):
        text = log.read_text(encoding="utf-8")
        said = re.findall(r"results/embeddings/(\S+)\.parquet: .*reused=(\d+), embedded=(\d+)", text)
        found |= {key: (int(reused), int(computed)) for key, reused, computed in said}
    return found


def segments(study: Study) -> set[tuple[str, str, str]]:
    """The different segments that are drawn, by length and bucket; equal ones in a bucket are embedded once."""
    found = set()
    for path in (study.root / "results/samples").glob("*/*.parquet"):
        ids = pq.read_table(path, columns=["segment_id"]).column("segment_id").to_pylist()
        found |= {(path.parent.name, path.stem, segment) for segment in ids}
    return found


def test_what_changes_no_result_reruns_nothing(study: Study) -> None:
    """Comments and docstrings; times of all files."""
    for path in (study.root / "src/prasanga").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r'^( *)"""(?=\w)', r'\1"""Changed. ', text, flags=re.MULTILINE)
        path.write_text(f"# a remark\n{changed}\n# another\n", encoding="utf-8")
    for folder in ("src", "rules", "workflow", "resources", "results"):
        for path in (study.root / folder).rglob("*"):
            path.touch()
    (study.root / "config.yaml").touch()
    (study.root / "Snakefile").touch()
    assert study.plan() == {}


@pytest.mark.parametrize("keep_times", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_fresh_clone_with_results_and_snakemakes_folder(study: Study, tmp_path: Path, *, keep_times: bool) -> None:
    clone = fresh_clone(study, tmp_path / "clone", notes=True, keep_times=keep_times)
    assert clone.plan() == {}
    clone.configure({"associations": {"n_samples": 41}})
    assert clone.plan() == STATISTICS | REPORT


@pytest.mark.long
def test_without_snakemakes_folder_no_change_is_noticed_until_it_is_told(study: Study, tmp_path: Path) -> None:
    """As docs/running.md says: files and their times are all that is left."""
    clone = fresh_clone(study, tmp_path / "clone", notes=False, keep_times=True)
    assert "extract_sentences" in clone.plan(), "its corpus is newer than its results"
    for path in (clone.root / "resources/demo/corpus").rglob("*.txt"):
        shutil.copystat(study.root / path.relative_to(clone.root), path)
    # only times count now, and they may ask for the page once more
    assert clone.plan().keys() <= {"write_page"}
    clone.configure({"associations": {"n_samples": 41}})
    assert clone.plan().keys() <= {"write_page"}
    assert "associations.n_samples (40 there, 41 here). results/ came without the folder .snakemake" in clone.run(
        "--dry-run"
    )
    clone.configure({"associations": {"n_samples": study.config["associations"]["n_samples"]}})
    clone.run("--touch", "--forceall")
    assert clone.plan() == {}
    clone.configure({"associations": {"n_samples": 41}})
    assert clone.plan() == STATISTICS | REPORT


def test_targets_that_were_deleted_return(study: Study) -> None:
    (study.root / "results/summary.json").unlink()
    assert study.plan() == {"write_page": 1}
    (study.root / "results/report/tables/ceat.tex").unlink()
    (study.root / "results/report/figures/effect_by_length.svg").unlink()
    assert study.plan() == REPORT


def test_more_samples_rerun_statistics_and_figures_and_no_embedding(study: Study) -> None:
    study.configure({"associations": {"n_samples": 50}})
    assert study.plan() == STATISTICS | REPORT


def test_another_model_embeds_that_model_alone(study: Study) -> None:
    models = study.config["models"]
    study.configure({"models": {**models, "tiny-c": {"train": {**models["tiny-a"]["train"], "seed": 3}}}})
    assert study.plan() == {
        "train_model": 1,
        "check_model": 1,
        "embed_segments": 1,  # both lengths
        "audit_tokenizers": 1,
        "choose_sentences": 1,
        "measure_ceat": 3,  # fixed draws index the contexts that all models have
        "measure_multiverse": 1,
        "gather_estimates": 1,
        **REPORT,
    }


def test_another_category_embeds_only_words_not_embedded_yet(study: Study) -> None:
    had = segments(study)
    study.configure({"categories": ["C1", "C2", "C5"]})
    study.run("embeddings")
    new = segments(study) - had
    assert new
    assert had <= segments(study)
    counts = embedded(study)
    for model in ("tiny-a", "tiny-b"):
        mine = {key: value for key, value in counts.items() if key.startswith(f"{model}/")}
        assert sum(computed for _, computed in mine.values()) == len(new)
        assert sum(reused for reused, _ in mine.values()) == len(had)
    assert study.plan("embeddings") == {}


def test_vectors_survive_the_loss_of_the_shards(study: Study) -> None:
    shards = study.root / "results/embeddings/tiny-a"
    before = pq.read_table(shards / "9/00.parquet")
    shutil.rmtree(shards)
    study.run("embeddings")
    assert before.equals(pq.read_table(shards / "9/00.parquet"))
    assert all(computed == 0 for key, (_, computed) in embedded(study).items() if key.startswith("tiny-a/"))


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        pytest.param("render_page", {"write_page"}, id="page"),
        _long("settling", {"gather_estimates", "write_page"}, id="differences"),
        pytest.param("combine", STATISTICS.keys() | REPORT.keys(), id="statistics"),
        _long("InputError", STATISTICS.keys() | REPORT.keys(), id="every module"),
        pytest.param("Encoder", set(), id="encoder"),
        _long("Matcher", set(), id="matcher"),
    ],
)
def test_an_edit_reruns_scripts_that_import_it_and_nothing_costly(
    study: Study, definition: str, expected: set[str]
) -> None:
    edit_definition(study.root, definition)
    plan = set(study.plan())
    assert expected <= plan
    assert not plan & COSTLY


def test_an_edit_of_the_style_draws_the_page_anew(study: Study) -> None:
    study.append("src/prasanga/report/templates/style.css", "\nbody { margin: 0 }\n")
    assert study.plan() == REPORT


@pytest.mark.parametrize(
    ("constant", "module", "first", "never"),
    [
        pytest.param("SENTENCES_VERSION", "sentences/files.py", "extract_sentences", "train_model", id="sentences"),
        pytest.param("VECTORS_VERSION", "embeddings/settings.py", "embed_segments", "draw_samples", id="vectors"),
    ],
)
def test_a_raised_version_starts_at_its_stage(study: Study, constant: str, module: str, first: str, never: str) -> None:
    study.edit(f"src/prasanga/{module}", f"{constant} = 1", f"{constant} = 2")
    plan = study.plan()
    assert first in plan
    assert never not in plan
    if constant == "VECTORS_VERSION":
        study.run("embeddings")
        assert all(reused == 0 < computed for reused, computed in embedded(study).values())


def test_another_seed_of_a_model_reruns_that_model_alone(study: Study) -> None:
    models = study.config["models"]
    models["tiny-b"]["train"]["seed"] = 9
    study.configure({"models": models})
    plan = study.plan()
    assert plan["train_model"] == 1
    assert plan["embed_segments"] == 1


def test_what_is_told_of_words_and_texts_searches_nothing_again(study: Study) -> None:
    """A gloss, candidates, titles and licences, and the number of hits that are shown."""
    study.edit("resources/stimuli/bn/flowers.yaml", "gloss: rose", "gloss: the rose")
    texts = [{**text, "title": "News", "licence": "CC0-1.0"} for text in study.config["corpus"]["texts"]]
    study.configure({"corpus": {"texts": texts}, "lexicon": {"candidates": "resources/candidates/bn", "top": 3}})
    study.configure({"sentences": {"concordance": 5}})
    again = ("compile_categories", "audit_sentences", "write_tables", "draw_figures", "write_page")
    assert study.plan() == dict.fromkeys(again, 1)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        _long("resources/stimuli/bn/flowers.yaml", "variants: [বেলী]", "variants: [বেলী, মল্লিকা]", id="variant"),
        pytest.param("resources/suffix_groups/bn.yaml", "{suffixes: [টুকু], ", "{suffixes: [টুকু, টুকুন], ", id="suffix"),
    ],
)
def test_another_form_searches_the_corpus_again_and_trains_nothing(study: Study, path: str, old: str, new: str) -> None:
    study.edit(path, old, new)
    plan = study.plan()
    assert plan["extract_sentences"] == 1
    assert {"compile_forms", "draw_samples"} <= set(plan)
    assert not {"train_model", "check_model"} & set(plan)


def test_more_text_and_another_file_are_searched_by_one_job(study: Study) -> None:
    text = "বাগানে আজ একটি গোলাপ ফুটেছে।\n"
    study.append("resources/demo/corpus/bn/news.txt", f"\n{text}")
    (study.root / "resources/demo/corpus/bn/notes.txt").write_text(text, encoding="utf-8")
    plan = study.plan()
    assert (plan["extract_sentences"], plan["draw_samples"]) == (1, 1)


def test_another_layer_embeds_that_model_alone(study: Study) -> None:
    models = study.config["models"]
    models["tiny-b"]["layer"] = 1
    study.configure({"models": models})
    plan = study.plan()
    assert plan["embed_segments"] == 1
    assert "train_model" not in plan
