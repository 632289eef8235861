"""Find a model's files, identify the model, choose the files with weights, and check that it can be used."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub
from huggingface_hub import constants, errors
from safetensors import safe_open

from prasanga.base.errors import InputError, reason
from prasanga.base.io import digest_of, read_cache, read_rows, sha256_of_file, write_cache
from prasanga.models.packaged import NO_OPTIONS, ModelOptions, read_kind

_COMMIT = re.compile(r"[0-9a-f]{40}")
_CODE_ELSEWHERE = re.compile(r'"([\w./-]+)--[\w.]+"')

# --------------------
# Where a model's files come from: a folder, or one commit of a hub model.
#
# A hub branch may move while a study runs, so it is resolved to its commit once, and every file is requested by that
# commit. Files in the local cache are used without network, and HF_HUB_OFFLINE=1 is honored.


@dataclass(frozen=True)
class FoundModel:
    """A model that has been found, with its config.json.

    Attributes:
        name: the user's name for it.
        folder: its folder; None for a hub model.
        commit: the commit of a hub model; None for a folder.
        pinned: whether this name will mean the same files tomorrow: true for a folder (identified by its content) and
            for a full commit.
    """

    name: str
    folder: Path | None
    commit: str | None
    pinned: bool

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of transformers' `from_pretrained` that read exactly these files."""
        return {"pretrained_model_name_or_path": self.folder or self.name, "revision": self.commit or "main"}

    def find(self, file: str) -> Path | None:
        """Return the local path of `file`, downloaded if necessary; None if the model does not have it.

        Raises:
            InputError: the hub refuses it, or it cannot be written to the cache.
        """
        if self.folder is not None:
            path = self.folder / file
            return path if os.path.isfile(path) else None  # noqa: PTH113 - a name too long is no file
        try:
            return _download(self.name, file, self.commit)
        except errors.EntryNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise _explain_refusal(self.name, self.commit, error) from error


def open_source(model: str | Path, revision: str | None = None) -> FoundModel:
    """Find `model`, a folder or a hub id, and its config.json.

    Raises:
        InputError: it is neither, lacks config.json or the revision, is gated, is an adapter to another model, is
            quantized, or is not in the cache of a machine without network.
    """
    name, folder = str(model), Path(model)
    if folder.is_dir():
        if revision is not None:
            raise InputError(f"model {model}: a folder has no revision, but revision is {revision!r}. Remove the key.")
        found = FoundModel(name, folder, None, pinned=True)
        if (folder / _ADAPTER).is_file():
            raise InputError(f"model {model}: {_explain_adapter(name, read_settings(found, _ADAPTER))}")
        is_old = any(folder.glob("0_*/config.json")) and "model_type" not in read_settings(found, "config.json")
        if is_old or not (folder / "config.json").is_file():
            raise InputError(f"model {model}: the folder has no config.json of a model{_explain_folder(found)}")
        for path in _identifying_files(folder, NO_OPTIONS):
            if path.stat().st_size < _LONGEST_POINTER and path.read_bytes().startswith(_POINTER):
                raise InputError(
                    f"model {model}: {path.name} is not the file itself but a pointer of Git LFS to it. Type `git lfs"
                    f" pull` in the folder, or fetch the model with `hf download`."
                )
        _check_settings(found)
        return found
    if isinstance(model, Path) or folder.is_absolute() or name.startswith(".") or name.count("/") > 1:
        raise _explain_missing(name, "it cannot be the id of a model of the hub (owner/name)")
    try:
        path = _download(name, "config.json", revision)
    except (OSError, ValueError) as error:
        raise _explain_refusal(name, revision, error) from error
    commit = path.parent.name  # the cache keeps files as snapshots/<commit>/<file>
    found = FoundModel(name, None, commit, pinned=_COMMIT.fullmatch(revision or "") is not None)
    _check_settings(found)
    return found


def require_own_code(source: FoundModel) -> None:
    """Refuse a model that runs Python code of another repository, which transformers would take from its main branch.

    Raises:
        InputError: config.json or tokenizer_config.json names such code.
    """
    for name in ("config.json", "tokenizer_config.json"):
        path = source.find(name)
        text = path.read_text(encoding="utf-8", errors="replace") if path else ""
        for repository in _CODE_ELSEWHERE.findall(text):
            if source.folder is not None or repository != source.name:
                raise InputError(
                    f"model {source.name}: auto_map in its {name} names code of another repository, {repository}. Copy"
                    f" its *.py files into a copy of the model's folder, and remove `{repository}--` from {name} there."
                )


@contextmanager
def explaining(source: FoundModel, part: str) -> Iterator[None]:
    """Turn any error in loading `part` of a model, except exhausted memory, into an `InputError`.

    The libraries that read a model raise nearly everything, even a bare `Exception`.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        if "trust_remote_code" in str(error):
            raise InputError(
                f"model {source.name}: it needs its own Python code, which is not run here, because it can do all that"
                " you can. Use another model; or read the code, pin its revision, and write remote_code: true."
            ) from error
        raise InputError(
            f"model {source.name}: its {part} cannot be loaded ({reason(error)}). {_how_to_fetch(source)}"
        ) from error


def download_command(name: str, revision: str | None) -> str:
    """Return the command that fetches a model into the cache, on a machine with network."""
    return shlex.join(["hf", "download", name, *(["--revision", revision] if revision else [])])


def _how_to_fetch(source: FoundModel) -> str:
    if source.folder is not None:
        return "Fetch the model again."
    return f"Where there is network, `{download_command(source.name, source.commit)}` fetches what there is."


def _download(name: str, file: str, revision: str | None) -> Path:
    known = huggingface_hub.try_to_load_from_cache(name, file, revision=revision)
    if isinstance(known, str) and _COMMIT.fullmatch(revision or ""):
        return Path(known)  # a commit never changes: no need to ask
    return Path(huggingface_hub.hf_hub_download(name, file, revision=revision, local_files_only=not reaches_hub()))


def reaches_hub() -> bool:
    """Return whether the hub is reachable: its address resolves in this network, or there is a proxy."""
    return not constants.is_offline_mode() and (bool(getproxies()) or _has_address(constants.ENDPOINT))


@cache
def _has_address(endpoint: str) -> bool:
    """Return whether this machine's network resolves a name; otherwise the library would try for 23 s."""
    try:
        socket.getaddrinfo(urlsplit(endpoint).hostname, None)
    except OSError:
        return False
    return True


def _explain_refusal(name: str, revision: str | None, error: Exception) -> InputError:
    """Return why the hub does not give a file, by the class of its error or the nearest base class."""
    rows = {row["pattern"]: row for row in _ELSEWHERE if row["at"] in ("refused", "missing")}
    row = next(rows[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in rows)
    said = row["said"].format(
        page=f"https://huggingface.co/{name}",
        at=f" at revision {revision}" if revision else "",
        revision=revision or "main",
        cache=constants.HF_HUB_CACHE,
        offline="HF_HUB_OFFLINE is set" if constants.is_offline_mode() else "the hub cannot be reached",
        command=download_command(name, revision),
        reason=reason(error),
    )
    return _explain_missing(name, said) if row["at"] == "missing" else InputError(f"model {name}: {said}.")


def _explain_missing(name: str, why: str) -> InputError:
    return InputError(
        f"model {name}: not found. There is no folder {Path(name).absolute()}, and {why}. Write the path of a folder"
        " with config.json, model.safetensors and tokenizer.json, or the id of a model of the hub, such as"
        " google/muril-base-cased."
    )


# --------------------
# Folders and files that are not a transformers model: what they are, and how to make one of them.


_ADAPTER = "adapter_config.json"
_POINTER, _LONGEST_POINTER = b"version https://git-lfs", 1024
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_ELSEWHERE = read_rows(Path(__file__).with_name("elsewhere.tsv"))
_NOT_ITS_OWN = {row["pattern"]: row["said"] for row in _ELSEWHERE if row["at"] == "weight"}
"""By names of weights that only occur in converted models: what they belong to, and what to do."""
_OTHERS = {row["pattern"]: row["said"] for row in _ELSEWHERE if row["at"] == "file"}
"""By a file in a folder without config.json or weights: what the folder is, and what to do."""
WITHOUT_HEAD = (
    "it was saved without vocabulary head or decoder, as a sentence encoder or an ELECTRA's discriminator is: it gives"
    " vectors and no probabilities. Use files that were saved with it (of an ELECTRA, its generator), or write stages:"
    " [embeddings] under the model."
)


def _explain_folder(source: FoundModel) -> str:
    """Return what a folder is if it is not a model, and what to do, to follow `has no ...`."""
    folder = source.folder or Path()
    for pattern, said in _OTHERS.items():
        found = max(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns, default=None)
        if found is not None:
            file = found.parent.name if found.name == "config.json" else found.name
            inner, quoted = (shlex.quote(str(each)) for each in (folder / file, folder))
            return f", {said.format(folder=str(folder), file=file, inner=inner, quoted=quoted)}."
    return ". Give the folder that `save_pretrained` wrote, with config.json, model.safetensors and tokenizer.json."


def _explain_adapter(name: str, adapter: Mapping[str, Any]) -> str:
    """Return how to merge an adapter into a model."""
    base = adapter.get("base_model_name_or_path") or adapter.get("model_name") or "BASE-MODEL"
    return (
        f"it has an {_ADAPTER}, so it is an adapter to the model {base}. Load {base} and {name} with peft"
        " (`PeftModel.from_pretrained`), `merge_and_unload()`, save model and tokenizer, and give that folder; if the"
        f" folder is merged already, delete {_ADAPTER}."
    )


def read_settings(source: FoundModel, file: str, kind: type = dict) -> Any:
    """Return a JSON file of a model; empty if it is missing or damaged, which the reading library reports."""
    try:
        path = source.find(file)
        found = json.loads(path.read_text(encoding="utf-8")) if path else None
    except (OSError, ValueError, RecursionError):
        found = None
    return found if isinstance(found, kind) else kind()


def _check_settings(source: FoundModel) -> None:
    """Refuse a model with quantized weights by its config.json."""
    quantized = read_settings(source, "config.json").get("quantization_config")
    if quantized:
        method = quantized.get("quant_method") if isinstance(quantized, dict) else quantized
        raise InputError(
            f"model {source.name}: config.json has a quantization_config ({method}), so the weights are packed. Use the"
            " original model (with quantization: int8 under it if it is large), or save `model.dequantize()`."
        )


# --------------------
# Checks of a folder that take milliseconds and no torch, for a study's plan before any job runs.


def check_files(
    model: str | Path,
    *,
    stages: Sequence[str] = ("embeddings",),
    sentence_vector: str | None = None,
    options: ModelOptions = NO_OPTIONS,
) -> None:
    """Refuse a folder whose config.json, list of files or names of weights say that the model cannot be used.

    No weights are read, and torch is not imported. Hub models are not checked.

    Args:
        model: a folder, or a hub id.
        stages: what it is used for, as in `prasanga.models.check_model`.
        sentence_vector: the vector of a sentence that the study asks for; None without one.
        options: how it is loaded.

    Raises:
        InputError: as `check_model`, as far as the files show it: not a transformers model, no tokenizer, missing
            weights, an adapter, quantized weights; no vocabulary head although `stages` has likelihoods; a sentence
            vector that is not supported.
    """
    if not Path(model).is_dir():
        return
    source = open_source(model)
    require_tokenizer(source)
    if options.random_weights is None and not options.weights_sha256:  # the job checks the digests of pickles
        names = read_names(source, find_weights(source, options))
        if "likelihoods" in stages:
            _require_head(source, names)
    find_sentence_vector(source, options, required=sentence_vector == "auto")


def require_tokenizer(source: FoundModel) -> None:
    """Refuse a folder without the files of a tokenizer."""
    if source.folder is not None and not any(any(source.folder.glob(pattern)) for pattern in _TOKENIZER_FILES):
        base = read_settings(source, "config.json").get("_name_or_path") or "MODEL-IT-WAS-TRAINED-FROM"
        raise InputError(
            f"model {source.name}: the folder has no tokenizer. Put the model's tokenizer.json there (and its"
            f" tokenizer_config.json): `AutoTokenizer.from_pretrained({base!r}).save_pretrained({source.name!r})`."
        )


def read_names(source: FoundModel, weights: Weights) -> set[str]:
    """Return the names of a model's weights from the headers of its safetensors; empty for pickles.

    Raises:
        InputError: a damaged file; unmerged adapter weights, or packed ones.
    """
    names: set[str] = set()
    for path in weights.files if weights.safetensors else ():
        with explaining(source, "weights"), safe_open(path, "numpy") as file:
            names.update(file.keys())
    require_own_weights(source, names)
    return names


def require_own_weights(source: FoundModel, names: Iterable[str]) -> None:
    """Refuse weights with the names of adapter weights or packed numbers."""
    for name in names:
        for pattern, said in _NOT_ITS_OWN.items():
            if re.search(pattern, name):
                raise InputError(f"model {source.name}: {name!r} is a weight of {said}.")


def _require_head(source: FoundModel, names: set[str]) -> None:
    """Refuse weights that lack the vocabulary head of the model's kind."""
    settings = read_settings(source, "config.json")
    kind = read_kind(settings)
    needed = _HEADS.get("untied" if kind == "decoder" and settings.get("tie_word_embeddings") is False else kind)
    if names and needed and not any(needed.search(name) for name in names):
        raise InputError(f"model {source.name}: {WITHOUT_HEAD}")


_HEADS = {
    "encoder": re.compile(r"(^|\.)(predictions|m?lm_\w+|generator_\w+|vocab_\w+|pred_layer|\w*head|\w*decoder)\."),
    "encoder-decoder": re.compile(r"(^|\.)decoder\."),
    "untied": re.compile(r"(^|\.)(lm_head|embed_out|output_layer|output|head)\."),
}
"""By kind, names of weights in a vocabulary head; a decoder may use its embedding table."""


# --------------------
# The vector of a sentence that a model's files name, in the format of sentence-transformers.


_POOLINGS = {
    **{"cls": "cls", "mean": "mean", "lasttoken": "last"},
    **{"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_lasttoken": "last"},
}
"""Sentence vectors by their names in sentence-transformers, since 5.4 and before; it has other modes."""
_KEEPING = ("Transformer", "Dropout", "Normalize")
"""Modules that return the model's states or do not change cosines; `Pooling` is read, others are not supported."""


def find_sentence_vector(source: FoundModel, options: ModelOptions, *, required: bool) -> tuple[str | None, str]:
    """Return `cls`, `mean` or `last`, or None, and a description of anything else that the files name (or "").

    Raises:
        InputError: they name something else, and `required`.
    """
    own = read_settings(source, "modules.json", list)
    listed = own or [{"type": "Pooling", "path": "1_Pooling"}]
    of = re.compile(r"sentence_transformers\.(.*\.)?")  # other packages' modules are code of their own
    modules = [
        (of.sub("", str(each.get("type"))), str(each.get("path") or "")) for each in listed if isinstance(each, dict)
    ]
    pooling, problems = None, []
    for kind, path in modules:
        if kind == "Pooling" and source.find(f"{path}/config.json"):
            pooling, unknown = _read_pooling(source, f"{path}/config.json")
            problems += [unknown] if unknown else []
        elif kind == "Pooling" and own:
            problems.append(f"modules.json has {path}, but there is no {path}/config.json. Fetch it")
        elif kind not in (*_KEEPING, "Pooling"):
            problems.append(f"modules.json has {path or kind} ({kind}), which is not computed here")
    prompts = read_settings(source, "config_sentence_transformers.json")
    listed = prompts.get("prompts")
    if isinstance(listed, dict) and (prompt := listed.get(str(prompts.get("default_prompt_name")))):
        problems.append(f"config_sentence_transformers.json has the default prompt {prompt!r}, which is not added here")
    lowers = read_settings(source, "sentence_bert_config.json").get("do_lower_case")
    if lowers and not (read_settings(source, "tokenizer_config.json") | options.tokenizer).get("do_lower_case"):
        problems.append(
            "sentence_bert_config.json has do_lower_case, the tokenizer has not. Write tokenizer: {do_lower_case: true}"
        )
    if required and problems:
        raise InputError(
            f"model {source.name}: {problems[0]}. Name the vector of a sentence under this model in the config:"
            f" `sentence_vector: {pooling or 'mean'}`, or cls, mean, last, word; that is pooled, and no more."
        )
    return (None, problems[0]) if problems else (pooling, "")


def _read_pooling(source: FoundModel, file: str) -> tuple[str | None, str]:
    """Return the pooling that a file names, or None and a description if it is unknown."""
    settings = read_settings(source, file)
    older = [key for key, on in settings.items() if key.startswith("pooling_mode_") and on]
    named = settings.get("pooling_mode", older)
    modes = named if isinstance(named, list) else [named]
    known = [_POOLINGS[mode] for mode in modes if isinstance(mode, str) and mode in _POOLINGS]
    if len(modes) == len(known) == 1:
        return known[0], ""
    said = ", ".join(f"{key}: true" for key in older) or ("no pooling_mode" if settings else "no JSON object")
    if "pooling_mode" in settings:
        said = f"pooling_mode: {json.dumps(named)[:200]}"
    return None, f"{file} has {said}; allowed is one of the modes cls, mean, lasttoken"


# --------------------
# Identity. A folder is identified by its content, so moving or copying it recomputes nothing.


_IDENTIFYING = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.*", "merges.txt", "*.model", "*.safetensors", "*.safetensors.index.json"),
)
_ONE_FILE, _PICKLE = "model.safetensors", "pytorch_model.bin"


def model_identity(
    model: str | Path, revision: str | None = None, *, options: ModelOptions = NO_OPTIONS
) -> dict[str, str]:
    """Return the identity of `model`, as plain strings for metadata.

    Args:
        model: a folder, whose files are read in full (once per model is enough), or a hub id.
        revision: branch, tag or commit on the hub.
        options: how it is loaded; its own code counts if it may run.

    Returns:
        For a folder `{"sha256": ...}`, over names and contents of its configuration, tokenizer and weights (not a
        README or a training log, nor pickles next to safetensors). For a hub model `{"id": ..., "commit": ...}`, the
        commit of `revision` (or of the main branch).

    Raises:
        InputError: the model cannot be found.
    """
    return identify(open_source(model, revision), options)


def identify(source: FoundModel, options: ModelOptions) -> dict[str, str]:
    """Return `model_identity` of a model that has been found."""
    folder = source.folder
    if folder is None:
        return {"id": source.name, "commit": str(source.commit)}
    whole = hashlib.sha256()
    for path in _identifying_files(folder, options):
        whole.update(f"{path.name}\0{sha256_of_file(path)}\0".encode())
    return {"sha256": whole.hexdigest()}


def _identifying_files(folder: Path, options: ModelOptions) -> list[Path]:
    pickled = not any((folder / name).is_file() for name in (_ONE_FILE, f"{_ONE_FILE}.index.json"))
    pickles = ("*.bin", f"{_PICKLE}.index.json") if pickled else ()
    patterns = [*_IDENTIFYING, *pickles, *(("*.py",) if options.remote_code else ())]
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def require_unchanged(model: str | Path, identity: Mapping[str, str], options: ModelOptions, root: str | Path) -> None:
    """Refuse a folder whose files were replaced after the model was checked.

    The first job reads the files. Later jobs compare the size and time of each file with that job's note.

    Args:
        model: a folder; a hub model is identified by its commit and not checked.
        identity: from `prasanga.models.check_model`.
        options: how it is loaded.
        root: folder of the stores, for the note.

    Raises:
        InputError: the files have another identity, or are missing.
    """
    if "sha256" not in identity:
        return
    folder = Path(model)
    states = [(path.name, path.stat()) for path in _identifying_files(folder, options)]
    seen = [[name, state.st_size, state.st_mtime_ns] for name, state in states]
    note, key = Path(root, "checked", f"{digest_of(str(folder.resolve()))}.json"), digest_of([dict(identity), seen])
    if read_cache(note, key) is not None:
        return
    if not (folder / "config.json").is_file() or model_identity(folder, options=options) != identity:
        raise InputError(
            f"model {model}: its files were replaced, damaged or removed after the check. Put them back; or, if you"
            " meant to, delete the report under results/models (and the folder, if the workflow made it)."
        )
    write_cache(note, key, True)


# --------------------
# Which files have a model's weights, and whether they may be read.
#
# Safetensors contain only numbers. A pickle can run any code when it is opened, so it is read only as tensors (torch's
# `weights_only`), and only if the user has written down its sha256, which means that they have checked the file.


class Weights(NamedTuple):
    """Files in one folder that have all weights of a model and may be read."""

    files: tuple[Path, ...]
    safetensors: bool


def find_weights(source: FoundModel, options: ModelOptions) -> Weights:
    """Return the weights of a model, downloaded if necessary: safetensors if it has any, else pickles of known digest.

    Raises:
        InputError: there are none, one of several files is missing, or a pickle's sha256 is not in
            `options.weights_sha256`; the message has the digests found.
    """
    for name in (_ONE_FILE, _PICKLE):
        files = _find_files(source, name)
        if files and name == _PICKLE:
            _require_digests(source, files, options)
        if files:
            return Weights(files, name == _ONE_FILE)
    if source.folder is None:
        where = "nor an index of either, is in its repository (or, without network, in the cache of this machine)"
        raise InputError(f"model {source.name}: neither {_ONE_FILE} nor {_PICKLE}, {where}. {_how_to_fetch(source)}")
    raise InputError(f"model {source.name}: the folder has no {_ONE_FILE}{_explain_folder(source)}")


def _find_files(source: FoundModel, name: str) -> tuple[Path, ...]:
    """Return a file itself, or the files that its index lists; empty if the model has neither."""
    if (whole := source.find(name)) is not None:
        return (whole,)
    if (index := source.find(f"{name}.index.json")) is None:
        return ()
    with explaining(source, f"list of weights, {index.name},"):
        names = sorted(set(map(str, json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())))
    beside = [each for each in names if Path(each).name == each and Path(each).suffix == Path(name).suffix]
    found = {each: path for each in beside if (path := source.find(each)) is not None}
    missing = [each for each in names if each not in found]
    if missing or not names:
        raise InputError(
            f"model {source.name}: {index.name} lists {len(names)} files of weights, but {len(missing)} of them are"
            f" missing, for example {(missing or ['none at all'])[0]!r}. {_how_to_fetch(source)}"
        )
    return tuple(found.values())


def _require_digests(source: FoundModel, files: tuple[Path, ...], options: ModelOptions) -> None:
    digests = {path.name: sha256_of_file(path) for path in files}
    other = [name for name, found in digests.items() if options.weights_sha256.get(name) != found]
    if other:
        expected = options.weights_sha256.get(other[0])
        state = (
            f"the sha256 of {other[0]} is {digests[other[0]]}, but weights_sha256 has {expected}. Fetch it again, or"
            " find out why it has changed"
            if expected
            else f"it has no safetensors weights, only pickled ones: {other[0]}, sha256 {digests[other[0]]}. Opening a"
            " pickle can run any code; here only tensors are read from one, and only from a file that you have checked."
            f" Use a revision that has {_ONE_FILE}, or compare with the source"
        )
        wanted = "".join(f"\n    {file}: {value}" for file, value in digests.items())
        raise InputError(
            f"model {source.name}: {state}. If you trust the file as it is, write under the model:\n"
            f"  weights_sha256:{wanted}"
        )
