"""openstellar.verbs: the driver on Verilated cards, from Python."""

from __future__ import annotations

import random
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from openstellar import verbs
from roce import roce_frame


@dataclass
class Host:
    """A host with its card open."""

    device: verbs.Device
    context: verbs.Context
    pd: verbs.ProtectionDomain
    cq: verbs.CompletionQueue

    @staticmethod
    def of(device: verbs.Device) -> Host:
        context = device.open()
        return Host(device, context, context.alloc_pd(), context.create_cq(64))

    def qp(self, **arguments: int) -> verbs.QueuePair:
        return self.pd.create_qp(self.cq, **arguments)


@pytest.fixture(scope="module")
def cards() -> Iterator[tuple[verbs.CardPair, list[verbs.Device]]]:
    """Two cards that are up: bringing up takes most of a test's time."""
    pair = verbs.CardPair(captures=True)
    yield pair, [pair.bring_up(host) for host in (0, 1)]


@pytest.fixture
def pair(cards: tuple[verbs.CardPair, list[verbs.Device]]) -> Iterator[verbs.CardPair]:
    """The pair; no card touched memory that was not mapped for it."""
    yield cards[0]
    assert [cards[0].strays(host) for host in (0, 1)] == [0, 0]


@pytest.fixture
def hosts(cards: tuple[verbs.CardPair, list[verbs.Device]], pair: verbs.CardPair) -> list[Host]:
    """Both hosts with their cards open."""
    return [Host.of(device) for device in cards[1]]
