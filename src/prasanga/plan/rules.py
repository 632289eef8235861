"""What the rules do with objects of Snakemake: messages, targets, checkpoints, fingerprints."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.fingerprint import fingerprints
from prasanga.base.logs import said_of_failure


def call_readably(error: type[Exception], is_main: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; any error ends the run with a sentence, before a job runs with exit status 2.

    Args:
        error: what Snakemake reports as a message, for the jobs of a run.
        is_main: whether this is the run itself, and no job of it.
        function: to call with `arguments`.
        arguments: of the function.
    """
    try:
        return function(*arguments)
    except Exception as failure:
        sentence = str(failure) if isinstance(failure, InputError) else said_of_failure(failure, "logs/planning.log")
        if not is_main:
            raise error(sentence) from None
    print(sentence, file=sys.stderr)
    sys.exit(2)


@cache
def read_arguments(make_parser: Callable[[], Any]) -> Any:
    """Return what Snakemake is asked for, by its parser; the rules are read before it says so itself.

    Args:
        make_parser: makes the parser, which takes a while.
    """
    try:
        return make_parser().parse_known_args(sys.argv[1:])[0]
    except SystemExit:  # it was not started from its own command line
        return Namespace(targets=None, dryrun=False)


class Checkpoints:
    """Inputs that are known, or may be looked at, once a checkpoint is done."""

    def __init__(self, checkpoints: Any, incomplete: type[Exception]) -> None:
        """Take what Snakemake offers: its checkpoints, and the exception of one that is not done."""
        self._checkpoints, self._incomplete = checkpoints, incomplete

        @cache
        def undrawn(_: int) -> Exception | None:
            try:
                checkpoints.draw_samples.get()
            except incomplete as error:
                return error
            return None

        # Snakemake looks through all lengths and buckets for the answer, which depends on the outputs of checkpoints
        # that are known by then. There are only ever more of these, so their number tells.
        self._undrawn = undrawn

    def once_drawn(self, path: str) -> str:
        """Return a path once samples are drawn; until then, tell Snakemake to come back."""
        if error := self._undrawn(len(self._checkpoints.created_output)):
            raise error.with_traceback(None)
        return path

    def wait_for_check(self, models: Mapping[str, Mapping[str, Any]]) -> Callable[[Any], str]:
        """Return an input function: it waits for the check of a job's model, and returns its report.

        Args:
            models: settings by the name of the model.
        """
        checked = self._checkpoints.check_model
        return lambda wildcards: str(checked.get(family=models[wildcards.model]["family"]).output[0])

    def wait_for_audit(self, _: Any) -> str:
        """Wait for the audit of all tokenizers; an audit that runs again embeds nothing again."""
        return str(self._checkpoints.audit_tokenizers.get().output.counts)


def attach_fingerprints(workflow: Any, installation: Path) -> None:
    """Give each rule the fingerprint of its script's code as a parameter, unless it has a version constant instead.

    Scripts of whoever includes the workflow are theirs.
    """
    scripts = {}
    for rule in workflow.rules:
        script = Path(rule.basedir.get_path_or_uri(secret_free=True), str(rule.script)) if rule.script else None
        if script and script.is_relative_to(installation) and "version" not in dict(rule.params.items()):
            scripts[rule] = script.resolve()
    found = fingerprints(scripts.values())
    for rule, script in scripts.items():
        rule.set_params(f"{script.name} {found[script]}")
