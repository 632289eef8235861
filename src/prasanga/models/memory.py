"""Whether a model fits into memory, said before its weights are read and not by a crash minutes later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from prasanga.errors import InputError
from prasanga.models.shape import Size

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_GB = 1e9
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def weights_bytes(size: Size, dtype: str, quantization: str = "none") -> int:
    """Bytes that a model's weights take in `dtype`; with `int8`, those of linear layers one byte and a scale a row."""
    each = _BYTES[dtype]
    if quantization == "none":
        return size.parameters * each
    return (size.parameters - size.linear) * each + size.linear + 4 * size.rows


def free_memory(device: torch.device, cuda: Any = torch.cuda) -> int:
    """Bytes that new tensors on `device` can take: free on the card; available to this process on a CPU.

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
    """Bytes that this process can still take, within the limit of its container or of its cluster job.

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
    drawn_in: str | None = None,
    free: Callable[[torch.device], int] = free_memory,
) -> None:
    """Refuse a model whose weights do not fit, before they are read.

    Args:
        name: the model, for the message.
        size: of the part that is loaded.
        devices: where it goes; several share it.
        dtype: precision of the weights.
        quantization: `none` or `int8`.
        drawn_in: precision in which random weights are drawn on this machine first; None if weights are read.
        free: bytes free on a device.

    Raises:
        InputError: with what it needs, what there is, and what can be done.
    """
    host = torch.device("cpu")
    here = weights_bytes(size, dtype)  # weights are rounded to 8 bits only after they have been read
    there = weights_bytes(size, dtype, quantization)
    places = [("on " + " and ".join(map(str, devices)), there, sum(map(free, devices)))]
    if drawn_in is not None:
        _require_room_to_draw(name, weights_bytes(size, drawn_in), free(host), drawn_in)
    elif len(devices) == 1:  # a model for several cards is read straight to them
        places.append(("on this machine while it is read", here, free(host)))
    for where, needed, room in places:
        if needed > room:
            raise InputError(
                f"model {name}: its weights need {_amount(size, dtype, 'none' if needed == here else quantization)},"
                f" but {room / _GB:.1f} GB of memory are free {where}. {_remedies(dtype, quantization, size, room)}"
            )


def _require_room_to_draw(name: str, needed: int, room: int, drawn_in: str) -> None:
    if needed > room:
        raise InputError(
            f"model {name}: its weights need {needed / _GB:.1f} GB in {drawn_in} while they are drawn, whatever it then"
            f" runs in, but {room / _GB:.1f} GB of memory are free on this machine. Use a machine with more memory, or"
            " leave out the twins: write associations: {random_twin: false}."
        )


def memory_gone(
    name: str, size: Size, devices: Sequence[torch.device], *, dtype: str, quantization: str = "none"
) -> InputError:
    """What to raise where a model that `require_room` has let pass does not fit after all; the arguments are the same.

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
    """The control group of this process and those around it (version 2); each may have a limit."""
    try:
        own = Path("/proc/self/cgroup").read_text().strip().splitlines()[-1].partition("::")[2].strip("/")
    except OSError:
        own = ""
    folder = root / own
    return [folder, *(parent for parent in folder.parents if parent.is_relative_to(root))]


def _room_in(group: Path) -> int | None:
    """What a control group leaves free, its cached files counted as free; None if it sets no limit."""
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        if limit == "max":
            return None
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return int(limit) - used + int(statistics.get("inactive_file", 0)) + int(statistics.get("active_file", 0))
    except (OSError, ValueError):
        return None
