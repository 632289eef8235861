"""The vectors of a study's words, looked up among the words of a file or of a training.

`dictionary` takes a word as its set writes it, or the first of its spelling variants that the vectors have. `pooled`
takes the mean over all its inflected forms that the vectors have, because text often inflects a word. The weights are
the numbers of occurrences in training, if these are known. A stimulus of several words has a vector only if the file
has it as one (with spaces, or `_` between its parts): a mean of its parts would be another word's vector.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import regex

from prasanga.base.io import made_from, read_batches, read_table
from prasanga.lexicon.model import Lexicon
from prasanga.static.files import Found, WordVectors, read_vectors
from prasanga.text import fold, normalizer

_LOG = logging.getLogger(__name__)
_BETWEEN = regex.compile(r"[\s\-\u2010]+")


class Spellings(NamedTuple):
    """The spellings under which a stimulus is looked up.

    Attributes:
        stimulus: its name.
        variants: other spellings of the word itself.
        forms: all its forms in running text, inflected ones and variants too.
    """

    stimulus: str
    variants: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()


def spellings_of(lexicon: Lexicon) -> list[Spellings]:
    """Return the spellings of every stimulus of a study, in the lexicon's order.

    Spellings whose hits in text go to another stimulus, or to none, are no variants and no forms here; the stimulus's
    own name is looked up in any case.
    """
    claims = lexicon.claims()
    forms: dict[str, dict[str, None]] = {stimulus.name: {} for stimulus in lexicon.stimuli}
    for form in lexicon.forms:
        if form.stimulus in claims.get(fold(form.form), ()):
            forms[form.stimulus][form.form] = None
    return [
        Spellings(
            stimulus.name,
            # words that are looked for in templates only claim nothing
            tuple(v for v in stimulus.variants if stimulus.name in claims.get(fold(v), (stimulus.name,))),
            tuple(forms[stimulus.name]),
        )
        for stimulus in lexicon.stimuli
    ]


def spelling_like(normalization: str) -> Callable[[Sequence[str]], list[str]]:
    """Return the function that writes words as the study does: normalized, without the non-joiner."""
    normalize = normalizer(normalization)
    return lambda words: [fold(word) for word in normalize(words)]


def wanted_spellings(stimuli: Sequence[Spellings], forms: str) -> list[str]:
    """Return all spellings that `look_up` will ask for, each once."""
    asked: dict[str, None] = {}
    for each in stimuli:
        for spelling in (each.stimulus, *each.variants, *(each.forms if forms == "pooled" else ())):
            asked.update(dict.fromkeys(_as_in_files(spelling)))
    return list(asked)


def look_up(stimuli: Sequence[Spellings], vectors: WordVectors, forms: str = "dictionary") -> pa.Table:
    """Return one row per stimulus, in order: its vector, or the reason why it has none.

    Columns: stimulus; forms, the words found, as the file writes them; count, how often they occurred in training (null
    if the file does not say); n_forms; source, `word`, `variant`, `forms` (pooled) or `subwords`; vector, a fixed-size
    list of float32 or null; reason, null where there is a vector.

    Args:
        stimuli: the words to look up.
        vectors: read with `wanted_spellings(stimuli, forms)`.
        forms: `dictionary` or `pooled` (see the module).
    """
    rows = [_row(each, vectors, forms) for each in stimuli]
    types = {
        **{"stimulus": pa.string(), "forms": pa.list_(pa.string()), "count": pa.int64(), "n_forms": pa.int64()},
        **{"source": pa.string(), "vector": pa.list_(pa.float32(), vectors.dimensions), "reason": pa.string()},
    }
    return pa.Table.from_pylist(rows, schema=pa.schema(types))


def read_looked_up(path: str | Path) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, str]]:
    """Read the vector of each stimulus that has one, and the reason of each that has none, from a table of `look_up`.

    Raises:
        InputError: the table is absent or damaged.
    """
    rows = read_table(path, ["stimulus", "vector", "reason"]).to_pylist()
    vectors = {row["stimulus"]: np.array(row["vector"], np.float32) for row in rows if row["vector"] is not None}
    return vectors, {row["stimulus"]: row["reason"] for row in rows if row["vector"] is None}


def _row(each: Spellings, vectors: WordVectors, forms: str) -> dict[str, Any]:
    is_pooled = forms == "pooled"
    spellings = (each.stimulus, *each.variants, *(each.forms if is_pooled else ()))
    in_file = [_find_in_file(spelling, vectors.found) for spelling in spellings]
    found = list(dict(filter(None, in_file)).values())[: None if is_pooled else 1]  # each of the file's words once
    row: dict[str, Any] = {"stimulus": each.stimulus, "forms": [word.word for word in found], "n_forms": len(found)}
    if not found:
        vector = vectors.subwords.get(fold(each.stimulus))
        if vector is None or _BETWEEN.search(each.stimulus):
            return {**row, "reason": _explain_absence(each, forms)}
        return {**row, "source": "subwords", "vector": vector}
    counts: list[int] = [word.occurrences for word in found if word.occurrences is not None]
    known, total = len(counts) == len(found), sum(counts)
    stacked = np.stack([word.vector for word in found]).astype(np.float64)
    vector = np.asarray(np.average(stacked, axis=0, weights=counts if known and total else None), dtype=np.float32)
    if not vector.any():
        return {**row, "forms": [], "n_forms": 0, "reason": "out of vocabulary: its vector is zero in every number"}
    source = "forms" if is_pooled else "word" if in_file[0] else "variant"
    return {**row, "count": total if known else None, "source": source, "vector": vector}


def _find_in_file(spelling: str, found: Mapping[str, Found]) -> tuple[str, Found] | None:
    return next(((asked, found[asked]) for asked in _as_in_files(spelling) if asked in found), None)


def _as_in_files(spelling: str) -> Iterator[str]:
    """Yield how files may write a word: as it is, lower-cased, and its parts joined."""
    folded = fold(spelling)
    joined = _BETWEEN.sub("_", folded)
    yield from dict.fromkeys([folded, folded.lower(), joined, joined.lower()])


def _explain_absence(each: Spellings, forms: str) -> str:
    if _BETWEEN.search(each.stimulus):
        return "out of vocabulary: several words, which the vectors do not have as one"
    if forms == "pooled":
        return f"out of vocabulary: none of its {len({each.stimulus, *each.forms})} forms"
    variants = len(each.variants)
    return "out of vocabulary" + (f": neither it nor one of its {variants} variants" if variants else "")


# --------------------
# The vectors of a study's words, from a training or a file.

_ROWS = 8192


def read_trained(path: str | Path, wanted: Collection[str]) -> WordVectors:
    """Read the vectors of some words from the file of a training, some thousand rows in memory at a time.

    Args:
        path: a file with `trained_table`, whose metadata have `method` (word2vec, glove).
        wanted: the words, spelled as in training.

    Raises:
        InputError: the file is absent or damaged.
    """
    method, names = made_from(path).get("method", ""), pa.array(sorted(set(wanted)), pa.string())
    found: dict[str, Found] = {}
    n_words = dimensions = 0
    for batch in read_batches(path, ["word", "count", "vector"], rows=_ROWS):
        n_words, dimensions = n_words + batch.num_rows, batch.schema.field("vector").type.list_size
        kept = batch.filter(pc.is_in(batch.column("word"), value_set=names))
        vectors = kept.column("vector").flatten().to_numpy(zero_copy_only=False).reshape(-1, dimensions)
        rows = zip(kept.column("word").to_pylist(), kept.column("count").to_pylist(), vectors, strict=True)
        found.update({word: Found(word, vector, count) for word, count, vector in rows})
    return WordVectors(found, method, dimensions, n_words)


def look_up_stimuli(
    stimuli: Sequence[Spellings],
    forms: str,
    *,
    trained: str | Path | None = None,
    file: str | Path | None = None,
    format: str = "auto",
    normalization: str = "none",
) -> tuple[pa.Table, dict[str, str]]:
    """Look up a study's words in a training of the study or in a file.

    Args:
        stimuli: the words.
        forms: `dictionary` or `pooled`.
        trained: a table of `trained_table`.
        file: without `trained`, a file of one of `FORMATS`.
        format: of the file.
        normalization: of the study; the file's words are compared in its spelling.

    Returns:
        The table of `look_up`, and for its metadata `method` and `report` (JSON: numbers of words).

    Raises:
        InputError: as `read_trained` and `read_vectors`.
    """
    wanted = wanted_spellings(stimuli, forms)
    if trained:
        vectors = read_trained(trained, wanted)
    else:
        spelling = spelling_like(normalization)
        single = [fold(each.stimulus) for each in stimuli if not _BETWEEN.search(each.stimulus)]
        vectors = read_vectors(str(file), wanted, format=format, spelling=spelling, from_subwords=single)
    table = look_up(stimuli, vectors, forms)
    report = {
        **{name: getattr(vectors, name) for name in ("n_words", "dimensions", "repeated", "cut_off")},
        "n_stimuli": table.num_rows,
        "n_missing": table["vector"].null_count,
    }
    _LOG.info("%s", report)
    return table, {"method": vectors.method, "report": json.dumps(report)}
