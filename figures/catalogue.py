"""Every figure, in the order of the list."""

from figures import conweave, hopper, hopper_06, hp3, pvdma, srv6, stellar_09, stellar_10, stellar_11, stellar_12, transfer
from figures.figure import Figure

ALL: tuple[Figure, ...] = (
    pvdma.FIGURE,
    stellar_09.FIGURE,
    stellar_10.FIGURE,
    stellar_11.FIGURE,
    stellar_12.FIGURE,
    hopper.HADOOP,
    hopper.TRAINING,
    hopper_06.FIGURE,
    hopper.ALICLOUD,
    conweave.FIGURE,
    hp3.COLLISION,
    hp3.FLOWS,
    hp3.JOBS,
    srv6.COLLISIONS,
    srv6.REROUTE,
    transfer.FIGURE,
)
