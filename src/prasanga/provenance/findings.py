"""What is found when results are compared with their ledger."""

from __future__ import annotations

import csv
import io
import logging
from collections import Counter
from dataclasses import dataclass

from prasanga.errors import InputError

AGAIN = (
    "Run the workflow again; what it then leaves as it is, no table of the study needs: ask for it by its name, or"
    " delete it."
)
"""What to do about a result that is left over from before."""
_SHOWN = 50

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Finding:
    """Something that was found in a folder of results.

    Attributes:
        kind: changed, damaged, unknown, unfinished, lost, missing, input, source, code, settings, model, list: what
            does not fit; absent, libraries, newer code: what is worth knowing and not wrong.
        path: the file.
        text: what does not fit and what to do, or what is worth knowing; a sentence or more.
        is_wrong: whether the results are not what they should be.
    """

    kind: str
    path: str
    text: str
    is_wrong: bool = True


@dataclass(frozen=True)
class Check:
    """What was looked at, and what was found: what is wrong first."""

    n_files: int
    n_bytes: int
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that are wrong."""
        return tuple(each for each in self.findings if each.is_wrong)

    @property
    def summary(self) -> str:
        """One sentence."""
        looked = f"{self.n_files:,} files of {self.n_bytes / 1e6:,.1f} MB"
        if not self.wrong:
            return f"{looked}: all are what the ledger says, and fit together."
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(f.kind for f in self.wrong).items()))
        return f"{looked}: {len(self.wrong)} finding(s) that must be seen to ({kinds})."

    def to_tsv(self) -> str:
        """A table with the columns kind, path, wrong (yes or no) and text."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow(["kind", "path", "wrong", "text"])
        writer.writerows([each.kind, each.path, "yes" if each.is_wrong else "no", each.text] for each in self.findings)
        return text.getvalue()


def say(check: Check, table: str) -> None:
    """Tell what was found, a line each, and at last the sum of it.

    Args:
        check: what was found.
        table: the file that has all of it; no more than some findings are shown.

    Raises:
        InputError: with the sum, if something is wrong.
    """
    for finding in check.findings[:_SHOWN]:
        level = logging.ERROR if finding.is_wrong else logging.INFO
        logger.log(level, "%s (%s): %s", finding.path, finding.kind, finding.text)
    if len(check.findings) > _SHOWN:
        logger.info("%d more findings: %s", len(check.findings) - _SHOWN, table)
    if check.wrong:
        raise InputError(f"{check.summary} Each with what to do: {table}")
    logger.info("%s", check.summary)
