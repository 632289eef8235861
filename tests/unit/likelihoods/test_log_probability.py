"""Fill and prior of words in sentences: the plain computation's numbers, what is left out, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scoring_models import build

from prasanga.base.errors import InputError
from prasanga.likelihoods import load_scorer, score_log_probability
from prasanga.likelihoods.engine import Scorer
from prasanga.models.pieces import Span

FAMILIES = ("bert", "xlm-roberta", "albert", "electra-generator")
SENTENCES = [
    ("মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।", "মায়ের", "গোলাপ"),
    ("মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল।", "বাবার", "কাঁঠাল"),
    ("দুঃখের দিনেও তিনি ক্ষমাশীল আর সৎ মানুষ ছিলেন।", "মানুষ", "ক্ষমাশীল"),
    ("বিজ্ঞানীরা মহাকাশযানের যন্ত্রপাতি পরীক্ষা করছেন।", "বিজ্ঞানীরা", "মহাকাশযানের"),
]


Item = tuple[str, Span, Span]


def item(text: str, target: str, attribute: str) -> Item:
    first, second = ((text.index(word), text.index(word) + len(word)) for word in (target, attribute))
    return text, first, second


ITEMS = [item(*sentence) for sentence in SENTENCES]
TEXT = "লাল গোলাপ"


def plain(folder: Path, sentence: Item, pieces: str) -> tuple[float, float]:
    """Fill and prior the plain way: one masked sentence at a time, the whole model, nothing batched."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    text, *spans = sentence
    encoded = tokenizer(text, return_offsets_mapping=True)
    ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
    target, attribute = (
        [i for i, (begin, end) in enumerate(offsets) if begin < span[1] and end > span[0] and end > begin]
        for span in spans
    )

    def log_p(hidden: set[int], dropped: set[int], place: int) -> float:
        row = [tokenizer.mask_token_id if i in hidden else piece for i, piece in enumerate(ids) if i not in dropped]
        position = place - sum(i < place for i in dropped)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([row])).logits[0, position].double()
        return float(torch.log_softmax(logits, dim=-1)[ids[place]])

    found = []
    for others in ([], attribute):
        if pieces == "first":
            words = [word for word in (target, others) if word]
            found.append(log_p({word[0] for word in words}, {i for word in words for i in word[1:]}, target[0]))
        elif pieces == "all":
            found.append(sum(log_p({*target, *others}, set(), place) for place in target))
        else:
            found.append(sum(log_p({*target[n:], *others}, set(), place) for n, place in enumerate(target)))
    return found[0], found[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`folder(family)`: a tiny model."""

    @cache
    def get(family: str, positions: int = 128) -> Path:
        return build(family, tmp_path_factory.mktemp(family), positions=positions)

    return get


@pytest.fixture(scope="module")
def scorer(folder: Callable[..., Path]) -> Callable[..., Scorer]:
    """`scorer(family)`: the same, loaded."""
    return cache(lambda family, positions=128: load_scorer(folder(family, positions)))


@pytest.mark.parametrize("pieces", ["all", "left-to-right", "first"])
@pytest.mark.parametrize("family", FAMILIES)
def test_fill_and_prior_are_those_of_the_plain_way(
    family: str, pieces: str, folder: Callable[..., Path], scorer: Callable[..., Scorer]
) -> None:
    table = score_log_probability(scorer(family), ITEMS, pieces=pieces)
    for row, sentence in zip(table.iter_rows(named=True), ITEMS, strict=True):
        fill, prior = plain(folder(family), sentence, pieces)
        assert row["fill"] == pytest.approx(fill, abs=1e-5)
        assert row["prior"] == pytest.approx(prior, abs=1e-5)
        assert row["corrected"] == pytest.approx(fill - prior, abs=2e-5)
        assert row["left_out"] is None
    assert table["n_pieces"].max() > 1
    assert table["n_attribute_pieces"].max() > 1
    assert table["target"].to_list() == [target for _, target, _ in SENTENCES]
    assert table["pieces"].unique().to_list() == [pieces]


def test_a_path_will_do_and_equal_passes_run_once(folder: Callable[..., Path]) -> None:
    by_path = score_log_probability(folder("bert"), ITEMS)
    fresh = load_scorer(folder("bert"))
    twice = score_log_probability(fresh, [*ITEMS, *ITEMS])
    assert by_path["fill"].to_list() == pytest.approx(twice["fill"].to_list()[:4], abs=1e-5)
    assert twice["prior"].to_list()[:4] == twice["prior"].to_list()[4:]
    assert fresh.passes == 2 * len(ITEMS)  # a fill and a prior each


def test_what_a_tokenizer_does_not_know_is_left_out_and_named(scorer: Callable[..., Scorer]) -> None:
    text = "মায়ের হাতে ঙঞণ একটি লাল গোলাপ।"
    items = [item(text, "ঙঞণ", "গোলাপ"), item(text, "গোলাপ", "ঙঞণ"), item(text, "গোলাপ", "লাল")]
    table = score_log_probability(scorer("bert"), items)
    assert table["left_out"].to_list() == ["unknown-piece", "unknown-piece", None]
    assert table["left_out_word"].to_list() == ["ঙঞণ", "ঙঞণ", None]
    assert table["fill"].is_null().to_list() == [True, True, False]


def test_a_word_that_the_tokenizer_drops_is_left_out(scorer: Callable[..., Scorer]) -> None:
    text = "মায়ের ঁ গোলাপ।"  # a mark by itself, which this tokenizer strips
    table = score_log_probability(scorer("albert"), [item(text, "ঁ", "গোলাপ"), item(text, "গোলাপ", "ঁ")])
    assert table["left_out"].to_list() == ["dropped-word", "dropped-word"]
    assert table["left_out_word"].to_list() == ["ঁ", "ঁ"]
    assert table["n_pieces"][0] == 0


def test_a_sentence_longer_than_the_model_is_left_out(scorer: Callable[..., Scorer]) -> None:
    long = item("মায়ের গোলাপ " + "লাল " * 40, "মায়ের", "গোলাপ")
    table = score_log_probability(scorer("bert", 24), [long, item("মায়ের গোলাপ", "মায়ের", "গোলাপ")])
    assert table["left_out"].to_list() == ["too-long", None]
    assert table["n_pieces"][0] == table["n_pieces"][1]


@pytest.mark.parametrize("family", ["gpt2", "mt5"])
def test_a_model_that_is_no_encoder_is_told_what_to_write(family: str, scorer: Callable[..., Scorer]) -> None:
    with pytest.raises(
        InputError, match=r"needs an encoder, and its kind is (decoder|encoder-decoder)\. Write `models"
    ):
        score_log_probability(scorer(family), ITEMS)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((TEXT, (0, 0), (4, 9)), "item 1: .* is not a sentence with two words"),
        ((TEXT, (0, 3), (4, 10)), "two whole inflected words that do not"),
        ((TEXT, (0, 5), (4, 9)), "overlap"),
        ((TEXT, (0.0, 4.0), (4, 9)), "is not a sentence"),
        ((None, (0, 4), (4, 9)), "is not a sentence"),
        (7, "is not a sentence"),
    ],
)
def test_what_is_no_sentence_with_two_words_is_refused(wrong: Any, said: str, scorer: Callable[..., Scorer]) -> None:
    with pytest.raises(InputError, match=said):
        score_log_probability(scorer("bert"), [(TEXT, (0, 3), (4, 9)), wrong])


def test_words_may_touch_and_spans_may_be_lists_or_arrays(scorer: Callable[..., Scorer]) -> None:
    first, second = (0, 4), (4, 9)
    items: list[Any] = [(TEXT, first, second), [TEXT, list(second), np.array(first)]]
    found = score_log_probability(scorer("bert"), items)
    assert found["left_out"].to_list() == [None, None]
    assert found.equals(score_log_probability(scorer("bert"), [(TEXT, first, second), (TEXT, second, first)]))


def test_an_unknown_way_to_score_pieces_is_refused(scorer: Callable[..., Scorer]) -> None:
    with pytest.raises(InputError, match=r"log_probability\.pieces: 'last' is not known\. Write 'all'"):
        score_log_probability(scorer("bert"), ITEMS, pieces="last")
