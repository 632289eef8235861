"""Every kind of finding about a file of pairs, and what it says."""

from __future__ import annotations

#: Every kind of finding, and what it says.
KINDS = {
    "line-break": "a line break in the cell",
    "outer-blanks": "blanks at the ends of the cell",
    "bias-type-spelling": "capitals, blanks or underscores in the bias type",
    "label-spelling": "capitals, blanks or hyphens in the label",
    "identical-sentences": "both sentences are the same",
    "identical-words": "the sentences differ in punctuation, case or spelling alone",
    "no-common-word": "the sentences have no word in common",
    "duplicated-pair": "an earlier pair has the same sentences",
    "reversed-pair": "an earlier pair has the same sentences in the other order",
    "duplicated-sentence": "an earlier pair has the sentence too",
    "many-modified-words": "the sentences differ in many words",
    "differing-length": "one sentence has more words than the other",
    "differing-end": "the punctuation after the last word differs",
    "differing-case": "one word, with a capital in one sentence only",
    "differing-spelling": "one word, in two encodings or with two shapes of the apostrophe",
    "differing-nukta": "two words that are one but for a nukta",
    "not-nfc": "letters encoded in another way than NFC's",
    "bar-for-danda": "a bar for a danda",
    "double-danda": "two dandas, or the double one",
    "blank-before-stop": "a blank before a stop or comma",
    "no-blank-after-stop": "no blank after a danda, so that two words are one",
    "several-blanks": "several blanks between words",
    "other-blank": "a blank that is not the usual one, such as a no-break space",
    "invisible-character": "a zero-width character other than the joiners",
    "curly-quote": "a typographic quote or apostrophe",
    "replacement-character": "U+FFFD, what is left of a broken encoding",
    "other-script": "letters of another script than the language's",
    "small-first-letter": "a sentence that begins with a small letter",
}
