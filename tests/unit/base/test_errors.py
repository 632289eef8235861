"""What an error quotes fits on one line, and a terminal shows it and does nothing else with it."""

from __future__ import annotations

import pytest

from prasanga.base.errors import InputError, printable, reason


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("No thrift: end.\nPage header failed.\n"), "No thrift: end. Page header failed"),
        (ValueError("expected a comma"), "expected a comma"),
        (ValueError("  two\t words\r\n"), "two words"),
        (ValueError("at the end..."), "at the end"),
        (ValueError("..."), "ValueError"),
        (KeyError(), "KeyError"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_a_reason_is_one_line_without_a_full_stop(error: Exception, said: str) -> None:
    assert reason(error) == said


def test_what_a_message_quotes_cannot_drive_a_terminal() -> None:
    assert str(InputError("a\x1b[31mb\u202ec\ud800")) == "a\\x1b[31mb\\u202ec\\ud800"
    shown = str(InputError("resources/আমার.yaml: .snakemake/prasanga/shipped/resources/b."))
    assert shown == "resources/আমার.yaml: resources/b (shipped with prasanga)."
    assert printable("বাংলা\tहिन्दी\n") == "বাংলা\tहिन्दी\n"
    assert printable("x" * 20_001) == "x" * 20_000 + "... (1 more characters)"
