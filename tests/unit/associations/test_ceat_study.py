"""The CEAT table of a study: its columns, what the sample modes share, what is dropped, and what is refused."""

import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import prasanga
from prasanga.associations import CeatSettings, CeatTables, TestSettings, ceat, measure_ceat, named_draws
from prasanga.report.paper_tables import with_fewer_draws
from prasanga.schema import TABLES

FLOWERS, INSECTS = ["গোলাপ", "বেলি", "জবা"], ["মশা", "মাছি", "পিঁপড়া"]
PLEASANT, UNPLEASANT = ["শান্তি", "স্বর্গ", "ভালোবাসা", "স্বর্গ"], ["ঘৃণা", "হত্যা", "হত্যা"]


def word_set(name: str, stimuli: list[str]) -> dict[str, Any]:
    return {"name": name, "gloss": name, "stimuli": stimuli}


PLEASANT_ONCE, UNPLEASANT_ONCE = PLEASANT[:3], UNPLEASANT[:2]
C1 = {
    "title": "Flowers and insects",
    "targets": [word_set("flowers", FLOWERS), word_set("insects", INSECTS)],
    "attributes": [word_set("pleasant", PLEASANT), word_set("unpleasant", UNPLEASANT)],
}
NAMES = TABLES["ceat"].arrow().names
SETTINGS = CeatSettings(n_samples=30, test=TestSettings(n_resamples=50, n_shuffles=20))


def vectors(seed: int = 1, leave_out: tuple[str, ...] = ()) -> dict[str, tuple[list[str], np.ndarray]]:
    rng = np.random.default_rng(seed)
    words = dict.fromkeys([*FLOWERS, *INSECTS, *PLEASANT, *UNPLEASANT])
    made = {
        word: ([f"{word}{i:04d}" for i in rng.permutation(12)], rng.standard_normal((12, 5)).astype(np.float32))
        for word in words
    }
    return {word: value for word, value in made.items() if word not in leave_out}


def drop(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def rows(tables: CeatTables) -> list[dict[str, Any]]:
    return tables.estimates.to_pylist()


def row(
    *modes: str, model: str = "m", settings: CeatSettings = SETTINGS, length: str = "9", **changed: Any
) -> dict[str, Any]:
    """The row of a length, by random draws unless `modes` are named; `common` and `vectors` are those of 9 words."""
    arguments: dict[str, Any] = {"categories": {"C1": C1}, "vectors": vectors(), "common": None} | changed
    categories, given, common = (arguments.pop(name) for name in ("categories", "vectors", "common"))
    settings = replace(settings, sample_modes=modes or ["random"])
    shared = None if common is None else {"9": common}
    tables = measure_ceat(categories, {"9": given}, model=model, settings=settings, common=shared, **arguments)
    return next(r for r in rows(tables) if r["segment_length"] == length)


def test_random_draws_are_columns_beside_the_fixed_ones() -> None:
    given = vectors()
    common = {word: ids[:7] for word, (ids, _) in given.items()}
    for length in ("9", "mean"):
        both = row("random", "fixed", vectors=given, common=common, length=length)
        fixed, random = (row(mode, vectors=given, common=common, length=length) for mode in ("fixed", "random"))
        beside = {"effect_random": random["effect_size"]}
        if length == "9":
            beside |= {f"{name}_random": random[name] for name in ("standard_error", "p_draws")}
        assert fixed["effect_size"] != random["effect_size"]
        assert both == fixed | beside
        assert (both["sample_mode"], random["sample_mode"]) == ("fixed", "random")


@pytest.mark.parametrize(("mode", "names"), [("fixed", ("fixed", "C1")), ("random", ("random", "m", "C1"))])
def test_numbers_equal_ceat_with_the_named_draws(mode: str, names: tuple[str, ...]) -> None:
    given = vectors()
    found = row(mode)
    ordered = {word: array[np.argsort(ids)] for word, (ids, array) in given.items()}
    words = [*FLOWERS, *INSECTS, *PLEASANT_ONCE, *UNPLEASANT_ONCE]
    draws = named_draws(words, [12] * len(words), 30, seed=47, names=names)
    expected = ceat(ordered, (FLOWERS, INSECTS), (PLEASANT_ONCE, UNPLEASANT_ONCE), draws=draws)
    combined, heterogeneity, test = expected.combined, expected.heterogeneity, expected.test
    assert found["effect_size"] == pytest.approx(combined.effect, rel=1e-12)
    assert found["standard_error"] == pytest.approx(combined.standard_error, rel=1e-12)
    assert (found["draws_low"], found["draws_high"]) == pytest.approx((combined.ci_low, combined.ci_high), rel=1e-12)
    assert found["p_draws"] == pytest.approx(combined.p_value, rel=1e-9)
    assert found["log_p_draws"] == pytest.approx(combined.log_p_value, rel=1e-9)
    assert (found["tau2"], found["q"], found["i2"]) == pytest.approx(
        (heterogeneity.tau2, heterogeneity.q, heterogeneity.i2), rel=1e-9
    )
    assert (found["p_stimuli"], found["n_partitions"], found["p_stimuli_exact"]) == (test.p_value, 20, True)
    attributes = expected.test_attributes
    assert (found["p_attributes"], found["n_attribute_partitions"], found["p_attributes_exact"]) == (
        pytest.approx(attributes.p_value), attributes.n_partitions, True,
    )  # fmt: skip
    assert found["p_association"] == expected.p_association


def test_fixed_draws_are_shared_by_models_and_random_ones_are_not() -> None:
    # Two models with the same vectors: equal numbers if, and only if, they draw the same contexts.
    one, other = ({mode: row(mode, model=model)["effect_size"] for mode in ("fixed", "random")} for model in "ab")
    assert one["fixed"] == other["fixed"]
    assert one["random"] != other["random"]
    assert row("fixed")["effect_size"] != row("random")["effect_size"]


OF_TESTS = {name for name in NAMES if name.startswith(("p_stimuli", "p_attributes", "p_association", "smallest"))}


def test_fixed_draws_keep_to_the_contexts_that_all_models_have() -> None:
    given = vectors()
    lost = {word: ids[0] for word, (ids, _) in given.items()}
    common = {word: frozenset(ids[1:]) for word, (ids, _) in given.items()}
    fewer = {word: (ids[1:], array[1:]) for word, (ids, array) in given.items()}
    assert all(lost[word] not in common[word] for word in given)
    full, reduced = (row("fixed", vectors=v, common=common) for v in (given, fewer))
    # whatever else a model has, nothing but the common contexts is drawn; the test of words takes all, and so do the
    # mean and the spread by which vectors are scaled
    scaled = {f"{what}_{scale}" for what in ("difference", "effect") for scale in ("centered", "standardized")}
    assert {name for name in full if full[name] != reduced[name]} <= OF_TESTS | scaled
    assert {name: full[name] for name in OF_TESTS} == {name: row("random")[name] for name in OF_TESTS}
    assert full["contexts_min"] == 11
    assert full["effect_size"] != row("fixed")["effect_size"]
    assert row("random", common=common) == row("random")


def test_words_and_what_the_effect_is_without_them() -> None:
    settings = CeatSettings(40, ["random"], test=TestSettings(n_resamples=0, n_shuffles=0))
    given = vectors()
    tables = measure_ceat({"C1": C1}, {"9": given}, model="m", settings=settings)
    words = [word for word in tables.words.to_pylist() if word["segment_length"] == "9"]
    attributes = PLEASANT_ONCE, UNPLEASANT_ONCE
    listed = [*FLOWERS, *INSECTS, *PLEASANT_ONCE, *UNPLEASANT_ONCE]
    roles = [role for role, side in zip("xyab", (FLOWERS, INSECTS, *attributes), strict=True) for _ in side]
    assert [(w["role"], w["stimulus"]) for w in words] == list(zip(roles, listed, strict=True))
    assert {w["n_items"] for w in words} == {12}
    effects = [w["effect_without"] for w in words]
    _, estimate = rows(tables)
    assert (estimate["leave_out_low"], estimate["leave_out_high"]) == (min(effects), max(effects))
    # Without a target: the same draws, and the others as they are.
    ordered = {word: v[np.argsort(ids)] for word, (ids, v) in given.items()}
    draws = named_draws(listed, [12] * len(listed), 40, seed=47, names=("random", "m", "C1"))
    for i, word in enumerate([*FLOWERS, *INSECTS]):
        x, y = ([w for w in side if w != word] for side in (FLOWERS, INSECTS))
        fewer = ceat(ordered, (x, y), attributes, draws=np.delete(draws, i, axis=1))
        assert effects[i] == pytest.approx(fewer.combined.effect, rel=1e-9)
    whole = ceat(ordered, (FLOWERS, INSECTS), attributes, draws=draws)
    assert [w["association"] for w in words[:6]] == pytest.approx(whole.scores.mean(axis=0).tolist(), rel=1e-9)


def test_vectors_are_read_a_word_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Read(dict):
        """Counts the arrays that are alive: those handed out and not yet let go."""

        alive = 0
        most = 0

        def __getitem__(self, word: str) -> Any:
            ids, array = super().__getitem__(word)
            copy = np.array(array)
            self.alive += 1
            self.most = max(self.most, self.alive)
            weakref.finalize(copy, self.let_go)
            return ids, copy

        def let_go(self) -> None:
            self.alive -= 1

        def ids(self, word: str) -> list[str]:
            return super().__getitem__(word)[0]

    monkeypatch.setattr(sys.modules["prasanga.associations.ceat"], "_GROUP", 1)
    given = Read(vectors())
    lazy = measure_ceat({"C1": C1}, {"9": given}, model="m", settings=SETTINGS)
    assert 0 < given.most <= 3 < len(given)
    plain = measure_ceat({"C1": C1}, {"9": vectors()}, model="m", settings=SETTINGS)
    assert [table.to_pylist() for table in lazy] == [table.to_pylist() for table in plain]


def test_the_smaller_numbers_of_draws_are_the_first_of_the_larger() -> None:
    def measured(n_samples: int | list[int]) -> CeatTables:
        settings = CeatSettings(n_samples, draws="with-replacement", test=SETTINGS.test)
        return measure_ceat({"C1": C1}, {"9": vectors()}, model="m", settings=settings)

    several, most = measured([130, 300, 70]), measured(300)
    # the estimates are those of the largest, to the bit
    assert several.estimates.equals(most.estimates)
    assert {step["n"] for step in several.convergence.to_pylist()} == {70, 100, 130, 200, 300}
    estimates, convergence = map(pl.from_arrow, (several.estimates, several.convergence))
    both = with_fewer_draws(estimates, convergence, [130, 300, 70])
    assert both.schema == estimates.schema
    assert both.select("segment_length", "n_samples").rows() == [("mean", 300), ("9", 300), ("9", 70), ("9", 130)]
    # a row of 130 draws is what a run of 130 draws gives
    alone = pl.from_arrow(measured(130).estimates).filter(segment_length="9")
    part = both.filter(n_samples=130)
    of_draws = ("effect_size", "standard_error", "p_draws", "effect_random", "standard_error_random", "p_draws_random")
    for name in ("category", "n_samples", *of_draws, "ci_low", "ci_high", "p_stimuli", "p_association", "n_x"):
        for found, expected in zip(part[name].to_list(), alone[name].to_list(), strict=True):
            wanted = pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected
            assert found == wanted, name
    assert with_fewer_draws(estimates, convergence, 300).equals(estimates)


def test_the_package_is_light_to_import() -> None:
    heavy = "{'torch', 'transformers', 'matplotlib', 'scipy'}"
    code = f"import sys, prasanga.associations; assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    source = str(Path(prasanga.__file__).parents[1])
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": source})


def test_a_context_that_is_lost_moves_its_own_word_alone() -> None:
    rng = np.random.default_rng(11)
    stimuli = dict.fromkeys([*FLOWERS, *INSECTS, *PLEASANT, *UNPLEASANT])
    given = {w: ([f"{w}{i:03d}" for i in range(300)], rng.standard_normal((300, 5))) for w in stimuli}
    settings = CeatSettings(30, ["random"], test=TestSettings(n_resamples=40, n_shuffles=0))

    def replicates(vectors: Any) -> np.ndarray:
        tables = measure_ceat({"C1": C1}, {"9": vectors}, model="m", settings=settings)
        return np.array(tables.resamples["replicates"][0].as_py())

    ids, of_word = given["বেলি"]
    fewer = given | {"বেলি": (ids[:7] + ids[8:], np.delete(of_word, 7, axis=0))}
    other = {w: (i, rng.standard_normal(v.shape)) for w, (i, v) in given.items()}
    apart = {name: np.abs(replicates(v) - replicates(given)).max() for name, v in (("fewer", fewer), ("other", other))}
    assert apart["fewer"] < 0.1 * apart["other"]
