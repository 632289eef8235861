"""A twin has a model's architecture and tokenizer, and weights that a seed gives; none of its own is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from prasanga.base.errors import InputError
from prasanga.base.seeds import seed_of
from prasanga.models import ModelOptions, load_model
from prasanga.plan.models import studied_models, twins_of

MURIL = {"path": "google/muril-base-cased", "revision": "abc", "layer": -1, "dtype": "auto"}


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
    assert all(torch.equal(drawn[name], weights) for name, weights in expected.items())
    assert not encoder.training
    assert not any(weights.requires_grad for weights in encoder.parameters())

    again, other = twin(folder, 5).encoder.state_dict(), twin(folder, 6).encoder.state_dict()
    assert all(torch.equal(drawn[name], again[name]) for name in drawn)
    assert sum(not torch.equal(drawn[name], other[name]) for name in drawn) >= 5


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


def test_what_stays_in_float32_in_a_real_model_does_so_in_a_twin(tmp_path: Path) -> None:
    from tiny_models import build

    folder = build("llama", tmp_path / "llama")
    real = load_model(folder, device="cpu", dtype="bfloat16").encoder
    drawn = twin(folder, dtype="bfloat16").encoder
    frequencies = dict(drawn.named_buffers())["rotary_emb.inv_freq"]
    assert frequencies.dtype == torch.float32
    assert torch.equal(frequencies, dict(real.named_buffers())["rotary_emb.inv_freq"])


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_that_torch_cannot_take_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match=rf"random_weights is {seed}; write a seed from 0 to 18446744073709551615"):
        ModelOptions(random_weights=seed)


def test_the_largest_seed(tiny: Callable[[str], Path]) -> None:
    assert twin(tiny("bert"), (1 << 64) - 1).dtype == "float32"
