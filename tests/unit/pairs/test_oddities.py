"""What is odd about pairs is said, one row a finding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from prasanga.pairs import read_pair_file
from prasanga.pairs.alignment import KINDS

WriteCsv = Callable[..., Path]


def of(write_csv: WriteCsv, language: str, first: str, second: str) -> dict[str, tuple[str, str, str]]:
    file = read_pair_file(write_csv([("p", language, "gender", "stereo", first, second)]))
    return {kind: (column, found, done) for _, _, _, column, kind, found, done in file.oddities.rows()}


def test_an_ordinary_pair_is_not_odd(write_csv: WriteCsv) -> None:
    assert of(write_csv, "en", "He doesn't lead, I think.", "She doesn't lead, I think.") == {}
    assert of(write_csv, "hi", "लड़का आया। वह हँसा।", "लड़की आयी। वह हँसी।") == {}
    assert (
        of(write_csv, "bn", "ছেলেটি উদ্\u200cযোগী, র\u200d্যাবে কাজ করে।", "মেয়েটি উদ্\u200cযোগী, র\u200d্যাবে কাজ করে।") == {}
    )


CASES = json.loads((Path(__file__).parent / "tables/oddities.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("language", "first", "second", "kind", "column", "said", "done"), CASES)
def test_oddities(
    write_csv: WriteCsv, language: str, first: str, second: str, kind: str, column: str, said: str, done: str
) -> None:
    found = of(write_csv, language, first, second)
    assert found[kind] == (column, said, done)
    assert set(found) <= set(KINDS)


def test_a_word_that_moved_is_no_matter_of_nuktas(write_csv: WriteCsv) -> None:
    assert "differing-nukta" not in of(write_csv, "hi", "ज\u093cरा वह", "वह ज\u093cरा")


def test_what_is_kept_is_scored_as_it_is(write_csv: WriteCsv) -> None:
    first = "वह  ब\u095cा\u200b है ।।वह’ |"
    file = read_pair_file(write_csv([("p", "hi", "age", "stereo", first, "वह है |")]))
    assert file.pairs["first"].to_list() == [first]


def test_spelling_of_names(write_csv: WriteCsv) -> None:
    file = read_pair_file(write_csv([("p", "en", "Physical Appearance", "Stereo", "He ran.", "She ran.")]))
    assert file.oddities.select("column", "kind", "found", "done").rows() == [
        ("bias_type", "bias-type-spelling", "Physical Appearance", "read as physical-appearance"),
        ("label", "label-spelling", "Stereo", "read as stereo"),
    ]


def test_spelling_of_the_label_in_another_layout(write_csv: WriteCsv) -> None:
    columns = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type")
    file = read_pair_file(write_csv([("0", "He ran.", "She ran.", "Anti-Stereo", "age")], columns))
    assert file.pairs["first"].to_list() == ["She ran."]
    assert [(row[3], row[4], row[6]) for row in file.oddities.rows()] == [
        ("stereo_antistereo", "label-spelling", "read as antistereo")
    ]


def test_repetition(write_csv: WriteCsv) -> None:
    sentences = [("A b.", "A c."), ("A b.", "A d."), ("A c.", "A b."), ("A b.", "A c."), ("A e.", "A f.")]
    records = [(str(i), "en", "age", "stereo", *both) for i, both in enumerate(sentences)]
    other_language = ("0", "hi", "age", "stereo", "A b.", "A c.")
    file = read_pair_file(write_csv([*records, other_language]))
    repeated = file.oddities.filter(file.oddities["kind"].str.contains("duplicated|reversed"))
    assert repeated.select("row", "column", "kind", "found").rows() == [
        (2, "first", "duplicated-sentence", "also in 0"),
        (3, "first / second", "reversed-pair", "of 0"),
        (4, "first / second", "duplicated-pair", "as 0"),
    ]


def test_a_last_word_that_differs_is_no_differing_end(write_csv: WriteCsv) -> None:
    assert "differing-end" not in of(write_csv, "hi", "वह खेलता", "वह खेलती")
    assert "differing-end" not in of(write_csv, "hi", "वह आया ।", "वह आयी।")
    assert of(write_csv, "en", "He said “go.”", "She said “go”")["differing-end"][1] == ".” / ”"


def test_the_indibias_sample(shared: Path) -> None:
    """The counts of the audit that lies beside the file; of ends it counts last characters."""
    oddities = read_pair_file(shared / "reference/indibias/IndiBias_v1_sample.csv").oddities
    assert set(oddities["kind"]) <= set(KINDS)
    # Found is one pair more that ends in . and in .., and not those three whose last words differ and have no stop.
    kinds = Counter(zip(oddities["language"], oddities["kind"], strict=True))

    def rows(language: str, kind: str) -> list[int]:
        # The audit counts records from 0.
        found = oddities.filter((oddities["language"] == language) & (oddities["kind"] == kind))
        return sorted({row - 1 for row in found["row"]})

    assert kinds["en", "bias-type-spelling"] == kinds["hi", "bias-type-spelling"] == 129
    assert not any(kind == "label-spelling" for _, kind in kinds)
    assert rows("hi", "line-break") == [404]
    assert rows("hi", "identical-sentences") == [484]
    assert rows("en", "duplicated-sentence") == rows("hi", "duplicated-sentence") == [105]
    assert kinds["hi", "not-nfc"] == 16
    assert rows("hi", "not-nfc") == [140, 159, 187, 258, 326, 375, 393, 455, 500, 516]
    assert kinds["hi", "bar-for-danda"] == 16
    assert rows("hi", "bar-for-danda") == [204, 219, 241, 272, 300, 302, 328, 398, 469]
    assert rows("en", "differing-end") == [57, 168, 175, 204, 233, 270, 287, 294, 333, 347, 352, 420, 461]
    assert rows("hi", "differing-end") == [141, 193, 204, 208, 283, 347, 398, 420, 444, 461, 523]
    assert kinds["hi", "double-danda"] == 2
    assert rows("en", "curly-quote") == [373]
    assert rows("hi", "other-script") == [207, 376, 381]
    assert len(rows("en", "differing-length")) == 44
    assert rows("hi", "differing-nukta") == [56, 117, 251]


def test_every_kind_is_described(project_root: Path) -> None:
    page = (project_root / "docs/pairs.md").read_text("utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []
