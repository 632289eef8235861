"""Where a model runs, in which precision, and whether it fits there: said before its weights are read."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from prasanga.base.errors import InputError

if TYPE_CHECKING:
    from prasanga.models.shape import Size

_LOG = logging.getLogger(__name__)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICE = re.compile(r"cpu|cuda(:(?P<card>0|[1-9][0-9]*))?")  # torch has others, on which nothing here was tried
_NATIVE_BFLOAT16 = (8, 0)  # compute capability of the first NVIDIA cards that have it (Ampere)
_CPUINFO = Path("/proc/cpuinfo")
_CPU_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}  # the last one is ARM's


@dataclass(frozen=True)
class Card:
    """A CUDA card as this process sees it.

    Attributes:
        index: its number in this process, as in `cuda:<index>`.
        uuid: what it is called by every process on the machine.
        free: bytes of free memory.
    """

    index: int
    uuid: str
    free: int


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


def resolve_dtype(dtype: str, device: str = "auto") -> str:
    """Return the precision that `dtype` means on `device`.

    `auto` is bfloat16 on a CUDA card that has it natively, and float32 elsewhere. Where any card will do, all must
    have it: the same config must not mean different precisions for two jobs on one machine.

    Args:
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        device: as in `claim_device`; nothing is claimed.

    Raises:
        InputError: an unknown dtype or device.
    """
    if dtype != "auto":
        if dtype not in DTYPES:
            raise InputError(f"dtype is {dtype!r}; write auto, {', '.join(DTYPES)}.")
        return dtype
    where = _named_device(device)
    if where is not None and where.type != "cuda":
        return "float32"
    found = _capabilities()
    asked = found if where is None else [found[where.index]]
    return "bfloat16" if all(capability >= _NATIVE_BFLOAT16 for capability in asked) else "float32"


def _named_device(device: str) -> torch.device | None:
    """Return what `check_device` says, without a look at how much memory is free on the cards."""
    return check_device(device, cards=lambda: [Card(index, str(index), 0) for index in range(len(_capabilities()))])


def dtype_of_study(dtype: str, device: str = "auto") -> str:
    """Return the precision that the jobs of a study compute in on `device`, where their config says `dtype`.

    It is that of `resolve_dtype`, but float32 in place of half precision that the processor only emulates, which is
    slower than float32; the log says so.

    Args:
        dtype: as in `resolve_dtype`.
        device: likewise.
    """
    resolved, where = resolve_dtype(dtype, device), _named_device(device)
    if where is None or not _is_emulated(resolved, where):
        return resolved
    _LOG.warning("this processor does not compute in %s itself, and float32 is faster: float32 is used.", resolved)
    return "float32"


def warn_if_slow(dtype: str, device: torch.device) -> None:
    """Say in the log that half precision on this CPU is emulated, where it is."""
    if _is_emulated(dtype, device):
        _LOG.warning(
            "%s is allowed on this CPU, but will be slow: the processor does not compute with it. float32 is faster.",
            dtype,
        )


def _is_emulated(dtype: str, device: torch.device) -> bool:
    return device.type == "cpu" and dtype != "float32" and not (dtype == "bfloat16" and cpu_has_bfloat16())


def cpu_has_bfloat16() -> bool:
    """Return whether the processor multiplies bfloat16 itself; False where the system does not say."""
    try:
        lines = _CPUINFO.read_text().splitlines()
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


# --------------------
# Several processes on one machine each take a card of their own, without a server and without a fight.
#
# Who holds the lock on a card's file in the temporary folder has the card. The kernel releases the lock when the
# process ends, however it ends, so that nothing has to be cleaned up after a kill.


_HELD: dict[str, int] = {}
"""Open, locked files by the uuid of their card; never closed, since closing one gives the card back."""
_ONE_THREAD = threading.Lock()


def claim_cards(cards: Sequence[Card], count: int = 1, *, folder: Path | None = None) -> list[Card]:
    """Take `count` of `cards` for as long as this process lives; asked again, it gets the same ones.

    Cards that no other process has claimed come first, among them those with most free memory (somebody who claims
    nothing may be at work there). If too few are unclaimed, the rest are shared ones with most free memory.

    Args:
        cards: at least `count` of them.
        count: how many are wanted.
        folder: where the lock files are; the system's folder for temporary files if None.
    """
    folder = folder or Path(tempfile.gettempdir())
    taken: list[Card] = []
    with _ONE_THREAD:
        best = sorted(cards, key=lambda card: (card.uuid not in _HELD, -card.free, card.index))
        for card in best:
            if len(taken) < count and (card.uuid in _HELD or _lock(card, folder)):
                taken.append(card)
    shared = [card for card in best if card not in taken][: count - len(taken)]
    if shared:
        _LOG.warning(
            "every card is in use by another job; sharing %s, where most memory is free (%s GB)",
            ", ".join(f"cuda:{card.index}" for card in shared),
            ", ".join(f"{card.free / 1e9:.1f}" for card in shared),
        )
    return sorted([*taken, *shared], key=lambda card: card.index)


def _lock(card: Card, folder: Path) -> bool:
    """Return whether this process now has the lock on the file of `card`."""
    try:
        descriptor = _open(folder / f"prasanga-card-{card.uuid}.lock")
    except OSError as error:
        _LOG.warning("cuda:%d cannot be claimed: %s", card.index, error)
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    _HELD[card.uuid] = descriptor
    return True


def _open(path: Path) -> int:
    """Open a lock file for reading, which is enough to lock it and works on another user's file too.

    A file that is there is opened without `O_CREAT`, which Linux forbids on other users' files in /tmp.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        pass
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    except FileExistsError:  # another process was faster
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    os.fchmod(descriptor, 0o644)  # whatever this user's umask, others must be able to open it
    return descriptor


# --------------------
# What a model takes of memory, and whether it fits: not told by a crash minutes later.


_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_GB = 1e9
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def weights_bytes(size: Size, dtype: str, quantization: str = "none") -> int:
    """Return the bytes that a model's weights take in `dtype`.

    With `int8`, those of linear layers take one byte each, plus a scale for each row.
    """
    each = _BYTES[dtype]
    if quantization == "none":
        return size.parameters * each
    return (size.parameters - size.linear) * each + size.linear + 4 * size.rows


def free_memory(device: torch.device, cuda: Any = torch.cuda) -> int:
    """Return the bytes that new tensors on `device` can take: free on the card; available to this process on a CPU.

    What torch keeps of a card for its next tensors counts as free: the driver does not say so, and a second model in
    one process would be refused for what the first one has left.

    Args:
        device: a CPU or a CUDA card.
        cuda: torch's account of the cards.
    """
    if device.type == "cuda":
        return int(cuda.mem_get_info(device)[0] + cuda.memory_reserved(device) - cuda.memory_allocated(device))
    return free_host_memory()


def free_host_memory(meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int:
    """Return the bytes that this process can still take, within the limit of its container or of its cluster job.

    Where the system does not say (other than Linux), a number that refuses nothing.
    """
    known = [2**62]
    if meminfo.is_file():
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            known.append(int(lines["MemAvailable"].split()[0]) * 1024)
    known += [room for folder in _cgroups(cgroup) if (room := _room_in(folder)) is not None]
    return max(0, min(known))


def require_room(
    name: str,
    size: Size,
    devices: Sequence[torch.device],
    *,
    dtype: str,
    quantization: str = "none",
    drawn: bool = False,
    free: Callable[[torch.device], int] = free_memory,
) -> None:
    """Refuse a model whose weights do not fit, before they are read.

    Args:
        name: the model, for the message.
        size: of the part that is loaded.
        devices: where it goes; several share it.
        dtype: precision of the weights.
        quantization: `none` or `int8`.
        drawn: whether its weights are random and drawn where it goes, and not read through this machine's memory.
        free: bytes free on a device.

    Raises:
        InputError: with what it needs, what there is, and what can be done.
    """
    host = torch.device("cpu")
    here = weights_bytes(size, dtype)  # read straight to where they stay, but to be rounded to 8 bits by the processor
    there = weights_bytes(size, dtype, quantization)
    places = [("on " + " and ".join(map(str, devices)), there, sum(map(free, devices)))]
    if quantization != "none" and not drawn:
        places.append(("on this machine while it is read", here, free(host)))
    for where, needed, room in places:
        if needed > room:
            raise InputError(
                f"model {name}: its weights need {_amount(size, dtype, 'none' if needed == here else quantization)},"
                f" but {room / _GB:.1f} GB of memory are free {where}. {_remedies(dtype, quantization, size, room)}"
                f"{' Or write random_twins: 0 there, and leave out its twins.' * drawn}"
            )


def memory_gone(
    name: str, size: Size, devices: Sequence[torch.device], *, dtype: str, quantization: str = "none"
) -> InputError:
    """Return what to raise where a model that `require_room` has let pass does not fit after all.

    The arguments are the same.

    How much is free now is not said: part of the model is there already.
    """
    needed = weights_bytes(size, dtype, quantization)
    return InputError(
        f"model {name}: its weights need {_amount(size, dtype, quantization)}. There was room for them on"
        f" {' and '.join(map(str, devices))} when it was looked for, but no longer when they came: most likely another"
        " process has taken it in between (nvidia-smi lists them). Run it again when that process has ended, or make"
        f" the model smaller. {_remedies(dtype, quantization, size, needed)}"
    )


def _amount(size: Size, dtype: str, quantization: str) -> str:
    linear = "" if quantization == "none" else " with linear layers in int8"
    return f"{weights_bytes(size, dtype, quantization) / _GB:.1f} GB in {dtype}{linear}"


def _remedies(dtype: str, quantization: str, size: Size, room: int) -> str:
    ways = []
    if dtype == "float32":
        ways.append(f"dtype: bfloat16 ({weights_bytes(size, 'bfloat16') / _GB:.1f} GB)")
    if quantization == "none":
        half = "bfloat16" if dtype == "float32" else dtype
        ways.append(f"quantization: int8 ({weights_bytes(size, half, 'int8') / _GB:.1f} GB with dtype: {half})")
    needed = weights_bytes(size, "bfloat16" if dtype == "float32" else dtype)
    cards = -(-needed // max(room, 1))
    ways.append(f"cards: {max(2, cards)}" if cards <= 64 else "cards: as many as it takes")
    return f"Write {', or '.join(ways)} under the model; or use a machine with more memory, or a smaller model."


def _cgroups(root: Path) -> list[Path]:
    """Return the control group of this process and those around it (version 2); each may have a limit."""
    try:
        own = Path("/proc/self/cgroup").read_text().strip().splitlines()[-1].partition("::")[2].strip("/")
    except OSError:
        own = ""
    folder = root / own
    return [folder, *(parent for parent in folder.parents if parent.is_relative_to(root))]


def _room_in(group: Path) -> int | None:
    """Return what a control group leaves free, its cached files counted as free; None if it sets no limit."""
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        if limit == "max":
            return None
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return int(limit) - used + int(statistics.get("inactive_file", 0)) + int(statistics.get("active_file", 0))
    except (OSError, ValueError):
        return None
