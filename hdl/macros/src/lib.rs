//! Attribute macro for hardware kernels.
