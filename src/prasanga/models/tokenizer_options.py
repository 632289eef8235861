"""Options of a tokenizer that do what they say, whichever files the tokenizer was read from.

transformers obeys `keep_accents`, `strip_accents` and the like where it builds a tokenizer from a vocabulary itself,
and drops them without a word where it takes a tokenizer.json as it is. There the steps that strip marks or case are
taken out of the tokenizer's normalizer here, since a Bangla word without its vowel signs is another word. An option
that changes nothing, because this tokenizer does not know it, is refused.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from prasanga.base.errors import InputError

_LOG = logging.getLogger(__name__)

Option = bool | int | float | str

_KNOWN_TO_ALL = {
    *PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES,
    "model_max_length",
    "padding_side",
    "truncation_side",
    "split_special_tokens",
    "add_bos_token",
    "add_eos_token",
    "fix_mistral_regex",
}
_NOT_OF_A_TOKENIZER = {
    "trust_remote_code": "remote_code: true under the model",
    "revision": "revision under the model",
    "code_revision": "revision under the model",
    "use_fast": "nothing, since only fast tokenizers are used",
    **dict.fromkeys(
        ("subfolder", "tokenizer_file", "vocab_file", "merges_file", "gguf_file", "vocab", "merges"),
        "the path of a folder that has the right files",
    ),
    **dict.fromkeys(
        ("cache_dir", "token", "local_files_only", "force_download", "proxies"), "variables such as HF_HOME"
    ),
    **dict.fromkeys(
        ("tokenizer_type", "tokenizer_object", "mistral_format", "config", "backend", "use_auth_token"),
        "the path of a folder with the right tokenizer_config.json",
    ),
}
_OF_A_NORMALIZER = frozenset(("do_lower_case", "strip_accents", "tokenize_chinese_chars", "keep_accents"))
_UNICODE_SPLITS = ("NFD", "NFKD")  # they only serve to make marks strippable


def check_options(model: str, options: Mapping[str, Option]) -> None:
    """Refuse options that have a key of their own in the config, and values of the wrong type.

    Raises:
        InputError: naming the option.
    """
    for name, value in options.items():
        if name in _NOT_OF_A_TOKENIZER:
            raise InputError(
                f"model {model}: tokenizer has {name!r}, which is no option of a tokenizer. Remove it; write"
                f" {_NOT_OF_A_TOKENIZER[name]} instead."
            )
        if name in _SETTERS and not isinstance(value, bool):
            raise InputError(f"model {model}: tokenizer: {name} is {value!r}; write true or false.")


def apply_options(model: str, tokenizer: Any, options: Mapping[str, Option]) -> None:
    """Make `options`, with which `tokenizer` was loaded, take effect in its backend.

    Raises:
        InputError: an option that this tokenizer does not know and that changes nothing.
    """
    if not options:
        return
    backend = tokenizer.backend_tokenizer
    before = {part: _state(getattr(backend, part)) for part in ("normalizer", "pre_tokenizer")}
    state = dict(before)
    for name, value in options.items():
        known = name in _KNOWN_TO_ALL or name in _parameters(type(tokenizer))
        applies = False
        if name in _SETTERS:
            part, setter = _SETTERS[name]
            state[part], applies = setter(state[part], bool(value))
        if not known and not applies:
            raise InputError(
                f"model {model}: tokenizer: {name} has no effect: {type(tokenizer).__name__} has no such option, and"
                f" its tokenizer.json nothing that {name}: {json.dumps(value)} would change. Remove the line, or look"
                " the name up in the documentation of this tokenizer."
            )
    for part in state:
        if state[part] != before[part]:
            setattr(backend, part, _rebuilt(part, state[part]))


def keep_normalizer_of_file(
    tokenizer: Any, file: Path | None, settings: Path | None, options: Mapping[str, Option] | None = None
) -> None:
    """Normalize as `file` says, where nothing asks for something else.

    Some classes of transformers take the vocabulary from tokenizer.json and rebuild the rest from
    tokenizer_config.json, or from defaults where it says nothing: a BERT that was trained with vowel signs then loses
    them, and an mBART its compatibility map. With a word on it in the settings or the options, transformers' way is
    left. So it is where the two normalizers do not mark spaces alike, as in Llama's files, which put ▁ before a text
    (`Prepend`): there the class builds a pre-tokenizer to do that, and both together would give the first piece
    another span.

    Args:
        tokenizer: as transformers has built it; changed in place.
        file: its tokenizer.json; None if it has none, and then nothing is done.
        settings: its tokenizer_config.json; None if it has none.
        options: what it was loaded with; those that `apply_options` sets by itself do not count.
    """
    if file is None:
        return
    said = json.loads(settings.read_text(encoding="utf-8")) if settings is not None else {}
    asked = said.keys() | ((options or {}).keys() - _SETTERS.keys())
    if not _OF_A_NORMALIZER.isdisjoint(asked):
        return
    engine = tokenizer.backend_tokenizer
    written = _first_of("normalizer", file.read_text(encoding="utf-8"))
    built = _state(engine.normalizer)
    if written == built or _marking_spaces(written) != _marking_spaces(built):
        return
    _LOG.info("the normalizer is that of %s, and not the one that transformers builds", file)
    engine.normalizer = _rebuilt("normalizer", written)


def _parameters(kind: type) -> set[str]:
    """Return the names that the constructors of a tokenizer's class and of its bases list."""
    names: set[str] = set()
    for base in kind.__mro__:
        if "__init__" in vars(base) and issubclass(base, PreTrainedTokenizerBase):
            names |= set(inspect.signature(vars(base)["__init__"]).parameters)
    return names - {"self", "args", "kwargs"}


def _state(part: Any) -> Any:
    """Return a normalizer or pre-tokenizer as JSON has it; the whole tokenizer would be written for half a second."""
    return None if part is None else json.loads(part.__getstate__())


def _first_of(key: str, text: str) -> Any:
    """Return the value of a key of a JSON object, and read no further: before the vocabulary, which is long."""
    decode, place = json.JSONDecoder().raw_decode, text.index("{") + 1
    while before := re.compile(r"\s*,?\s*(?=\")").match(text, place):
        name, place = decode(text, before.end())
        value, place = decode(text, re.compile(r"\s*:\s*").match(text, place).end())  # type: ignore[union-attr]
        if name == key:
            return value
    return None


def _rebuilt(part: str, state: Any) -> Any:
    """Return a normalizer or pre-tokenizer from its JSON, by way of a tokenizer that has no other part."""
    if state is None:
        return None
    model = {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}
    return getattr(Tokenizer.from_str(json.dumps({"version": "1.0", "model": model, part: state})), part)


def _steps(state: Any) -> list[dict[str, Any]]:
    """Return the steps of a normalizer or pre-tokenizer, in order, nested sequences unfolded."""
    if state is None:
        return []
    inner = state.get("normalizers", state.get("pretokenizers")) if state["type"] == "Sequence" else None
    return [state] if inner is None else [step for part in inner for step in _steps(part)]


def _marking_spaces(state: Any) -> list[dict[str, Any]]:
    """Return the steps of a normalizer that write a sign for a space, of which a pre-tokenizer then knows."""
    return [step for step in _steps(state) if step["type"] == "Prepend" or step.get("pattern") == {"String": " "}]


def _sequence(steps: list[dict[str, Any]]) -> Any:
    return {"type": "Sequence", "normalizers": steps} if len(steps) != 1 else steps[0]


def _set_stripping(state: Any, strip: bool) -> tuple[Any, bool]:
    """Strip marks or keep them; return the new state, and whether there was a step that this concerns."""
    kept: list[dict[str, Any]] = []
    applies = False
    for step in _steps(state):
        if step["type"] == "BertNormalizer":
            step, applies = {**step, "strip_accents": strip}, True
        elif step["type"] == "StripAccents":
            applies = True
            if not strip:
                if kept and kept[-1]["type"] in _UNICODE_SPLITS:
                    kept.pop()
                continue
        kept.append(step)
    return (_sequence(kept) if applies else state), applies


def _set_lowercase(state: Any, lowercase: bool) -> tuple[Any, bool]:
    """Fold case or keep it; in BERT's normalizer, marks are stripped with the case unless it says otherwise."""
    kept: list[dict[str, Any]] = []
    applies = False
    for step in _steps(state):
        if step["type"] == "BertNormalizer":
            step, applies = {**step, "lowercase": lowercase}, True
        elif step["type"] == "Lowercase":
            applies = True
            if not lowercase:
                continue
        kept.append(step)
    return (_sequence(kept) if applies else state), applies


def _set_prefix_space(state: Any, add: bool) -> tuple[Any, bool]:
    """Treat the first word of a text as one after a space, or not (byte-level tokenizers and SentencePiece's)."""
    if state is None:
        return state, False
    if state["type"] == "Sequence":
        pairs = [_set_prefix_space(part, add) for part in state["pretokenizers"]]
        return {**state, "pretokenizers": [part for part, _ in pairs]}, any(applies for _, applies in pairs)
    if state["type"] == "ByteLevel":
        return {**state, "add_prefix_space": add}, True
    if state["type"] == "Metaspace":
        has_it = state["prepend_scheme"] != "never"
        return (state if add == has_it else {**state, "prepend_scheme": "always" if add else "never"}), True
    return state, False


_SETTERS: dict[str, tuple[str, Callable[[Any, bool], tuple[Any, bool]]]] = {
    "keep_accents": ("normalizer", lambda state, keep: _set_stripping(state, not keep)),
    "strip_accents": ("normalizer", _set_stripping),
    "do_lower_case": ("normalizer", _set_lowercase),
    "add_prefix_space": ("pre_tokenizer", _set_prefix_space),
}
"""By name of an option: the part of the backend that it concerns, and what sets it there."""
