"""Tests which kernel modules are loaded, and in which order."""

from pathlib import Path

import pytest
from kernels import kernel, module
from modules import closure, dependencies, read_module


def test_each_module_is_behind_what_it_depends_on(tmp_path: Path) -> None:
    found = closure(kernel(tmp_path), ["vfio_iommu_type1", "vfio-pci"])
    assert [name for name, _ in found] == ["vfio", "vfio_iommu_type1", "irqbypass", "vfio_pci_core", "vfio_pci"]
    assert all(data.startswith(b"\x7fELF") for _, data in found)


def test_part_of_the_kernel_is_not_loaded(tmp_path: Path) -> None:
    assert closure(kernel(tmp_path), ["virtio_pci"]) == []


def test_a_module_that_is_missing_is_named(tmp_path: Path) -> None:
    tree = kernel(tmp_path)
    with pytest.raises(ValueError, match="no module 'rdma_rxe'"):
        closure(tree, ["rdma_rxe"])
    module(tree / "kernel/odd.ko", "nowhere")
    with pytest.raises(ValueError, match="no module 'nowhere'"):
        closure(tree, ["odd"])


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ko.zst").write_bytes(b"")
    with pytest.raises(ValueError, match=r"a\.ko\.zst: modules packed in this way"):
        read_module(tmp_path / "a.ko.zst")
    with pytest.raises(ValueError, match="no list of what it depends on"):
        dependencies(b"\x7fELF")
