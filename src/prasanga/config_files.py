"""The files of a config, looked at before they are used.

Snakemake reads them, with a loader that lets the second of two equal keys win, follows aliases to any size, and, where
a file asks for it (`__use_yte__`), runs expressions of Python in it. `python -m prasanga.config_files FILE` looks at a
stranger's config without Snakemake, and runs nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from prasanga.base.yaml import load_yaml, require_regular
from prasanga.errors import InputError, printable

TEMPLATE_KEY = "__use_yte__"
# Of the checkout that this file lies in; a package that was installed elsewhere has none.
_SCHEMA = Path(__file__).parents[2] / "workflow/schemas/config.schema.yaml"


def read_config(path: str | Path) -> dict[str, Any]:
    """The keys of a config, YAML or JSON, as plain data.

    Raises:
        InputError: with the file, and the line where there is one: a file that is absent, not UTF-8, or neither YAML
            nor JSON; a key that stands twice; a tag, an alias or a template that makes more than plain data
            (`prasanga.base.yaml`); no keys at top level.
    """
    path = Path(path)
    text = _text(path)
    content = _json(path, text) if text.lstrip().startswith("{") else None
    if content is None:
        content = load_yaml(path, text)
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise InputError(f"{path}: found {found}, but a config holds keys. Write e.g. `study: mine`.")
    if TEMPLATE_KEY in content:
        raise InputError(
            f"{path}: it has the key `{TEMPLATE_KEY}`, by which Snakemake takes the file for a template and runs the"
            " Python expressions in it. A config here is plain data: read what its expressions do, write the values"
            " themselves, and take the key out."
        )
    return content


def _text(path: Path) -> str:
    try:
        require_regular(path)
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8. Save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}). Write the path of a config, such as config.yaml."
        ) from None


def _json(path: Path, text: str) -> Any:
    """A config in JSON, as Snakemake reads it first; None for what is no JSON, which may still be YAML."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError(f"{path}: the key `{key:.80}` stands twice in one object. Delete one.")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except InputError:
        raise
    except (ValueError, RecursionError):
        return None


def main(paths: list[str]) -> int:
    """Look at configs and say what is wrong with them; 0 if nothing is, 1 if something is, 2 if none is named."""
    from prasanga.config import complete, read_schema

    if not paths:
        print("Name the config to look at: python -m prasanga.config_files FILE...", file=sys.stderr)
        return 2
    wrong, compared = 0, _SCHEMA.is_file()
    for path in paths:
        try:
            config = read_config(path)
            if compared:
                complete(config, read_schema(_SCHEMA))
        except InputError as error:
            wrong += 1
            print(error, file=sys.stderr)
        else:
            keys = (
                "a config of this version" if compared else f"not compared with the schema, which is not at {_SCHEMA}"
            )
            print(f"{printable(path)}: plain data, and {keys}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
