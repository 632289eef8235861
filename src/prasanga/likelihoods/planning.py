"""What a plan must know of the sentences that log-probability bias is read from, and of results that are at hand.

As the word lists, templates and traits are read while planning, so that a mistake in them is told before any job, and
jobs depend on the sentences that come out and not on the files. What comes out is kept in a small file and used as long
as the files, byte by byte, and the code that reads them are the same (`prasanga.lexicon.planning`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prasanga.digests import digest_of, read_cache, sha256_of_file, write_cache
from prasanga.errors import InputError
from prasanga.parquet import made_from
from prasanga.provenance.code import fingerprint_of, remembered


def plan_sentences(
    asked: Mapping[str, Any],
    lexicon: Mapping[str, Any],
    words: str,
    categories: Mapping[str, Any],
    *,
    cache: str | Path,
) -> dict[str, str]:
    """A digest of the sentences of the structures, and one of those of the categories.

    Args:
        asked: `log_probability` of the config.
        lexicon: `stimuli`, `suffix_groups`, `normalization`.
        words: what the forms of the lexicon depend on (`LexiconPlan.words`).
        categories: those of `asked`, in the layout of `categories.json`.
        cache: a folder for what is known, made if need be.

    Returns:
        `structures` and `categories`; empty strings where the study asks for none.

    Raises:
        InputError: a file that cannot be read, or holds a mistake; a word without a form that a sentence asks for; a
            category without sentences.
    """
    path = Path(cache, "log-probability.json")
    with remembered(Path(cache, "code.json")):
        code = fingerprint_of(_read).fingerprint
    known_by = [dict(asked), dict(lexicon), words, dict(categories), code]
    key = _key(asked, known_by)
    if key is not None and (known := read_cache(path, key)) is not None:
        return dict(known)
    plan = _read(asked, lexicon, categories)
    if key is not None and key == _key(asked, known_by):  # else somebody is writing the files
        write_cache(path, key, plan)
    return plan


def _key(asked: Mapping[str, Any], known_by: list[Any]) -> str | None:
    """A digest of all that decides what comes out; None if a file cannot be read, which its reader explains."""
    files = [*asked["traits"], *([asked["structures"]] if asked["traits"] else [])]
    files += [asked["templates"]] if asked["categories"] else []
    try:
        return digest_of([[[str(path), sha256_of_file(Path(path))] for path in files], known_by])
    except OSError:
        return None


def _read(asked: Mapping[str, Any], lexicon: Mapping[str, Any], categories: Mapping[str, Any]) -> dict[str, str]:
    # Imported here: a plan that is known needs none of it.
    from prasanga.lexicon.loading import load_lexicon
    from prasanga.likelihoods.structures import load_structures, trait_sentences
    from prasanga.likelihoods.templates import fill_categories, load_category_templates
    from prasanga.likelihoods.traits import load_traits

    normalization = lexicon["normalization"]
    forms = load_lexicon(lexicon["stimuli"], lexicon["suffix_groups"], normalization=normalization)
    plan = {"structures": "", "categories": ""}
    if asked["traits"]:
        structures = load_structures(asked["structures"], normalization)
        lists = [load_traits(path, normalization) for path in asked["traits"]]
        rows = trait_sentences(structures, lists, forms)
        plan["structures"] = digest_of([list(row._replace(gloss="")) for row in rows])
    if asked["categories"]:
        templates = load_category_templates(asked["templates"], normalization)
        filled = fill_categories(categories, templates, forms, asked["exchanged"])
        plan["categories"] = digest_of([[list(row) for row in rows] for _, rows in filled])
    return plan


def digest_of_set(name: str, path: str | Path) -> str:
    """The sha256 of a file of pairs.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    try:
        return sha256_of_file(Path(path))
    except OSError as error:
        raise InputError(
            f"`pairs.sets.{name}.path` is {str(path)!r}, which cannot be read: {error.strerror}. Write the path of a"
            " file of pairs, relative to the project (docs/pairs.md)."
        ) from error


def require_scores(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Refuse to begin if scores are to be used from the cache and are missing, or are others than the config asks for.

    Args:
        tables: by what to write to go without them, the tables of scores, each with what the config says of it. A
            setting of which the table or the config says nothing is not compared.

    Raises:
        InputError: how many there are, the first of them, and what to do.
    """
    problems = {
        path: (what, without)
        for without, paths in tables.items()
        for path, expected in paths.items()
        if (what := _misfit(path, expected)) is not None
    }
    if not problems:
        return
    what, without = next(iter(problems.values()))
    more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
    raise InputError(
        f"embeddings.source is 'cached', but scores are missing or do not fit{more}: {what} Copy the right ones under"
        " results/likelihoods, let the models compute them (`embeddings: {source: computed}`), or leave them out:"
        f" {without}."
    )


def _misfit(path: str, expected: Mapping[str, Any]) -> str | None:
    """What is wrong with a table, as a sentence."""
    if not Path(path).exists():
        return f"{path} is not there."
    recorded = json.loads(made_from(path).get("settings", "{}"))
    for key, found, wanted in _differences(recorded, expected):
        return f"{path} was made with {key} {found!r}, but the config says {wanted!r}."
    return None


def _differences(
    recorded: Mapping[str, Any], expected: Mapping[str, Any], before: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """The settings that both sides name and that differ: name, recorded and expected value."""
    for key in expected.keys() & recorded.keys():
        found, wanted = recorded[key], expected[key]
        if isinstance(found, Mapping) and isinstance(wanted, Mapping):
            yield from _differences(found, wanted, f"{before}{key}.")
        elif found != wanted:
            yield f"{before}{key}", found, wanted
