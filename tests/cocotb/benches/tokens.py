"""Tokens of the receive core: input and output of its tracking blocks, in order."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from openstellar.records import Record

PERIOD_NS, DRAIN = 4, 20
Fields = dict[str, int | str]
Output = TypeVar("Output")


class TrackingBlock:
    """A tracking block: its input `in_token` of the record `token`, and its output, which `look` reads in the cycles of `out_valid`.

    Table writes pass to the next block, or end in this one. `spacing` is the number of cycles from a token to a later one of its queue pair.
    """

    def __init__(
        self, dut, token: str, look: Callable[[], Output], *, passes_tables: bool, spacing: Callable[[Fields, Fields], int]
    ) -> None:
        self.dut, self.record, self.look = dut, Record(token), look
        self.passes_tables, self.spacing = passes_tables, spacing

    async def start(self, contexts: dict[int, Fields]) -> None:
        """Starts the clock, and writes a table entry for each queue pair, which initialises its state."""
        Clock(self.dut.clock, PERIOD_NS, "ns").start()
        self.dut.in_valid.value = 0
        await ClockCycles(self.dut.clock, 10)
        await self.play([(qp, table_write(qp, context)) for qp, context in contexts.items()])

    async def play(self, tokens: Sequence[tuple[int, Fields]]) -> list[Output]:
        """Sends tokens with their queue pairs, as close as the core permits and sometimes further apart; returns the output of each."""
        outputs: list[Output] = []
        due = sum(self.passes_tables or fields["token.kind"] != "Table" for _, fields in tokens)
        words = [self.record.pack(fields) for _, fields in tokens]
        # Cycle and token of the latest tokens of each queue pair.
        last: dict[int, deque[tuple[int, Fields]]] = defaultdict(lambda: deque(maxlen=8))
        clock = waiting = 0
        while waiting < len(words) or len(outputs) < due:
            assert clock < 8 * len(words) + DRAIN, f"{len(outputs)} outputs, not {due}"
            goes = waiting < len(words) and random.random() < 0.9
            if goes:
                qp, fields = tokens[waiting]
                goes = all(clock - before >= self.spacing(earlier, fields) for before, earlier in last[qp])
            self.dut.in_valid.value = int(goes)
            if goes:
                self.dut.in_token.value = words[waiting]
                last[qp].append((clock, fields))
                waiting += 1
            await RisingEdge(self.dut.clock)
            if self.dut.out_valid.value == 1:
                outputs.append(self.look())
            clock += 1
        # Checks that there is no unexpected output.
        self.dut.in_valid.value = 0
        for _ in range(DRAIN):
            await RisingEdge(self.dut.clock)
            assert self.dut.out_valid.value == 0
        return outputs


def table_write(qp: int, context: Fields) -> Fields:
    """The token that writes a queue pair's context."""
    named = {f"qp.{name}": value for name, value in context.items()}
    return {"token.kind": "Table", "token.table.select": "Qp", "token.table.index": qp, **named}


def packet(qp: int, context: Fields, **headers: int | str) -> Fields:
    """The token of a packet whose queue pair has this context."""
    named = {f"token.headers.{name}": value for name, value in headers.items()}
    return {"token.kind": "Packet", "token.headers.dest_qp": qp, **{f"qp.{n}": v for n, v in context.items()}, **named}
