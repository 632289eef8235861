"""The pieces of a text with their character spans, and the pieces by which a tokenizer is told a language."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from prasanga.base.errors import InputError, gave_up, reason

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
    """Return the pieces of each different text, never cut short; `tokenizer` is a fast one of transformers.

    The tokenizer's own engine is asked, since it works on many texts at once and without Python's lock.
    """
    different = list(dict.fromkeys(texts))
    engine = tokenizer.backend_tokenizer
    engine.no_truncation()
    engine.no_padding()
    begins = [_dropped_at_start(engine.normalizer, text) for text in different]
    encoded = encoded_by(tokenizer, [text[begin:] for text, begin in zip(different, begins, strict=True)], special=True)
    return {
        text: Pieces(found.ids, _shifted(found.offsets, begin), found.special_tokens_mask)
        for text, begin, found in zip(different, begins, encoded, strict=True)
    }


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


def _shifted(spans: Sequence[Span], by: int) -> Sequence[Span]:
    return [(start + by, end + by) for start, end in spans] if by else spans


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
