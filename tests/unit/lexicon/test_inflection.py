from __future__ import annotations

from prasanga.lexicon import SuffixGroup, check_examples, inflections
from prasanga.lexicon.inflection import Example, NumberBlock


def group(
    *,
    endings: tuple[str, ...] = ("any",),
    cases: dict[str, tuple[str, ...]] | None = None,
    numbers: dict[str, tuple[NumberBlock, ...]] | None = None,
    emphatic: tuple[str, ...] = (),
    alternation: dict[str, str] | None = None,
    examples: tuple[Example, ...] = (),
) -> SuffixGroup:
    return SuffixGroup("g", "", endings, cases or {}, numbers or {}, emphatic, alternation or {}, examples)


def joined(stem: str, of: SuffixGroup) -> list[str]:
    return [reading.form for reading in inflections(stem, of) if not reading.hyphenated]


def test_old_encodings_of_khanda_ta_are_forms_too() -> None:
    """With a hasanta and with a joiner after it, in every form that has the letter; none is read in another way."""
    festive = group(cases={"genitive": ("ের",)}, alternation={"ৎ": "ত"})
    readings = list(inflections("বিদ্যুৎ", festive))
    assert [(reading.form, reading.case) for reading in readings] == [
        ("বিদ্যুৎ", "nominative"),
        ("বিদ্যুতের", "genitive"),
        ("বিদ্যুৎ-এর", "genitive"),
        ("বিদ্যুত্", "nominative"),
        ("বিদ্যুত্\u200d", "nominative"),
        ("বিদ্যুত্-এর", "genitive"),
        ("বিদ্যুত্\u200d-এর", "genitive"),
    ]


def test_chain_of_number_case_and_emphatic() -> None:
    thing = group(
        cases={"genitive": ("ের",)},
        numbers={"plural": (NumberBlock(("গুলো", "গুলি"), {"locative": ("তে",)}),)},
        emphatic=("ও",),
    )
    plain = ["ফুল", "ফুলের", "ফুলগুলো", "ফুলগুলোতে", "ফুলগুলি", "ফুলগুলিতে"]
    assert joined("ফুল", thing) == [*plain, *(form + "ও" for form in plain)]
    readings = {reading.form: reading[1:] for reading in inflections("ফুল", thing)}
    assert readings["ফুলগুলোতেও"] == ("plural", "locative", "ও", False)
    assert readings["ফুলের"] == ("singular", "genitive", "", False)
    assert readings["ফুলগুলি"] == ("plural", "nominative", "", False)


def test_a_block_may_replace_the_nominative() -> None:
    people = group(numbers={"plural": (NumberBlock(("",), {"nominative": ("রা",), "objective": ("দের",)}),)})
    assert joined("বাবা", people) == ["বাবা", "বাবারা", "বাবাদের"]


def test_alternation_only_before_a_vowel_sign() -> None:
    colour = group(cases={"genitive": ("ের",), "objective": ("কে",)}, emphatic=("ই",), alternation={"ং": "ঙ"})
    assert joined("রং", colour) == ["রং", "রঙের", "রংকে", "রংই", "রঙেরই", "রংকেই"]
    assert joined("ফুল", colour)[:2] == ["ফুল", "ফুলের"]


def test_letters_at_the_seam_are_normalized() -> None:
    assert joined("কে", group(cases={"genitive": ("া",)})) == ["কে", "কো"]


def test_check_examples_finds_each_kind_of_problem() -> None:
    wrong = Example("গোলাপ", match=("গোলাপর",), no_match=("গোলাপের",))
    thing = group(endings=("vowel",), cases={"genitive": ("ের",)}, examples=(wrong,))
    assert check_examples({"g": thing}) == [
        "g: the stem গোলাপ ends in the class consonant, the group is for vowel.",
        "g: গোলাপর must be a form of গোলাপ, but is none.",
        "g: গোলাপের must not be a form of গোলাপ, but is one.",
    ]
