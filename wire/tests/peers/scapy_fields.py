"""Prints, for each frame of a capture, one JSON object: what scapy reads in the BTH, and the iCRC it computes.

Usage: scapy_fields.py CAPTURE
"""

import json
import sys

try:
    from scapy.compat import raw
    from scapy.contrib.roce import AETH, BTH
    from scapy.layers.inet import UDP
    from scapy.layers.l2 import Ether
    from scapy.utils import rdpcap
except ImportError as error:
    sys.exit(f"scapy is missing ({error}); `./stellar setup` installs it")

BTH_FIELDS = (
    "opcode", "solicited", "migreq", "padcount", "version", "pkey", "fecn", "becn", "resv6", "dqpn", "ackreq", "resv7",
    "psn",
)  # fmt: skip

for frame in rdpcap(sys.argv[1]):
    bth = frame[BTH]
    fields = {name: getattr(bth, name) for name in BTH_FIELDS}
    fields["sport"] = frame[UDP].sport
    fields["icrc"] = bth.icrc
    if AETH in frame:
        fields["syndrome"] = frame[AETH].syndrome
        fields["msn"] = frame[AETH].msn
    # The iCRC is the last thing in the frame. Take it away, so that what scapy builds is computed and not copied.
    blank = Ether(raw(frame)[:-4] + bytes(4))
    blank[BTH].icrc = None
    fields["computed_icrc"] = int.from_bytes(raw(blank)[-4:], "big")
    print(json.dumps(fields))
