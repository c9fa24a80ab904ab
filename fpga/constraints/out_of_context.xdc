# The card alone, without hard blocks and pins. Its ports are registers at both ends.
create_clock -period 4.000 -name clock [get_ports clock]
