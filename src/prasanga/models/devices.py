"""Where a model runs, and in which precision."""

from __future__ import annotations

import logging
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from prasanga.base.errors import InputError
from prasanga.models.gpus import Card, claim_cards

_LOG = logging.getLogger(__name__)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICE = re.compile(r"cpu|cuda(:(?P<card>0|[1-9][0-9]*))?")  # torch has others, on which nothing here was tried
_NATIVE_BFLOAT16 = (8, 0)  # compute capability of the first NVIDIA cards that have it (Ampere)
_CPU_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}  # the last one is ARM's


def list_cards() -> list[Card]:
    """Return the CUDA cards that this process may use, in its numbering."""
    free = _free_by_uuid()
    cards = []
    for index in range(torch.cuda.device_count()):
        uuid = str(getattr(torch.cuda.get_device_properties(index), "uuid", index)).removeprefix("GPU-")
        # Asking torch makes a context on the card, which takes half a gigabyte there until the process ends.
        room = free[uuid] if uuid in free else torch.cuda.mem_get_info(index)[0]
        cards.append(Card(index, uuid, room))
    return cards


def claim_device(
    device: str = "auto", *, cards: Callable[[], Sequence[Card]] = list_cards, folder: Path | None = None
) -> torch.device:
    """Return the device to run on.

    Of several CUDA cards, it is one that no other process of ours has, for the life of this one.

    Args:
        device: `auto` (a CUDA card if there is one, else the CPU), `cuda` (any card), `cpu`, or `cuda:<number>`.
        cards: lists the cards of this machine.
        folder: where the lock files are; the system's folder for temporary files if None.

    Raises:
        InputError: another device, or one that this machine does not have.
    """
    known = check_device(device, cards=cards)
    if known is not None:
        return known
    present = cards()
    if len(present) == 1:
        return torch.device("cuda", present[0].index)
    card = claim_cards(present, folder=folder)[0]
    _LOG.info("running on cuda:%d of %d cards", card.index, len(present))
    return torch.device("cuda", card.index)


def check_device(device: str, *, cards: Callable[[], Sequence[Card]] = list_cards) -> torch.device | None:
    """Return the device that `device` names, or None where any card will do.

    Raises `InputError` as `claim_device` does.
    """
    if device == "auto":
        return None if _has_cards(cards) else torch.device("cpu")
    named = _DEVICE.fullmatch(device)
    if named is None:
        raise InputError(
            f"device is {device!r}; write auto, cpu, cuda or cuda:<number>. Models run on CPUs and CUDA cards only."
        )
    if device == "cpu":
        return torch.device("cpu")
    if not _has_cards(cards):
        raise InputError(f"device is {device!r}, but torch sees no CUDA device here. Write auto or cpu.")
    if named["card"] is None:
        return None
    present, index = [card.index for card in cards()], int(named["card"])
    if index not in present:
        raise InputError(
            f"device is {device!r}, but this job sees {len(present)} CUDA cards: write auto, or cuda:0"
            f"{f' to cuda:{max(present)}' if len(present) > 1 else ''}."
        )
    return torch.device("cuda", index)


def claim_several(
    count: int, *, cards: Callable[[], Sequence[Card]] = list_cards, folder: Path | None = None
) -> list[Card]:
    """Claim `count` CUDA cards for one model, as `claim_device` does.

    Raises:
        InputError: there are fewer cards.
    """
    present = cards() if _has_cards(cards) else []
    if len(present) < count:
        raise InputError(
            f"cards is {count}, but this job sees {len(present)} CUDA cards. Ask the cluster for {count} (resources:"
            f" gpu={count}), write a smaller number, or quantization: int8."
        )
    return claim_cards(present, count, folder=folder)


def resolve_dtype(
    dtype: str,
    device: str = "auto",
    *,
    capabilities: Callable[[], Sequence[tuple[int, int]]] | None = None,
) -> str:
    """Return the precision that `dtype` means on `device`.

    `auto` is bfloat16 on a CUDA card that has it natively, and float32 elsewhere. Where any card will do, all must
    have it: the same config must not mean different precisions for two jobs on one machine.

    Args:
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        device: as in `claim_device`; nothing is claimed.
        capabilities: compute capabilities of the cards, by index.

    Raises:
        InputError: an unknown dtype or device.
    """
    if dtype != "auto":
        if dtype not in DTYPES:
            raise InputError(f"dtype is {dtype!r}; write auto, {', '.join(DTYPES)}.")
        return dtype
    read = capabilities or _capabilities
    where = _named_device(device, read)
    if where is not None and where.type != "cuda":
        return "float32"
    found = read()
    asked = found if where is None else [found[where.index]]
    return "bfloat16" if all(capability >= _NATIVE_BFLOAT16 for capability in asked) else "float32"


def _named_device(device: str, capabilities: Callable[[], Sequence[tuple[int, int]]]) -> torch.device | None:
    return check_device(device, cards=lambda: [Card(index, str(index), 0) for index in range(len(capabilities()))])


def dtype_of_study(
    dtype: str,
    device: str = "auto",
    *,
    capabilities: Callable[[], Sequence[tuple[int, int]]] | None = None,
    cpuinfo: Path = Path("/proc/cpuinfo"),
) -> str:
    """Return the precision that the jobs of a study compute in on `device`, where their config says `dtype`.

    It is that of `resolve_dtype`, but float32 in place of half precision that the processor only emulates, which is
    slower than float32; the log says so.

    Args:
        dtype: as in `resolve_dtype`.
        device: likewise.
        capabilities: likewise.
        cpuinfo: what the system says of its processors.
    """
    resolved = resolve_dtype(dtype, device, capabilities=capabilities)
    where = _named_device(device, capabilities or _capabilities)
    if where is None or not _is_emulated(resolved, where, cpuinfo):
        return resolved
    _LOG.warning("this processor does not compute in %s itself, and float32 is faster: float32 is used.", resolved)
    return "float32"


def warn_if_slow(dtype: str, device: torch.device, *, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Say in the log that half precision on this CPU is emulated, and whether it is."""
    slow = _is_emulated(dtype, device, cpuinfo)
    if slow:
        _LOG.warning(
            "%s is allowed on this CPU, but will be slow: the processor does not compute with it. float32 is faster.",
            dtype,
        )
    return slow


def _is_emulated(dtype: str, device: torch.device, cpuinfo: Path) -> bool:
    return device.type == "cpu" and dtype != "float32" and not (dtype == "bfloat16" and cpu_has_bfloat16(cpuinfo))


def cpu_has_bfloat16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the processor multiplies bfloat16 itself; False where the system does not say."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return not _CPU_FLAGS.isdisjoint(flags.split())


def _has_cards(cards: Callable[[], Sequence[Card]]) -> bool:
    return torch.cuda.is_available() if cards is list_cards else bool(cards())


def _capabilities() -> list[tuple[int, int]]:
    return [torch.cuda.get_device_capability(index) for index in range(torch.cuda.device_count())]


def _free_by_uuid() -> dict[str, int]:
    """Free bytes of each card, from the driver's own program; nothing where there is none."""
    command = ["nvidia-smi", "--query-gpu=uuid,memory.free", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
        rows = [line.split(",") for line in answer.splitlines() if line.strip()]
        return {uuid.strip().removeprefix("GPU-"): int(mebibytes) * 2**20 for uuid, mebibytes in rows}
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
