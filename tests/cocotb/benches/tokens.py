"""Tokens of the receive core: what its tracking blocks take and give, in order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from openstellar.records import Record

PERIOD_NS, SPACING, DRAIN = 4, 3, 20
Output = TypeVar("Output")


class TrackingBlock:
    """A tracking block: `in_token` of the record `token`, and what comes out, as `look` reads it in the clocks of `out_valid`.

    Table writes pass to the next block, or end in this one.
    """

    def __init__(self, dut, token: str, look: Callable[[], Output], *, passes_tables: bool) -> None:
        self.dut, self.record, self.look, self.passes_tables = dut, Record(token), look, passes_tables

    async def start(self, contexts: dict[int, dict[str, int | str]]) -> None:
        """Clocks, and a table write for each queue pair, which starts its state anew."""
        Clock(self.dut.clock, PERIOD_NS, "ns").start()
        self.dut.in_valid.value = 0
        await ClockCycles(self.dut.clock, 10)
        await self.play([(qp, table_write(qp, context)) for qp, context in contexts.items()])

    async def play(self, tokens: Sequence[tuple[int, dict[str, int | str]]]) -> list[Output]:
        """Tokens with their queue pairs, as close as the core lets them come and sometimes further apart; what comes out of each."""
        outputs: list[Output] = []
        due = sum(self.passes_tables or fields["token.kind"] != "Table" for _, fields in tokens)
        words = [(qp, self.record.pack(fields)) for qp, fields in tokens]
        last: dict[int, int] = {}
        clock = waiting = 0
        while waiting < len(words) or len(outputs) < due:
            assert clock < 8 * len(words) + DRAIN, f"{len(outputs)} outputs, not {due}"
            goes = waiting < len(words) and clock - last.get(words[waiting][0], -SPACING) >= SPACING and random.random() < 0.9
            self.dut.in_valid.value = int(goes)
            if goes:
                qp, word = words[waiting]
                self.dut.in_token.value = word
                last[qp] = clock
                waiting += 1
            await RisingEdge(self.dut.clock)
            if self.dut.out_valid.value == 1:
                outputs.append(self.look())
            clock += 1
        # Nothing comes that nobody asked for.
        self.dut.in_valid.value = 0
        for _ in range(DRAIN):
            await RisingEdge(self.dut.clock)
            assert self.dut.out_valid.value == 0
        return outputs


def table_write(qp: int, context: dict[str, int | str]) -> dict[str, int | str]:
    """The token that writes a queue pair's context."""
    named = {f"qp.{name}": value for name, value in context.items()}
    return {"token.kind": "Table", "token.table.select": "Qp", "token.table.index": qp, **named}


def packet(qp: int, context: dict[str, int | str], **headers: int | str) -> dict[str, int | str]:
    """The token of a packet whose queue pair has this context."""
    named = {f"token.headers.{name}": value for name, value in headers.items()}
    return {"token.kind": "Packet", "token.headers.dest_qp": qp, **{f"qp.{n}": v for n, v in context.items()}, **named}
