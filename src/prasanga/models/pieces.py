"""Tokenizers: the pieces of a text with their character spans, those for languages, and options that take effect."""

from __future__ import annotations

import inspect
import itertools
import json
import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from prasanga.base.errors import InputError, gave_up, reason

_LOG = logging.getLogger(__name__)

# --------------------
# The pieces of a text with their character spans, and which of them to keep if a text is too long for a model.


Span = tuple[int, int]


class Pieces(NamedTuple):
    """The pieces of one text, special ones included.

    Attributes:
        ids: their numbers in the vocabulary.
        spans: the characters (start, end) that each stands for; of no meaning where `special` is 1.
        special: 1 where the tokenizer added the piece, else 0.
    """

    ids: Sequence[int]
    spans: Sequence[Span]
    special: Sequence[int]


def read_pieces(tokenizer: Any, texts: Iterable[str]) -> dict[str, Pieces]:
    """Return the pieces of each different text, never cut short; `tokenizer` is a fast one of transformers."""
    different = list(dict.fromkeys(texts))
    return {
        text: Pieces(
            found.ids,
            [(start + begin, end + begin) for start, end in found.offsets] if begin else found.offsets,
            found.special_tokens_mask,
        )
        for text, begin, found in zip(different, *_encode(tokenizer, different), strict=True)
    }


class PieceTable(NamedTuple):
    """The pieces of n texts one after the other, special ones included, as arrays.

    Attributes:
        ids: (pieces,) their numbers in the vocabulary.
        starts: (pieces,) the first character that each stands for; of no meaning where `special` is true.
        ends: (pieces,) the character after the last.
        special: (pieces,) whether the tokenizer added the piece.
        borders: (n + 1,) the pieces of text i are those from `borders[i]` to `borders[i + 1]`.
    """

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    special: NDArray[np.bool_]
    borders: NDArray[np.int64]

    def pieces(self, text: int) -> Pieces:
        """Return the pieces of one text."""
        mine = slice(self.borders[text], self.borders[text + 1])
        spans = zip(self.starts[mine].tolist(), self.ends[mine].tolist(), strict=True)
        return Pieces(self.ids[mine].tolist(), list(spans), self.special[mine].tolist())


def read_piece_table(tokenizer: Any, texts: Sequence[str]) -> PieceTable:
    """Return the pieces of all texts, never cut short; `tokenizer` is a fast one of transformers."""
    begins, encoded = _encode(tokenizer, texts)
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    borders = np.concatenate([[0], np.cumsum(lengths)])
    total = int(borders[-1])
    flat = itertools.chain.from_iterable
    ids = np.fromiter(flat(each.ids for each in encoded), np.int64, total)
    special = np.fromiter(flat(each.special_tokens_mask for each in encoded), np.bool_, total)
    spans = np.fromiter(flat(flat(each.offsets for each in encoded)), np.int64, 2 * total).reshape(-1, 2)
    spans += np.repeat(np.array(begins, np.int64), lengths)[:, None]
    return PieceTable(ids, spans[:, 0], spans[:, 1], special, borders)


def _encode(tokenizer: Any, texts: Sequence[str]) -> tuple[list[int], list[Any]]:
    """Return how many characters were left out at the start of each text, and what the engine makes of the rest.

    The tokenizer's own engine is asked, because it works on many texts at once and without Python's lock.
    """
    engine = tokenizer.backend_tokenizer
    engine.no_truncation()
    engine.no_padding()  # some tokenizer files pad every text to hundreds of pieces
    begins = [_dropped_at_start(engine.normalizer, text) for text in texts]
    cut = [text[begin:] if begin else text for text, begin in zip(texts, begins, strict=True)]
    return begins, encoded_by(tokenizer, cut, special=True)


def encoded_by(tokenizer: Any, texts: Sequence[str], *, special: bool) -> list[Any]:
    """Return what the engine of a tokenizer makes of each text, with the special pieces around it or without.

    Raises:
        InputError: it meets what it does not know, and its vocabulary lacks the piece that stands for that; or it gives
            up on a text for another reason.
    """
    engine = tokenizer.backend_tokenizer
    try:
        encoded: list[Any] = engine.encode_batch(texts, add_special_tokens=special)
        return encoded
    except BaseException as error:
        if isinstance(error, MemoryError) or not (isinstance(error, Exception) or gave_up(error)):
            raise
        named = getattr(engine.model, "unk_token", None)
        if "unk" in str(error).lower():
            piece = f"piece {named!r}" if named else "piece"
            why = f"knows not all of a text, and its vocabulary lacks the {piece} that stands for the unknown"
        else:
            why = f"cannot cut a text into pieces ({reason(error)})"
        raise InputError(
            f"model {tokenizer.name_or_path}: its tokenizer {why}. Fetch the tokenizer that the model was trained with,"
            " or add the piece to tokenizer.json where the model has a row of embeddings for it."
        ) from error


def _dropped_at_start(normalizer: Any, text: str) -> int:
    """Return how many control characters at the start of a text the normalizer drops.

    SentencePiece's map (`Precompiled`) drops them there without counting them, so that the spans of the whole text
    would be those of other letters. They are left out beforehand, and counted.
    """
    count = 0
    while count < len(text) and unicodedata.category(text[count]) == "Cc":
        if normalizer is None or normalizer.normalize_str(text[count]):
            break
        count += 1
    return count


def unknown_pieces(tokenizer: Any) -> frozenset[int]:
    """Return the pieces that stand for what the tokenizer does not know; none for most byte-level ones."""
    engine = tokenizer.backend_tokenizer
    named = getattr(engine.model, "unk_token", None)  # a tokenizer's file may name it where its settings do not
    known = {tokenizer.unk_token_id, engine.token_to_id(named) if named else None}
    return frozenset(piece for piece in known if piece is not None)


def overlapping(pieces: Pieces, start: int, end: int) -> list[int]:
    """Return the positions of the ordinary pieces that stand for a character of `start` to `end`."""
    return [i for i, (begin, stop) in enumerate(pieces.spans) if begin < end and stop > start and not pieces.special[i]]


def cut_around(pieces: Pieces, begin: int, end: int, limit: int | None) -> list[int]:
    """Return which positions to keep: all, or the special pieces and a stretch around positions `begin` to `end`.

    The stretch has as many pieces as `limit` allows, the same number on either side of the target where the text goes
    on that far; what one side cannot use, the other gets. A target larger than the limit loses its end.
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
# The pieces by which the tokenizer of a multilingual encoder-decoder is told a language, such as hi_IN or hin_Deva.


_LONG_CODES = {"bn": "ben", "hi": "hin", "en": "eng"}


def language_pieces(tokenizer: Any) -> dict[str, int]:
    """Return {piece: id} of a tokenizer that is told a language; nothing of another."""
    if not hasattr(tokenizer, "src_lang"):
        return {}
    vocabulary = tokenizer.get_vocab()
    named = [str(token) for token in tokenizer.all_special_tokens if "_" in str(token).strip("_")]
    return {piece: vocabulary[piece] for piece in named if piece in vocabulary and _is_code(piece)}


def require_language_pieces(name: str, tokenizer: Any, codes: Mapping[str, str]) -> None:
    """Refuse codes of languages that are no pieces.

    Args:
        name: of the model, for the message.
        tokenizer: the model's.
        codes: by language, the piece that stands for it (`models.<m>.language_codes`).

    Raises:
        InputError: a code that is none of the tokenizer's pieces.
    """
    for language, piece in codes.items():
        if piece not in tokenizer.get_vocab():
            known = ", ".join(sorted(language_pieces(tokenizer)))
            remedy = f"It has {known}: write one of these" if known else "No pieces for languages are known in it"
            raise InputError(
                f"model {name}: language_codes has {language}: {piece}, which is no piece of the tokenizer. {remedy}."
                f" Or leave {language} out of language_codes."
            )


def language_piece(name: str, tokenizer: Any, language: str, codes: Mapping[str, str]) -> str | None:
    """Return the piece by which the tokenizer is told `language`; None if it is told none.

    Args:
        name: of the model, for messages.
        tokenizer: the model's.
        language: bn, hi, en.
        codes: by language, the piece that stands for it, where that is not to be found by the language's own code.

    Raises:
        InputError: the piece asked for is none of the tokenizer's, or there is no telling which one it is.
    """
    if language in codes:
        require_language_pieces(name, tokenizer, {language: codes[language]})
        return codes[language]
    known = language_pieces(tokenizer)
    if not known:
        return None
    fitting = [piece for piece in known if piece.partition("_")[0] in (language, _LONG_CODES.get(language))]
    if len(fitting) != 1:
        raise InputError(
            f"model {name}: the tokenizer has {' and '.join(fitting) or 'no piece'} for the language {language}."
            f" It has {', '.join(sorted(known))}. Write which of them it is under the model, for example"
            f" language_codes: {{{language}: {min(known)}}}."
        )
    return fitting[0]


def _is_code(piece: str) -> bool:
    """Return whether a piece is a language code, such as hi_IN (mBART) or hin_Deva (NLLB)."""
    first, _, second = piece.partition("_")
    return first.isalpha() and first.islower() and len(first) in (2, 3) and second[:1].isupper() and second.isalpha()


# --------------------
# Options of a tokenizer that do what they say, whichever files the tokenizer was read from.
#
# transformers obeys `keep_accents`, `strip_accents` and the like where it builds a tokenizer from a vocabulary itself,
# and drops them without a word where it takes a tokenizer.json as it is. There the steps that strip marks or case are
# taken out of the tokenizer's normalizer here, since a Bangla word without its vowel signs is another word. An option
# that changes nothing, because this tokenizer does not know it, is refused.


Option = bool | int | float | str

_KNOWN_TO_ALL = {
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
    """Return the names that the constructors of a tokenizer's class and of its bases list, and of special pieces."""
    from transformers import PreTrainedTokenizerBase  # not where scores are only put together

    names = set(PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES)
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


def _set_step(state: Any, on: bool, *, setting: str, step_of: str) -> tuple[Any, bool]:
    """Strip marks or fold case, or do not; return the new state, and whether there was a step that this concerns.

    In BERT's normalizer it is a `setting`, in others a step of its own, of the type `step_of`.
    """
    kept: list[dict[str, Any]] = []
    applies = False
    for step in _steps(state):
        if step["type"] == "BertNormalizer":
            step, applies = {**step, setting: on}, True
        elif step["type"] == step_of:
            applies = True
            if not on:
                if step_of == "StripAccents" and kept and kept[-1]["type"] in _UNICODE_SPLITS:
                    kept.pop()
                continue
        kept.append(step)
    changed = kept[0] if len(kept) == 1 else {"type": "Sequence", "normalizers": kept}
    return (changed if applies else state), applies


_set_stripping = partial(_set_step, setting="strip_accents", step_of="StripAccents")
_set_lowercase = partial(_set_step, setting="lowercase", step_of="Lowercase")  # marks go with the case, if it says not


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
