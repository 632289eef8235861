"""The study of a paper: its needs, their state, and its config with the user's changes.

`config/<paper>.yaml` gives every table and figure of a paper. `prasanga reproduce` merges it with the existing files of
the authors (`resources/published/needed.yaml`) and with `changes.yaml` into study.yaml.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml
from huggingface_hub import HfApi, try_to_load_from_cache

from prasanga.base.errors import InputError, reason
from prasanga.base.io import write_text
from prasanga.base.yaml import load_yaml
from prasanga.config import merge_configs, read_config, read_study, split_languages
from prasanga.config.values import add_defaults
from prasanga.models.hub import check_files, download_command, reaches_hub
from prasanga.models.packaged import ModelOptions
from prasanga.report.comparison import PAPERS, printed_at, read_percentages, read_published

CHANGES = "changes.yaml"
_NO_CHANGES = """\
# Changes to the config of the paper, with its keys: models that replace others, for example. null removes a key.
# `prasanga reproduce` reads this file in each run, `prasanga models pin` writes commits and digests into it.
#
# models:
#   muril: {path: models/mine, revision: null}
"""
THERE, ON_HUB, FAILED, LEFT_OUT = "there", "on the hub", "failed in the run", "left out"
_WEIGHTS = re.compile(r"(model|pytorch_model)(?:-\d+-of-(\d+))?\.(?:safetensors|bin)")
_SHORT, _PICKLE = re.compile(r"[0-9a-f]{4,39}"), re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin")
_ALL = ("embeddings", "likelihoods")
_STAGES = {"likelihoods": "likelihoods", "embeddings": "embeddings", "associations": "embeddings"}
"""The use of a model in a failed job, by the folder of its results; other jobs concern all uses."""
Failure = tuple[str, str, str]
"""A model, and the stage and the language that failed; "" for all."""


class Needed(NamedTuple):
    """An input of a paper's study.

    Attributes:
        name: a model's name in the config, or another name.
        needed_for: tables and figures.
        state: `THERE`, `ON_HUB`, or the problem.
        get: a command to type, or a place.
        stops: whether it is missing without a replacement.
        is_model: whether it is a model.
    """

    name: str
    needed_for: str
    state: str
    get: str
    stops: bool
    is_model: bool = False


def prepare(
    folder: Path, paper: str, installation: Path, *, keep_going: bool = False, failed: Collection[Failure] = ()
) -> list[Needed]:
    """Write a paper's study into a folder, and return its needs.

    Args:
        folder: of the study.
        paper: sadhu2024 or sahoo2024.
        installation: the folder of configs and published numbers.
        keep_going: whether to leave out missing inputs instead of stopping.
        failed: failures of a run, which are left out.

    Raises:
        InputError: the paper is unknown, or the config cannot be used.
    """
    if paper not in PAPERS:
        raise InputError(f"paper {paper!r} is not known. Write {' or '.join(PAPERS)}.")
    needed = read_config(installation / "resources/published/needed.yaml")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / CHANGES).is_file():
        write_text(folder / CHANGES, _NO_CHANGES)
    items, used, config = list[Needed](), set[str](), read_config(installation / f"config/{paper}.yaml")
    for name, each in needed[paper].items():
        is_there = (folder / each["path"]).exists()
        is_asked = each.get("beside", name) in {*used, name}
        if is_there and is_asked:
            used.add(name)
        stops = not is_there and ("instead" not in each or ("beside" in each and is_asked))
        change = each.get("config", {}) if name in used else each.get("without", {}) if stops and keep_going else {}
        config = merge_configs(config, change)
        state = THERE if is_there else "missing" if stops else f"missing; {each['instead']}"
        items.append(Needed(name, each["needed_for"], state, "" if is_there else each["get"], stops))
    config = merge_configs(config, read_changes(folder))
    uses = _list_uses(installation / "resources/published", paper)
    for name, model in config["models"].items():
        printed = ", ".join(uses.get(config["comparison"]["models"].get(name, name), ["no printed number"]))
        state, get = _look_for(folder, model, needed)
        lost = sorted(" in ".join(filter(None, where)) or "the model" for other, *where in failed if other == name)
        if lost:
            state, get = FAILED, f"see the log; left out: {', '.join(lost)}"
        items.append(Needed(name, printed, state, get, state not in (THERE, ON_HUB, FAILED), is_model=True))
    stopped = [item.name for item in items if item.is_model and item.stops and keep_going]
    study = _leave_out(config, {*failed, *((name, "", "") for name in stopped)})
    write_study(folder, paper, study)
    gone = [language for language in config["languages"] if language not in study["languages"]]
    return items + [Needed(f"language {each}", "its numbers", LEFT_OUT, "no model is left", False) for each in gone]


def read_changes(folder: Path) -> dict[str, Any]:
    """Return what `changes.yaml` has."""
    path = folder / CHANGES
    return dict(load_yaml(str(path), path.read_text("utf-8")) or {}) if path.is_file() else {}


def write_study(folder: Path, paper: str, config: Mapping[str, Any]) -> None:
    """Write the study of a folder unless it is unchanged; refuse an unusable config."""
    head = f"# Written by `prasanga reproduce`: config/{paper}.yaml with the files that are there and with {CHANGES}.\n"
    text, path = (
        head + yaml.safe_dump(dict(config), allow_unicode=True, sort_keys=False, width=120),
        folder / "study.yaml",
    )
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
    read_study(path)


def _leave_out(config: Mapping[str, Any], failed: Collection[Failure]) -> dict[str, Any]:
    """Return a config without failed uses of models, and without models, languages and sections that become empty.

    In a study of several languages, each language's entry removes keys by null.
    """
    parts, entries, lost = split_languages(config), dict[str, dict[str, Any]](), set(failed)
    for language, own in parts.items():
        given = {name: list(model.get("stages", _ALL)) for name, model in own["models"].items()}
        lost |= {(name, "", "") for name in given if name not in config["models"]}  # removed by the changes
        left = {
            name: [each for each in stages if not lost & set(product([name], ["", each], ["", language]))]
            for name, stages in given.items()
        }
        gone = {name: None for name, stages in left.items() if not stages}
        less = {name: {"stages": stages} for name, stages in left.items() if stages and stages != given[name]}
        if len(gone) < len(given):
            unnamed = {name: None for name in own["comparison"]["models"] if not left.get(name)}
            is_scored = any("likelihoods" in stages for stages in left.values())
            entries[language] = {
                **({"models": {**less, **gone}} if less or gone else {}),
                **({"comparison": {"models": unnamed}} if unnamed else {}),
                **({} if is_scored else {"pairs": None, "log_probability": None}),
            }
    if not entries:  # nothing can be run
        return dict(config)
    if len(entries) == 1:
        ((language, changes),) = entries.items()
        return merge_configs(parts[language], changes)
    named = config["languages"] if isinstance(config["languages"], Mapping) else {each: {} for each in entries}
    return {**config, "languages": {each: add_defaults(entries[each], named[each] or {}) for each in entries}}


def find_failed(folder: Path, failed_outputs: Iterable[str]) -> set[Failure]:
    """Return the models, stages and languages of a study's failed jobs.

    Args:
        folder: of the study.
        failed_outputs: files that failed jobs should have written.
    """
    config, found = read_config(folder / "study.yaml"), set[Failure]()
    for path in failed_outputs:
        parts = [*path.split("/"), "", ""]
        language = parts.pop(1) if parts[1] in config["languages"] else ""
        lost = (_STAGES.get(parts[1], ""), language)
        is_shared = path.endswith(".tokenizer.json")  # of the one job that audits all models
        named = [name for name in config["models"] if re.search(rf"/{re.escape(name)}[./]", path)]
        found |= {(name, *lost) for name in named if not is_shared}
    return found


def _list_uses(published: Path, paper: str) -> dict[str, list[str]]:
    """Return the tables with numbers of each model, by its name in the paper."""
    drawn = map(pl.read_csv, published.glob(f"{paper}_structures.csv"))
    files = [read_published(published, paper), read_percentages(published, paper), *drawn]
    tables = pl.concat(each.select("model", "table") for each in files).group_by("model").agg(pl.col("table").unique())
    return {
        model: [printed_at(table) for table in sorted(found, key=lambda table: (len(table), table))]
        for model, found in tables.rows()
    }


def _look_for(folder: Path, model: Mapping[str, Any], needed: Mapping[str, Any]) -> tuple[str, str]:
    """Return the state of a model, and what to do, without loading it or asking the hub."""
    path, revision = str(model.get("path", "")), model.get("revision")
    if not path:
        return THERE, ""
    if (folder / path).is_dir():
        stages, options = model.get("stages", _ALL), ModelOptions(weights_sha256=model.get("weights_sha256", {}))
        try:
            check_files(folder / path, stages=stages, options=options)
        except InputError as error:
            return "cannot be used", str(error)
        return THERE, ""
    if path.count("/") != 1 or path.startswith((".", "~")):
        return "missing", f"no folder {path}"
    config = try_to_load_from_cache(path, "config.json", revision=revision)
    names = [file.name for file in Path(config).parent.iterdir()] if isinstance(config, str) else []
    shards = Counter(found.groups() for found in map(_WEIGHTS.fullmatch, names) if found)
    whole = {stem for (stem, number), n in shards.items() if n == int(number or 1)}
    has_tensors, is_cached = "model" in whole, bool(whole)
    faults = {
        "needs a full commit": revision and _SHORT.fullmatch(str(revision)),
        "needs a digest": path in needed["pickled"] and not (model.get("weights_sha256") or has_tensors),
    }
    if found := [fault for fault, is_so in faults.items() if is_so]:
        return ", ".join(found), "prasanga models pin"
    if path in needed["gated"] and not is_cached:
        said = f"accept the terms on https://huggingface.co/{path}, `hf auth login`"
        return "gated", f"{said}, {download_command(path, revision)}"
    return (THERE, "") if is_cached else (ON_HUB if reaches_hub() else "missing", download_command(path, revision))


# --------------------
# Commits and digests, from the hub.


def pin(folder: Path, study: Path, installation: Path) -> tuple[list[list[str]], str]:
    """Find commits and digests, and write them into the changes of a reproduced paper.

    Args:
        folder: of the study; a model in a folder is ignored.
        study: its file.
        installation: the folder of the papers' configs.

    Returns:
        The name of each model, its commit or "not found", and the pickles with a digest, or the problem; and for any
        other study the keys for its file, as YAML.
    """
    config, changes = read_config(study), folder / CHANGES
    if changes.is_file():  # the study may lack models that were left out
        config = merge_configs(
            read_config(installation / f"config/{config['comparison']['paper']}.yaml"), read_changes(folder)
        )
    rows, pins, api = list[list[str]](), dict[str, dict[str, Any]](), HfApi()
    for name, model in (config.get("models") or {}).items():
        if "path" in model and not (folder / model["path"]).is_dir():
            try:
                pins[name] = _find_pins(model, api)
                rows.append([name, pins[name]["revision"], ", ".join(pins[name].get("weights_sha256", ""))])
            except Exception as error:  # any error of the network or the hub
                rows.append([name, "not found", reason(error)])
    if not changes.is_file():
        return rows, yaml.safe_dump({"models": pins}, sort_keys=False, width=120) if pins else ""
    text = changes.read_text(encoding="utf-8")
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    merged = merge_configs(read_changes(folder), {"models": pins})
    write_text(changes, head + yaml.safe_dump(merged, allow_unicode=True, sort_keys=False, width=120))
    return rows, ""


def _find_pins(model: Mapping[str, Any], api: HfApi) -> dict[str, Any]:
    """Return the full commit of a hub model, and the sha256 of its weights if all are pickles."""
    path, asked = model["path"], model.get("revision")
    if asked and _SHORT.fullmatch(str(asked)):
        commits = [each.commit_id for each in api.list_repo_commits(path) if each.commit_id.startswith(str(asked))]
        if not commits:
            raise InputError(f"no commit of {path} begins with {asked}. Write another, or null for the newest.")
        asked = commits[0]
    info = api.model_info(path, revision=asked, files_metadata=True)
    digests = {file.rfilename: file.lfs.sha256 for file in info.siblings or () if file.lfs}
    is_safe = model.get("weights_sha256") or any(re.fullmatch(r"model.*\.safetensors", file) for file in digests)
    pickles = {file: digest for file, digest in digests.items() if not is_safe and _PICKLE.fullmatch(file)}
    return {"revision": info.sha, **({"weights_sha256": pickles} if pickles else {})}
