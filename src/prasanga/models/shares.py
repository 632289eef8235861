"""One model divided over several cards that all work at once: each layer's matrices are cut, by transformers' own plan.

That takes a process for each card. The first is the job itself. It starts the others, which load their share of the
weights, and repeats to them what its model is called with, so that whoever calls it need not know. The others end when
the job does, however it ends: their standard input is a pipe of the job's.
"""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import torch
from torch import distributed
from transformers.distributed import DistributedConfig
from transformers.distributed.parallel_utils import replace_layer_number_by_wildcard

_LOG = logging.getLogger(__name__)
_CUT = {"colwise", "rowwise", "embedding_rowwise"}
_WHOLE = {"replicated_with_grad_allreduce"}  # a norm within each head
_HERE = "127.0.0.1"
_SECONDS_TO_END = 10
_OTHER = "from prasanga.models.loading import hold_share; hold_share()"


def divides(model: Any, cards: int) -> Callable[[str], bool] | None:
    """Return which parameters of a model are divided over `cards`, by name; None if it cannot be divided so.

    That takes a plan of its family that is of dense layers alone, and as many attention heads on each card.

    Args:
        model: without vocabulary head, on whatever device.
        cards: how many there are.
    """
    plan: dict[str, str] = getattr(model, "tp_plan", None) or {}
    heads = [getattr(model.config, name, None) for name in ("num_attention_heads", "num_key_value_heads")]
    if not plan or not set(plan.values()) <= _CUT | _WHOLE or any(count and count % cards for count in heads):
        return None
    cut = {name for name, style in plan.items() if style in _CUT}
    return lambda name: replace_layer_number_by_wildcard(name).rpartition(".")[0] in cut


def as_share(devices: int) -> dict[str, Any]:
    """Return what `from_pretrained` is told, in each of the processes, to load a share of a model."""
    return {"distributed_config": DistributedConfig(tp_size=devices, tp_plan="auto")}


def share_out(devices: Sequence[torch.device], task: Any, load: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """Return the share of a model on the first of some devices; calling it runs the shares on all of them.

    One model at a time is divided in a process: the shares of the one before end.

    Args:
        devices: of the shares.
        task: what another process needs to know to load its share (`hold_share`), to be pickled.
        load: loads the share of this process.
    """
    _end()
    listening = socket.create_server((_HERE, 0))  # by itself the store would listen to other machines as well
    port = listening.getsockname()[1]
    store = distributed.TCPStore(
        _HERE, port, len(devices), is_master=True, wait_for_workers=False, master_listen_fd=listening.detach()
    )
    for rank, device in enumerate(devices[1:], start=1):
        other = subprocess.Popen([sys.executable, "-c", _OTHER], stdin=subprocess.PIPE)
        _OTHERS.append(other)
        threading.Thread(target=_watch, args=(other, device), daemon=True).start()
        _tell(other, (task, rank, len(devices), port, device))
    try:
        _join(store, 0, len(devices), devices[0])
        module = load()
    except BaseException:
        _end()
        raise
    module.register_forward_pre_hook(_repeat, with_kwargs=True)
    return module


def hold(load: Callable[[Any, torch.device], torch.nn.Module]) -> None:
    """Be one of the other processes: load a share, and run it whenever the first process does, as long as that lives.

    Args:
        load: loads a share, given the task of `share_out` and the device.
    """
    told: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    task, rank, count, port, device = told.get()
    _join(distributed.TCPStore(_HERE, port, count, is_master=False), rank, count, device)
    module = load(task, device)
    while True:
        given = told.get()
        for name, value in given.items():
            if isinstance(value, tuple):
                given[name] = torch.empty(value[0], dtype=value[1], device=device)
                distributed.broadcast(given[name], 0)
        with torch.inference_mode():
            module(**given)


_OTHERS: list[subprocess.Popen[bytes]] = []
"""The other processes of the model that is divided now."""


def _join(store: Any, rank: int, count: int, device: torch.device) -> None:
    on_card = {"backend": "nccl", "device_id": device} if device.type == "cuda" else {"backend": "gloo"}
    os.environ["LOCAL_RANK"] = str(device.index or 0)  # transformers takes it for the number of this process's card
    distributed.init_process_group(store=store, rank=rank, world_size=count, **on_card)


def _repeat(_module: torch.nn.Module, _args: Any, given: dict[str, Any]) -> None:
    """Tell the other processes what the model is called with; tensors go from device to device."""
    tensors = {name: value.contiguous() for name, value in given.items() if isinstance(value, torch.Tensor)}
    shapes = {name: (tuple(value.shape), value.dtype) for name, value in tensors.items()}
    for other in _OTHERS:
        _tell(other, {**given, **shapes})
    for value in tensors.values():
        distributed.broadcast(value, 0)


def _tell(other: subprocess.Popen[bytes], what: Any) -> None:
    assert other.stdin is not None
    pickle.dump(what, other.stdin)
    other.stdin.flush()


def _listen(told: SimpleQueue[Any]) -> None:
    """Pass on what the first process says; end with it, in whatever this process is waiting for."""
    try:
        while True:
            told.put(pickle.load(sys.stdin.buffer))
    except EOFError:
        os._exit(0)


def _watch(other: subprocess.Popen[bytes], device: torch.device) -> None:
    """End this process if another one ends too early, since it would wait for that one's share of a sum for ever."""
    code = other.wait()
    time.sleep(_SECONDS_TO_END / 2)  # what was wrong may be wrong here too, and is then told from here
    if other in _OTHERS:
        _LOG.error("the process with the model's share on %s ended (%d); what it said stands above", device, code)
        os.kill(os.getpid(), signal.SIGTERM)


@atexit.register
def _end() -> None:
    """Let the other processes end, and leave their company."""
    others, _OTHERS[:] = list(_OTHERS), []
    for other in others:
        assert other.stdin is not None
        with suppress(OSError):  # what it was told last never reached it: it has ended by itself
            other.stdin.close()
    for other in others:
        try:
            other.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            other.kill()
    if others and distributed.is_initialized():
        distributed.destroy_process_group()
