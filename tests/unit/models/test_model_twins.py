"""A twin has a model's architecture and tokenizer, and weights that a seed gives; none of its own is read."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from prasanga.base.errors import InputError
from prasanga.base.seeds import seed_of
from prasanga.models import ModelOptions, load_model
from prasanga.models.devices import require_room
from prasanga.models.hub import open_source
from prasanga.models.loading import open_config
from prasanga.models.shape import Size, draw_weights
from prasanga.plan.models import studied_models, twins_of

MURIL = {"path": "google/muril-base-cased", "revision": "abc", "layer": -1, "dtype": "auto"}
LLAMA = Size(parameters=6_607_343_616, linear=6_476_005_376, rows=1_359_872)
CARD, CPU = torch.device("cuda", 0), torch.device("cpu")


def twin(folder: Path, seed: int = 5, **more: Any) -> Any:
    options = ModelOptions(random_weights=seed, **more.pop("options", {}))
    return load_model(folder, device="cpu", options=options, **more)


def test_twins_of_each_model_with_seeds_by_name_and_number() -> None:
    studied = studied_models({"muril": {**MURIL, "random_twins": 3}, "tiny": {"train": {"seed": 1}, "layer": 0}})
    twins = twins_of(studied, 47, 2)
    seeds = {
        name: [seed_of(47, "models", "random weights", name, number) // 2 for number in range(n)]
        for name, n in (("muril", 3), ("tiny", 2))
    }
    assert twins == {
        "muril-random": {**studied["muril"], "twin_of": "muril", "random_weights": seeds["muril"]},
        "tiny-random": {**studied["tiny"], "twin_of": "tiny", "random_weights": seeds["tiny"]},
    }
    assert json.loads(json.dumps(twins)) == twins
    assert twins_of({"tiny": studied["tiny"]}, 47, 2)["tiny-random"] == twins["tiny-random"]  # whatever else is studied
    assert twins_of(studied, 47, 1)["tiny-random"]["random_weights"] == seeds["tiny"][:1]  # a twin more is one more
    assert set(twins_of(studied, 48, 2)["tiny-random"]["random_weights"]).isdisjoint(seeds["tiny"])
    assert list(twins_of(studied, 47, 0)) == ["muril-random"]
    none = studied_models({"muril": {**MURIL, "random_twins": 0}, "muril-random": {"train": {}, "random_twins": 0}})
    assert twins_of(none, 47, 8) == {}


def test_layers_are_those_of_the_same_twins() -> None:
    twins = twins_of(studied_models({"muril": {**MURIL, "layer": [6, -1]}}), 47, 2)
    assert list(twins) == ["muril-layer6-random", "muril-layer-last-random"]
    assert [(each["family"], each["layer"], each["layers"]) for each in twins.values()] == [
        ("muril", 6, [6, -1]),
        ("muril", -1, [6, -1]),
    ]
    assert len({tuple(each["random_weights"]) for each in twins.values()}) == 1


@pytest.mark.parametrize("other_first", [True, False])
def test_a_model_with_the_name_of_twins_is_refused(other_first: bool) -> None:
    models = {"muril": MURIL, "muril-random": MURIL}
    studied = studied_models(dict(reversed(models.items())) if other_first else models)
    with pytest.raises(InputError) as caught:
        twins_of(studied, 47, 8)
    assert str(caught.value) == (
        "the twins of 'muril' with random weights (associations.random_twins) would be called 'muril-random', which is"
        " the name of another model. Rename `models.muril-random`, or `models.muril`; or write associations:"
        " {random_twins: 0}."
    )
    with pytest.raises(InputError, match=r"called 'a-random', .*Rename `models\.a-random`, or `models\.a`"):
        twins_of(studied_models({"a": MURIL, "a-random": {**MURIL, "layer": [1, 2]}}), 47, 8)


@pytest.mark.parametrize("kind", ["bert", "albert", "mbart", "t5", "gpt2"])
def test_weights_are_such_as_the_family_begins_with(tiny: Callable[[str], Path], kind: str) -> None:
    folder = tiny(kind)
    before = torch.get_rng_state()
    encoder = twin(folder, 5).encoder
    assert torch.equal(torch.get_rng_state(), before)  # the process draws as if there had been no twin

    config = transformers.AutoConfig.from_pretrained(folder)
    if config.is_encoder_decoder:
        config.decoder_layers = config.num_decoder_layers = 0
    torch.manual_seed(5)
    plain = transformers.AutoModel.from_config(config, dtype=torch.float32)
    plain = plain.get_encoder() if config.is_encoder_decoder else plain
    drawn, expected = encoder.state_dict(), plain.state_dict()
    assert drawn.keys() == expected.keys()
    random = 0
    for name, weights in expected.items():
        spread = float(weights.std()) if weights.numel() > 1 else 0.0
        if spread == 0:  # all ones, or zeros
            assert torch.equal(drawn[name], weights), name
        else:
            error = spread / weights.numel() ** 0.5
            assert float(drawn[name].std()) == pytest.approx(spread, abs=4 * error), name
            assert float(drawn[name].mean()) == pytest.approx(float(weights.mean()), abs=6 * error), name
            random += 1
    assert random >= 5
    for (name, one), (_, other) in zip(encoder.named_buffers(), plain.named_buffers(), strict=True):
        assert torch.equal(one, other), name  # those that are computed
    tables = encoder.get_input_embeddings().weight, plain.get_input_embeddings().weight
    zeros = [set(torch.nonzero((table == 0).all(dim=1)).flatten().tolist()) for table in tables]
    assert zeros[0] == zeros[1]  # that of padding
    assert not encoder.training
    assert not any(weights.requires_grad for weights in encoder.parameters())

    again, other = twin(folder, 5).encoder.state_dict(), twin(folder, 6).encoder.state_dict()
    assert all(torch.equal(drawn[name], again[name]) for name in drawn)
    assert sum(not torch.equal(drawn[name], other[name]) for name in drawn) >= 5


def by_hand(seed: int, name: str, n: int) -> np.ndarray:
    """The first `n` normal numbers of a module, one at a time."""
    bits = (1 << 32) - 1

    def hashed(number: int, key: int, other: int) -> int:
        number = (number ^ key) & bits
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            number = ((number ^ (number >> shift)) * factor + other) & bits
        return number ^ (number >> 16)

    key = seed_of(seed, name, 0, 0)
    one, other = (key + (1 << 31)) & bits, ((key >> 32) + (1 << 31)) & bits
    places = [hashed(hashed(i, 0x5BD1E995, 0), one, other) >> 9 for i in range(n)]
    return np.array([NormalDist().inv_cdf((place + 0.5) / 2**23) for place in places])


def test_numbers_are_a_hash_of_seed_name_and_counter(tiny: Callable[[str], Path]) -> None:
    encoder = twin(tiny("bert"), 5).encoder
    for name in ("embeddings.word_embeddings", "encoder.layer.1.output.dense"):
        weights = encoder.get_submodule(name).weight.flatten()[-200:].numpy()
        n = encoder.get_submodule(name).weight.numel()
        expected = by_hand(5, name, n)[-200:] * encoder.config.initializer_range
        np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-7)


def test_modules_do_not_depend_on_each_other(tiny_copy: Callable[[str], Path]) -> None:
    folder = tiny_copy("bert")
    whole = twin(folder, 5).encoder.state_dict()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
    shorter = twin(folder, 5).encoder.state_dict()
    assert 0 < len(shorter) < len(whole)
    assert all(torch.equal(weights, whole[name]) for name, weights in shorter.items())


PEAK = """
import resource, sys, torch
from prasanga.models import ModelOptions, load_model

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

load_model(sys.argv[1], device="cpu", options=ModelOptions(random_weights=1))  # what is loaded once
before = peak()
model = load_model(sys.argv[2], device="cpu", dtype="bfloat16", options=ModelOptions(random_weights=1))
print(sum(each.numel() for each in model.encoder.parameters()) / 2**20, peak() - before)
assert all(each.isfinite().all() for each in model.encoder.parameters())
"""


def test_no_copy_of_the_whole_model_is_made(tiny_copy: Callable[[str], Path], tmp_path: Path) -> None:
    small = tiny_copy("gpt2")
    large = shutil.copytree(small, tmp_path / "large")
    config = json.loads((small / "config.json").read_text())
    (large / "config.json").write_text(json.dumps({**config, "n_embd": 768, "n_layer": 12, "n_head": 8}))
    done = subprocess.run([sys.executable, "-c", PEAK, small, large], capture_output=True, text=True, check=True)
    millions, peak = map(float, done.stdout.split())
    assert millions > 75
    assert peak < 3 * millions  # 2 bytes a weight, and one matrix in float32; the whole in float32 would be 4 more


@pytest.mark.long
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no card to draw on")
def test_a_card_draws_the_same(tiny: Callable[[str], Path]) -> None:
    here = twin(tiny("bert")).encoder.state_dict()
    options = ModelOptions(random_weights=5)
    there = load_model(tiny("bert"), device="cuda", dtype="float32", options=options).encoder.state_dict()
    for name, weights in here.items():
        torch.testing.assert_close(there[name].cpu(), weights, rtol=1e-4, atol=1e-6)


def test_nothing_of_the_model_but_configuration_and_tokenizer(
    tiny_copy: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_copy("bert")
    own = load_file(folder / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    whole = twin(folder)
    assert whole.name == f"{folder} (random weights)"
    assert not torch.equal(whole.encoder.get_input_embeddings().weight, own)
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", None)
    without = twin(folder)
    assert torch.equal(without.encoder.get_input_embeddings().weight, whole.encoder.get_input_embeddings().weight)
    torch.save({}, folder / "pytorch_model.bin")  # a pickle, whose sha256 nobody has written down, stays closed
    assert twin(folder).tokenizer.is_fast
    with pytest.raises(InputError, match="only pickled ones"):
        load_model(folder, device="cpu")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_the_same_twin_rounded(tiny: Callable[[str], Path], dtype: str) -> None:
    full, half = (twin(tiny("gpt2"), dtype=each) for each in ("float32", dtype))
    assert (half.dtype, half.encoder.dtype) == (dtype, getattr(torch, dtype))
    exact = dict(full.encoder.named_parameters())
    for name, weights in half.encoder.named_parameters():
        assert torch.equal(weights, exact[name].to(getattr(torch, dtype)))


def test_what_stays_in_float32_in_a_real_model_does_so_in_a_twin(tmp_path: Path) -> None:
    from tiny_models import build

    folder = build("llama", tmp_path / "llama")
    real = load_model(folder, device="cpu", dtype="bfloat16").encoder
    drawn = twin(folder, dtype="bfloat16").encoder
    frequencies = dict(drawn.named_buffers())["rotary_emb.inv_freq"]
    assert frequencies.dtype == torch.float32
    assert torch.equal(frequencies, dict(real.named_buffers())["rotary_emb.inv_freq"])


def test_eight_bits(tiny: Callable[[str], Path]) -> None:
    full, small = twin(tiny("bert")).encoder, twin(tiny("bert"), options={"quantization": "int8"}).encoder
    name = "encoder.layer.0.output.dense"
    rounded = small.get_submodule(name)
    exact = full.get_submodule(name).weight
    assert rounded.weight.dtype == torch.int8
    assert ((rounded.weight * rounded.scale - exact).abs() <= rounded.scale / 2 + 1e-9).all()


def test_only_the_device_must_hold_the_weights_of_a_twin() -> None:
    def room(**gigabytes: float) -> Callable[[torch.device], int]:
        return lambda device: int(gigabytes[device.type] * 1e9)

    require_room("llama", LLAMA, [CARD], dtype="bfloat16", drawn=True, free=room(cuda=14, cpu=1))
    require_room("llama", LLAMA, [CARD], dtype="bfloat16", quantization="int8", drawn=True, free=room(cuda=14, cpu=1))
    with pytest.raises(InputError, match=r"13\.2 GB in bfloat16, but 1\.0 GB .* on this machine while it is read"):
        require_room("llama", LLAMA, [CARD], dtype="bfloat16", quantization="int8", free=room(cuda=14, cpu=1))
    with pytest.raises(
        InputError, match=r"need 13\.2 GB in bfloat16, but 8\.0 GB of memory are free on cuda:0"
    ) as said:
        require_room("llama", LLAMA, [CARD], dtype="bfloat16", drawn=True, free=room(cuda=8, cpu=64))
    assert str(said.value).endswith("Or write random_twins: 0 there, and leave out its twins.")


def test_over_several_cards_by_block(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for accelerate, which needs cards, and the processor in place of these."""
    asked: list[Any] = []

    def plan(of: Any, memory: dict[int, int], *, no_split_module_classes: list[str]) -> dict[str, str]:
        asked.append((all(each.is_meta for each in of.parameters()), memory, no_split_module_classes))
        return {"wte": "cpu", "wpe": "cpu", "h": "cpu", "ln_f": "cpu"}

    fake = SimpleNamespace(infer_auto_device_map=plan, dispatch_model=lambda encoder, _: encoder)
    monkeypatch.setitem(sys.modules, "accelerate", fake)
    source = open_source(str(tiny("gpt2")))
    config = open_config(source, ModelOptions())
    drawn = draw_weights(source, config, 5, "float32", ModelOptions(), memory={0: 90, 1: 80})
    assert asked == [(True, {0: 90, 1: 80}, ["GPT2Block"])]  # nothing is drawn before its place is known
    one = twin(tiny("gpt2"), 5).encoder.state_dict()
    assert all(torch.equal(weights, one[name]) for name, weights in drawn.state_dict().items())


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_that_torch_cannot_take_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match=rf"random_weights is {seed}; write a seed from 0 to 18446744073709551615"):
        ModelOptions(random_weights=seed)


def test_the_largest_seed(tiny: Callable[[str], Path]) -> None:
    assert twin(tiny("bert"), (1 << 64) - 1).dtype == "float32"
