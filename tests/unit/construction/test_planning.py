"""What the rules of construction read, by the config and by the sheets that have come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga_construction.planning import Plan, is_asked_for
from prasanga_construction.tuples import write_sheets

NOTHING: dict[str, Any] = {
    **{"tuples": None, "proposer": None, "pairs": None, "translators": [], "translations": None, "votes": 3}
}
MODELS = {"mt5": {"kind": "encoder-decoder"}, "gpt": {"kind": "decoder"}, "new": {}}
ROOT = Path(__file__).parents[3]
RULES = ROOT / "construction/construction.smk"


def plan(sets: tuple[str, ...] = (), **settings: Any) -> Plan:
    construction = {**NOTHING, "annotators": ["a", "b"], "into": "hi", "returned": "annotations", **settings}
    return Plan({"construction": construction, "models": MODELS, "pairs": {"sets": dict.fromkeys(sets)}})


@pytest.mark.parametrize(("settings", "line", "expected"), read_cases(__file__, "command_lines"))
def test_the_config_or_the_command_line_asks(settings: dict[str, Any], line: str, expected: bool) -> None:
    assert is_asked_for({**NOTHING, **settings}, line.split(), RULES) is expected


def test_the_proposer_is_a_decoder_of_the_study() -> None:
    assert plan(proposer="gpt").proposer() == "gpt"
    for name in (None, "x", "mt5"):
        with pytest.raises(InputError, match=rf"construction.proposer names {name!r}.*decoders.*gpt, new"):
            plan(proposer=name).proposer()


def test_votes_that_came_back_go_before_those_of_the_tuples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan().annotated_tuples() == "results/construction/tuples.csv"
    assert plan().tuples_to_annotate() == "results/construction/attributes.csv"
    own = plan(tuples="t.csv")
    assert (own.tuples_to_annotate(), own.annotated_tuples()) == ("t.csv", "t.csv")
    folder = tmp_path / "annotations/tuples"
    folder.mkdir(parents=True)
    (folder / "b.csv").touch()
    assert own.annotated_tuples() == "results/construction/tuples.csv"
    with pytest.raises(InputError, match=r"annotations/tuples/a.csv is missing.*results/construction/sheets"):
        own.filled_sheets()
    (folder / "a.csv").touch()
    assert own.filled_sheets() == ["annotations/tuples/a.csv", "annotations/tuples/b.csv"]


def test_sentences_that_people_reviewed_go_before_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert plan().sentences() == []
    assert plan(proposer="gpt").sentences() == ["results/construction/sentences.csv"]
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations/sentences.csv").touch()
    assert plan().sentences() == plan(proposer="gpt").sentences() == ["annotations/sentences.csv"]


def test_the_set_and_its_translators() -> None:
    named = plan(("crows",), pairs="crows", translators=["mt5", "gpt"])
    assert named.pairs() == "results/pairs/crows.parquet"
    assert named.candidates() == [
        f"results/construction/crows/translation/hi/candidates/{engine}.parquet" for engine in ("mt5", "gpt")
    ]
    for name in (None, "x"):
        with pytest.raises(InputError, match=rf"construction.pairs names {name!r}.*crows"):
            plan(("crows",), pairs=name).pairs()
    assert plan(translations="google.csv").candidates() == []
    assert plan(translators=["mt5"], translations="google.csv").translations == ["google.csv"]
    for engines, named in (([], None), (["gpt", "x"], "x")):
        with pytest.raises(InputError, match=rf"construction.translators names {named!r}"):
            plan(translators=engines).candidates()


def test_sheets_of_a_set_that_came_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    named = plan(("crows",), pairs="crows", returned="back")
    for ask, said in (
        (named.adapted_sheet, r"back/crows/adaptation.csv is missing"),
        (named.translation_key, r"back/crows/translation/hi/key.csv is missing.* from results/construction/crows/"),
        (named.chosen_translations, r"back/crows/translation/hi/a.csv is missing"),
    ):
        with pytest.raises(InputError, match=said):
            ask()
    assert named.decisions() == []
    folder = tmp_path / "back/crows/translation/hi"
    folder.mkdir(parents=True)
    for name in ("a", "b", "key", "decisions"):
        (folder / f"{name}.csv").touch()
    (tmp_path / "back/crows/adaptation.csv").touch()
    assert named.adapted_sheet() == "back/crows/adaptation.csv"
    assert named.translation_key() == "back/crows/translation/hi/key.csv"
    assert named.chosen_translations() == [f"back/crows/translation/hi/{name}.csv" for name in ("a", "b")]
    assert named.decisions() == ["back/crows/translation/hi/decisions.csv"]


def test_shared_pieces_of_every_set_by_every_model() -> None:
    paths = plan(("b", "a")).shared_pieces("pieces.parquet")
    assert len(paths) == 6
    assert paths[0] == "results/construction/shared_pieces/a/gpt.pieces.parquet"
    with pytest.raises(InputError, match=r"pairs.sets is empty"):
        plan().shared_pieces("pieces.parquet")


@pytest.mark.parametrize("names", [["one"], ["a/b", "c"], ["instructions", "c"], ["A", "a"]])
def test_annotators_that_cannot_have_sheets(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(InputError, match=r"`construction.annotators` has"):
        plan(annotators=names).filled_sheets()
    with pytest.raises(InputError, match=r"`construction.annotators` has"):
        write_sheets([], tmp_path, names, 1)
