"""What pages say of conventions, tests and data is what the program does: read from the code, or computed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from doc_pages import ROOT, pages, read

from prasanga.associations import ceat, seat, weat
from prasanga.associations.effects import measure_weat
from prasanga.associations.estimates import TestSettings
from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.methods import FAMILY
from prasanga.pairs import read_pairs
from prasanga.schema import describe_losses
from prasanga.text import normalizer


def values(config: dict[str, Any]) -> dict[str, str]:
    """The conventions of a config by key, each as a page writes it; those of its first model stand for all."""
    config["models"] = {"<name>": next(iter(config["models"].values()))}

    def walk(part: dict[str, Any], place: str) -> dict[str, str]:
        found = {}
        for key, value in part.items():
            found |= walk(value, f"{place}{key}.") if isinstance(value, dict) else {f"{place}{key}": str(value)}
        return found

    return walk(config, "")


def of_study(name: str) -> dict[str, str]:
    return values(complete(yaml.safe_load(read(f"config/{name}.yaml"))))


def of_preset(name: str) -> dict[str, str]:
    return values(complete({"preset": name, "models": {"mine": {"path": "m"}}}))


def changed_by_the_preset() -> set[str]:
    ours, papers = of_preset("recommended"), of_preset("paper")
    return {key for key in ours if ours[key] != papers[key]} - {"preset"}


def test_what_is_said_to_come_closer_to_the_paper_is_set_by_the_preset() -> None:
    page = read("docs/published.md")
    said = re.search(r"`preset: paper` does the\s+same: it sets(.*?)of each model", page, re.DOTALL)
    assert said is not None
    named = dict(re.findall(r"`([\w.]+): ([\w-]+)`", said[1]))
    assert set(named) == {"sentences.match", "sentences.before", "sentences.after", "samples.window", "pieces"}
    papers = of_preset("paper")
    papers["pieces"] = papers["models.<name>.pieces"]
    assert named == {key: papers[key] for key in named}


def test_the_table_of_the_papers_configs_has_their_values() -> None:
    page = read("docs/statistics.md").partition("## The configs of the papers")[2].partition("\n## ")[0]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    presets = {name: of_preset(name) for name in ("recommended", "paper")}
    assert {row[0]: row[1:] for row in rows[2:]} == {
        key: [presets["recommended"][key], presets["paper"][key]] for key in changed_by_the_preset()
    }
    studies = {path.stem for path in (ROOT / "config").glob("sa*.yaml")}
    assert all(f"`{name}`" in page for name in studies)
    apart = {
        name: {key for key in changed_by_the_preset() if of_study(name)[key] != presets["paper"][key]}
        for name in studies
    }
    assert {name: keys for name, keys in apart.items() if keys} == {"sadhu2024": {"seat.unit"}}


@pytest.mark.parametrize("page", [page for page in pages() if "corrected" in read(page) or "family" in read(page)])
def test_where_methods_of_the_family_are_named_all_are(page: str) -> None:
    labels = [method.label.lower() for method in FAMILY]
    for sentence in re.split(r"(?<=[.:])\s|\n\n|\n\| |\n- ", read(page)):
        told = " ".join(sentence.lower().split())
        if re.search(r"\bfamily\b|_holm\b|holm's|n_tests", told) and all(
            re.search(rf"\b{m}\b", told) for m in labels[:3]
        ):
            assert labels[3].removesuffix(" bias") in told, sentence


@pytest.mark.parametrize("page", ["docs/statistics.md", "docs/methods.md"])
def test_the_family_is_named(page: str) -> None:
    assert "CEAT, SEAT, WEAT and log-probability bias" in " ".join(read(page).split())


def rejected(n_studies: int, shift: float) -> tuple[float, float]:
    """Shares of studies with p of the targets, and of both sides, up to .05; X and Y alone differ in a direction."""
    rng = np.random.default_rng(1)
    small = np.zeros(2)
    for _ in range(n_studies):
        direction = rng.normal(size=30)
        direction *= shift * 30**0.5 / 2 / np.linalg.norm(direction)
        X, Y, A, B = (rng.normal(size=(10, 30)) + k * direction for k in (1, -1, 0, 0))
        result = weat(X, Y, A, B)
        small += np.array([result.test.p_value, result.p_association]) <= 0.05
    of_targets, of_both = small / n_studies
    return float(of_targets), float(of_both)


def test_p_association_keeps_its_level_where_p_stimuli_does_not() -> None:
    assert "`p_association` rejects in at most 6% of studies where nothing differs" in read("docs/simulations.md")
    assert max(rejected(300, 0)) <= 0.08
    of_targets, of_both = rejected(200, 1)
    assert of_targets == pytest.approx(0.45, abs=0.07)
    assert of_both <= 0.08


def test_zero_vectors_stop_ceat_and_seat_and_are_dropped_by_weat() -> None:
    page = " ".join(read("docs/statistics.md").split())
    assert "WEAT leaves such a word out" in page
    rng = np.random.default_rng(2)
    words = {name: rng.normal(size=(3, 5)) for name in ("x1", "x2", "x3", "y1", "y2", "a", "b")}
    words["x3"][1] = 0
    sets = (["x1", "x2", "x3"], ["y1", "y2"]), (["a"], ["b"])
    with pytest.raises(InputError, match="zero vector"):
        ceat(words, *sets, n_samples=10, rng=1)
    with pytest.raises(InputError, match="zero vector"):
        seat(*([words[word] for word in side] for pair in sets for side in pair), rng=1)
    targets, attributes = ([{"name": side[0][0], "stimuli": side} for side in pair] for pair in sets)
    vectors = {word: each[1] for word, each in words.items()}
    settings = TestSettings(n_resamples=50, n_shuffles=10, n_permutations=100)
    layout = {"title": "", "targets": targets, "attributes": attributes}
    table, _ = measure_weat({"C": layout}, vectors, {}, name="v", settings=settings, seed=1)
    assert [describe_losses(lost) for lost in table["lost"].to_pylist()] == ["x3: zero vector"]
    assert table["n_x"].to_pylist() == [2]


def test_the_papers_pairs_are_scored_as_the_file_has_them() -> None:
    config = complete(yaml.safe_load(read("config/sahoo2024.yaml")))
    languages = config["pairs"]["sets"]["indibias"]["languages"]
    assert {config["normalization"][language] for language in languages} == {"none"}
    assert "`normalization: {hi: none, en: none}`" in " ".join(read("docs/pairs.md").split())


def test_the_default_normalization_changes_as_many_sentences_of_indibias_as_is_said(shared: Path) -> None:
    page = " ".join(read("docs/pairs.md").split())
    defaults = complete({"models": {"mine": {"path": "m"}}})["normalization"]
    found = {}
    for language in ("hi", "en"):
        pairs = read_pairs(shared / "reference/indibias/IndiBias_v1_sample.csv", language)
        as_scored, encoded = normalizer(defaults[language]), normalizer("nfkc")
        sides = []
        for plain in (encoded, list):
            first, second = (
                [one != other for one, other in zip(plain(texts), as_scored(texts), strict=True)]
                for texts in (pairs["first"].to_list(), pairs["second"].to_list())
            )
            one_alone = sum(a != b for a, b in zip(first, second, strict=True))
            sides.append((sum(first) + sum(second), one_alone))
        found[language] = sides
    (nukta, nukta_alone), (all_in_all, alone) = found["hi"]
    assert f"{all_in_all} of the 1,122 Hindi sentences" in page
    assert (
        f"(in {alone} pairs only one of the two). Of these, {nukta} lose a nukta"
        f" (in {nukta_alone} pairs only one of the two)" in page
    )
    assert found["en"] == [(0, 0), (0, 0)]


def test_the_trust_boundary_names_tests_that_there_are_and_all_of_them() -> None:
    named = re.findall(r"`(test_\w+\.py)` \|$", read("docs/trust.md"), re.MULTILINE)
    assert set(named) == {path.name for path in (ROOT / "tests/hostile").glob("test_*.py")}


def test_a_twin_reads_as_many_contexts_as_were_found_to_be_enough() -> None:
    page, measured = read("docs/simulations.md"), json.loads(read("docs/measured/twins_of_texts.json"))["results"]
    rows = re.findall(r"^\| (\d+) \| (\.\d{3}) \| ([\d.]+)% \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for n, spread, wider in rows:
        row = measured["contexts"][n]
        assert float(spread) == pytest.approx(row["contexts"], abs=6e-4)
        assert float(wider) == pytest.approx(100 * row["wider"], abs=0.6)
    most = complete({})["associations"]["contexts_per_twin"]
    assert f"reads at most {most} contexts of a word" in page
    assert measured["contexts"][str(most)]["wider"] < 0.02


def test_what_four_bits_do_is_what_was_measured() -> None:
    page, measured = read("docs/my_model.md"), json.loads(read("docs/measured/quantization.json"))["results"]
    studies = {
        (name.partition("/")[2], language): study for name, of in measured.items() for language, study in of.items()
    }
    for model, language, named in (
        ("all-MiniLM-L6-v2", "en", "from full precision"),
        ("multilingual-e5-small", "bn", "once more, Bangla"),
        ("multilingual-e5-small", "hi", "once more, Hindi"),
    ):
        row = studies[model, language]["by_bits"]["4"]
        numbers = f"{row['error']:.1%} | {row['cosine']:.3f} | {row['mean']:.2f} | {row['most']:.2f}"
        assert re.search(rf"\| {model},? {named} \| {re.escape(numbers)} \|", page)
        effects = studies[model, language]["effects"]
        assert all(effects[name] * row["effects"][name] > 0 for name in effects), "no effect changed its sign"
    assert max(round(study["by_bits"]["8"]["most"], 2) for study in studies.values()) == 0.02


def list_rows(section: str) -> list[list[str]]:
    """The rows of a table of docs/measured/simulations.md."""
    part = read("docs/measured/simulations.md").partition(f"\n## {section}")[2].partition("\n## ")[0]
    return [line.strip("| ").split(" | ") for line in part.splitlines() if line[:1] == "|"][2:]


def test_what_is_said_of_the_simulated_strength_is_in_its_tables() -> None:
    page = read("docs/simulations.md").partition("\n## Detectable bias")[2].partition("\n## ")[0]
    vectors, terms = list_rows("Strength of bias, vectors"), list_rows("Strength of bias, log")
    cut = [(row[0], row[1], *row[3:6], row[6:]) for row in vectors if row[2] == "0.05"]
    cut += [(row[0], row[3], *row[4:7], row[7:]) for row in terms]
    shares = [tuple(float(cell) for cell in row[2:5]) for row in cut]
    false = [max(float(cell) for cell in row[5] if cell != "-") for row in cut]
    shown = [line.strip("| ").split(" | ")[1:] for line in page.splitlines() if re.match(r"\| (?:vec|log)", line)]
    assert len(shown) == 6
    for words, copies, *numbers in shown:
        known = zip(cut, shares, false, strict=True)
        assert [float(n) for n in numbers] in [[*s, f] for row, s, f in known if row[:2] == (words, copies)]
    found, others = ([each[place] for each in shares] for place in (1, 2))
    said = " ".join(page.split()).replace(" .", " 0.")
    assert f"in {min(found):.3f} to {max(found):.3f} of relabelings" in said
    assert f"false alarms is {max(false):.3f}." in said
    assert max(false) <= 0.07
    assert f"it is found in {min(others):.3f} to {max(others):.3f}." in said
    assert 0.75 <= min(found) <= max(found) <= 0.85


def test_what_is_said_of_intervals_is_in_their_tables() -> None:
    page = read("docs/simulations.md")
    rows = list_rows("Coverage of intervals")
    for name, units, sizes in (
        ("independent words", "words", (8, 13, 25)),
        ("clusters of two, declared", "twos", (16, 26, 50)),
        ("matched pairs", "pairs", (8, 13, 25)),
    ):
        of_size = [[float(row[4]) for row in rows if row[:2] == [units, str(size)]] for size in sizes]
        cells = [f"{min(covered):.1f} to {max(covered):.1f}%" for covered in of_size]
        assert f"| {name} | {' | '.join(cells)} |" in page
    paired = [float(row[4]) for row in list_rows("Paired differences")]
    assert f"covered in {min(paired):.1f} to {max(paired):.1f}%" in page
    slopes = [float(row[3]) for row in list_rows("Slopes") if row[0].startswith("none")]
    assert f"significant in at most {max(slopes):.1%} of studies" in page


def test_what_is_said_of_tests_templates_and_slopes_is_in_their_tables() -> None:
    page = " ".join(read("docs/simulations.md").split())
    permuted = [row for row in list_rows("What is permuted") if "of 1,000 draws" not in row[0]]
    for words, column in (("8 and 8", 1), ("25 and 25", 2)):
        levels = [row[-3] for row in permuted if words in row[:2]]
        part = read("docs/simulations.md").partition("## What is permuted")[2].partition("\n## ")[0]
        cells = [re.split(r" *\| *", line.strip("| "))[column:] for line in part.splitlines() if line[:2] == "| "]
        assert [row[0] for row in cells[2:] if row and row[0]] == levels
    slopes = [row[:1] + row[2:] for row in list_rows("Slopes")]
    for truth, said in (
        ("none changes, 0.5 apart", "none, sets 0.5 apart"),
        ("changes by 0.1 per", "0.1 per doubling"),
    ):
        for words, *shares in re.findall(rf"\| {said} \| [\w ]+ \| (\d+) \| (\S+) \| (\S+) \|", page):
            assert [words, *shares] in [row[1:] for row in slopes if row[0].startswith(truth)]
    primary = {row[0]: row[1:] for row in list_rows("Primary estimates")}
    ours, others = primary["13, primary"], primary["13, any length"]
    assert f"a weak effect in {ours[3]} of studies instead of {others[3]}" in page
    assert f"a middle one in {ours[4]} instead of {others[4]}" in page
    few, many = (
        [row[column] for row in list_rows("Intervals over words and") if row[:2] == ["0.6", "25"]] for column in (3, 5)
    )
    assert f"covers {few[0]}% with 4 templates and {few[1]}% with 8" in page
    assert f"words and templates covers {many[0]}% and {many[1]}%" in page


def test_what_the_first_study_shows_of_the_demo_is_in_its_summary() -> None:
    page = read("docs/first_study.md")
    seat = json.loads(read("docs/examples/demo.json"))["methods"]["seat"]
    known = {row["category"]: row for row in seat["estimates"]}
    shown = re.findall(r"^(C\d) .*?  +([+-][\d.]+) +(\S+) to (\S+) +(< )?(\.\d+) +(yes|no)$", page, re.MULTILINE)
    assert [row[0] for row in shown] == sorted(known, key=lambda name: -abs(known[name]["effect_size"]))
    for category, effect, low, high, below, p, _ in shown:
        row = known[category]
        assert (effect, low, high) == tuple(f"{row[name]:+.2f}" for name in ("effect_size", "ci_low", "ci_high"))
        p_value = row["p_association_holm"]
        assert p_value < 0.001 if below else float(p) == pytest.approx(p_value, abs=6e-4)
    assert [row[-1] for row in shown].count("yes") == seat["n_found"]
