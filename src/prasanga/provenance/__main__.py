"""What a table or figure was made from: `python -m prasanga.provenance results/report/figures/effect_by_length.pdf`.

Answers from the folder of results alone, on any machine; a file that was copied out of it is known by its content, or
by the fingerprint inside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from prasanga.errors import InputError, printable, reason
from prasanga.provenance.files import unreadable
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
    unknown = False
    for number, path in enumerate(asked.files):
        try:
            answer = tell(path, asked.results, whole=asked.whole)
        except InputError as error:
            unknown = True
            print(error, file=sys.stderr)
        else:
            # the results, and what their ledger says, may be anybody's
            print(printable(answer if number == 0 else f"\n{answer}", longest=None), end="")
    return 1 if unknown else 0


def tell(path: Path, folder: Path | None = None, *, whole: bool = False) -> str:
    """What is known of a file.

    Args:
        path: the file.
        folder: the results that it may come from; None for those that it lies in, or `results` here.
        whole: tell every step, and the whole config.

    Raises:
        InputError: no such file, no ledger, a file that the ledger does not know, or a ledger that says of it what no
            workflow would write.
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
    try:
        found = identify(path, results)
    except OSError as error:
        raise unreadable(error.filename or path, error) from error
    if found is None:
        raise InputError(
            f"{path}: no result of the workflow under {folder}: neither its content nor a fingerprint inside it is"
            " known there. It was made by somebody else, by another study, or anew since. Name another folder of"
            " results: --results FOLDER"
        )
    try:
        return explain(path, found, results, whole=whole)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"{folder / LEDGER}: what it says of {path} no workflow has written ({type(error).__name__}:"
            f" {reason(error)}). It was changed since, or comes from another version: ask whoever made the results."
        ) from error


if __name__ == "__main__":
    sys.exit(main())
