"""The pages that go with the sheets of translation and adaptation, and how a sheet is written."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from prasanga.construction.adaptation import CONCERNS
from prasanga.construction.translating import NAMES
from prasanga.construction.translation import NONE, OWN
from prasanga.spreadsheets import guarded


def sheet_text(sheet: pl.DataFrame) -> str:
    """A sheet as CSV with the byte order mark by which spreadsheets know that it is UTF-8."""
    return "\ufeff" + guarded(sheet).write_csv()


def translation_instructions(n_pairs: int, into: str) -> str:
    """The page that goes with the sheets of translations."""
    return f"""# How to fill in your sheet

Your sheet is a table with {n_pairs} rows. Each row is a pair of sentences, `first` and `second`, that differ in the
group of people they speak about. Beside it stand translations into {NAMES[into]}, by letters: `A_first` and `A_second`
belong together. Where they come from is not said, and a letter means something else in every row.

Write into the column `choice`

    A, B, ...   the translation that says what the pair says, as people would say it
    {OWN}         none is good enough: write both sentences under `own_first` and `own_second`
    {NONE}        the pair cannot be said in {NAMES[into]}; say why under `note`

- The two sentences may differ in nothing but the group, and in words that have to agree with it.
- The column `same` names the letters whose two sentences came out the same. Such a pair is of no use: `{OWN}` can
  carry the difference by a noun or a name where the language has no pronoun that does.
- To mend a single word, copy the translation to `own_first` and `own_second`, mend it there, and write `{OWN}`.
- Choose for every row; work alone; change no other column. The order of the rows may change.
- Save the sheet as CSV in UTF-8, with commas, under the name that it has.

Some sentences are hurtful, and some may be about yourself. They are translated to find out what language models have
picked up. Take breaks; you may stop at any time, and you may say so without giving a reason.
"""


def adaptation_instructions(n_pairs: int, concerns: Mapping[str, str] = CONCERNS) -> str:
    """The page that goes with the sheet of an adaptation."""
    listed = "\n".join(f"    {name:22}{meaning}" for name, meaning in concerns.items())
    return f"""# How to fill in the sheet

The sheet is a table with {n_pairs} rows. Each row is a pair of sentences, `first` and `second`; `differs` has the
words in which they differ.

Write into the column `decision`

    keep      the pair makes sense in your society as it is
    modify    it does with other words: write them under `modified_first` and `modified_second` (empty: it stays)
    remove    it does not

and into `concern` why a pair is modified or removed, one or several of these with ; between them:

{listed}

- The two sentences may differ in the group of people alone, and in pronouns and endings that go with it. If group and
  attribute differ both, change one back, or remove the pair.
- Foreign names give way to names that are usual where you live: write `Tom=Rahul; Mary=Sunita` under `names`, and the
  new names into the sentences. One name has one replacement, in both sentences and in the whole sheet. The column
  `suggested_names` has words that may be names, and one name of each list. A name tells of religion, too: it must not
  change what the pair is about.
- Change no other column. The order of the rows may change. Remarks go under `note`.
- Save the sheet as CSV in UTF-8, with commas.

Some sentences are hurtful, and some may be about yourself. Take breaks; you may stop at any time, and you may say so
without giving a reason.
"""
