"""A twin has a model's architecture and tokenizer, and weights that a seed gives; none of its own is read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from prasanga.base.errors import InputError
from prasanga.base.seeds import seed_of
from prasanga.models import ModelOptions, load_model
from prasanga.models.devices import require_room
from prasanga.models.loading import spread
from prasanga.models.shape import Size
from prasanga.plan.models import studied_models, twins_of

MURIL = {"path": "google/muril-base-cased", "revision": "abc", "layer": -1, "dtype": "auto"}
LLAMA = Size(parameters=6_607_343_616, linear=6_476_005_376, rows=1_359_872)
CARD, CPU = torch.device("cuda", 0), torch.device("cpu")


def twin(folder: Path, seed: int = 5, **more: Any) -> Any:
    options = ModelOptions(random_weights=seed, **more.pop("options", {}))
    return load_model(folder, device="cpu", options=options, **more)


def test_a_twin_of_each_model_with_a_seed_by_name() -> None:
    studied = studied_models({"muril": MURIL, "tiny": {"train": {"seed": 1}, "layer": 0}})
    twins = twins_of(studied, 47)
    assert twins == {
        "muril-random": {
            **studied["muril"],
            "twin_of": "muril",
            "random_weights": seed_of(47, "models", "random weights", "muril") // 2,
        },
        "tiny-random": {
            **studied["tiny"],
            "twin_of": "tiny",
            "random_weights": seed_of(47, "models", "random weights", "tiny") // 2,
        },
    }
    assert twins["muril-random"]["random_weights"] == 8417700741888494335  # for ever: vectors are kept by it
    assert json.loads(json.dumps(twins)) == twins
    assert twins_of({"tiny": studied["tiny"]}, 47)["tiny-random"] == twins["tiny-random"]  # whatever else is studied
    assert twins_of(studied, 48)["tiny-random"]["random_weights"] != twins["tiny-random"]["random_weights"]


def test_layers_are_those_of_one_twin() -> None:
    twins = twins_of(studied_models({"muril": {**MURIL, "layer": [6, -1]}}), 47)
    assert list(twins) == ["muril-layer6-random", "muril-layer-last-random"]
    assert [(each["family"], each["layer"], each["layers"]) for each in twins.values()] == [
        ("muril", 6, [6, -1]),
        ("muril", -1, [6, -1]),
    ]
    assert len({each["random_weights"] for each in twins.values()}) == 1


@pytest.mark.parametrize("other_first", [True, False])
def test_a_twin_with_the_name_of_a_model_is_refused(other_first: bool) -> None:
    models = {"muril": MURIL, "muril-random": MURIL}
    studied = studied_models(dict(reversed(models.items())) if other_first else models)
    with pytest.raises(InputError) as caught:
        twins_of(studied, 47)
    assert str(caught.value) == (
        "the twin of 'muril' with random weights (associations.random_twin) would be called 'muril-random', which is"
        " the name of another model. Rename `models.muril-random`, or `models.muril`; or write associations:"
        " {random_twin: false}."
    )
    with pytest.raises(InputError, match=r"called 'a-random', .*Rename `models\.a-random`, or `models\.a`"):
        twins_of(studied_models({"a": MURIL, "a-random": {**MURIL, "layer": [1, 2]}}), 47)


@pytest.mark.parametrize("kind", ["bert", "albert", "mbart", "t5", "gpt2"])
def test_weights_are_those_that_the_family_begins_with(tiny: Callable[[str], Path], kind: str) -> None:
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
    assert all(torch.equal(drawn[name], expected[name]) for name in expected)
    assert not encoder.training
    assert not any(weights.requires_grad for weights in encoder.parameters())

    torch.set_rng_state(before)
    torch.rand(3)
    again, other = twin(folder, 5).encoder.state_dict(), twin(folder, 6).encoder.state_dict()
    assert all(torch.equal(drawn[name], again[name]) for name in drawn)
    assert sum(not torch.equal(drawn[name], other[name]) for name in drawn) >= 5


def test_the_same_weights_in_every_process(tiny: Callable[[str], Path]) -> None:
    table = twin(tiny("bert"), 5).encoder.get_input_embeddings().weight
    assert table[1, :3].tolist() == pytest.approx([-0.01735547, -0.03922350, -0.01029341], abs=1e-6)


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


def test_the_machine_must_hold_the_weights_in_float32() -> None:
    def room(**gigabytes: float) -> Callable[[torch.device], int]:
        return lambda device: int(gigabytes[device.type] * 1e9)

    require_room("llama", LLAMA, [CARD], dtype="bfloat16", drawn_in="float32", free=room(cuda=14, cpu=27))
    with pytest.raises(InputError) as caught:
        require_room("llama", LLAMA, [CARD], dtype="bfloat16", drawn_in="float32", free=room(cuda=14, cpu=20))
    assert str(caught.value) == (
        "model llama: its weights need 26.4 GB in float32 while they are drawn, whatever it then runs in, but 20.0 GB"
        " of memory are free on this machine. Use a machine with more memory, or leave out the twins: write"
        " associations: {random_twin: false}."
    )
    with pytest.raises(InputError, match=r"need 13\.2 GB in bfloat16, but 8\.0 GB of memory are free on cuda:0"):
        require_room("llama", LLAMA, [CARD], dtype="bfloat16", drawn_in="float32", free=room(cuda=8, cpu=64))


def test_over_several_cards_by_block(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for accelerate, which needs cards."""
    asked: list[Any] = []

    def plan(of: Any, memory: dict[int, int], *, no_split_module_classes: list[str]) -> dict[str, int]:
        asked.append((of, memory, no_split_module_classes))
        return {"": 0}

    fake = SimpleNamespace(infer_auto_device_map=plan, dispatch_model=lambda encoder, places: (encoder, places))
    monkeypatch.setitem(sys.modules, "accelerate", fake)
    encoder = twin(tiny("gpt2")).encoder
    assert spread(encoder, {0: 90, 1: 80}) == (encoder, {"": 0})
    assert asked == [(encoder, {0: 90, 1: 80}, ["GPT2Block"])]


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_that_torch_cannot_take_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match=rf"random_weights is {seed}; write a seed from 0 to 18446744073709551615"):
        ModelOptions(random_weights=seed)


def test_the_largest_seed(tiny: Callable[[str], Path]) -> None:
    assert twin(tiny("bert"), (1 << 64) - 1).dtype == "float32"
