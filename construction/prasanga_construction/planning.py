"""Plan construction before any job: whether its rules are needed, and which files they read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError

INSTRUCTIONS = "instructions.md"
_OUT = "results/construction"


def is_asked_for(construction: Mapping[str, Any], words: Sequence[str], rules: Path) -> bool:
    """Return whether a study needs the rules of construction.

    Args:
        construction: the section of the config.
        words: of Snakemake's command line.
        rules: the file of the rules.

    Returns:
        True if the config has something to construct from, or a word names one of the rules or their results.
    """
    if any(construction[key] for key in ("tuples", "proposer", "pairs", "translators", "translations")):
        return True
    named = {name for word in words for name in re.findall(r"\w+", word)}
    defined = re.findall(r"^rule (\w+):", rules.read_text(encoding="utf-8"), re.MULTILINE)
    return not named.isdisjoint(defined) or any(_OUT in word for word in words)


class Plan:
    """The files that the rules read and write, by the config and the returned sheets.

    Each method raises `InputError`, which says what to write, if something is missing.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Look at the config of a study, completed."""
        self._settings, self._models = config["construction"], config["models"]
        self._sets: list[str] = list(config["pairs"]["sets"])
        into, returned = self._settings["into"], self._settings["returned"]
        name = self._settings["pairs"] or "none"
        self.annotators: list[str] = self._settings["annotators"]
        self.translations = [path for path in [self._settings["translations"]] if path]
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
        """Return the tuples with the votes of returned sheets, or without these the study's tuples."""
        if any(Path(sheet).exists() for sheet in self._vote_sheets) or not self._settings["tuples"]:
            return f"{_OUT}/tuples.csv"
        return str(self._settings["tuples"])

    def filled_sheets(self) -> list[str]:
        """Return the sheets of all annotators with votes on tuples, as they came back."""
        check_annotators(self.annotators)
        return [_require_returned(sheet, f"{_OUT}/sheets") for sheet in self._vote_sheets]

    def sentences(self) -> list[str]:
        """Return the file of reviewed sentences; or else of the model's sentences, if it exists."""
        if Path(self.reviewed_sentences).exists():
            return [self.reviewed_sentences]
        return [f"{_OUT}/sentences.csv"] if self._settings["proposer"] else []

    def proposer(self) -> str:
        """Return the name of the model that proposes, a decoder of the study."""
        decoders = [name for name, model in self._models.items() if model.get("kind", "auto") in ("auto", "decoder")]
        return _require_among("proposer", self._settings["proposer"], decoders, "decoders of `models`")

    def pairs(self) -> str:
        """Return the table of the set that is adapted or translated."""
        name = _require_among("pairs", self._settings["pairs"], self._sets, "sets of `pairs.sets`")
        return f"results/pairs/{name}.parquet"

    def candidates(self) -> list[str]:
        """Return the translations of every local engine; may be empty if other translations are given."""
        engines = [
            _require_among("translators", engine, self._models, "encoder-decoders of `models`, two or more if possible")
            for engine in self._settings["translators"] or ([] if self.translations else [None])
        ]
        return [f"{self.translation}/candidates/{engine}.parquet" for engine in engines]

    def adapted_sheet(self) -> str:
        """Return the sheet of the adaptation that came back."""
        return _require_returned(self._adapted, self.adaptation)

    def translation_key(self) -> str:
        """Return the key to the blank sheets, which is kept with the returned ones."""
        return _require_returned(f"{self._translated}/key.csv", self.translation)

    def chosen_translations(self) -> list[str]:
        """Return the sheets of all annotators with choices of translations, as they came back."""
        sheets = f"{self.translation}/sheets"
        return [_require_returned(f"{self._translated}/{name}.csv", sheets) for name in self.annotators]

    def decisions(self) -> list[str]:
        """Return the file of decisions on ties, if it exists."""
        path = f"{self._translated}/decisions.csv"
        return [path] if Path(path).exists() else []

    def shared_pieces(self, ending: str) -> list[str]:
        """Return a file for each set of pairs and model."""
        if not self._sets:
            raise InputError("pairs.sets is empty. Add a set (docs/pairs.md).")
        found = f"{_OUT}/shared_pieces"
        return [f"{found}/{name}/{model}.{ending}" for name in sorted(self._sets) for model in sorted(self._models)]


def check_annotators(annotators: Sequence[str]) -> None:
    """Refuse names that cannot be files, and too few for an agreement.

    Raises:
        InputError: with the names and the rule.
    """
    plain = {name.lower() for name in annotators if re.fullmatch(r"[\w-]+", name)} - {Path(INSTRUCTIONS).stem}
    if len(annotators) < 2 or len(plain) < len(annotators):
        raise InputError(
            f"`construction.annotators` has {', '.join(map(repr, annotators)) or 'no name'}. Write two names or more,"
            " different in letters, digits, - and _ whatever their case, such as [annotator-1, annotator-2]; none may"
            f" be {Path(INSTRUCTIONS).stem!r}."
        )


def _require_among(key: str, name: str | None, allowed: Collection[str], what: str) -> str:
    """Return the name under a key of the config, if it is allowed."""
    if name is None or name not in allowed:
        raise InputError(
            f"construction.{key} names {name!r}. Write {what} there; the config has"
            f" {', '.join(sorted(allowed)) or 'none'} (docs/make_pairs.md)."
        )
    return name


def _require_returned(path: str, given_out: str) -> str:
    """Return a file that people have filled in or kept, if it exists."""
    if not Path(path).exists():
        raise InputError(
            f"{path} is missing. Put the file of that name from {given_out} there, filled in and as CSV in UTF-8"
            " (docs/make_pairs.md), or write another folder under construction.returned."
        )
    return path
