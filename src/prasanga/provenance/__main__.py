"""What a table or figure was made from: `python -m prasanga.provenance results/report/figures/effect_by_length.pdf`.

Answers from the folder of results alone, on any machine; a file that was copied out of it is known by its content, or
by the fingerprint inside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from prasanga.errors import InputError
from prasanga.provenance.ledger import LEDGER
from prasanga.provenance.lineage import find_results, identify, open_results
from prasanga.provenance.telling import explain


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell of each file; 0 if all are known, 1 if one is not, 2 if there is nothing to ask."""
    parser = argparse.ArgumentParser(prog="python -m prasanga.provenance", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a table, figure or page, or a copy of one")
    parser.add_argument(
        "--results", type=Path, help="the folder of results; else the one that FILE lies in, or ./results"
    )
    parser.add_argument("--whole", action="store_true", help="tell every step on the way, and the whole config")
    asked = parser.parse_args(arguments)
    try:
        answers = [tell(path, asked.results, whole=asked.whole) for path in asked.files]
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(answers), end="")
    return 0


def tell(path: Path, folder: Path | None = None, *, whole: bool = False) -> str:
    """What is known of a file.

    Args:
        path: the file.
        folder: the results that it may come from; None for those that it lies in, or `results` here.
        whole: tell every step, and the whole config.

    Raises:
        InputError: no such file, no ledger, or a file that the ledger does not know.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file. Name a table, a figure or the page, or a copy of one.")
    folder = folder or find_results(path) or Path("results")
    results = open_results(folder)
    if not results.ledger.entries:
        raise InputError(
            f"{folder / LEDGER}: no such ledger, or nothing in it, and so nothing says what made the file {path}. Name"
            " the folder of results that it comes from: --results FOLDER"
        )
    found = identify(path, results)
    if found is None:
        raise InputError(
            f"{path}: no result of the workflow under {folder}: neither its content nor a fingerprint inside it is"
            " known there. It was made by somebody else, by another study, or anew since. Name another folder of"
            " results: --results FOLDER"
        )
    return explain(path, found, results, whole=whole)


if __name__ == "__main__":
    sys.exit(main())
