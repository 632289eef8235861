"""The audit against obvious programs of a few lines, on tables in which copies, joiners and long words occur."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from tables import read_cases

from prasanga.base.seeds import seed_of
from prasanga.sentences import audit
from prasanga.sentences.audit import concordance, count_forms, count_suffixes, length_histogram, surroundings
from prasanga.text import words

Row = dict[str, Any]
Write = Callable[..., list[Path]]

STIMULI = {"মা": ["মা", "মায়ের", "মা-কে"], "গান": ["গান", "গানের", "গা\u200cন"], "ফুল": ["ফুল"]}
FILLER = ["নদী", "পাখি", "আকাশে", "ও", "দেখা,", "যায়।", "বৃষ্টি", "‘ঘর’"]


def digest(text: str) -> str:
    return xxhash.xxh3_128_hexdigest(text.encode())


def contexts(seed: int, n: int) -> list[list[Row]]:
    """Random contexts, each with the rows of its hits; about a third are copies of texts that came before."""
    dice = random.Random(seed)
    texts: list[list[tuple[str, str]]] = []
    made: list[list[Row]] = []
    for number in range(n):
        if texts and dice.random() < 0.35:
            tokens = dice.choice(texts)
        else:
            hits = [(dice.choice(forms), stimulus) for stimulus, forms in STIMULI.items() if dice.random() < 0.6]
            tokens = hits + [(dice.choice(FILLER), "") for _ in range(dice.randint(0, 120))]
            dice.shuffle(tokens)
            texts.append(tokens)
        text = " ".join(token for token, _ in tokens)
        context, rows, start = digest(f"context {number}"), [], 0
        for token, stimulus in tokens:
            if stimulus:
                rows.append(
                    {
                        "occurrence_id": digest(f"{number} {stimulus} {start}"),
                        "context_id": context,
                        "stimulus": stimulus,
                        "form": token,
                        "text": text,
                        "text_id": digest(text),
                        "start": start,
                        "end": start + len(token),
                        "n_words": len(words(text)),
                        "source": f"{number % 3}.txt",
                        "offset": number * 1000,
                    }
                )
            start += len(token) + 1
        made.append(rows)
    return [rows for rows in made if rows]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes contexts as sentence tables: dealt to so many files in random order, in row groups of `group` rows."""

    def to_files(found: Sequence[list[Row]], files: int = 1, group: int = 7) -> list[Path]:
        dice = random.Random(files)
        dealt: list[list[Row]] = [[] for _ in range(files)]
        for rows in dice.sample(list(found), len(found)):
            dealt[dice.randrange(files)] += rows
        paths = []
        for number, rows in enumerate(dealt):
            paths.append(tmp_path / f"{files}-{number}.parquet")
            pq.write_table(pa.Table.from_pylist(rows, SCHEMA), paths[-1], row_group_size=group)
        return paths

    return to_files


SCHEMA = pa.Table.from_pylist([row for rows in contexts(0, 20) for row in rows]).schema


def mixed(value: int) -> int:
    """SplitMix64's finalizer, in plain integers."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


def slow_concordance(rows: Sequence[Row], n: int, seed: int) -> list[tuple[str, int, str]]:
    """The hits drawn, as (stimulus, rank, occurrence_id)."""
    drawn = []
    for stimulus in sorted({row["stimulus"] for row in rows}):
        first: dict[str, Row] = {}
        for row in sorted(rows, key=lambda row: (row["start"], row["occurrence_id"])):
            if row["stimulus"] == stimulus:
                first.setdefault(row["text_id"], row)
        key = seed_of(seed, "concordance", stimulus)
        order = sorted(first, key=lambda text_id: mixed(int(text_id[:16], 16) ^ key))
        drawn += [(stimulus, rank, first[text_id]["occurrence_id"]) for rank, text_id in enumerate(order[:n], start=1)]
    return drawn


def identities(table: pa.Table) -> list[tuple[str, int, str]]:
    return [(row["stimulus"], row["rank"], row["occurrence_id"]) for row in table.to_pylist()]


@pytest.mark.parametrize(("files", "at_a_time"), [(1, 1 << 17), (2, 64), (5, 5)])
def test_concordance_is_that_of_the_slow_program(
    write: Write, monkeypatch: pytest.MonkeyPatch, files: int, at_a_time: int
) -> None:
    monkeypatch.setattr(audit, "_ROWS_AT_A_TIME", at_a_time)
    for seed, n in ((1, 4), (2, 20), (3, 1)):
        found = contexts(seed, 150)
        rows = [row for context in found for row in context]
        assert identities(concordance(write(found, files), n, seed=47)) == slow_concordance(rows, n, 47)


def test_concordance_shows_what_stands_around_each_hit(write: Write) -> None:
    found = contexts(5, 80)
    rows = {row["occurrence_id"]: row for context in found for row in context}
    for hit in concordance(write(found, 3), 30, seed=1).to_pylist():
        row = rows[hit["occurrence_id"]]
        assert {key: hit[key] for key in ("form", "source", "offset", "stimulus")} == {
            key: row[key] for key in ("form", "source", "offset", "stimulus")
        }
        assert hit["left"] + hit["form"] + hit["right"] in row["text"]
        assert row["text"].startswith(hit["left"]) or len(hit["left"]) > 60 - max(map(len, FILLER)) - 3
        assert max(len(hit["left"]), len(hit["right"])) <= 60


def test_another_seed_draws_other_hits_and_equal_texts_are_drawn_once(write: Write) -> None:
    found = contexts(7, 300)
    paths = write(found)
    one, other = (set(identities(concordance(paths, 10, seed))) for seed in (1, 2))
    assert len(one & other) < len(one) / 2
    everything = concordance(paths, 10_000, 1)
    texts = {(row["stimulus"], row["text_id"]) for context in found for row in context}
    assert everything.num_rows == len(texts) < sum(map(len, found))


def test_concordance_of_nothing(write: Write) -> None:
    paths = write(contexts(7, 20))
    assert concordance(paths, 0, 47).num_rows == 0
    assert concordance([], 20, 47).schema == concordance(paths, 20, 47).schema == audit.CONCORDANCE_SCHEMA


@pytest.mark.parametrize(
    ("text", "word", "left", "right"),
    [
        ("মা এল", "মা", "", " এল"),
        ("‘মা’, বলল সে", "মা", "‘", "’, বলল সে"),
        ("ক" * 50 + " " + "খ" * 20 + " মা " + "গ" * 58 + " ঘ", "মা", "খ" * 20 + " ", " " + "গ" * 58),
        ("ক" * 20 + " " + "খ" * 59 + " মা " + "গ" * 59 + "ঘ", "মা", "খ" * 59 + " ", ""),
        ("ক" * 90 + " মা " + "গ" * 90, "মা", "", ""),
        ("ক" * 50 + " " + "খ" * 57 + " মা " + "গ" * 57 + " ঘঙ চ", "মা", "খ" * 57 + " ", " " + "গ" * 57),
        ("এক দুই।\n মা", "মা", "এক দুই।\n ", ""),
    ],
)
def test_surroundings_are_cut_between_words(text: str, word: str, left: str, right: str) -> None:
    start = text.index(word)
    assert surroundings(text, start, start + len(word)) == (left, right)


@pytest.mark.parametrize("files", [1, 4])
def test_forms_are_counted_by_source_without_joiners(write: Write, files: int) -> None:
    found = contexts(9, 120)
    expected = Counter(
        (row["stimulus"], row["form"].replace("\u200c", ""), row["source"]) for rows in found for row in rows
    )
    table = count_forms(write(found, files))
    assert [tuple(row.values()) for row in table.to_pylist()] == [(*key, n) for key, n in sorted(expected.items())]
    assert table.schema == audit.FORM_SCHEMA


@pytest.mark.parametrize("at_a_time", [3, 1 << 17])
def test_lengths_count_each_context_once(write: Write, monkeypatch: pytest.MonkeyPatch, at_a_time: int) -> None:
    monkeypatch.setattr(audit, "_ROWS_AT_A_TIME", at_a_time)
    found = contexts(11, 150)
    lengths = [rows[0]["n_words"] for rows in found]
    table = length_histogram(write(found, 3)).to_pylist()
    for row in table:
        assert row["contexts"] == sum(row["at_least"] <= n <= (row["at_most"] or 10**9) for n in lengths)
    assert sum(row["contexts"] for row in table) == len(found)
    assert [row["at_most"] for row in table][-2:] == [249, None]


def form(form: str, stimulus: str, group: str, number: str = "singular", case: str = "nominative", **more: Any) -> Row:
    return {
        **{"form": form, "stimulus": stimulus, "group": group, "number": number, "case": case},
        **{"emphatic": "", "hyphenated": False, "counted": True},
        **more,
    }


LEXICON = [
    form("বেলি", "বেলি", "thing"),
    form("বেলির", "বেলি", "thing", case="genitive"),
    form("বেলী", "বেলি", "thing"),
    form("বেলীর", "বেলি", "thing", case="genitive"),
    form("বেলি-র", "বেলি", "thing", case="genitive", hyphenated=True),
    form("গোলাপের", "গোলাপ", "thing", case="genitive"),
    form("জবার", "জবা", "thing", case="genitive", counted=False),
    form("রঙের", "রং", "colour", case="genitive"),
    form("মাগো", "মা", "irregular", case=""),
    form("আম্মা", "মা", "irregular", case=""),
]


def test_suffixes_take_the_spelling_that_a_form_begins_with() -> None:
    counts = [
        *(("বেলি", "বেলির", 2), ("বেলি", "বেলীর", 30), ("গোলাপ", "গোলাপের", 5), ("বেলি", "বেলি-র", 1)),
        *(("রং", "রঙের", 4), ("মা", "মাগো", 3), ("মা", "আম্মা", 6), ("মা", "মায়ে", 7), ("বেলি", "বেলি", 8)),
    ]
    given = [{"stimulus": s, "form": f, "source": source, "occurrences": n} for s, f, n in counts for source in "ab"]
    found = count_suffixes(pa.Table.from_pylist(given, audit.FORM_SCHEMA), pa.Table.from_pylist(LEXICON)).to_pylist()
    assert sum(row["occurrences"] for row in found) == 2 * sum(n for *_, n in counts)
    assert [tuple(row.values()) for row in found] == read_cases(__file__, "suffixes")


def test_suffixes_that_bring_nothing_are_listed_too() -> None:
    found = count_suffixes(audit.FORM_SCHEMA.empty_table(), pa.Table.from_pylist(LEXICON)).to_pylist()
    # the form that counts for another stimulus is not
    assert [row["suffix"] for row in found] == ["রঙের", "আম্মা", "গো", "", "-র", "র", "ের"]
    assert {(row["occurrences"], row["stimuli"], row["forms"], row["examples"]) for row in found} == {(0, 0, 0, "")}
