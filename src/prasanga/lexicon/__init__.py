"""Make the surface forms under which stimuli are found, from stimuli and suffix groups."""

from prasanga.lexicon.inflection import SuffixGroup, check_examples, ending_class, inflections, load_suffix_groups
from prasanga.lexicon.loading import lexicon_of, load_lexicon
from prasanga.lexicon.model import (
    Category,
    Lexicon,
    Stimulus,
    SurfaceForm,
    WordSet,
    categories_of,
    chosen_categories,
    forms_table,
    stimuli_of,
)
from prasanga.lexicon.templates import FilledTemplate, SentenceTemplate, Templates, filled_templates, load_templates
