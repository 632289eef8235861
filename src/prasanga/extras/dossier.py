"""All studies of a paper, and a dossier: each number that it prints, ours, the interval, and why they differ.

A study is one of the configs of the paper (`config/`), with what `changes.yaml` says laid over it. Each has a folder of
its own below that of the dossier, so that it can be run, looked at and run again like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_text
from prasanga.config import read_config
from prasanga.report.comparison import PAIRS, comparison_rows, doubt_of, mode_of
from prasanga.report.grid import interval
from prasanga.report.published import (
    PAPERS,
    REPEATED,
    printed_at,
    read_models,
    read_percentages,
    read_published,
    require_paper,
)
from prasanga.report.sheet import MISSING, markdown_list, markdown_table, signed


class Study(NamedTuple):
    """A study of a paper.

    Attributes:
        name: its config, `config/<name>.yaml`, and its folder.
        method: the only method that is measured, of a study without a corpus; "" for all that the config asks for.
    """

    name: str
    method: str = ""

    @property
    def targets(self) -> list[str]:
        """What Snakemake is asked for; all if nothing is named."""
        return [f"results/report/comparison_{self.method}.md"] if self.method else []

    @property
    def comparison(self) -> str:
        """The study's numbers beside the paper's, below its folder."""
        return f"results/report/comparison{f'_{self.method}' if self.method else ''}.csv"


STUDIES: Mapping[str, tuple[Study, ...]] = {
    "sadhu2024": (
        Study("sadhu2024"),
        Study("sadhu2024_seat", "seat"),
        Study("sadhu2024_log_probability"),
        Study("sadhu2024_figure1"),
    ),
    "sahoo2024": (Study("sahoo2024", "seat"), Study("sahoo2024_en", "seat"), Study("sahoo2024_pairs")),
}
"""The studies of each paper. Of numbers that two of them have, that of the first counts."""

CHANGES = "changes.yaml"
_SHARED = "corpora"
_NO_CHANGES = """\
# What is laid over the configs of the paper: study, then keys as in its config. For example commits in full, digests of
# pickles, or models that stand in for others; null takes a key out. `prasanga reproduce` reads this file in each run.
#
# {example}:
#   models:
#     muril: {{revision: <40 hexadecimal digits>}}
"""

VERDICTS: Mapping[str, str] = {
    "agrees": "the published number lies in our interval",
    "differs": "it does not",
    "no interval": "ours has no interval, so that nothing can be said",
    "not measured": "there is no number of ours",
}
REASONS: Mapping[str, str] = {
    "repeated": "the paper prints this number in two tables; it is compared once",
    "number in doubt": "the published number is in doubt by itself, or its reading is",
    "model in doubt": "it is not sure which model the paper measured, or how",
    "stand-in": "another model stands in for the paper's",
    "own texts": "the texts are not those that the config names",
    "own words": "words and templates are this project's",
    "own vectors": "static vectors are trained on the study's texts, those of the paper came from files",
    "sample of pairs": "561 of the paper's pairs are published",
    "own settings": "settings were changed",
    "few words": "a word, a context or a score was lost, or there are too few",
    "not asked for": "no study of these measures it",
    "not finished": "its study is not finished",
    "unexplained": "nothing that is known keeps the two apart: a finding, or a mistake of one of them",
}
"""What keeps a number of ours from the paper's. More than one may hold; none says how much it explains."""

DOSSIER_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("paper", "table", "method", "category", "language", "published_model"), pl.String),
    **dict.fromkeys(("sample_mode", "segment_length"), pl.String),
    "published": pl.Float64,
    "bound": pl.String,
    **dict.fromkeys(("study", "model"), pl.String),
    **dict.fromkeys(("measured", "difference", "ci_low", "ci_high"), pl.Float64),
    **dict.fromkeys(("verdict", "reasons", "doubt", "note"), pl.String),
}
"""Columns of `dossier.csv`. `study` and `model` are ours; `reasons` has names of `REASONS`, with semicolons between."""

_HEADS = ("test", "language", "model of the paper", "draws, length", "published", "ours", "interval", "verdict", "why")
_CELL = ("table", "method", "category", "language", "published_model", "sample_mode", "segment_length")
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
        run: runs a study, by its folder and what is asked for; whether it was finished.

    Returns:
        `dossier.md`, and whether all studies were finished.

    Raises:
        InputError: as `prepare`.
    """
    configs = installation / "config"
    studies = prepare(folder, paper, configs)
    finished = [run(place, study.targets) for study, place in studies]
    return write_dossier(folder, paper, studies, configs, installation / "resources/published"), all(finished)


# ---- the studies


def prepare(folder: Path, paper: str, configs: Path) -> list[tuple[Study, Path]]:
    """Write the studies of a paper, each into a folder of its own, and return them with these.

    Paths that begin with `corpora/` lead to one folder for all, beside the studies' own.

    Args:
        folder: of the dossier.
        paper: sadhu2024 or sahoo2024.
        configs: the folder of the papers' configs.

    Raises:
        InputError: the paper is unknown, or `changes.yaml` is no such file.
    """
    studies = STUDIES[require_paper(paper)]
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
        head = f"# Written by `prasanga reproduce`: config/{study.name}.yaml with ../{CHANGES} laid over it.\n"
        if not (place / "study.yaml").is_file() or (place / "study.yaml").read_text(encoding="utf-8") != head + text:
            write_text(place / "study.yaml", head + text)
        found.append((study, place))
    return found


def _changes(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    path = folder / CHANGES
    if not path.is_file():
        write_text(path, _NO_CHANGES.format(example=names[0]))
        return {}
    if not any(line.strip() and not line.lstrip().startswith("#") for line in path.read_text("utf-8").splitlines()):
        return {}
    changes = read_config(path)
    for name, keys in changes.items():
        if name not in names:
            raise InputError(f"{path}: {name!r} is no study of this paper. Allowed: {', '.join(names)}.")
        if not isinstance(keys, Mapping):
            raise InputError(f"{path}: `{name}` must hold keys of a config, such as `{name}: {{models: ...}}`.")
    return changes


def _with_changes(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(config)
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = _with_changes(merged[key], value)
        else:
            merged[key] = value
    return merged


def _beside(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config whose paths below `corpora` start one folder above."""

    def moved(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: moved(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [moved(inner) for inner in value]
        return f"../{value}" if isinstance(value, str) and value.startswith(f"{_SHARED}/") else value

    found: dict[str, Any] = moved(config)
    return found


# ---- the dossier


def write_dossier(
    folder: Path, paper: str, studies: Sequence[tuple[Study, Path]], configs: Path, published: Path
) -> Path:
    """Write `dossier.csv` and `dossier.md` from what the studies have come to, and return the latter.

    Args:
        folder: of the dossier.
        paper: its name.
        studies: as `prepare` returns them; one that is not finished leaves its cells without a number of ours.
        configs: the folder of the papers' configs.
        published: `resources/published`.
    """
    ran = {}
    for study, place in studies:
        path, used = place / study.comparison, read_config(place / "study.yaml")
        rows = comparison_rows(pl.read_csv(path, infer_schema_length=None)) if path.is_file() else None
        theirs = _beside(read_config(configs / f"{study.name}.yaml"))
        ran[study.name] = _Ran(rows, used, _changed(theirs, used, study))
    cells = _cells(published, paper, ran)
    write_text(folder / "dossier.csv", cells.write_csv(line_terminator="\n"))
    write_text(folder / "dossier.md", _to_markdown(paper, cells, ran))
    return folder / "dossier.md"


class _Ran(NamedTuple):
    """A study: its comparison with the paper, None if it is not finished; its config; keys that are not the paper's."""

    rows: pl.DataFrame | None
    config: Mapping[str, Any]
    changed: Sequence[str]


def _cells(published: Path, paper: str, ran: Mapping[str, _Ran]) -> pl.DataFrame:
    """Return a row for each number that a paper prints (`DOSSIER_SCHEMA`), with that of the studies."""
    about = read_models(published, paper)
    ours: dict[tuple[Any, ...], tuple[str, dict[str, Any]]] = {}
    for study, (rows, _, _) in ran.items():
        for row in [] if rows is None else rows.iter_rows(named=True):
            ours.setdefault(tuple(row[name] for name in _CELL), (study, row))
    lines = []
    for cell in _printed(published, paper):
        study, row = ours.get(tuple(cell[name] for name in _CELL), ("", {}))
        verdict = {True: "agrees", False: "differs", None: "no interval"}[row.get("published_inside")]
        if row.get("measured") is None:
            verdict = "not measured"
        model_doubt = doubt_of(about, cell["published_model"], cell["method"])
        reasons = _reasons(cell | {"model_doubt": model_doubt}, row, study, ran) if verdict != "agrees" else ()
        lines.append(
            {
                **{name: cell[name] for name in DOSSIER_SCHEMA if name in cell},
                "paper": paper,
                **{name: row.get(name) for name in ("model", "measured", "difference", "ci_low", "ci_high", "note")},
                "study": study or None,
                "verdict": verdict,
                "reasons": "; ".join(reasons) or None,
                "doubt": "; ".join(filter(None, (cell["doubt"], model_doubt))) or None,
            }
        )
    return pl.DataFrame(lines, schema=dict(DOSSIER_SCHEMA), orient="row")


def _to_markdown(paper: str, cells: pl.DataFrame, ran: Mapping[str, _Ran]) -> str:
    """Return a dossier for readers: the studies, a count for each table, what the reasons mean, and every number."""
    studies = [
        (name, "not finished" if rows is None else f"{len(rows)} numbers beside the paper's", ", ".join(changed))
        for name, (rows, _, changed) in ran.items()
    ]
    groups = cells.partition_by(["table", "method"], maintain_order=True)
    counts = [
        [
            *(printed_at(part["table"][0]), part["method"][0], str(len(part))),
            *(str(part.filter(verdict=verdict).height) for verdict in VERDICTS),
            _signs(part),
        ]
        for part in groups
    ]
    named = Counter(reason for text in cells["reasons"].drop_nulls() for reason in text.split("; "))
    parts = [
        f"# {PAPERS[paper]}, number by number\n",
        "Each number that the paper prints, with ours. Neither is the truth; a number in our interval does not"
        " contradict ours, and no more. What keeps two numbers apart is named as far as it is known, not weighed.\n",
        "## Studies\n",
        markdown_table(("study", "state", "not as the paper's config"), studies, labels=3),
        "## Tables and figures\n",
        markdown_table(("printed in", "method", "numbers", *VERDICTS, "same sign"), counts, labels=2),
        "\n".join(f"- *{name}*: {text}." for name, text in VERDICTS.items()) + "\n",
        "## Reasons\n",
        "\n".join(f"- *{name}* ({named[name]}): {text}." for name, text in REASONS.items() if name in named) + "\n",
    ]
    for part in groups:
        lines = map(_line, part.iter_rows(named=True))
        parts += [f"## {printed_at(part['table'][0])}: {part['method'][0]}\n", markdown_table(_HEADS, lines, labels=4)]
    doubts = cells["doubt"].drop_nulls().unique(maintain_order=True)
    if len(doubts):
        parts += ["## Doubts\n", markdown_list(f"{doubt}." for doubt in doubts)]
    return "\n".join(parts)


def _printed(published: Path, paper: str) -> Iterator[dict[str, Any]]:
    """Yield every number of a paper, effects and percentages, by the columns of a dossier."""
    for row in read_published(published, paper).iter_rows(named=True):
        yield {**row, "published_model": row["model"], "published": row["effect_size"], "sample_mode": mode_of(row)}
    for row in read_percentages(published, paper).iter_rows(named=True):
        unsaid = dict.fromkeys(("sample_mode", "segment_length", "bound", "doubt", "doubts"))
        named = {"method": PAIRS, "category": row["bias_type"], "published": row["percentage"]}
        yield {**row, **unsaid, **named, "published_model": row["model"]}


def _reasons(cell: Mapping[str, Any], row: Mapping[str, Any], study: str, ran: Mapping[str, _Ran]) -> Iterator[str]:
    if REPEATED in (cell["doubts"] or "").split():
        yield "repeated"
    elif not study:
        asking = any(each.rows is None and _may_have(cell, name, each.config) for name, each in ran.items())
        yield "not finished" if asking else "not asked for"
    else:
        _, config, keys = ran[study]
        stimuli = str(config.get("lexicon", {}).get("stimuli", ""))
        vectors = config.get("static", {}).get("vectors", {}).get(row["model"], {})
        named = [
            ("number in doubt", bool(cell["doubt"])),
            ("model in doubt", bool(cell["model_doubt"])),
            ("stand-in", f"models.{row['model']}.path" in keys or f"models.{row['model']}" in keys),
            ("own texts", any(key.startswith("corpus") for key in keys) and cell["method"] in ("ceat", "weat")),
            ("own words", cell["method"] != PAIRS and stimuli.startswith("resources/")),
            ("own vectors", cell["method"] == "weat" and "train" in vectors),
            ("sample of pairs", cell["method"] == PAIRS),
            ("own settings", any(not key.startswith(_NO_SETTINGS) for key in keys)),
            ("few words", row["measured"] is None or any(word in (row["note"] or "") for word in _FEW)),
        ]
        reasons = [name for name, holds in named if holds]
        yield from reasons or ["unexplained"]


def _may_have(cell: Mapping[str, Any], study: str, config: Mapping[str, Any]) -> bool:
    """Return whether a study that is not finished would have a number: it has the model, and the method."""
    of_method = {PAIRS: "pairs", "log_probability_bias": "log_probability", "seat": "seat", "weat": "static"}
    key = of_method.get(cell["method"], "samples")
    names = {*config.get("comparison", {}).get("models", {}).values(), *config.get("static", {}).get("vectors", {})}
    return key in config and cell["published_model"] in names and (key != "samples" or study != "sadhu2024_seat")


def _changed(theirs: Mapping[str, Any], ours: Mapping[str, Any], study: Study, place: str = "") -> list[str]:
    """Return the keys in which a study's config is not the paper's; a commit that was completed is no change."""
    keys: list[str] = []
    for key in dict.fromkeys((*theirs, *ours)):
        name = f"{place}{key}"
        one, other = theirs.get(key), ours.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            keys += _changed(one, other, study, f"{name}.")
        elif one != other and not (name == "corpus" and study.method):
            completed = key in ("revision", "weights_sha256") and str(other or "").startswith(str(one or ""))
            keys += [] if completed or key == "weights_sha256" else [name]
    return keys


def _signs(cells: pl.DataFrame) -> str:
    both = cells.filter(pl.col("measured").is_not_null() & pl.col("bound").is_null())
    level = 50 if len(both) and both["method"][0] == PAIRS else 0
    same = both.filter((pl.col("measured") > level) == (pl.col("published") > level)).height
    return f"{same} of {len(both)}"


def _line(row: Mapping[str, Any]) -> list[str]:
    def number(value: float | None) -> str:
        if row["method"] == PAIRS:
            return MISSING if value is None else f"{value:.2f}"
        return signed(value)

    return [
        *(row["category"], row["language"], row["published_model"]),
        ", ".join(filter(None, (row["sample_mode"], row["segment_length"]))),
        f"{row['bound']}{row['published']:g}" if row["bound"] else number(row["published"]),
        *(number(row["measured"]), interval(row["ci_low"], row["ci_high"], number)),
        *(row["verdict"], row["reasons"] or ""),
    ]
