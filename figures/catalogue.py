"""Every figure, in the order of the list."""

from figures import stellar_09, stellar_10, stellar_11, stellar_12
from figures.figure import Figure

ALL: tuple[Figure, ...] = (stellar_09.FIGURE, stellar_10.FIGURE, stellar_11.FIGURE, stellar_12.FIGURE)
