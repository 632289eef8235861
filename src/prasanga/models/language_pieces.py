"""The pieces by which the tokenizer of a multilingual encoder-decoder is told a language, such as hi_IN or hin_Deva."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prasanga.errors import InputError

_LONG_CODES = {"bn": "ben", "hi": "hin", "en": "eng"}


def language_pieces(tokenizer: Any) -> dict[str, int]:
    """Piece -> id, of a tokenizer that is told a language; none of another."""
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
    """The piece by which the tokenizer is told `language`; None if it is told none.

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
    """Such as hi_IN (mBART) or hin_Deva (NLLB)."""
    first, _, second = piece.partition("_")
    return first.isalpha() and first.islower() and len(first) in (2, 3) and second[:1].isupper() and second.isalpha()
