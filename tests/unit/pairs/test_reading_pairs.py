"""Files of pairs in every layout, and what is said of those that cannot be used."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars as pl
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tables import read_cases, read_data

from prasanga.base.errors import InputError
from prasanga.pairs import align_words, read_pair_file, read_pairs
from prasanga.pairs.reading import SCHEMA

WriteCsv = Callable[..., Path]

INDIBIAS = read_data(__file__, "head_of_indibias")
CROWS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type", "annotations")
OWN = ("pair_id", "language", "bias_type", "label", "first", "second")
PAIR = ("p1", "en", "gender", "stereo", "He leads.", "She leads.")


def test_our_own_layout(write_csv: WriteCsv) -> None:
    path = write_csv(
        [
            (
                *("e1", "en", "Physical_Appearance", "Anti-Stereo", " He, too, leads. ", "She, too, leads."),
                *("written", "t1 "),
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
    with pytest.raises(InputError, match=r"no pairs in the language bn; the file has en, hi"):
        read_pairs(path, "bn")


def test_crows_pairs_has_the_more_stereotypical_sentence_first(write_csv: WriteCsv) -> None:
    """In its antistereo rows too; our rule asks for it second there."""
    path = write_csv(
        [
            ("7", "The poor waste.", "The rich waste.", "stereo", "socioeconomic", "[]"),
            ("5", "He is a doctor.", "She is a doctor.", "antistereo", "gender", "[]"),
        ],
        CROWS,
    )
    pairs = read_pairs(path)
    assert pairs.select("pair_id", "language", "label", "first", "second").rows() == [
        ("7", "en", "stereo", "The poor waste.", "The rich waste."),
        ("5", "en", "antistereo", "She is a doctor.", "He is a doctor."),
    ]
    assert read_pairs(path, "hi")["language"].to_list() == ["hi", "hi"]
    with pytest.raises(InputError, match="is in one language, but the languages given are hi, en"):
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


@pytest.mark.parametrize("labels", [("stereotype", "unrelated", "anti-stereotype"), (1, 2, 0)])
def test_stereoset_as_the_hub_exports_it(tmp_path: Path, labels: tuple[Any, ...]) -> None:
    """With a configuration per file: a context without a blank precedes both sentences."""
    data = json.loads(stereoset(tmp_path).read_text())["data"]
    items = [*data["intrasentence"], *data["intersentence"]]
    sentences = [each["sentence"] for each in items[0]["sentences"]]
    votes = [{"label": [0, 1], "human_id": ["a", "b"]}] * 3
    nested = {"sentence": sentences, "gold_label": list(labels), "labels": votes}
    hub = [{**item, "sentences": nested} for item in items]
    expected = read_pairs(tmp_path / "dev.json")
    frame = pl.DataFrame(hub)
    for given in (hub, frame, frame.to_pandas(), frame.to_arrow(), pl.DataFrame(items)):
        assert read_pairs(given).equals(expected)
    for name, content in {
        "lines": frame.write_ndjson().encode(),
        "list": frame.write_json().encode(),
        "parts": json.dumps(data).encode(),
        "parquet": arrow_bytes(frame, pq.write_table),
        "one line": json.dumps(hub[0]).encode(),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert read_pairs(tmp_path / name).equals(expected[: 1 if name == "one line" else 2])


RECORDS = [
    ('He said, "no"; then left.', 'She said, "no"; then left.', "stereo", "gender"),
    ("The young man,\ttired | late.", "The old man,\ttired | late.", "antistereo", "age"),
]
PLAIN = pl.DataFrame(RECORDS, schema=["sent_more", "sent_less", "stereo_antistereo", "bias_type"], orient="row")
NUMBERS = {"id": [0, 1], "stereo_antistereo": [0, 1], "bias_type": [2, 8], "votes": [[2, 2], [8]]}
HUB = PLAIN.with_columns(**{name: pl.Series(cells) for name, cells in NUMBERS.items()})
READ = [("0", "en", "gender", "stereo", *RECORDS[0][:2]), ("1", "en", "age", "antistereo", *RECORDS[1][1::-1])]
SAID = ("pair_id", "language", "bias_type", "label", "first", "second")


def arrow_bytes(frame: pl.DataFrame, write: Callable[..., Any], **metadata: Any) -> bytes:
    file = io.BytesIO()
    write(frame.to_arrow().replace_schema_metadata({key: json.dumps(said) for key, said in metadata.items()}), file)
    return file.getvalue()


CLASSES = {"stereo_antistereo": ["antistereo", "stereo"], "bias_type": ["age", "gender"]}
FEATURES = {"info": {"features": {name: {"_type": "ClassLabel", "names": names} for name, names in CLASSES.items()}}}
CODED = PLAIN.with_columns(stereo_antistereo=pl.Series([1, 0]), bias_type=pl.Series([1, 0]))
FORMATS: dict[str, Callable[[], bytes]] = {
    **{f"cells between {one!r}": lambda one=one: PLAIN.write_csv(separator=one).encode() for one in ",;\t|"},
    "Excel's": lambda: ("\ufeffsep=;\r\n" + PLAIN.write_csv(separator=";", line_terminator="\r\n")).encode(),
    "an empty column": lambda: PLAIN.with_columns(pl.lit("").alias("")).write_csv().encode() + b",,,,\n",
    "cells without a name": lambda: PLAIN.write_csv().replace("gender", "gender,,").encode(),
    "blanks before names": lambda: PLAIN.write_csv().replace(",s", ", s").replace(",b", ", b").encode(),
    "capitals": lambda: PLAIN.rename(lambda name: f" {name.title().replace('_', ' ')} ").write_csv().encode(),
    "labels in full": lambda: PLAIN.write_csv().replace("stereo,g", "stereotype,g").replace(",anti", ",Anti-").encode(),
    "the hub's numbers": lambda: HUB.drop("votes").write_csv().encode(),
    "gzip": lambda: gzip.compress(PLAIN.write_csv().encode()),
    "JSON lines": lambda: HUB.write_ndjson().encode(),
    "JSON lines, bzip2": lambda: bz2.compress(PLAIN.write_ndjson().encode()),
    "JSON list": lambda: HUB.write_json().encode(),
    "pandas' records": lambda: HUB.to_pandas().to_json(orient="records").encode(),
    "a split": lambda: json.dumps({"test": HUB.to_dicts()}).encode(),
    "the hub's viewer": lambda: json.dumps({"features": [], "rows": [{"row": row} for row in HUB.to_dicts()]}).encode(),
    "splits under `data`": lambda: json.dumps({"data": {"train": HUB.to_dicts()}}).encode(),
    "Parquet": lambda: arrow_bytes(HUB, pq.write_table),
    "Parquet with names of classes": lambda: arrow_bytes(CODED, pq.write_table, huggingface=FEATURES),
    "Parquet with images": lambda: arrow_bytes(
        HUB.with_columns(image=pl.lit(b"\xff")), pq.write_table, huggingface=[1]
    ),
    "Parquet without classes": lambda: arrow_bytes(HUB, pq.write_table, huggingface={"info": None}),
    "a column `row`": lambda: HUB.with_columns(row=1).write_json().encode(),
    "Feather": lambda: arrow_bytes(HUB, feather.write_feather),
}


@pytest.mark.parametrize("name", FORMATS)
def test_pairs_are_the_same_from_every_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / "pairs.txt"  # the content counts
    path.write_bytes(FORMATS[name]())
    assert read_pairs(path).select(SAID).rows() == READ


@pytest.mark.parametrize("frame", [PLAIN, HUB], ids=["plain", "hub"])
def test_pairs_are_the_same_from_every_frame(frame: pl.DataFrame) -> None:
    table = frame.to_pandas()
    indexed = pandas.read_csv(io.StringIO(table.drop(columns="votes", errors="ignore").to_csv()))
    repeated = pandas.concat([table[:1], table[1:].reset_index(drop=True)])
    for given in (frame, table, indexed, repeated, frame.to_arrow(), frame.to_dict(as_series=False), frame.to_dicts()):
        assert read_pairs(given).select(SAID).rows() == READ
    assert read_pairs({"First ": ["a b"], "second": ["a c"], "stereotype_id": [3]}, "bn").rows() == [
        ("1", "bn", "not-stated", "stereo", "a b", "a c", None, None)
    ]
    votes = PLAIN.with_columns(sent_more=pl.Series([["a"], ["b"]]))
    with pytest.raises(InputError, match=r"record 1 \(pair 0\): sent_more is empty"):
        read_pairs(votes)
    for named, message in ({"stereo_antistereo": "stereo"}, "'pair_id' is missing"), ({"label": 0}, "label '0' is not"):
        with pytest.raises(InputError, match=message):
            read_pairs({"first": ["a b"], "second": ["a c"], **{k: [v] for k, v in named.items()}}, "bn")


def test_a_language_of_records_and_a_layout_of_one_language() -> None:
    found = read_pairs(PLAIN.with_columns(language=pl.Series(["hi", "bn"])))
    assert found.select("language", "bias_type").rows() == [("bn", "age"), ("hi", "gender")]
    hindi = {"sent_more_hindi": ["क ख"], "sent_less_hindi": ["क ग"], "bias_type": ["Caste"]}
    assert read_pairs({**hindi, "stereo_antistereo": ["stereo"]}).rows() == [
        ("0", "hi", "caste", "stereo", "क ख", "क ग", "tuples", None)
    ]


def test_the_files_that_people_reported(shared: Path) -> None:
    """Case 05: `sent_more` is the more stereotypical sentence under either label."""
    files = [path for case in ("05", "06", "07") for path in sorted((shared / "cases").glob(f"{case}*/*"))]
    for path in files:
        first = read_pairs(path).row(0, named=True)
        assert first["first"].startswith(("Women", "The nurse was a woman", "The poor man cannot")), path
        assert first["bias_type"] in ("gender", "socioeconomic", "race-color"), path


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
    with pytest.raises(InputError, match=r"the language is en, but .* such as 'মেয়েরা রাঁধে।'.*`languages: "):
        read_pair_file(path)
    assert read_pair_file(path, spoken="bn").pairs["language"].to_list() == ["bn"]
    assert read_pair_file(path, "hi", spoken="bn").pairs["language"].to_list() == ["hi"]
    path.write_text(path.read_text(encoding="utf-8").replace("type\n", "type,lang\n").replace("gender", "gender,bn"))
    assert read_pair_file(path).pairs["language"].to_list() == ["bn"]


LONG = ",".join((*PAIR[:4], "ফুল " * 2_501, "x"))
BAD: dict[str, tuple[Any, dict[str, Any]]] = {
    "no such file": (None, {}),
    "line 2: not UTF-8": (b"pair_id,language\n1,\xff\n", {}),
    "is UTF-16 or UTF-32, not UTF-8. Save it as UTF-8 (in Excel: `CSV UTF-8`": (
        "pair_id\tfirst\n".encode("utf-16"),
        {},
    ),
    "is an Excel workbook. Save it as `CSV UTF-8`": (b"PK\x03\x04\x14\0xl/workbook.xml", {}),
    "pairs.csv: damaged (": (b"PAR1 and no more", {}),
    "(pair p1): first has 2501 words; the most is 2500.": (f"{','.join(OWN)}\n{LONG}", {}),
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
