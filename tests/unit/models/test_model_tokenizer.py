"""The trained tokenizer leaves Indic text as it is and is the same in every run."""

from __future__ import annotations

import subprocess
import sys

from prasanga_calibration.training import train_byte_tokenizer, train_tokenizer

WORDS = ["ফুল", "ফল", "চাঁদ", "দুঃখ", "কিংবা", "ক্ষমা", "বাঁশি", "সৎ", "ড়", "র\u200d্যাব", "हिंदी", "फूल", "फल"]
TEXTS = [" ".join(WORDS[i:] + WORDS[:i]) + "।" for i in range(len(WORDS))] * 3


def test_a_letter_and_its_marks_stay_in_one_word() -> None:
    splitter = train_tokenizer(TEXTS, 400).pre_tokenizer
    for word in WORDS:
        assert splitter.pre_tokenize_str(word) == [(word, (0, len(word)))]
    assert [part for part, _ in splitter.pre_tokenize_str("মা-কে, ফুলের।")] == ["মা", "-", "কে", ",", "ফুলের", "।"]


def test_no_mark_is_lost_and_offsets_are_those_of_the_text() -> None:
    tokenizer = train_tokenizer(TEXTS, 150)
    assert tokenizer.normalizer is None
    for text in TEXTS[: len(WORDS)]:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        assert "[UNK]" not in encoding.tokens
        covered = "".join(text[start:end] for start, end in encoding.offsets)
        assert covered == text.replace(" ", "")
        assert covered == "".join(piece.removeprefix("##") for piece in encoding.tokens)
    assert tokenizer.encode("ফুল").ids != tokenizer.encode("ফল").ids


def test_the_same_texts_give_the_same_ids_in_every_process() -> None:
    """Of both kinds. The order of hash maps differs between processes, so a second training here would prove little."""
    program = (
        "import sys; sys.path.append('calibration');"
        "from prasanga_calibration.training import train_byte_tokenizer, train_tokenizer;"
        "sys.stdout.write(train_tokenizer(sys.argv[1:], 150).to_str());"
        "sys.stdout.write(train_byte_tokenizer(sys.argv[1:], 400).to_str())"
    )
    other = subprocess.run([sys.executable, "-c", program, *TEXTS], capture_output=True, check=True).stdout
    assert other.decode() == train_tokenizer(TEXTS, 150).to_str() + train_byte_tokenizer(TEXTS, 400).to_str()
