"""What is said of a study that is not finished: which results are missing, and how to make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

NAMES = {
    "ceat": "CEAT",
    "ceat_words": "the associations of single words in CEAT",
    "differences": "the differences between lengths and between models",
    "settling": "where effects settle",
    "convergence": "the effects as draws are added",
    "seat": "SEAT",
    "weat": "WEAT",
    "log_probability": "log-probability bias",
    "structures": "the traits in sentence structures",
    "structure_differences": "the comparison of sentence structures",
    "traits": "the scores of single traits",
    "bias_percentages": "the bias percentages of sentence pairs",
    "pair_differences": "the differences of scores of sentence pairs",
    "pair_statistics": "the statistics of the sets of pairs",
}
"""What each table of results has to say, as a part of a sentence."""

_WITH_P = ("ceat", "seat", "weat", "log_probability", "bias_percentages")
"""Results with a p that is corrected for all of its family."""

_NAMED = 4


def said_of_parts(missing: Sequence[str], total: int) -> str:
    """How much of a table is there that is gathered from one file a job.

    Args:
        missing: paths of the files that are not there.
        total: how many there are to be.
    """
    if not missing:
        return f"{'its one part is' if total == 1 else f'all {total} parts are'} there, not yet gathered"
    parts = [f"{PurePosixPath(path).parent.name}/{PurePosixPath(path).stem}" for path in missing]
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return f"{total - len(missing)} of {total} parts are there; {', '.join(parts[:_NAMED])}{more} not yet"


def missing_results(said: Mapping[str, str], paths: Mapping[str, str]) -> list[str]:
    """A sentence for each result that is missing, or there in part.

    Args:
        said: by name of the result, what is there of it (`said_of_parts`); empty if nothing is.
        paths: where each result of a finished study is.
    """
    return [
        f"{_start(NAMES.get(name, name))} {_is(name)} "
        + (f"not complete: {part}{_only_so_far(name)}." if part else "not there.")
        + f" `snakemake {paths[name]}` makes {'them' if _is(name) == 'are' else 'it'}."
        for name, part in said.items()
    ]


def _only_so_far(name: str) -> str:
    return "; p is corrected for what is there alone" if name in _WITH_P else ""


def _start(name: str) -> str:
    return name[:1].upper() + name[1:]


def _is(name: str) -> str:
    plural = ("differences", "convergence", "ceat_words", "structures", "traits", "bias_percentages")
    return "are" if name in (*plural, "pair_differences", "pair_statistics") else "is"
