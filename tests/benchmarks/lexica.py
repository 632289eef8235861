"""A lexicon of as many stimuli as one likes: ours, and invented words that take real endings.

The invented words are strings of Bengali syllables that stand nowhere in the text. A larger lexicon then finds the same
occurrences, and the difference in time is that of searching for more.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Collection, Iterator
from pathlib import Path

from prasanga.base.parquet import write_table
from prasanga.lexicon import (
    Lexicon,
    Stimulus,
    SuffixGroup,
    SurfaceForm,
    forms_table,
    inflections,
    load_lexicon,
    load_suffix_groups,
)
from prasanga.text import fold

_CONSONANTS = "কখগঘচছজঝটঠডঢতথদধনপফবভমরলশসহ"
_VOWEL_SIGNS = ["", "া", "ি", "ু", "ে", "ো"]
_ENDINGS = ["", "", "ই"]


def our_lexicon(project: Path) -> Lexicon:
    """The Bangla lexicon of this project, as far as it is looked for in texts."""
    resources = project / "resources"
    lexicon = load_lexicon(resources / "stimuli" / "bn", resources / "suffix_groups" / "bn.yaml")
    searched = {form.stimulus for form in lexicon.forms}
    return dataclasses.replace(lexicon, stimuli=tuple(each for each in lexicon.stimuli if each.name in searched))


def enlarge(lexicon: Lexicon, project: Path, *, stimuli: int, avoid: Collection[str], seed: int) -> Lexicon:
    """Add invented stimuli until there are so many.

    Args:
        lexicon: to begin with; if it has as many stimuli or more, it is returned as it is.
        project: where the suffix groups lie.
        stimuli: how many there shall be.
        avoid: folded words that may not become a form of an invented word.
        seed: of the invention.
    """
    known = load_suffix_groups(project / "resources" / "suffix_groups" / "bn.yaml").groups.values()
    groups = [group for group in known if "any" not in group.endings]  # those have hardly any forms
    names = [stimulus.name for stimulus in lexicon.stimuli]
    forms = list(lexicon.forms)
    taken = {*avoid, *lexicon.claims()}
    invented: list[Stimulus] = []
    rng = random.Random(seed)
    while len(names) + len(invented) < stimuli:
        stem = _invent(rng)
        group = rng.choice([group for group in groups if group.fits(stem)])
        its_forms = list(_forms(stem, group))
        spellings = {fold(form.form) for form in its_forms}
        if taken.isdisjoint(spellings):
            taken |= spellings
            invented.append(Stimulus(stem, groups=(group.name,)))
            forms += its_forms
    return dataclasses.replace(lexicon, stimuli=(*lexicon.stimuli, *invented), forms=tuple(forms))


def write_forms(path: Path, lexicon: Lexicon) -> Path:
    """Write the table of surface forms, which is what a job of the sentences stage reads."""
    write_table(path, forms_table(lexicon), {})
    return path


def _invent(rng: random.Random) -> str:
    syllables = [rng.choice(_CONSONANTS) + rng.choice(_VOWEL_SIGNS) for _ in range(rng.randint(3, 5))]
    return "".join(syllables) + rng.choice(_ENDINGS)


def _forms(stem: str, group: SuffixGroup) -> Iterator[SurfaceForm]:
    """One per spelling, as a lexicon has them."""
    seen: set[str] = set()
    for form, number, case, emphatic, hyphenated in inflections(stem, group):
        if form not in seen:
            seen.add(form)
            yield SurfaceForm(form, stem, group.name, number, case, emphatic, hyphenated)
