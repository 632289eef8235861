"""All studies of a paper, and a dossier: each number that it prints, ours, the interval, and why they differ.

A study is one of the paper's configs (`config/`), merged with `changes.yaml`. Each has a folder below the dossier's, so
you can run it, look at it and run it again like any other study.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml
from jinja2 import PackageLoader

from prasanga.base.errors import InputError
from prasanga.base.io import escape_markdown, write_text
from prasanga.base.yaml import load_yaml
from prasanga.config import read_config
from prasanga.methods import PAIRS
from prasanga.report import comparison
from prasanga.report.grid import write_interval
from prasanga.report.sheet import TEMPLATES, markdown_table, with_sign
from prasanga.schema import TABLES


class PaperStudy(NamedTuple):
    """A study of a paper.

    Attributes:
        name: its config, `config/<name>.yaml`, and its folder.
        method: the only method that is measured, of a study without a corpus; "" for all that the config asks for.
    """

    name: str
    method: str = ""

    @property
    def comparison(self) -> str:
        """The comparison with the paper, relative to the study's folder, without the ending."""
        return f"results/report/comparison{f'_{self.method}' if self.method else ''}"


STUDIES: Mapping[str, tuple[PaperStudy, ...]] = {
    "sadhu2024": (
        PaperStudy("sadhu2024"),
        PaperStudy("sadhu2024_seat", "seat"),
        PaperStudy("sadhu2024_log_probability"),
        PaperStudy("sadhu2024_figure1"),
    ),
    "sahoo2024": (PaperStudy("sahoo2024", "seat"), PaperStudy("sahoo2024_en", "seat"), PaperStudy("sahoo2024_pairs")),
}
"""The studies of each paper. Where two have a number, the first counts."""

CHANGES = "changes.yaml"
_NO_CHANGES = """\
# Changes to the configs of the paper: study, then keys as in its config. For example full commits, digests of pickles,
# or models that replace others; null removes a key. `prasanga reproduce` reads this file in each run.
#
# {example}:
#   models:
#     muril: {{revision: <40 hexadecimal digits>}}
"""

VERDICTS = ("agrees", "differs", "no interval", "not measured")
"""Whether a published number is in our interval; `templates/dossier.md.j2` says it in words."""

DOSSIER_SCHEMA = {
    name: TABLES["comparison"].polars.get(name, pl.String())
    for name in (
        *("paper", "table", "method", "category", "language", "published_model", "sample_mode", "segment_length"),
        *("published", "bound", "study", "model", "measured", "difference", "ci_low", "ci_high"),
        *("verdict", "reasons", "doubt", "note"),
    )
}
"""Columns of `dossier.csv`. `study` and `model` are ours; `reasons` has names of `_find_reasons`, with
semicolons between; the template has them in words, in its order."""

_CELL = ("table", "method", "category", "language", "published_model", "sample_mode", "segment_length")
_OURS = ("study", "model", "measured", "difference", "ci_low", "ci_high", "note")
_NO_SETTINGS = ("models.", "corpus", "lexicon", "study", "title")
_FEW = ("few words", "no number", "no interval", "not computed", "below", "too few", "dropped")


def reproduced(
    folder: Path, paper: str, installation: Path, run: Callable[[Path, Sequence[str]], bool]
) -> tuple[Path, bool]:
    """Run the studies of a paper, one after the other, and write the dossier of what they come to.

    Args:
        folder: of the dossier, and of the studies below it.
        paper: sadhu2024 or sahoo2024.
        installation: where the configs and the published numbers are.
        run: runs a study, given its folder and targets; returns whether it finished.

    Returns:
        `dossier.md`, and whether all studies were finished.

    Raises:
        InputError: as `prepare`.
    """
    configs = installation / "config"
    studies = prepare(folder, paper, configs)
    finished = [run(place, [f"{study.comparison}.md"] if study.method else []) for study, place in studies]
    return write_dossier(folder, paper, studies, configs, installation / "resources/published"), all(finished)


# ---- the studies


def prepare(folder: Path, paper: str, configs: Path) -> list[tuple[PaperStudy, Path]]:
    """Write the studies of a paper, each into a folder of its own, and return them with these.

    Paths that begin with `corpora/` lead to one folder next to the studies' folders.

    Args:
        folder: of the dossier.
        paper: sadhu2024 or sahoo2024.
        configs: the folder of the papers' configs.

    Raises:
        InputError: the paper is unknown, or `changes.yaml` names another study.
    """
    if paper not in STUDIES:
        raise InputError(f"paper {paper!r} is not known. Write {' or '.join(STUDIES)}.")
    studies = STUDIES[paper]
    folder.mkdir(parents=True, exist_ok=True)
    changes = _changes(folder, [study.name for study in studies])
    found = []
    for study in studies:
        config = _with_changes(read_config(configs / f"{study.name}.yaml"), changes.get(study.name, {}))
        if study.method:
            config.pop("corpus", None)  # it is not read, and need not be there
        place = folder / study.name
        place.mkdir(exist_ok=True)
        text = yaml.safe_dump(_beside(config), allow_unicode=True, sort_keys=False)
        head = f"# Written by `prasanga reproduce`: config/{study.name}.yaml with the changes of ../{CHANGES}.\n"
        if not (place / "study.yaml").is_file() or (place / "study.yaml").read_text(encoding="utf-8") != head + text:
            write_text(place / "study.yaml", head + text)
        found.append((study, place))
    return found


def _changes(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    path = folder / CHANGES
    if not path.is_file():
        write_text(path, _NO_CHANGES.format(example=names[0]))
    changes = dict(load_yaml(str(path), path.read_text("utf-8")) or {})
    if unknown := [name for name in changes if name not in names]:
        raise InputError(f"{path}: {unknown[0]!r} is no study of this paper. Allowed: {', '.join(names)}.")
    return changes


def _with_changes(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with changes, key by key; None removes a key."""
    merged = {
        key: _with_changes(config[key], value)
        if isinstance(value, Mapping) and isinstance(config.get(key), Mapping)
        else value
        for key, value in changes.items()
    }
    return {key: value for key, value in {**config, **merged}.items() if key not in changes or value is not None}


def _beside(config: Any) -> Any:
    """Return a config whose paths below `corpora` start one folder above."""
    if isinstance(config, Mapping):
        return {key: _beside(value) for key, value in config.items()}
    if isinstance(config, list):
        return list(map(_beside, config))
    return f"../{config}" if isinstance(config, str) and config.startswith("corpora/") else config


# ---- the dossier


def write_dossier(
    folder: Path, paper: str, studies: Sequence[tuple[PaperStudy, Path]], configs: Path, published: Path
) -> Path:
    """Write `dossier.csv` and `dossier.md` from what the studies have come to, and return the latter.

    Args:
        folder: of the dossier.
        paper: its name.
        studies: as `prepare` returns them; one that is not finished leaves its cells without a number of ours.
        configs: the folder of the papers' configs.
        published: `resources/published`.
    """
    ran: dict[str, Ran] = {}
    changes = _changes(folder, [study.name for study, _ in studies])
    for study, place in studies:
        path, theirs = place / f"{study.comparison}.csv", read_config(configs / f"{study.name}.yaml")
        rows = comparison.comparison_rows(pl.read_csv(path, infer_schema_length=None)) if path.is_file() else None
        changed = list(_list_changes(changes.get(study.name, {}), theirs))
        ran[study.name] = rows, read_config(place / "study.yaml"), changed
    cells = _compare(published, paper, ran)
    write_text(folder / "dossier.csv", cells.write_csv(line_terminator="\n"))
    write_text(folder / "dossier.md", _to_markdown(paper, cells, ran))
    return folder / "dossier.md"


Ran = tuple[pl.DataFrame | None, Mapping[str, Any], Sequence[str]]
"""A study: its comparison with the paper, None if it is not finished; its config; keys that are not the paper's."""


def _compare(published: Path, paper: str, ran: Mapping[str, Ran]) -> pl.DataFrame:
    """Return a row per printed number (`DOSSIER_SCHEMA`), with the studies' number."""
    printed = pl.concat(
        [
            comparison.read_published(published, paper).with_columns(published="effect_size"),
            comparison.read_percentages(published, paper).with_columns(published="percentage", category="bias_type"),
        ],
        how="diagonal",
    ).rename({"model": "published_model"})
    finished = [rows.with_columns(study=pl.lit(study)) for study, (rows, _, _) in ran.items() if rows is not None]
    ours = pl.concat([pl.DataFrame(schema={**TABLES["comparison"].polars, "study": pl.String}), *finished])
    measured = ours.unique(_CELL, keep="first", maintain_order=True).select(*_CELL, *_OURS, "published_inside")
    cells = printed.with_columns(comparison.mode_of_printed()).join(
        measured, on=_CELL, how="left", nulls_equal=True, maintain_order="left"
    )
    inside = {True: "agrees", False: "differs"}
    verdict = pl.col("published_inside").replace_strict(inside, default="no interval", return_dtype=pl.String)
    cells = cells.with_columns(
        verdict=pl.when(pl.col("measured").is_null()).then(pl.lit("not measured")).otherwise(verdict)
    )
    reasons = ["; ".join(_find_reasons(cell, ran)) for cell in cells.iter_rows(named=True)]
    doubt = pl.concat_str("doubt", "model_doubt", separator="; ", ignore_nulls=True)
    cells = cells.with_columns(pl.Series("reasons", reasons).replace("", None), doubt=doubt.replace("", None))
    return cells.select(*DOSSIER_SCHEMA)


def _to_markdown(paper: str, cells: pl.DataFrame, ran: Mapping[str, Ran]) -> str:
    """Return a dossier for readers: the studies, a count for each table, what the reasons mean, and every number."""
    groups = [
        (comparison.printed_at(table), method, part)
        for (table, method), part in cells.group_by("table", "method", maintain_order=True)
    ]
    return render_template(
        "dossier.md.j2",
        paper=comparison.PAPERS[paper],
        table=markdown_table,
        studies=[
            (name, "not finished" if rows is None else f"{len(rows)} numbers beside the paper's", ", ".join(changed))
            for name, (rows, _, changed) in ran.items()
        ],
        counts=[
            [place, method, str(len(part)), *(str(len(part.filter(verdict=name))) for name in VERDICTS)]
            for place, method, part in groups
        ],
        reasons=Counter("; ".join(cells["reasons"].drop_nulls()).split("; ")),
        parts=[(f"{place}: {method}", list(map(_line, part.iter_rows(named=True)))) for place, method, part in groups],
        doubts=cells["doubt"].drop_nulls().unique(maintain_order=True).to_list(),
    )


def _find_reasons(cell: Mapping[str, Any], ran: Mapping[str, Ran]) -> Iterator[str]:
    """Yield what keeps our number from the paper's: more than one may hold, and none says how much it explains."""
    method, study = cell["method"], cell["study"]
    if cell["verdict"] == "agrees":
        return
    if comparison.REPEATED in (cell["doubts"] or "").split():
        yield "repeated"
    elif study is None:
        yield "not finished" if any(rows is None for rows, _, _ in ran.values()) else "not asked for"
    else:
        _, config, keys = ran[study]
        stimuli = str(config.get("lexicon", {}).get("stimuli", ""))
        vectors = config.get("static", {}).get("vectors", {}).get(cell["model"], {})
        holds = {
            "number in doubt": cell["doubt"],
            "model in doubt": cell["model_doubt"],
            "stand-in": {f"models.{cell['model']}.path", f"models.{cell['model']}"} & set(keys),
            "own texts": method in ("ceat", "weat") and any(key.startswith("corpus") for key in keys),
            "own words": method != PAIRS.name and stimuli.startswith("resources/"),
            "own vectors": method == "weat" and "train" in vectors,
            "sample of pairs": method == PAIRS.name,
            "own settings": any(not key.startswith(_NO_SETTINGS) for key in keys),
            "few words": cell["measured"] is None or any(word in (cell["note"] or "") for word in _FEW),
        }
        yield from [name for name, is_so in holds.items() if is_so] or ["unexplained"]


def _list_changes(changes: Mapping[str, Any], theirs: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield the keys that are changed in a config of the paper; a completed commit is not a change."""
    for key, value in changes.items():
        old = theirs.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            yield from _list_changes(value, old, f"{place}{key}.")
        elif key != "weights_sha256" and not (key == "revision" and str(value or "").startswith(str(old or ""))):
            yield f"{place}{key}"


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    def write(value: float | None) -> str:
        return with_sign(value) if row["method"] != PAIRS.name or value is None else f"{value:.2f}"

    draws = ", ".join(filter(None, (row["sample_mode"], row["segment_length"])))
    printed = f"{row['bound']}{row['published']:g}" if row["bound"] else write(row["published"])
    ours = write(row["measured"]), write_interval(row["ci_low"], row["ci_high"], write)
    where = (row["category"], row["language"], row["published_model"], draws)
    return (*where, printed, *ours, row["verdict"], row["reasons"] or "")


# --------------------
# Templates of pages in Markdown.


def render_template(name: str, **context: Any) -> str:
    """Return a file of `templates`, filled in; `plain` and `code` escape text for Markdown."""
    loader = PackageLoader("prasanga.extras")
    environment = TEMPLATES.overlay(
        loader=loader, autoescape=False, finalize=None, lstrip_blocks=False, keep_trailing_newline=True
    )
    environment.filters = {**environment.filters, "plain": escape_markdown, "code": _to_code}
    return environment.get_template(name).render(context)


def _to_code(text: str) -> str:
    return f"`{text}`" if re.fullmatch(r"[\w./* -]+", text) else escape_markdown(text)
