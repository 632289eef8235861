"""The static vectors of a study's words: out of a training or out of a file, with what is to be told of the reading."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from prasanga.provenance import digests_of_files
from prasanga.sentences.manifest import as_planned
from prasanga.static.files import WordVectors, read_vectors
from prasanga.static.lookup import Spellings, look_up, single_words, wanted_spellings
from prasanga.static.spelling import spelling_like
from prasanga.static.trained import read_trained

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainedSource:
    """The table of a training of this study."""

    path: str

    def digests(self) -> dict[str, str]:
        """The file with its sha256."""
        return digests_of_files([self.path])

    def read(self, stimuli: Sequence[Spellings], forms: str) -> WordVectors:
        """The vectors of all spellings of the words; these are spelled as in training."""
        return read_trained(self.path, wanted_spellings(stimuli, forms))


@dataclass(frozen=True)
class FileSource:
    """A file in one of the usual formats.

    Attributes:
        path: the file.
        format: one of `FORMATS`.
        normalization: of the study, which brings the file's words to its spelling.
        digest: of its content, from when the run was planned.
        manifest: where that digest is remembered.
    """

    path: str
    format: str
    normalization: str
    digest: str
    manifest: str

    def digests(self) -> dict[str, str]:
        """The file with its digest, which planning has read it for."""
        return {self.path: self.digest}

    def read(self, stimuli: Sequence[Spellings], forms: str) -> WordVectors:
        """The vectors of all spellings of the words, and of those made of pieces.

        Raises:
            InputError: another file than when the run was planned; as `read_vectors` does.
        """
        with as_planned(self.path, self.digest, self.manifest):
            return read_vectors(
                self.path,
                wanted_spellings(stimuli, forms),
                format=self.format,
                spelling=spelling_like(self.normalization),
                from_subwords=single_words(stimuli),
            )


Source: TypeAlias = TrainedSource | FileSource


def source_of(
    trained: str | None, file: str | None, *, format: str, normalization: str, digest: str | None, manifest: str
) -> Source:
    """Where vectors come from: of the two paths, one is there.

    Args:
        trained: the table of a training.
        file: a file of vectors.
        format: of the file, as the others see `FileSource`.
        normalization: of the study.
        digest: of the file.
        manifest: of digests.
    """
    if trained is not None:
        return TrainedSource(trained)
    assert file is not None
    assert digest is not None
    return FileSource(file, format, normalization, digest, manifest)


def vectors_of_words(stimuli: Sequence[Spellings], source: Source, forms: str) -> tuple[pa.Table, dict[str, str]]:
    """The table of `look_up`, and for its metadata `method` and `report` (JSON: how many words there were and are).

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
