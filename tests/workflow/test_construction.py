"""Pairs made by people with the workflow's sheets, which go out, are filled in and come back.

The models are a few random weights, so what they propose is nonsense; what becomes of it is what is looked at.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
import yaml
from small_study import CONFIGS, SMALL, Study, copy_code
from tiny_models import build

from prasanga.pairs import read_pairs

pytestmark = pytest.mark.workflow

ANNOTATORS = ("annotator-1", "annotator-2", "annotator-3")
PAIRS = """\
pair_id,language,bias_type,label,first,second
1,en,age,stereo,The old clock is slow.,The new clock is slow.
2,en,age,antistereo,The new bell is loud.,The old bell is loud.
3,en,appearance,stereo,A tall flower is seen.,A small flower is seen.
"""
ELSEWHERE = """\
pair_id,sentence,translation,engine
1,second,नई घड़ी धीमी है।,google
1,first,पुरानी घड़ी धीमी है।,google
"""
VOTES = {  # of three annotators
    ("brahmin", "learned", "positive"): (1, 1, 1),
    ("kshatriya", "brave", "positive"): (1, 0, 1),
    ("dalit", "patient", "positive"): (0, 0, 0),
}
CONFIG = {**SMALL, **CONFIGS["construction"]}
OUT = "results/construction"


@pytest.fixture(scope="module")
def handed_out(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """The study after the sheets were written."""
    study = copy_code(project_root, tmp_path_factory.mktemp("construction") / "tree", link_source=True)
    (study.root / "config.yaml").write_text(yaml.safe_dump({**study.config, **CONFIG}), encoding="utf-8")
    (study.root / "clocks.csv").write_text(PAIRS, encoding="utf-8")
    (study.root / "elsewhere.csv").write_text(ELSEWHERE, encoding="utf-8")
    identities = yaml.safe_load((study.root / "resources/construction/en/identities.yaml").read_text(encoding="utf-8"))
    only = {"language": "en", "axes": {"caste": identities["axes"]["caste"]}}
    (study.root / "identities.yaml").write_text(yaml.safe_dump(only), encoding="utf-8")
    lines = ["axis,identity,attribute,polarity", *(f"caste,{','.join(each)}" for each in VOTES)]
    (study.root / "tuples.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    build("gpt2", study.root / "models/writes", positions=1024)
    build("mbart", study.root / "models/translates")
    study.run("write_annotation_sheets", "propose_attributes", "adapt_pairs", "translate_pairs", "shared_pieces")
    yield study
    shutil.rmtree(study.root)


def rows(study: Study, path: str) -> list[dict[str, str]]:
    with (study.root / path).open(encoding="utf-8-sig", newline="") as file:  # some begin with a mark for Excel
        return list(csv.DictReader(file))


def fill_in(study: Study, path: str, into: str, key: str, answers: Mapping[str, Mapping[str, str]]) -> None:
    """The sheet at `path` with `answers` to its rows, where sheets that came back lie."""
    sheet = [{**row, **answers[row[key]]} for row in rows(study, path)]
    target = study.root / into
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)


def test_a_study_that_asks_for_nothing_has_no_rules_of_construction(finished: Study) -> None:
    listed = finished.run("--list-rules").split()
    assert "write_page" in listed
    assert not {"build_pairs", "adapt_pairs", "find_shared_pieces"} & set(listed)
    named = finished.snakemake("--dry-run", "propose_attributes")
    assert named.returncode != 0
    assert "construction.proposer names None. Write decoders of `models` there" in named.stdout + named.stderr


def test_what_is_handed_out(handed_out: Study) -> None:
    for annotator in ANNOTATORS:
        sheet = rows(handed_out, f"{OUT}/sheets/{annotator}.csv")
        assert {(row["identity"], row["attribute"], row["vote"]) for row in sheet} == {
            (identity, attribute, "") for identity, attribute, _ in VOTES
        }
        translations = rows(handed_out, f"{OUT}/clocks/translation/hi/sheets/{annotator}.csv")
        assert [row["pair_id"] for row in translations] == ["1", "2", "3"]
        assert not {"translates", "google"} & set(str(translations).split("'"))
        assert "पुरानी घड़ी धीमी है।" in (translations[0]["A_first"], translations[0]["B_first"])
    key = rows(handed_out, f"{OUT}/clocks/translation/hi/key.csv")
    assert [
        (row["pair_id"], row["engines"]) for row in sorted(key, key=lambda row: (row["pair_id"], row["engines"]))
    ] == [
        *(("1", "google"), ("1", "translates"), ("2", "translates"), ("3", "translates")),
    ]
    assert [row["differs"] for row in rows(handed_out, f"{OUT}/clocks/adaptation/sheet.csv")] == [
        "old / new", "new / old", "tall / small",
    ]  # fmt: skip
    counts = rows(handed_out, f"{OUT}/shared_pieces_counts.csv")
    assert {(row["set"], row["model"]) for row in counts} == {("clocks", model) for model in ("translates", "writes")}
    proposed, lost = (rows(handed_out, f"{OUT}/attributes{end}.csv") for end in ("", "_lost"))
    assert {row["reason"] for row in lost} <= {
        "no-item", "too-long", "no-word", "other-script", "identity", "repeated", "beyond-count",
    }  # fmt: skip
    assert len(proposed) + len(lost) > 0


def test_what_comes_back_becomes_pairs(handed_out: Study, tmp_path: Path) -> None:
    study = handed_out.copy(tmp_path / "study")
    for number, annotator in enumerate(ANNOTATORS):
        votes = {attribute: {"vote": str(votes[number])} for (_, attribute, _), votes in VOTES.items()}
        fill_in(study, f"{OUT}/sheets/{annotator}.csv", f"annotations/tuples/{annotator}.csv", "attribute", votes)
        own = {"choice": "own", "own_first": "पुरानी घड़ी धीमी है।", "own_second": "नई घड़ी धीमी है।"}
        choices = {"1": own, "2": {"choice": "none"}, "3": {"choice": "A" if number else "none"}}
        sheet, returned = (f"clocks/translation/hi/{folder}{annotator}.csv" for folder in ("sheets/", ""))
        fill_in(study, f"{OUT}/{sheet}", f"annotations/{returned}", "pair_id", choices)
    shutil.copyfile(
        study.root / f"{OUT}/clocks/translation/hi/key.csv", study.root / "annotations/clocks/translation/hi/key.csv"
    )
    decisions = {
        "1": {"decision": "keep"},
        "2": {"decision": "remove", "concern": "no-stereotype"},
        "3": {"decision": "modify", "concern": "grammar", "modified_first": "A tall flower stands out."}
        | {"modified_second": "A small flower stands out."},
    }
    fill_in(study, f"{OUT}/clocks/adaptation/sheet.csv", "annotations/clocks/adaptation.csv", "pair_id", decisions)
    reviewed = "sentence_id,tuple_id,identity,attribute,label,sentence,accepted\n"
    (study.root / "annotations/sentences.csv").write_text(reviewed, encoding="utf-8")

    study.run("score_annotations", "propose_sentences", "build_pairs", "read_adaptation", "choose_translations")

    tuples = {row["attribute"]: int(row["score"]) for row in rows(study, f"{OUT}/tuples.csv")}
    assert tuples == {"learned": 3, "brave": 2, "patient": 0}
    kept = {row["tuple_id"] for row in rows(study, f"{OUT}/tuples.csv") if row["attribute"] != "patient"}
    asked = {row["tuple_id"] for row in rows(study, f"{OUT}/sentences.csv")}
    asked |= {row["asked_for"] for row in rows(study, f"{OUT}/sentences_lost.csv")}
    assert asked == kept  # with two votes
    # Fleiss (1971): observed agreement (1 + 1/3 + 1) / 3, expected (5/9)^2 + (4/9)^2
    overall = next(row for row in rows(study, f"{OUT}/agreement.csv") if row["n_tuples"] == "3")
    observed, expected = 7 / 9, 41 / 81
    assert float(overall["kappa"]) == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)

    built = read_pairs(study.root / OUT / "pairs.csv")
    assert set(built["first"].str.extract("(learned|brave|patient)", 1)) == {"learned", "brave"}
    assert built.select(pl.col("first").str.contains("Brahmin|Kshatriya").all()).item()

    adapted = read_pairs(study.root / OUT / "clocks/adaptation/pairs.csv")
    assert adapted.select("pair_id", "first").rows() == [
        ("1", "The old clock is slow."), ("3", "A tall flower stands out."),
    ]  # fmt: skip
    translated = {row["pair_id"]: row["status"] for row in rows(study, f"{OUT}/clocks/translation/hi/report.csv")}
    assert translated["1"] == "chosen"
    assert translated["2"] == "nothing-fits"
    assert ("1", "hi", "पुरानी घड़ी धीमी है।") in read_pairs(study.root / OUT / "clocks/translation/hi/pairs.csv").select(
        "pair_id", "language", "first"
    ).rows()
