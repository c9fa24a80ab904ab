"""Records at the ports of the project's blocks, as numbers.

    from openstellar.records import Record

    command = Record("ReadCommand")
    word = command.pack({"length": 100, "segments.first_length": 100, "segments.first_address": 0x1000})
    command.unpack(word)["segments.first_address"]

Layouts come from the definitions that hardware, models and drivers share: no bit offset is defined twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from openstellar import _native

__all__ = ["Field", "Record", "Register", "names", "registers"]


def names() -> list[str]:
    """Names of the records."""
    return _native.records()


@dataclass(frozen=True)
class Field:
    """The place of a number in a record."""

    offset: int
    """Its lowest bit."""
    width: int
    """Its number of bits."""
    values: tuple[str, ...]
    """Names of its values, from 0 on, if it is an enumeration."""

    def number(self, name: str, value: int | str) -> int:
        """`value` as a number; it may be the name of a value of an enumeration. Raises ValueError if it does not fit."""
        if isinstance(value, str):
            if value not in self.values:
                raise ValueError(f"{name} has no value {value!r}; there are: {', '.join(self.values) or 'none with names'}")
            return self.values.index(value)
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{name} has {self.width} bits: {value:#x} does not fit")
        return int(value)


class Record:
    """The layout of the record `name`. Raises ValueError with the closest names if it does not exist."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, Field] = {
            path: Field(offset, width, tuple(values)) for path, offset, width, values in _native.record_fields(name)
        }
        """Fields by path: nested ones have dots in their names."""

    @property
    def width(self) -> int:
        """Bits of the whole record."""
        return sum(field.width for field in self.fields.values())

    def pack(self, values: Mapping[str, int | str] | None = None, /, **more: int | str) -> int:
        """The record with these values, as a number; fields that are left out are zero. Raises KeyError for an unknown field."""
        packed = 0
        for name, value in {**(values or {}), **more}.items():
            if name not in self.fields:
                raise KeyError(f"{self.name} has no field {name!r}; there are: {', '.join(self.fields)}")
            field = self.fields[name]
            packed |= field.number(f"{self.name}.{name}", value) << field.offset
        return packed

    def unpack(self, packed: int) -> dict[str, int]:
        """The numbers in a record, by path."""
        packed = int(packed)
        return {name: packed >> field.offset & (1 << field.width) - 1 for name, field in self.fields.items()}

    def value_name(self, field: str, number: int) -> str:
        """The name of an enumeration's value."""
        return self.fields[field].values[number]


@dataclass(frozen=True)
class Register:
    """A register of BAR0, or an array of them."""

    offset: int
    """Byte offset in BAR0."""
    count: int
    """Number of registers, 8 bytes apart."""
    reset: int
    """Value after reset, for registers that software writes and for constants."""


def registers() -> dict[str, Register]:
    """The registers of the card's BAR0 by name."""
    return {name: Register(offset, count, reset) for name, offset, count, reset in _native.registers()}
