"""Cut texts into pieces with character spans, find the pieces of languages, and make tokenizer options take effect."""

from __future__ import annotations

import inspect
import json
import logging
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from prasanga.base.errors import InputError, reason

_LOG = logging.getLogger(__name__)

# --------------------
# The pieces of a text with their character spans, and which of them to keep if a text is too long for a model.


Span = tuple[int, int]


class Pieces(NamedTuple):
    """The pieces of one text, special ones included.

    Attributes:
        ids: their numbers in the vocabulary.
        spans: the characters (start, end) of each; meaningless where `special` is 1.
        special: 1 where the tokenizer added the piece, else 0.
    """

    ids: Sequence[int]
    spans: Sequence[Span]
    special: Sequence[int]


class PieceTable(NamedTuple):
    """The pieces of n texts one after the other, special ones included, as arrays.

    Attributes:
        ids: (pieces,) their numbers in the vocabulary.
        spans: (pieces, 2) the first character of each, and the one after its last; meaningless where `special` is true.
        special: (pieces,) whether the tokenizer added the piece.
        borders: (n + 1,) text i has the pieces from `borders[i]` to `borders[i + 1]`.
    """

    ids: NDArray[np.int64]
    spans: NDArray[np.int64]
    special: NDArray[np.bool_]
    borders: NDArray[np.int64]

    def pieces(self, text: int) -> Pieces:
        """Return the pieces of one text."""
        mine = slice(self.borders[text], self.borders[text + 1])
        spans = [(start, end) for start, end in self.spans[mine].tolist()]
        return Pieces(self.ids[mine].tolist(), spans, self.special[mine].astype(int).tolist())


def read_pieces(tokenizer: Any, texts: Iterable[str]) -> dict[str, Pieces]:
    """Return the pieces of each distinct text, never truncated; `tokenizer` is a fast one of transformers."""
    different = list(dict.fromkeys(texts))
    table = read_piece_table(tokenizer, different)
    return {text: table.pieces(place) for place, text in enumerate(different)}


def read_piece_table(tokenizer: Any, texts: Sequence[str]) -> PieceTable:
    """Return the pieces of all texts, never truncated; `tokenizer` is a fast one of transformers."""
    begins = [_count_dropped_at_start(tokenizer.backend_tokenizer.normalizer, text) for text in texts]
    encoded = encode(tokenizer, [text[begin:] for text, begin in zip(texts, begins, strict=True)], special=True)
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    borders = np.concatenate([[0], np.cumsum(lengths)])
    total, flat = int(borders[-1]), chain.from_iterable
    ids = np.fromiter(flat(each.ids for each in encoded), np.int64, total)
    special = np.fromiter(flat(each.special_tokens_mask for each in encoded), np.bool_, total)
    spans = np.fromiter(flat(flat(each.offsets for each in encoded)), np.int64, 2 * total).reshape(-1, 2)
    return PieceTable(ids, spans + np.repeat(np.array(begins, np.int64), lengths)[:, None], special, borders)


def encode(tokenizer: Any, texts: Sequence[str], *, special: bool) -> list[Any]:
    """Return the encoding of each text, with or without special pieces.

    This calls the tokenizer's own engine, which works on many texts at once and without Python's lock.

    Raises:
        InputError: the engine fails, for example on an unknown letter if its vocabulary lacks a piece for that.
    """
    engine = tokenizer.backend_tokenizer
    engine.no_truncation()
    engine.no_padding()  # some tokenizer files pad every text to hundreds of pieces
    try:
        encoded: list[Any] = engine.encode_batch(texts, add_special_tokens=special)
        return encoded
    except Exception as error:
        raise InputError(
            f"model {tokenizer.name_or_path}: its tokenizer cannot cut a text into pieces ({reason(error)}). Fetch the"
            " model's own tokenizer, or add the missing piece to tokenizer.json."
        ) from error


def _count_dropped_at_start(normalizer: Any, text: str) -> int:
    """Return how many control characters at the start of a text the normalizer drops.

    SentencePiece's map (`Precompiled`) drops them there without counting, which would shift all spans of the text. So
    they are removed beforehand, and counted.
    """
    count = 0
    while count < len(text) and unicodedata.category(text[count]) == "Cc":
        if normalizer is None or normalizer.normalize_str(text[count]):
            break
        count += 1
    return count


def unknown_pieces(tokenizer: Any) -> frozenset[int]:
    """Return the pieces for unknown text; usually none for a byte-level tokenizer."""
    engine = tokenizer.backend_tokenizer
    named = getattr(engine.model, "unk_token", None)  # the tokenizer's file may name it even if its settings do not
    known = {tokenizer.unk_token_id, engine.token_to_id(named) if named else None}
    return frozenset(piece for piece in known if piece is not None)


def overlapping(pieces: Pieces, start: int, end: int) -> list[int]:
    """Return the positions of the ordinary pieces that cover a character of `start` to `end`."""
    return [i for i, (begin, stop) in enumerate(pieces.spans) if begin < end and stop > start and not pieces.special[i]]


def cut_around(pieces: Pieces, begin: int, end: int, limit: int | None) -> list[int]:
    """Return which positions to keep: all, or the special pieces and a stretch around positions `begin` to `end`.

    The stretch has as many pieces as `limit` allows, the same number on either side of the target as far as the text
    goes; one side gets what the other cannot use. A target larger than the limit loses its end.
    """
    count = len(pieces.ids)
    if limit is None or count <= limit:
        return list(range(count))
    ordinary = [i for i in range(count) if not pieces.special[i]]
    room = limit - (count - len(ordinary))
    before = sum(i < begin for i in ordinary)
    after = sum(i >= end for i in ordinary)
    spare = max(0, room - (len(ordinary) - before - after))
    left = min(before, max(spare // 2, spare - after))
    kept = set(ordinary[before - left : before - left + room])
    return [i for i in range(count) if pieces.special[i] or i in kept]


# --------------------
# The pieces that name a language to the tokenizer of a multilingual encoder-decoder, such as hi_IN or hin_Deva.


_LONG_CODES = {"bn": "ben", "hi": "hin", "en": "eng"}
_CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]*")


def language_pieces(tokenizer: Any) -> dict[str, int]:
    """Return {piece: id} for a tokenizer with language pieces, otherwise nothing."""
    if not hasattr(tokenizer, "src_lang"):
        return {}
    vocabulary = tokenizer.get_vocab()
    named = map(str, tokenizer.all_special_tokens)
    return {piece: vocabulary[piece] for piece in named if piece in vocabulary and _CODE.fullmatch(piece)}


def language_piece(name: str, tokenizer: Any, language: str, codes: Mapping[str, str]) -> str | None:
    """Return the tokenizer's piece for `language`; None if it does not use language pieces.

    Args:
        name: the model, for messages.
        tokenizer: the model's.
        language: bn, hi, en.
        codes: pieces by language (`models.<m>.language_codes`), for languages whose own code does not identify one.

    Raises:
        InputError: the tokenizer lacks the piece, or several fit.
    """
    known = language_pieces(tokenizer)
    listed = f"It has {', '.join(sorted(known))}" if known else "No pieces for languages are known in it"
    if language in codes:
        if codes[language] not in tokenizer.get_vocab():
            raise InputError(
                f"model {name}: language_codes has {language}: {codes[language]}, which is no piece of the tokenizer."
                f" {listed}. Write the right one, or leave {language} out of language_codes."
            )
        return codes[language]
    fitting = [piece for piece in known if piece.partition("_")[0] in (language, _LONG_CODES.get(language))]
    if known and len(fitting) != 1:
        raise InputError(
            f"model {name}: the tokenizer has {' and '.join(fitting) or 'no piece'} for the language {language}."
            f" {listed}. Write one under the model, such as language_codes: {{{language}: {min(known)}}}."
        )
    return fitting[0] if fitting else None


# --------------------
# Options of a tokenizer that take effect whatever files the tokenizer was read from.
#
# transformers obeys `keep_accents`, `strip_accents` and the like if it builds a tokenizer from a vocabulary, and
# silently drops them if it reads a tokenizer.json. In that case, the steps that strip marks or case are removed from
# the normalizer here, because a Bangla word without its vowel signs is another word. An option without effect, which
# this tokenizer does not know, is refused.


_KNOWN_TO_ALL = (
    *("model_max_length", "padding_side", "truncation_side", "split_special_tokens"),
    *("add_bos_token", "add_eos_token", "fix_mistral_regex"),
)
_SETTINGS = {
    "keep_accents": ("normalizer", "strip_accents"),
    "strip_accents": ("normalizer", "strip_accents"),
    "do_lower_case": ("normalizer", "lowercase"),  # BERT's normalizer strips marks with the case unless told otherwise
    "add_prefix_space": ("pre_tokenizer", "add_prefix_space"),
}
"""By name of an option: the part of the backend that it concerns, and the setting of a step there."""
_SEQUENCES = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}


def apply_options(model: str, tokenizer: Any, options: Mapping[str, bool | int | float | str]) -> None:
    """Make `options`, with which `tokenizer` was loaded, take effect in its backend.

    Raises:
        InputError: an option that this tokenizer does not know and that has no effect; a value of another type.
    """
    for name, value in options.items():
        part, setting = _SETTINGS.get(name, ("normalizer", ""))
        if setting and not isinstance(value, bool):
            raise InputError(f"model {model}: tokenizer: {name} is {value!r}. Write true or false.")
        steps = _list_steps(_get_state(tokenizer, part))
        changed = [_change_step(step, setting, bool(value) != (name == "keep_accents")) for step in steps]
        is_known = name in _KNOWN_TO_ALL or name in _list_parameters(type(tokenizer))
        if not is_known and all(each is None for each in changed):
            raise InputError(
                f"model {model}: tokenizer: {name} has no effect: {type(tokenizer).__name__} does not know"
                f" it, and {json.dumps(value)} would not change its tokenizer.json. Remove the line."
            )
        kept: list[dict[str, Any]] = []
        for step, others in zip(steps, changed, strict=True):
            if others == [] and step["type"] == "StripAccents" and kept and kept[-1]["type"] in ("NFD", "NFKD"):
                kept.pop()  # it only made marks strippable
            kept += [step] if others is None else others
        if kept != steps:
            _set_state(tokenizer, part, kept[0] if len(kept) == 1 else {"type": "Sequence", _SEQUENCES[part]: kept})


def keep_normalizer_of_file(
    tokenizer: Any, file: Path | None, settings: Path | None, options: Mapping[str, Any]
) -> None:
    """Normalize as `file` says, unless an option or setting says otherwise.

    Some classes of transformers take the vocabulary from tokenizer.json and rebuild the rest from
    tokenizer_config.json, or from defaults: a BERT that was trained with vowel signs then loses them, and an mBART its
    compatibility map. If settings or options mention normalization, transformers' result stays. It also stays if the
    two normalizers mark spaces differently, as for Llama's files, which put ▁ before a text (`Prepend`): there the
    class builds a pre-tokenizer for that, and both together would change the span of the first piece.

    Args:
        tokenizer: as transformers built it; changed in place.
        file: its tokenizer.json; None does nothing.
        settings: its tokenizer_config.json; None if it does not have one.
        options: how it was loaded; options that `apply_options` sets itself do not count.
    """
    said = json.loads(settings.read_text(encoding="utf-8")) if settings is not None else {}
    asked = any(name in said for name in ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "keep_accents"))
    if file is None or asked or "tokenize_chinese_chars" in options:
        return
    written = json.loads(file.read_text(encoding="utf-8")).get("normalizer")
    built = _get_state(tokenizer, "normalizer")
    if written != built and _list_space_marks(written) == _list_space_marks(built):
        _LOG.info("the normalizer of %s is used, not the one that transformers builds", file)
        _set_state(tokenizer, "normalizer", written)


def _list_parameters(kind: type) -> set[str]:
    """Return the argument names in the constructors of a tokenizer's class and its bases, and of special pieces."""
    from transformers import PreTrainedTokenizerBase  # jobs that only combine scores do not need it

    names = set(PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES)
    for base in kind.__mro__:
        if "__init__" in vars(base) and issubclass(base, PreTrainedTokenizerBase):
            names |= set(inspect.signature(vars(base)["__init__"]).parameters)
    return names - {"self", "args", "kwargs"}


def _get_state(tokenizer: Any, part: str) -> Any:
    """Return a normalizer or pre-tokenizer as JSON; writing the whole tokenizer would take half a second."""
    found = getattr(tokenizer.backend_tokenizer, part)
    return None if found is None else json.loads(found.__getstate__())


def _set_state(tokenizer: Any, part: str, state: Any) -> None:
    """Set a normalizer or pre-tokenizer from its JSON, through a tokenizer without other parts."""
    model = {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}
    made = Tokenizer.from_str(json.dumps({"version": "1.0", "model": model, part: state}))
    setattr(tokenizer.backend_tokenizer, part, getattr(made, part))


def _list_steps(state: Any) -> list[dict[str, Any]]:
    """Return the steps of a normalizer or pre-tokenizer, in order, with nested sequences flattened."""
    if state is None or state["type"] != "Sequence":
        return [] if state is None else [state]
    return [step for key in _SEQUENCES.values() for part in state.get(key, []) for step in _list_steps(part)]


def _list_space_marks(state: Any) -> list[dict[str, Any]]:
    """Return the steps of a normalizer that write a sign for a space, which a pre-tokenizer then expects."""
    return [step for step in _list_steps(state) if step["type"] == "Prepend" or step.get("pattern") == {"String": " "}]


def _change_step(step: dict[str, Any], setting: str, on: bool) -> list[dict[str, Any]] | None:
    """Return the steps that replace one, with a setting on or off; None if the setting does not concern the step."""
    match step["type"], setting:
        case ("BertNormalizer", "strip_accents" | "lowercase") | ("ByteLevel", "add_prefix_space"):
            return [{**step, setting: on}]
        case ("StripAccents", "strip_accents") | ("Lowercase", "lowercase"):
            return [step] if on else []
        case "Metaspace", "add_prefix_space":
            is_on = step["prepend_scheme"] != "never"
            return [step if on == is_on else {**step, "prepend_scheme": "always" if on else "never"}]
    return None
