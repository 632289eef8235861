"""Tiny models and their plain computation, each made once, and targets that are hard to place."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from plain_embedding import PlainEmbedder, Span
from tiny_models import SENTENCES, build


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`tiny_model(kind, positions=128)`: the folder of a tiny model."""

    @cache
    def get(kind: str, positions: int) -> Path:
        return build(kind, tmp_path_factory.mktemp(kind), positions=positions)

    return lambda kind, positions=128: get(kind, positions)


@pytest.fixture(scope="session")
def plain(tiny_model: Callable[..., Path]) -> Callable[..., PlainEmbedder]:
    """`plain(kind, positions=128)`: the plain computation with that tiny model."""

    @cache
    def get(kind: str, positions: int) -> PlainEmbedder:
        return PlainEmbedder(tiny_model(kind, positions))

    return lambda kind, positions=128: get(kind, positions)


@pytest.fixture(scope="session")
def targets() -> tuple[list[str], list[Span]]:
    """Every word of every sentence as a target: at the very start, at the very end, after an emoji."""
    bare = [sentence.rstrip("।.") for sentence in SENTENCES]
    found = [(text, match.span()) for text in bare for match in re.finditer(r"[^\s,🌙📚]+", text)]
    return [text for text, _ in found], [span for _, span in found]
