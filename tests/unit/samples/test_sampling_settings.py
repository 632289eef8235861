"""What a length's segments depend on, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from prasanga.errors import InputError
from prasanga.parquet import write_table
from prasanga.samples import draw, parse_length, sampling_settings
from prasanga.sentences import SENTENCE_SCHEMA, common_settings


@pytest.mark.parametrize(
    ("pool", "words"), [("shared", {"9": 75, "75": 75, ">75": 76}), ("per_length", {"9": 9, "75": 75, ">75": 76})]
)
def test_settings_of_each_length(pool: str, words: dict[str, int]) -> None:
    lengths = [parse_length(label) for label in ("9", "75", ">75")]
    drawn = draw([], lengths=lengths, pool=pool, contexts_per_stimulus=30, seed=4)  # type: ignore[arg-type]
    assert {length.label: sampling_settings(drawn, length, 4) for length in lengths} == {
        label: {
            "segment_length": label,
            "pool": pool,
            "context_words": number,
            "contexts_per_stimulus": 30,
            "seed": 4,
        }
        for label, number in words.items()
    }


def test_a_length_more_leaves_the_others_settings() -> None:
    nine = parse_length(9)
    few, more = (
        draw([], lengths=[nine, *map(parse_length, others)], pool="shared", contexts_per_stimulus=30, seed=4)
        for others in ([75], [25, 75, ">75"])
    )
    assert sampling_settings(few, nine, 4) == sampling_settings(more, nine, 4)


def test_sentences_found_in_different_ways_are_not_mixed(tmp_path: Path) -> None:
    empty = pa.table({name: [] for name in SENTENCE_SCHEMA.names}, schema=SENTENCE_SCHEMA)
    for name, normalization in (("a", "bangla"), ("b", "bangla"), ("c", "nfc")):
        settings = f'{{"language": "bn", "normalization": "{normalization}", "source": "{name}"}}'
        write_table(tmp_path / name, empty, {"settings": settings})
    assert common_settings([tmp_path / "a", tmp_path / "b"]) == {"language": "bn", "normalization": "bangla"}
    with pytest.raises(InputError, match=r"c: found with normalization 'nfc', but .*a with 'bangla'"):
        common_settings([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
