"""Log-probability bias of categories: planted preferences, the formula worked by hand, and what is left out."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.compute as pc
import pytest
from planted_scorer import PlantedScorer
from tables import read_text

from prasanga.associations import TestSettings
from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.lexicon import Lexicon
from prasanga.lexicon.model import Stimulus
from prasanga.lexicon.notebook import take_words
from prasanga.likelihoods.categories import CategoryTables, TermScores, measure_categories, read_category_sentences
from prasanga.likelihoods.scoring import score_sentences
from prasanga.plan import WordsPlan
from prasanga.schema import describe_losses
from prasanga.stats.crossed import leave_one_out
from prasanga.stats.intervals import draw_resampling
from prasanga.stats.permutation import Units

SETS = {
    "he": ["king", "prince", "duke", "lord"],
    "she": ["queen", "princess", "duchess", "lady"],
    "work": ["office", "salary", "career"],
    "home": ["family", "garden", "kitchen"],
}


def category(sets: Mapping[str, list[str]]) -> dict[str, Any]:
    """The layout of a category of men and women, work and home."""
    sides = (("targets", ("he", "she")), ("attributes", ("work", "home")))
    named = {role: [{"name": name, "stimuli": sets[name]} for name in names] for role, names in sides}
    return {"C5": {"title": "", **named}}


FILE = read_text(__file__, "english_templates.yaml")
WORDS = [*itertools.chain(*SETS.values()), "sees", "the", "of", "has", "."]
QUICK = TestSettings(n_resamples=0, n_shuffles=0)
Table = list[dict[str, Any]]


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    path = tmp_path / "log_probability.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def measure(templates: Path) -> Callable[..., CategoryTables]:
    def run(
        scorer: PlantedScorer,
        settings: TestSettings = QUICK,
        *,
        sets: Mapping[str, list[str]] = SETS,
        templates: Path = templates,
        keep: pl.Expr | bool = True,
        twin: pl.Expr | None = None,
        **more: Any,
    ) -> CategoryTables:
        known = Lexicon("bn", tuple(map(Stimulus, {*itertools.chain(*sets.values())})), {}, ())
        asked = {"templates": templates, "exchanged": more.get("exchanged", ())}
        sentences = read_category_sentences(asked, category(sets), known).filter(keep)
        scored = score_sentences(scorer, sentences, pieces=more.get("pieces", "all"))
        scored = scored if twin is None else scored.with_columns(twin=twin)
        return measure_categories(scored, category(sets), model="m", settings=settings, **more)

    return run


def preference(strength: float, words: list[str] = WORDS) -> PlantedScorer:
    """A man is likelier beside work, a woman beside home; each word a little more or less, that scores may differ."""
    numbers = {word: number for number, word in enumerate(WORDS)}

    def log_p(target: str, in_sight: set[str]) -> float:
        prior = -3.0 - 0.3 * numbers[target]
        seen = [word for word in in_sight if word in {*SETS["work"], *SETS["home"]}]
        if not seen:
            return prior
        sign = 1 if (seen[0] in SETS["work"]) == (target in SETS["he"]) else -1
        wobble = 0.1 * math.sin(7 * numbers[target] + 3 * numbers[seen[0]] + len(in_sight & {"of"}))
        return prior + sign * strength + wobble

    return PlantedScorer(words, log_p)


def rows(table: Any) -> Table:
    return list(pl.from_arrow(table).iter_rows(named=True))  # type: ignore[union-attr]


def by_hand(scorer: PlantedScorer, aggregation: str) -> dict[tuple[str, str], float]:
    """s of each sentence, from the formula of the paper, one word at a time."""
    found = {}
    for attribute, template in itertools.product([*SETS["work"], *SETS["home"]], ("sees", "of")):
        beside = {"sees", "."} if template == "sees" else {"the", "of", "."}
        scores = []
        for side in ("he", "she"):
            fill = [scorer._log_p(target, {*beside, attribute}) for target in SETS[side]]
            prior = [scorer._log_p(target, beside) for target in SETS[side]]
            if aggregation == "mean":
                scores.append(sum(f - p for f, p in zip(fill, prior, strict=True)) / len(fill))
            else:
                scores.append(math.log(sum(map(math.exp, fill))) - math.log(sum(map(math.exp, prior))))
        found[attribute, template] = scores[0] - scores[1]
    return found


@pytest.mark.parametrize("aggregation", ["log-sum-exp", "mean"])
def test_the_effect_is_that_of_the_formula(aggregation: str, measure: Callable[..., CategoryTables]) -> None:
    scorer = preference(0.05)
    tables = measure(scorer, aggregation=aggregation)
    wanted = by_hand(scorer, aggregation)
    sentences = {(row["attribute"], row["template"]): row["score"] for row in rows(tables.sentences)}
    assert sentences == pytest.approx(wanted)
    values = np.array(list(wanted.values()))
    (estimate,) = rows(tables.estimates)
    assert estimate["effect_size"] == pytest.approx((values[:6].mean() - values[6:].mean()) / values.std(ddof=1))
    means = values.reshape(6, 2).mean(axis=1)
    observed = abs(means[:3].mean() - means[3:].mean())
    splits = [
        sum(means[list(c)]) / 3 - (means.sum() - sum(means[list(c)])) / 3 for c in itertools.combinations(range(6), 3)
    ]
    assert estimate["p_stimuli"] == pytest.approx(np.mean([abs(split) >= observed - 1e-12 for split in splits]))
    assert (estimate["n_partitions"], estimate["p_stimuli_exact"]) == (20, True)
    assert estimate["p_sentences"] < estimate["p_stimuli"]
    assert (estimate["n_attribute_partitions"], estimate["p_attributes_exact"]) == (70, True)
    assert estimate["p_association"] == max(estimate["p_stimuli"], estimate["p_attributes"])
    assert [estimate[f"n_{side}"] for side in "xyab"] == [4, 4, 3, 3]
    assert (estimate["n_sentences_a"], estimate["n_sentences_b"], estimate["n_templates"]) == (6, 6, 2)
    assert (estimate["aggregation"], estimate["pieces"], estimate["exchanged"]) == (aggregation, "all", False)


def test_a_model_without_preferences_has_no_effect_size(measure: Callable[..., CategoryTables]) -> None:
    tables = measure(PlantedScorer(WORDS, lambda target, _: -float(len(target))))
    (estimate,) = rows(tables.estimates)
    assert estimate["effect_size"] is None
    assert (
        describe_losses(estimate["lost"])
        == "not computed: all sentences have the same score, so that there is no effect size"
    )
    assert not rows(tables.words)
    assert {row["score"] for row in rows(tables.sentences)} == {0.0}


def test_exchanged_categories_change_sides(measure: Callable[..., CategoryTables]) -> None:
    reverse = PlantedScorer(
        WORDS,
        lambda target, seen: (
            -3.0 + (1.0 + 0.01 * len(target)) * ((target in SETS["work"]) == bool(seen & {*SETS["he"]}))
        ),
    )
    (found,) = rows(measure(reverse, exchanged=["C5"]).estimates)
    assert (found["target_x"], found["target_y"], found["attribute_a"], found["attribute_b"]) == (
        "work",
        "home",
        "he",
        "she",
    )
    assert found["exchanged"] is True
    assert found["n_templates"] == 1
    assert found["effect_size"] > 1.8


def test_words_have_their_own_roles(measure: Callable[..., CategoryTables]) -> None:
    scorer = preference(0.5)
    tables = measure(scorer)
    found = {(row["role"], row["stimulus"]): row for row in rows(tables.words)}
    assert {role for role, _ in found} == set("xyab")
    scores = by_hand(scorer, "log-sum-exp")
    office = found["a", "office"]
    assert office["association"] == pytest.approx((scores["office", "sees"] + scores["office", "of"]) / 2)
    assert (office["set"], office["n_items"]) == ("work", 2)
    assert found["x", "king"]["association"] == pytest.approx(1.0, abs=0.2)  # +.5 beside work, -.5 beside home
    assert found["y", "queen"]["association"] == pytest.approx(-1.0, abs=0.2)
    (estimate,) = rows(tables.estimates)
    without = [row["effect_without"] for row in found.values()]
    assert (estimate["leave_out_low"], estimate["leave_out_high"]) == (min(without), max(without))


@pytest.mark.parametrize("aggregation", ["log-sum-exp", "mean"])
def test_leaving_a_word_out_is_measuring_without_it(aggregation: str, measure: Callable[..., CategoryTables]) -> None:
    words = rows(measure(preference(0.1), aggregation=aggregation).words)
    for name in ("he", "home"):
        gone = SETS[name][1]
        less = {**SETS, name: [word for word in SETS[name] if word != gone]}
        (expected,) = rows(measure(preference(0.1), sets=less, aggregation=aggregation).estimates)
        found = next(row["effect_without"] for row in words if row["stimulus"] == gone)
        assert found == pytest.approx(expected["effect_size"])


def test_each_twin_is_measured_on_its_own_templates(measure: Callable[..., CategoryTables]) -> None:
    scorer, of_template = preference(1.0), pl.col("template")
    tables = measure(scorer, twin=(of_template == "of").cast(pl.Int32))
    for twin, name in enumerate(("sees", "of")):
        alone = measure(scorer, keep=of_template == name)
        for found, expected in zip(tables, alone, strict=True):
            assert rows(found.filter(pc.field("twin") == twin)) == [{**row, "twin": twin} for row in rows(expected)]
    assert rows(tables.estimates)[1]["n_templates"] == 1
    (none,) = rows(measure(scorer, keep=False).estimates)
    assert none["effect_size"] is None
    assert "not computed" in describe_losses(none["lost"])


@pytest.mark.parametrize(("pieces", "masked"), [("first", ["night shift", "front garden"]), ("all", [])])
def test_attributes_that_one_mask_stood_for_are_counted(
    pieces: str, masked: list[str], measure: Callable[..., CategoryTables]
) -> None:
    sets = {**SETS, "work": ["office", "night shift", "career"], "home": ["family", "front garden", "kitchen"]}
    scorer = preference(1.0, [*WORDS, "night", "shift", "front"])
    (estimate,) = rows(measure(scorer, sets=sets, pieces=pieces).estimates)
    assert (estimate["n_masked_as_one"], estimate["masked_as_one"]) == (len(masked), ", ".join(masked))
    assert (estimate["n_a"], estimate["n_b"], estimate["pieces"]) == (3, 3, pieces)


def test_words_that_a_model_does_not_know_are_left_out_and_told(measure: Callable[..., CategoryTables]) -> None:
    known = [word for word in WORDS if word not in ("duke", "garden")]
    tables = measure(preference(1.0, known))
    (estimate,) = rows(tables.estimates)
    assert describe_losses(estimate["lost"]) == "duke: unknown-piece; garden: unknown-piece"
    assert [estimate[f"n_{side}"] for side in "xyab"] == [3, 4, 3, 2]
    assert [estimate[f"listed_{side}"] for side in "xyab"] == [4, 4, 3, 3]
    assert estimate["effect_size"] > 1.5
    gone = [row for row in rows(tables.sentences) if row["attribute"] == "garden"]
    assert [(row["score"], row["left_out"]) for row in gone] == [(None, "unknown-piece")] * 2


def test_a_category_with_too_few_words_is_a_row_that_says_so(measure: Callable[..., CategoryTables]) -> None:
    for lost, said in (
        (["garden", "kitchen"], "not computed: home has 1 of 3 words left, and an attribute set needs 2"),
        (SETS["she"], "not computed: she has 0 of 4 words left, and a target set needs 1"),
    ):
        tables = measure(preference(1.0, [word for word in WORDS if word not in lost]))
        (estimate,) = rows(tables.estimates)
        assert estimate["effect_size"] is None
        assert describe_losses(estimate["lost"]).endswith(said)
        assert not rows(tables.words)


def test_sentences_too_long_for_the_model_are_left_out_one_by_one(measure: Callable[..., CategoryTables]) -> None:
    scorer = preference(1.0)
    scorer.max_pieces = 4  # "the ... of ... ." has five pieces
    (estimate,) = rows(measure(scorer).estimates)
    assert (estimate["n_sentences_a"], estimate["n_sentences_b"]) == (3, 3)
    assert "office: 1 of its 2 sentences (too-long)" in describe_losses(estimate["lost"])


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of these cells, with a heading and a command of its own between them."""
    others = [{"cell_type": "markdown", "source": ["# GGG"]}, {"cell_type": "code", "source": ["!pip install x"]}]
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    path.write_text(json.dumps({"cells": [*others, *code]}, ensure_ascii=False), encoding="utf-8")
    return path


def write_test(lists: Mapping[str, Sequence[str]], sentences: Sequence[str]) -> list[str]:
    """The cells of a test: its four lists, and its sentences with each attribute list."""
    x, y, *attributes = lists
    calls = [
        f'pd.DataFrame([bias_score("{each}", [{x}, {y}], w) for w in {a}])' for a in attributes for each in sentences
    ]
    return ["\n".join(f"{name} = {list(words)!r}" for name, words in lists.items()), f"df = [{', '.join(calls)}]"]


MALE_FEMALE = {"male_words": ["ছেলে", "বালক"], "female_words": ["মেয়ে", "বালিকা"]}
CAREER_FAMILY = {"career_words": ["বেতন"], "family_words": ["বিয়ে"]}
MATH_ARTS = {"math_words": ["অঙ্ক"], "art_words": ["নাচ"]}
LAYOUT = {
    "title": "t",
    "matched": "targets",
    **{side: [{"name": name, "stimuli": ["ফুল"]} for name in side[:2]] for side in ("targets", "attributes")},
}


def fill_notebook(path: Path, names: Sequence[str], exchanged: Sequence[str] = ()) -> pl.DataFrame:
    """The sentences of categories by a notebook, with its words."""
    categories = take_words(dict.fromkeys(names, LAYOUT), path, exchanged, None)
    asked = {"templates": path, "exchanged": exchanged}
    return read_category_sentences(asked, categories, Lexicon("bn", (), {}, (), ()))


def test_the_notebook_has_its_own_words_and_sentences(tmp_path: Path) -> None:
    plain = write_test({**MALE_FEMALE, **CAREER_FAMILY}, ["GGG XXX দেখে।", "GGGটি XXXএর কথা বলে।", "GGG XXX দেখে।"])
    as_described = write_test({**MATH_ARTS, **MALE_FEMALE}, ["GGG ও XXXটি।"])
    reverse = write_test({**MALE_FEMALE, **MATH_ARTS}, ["XXX ও GGGরা।"])
    path = write_notebook(tmp_path / "n.ipynb", *plain, *as_described, *reverse)
    filled = fill_notebook(path, ["C5", "C6"], ["C6"])
    assert filled["category"].to_list() == ["C5"] * 16 + ["C6"] * 8
    texts = [(text, text[slice(*target)], text[slice(*attribute)]) for *_, text, target, attribute in filled.rows()]
    assert texts[:2] == [("ছেলে বেতন দেখে।", "ছেলে", "বেতন"), ("বালক বেতন দেখে।", "বালক", "বেতন")]
    assert texts[4] == ("ছেলেটি বেতনএর কথা বলে।", "ছেলেটি", "বেতনএর")
    assert texts[16] == ("অঙ্ক ও ছেলেরা।", "ছেলেরা", "অঙ্ক")
    asked = dict.fromkeys(["C5", "C6", "C9"], LAYOUT)
    taken = take_words(asked, path, ["C6"], None)
    assert [side["name"] for side in taken["C6"]["targets"]] == ["math_words", "art_words"]
    assert [side["stimuli"] for side in taken["C6"]["attributes"]] == [["ছেলে", "বালক"], ["মেয়ে", "বালিকা"]]
    assert "matched" not in taken["C5"]
    assert taken["C9"] == LAYOUT
    assert set(fill_notebook(path, ["C6"])["text"]) >= {"অঙ্ক ও ছেলেটি।", "নাচ ও বালিকাটি।"}


def test_a_study_measures_the_words_of_its_notebook(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_root)
    path = write_notebook(tmp_path / "n.ipynb", *write_test({**MALE_FEMALE, **CAREER_FAMILY}, ["GGG XXX দেখে।"]))
    section = {"categories": ["C5"], "templates": str(path)}
    chosen = WordsPlan.from_config(
        complete({"categories": ["C5"], "log_probability": section}), computed=True, results="results"
    ).chosen
    assert chosen["log_probability"]["C5"]["targets"][0] == {"name": "male_words", "stimuli": ["ছেলে", "বালক"]}
    assert chosen["ceat"]["C5"]["targets"][0]["name"] == "male_terms"


def test_a_notebook_that_cannot_be_used(tmp_path: Path) -> None:
    lists = {**MALE_FEMALE, **CAREER_FAMILY}
    for sentence, said in (
        ("GGG এখানে।", r"n.ipynb \(GGG is \{target\}, .*: the sentence `1` has the slots \{target\}\. Write"),
        ("GGGXXX।", "at least a space between"),
    ):
        path = write_notebook(tmp_path / "n.ipynb", *write_test(lists, [sentence]))
        with pytest.raises(InputError, match=said):
            fill_notebook(path, ["C5"])
    path = write_notebook(
        tmp_path / "n.ipynb", "df = [bias_score('GGG XXX।', [male_words, female_words], w) for w in a]"
    )
    with pytest.raises(InputError, match=r"no sentences for C5 under `categories`.* It has none"):
        fill_notebook(path, ["C5"])


def test_the_words_and_sentences_of_the_authors(shared: Path, tmp_path: Path) -> None:
    listed = shared / "reference/banglacontextualbias/logprob_templates_bn.json"
    if not listed.is_file():
        pytest.skip(f"needs the authors' templates and words: no file {listed}")
    tests = json.loads(listed.read_text(encoding="utf-8"))
    cells = []
    for each in tests:
        targets, attributes = each["filled_word_slot_GGG"], each["filled_word_slot_XXX"]
        cells += write_test({**targets, **attributes}, each["templates"])
    path = write_notebook(tmp_path / "n.ipynb", *cells)
    exchanged = ["C6", "C7", "C8", "C9"]
    names = [f"C{n}" for n in range(1, 10)]
    taken = take_words(dict.fromkeys(names, LAYOUT), path, exchanged, None)
    sizes = {
        name: [len(side["stimuli"]) for role in ("targets", "attributes") for side in taken[name][role]]
        for name in names
    }
    assert sizes == {
        **{
            "C1": [14, 14, 24, 24],
            "C2": [12, 12, 24, 24],
            "C3": [27, 27, 24, 24],
            "C4": [27, 27, 7, 7],
            "C5": [8, 8, 7, 7],
        },
        **{"C6": [11, 11, 8, 8], "C7": [11, 11, 27, 27], "C8": [12, 12, 9, 9], "C9": [12, 12, 27, 27]},
    }
    filled = fill_notebook(path, names, exchanged)
    # sentences by attribute set as the notebook counts them; a word that a list has twice is one here
    counts = filled.group_by("category").agg(pl.struct("template", "attribute_word").n_unique()).rows()
    assert dict(counts) == {"C1": 138, "C2": 138, "C3": 184, "C4": 42, "C5": 42, "C6": 66, "C7": 88, "C8": 72, "C9": 96}


def random_scores(aggregation: str, seed: int = 0, n_terms: int = 18, n_words: int = 20) -> TermScores:
    """10 and 10 words with two sentences each, 9 and 9 terms."""
    rng = np.random.default_rng(seed)
    prior = rng.normal(-6, 1, size=n_terms) + rng.normal(0, 0.1, size=(2 * n_words, n_terms))
    fill = prior + rng.normal(0, 0.5, size=prior.shape)
    words = np.repeat(np.arange(n_words), 2)
    return TermScores(fill, prior, words, n_terms // 2, n_words // 2, n_words // 2, aggregation)


@pytest.mark.parametrize("std", ["union_ddof1", "union_ddof0", "pooled"])
def test_effects_with_words_counted_anew_are_those_of_cosines(std: str) -> None:
    scores = random_scores("mean")
    cosines = scores.crossed_scores()
    words = [[f"{side}{i}" for i in range(n)] for side, n in zip("xyab", (10, 10, 9, 9), strict=True)]
    resampling = draw_resampling(
        words, [Units.from_sizes(10, 10), Units.from_sizes(9, 9)], 1, n_resamples=50, seed=3, category="C"
    )
    counts = resampling.target_counts, resampling.attribute_counts
    assert scores.effects(*counts, std=std) == pytest.approx(cosines.effects(*counts, std=std))
    assert scores.effects(std=std)[0] == pytest.approx(cosines.effect(std))
    assert leave_one_out(scores, std) == pytest.approx(
        cosines.effects(1 - np.eye(38)[:, :20], 1 - np.eye(38)[:, 20:], std=std)
    )


def test_dealt_terms_are_those_of_the_shuffled_control() -> None:
    scores = random_scores("mean")
    cosines = scores.crossed_scores()
    assert scores.shuffled_effects(300, 9) == pytest.approx(cosines.shuffled_effects(300, 9))


@pytest.mark.parametrize("aggregation", ["log-sum-exp", "mean"])
@pytest.mark.parametrize(
    "units",
    [Units.from_sizes(3, 3), Units((0, 0, 1), (0, 1, 1)), Units((0, 1, 2), (0, 1, 2), matched=True)],
    ids=["terms", "clusters", "pairs"],
)
def test_terms_are_dealt_clusters_whole_and_matched_terms_change_places(units: Units, aggregation: str) -> None:
    scores = random_scores(aggregation, n_terms=6)

    def difference(first: tuple[int, ...]) -> float:
        order = [*first, *(term for term in range(6) if term not in first)]
        dealt = TermScores(scores.fill[:, order], scores.prior[:, order], scores.words, len(first), 10, 10, aggregation)
        return float(dealt.sentence_scores[:20].mean() - dealt.sentence_scores[20:].mean())

    if units.matched:
        chosen = list(itertools.product((0, 3), (1, 4), (2, 5)))
    elif units == Units.from_sizes(3, 3):
        chosen = list(itertools.combinations(range(6), 3))
    else:  # two of four clusters
        chosen = [(*one, *other) for one, other in itertools.combinations([(0, 1), (2,), (3,), (4, 5)], 2)]
    found = np.array([difference(first) for first in chosen])
    test = scores.test_terms(units, TestSettings(), np.random.default_rng(1))
    assert (test.exact, test.n_partitions) == (True, len(chosen))
    assert test.p_value == np.mean(np.abs(found) >= abs(difference((0, 1, 2))) * (1 - 1e-9))
    drawn = scores.test_terms(units, TestSettings(n_permutations=5), np.random.default_rng(1))
    assert (drawn.exact, drawn.n_resamples, (drawn.p_value * 6) % 1) == (False, 5, pytest.approx(0, abs=1e-9))
    assert drawn.ci_low < drawn.p_value < drawn.ci_high


def test_a_term_that_counts_twice_has_twice_the_probability() -> None:
    scores = random_scores("log-sum-exp")
    counts = np.ones((1, 18))
    counts[0, 2] = 2
    doubled = TermScores(
        np.insert(scores.fill, 3, scores.fill[:, 2], axis=1),
        np.insert(scores.prior, 3, scores.prior[:, 2], axis=1),
        *(scores.words, 10, 10, 10),
    )
    assert scores.scores_of(counts)[0] == pytest.approx(doubled.sentence_scores)


def test_shares_are_the_slope_of_the_score() -> None:
    """The values give the score itself, and how it moves when a term counts a little more."""
    scores = random_scores("log-sum-exp")
    cosines = scores.crossed_scores()
    assert cosines.item_scores()[0] == pytest.approx(scores.sentence_scores)
    assert cosines.effect() == pytest.approx(scores.effects()[0])
    step = 1e-6
    for term in (0, 13):
        counts = np.ones((1, 18))
        counts[0, term] += step
        slope = (scores.effects(None, counts)[0] - scores.effects()[0]) / step
        linear = (cosines.effects(None, counts)[0] - cosines.effect()) / step
        assert slope == pytest.approx(linear, abs=1e-4)


def test_intervals_and_controls_are_there_with_eight_words_a_set(measure: Callable[..., CategoryTables]) -> None:
    sets = {side: [f"{side}{'abcdefgh'[i]}" for i in range(8)] for side in ("he", "she", "work", "home")}
    rng = np.random.default_rng(2)
    table = {word: rng.normal(size=40) for words in sets.values() for word in words}

    def log_p(target: str, seen: set[str]) -> float:
        beside = next((word for word in seen if word in table), None)
        return -4.0 + (0 if beside is None else float(0.2 * table[target][:20] @ table[beside][:20]))

    scorer = PlantedScorer([*itertools.chain(*sets.values()), "sees", "the", "of", "has", "."], log_p)
    found = {}
    for aggregation in ("log-sum-exp", "mean"):
        settings = TestSettings(n_shuffles=200, n_permutations=1000)
        (row,) = rows(measure(scorer, settings, sets=sets, aggregation=aggregation).estimates)
        assert row["ci_low"] < row["effect_size"] < row["ci_high"], aggregation
        assert row["interval_note"] is None
        assert row["shuffled_low"] < 0 < row["shuffled_high"]
        assert 0 < row["p_shuffled"] <= 1
        found[aggregation] = row
    assert found["mean"]["effect_size"] != found["log-sum-exp"]["effect_size"]


def test_a_note_on_intervals_names_the_sets_of_the_category(measure: Callable[..., CategoryTables]) -> None:
    (estimate,) = rows(measure(preference(1.0), TestSettings(n_resamples=20, n_shuffles=20)).estimates)
    assert estimate["interval_note"].startswith("no interval: the set work has 3 words")
    assert estimate["p_shuffled"] is not None


def test_terms_of_a_tiny_probability_are_added_as_any_others() -> None:
    """Log-sum-exp of -900 and -901 is -900 + log(1 + 1/e): exp(-900) itself is zero."""
    fill = np.array([[-900.0, -901.0, 0.0], [-1.0, -2.0, 0.0]])
    scores = TermScores(fill, np.zeros((2, 3)), np.array([0, 1]), 2, 1, 1)
    added = np.array([-900.0, -1.0]) + math.log1p(math.exp(-1))
    assert scores.set_columns()["fill_x"] == pytest.approx(added)
    assert scores.sentence_scores == pytest.approx(added - math.log(2))
