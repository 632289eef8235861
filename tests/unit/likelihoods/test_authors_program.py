"""Log-probability bias by the authors' program: raw logits of categories, the prior of traits at the other mask."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import transformers
from notebook_scores import Notebook
from scoring_models import build

from prasanga.associations import TestSettings
from prasanga.lexicon import Lexicon
from prasanga.lexicon.model import Stimulus
from prasanga.likelihoods import load_scorer
from prasanga.likelihoods.categories import TermScores, measure_categories, read_category_sentences
from prasanga.likelihoods.scoring import score_sentences
from prasanga.pairs.preferences import SPANS
from prasanga.schema import describe_losses
from prasanga.stats.permutation import Units

GROUPS = [["বাবা", "ছেলে"], ["মা", "মেয়ে"]]
ATTRIBUTES = [["গোলাপ", "ফুল", "লাল"], ["কাঁঠাল", "হাতে", "মানুষ"]]
TEMPLATES = ["GGG একটি XXX ছিল।", "GGG আর XXX সৎ।"]
CATEGORY = {
    "C5": {
        "title": "",
        "targets": [{"name": f"t{n}", "stimuli": words} for n, words in enumerate(GROUPS)],
        "attributes": [{"name": f"a{n}", "stimuli": words} for n, words in enumerate(ATTRIBUTES)],
    }
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[float], Path]:
    """`folder(added)`: a tiny encoder with random weights, and its logits so much higher."""

    @cache
    def get(added: float) -> Path:
        path = build("bert", tmp_path_factory.mktemp("bert"))
        model = transformers.AutoModelForMaskedLM.from_pretrained(path)
        model.get_output_embeddings().bias.data += added
        model.save_pretrained(path)
        return path

    return get


@pytest.mark.parametrize(("added", "n_negative"), [(4.0, 0), (2.0, 3)])
def test_raw_logits_are_added_as_in_the_notebook(
    added: float, n_negative: int, folder: Callable[[float], Path], tmp_path: Path
) -> None:
    path = tmp_path / "notebook.yaml"
    texts = [text.replace("GGG", "{target}").replace("XXX", "{attribute}") for text in TEMPLATES]
    entries = [{"id": str(number), "text": text} for number, text in enumerate(texts, start=1)]
    path.write_text(json.dumps({"language": "bn", "categories": {"C5": entries}}), encoding="utf-8")
    words = [*itertools.chain(*GROUPS, *ATTRIBUTES)]
    sentences = read_category_sentences(
        {"templates": path, "exchanged": []}, CATEGORY, Lexicon("bn", tuple(map(Stimulus, words)), {}, ())
    )
    scored = score_sentences(load_scorer(folder(added)), sentences, pieces="first", raw_logits=True)
    settings = TestSettings(n_resamples=0, n_shuffles=0)
    how = {"pieces": "first", "aggregation": "raw_logits"}
    tables = measure_categories(scored, CATEGORY, model="m", settings=settings, **how)
    notebook = Notebook(folder(added))
    wanted = {
        (attribute, str(number)): notebook.corrected(template, attribute, GROUPS)
        for number, template in enumerate(TEMPLATES, start=1)
        for attribute in itertools.chain(*ATTRIBUTES)
    }
    found = {(row["attribute"], row["template"]): row for row in tables.sentences.to_pylist()}
    assert found.keys() == wanted.keys()
    negative = {key for key, score in wanted.items() if math.isnan(score)}
    assert len(negative) == n_negative
    assert {key for key, row in found.items() if row["left_out"] == "negative-sum"} == negative
    for key in wanted.keys() - negative:
        assert found[key]["score"] == pytest.approx(wanted[key], abs=1e-4)
    (row,) = tables.estimates.to_pylist()
    assert (row["aggregation"], row["pieces"]) == ("raw_logits", "first")
    if negative:  # words with fewer sentences weigh as much as others here, and not in the notebook
        assert "negative-sum" in describe_losses(row["lost"])
    else:
        assert row["effect_size"] == pytest.approx(notebook.effect(TEMPLATES, ATTRIBUTES, GROUPS), abs=1e-3)


def test_a_deal_of_terms_whose_logits_add_up_to_less_than_0_counts_against_an_effect() -> None:
    fill, prior = np.array([[6.0, -1.0, 3.0, -2.0], [2.0] * 4]), np.full((2, 4), 2.0)
    scores = TermScores(fill, prior, np.arange(2), 2, 1, 1, "raw_logits")
    test = scores.test_terms(Units.from_sizes(2, 2), TestSettings(), np.random.default_rng(1))
    # of 6 deals two have log 5, the observed one and its mirror image, two log 2, and two have a sum of -3
    assert (test.statistic, test.p_value) == (pytest.approx(math.log(5)), pytest.approx(4 / 6))


def test_the_authors_prior_of_a_trait_is_read_at_the_mask_of_the_trait(folder: Callable[[float], Path]) -> None:
    rows, wanted, notebook = [], [], Notebook(folder(4.0))
    for template, word in itertools.product(["GGG সব সময় XXX।", "XXX মানুষ আর GGG।"], ["বাবা", "মেয়ে"]):
        text = template.replace("GGG", word).replace("XXX", "সৎ")
        spans = ([start := text.index(each), start + len(each)] for each in (word, "সৎ"))
        rows.append((text, *spans))
        wanted.append(notebook.prior_at_the_other_mask(template, word))
    scorer, sentences = load_scorer(folder(4.0)), pl.DataFrame(rows, schema=SPANS, orient="row")
    found = score_sentences(scorer, sentences, pieces="first", prior_mask="authors")
    own = score_sentences(scorer, sentences, pieces="first")
    assert found["prior"].to_list() == pytest.approx(wanted, abs=1e-5)
    assert found["fill"].equals(own["fill"])
    assert np.abs((found["prior"] - own["prior"]).to_numpy()).min() > 1e-4
