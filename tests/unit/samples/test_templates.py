"""Filled templates as a table of segments."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.lexicon import Category, Lexicon, Stimulus, SurfaceForm, WordSet, load_templates
from prasanga.samples import SEGMENT_SCHEMA, fill_templates
from prasanga.samples.segments import TEMPLATE_SCHEMA, segment_id


@pytest.fixture
def lexicon() -> Lexicon:
    stimuli = tuple(Stimulus(name, word_class="name") for name in ("Sita", "Ram", "Meera", "good", "bad"))
    men, women, names = WordSet("m", "m", ("Ram",)), WordSet("f", "f", ("Sita", "Meera")), WordSet("n", "n", ("Meera",))
    good, bad = WordSet("g", "g", ("good",)), WordSet("b", "b", ("bad",))
    categories = {
        "S1": Category("S1", "S1", (women, men), (good, bad)),
        "S2": Category("S2", "S2", (names, men), (good, bad)),
    }
    forms = tuple(SurfaceForm(f"{s.name}'s", s.name, "name", "singular", "genitive") for s in stimuli)
    return Lexicon("en", stimuli, categories, (), readings=forms)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "seat.yaml"
    text = """\
language: en
templates:
  name:
    - {id: this-is, text: "This is {word}."}
    - {id: of, text: "It is, they said, \\"{word:genitive}\\" thing"}
"""
    path.write_text(text, encoding="utf-8")
    return path


def test_rows(lexicon: Lexicon, path: Path) -> None:
    table = fill_templates(lexicon, ["S1", "S2"], load_templates(path))
    assert table.schema == TEMPLATE_SCHEMA
    assert table.column_names[: len(SEGMENT_SCHEMA)] == SEGMENT_SCHEMA.names
    rows = table.to_pylist()
    assert [(row["stimulus"], row["template"]) for row in rows] == [
        (name, template) for name in ("Meera", "Ram", "Sita", "bad", "good") for template in ("this-is", "of")
    ]
    text = 'It is, they said, "Meera\'s" thing'
    assert {key: rows[1][key] for key in rows[1] if not key.endswith("_id")} == {
        "stimulus": "Meera",
        "segment_length": "templates",
        "text": text,
        "start": 19,
        "end": 26,
        "n_words": 7,
        "template": "of",
        "word_class": "name",
    }
    assert rows[1]["text"][19:26] == "Meera's"
    # what stores and released tables are found again by
    assert rows[1]["segment_id"] == segment_id(text, 19, 26) == "7746380e0569333101b4a745ce5fbbfe"


def test_names_are_those_of_template_and_word(lexicon: Lexicon, path: Path) -> None:
    rows = fill_templates(lexicon, ["S1"], load_templates(path)).to_pylist()
    assert len({row["occurrence_id"] for row in rows}) == len({row["segment_id"] for row in rows}) == len(rows) == 10
    assert len({row["context_id"] for row in rows}) == 2
    one = fill_templates(lexicon, ["S2"], load_templates(path)).to_pylist()
    assert [row for row in rows if row["stimulus"] != "Sita"] == one


def test_an_unknown_category(lexicon: Lexicon, path: Path) -> None:
    with pytest.raises(InputError, match=r"`seat\.categories` names 'S3', .* Allowed: S1, S2\."):
        fill_templates(lexicon, ["S1", "S3"], load_templates(path))
