//! Source routes computed from the entropy value (SRv6 uSID, OCP MRC 1.0).

use std::net::Ipv6Addr;

use crate::mrc::Entropy;
use crate::UsidContainer;
use thiserror::Error;

use super::Path;

/// Some bits of an entropy value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntropyField {
    /// Position of the lowest bit, 0 to 31.
    pub low: u8,
    /// Number of bits, 1 to 16.
    pub bits: u8,
}

impl EntropyField {
    /// The field's value.
    pub const fn of(self, entropy: Entropy) -> u16 {
        (entropy.0 >> self.low & ((1 << self.bits) - 1)) as u16
    }
}

/// A template that would make invalid addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// No uSID at all, or a zero before the last one.
    #[error("uSID {position} of the template is 0, which ends the container: give the path's uSIDs without a gap")]
    Gap {
        /// Place of the zero, counted from 0.
        position: usize,
    },
    /// The T1 uSID is not part of the path.
    #[error("T1 uSID position {position}: the template has {length} uSIDs, so use 0 to {}", length - 1)]
    Position {
        /// The position that was requested.
        position: usize,
        /// uSIDs of the template.
        length: usize,
    },
    /// The entropy field is not within 32 bits.
    #[error("entropy field of {bits} bits at bit {low}: use 1 to 16 bits within the 32 of an entropy value")]
    Field {
        /// Lowest bit.
        low: u8,
        /// Width.
        bits: u8,
    },
    /// Plane or uplink carry a uSID beyond 16 bits.
    #[error("uSID {position} reaches {largest:#x} with the largest plane and uplink: it must stay below 0x10000")]
    Overflow {
        /// Place of the uSID, counted from 0.
        position: usize,
        /// Largest sum.
        largest: u32,
    },
}

/// From a queue pair's path to the outer destination address, so that no 128-bit address is stored per path.
///
/// Every uSID of the template gets `plane * plane_step` added, and the one of the T1 switch the T0 uplink, which is a
/// field of the entropy value. Where the fields of a uSID do not overlap, that is writing plane and uplink into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Srv6Template {
    path: UsidContainer,
    length: usize,
    plane_step: u16,
    t1: usize,
    uplink: EntropyField,
}

impl Srv6Template {
    /// Makes a template. Its uSIDs are those of plane 0 and uplink 0. `plane_step` is the distance between the uSIDs of the planes (0 if both planes
    /// use the same). `t1` is the position of the T1 switch in the path. `uplink` names the bits of the entropy value that select the T0 uplink.
    ///
    /// # Errors
    /// [`TemplateError`] if an address of any plane and uplink would not be a proper container.
    pub fn new(
        path: UsidContainer,
        plane_step: u16,
        t1: usize,
        uplink: EntropyField,
    ) -> Result<Self, TemplateError> {
        let length = path
            .usids
            .iter()
            .rposition(|&usid| usid != 0)
            .map_or(0, |last| last + 1);
        if let Some(position) = path.usids[..length.max(1)]
            .iter()
            .position(|&usid| usid == 0)
        {
            return Err(TemplateError::Gap { position });
        }
        if t1 >= length {
            return Err(TemplateError::Position {
                position: t1,
                length,
            });
        }
        let EntropyField { low, bits } = uplink;
        if !(1..=16).contains(&bits) || u32::from(low) + u32::from(bits) > 32 {
            return Err(TemplateError::Field { low, bits });
        }
        for (position, &usid) in path.usids[..length].iter().enumerate() {
            let largest_uplink = if position == t1 { (1 << bits) - 1 } else { 0 };
            let largest = u32::from(usid) + u32::from(plane_step) + largest_uplink;
            if largest > 0xffff {
                return Err(TemplateError::Overflow { position, largest });
            }
        }
        Ok(Self {
            path,
            length,
            plane_step,
            t1,
            uplink,
        })
    }

    /// The path by uplink 0 of a plane.
    pub fn first_container(&self, plane: u8) -> UsidContainer {
        let mut container = self.path;
        for usid in &mut container.usids[..self.length] {
            *usid += u16::from(plane) * self.plane_step;
        }
        container
    }

    /// Place of the T1 switch in the path, to whose uSID the uplink is added.
    pub const fn t1(&self) -> usize {
        self.t1
    }

    /// Returns the bits of the entropy value that name the uplink.
    pub const fn uplink(&self) -> EntropyField {
        self.uplink
    }

    /// The path as uSIDs.
    pub fn container(&self, path: &Path) -> UsidContainer {
        let mut container = self.first_container(path.plane);
        container.usids[self.t1] += self.uplink.of(path.entropy);
        container
    }

    /// The outer destination address of a packet on `path`.
    pub fn outer_destination(&self, path: &Path) -> Ipv6Addr {
        self.container(path).into()
    }
}
