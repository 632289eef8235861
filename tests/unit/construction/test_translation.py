"""Candidates, sheets and choices of translations."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from tables import read_cases, read_data

from prasanga.base.errors import InputError
from prasanga.pairs import read_pairs
from prasanga_construction.sheets import sheet_text
from prasanga_construction.translation import (
    CANDIDATES,
    check_choices,
    count_engines,
    hide_engines,
    pairs_to_translate,
    read_translations,
    report_translation,
    resolve_choices,
    translated_pairs,
    translation_sheet,
)

PAIRS = pl.DataFrame(
    {
        "pair_id": ["1", "2", "3"],
        "language": ["en"] * 3,
        "bias_type": ["age", "gender", "socioeconomic"],
        "label": ["stereo", "antistereo", "stereo"],
        "first": ["Old people are slow.", "He cooks.", "The poor read."],
        "second": ["Young people are slow.", "She cooks.", "The rich read."],
        "origin": ["written"] * 3,
        "cluster": ["t1", "t1", None],
    }
)
ROWS = read_data(__file__, "translations")
CANDIDATE_TABLE = pl.DataFrame(ROWS, schema=CANDIDATES, orient="row")


def letter_of(key: pl.DataFrame, pair_id: str, engine: str) -> str:
    found = key.filter((pl.col("pair_id") == pair_id) & pl.col("engines").str.contains(engine))
    return str(found["letter"].item())


def filled(blank: pl.DataFrame, cells: dict[str, dict[str, str]]) -> pl.DataFrame:
    return pl.DataFrame([row | cells.get(row["pair_id"], {}) for row in blank.iter_rows(named=True)], blank.schema)


def check(sheet: pl.DataFrame, blank: pl.DataFrame, annotator: str = "a") -> pl.DataFrame:
    with TemporaryDirectory() as folder:
        sheet.write_csv(f"{folder}/sheet.csv")
        return check_choices(f"{folder}/sheet.csv", blank, annotator=annotator)


@pytest.fixture
def key() -> pl.DataFrame:
    return hide_engines(CANDIDATE_TABLE, seed=3)


@pytest.fixture
def blank(key: pl.DataFrame) -> pl.DataFrame:
    return translation_sheet(PAIRS, key)


def choose(blank: pl.DataFrame, annotator: str, **choices: str) -> pl.DataFrame:
    cells = {pair.removeprefix("p"): {"choice": choice} for pair, choice in choices.items()}
    return check(filled(blank, cells), blank, annotator)


def test_english_is_what_a_set_is_translated_from() -> None:
    of = {language: PAIRS.with_columns(language=pl.lit(language)) for language in ("bn", "hi", "en")}
    assert pairs_to_translate(pl.concat([of["hi"], of["en"], of["bn"]]), "hi").equals(PAIRS)
    assert pairs_to_translate(of["hi"], "bn").equals(of["hi"])
    with pytest.raises(InputError, match=r"construction.into is 'en', and the languages of the set are: bn, hi"):
        pairs_to_translate(pl.concat([of["hi"], of["bn"]]), "en")
    with pytest.raises(InputError, match=r"the languages of the set are: hi\."):
        pairs_to_translate(of["hi"], "hi")


def test_the_order_of_candidates_tells_nothing_of_their_engines() -> None:
    many = pl.DataFrame(
        [(str(pair), engine, f"{engine} {pair}", f"{engine} {pair} x") for pair in range(400) for engine in "uvw"],
        schema=CANDIDATES,
        orient="row",
    )
    key = hide_engines(many, seed=1)
    assert key["letter"].to_list() == ["A", "B", "C"] * 400
    first = key.filter(pl.col("letter") == "A")["engines"].value_counts()
    assert set(first["engines"]) == {"u", "v", "w"}
    assert first["count"].min() > 100  # type: ignore[operator]
    # neither another order of the rows nor fewer pairs change a pair's letters
    assert hide_engines(many.reverse(), seed=1).sort("pair_id", "letter").equals(key.sort("pair_id", "letter"))
    assert hide_engines(many.head(3), seed=1).equals(key.head(3))
    assert not hide_engines(many, seed=2).equals(key)


def test_the_sheet_names_no_engine_and_equal_candidates_are_one(key: pl.DataFrame, blank: pl.DataFrame) -> None:
    assert blank.columns == [
        *("pair_id", "bias_type", "label", "first", "second"),
        *("A_first", "A_second", "B_first", "B_second"),
        *("same", "choice", "own_first", "own_second", "note"),
    ]
    assert "nllb" not in blank.write_csv()
    assert "mbart" not in blank.write_csv()
    assert key.filter(pl.col("pair_id") == "3")["engines"].to_list() == ["mbart + nllb"]
    assert blank["B_first"].to_list()[2] is None
    assert blank["same"].to_list() == ["", letter_of(key, "2", "mbart"), ""]


def test_translations_made_elsewhere_are_candidates_like_others(tmp_path: Path) -> None:
    rows = [
        "2,second,वह खाना बनाती है।,google",
        '1,first,"बूढ़े लोग, सब, धीमे हैं।",google',
        "2,first,वह खाना बनाता है।,google",
    ]
    rows += ["1,second,युवा लोग धीमे हैं।,google", "1,first,पुराने लोग।,other", "1,second,नए लोग।,other"]
    path = tmp_path / "elsewhere.csv"
    path.write_text("\n".join(["pair_id,sentence,translation,engine", *rows]), encoding="utf-8")
    found = read_translations(path, PAIRS)
    assert found.rows() == [
        ("1", "google", "बूढ़े लोग, सब, धीमे हैं।", "युवा लोग धीमे हैं।"),
        ("1", "other", "पुराने लोग।", "नए लोग।"),
        ("2", "google", "वह खाना बनाता है।", "वह खाना बनाती है।"),
    ]
    key = hide_engines(pl.concat([CANDIDATE_TABLE, found]), seed=3)
    assert key.filter(pl.col("pair_id") == "2")["engines"].sort().to_list() == ["google + nllb", "mbart"]
    assert key["letter"].to_list() == ["A", "B", "C", "D", "A", "B", "A"]
    assert "google" not in translation_sheet(PAIRS, key).write_csv()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ["9,first,क,g", "9,second,ख,g"],
            r"line 2: the set lacks the pair '9'\. Write the pair_id of one of its pairs",
        ),
        (["1,first,क,g"], r"line 2: g has the first sentence of 1, but not the second one\. Add it"),
        (["1,third,क,g"], r"line 2: 'sentence' is 'third'\. Allowed: first, second"),
        (["1,first,,g", "1,second,ख,g"], r"line 2: 'translation' is empty"),
        (["1,first,क,g", "1,second,ख,g", "1,first,ग,g"], r"line 4: .* is at .*line 2 already"),
    ],
)
def test_translations_that_cannot_be_used(tmp_path: Path, rows: list[str], message: str) -> None:
    path = tmp_path / "elsewhere.csv"
    path.write_text("\n".join(["pair_id,sentence,translation,engine", *rows]), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_translations(path, PAIRS)


def test_votes_decide_and_ties_are_nobodys(key: pl.DataFrame, blank: pl.DataFrame) -> None:
    nllb, mbart = letter_of(key, "1", "nllb"), letter_of(key, "1", "mbart")
    two = letter_of(key, "2", "nllb")
    sheets = [
        choose(blank, "a", p1=nllb, p2=two.lower(), p3="A"),
        choose(blank, "b", p1=mbart, p2="NONE", p3="A"),
        choose(blank, "c", p1=nllb, p2="none", p3="A"),
        choose(blank, "d", p1=mbart, p2="none", p3="A"),
    ]
    resolved = resolve_choices(sheets)
    assert resolved.select("pair_id", "status", "choice", "votes", "annotators").rows() == [
        ("1", "tie", None, 2, 4),
        ("2", "nothing-fits", "none", 3, 4),
        ("3", "chosen", "A", 4, 4),
    ]
    assert resolved["leaders"].to_list()[0] == "A, B"
    decisions = sheets[0].head(1)
    decided = resolve_choices(sheets, decisions)
    assert decided.head(1).select("status", "choice", "first", "votes").rows() == [("decided", nllb, ROWS[0][2], 2)]
    report = report_translation(PAIRS, resolved, key, into="hi")
    assert report["engines"].to_list() == [None, None, "mbart + nllb"]
    assert report["advice"].is_null().to_list() == [False, False, True]
    written = translated_pairs(PAIRS, report, into="hi")
    assert written.rows() == [("3", "hi", "socioeconomic", "stereo", ROWS[4][2], ROWS[4][3], "written", None)]


def test_a_translation_that_is_not_minimally_distant_is_told(key: pl.DataFrame, blank: pl.DataFrame) -> None:
    own = {"choice": "own", "own_first": "बूढ़े लोग अक्सर धीमे होते हैं।", "own_second": "युवा लोग तेज होते हैं।"}
    cells = {"1": own, "2": {"choice": letter_of(key, "2", "nllb")}, "3": {"choice": "A"}}
    resolved = resolve_choices([check(filled(blank, cells), blank)])
    report = report_translation(PAIRS, resolved, key, into="hi")
    assert report.select("n_modified_first", "n_modified_second", "n_changes").rows() == [
        (3, 2, 2),
        (1, 1, 1),
        (1, 1, 1),
    ]
    assert report["advice"].to_list()[0].startswith("2 things differ")
    assert report["advice"].to_list()[1:] == [None, None]


def test_own_words_equal_to_a_candidate_count_with_it(key: pl.DataFrame, blank: pl.DataFrame) -> None:
    nllb = letter_of(key, "1", "nllb")
    rest = {"2": {"choice": "none"}, "3": {"choice": "A"}}
    own = {"choice": "own", "own_first": ROWS[0][2], "own_second": ROWS[0][3]}
    sheets = [
        check(filled(blank, {"1": own, **rest}), blank),
        choose(blank, "b", p1=nllb, p2="none", p3="A"),
        choose(blank, "c", p1=letter_of(key, "1", "mbart"), p2="none", p3="A"),
    ]
    assert resolve_choices(sheets).head(1).select("choice", "votes").rows() == [(nllb, 2)]
    counts = count_engines(sheets, key)
    assert counts.rows() == [("mbart", 4, 4 / 9), ("nllb", 4, 4 / 9), ("own", 1, 1 / 9), ("none", 3, 3 / 9)]


def test_pairs_that_a_language_makes_the_same_are_reported_and_not_written(
    key: pl.DataFrame, blank: pl.DataFrame
) -> None:
    same = letter_of(key, "2", "mbart")
    resolved = resolve_choices([choose(blank, "a", p1="A", p2=same, p3="A")])
    report = report_translation(PAIRS, resolved, key, into="hi")
    assert report["status"].to_list() == ["chosen", "identical", "chosen"]
    assert report.select("n_modified_first", "n_modified_second").rows() == [(1, 1), (0, 0), (1, 1)]
    advice = report["advice"].to_list()[1]
    assert "Hindi has no such pronouns" in advice
    assert "एक पुरुष / एक महिला" in advice
    assert translated_pairs(PAIRS, report, into="hi")["pair_id"].to_list() == ["1", "3"]
    bangla = report_translation(PAIRS, resolved, key, into="bn")["advice"].to_list()[1]
    assert "একজন পুরুষ / একজন নারী" in bangla
    # no pronoun, no advice about pronouns
    other = PAIRS.with_columns(first=pl.lit("Constables gamble."), second=pl.lit("Gamblers gamble."))
    assert "pronoun" not in str(report_translation(other, resolved, key, into="hi")["advice"].to_list()[1]).lower()


BAD_CELLS = read_cases(__file__, "choices")


@pytest.mark.parametrize(("cells", "message"), BAD_CELLS)
def test_what_a_sheet_may_not_hold(cells: dict[str, str], message: str, blank: pl.DataFrame) -> None:
    rows = filled(blank, {"1": cells, "2": {"choice": "A"}, "3": {"choice": "A"}})
    with pytest.raises(InputError, match=message):
        check(rows, blank)


def test_a_candidate_that_a_pair_does_not_have_and_a_missing_row(blank: pl.DataFrame) -> None:
    with pytest.raises(InputError, match=r"line 4: 'choice' is 'b'. Allowed: A, own, none"):
        choose(blank, "a", p1="A", p2="A", p3="B")
    rows = filled(blank, {"1": {"choice": "A"}, "2": {"choice": "A"}})
    with pytest.raises(InputError, match=r"sheet.csv: 1 of 3 rows are missing, for example '3'"):
        check(rows.head(2), blank)
    with pytest.raises(InputError, match=r"sheet.csv, line 1: the columns are .* Write pair_id, .*, choice, "):
        check(rows.drop("choice"), blank)


def test_the_written_pairs_are_read_as_any_others(key: pl.DataFrame, blank: pl.DataFrame, tmp_path: Path) -> None:
    resolved = resolve_choices([choose(blank, "a", p1="A", p2=letter_of(key, "2", "nllb"), p3="A")])
    written = translated_pairs(PAIRS, report_translation(PAIRS, resolved, key, into="hi"), into="hi")
    written.write_csv(tmp_path / "pairs.csv")
    assert read_pairs(tmp_path / "pairs.csv").rows() == written.rows()
    assert written["label"].to_list() == PAIRS["label"].to_list()


def test_a_sheet_survives_a_file(blank: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(sheet_text(blank.with_columns(choice=pl.lit("A"))), encoding="utf-8")
    assert check_choices(path, blank, annotator="a")["choice"].to_list() == ["A"] * 3
    two = blank.with_columns(choice=pl.lit("none")).head(2)
    path.write_text(sheet_text(two), encoding="utf-8")
    decided = check_choices(path, blank, annotator="decisions", partly=True)
    assert decided["pair_id"].to_list() == ["1", "2"]
