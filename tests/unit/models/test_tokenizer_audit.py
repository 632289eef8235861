"""What tokenizers of every kind make of words in Bangla, Hindi and English, against values counted by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tables import read_data
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from prasanga.base.errors import InputError
from prasanga.models.checking import TABLE_SCHEMA, TokenizerAudit, audit_tokenizer

# Stimulus: its forms. Flower and fruit differ in one vowel sign, and so do moon (without its candrabindu) and levy.
WORDS = {
    "ফুল": ["ফুল", "ফুলের", "ফুল-কে"],
    "ফল": ["ফল", "ফলের"],
    "চাঁদ": ["চাঁদ"],
    "চাদ": ["চাদ"],
    "নদী": ["নদী", "নদীর"],
}
LIMITS = {"unknown": 0.1, "marks_lost": 0.01, "identical": 0.05}
STRIPPING = normalizers.BertNormalizer(lowercase=True, strip_accents=True)


def table_of(words: Mapping[str, Sequence[str]], uncounted: Sequence[str] = ()) -> pl.DataFrame:
    """The forms as the lexicon's stage writes them, as far as the audit reads them."""
    rows = [(form, stimulus, form not in uncounted) for stimulus, forms in words.items() for form in forms]
    return pl.DataFrame(rows, schema={"form": pl.String, "stimulus": pl.String, "counted": pl.Boolean}, orient="row")


FORMS = table_of(WORDS)


def wordpiece(pieces: Sequence[str], normalizer: Any = None) -> Any:
    """A tokenizer of whole words, or of pieces that are given with their ##."""
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "-", *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


def unigram(normalizer: Any, texts: Sequence[str]) -> Any:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=90, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([*texts, "a"] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def byte_level(texts: Sequence[str], size: int = 300) -> Any:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)  # spans include the space before a word
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<|endoftext|>", eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    )


ALL_PIECES = ["ফুল", "ফল", "চাঁদ", "চাদ", "নদী", "##ের", "##র", "কে"]


def column(audit: TokenizerAudit, name: str) -> dict[str, Any]:
    """One column of the table, by stimulus."""
    return dict(zip(audit.table["stimulus"].to_list(), audit.table[name].to_list(), strict=True))


def test_a_tokenizer_that_keeps_everything() -> None:
    audit = audit_tokenizer(wordpiece(ALL_PIECES), FORMS)
    expected = pl.DataFrame(
        {
            "stimulus": list(WORDS),
            "pieces": [["ফুল"], ["ফল"], ["চাঁদ"], ["চাদ"], ["নদী"]],
            "forms": [3, 2, 1, 1, 2],
            "occurrences": [0] * 5,
            "pieces_per_form": [2.0, 1.5, 1.0, 1.0, 1.5],  # ফুল, ফুল ##ের, ফুল - কে
            "most_pieces": [3, 2, 1, 1, 2],
            "one_piece": [1, 1, 1, 1, 1],
            "unknown_forms": [0] * 5,
            "marks_lost_forms": [0] * 5,
            **dict.fromkeys(["unknown_occurrences", "marks_lost_occurrences", "identical_occurrences"], [0] * 5),
            "identical_to": [[]] * 5,
            **dict.fromkeys(["unknown_example", "marks_lost_example", "identical_example"], [None] * 5),
        },
        schema=TABLE_SCHEMA,
    )
    assert_frame_equal(audit.table, expected)
    assert audit.summary == read_data(__file__, "summary_of_audit")
    audit.require(dict.fromkeys(LIMITS, 0.0), "kept")


def test_pieces_are_those_that_the_model_reads_of_the_stimulus() -> None:
    """Also where its dictionary form is not the first of its forms, or none; as the tokenizer changed it."""
    forms = table_of({"নদীর": ["নদী", "নদীর"], "মাছ": ["মাছের", "মাছে"], "ফুল": ["ফুল"]})
    kept = audit_tokenizer(wordpiece(["নদী", "##র", "মাছ", "##ের", "ফুল"]), forms)
    assert column(kept, "pieces") == {"নদীর": ["নদী", "র"], "মাছ": ["মাছ", "ের"], "ফুল": ["ফুল"]}
    stripped = audit_tokenizer(wordpiece(["নদী", "##র", "ফল"], STRIPPING), forms)
    assert column(stripped, "pieces") == {"নদীর": ["নদী", "র"], "মাছ": ["[UNK]"], "ফুল": ["ফল"]}
    # one letter is three bytes, and the space before the word is a piece of none of it
    bytes_alone = audit_tokenizer(byte_level(["x"], size=257), forms)
    assert column(bytes_alone, "pieces")["ফুল"] == [letter for letter in "ফুল" for _ in range(3)]


def test_a_bert_tokenizer_that_strips_accents() -> None:
    # BERT takes the signs that stand above or below a letter, not those beside it: চাঁদ keeps its া.
    pieces = ["ফল", "চাদ", "নদী", "##ের", "##র", "কে"]
    audit = audit_tokenizer(wordpiece(pieces, STRIPPING), FORMS)
    assert column(audit, "marks_lost_forms") == {"ফুল": 3, "ফল": 0, "চাঁদ": 1, "চাদ": 0, "নদী": 0}
    assert column(audit, "unknown_forms") == dict.fromkeys(WORDS, 0)
    assert column(audit, "identical_to") == {"ফুল": ["ফল"], "ফল": ["ফুল"], "চাঁদ": ["চাদ"], "চাদ": ["চাঁদ"], "নদী": []}
    assert column(audit, "marks_lost_example")["ফুল"] == "ফুল -> ফল"
    assert audit.summary["marks_lost"] == 4 / 9
    assert audit.summary["identical"] == 6 / 9
    assert audit.summary["examples"] == {
        "unknown": [],
        "marks_lost": ["ফুল -> ফল", "চাঁদ -> চাদ"],
        "identical": ["ফুল (ফুল) and ফল (ফল)", "চাঁদ (চাঁদ) and চাদ (চাদ)"],
    }


def test_an_nfkd_unigram_tokenizer_that_strips_all_marks() -> None:
    stripping = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])
    audit = audit_tokenizer(unigram(stripping, FORMS["form"].to_list()), FORMS)
    assert column(audit, "marks_lost_forms") == {"ফুল": 3, "ফল": 1, "চাঁদ": 1, "চাদ": 1, "নদী": 2}
    assert column(audit, "unknown_forms") == dict.fromkeys(WORDS, 0)
    assert column(audit, "identical_to")["চাঁদ"] == ["চাদ"]
    assert column(audit, "marks_lost_example")["চাঁদ"] == "চাঁদ -> চদ"
    # What keep_accents leaves out of it.
    kept = audit_tokenizer(unigram(normalizers.NFKD(), FORMS["form"].to_list()), FORMS)
    assert (kept.summary["marks_lost"], kept.summary["identical"], kept.summary["unknown"]) == (0.0, 0.0, 0.0)


def test_letters_that_a_vocabulary_lacks() -> None:
    audit = audit_tokenizer(wordpiece(["ফুল", "ফল", "চাদ", "##ের", "কে"]), FORMS)
    assert column(audit, "unknown_forms") == {"ফুল": 0, "ফল": 0, "চাঁদ": 1, "চাদ": 0, "নদী": 2}
    assert audit.summary["unknown"] == 3 / 9
    assert audit.summary["examples"]["unknown"] == ["চাঁদ -> [UNK]", "নদী -> [UNK]"]
    # Both are nothing but [UNK]. That is the finding above, and no second one.
    assert column(audit, "identical_to")["চাঁদ"] == []
    assert audit.summary["marks_lost"] == 0.0


def test_letters_that_are_dropped_without_a_word() -> None:
    vocabulary = {piece: number for number, piece in enumerate(["a", "ফ", "ল"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))  # without an unknown piece
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    audit = audit_tokenizer(PreTrainedTokenizerFast(tokenizer_object=tokenizer), table_of({"ফল": ["ফল"], "নদ": ["নদ"]}))
    assert column(audit, "unknown_forms") == {"ফল": 0, "নদ": 1}
    assert column(audit, "unknown_example")["নদ"] == "নদ -> no piece"
    assert column(audit, "identical_to") == {"ফল": [], "নদ": []}


def test_letters_that_no_piece_covers_are_not_known() -> None:
    tokenizer = wordpiece(["ফ", "চাদ"])
    removing = pre_tokenizers.Split("ল", "removed")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), removing])
    audit = audit_tokenizer(tokenizer, table_of({"ফল": ["ফল"], "চাদ": ["চাদ"]}))
    assert column(audit, "unknown_forms") == {"ফল": 1, "চাদ": 0}
    assert audit.summary["marks_lost"] == 0.0


def test_a_mark_in_place_of_another_is_a_loss() -> None:
    shortening = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace("ী", "ি")])
    tokenizer = wordpiece(["▁", "##নদি", "##দিন", "▁a"], shortening)
    audit = audit_tokenizer(tokenizer, table_of({"নদী": ["নদী"], "দিন": ["দিন"]}))
    assert column(audit, "marks_lost_example") == {"নদী": "নদী -> নদি", "দিন": None}


def test_bytes_know_every_word_and_share_pieces_inside_a_letter() -> None:
    hindi = {"फूल": ["फूल", "फूलों"], "rose": ["rose"]}
    audit = audit_tokenizer(byte_level(["ফুল ফলের", "a rose"] * 3, 262), table_of({**WORDS, **hindi}))
    assert [audit.summary[name] for name in LIMITS] == [0.0, 0.0, 0.0]
    assert audit.summary["n_forms"] == 12
    # A space, three bytes a letter (five letters) and a few merges: many pieces, none of them unknown.
    assert 5 < column(audit, "most_pieces")["फूल"] <= 16
    assert column(audit, "most_pieces")["फूल"] > column(audit, "most_pieces")["rose"]


@pytest.mark.parametrize("normalizer", [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD()])
def test_ways_of_writing_one_letter_are_no_loss(normalizer: Any) -> None:
    # Bangla rra and o, Hindi qa, each as one character and as two; a Latin ligature.
    forms = ["\u09dc", "\u09a1\u09bc", "ক\u09cbন", "ক\u09c7\u09beন", "\u0958लम", "\u0915\u093cलम", "\ufb01ne"]
    assert len(set(forms)) == len(forms)
    letters = sorted({letter for form in forms for letter in normalizer.normalize_str(form)})
    tokenizer = wordpiece([*letters, *(f"##{letter}" for letter in letters)], normalizer)
    audit = audit_tokenizer(tokenizer, table_of({"one": forms}))
    assert (audit.summary["marks_lost"], audit.summary["unknown"]) == (0.0, 0.0)
    pieces = sum(len(normalizer.normalize_str(form)) for form in forms)  # one for each letter and mark
    assert audit.summary["pieces_per_form"] == round(pieces / len(forms), 4)


def test_bytes_in_place_of_unknown_letters_are_known() -> None:
    # As in Llama: no words, a sign for each space, and three pieces for a letter that the vocabulary lacks.
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "▁a", "ফ", "ল"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("▁", "a")], unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    words = {"ফল": ["ফল"], "ফুল": ["ফুল", "ফুল ফল"]}
    audit = audit_tokenizer(PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>"), table_of(words))
    assert [audit.summary[name] for name in LIMITS] == [0.0, 0.0, 0.0]
    # The sign for a space in front is a piece of its own and stands for no letter of the form; the one inside counts.
    assert column(audit, "pieces_per_form") == {"ফল": 2.0, "ফুল": 6.5}


def test_composed_letters_do_not_hide_marks_that_no_piece_covers() -> None:
    removing = pre_tokenizers.Split(Regex("ু"), "removed")
    letters = ["ফ", "ল", "ব", "া", "\u09a1", "\u09bc", "ি"]
    tokenizer = wordpiece([*letters, *(f"##{letter}" for letter in letters)], normalizers.NFC())
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), removing])
    audit = audit_tokenizer(tokenizer, table_of({"flower": ["ফুল"], "house": ["বা\u09dcি", "বা\u09a1\u09bcি"]}))
    assert column(audit, "marks_lost_forms") == {"flower": 1, "house": 0}
    assert column(audit, "marks_lost_example") == {"flower": "ফুল -> ফল", "house": None}
    assert column(audit, "unknown_forms") == {"flower": 0, "house": 0}
    both = audit_tokenizer(tokenizer, table_of({"flower": ["ফু\u09dc"]}))
    assert column(both, "marks_lost_example") == {"flower": "ফু\u09dc -> ফ\u09a1\u09bc"}


def test_small_letters_and_joiners_are_no_loss() -> None:
    words = {"Rahim": ["RAHIM"], "উদ্যোগ": ["উদ্\u200cযোগ"], "র্যাব": ["র\u200d্যাব"]}
    lowering = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(Regex("[\u200c\u200d]"), "")])
    audit = audit_tokenizer(wordpiece(["rahim", "উদ্যোগ", "র্যাব"], lowering), table_of(words))
    assert [audit.summary[name] for name in (*LIMITS, "pieces_per_form")] == [0.0, 0.0, 0.0, 1.0]


def test_a_string_that_two_stimuli_claim_is_not_the_tokenizers_doing() -> None:
    words = {"river": ["নদী", "উদ্যোগ"], "stream": ["নদী", "উদ্\u200cযোগ"], "RIVER": ["River"], "brook": ["river"]}
    joining = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace("\u200c", "")])
    audit = audit_tokenizer(wordpiece(["নদী", "উদ্যোগ", "river"], joining), table_of(words))
    assert column(audit, "identical_to") == {"river": [], "stream": [], "RIVER": ["brook"], "brook": ["RIVER"]}
    assert audit.summary["identical"] == 2 / 6  # of the forms: River and river


def test_a_form_whose_hits_go_elsewhere_is_tried_but_not_compared() -> None:
    audit = audit_tokenizer(wordpiece(["ফল"], STRIPPING), table_of({"ফুল": ["ফুল"], "ফল": ["ফল"]}, uncounted=["ফুল"]))
    assert (audit.summary["n_forms"], audit.summary["marks_lost"], audit.summary["identical"]) == (2, 0.5, 0.0)


def test_a_file_that_pads_and_cuts_changes_nothing() -> None:
    plain, padded = wordpiece(ALL_PIECES), wordpiece(ALL_PIECES)
    padded.backend_tokenizer.enable_padding(length=32, pad_id=0)
    padded.backend_tokenizer.enable_truncation(2)
    assert_frame_equal(audit_tokenizer(padded, FORMS).table, audit_tokenizer(plain, FORMS).table)


def test_a_tokenizer_that_loses_marks_is_refused_with_what_to_write() -> None:
    audit = audit_tokenizer(wordpiece(["ফল", "চাদ", "নদী", "##ের", "##র", "কে"], STRIPPING), FORMS)
    with pytest.raises(InputError) as caught:
        audit.require(LIMITS, "indicbert")
    assert str(caught.value) == (
        "model indicbert: its tokenizer spoils words of the lexicon.\n- 44.4 % of the forms lose a vowel sign or"
        " another mark, for example ফুল -> ফল; embeddings.audit.marks_lost allows 1 %.\n- 66.7 % of the forms have"
        " the pieces of another stimulus, for example ফুল (ফুল) and ফল (ফল); embeddings.audit.identical allows 5"
        " %.\nWhere marks are lost, write `tokenizer: {keep_accents: true}` or `tokenizer: {strip_accents:"
        " false}` under the model (whichever its tokenizer has), or use a model whose tokenizer knows these words."
        " To continue anyway, allow a larger share under embeddings.audit."
    )


# Odia, as it was: half of the forms have a letter that the vocabulary lacks, and no text has these forms.
ODIA = {"ଫୁଲ": ["ଫୁଲ", "ଫୁଲର", "ଫୁଲକୁ", "ଫୁଲମାନଙ୍କୁ"], "ମାଆ": ["ମାଆ", "ମାଆର", "ମାଆଙ୍କୁ", "ମାଆମାନଙ୍କୁ"]}
KNOWN = ["ଫୁଲ", "ଫୁଲର", "ମାଆ", "ମାଆର"]


def weighed(words: Mapping[str, Sequence[str]], occurrences: Mapping[str, int]) -> pl.DataFrame:
    """The forms with their occurrences, none of those that are not named."""
    forms = table_of(words)
    return forms.with_columns(
        occurrences=pl.Series([occurrences.get(form, 0) for form in forms["form"]], dtype=pl.Int64)
    )


def test_rare_forms_that_are_unknown_do_not_refuse_a_study() -> None:
    tokenizer = wordpiece(KNOWN)
    with pytest.raises(InputError, match=r"50 % of the forms have a piece that it does not know"):
        audit_tokenizer(tokenizer, table_of(ODIA)).require(LIMITS, "odia")
    audit = audit_tokenizer(tokenizer, weighed(ODIA, {"ଫୁଲ": 60, "ଫୁଲର": 30, "ମାଆ": 8, "ମାଆଙ୍କୁ": 2}))
    assert {name: audit.summary[name] for name in ("n_forms", "n_unseen", "n_occurrences", *LIMITS)} == {
        **{"n_forms": 8, "n_unseen": 4, "n_occurrences": 100},
        **{"unknown": 0.02, "marks_lost": 0.0, "identical": 0.0},
    }
    assert column(audit, "occurrences") == {"ଫୁଲ": 90, "ମାଆ": 10}
    assert column(audit, "unknown_forms") == {"ଫୁଲ": 2, "ମାଆ": 2}
    assert column(audit, "unknown_occurrences") == {"ଫୁଲ": 0, "ମାଆ": 2}
    audit.require(LIMITS, "odia")


def test_lost_marks_and_equal_pieces_weigh_as_often_as_they_occur() -> None:
    """Stripped, ফুল is ফল and চাঁদ is চাদ: to the model one word each, whichever of them a text has."""
    tokenizer = wordpiece(["ফল", "চাদ", "নদী", "##ের", "##র", "কে"], STRIPPING)
    audit = audit_tokenizer(tokenizer, weighed(WORDS, {"ফলের": 6, "ফুলের": 1, "ফুল": 3, "নদী": 90}))
    assert {name: audit.summary[name] for name in LIMITS} == {"unknown": 0.0, "marks_lost": 0.04, "identical": 0.1}
    assert column(audit, "identical_occurrences") == {"ফুল": 4, "ফল": 6, "চাঁদ": 0, "চাদ": 0, "নদী": 0}
    assert column(audit, "identical_example")["ফল"] == "ফুলের (ফুল) and ফলের (ফল)", "of its most frequent form"
    assert audit.summary["examples"]["marks_lost"] == ["ফুল -> ফল", "চাঁদ -> চাদ"]
