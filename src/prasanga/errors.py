"""The one exception that a user is meant to read."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be used: a config, a word list, a corpus, a model, a results file.

    The message is for the person who can mend it: the file, the line or key, the value found, what is allowed,
    and what to write instead.
    """
