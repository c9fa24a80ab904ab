"""OpenStellar's simulator for Python.

`openstellar.cocotb` runs cocotb tests on Verilated models. `openstellar.designs` has the project's own hardware, `openstellar.records` the records at
its ports. Without cocotb: `openstellar.verbs` is the driver on Verilated cards, `openstellar.hosts` two hosts with NICs on a fabric, `openstellar.fabric`
whole runs of such a world, `openstellar.world` the receive lane of one NIC with its MAC, PCIe and memories. `openstellar.cluster` and `openstellar.sweep`
are in the wheel openstellar-cluster.
"""

import os
from pathlib import Path

# Built models are kept between runs and shared by all environments of a user, unless the variable is set.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "openstellar"
os.environ.setdefault("STELLAR_MODEL_CACHE", str(_CACHE))
