"""What the rules of construction ask before any job: whether they are needed, and which files they read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError

INSTRUCTIONS = "instructions.md"
_OUT = "results/construction"
_HOW = "(docs/pairs.md)"


def is_asked_for(construction: Mapping[str, Any], words: Sequence[str], rules: Path) -> bool:
    """Tell whether a study needs the rules of construction.

    Args:
        construction: the section of the config.
        words: of Snakemake's command line.
        rules: the file of the rules.

    Returns:
        True if the config has something to construct from, or a word names one of the rules or their results.
    """
    if any(construction[key] for key in ("tuples", "proposer", "pairs", "translators")):
        return True
    named = {name for word in words for name in re.findall(r"\w+", word)}
    defined = re.findall(r"^rule (\w+):", rules.read_text(encoding="utf-8"), re.MULTILINE)
    return not named.isdisjoint(defined) or any(_OUT in word for word in words)


class Plan:
    """The files that the rules read and write, by what the config says and by which sheets have come back.

    Each method raises `InputError`, which says what to write, where something is missing.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Look at the config of a study, completed."""
        self._settings = config["construction"]
        self._models = config["models"]
        self._sets = config["pairs"]["sets"]
        into, returned = self._settings["into"], self._settings["returned"]
        name = self._settings["pairs"] or "none"
        self.annotators: list[str] = self._settings["annotators"]
        self.adaptation = f"{_OUT}/{name}/adaptation"
        self.translation = f"{_OUT}/{name}/translation/{into}"
        self.reviewed_sentences = f"{returned}/sentences.csv"
        self._vote_sheets = [f"{returned}/tuples/{annotator}.csv" for annotator in self.annotators]
        self._adapted = f"{returned}/{name}/adaptation.csv"
        self._translated = f"{returned}/{name}/translation/{into}"

    def tuples_to_annotate(self) -> str:
        """Return the tuples of the study, or those that a model proposes."""
        return self._settings["tuples"] or f"{_OUT}/attributes.csv"

    def annotated_tuples(self) -> str:
        """Return the tuples with the votes of sheets that came back; where none did, the study's with their own."""
        if any(Path(sheet).exists() for sheet in self._vote_sheets) or not self._settings["tuples"]:
            return f"{_OUT}/tuples.csv"
        return str(self._settings["tuples"])

    def filled_sheets(self) -> list[str]:
        """Return the sheets of all annotators with votes on tuples, as they came back."""
        check_annotators(self.annotators)
        for sheet in self._vote_sheets:
            if not Path(sheet).exists():
                raise InputError(
                    f"{sheet} is not there. Put the sheet that this annotator has filled in there, as CSV in UTF-8;"
                    f" empty ones are written by `snakemake write_annotation_sheets` {_HOW}."
                )
        return self._vote_sheets

    def sentences(self) -> list[str]:
        """Return the file of sentences that people have reviewed; else that of the model, if there is one."""
        if Path(self.reviewed_sentences).exists():
            return [self.reviewed_sentences]
        return [f"{_OUT}/sentences.csv"] if self._settings["proposer"] else []

    def proposer(self) -> str:
        """Return the name of the model that proposes, a decoder of the study."""
        name = self._settings["proposer"]
        kinds = {model: settings.get("kind", "auto") for model, settings in self._models.items()}
        decoders = sorted(model for model, kind in kinds.items() if kind in ("auto", "decoder"))
        there = f" Models that may be decoders: {', '.join(decoders) or 'none'}."
        if name is None:
            raise InputError(
                "construction.proposer is null, so no model can propose anything. Write the name of a decoder that"
                f" stands under `models`.{there}"
            )
        if name not in kinds:
            raise InputError(
                f"construction.proposer is {name!r}, which is not under `models`.{there} Add it, or write one."
            )
        if name not in decoders:
            raise InputError(
                f"construction.proposer is {name!r}, of kind {kinds[name]}; only a decoder goes on from a prompt."
                f"{there} Write one of them."
            )
        return str(name)

    def pairs(self) -> str:
        """Return the table of the set that is adapted or translated."""
        name = self._settings["pairs"]
        if name is None:
            raise InputError(
                "construction.pairs is null, so there is nothing to adapt or translate. Name a set of pairs.sets there"
                f" {_HOW}."
            )
        if name not in self._sets:
            known = ", ".join(self._sets) or "none"
            raise InputError(
                f"construction.pairs is {name!r}, and pairs.sets has: {known}. Write one of them, or add the set to"
                " pairs.sets."
            )
        return f"results/pairs/{name}.parquet"

    def candidates(self) -> list[str]:
        """Return the translations of every engine."""
        engines = self._settings["translators"]
        unknown = [engine for engine in engines if engine not in self._models]
        if unknown or not engines:
            found = f"names {unknown[0]!r}, which is not among models" if unknown else "is empty"
            raise InputError(
                f"construction.translators {found}. Name encoder-decoders of `models` there, two or more if possible"
                f" {_HOW}."
            )
        return [f"{self.translation}/candidates/{engine}.parquet" for engine in engines]

    def adapted_sheet(self) -> str:
        """Return the sheet of the adaptation that came back."""
        return _returned(self._adapted)

    def translation_key(self) -> str:
        """Return the key to the sheets that were given out, kept beside those that came back."""
        path = f"{self._translated}/key.csv"
        if not Path(path).exists():
            raise InputError(
                f"{path} is not there. It says what the letters of the sheets mean: copy"
                f" {self.translation}/key.csv there when the sheets are given out {_HOW}."
            )
        return path

    def chosen_translations(self) -> list[str]:
        """Return the sheets of all annotators with choices of translations, as they came back."""
        return [_returned(f"{self._translated}/{name}.csv") for name in self.annotators]

    def decisions(self) -> list[str]:
        """Return the file of decisions on ties, if there is one."""
        path = f"{self._translated}/decisions.csv"
        return [path] if Path(path).exists() else []

    def shared_pieces(self, ending: str) -> list[str]:
        """Return a file for each set of pairs and model."""
        if not self._sets:
            raise InputError(f"pairs.sets is empty, so there are no pairs to look at. Add a set {_HOW}.")
        found = f"{_OUT}/shared_pieces"
        return [f"{found}/{name}/{model}.{ending}" for name in sorted(self._sets) for model in sorted(self._models)]


def check_annotators(annotators: Sequence[str]) -> None:
    """Refuse names that cannot be files, and too few for an agreement.

    Raises:
        InputError: with the name and what is allowed.
    """
    if len(annotators) < 2:
        raise InputError(
            f"`construction.annotators` has {len(annotators)} name(s); agreement needs two or more. Write e.g."
            " [annotator-1, annotator-2, annotator-3]."
        )
    for name in annotators:
        if not name.replace("-", "").replace("_", "").isalnum() or name.lower() == Path(INSTRUCTIONS).stem:
            raise InputError(
                f"`construction.annotators` has {name!r}, which names a file. Write letters, digits, - and _, and not"
                f" {Path(INSTRUCTIONS).stem!r}."
            )
    if len({name.lower() for name in annotators}) < len(annotators):
        raise InputError("`construction.annotators` has a name twice (capitals do not count). Rename one of them.")


def _returned(path: str) -> str:
    """Return a sheet that people have filled in, if it is there."""
    if not Path(path).exists():
        raise InputError(
            f"{path} is not there. Put the sheet that came back there, as CSV in UTF-8 (docs/pairs.md), or write"
            " another folder under construction.returned."
        )
    return path
