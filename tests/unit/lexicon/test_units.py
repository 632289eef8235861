"""What counts as one unit of a category: pairs of matched sets, and words of one cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.lexicon import categories_of, lexicon_of
from prasanga.lexicon.model import chosen_categories


def write(files: Any, *sets: str, category: str) -> Any:
    """Write word sets x, y, z (`a:k b:k c` is three words, two of the cluster k) and one category of them."""
    for name, words in zip("xyz", sets, strict=False):
        lines = [f"set: {name}", "words:"]
        for word, _, cluster in (each.partition(":") for each in words.split()):
            lines.append(f"  - {{stimulus: {word}, group: fixed{f', cluster: {cluster}' if cluster else ''}}}")
        files.path(name).write_text("\n".join(lines), encoding="utf-8")
    return files.append("categories", f"  U: {{{category}}}\n")


def categories(*given: Any, **more: Any) -> dict[str, Any]:
    return categories_of(write(*given, **more).load())


def test_matched_sets_and_clusters_are_written(files: Any) -> None:
    found = categories(
        files, "a:k b:k c", "d:k e:k f", category="targets: [x, y], attributes: [good, bad], matched: targets"
    )
    assert found["U"]["matched"] == "targets"
    assert [side["clusters"] for side in found["U"]["targets"]] == [{"a": "k", "b": "k"}, {"d": "k", "e": "k"}]
    assert "matched" not in found["C1"]
    assert all("clusters" not in side for side in (*found["C1"]["targets"], *found["U"]["attributes"]))
    assert chosen_categories(found, ["U"])["U"] == read_data(__file__, "chosen_unit")


def test_a_joined_set_keeps_its_clusters(files: Any) -> None:
    joined = "{set: both, sets: [x, y]}"
    found = categories(
        files, "a:k b:k", "c:k d:l e:l", category=f"targets: [{joined}, flowers], attributes: [good, bad]"
    )
    assert found["U"]["targets"][0]["clusters"] == {"a": "k", "b": "k", "c": "k", "d": "l", "e": "l"}


def test_a_word_belongs_to_a_cluster_in_one_set_only(files: Any) -> None:
    """What counts as one unit depends on the other words of the set; a word in two sets is one stimulus."""
    files.change("good", "words:", "words:\n  - {stimulus: গোলাপ, cluster: k}\n  - {stimulus: রং, cluster: k}")
    files.append("categories", "  U: {targets: [good, insects], attributes: [flowers, bad]}\n")
    found = categories_of(files.load())
    assert found["U"]["targets"][0]["clusters"] == {"গোলাপ": "k", "রং": "k"}
    assert "clusters" not in found["U"]["attributes"][0]


MATCHED = "targets: [x, y], attributes: [good, bad], matched: targets"
FREE = "targets: [x, y], attributes: [good, bad]"
JOINED = "targets: [{set: xz, sets: [x, z]}, y], attributes: [good, bad], matched: both"


@pytest.mark.parametrize(
    ("sets", "category", "said"),
    [
        (["a b", "c d"], f"{FREE}, matched: target", "`matched` of the category `U` is 'target'. Write targets or"),
        (["a b", "c d"], f"{FREE}, matched: [targets]", r"of the category `U` is \['targets'\]. Write targets or"),
        (["a b c", "d e"], MATCHED, "`targets` of the category `U` is matched, but x has 3 words and y 2"),
        (["a:k b:k", "c d"], MATCHED, "in the pair a, c the words have `cluster: k` and no `cluster`"),
        (["a b c", "d e:k f:k"], MATCHED, "in the pair b, e the words have no `cluster` and `cluster: k`"),
        (["a:k b:k c", "d:k e c"], FREE, r"Write two word sets without a common word"),
        (["a:k b:k", "c:k d:k"], FREE, "both x and y have words of the cluster `k`.* or write `matched: targets`"),
        (["a:3 b", "c d"], FREE, r"x.yaml, line 3: `cluster` has 3, but needs text"),
        (["a b", "c d e", "a f"], JOINED, r"the joined set `xz` is matched and has a twice, so later words would lose"),
    ],
)  # fmt: skip
def test_mistakes(files: Any, sets: Sequence[str], category: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        write(files, *sets, category=category).load()
    assert re.search(r"\.yaml, line \d+: ", str(refused.value))


def test_attributes_are_checked_likewise(files: Any) -> None:
    with pytest.raises(InputError, match=r"`attributes` of the category `U` is matched, but x has 2 words and y 1"):
        write(files, "a b", "c", category="targets: [flowers, insects], attributes: [x, y], matched: both").load()


def test_a_category_of_a_study_may_be_matched_and_have_clusters(
    project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_root)
    words = {
        "stimuli": "resources/stimuli/bn",
        "suffix_groups": "resources/suffix_groups/bn.yaml",
        "normalization": None,
    }
    one = [{"stimulus": "গোলাপ", "cluster": "k"}, {"stimulus": "শাপলা", "cluster": "k"}]
    own = {"targets": {"one": one, "other": ["মশা", "মাছি"]}, "attributes": ["pleasant", "unpleasant"]}
    found = categories_of(lexicon_of({**words, "own": {"M1": own}}))["M1"]
    assert found["targets"][0]["clusters"] == {"গোলাপ": "k", "শাপলা": "k"}
    with pytest.raises(InputError, match=r"`categories.M1` in the config: `targets` .* in the pair গোলাপ, মশা"):
        lexicon_of({**words, "own": {"M1": {**own, "matched": "targets"}}})
