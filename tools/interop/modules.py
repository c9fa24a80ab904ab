"""Kernel modules of an unpacked kernel package, in the order in which they are loaded."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path


def module_name(path: Path) -> str:
    """A module by its file. The kernel makes no difference between dash and underscore."""
    return path.name.partition(".ko")[0].replace("-", "_")


def read_module(path: Path) -> bytes:
    """A module, unpacked if it is packed."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix != ".ko":
        raise ValueError(f"{path}: modules packed in this way are not known here")
    return data


def dependencies(module: bytes) -> list[str]:
    """Modules that have to be there before this one: `depends=` of its `.modinfo`."""
    _, found, rest = module.partition(b"\0depends=")
    if not found:
        raise ValueError("the module has no list of what it depends on")
    names = rest[: rest.index(b"\0")].decode()
    return [name.replace("-", "_") for name in names.split(",") if name]


def closure(tree: Path, wanted: list[str]) -> list[tuple[str, bytes]]:
    """Modules and all they depend on, each behind what it depends on; `tree` is the directory of one kernel's modules.

    A module that is part of the kernel itself is left out. Raises ValueError for one that is not there.
    """
    files = {module_name(path): path for path in tree.rglob("*.ko*")}
    builtin = {module_name(Path(line)) for line in (tree / "modules.builtin").read_text().split()}
    ordered: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in ordered or name in builtin:
            return
        if name not in files:
            raise ValueError(f"the kernel in {tree} has no module '{name}'")
        module = read_module(files[name])
        for other in dependencies(module):
            add(other)
        ordered[name] = module

    for name in wanted:
        add(name.replace("-", "_"))
    return list(ordered.items())
