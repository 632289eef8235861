"""Normalization of Bangla text, one text at a time.

Two spellings of one word must not become two words, and a model must see text as it saw it in training. The public
Bangla models were trained on text that went through csebuetnlp/normalizer (Hasan et al. 2020, EMNLP, "Not Low-Resource
Anymore"); `normalize` gives the same output under default options. It is written anew from that program's observed
behaviour, on top of `ftfy`, which does the repair of broken encodings that both begin with.

This is the definition. `prasanga.text.batches` does the same to many texts, fast.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast, get_args

import ftfy
import regex

from prasanga.errors import InputError

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: What a URL, a punctuation mark or an emoji becomes: a string, the result of a call with the match; None leaves it.
Replacement: TypeAlias = str | Callable[[Any], str] | None

_REPAIR = ftfy.TextFixerConfig(explain=False)

_SINGLE_QUOTES = "`´‘’‚‛❛❜"
_DOUBLE_QUOTES = "«»‹›“”„‟❝❞❮❯《》「」〝〞〟"
_QUOTES = str.maketrans(dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"'))

# Letters with a stroke, a dot inside or none at all: Unicode has no decomposition that would give their base letter.
_STROKED = dict(zip("ÐðØøĐđĦħıĿŀŁłŦŧɨ", "DdOoDdHhiLlLlTti", strict=True))
# The two capitals that the normalizer, seen from outside, turns into small letters.
_LOWERED = {"Ý": "y", "Š": "s"}
# The one letter with a diacritic that it leaves alone.
_KEPT = "ǰ"


def _base_letters() -> dict[str, str]:
    """Each precomposed Latin letter with the ASCII letter that it is built on."""
    blocks = [*range(0x00C0, 0x0250), *range(0x1E00, 0x1F00)]
    decomposed = {chr(code): unicodedata.normalize("NFD", chr(code)) for code in blocks}
    return {
        letter: parts[0]
        for letter, parts in decomposed.items()
        if len(parts) > 1 and parts[0].isascii() and letter not in _KEPT
    }


_PLAIN = str.maketrans(
    _base_letters()
    | _STROKED
    | _LOWERED
    | dict(zip("¹²³", "123", strict=True))
    | {"–": "-", "—": " - ", "━": "-", "…": "...", "∶": ":", "、": ","}
    | {"〈": "<", "〉": ">", "【": "[", "】": "]", "\u00a0": " "}
    # Soft hyphen, zero-width space, word joiner. The joiners U+200C and U+200D shape conjuncts and stay.
    | dict.fromkeys("\u00ad\u200b\u2060", "")
)

# One pass, so that what one pair gives is not taken up by another, and so that the numerator sign U+09F7, which is used
# as a danda, stays itself between two pieces of a vowel.
_JOINED = {
    "\u09c7\u0981\u09be": "\u09cb\u0981",
    "\u09c7\u0981\u09d7": "\u09cc\u0981",
    "\u09c7\u09be": "\u09cb",
    "\u0985\u09be": "\u0986",
    "\u09ac\u09bc": "\u09b0",
    "\u09f7": "।",
}
_PIECES = regex.compile("|".join(_JOINED) + "|\u09c7(?P<between>[\u0980-\u09ff])\u09d7")

_URL = r"""(?:(?:https?|ftp)://|www\.)[^\s<>"'।॥]*[^\s<>"'\p{P}]/?"""
_PUNCTUATION = r"\p{P}|[$+<=>^`|~]"
_PICTOGRAPH = (
    r"(?:(?![©®™])\p{Extended_Pictographic}|[©®™](?=\ufe0f))[\ufe0f\p{Emoji_Modifier}]*[\U000e0020-\U000e007f]*"
)
_EMOJI = rf"{_PICTOGRAPH}(?:\u200d{_PICTOGRAPH})*|\p{{Regional_Indicator}}{{2}}|[0-9#*]\ufe0f?\u20e3"

_FOLDED_NUKTA = regex.compile("(?<=[कखगजझफय]\u093c*)\u093c")

_WHITE_SPACE = regex.compile(r"\s+")


def normalize(
    text: str,
    *,
    form: Form = "NFKC",
    urls: Replacement = None,
    punctuation: Replacement = None,
    emoji: Replacement = None,
) -> str:
    """Normalize one text.

    In this order: repair of broken encodings, entities, line ends and control characters (`ftfy`, with NFC); straight
    quotes; replacements, if asked for; Bengali signs; base letters for Latin letters with diacritics, and punctuation;
    the Unicode form; one space for each run of white space (the ends are not stripped).

    Args:
        text: any text.
        form: the Unicode form of the result, NFKC unless said otherwise. In it ড় ঢ় য় are a letter and a nukta.
        urls: what stands in place of each URL.
        punctuation: what stands in place of each punctuation mark.
        emoji: what stands in place of each emoji; a sequence that is drawn as one picture counts as one.

    Where two of the three fit, the first one counts, in the order URL, emoji, punctuation. A replacement goes through
    the later steps as the text around it does.

    Raises:
        InputError: for another `form`.
    """
    check_form(form)
    text = ftfy.fix_text(text, _REPAIR).translate(_QUOTES)
    text = replace(text, urls=urls, punctuation=punctuation, emoji=emoji)
    text = _PIECES.sub(_join, text).translate(_PLAIN)
    text = unicodedata.normalize(form, text)
    return cast(str, _WHITE_SPACE.sub(" ", text))


def _join(match: Any) -> str:
    return _JOINED.get(match[0]) or f"{match['between']}\u09cc"


def check_form(form: str) -> None:
    """Refuse a name that is no Unicode form.

    Raises:
        InputError: with the forms that exist.
    """
    if form not in get_args(Form):
        raise InputError(
            f"form: {form!r} is no Unicode form; allowed are {', '.join(get_args(Form))}. Write form='NFKC'."
        )


def fold_nukta(text: str) -> str:
    """Normalize one Hindi text: NFKC, and no nukta on क ख ग ज झ फ य, where it is often left out.

    ज़िंदगी and जिंदगी become one word. ड़ and ढ़ keep theirs: they are letters of their own (लड़का). So do the letters of
    other languages that Unicode composes (ऩ ऱ ऴ).
    """
    return cast(str, _FOLDED_NUKTA.sub("", unicodedata.normalize("NFKC", text)))


def replace(text: str, *, urls: Replacement = None, punctuation: Replacement = None, emoji: Replacement = None) -> str:
    """Replace URLs, punctuation marks and emoji, all in one pass, so that no replacement is taken for text by the next.

    The arguments are those of `normalize`.
    """
    replacements = {"urls": urls, "emoji": emoji, "punctuation": punctuation}
    asked = {kind: replacement for kind, replacement in replacements.items() if replacement is not None}
    if not asked:
        return text

    def replacement_of(match: Any) -> str:
        replacement = asked[match.lastgroup]
        return replacement if isinstance(replacement, str) else replacement(match)

    return cast(str, _pattern(tuple(asked)).sub(replacement_of, text))


@functools.cache
def _pattern(kinds: tuple[str, ...]) -> Any:
    patterns = {"urls": _URL, "emoji": _EMOJI, "punctuation": _PUNCTUATION}
    return regex.compile("|".join(f"(?P<{kind}>{patterns[kind]})" for kind in kinds))
