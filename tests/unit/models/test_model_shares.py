"""A model whose layers are divided over several processes gives the vectors that one process gives."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as t
from safetensors.torch import load_file, save_file
from tiny_models import build

from prasanga.models import ModelOptions, load_model
from prasanga.models.loading import divides

TEXTS = ["মায়ের হাতে একটি লাল গোলাপ ছিল", "চাঁদের আলো", "Rahim reads every evening, quietly.", "ফসলের ক্ষতি"]

EMBED = """
import json, sys, time, numpy, torch
from prasanga.embeddings import load_encoder
from prasanga.models import ModelOptions

folder, out, room, *layers = sys.argv[1:]
texts = json.loads(sys.stdin.read())
spans = [(0, 4)] * len(texts)
if room != "0":
    two = [torch.device("cpu")] * 2
    free = {0: int(room), 1: int(room)}
    from prasanga.models import loading
    loading.place_model = lambda *_: (two, free)
vectors = []
for layer in map(int, layers):  # the second model ends the shares of the first
    encoder = load_encoder(folder, layer=layer, device="cpu", options=ModelOptions(cards=1))
    vectors.append(encoder.embed(texts, spans))
divided = type(encoder.loaded.encoder.layers[0].self_attn.q_proj.weight).__name__
print(divided, encoder.loaded.budget)
numpy.save(out, numpy.concatenate(vectors))
"""


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama of three blocks, four heads and two heads of keys and values."""
    return build("llama", tmp_path_factory.mktemp("models") / "llama")


def _embed(folder: Path, out: Path, room: int, *layers: int) -> tuple[torch.Tensor, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", EMBED, folder, out, str(room), *map(str, layers)],
        input=json.dumps(TEXTS),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return torch.from_numpy(np.load(out)), done.stdout.split()


def test_vectors_are_those_of_one_process(llama: Path, tmp_path: Path) -> None:
    one, said = _embed(llama, tmp_path / "one.npy", 0, -1, 1)
    assert said == ["Parameter", "None"]
    two, said = _embed(llama, tmp_path / "two.npy", 10**9, -1, 1)
    assert said == ["DTensor", "16384"]  # half of the weights is here, and the other half in another process
    assert one.shape == (2 * len(TEXTS), 32)
    torch.testing.assert_close(two, one, rtol=0, atol=1e-5)


def _pid_of_other(llama: Path, then: str) -> tuple[subprocess.Popen[str], int]:
    code = EMBED.partition("divided =")[0] + f"from prasanga.models import loading\n{then}"
    job = subprocess.Popen(
        [sys.executable, "-c", code, llama, "", "1000000000", "-1"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert job.stdin is not None
    assert job.stdout is not None
    job.stdin.write(json.dumps(TEXTS))
    job.stdin.close()
    return job, int(job.stdout.readline())


@pytest.mark.long
def test_no_process_outlives_the_job(llama: Path) -> None:
    job, other = _pid_of_other(llama, "print(loading._OTHERS[0].pid, flush=True); time.sleep(600)")
    assert Path(f"/proc/{other}").exists()
    job.kill()
    job.wait(60)
    until = time.monotonic() + 60
    while _runs(other) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _runs(other)


def test_other_machines_cannot_reach_the_meeting_point() -> None:
    code = """
import psutil, torch
from prasanga.models import loading
opened = lambda: [each.laddr.ip for each in psutil.Process().net_connections() if each.status == "LISTEN"]
loading._join = lambda *_: print(opened())
loading._OTHER = ""
loading.share_out([torch.device("cpu")], None, torch.nn.Module)
"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "['127.0.0.1']\n"


@pytest.mark.long
def test_a_share_that_is_lost_ends_the_job(llama: Path) -> None:
    job, other = _pid_of_other(llama, "print(loading._OTHERS[0].pid, flush=True); time.sleep(600)")
    os.kill(other, signal.SIGKILL)
    assert job.wait(60) == -signal.SIGTERM
    assert job.stderr is not None
    assert "the process with the model's share on cpu ended (-9)" in job.stderr.read()


@pytest.mark.long
def test_what_is_wrong_with_the_weights_is_told_as_by_one_process(llama: Path, tmp_path: Path) -> None:
    spoilt = Path(shutil.copytree(llama, tmp_path / "spoilt"))
    weights = load_file(spoilt / "model.safetensors")
    del weights["model.layers.1.self_attn.q_proj.weight"]
    save_file(weights, spoilt / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(AssertionError, match=r"InputError: model .*: 1 weights are missing or of another shape"):
        _embed(spoilt, tmp_path / "none.npy", 10**9, -1)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_which_models_are_divided(llama: Path) -> None:
    def empty(config: t.PreTrainedConfig) -> t.PreTrainedModel:
        with torch.device("meta"):
            return t.AutoModel.from_config(config)

    model = empty(t.AutoConfig.from_pretrained(llama))
    divided = divides(model, 2)
    assert divided is not None
    whole = [name for name, _ in model.named_parameters() if not divided(name)]
    assert all("norm" in name for name in whole)
    assert len(whole) == 2 * 3 + 1
    assert divides(model, 3) is None  # of four heads, no card gets as many as another
    assert divides(model, 4) is None  # nor of two heads of keys
    assert divides(empty(t.BertConfig(hidden_size=8, num_attention_heads=2, num_hidden_layers=1)), 2) is None
    experts = t.MixtralConfig(hidden_size=8, num_attention_heads=2, num_key_value_heads=2, num_hidden_layers=1)
    assert divides(empty(experts), 2) is None


@pytest.mark.parametrize(
    ("room", "options", "divided"),
    [
        (10**9, {}, True),
        (30_000, {}, False),  # 2 x 30,000 bytes hold it, but not with a batch beside it
        (10**9, {"random_weights": 3}, False),
    ],
)
def test_it_is_chosen_by_what_fits(
    llama: Path, monkeypatch: pytest.MonkeyPatch, room: int, options: dict[str, int], divided: bool
) -> None:
    """Without a second process, and without cards."""
    done: list[str] = []
    cpu = torch.device("cpu")
    model = t.AutoModel.from_pretrained(llama)
    places = ([cpu, cpu], {0: room, 1: room})
    monkeypatch.setattr("prasanga.models.loading.place_model", lambda *_: places)
    monkeypatch.setattr("prasanga.models.loading.require_room", lambda *_, **__: None)
    monkeypatch.setattr("prasanga.models.loading.share_out", lambda *_: done.append("shares") or model)
    monkeypatch.setattr("prasanga.models.loading._read", lambda *_: done.append("blocks") or model)
    monkeypatch.setattr("prasanga.models.loading.draw_weights", lambda *_, **__: done.append("drawn") or model)
    loaded = load_model(llama, options=ModelOptions(**options))
    assert done == ["shares" if divided else "drawn" if options else "blocks"]
    assert (loaded.budget is not None) is divided
