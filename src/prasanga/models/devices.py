"""Where a model runs, in which precision, and whether it fits there: said before its weights are read."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from prasanga.base.errors import InputError

_LOG = logging.getLogger(__name__)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_DEVICE = re.compile(r"cpu|cuda(:(?P<card>0|[1-9][0-9]*))?")
_NATIVE_BFLOAT16 = (8, 0)  # compute capability of the first NVIDIA GPUs that have it (Ampere)
_CPUINFO = Path("/proc/cpuinfo")
_CPU_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}  # the last one is ARM's
_HELD: dict[str, int] = {}  # locks of this process by GPU; the system releases them when it ends


def check_device(device: str) -> torch.device | None:
    """Return the device that `device` names, or None where any GPU will do.

    Args:
        device: `auto` (a GPU if there is one, else the CPU), `cpu`, `cuda` (any GPU) or `cuda:<number>`.

    Raises:
        InputError: another device, or one that this machine does not have.
    """
    named = _DEVICE.fullmatch(device)
    if named is None and device != "auto":
        raise InputError(f"device is {device!r}; write auto, cpu, cuda or cuda:<number>.")
    present = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cpu" or (device == "auto" and not present):
        return torch.device("cpu")
    if not present:
        raise InputError(f"device is {device!r}, but torch sees no GPU here. Write auto or cpu.")
    if named is None or named["card"] is None:
        return None
    if int(named["card"]) >= present:
        raise InputError(f"device is {device!r}, but this job sees {present} GPUs: write auto, or cuda:0 and so on.")
    return torch.device("cuda", int(named["card"]))


def claim_devices(device: str = "auto", count: int = 1) -> list[torch.device]:
    """Return the devices to run on: of several GPUs, ones that no other process of ours has, until this one ends.

    Args:
        device: as in `check_device`.
        count: how many GPUs a model is spread over.

    Raises:
        InputError: as `check_device`; there are fewer GPUs.
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
        os.close(_HELD.pop(_name_card(index)))
    return [torch.device("cuda", index) for index in sorted(taken[:count])]


def _is_free(index: int) -> bool:
    """Return whether this process has a GPU now: by a lock on a file in the system's folder for temporary files."""
    name = _name_card(index)
    if name in _HELD:
        return True
    try:
        path = Path(tempfile.gettempdir(), f"prasanga-card-{name}.lock")
        descriptor = os.open(path, os.O_RDONLY | (0 if path.exists() else os.O_CREAT), 0o644)
    except OSError as error:
        _LOG.warning("cuda:%d cannot be claimed: %s", index, error)
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    _HELD[name] = descriptor
    return True


def _name_card(index: int) -> str:
    """Return the name by which every process on the machine knows a GPU."""
    return str(getattr(torch.cuda.get_device_properties(index), "uuid", index)).removeprefix("GPU-")


def resolve_dtype(dtype: str, device: str = "auto") -> str:
    """Return the precision that `dtype` means on `device`.

    `auto` is bfloat16 on a GPU that has it natively, and float32 elsewhere. Where any GPU will do, all must have it:
    the same config must not mean different precisions for two jobs on one machine.

    Args:
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        device: as in `check_device`; nothing is claimed.

    Raises:
        InputError: an unknown dtype or device.
    """
    if dtype != "auto":
        if dtype not in DTYPES:
            raise InputError(f"dtype is {dtype!r}; write auto, {', '.join(DTYPES)}.")
        return dtype
    where = check_device(device)
    if where is not None and where.type != "cuda":
        return "float32"
    asked = range(torch.cuda.device_count()) if where is None else [where.index]
    return "bfloat16" if all(torch.cuda.get_device_capability(i) >= _NATIVE_BFLOAT16 for i in asked) else "float32"


def dtype_of_study(dtype: str, device: str = "auto") -> str:
    """Return the precision that the jobs of a study compute in on `device`, where their config says `dtype`.

    It is that of `resolve_dtype`, but float32 in place of half precision that the CPU only emulates, which is slower
    than float32; the log says so.
    """
    resolved, where = resolve_dtype(dtype, device), check_device(device)
    if where is None or not _is_emulated(resolved, where):
        return resolved
    _LOG.warning("this CPU does not compute in %s itself, and float32 is faster: float32 is used.", resolved)
    return "float32"


def warn_if_slow(dtype: str, device: torch.device) -> None:
    """Say in the log that half precision on this CPU is emulated, where it is."""
    if _is_emulated(dtype, device):
        _LOG.warning("%s is slow on this CPU, which does not compute with it. float32 is faster.", dtype)


def _is_emulated(dtype: str, device: torch.device) -> bool:
    return device.type == "cpu" and dtype != "float32" and not (dtype == "bfloat16" and cpu_has_bfloat16())


def cpu_has_bfloat16() -> bool:
    """Return whether the CPU multiplies bfloat16 itself; False where the system does not say."""
    try:
        lines = _CPUINFO.read_text().splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return not _CPU_FLAGS.isdisjoint(flags.split())


# --------------------
# How much memory the weights of a model need, and whether they fit.


@dataclass(frozen=True)
class Size:
    """How many numbers a model has.

    Attributes:
        parameters: all of them.
        linear: those in the weights of linear layers (without biases), which can be kept in 8 bits.
    """

    parameters: int
    linear: int = 0


def weights_bytes(size: Size, dtype: str, quantization: str = "none") -> int:
    """Return the bytes that a model's weights take in `dtype`; with `int8`, linear layers take one byte per weight."""
    linear = 0 if quantization == "none" else size.linear
    return (size.parameters - linear) * _BYTES[dtype] + linear


def free_memory(device: torch.device) -> int:
    """Return the bytes that new tensors on `device` can take.

    What torch keeps of a GPU for its next tensors counts as free.
    """
    if device.type == "cuda":
        reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + reserved)
    return int(psutil.virtual_memory().available)


def require_room(
    name: str, size: Size, devices: Sequence[torch.device], dtype: str, quantization: str = "none"
) -> None:
    """Refuse a model whose weights do not fit, before they are read.

    Args:
        name: the model, for the message.
        size: of the part that is loaded.
        devices: where it goes; several share it.
        dtype: precision of the weights.
        quantization: `none` or `int8`.

    Raises:
        InputError: with what it needs, what there is, and what can be done.
    """
    if weights_bytes(size, dtype, quantization) > sum(map(free_memory, devices)):
        raise no_room(name, size, devices, dtype, quantization)


def no_room(name: str, size: Size, devices: Sequence[torch.device], dtype: str, quantization: str) -> InputError:
    """Return what to raise where a model does not fit; the arguments are those of `require_room`."""
    room = sum(map(free_memory, devices))
    half = "bfloat16" if dtype == "float32" else dtype
    ways = [f"dtype: bfloat16 ({weights_bytes(size, 'bfloat16') / 1e9:.1f} GB)"] if dtype == "float32" else []
    if quantization == "none":
        ways.append(f"quantization: int8 ({weights_bytes(size, half, 'int8') / 1e9:.1f} GB with dtype: {half})")
    ways.append("cards: 2 or more")
    return InputError(
        f"model {name}: its weights need {weights_bytes(size, dtype, quantization) / 1e9:.1f} GB in {dtype}, but"
        f" {room / 1e9:.1f} GB of memory are free on {' and '.join(map(str, devices))}. Write {', or '.join(ways)}"
        " under the model; or use a machine with more memory, or a smaller model."
    )
