//! PCI Express: TLP headers and the descriptors of AMD's integrated blocks.
