"""What the scripts call: a training on a corpus, and the vectors of a study's words out of a training or a file."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from prasanga.base.errors import InputError
from prasanga.provenance import digests_of_files
from prasanga.sentences.files import as_planned
from prasanga.static.files import WordVectors, read_vectors
from prasanga.static.glove import train_glove
from prasanga.static.lookup import Spellings, look_up, single_words, spelling_like, wanted_spellings
from prasanga.static.training import Trained, has_capitals, read_trained, sentences_of, spool, train_word2vec

_LOG = logging.getLogger(__name__)
_METHODS: dict[str, Callable[..., Trained]] = {"word2vec": train_word2vec, "glove": train_glove}


def train_on_texts(
    texts: Iterable[str], normalize: Callable[[Sequence[str]], list[str]], *, language: str, method: str, **options: Any
) -> Trained:
    """Train on texts, which are read once; their words lie in `TMPDIR` meanwhile.

    Args:
        texts: lines or records of a corpus.
        normalize: the study's normalization of many texts.
        language: of the study; says whether words are lower-cased.
        method: word2vec or glove.
        options: of `train_word2vec` or `train_glove`.

    Raises:
        InputError: another method; no room on the disk; as the method does.
    """
    if method not in _METHODS:
        raise InputError(f"train.method: {method!r} is unknown. Write {' or '.join(_METHODS)}.")
    with tempfile.TemporaryDirectory(prefix="prasanga-static-") as folder:
        tokens = spool(sentences_of(texts, normalize, lower=has_capitals(language)), Path(folder, "tokens"))
        return _METHODS[method](tokens, **options)


@dataclass(frozen=True)
class Source:
    """Where vectors come from: of the two paths, one is there.

    Attributes:
        trained: the table of a training of this study.
        file: a file in one of the usual formats.
        format: of the file, one of `FORMATS`.
        normalization: of the study, which brings the file's words to its spelling.
        digest: of the file's content, from when the run was planned.
        manifest: where that digest is remembered.
    """

    trained: str | None
    file: str | None
    format: str
    normalization: str
    digest: str | None
    manifest: str

    def digests(self) -> dict[str, str]:
        """Return the table with its sha256, or the file with the digest that planning has read it for."""
        if self.file is None or self.digest is None:
            return digests_of_files([str(self.trained)])
        return {self.file: self.digest}

    def read(self, stimuli: Sequence[Spellings], forms: str) -> WordVectors:
        """Read the vectors of all spellings of the words, and those made of pieces.

        Raises:
            InputError: another file than when the run was planned; as `read_trained` and `read_vectors` do.
        """
        wanted = wanted_spellings(stimuli, forms)
        if self.file is None or self.digest is None:
            return read_trained(str(self.trained), wanted)
        with as_planned(self.file, self.digest, self.manifest):
            return read_vectors(
                self.file,
                wanted,
                format=self.format,
                spelling=spelling_like(self.normalization),
                from_subwords=single_words(stimuli),
            )


def vectors_of_words(stimuli: Sequence[Spellings], source: Source, forms: str) -> tuple[pa.Table, dict[str, str]]:
    """Return the table of `look_up`, and for its metadata `method` and `report` (JSON: how many words there are).

    Raises:
        InputError: whatever reading the source refuses; another `forms` than there is.
    """
    vectors = source.read(stimuli, forms)
    table = look_up(stimuli, vectors, forms)
    report = {
        "n_words": vectors.n_words,
        "dimensions": vectors.dimensions,
        "repeated": vectors.repeated,
        "cut_off": vectors.cut_off,
        "n_stimuli": table.num_rows,
        "n_missing": table["vector"].null_count,
    }
    _LOG.info("%s", report)
    return table, {"method": vectors.method, "report": json.dumps(report)}
