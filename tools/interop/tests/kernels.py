"""Makes a directory that looks like an unpacked kernel package."""

import lzma
from pathlib import Path

RELEASE = "6.0.0-test"


def module(path: Path, depends: str) -> None:
    """A module that contains only its dependencies."""
    data = b"\x7fELF..license=GPL\0depends=" + depends.encode() + b"\0name=x\0"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(data) if path.suffix == ".xz" else data)


def kernel(root: Path) -> Path:
    """Four modules, one of which is part of the kernel; returns the directory of the modules."""
    tree = root / "usr/lib/modules" / RELEASE
    module(tree / "kernel/vfio/vfio.ko.xz", "")
    module(tree / "kernel/vfio/vfio_iommu_type1.ko", "vfio")
    module(tree / "kernel/vfio/pci/vfio-pci-core.ko.xz", "vfio,irqbypass,virtio-pci")
    module(tree / "kernel/vfio/pci/vfio-pci.ko.xz", "vfio-pci-core")
    module(tree / "kernel/lib/irqbypass.ko.xz", "")
    (tree / "modules.builtin").write_text("kernel/drivers/virtio/virtio_pci.ko\n")
    for name in ("usr/bin/busybox", f"boot/vmlinuz-{RELEASE}"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    return tree
