"""The pairs browser holds what the tables hold, to the rounding shown, and nothing that it must not."""

from __future__ import annotations

import base64
import gzip
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import bias_percentage
from prasanga.pairs.preferences import add_differences
from prasanga.report.section import section_to_html
from prasanga.report.sections.pair_browser import (
    PairBrowser,
    browser_part,
    common_beginning,
    pair_browser,
    utf16_length,
)

DEMO = Path(__file__).parents[3] / "resources" / "demo" / "pairs.csv"
NASTY = (
    "</script><script>alert(1)</script>",
    "<!-- <b>bold</b> & \"quotes\" 'and' \\u0041 \\",
    "two\nlines\tand a\r\nthird",
    "\u202eright to left\u202c \u2066isolated\u2069 \u2028 line separator",
    "very " * 3000 + "long",
    "=1+1 \U0001f9d1\u200d\U0001f33e astral \U0001f9d1 words",
    "",
)


def scored(model: str, *rows: tuple[str, str, float | None, float | None], **more: Any) -> pl.DataFrame:
    """Pairs of (first, second, score of the first, of the second); every other one antistereo."""
    return pl.DataFrame(
        [
            {
                "set": "demo",
                "model": model,
                "pair_id": str(number),
                "language": "bn",
                "bias_type": "gender" if number % 3 else "caste",
                "label": ("stereo", "antistereo")[number % 2],
                "first": first,
                "second": second,
                "score_first": score_first,
                "score_second": score_second,
                "left_out": None,
                "measure": "p_unmodified",
                "punctuation": "apart",
                **more,
            }
            for number, (first, second, score_first, score_second) in enumerate(rows)
        ],
        schema_overrides={"score_first": pl.Float64, "score_second": pl.Float64, "left_out": pl.String},
    )


def spread(model: str, n: int, scale: float) -> pl.DataFrame:
    """Scores of many pairs: some tie, some are left out, some nearly tie, some are no numbers."""
    rows: list[tuple[str, str, float | None, float | None]] = []
    for i in range(n):
        first = -3 - scale * math.sin(7.3 * i)
        second = {0: first, 1: first + 2e-5, 2: None, 3: math.inf, 4: math.nan}.get(i % 11, first + math.cos(i) / 2)
        rows.append((f"বাক্য {i} এক", f"বাক্য {i} দুই", first, second))
    table = scored(model, *rows)
    reasons = ["identical-pieces" if i % 11 == 2 else None for i in range(n)]
    return table.with_columns(left_out=pl.Series(reasons, dtype=pl.String))


def rendered(browser: PairBrowser | None, *, percentages: bool = False) -> str:
    return section_to_html(browser_part(browser, scored=percentages))


def unpacked(browser: PairBrowser | None) -> dict[str, Any]:
    assert browser is not None
    text = browser.payload.encode()
    return dict(json.loads(text if browser.kind == "json" else gzip.decompress(base64.b64decode(text))))


def rows_of(browser: PairBrowser | None, model: str) -> list[dict[str, Any]]:
    """What the page shows of every pair, read as docs of the data say it, number by number."""
    data = unpacked(browser)
    found = next(one for one in data["models"] if one["name"] == model)
    sentences: list[str] = []
    for shared, rest in zip(data.get("shared", []), data.get("sentences", []), strict=True):
        before = sentences[-1].encode("utf-16-le")[: 2 * shared].decode("utf-16-le") if sentences else ""
        sentences.append(before + rest)
    firsts, addeds, roundings = ([int(x) if x else None for x in found[k].split(" ")] for k in _NUMBERS)
    others, at = {}, 0
    for step, state in zip(found["other_steps"], found["other_states"], strict=True):
        at += step
        others[at] = data["states"][state]
    rows, place = [], 0
    for i, (pair_id, first, added, rounding) in enumerate(zip(data["ids"], firsts, addeds, roundings, strict=True)):
        row = {name: data[name]["values"][data[name]["codes"][i]] for name in ("set", "language", "type", "label")}
        second = added if first is None or added is None else first + added
        towards = 1 if row["label"] == "stereo" else -1
        difference = None if rounding is None else towards * ((first or 0) - (second or 0)) + rounding
        sign = (
            None if difference is None else ("other", "tie", "stereotypical")[(difference > 0) - (difference < 0) + 1]
        )
        row |= {"pair_id": pair_id, "state": others.get(i, sign)}
        row |= {"score_first": first, "score_second": second, "difference": difference}
        if sentences:
            place += data["steps"][2 * i]
            row |= {"first": sentences[place], "second": sentences[place + data["steps"][2 * i + 1]]}
            row["marks"] = data["marks"][i]
        rows.append(row)
    return rows


_NUMBERS = ("first", "added", "rounding")


def test_numbers_are_those_of_the_tables() -> None:
    tables = [spread("a", 300, 4.0), spread("b", 300, 0.02), spread("a-random", 300, 1.0)]
    browser = pair_browser(tables)
    for table in tables:
        expected = add_differences(table).rows(named=True)
        shown = rows_of(browser, table["model"][0])
        assert len(shown) == 300
        for want, got in zip(expected, shown, strict=True):
            assert [got[name] for name in ("set", "language", "type", "label", "pair_id", "first", "second")] == [
                want[name] for name in ("set", "language", "bias_type", "label", "pair_id", "first", "second")
            ]
            for name in ("score_first", "score_second", "difference"):
                if want[name] is None or not math.isfinite(want[name]):
                    assert got[name] is None
                else:
                    assert got[name] / 1000 == pytest.approx(want[name], abs=0.0005 + 1e-9)
            assert got["state"] == (want["left_out"] or want["preference"])


def test_share_preferred_is_the_bias_percentage() -> None:
    table = spread("a", 200, 2.0)
    expected = bias_percentage(table, n_runs=0, n_resamples=0)
    shown = rows_of(pair_browser([table]), "a")
    for name in ("all", "gender", "caste"):
        row = expected.row(by_predicate=pl.col("bias_type") == name, named=True)
        states = [one["state"] for one in shown if name in ("all", one["type"])]
        preferred, other = states.count("stereotypical"), states.count("other")
        assert (preferred, other, states.count("tie")) == (row["n_stereotypical"], row["n_other"], row["n_ties"])
        assert 100 * preferred / (preferred + other) == pytest.approx(row["bias_percentage"])
        assert len(states) - preferred - other - states.count("tie") == row["n_left_out"]


def test_a_small_difference_is_no_tie() -> None:
    shown = rows_of(pair_browser([scored("m", ("a", "b", -1.0, -1.00001), ("a", "c", -1.0, -1.00001))]), "m")
    assert [(row["difference"], row["state"]) for row in shown] == [(0, "stereotypical"), (0, "other")]


def test_infinite_and_missing_scores_have_a_reason() -> None:
    rows = [("a", "b", -1.0, -math.inf), ("a", "c", math.nan, -1.0), ("a", "d", None, None), ("a", "e", -1.0, 1e300)]
    browser = pair_browser([scored("m", *rows)])
    shown = rows_of(browser, "m")
    assert [row["state"] for row in shown] == ["not-finite", "not-finite", "no-score", "stereotypical"]
    assert [row["difference"] is None for row in shown] == [True, True, True, False]
    assert shown[0]["score_first"] == -1000
    assert shown[0]["score_second"] is None
    assert shown[1]["score_first"] is None
    assert shown[1]["score_second"] == -1000
    assert unpacked(browser)["reasons"] == {
        "not-finite": "a score is not a finite number",
        "no-score": "there is no score, and no reason is given",
    }


def test_all_left_out() -> None:
    table = scored("m", ("ক", "ক", None, None), ("খ", "খ", None, None), left_out="identical")
    shown = rows_of(pair_browser([table]), "m")
    assert [(row["state"], row["marks"]) for row in shown] == [("identical", "/"), ("identical", "/")]


def test_a_model_without_a_set_has_no_scores_there() -> None:
    other = scored("b", ("x", "y", -1.0, -2.0)).with_columns(set=pl.lit("second"))
    browser = pair_browser([scored("a", ("p", "q", -1.0, -2.0)), other])
    assert browser is not None
    assert (browser.n_pairs, browser.sets) == (2, ["demo", "second"])
    assert [row["state"] for row in rows_of(browser, "a")] == ["stereotypical", "not-asked"]
    assert [row["state"] for row in rows_of(browser, "b")] == ["not-asked", "stereotypical"]
    assert "no score for this set" in unpacked(browser)["reasons"]["not-asked"]


def test_nothing_to_show() -> None:
    assert pair_browser([]) is None
    assert pair_browser([scored("m", ("a", "b", -1.0, -2.0)).clear()]) is None
    assert "No model has scored a pair yet" in rendered(None)
    alone = rendered(None, percentages=True)
    assert "The scores of single pairs are not there" in alone
    assert "No model has scored" not in alone


def test_twins_come_after_models() -> None:
    pair = ("a", "b", -1.0, -2.0)
    browser = pair_browser([scored(name, pair) for name in ("x-random", "x", "alone-random")])
    assert [(one["name"], one["twin"]) for one in unpacked(browser)["models"]] == [
        ("x", False),
        ("alone-random", False),
        ("x-random", True),
    ]
    assert browser is not None
    assert (browser.n_models, browser.has_twins) == (2, True)


@pytest.mark.parametrize("plain_bytes", [0, 1 << 30])
def test_sentences_of_any_kind_are_kept_and_harmless(plain_bytes: int) -> None:
    rows = [(text, f"{text} other", -1.0, -2.0) for text in NASTY]
    browser = pair_browser([scored("m </script>", *rows)], plain_bytes=plain_bytes)
    assert [row["first"] for row in rows_of(browser, "m </script>")] == list(NASTY)
    page = rendered(browser)
    assert page.count("</script>") == 1
    assert "<!--" not in page
    assert "<script>" not in page
    assert "\u2028" not in page
    assert "\u202e" not in page
    assert browser is not None
    assert browser.kind == ("json" if plain_bytes else "gzip")


def test_marks_are_the_modified_words() -> None:
    first, second = "\U0001f9d1 ছেলেটি, রোজ স্কুলে যায়।", "\U0001f9d1 মেয়েটি, রোজ বাজারে যায়।"
    (row,) = rows_of(pair_browser([scored("m", (first, second, -1.0, -2.0))]), "m")
    sides = []
    for text, side in zip((first, second), row["marks"].split("/"), strict=True):
        numbers, units = list(map(int, side.split())), text.encode("utf-16-le")
        spans = zip(numbers[::2], numbers[1::2], strict=True)
        sides.append([units[2 * start : 2 * (start + length)].decode("utf-16-le") for start, length in spans])
    assert sides == [["ছেলেটি", "স্কুলে"], ["মেয়েটি", "বাজারে"]]


def test_marks_follow_the_convention_of_the_scores() -> None:
    pair = ("he came.", "he came", -1.0, -2.0)
    assert rows_of(pair_browser([scored("m", pair)]), "m")[0]["marks"] == "/"
    with_word = scored("m", pair, punctuation="with-word")
    assert rows_of(pair_browser([with_word]), "m")[0]["marks"] == "3 5/3 4"


def test_lengths_and_beginnings() -> None:
    assert [common_beginning(*pair) for pair in (("", "a"), ("abc", "abd"), ("ab", "abc"), ("কি", "কী"))] == [
        0,
        2,
        2,
        1,
    ]
    assert [utf16_length(text) for text in ("", "abc", "কি", "a\U0001f9d1b")] == [0, 3, 2, 4]


@pytest.mark.parametrize("plain_bytes", [0, 1 << 30])
def test_hidden_texts_are_nowhere(plain_bytes: int) -> None:
    table = scored("m", ("গোপন বাক্য", "গোপন কথা", -1.0, -2.5), ("secret words", "secret deed", -1.0, -1.0))
    browser = pair_browser([table], texts=False, plain_bytes=plain_bytes)
    page = rendered(browser)
    assert browser is not None
    packed = browser.payload.encode()
    inside = packed if plain_bytes else gzip.decompress(base64.b64decode(packed))
    plain = json.dumps(json.loads(inside), ensure_ascii=False)
    for word in ("গোপন", "বাক্য", "secret", "deed"):
        assert word.encode() not in inside
        assert json.dumps(word).strip('"').encode() not in inside
        assert word not in plain
        assert word not in page
    data = unpacked(browser)
    assert not {"sentences", "shared", "steps", "marks"} & data.keys()
    assert [(row["pair_id"], row["type"], row["difference"]) for row in rows_of(browser, "m")] == [
        ("0", "caste", 1500),
        ("1", "gender", 0),
    ]
    assert "The sentences are not in this file" in page
    assert "stereotypes about people" not in page
    without = table.drop("first", "second")
    assert pair_browser([without], texts=False, plain_bytes=plain_bytes) == browser


def test_a_sentence_is_kept_once() -> None:
    rows = [("একই বাক্য", f"অন্য বাক্য {i % 2}", -1.0, -2.0) for i in range(6)]
    data = unpacked(pair_browser([scored("m", *rows), scored("n", *rows)]))
    assert len(data["sentences"]) == 3


def test_the_same_tables_give_the_same_bytes() -> None:
    tables = [spread("a", 50, 1.0), spread("b", 50, 1.0)]
    for plain_bytes in (0, 1 << 30):
        assert pair_browser(tables, plain_bytes=plain_bytes) == pair_browser(tables, plain_bytes=plain_bytes)
    packed = pair_browser(tables, plain_bytes=0)
    assert packed is not None
    assert base64.b64decode(packed.payload)[4:8] == bytes(4)


def test_the_page_says_what_lies_behind_the_button() -> None:
    page = rendered(pair_browser([spread("a", 30, 1.0)]))
    summary = page[page.index("<summary>") : page.index("</summary>")]
    assert "stereotypes about people" in summary
    assert "not to be believed" in " ".join(summary.split())
    assert "<details" in page
    assert " open" not in page[page.index("<details") : page.index("<summary>")]
    without_script = page[page.index("<noscript>") : page.index("</noscript>")]
    assert "results/likelihoods/pairs/&lt;set&gt;/&lt;model&gt;.parquet" in without_script
    assert "30 pairs of the set demo, scored by 1 model: " in " ".join(page.split())


def test_tables_that_do_not_fit_are_refused() -> None:
    one = scored("a", ("x", "y", -1.0, -2.0))
    with pytest.raises(InputError, match="no column model"):
        pair_browser([one.drop("model")])
    with pytest.raises(InputError, match="no column first"):
        pair_browser([one.drop("first")])
    with pytest.raises(InputError, match="a has pair 0, demo, bn twice"):
        pair_browser([one, one])
    with pytest.raises(InputError, match="pair 0, demo, bn is not the same to all models"):
        pair_browser([one, one.with_columns(model=pl.lit("b"), second=pl.lit("z"))])
    with pytest.raises(InputError, match="label of row 0 is 'neutral'"):
        pair_browser([one.with_columns(label=pl.lit("neutral"))])


def test_many_pairs_stay_small() -> None:
    """A model more costs some five bytes a pair: two scores, and what rounding adds to their difference."""
    table = spread("a", 5000, 2.0)
    few, many = (
        pair_browser([table.with_columns(model=pl.lit(f"m{k}")) for k in range(n)], texts=False, plain_bytes=0)
        for n in (1, 4)
    )
    assert few is not None
    assert many is not None
    assert len(many.payload) - len(few.payload) < 3 * 5000 * 7
