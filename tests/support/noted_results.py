"""Results with Snakemake's notes on them, written by hand."""

from __future__ import annotations

import json
import os
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xxhash

from prasanga.provenance import sha256_of_file
from prasanga.provenance.code import Code
from prasanga.provenance.ledger import Circumstances, synchronize

CODE = Code("0123456789ab", {"measure.py": "ab0123456789", "prasanga.base.parquet.write": "ba9876543210"})
"""The code that all of them are made with unless another is given."""
CIRCUMSTANCES = Circumstances(
    config={"study": "tried", "seed": 47, "associations": {"n_samples": 40}, "models": {"a": {"layer": -1}}},
    libraries={"python": "3.11.7", "prasanga": "0.1.0", "torch": "2.13.0"},
    host={
        "processor": "A processor",
        "architecture": "x86_64",
        "cores": 2,
        "instructions": ["avx2"],
        "system": "Linux",
    },
    settings={"cores": 2},
)


@dataclass
class NotedResults:
    """A study's folder in which files are made and noted as Snakemake would."""

    root: Path
    circumstances: Circumstances = CIRCUMSTANCES
    clock: float = field(default_factory=time.time)
    """Every job takes five seconds of it, and begins five seconds after the last."""
    code: dict[str, Code] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        return self.root / "results"

    def source(self, path: str, content: str) -> str:
        """A file that nobody makes; returns its path."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
        return path

    def make(
        self,
        path: str,
        content: str | bytes,
        rule: str,
        inputs: Sequence[str] = (),
        *,
        settings: Mapping[str, Any] | None = None,
        code: Code = CODE,
        unnoted: Sequence[str] = (),
    ) -> Path:
        """Make a result; of the inputs in `unnoted`, Snakemake has no digest. Returns where it lies."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        self.clock += 10
        os.utime(place, (self.clock, self.clock))
        self.code[code.fingerprint] = code
        params = [repr(f"measure.py {code.fingerprint}")]
        note = {
            "rule": rule,
            "input": sorted(inputs),
            "params": params + ([repr(dict(settings))] if settings else []),
            "starttime": self.clock - 5,
            "endtime": place.stat().st_mtime,
            "input_checksums": {
                each: f"sha256:{sha256_of_file(self.root / each)}" for each in inputs if each not in unnoted
            },
        }
        name = self.root / ".snakemake/metadata" / urlsafe_b64encode(path.encode()).decode()
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(json.dumps(note), encoding="utf-8")
        return place

    def end_run(self, circumstances: Circumstances | None = None) -> None:
        """Have the ledger take in what was made, as at the end of a run."""
        synchronize(self.root, own_run=True, circumstances=circumstances or self.circumstances, code=self.code)


def small_results(root: Path) -> NotedResults:
    """A corpus, a word list, vectors, two tables and a figure, each made from those before."""
    noted = NotedResults(root)
    corpus = noted.source("texts/corpus.txt", "A text.\n")
    words = noted.source("words/flowers.yaml", "words: [rose]\n")
    noted.make("results/lexicon/forms.tsv", "rose\n", "compile_forms", [words])
    noted.make(
        "results/sentences/corpus.tsv",
        "A rose.\n",
        "extract_sentences",
        [corpus, "results/lexicon/forms.tsv"],
        settings={"shard": {"path": corpus}, "digest": xxhash.xxh3_128_hexdigest(b"A text.\n")},
        unnoted=[corpus],
    )
    for model in ("a", "b"):
        noted.make(
            f"results/associations/ceat/{model}.tsv",
            f"{model} 0.5\n",
            "measure_ceat",
            ["results/sentences/corpus.tsv"],
            settings={"seed": 47, "n_samples": 40, "model": f"models/{model}", "revision": None},
        )
    tables = [f"results/associations/ceat/{model}.tsv" for model in ("a", "b")]
    noted.make("results/associations/ceat.csv", "a,0.5\nb,0.5\n", "gather_ceat", tables)
    figure = "<svg><dc:source>00112233445566ff</dc:source></svg>"
    noted.make("results/report/figures/ceat.svg", figure, "draw_ceat", ["results/associations/ceat.csv"])
    noted.end_run()
    return noted
