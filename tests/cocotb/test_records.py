"""openstellar.records: layouts of the hardware's records."""

from __future__ import annotations

import random

import pytest
from openstellar.records import Record, names, registers
from openstellar.world import table_words


def test_a_record_comes_back() -> None:
    rng = random.Random(1)
    for name in names():
        record = Record(name)
        values = {path: rng.getrandbits(field.width) for path, field in record.fields.items()}
        packed = record.pack(values)
        assert record.unpack(packed) == values
        assert packed.bit_length() <= record.width


def test_fields_lie_where_hardware_has_them() -> None:
    """Compares with words that the project's own packing made."""
    arguments = {"qp": 5, "mode": "mrc", "pd": 7, "mtu": 1024, "psn": 9, "rkey": 0x2A5A, "va": 0x7F00_0000_0000, "length": 1 << 20, "bus": 0x20_0000_0000}
    written = [sum(word << 32 * n for n, word in enumerate(words)) for words in table_words(**arguments)]
    context = Record("QpContext").pack(state="Ready", mode="Mrc", pd=7, pkey=0xFFFF, mtu_log2=10, initial_psn=9, remote_write=1)
    region = Record("MrEntry").pack(valid=1, key=0x5A, pd=7, remote_write=1, page_size="Size2M", base_va=0x7F00_0000_0000, length=1 << 20)
    page = Record("EmttEntry").pack(valid=1, owner="Gpu", frame=0x20_0000_0000 >> 12)
    entries = [("Qp", 5, context), ("Mr", 0x2A, region), ("Emtt", 0, page)]
    assert written == [Record("TableWrite").pack(select=select, index=index, entry=entry) for select, index, entry in entries]


def test_values_of_enumerations_have_names() -> None:
    record = Record("QpContext")
    assert record.unpack(record.pack(state="Error"))["state"] == record.fields["state"].values.index("Error")
    assert record.value_name("state", 2) == "Ready"


def test_registers_have_places() -> None:
    at = registers()
    assert at["IDENTITY"].reset.to_bytes(8, "little") == b"STELLAR1"
    assert at["TABLE_DATA"].count == 16 and at["TABLE_COMMAND"].offset == at["TABLE_DATA"].offset + 16 * 8


def test_wrong_fields_are_answered() -> None:
    with pytest.raises(ValueError, match='no record "ReadComand"; closest: ReadCommand'):
        Record("ReadComand")
    record = Record("ReadCommand")
    with pytest.raises(KeyError, match="no field 'size'; there are: length"):
        record.pack(size=1)
    with pytest.raises(ValueError, match="ReadCommand.length has 14 bits: 0x4000 does not fit"):
        record.pack(length=0x4000)
    with pytest.raises(ValueError, match="state has no value 'Redy'; there are: Invalid, Init, Ready, Error"):
        Record("QpContext").pack(state="Redy")
    with pytest.raises(ValueError, match="length has no value 'long'; there are: none with names"):
        record.pack(length="long")
