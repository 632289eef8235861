"""Which GPU a process gets, what `auto` means for the precision, and whether a model fits."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.models import ModelOptions, load_model
from prasanga.models import devices as module
from prasanga.models.devices import (
    Size,
    check_device,
    claim_devices,
    cpu_has_bfloat16,
    dtype_of_study,
    no_room,
    resolve_dtype,
    weights_bytes,
)

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
LLAMA = Size(parameters=6_607_343_616, linear=6_476_005_376)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """`gpus((9, 0), (7, 5))`: a machine with GPUs of these capabilities."""
    monkeypatch.setattr(module, "_HELD", {})

    def have(*capabilities: tuple[int, int]) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(capabilities))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(capabilities))
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: capabilities[index])
        monkeypatch.setattr(
            torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid=f"{hash(tmp_path)}-{index}")
        )

    return have


def hold_gpus(count: int, pipe: Any) -> None:
    """Claim GPUs, say which, and hold them."""
    pipe.send([device.index for device in claim_devices("auto", count)])
    time.sleep(600)


def test_processes_get_different_gpus_and_a_kill_gives_them_back(gpus: Callable[..., None]) -> None:
    gpus((9, 0), (9, 0), (9, 0))
    fork, running = multiprocessing.get_context("fork"), list[Any]()

    def claim(count: int = 1) -> list[int]:
        here, there = fork.Pipe()
        running.append(fork.Process(target=hold_gpus, args=(count, there)))
        running[-1].start()
        return list(here.recv())

    try:
        assert claim(2) == [0, 1]
        assert claim() == [2]
        assert claim() == [0]  # all are taken: one is shared
        running[1].kill()
        running[1].join()
        assert claim() == [2]
    finally:
        for process in running:
            process.kill()
            process.join()


def test_devices_by_name(gpus: Callable[..., None]) -> None:
    gpus((9, 0), (9, 0))
    found = [check_device(device) for device in ("cpu", "cuda:0", "cuda:1", "cuda", "auto")]
    assert found == [CPU, GPU, torch.device("cuda", 1), None, None]
    assert claim_devices("cuda:1") == [torch.device("cuda", 1)]
    assert claim_devices("auto") == claim_devices("auto") == [GPU]  # who asks again gets the same one
    assert claim_devices("auto", 2) == [GPU, torch.device("cuda", 1)]
    gpus()
    assert claim_devices("auto", 0) == claim_devices("auto") == [CPU]


@pytest.mark.parametrize(("device", "count", "present", "message"), read_cases(__file__, "wrong_devices"))
def test_devices_that_there_are_not(
    gpus: Callable[..., None], device: str, count: int, present: int, message: str
) -> None:
    gpus(*[(9, 0)] * present)
    with pytest.raises(InputError, match=message):
        claim_devices(device, count)


@pytest.mark.parametrize(("dtype", "device", "capabilities", "expected"), read_cases(__file__, "auto_precisions"))
def test_auto_is_bfloat16_where_every_gpu_in_question_has_it(
    gpus: Callable[..., None], dtype: str, device: str, capabilities: list[list[int]], expected: str
) -> None:
    gpus(*map(tuple, capabilities))
    assert resolve_dtype(dtype, device) == expected
    with pytest.raises(InputError, match=r"dtype is 'half'\. Write auto, float32, bfloat16, float16"):
        resolve_dtype("half")


@pytest.mark.parametrize(
    ("dtype", "device", "flags", "expected"),
    [
        ("bfloat16", "cpu", "flags\t: fpu avx2", "float32"),
        ("bfloat16", "cpu", "flags\t: fpu avx512_bf16", "bfloat16"),
        ("bfloat16", "cpu", "Features\t: fp asimd bf16", "bfloat16"),
        ("float16", "cpu", "flags\t: fpu avx512_bf16", "float32"),
        ("auto", "cpu", "flags\t: fpu avx512_bf16", "float32"),
        ("bfloat16", "auto", "flags\t: fpu avx2", "bfloat16"),  # there is a GPU
        ("float32", "cpu", "flags\t: fpu avx2", "float32"),
    ],
)
def test_a_study_computes_in_no_precision_that_the_cpu_emulates(
    gpus: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    dtype: str,
    device: str,
    flags: str,
    expected: str,
) -> None:
    gpus((9, 0))
    monkeypatch.setattr(module, "_CPUINFO", tmp_path / "cpuinfo")
    assert not cpu_has_bfloat16()  # there is no such file
    (tmp_path / "cpuinfo").write_text(f"processor : 0\n{flags}\n")
    assert dtype_of_study(dtype, device) == expected
    said = f"this CPU only emulates {dtype}, so the faster float32"
    assert (said in caplog.text) == (expected == "float32" and dtype not in ("float32", "auto"))


def test_a_model_that_does_not_fit_is_refused_with_figures_and_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert weights_bytes(LLAMA, "float32") == 4 * 6_607_343_616
    assert weights_bytes(LLAMA, "float16", "int8") == 2 * 131_338_240 + 6_476_005_376
    monkeypatch.setattr(module, "free_memory", lambda device: {"cuda": 12e9, "cpu": 8e9}[device.type])
    assert str(no_room("llama", LLAMA, [GPU], "float32", "none")).startswith(
        "model llama: its weights need 26.4 GB in float32, but 12.0 GB of memory are free on cuda:0. Write dtype:"
        " bfloat16 (2 bytes per weight), quantization: int8 (1 byte for most) or cards: 2 or more under the model"
    )
    two = str(no_room("llama", LLAMA, [GPU, torch.device("cuda", 1)], "float32", "none"))
    assert "but 24.0 GB of memory are free on cuda:0 and cuda:1" in two


def test_a_model_is_refused_before_its_weights_are_read(
    tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prasanga.models.loading.free_memory", lambda _: 1000)
    monkeypatch.setattr(module, "free_memory", lambda _: 1000)
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", None)
    with pytest.raises(InputError, match=r"its weights need 0\.0 GB in float32, but 0\.0 GB of memory are free on cpu"):
        load_model(tiny("bert"), device="cpu")


def test_a_device_that_fills_up_meanwhile_is_said(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr("prasanga.models.loading.read_weights", full)
    with pytest.raises(InputError, match=r"GB of memory are free on cpu\. Write dtype: bfloat16"):
        load_model(tiny("bert"), device="cpu")


def test_eight_bits_need_torchao(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchao.quantization", None)
    with pytest.raises(InputError, match=r"quantization is int8, which needs the package torchao\. Install it"):
        load_model(tiny("bert"), device="cpu", options=ModelOptions(quantization="int8"))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bert", "mbart", "mt5", "albert"])
@pytest.mark.parametrize("seed", [None, 5])
def test_weights_in_eight_bits_give_nearly_the_same_states(
    tiny: Callable[[str], Path], kind: str, seed: int | None
) -> None:
    pytest.importorskip("torchao", reason="quantization needs torchao, which is optional")
    exact = load_model(tiny(kind), device="cpu", options=ModelOptions(random_weights=seed))
    coarse = load_model(tiny(kind), device="cpu", options=ModelOptions(quantization="int8", random_weights=seed))
    ids = torch.tensor([coarse.tokenizer("ফুল মা Rose")["input_ids"]])
    with torch.inference_mode():
        pair = [loaded.encoder(input_ids=ids).last_hidden_state for loaded in (exact, coarse)]
    assert not torch.equal(*pair)
    assert torch.nn.functional.cosine_similarity(*pair, dim=-1).min() > 0.999
