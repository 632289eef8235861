"""Normalize text: one text at a time, which is the definition, and many at once, about forty times as fast.

Two spellings of one word must not become two words, and a model must see text as in its training. The public Bangla
models were trained on text that went through csebuetnlp/normalizer (Hasan et al. 2020, EMNLP, "Not Low-Resource
Anymore"); `normalize` gives the same output under default options. It was written independently, from that program's
observed behavior, on top of `ftfy`, which both use for the repair of broken encodings.

Nearly every line of a corpus consists of a few hundred characters: Bengali and Devanagari, ASCII, the usual quotes,
dashes and spaces. On such texts, most of a normalization has no effect. There is no mojibake to detect (each of ftfy's
clues includes an accented letter, a symbol, a box or a control character), no entity without an ampersand, no terminal
escape; what remains is a fixed replacement per character, a few sequences, and the runs of spaces. Such texts are
rewritten by compiled rules (`prasanga.text.lines`); all others take the slow way, one at a time.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, cast, get_args

import ftfy
import numpy as np
import regex

from prasanga.base.errors import InputError
from prasanga.text.words import order_marks, unicode_form

if TYPE_CHECKING:
    from prasanga.text.lines import Lines, Rules

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: What a URL, a punctuation mark or an emoji becomes: a string, the result of a call with the match; None leaves it.
Replacement: TypeAlias = str | Callable[[Any], str] | None


class Replacements(TypedDict, total=False):
    """Replacements for parts of a text; nothing is replaced by default.

    Where several fit, the first counts, in the order URL, emoji, punctuation.

    Attributes:
        urls: replaces each URL.
        emoji: replaces each emoji; a sequence that is drawn as one picture counts as one.
        punctuation: replaces each punctuation mark.
    """

    urls: Replacement
    emoji: Replacement
    punctuation: Replacement


_SINGLE_QUOTES = "`´‘’‚‛❛❜"
_DOUBLE_QUOTES = "«»‹›“”„‟❝❞❮❯《》「」〝〞〟"
_QUOTES = str.maketrans(dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"'))

# Letters with a stroke, a dot inside or none at all: Unicode has no decomposition that would give their base letter.
_STROKED = dict(zip("ÐðØøĐđĦħıĿŀŁłŦŧɨ", "DdOoDdHhiLlLlTti", strict=True))
# The two capitals that the normalizer, seen from outside, turns into small letters.
_LOWERED = {"Ý": "y", "Š": "s"}
# The one letter with a diacritic that it does not change.
_KEPT = "ǰ"


def _base_letters() -> dict[str, str]:
    """Return each precomposed Latin letter with the ASCII letter that it is built on."""
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

# One pass, so that the result of one pair is not used by another, and so that the numerator sign U+09F7, which is used
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

_PATTERNS = {"urls": _URL, "emoji": _EMOJI, "punctuation": _PUNCTUATION}

_FOLDED_NUKTA = regex.compile("(?<=[कखगजझफय])\u093c+")

_WHITE_SPACE = regex.compile(r"\s+")

# Left out on purpose: & (entities), U+0951-0954 and U+09FE (marks that Unicode reorders), U+09D7 (joined across a
# letter), and characters that normalization deletes, because deletion creates new neighbors.
_ORDINARY = regex.compile(
    "[\t\n\r -%'-~\u0900-\u0950\u0955-\u09d6\u09d8-\u09fd\u00a0\u200c\u200d\u2013\u2014\u2018\u2019\u201c\u201d"
    "\u2022\u2026\u2028\u2029\u2212]"
)
#: The characters of ordinary texts.
ORDINARY = "".join(_ORDINARY.findall("".join(map(chr, range(0x3000)))))

_NUKTAS = "\u093c\u09bc"
_DEVANAGARI_LETTERS = "".join(map(chr, range(0x0904, 0x093A)))
# Sequences that NFC composes among ordinary characters, and those that the Bangla normalization also joins.
_COMPOSED = ("\u0928\u093c", "\u0930\u093c", "\u0933\u093c", "\u09c7\u09be")
_JOINED_SEQUENCES = ("\u09c7\u0981\u09be", "\u0985\u09be", "\u09ac\u09bc")
# Unicode puts a nukta before a hasanta: the one reordering among these characters, and rare.
_MISORDERED = tuple(hasanta + nukta for hasanta in "\u094d\u09cd" for nukta in _NUKTAS)


def normalize(text: str, *, form: Form = "NFKC", **replacements: Unpack[Replacements]) -> str:
    """Normalize one text.

    In this order: repair of broken encodings, entities, line ends and control characters (`ftfy`, with NFC); straight
    quotes; optional replacements, which go through the later steps like the text around them; Bengali signs; base
    letters for Latin letters with diacritics, and punctuation; the Unicode form; one space for each run of white space
    (the ends are not stripped).

    Args:
        text: any text.
        form: the Unicode form of the result, by default NFKC. In it ড় ঢ় য় are a letter and a nukta.
        replacements: `urls`, `emoji` and `punctuation`, see `Replacements`.
    """
    text = _replace(ftfy.fix_text(order_marks(text)).translate(_QUOTES), replacements)
    text = _PIECES.sub(lambda match: _JOINED.get(match[0]) or f"{match['between']}\u09cc", text).translate(_PLAIN)
    return cast(str, _WHITE_SPACE.sub(" ", unicode_form(form, text)))


def normalize_batch(texts: Sequence[str], *, form: Form = "NFKC", **replacements: Unpack[Replacements]) -> list[str]:
    """Normalize many texts: equal to `[normalize(text, ...) for text in texts]`.

    Args:
        texts: any texts.
        form: see `normalize`; every form is fast.
        replacements: see `normalize`. With any of them, texts are normalized one by one.
    """
    if any(replacement is not None for replacement in replacements.values()):
        return [normalize(text, form=form, **replacements) for text in texts]
    return _BANGLA[form](texts)


def normalizer(name: str, **replacements: Unpack[Replacements]) -> Normalizer:
    """Return the normalization with that name in a config.

    Args:
        name: `bangla` (`normalize`), `nukta` (NFKC, and Devanagari letters without their nukta where it is often left
            out), `nfc` or `nfkc` (only that Unicode form), or `none` (no change).
        replacements: see `normalize`. With any of them, texts are normalized one by one.

    Raises:
        InputError: an unknown name.
    """
    if name not in _NORMALIZERS:
        raise InputError(
            f"normalization: {name!r} is unknown; allowed are {', '.join(_NORMALIZERS)}. Write `normalization: {{bn:"
            " bangla}` for Bangla, `{hi: nukta}` for Hindi, `{en: nfkc}` for English."
        )
    if all(replacement is None for replacement in replacements.values()):
        return _NORMALIZERS[name]
    if name == "bangla":
        return Normalizer(functools.partial(normalize, **replacements))
    plain = _NORMALIZERS[name].one
    return Normalizer(lambda text: _replace(plain(text), replacements))


@dataclass(frozen=True)
class Normalizer:
    """A normalization: `one` is its definition; `rules` give the same for ordinary texts.

    Rules are learned on first use, so that `one` alone does not wait for the compiler.
    """

    one: Callable[[str], str]
    repertoire: tuple[str, Sequence[str], Sequence[str], bool] = ("", (), (), False)
    """Arguments of `learn_rules`: characters, sequences, strange sequences, and whether spaces become one.

    Without characters no text is ordinary."""

    @functools.cached_property
    def rules(self) -> Rules:
        """Return the rules for ordinary texts."""
        from prasanga.text.lines import learn_rules

        return learn_rules(self.one, *self.repertoire)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Normalize many texts: equal to `[one(text) for text in texts]`."""
        if not self.repertoire[0]:
            return list(map(self.one, texts))
        from prasanga.text.lines import Lines

        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        lines, with_halves = self.rewrite(Lines(data, ends[:-1], ends[1:]))
        written, spans = lines.data.tobytes(), zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)
        found = [written[start:end].decode("utf-8", "surrogatepass") for start, end in spans]
        for number in with_halves:  # lone surrogates are not UTF-8, but may be in a text
            found[number] = self.one(texts[number])
        return found

    def rewrite(self, lines: Lines) -> tuple[Lines, list[int]]:
        """Normalize lines of UTF-8.

        Returns:
            the normalized lines, and the numbers of lines that are not UTF-8; these are empty.
        """
        from prasanga.text.lines import Lines, rewrite

        result, is_strange = rewrite(lines, self.rules)
        undecodable = []
        added: list[bytes] = []
        size = len(result.data)
        for line in np.flatnonzero(is_strange).tolist():
            raw = lines.data[lines.starts[line] : lines.ends[line]].tobytes()
            try:
                text = self.one(raw.decode()).encode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                undecodable.append(int(line))
                text = b""
            result.starts[line], result.ends[line] = size, size + len(text)
            size += len(text)
            added.append(text)
        data = np.concatenate([result.data, np.frombuffer(b"".join(added), np.uint8)]) if added else result.data
        return Lines(data, result.starts, result.ends), undecodable


def _fold_nukta(text: str) -> str:
    """Normalize one Hindi text: NFKC, and no nukta on क ख ग ज झ फ य, where it is often left out.

    ज़िंदगी and जिंदगी become one word. ड़ and ढ़ keep theirs, because they are separate letters (लड़का). So do the letters
    of other languages that Unicode composes (ऩ ऱ ऴ).
    """
    return cast(str, _FOLDED_NUKTA.sub("", unicode_form("NFKC", text)))


def _replace(text: str, replacements: Replacements) -> str:
    """Replace URLs, punctuation marks and emoji in one pass, so that replacements are not replaced again."""
    asked = {kind: made for kind in _PATTERNS if (made := replacements.get(kind)) is not None}
    if not asked:
        return text

    def replacement_of(match: Any) -> str:
        replacement: Any = asked[match.lastgroup]
        return str(replacement if isinstance(replacement, str) else replacement(match))

    return cast(str, _pattern(tuple(asked)).sub(replacement_of, text))


@functools.cache
def _pattern(kinds: tuple[str, ...]) -> Any:
    return regex.compile("|".join(f"(?P<{kind}>{_PATTERNS[kind]})" for kind in kinds))


_NUKTA_PAIRS = tuple(letter + "\u093c" for letter in _DEVANAGARI_LETTERS)
_PRECOMPOSED = tuple(letter + "\u093c" for letter in map(chr, range(0x0958, 0x0960)))
_DOUBLED = tuple(pair + "\u093c" for pair in _NUKTA_PAIRS)

_BANGLA: dict[str, Normalizer] = {
    form: Normalizer(
        functools.partial(normalize, form=form), (ORDINARY, (*_COMPOSED, *_JOINED_SEQUENCES), _MISORDERED, True)
    )
    for form in get_args(Form)
}
_WITH_AMPERSAND = f"{ORDINARY}&"
_OF_UNICODE = (_WITH_AMPERSAND, _COMPOSED, _MISORDERED, False)
_NORMALIZERS = {
    "bangla": _BANGLA["NFKC"],
    # A nukta after a letter is a sequence; one after anything else is left to the slow way.
    "nukta": Normalizer(
        _fold_nukta, (_WITH_AMPERSAND, (*_COMPOSED, *_NUKTA_PAIRS), (*_MISORDERED, *_PRECOMPOSED, *_DOUBLED), False)
    ),
    "nfkc": Normalizer(functools.partial(unicode_form, "NFKC"), _OF_UNICODE),
    "nfc": Normalizer(functools.partial(unicode_form, "NFC"), _OF_UNICODE),
    "none": Normalizer(str, (_WITH_AMPERSAND, (), (), False)),
}
