"""Text written by tiny models with random weights: the same for the same seed, whatever is beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import SENTENCES, build

from prasanga.base.errors import InputError
from prasanga_construction.generation import SeededDraw, Writer, load_writer

PROMPTS = [SENTENCES[0], "Rahim reads", SENTENCES[4]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def writer(folder: Path) -> Writer:
    return load_writer(folder, device="cpu")


def plain_greedy(writer: Writer, text: str, steps: int) -> str:
    """One piece at a time, without a cache or a batch: the obvious way."""
    ids = writer.tokenizer(text)["input_ids"]
    begin = len(ids)
    for _ in range(steps):
        piece = int(writer.model(torch.tensor([ids])).logits[0, -1].argmax())
        if piece == writer.tokenizer.eos_token_id:
            break
        ids.append(piece)
    return str(writer.tokenizer.decode(ids[begin:], skip_special_tokens=True)).strip()


@pytest.mark.parametrize("kind", ["gpt2", "bloom", "llama", "mistral"])
def test_the_likeliest_pieces_are_those_of_one_prompt_at_a_time(kind: str, tmp_path: Path) -> None:
    model = load_writer(build(kind, tmp_path), device="cpu")
    written = model.generate(PROMPTS, max_new_tokens=6, seed=1, beams=1)
    assert written == [plain_greedy(model, prompt, 6) for prompt in PROMPTS]
    assert model.kind == "decoder"


def test_draws_depend_on_seed_and_text_alone(writer: Writer) -> None:
    together = writer.generate(PROMPTS, max_new_tokens=8, seed=5)
    assert writer.generate(PROMPTS, max_new_tokens=8, seed=5) == together
    assert writer.generate(PROMPTS[1:2], max_new_tokens=8, seed=5) == together[1:2]
    assert writer.generate(PROMPTS[::-1], max_new_tokens=8, seed=5) == together[::-1]
    assert len(set(together)) == 3
    assert writer.generate(PROMPTS, max_new_tokens=8, seed=6) != together


def test_draws_follow_the_probabilities(writer: Writer) -> None:
    """First pieces of many draws against the model's own probabilities."""
    ids = torch.tensor([writer.tokenizer(PROMPTS[1])["input_ids"]])
    logits = writer.model(ids).logits[0, -1].detach()
    draw = SeededDraw([np.random.default_rng(number) for number in range(600)], nucleus=1.0)
    drawn = draw(ids.repeat(600, 1), logits.repeat(600, 1)).argmax(-1).tolist()
    expected = logits.softmax(-1).double().tolist()
    likely = [piece for piece, probability in enumerate(expected) if probability > 0.03]
    assert likely
    for piece in likely:
        deviation = (expected[piece] * (1 - expected[piece]) / 600) ** 0.5
        assert drawn.count(piece) / 600 == pytest.approx(expected[piece], abs=4.5 * deviation)


@pytest.mark.parametrize("kind", ["mbart", "mt5"])
def test_an_encoder_decoder_draws_and_searches(kind: str, tmp_path: Path) -> None:
    model = load_writer(build(kind, tmp_path), device="cpu", kind="encoder-decoder")
    drawn = model.generate(PROMPTS, max_new_tokens=5, seed=2)
    assert model.generate(PROMPTS[2:], max_new_tokens=5, seed=2) == drawn[2:]
    best = model.generate(PROMPTS, max_new_tokens=5, seed=2, beams=3)
    assert len(best) == len(drawn) == 3
    assert model.generate(PROMPTS, max_new_tokens=5, seed=9, beams=3) == best


def test_the_piece_of_a_language_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_writer(build("mbart", tmp_path), device="cpu")
    written, whole = [], model.model.generate
    monkeypatch.setattr(model.model, "generate", lambda **given: written.append(whole(**given)) or written[-1])
    model.generate(PROMPTS, max_new_tokens=4, seed=1, writes="bn_IN")
    assert {int(row[1]) for row in written[0]} == {model.tokenizer.convert_tokens_to_ids("bn_IN")}


def test_a_prompt_is_a_question_to_a_model_for_conversations(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "chat"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    settings = json.loads((copy / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["chat_template"] = "{% for m in messages %}Q: {{ m['content'] }}\nA:{% endfor %}"
    (copy / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    chat, plain = load_writer(copy, device="cpu"), load_writer(folder, device="cpu")
    assert chat.is_chat
    assert not plain.is_chat
    asked = chat.generate(["Rahim reads"], max_new_tokens=5, seed=1, beams=1)
    assert asked == plain.generate(["Q: Rahim reads\nA:"], max_new_tokens=5, seed=1, beams=1)


def test_an_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"of kind encoder.*a decoder or an encoder-decoder is needed"):
        load_writer(build("bert", tmp_path), device="cpu")


def test_a_text_that_does_not_fit_is_refused(writer: Writer) -> None:
    with pytest.raises(InputError, match=r"reads 128 pieces at most.*answer may have 120 more"):
        writer.generate([SENTENCES[0]], max_new_tokens=120, seed=1)
