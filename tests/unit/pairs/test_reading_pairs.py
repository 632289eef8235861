"""Files of pairs in every layout, and what is said of those that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.pairs import align_words, read_pair_file, read_pairs
from prasanga.pairs.reading import SCHEMA

WriteCsv = Callable[..., Path]

INDIBIAS = (
    "",
    "index",
    "modified_eng_sent_more",
    "modified_eng_sent_less",
    "sent_more_hindi",
    "sent_less_hindi",
    "bias_type",
    "stereo_antistereo",
)
CROWS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type", "annotations")
OWN = ("pair_id", "language", "bias_type", "label", "first", "second")
PAIR = ("p1", "en", "gender", "stereo", "He leads.", "She leads.")


def test_our_own_layout(write_csv: WriteCsv) -> None:
    path = write_csv(
        [
            (
                "e1",
                "en",
                "Physical_Appearance",
                "Anti-Stereo",
                " He, too, leads. ",
                "She, too, leads.",
                "written",
                "t1 ",
            ),
            ("b1", "bn", "gender", "stereo", "ছেলেটি হাসে।", "মেয়েটি হাসে।", "", ""),
        ],
        (*OWN, "origin", "cluster"),
    )
    pairs = read_pairs(path)
    assert pairs.schema == SCHEMA
    assert pairs.rows() == [
        ("b1", "bn", "gender", "stereo", "ছেলেটি হাসে।", "মেয়েটি হাসে।", None, None),
        ("e1", "en", "physical-appearance", "antistereo", "He, too, leads.", "She, too, leads.", "written", "t1"),
    ]


def test_indibias_is_two_languages(write_csv: WriteCsv) -> None:
    path = write_csv(
        [
            ("0", "649", "the old man sat", "the young man sat", "बूढ़ा बैठा", "युवा बैठा", "age", "stereo"),
            ("1", "588", "a b", "a c", "क ख", "क ग", "Caste", "antistereo"),
        ],
        INDIBIAS,
    )
    pairs = read_pairs(path)
    assert pairs.select("pair_id", "language", "bias_type", "label", "first", "origin").rows() == [
        ("649", "hi", "age", "stereo", "बूढ़ा बैठा", "inherited"),
        ("588", "hi", "caste", "antistereo", "क ख", "tuples"),
        ("649", "en", "age", "stereo", "the old man sat", "inherited"),
        ("588", "en", "caste", "antistereo", "a b", "tuples"),
    ]
    assert read_pairs(path, "en").equals(pairs.filter(pl.col("language") == "en"))
    assert read_pairs(path, ["hi", "en"]).equals(pairs)
    with pytest.raises(InputError, match=r"no pairs in the language bn\. The file has: en, hi"):
        read_pairs(path, "bn")


def test_crows_pairs_has_the_more_stereotypical_sentence_first(write_csv: WriteCsv) -> None:
    """In its antistereo rows too; our rule asks for it second there."""
    path = write_csv(
        [
            ("0", "The poor waste.", "The rich waste.", "stereo", "socioeconomic", "[]"),
            ("1", "He is a doctor.", "She is a doctor.", "antistereo", "gender", "[]"),
        ],
        CROWS,
    )
    pairs = read_pairs(path)
    assert pairs.select("pair_id", "language", "label", "first", "second").rows() == [
        ("0", "en", "stereo", "The poor waste.", "The rich waste."),
        ("1", "en", "antistereo", "She is a doctor.", "He is a doctor."),
    ]
    assert read_pairs(path, "hi")["language"].to_list() == ["hi", "hi"]
    with pytest.raises(InputError, match="the layout crows-pairs holds one language, but hi, en were asked for"):
        read_pairs(path, ["hi", "en"])


def stereoset(tmp_path: Path, **changes: Any) -> Path:
    item = {
        "id": "i1",
        "target": "teacher",
        "bias_type": "profession",
        "context": "She is a teacher.",
        "sentences": [
            {"id": "s1", "sentence": "She is patient.", "gold_label": "stereotype"},
            {"id": "s2", "sentence": "Fish swim.", "gold_label": "unrelated"},
            {"id": "s3", "sentence": "She is curt.", "gold_label": "anti-stereotype"},
        ],
    } | changes
    blank = item | {"id": "i2", "context": "The teacher is BLANK."}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"version": "1.0", "data": {"intersentence": [item], "intrasentence": [blank]}}))
    return path


def test_stereoset(tmp_path: Path) -> None:
    file = read_pair_file(stereoset(tmp_path))
    assert file.layout == "stereoset"
    assert file.pairs.select("pair_id", "bias_type", "label", "first", "second").rows() == [
        ("i2", "profession", "stereo", "She is patient.", "She is curt."),
        ("i1", "profession", "stereo", "She is a teacher. She is patient.", "She is a teacher. She is curt."),
    ]


NUMBERED = [
    ("0", "Women can't drive vans.", "Men can't drive vans.", "0", "gender", "[]"),
    ("1", "The rich man paid.", "The poor man paid.", "1", "socioeconomic", "[]"),
]


def test_a_label_of_crows_pairs_is_refused_with_the_rule_of_that_layout(write_csv: WriteCsv) -> None:
    """Who follows the rule of the other layouts turns antistereo pairs round."""
    with pytest.raises(InputError) as error:
        read_pairs(write_csv(NUMBERED, CROWS))
    assert str(error.value).endswith(
        "record 1 (pair 0): stereo_antistereo '0' is not known. Allowed: stereo, antistereo. In this layout sent_more"
        " is the more stereotypical sentence under either label, so leave both sentences in their columns. Write stereo"
        " where sent_more is about the disadvantaged group, and antistereo where sent_less is; in the hub's export 0 is"
        " stereo and 1 antistereo."
    )
    followed = [(*record[:3], {"0": "stereo", "1": "antistereo"}[record[3]], *record[4:]) for record in NUMBERED]
    for row in read_pairs(write_csv(followed, CROWS)).iter_rows(named=True):
        stereotypical = row["first"] if row["label"] == "stereo" else row["second"]
        assert stereotypical == NUMBERED[int(row["pair_id"])][1]


def test_the_labels_that_people_reported(shared: Path) -> None:
    with pytest.raises(InputError, match=r"hfints\.csv, record 1 .*sent_more is the more stereotypical sentence under"):
        read_pairs(shared / "cases/05-label-message/hfints.csv")


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_bytes("\ufeff".encode() + (",".join(OWN) + "\r\n" + ",".join(PAIR) + "\r\n\r\n").encode())
    assert read_pairs(path).height == 1


def test_one_id_may_stand_in_two_languages(write_csv: WriteCsv) -> None:
    assert read_pairs(write_csv([PAIR, ("p1", "hi", "gender", "stereo", "वह आया", "वह आयी")])).height == 2


MARKED = (*OWN, "modified", "agreeing")
HINDI = ("h1", "hi", "gender", "stereo", "लड़का खेलना चाहता है।", "लड़की खेलना चाहती है।")


def test_a_bar_inside_a_word_belongs_to_it(write_csv: WriteCsv) -> None:
    pair = ("e1", "en", "age", "stereo", "An on|off man sat.", "A man sat.")
    assert read_pairs(write_csv([(*pair, "An | on|off / A", "An / A")], MARKED)).height == 1
    with pytest.raises(InputError, match=r"the sentences differ in 'An \| on\|off / A'"):
        read_pairs(write_csv([(*pair, "An | on | off / A", "")], MARKED))


def test_marks_are_checked(write_csv: WriteCsv) -> None:
    pairs = read_pairs(
        write_csv(
            [
                (*HINDI, "लड़का | चाहता / लड़की | चाहती", "चाहता / चाहती"),
                ("e1", "en", "age", "stereo", "An SC/ST man sat.", "A man sat.", "An | SC/ST / A", "An / A"),
                ("e2", "en", "age", "stereo", "Old men sat.", "Men sat.", "Old /", ""),
                (*PAIR, "", ""),
            ],
            MARKED,
        )
    )
    assert pairs["pair_id"].to_list() == ["h1", "e1", "e2", "p1"]
    assert pairs.columns == list(SCHEMA)


def test_the_indibias_sample(shared: Path) -> None:
    pairs = read_pairs(shared / "reference/indibias/IndiBias_v1_sample.csv")
    counts = pairs.filter(pl.col("language") == "en").group_by("bias_type", "label").len().rows()
    assert {*counts} == {*read_cases(__file__, "indibias")}
    assert pairs.height == 1122
    assert not pairs.select(pl.any_horizontal(pl.col("first", "second").str.contains(r"[\r\n]"))).to_series().any()
    # The paper's rule for origin: below 542 the index is of an inherited pair.
    below = pl.col("pair_id").cast(pl.Int64) < 542
    assert pairs.filter(below != (pl.col("origin") == "inherited")).is_empty()
    # One pair is the same sentence twice in Hindi, none in English.
    unchanged = [
        row["pair_id"]
        for row in pairs.iter_rows(named=True)
        if not (words := align_words(row["first"], row["second"])).modified_first and not words.modified_second
    ]
    assert unchanged == ["474"]


def test_a_file_that_does_not_say_its_language_is_in_that_of_the_study(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        ",sent_more,sent_less,stereo_antistereo,bias_type\n0,মেয়েরা রাঁধে।,ছেলেরা রাঁধে।,stereo,gender\n", encoding="utf-8"
    )
    assert read_pair_file(path).pairs["language"].to_list() == ["en"]
    assert read_pair_file(path, spoken="bn").pairs["language"].to_list() == ["bn"]
    assert read_pair_file(path, "hi", spoken="bn").pairs["language"].to_list() == ["hi"]


LONG = ",".join((*PAIR[:4], "ফুল " * 2_501, "x"))
BAD: dict[str, tuple[Any, dict[str, Any]]] = {
    "no such file": (None, {}),
    "line 2: not UTF-8": (b"pair_id,language\n1,\xff\n", {}),
    "(pair p1): first has 2501 words; at most 2500 are": (f"{','.join(OWN)}\n{LONG}", {}),
    **{said: (content, options) for said, content, options in read_cases(__file__, "mistakes")},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input(tmp_path: Path, message: str) -> None:
    content, options = BAD[message]
    path = tmp_path / "pairs.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as refused:
        read_pairs(path, **options)
    assert message in str(refused.value)
