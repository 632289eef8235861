"""A model that does not fit is refused with both figures before its weights are read."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tiny_models import build
from transformers import LlamaConfig, LlamaModel

from prasanga.base.errors import InputError
from prasanga.models import load_model
from prasanga.models.devices import (
    free_host_memory,
    free_memory,
    memory_gone,
    require_room,
    weights_bytes,
)
from prasanga.models.hub import open_source
from prasanga.models.loading import open_config
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.shape import Size, size_of, skeleton

LLAMA = Size(parameters=6_607_343_616, linear=6_476_005_376, rows=1_359_872)
CARD, CPU = torch.device("cuda", 0), torch.device("cpu")


def test_bytes_of_weights() -> None:
    assert weights_bytes(LLAMA, "float32") == 4 * 6_607_343_616
    assert weights_bytes(LLAMA, "bfloat16") == 2 * 6_607_343_616
    assert weights_bytes(LLAMA, "float16", "int8") == 2 * 131_338_240 + 6_476_005_376 + 4 * 1_359_872


def _room(**gigabytes: float) -> Callable[[torch.device], int]:
    return lambda device: int(gigabytes[device.type] * 1e9)


def test_what_does_not_fit_is_refused_with_figures_and_remedies() -> None:
    with pytest.raises(InputError) as caught:
        require_room("llama", LLAMA, [CARD], dtype="float32", free=_room(cuda=11.5, cpu=64))
    text = str(caught.value)
    assert "model llama: its weights need 26.4 GB in float32, but 11.5 GB of memory are free on cuda:0" in text
    assert "dtype: bfloat16 (13.2 GB)" in text
    assert "quantization: int8 (6.7 GB with dtype: bfloat16)" in text
    assert "cards: 2" in text
    with pytest.raises(InputError, match=r"need 6\.7 GB in bfloat16 with linear layers in int8, but 4\.0 GB"):
        require_room("llama", LLAMA, [CARD], dtype="bfloat16", quantization="int8", free=_room(cuda=4, cpu=64))


def test_the_machine_must_hold_what_it_rounds_to_eight_bits() -> None:
    require_room("llama", LLAMA, [CARD], dtype="bfloat16", free=_room(cuda=14, cpu=1))  # read straight to the card
    require_room("llama", LLAMA, [CARD], dtype="bfloat16", quantization="int8", free=_room(cuda=8, cpu=14))
    with pytest.raises(InputError, match=r"need 13\.2 GB in bfloat16, but 8\.0 GB .* on this machine while it is read"):
        require_room("llama", LLAMA, [CARD], dtype="bfloat16", quantization="int8", free=_room(cuda=8, cpu=8))
    with pytest.raises(InputError, match=r"are free on cpu\."):
        require_room("llama", LLAMA, [CPU], dtype="bfloat16", free=_room(cpu=8))


def test_several_cards_hold_it_together() -> None:
    pair = [CARD, torch.device("cuda", 1)]
    require_room("llama", LLAMA, pair, dtype="bfloat16", free=_room(cuda=7, cpu=1))
    with pytest.raises(InputError, match=r"13\.2 GB .* 12\.0 GB of memory are free on cuda:0 and cuda:1"):
        require_room("llama", LLAMA, pair, dtype="bfloat16", free=_room(cuda=6, cpu=1))


def test_free_memory_of_a_machine_and_of_a_job(tmp_path: Path) -> None:
    meminfo, group = tmp_path / "meminfo", tmp_path / "cgroup"
    meminfo.write_text("MemTotal:       8000 kB\nMemFree:  10 kB\nMemAvailable:    5000 kB\n")
    group.mkdir()
    assert free_host_memory(meminfo, group) == 5000 * 1024
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("1000\n")
    (group / "memory.stat").write_text("anon 700\nactive_file 200\ninactive_file 100\n")
    assert free_host_memory(meminfo, group) == 5000 * 1024
    (group / "memory.max").write_text("4000\n")
    assert free_host_memory(meminfo, group) == 4000 - 1000 + 300
    assert free_host_memory(tmp_path / "none", tmp_path / "nowhere") == 2**62


def test_what_torch_holds_of_a_card_and_does_not_use_is_free() -> None:
    asked: list[torch.device] = []

    def answer(value: object) -> Callable[[torch.device], object]:
        return lambda device: (asked.append(device), value)[1]

    cuda = SimpleNamespace(
        mem_get_info=answer((3_000, 80_000)), memory_reserved=answer(9_000), memory_allocated=answer(2_500)
    )
    assert free_memory(torch.device("cuda", 1), cuda) == 3_000 + 9_000 - 2_500
    assert asked == [torch.device("cuda", 1)] * 3
    assert free_memory(CPU, cuda) > 0
    assert len(asked) == 3


def test_memory_that_is_gone_when_the_weights_come() -> None:
    text = str(memory_gone("llama", LLAMA, [CARD], dtype="bfloat16"))
    assert text.startswith("model llama: its weights need 13.2 GB in bfloat16. There was room for them on cuda:0 when")
    assert "another process has taken it" in text
    assert "Write quantization: int8 (6.7 GB with dtype: bfloat16), or cards: 2 under the model" in text
    text = str(memory_gone("llama", LLAMA, [CARD], dtype="bfloat16", quantization="int8"))
    assert "need 6.7 GB in bfloat16 with linear layers in int8" in text


@pytest.mark.parametrize("kind", ["bert", "albert", "gpt2", "mbart", "t5"])
def test_the_size_is_known_without_weights(tiny_copy: Callable[[str], Path], kind: str) -> None:
    folder = tiny_copy(kind)
    loaded = load_model(folder, device="cpu").encoder
    (folder / "model.safetensors").unlink()
    source = open_source(folder)
    bare = skeleton(source, open_config(source, NO_OPTIONS), NO_OPTIONS)
    assert all(parameter.is_meta for parameter in bare.parameters())
    assert size_of(bare) == size_of(loaded)
    assert size_of(loaded).parameters == sum(parameter.numel() for parameter in loaded.parameters())


def test_load_model_refuses_before_it_reads(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def reads(*_: object, **__: object) -> None:
        raise AssertionError("the weights were read")

    monkeypatch.setattr("prasanga.models.devices.free_host_memory", lambda: 1000)
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", reads)
    with pytest.raises(InputError, match=r"its weights need 0\.0 GB in float32, but 0\.0 GB of memory are free on cpu"):
        load_model(tiny("bert"), device="cpu")


def test_a_card_that_is_filled_while_the_weights_are_read(
    tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr("transformers.AutoModel.from_pretrained", full)
    with pytest.raises(InputError, match=r"There was room for them on cpu when .* Write dtype: bfloat16") as caught:
        load_model(tiny("bert"), device="cpu")
    assert str(caught.value).startswith(f"model {tiny('bert')}: its weights need 0.0 GB in float32")
    assert isinstance(caught.value.__cause__, torch.OutOfMemoryError)


PEAK = """
import resource, sys, threading, time, torch
from prasanga.models import load_model

def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) / 1024

load_model(sys.argv[1], device="cpu")  # what is loaded once
before, done, most = (status("VmRSS"), status("RssAnon")), False, 0

def watch():
    global most
    while not done:
        most = max(most, status("RssAnon"))
        time.sleep(0.002)

watching = threading.Thread(target=watch)
watching.start()
encoder = load_model(sys.argv[2], device="cpu", dtype=sys.argv[3]).encoder
total = sum(each.sum(dtype=torch.float64).item() for each in encoder.parameters())  # reads every weight
done = True
watching.join()
megabytes = sum(each.nbytes for each in encoder.parameters()) / 2**20
print(megabytes, (status("VmHWM") - before[0]) / megabytes, (most - before[1]) / megabytes, total)
"""


@pytest.fixture(scope="module")
def heavy(tiny: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, float]]:
    """A model of 386 MB in float32, and the sum of its weights."""
    folder = tmp_path_factory.mktemp("heavy")
    with torch.device("meta"):
        model = LlamaModel(
            LlamaConfig(
                hidden_size=1024, intermediate_size=4096, num_hidden_layers=6, num_attention_heads=16, vocab_size=400
            )
        )
    model.to_empty(device="cpu")
    total = 0.0
    for number, weights in enumerate(model.parameters()):
        torch.nn.init.constant_(weights, 2.0 ** -(number % 8))
        total += weights.numel() * 2.0 ** -(number % 8)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny("gpt2") / name, folder)
    model.save_pretrained(folder)
    yield folder, total
    shutil.rmtree(folder)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_are_never_twice_in_memory(tiny: Callable[[str], Path], heavy: tuple[Path, float], dtype: str) -> None:
    """What is resident of a file itself does not count in another precision: the system can take it back."""
    folder, expected = heavy
    asked = [sys.executable, "-c", PEAK, tiny("gpt2"), folder, dtype]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    megabytes, resident, own, total = map(float, done.stdout.split())
    assert megabytes == pytest.approx(386 if dtype == "float32" else 193, abs=2)
    assert own < 1.3
    assert resident < (1.3 if dtype == "float32" else 1.3 + 2)
    assert total == expected  # powers of two are the same in both


def _skeleton(folder: Path, dtype: str, **shape: int) -> torch.nn.Module:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **shape}))
    source = open_source(folder)
    found = open_config(source, NO_OPTIONS)
    found.use_cache = False
    return skeleton(source, found, NO_OPTIONS).to(getattr(torch, dtype)).eval()


def test_what_drawing_takes_is_what_was_measured(tmp_path: Path) -> None:
    """A twin's weights, and one matrix as it is drawn; nothing else is ever there twice."""
    build("llama", tmp_path)
    bare = _skeleton(tmp_path, "bfloat16", hidden_size=256, intermediate_size=1024, vocab_size=4000)
    tokenizer = load_model(tmp_path, device="cpu", dtype="bfloat16", options=ModelOptions(random_weights=1))
    with torch.profiler.profile(profile_memory=True) as profile:
        load_model(tmp_path, device="cpu", dtype="bfloat16", options=ModelOptions(random_weights=1))
    del tokenizer
    events = [each for each in profile.profiler.kineto_results.events() if each.name() == "[memory]"]
    measured = max(itertools.accumulate(each.nbytes() for each in sorted(events, key=lambda each: each.start_ns())))
    assert measured <= drawing_bytes(bare) < 1.5 * measured


def drawing_bytes(model: torch.nn.Module) -> int:
    """Most bytes while a twin is drawn in bfloat16: one module in float32, with two numbers beside each of its own."""
    most = max(sum(each.numel() for each in module.parameters(recurse=False)) for module in model.modules())
    return 2 * sum(each.numel() for each in model.parameters()) + 12 * most
