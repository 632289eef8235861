"""What all sentence files of a study have in common, for the files that are made from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.parquet import made_from

_COMMON = ("language", "normalization", "replacements", "match", "before", "after")


def common_settings(paths: Sequence[str | Path]) -> dict[str, Any]:
    """The settings that the sentences of `paths` were found with.

    These are language, normalization, replacements, match, before and after.

    Raises:
        InputError: if two files were made with different ones; the message names the file and the setting.
    """
    common: dict[str, Any] = {}
    for path in paths:
        settings = json.loads(made_from(path).get("settings", "{}"))
        its = {key: settings[key] for key in _COMMON if key in settings}
        common = common or its
        for key, value in its.items():
            if value != common[key]:
                raise InputError(
                    f"{path}: found with {key} {value!r}, but {paths[0]} with {common[key]!r}. These files do not"
                    " belong to one run: delete the one that does not fit and run the workflow again."
                )
    return common
