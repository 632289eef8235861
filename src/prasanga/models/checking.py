"""Check in seconds whether a model can be used, before hours of work depend on it.

The model is loaded as its jobs will load it, but on the meta device, where tensors have a shape and no content, so no
weight is read. Hub files are fetched into the cache on the way, so later jobs need no network.
"""

from __future__ import annotations

import itertools
import logging
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import regex

from prasanga.base.errors import InputError
from prasanga.base.io import read_document
from prasanga.models.devices import DTYPES, Size, weights_bytes
from prasanga.models.heads import mask_piece, require_mask
from prasanga.models.hub import find_sentence_vector, find_weights, identify, open_source
from prasanga.models.loading import (
    build_bare,
    max_pieces,
    measure_size,
    model_kind,
    open_config,
    open_tokenizer,
    read_weights,
    require_fitting_tokenizer,
    text_config,
)
from prasanga.models.packaged import KINDS, NO_OPTIONS, PACKAGE, ModelOptions, depth_of
from prasanga.models.pieces import encode, language_piece, unknown_pieces
from prasanga.schema import TABLES

_LOG = logging.getLogger(__name__)
_ANY_TEXT = "1"


def check_model(
    model: str | Path,
    *,
    revision: str | None = None,
    dtype: str = "auto",
    layers: Sequence[int] = (),
    stages: Sequence[str] = ("embeddings",),
    kinds: Sequence[str] = KINDS,
    masked: Sequence[str] = (),
    language_codes: Mapping[str, str] | None = None,
    sentence_vector: str | None = None,
    options: ModelOptions = NO_OPTIONS,
) -> dict[str, Any]:
    """Check `model`, and return a report on it as plain values for JSON.

    Args:
        model: a folder, or a hub id.
        revision: branch, tag or commit on the hub.
        dtype: precision that `weights_bytes` is for; `auto` counts as float32, the larger of the two it may mean.
        layers: hidden layers that the study measures.
        stages: what it is used for: `embeddings` (vectors), `likelihoods` (probabilities), or both.
        kinds: the kinds of model that can give these probabilities.
        masked: the kinds of model that need a mask for them.
        language_codes: by language, the tokenizer's piece for it.
        sentence_vector: the vector of a sentence that the study asks for; None without one.
        options: how it is loaded.

    Returns:
        `identity` (see `model_identity`), `pinned` (False for a hub model given by branch or tag), `kind`, `parameters`
        (of the part that gives vectors), `weights_bytes` (their bytes in memory), the same with the vocabulary head as
        `parameters_with_head` and `weights_bytes_with_head` (None without likelihoods), `hidden_size`, `blocks`,
        `max_pieces` (longest input, special pieces included; None for no limit), `vocabulary` (pieces of the
        tokenizer), `begins_with_special` (whether the tokenizer puts a special piece, such as [CLS], before a text),
        `sentence_vector` (the pooling that its files name, as files for sentence-transformers do: `cls`, `mean`,
        `last`; None if they name none), `unknown_pooling` (a pooling that is not known; otherwise empty), `head` (True
        for likelihoods, otherwise None), `mask` (the piece for a hidden word, if any), and for a packaged model
        `package`, a record from `prasanga.models.packaged`.

    Raises:
        InputError: as `load_model`, except for lack of memory or devices. For likelihoods: the model's kind is not in
            `kinds`, its files lack a vocabulary head, or its kind is in `masked` and its tokenizer lacks a mask. The
            tokenizer lacks a piece of `language_codes`. `sentence_vector` is `auto`, and the files name an unknown
            pooling.
    """
    source = open_source(model, revision)
    if not source.pinned:
        _LOG.warning(
            "model %s: revision is %s, which may mean other weights tomorrow. To be able to repeat the study,"
            " write revision: %s",
            source.name,
            revision or "not given",
            source.commit,
        )
    config = open_config(source, options)
    tokenizer = open_tokenizer(source, options)
    for language in language_codes or {}:
        language_piece(source.name, tokenizer, language, language_codes or {})
    bare = build_bare(source, config, options, head=False)
    require_fitting_tokenizer(source.name, tokenizer, bare)
    text = text_config(config)
    blocks = int(text.num_hidden_layers)
    if len({depth_of(layer, blocks, source.name) for layer in layers}) < len(layers):
        raise InputError(
            f"model {source.name}: layer is {list(layers)}, which repeats one (of {blocks} blocks, -1 and {blocks} are"
            " the same). Name each layer once."
        )
    kind = model_kind(config)
    asks_head = "likelihoods" in stages
    if asks_head and kind not in kinds:
        raise InputError(
            f"model {source.name} is of the kind {kind}, but the study asks for probabilities that need the kind"
            f" {' or '.join(kinds)}. Write kind: {kind} or stages: [embeddings] under it, or leave it out."
        )
    mask = require_mask(source.name, tokenizer, kind) if asks_head and kind in masked else mask_piece(tokenizer, kind)
    weights = find_weights(source, options)
    read = read_weights(source, weights, config, options, DTYPES["float32"], head=asks_head, device_map="meta")
    package = read_document(path) if (path := source.find(PACKAGE)) else {}
    said = find_sentence_vector(source, options, required=sentence_vector == "auto" and not package)
    own_pooling, unknown_pooling = (package.get("sentence_vector"), "") if package else said

    def count_bytes(size: Size) -> int:
        return weights_bytes(size, "float32" if dtype == "auto" else dtype, options.quantization)

    size, whole = measure_size(bare, head=False), measure_size(read, head=True) if asks_head else None
    (begin,) = encode(tokenizer, [_ANY_TEXT], special=True)
    return {
        "identity": identify(source, options),
        "pinned": source.pinned,
        "kind": kind,
        "parameters": size.parameters,
        "weights_bytes": count_bytes(size),
        "parameters_with_head": whole and whole.parameters,
        "weights_bytes_with_head": whole and count_bytes(whole),
        "hidden_size": int(text.hidden_size),
        "blocks": blocks,
        "max_pieces": max_pieces(tokenizer, text, bare),
        "vocabulary": len(tokenizer),
        "begins_with_special": begin.special_tokens_mask[:1] == [1],
        "sentence_vector": own_pooling,
        "unknown_pooling": unknown_pooling,
        "head": True if asks_head else None,
        "mask": None if mask is None else str(tokenizer.convert_ids_to_tokens(mask)),
        **(
            {"package": {key: package[key] for key in ("name", "requirement", "licence", "weights")}} if package else {}
        ),
    }


# --------------------
# Try a tokenizer on every surface form of a study before its model runs.
#
# Three things silently spoil the vector of a word: the tokenizer does not know it; it drops marks (many strip accents,
# and with them the vowel signs of Bangla and Hindi: ফুল, flower, becomes ফল, fruit); or it gives two stimuli the same
# pieces, so that the model cannot distinguish them. Each is counted here, and refused above a share of the text: a form
# counts as often as it occurs, because most forms of a word list never occur.


SHARES = ("unknown", "marks_lost", "identical")
"""Names of the limits of `TokenizerAudit.require`, in the summary and in the config (`embeddings.audit`)."""

TABLE_SCHEMA = TABLES["tokenizer"].polars

# In most vocabularies pieces at the start of a word are special, so a form is tried after a word and a space.
_BEFORE = "a "
_AT_A_TIME = 8192
_EXAMPLES = 5
_JOINERS = "\u200c\u200d"
_MARK = regex.compile(r"\p{M}")
_LETTER = regex.compile(r"[\p{L}\p{N}]")


@dataclass(frozen=True)
class TokenizerAudit:
    """The pieces that a tokenizer makes of a study's surface forms.

    Attributes:
        table: one row per stimulus, in the order of the forms (`TABLE_SCHEMA`). `pieces` are the stimulus's, or its
            first form's if it is not one of its forms; `pieces_per_form` is a mean; `one_piece` counts forms that are a
            single piece, `unknown_forms` forms with an unknown piece, a dropped letter, or no piece at all,
            `marks_lost_forms` forms that lose a vowel sign or another mark; `identical_to` names, sorted, the other
            stimuli with a form that has the same pieces as a form of this one. `occurrences` counts all its forms,
            `<share>_occurrences` the damaged ones. An example reads `ফুল -> ফল`, shows the most frequent such form,
            and is null without one.
        summary: plain values for JSON: `n_forms`, `n_unseen` (forms that never occur), `n_occurrences`, `n_stimuli`,
            `pieces_per_form`; the shares `unknown`, `marks_lost` and `identical`, of occurrences, or of forms if none
            occurs; up to five `examples` of each, the most frequent stimuli first.
    """

    table: pl.DataFrame
    summary: dict[str, Any]

    def require(self, limits: Mapping[str, float], model: str) -> None:
        """Refuse the tokenizer if a share is above its limit.

        Args:
            limits: `embeddings.audit` of the config: the largest allowed share for each of `SHARES`.
            model: the user's name for the model, for the message.

        Raises:
            InputError: a share is above its limit.
        """
        shares, occurrences = self.summary, self.summary["n_occurrences"]
        all_of_them = f"{occurrences:,} occurrences" if occurrences else "the forms"
        problems = [
            f"- {_percent(shares[name])} of {all_of_them} {_FINDINGS[name]}, for example {shares['examples'][name][0]};"
            f" embeddings.audit.{name} allows {_percent(limits[name])}."
            for name in SHARES
            if shares[name] > limits[name]
        ]
        if problems:
            lines = [
                f"model {model}: its tokenizer spoils words of the lexicon.",
                *problems,
                "Where marks are lost, write `tokenizer: {keep_accents: true}` or `tokenizer: {strip_accents:"
                " false}` under the model (whichever its tokenizer has), or use a model whose tokenizer knows these"
                " words. To continue anyway, allow a larger share under embeddings.audit.",
            ]
            raise InputError("\n".join(lines))


_FINDINGS = {
    "unknown": "have a piece that it does not know",
    "marks_lost": "lose a vowel sign or another mark",
    "identical": "have the pieces of another stimulus",
}


def audit_tokenizer(tokenizer: Any, forms: pl.DataFrame) -> TokenizerAudit:
    """Try `tokenizer` on every form.

    A mark is lost if the tokenizer's normalization drops it or no piece covers it. Two encodings of one letter (য় in
    one character or two, ো as ে and া) are the same; joiners (ZWJ, ZWNJ) and the case of Latin letters are not marks.
    Forms with unknown pieces count as unknown, not as identical, and are left out of a run.

    Args:
        tokenizer: a fast tokenizer of transformers.
        forms: the lexicon's table of forms, with the columns `form` and `stimulus`, one row per pair. Rows with a false
            `counted` (another stimulus gets the hits) are tried, but not compared with other stimuli. A form counts
            `occurrences` times; without that column, or if no form occurs, each counts once.
    """
    given = {"occurrences": pl.lit(0, pl.Int64), "counted": pl.lit(True)}
    forms = forms.with_columns(**{name: value for name, value in given.items() if name not in forms.columns})
    read = _read(tokenizer, forms["form"].unique(maintain_order=True).to_list())
    tried = forms.select("stimulus", "form", *given).join(read, on="form", how="left", maintain_order="left")
    tried = tried.join(_find_identical(tried), on=["stimulus", "form"], how="left", maintain_order="left")
    often = tried.sort("occurrences", descending=True, maintain_order=True)
    examples = often.group_by("stimulus").agg(
        pl.col(name).drop_nulls().first().alias(f"{name}_example") for name in SHARES
    )
    shown: dict[str, str] = {}
    for stimulus, word in tried.select("stimulus", "form").iter_rows():
        shown[stimulus] = stimulus if word == stimulus else shown.get(stimulus, word)
    pieces = pl.Series("pieces", _split(tokenizer, list(shown.values())), dtype=pl.List(pl.String))
    table = (
        tried.group_by("stimulus", maintain_order=True)
        .agg(
            pl.col("occurrences").sum(),
            forms=pl.len(),
            pieces_per_form=pl.col("pieces").mean().round(4),
            most_pieces=pl.col("pieces").max(),
            one_piece=(pl.col("pieces") == 1).sum(),
            unknown_forms=pl.col("unknown").count(),
            marks_lost_forms=pl.col("marks_lost").count(),
            identical_to=pl.col("identical_to").explode().drop_nulls().unique().sort(),
            **{
                f"{name}_occurrences": pl.col("occurrences").filter(pl.col(name).is_not_null()).sum() for name in SHARES
            },
        )
        .join(examples, on="stimulus", how="left", maintain_order="left")
        .with_columns(pieces)
        .select(pl.col(name).cast(kind) for name, kind in TABLE_SCHEMA.items())
    )
    return TokenizerAudit(table, _summary(tried, table))


def _summary(tried: pl.DataFrame, table: pl.DataFrame) -> dict[str, Any]:
    """Return the summary of an audit from one row per form, and its stimuli."""
    n_occurrences = int(tried["occurrences"].sum())
    weights = tried["occurrences"] if n_occurrences else pl.Series([1] * tried.height, dtype=pl.Int64)
    often = table.sort("occurrences", descending=True, maintain_order=True)
    return {
        "n_forms": tried.height,
        "n_unseen": int((tried["occurrences"] == 0).sum()),
        "n_occurrences": n_occurrences,
        "n_stimuli": table.height,
        "pieces_per_form": round(float(tried["pieces"].sum()) / max(tried.height, 1), 4),
        **{name: int(weights.filter(tried[name].is_not_null()).sum()) / max(int(weights.sum()), 1) for name in SHARES},
        "examples": {
            name: often[f"{name}_example"].drop_nulls().unique(maintain_order=True).head(_EXAMPLES).to_list()
            for name in SHARES
        },
    }


def _read(tokenizer: Any, forms: list[str]) -> pl.DataFrame:
    """Return the tokenizer's pieces for each of these distinct forms.

    Returns:
        form, ids (as text), pieces (their number), unknown and marks_lost (an example of that damage, or null).
    """
    name_of, normalizer = tokenizer.backend_tokenizer.id_to_token, tokenizer.backend_tokenizer.normalizer
    unknown_ids = unknown_pieces(tokenizer)
    texts = [_normalized(normalizer, form) for form in forms]
    shorter = [_lost(form, text) for form, text in zip(forms, texts, strict=True)]
    # Where normalization composes letters, offsets skip the second half and hide what is covered. So a form that
    # changes in normalization, but keeps its letters and marks, is tried again as the normalized text.
    changed = [text != form and not any(less) for form, text, less in zip(forms, texts, shorter, strict=True)]
    again = _pieces(tokenizer, list(itertools.compress(texts, changed)))
    rows = []
    for row, (ids, spans) in enumerate(_pieces(tokenizer, forms)):
        form, text, (no_letter, no_mark) = forms[row], texts[row], shorter[row]
        dropped = set() if no_letter or no_mark else _uncovered(text, next(again)[1] if changed[row] else spans)
        no_letter = no_letter or any(_LETTER.match(text[i]) for i in dropped)
        no_mark = no_mark or any(_MARK.match(text[i]) for i in dropped)
        left = "".join(character for i, character in enumerate(text) if i not in dropped)
        is_unknown = no_letter or not ids or not unknown_ids.isdisjoint(ids)
        unknown = f"{form} -> {' '.join(map(name_of, ids)) or 'no piece'}" if is_unknown else None
        lost = f"{form} -> {left or 'nothing'}" if no_mark else None
        rows.append((form, " ".join(map(str, ids)), len(ids), unknown, lost))
    schema = {"form": pl.String, "ids": pl.String, "pieces": pl.Int64, "unknown": pl.String, "marks_lost": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _normalized(normalizer: Any, form: str) -> str:
    """Return a form after normalization, without the sign for the start of a word."""
    if normalizer is None:
        return form
    text = str(normalizer.normalize_str(form))
    return form if form in text else text.replace("▁", " ").strip()


def _pieces(tokenizer: Any, words: Sequence[str]) -> Iterator[tuple[tuple[int, ...], list[tuple[int, int]]]]:
    """Yield the ids and spans of each word's pieces within a sentence.

    A span counts from the word's start.
    """
    n = len(_BEFORE)
    for begin in range(0, len(words), _AT_A_TIME):
        texts = [_BEFORE + word for word in words[begin : begin + _AT_A_TIME]]
        for encoding in encode(tokenizer, texts, special=False):
            ids, spans = encoding.ids, encoding.offsets
            mine = [place for place, (_, end) in enumerate(spans) if end > n]
            yield tuple([ids[place] for place in mine]), [(spans[place][0] - n, spans[place][1] - n) for place in mine]


def _split(tokenizer: Any, words: Sequence[str]) -> list[list[str]]:
    """Return the pieces of each word as text; a letter that is split into several pieces (bytes) is in each of them."""
    backend, unknown_ids = tokenizer.backend_tokenizer, unknown_pieces(tokenizer)
    texts = [_normalized(backend.normalizer, word) for word in words]
    return [
        [
            str(backend.id_to_token(one)) if one in unknown_ids else text[max(start, 0) : end]
            for one, (start, end) in zip(ids, spans, strict=True)
        ]
        for text, (ids, spans) in zip(texts, _pieces(tokenizer, texts), strict=True)
    ]


def _uncovered(word: str, spans: Sequence[tuple[int, int]]) -> set[int]:
    """Return the places of letters, marks and digits without a piece; usually empty."""
    covered = {place for span in spans for place in range(*span)}
    letters = {place for place, sign in enumerate(word) if _LETTER.match(sign) or _MARK.match(sign)}
    return letters - covered


def _lost(form: str, text: str) -> tuple[bool, bool]:
    """Return whether `text`, the normalized `form`, lacks letters, and whether it lacks marks.

    The composition of letters does not matter.
    """
    if text == form:
        return False, False
    before, after = (unicodedata.normalize("NFKD", one) for one in (form, text))
    had, has = _MARK.findall(before), _MARK.findall(after)
    fewer = len(_LETTER.findall(before)) > len(_LETTER.findall(after))
    return fewer, len(had) > len(has) or (had != has and bool(Counter(had) - Counter(has)))


def _find_identical(tried: pl.DataFrame) -> pl.DataFrame:
    """Return the forms with the pieces of another stimulus's form.

    The columns are stimulus, form, identical (an example) and identical_to (the other stimuli). A string that two
    stimuli claim is left to the lexicon. Joiners and the composition of letters do not distinguish strings.
    """
    claims = tried.filter("counted", pl.col("unknown").is_null()).with_row_index("row")
    claims = claims.with_columns(
        first=pl.col("row").min().over("ids", "stimulus"),
        written=pl.col("form").str.replace_all(f"[{_JOINERS}]", "").str.normalize("NFC"),
    )
    pairs = claims.join(claims, on="ids", suffix="_other").filter(
        pl.col("stimulus") != pl.col("stimulus_other"), pl.col("written") != pl.col("written_other")
    )
    mine, other = pl.format("{} ({})", "form", "stimulus"), pl.format("{} ({})", "form_other", "stimulus_other")
    is_first = pl.col("first") < pl.col("first_other")
    one, another = pl.when(is_first).then(mine).otherwise(other), pl.when(is_first).then(other).otherwise(mine)
    grouped = pairs.sort("first_other", "row_other").group_by("stimulus", "form")
    return grouped.agg(pl.format("{} and {}", one, another).first().alias("identical"), identical_to="stimulus_other")


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
