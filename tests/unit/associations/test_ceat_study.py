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
from prasanga.base.errors import InputError
from prasanga.losses import describe_losses
from prasanga.report.paper_tables import with_fewer_draws
from prasanga.schema import TABLES

FLOWERS, INSECTS = ["গোলাপ", "বেলি", "জবা"], ["মশা", "মাছি", "পিঁপড়া"]
PLEASANT, UNPLEASANT = ["শান্তি", "স্বর্গ", "ভালোবাসা", "স্বর্গ"], ["ঘৃণা", "হত্যা", "হত্যা"]


def word_set(name: str, stimuli: list[str]) -> dict[str, Any]:
    return {"name": name, "gloss": name, "stimuli": stimuli}


PLEASANT_ONCE, UNPLEASANT_ONCE = PLEASANT[:3], UNPLEASANT[:2]
TWICE = "স্বর্গ: listed twice, counted once; হত্যা: listed twice, counted once"
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


def rows(tables: CeatTables) -> list[dict[str, Any]]:
    return tables.estimates.to_pylist()


def row(mode: str = "random", model: str = "m", settings: CeatSettings = SETTINGS, **changed: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {"categories": {"C1": C1}, "vectors": vectors(), "common": None} | changed
    categories, given = arguments.pop("categories"), arguments.pop("vectors")
    tables = measure_ceat(categories, given, model=model, segment_length="9", settings=settings, **arguments)
    return next(r for r in rows(tables) if r["sample_mode"] == mode)


def test_columns_and_rows() -> None:
    tables = measure_ceat({"C1": C1, "C1b": C1}, vectors(), model="m", segment_length=">75", settings=SETTINGS)
    assert [table.schema for table in tables] == [
        TABLES["ceat"].arrow(),
        TABLES["ceat_words"].arrow(),
        TABLES["resamples"].arrow(),
        TABLES["convergence"].arrow(),
    ]
    cells = [(r["category"], r["sample_mode"], r["model"], r["segment_length"]) for r in rows(tables)]
    assert cells == [(c, mode, "m", ">75") for c in ("C1", "C1b") for mode in ("fixed", "random")]


def test_a_row_says_how_it_was_made() -> None:
    found = row(
        settings=CeatSettings(
            n_samples=30,
            sample_modes=["random"],
            variance="hedges",
            tau2="reml",
            draws="with-replacement",
            pool="per_length",
            band=0.25,
            test=TestSettings(
                std="pooled", alternative="less", statistic="difference", n_permutations=99, n_resamples=0, n_shuffles=0
            ),
            seed=5,
        )
    )
    expected = {
        "category_title": "Flowers and insects",
        "target_x": "flowers",
        "target_y": "insects",
        "attribute_a": "pleasant",
        "attribute_b": "unpleasant",
        "n_samples": 30,
        "std": "pooled",
        "alternative": "less",
        "statistic": "difference",
        "interval_note": "no interval was asked for (associations.n_resamples is 0)",
        "n_resamples": 0,
        "band": 0.25,
        "variance": "hedges",
        "tau2_method": "reml",
        "draws": "with-replacement",
        "pool": "per_length",
        "seed": 5,
        "reason": None,
        "repeated_words": "once",
        "contexts_min": 12,
        **{"n_x": 3, "n_y": 3, "n_a": 3, "n_b": 2, "listed_x": 3, "listed_y": 3, "listed_a": 3, "listed_b": 2},
    }
    assert {key: found[key] for key in expected} == expected
    assert describe_losses(found["lost"]) == TWICE


@pytest.mark.parametrize(("leave_out", "times"), [("", 1), ("গোলাপ", 2)])
def test_what_modes_share_changes_no_number(leave_out: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both modes rest their intervals on the same draws where every word has as many contexts in them."""
    import prasanga.associations.study as module

    given = vectors()
    common = {word: ids[:7] if word == leave_out else ids for word, (ids, _) in given.items()}
    for mode in ("fixed", "random"):
        alone = row(mode, settings=replace(SETTINGS, sample_modes=[mode]), vectors=given, common=common)
        assert row(mode, vectors=given, common=common) == alone
    counted = []
    original = module.draw_cosines
    monkeypatch.setattr(module, "draw_cosines", lambda *given: counted.append(1) or original(*given))
    row(vectors=given, common=common)
    assert len(counted) == 3 * times  # as they are, centered, standardized


def test_effects_alone_are_those_that_stand_with_the_rest() -> None:
    whole = row()
    alone = row(settings=replace(SETTINGS, effects_alone=True))
    assert alone["effect_size"] == whole["effect_size"]
    assert {name: alone[name] for name in ("n_x", "n_b", "contexts_min", "draws", "lost")} == {
        name: whole[name] for name in ("n_x", "n_b", "contexts_min", "draws", "lost")
    }
    others = ("p_association", "leave_out_low", "shuffled_low", "effect_standardized", "standard_error", "tau2")
    assert [whole[name] is not None for name in others] == [True] * 6
    assert [alone[name] for name in others] == [None] * 6
    settings = replace(SETTINGS, effects_alone=True)
    tables = measure_ceat({"C1": C1}, vectors(), model="m", segment_length="9", settings=settings)
    assert [table.num_rows for table in tables] == [2, 0, 0, 0]


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


def test_the_order_of_rows_makes_no_difference() -> None:
    given = vectors()
    turned = {word: (ids[::-1], array[::-1]) for word, (ids, array) in reversed(given.items())}
    for mode in ("fixed", "random"):
        assert row(mode, vectors=turned) == row(mode)


def test_fixed_draws_are_shared_by_models_and_random_ones_are_not() -> None:
    # Two models with the same vectors: equal numbers if, and only if, they draw the same contexts.
    assert row("fixed", "one")["effect_size"] == row("fixed", "other")["effect_size"]
    assert row("random", "one")["effect_size"] != row("random", "other")["effect_size"]
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


def test_effect_and_test_rest_on_the_same_words() -> None:
    given = vectors()
    common = {word: frozenset(ids) for word, (ids, _) in given.items() if word != FLOWERS[0]}
    without = {word: both for word, both in given.items() if word != FLOWERS[0]}
    found, expected = row("fixed", vectors=given, common=common), row("fixed", vectors=without)
    assert {name: found[name] for name in OF_TESTS} == {name: expected[name] for name in OF_TESTS}
    assert found["effect_size"] == expected["effect_size"]
    assert row("random", vectors=given, common=common) == row("random")  # which has all words, and its own test


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ((10, "without-replacement"), "without-replacement"),
        ((12, "without-replacement"), "mixed"),
        ((13, "without-replacement"), "with-replacement"),
        ((10, "with-replacement"), "with-replacement"),
    ],
)
def test_the_column_draws_says_what_was_done(asked: tuple[int, str], done: str) -> None:
    given = vectors()
    ids, array = given["মশা"]
    given["মশা"] = ids[:11], array[:11]  # all others have 12
    found = row("random", vectors=given, settings=replace(SETTINGS, n_samples=asked[0], draws=asked[1]))
    assert found["draws"] == done


def test_a_category_of_single_contexts_has_no_p_draws() -> None:
    found = row("random", vectors={word: (ids[:1], array[:1]) for word, (ids, array) in vectors().items()})
    assert found["effect_size"] is not None
    assert {found[name] for name in ("standard_error", "draws_low", "draws_high", "p_draws", "log_p_draws")} == {None}


def test_other_categories_and_words_change_nothing() -> None:
    other = {**C1, "targets": [word_set("few", FLOWERS[:2]), word_set("insects", INSECTS)]}
    assert row("random", categories={"C0": other, "C1": C1}) | {"category": "C1"} != row("random")
    tables = measure_ceat({"C0": other, "C1": C1}, vectors(), model="m", segment_length="9", settings=SETTINGS)
    found = [r for r in rows(tables) if r["category"] == "C1"]
    assert found == rows(measure_ceat({"C1": C1}, vectors(), model="m", segment_length="9", settings=SETTINGS))


def test_stimuli_without_contexts_are_dropped_with_the_reason() -> None:
    given = vectors(leave_out=("বেলি", "স্বর্গ"))
    given["মশা"] = ([], np.empty((0, 5), np.float32))
    common = {word: ids if word != "ঘৃণা" else [] for word, (ids, _) in given.items()}
    fixed, random = (row(mode, vectors=given, common=common) for mode in ("fixed", "random"))
    twice = "স্বর্গ: listed twice; হত্যা: listed twice, counted once"
    assert describe_losses(random["lost"]) == f"{twice}; বেলি: no contexts; মশা: no contexts; স্বর্গ: no contexts"
    assert describe_losses(fixed["lost"]) == f"{describe_losses(random['lost'])}; ঘৃণা: no context that all models have"
    assert [random[f"n_{side}"] for side in "xyab"] == [2, 2, 2, 2]
    assert [fixed[f"n_{side}"] for side in "xyab"] == [2, 2, 2, 1]
    assert [random[f"listed_{side}"] for side in "xyab"] == [3, 3, 3, 2]
    assert random["effect_size"] is not None
    assert random["n_partitions"] == 6


@pytest.mark.parametrize(
    ("leave_out", "reason"),
    [
        (("বেলি", "জবা"), "not computed: flowers has 1 of 3 stimuli left, and a target set needs 2"),
        (("ঘৃণা", "হত্যা"), "not computed: unpleasant has 0 of 2 stimuli left, and an attribute set needs 1"),
        (tuple(vectors()), "not computed: flowers has 0 of 3 stimuli left"),
    ],
)
def test_a_category_that_cannot_be_computed_is_a_row_with_the_reason(leave_out: tuple[str, ...], reason: str) -> None:
    found = row(vectors=vectors(leave_out=leave_out))
    assert reason in describe_losses(found["lost"])
    numbers = TABLES["ceat"].arrow().names[NAMES.index("effect_size") : NAMES.index("n_samples")]
    shown = [
        name for name in numbers if name not in {"n_x", "n_y", "n_a", "n_b", "reason", "lost"} and "listed" not in name
    ]
    assert [found[name] for name in shown] == [None] * len(shown)
    assert found["listed_x"] == 3


def test_constant_associations_are_a_row_with_the_reason() -> None:
    same = {**C1, "attributes": [word_set("one", ["শান্তি"]), word_set("other", ["শান্তি"])]}
    given = vectors()
    given["শান্তি"] = (given["শান্তি"][0][:1], given["শান্তি"][1][:1])
    found = row(vectors=given, categories={"C1": same})
    assert found["effect_size"] is None
    assert "not computed: All words have the same association" in describe_losses(found["lost"])


def test_many_words_are_sampled_and_the_row_says_so() -> None:
    names = [[f"{side}{i}" for i in range(24)] for side in "xy"]
    rng = np.random.default_rng(2)
    given = vectors() | {w: (["s1", "s2"], rng.standard_normal((2, 5))) for side in names for w in side}
    many = {**C1, "targets": [word_set("x", names[0]), word_set("y", names[1])]}
    one, same = (
        row(
            categories={"C1": many},
            vectors=given,
            settings=CeatSettings(9, test=TestSettings(n_permutations=99, n_resamples=9, n_shuffles=9)),
        )
        for _ in "12"
    )
    assert one == same
    assert (one["p_stimuli_exact"], one["n_partitions"]) == (False, 99)
    assert (one["p_stimuli"] * 100) % 1 == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [
        ("বেলি", (["s1"], np.ones((2, 5))), "m, segment length 9, বেলি: 1 ids for 2 vectors"),
        (
            "বেলি",
            (["s1"], np.full((1, 5), np.nan)),
            r"9, বেলি: row 0, the vector of s1, holds NaN .* results/embeddings/m,",
        ),
        (
            "বেলি",
            (["s0", "s1"], np.eye(5)[:2] * [[1], [0]]),
            r"row 1, the vector of s1, is a zero vector",
        ),
        ("বেলি", (["s1"], np.ones((1, 4))), "vectors of"),
    ],
)
def test_damaged_vectors_are_refused(word: str, value: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        row(vectors=vectors() | {word: value})


@pytest.mark.parametrize(
    "broken", [{"title": "t"}, {**C1, "targets": C1["targets"][:1]}, "C1", {**C1, "attributes": 3}]
)
def test_a_damaged_category_is_refused(broken: Any) -> None:
    with pytest.raises(InputError, match="category C9: expected a title, two targets and two attributes"):
        row(categories={"C9": broken})


def test_settings_default_to_the_recommended_ones() -> None:
    found = CeatSettings()
    assert (found.n_samples, found.sample_modes, found.test.std) == (5000, ("fixed", "random"), "union_ddof1")
    assert (found.variance, found.tau2, found.draws) == ("association", "dl", "without-replacement")
    assert (found.test.alternative, found.test.interval, found.test.n_resamples) == ("two-sided", "bca", 2000)


def test_lengths_draw_the_same_occurrences() -> None:
    # The same ids and vectors at two lengths: what is drawn, and so every number, is the same.
    short, long = (
        measure_ceat({"C1": C1}, vectors(), model="m", segment_length=length, settings=SETTINGS)
        for length in ("9", "75")
    )
    for one, other in zip(rows(short), rows(long), strict=True):
        assert one["effect_size"] == other["effect_size"]
        assert one["standard_error"] == other["standard_error"]
    pairs = zip(short.resamples.to_pylist(), long.resamples.to_pylist(), strict=True)
    assert all(one["replicates"] == other["replicates"] and one["words"] == other["words"] for one, other in pairs)


def test_words_and_what_the_effect_is_without_them() -> None:
    settings = CeatSettings(40, ["random"], test=TestSettings(n_resamples=0, n_shuffles=0))
    given = vectors()
    tables = measure_ceat({"C1": C1}, given, model="m", segment_length="9", settings=settings)
    words = tables.words.to_pylist()
    attributes = PLEASANT_ONCE, UNPLEASANT_ONCE
    listed = [*FLOWERS, *INSECTS, *PLEASANT_ONCE, *UNPLEASANT_ONCE]
    roles = [role for role, side in zip("xyab", (FLOWERS, INSECTS, *attributes), strict=True) for _ in side]
    assert [(w["role"], w["stimulus"]) for w in words] == list(zip(roles, listed, strict=True))
    assert {w["n_items"] for w in words} == {12}
    effects = [w["effect_without"] for w in words]
    (estimate,) = rows(tables)
    assert (estimate["leave_out_low"], estimate["leave_out_high"]) == (min(effects), max(effects))
    # Without a target: the same draws, and the others as they are.
    ordered = {word: v[np.argsort(ids)] for word, (ids, v) in given.items()}
    draws = named_draws(listed, [12] * len(listed), 40, seed=47, names=("random", "m", "C1"))
    for i, word in enumerate([*FLOWERS, *INSECTS]):
        x, y = ([w for w in side if w != word] for side in (FLOWERS, INSECTS))
        fewer = ceat(ordered, (x, y), attributes, draws=np.delete(draws, i, axis=1))
        assert effects[i] == pytest.approx(fewer.combined.effect, rel=1e-9)
    whole = ceat(ordered, (FLOWERS, INSECTS), attributes, draws=draws)
    assert [w["association"] for w in words[:6]] == pytest.approx(whole.target_scores.tolist(), rel=1e-9)


def test_a_context_that_is_lost_moves_its_own_word_alone() -> None:
    rng = np.random.default_rng(11)
    stimuli = dict.fromkeys([*FLOWERS, *INSECTS, *PLEASANT, *UNPLEASANT])
    given = {w: ([f"{w}{i:03d}" for i in range(300)], rng.standard_normal((300, 5))) for w in stimuli}
    settings = CeatSettings(30, ["random"], test=TestSettings(n_resamples=40, n_shuffles=0))

    def replicates(vectors: Any) -> np.ndarray:
        tables = measure_ceat({"C1": C1}, vectors, model="m", segment_length="9", settings=settings)
        return np.array(tables.resamples["replicates"][0].as_py())

    ids, of_word = given["বেলি"]
    fewer = given | {"বেলি": (ids[:7] + ids[8:], np.delete(of_word, 7, axis=0))}
    other = {w: (i, rng.standard_normal(v.shape)) for w, (i, v) in given.items()}
    apart = {name: np.abs(replicates(v) - replicates(given)).max() for name, v in (("fewer", fewer), ("other", other))}
    assert apart["fewer"] < 0.1 * apart["other"]


def test_a_rare_word_makes_no_interval_wide() -> None:
    rng = np.random.default_rng(12)
    sides = [[f"{side}{i}" for i in range(8)] for side in "xyab"]
    given = {
        w: ([f"{w}{i}" for i in range(300)], rng.standard_normal(6) + 0.7 * rng.standard_normal((300, 6)))
        for side in sides
        for w in side
    }
    category = {**C1, "targets": [word_set("x", sides[0]), word_set("y", sides[1])]}
    category["attributes"] = [word_set("a", sides[2]), word_set("b", sides[3])]
    settings = CeatSettings(200, ["random"], test=TestSettings(n_resamples=400, n_shuffles=0))

    def width(vectors: Any) -> float:
        (found,) = rows(measure_ceat({"C1": category}, vectors, model="m", segment_length="9", settings=settings))
        return float(found["ci_high"] - found["ci_low"])

    rare = given | {"b3": (given["b3"][0][:4], given["b3"][1][:4])}
    assert width(rare) == pytest.approx(width(given), rel=0.15)


def test_occurrences_that_stand_twice_are_refused() -> None:
    given = vectors()
    given["বেলি"] = (["s1", "s1"], np.ones((2, 5)))
    with pytest.raises(InputError, match="m, segment length 9, বেলি: 2 vectors of 1 occurrences"):
        row(vectors=given)


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
    lazy = measure_ceat({"C1": C1}, given, model="m", segment_length="9", settings=SETTINGS)
    assert 0 < given.most <= 3 < len(given)
    plain = measure_ceat({"C1": C1}, vectors(), model="m", segment_length="9", settings=SETTINGS)
    assert [table.to_pylist() for table in lazy] == [table.to_pylist() for table in plain]


def test_convergence_ends_at_the_estimate() -> None:
    tables = measure_ceat(
        {"C1": C1}, vectors(), model="m", segment_length="9", settings=CeatSettings(300, ["random"], test=SETTINGS.test)
    )
    steps = tables.convergence.to_pylist()
    assert [step["n"] for step in steps] == [100, 200, 300]
    (estimate,) = rows(tables)
    assert steps[-1]["effect_size"] == estimate["effect_size"]
    assert steps[-1]["standard_error"] == estimate["standard_error"]


def test_the_smaller_numbers_of_draws_are_the_first_of_the_larger() -> None:
    def measured(n_samples: int | list[int]) -> CeatTables:
        settings = CeatSettings(n_samples, draws="with-replacement", test=SETTINGS.test)
        return measure_ceat({"C1": C1}, vectors(), model="m", segment_length="9", settings=settings)

    several, most = measured([130, 300, 70]), measured(300)
    # the estimates are those of the largest, to the bit
    assert several.estimates.equals(most.estimates)
    assert {step["n"] for step in several.convergence.to_pylist()} == {70, 100, 130, 200, 300}
    estimates, convergence = map(pl.from_arrow, (several.estimates, several.convergence))
    both = with_fewer_draws(estimates, convergence, [130, 300, 70])
    assert both.schema == estimates.schema
    assert both.select("sample_mode", "n_samples").rows() == [
        *(("fixed", 300), ("random", 300), ("fixed", 70), ("fixed", 130), ("random", 70), ("random", 130)),
    ]
    # a row of 130 draws is what a run of 130 draws gives
    alone = pl.from_arrow(measured(130).estimates)
    part = both.filter(n_samples=130)
    apart = (
        *("tau2", "q", "i2", "contexts_enough", "draws_settled", "leave_out_low", "leave_out_high"),
        *("difference", "difference_centered", "difference_standardized", "effect_centered", "effect_standardized"),
        *("p_equivalence", "equivalent_within", "twin_difference", "p_twins"),
    )
    for name in set(estimates.columns) - set(apart):
        for found, expected in zip(part[name].to_list(), alone[name].to_list(), strict=True):
            wanted = pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected
            assert found == wanted, name
    assert part.select(apart).null_count().row(0) == (2,) * len(apart)
    assert with_fewer_draws(estimates, convergence, 300).equals(estimates)


def test_the_package_is_light_to_import() -> None:
    heavy = "{'torch', 'transformers', 'matplotlib', 'scipy'}"
    code = f"import sys, prasanga.associations; assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    source = str(Path(prasanga.__file__).parents[1])
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": source})
