"""What a table or figure was made from: `python -m prasanga.provenance results/report/figures/effect_by_length.pdf`.

Answers from the folder of results alone, on any machine; a file that was copied out of it is known by its content, or
by the fingerprint inside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from prasanga.base.errors import InputError, printable
from prasanga.provenance.lineage import tell


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


if __name__ == "__main__":
    sys.exit(main())
