#!/bin/sh
# In place of Verilator: says that it is another version, and builds nothing. A file of the tree, because Linux refuses to run one that was just written while any
# process still has it open.
[ "$1" = --version ] && echo 'Verilator 5.020 2024-01-01 rev v5.020'
