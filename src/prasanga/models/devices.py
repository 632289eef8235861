"""Choose a model's device, precision and batches, and check that it fits there."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from numpy.typing import NDArray

from prasanga.base.errors import InputError

_LOG = logging.getLogger(__name__)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICE = re.compile(r"cpu|cuda(:(?P<card>0|[1-9][0-9]*))?")
_NATIVE_BFLOAT16 = (8, 0)  # compute capability of the first NVIDIA GPUs that have it (Ampere)
_CPUINFO = Path("/proc/cpuinfo")
_CPU_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}  # the last one is ARM's
_HELD: dict[str, socket.socket] = {}  # of this process, by GPU


def check_device(device: str) -> torch.device | None:
    """Return the device that `device` names, or None if any GPU will do.

    Args:
        device: `auto` (a GPU if there is one, otherwise the CPU), `cpu`, `cuda` (any GPU) or `cuda:<number>`.

    Raises:
        InputError: an unknown device, or one that this machine does not have.
    """
    named = _DEVICE.fullmatch(device)
    if named is None and device != "auto":
        raise InputError(f"device is {device!r}. Write auto, cpu, cuda or cuda:<number>.")
    present = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cpu" or (device == "auto" and not present):
        return torch.device("cpu")
    if not present:
        raise InputError(f"device is {device!r}, but torch sees no GPU here. Write auto or cpu.")
    if named is None or named["card"] is None:
        return None
    if int(named["card"]) >= present:
        raise InputError(f"device is {device!r}, but this job sees {present} GPUs. Write auto, or cuda:0 and so on.")
    return torch.device("cuda", int(named["card"]))


def claim_devices(device: str = "auto", count: int = 1) -> list[torch.device]:
    """Return the devices to run on; of several GPUs, ones that no other process of ours uses, until this one ends.

    Args:
        device: as in `check_device`.
        count: the number of GPUs that a model is spread over.

    Raises:
        InputError: as `check_device`; too few GPUs.
    """
    named, count = check_device(device), max(count, 1)
    if named is not None and count == 1:
        return [named]
    present = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if named is not None or present < count:
        raise InputError(
            f"cards is {count} and device is {device!r}, and this job sees {present} GPUs. Write device: auto, and ask"
            f" the cluster for {count} (resources: gpu={count}) or write a smaller number."
        )
    free = [] if present == count else [index for index in range(present) if _is_free(index)]
    taken = free[:count] + [index for index in range(present) if index not in free[:count]]
    if present > count and len(free) < count:
        _LOG.warning("every GPU is in use by another job; sharing cuda:%d", taken[0])
    for index in free[count:]:
        _HELD.pop(_name_card(index)).close()
    return [torch.device("cuda", index) for index in sorted(taken[:count])]


def _is_free(index: int) -> bool:
    """Return whether this process got a GPU, by binding a socket of that name, which the system closes at exit."""
    name = _name_card(index)
    if name not in _HELD:
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0prasanga-card-{name}")
        except OSError:
            lock.close()
            return False
        _HELD[name] = lock
    return True


def _name_card(index: int) -> str:
    """Return the name of a GPU that is the same for all processes on the machine."""
    return str(getattr(torch.cuda.get_device_properties(index), "uuid", index)).removeprefix("GPU-")


def resolve_dtype(dtype: str, device: str = "auto") -> str:
    """Return the precision that `dtype` means on `device`.

    `auto` is bfloat16 on a GPU that has it natively, and float32 elsewhere. If any GPU will do, all must have it: one
    config must not mean different precisions for two jobs on one machine.

    Args:
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        device: as in `check_device`; the device is not claimed.

    Raises:
        InputError: an unknown dtype or device.
    """
    if dtype != "auto":
        if dtype not in DTYPES:
            raise InputError(f"dtype is {dtype!r}. Write auto, {', '.join(DTYPES)}.")
        return dtype
    where = check_device(device)
    if where is not None and where.type != "cuda":
        return "float32"
    asked = range(torch.cuda.device_count()) if where is None else [where.index]
    return "bfloat16" if all(torch.cuda.get_device_capability(i) >= _NATIVE_BFLOAT16 for i in asked) else "float32"


def dtype_of_study(dtype: str, device: str = "auto") -> str:
    """Return the precision of a study's jobs on `device`, for the `dtype` of the config.

    As `resolve_dtype`, except that float32 replaces a half precision that the CPU only emulates, which is slower; a
    warning is logged.
    """
    resolved, where = resolve_dtype(dtype, device), check_device(device)
    is_native = resolved == "float32" or (resolved == "bfloat16" and cpu_has_bfloat16())
    if where is None or where.type != "cpu" or is_native:
        return resolved
    _LOG.warning("this CPU only emulates %s, so the faster float32 is used.", resolved)
    return "float32"


def cpu_has_bfloat16() -> bool:
    """Return whether the CPU has bfloat16 instructions; False if the system does not say."""
    with suppress(OSError):
        lines = _CPUINFO.read_text().splitlines()
        flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
        return not _CPU_FLAGS.isdisjoint(flags.split())
    return False


# --------------------
# Memory: how much a model's weights need, and whether they fit.


@dataclass(frozen=True)
class Size:
    """The number of a model's parameters.

    Attributes:
        parameters: all of them.
        linear: the weights of linear layers (without biases), which can be kept in 8 bits.
    """

    parameters: int
    linear: int = 0


def weights_bytes(size: Size, dtype: str, quantization: str = "none") -> int:
    """Return the bytes that a model's weights take in `dtype`; with `int8`, linear layers take one byte per weight."""
    linear = 0 if quantization == "none" else size.linear
    return (size.parameters - linear) * DTYPES[dtype].itemsize + linear


def free_memory(device: torch.device) -> int:
    """Return the bytes that are free for new tensors on `device`.

    Memory that torch reserves on a GPU for its next tensors counts as free.
    """
    if device.type == "cuda":
        reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + reserved)
    return int(psutil.virtual_memory().available)


def no_room(name: str, size: Size, devices: Sequence[torch.device], dtype: str, quantization: str) -> InputError:
    """Return the error for weights that do not fit: what they need, what is free, and what to do.

    Args:
        name: the model.
        size: of the part that is loaded.
        devices: where it goes; several share it.
        dtype: precision of the weights.
        quantization: `none` or `int8`.
    """
    return InputError(
        f"model {name}: its weights need {weights_bytes(size, dtype, quantization) / 1e9:.1f} GB in {dtype}, but"
        f" {sum(map(free_memory, devices)) / 1e9:.1f} GB of memory are free on {' and '.join(map(str, devices))}."
        " Write dtype: bfloat16 (2 bytes per weight), quantization: int8 (1 byte for most) or cards: 2 or more under"
        " the model; or use a machine with more memory, or a smaller model."
    )


# --------------------
# Batches: which texts run together.


def plan_batches(lengths: Sequence[int], budget: int) -> list[slice]:
    """Cut texts that are sorted by length into batches of at most `budget` pieces, padding included.

    A batch of one text may be larger. From half its budget on, a batch ends before a longer text, so with many texts
    almost no batch has padding.

    Args:
        lengths: pieces of each text, ascending.
        budget: pieces of a batch.
    """
    batches, begin = [], 0
    for stop in range(1, len(lengths) + 1):
        if stop == len(lengths):
            batches.append(slice(begin, stop))
        elif (stop + 1 - begin) * lengths[stop] > budget or (
            lengths[stop] > lengths[stop - 1] and 2 * (stop - begin) * lengths[stop - 1] >= budget
        ):
            batches.append(slice(begin, stop))
            begin = stop
    return batches


# --------------------
# The budget of a batch in pieces is found by trial, because it depends on the model, the GPU and its other load.


ON_A_CPU = 2048
"""Pieces of a batch on a CPU, where larger batches are not faster."""

_START, _MOST = 4096, 1 << 20
_WORTH = 0.05


def find_budget(seconds_for: Callable[[int], float], *, start: int = _START, most: int = _MOST) -> int:
    """Return the number of pieces from which on a larger batch gains less than 5% per piece, or does not fit any more.

    Args:
        seconds_for: runs a batch of about so many pieces and returns how long that took; raises
            `torch.OutOfMemoryError` where it does not fit.
        start: the first try; halved until it fits.
        most: never more than that.

    Raises:
        torch.OutOfMemoryError: not even one piece fits.
    """
    pieces, too_many = start, most + 1
    while True:
        try:
            best = seconds_for(pieces) / pieces
            break
        except torch.OutOfMemoryError:
            if pieces == 1:
                raise
            pieces, too_many = pieces // 2, pieces
    while 2 * pieces < too_many:
        try:
            each = seconds_for(2 * pieces) / (2 * pieces)
        except torch.OutOfMemoryError:
            break
        if each > (1 - _WORTH) * best:
            break
        pieces, best = 2 * pieces, each
    return pieces


# --------------------
# Batches that are halved where a device's memory does not hold them.


class Halving:
    """Runs batches, and halves batches of a size that once ran out of memory.

    Attributes:
        too_many: pieces of the smallest batch that did not fit.
    """

    def __init__(self, no_memory: Callable[[int], InputError]) -> None:
        """Assume that everything fits; `no_memory` returns the error for one row of so many pieces."""
        self._no_memory = no_memory
        self.too_many: float = float("inf")

    def run(self, batch: slice, pieces_of: Callable[[slice], int], work: Callable[[slice], None]) -> None:
        """Do `work` on `batch`, or on its halves one after the other.

        Args:
            batch: rows.
            pieces_of: returns the pieces of rows as one batch, padding included.
            work: runs rows and stores the result; raises `torch.OutOfMemoryError` before it stores.

        Raises:
            InputError: a single row does not fit.
        """
        size, pieces = batch.stop - batch.start, pieces_of(batch)
        if pieces < self.too_many or size == 1:
            try:
                work(batch)
                return
            except torch.OutOfMemoryError as error:
                if size == 1:
                    raise self._no_memory(pieces) from error
            self.too_many = pieces  # this size is not tried again
        middle = batch.start + size // 2
        self.run(slice(batch.start, middle), pieces_of, work)
        self.run(slice(middle, batch.stop), pieces_of, work)


def no_memory_for(name: str, device: torch.device, pieces: int) -> InputError:
    """Return the error for a single text that does not fit on a device."""
    return InputError(
        f"model {name}: device {device} has too little memory for one text of {pieces} pieces. Use a larger device,"
        " dtype: bfloat16, or quantization: int8."
    )


# --------------------
# Rows of pieces as one table, and its transfer to a GPU.


def pad(rows: Sequence[Sequence[int] | NDArray[np.int64]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows filled up on the right with `padding`, and a mask that is true on the pieces.

    Padding on the right leaves positions unchanged.
    """
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    table = np.full(mask.shape, padding, dtype=np.int64)
    if len(rows):
        table[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return table, mask


def padding_of(tokenizer: Any, config: Any) -> int:
    """Return the id to pad with.

    Decoders often have none, and any id will do, because padding is masked and on the right.
    """
    candidates = [tokenizer.pad_token_id, getattr(config, "pad_token_id", None), tokenizer.eos_token_id]
    return next((int(one) for one in candidates if one is not None), 0)


def send(table: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return a table on `device`; it goes to a GPU from pinned memory, so that neither side waits for the other."""
    tensor = torch.from_numpy(table)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)


# --------------------
# Output of transformers.


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress progress bars and the report on unused heads within the block."""
    from transformers.utils import logging as logging_of_transformers  # slow, and not needed to choose a device

    verbosity, bars = logging_of_transformers.get_verbosity(), logging_of_transformers.is_progress_bar_enabled()
    logging_of_transformers.set_verbosity_error()
    logging_of_transformers.disable_progress_bar()
    try:
        yield
    finally:
        logging_of_transformers.set_verbosity(verbosity)
        if bars:
            logging_of_transformers.enable_progress_bar()
