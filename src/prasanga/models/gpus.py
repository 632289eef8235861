"""Several processes on one machine each take a card of their own, without a server and without a fight.

Who holds the lock on a card's file in the temporary folder has the card. The kernel releases the lock when the process
ends, however it ends, so that nothing has to be cleaned up after a kill.
"""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Card:
    """A CUDA card as this process sees it.

    Attributes:
        index: its number in this process, as in `cuda:<index>`.
        uuid: what it is called by every process on the machine.
        free: bytes of free memory.
    """

    index: int
    uuid: str
    free: int


_HELD: dict[str, int] = {}
"""Open, locked files by the uuid of their card; never closed, since closing one gives the card back."""
_ONE_THREAD = threading.Lock()


def claim_cards(cards: Sequence[Card], count: int = 1, *, folder: Path | None = None) -> list[Card]:
    """Take `count` of `cards` for as long as this process lives; asked again, it gets the same ones.

    Cards that no other process has claimed come first, among them those with most free memory (somebody who claims
    nothing may be at work there). If too few are unclaimed, the rest are shared ones with most free memory.

    Args:
        cards: at least `count` of them.
        count: how many are wanted.
        folder: where the lock files are; the system's folder for temporary files if None.
    """
    folder = folder or Path(tempfile.gettempdir())
    taken: list[Card] = []
    with _ONE_THREAD:
        best = sorted(cards, key=lambda card: (card.uuid not in _HELD, -card.free, card.index))
        for card in best:
            if len(taken) < count and (card.uuid in _HELD or _lock(card, folder)):
                taken.append(card)
    shared = [card for card in best if card not in taken][: count - len(taken)]
    if shared:
        _LOG.warning(
            "every card is in use by another job; sharing %s, where most memory is free (%s GB)",
            ", ".join(f"cuda:{card.index}" for card in shared),
            ", ".join(f"{card.free / 1e9:.1f}" for card in shared),
        )
    return sorted([*taken, *shared], key=lambda card: card.index)


def _lock(card: Card, folder: Path) -> bool:
    """Return whether this process now has the lock on the file of `card`."""
    try:
        descriptor = _open(folder / f"prasanga-card-{card.uuid}.lock")
    except OSError as error:
        _LOG.warning("cuda:%d cannot be claimed: %s", card.index, error)
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    _HELD[card.uuid] = descriptor
    return True


def _open(path: Path) -> int:
    """Open a lock file for reading, which is enough to lock it and works on another user's file too.

    A file that is there is opened without `O_CREAT`, which Linux forbids on other users' files in /tmp.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        pass
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    except FileExistsError:  # another process was faster
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    os.fchmod(descriptor, 0o644)  # whatever this user's umask, others must be able to open it
    return descriptor
