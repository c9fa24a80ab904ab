#!/bin/sh
# In place of ABC: searches 4 cycles at once, and does not end otherwise.
case "$2" in
*"bmc3 -F 1 "*) echo "No output asserted in 1 frames." ;;
*"bmc3 -F 2 "*) echo "No output asserted in 2 frames." ;;
*"bmc3 -F 4 "*) echo "No output asserted in 4 frames." ;;
*) exec sleep 1000 ;;
esac
