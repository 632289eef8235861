"""What the rules ask about a run."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from tables import read_cases

from prasanga.config import complete
from prasanga.plan import StudyPlan, runs
from prasanga.schema import TABLES
from prasanga.stats.permutation import find_detectable_shift, holm


@pytest.mark.parametrize(("arguments", "targets", "only"), read_cases(__file__, "runs_for_figures"))
def test_a_run_for_figures_alone_is_told_from_others(arguments: list[str], targets: list[str], only: bool) -> None:
    assert runs.asks_only_for("figures", arguments, lambda: targets) is only


def test_the_slow_parser_is_asked_only_if_it_may_matter() -> None:
    def never() -> list[str]:
        raise AssertionError("asked")

    assert not runs.asks_only_for("figures", ["all", "--cores", "2"], never)


def test_a_pattern_has_its_names_and_no_other() -> None:
    pattern = runs.name_in(["a.b", "c"])
    assert [name for name in ("a.b", "axb", "c", "", "d") if re.fullmatch(pattern, name)] == ["a.b", "c"]
    assert re.fullmatch(runs.name_in([]), "") is None


def test_memory_grows_with_each_attempt_and_cards_are_those_of_the_model() -> None:
    models = {"large-9": {"cards": 2, "train": {}}}
    wildcards = SimpleNamespace(model="large-9")
    for cores, on_cpu, cards, threads in ((8, False, 2, 2), (8, True, 0, 8), (0, True, 0, 1)):
        machine = runs.machine_for(models, cores, on_cpu=on_cpu)
        asked = machine.resources
        assert (asked["gpu"](wildcards), asked["cards"](wildcards), machine.threads(wildcards)) == (2, cards, threads)
        assert [asked["mem_mb"](wildcards, attempt) for attempt in (1, 3)] == [1500, 4500]


def test_vectors_are_kept_of_jobs_before_and_with_models() -> None:
    assert runs.keep_vectors(["results/report/a.csv", "results/samples/9.parquet"])
    assert not runs.keep_vectors(["results/report/a.csv", "results/associations/ceat.parquet"])


def test_texts_pairs_and_vectors_are_counted_by_hand(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_root)
    (tmp_path / "config.json").write_text('{"hidden_size": 768, "model_type": "bert"}', encoding="utf-8")
    folder = project_root / "resources/stimuli/bn"
    names = ("flowers", "insects", "pleasant", "unpleasant")  # C1
    sets = [yaml.safe_load((folder / f"{name}.yaml").read_text("utf-8")) for name in names]
    n_words = sum(len(each["words"]) for each in sets)

    def count(*targets: str, **config: Any) -> list[str]:
        study = StudyPlan.from_config(complete({"study": "s", "language": "bn", **config}))
        return list(runs.count_texts(study, targets))

    train = {"hidden_size": 16, "heads": 2, "layers": 2, "steps": 1, "seed": 1}
    models = {"base": {"path": str(tmp_path)}, "far": {"path": "owner/name"}}
    demo = {"sets": {"demo": {"path": "resources/demo/pairs.csv"}}}
    samples = {"lengths": [9, 75], "contexts_per_stimulus": 1200}
    # each of 8 copies reads 64 contexts of a word
    n_texts = 2 * 1200 * n_words + 2 * 8 * 64 * n_words
    read = f"at most {n_texts:,} texts and {9 * 157:,} pairs, with its 8 random copies"
    assert count(categories=["C1"], samples=samples, models=models, pairs=demo) == [
        f"Model base: {read}; {n_texts * 768 * 2 / 1e6:.0f} MB of vectors.",
        f"Model far: {read}.",
    ]
    layers = {"tiny": {"train": train, "layer": [1, 2], "stages": ["embeddings"]}}
    samples = {"lengths": [9], "contexts_per_stimulus": 1000}
    assert count(categories=["C1"], samples=samples, models=layers, associations={"random_twins": 0}) == [
        f"Model tiny: at most {1000 * n_words:,} texts and 0 pairs; {2000 * n_words * 32 / 1e6:.0f} MB of vectors."
    ]
    seat = {"categories": [f"C{number}" for number in range(1, 10)]}
    (said,) = count(categories=[], seat=seat, models={"tiny": {"train": train}})
    assert said.startswith("Model tiny: at most 4,192 texts and 0 pairs, with its 8 random copies")
    target = "results/associations/seat.parquet"
    assert count(target, seat=seat, models={"tiny": {"train": train}}) == [said]
    assert count(target, "all", seat=seat, models={"tiny": {"train": train}}) != [said]


PAIRS = {"C5": 8, "C6": 8, "C8": 8, "GC1": 6, "GC3": 7, "GA1": 6}
"""Pairs of the Bangla categories, clusters counted once (docs/data_statement.md)."""


@pytest.mark.parametrize(
    ("ceat", "seat"),
    [
        ("C5", "C6"),
        ("", "GA1"),
        ("", "C1 GA1"),
        ("", "GC1 GA1"),
        ("", "C1 C2 C3 C4 C5 C6 C7 C8 C9 GC1 GC3 GA1"),
        ("C1 C2 C3 C4 C7 C9", "C1 C2 C3 C4 C5 C7 C9 GA1"),
    ],
)
def test_what_pairs_cannot_show_is_what_holm_leaves_when_they_agree_perfectly(
    ceat: str, seat: str, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_root)
    config = {"study": "s", "language": "bn", "models": {"tiny": {"train": {"hidden_size": 16, "seed": 1}}}}
    config |= {"categories": ceat.split(), "seat": {"categories": seat.split()}}
    plan = StudyPlan.from_config(complete(config))
    names = [*ceat.split(), *seat.split()]
    least = np.array([2.0 ** (1 - PAIRS[name]) if name in PAIRS else 0 for name in names])

    def is_found(test: int, others: int) -> bool:
        """Whether a test with its smallest p is found beside so many others with the smallest p of theirs."""
        p = np.ones(len(names))
        easiest = [each for each in np.argsort(least, kind="stable") if each != test][:others]
        p[[test, *easiest]] = least[[test, *easiest]]
        return bool(holm(p)[test] <= 0.05)

    expected = []
    for n_pairs in sorted({PAIRS[name] for name in names if name in PAIRS}):
        tests = [number for number, name in enumerate(names) if PAIRS.get(name) == n_pairs]
        needed = next((n for n in range(len(names)) if is_found(tests[0], n)), None)
        if needed != 0:
            others = f"these can be found only after {needed} other{'' if needed == 1 else 's'}"
            found = "none can be found" if needed is None else others
            listed = ", ".join(sorted(names[number] for number in tests))
            p = {6: ".031", 7: ".016", 8: ".0078"}[n_pairs]
            expected.append(
                f"{listed}: with {n_pairs} matched pairs, p is at least {p}. With {len(names)} tests, {found}."
            )
    assert list(runs.name_unreachable(plan)) == expected


def test_words_of_a_paper_are_no_tests(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project_root)
    config = {
        "study": "s",
        "language": "en",
        "preset": "paper",
        "categories": [],
        "seat": {"categories": ["GA1", "GC1"]},
    }
    config |= {"models": {"tiny": {"train": {"hidden_size": 16, "seed": 1}}}}
    plan = StudyPlan.from_config(complete(config))
    assert list(runs.name_unreachable(plan)) == []  # 8 pairs, one-sided
    config["lexicon"] = {"stimuli": ["resources/stimuli/en", "resources/stimuli/en/paper"]}
    plan = StudyPlan.from_config(complete(config))
    assert len(plan.words.chosen["seat"]["GA1"]["targets"][0]["stimuli"]) == 5  # one unit
    assert list(runs.name_unreachable(plan)) == []


def test_a_finished_study_says_what_more_words_and_contexts_would_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = {"associations": {"alternative": "two-sided"}}
    sets = [{"stimuli": []}, {"stimuli": []}]
    clustered = [*sets[:1], {"stimuli": [], "clusters": {}}]
    chosen = {
        "C1": {"targets": sets, "attributes": sets},
        "C5": {"targets": sets, "attributes": sets, "matched": "targets"},
        "C6": {"targets": sets, "attributes": clustered},
    }
    plan: Any = SimpleNamespace(config=config, results="results", words=SimpleNamespace(chosen={"ceat": chosen}))
    assert list(runs.tabulate_shifts(plan)) == []
    row = {f"n_{side}": 20 for side in "xyab"} | {"category": "C1", "contexts_min": 4, "n_tests": 16}
    row |= {"variance_words": 0.1, "variance_attributes": 0.02, "variance_contexts": 0.4}
    rows = [row, {**row, "n_tests": None}, {**row, "variance_words": None}]
    rows += [{**row, "category": name} for name in ("C5", "C6")]
    table = pl.DataFrame(rows).with_columns(pl.lit(None).alias(name) for name in set(TABLES["ceat"].names) - {*rows[0]})
    Path("results/associations").mkdir(parents=True)
    table.write_parquet("results/associations/ceat.parquet")
    first, _, heads, *lines = runs.tabulate_shifts(plan)
    assert first.endswith("(median of 1")
    assert heads.split() == ["words", "4", "24", "100", "1,200"]
    assert [line.split()[0] for line in lines] == ["8", "13", "25", "50"]
    cells = np.array([line.split()[1:] for line in lines], dtype=float)
    assert (np.diff(cells, axis=0) < 0).all()
    assert (np.diff(cells, axis=1) < 0).all()
    wanted = find_detectable_shift(row, 25, 100, alternative="two-sided", alpha=0.05 / 16)
    assert cells[2, 2] == pytest.approx(wanted, abs=0.005)
    table.drop("n_tests").write_parquet("results/associations/ceat.parquet")  # of an earlier version
    assert list(runs.tabulate_shifts(plan)) == []
