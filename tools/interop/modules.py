"""Kernel modules of an unpacked kernel package, in the order in which they are loaded."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path


def module_name(path: Path) -> str:
    """A module by its file name. The kernel does not distinguish dash and underscore."""
    return path.name.partition(".ko")[0].replace("-", "_")


def read_module(path: Path) -> bytes:
    """A module, decompressed if it is compressed."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix != ".ko":
        raise ValueError(f"{path}: modules packed in this way are not known here")
    return data


def dependencies(module: bytes) -> list[str]:
    """Modules that must be loaded before this one: `depends=` of its `.modinfo`."""
    _, found, rest = module.partition(b"\0depends=")
    if not found:
        raise ValueError("the module has no list of what it depends on")
    names = rest[: rest.index(b"\0")].decode()
    return [name.replace("-", "_") for name in names.split(",") if name]


def closure(tree: Path, wanted: list[str]) -> list[tuple[str, bytes]]:
    """Modules and their dependencies, each behind those that it depends on; `tree` is the directory of one kernel's modules.

    A module that is built into the kernel is left out. Raises ValueError for a module that does not exist.
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
