"""Define the types of config values, such as a path or a share, with checks that pydantic lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, SerializationInfo
from pydantic_core import PydanticCustomError

from prasanga.base.places import LANGUAGE_TAG, exists

NORMALIZATION: dict[str, Any] = {"bn": "bangla", "hi": "nukta", "en": "nfkc"}
"""Normalization of the languages with shipped words."""

PAPER: dict[str, dict[str, Any]] = {
    "sentences": {"match": "sentence-initial", "neighbours": "ignore", "before": 1, "after": 1},
    "samples": {"pool": "per_length", "window": "paper"},
    "models": {"*": {"pieces": "root"}},
    "associations": {
        **{"draws": "with-replacement", "repeated_words": "as-listed"},
        **{"alternative": "greater", "statistic": "difference"},
    },
    "seat": {"unit": "sentence"},
    "pairs": {"encoder_decoder": "causal", "punctuation": "with-word", "ties": "against"},
    "log_probability": {
        **{"exchanged": ["C6", "C7", "C8", "C9"], "pieces": "first"},
        **{"aggregation": "raw_logits", "prior_mask": "authors"},
    },
}
"""Defaults of the preset `paper` that differ; `*` means every entry."""

BY_LANGUAGE = (
    ("seat", "templates", "resources/templates/{}/seat.yaml"),
    ("log_probability", "templates", "resources/templates/{}/log_probability.yaml"),
    ("log_probability", "structures", "resources/templates/{}/structures.yaml"),
    ("construction", "identities", "resources/construction/{}/identities.yaml"),
    ("construction", "templates", "resources/construction/{}/templates.yaml"),
)


LEXICON = {"stimuli": "resources/stimuli/{language}", "suffix_groups": "resources/suffix_groups/{language}.yaml"}
DEFAULT_MODELS: Any = {
    "e5-small": {"package": "multilingual-e5-small", "stages": ["embeddings"]},
    "smollm2": {"package": "smollm2-135m-instruct", "stages": ["likelihoods"]},
}


def mistake(sentences: str) -> PydanticCustomError:
    """Return an error whose message is the key followed by `sentences`."""
    return PydanticCustomError("mistake", "{sentences}", {"sentences": sentences})


def _refuse_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "a truth value is not a number")
    return value


def _refuse_repeats(items: list[Any]) -> list[Any]:
    for n, item in enumerate(items):
        if item in items[:n]:
            raise mistake(f"has {item!r} twice. Write it once.")
    return items


def _require_no_braces(path: str) -> str:
    if "{" in path or "}" in path:
        raise mistake(
            f"is {path!r}, and Snakemake would fill in the part in braces. Rename the file or folder without `{{` and"
            " `}`, and write the new name."
        )
    return path


def _require_below_root(pattern: str) -> str:
    if ".." in pattern.split("/"):
        raise mistake(
            f"is {pattern!r}, which leads out of `corpus.root`. Write the folder as `corpus.root`, and a pattern below"
            " it here."
        )
    return _require_no_braces(pattern)


def fill_in(value: Any, language: str) -> Any:
    """Return a value, and nested ones, with the language in place of `{language}`."""
    if isinstance(value, Mapping):
        return {key: fill_in(each, language) for key, each in value.items()}
    if isinstance(value, list):
        return [fill_in(each, language) for each in value]
    return value.replace("{language}", language) if isinstance(value, str) else value


def has_words(language: str, lexicon: Any) -> bool:
    """Return whether a study has words: its own, shipped ones, or ones in its folder."""
    stimuli = lexicon.get("stimuli") if isinstance(lexicon, Mapping) else None
    return language in NORMALIZATION or stimuli != LEXICON["stimuli"].replace("{language}", language) or exists(stimuli)


def add_normalization(given: Any) -> Any:
    """Return the normalization by language, with defaults for other languages."""
    return {**NORMALIZATION, **given} if isinstance(given, Mapping) else given


def _find_place(path: str, info: SerializationInfo) -> str:
    return str(info.context["placed"](path)) if info.context else path


T = TypeVar("T")
NUMBER = BeforeValidator(_refuse_truth_value)
DISTINCT = AfterValidator(_refuse_repeats)
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Whole: TypeAlias = Annotated[int, NUMBER]
Count: TypeAlias = Annotated[int, Field(ge=0), NUMBER]
Positive: TypeAlias = Annotated[int, Field(ge=1), NUMBER]
AtLeast2: TypeAlias = Annotated[int, Field(ge=2), NUMBER]
Neighbours: TypeAlias = Annotated[int, Field(ge=0, le=100), NUMBER]
Seed: TypeAlias = Annotated[int, Field(ge=0, le=2**32 - 1), NUMBER]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1), NUMBER]
Above0: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False), NUMBER]
Distinct: TypeAlias = Annotated[list[T], DISTINCT]
DistinctSome: TypeAlias = Annotated[list[T], Field(min_length=1), DISTINCT]
Buckets: TypeAlias = Literal["auto"] | Annotated[int, Field(ge=1, le=100), NUMBER]
Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
Annotator: TypeAlias = Annotated[str, Field(pattern=r"^[\w-]+$", max_length=100, examples=["annotator-1"])]
Language: TypeAlias = Annotated[str, Field(pattern=LANGUAGE_TAG, examples=["bn", "hi", "en", "ta", "pt-BR"])]
Languages: TypeAlias = DistinctSome[Language] | Annotated[dict[Language, dict[str, Any] | None], Field(min_length=1)]
Normalization: TypeAlias = Literal["bangla", "nukta", "nfkc", "nfc", "none"]
LongerThan: TypeAlias = Annotated[str, Field(pattern=r"^>[1-9][0-9]{0,4}$", examples=[">75"])]
FilePath: TypeAlias = Annotated[
    str, Field(min_length=1), AfterValidator(_require_no_braces), PlainSerializer(_find_place, return_type=str)
]
Sides: TypeAlias = (
    Annotated[list[str], Field(min_length=2, max_length=2)]
    | Annotated[
        dict[str, Annotated[list[str | dict[str, Any]], Field(min_length=1)] | FilePath | None],
        Field(min_length=2, max_length=2),
    ]
)
FilePattern: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_require_below_root)]


def absent() -> Any:
    """Return the default of a key that a completed config has only if the study sets it."""
    return Field(default=None, exclude_if=lambda value: value is None, json_schema_extra=_describe_absent)


def _describe_absent(schema: dict[str, Any]) -> None:
    del schema["default"]
    options = [option for option in schema.pop("anyOf", []) if option != {"type": "null"}]
    schema |= options[0] if options else {}


def add_defaults(given: Any, defaults: Mapping[str, Any]) -> Any:
    """Return a section with defaults for missing keys; a value that is not a section is left for its type to refuse."""
    if not isinstance(given, Mapping):
        return given
    if "*" in defaults:
        return {name: add_defaults(entry, defaults["*"]) for name, entry in given.items()}
    added = {
        key: add_defaults(given.get(key, {}), value) if isinstance(value, dict) else given.get(key, value)
        for key, value in defaults.items()
    }
    return {**given, **added}
