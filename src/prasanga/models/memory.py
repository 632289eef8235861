"""What a model takes of memory, and whether it fits: said before its weights are read, not by a crash minutes later."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from prasanga.base.errors import InputError
from prasanga.models.shape import Size

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_GB = 1e9
_LENGTH, _MOST_PIECES = 64, 1 << 14  # of a batch whose size is reckoned: more pieces hardly run faster
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


def share_bytes(model: torch.nn.Module, divided: Callable[[str], bool], cards: int, dtype: str) -> int:
    """Return the bytes of weights on each of several cards over which a model's layers are divided.

    Args:
        model: without content, on the meta device.
        divided: whether a parameter of this name is divided; of any other each card has all.
        cards: how many there are.
        dtype: precision of the weights.
    """
    sizes = ((divided(name), each.numel()) for name, each in model.named_parameters())
    return _BYTES[dtype] * sum(-(-size // cards) if part else size for part, size in sizes)


def drawing_bytes(model: torch.nn.Module, dtype: str) -> int:
    """Return most bytes of weights that are there while a twin of a model is drawn.

    All are in `dtype` but for those of one module, which are drawn in float32 with two numbers beside each.
    """
    most = max(sum(each.numel() for each in module.parameters(recurse=False)) for module in model.modules())
    return _BYTES[dtype] * sum(each.numel() for each in model.parameters()) + 3 * _BYTES["float32"] * most


def activation_bytes(model: torch.nn.Module, rows: int, length: int) -> int:
    """Return most bytes, besides the weights, that a forward pass takes for a batch without padding.

    Nothing is computed.

    Args:
        model: without content, on the meta device, in the precision that it runs in.
        rows: texts of the batch.
        length: pieces of each.
    """
    ids = torch.zeros(rows, length, dtype=torch.long, device="meta")
    with torch.inference_mode(), _Peak() as peak:
        model(input_ids=ids)
    return int(peak.most)


def largest_batch(model: torch.nn.Module, room: int) -> int:
    """Return the pieces of a batch for which the room beside the weights is enough twice over, a power of 2 or 0.

    Args:
        model: as for `activation_bytes`.
        room: bytes.
    """
    if room <= 0:
        return 0
    each = activation_bytes(model.eval(), 8, _LENGTH) // (8 * _LENGTH)
    fitting = room // (2 * max(each, 1))
    return min(1 << fitting.bit_length() - 1, _MOST_PIECES) if fitting else 0


class _Peak(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of tensors that are made while it is active, and let go of again."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = self._now = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _ASKING and args[0].is_meta:
            return True  # whether a mask hides nothing, for example
        output = function(*args, **(kwargs or {}))
        for each in tree_leaves(output):
            if isinstance(each, torch.Tensor) and (storage := each.untyped_storage())._cdata not in self._known:
                self._known.add(storage._cdata)
                self._now += storage.nbytes()
                self.most = max(self.most, self._now)
                weakref.finalize(storage, self._let_go, storage._cdata, storage.nbytes())
        return output

    def _let_go(self, storage: int, size: int) -> None:
        self._known.discard(storage)
        self._now -= size


_ASKING = (
    torch.ops.aten._local_scalar_dense.default,
    torch.ops.aten.item.default,
    torch.ops.aten.is_nonzero.default,
)
"""What reads a number out of a tensor, which one without content has not."""


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
